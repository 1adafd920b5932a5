//! `import codex`, run on rollouts that the tests make.

use std::collections::BTreeSet;

use annals::projections::{ContextPipelineView, RunView, TaskView, Text, ToolInvocationView};
use annals_dialects::codex;
use annals_event_log::store_support::referenced_blobs;
use annals_event_log::{Position, Query};
use futures::executor::block_on;
use serde_json::{Value, json};

use crate::claude::log::Log;
use crate::claude::recording::{Folder, story};
use crate::recorded::{
    calls, check_pieces, edited_files, import_bytes, log_of_lines, prompts, text, try_import,
};

const THREAD: &str = "019b0000-0000-7000-8000-000000000001";
const NAME: &str = "rollout-2026-01-02T03-04-05-019b0000-0000-7000-8000-000000000001.jsonl";

/// A rollout in the making. Each line is a second after the one before.
#[derive(Default)]
struct Rollout(Vec<Value>);

impl Rollout {
    fn of(meta: Value) -> Rollout {
        let mut rollout = Rollout::default();
        rollout.line("session_meta", meta);
        rollout
    }

    /// The session of most tests.
    fn new() -> Rollout {
        Rollout::of(json!({
            "id": THREAD, "timestamp": "2026-01-02T03:04:05.000Z", "cwd": "/w",
            "originator": "codex_cli_rs", "cli_version": "0.99.0", "source": "cli",
            "model_provider": "openai", "git": { "branch": "main", "commit_hash": "abc" },
            "base_instructions": { "text": "You are an agent." },
        }))
    }

    fn line(&mut self, kind: &str, payload: Value) -> &mut Rollout {
        let second = self.0.len();
        let time = format!(
            "2026-01-02T03:{:02}:{:02}.000Z",
            5 + second / 60,
            second % 60
        );
        self.0
            .push(json!({ "timestamp": time, "type": kind, "payload": payload }));
        self
    }

    fn item(&mut self, payload: Value) -> &mut Rollout {
        self.line("response_item", payload)
    }

    fn event(&mut self, payload: Value) -> &mut Rollout {
        self.line("event_msg", payload)
    }

    fn message(&mut self, role: &str, text: &str) -> &mut Rollout {
        let kind = if role == "assistant" {
            "output_text"
        } else {
            "input_text"
        };
        let part = json!({ "type": kind, "text": text });
        self.item(json!({ "type": "message", "role": role, "content": [part] }))
    }

    /// A prompt, as both of its lines have it.
    fn prompt(&mut self, text: &str) -> &mut Rollout {
        self.message("user", text);
        self.event(json!({ "type": "user_message", "message": text, "images": [] }))
    }

    fn says(&mut self, text: &str) -> &mut Rollout {
        self.event(json!({ "type": "agent_message", "message": text }));
        self.message("assistant", text)
    }

    fn turn(&mut self, id: &str, policy: &str) -> &mut Rollout {
        self.event(json!({ "type": "task_started", "turn_id": id }));
        self.line(
            "turn_context",
            json!({
                "turn_id": id, "cwd": "/w", "approval_policy": policy,
                "sandbox_policy": { "type": "read-only" }, "model": "gpt-test", "effort": "high",
            }),
        )
    }

    fn call(&mut self, id: &str, tool: &str, arguments: &Value) -> &mut Rollout {
        self.item(json!({
            "type": "function_call", "name": tool, "call_id": id, "arguments": arguments.to_string(),
        }))
    }

    fn output(&mut self, id: &str, output: Value) -> &mut Rollout {
        self.item(json!({ "type": "function_call_output", "call_id": id, "output": output }))
    }

