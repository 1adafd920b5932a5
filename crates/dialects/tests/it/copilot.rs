//! `import copilot`, run on sessions that the tests make.

use annals::projections::{RunView, TaskView};
use annals_dialects::copilot;
use serde_json::{Value, json};

use crate::claude::log::Log;
use crate::claude::recording::{Folder, story};
use crate::recorded::{
    calls, check_pieces, edited_files, import_bytes, log_of_lines, prompts, text, try_import,
};

/// A session in the making. Each event is a second after the one before.
#[derive(Default)]
struct Session(Vec<Value>);

impl Session {
    fn new() -> Session {
        let mut session = Session::default();
        session.event("session.start", json!({
            "sessionId": "s", "version": 1, "producer": "copilot-agent", "copilotVersion": "1.0.45",
            "startTime": "2026-01-02T03:00:00.000Z", "context": { "cwd": "/w", "branch": "main" },
        }));
        session.event("session.model_change", json!({ "newModel": "gpt-test" }));
        session
    }

    fn event(&mut self, kind: &str, data: Value) -> &mut Session {
        let number = self.0.len();
        let id = |number: usize| format!("e2000000-0000-4000-8000-{number:012}");
        let parent = number.checked_sub(1).map(id);
        self.0.push(json!({
            "type": kind, "data": data, "id": id(number), "parentId": parent,
            "timestamp": format!("2026-01-02T03:{:02}:{:02}.000Z", number / 60, number % 60),
        }));
        self
    }

    fn prompt(&mut self, text: &str) -> &mut Session {
        self.event("user.message", json!({ "content": text, "transformedContent": format!("<x>{text}"), "attachments": [] }))
    }

    fn says(&mut self, message: &str, text: &str, output: u64, requests: Value) -> &mut Session {
        self.event("assistant.message", json!({
            "messageId": message, "content": text, "toolRequests": requests, "outputTokens": output,
        }))
    }

    fn starts(&mut self, id: &str, tool: &str, arguments: Value) -> &mut Session {
        self.event(
            "tool.execution_start",
            json!({ "toolCallId": id, "toolName": tool, "arguments": arguments }),
        )
    }

    fn ends(&mut self, id: &str, success: bool, content: &str) -> &mut Session {
        let mut data = json!({ "toolCallId": id, "success": success });
        match success {
            true => data["result"] = json!({ "content": content }),
            false => data["error"] = json!({ "message": content, "code": "failure" }),
        }
        self.event("tool.execution_complete", data)
    }

    /// Sets members of the newest event.
    fn with(&mut self, name: &str, value: Value) -> &mut Session {
        self.0.last_mut().unwrap()["data"][name] = value;
        self
    }
}

fn request(id: &str, tool: &str, arguments: Value) -> Value {
    json!({ "toolCallId": id, "name": tool, "arguments": arguments, "type": "function" })
}

