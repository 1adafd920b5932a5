//! What a gate answers, in the form of the agent that asks.

use annals_tool_policy::Verdict;
use serde_json::{Value, json};

use super::HookAgent;
use crate::gate::Ruling;

impl HookAgent {
    /// Whether the agent asks a person where a hook before a call says so.
    pub fn asks(self) -> bool {
        match self {
            HookAgent::Claude | HookAgent::Gemini => true,
            // Both read the word, and go on without asking.
            HookAgent::Codex | HookAgent::Cursor => false,
        }
    }

    /// What is answered to an agent that asks for a call; nothing, where only its own settings can say that.
    pub fn answer(self, ruling: &Ruling) -> Option<Value> {
        let (verdict, reason) = (ruling.verdict, ruling.reason.as_str());
        match (self, verdict) {
            // These have no word for it that does what it says.
            (HookAgent::Codex, Verdict::Allow | Verdict::Ask)
            | (HookAgent::Cursor, Verdict::Ask) => None,
            (HookAgent::Claude | HookAgent::Codex, _) => Some(json!({
                "hookSpecificOutput": {
                    "hookEventName": "PreToolUse",
                    "permissionDecision": verdict,
                    "permissionDecisionReason": reason,
                },
            })),
            (HookAgent::Cursor, Verdict::Allow) => Some(json!({ "permission": verdict })),
            (HookAgent::Cursor, Verdict::Deny) => Some(json!({
                "permission": verdict,
                "user_message": reason,
                "agent_message": reason,
            })),
            (HookAgent::Gemini, _) => Some(json!({ "decision": verdict, "reason": reason })),
        }
    }
}