    /// The totals of input, cached input, output and reasoning, and what was added last.
    fn tokens(&mut self, total: [u64; 4], last: [u64; 4]) -> &mut Rollout {
        let [total, last] = [total, last].map(|[input, cached, output, reasoning]| {
            json!({
                "input_tokens": input, "cached_input_tokens": cached, "output_tokens": output,
                "reasoning_output_tokens": reasoning, "total_tokens": input + output,
            })
        });
        let info = json!({ "total_token_usage": total, "last_token_usage": last });
        self.event(json!({ "type": "token_count", "info": info, "rate_limits": { "primary": 1 } }))
    }
}

const ENVELOPE: &str = "*** Begin Patch\n*** Update File: src/a.rs\n@@\n fn a() {\n-old\n+new\n }\n\
    *** Add File: b.txt\n+1\n*** Delete File: c.txt\n*** End Patch\n";

/// A session with something of everything.
fn session() -> Rollout {
    let mut rollout = Rollout::new();
    rollout
        .message("developer", "<permissions instructions>ask</permissions instructions>")
        .message("user", "<environment_context>\n<cwd>/w</cwd>\n</environment_context>")
        .turn("turn-1", "on-request")
        .prompt("Fix a.rs")
        .event(json!({ "type": "agent_reasoning", "text": "**Look**" }))
        .item(json!({
            "type": "reasoning", "summary": [{ "type": "summary_text", "text": "**Look**" }],
            "content": null, "encrypted_content": "gAAA",
        }))
        .says("I look.")
        .call("call_1", "shell", &json!({ "command": ["ls"], "workdir": "/w" }))
        .tokens([100, 40, 10, 5], [100, 40, 10, 5])
        .event(json!({
            "type": "exec_command_end", "call_id": "call_1", "exit_code": 2, "stdout": "",
            "duration": { "secs": 1, "nanos": 500_000_000 },
        }))
        .output("call_1", json!("{\"output\":\"no\",\"metadata\":{\"exit_code\":2,\"duration_seconds\":1.5}}"))
        .item(json!({
            "type": "custom_tool_call", "status": "completed", "call_id": "call_2",
            "name": "apply_patch", "input": ENVELOPE,
        }))
        .event(json!({ "type": "patch_apply_end", "call_id": "call_2", "success": true, "changes": {} }))
        .item(json!({ "type": "custom_tool_call_output", "call_id": "call_2", "output": "Done!" }))
        .tokens([300, 140, 30, 5], [200, 100, 20, 0])
        .tokens([300, 140, 30, 5], [200, 100, 20, 0])
        .says("Done.")
        .event(json!({ "type": "task_complete", "turn_id": "turn-1", "last_agent_message": "Done." }))
        .turn("turn-2", "on-request")
        .prompt("Fix a.rs")
        .item(json!({ "type": "web_search_call", "status": "completed", "action": { "query": "rust" } }))
        .tokens([400, 140, 31, 5], [100, 0, 1, 0])
        .event(json!({ "type": "turn_aborted", "turn_id": "turn-2", "reason": "interrupted" }))
        .line("compacted", json!({
            "message": "What was before.", "window_id": "w",
            "replacement_history": [{ "type": "message", "role": "user", "content": [] }],
        }))
        .event(json!({ "type": "context_compacted" }))
        .turn("turn-3", "never")
        .prompt("Go on")
        .says("All right.")
        .line("world_state", json!({ "files": 3 }))
        .line("novelty", json!({ "x": 1 }))
        .event(json!({ "type": "novel_event", "x": 1 }));
    rollout
}

