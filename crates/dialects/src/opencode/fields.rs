//! What becomes of each field of a row of OpenCode's databases.

use crate::import::fields::Fate::{Apart, Inferred, Kept};
use crate::import::fields::Table;
use crate::transcript::item::COUNTS;

/// The tokens of a step, or of a message without steps: uncached input, cache reads, cache writes,
/// output without reasoning; reasoning; and the cost.
pub(super) const TOKENS: [&str; COUNTS] = [
    "tokens.input",
    "tokens.cache.read",
    "tokens.cache.write",
    "tokens.output",
    "tokens.reasoning",
    "tokens.(kept for an hour)",
    "cost",
    "(searches)",
];

/// A session. Its title changes; the first prompt is that of the task.
pub(super) const SESSION: Table = &[
    ("id", Kept),
    ("parent_id", Kept),
    ("fork_session_id", Kept),
    ("directory", Kept),
    ("title", Kept),
    ("version", Kept),
    ("time_created", Kept),
];

/// A message of the first generation.
pub(super) const MESSAGE: Table = &[
    ("role", Kept),
    ("time.created", Kept),
    ("time.completed", Inferred),
    ("parentID", Kept),
    ("modelID", Kept),
    ("providerID", Kept),
    ("path.cwd", Kept),
    ("summary", Inferred),
    ("error", Kept),
    // It is that of its steps where there are any.
    ("tokens", Apart),
    ("cost", Apart),
];

/// The tokens of a message or step.
pub(super) const USAGE: Table = &[
    ("type", Kept),
    (TOKENS[0], Apart),
    (TOKENS[1], Apart),
    (TOKENS[2], Apart),
    (TOKENS[3], Apart),
    (TOKENS[4], Apart),
    (TOKENS[6], Apart),
    ("tokens.total", Inferred),
];

/// What is counted with another entry.
pub(super) const ELSEWHERE: Table = &[("", Apart)];

/// A text or reasoning.
pub(super) const TEXT: Table = &[
    ("type", Kept),
    ("text", Kept),
    ("synthetic", Inferred),
    ("ignored", Inferred),
    ("time.start", Kept),
    ("time.end", Inferred),
];

/// A tool call with its result.
pub(super) const TOOL: Table = &[
    ("type", Kept),
    ("tool", Kept),
    ("callID", Kept),
    ("state.status", Kept),
    ("state.input", Kept),
    ("state.output", Kept),
    ("state.error", Kept),
    ("state.time.start", Kept),
    ("state.time.end", Kept),
    ("state.metadata", Apart),
];

/// What a tool says of an edit in addition to its result.
pub(super) const EDIT: Table = &[
    ("state.metadata.diff", Kept),
    ("state.metadata.exists", Inferred),
];

/// A message of the second generation that is one text: a person's, or the program's.
pub(super) const TEXT_MESSAGE: Table = &[
    ("text", Kept),
    ("time.created", Kept),
    ("files", Apart),
    ("agents", Apart),
    ("skills", Apart),
];

/// A message of the model.
pub(super) const MODEL_MESSAGE: Table = &[
    ("model.id", Kept),
    ("model.providerID", Kept),
    ("time.created", Kept),
    ("time.completed", Inferred),
    ("error", Kept),
    ("content", Apart),
    ("tokens", Apart),
    ("cost", Apart),
];

/// A command that a person ran.
pub(super) const SHELL_MESSAGE: Table = &[
    ("command", Kept),
    ("status", Inferred),
    ("exit", Inferred),
    ("output", Kept),
    ("time.created", Kept),
    ("time.completed", Kept),
];

/// A compaction.
pub(super) const COMPACTION_MESSAGE: Table = &[
    ("status", Inferred),
    ("summary", Kept),
    ("error", Kept),
    ("model.id", Kept),
    ("model.providerID", Kept),
    ("time.created", Kept),
    ("tokens", Apart),
    ("cost", Apart),
];

/// A text or reasoning of a message of the model.
pub(super) const TEXT_PART: Table = &[
    ("content[].type", Kept),
    ("content[].text", Kept),
    ("content[].time.created", Kept),
    ("content[].time.completed", Inferred),
];

/// A tool call of a message of the model, with its result.
pub(super) const TOOL_PART: Table = &[
    ("content[].type", Kept),
    ("content[].id", Kept),
    ("content[].name", Kept),
    ("content[].state.status", Kept),
    ("content[].state.input", Kept),
    ("content[].state.content", Kept),
    ("content[].state.result", Inferred),
    ("content[].state.error", Kept),
    ("content[].state.metadata", Apart),
    ("content[].state.structured", Apart),
    ("content[].time.created", Kept),
    ("content[].time.ran", Kept),
    ("content[].time.completed", Kept),
];

/// What a tool says of an edit in addition to its result, in a message of the model.
pub(super) const EDIT_PART: Table = &[
    ("content[].state.metadata.files", Kept),
    ("content[].state.structured.files", Kept),
    ("content[].state.structured.existed", Inferred),
];

/// The path of a part that is kept as it is.
pub(super) const WHOLE_PATH: &str = "(the whole part)";

/// A part that is kept as it is.
pub(super) const WHOLE: Table = &[(WHOLE_PATH, Kept)];
