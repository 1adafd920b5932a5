//! The hooks of Gemini CLI. They have no ids of prompts and calls, so that neither can be met with its transcript:
//! they are evidence of the run.

use super::table::{Dialect, Event, Means};

pub(super) static DIALECT: Dialect = Dialect {
    event: &["hook_event_name"],
    session: &["session_id"],
    side: &[],
    cwd: &["cwd"],
    version: &[],
    model: &[],
    prompt: &[],
    prompt_is_of_session: true,
    call_is_of_session: true,
    common: &[
        "session_id",
        "transcript_path",
        "cwd",
        "hook_event_name",
        "timestamp",
    ],
    events: &[
        Event::new(
            "SessionStart",
            Means::Around("session_start"),
            &["source"],
            &["source"],
        ),
        Event::new("BeforeAgent", Means::Prompt, &["prompt"], &["prompt"]),
        Event::new(
            "BeforeTool",
            Means::Requested,
            &["tool_name"],
            &[
                "tool_name",
                "tool_input",
                "mcp_context",
                "original_request_name",
            ],
        ),
        Event::new(
            "AfterTool",
            Means::Ended,
            &["tool_name"],
            &[
                "tool_name",
                "tool_input",
                "tool_response",
                "mcp_context",
                "original_request_name",
            ],
        ),
        Event::new(
            "AfterAgent",
            Means::Around("stop"),
            &[],
            &["prompt", "prompt_response", "stop_hook_active"],
        ),
        // Before each request, whether or not anything is compressed then.
        Event::new(
            "PreCompress",
            Means::Around("compression_check"),
            &["trigger"],
            &["trigger"],
        )
        .quiet(),
        Event::new(
            "Notification",
            Means::Around("notification"),
            &["notification_type", "message"],
            &["notification_type", "message", "details"],
        ),
        Event::new(
            "SessionEnd",
            Means::Begin("session_end"),
            &["reason"],
            &["reason"],
        ),
        // For each request and each piece of an answer: too often to be worth a process.
        Event::new(
            "BeforeModel",
            Means::Around("model_request"),
            &[],
            &["llm_request"],
        )
        .quiet(),
        Event::new(
            "AfterModel",
            Means::Around("model_response"),
            &[],
            &["llm_request", "llm_response"],
        )
        .quiet(),
        Event::new(
            "BeforeToolSelection",
            Means::Around("tool_selection"),
            &[],
            &["llm_request"],
        )
        .quiet(),
    ],
};