#[test]
fn a_turns_policy_and_a_persons_refusal_are_decisions_on_its_calls() {
    let mut rollout = Rollout::new();
    let run = json!({ "command": ["make"] });
    rollout
        .turn("turn-1", "on-request")
        .prompt("Build it")
        .call("asked", "shell", &run)
        .output("asked", json!("built"))
        .call("refused", "shell", &run)
        .output("refused", json!("exec command rejected by user"))
        .turn("turn-2", "never")
        .call("free", "shell", &run)
        .output("free", json!("built"));
    let log = log_of_lines(NAME, &rollout.0);
    let decisions = |call: &str| {
        let ids = codex::ids().tool(&format!("{THREAD}/{call}"));
        let view: ToolInvocationView = log.get(ids.invocation);
        let shown = view.life.decisions.into_iter().map(|decision| {
            let text = |text: Option<Text>| text.map(|text| text.to_string()).unwrap_or_default();
            format!(
                "{} by {} {}({}){}",
                decision.verdict,
                decision.by,
                text(decision.by_name),
                text(decision.permission_mode),
                if decision.inferred { " inferred" } else { "" },
            )
        });
        shown.collect::<Vec<String>>()
    };
    assert_eq!(decisions("asked"), [""; 0]);
    assert_eq!(
        decisions("refused"),
        ["deny by person (approval on-request, sandbox read-only)"]
    );
    assert_eq!(
        decisions("free"),
        ["allow by mode approval_policy never(approval never, sandbox read-only) inferred"]
    );
}

#[test]
fn a_session_has_what_a_recount_has() {
    let log = log_of_lines(NAME, &session().0);
    assert_eq!(prompts(&log), ["Fix a.rs", "Fix a.rs", "Go on"]);
    assert_eq!(
        calls(&log),
        [
            "shell error: no",
            "apply_patch ok: Done!",
            "web_search ok: completed"
        ]
    );
    assert_eq!(
        edited_files(&log),
        [
            "modify src/a.rs +1 -1",
            "add b.txt +1 -0",
            "delete c.txt +0 -0"
        ]
    );
    // Uncached input, cached input, writes, output.
    assert_eq!(log.tokens(), [260, 140, 0, 31]);
    let run: RunView = log.get(codex::ids().session(THREAD).run);
    let environment = run.environment.unwrap();
    assert_eq!(environment.cwd.as_str(), Some("/w"));
    assert_eq!(log.count("run.provenance_recorded"), 1);
    assert_eq!(log.count("task.created"), 1);
    let frames = log.frames();
    for frame in [
        "session_meta: session_meta",
        "system_state: You are an agent.",
        "intent_analysis: Fix a.rs",
        "thinking: **Look**",
        "step_summary: I look.",
        "error_recovery: shell: no",
        "code_change: apply_patch src/a.rs: Done!",
        "checkpoint: What was before.",
        "replacement_history: replacement_history",
        "turn_aborted: turn_aborted",
        "world_state: world_state",
        "novelty: novelty",
        "novel_event: novel_event",
    ] {
        let count = frames.iter().filter(|it| *it == frame).count();
        let expected = if frame.ends_with("Fix a.rs") { 2 } else { 1 };
        assert_eq!(count, expected, "{frame} in {frames:#?}");
    }
    // The second turn is allowed the same as the first one, and the third something else.
    let contexts = frames.iter().filter(|it| it.starts_with("turn_context"));
    assert_eq!(contexts.count(), 2);
    let unknown: Vec<&str> = log
        .report
        .unknown_types
        .iter()
        .map(|it| it.name.as_str())
        .collect();
    assert_eq!(unknown, ["novel_event", "novelty"]);
    assert!(!log.has_note("names no session"), "{}", log.report);
}

#[test]
fn what_becomes_of_fields_is_said() {
    let log = log_of_lines(NAME, &session().0);
    for (path, fates) in [
        ("payload.arguments", [1, 0, 0]),
        ("payload.input", [1, 0, 0]),
        ("payload.encrypted_content", [0, 0, 1]),
        ("payload.rate_limits.primary", [0, 0, 4]),
        ("payload.duration", [1, 0, 0]),
        ("payload.replacement_history", [1, 0, 0]),
        ("payload.info.total_token_usage.input_tokens", [3, 0, 0]),
    ] {
        assert_eq!(log.fates(path), fates, "{path} in {}", log.report);
    }
}

#[test]
fn in_pieces_doubled_and_copied_it_is_the_same() {
    check_pieces(NAME, &session().0, 1);
}

