//! The hooks of Cursor.

use super::table::{Dialect, Event, Means};

pub(super) static DIALECT: Dialect = Dialect {
    event: &["hook_event_name"],
    session: &["conversation_id", "session_id"],
    side: &["subagent_id"],
    cwd: &["cwd", "workspace_roots"],
    version: &["cursor_version"],
    model: &["model"],
    prompt: &["generation_id"],
    prompt_is_of_session: false,
    call_is_of_session: false,
    common: &[
        "conversation_id",
        "session_id",
        "generation_id",
        "model",
        "hook_event_name",
        "cursor_version",
        "workspace_roots",
        "user_email",
        "transcript_path",
        "cwd",
    ],
    events: &[
        Event::new(
            "sessionStart",
            Means::Around("session_start"),
            &["composer_mode"],
            &["is_background_agent", "composer_mode"],
        ),
        Event::new(
            "sessionEnd",
            Means::Begin("session_end"),
            &["reason"],
            &[
                "reason",
                "duration_ms",
                "is_background_agent",
                "final_status",
                "error_message",
            ],
        ),
        Event::new(
            "beforeSubmitPrompt",
            Means::Prompt,
            &["prompt"],
            &["prompt", "attachments"],
        ),
        Event::new(
            "preToolUse",
            Means::Requested,
            &["tool_use_id"],
            &["tool_name", "tool_input", "tool_use_id", "agent_message"],
        ),
        Event::new(
            "postToolUse",
            Means::Ended,
            &["tool_use_id"],
            &[
                "tool_name",
                "tool_input",
                "tool_output",
                "tool_use_id",
                "duration",
            ],
        ),
        Event::new(
            "postToolUseFailure",
            Means::Failed,
            &["tool_use_id", "error_message"],
            &[
                "tool_name",
                "tool_input",
                "tool_use_id",
                "error_message",
                "failure_type",
                "duration",
                "is_interrupt",
            ],
        ),
        Event::new(
            "subagentStart",
            Means::Begin("subagent_start"),
            &["subagent_type", "task"],
            &[
                "subagent_id",
                "subagent_type",
                "task",
                "parent_conversation_id",
                "tool_call_id",
                "subagent_model",
                "is_parallel_worker",
                "git_branch",
            ],
        ),
        Event::new(
            "subagentStop",
            Means::Around("subagent_stop"),
            &["subagent_type", "status"],
            &[
                "subagent_id",
                "subagent_type",
                "status",
                "task",
                "description",
                "summary",
                "duration_ms",
                "message_count",
                "tool_call_count",
                "loop_count",
                "modified_files",
                "agent_transcript_path",
            ],
        ),
        Event::new(
            "preCompact",
            Means::Around("compaction"),
            &["trigger"],
            &[
                "trigger",
                "context_usage_percent",
                "context_tokens",
                "context_window_size",
                "message_count",
                "messages_to_compact",
                "is_first_compaction",
            ],
        ),
        Event::new(
            "stop",
            Means::Around("stop"),
            &["status"],
            &["status", "loop_count"],
        ),
        // What follows is told by the tool events, too.
        Event::new(
            "beforeShellExecution",
            Means::Around("shell"),
            &["command"],
            &["command", "sandbox"],
        )
        .quiet(),
        Event::new(
            "afterShellExecution",
            Means::Around("shell_end"),
            &["command"],
            &["command", "output", "duration", "sandbox"],
        )
        .quiet(),
        Event::new(
            "beforeMCPExecution",
            Means::Around("mcp"),
            &["tool_name"],
            &["tool_name", "tool_input", "url", "command"],
        )
        .quiet(),
        Event::new(
            "afterMCPExecution",
            Means::Around("mcp_end"),
            &["tool_name"],
            &["tool_name", "tool_input", "result_json", "duration"],
        )
        .quiet(),
        Event::new(
            "beforeReadFile",
            Means::Around("file_read"),
            &["file_path"],
            &["file_path", "content", "attachments"],
        )
        .quiet(),
        Event::new(
            "afterFileEdit",
            Means::Around("file_edit"),
            &["file_path"],
            &["file_path", "edits"],
        )
        .quiet(),
        Event::new(
            "afterAgentResponse",
            Means::Around("response"),
            &[],
            &["text"],
        ),
        Event::new(
            "afterAgentThought",
            Means::Around("thought"),
            &[],
            &["text", "duration_ms"],
        )
        .quiet(),
    ],
};
