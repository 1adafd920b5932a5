//! What a frame captures.

use crate::codes::open_enum;

open_enum! {
    /// What a frame captures (docs/spec/git-internal.md, FrameKind).
    pub enum FrameKind as tagged {
        /// The interpretation of an intent; the seed. Protected.
        IntentAnalysis = 1 => "intent_analysis",
        /// What a plan's step accomplished.
        StepSummary = 2 => "step_summary",
        /// A digest of a code change.
        CodeChange = 3 => "code_change",
        /// The state of a system or an environment.
        SystemState = 4 => "system_state",
        /// What went wrong, and what was done about it.
        ErrorRecovery = 5 => "error_recovery",
        /// An explicit save-point. Protected.
        Checkpoint = 6 => "checkpoint",
        /// The result of a tool call.
        ToolCall = 7 => "tool_call",
    }
}

impl FrameKind {
    /// Its name for people; a kind that is not git-internal's is marked, as it
    /// may have the name of one that is.
    pub fn label(&self) -> String {
        match self {
            FrameKind::Other(name) => format!("other: {name}"),
            listed => listed.to_string(),
        }
    }

    /// Whether git-internal never evicts frames of this kind.
    pub fn is_protected(&self) -> bool {
        match self {
            FrameKind::IntentAnalysis | FrameKind::Checkpoint => true,
            FrameKind::StepSummary
            | FrameKind::CodeChange
            | FrameKind::SystemState
            | FrameKind::ErrorRecovery
            | FrameKind::ToolCall
            | FrameKind::Other(_) => false,
        }
    }
}