/// A session with something of everything.
fn session() -> Session {
    let create = json!({ "path": "/w/a.txt", "file_text": "1\n2\n" });
    let edit = json!({ "path": "/w/a.txt", "old_str": "2\n", "new_str": "3\n" });
    let task = json!({ "agent_type": "explore", "prompt": "Look for it" });
    let mut session = Session::new();
    session
        .prompt("Make a file")
        .event("assistant.turn_start", json!({ "turnId": "0" }))
        .event("assistant.reasoning", json!({ "reasoningId": "r", "content": "Hm" }))
        .says("m1", "I make it.", 10, json!([request("tool-1", "create", json!(create.to_string()))]))
        .with("reasoningText", json!("Hm"))
        .event("permission.requested", json!({ "requestId": "p", "permissionRequest": { "kind": "write" } }))
        .event("permission.completed", json!({ "requestId": "p", "result": { "kind": "approved" } }))
        .starts("tool-1", "create", create)
        .ends("tool-1", true, "Created")
        .event("assistant.turn_end", json!({ "turnId": "0" }))
        .says("m2", "", 20, json!([request("tool-2", "edit", edit.clone()), request("tool-3", "task", task.clone())]))
        .starts("tool-2", "edit", edit)
        .event("tool.execution_complete", json!({ "toolCallId": "tool-2", "success": true, "result": {
            "content": "Changed", "detailedContent": "\ndiff --git a/w/a.txt b/w/a.txt\n--- a/w/a.txt\n+++ b/w/a.txt\n@@ -1,2 +1,2 @@\n 1\n-2\n+3\n",
        } }))
        .starts("tool-3", "task", task)
        .event("subagent.started", json!({ "toolCallId": "tool-3", "agentName": "explore", "agentDisplayName": "Explore", "agentDescription": "Looks" }))
        .says("m3", "Looking", 5, json!([request("tool-4", "grep", json!({ "pattern": "it" }))]))
        .with("parentToolCallId", json!("tool-3"))
        .ends("tool-4", false, "no grep here")
        .with("parentToolCallId", json!("tool-3"))
        .event("subagent.completed", json!({ "toolCallId": "tool-3", "agentName": "explore", "agentDisplayName": "Explore" }))
        .ends("tool-3", true, "It is there")
        .event("tool.user_requested", json!({ "toolCallId": "tool-5", "toolName": "bash", "arguments": { "command": "ls" } }))
        .starts("tool-5", "bash", json!({ "command": "ls" }))
        .ends("tool-5", true, "a.txt")
        .event("session.compaction_start", json!({ "conversationTokens": 5 }))
        .event("session.compaction_complete", json!({ "success": true, "summaryContent": "What was before", "checkpointNumber": 1 }))
        .event("session.error", json!({ "errorType": "query", "message": "Too many requests" }))
        .event("hook.end", json!({ "hookInvocationId": "h", "hookType": "postToolUse", "success": true }))
        .event("user.message", json!({ "content": "Read the skill", "source": "skill-pdf" }))
        .prompt("Go on")
        .says("m4", "All right.", 7, json!([]))
        .event("abort", json!({ "reason": "user initiated" }))
        .event("session.novelty", json!({ "x": 1 }))
        .event("novelty", json!({ "x": 1 }))
        .event("session.shutdown", json!({
            "shutdownType": "routine", "sessionStartTime": 1, "modelMetrics": { "gpt-test": {
                "requests": { "count": 4, "cost": 1 },
                "usage": { "inputTokens": 1000, "cacheReadTokens": 600, "cacheWriteTokens": 0, "outputTokens": 50 },
            } },
        }));
    session
}

#[test]
fn a_session_has_what_a_recount_has() {
    let log = log_of_lines("events.jsonl", &session().0);
    assert_eq!(prompts(&log), ["Make a file", "Go on"]);
    let expected = [
        "create ok: Created",
        "edit ok: Changed",
        "grep error: no grep here",
        "task ok: It is there",
        "bash ok: a.txt",
    ];
    assert_eq!(calls(&log), expected);
    assert_eq!(
        edited_files(&log),
        ["add a.txt +2 -0", "modify a.txt +1 -1"]
    );
    // What the messages wrote is part of what the session's end counts.
    assert_eq!(log.tokens(), [400, 600, 0, 50]);
    let run: RunView = log.get(copilot::ids().session("s").run);
    assert_eq!(run.environment.unwrap().cwd.as_str(), Some("/w"));
    let side = copilot::ids().side_chain("s", "tool-3");
    let task: TaskView = log.get(side.task);
    assert_eq!(task.title.as_str(), Some("Look for it"));
    assert_eq!(task.parent, Some(copilot::ids().session("s").task));
    let frames = log.frames();
    for frame in [
        "session.start: session.start",
        "thinking: Hm",
        "step_summary: I make it.",
        "permission.completed: permission.completed",
        "code_change: edit a.txt: Changed",
        "error_recovery: grep: no grep here",
        "checkpoint: What was before",
        "system_state: Too many requests",
        "system_state: Read the skill",
        "hook.end: hook.end",
        "abort: abort",
        "novelty: novelty",
        "session.shutdown: session.shutdown",
    ] {
        let count = frames.iter().filter(|it| *it == frame).count();
        assert_eq!(count, 1, "{frame} in {frames:#?}");
    }
    let unknown: Vec<&str> = log
        .report
        .unknown_types
        .iter()
        .map(|it| it.name.as_str())
        .collect();
    assert_eq!(unknown, ["novelty", "session.novelty"]);
}

#[test]
fn in_pieces_doubled_and_copied_it_is_the_same() {
    check_pieces("events.jsonl", &session().0, 1);
}

#[test]
fn what_becomes_of_fields_is_said() {
    let log = log_of_lines("events.jsonl", &session().0);
    for (path, fates) in [
        ("data.content", [8, 0, 0]),
        ("data.transformedContent", [0, 0, 2]),
        ("data.toolRequests[].arguments", [4, 0, 0]),
        ("data.result.detailedContent", [0, 1, 0]),
        ("data.outputTokens", [4, 0, 0]),
    ] {
        assert_eq!(log.fates(path), fates, "{path} in {}", log.report);
    }
}

