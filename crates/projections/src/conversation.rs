//! A session's conversation: a sequence of turns, independent of any renderer.

mod leaves;
mod lines;
mod markdown;
#[cfg(test)]
mod samples;
mod turn;

pub use lines::{Emphasis, Folding, LineWriter, TextLine, TextSpan};
pub use markdown::{Diffs, MarkdownWriter};
pub use turn::{
    CallDecisionTurn, CallOutcome, CallResult, CallRole, FileEdit, PromptTurn, ToolCallTurn, Turn,
    TurnBody,
};

use serde::Serialize;

/// A part of a session's conversation.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Conversation {
    /// The turns, in order.
    pub turns: Vec<Turn>,
    /// The number of turns of the whole conversation. `None` if only its beginning was read.
    pub total: Option<u64>,
}
