//! The prompts of a conversation, for a table of contents.

use annals_domain::Timestamp;
use serde::Serialize;

use super::tagged::own_text;
use super::turn::{Turn, TurnBody};
use crate::ModelUse;

/// The longest beginning of a prompt that is kept, in characters.
const BEGINNING: usize = 300;

/// A prompt with what came of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PromptSummary {
    /// The prompt's number, from 1.
    pub number: u64,
    /// The number of its turn.
    pub turn: u64,
    /// The agent's clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// The beginning of its text, without what the agent's program added. The turn has all of it, so that JSON leaves it
    /// out.
    #[serde(skip)]
    pub beginning: String,
    /// Tool calls up to the next prompt.
    pub tool_calls: u64,
    /// Those of them that failed.
    pub failed: u64,
    /// Those of them that were denied.
    pub denied: u64,
    /// Lines added.
    pub added: u64,
    /// Lines deleted.
    pub deleted: u64,
    /// Tokens by model and day.
    pub models: Vec<ModelUse>,
}

impl PromptSummary {
    pub(super) fn new(number: u64, turn: &Turn, models: Vec<ModelUse>) -> PromptSummary {
        let text = match &turn.body {
            TurnBody::Prompt(prompt) => own_text(&prompt.text.to_string()),
            _ => String::new(),
        };
        PromptSummary {
            number,
            turn: turn.number,
            at: turn.at,
            beginning: text.trim().chars().take(BEGINNING).collect(),
            tool_calls: 0,
            failed: 0,
            denied: 0,
            added: 0,
            deleted: 0,
            models,
        }
    }
}
