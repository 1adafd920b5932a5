//! Recordings of OpenHands, run on events that the tests make.

use annals_domain::{AnyEvent, task};
use serde_json::{Value, json};

use crate::agent_log::{AgentLog, check_grown};
use crate::claude::recording::Folder;
use crate::recorded::assert_same;

/// An event of the SDK; each is a second after the one before.
fn event(number: usize, kind: &str, source: &str, fields: Value) -> Value {
    let mut event = json!({
        "id": format!("e-{number}"), "timestamp": format!("2026-01-02T03:04:{number:02}.500000"),
        "source": source, "kind": kind,
    });
    for (name, value) in fields.as_object().unwrap() {
        event[name] = value.clone();
    }
    event
}

fn text(text: &str) -> Value {
    json!([{ "type": "text", "text": text, "cache_prompt": false }])
}

fn action(number: usize, tool: &str, arguments: Value, action: Value) -> Value {
    let id = format!("call-{number}");
    event(
        number,
        "ActionEvent",
        "agent",
        json!({
            "thought": text(&format!("I use {tool}.")), "reasoning_content": "Hm.",
            "thinking_blocks": [{ "type": "thinking", "thinking": "Hm.", "signature": "x" }],
            "action": action, "tool_name": tool, "tool_call_id": id,
            "tool_call": { "id": id, "name": tool, "arguments": arguments.to_string(), "origin": "completion" },
            "llm_response_id": format!("r-{number}"), "security_risk": "UNKNOWN",
        }),
    )
}

fn observation(number: usize, call: usize, tool: &str, observation: Value) -> Value {
    event(
        number,
        "ObservationEvent",
        "environment",
        json!({
            "tool_name": tool, "tool_call_id": format!("call-{call}"), "action_id": format!("e-{call}"),
            "observation": observation,
        }),
    )
}

fn stats(number: usize, prompt: u64, read: u64, write: u64, completion: u64) -> Value {
    let tokens = |prompt, read, write, completion| {
        json!({
            "model": "m", "prompt_tokens": prompt, "completion_tokens": completion,
            "cache_read_tokens": read, "cache_write_tokens": write, "reasoning_tokens": 1,
        })
    };
    let metrics = |tokens: Value| json!({ "model_name": "m", "accumulated_cost": 0.5, "accumulated_token_usage": tokens });
    let uses = json!({
        "default": metrics(tokens(prompt, read, write, completion)),
        "condenser": metrics(tokens(if number > 9 { 100 } else { 0 }, 0, 0, 0)),
    });
    event(
        number,
        "ConversationStateUpdateEvent",
        "environment",
        json!({ "key": "stats", "value": { "usage_to_metrics": uses } }),
    )
}

/// A conversation with something of everything.
fn story() -> Vec<Value> {
    let old = "a\nb\nc\n";
    let editor =
        json!({ "command": "str_replace", "path": "/w/x.py", "old_str": "b", "new_str": "B" });
    let patch =
        "*** Begin Patch\n*** Add File: new\n+1\n*** Update File: x\n@@\n-2\n+3\n*** End Patch";
    vec![
        event(
            0,
            "SystemPromptEvent",
            "agent",
            json!({
                "system_prompt": { "type": "text", "text": "You are an agent." },
                "tools": [{ "name": "terminal" }], "dynamic_context": null,
            }),
        ),
        event(
            1,
            "MessageEvent",
            "user",
            json!({
                "llm_message": { "role": "user", "content": text("Make b large") },
                "extended_content": text("<repo>about it</repo>"), "activated_skills": ["python"],
            }),
        ),
        event(
            2,
            "ConversationStateUpdateEvent",
            "environment",
            json!({ "key": "execution_status", "value": "running" }),
        ),
        stats(3, 100, 20, 30, 7),
        action(
            4,
            "terminal",
            json!({ "command": "cat x.py", "security_risk": "LOW" }),
            json!({ "kind": "TerminalAction", "command": "cat x.py" }),
        ),
        observation(
            5,
            4,
            "terminal",
            json!({ "kind": "TerminalObservation", "content": text(old), "is_error": false, "exit_code": 0, "command": "cat x.py" }),
        ),
        stats(6, 250, 120, 30, 17),
        action(7, "file_editor", editor.clone(), editor),
        observation(
            8,
            7,
            "file_editor",
            json!({
                "kind": "FileEditorObservation", "content": text("edited"), "is_error": false,
                "command": "str_replace", "path": "/w/x.py", "prev_exist": true,
                "old_content": old, "new_content": "a\nB\nc\n",
            }),
        ),
        action(9, "apply_patch", json!({ "patch": patch }), Value::Null),
        event(
            10,
            "UserRejectObservation",
            "environment",
            json!({
                "tool_name": "apply_patch", "tool_call_id": "call-9", "action_id": "e-9",
                "rejection_reason": "Not like that", "rejection_source": "user",
            }),
        ),
        event(
            11,
            "Condensation",
            "environment",
            json!({
                "forgotten_event_ids": ["e-4", "e-5"], "summary": "It read x.py.", "summary_offset": 2, "llm_response_id": "r-c",
            }),
        ),
        stats(12, 300, 150, 30, 20),
        action(
            13,
            "terminal",
            json!({ "command": "false" }),
            json!({ "kind": "TerminalAction" }),
        ),
        observation(
            14,
            13,
            "terminal",
            json!({ "content": text("no"), "is_error": false, "exit_code": 1 }),
        ),
        action(15, "nothing", json!({}), Value::Null),
        event(
            16,
            "AgentErrorEvent",
            "agent",
            json!({ "tool_name": "nothing", "tool_call_id": "call-15", "error": "no such tool" }),
        ),
        event(17, "PauseEvent", "user", json!({})),
        event(18, "NoveltyEvent", "agent", json!({ "what": [1, 2] })),
        event(
            19,
            "MessageEvent",
            "user",
            json!({ "llm_message": { "role": "user", "content": "Go on" } }),
        ),
        event(
            20,
            "MessageEvent",
            "agent",
            json!({ "llm_message": { "role": "assistant", "content": text("Done.") }, "llm_response_id": "r-20" }),
        ),
    ]
}