#[test]
fn the_tokens_of_a_message_are_said_before_or_behind_it() {
    let usage = |output: u64| json!({ "model": "gpt-test", "inputTokens": 100, "cacheReadTokens": 60, "outputTokens": output });
    let mut session = Session::new();
    session
        .prompt("Go")
        .says("m1", "One", 10, json!([]))
        .event("assistant.usage", usage(10))
        .event(
            "session.shutdown",
            json!({ "modelMetrics": { "gpt-test": { "usage": {
            "inputTokens": 100, "cacheReadTokens": 60, "outputTokens": 10,
        } } } }),
        );
    assert_eq!(
        log_of_lines("events.jsonl", &session.0).tokens(),
        [40, 60, 0, 10]
    );
    check_pieces("events.jsonl", &session.0, 1);
    let mut session = Session::new();
    session
        .prompt("Go")
        .event("assistant.usage", usage(10))
        .says("m1", "One", 10, json!([]));
    assert_eq!(
        log_of_lines("events.jsonl", &session.0).tokens(),
        [40, 60, 0, 10]
    );
}

/// What the log has of the costs that were recorded, in billionths of a USD.
fn cost(log: &Log) -> u64 {
    use annals_domain::AnyEvent;
    use annals_domain::run::Event as RunEvent;
    let entries = log.entries();
    let costs = entries.iter().filter_map(|entry| match &entry.event {
        AnyEvent::Run(RunEvent::UsageRecorded(usage)) => usage.cost_usd,
        _ => None,
    });
    (costs.sum::<f64>() * 1e9).round() as u64
}

/// An end of a session: what it says of the model's output, of its input ten times as much, and its nano credits.
fn shutdown(session: &mut Session, output: u64, nano: u64) -> &mut Session {
    session.event("session.shutdown", json!({
        "shutdownType": "routine", "totalNanoAiu": nano, "modelMetrics": { "gpt-test": {
            "requests": { "count": 1, "cost": 0 }, "totalNanoAiu": nano,
            "usage": { "inputTokens": 10 * output, "cacheReadTokens": 0, "cacheWriteTokens": 0, "outputTokens": output },
        } },
    }))
}

fn resume(session: &mut Session) -> &mut Session {
    session.event(
        "session.resume",
        json!({ "sessionId": "s", "context": { "cwd": "/w" } }),
    )
}

/// A billion nano credits are one credit, which is $0.01.
#[test]
fn credits_are_what_a_session_cost() {
    let mut session = Session::new();
    session.prompt("One").says("m1", "1", 40, json!([]));
    shutdown(&mut session, 40, 260_000_000);
    resume(&mut session)
        .prompt("Two")
        .says("m2", "2", 60, json!([]));
    shutdown(&mut session, 60, 740_000_000);
    resume(&mut session)
        .prompt("Three")
        .says("m3", "3", 7, json!([]));
    let log = log_of_lines("events.jsonl", &session.0);
    assert_eq!(cost(&log), 10_000_000);
    assert_eq!(log.tokens(), [1_000, 0, 0, 107]);
    check_pieces("events.jsonl", &session.0, 1);
}

/// Newer versions count on when a session is resumed.
#[test]
fn ends_that_count_on_are_not_added_up() {
    let mut session = Session::new();
    session.prompt("One").says("m1", "1", 40, json!([]));
    shutdown(&mut session, 40, 260_000_000);
    resume(&mut session)
        .prompt("Two")
        .says("m2", "2", 60, json!([]));
    shutdown(&mut session, 100, 1_000_000_000);
    resume(&mut session);
    shutdown(&mut session, 100, 1_000_000_000);
    let log = log_of_lines("events.jsonl", &session.0);
    assert_eq!((cost(&log), log.tokens()), (10_000_000, [1_000, 0, 0, 100]));
    check_pieces("events.jsonl", &session.0, 1);
}