#[test]
fn a_message_counts_once_whichever_of_its_lines_comes_first() {
    let mut rollout = Rollout::new();
    rollout
        .event(json!({ "type": "user_message", "message": "Shown first" }))
        .message("user", "Shown first")
        .message("assistant", "Said first")
        .event(json!({ "type": "agent_message", "message": "Said first" }))
        .event(json!({ "type": "user_message", "message": "Shown only" }))
        .event(json!({ "type": "agent_message", "message": "So is this" }))
        .event(json!({ "type": "task_complete" }));
    let log = log_of_lines(NAME, &rollout.0);
    assert_eq!(prompts(&log), ["Shown first", "Shown only"]);
    let frames = log.frames();
    let texts = frames.iter().filter(|it| it.starts_with("step_summary"));
    assert_eq!(
        texts.collect::<Vec<_>>(),
        ["step_summary: Said first", "step_summary: So is this"]
    );
    check_pieces(NAME, &rollout.0, 1);
}

#[test]
fn what_the_program_puts_into_a_users_message_is_not_asked() {
    let part = |text: &str| json!({ "type": "input_text", "text": text });
    let mut rollout = Rollout::new();
    rollout
        .message("user", "# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\nx\n</INSTRUCTIONS>")
        .message("user", "<turn_aborted>\nx\n</turn_aborted>")
        .message("user", "<user_instructions>x</user_instructions>")
        .item(json!({ "type": "message", "role": "user", "content": [
            part("<environment_context>x</environment_context>"), part("Fix it"),
            { "type": "input_image", "image_url": "data:image/png;base64,AAAA" },
        ] }))
        .message("user", "# Context from my IDE setup:\n\n## Open tabs:\n- a\n\n## My request for Codex:\nAnd this\n")
        .says("Done.");
    let log = log_of_lines(NAME, &rollout.0);
    assert_eq!(prompts(&log), ["Fix it", "And this\n"]);
    assert!(
        log.frames()
            .contains(&"input_image: input_image".to_owned())
    );
}

#[test]
fn a_sub_agents_rollout_is_a_side_chain_of_its_session() {
    let spawn =
        json!({ "subagent": { "thread_spawn": { "parent_thread_id": THREAD, "depth": 1 } } });
    let mut child = Rollout::of(json!({
        "id": "child", "timestamp": "2026-01-02T04:00:00.000Z", "cwd": "/w", "source": spawn,
    }));
    child
        .prompt("Search for it")
        .call("call_1", "shell", &json!({ "command": ["rg", "it"] }))
        .output("call_1", json!("found"))
        .tokens([5, 0, 5, 0], [5, 0, 5, 0])
        .says("It is there.");
    for line in &mut child.0 {
        let time = line["timestamp"].as_str().unwrap().replace("T03", "T04");
        line["timestamp"] = json!(time);
    }
    let folder = Folder::new();
    folder.write("sessions/a.jsonl", text(&child.0));
    folder.write(&format!("sessions/{NAME}"), text(&session().0));
    let mut log = Log::empty();
    log.report = try_import(&log, Some("codex"), folder.path())
        .unwrap()
        .remove(0);
    assert_eq!(log.report.broken, []);
    assert_eq!(prompts(&log).len(), 3);
    let ids = codex::ids().side_chain(THREAD, "child");
    let task: TaskView = log.get(ids.task);
    assert_eq!(task.title.as_str(), Some("Search for it"));
    assert_eq!(task.parent, Some(codex::ids().session(THREAD).task));
    assert_eq!(log.count("task.created"), 2);
    // The same id of a call is another call there.
    assert_eq!(calls(&log).len(), 4);
    assert_eq!(log.tokens(), [265, 140, 0, 36]);
}