fn lines(events: &[Value]) -> String {
    events.iter().map(|event| format!("{event}\n")).collect()
}

#[test]
fn a_conversation_has_prompts_calls_and_tokens() {
    let log = AgentLog::of("events.jsonl", &lines(&story()));
    assert_eq!(log.prompts(), ["Make b large", "Go on"]);
    let calls: Vec<String> = log.calls();
    let names: Vec<&str> = calls
        .iter()
        .map(|call| call.split(" {").next().unwrap())
        .collect();
    let expected = [
        "terminal ok",
        "file_editor ok",
        "apply_patch error",
        "terminal error",
        "nothing error",
    ];
    assert_eq!(names, expected);
    assert_eq!(
        calls[0],
        r#"terminal ok {"command":"cat x.py","security_risk":"LOW"}"#
    );
    // The totals in the end, and those of the condenser: once, however often they are repeated.
    assert_eq!(log.tokens(), [120 + 100, 150, 30, 20]);
    assert_eq!(log.0.report.waiting, 0);
    assert!(!log.0.has_note("names no session"), "{}", log.0.report);
}

#[test]
fn edits_compare_the_file_before_and_after() {
    let log = AgentLog::of("events.jsonl", &lines(&story()));
    let edited = "proposed modify /w/x.py +1 -1\n--- a//w/x.py\n+++ b//w/x.py\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n";
    let refused = "rejected add new +1 -0\nmodify x +1 -1\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+1\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-2\n+3\n";
    assert_eq!(log.edits(), [edited, refused]);
}

#[test]
fn what_is_not_work_is_a_frame() {
    let log = AgentLog::of("events.jsonl", &lines(&story()));
    let frames = log.frames();
    for frame in [
        "system_state: You are an agent.",
        "tools: tools",
        "system_state: <repo>about it</repo>",
        "activated_skills: activated_skills",
        "execution_status: execution_status: running",
        "thinking: Hm.",
        "rejection: rejected by user: Not like that",
        "checkpoint: It read x.py.",
        "PauseEvent: PauseEvent",
        "NoveltyEvent: NoveltyEvent",
        "error_recovery: nothing: no such tool",
    ] {
        let found = frames.iter().filter(|it| *it == frame).count();
        assert!(found > 0, "{frame} in {frames:#?}");
    }
    let forgotten = log
        .0
        .estimates()
        .into_iter()
        .find(|(summary, ..)| summary == "It read x.py.");
    let (_, _, data) = forgotten.unwrap();
    assert_eq!(
        data["compaction"]["forgotten_event_ids"],
        json!(["e-4", "e-5"])
    );
    // A thought that its block repeats is one.
    let thoughts = frames
        .iter()
        .filter(|frame| frame.starts_with("thinking"))
        .count();
    assert_eq!(thoughts, 5);
}

