//! The hooks of Codex, and its `notify`.

use super::table::{Dialect, Event, Means};

pub(super) static DIALECT: Dialect = Dialect {
    // `notify` calls its event a type, and writes names with hyphens.
    event: &["hook_event_name", "type"],
    session: &["session_id", "thread-id"],
    side: &["agent_id"],
    cwd: &["cwd"],
    version: &["version"],
    model: &["model"],
    prompt: &["turn_id"],
    prompt_is_of_session: true,
    call_is_of_session: true,
    common: &[
        "session_id",
        "turn_id",
        "transcript_path",
        "cwd",
        "hook_event_name",
        "model",
        "permission_mode",
        "agent_id",
        "agent_type",
    ],
    events: &[
        Event::new(
            "SessionStart",
            Means::Around("session_start"),
            &["source"],
            &["source"],
        ),
        Event::new("UserPromptSubmit", Means::Prompt, &["prompt"], &["prompt"]),
        Event::new(
            "PreToolUse",
            Means::Requested,
            &["tool_use_id"],
            &["tool_name", "tool_input", "tool_use_id"],
        ),
        Event::new(
            "PermissionRequest",
            Means::Asked,
            &["tool_input"],
            &["tool_name", "tool_input", "tool_use_id"],
        ),
        Event::new(
            "PostToolUse",
            Means::Ended,
            &["tool_use_id"],
            &["tool_name", "tool_input", "tool_use_id", "tool_response"],
        ),
        Event::new(
            "PreCompact",
            Means::Around("compaction"),
            &["trigger"],
            &["trigger"],
        ),
        Event::new(
            "PostCompact",
            Means::Around("compaction_end"),
            &["trigger"],
            &["trigger"],
        ),
        Event::new(
            "SubagentStart",
            Means::Begin("subagent_start"),
            &["agent_type"],
            &[],
        ),
        Event::new(
            "SubagentStop",
            Means::Around("subagent_stop"),
            &["agent_type"],
            &[
                "stop_hook_active",
                "agent_transcript_path",
                "last_assistant_message",
            ],
        ),
        Event::new(
            "Stop",
            Means::Around("stop"),
            &[],
            &["stop_hook_active", "last_assistant_message"],
        ),
        Event::new(
            "SessionEnd",
            Means::Begin("session_end"),
            &["reason"],
            &["reason"],
        ),
        Event::new(
            "agent-turn-complete",
            Means::Around("turn_complete"),
            &[],
            &[
                "type",
                "thread-id",
                "turn-id",
                "client",
                "input-messages",
                "last-assistant-message",
            ],
        )
        .quiet(),
    ],
};