#[test]
fn a_fork_does_not_count_again_what_it_was_forked_from() {
    // Ids of turns say when they were begun: before this thread, and after.
    let (older, newer) = (
        "019b7ca0-0000-7000-8000-000000000001",
        "019b7d60-0000-7000-8000-000000000001",
    );
    let mut fork = Rollout::of(json!({
        "id": "fork", "timestamp": "2026-01-02T05:00:00.000Z", "cwd": "/w", "forked_from_id": THREAD,
    }));
    fork.line(
        "session_meta",
        json!({ "id": THREAD, "timestamp": "2026-01-02T03:04:05.000Z" }),
    )
    .turn(older, "never")
    .prompt("Fix a.rs")
    .tokens([100, 0, 10, 0], [100, 0, 10, 0])
    .turn(newer, "never")
    .prompt("Otherwise")
    .tokens([130, 0, 15, 0], [30, 0, 5, 0])
    .says("Done.");
    let log = log_of_lines("fork.jsonl", &fork.0);
    assert_eq!(prompts(&log), ["Otherwise"]);
    assert_eq!(log.tokens(), [30, 0, 0, 5]);
    let skipped = |name: &str| log.report.skipped_types.iter().any(|it| it.name == name);
    assert!(
        skipped("response_item (of the session that it was forked from)"),
        "{}",
        log.report
    );
    check_pieces("fork.jsonl", &fork.0, 1);
}

#[test]
fn old_rollouts_are_bare_items() {
    let lines = [
        json!({ "id": "old", "timestamp": "2025-06-01T00:00:00.000Z", "instructions": "Be brief.", "git": { "branch": "dev" } }),
        json!({ "record_type": "state" }),
        json!({ "type": "message", "id": null, "role": "user", "content": [{ "type": "input_text", "text": "Fix it" }] }),
        json!({ "type": "reasoning", "id": "rs_1", "summary": [{ "type": "summary_text", "text": "Hm" }] }),
        json!({ "type": "function_call", "id": "fc_1", "name": "shell", "call_id": "call_1", "arguments": json!({ "command": ["apply_patch", ENVELOPE] }).to_string() }),
        json!({ "type": "function_call_output", "call_id": "call_1", "output": "{\"output\":\"Success\",\"metadata\":{\"exit_code\":0,\"duration_seconds\":0.1}}" }),
        json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "Done." }] }),
    ];
    let log = log_of_lines("rollout-2025-06-01-old.jsonl", &lines);
    assert_eq!(prompts(&log), ["Fix it"]);
    assert_eq!(calls(&log), ["shell ok: Success"]);
    assert_eq!(edited_files(&log).len(), 3);
    let run: RunView = log.get(codex::ids().session("old").run);
    assert!(run.environment.is_some());
    check_pieces("old.jsonl", &lines, 1);
}

#[test]
fn a_history_that_is_repeated_is_kept_once() {
    let mut rollout = Rollout::new();
    rollout.prompt("Go");
    let part = json!({ "type": "input_text", "text": "x".repeat(100_000) });
    let history = json!([{ "type": "message", "role": "user", "content": [part] }]);
    for _ in 0..100 {
        rollout.line(
            "compacted",
            json!({ "message": "Before.", "replacement_history": history }),
        );
    }
    let log = log_of_lines(NAME, &rollout.0);
    // Of the session and its instructions, of the prompt, and two of each compaction.
    assert_eq!(log.count("pipeline.frame_pushed"), 3 + 2 * 100);
    let query = Query::all(Position(1)).limit(100_000);
    let records = block_on(log.annals.log().read(query)).unwrap().records;
    let large: BTreeSet<String> = referenced_blobs(&records)
        .into_iter()
        .map(|digest| digest.to_string())
        .collect();
    assert_eq!(large.len(), 1, "{large:?}");
}

