//! What becomes of each field of a rollout's line. Lines of old rollouts have no `payload`; their fields are
//! named as if they were in one.

use crate::import::fields::Fate::{Apart, Inferred, Kept};
use crate::import::fields::Table;
use crate::transcript::item::COUNTS;

/// The tokens of a turn.
pub(super) const TOKENS: [&str; COUNTS] = [
    "payload.info.total_token_usage.input_tokens",
    "payload.info.total_token_usage.cached_input_tokens",
    "payload.info.total_token_usage.cache_write_input_tokens",
    "payload.info.total_token_usage.output_tokens",
    "payload.info.total_token_usage.reasoning_output_tokens",
    "payload.info.total_token_usage.(kept for an hour)",
    "payload.info.total_token_usage.(cost)",
    "(searches)",
];

/// A line that counts tokens.
pub(super) const TOKEN_COUNT: Table = &[
    ("timestamp", Kept),
    ("type", Kept),
    ("payload.type", Kept),
    (TOKENS[0], Apart),
    (TOKENS[1], Apart),
    (TOKENS[2], Apart),
    (TOKENS[3], Apart),
    (TOKENS[4], Apart),
    ("payload.info.last_token_usage", Inferred),
];

/// One whose totals were there before.
pub(super) const TOKENS_AGAIN: Table = &[
    ("timestamp", Kept),
    ("type", Kept),
    ("payload.type", Kept),
    ("payload.info.total_token_usage", Kept),
    ("payload.info.last_token_usage", Kept),
];

/// A message, or a thought.
pub(super) const MESSAGE: Table = &[
    ("timestamp", Kept),
    ("type", Kept),
    ("payload.type", Kept),
    ("payload.role", Inferred),
    ("payload.content", Apart),
    ("payload.summary", Apart),
];

/// A message that the program gives to the model.
pub(super) const SAID: Table = &[
    ("timestamp", Kept),
    ("type", Kept),
    ("payload.type", Kept),
    ("payload.role", Inferred),
    ("payload.content", Kept),
];

/// A compaction.
pub(super) const COMPACTED: Table = &[
    ("timestamp", Kept),
    ("type", Kept),
    ("payload.message", Kept),
    ("payload.replacement_history", Apart),
    ("payload.replacement_history_metadata", Kept),
    ("payload.compaction_response_id", Kept),
    ("payload.first_window_id", Kept),
    ("payload.guardian_history", Kept),
    ("payload.latest_token_usage_record", Kept),
    ("payload.mcp_resource_origins", Kept),
    ("payload.previous_window_id", Kept),
    ("payload.resume_metadata", Kept),
    ("payload.retained_context", Kept),
    ("payload.window_id", Kept),
    ("payload.window_number", Kept),
];

/// A message as the program showed it, of which the model has another line.
pub(super) const SHOWN: Table = &[
    ("timestamp", Kept),
    ("type", Kept),
    ("payload.type", Kept),
    ("payload.message", Kept),
    ("payload.text", Kept),
];

/// One of which there is no other line.
pub(super) const SHOWN_ALONE: Table = &[
    ("timestamp", Kept),
    ("type", Kept),
    ("payload.type", Kept),
    ("payload.message", Apart),
    ("payload.text", Apart),
];

/// A tool call, or its result.
pub(super) const CALL: Table = &[
    ("timestamp", Kept),
    ("type", Kept),
    ("payload.type", Kept),
    ("payload.id", Inferred),
    ("payload.call_id", Kept),
    ("payload.name", Kept),
    ("payload.status", Inferred),
    ("payload.arguments", Apart),
    ("payload.input", Apart),
    ("payload.action", Apart),
    ("payload.output", Apart),
    ("payload.tools", Apart),
];

/// A line that is kept as it is, or in parts.
pub(super) const PAYLOAD: Table = &[("timestamp", Kept), ("type", Kept), ("payload", Apart)];

/// A line that says what the line before it of its kind did.
pub(super) const SAME: Table = &[("timestamp", Kept), ("type", Kept), ("payload", Kept)];

/// A payload that is kept as it is.
pub(super) const WHOLE: Table = &[("payload", Kept)];