/// A call and its result have one frame.
#[test]
fn a_condensation_drops_the_frames_of_what_it_forgets() {
    let log = AgentLog::of("events.jsonl", &lines(&story()));
    let dropped = log.dropped();
    let [.., call] = dropped.as_slice() else {
        panic!("{dropped:?}");
    };
    assert!(call.starts_with("terminal: a\nb\nc"), "{dropped:?}");
    assert_eq!(&dropped[..dropped.len() - 1], ["Hm.", "I use terminal."]);
    let older = AgentLog::of("trajectory.json", &list(&older_story()));
    assert_eq!(older.dropped(), ["I look.", "execute_bash: no"]);
}

/// What a result has in addition to its content is counted by itself, also where the call was not read.
#[test]
fn the_report_says_what_became_of_results() {
    let story = story();
    let without_call = vec![story[3].clone(), story[5].clone()];
    for events in [story[1..6].to_vec(), without_call] {
        let log = AgentLog::of("events.jsonl", &lines(&events)).0;
        assert_eq!(
            log.fates("observation.content"),
            [1, 0, 0],
            "{}",
            log.report
        );
        let lost = log.report.fields_lost.iter();
        let lost: Vec<&str> = lost.map(|field| field.path.as_str()).collect();
        let is_content = |path: &&&str| path.starts_with("observation.content");
        assert_eq!(lost.iter().find(is_content), None, "{lost:?}");
    }
}

#[test]
fn cut_anywhere_and_then_whole_it_is_the_same() {
    let events = story();
    let cuts: Vec<String> = (0..=events.len())
        .map(|end| lines(&events[..end]))
        .collect();
    check_grown("events.jsonl", &cuts);
}

#[test]
fn doubled_events_add_nothing() {
    let doubled: Vec<Value> = story()
        .into_iter()
        .flat_map(|event| [event.clone(), event])
        .collect();
    let [once, twice] =
        [story(), doubled].map(|events| AgentLog::of("events.jsonl", &lines(&events)));
    assert_same(&twice.0, &once.0, "doubled");
}

