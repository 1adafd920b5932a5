//! A session's conversation: a sequence of turns, independent of any renderer.
//!
//! [`ConversationFold`] folds the entries of a session's runs and pipelines into [`Turn`]s. Viewer, terminal, exports and
//! JSON render these, and nothing else: they show the same conversation.

mod fold;
mod leaves;
mod lines;
mod markdown;
mod prompt;
mod result;
mod role;
#[cfg(test)]
mod samples;
mod tagged;
mod turn;

pub use fold::{ConversationFold, ConversationIndex, PartStart, SubAgentStart};
pub use lines::{Emphasis, Folding, LineWriter, TextLine, TextSpan};
pub use markdown::{Diffs, MarkdownWriter};
pub use prompt::PromptSummary;
pub(crate) use role::QUESTIONS;
pub use tagged::{NoteLine, TextPart, is_metadata, text_parts};
pub use turn::{
    CallDecisionTurn, CallOutcome, CallResult, CallRole, FileEdit, PromptTurn, ToolCallTurn, Turn,
    TurnBody,
};

use serde::Serialize;

/// The summary of a tool call's result that stands for one that did not come. Importers record it.
pub const NO_RESULT: &str = "(no result was recorded)";

/// The subtype of a frame that repeats a queued prompt, as importers record it.
pub const REPEATED_PROMPT: &str = "repeated_prompt";

/// A session's conversation, or a part of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Conversation {
    /// The number of turns of the whole conversation. `None` if only its beginning was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// The prompts that were read, also those of turns that `turns` leaves out.
    pub prompts: Vec<PromptSummary>,
    /// The turns, in order.
    pub turns: Vec<Turn>,
}

impl Conversation {
    /// The turn whose text the event at a position holds.
    pub fn turn_at(&self, position: annals_event_log::Position) -> Option<&Turn> {
        let found = self.turns.iter().find(|turn| turn.position == position);
        // A call's result, decision or patch set is at a later event than the call.
        found.or_else(|| {
            self.turns
                .iter()
                .rev()
                .find(|turn| turn.position < position)
        })
    }
}
