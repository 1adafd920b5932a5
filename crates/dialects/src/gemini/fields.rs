//! What becomes of each field of a message of Gemini CLI's recordings.

use crate::import::fields::Fate::{Apart, Inferred, Kept};
use crate::import::fields::Table;
use crate::transcript::item::COUNTS;

/// The tokens of a message: input with what is cached, cache reads, none for cache writes, output
/// without thoughts.
pub(super) const TOKENS: [&str; COUNTS] = [
    "tokens.input",
    "tokens.cached",
    "tokens.(cache writes)",
    "tokens.output",
    "tokens.thoughts",
    "tokens.(kept for an hour)",
    "tokens.(cost)",
    "(searches)",
];

/// A message. Its thoughts and output are one number in the log, like its input and what tools put
/// into it; the total is a sum.
pub(super) const MESSAGE: Table = &[
    ("id", Kept),
    ("timestamp", Kept),
    ("type", Kept),
    ("model", Kept),
    ("content", Apart),
    ("displayContent", Kept),
    ("thoughts", Apart),
    ("toolCalls", Apart),
    (TOKENS[0], Apart),
    (TOKENS[1], Apart),
    (TOKENS[3], Apart),
    (TOKENS[4], Apart),
    ("tokens.tool", Inferred),
    ("tokens.total", Inferred),
];

/// What is counted with another entry of the same message.
pub(super) const ELSEWHERE: Table = &[("", Apart)];

/// What the session says of itself. When it was written last is in no event.
pub(super) const METADATA: Table = &[
    ("sessionId", Kept),
    ("projectHash", Kept),
    ("startTime", Kept),
    ("kind", Kept),
    ("directories", Kept),
    ("summary", Kept),
    ("memoryScratchpad", Kept),
    ("activeExtensionName", Kept),
    ("$rewindTo", Kept),
];

/// A text of a message.
pub(super) const TEXT: Table = &[("content[].text", Kept), ("content.text", Kept)];

/// A part of a message that is kept as it is.
pub(super) const PART: Table = &[("content[]", Kept), ("content", Kept)];

/// A thought.
pub(super) const THOUGHT: Table = &[
    ("thoughts[].subject", Kept),
    ("thoughts[].description", Kept),
];

/// A tool call. What it is called for people and what the tool does in general is in no event.
pub(super) const CALL: Table = &[
    ("toolCalls[].id", Kept),
    ("toolCalls[].name", Kept),
    ("toolCalls[].args", Kept),
    ("toolCalls[].timestamp", Kept),
    ("toolCalls[].status", Kept),
    ("toolCalls[].result", Apart),
    ("toolCalls[].resultDisplay", Apart),
];

/// A tool's result of which the text is kept.
pub(super) const OUTPUT: Table = &[
    ("toolCalls[].result[].functionResponse.id", Kept),
    ("toolCalls[].result[].functionResponse.name", Kept),
    (
        "toolCalls[].result[].functionResponse.response.output",
        Kept,
    ),
    ("toolCalls[].result[].functionResponse.response.error", Kept),
];

/// A tool's result that is kept as it is.
pub(super) const RESULT: Table = &[("toolCalls[].result", Kept)];

/// What the program shows of an edit.
pub(super) const EDIT: Table = &[
    ("toolCalls[].resultDisplay.fileDiff", Kept),
    ("toolCalls[].resultDisplay.isNewFile", Inferred),
    ("toolCalls[].resultDisplay.originalContent", Inferred),
];

/// The path of a message that is kept as it is.
pub(super) const WHOLE_PATH: &str = "(the whole message)";

/// A message that is kept as it is.
pub(super) const WHOLE: Table = &[(WHOLE_PATH, Kept)];