#[test]
fn a_folder_with_a_file_for_each_event_is_one_conversation() {
    let folder = Folder::new();
    let conversation = "0123456789abcdef0123456789abcdef";
    for (number, event) in story().iter().enumerate() {
        let name = format!("{conversation}/events/event-{number:05}-e-{number}.json");
        folder.write(&name, event.to_string());
    }
    folder.write(&format!("{conversation}/base_state.json"), r#"{"id":"x"}"#);
    let mut log = AgentLog::empty();
    log.import(folder.path());
    let listed = AgentLog::of("events.jsonl", &lines(&story()));
    assert_eq!(
        (log.prompts(), log.calls(), log.edits()),
        (listed.prompts(), listed.calls(), listed.edits())
    );
    assert_eq!(log.tokens(), listed.tokens());
    let run = annals_dialects::openhands::ids().session(conversation).run;
    let _: annals::projections::RunView = log.0.get(run);
    let end = log.0.annals.position();
    log.import(folder.path());
    assert_eq!(log.0.annals.position(), end);
}

/// An event before the SDK, under its number.
fn before(id: u64, fields: Value) -> Value {
    let mut event = json!({ "id": id, "timestamp": format!("2025-01-02T03:04:{id:02}.000001"), "source": "agent" });
    for (name, value) in fields.as_object().unwrap() {
        event[name] = value.clone();
    }
    event
}

fn metadata(call: &str, tool: &str, arguments: Value, tokens: [u64; 4]) -> Value {
    let [prompt, read, write, output] = tokens;
    let function = json!({ "name": tool, "arguments": arguments.to_string() });
    let message = json!({ "role": "assistant", "content": "", "tool_calls": [{ "id": call, "type": "function", "function": function }] });
    json!({ "function_name": tool, "tool_call_id": call, "total_calls_in_response": 1, "model_response": {
        "id": format!("response-{call}"), "model": "m", "choices": [{ "index": 0, "message": message }],
        "usage": { "prompt_tokens": prompt, "completion_tokens": output, "cache_read_input_tokens": read, "cache_creation_input_tokens": write },
    } })
}

fn older_story() -> Vec<Value> {
    let run = metadata(
        "c1",
        "execute_bash",
        json!({ "command": "ls" }),
        [10, 2, 3, 4],
    );
    let editor = json!({ "command": "create", "file_text": "1\n", "path": "/w/a" });
    let edit = metadata("c2", "str_replace_editor", editor, [20, 5, 0, 1]);
    let refused = metadata(
        "c3",
        "execute_bash",
        json!({ "command": "rm a" }),
        [1, 0, 0, 1],
    );
    let delegate = metadata(
        "c4",
        "delegate_to_browsing_agent",
        json!({ "task": "look" }),
        [1, 0, 0, 1],
    );
    vec![
        before(
            0,
            json!({ "action": "system", "args": { "content": "You are", "tools": [] } }),
        ),
        before(
            1,
            json!({ "source": "user", "action": "message", "args": { "content": "Make a", "image_urls": null } }),
        ),
        before(
            2,
            json!({ "source": "user", "action": "recall", "args": { "query": "Make a" } }),
        ),
        before(
            3,
            json!({ "source": "environment", "cause": 2, "observation": "recall", "content": "", "extras": {} }),
        ),
        before(
            4,
            json!({ "action": "run", "args": { "command": "ls", "thought": "I look." }, "tool_call_metadata": run }),
        ),
        before(
            5,
            json!({ "cause": 4, "observation": "run", "content": "no", "extras": { "metadata": { "exit_code": 2 } }, "success": false, "tool_call_metadata": run }),
        ),
        before(
            6,
            json!({ "action": "edit", "args": { "path": "/w/a", "content": "" }, "tool_call_metadata": edit }),
        ),
        before(
            7,
            json!({ "cause": 6, "observation": "edit", "content": "created", "tool_call_metadata": edit,
            "extras": { "path": "/w/a", "prev_exist": false, "old_content": null, "new_content": "1\n" } }),
        ),
        before(
            8,
            json!({ "action": "run", "args": { "command": "rm a" }, "tool_call_metadata": refused }),
        ),
        before(
            9,
            json!({ "cause": 8, "source": "user", "observation": "user_rejected", "content": "no!", "extras": {} }),
        ),
        before(
            10,
            json!({ "action": "delegate", "args": { "agent": "Browser", "inputs": { "task": "look" } }, "tool_call_metadata": delegate }),
        ),
        before(
            11,
            json!({ "action": "browse", "args": { "url": "http://x" } }),
        ),
        before(
            12,
            json!({ "cause": 11, "observation": "browse", "content": "a page", "extras": { "error": false } }),
        ),
        before(
            13,
            json!({ "observation": "delegate", "content": "looked", "extras": { "outputs": {} }, "tool_call_metadata": delegate }),
        ),
        before(
            14,
            json!({ "source": "environment", "observation": "agent_state_changed", "content": "", "extras": { "agent_state": "running" } }),
        ),
        before(
            15,
            json!({ "action": "condensation", "args": { "forgotten_event_ids": [4, 5], "summary": "short" } }),
        ),
        before(
            16,
            json!({ "source": "environment", "observation": "error", "content": "budget" }),
        ),
        before(
            17,
            json!({ "action": "finish", "args": { "thought": "All done.", "outputs": {} }, "tool_call_metadata": metadata("c5", "finish", json!({}), [1, 0, 0, 1]) }),
        ),
    ]
}

fn list(events: &[Value]) -> String {
    serde_json::to_string_pretty(events).unwrap()
}

#[test]
fn a_list_of_older_events_is_a_conversation() {
    let log = AgentLog::of("trajectory.json", &list(&older_story()));
    assert_eq!(log.prompts(), ["Make a"]);
    let expected = [
        r#"execute_bash error {"command":"ls"}"#,
        r#"str_replace_editor ok {"command":"create","file_text":"1\n","path":"/w/a"}"#,
        r#"execute_bash error {"command":"rm a"}"#,
        r#"browse ok {"url":"http://x"}"#,
        r#"delegate_to_browsing_agent ok {"task":"look"}"#,
        r#"finish ok {}"#,
    ];
    assert_eq!(log.calls(), expected);
    assert_eq!(log.tokens(), [5 + 15 + 3, 7, 3, 8]);
    let added = "proposed add /w/a +1 -0\n--- /dev/null\n+++ b//w/a\n@@ -0,0 +1,1 @@\n+1\n";
    assert!(
        log.edits()[0].starts_with("proposed add /w/a +1 -0"),
        "{:?} {added}",
        log.edits()
    );
    let frames = log.frames();
    for frame in [
        "rejection: rejected by user: no!",
        "intent_analysis: look",
        "checkpoint: short",
        "agent_state_changed: agent_state_changed: running",
        "error_recovery: budget",
        "step_summary: All done.",
    ] {
        assert!(
            frames.iter().any(|it| it == frame),
            "{frame} in {frames:#?}"
        );
    }
}

#[test]
fn a_list_that_grows_is_one_conversation_and_a_cut_one_is_read_up_to_there() {
    let events = older_story();
    let cuts: Vec<String> = (1..=events.len()).map(|end| list(&events[..end])).collect();
    check_grown("trajectory.json", &cuts);
    let whole = list(&events);
    let mut cut = AgentLog::empty();
    let report = cut.try_add("trajectory.json", &whole[..whole.len() - 300]);
    assert_eq!(report.broken_count, 1, "{report}");
    assert_eq!(cut.prompts(), ["Make a"]);
    cut.add("trajectory.json", &whole);
    assert_same(&cut.0, &AgentLog::of("trajectory.json", &whole).0, "cut");
}

/// The running totals of the conversation have what the responses have, and more.
#[test]
fn running_totals_count_once() {
    let mut events = older_story();
    let totals = [(4, 12, 4), (6, 30, 9), (17, 50, 20)];
    for (id, prompt, completion) in totals {
        let usage = json!({ "prompt_tokens": prompt, "completion_tokens": completion, "cache_read_tokens": 2, "cache_write_tokens": 0 });
        events[id]["llm_metrics"] =
            json!({ "accumulated_cost": 1.5, "accumulated_token_usage": usage });
    }
    let log = AgentLog::of("trajectory.json", &list(&events));
    assert_eq!(log.tokens(), [48, 2, 0, 20]);
}

#[test]
fn hostile_events_are_named_or_kept() {
    let deep = format!("{}1{}", "[".repeat(2_000), "]".repeat(2_000));
    let lines = [
        lines(&story()[..2]),
        r#"{"id":5,"kind":"ActionEvent","source":"agent","timestamp":7,"tool_name":[],"tool_call":null}"#.to_owned(),
        format!(r#"{{"id":"d","kind":"ActionEvent","source":"agent","timestamp":"x","tool_name":"t","tool_call_id":"c","action":{deep}}}"#),
        r#"{"id":"","kind":"ConversationStateUpdateEvent","key":"stats","value":{"usage_to_metrics":{"a":{"accumulated_token_usage":{"prompt_tokens":18446744073709551615,"cache_read_tokens":18446744073709551615,"cache_write_tokens":-1}}}}}"#.to_owned(),
        r#"{"id":"k","id":"k2","kind":"Condensation","forgotten_event_ids":5,"summary":[]}"#.to_owned(),
        r#"{"id":"n","kind":"ObservationEvent","tool_call_id":"c","observation":5}"#.to_owned(),
        r#"{"nothing":1}"#.to_owned(),
        "[1]".to_owned(),
        "{broken".to_owned(),
    ];
    let mut log = AgentLog::empty();
    let report = log.try_add("events.jsonl", &lines.join("\n"));
    assert_eq!(report.broken_count, 2, "{report}");
    assert_eq!(report.unknown_types.len(), 1);
    assert_eq!(log.prompts(), ["Make b large"]);
}

/// A delegate may hand its task on, too.
#[test]
fn a_delegate_of_a_delegate_is_a_part_of_it() {
    let delegate = |id: u64, task: &str| {
        let call = metadata(
            &format!("c{id}"),
            "delegate",
            json!({ "task": task }),
            [1, 0, 0, 1],
        );
        let args = json!({ "agent": "Browser", "inputs": { "task": task } });
        before(
            id,
            json!({ "action": "delegate", "args": args, "tool_call_metadata": call }),
        )
    };
    let browse = |id: u64| {
        before(
            id,
            json!({ "action": "browse", "args": { "url": "http://x" } }),
        )
    };
    let events = [
        before(
            0,
            json!({ "source": "user", "action": "message", "args": { "content": "Make a" } }),
        ),
        delegate(1, "look"),
        browse(2),
        delegate(3, "look deeper"),
        browse(4),
    ];
    let log = AgentLog::of("events.json", &list(&events));
    let tasks = log
        .0
        .entries()
        .into_iter()
        .filter_map(|entry| match &entry.event {
            AnyEvent::Task(task::Event::Created(event)) => Some((
                entry.stream.id,
                entry.text(event.title).to_string(),
                event.parent,
            )),
            _ => None,
        });
    let tasks: Vec<_> = tasks.collect();
    let [main, outer, inner] = tasks.as_slice() else {
        panic!("{tasks:?}");
    };
    let titles = [main, outer, inner].map(|(_, title, _)| title.as_str());
    assert_eq!(titles, ["Make a", "look", "look deeper"]);
    let parents = [outer, inner].map(|(_, _, parent)| parent.map(|it| it.0));
    assert_eq!(parents, [Some(main.0), Some(outer.0)]);
}