/// Totals as odd rollouts have them.
#[test]
fn totals_that_fall_begin_again() {
    let mut rollout = Rollout::new();
    rollout
        .prompt("Go")
        .tokens([1_000, 200, 50, 0], [1_000, 200, 50, 0])
        .tokens([3_000, 1_500, 90, 0], [0; 4])
        .tokens([800, 100, 20, 0], [800, 100, 20, 0])
        .event(json!({ "type": "token_count", "info": null }))
        .event(json!({ "type": "token_count", "info": { "total_token_usage": { "input_tokens": -1 } } }))
        .event(json!({ "type": "token_count", "info": "odd" }));
    let log = log_of_lines(NAME, &rollout.0);
    assert_eq!(log.tokens(), [2_200, 1_600, 0, 110]);
}

#[test]
fn hostile_lines_are_named_or_kept() {
    let deep = format!("{}1{}", "[".repeat(500), "]".repeat(500));
    let mut rollout = Rollout::new();
    rollout.prompt("Go");
    let mut bytes = text(&rollout.0);
    for line in [
        "{\"type\":\"event_msg\"",
        "[1]",
        "{\"type\":5}",
        "{\"type\":\"event_msg\",\"payload\":\"token_count\"}",
        "{\"type\":\"response_item\",\"payload\":{\"type\":\"message\",\"role\":7,\"content\":{}}}",
        "{\"type\":\"response_item\",\"payload\":{\"type\":\"function_call\",\"call_id\":\"\",\"arguments\":[]}}",
        "{\"type\":\"response_item\",\"payload\":{\"type\":\"function_call_output\",\"call_id\":{},\"output\":1e999}}",
        "{\"type\":\"turn_context\",\"payload\":[],\"type\":\"turn_context\"}",
        "{\"type\":\"event_msg\",\"payload\":{\"type\":\"token_count\",\"info\":{\"total_token_usage\":{\"input_tokens\":18446744073709551615,\"output_tokens\":1e30}}}}",
    ] {
        bytes.push_str(line);
        bytes.push('\n');
    }
    bytes.push_str(&format!("{{\"type\":\"deep\",\"payload\":{deep}}}\n"));
    let mut log = Log::empty();
    import_bytes(&mut log, NAME, &bytes);
    let broken: Vec<u64> = log.report.broken.iter().map(|it| it.line).collect();
    assert_eq!(broken, [4, 5], "{}", log.report);
    assert_eq!(prompts(&log), ["Go"]);
}

#[test]
fn another_agents_recording_is_named() {
    let folder = Folder::new();
    let path = folder.write("claude.jsonl", text(&story().lines));
    let error = try_import(&Log::empty(), Some("codex"), &path).unwrap_err();
    assert!(error.to_string().contains("Claude Code"), "{error}");
    let path = folder.write(NAME, text(&session().0));
    let error = try_import(&Log::empty(), Some("claude"), &path).unwrap_err();
    assert!(error.to_string().contains("Codex"), "{error}");
}

/// A session's first lines are missing: the file's name says whose the others are.
#[test]
fn a_rollout_without_its_first_line_is_of_the_thread_that_its_name_has() {
    let whole = session().0;
    let log = log_of_lines(NAME, whole.get(1..).unwrap());
    let task: TaskView = log.get(codex::ids().session(THREAD).task);
    assert_eq!(task.title.as_str(), Some("Fix a.rs"));
}

#[test]
fn a_compaction_takes_what_was_before_out_of_the_window() {
    let log = log_of_lines(NAME, &session().0);
    let pipeline: ContextPipelineView = log.get(codex::ids().session(THREAD).pipeline);
    let dropped = pipeline.evicted.iter().filter(|gone| gone.pushed.is_none());
    let frames: Vec<&str> = pipeline
        .frames()
        .filter_map(|frame| frame.summary.as_str())
        .collect();
    assert_eq!(frames.first(), Some(&"What was before."), "{frames:?}");
    assert_eq!(dropped.count(), pipeline.evicted.len());
    assert_eq!(log.count("pipeline.frames_dropped"), 1);
}