/// What one member of a payload is, which is kept.
pub(super) const TEXT: Table = &[
    ("payload.content[].type", Inferred),
    ("payload.content[].text", Kept),
];
pub(super) const PART: Table = &[("payload.content[]", Kept), ("payload.summary[]", Kept)];
pub(super) const SUMMARY_TEXT: Table = &[
    ("payload.summary[].type", Inferred),
    ("payload.summary[].text", Kept),
];
pub(super) const ARGUMENTS: Table = &[("payload.arguments", Kept)];
pub(super) const INPUT: Table = &[("payload.input", Kept)];
pub(super) const ACTION: Table = &[("payload.action", Kept)];
pub(super) const OUTPUT: Table = &[("payload.output", Kept)];
pub(super) const TOOLS: Table = &[("payload.tools", Kept)];
pub(super) const HISTORY: Table = &[("payload.replacement_history", Kept)];

/// How long a call took, which only the text of its output says.
pub(super) const WALL_TIME_PATH: &str = "payload.output (its wall time)";
pub(super) const WALL_TIME: Table = &[(WALL_TIME_PATH, Kept)];

/// What the program knows of how a call ended, in addition to what the model saw.
pub(super) const END: Table = &[
    ("payload.type", Inferred),
    ("payload.call_id", Kept),
    ("payload.exit_code", Inferred),
    ("payload.success", Inferred),
    ("payload.duration", Kept),
    ("payload.metadata.exit_code", Inferred),
    ("payload.metadata.duration_seconds", Kept),
];

/// The same, of an edit.
pub(super) const EDIT_END: Table = &[
    ("payload.type", Inferred),
    ("payload.call_id", Kept),
    ("payload.exit_code", Inferred),
    ("payload.success", Inferred),
    ("payload.duration", Kept),
    ("payload.metadata.exit_code", Inferred),
    ("payload.metadata.duration_seconds", Kept),
    ("payload.changes", Inferred),
];

/// The same where an item has it.
pub(super) const ITEM_END: Table = &[
    ("payload.item.type", Inferred),
    ("payload.item.id", Kept),
    ("payload.item.exit_code", Inferred),
    ("payload.item.status", Inferred),
    ("payload.item.success", Inferred),
    ("payload.item.duration", Kept),
];
pub(super) const ITEM_EDIT_END: Table = &[
    ("payload.item.type", Inferred),
    ("payload.item.id", Kept),
    ("payload.item.status", Inferred),
    ("payload.item.success", Inferred),
    ("payload.item.duration", Kept),
    ("payload.item.changes", Inferred),
];

/// What a script did, as an item or as the payload of a line has it.
pub(super) const DONE_ITEM: Table = &[
    ("payload.item.type", Inferred),
    ("payload.item.id", Kept),
    ("payload.item.command", Kept),
    ("payload.item.cwd", Kept),
    ("payload.item.changes", Kept),
    ("payload.item.server", Kept),
    ("payload.item.tool", Kept),
    ("payload.item.arguments", Kept),
    ("payload.item.result", Kept),
    ("payload.item.content_items", Kept),
    ("payload.item.error", Kept),
    ("payload.item.status", Inferred),
    ("payload.item.success", Inferred),
    ("payload.item.exit_code", Inferred),
    ("payload.item.duration", Kept),
    ("payload.item.aggregated_output", Kept),
    ("payload.item.formatted_output", Inferred),
    ("payload.item.stdout", Inferred),
    ("payload.item.stderr", Inferred),
];
pub(super) const DONE: Table = &[
    ("payload.type", Inferred),
    ("payload.call_id", Kept),
    ("payload.command", Kept),
    ("payload.cwd", Kept),
    ("payload.changes", Kept),
    ("payload.invocation", Kept),
    ("payload.result", Kept),
    ("payload.status", Inferred),
    ("payload.success", Inferred),
    ("payload.exit_code", Inferred),
    ("payload.duration", Kept),
    ("payload.aggregated_output", Kept),
    ("payload.formatted_output", Inferred),
    ("payload.stdout", Inferred),
    ("payload.stderr", Inferred),
];

/// What is counted with the call.
pub(super) const ELSEWHERE: Table = &[("payload", Apart), ("payload.item", Apart)];
