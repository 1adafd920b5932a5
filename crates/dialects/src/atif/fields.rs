//! What becomes of each field of a step of a trajectory in ATIF.

use crate::import::fields::Fate::{Apart, Inferred, Kept};
use crate::import::fields::Table;
use crate::transcript::item::COUNTS;

/// The tokens of a step: the prompt with what was cached, cache reads, cache writes, the completion; the part of it
/// that the model thought with, the part of the cache writes that stays for an hour; and the cost.
pub(super) const TOKENS: [&str; COUNTS] = [
    "metrics.prompt_tokens",
    "metrics.cached_tokens",
    "metrics.extra.cache_creation_input_tokens",
    "metrics.completion_tokens",
    "metrics.extra.reasoning_tokens",
    "metrics.extra.cache_creation_1h_input_tokens",
    "metrics.cost_usd",
    "(searches)",
];

/// A step.
pub(super) const STEP: Table = &[
    ("step_id", Kept),
    ("timestamp", Kept),
    ("source", Kept),
    ("model_name", Kept),
    ("message", Apart),
    ("reasoning_content", Apart),
    ("tool_calls", Apart),
    ("observation", Apart),
    ("extra.context_management", Kept),
    ("is_copied_context", Inferred),
    (TOKENS[0], Apart),
    (TOKENS[1], Apart),
    (TOKENS[2], Apart),
    (TOKENS[3], Apart),
    (TOKENS[4], Apart),
    (TOKENS[5], Apart),
    (TOKENS[6], Apart),
];

/// What is counted with another entry.
pub(super) const ELSEWHERE: Table = &[("", Apart)];

/// A text of a message.
pub(super) const TEXT: Table = &[("message[].type", Kept), ("message[].text", Kept)];

/// A part of a message that is kept as it is.
pub(super) const PART: Table = &[("message[]", Kept), ("message", Kept)];

/// A tool call.
pub(super) const CALL: Table = &[
    ("tool_calls[].tool_call_id", Kept),
    ("tool_calls[].function_name", Kept),
    ("tool_calls[].arguments", Kept),
];

/// A result.
pub(super) const RESULT: Table = &[
    ("observation.results[].source_call_id", Kept),
    ("observation.results[].content", Kept),
    ("observation.results[].subagent_trajectory_ref", Apart),
    ("observation.results[].extra.is_error", Kept),
    ("observation.results[].extra.exit_code", Inferred),
];

/// Which trajectories of sub-agents a result is about.
pub(super) const REFERENCE: Table = &[("observation.results[].subagent_trajectory_ref", Kept)];

/// The path of a part of the trajectory that is kept as it is.
pub(super) const WHOLE_PATH: &str = "(a field of the trajectory)";

/// A part of the trajectory that is kept as it is.
pub(super) const WHOLE: Table = &[(WHOLE_PATH, Kept)];
