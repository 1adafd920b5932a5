//! `import codex`, run on rollouts that the tests make.

use std::collections::BTreeSet;
use std::io::Write as _;

use annals::projections::{ContextPipelineView, RunView, TaskView, Text, ToolInvocationView};
use annals_dialects::import::{GrowingRecordings, ImportOptions, recording_groups, recordings};
use annals_dialects::{codex, raw};
use annals_domain::AnyEvent;
use annals_domain::run::Event as RunEvent;
use annals_event_log::store_support::referenced_blobs;
use annals_event_log::{Position, Query};
use futures::executor::block_on;
use serde_json::{Value, json};

use crate::claude::log::Log;
use crate::claude::recording::{Folder, story};
use crate::recorded::{
    assert_same, calls, check_pieces, edited_files, edits, import, import_bytes, log_of,
    log_of_lines, prompts, text, try_import,
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

/// What the program puts before it is not what the sub-agent was asked for.
#[test]
fn a_sub_agent_is_called_by_its_task() {
    let title = |parts: Value| {
        let spawn =
            json!({ "subagent": { "thread_spawn": { "parent_thread_id": THREAD, "depth": 1 } } });
        let mut child = Rollout::of(json!({
            "id": "child", "timestamp": "2026-01-02T03:04:06.000Z", "cwd": "/w", "source": spawn,
        }));
        child.message(
            "user",
            "<environment_context>\n  <cwd>/w</cwd>\n</environment_context>",
        );
        child.item(json!({
            "type": "agent_message", "author": "/root", "recipient": "/root/look", "content": parts,
        }));
        child.says("It is there.");
        let folder = Folder::new();
        folder.write("sessions/b.jsonl", text(&child.0));
        folder.write(&format!("sessions/{NAME}"), text(&session().0));
        let mut log = Log::empty();
        log.report = try_import(&log, Some("codex"), folder.path())
            .unwrap()
            .remove(0);
        assert_eq!(log.report.broken, []);
        assert_eq!(prompts(&log).len(), 3);
        assert_eq!(log.count("task.created"), 2);
        let task: TaskView = log.get(codex::ids().side_chain(THREAD, "child").task);
        task.title.as_str().map(str::to_owned)
    };
    let head = "Message Type: NEW_TASK\nTask name: /root/look\nSender: /root\nPayload:\n";
    let part = |text: &str| json!({ "type": "input_text", "text": text });
    let plain = part(&format!("{head}Search for it"));
    assert_eq!(title(json!([plain])).as_deref(), Some("Search for it"));
    let within = |text: &str| json!([part(head), { "type": "encrypted_content", "encrypted_content": text }]);
    assert_eq!(title(within("Look at it")).as_deref(), Some("Look at it"));
    assert_eq!(title(within("gAAAAABnQ==")).as_deref(), Some("look"));
    let answer = part("Message Type: FINAL_ANSWER\nTask name: /root\nPayload:\nFound");
    assert_eq!(title(json!([answer])).as_deref(), Some("(no prompt)"));
}

/// A rollout names the session that it is all for, and the thread that began it.
#[test]
fn a_sub_agent_of_a_sub_agent_is_a_part_of_it() {
    let child = |id: &str, caller: &str, depth: u32| {
        let spawn = json!({ "parent_thread_id": caller, "depth": depth });
        let mut rollout = Rollout::of(json!({
            "id": id, "session_id": THREAD, "cwd": "/w", "source": { "subagent": { "thread_spawn": spawn } },
        }));
        rollout
            .prompt(&format!("Look as {id}"))
            .says("It is there.");
        for line in &mut rollout.0 {
            let time = line["timestamp"].as_str().unwrap();
            line["timestamp"] = json!(time.replace("T03", &format!("T0{}", 3 + depth)));
        }
        text(&rollout.0)
    };
    let folder = Folder::new();
    folder.write(&format!("sessions/{NAME}"), text(&session().0));
    folder.write("sessions/a.jsonl", child("last", "inner", 3));
    folder.write("sessions/b.jsonl", child("inner", "outer", 2));
    folder.write("sessions/c.jsonl", child("outer", THREAD, 1));
    let log = Log::empty();
    try_import(&log, Some("codex"), folder.path()).unwrap();
    let task = |name: &str| codex::ids().side_chain(THREAD, name).task;
    let parents = ["outer", "inner", "last"].map(|name| log.get::<TaskView>(task(name)).parent);
    let expected = [
        codex::ids().session(THREAD).task,
        task("outer"),
        task("inner"),
    ];
    assert_eq!(parents, expected.map(Some));
    assert_eq!(log.count("task.created"), 4);
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

/// Ids of turns say when they were begun: before the forks of these tests, and after.
const OLDER: &str = "019b7ca0-0000-7000-8000-000000000001";
const NEWER: &str = "019b7d60-0000-7000-8000-000000000001";

fn fork_of(meta: Value) -> Rollout {
    let mut all = json!({ "id": "fork", "timestamp": "2026-01-02T05:00:00.000Z", "cwd": "/w" });
    for (name, value) in meta.as_object().unwrap() {
        all[name] = value.clone();
    }
    Rollout::of(all)
}

impl Rollout {
    /// What a fork copies.
    fn copied(&mut self) -> &mut Rollout {
        self.turn(OLDER, "never")
            .prompt("Fix a.rs")
            .call("c1", "shell", &json!({ "command": "ls" }))
            .output("c1", json!("a.rs"))
            .tokens([100, 0, 10, 0], [100, 0, 10, 0])
    }

    /// What it does then.
    fn own(&mut self) -> &mut Rollout {
        self.turn(NEWER, "never")
            .prompt("Otherwise")
            .tokens([130, 0, 15, 0], [30, 0, 5, 0])
            .says("Done.")
    }

    /// All lines but the first one were written at one time.
    fn restamped(&mut self, lines: std::ops::Range<usize>) {
        for line in &mut self.0[lines] {
            line["timestamp"] = json!("2026-01-02T05:00:00.100Z");
        }
    }

    fn numbered(&mut self) {
        for (number, line) in self.0.iter_mut().enumerate() {
            line["ordinal"] = json!(number);
        }
    }
}

#[test]
fn copies_without_the_line_of_their_session_do_not_count() {
    let side =
        json!({ "source": { "subagent": { "thread_spawn": { "parent_thread_id": THREAD } } } });
    for meta in [json!({ "forked_from_id": THREAD }), side] {
        let mut fork = fork_of(meta.clone());
        fork.copied();
        let copied = fork.0.len();
        fork.own();
        for is_restamped in [false, true] {
            if is_restamped {
                fork.restamped(1..copied);
            }
            let log = log_of_lines("fork.jsonl", &fork.0);
            assert_eq!(log.tokens(), [30, 0, 0, 5], "{meta}");
            assert_eq!(calls(&log), [""; 0], "{meta}");
            let asked = prompts(&log);
            assert!(asked.iter().all(|it| it == "Otherwise"), "{asked:?}");
        }
        check_pieces("fork.jsonl", &fork.0, 1);
    }
}

#[test]
fn the_number_of_the_first_own_line_counts() {
    // The counters begin with what the session had used.
    let side = json!({ "subagent": { "thread_spawn": { "parent_thread_id": THREAD } } });
    let mut agent = Rollout::default();
    agent.copied();
    let end = agent.0.len() + 1;
    let mut agent = fork_of(json!({ "source": side, "subagent_history_start_ordinal": end }));
    agent.copied();
    // It begins without a turn of its own.
    agent.says("Done.").tokens([130, 0, 15, 0], [30, 0, 5, 0]);
    agent.numbered();
    let log = log_of_lines("agent.jsonl", &agent.0);
    assert_eq!(log.tokens(), [30, 0, 0, 5]);
    assert!(log.frames().contains(&"step_summary: Done.".to_owned()));
    check_pieces("agent.jsonl", &agent.0, 1);
}

#[test]
fn a_fork_that_names_its_base_has_no_copies() {
    let base = json!({ "thread_id": THREAD, "end_ordinal_exclusive": 4, "end_byte_offset": 900 });
    let mut fork = fork_of(json!({ "history_base": base, "forked_from_id": THREAD }));
    fork.message("developer", "Be brief.").own();
    fork.numbered();
    for line in &mut fork.0 {
        line["ordinal"] = json!(line["ordinal"].as_u64().unwrap() + 4);
    }
    let log = log_of_lines("fork.jsonl", &fork.0);
    assert_eq!(
        (prompts(&log), log.tokens()),
        (vec!["Otherwise".to_owned()], [30, 0, 0, 5])
    );
    assert!(log.frames().contains(&"system_state: Be brief.".to_owned()));
}

#[test]
fn turns_without_ids_are_told_from_copies_by_when_they_were_written() {
    let mut fork = fork_of(json!({ "forked_from_id": THREAD }));
    let context = json!({ "cwd": "/w", "approval_policy": "never", "model": "gpt-test" });
    fork.prompt("Fix a.rs")
        .line("turn_context", context.clone())
        .tokens([100, 0, 10, 0], [100, 0, 10, 0]);
    let copied = fork.0.len();
    fork.prompt("Otherwise")
        .line("turn_context", context)
        .tokens([130, 0, 15, 0], [30, 0, 5, 0])
        .says("Done.");
    fork.restamped(0..copied);
    for (number, line) in fork.0.iter_mut().enumerate().skip(copied) {
        line["timestamp"] = json!(format!("2026-01-02T05:01:{number:02}.000Z"));
    }
    let log = log_of_lines("fork.jsonl", &fork.0);
    assert_eq!(
        (prompts(&log), log.tokens()),
        (vec!["Otherwise".to_owned()], [30, 0, 0, 5])
    );
    check_pieces("fork.jsonl", &fork.0, 1);
}

#[test]
fn what_was_served_faster_is_named_so() {
    let settings = |tier: Value| json!({ "type": "thread_settings_applied", "thread_settings": { "service_tier": tier } });
    let mut rollout = Rollout::new();
    rollout.event(settings(json!("priority")));
    rollout
        .turn(OLDER, "never")
        .prompt("Go")
        .tokens([100, 0, 10, 0], [100, 0, 10, 0]);
    rollout.event(settings(json!("default")));
    rollout
        .turn(NEWER, "never")
        .prompt("Go on")
        .tokens([130, 0, 15, 0], [30, 0, 5, 0]);
    let log = log_of_lines(NAME, &rollout.0);
    let models = log
        .entries()
        .into_iter()
        .filter_map(|entry| match &entry.event {
            AnyEvent::Run(RunEvent::UsageRecorded(used)) => {
                let model = entry.text(used.model.unwrap()).to_string();
                Some((model, used.uncached_input_tokens))
            }
            _ => None,
        });
    let expected = [("gpt-test-fast", 100), ("gpt-test", 30)];
    let expected = expected.map(|(model, tokens)| (model.to_owned(), tokens));
    assert_eq!(models.collect::<Vec<_>>(), expected);
    check_pieces(NAME, &rollout.0, 1);
}

/// A command that was completed.
fn command(id: &str, text: &str, exit_code: i64, output: &str) -> Value {
    json!({
        "type": "item_completed", "thread_id": THREAD, "item": {
            "type": "CommandExecution", "id": id, "command": ["/bin/bash", "-lc", text],
            "cwd": "file:///w", "source": "agent", "exit_code": exit_code,
            "status": if exit_code == 0 { "completed" } else { "failed" },
            "stdout": output, "stderr": "", "aggregated_output": output,
            "duration": { "secs": 1, "nanos": 500_000_000 },
        },
    })
}

fn script() -> Rollout {
    let mut rollout = Rollout::new();
    rollout.turn(NEWER, "never").prompt("Go");
    rollout.item(json!({
        "type": "custom_tool_call", "call_id": "outer", "name": "exec", "input": "await tools.x()",
    }));
    rollout
        .event(command("exec-1", "make", 2, "no rule to make it"))
        .event(json!({
            "type": "item_completed", "item": {
                "type": "FileChange", "id": "patch-1", "status": "completed", "stdout": "Done", "changes": {
                    "/w/new.rs": { "type": "add", "content": "a\nb\n" },
                    "/w/old.rs": { "type": "update", "move_path": null, "unified_diff": "@@ -7,2 +7,3 @@\n a\n-b\n+c\n+d\n" },
                },
            },
        }))
        .event(json!({
            "type": "item_completed", "item": {
                "type": "McpToolCall", "id": "mcp-1", "server": "files", "tool": "find", "status": "failed",
                "arguments": { "name": "x" }, "error": { "message": "no such server" },
            },
        }))
        .event(command("exec-2", "make check", 0, "ok"));
    rollout.item(json!({
        "type": "custom_tool_call_output", "call_id": "outer", "output": [{ "type": "input_text", "text": "Script completed" }],
    }));
    // One that ends behind its script, and a person's own.
    rollout.event(command("exec-3", "make long", 0, "at last"));
    let mut own = command("exec-4", "ls", 0, "a.rs");
    own["item"]["source"] = json!("user_shell");
    rollout.event(own).says("Done.");
    rollout
}

#[test]
fn what_a_script_did_are_calls_of_its_own() {
    let rollout = script();
    let log = log_of_lines(NAME, &rollout.0);
    assert_eq!(
        calls(&log),
        [
            "exec_command error: no rule to make it",
            "apply_patch ok: Done",
            "mcp__files__find error: {\"message\":\"no such server\"}",
            "exec_command ok: ok",
            "exec ok: Script completed",
            "exec_command ok: at last",
        ]
    );
    assert_eq!(
        edited_files(&log),
        ["add new.rs +2 -0", "modify old.rs +2 -1"]
    );
    let (_, diff) = edits(&log).remove(0);
    assert!(diff.contains("@@ -7,2 +7,3 @@\n a\n-b\n+c\n+d\n"), "{diff}");
    // They name the script's call, whose result alone the model saw.
    let script = codex::ids().tool(&format!("{THREAD}/outer")).invocation.0;
    let nested = log.entries().into_iter().filter(|entry| {
        let is_call = matches!(&entry.event, AnyEvent::Run(RunEvent::ToolInvoked(_)));
        is_call && entry.correlation == Some(script)
    });
    assert_eq!(nested.count(), 5);
    for (summary, tokens, data) in log.estimates() {
        if summary.starts_with("exec_command") {
            assert_eq!(tokens, None, "{summary}");
            assert_eq!(data["script"], json!(format!("{THREAD}/outer")));
        }
    }
    let call: ToolInvocationView =
        log.get(codex::ids().tool(&format!("{THREAD}/exec-1")).invocation);
    assert_eq!(call.duration_ms, Some(1_500));
    check_pieces(NAME, &rollout.0, 1);
}

#[test]
fn a_script_that_threw_is_a_call_that_failed() {
    let ended = |head: &str| {
        let mut rollout = Rollout::new();
        let output = json!([
            { "type": "input_text", "text": head }, { "type": "input_text", "text": "Script error:\nno" },
        ]);
        rollout.prompt("Try it").item(json!({
            "type": "custom_tool_call", "name": "exec", "call_id": "one", "input": "throw new Error('no');",
        }));
        rollout.item(json!({
            "type": "custom_tool_call_output", "call_id": "one", "output": output,
        }));
        calls(&log_of_lines(NAME, &rollout.0)).remove(0)
    };
    let failed = ended("Script failed\nWall time 0.0 seconds\nOutput:\n");
    assert!(failed.starts_with("exec error: "), "{failed}");
    let completed = ended("Script completed\nWall time 0.0 seconds\nOutput:\n");
    assert!(completed.starts_with("exec ok: "), "{completed}");
    // What a command printed says nothing.
    let printed = ended("Script failed");
    assert!(printed.starts_with("exec ok: "), "{printed}");
}

#[test]
fn ids_of_a_scripts_calls_may_begin_again() {
    let mut rollout = script();
    rollout
        .turn("019b7d60-0000-7000-8000-000000000002", "never")
        .prompt("Again");
    rollout.item(
        json!({ "type": "custom_tool_call", "call_id": "outer-2", "name": "exec", "input": "x" }),
    );
    rollout.event(command("exec-1", "make", 0, "made"));
    rollout.item(json!({ "type": "custom_tool_call_output", "call_id": "outer-2", "output": "Script completed" }));
    let log = log_of_lines(NAME, &rollout.0);
    let calls = calls(&log);
    assert!(
        calls.contains(&"exec_command ok: made".to_owned()),
        "{calls:#?}"
    );
    check_pieces(NAME, &rollout.0, 1);
}

#[test]
fn an_item_of_a_call_is_how_that_call_ended() {
    let mut rollout = Rollout::new();
    rollout
        .turn(NEWER, "never")
        .prompt("Go")
        .call("call_1", "exec_command", &json!({ "cmd": "make" }))
        .event(command("call_1", "make", 2, "no rule"))
        .output("call_1", json!("no rule"))
        .says("Done.");
    let log = log_of_lines(NAME, &rollout.0);
    assert_eq!(calls(&log), ["exec_command error: no rule"]);
    check_pieces(NAME, &rollout.0, 1);
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

fn compressed(bytes: &str) -> Vec<u8> {
    zstd::encode_all(bytes.as_bytes(), 3).unwrap()
}

/// Codex compresses rollouts that are some days old.
#[test]
fn a_compressed_rollout_is_read_as_if_it_were_not() {
    let session = session();
    let plain = log_of_lines(NAME, &session.0);
    let name = format!("{NAME}.zst");
    let log = log_of(&name, compressed(&text(&session.0)));
    assert_eq!(log.report.broken, [], "{}", log.report);
    assert_eq!(log.report.records_read, plain.report.records_read);
    assert_same(&log, &plain, "compressed");
    // In a folder, and where the agent is named.
    for agent in [None, Some("codex")] {
        let folder = Folder::new();
        folder.write(&format!("2026/{name}"), compressed(&text(&session.0)));
        folder.write("2026/other.jsonl.gz", "x");
        let log = Log::empty();
        let reports = try_import(&log, agent, folder.path()).unwrap();
        assert_eq!(reports[0].broken_count, 1, "{}", reports[0]);
        assert_same(&log, &plain, "in a folder");
    }
    let bytes = text(&session.0);
    assert!(kept_raw(&name, &compressed(&bytes)) == kept_raw(NAME, bytes.as_bytes()));
}

/// What `--keep-raw` keeps of a recording, and gives back under the name of a plain one.
fn kept_raw(name: &str, bytes: &[u8]) -> String {
    let (from, to, log) = (Folder::new(), Folder::new(), Log::empty());
    let path = from.write(name, bytes);
    let options = ImportOptions::default().with_keep_raw(true);
    let mut none = |_| {};
    let imported = recordings(&log.annals, &path, None, &options, &mut none);
    assert_eq!(block_on(imported).unwrap()[0].kept_raw, 1);
    let mut none = |_| {};
    block_on(raw::export(&log.annals, to.path(), None, &mut none)).unwrap();
    std::fs::read_to_string(to.path().join("codex").join(NAME)).unwrap()
}

/// A rollout that is resumed is there twice for a while.
#[test]
fn a_rollout_that_is_there_plain_and_compressed_counts_once() {
    let session = session();
    let whole = text(&session.0);
    let half = text(&session.0[..session.0.len() / 2]);
    let once = log_of_lines(NAME, &session.0);
    let name = format!("{NAME}.zst");
    let files = [
        (NAME, whole.clone().into_bytes()),
        (name.as_str(), compressed(&whole)),
        (NAME, half.clone().into_bytes()),
        (name.as_str(), compressed(&half)),
    ];
    for order in [[0, 1], [1, 0], [2, 1], [1, 2], [3, 0], [0, 3]] {
        let mut log = Log::empty();
        for number in order {
            let (name, bytes) = &files[number];
            import_bytes(&mut log, name, bytes);
            assert_eq!(log.report.broken, [], "{order:?}: {}", log.report);
        }
        assert_same(&log, &once, &format!("{order:?}"));
        let folder = Folder::new();
        for number in order {
            let (name, bytes) = &files[number];
            folder.write(name, bytes);
        }
        let mut log = Log::empty();
        import(&mut log, folder.path());
        assert_eq!(log.report.broken, [], "{order:?}: {}", log.report);
        assert_same(&log, &once, &format!("{order:?} in a folder"));
    }
}

#[test]
fn a_compressed_rollout_that_is_damaged_is_named() {
    // Of several blocks, as long sessions have them.
    let mut rollout = Rollout::new();
    rollout.prompt("Go");
    for number in 0..20_000 {
        rollout.message("assistant", &format!("{:x}", 7_919_u64.pow(3) * number));
    }
    let whole = compressed(&text(&rollout.0));
    let name = format!("{NAME}.zst");
    for length in [5, whole.len() / 2, whole.len() - 1] {
        for agent in [None, Some("codex")] {
            let folder = Folder::new();
            folder.write(&name, &whole[..length]);
            folder.write("other.jsonl", text(&session().0));
            let log = Log::empty();
            let reports = try_import(&log, agent, folder.path()).unwrap();
            assert_eq!(reports[0].broken_count, 1, "{length}: {}", reports[0]);
            assert!(reports[0].broken[0].file.ends_with(&name), "{}", reports[0]);
            let has = prompts(&log).contains(&"Go".to_owned());
            assert_eq!(has, length > 5, "{length}: {}", reports[0]);
        }
    }
    let folder = Folder::new();
    let path = folder.write(&name, &whole[..5]);
    let refused = try_import(&Log::empty(), None, &path).unwrap_err();
    let expected = "it is compressed, and damaged: nothing of it can be decompressed";
    assert!(refused.to_string().ends_with(expected), "{refused}");
}

/// What its checksum refuses in the end is not recorded before: the sound file would then be another one.
#[test]
fn nothing_is_read_of_a_compressed_rollout_whose_content_is_damaged() {
    let name = format!("{NAME}.zst");
    let content = text(&session().0);
    let mut encoder = zstd::Encoder::new(Vec::new(), 0).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(content.as_bytes()).unwrap();
    let mut damaged = encoder.finish().unwrap();
    *damaged.last_mut().unwrap() ^= 1;
    let mut log = Log::empty();
    import_bytes(&mut log, &name, &damaged);
    assert_eq!(log.report.events_made, 0, "{}", log.report);
    let reason = &log.report.broken[0].reason;
    assert!(reason.contains("compressed, and damaged"), "{reason}");
    import_bytes(&mut log, &name, compressed(&content));
    assert_eq!(log.report.broken, [], "{}", log.report);
    assert_same(&log, &log_of_lines(NAME, &session().0), "afterwards");
}

#[test]
fn a_compressed_rollout_is_followed() {
    let session = session();
    let once = log_of_lines(NAME, &session.0);
    let (folder, log) = (Folder::new(), Log::empty());
    let options = ImportOptions::default();
    let mut growing = GrowingRecordings::new(&log.annals, "codex", &options).unwrap();
    let path = folder.write(NAME, text(&session.0));
    block_on(growing.grown(&path, &mut |_| {})).unwrap();
    let path = folder.write(&format!("{NAME}.zst"), compressed(&text(&session.0)));
    let report = block_on(growing.grown(&path, &mut |_| {})).unwrap();
    assert_eq!(
        (report.broken.len(), report.events_made),
        (0, 0),
        "{report}"
    );
    assert_same(&log, &once, "followed");
    let groups = recording_groups(folder.path(), "codex").unwrap();
    assert_eq!((groups.len(), groups[0].files.len()), (1, 2));
}