/// A session that was killed has no end, but may have checkpoints.
#[test]
fn a_checkpoint_is_what_a_session_cost_that_was_killed() {
    let mut session = Session::new();
    session.prompt("One").says("m1", "1", 40, json!([]));
    shutdown(&mut session, 40, 260_000_000);
    resume(&mut session)
        .prompt("Two")
        .says("m2", "2", 60, json!([]));
    for nano in [500_000_000_u64, 600_000_000] {
        session.event("session.usage_checkpoint", json!({ "totalNanoAiu": nano }));
    }
    let unended = log_of_lines("events.jsonl", &session.0);
    assert_eq!(
        (cost(&unended), unended.report.unknown_types.len()),
        (2_600_000, 0)
    );
    let log = Log::empty();
    let folder = Folder::new();
    let path = folder.write("events.jsonl", text(&session.0));
    let options = annals_dialects::import::ImportOptions::default().with_ended(true);
    let mut none = |_| {};
    for _ in 0..2 {
        let imported =
            annals_dialects::import::recordings(&log.annals, &path, None, &options, &mut none);
        futures::executor::block_on(imported).unwrap();
        assert_eq!(cost(&log), 6_000_000);
    }
    // So it is where it is resumed, and its end counts from there.
    resume(&mut session)
        .prompt("Three")
        .says("m3", "3", 7, json!([]));
    shutdown(&mut session, 7, 50_000_000);
    let log = log_of_lines("events.jsonl", &session.0);
    assert_eq!((cost(&log), log.tokens()), (6_500_000, [470, 0, 0, 107]));
    check_pieces("events.jsonl", &session.0, 1);
}

#[test]
fn credits_of_a_call_are_a_part_of_those_of_the_session() {
    let mut session = Session::new();
    session.prompt("Go").says("m1", "One", 10, json!([])).event(
        "assistant.usage",
        json!({
            "model": "gpt-test", "inputTokens": 100, "outputTokens": 10,
            "copilotUsage": { "totalNanoAiu": 200_000_000 },
        }),
    );
    let log = log_of_lines("events.jsonl", &session.0);
    assert_eq!(cost(&log), 2_000_000);
    assert_eq!(log.fates("data.copilotUsage.totalNanoAiu"), [1, 0, 0]);
    shutdown(&mut session, 10, 300_000_000);
    let log = log_of_lines("events.jsonl", &session.0);
    assert_eq!((cost(&log), log.tokens()), (3_000_000, [100, 0, 0, 10]));
    check_pieces("events.jsonl", &session.0, 1);
}

#[test]
fn ids_of_one_session_are_not_those_of_another() {
    let of = |name: &str| {
        let mut session = Session::new();
        session.prompt("Go").says(
            "m1",
            "One",
            1,
            json!([request("tool-1", "bash", json!({}))]),
        );
        session.ends("tool-1", true, name);
        for (number, line) in session.0.iter_mut().enumerate() {
            line["id"] = json!(format!("event-{number}"));
        }
        session.0[0]["data"]["sessionId"] = json!(name);
        session.0
    };
    let mut log = log_of_lines("a.jsonl", &of("a"));
    import_bytes(&mut log, "b.jsonl", text(&of("b")));
    assert_eq!(log.report.broken, []);
    assert_eq!(calls(&log), ["bash ok: a", "bash ok: b"]);
    assert_eq!(log.tokens(), [0, 0, 0, 2]);
}

#[test]
fn hostile_events_are_named_or_kept() {
    let mut bytes = text(&Session::new().prompt("Go").0);
    for line in [
        "{\"type\":\"user.message\"",
        "[1]",
        "{\"type\":5}",
        "{\"type\":\"user.message\",\"data\":[],\"id\":\"\"}",
        "{\"type\":\"assistant.message\",\"data\":{\"toolRequests\":[5,{\"arguments\":\"{\"}],\"outputTokens\":1e99},\"id\":7}",
        "{\"type\":\"tool.execution_complete\",\"data\":{\"toolCallId\":{},\"result\":5}}",
        "{\"type\":\"session.shutdown\",\"data\":{\"modelMetrics\":{\"m\":{\"usage\":{\"inputTokens\":18446744073709551615,\"cacheReadTokens\":18446744073709551615}}}}}",
    ] {
        bytes.push_str(line);
        bytes.push('\n');
    }
    let mut log = Log::empty();
    import_bytes(&mut log, "events.jsonl", &bytes);
    let broken: Vec<u64> = log.report.broken.iter().map(|it| it.line).collect();
    assert_eq!(broken, [4, 5], "{}", log.report);
    assert_eq!(prompts(&log), ["Go"]);
}

#[test]
fn another_agents_recording_is_named() {
    let folder = Folder::new();
    let path = folder.write("claude.jsonl", text(&story().lines));
    let error = try_import(&Log::empty(), Some("copilot"), &path).unwrap_err();
    assert!(error.to_string().contains("Claude Code"), "{error}");
    let path = folder.write("events.jsonl", text(&session().0));
    let error = try_import(&Log::empty(), Some("codex"), &path).unwrap_err();
    assert!(error.to_string().contains("Copilot CLI"), "{error}");
}
