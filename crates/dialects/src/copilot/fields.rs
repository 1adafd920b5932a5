//! What becomes of each field of an event.

use crate::import::fields::Fate::{Apart, Inferred, Kept};
use crate::import::fields::Table;
use crate::transcript::item::COUNTS;

/// The tokens of a message.
pub(super) const TOKENS: [&str; COUNTS] = [
    "data.inputTokens",
    "data.cacheReadTokens",
    "data.cacheWriteTokens",
    "data.outputTokens",
    "data.reasoningTokens",
    "data.(kept for an hour)",
    "data.copilotUsage.totalNanoAiu",
    "(searches)",
];

/// What a person or the model says.
pub(super) const MESSAGE: Table = &[
    ("type", Kept),
    ("id", Kept),
    ("parentId", Kept),
    ("timestamp", Kept),
    ("agentId", Kept),
    ("data.parentToolCallId", Kept),
    ("data.messageId", Kept),
    ("data.requestId", Inferred),
    ("data.model", Kept),
    ("data.source", Inferred),
    ("data.content", Kept),
    ("data.attachments", Apart),
    ("data.reasoningText", Kept),
    ("data.toolRequests", Apart),
    (TOKENS[0], Apart),
    (TOKENS[1], Apart),
    (TOKENS[2], Apart),
    (TOKENS[3], Apart),
];

/// The tokens of a call of the model.
pub(super) const USAGE: Table = &[
    ("type", Kept),
    ("id", Kept),
    ("parentId", Kept),
    ("timestamp", Kept),
    ("agentId", Kept),
    ("data.parentToolCallId", Kept),
    ("data.model", Kept),
    ("data.providerCallId", Inferred),
    (TOKENS[0], Apart),
    (TOKENS[1], Apart),
    (TOKENS[2], Apart),
    (TOKENS[3], Apart),
    (TOKENS[4], Apart),
    (TOKENS[6], Apart),
];

/// A tool call, as it is asked for or begins.
pub(super) const CALL: Table = &[
    ("type", Kept),
    ("id", Kept),
    ("parentId", Kept),
    ("timestamp", Kept),
    ("agentId", Kept),
    ("data.parentToolCallId", Kept),
    ("data.toolCallId", Kept),
    ("data.toolName", Kept),
    ("data.arguments", Apart),
];

/// One that begins and was asked for before.
pub(super) const BEGUN: Table = &[
    ("type", Kept),
    ("id", Kept),
    ("parentId", Kept),
    ("timestamp", Kept),
    ("agentId", Kept),
    ("data.parentToolCallId", Kept),
    ("data.toolCallId", Kept),
    ("data.toolName", Kept),
    ("data.arguments", Kept),
];

/// The result of a tool call.
pub(super) const RESULT: Table = &[
    ("type", Kept),
    ("id", Kept),
    ("parentId", Kept),
    ("timestamp", Kept),
    ("agentId", Kept),
    ("data.parentToolCallId", Kept),
    ("data.toolCallId", Kept),
    ("data.success", Inferred),
    ("data.result", Apart),
    ("data.error", Apart),
];

/// What the program says.
pub(super) const SAID: Table = &[
    ("type", Kept),
    ("id", Kept),
    ("parentId", Kept),
    ("timestamp", Kept),
    ("agentId", Kept),
    ("data.message", Kept),
    ("data.content", Kept),
    ("data.infoType", Kept),
    ("data.warningType", Kept),
    ("data.errorType", Kept),
    ("data.role", Inferred),
];

/// An event that is kept as it is.
pub(super) const DATA: Table = &[
    ("type", Kept),
    ("id", Kept),
    ("parentId", Kept),
    ("timestamp", Kept),
    ("agentId", Kept),
    ("data", Apart),
];

/// The end of a compaction, of which all but the summary is kept with it.
pub(super) const COMPACTION: Table = &[
    ("type", Kept),
    ("id", Kept),
    ("parentId", Kept),
    ("timestamp", Kept),
    ("agentId", Kept),
    ("data", Kept),
];

pub(super) const WHOLE: Table = &[("data", Kept)];
pub(super) const ATTACHMENT: Table = &[("data.attachments[]", Kept)];
pub(super) const REQUEST: Table = &[
    ("data.toolRequests[].toolCallId", Kept),
    ("data.toolRequests[].name", Kept),
    ("data.toolRequests[].arguments", Kept),
];
pub(super) const ARGUMENTS: Table = &[("data.arguments", Kept)];
pub(super) const ERROR: Table = &[("data.error", Kept)];

/// A result as the model saw it; its other fields are counted with its details.
pub(super) const SEEN: Table = &[
    ("data.result.content", Kept),
    ("data.result.contents", Apart),
    ("data.result.detailedContent", Apart),
    ("data.result.result_type", Inferred),
    ("data.result.resultType", Inferred),
    ("data.result.text_result_for_llm", Kept),
    ("data.result.textResultForLlm", Kept),
];

/// One that is not an object.
pub(super) const SEEN_WHOLE: Table = &[("data.result", Kept), ("data.error", Kept)];

/// What the program shows of a result.
pub(super) const DETAILS: Table = &[];

/// The same, of an edit: its diff.
pub(super) const EDIT_DETAILS: Table = &[("data.result.detailedContent", Inferred)];
