//! What becomes of each field of a line of Claude Code's recordings.

use crate::import::fields::Fate::{Apart, Inferred, Kept};
use crate::import::fields::Table;
use crate::transcript::item::COUNTS;

/// The tokens of a message: uncached input, cache reads, cache writes, output; thoughts, which are not counted by
/// themselves; what of the cache writes stays for an hour; the cost, which older versions of the program wrote; and searches of
/// the web.
/// They are recorded for the whole message, apart from its lines.
pub(super) const TOKENS: [&str; COUNTS] = [
    "message.usage.input_tokens",
    "message.usage.cache_read_input_tokens",
    "message.usage.cache_creation_input_tokens",
    "message.usage.output_tokens",
    "message.usage.(thoughts)",
    "message.usage.cache_creation.ephemeral_1h_input_tokens",
    "costUSD",
    "message.usage.server_tool_use.web_search_requests",
];

/// The lines of a session, of any speaker.
pub(super) const TALK: Table = &[
    ("type", Kept),
    ("uuid", Kept),
    ("parentUuid", Kept),
    ("sessionId", Kept),
    ("agentId", Kept),
    ("promptId", Inferred),
    ("timestamp", Kept),
    ("isSidechain", Kept),
    ("isMeta", Kept),
    ("isCompactSummary", Kept),
    ("cwd", Kept),
    ("gitBranch", Kept),
    ("version", Kept),
    ("forkedFrom.sessionId", Kept),
    ("userType", Inferred),
    ("subtype", Kept),
    ("content", Kept),
    ("compactMetadata", Kept),
    ("attachment", Kept),
    ("requestId", Kept),
    ("message.role", Kept),
    ("message.id", Kept),
    ("message.model", Kept),
    ("message.stop_reason", Kept),
    (TOKENS[0], Apart),
    (TOKENS[1], Apart),
    (TOKENS[2], Apart),
    (TOKENS[3], Apart),
    (TOKENS[5], Apart),
    (TOKENS[6], Apart),
    (TOKENS[7], Apart),
    // What is left of the cache writes.
    (
        "message.usage.cache_creation.ephemeral_5m_input_tokens",
        Inferred,
    ),
    // What is in none of the totals is recorded by model.
    ("message.usage.iterations[].type", Inferred),
    ("message.usage.iterations[].model", Inferred),
    ("message.usage.iterations[].input_tokens", Inferred),
    (
        "message.usage.iterations[].cache_read_input_tokens",
        Inferred,
    ),
    (
        "message.usage.iterations[].cache_creation_input_tokens",
        Inferred,
    ),
    ("message.usage.iterations[].output_tokens", Inferred),
    ("message.usage.speed", Inferred),
    ("message.usage.service_tier", Inferred),
    ("message.usage.inference_geo", Inferred),
    ("message.content", Apart),
    ("toolUseResult", Apart),
    // They become a decision on the call.
    ("permissionDecision", Inferred),
    ("toolDenialKind", Inferred),
];

/// A prompt that was queued while the agent worked, as an attachment has it.
pub(super) const ATTACHED: Table = &[
    ("type", Inferred),
    ("uuid", Kept),
    ("parentUuid", Kept),
    ("sessionId", Kept),
    ("promptId", Inferred),
    ("timestamp", Kept),
    ("isSidechain", Kept),
    ("isMeta", Kept),
    ("cwd", Kept),
    ("gitBranch", Kept),
    ("version", Kept),
    ("userType", Inferred),
    ("attachment.type", Inferred),
    ("attachment.prompt", Kept),
    ("attachment.commandMode", Inferred),
    ("attachment.isMeta", Inferred),
    ("attachment.origin.kind", Inferred),
];

/// What the program has copies of.
pub(super) const BACKUPS: Table = &[
    ("type", Kept),
    ("messageId", Kept),
    ("snapshot.messageId", Inferred),
    ("snapshot.timestamp", Kept),
    ("snapshot.trackedFileBackups", Kept),
    ("isSnapshotUpdate", Inferred),
];

/// The line of a summary.
pub(super) const SUMMARY: Table = &[("type", Kept), ("summary", Kept), ("leafUuid", Kept)];

/// A text of a message.
pub(super) const TEXT: Table = &[
    ("message.content[].type", Kept),
    ("message.content[].text", Kept),
];

/// A thought of the model's.
pub(super) const THINKING: Table = &[
    ("message.content[].type", Kept),
    ("message.content[].thinking", Kept),
];

/// A tool call.
pub(super) const TOOL_USE: Table = &[
    ("message.content[].type", Kept),
    ("message.content[].id", Kept),
    ("message.content[].name", Kept),
    ("message.content[].input", Kept),
];

/// What a tool answered.
pub(super) const TOOL_RESULT: Table = &[
    ("message.content[].type", Kept),
    ("message.content[].tool_use_id", Kept),
    ("message.content[].content", Kept),
    ("message.content[].is_error", Kept),
];

/// A part of another type, which is kept as it is.
pub(super) const WHOLE: Table = &[("message.content[]", Kept)];

/// What the program knows of a tool's result.
pub(super) const RESULT: Table = &[
    ("toolUseResult.durationMs", Kept),
    ("toolUseResult.totalDurationMs", Kept),
];

/// The same, for an edit.
pub(super) const EDIT_RESULT: Table = &[
    ("toolUseResult.durationMs", Kept),
    ("toolUseResult.totalDurationMs", Kept),
    ("toolUseResult.structuredPatch", Kept),
    ("toolUseResult.type", Inferred),
];

/// A line of the program that is kept whole.
pub(super) const ASIDE: Table = &[("", Kept)];

/// A prompt that was given to the model while it worked.
pub(super) const QUEUED: Table = &[
    ("type", Kept),
    ("operation", Kept),
    ("sessionId", Kept),
    ("timestamp", Kept),
    ("content", Kept),
];

/// A hook that runs.
pub(super) const HOOK: Table = &[
    ("type", Kept),
    ("uuid", Kept),
    ("parentUuid", Kept),
    ("sessionId", Kept),
    ("timestamp", Kept),
    ("isSidechain", Kept),
    ("data", Kept),
];

/// What a sub-agent says.
pub(super) const AGENT_PROGRESS: Table = &[
    ("type", Kept),
    ("uuid", Inferred),
    ("sessionId", Kept),
    ("timestamp", Kept),
    ("cwd", Kept),
    ("gitBranch", Kept),
    ("version", Kept),
    ("data.type", Kept),
    ("data.agentId", Kept),
    ("data.message", Kept),
    ("data.prompt", Inferred),
];
