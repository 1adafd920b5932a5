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
];

/// A session. Its title changes; the first prompt is that of the task.
pub(super) const SESSION: Table = &[
    ("id", Kept),
    ("parent_id", Kept),
    ("directory", Kept),
    ("title", Kept),
    ("version", Kept),
    ("time_created", Kept),
];

/// A message.
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

/// The path of a part that is kept as it is.
pub(super) const WHOLE_PATH: &str = "(the whole part)";

/// A part that is kept as it is.
pub(super) const WHOLE: Table = &[(WHOLE_PATH, Kept)];
