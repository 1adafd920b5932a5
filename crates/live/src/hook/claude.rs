//! The hooks of Claude Code.

use super::table::{Dialect, Event, Means};

const TOOL: &[&str] = &["tool_name", "tool_input", "tool_use_id"];

pub(super) static DIALECT: Dialect = Dialect {
    event: &["hook_event_name"],
    session: &["session_id"],
    side: &["agent_id"],
    cwd: &["cwd"],
    version: &["version"],
    model: &["model"],
    prompt: &["prompt_id"],
    prompt_is_of_session: false,
    call_is_of_session: false,
    common: &[
        "session_id",
        "prompt_id",
        "transcript_path",
        "cwd",
        "permission_mode",
        "effort",
        "hook_event_name",
        "agent_id",
        "agent_type",
    ],
    events: &[
        Event::new(
            "SessionStart",
            Means::Around("session_start"),
            &["source"],
            &["source", "model", "session_title"],
        ),
        Event::new(
            "UserPromptSubmit",
            Means::Prompt,
            &["prompt"],
            &["prompt", "session_title"],
        ),
        Event::new("PreToolUse", Means::Requested, &["tool_use_id"], TOOL),
        Event::new(
            "PostToolUse",
            Means::Ended,
            &["tool_use_id"],
            &[
                "tool_name",
                "tool_input",
                "tool_use_id",
                "tool_response",
                "duration_ms",
            ],
        ),
        Event::new(
            "PostToolUseFailure",
            Means::Failed,
            &["tool_use_id", "error"],
            &[
                "tool_name",
                "tool_input",
                "tool_use_id",
                "error",
                "is_interrupt",
                "duration_ms",
            ],
        ),
        Event::new(
            "PermissionRequest",
            Means::Asked,
            &["tool_use_id"],
            &[
                "tool_name",
                "tool_input",
                "tool_use_id",
                "permission_suggestions",
            ],
        ),
        Event::new(
            "PermissionDenied",
            Means::Denied,
            &["tool_use_id", "reason"],
            &["tool_name", "tool_input", "tool_use_id", "reason"],
        ),
        Event::new(
            "PreCompact",
            Means::Around("compaction"),
            &["trigger"],
            &["trigger", "custom_instructions"],
        ),
        Event::new(
            "PostCompact",
            Means::Around("compaction_end"),
            &["trigger"],
            &["trigger", "compact_summary"],
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
                "background_tasks",
                "session_crons",
            ],
        ),
        Event::new(
            "Stop",
            Means::Around("stop"),
            &[],
            &[
                "stop_hook_active",
                "last_assistant_message",
                "background_tasks",
                "session_crons",
            ],
        ),
        Event::new(
            "StopFailure",
            Means::Around("stop_failure"),
            &["error"],
            &["error", "error_details", "last_assistant_message"],
        ),
        Event::new(
            "Notification",
            Means::Around("notification"),
            &["notification_type", "message"],
            &["message", "title", "notification_type"],
        ),
        Event::new(
            "SessionEnd",
            Means::Begin("session_end"),
            &["reason"],
            &["reason"],
        ),
    ],
};
