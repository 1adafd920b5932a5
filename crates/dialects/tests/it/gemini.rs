//! `import gemini`, run on sessions that the tests make after the published types of the format.

use std::collections::BTreeMap;

use annals_dialects::import::recording_groups;
use annals_domain::{AnyEvent, task};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::claude::log::Log;
use crate::claude::recording::Folder;
use crate::recorded::{
    assert_complete, assert_same, calls, check_lines, edits, import, import_bytes, log_of, prompts,
    refused, skipped,
};

fn at(second: u32) -> String {
    format!("2026-01-02T03:00:{second:02}.000Z")
}

fn tokens(input: u64, cached: u64, output: u64, thoughts: u64, tool: u64) -> Value {
    json!({
        "input": input, "cached": cached, "output": output, "thoughts": thoughts, "tool": tool,
        "total": input + output + thoughts + tool,
    })
}

fn response(id: &str, name: &str, response: Value) -> Value {
    json!([{ "functionResponse": { "id": id, "name": name, "response": response } }])
}

fn metadata() -> Value {
    json!({
        "sessionId": "s-1", "projectHash": "cafe", "startTime": at(0), "lastUpdated": at(0),
        "kind": "main",
    })
}

fn prompt() -> Value {
    let text =
        "Greet Bob in @a.ts\n--- Content from referenced files ---\nContent from @a.ts:\nhi();";
    json!({
        "id": "u1", "timestamp": at(1), "type": "user",
        "content": [{ "text": text }, { "inlineData": { "mimeType": "image/png", "data": "AA==" } }],
    })
}

/// The model's message as it is written first, with its tokens, and with what its tools did.
fn answer() -> [Value; 3] {
    let said = json!({
        "id": "g1", "timestamp": at(2), "type": "gemini", "model": "gemini-1",
        "content": "I look and edit.",
        "thoughts": [{ "subject": "Plan", "description": "Read first.", "timestamp": at(2) }],
    });
    let mut counted = said.clone();
    counted["tokens"] = tokens(100, 60, 7, 5, 3);
    let mut done = counted.clone();
    let diff = "Index: a.ts\n====\n--- a.ts\tCurrent\n+++ a.ts\tProposed\n@@ -1 +1,2 @@\n hi();\n+hello('bob');\n";
    done["toolCalls"] = json!([
        {
            "id": "read_file-1", "name": "read_file", "args": { "file_path": "/p/a.ts" },
            "status": "success", "timestamp": at(3), "displayName": "ReadFile",
            "result": response("read_file-1", "read_file", json!({ "output": "hi();" })),
        },
        {
            "id": "replace-1", "name": "replace", "status": "success", "timestamp": at(4),
            "args": { "file_path": "/p/a.ts", "old_string": "hi();", "new_string": "hi();\nhello('bob');" },
            "result": response("replace-1", "replace", json!({ "output": "Modified" })),
            "resultDisplay": { "fileDiff": diff, "fileName": "a.ts", "originalContent": "hi();" },
        },
        {
            "id": "shell-1", "name": "run_shell_command", "args": { "command": "make" },
            "status": "error", "timestamp": at(5),
            "result": response("shell-1", "run_shell_command", json!({ "error": "no make" })),
        },
        {
            "id": "write-1", "name": "write_file", "status": "cancelled", "timestamp": at(6),
            "args": { "file_path": "/p/b.ts", "content": "1\n" },
        },
    ]);
    [said, counted, done]
}

fn rest() -> Vec<Value> {
    vec![
        json!({ "id": "i1", "timestamp": at(7), "type": "info", "content": "Request cancelled." }),
        json!({ "id": "u2", "timestamp": at(8), "type": "user", "content": "Go on" }),
        json!({
            "id": "g2", "timestamp": at(9), "type": "gemini", "model": "gemini-1", "content": "Done.",
            "tokens": tokens(200, 0, 4, 0, 0),
        }),
    ]
}

/// The session as newer versions write it.
fn lines() -> Vec<String> {
    let update = json!({ "$set": { "lastUpdated": at(2) } });
    let mut all = vec![metadata(), prompt(), update];
    all.extend(answer());
    all.extend(rest());
    all.push(json!({ "$set": { "summary": "Greets Bob" } }));
    all.iter().map(Value::to_string).collect()
}

/// The session as older versions write it.
fn document() -> Value {
    let [.., done] = answer();
    let mut all = vec![prompt(), done];
    all.extend(rest());
    json!({
        "sessionId": "s-1", "projectHash": "cafe", "startTime": at(0), "lastUpdated": at(9),
        "messages": all,
    })
}

fn check_session(log: &Log) {
    assert_eq!(prompts(log), ["Greet Bob in @a.ts", "Go on"]);
    let expected = [
        "read_file ok: hi();",
        "replace ok: Modified",
        "run_shell_command error: no make",
        "write_file error: ",
    ];
    assert_eq!(calls(log), expected);
    // Input is without the cache and with what tools put there, output is with the thoughts.
    assert_eq!(log.tokens(), [43 + 200, 60, 0, 12 + 4]);
    let diff = "--- a//p/a.ts\n+++ b//p/a.ts\n@@ -1,1 +1,2 @@\n hi();\n+hello('bob');\n";
    let edits = edits(log);
    assert_eq!(edits.len(), 2);
    assert_eq!(
        edits[0],
        (vec!["modify /p/a.ts +1 -0".to_owned()], diff.to_owned())
    );
    assert_eq!(edits[1].0, ["add /p/b.ts +1 -0"]);
    let frames = log.frames();
    for expected in [
        "thinking: Plan\nRead first.",
        "step_summary: I look and edit.",
        "inlineData: inlineData",
        "system_state: Request cancelled.",
        "step_summary: Done.",
        "session: session",
    ] {
        assert!(
            frames.iter().any(|it| it == expected),
            "{expected}: {frames:#?}"
        );
    }
    assert_eq!(log.report.waiting, 0);
}

#[test]
fn a_session_of_lines_has_its_prompts_calls_edits_and_tokens() {
    let text = lines().join("\n");
    let log = log_of("session-1.jsonl", text);
    assert_eq!(log.report.broken, [], "{}", log.report);
    check_session(&log);
    assert!(
        log.report.source.starts_with("gemini "),
        "{}",
        log.report.source
    );
    assert_eq!(skipped(&log.report).get("update of the time"), Some(&1));
    assert_eq!(log.fates("toolCalls[].args"), [4, 0, 0]);
    assert_eq!(log.fates("toolCalls[].displayName"), [0, 0, 1]);
    assert_eq!(log.fates("tokens.input"), [2, 0, 0]);
}

#[test]
fn a_document_has_the_same() {
    let text = serde_json::to_string_pretty(&document()).unwrap();
    let mut log = log_of("session-1.json", &text);
    assert_eq!(log.report.broken, [], "{}", log.report);
    check_session(&log);
    assert_complete(&mut log, "copy.json", document().to_string());
}

#[test]
fn a_document_that_was_continued_as_lines_adds_nothing_but_what_is_new() {
    let mut log = log_of("session-1.json", document().to_string());
    import_bytes(&mut log, "session-1.jsonl", lines().join("\n"));
    assert_eq!(log.report.broken, [], "{}", log.report);
    check_session(&log);
}

#[test]
fn cut_after_any_line_or_with_each_line_twice_it_is_the_same() {
    check_lines("session-1.jsonl", &lines(), 1);
}

/// A document is written again as a whole with each message.
#[test]
fn a_document_that_grows_is_the_same_as_at_once() {
    let whole = document();
    let once = log_of("session-1.json", whole.to_string());
    let messages = whole["messages"].as_array().unwrap();
    for kept in 0..messages.len() {
        let mut less = whole.clone();
        less["messages"] = json!(messages[..kept]);
        let mut grown = log_of("session-1.json", less.to_string());
        import_bytes(&mut grown, "session-1.json", whole.to_string());
        assert_same(&grown, &once, &format!("{kept} messages"));
    }
}

#[test]
fn what_comes_before_a_cut_of_a_document_is_read() {
    let messages = &document()["messages"];
    // The program writes the session's name first.
    let whole = format!(r#"{{"sessionId":"s-1","projectHash":"cafe","messages":{messages}}}"#);
    let end = whole.find("\"i1\"").unwrap();
    let mut log = log_of("session-1.json", &whole[..end]);
    assert_eq!(log.report.broken_count, 1, "{}", log.report);
    assert_eq!(log.report.broken[0].line, 3);
    assert_eq!(calls(&log).len(), 4);
    import_bytes(&mut log, "session-1.json", &whole);
    assert_same(&log, &log_of("session-1.json", &whole), "cut");
    // Without the session's name nothing can be called what it is called in the whole.
    let log = log_of(
        "session-1.json",
        r#"{"messages":[{"id":"u1","type":"user","content":"Do it"}"#,
    );
    assert_eq!((log.report.broken_count, log.report.events_made), (1, 0));
}

#[test]
fn a_history_that_was_made_shorter_is_a_checkpoint_and_repeats_nothing() {
    let [said, ..] = answer();
    let snapshot = json!({
        "id": "h1", "timestamp": at(30), "type": "user",
        "content": [{ "text": "<state_snapshot>\nWe greet Bob.\n</state_snapshot>" }],
    });
    let mut masked = said;
    masked["content"] = json!([{ "text": "(masked)" }]);
    let mut lines = lines();
    lines.push(
        json!({ "$set": { "messages": [snapshot, masked], "lastUpdated": at(30) } }).to_string(),
    );
    let rewind = json!({ "$rewindTo": "u2" });
    lines.push(rewind.to_string());
    let log = log_of("session-1.jsonl", lines.join("\n"));
    assert_eq!(log.report.broken, [], "{}", log.report);
    check_session(&log);
    let frames = log.frames();
    let has = |frame: &str| frames.iter().any(|it| it.starts_with(frame));
    assert!(
        has("checkpoint: The history was replaced by 2 messages"),
        "{frames:#?}"
    );
    assert!(has("checkpoint: <state_snapshot>"), "{frames:#?}");
    assert!(has("rewind: rewind"), "{frames:#?}");
    check_lines("session-1.jsonl", &lines, 1);
}

#[test]
fn what_a_sub_agent_was_asked_is_not_a_prompt() {
    let mut metadata = metadata();
    metadata["kind"] = json!("subagent");
    metadata["sessionId"] = json!("sub-1");
    let task = json!({ "id": "u1", "timestamp": at(1), "type": "user", "content": "Find Bob" });
    let [.., done] = answer();
    let lines = [metadata, task, done].map(|it| it.to_string());
    let log = log_of("sub-1.jsonl", lines.join("\n"));
    assert_eq!(prompts(&log), [""; 0]);
    assert_eq!(log.count("task.created"), 2);
    assert_eq!(calls(&log).len(), 4);
    assert!(
        log.frames()
            .contains(&"intent_analysis: Find Bob".to_owned())
    );
}

/// Files of a session, of its sub-agent, and of one that this called. All begin at the same time.
fn nested() -> [(&'static str, String); 3] {
    let session = |id: &str, kind: &str, asked: &str, tokens: u64| {
        let mut metadata = metadata();
        metadata["kind"] = json!(kind);
        metadata["sessionId"] = json!(id);
        let asked = json!({ "id": "u1", "timestamp": at(1), "type": "user", "content": asked });
        let said = json!({
            "id": "g1", "timestamp": at(2), "type": "gemini", "model": "m", "content": "Done.",
            "tokens": self::tokens(tokens, 0, 1, 0, 0),
        });
        [metadata, asked, said].map(|it| it.to_string()).join("\n") + "\n"
    };
    let id = "aaaa0024-0000-4000-8000-000000000001";
    [
        (
            "tmp/cafe/chats/session-2026-01-02T03-00-aaaa0024.jsonl",
            session(id, "main", "Fix it", 100),
        ),
        (
            "tmp/cafe/chats/aaaa0024-0000-4000-8000-000000000001/sub-1.jsonl",
            session("sub-1", "subagent", "Look", 200),
        ),
        (
            "tmp/cafe/chats/sub-1/sub-0.jsonl",
            session("sub-0", "subagent", "Look closer", 400),
        ),
    ]
}

/// The titles of tasks, each with its parent's.
fn tasks(log: &Log) -> Vec<(String, Option<String>)> {
    let mut titles = BTreeMap::new();
    let mut tasks = Vec::new();
    for entry in log.entries() {
        if let AnyEvent::Task(task::Event::Created(created)) = &entry.event {
            titles.insert(entry.stream.id, entry.text(created.title).to_string());
            tasks.push((entry.stream.id, created.parent.map(|parent| parent.0)));
        }
    }
    let title = |id: &Uuid| titles[id].clone();
    let task = |(id, parent): &(Uuid, Option<Uuid>)| (title(id), parent.as_ref().map(title));
    let mut tasks: Vec<_> = tasks.iter().map(task).collect();
    tasks.sort();
    tasks
}

#[test]
fn a_sub_agent_is_below_the_session_in_whose_folder_it_lies() {
    let folder = Folder::new();
    for (name, text) in nested() {
        folder.write(name, text);
    }
    let mut log = Log::empty();
    import(&mut log, folder.path());
    assert_eq!(log.report.broken, [], "{}", log.report);
    let task = |title: &str, parent: Option<&str>| (title.to_owned(), parent.map(str::to_owned));
    assert_eq!(
        tasks(&log),
        [
            task("Fix it", None),
            task("Look", Some("Fix it")),
            task("Look closer", Some("Look")),
        ]
    );
    assert_eq!(
        (prompts(&log), log.tokens()),
        (vec!["Fix it".to_owned()], [700, 0, 0, 3])
    );
    let end = log.annals.position();
    import(&mut log, folder.path());
    assert_eq!(log.annals.position(), end, "{}", log.report);
    let groups = recording_groups(folder.path(), "gemini").unwrap();
    assert_eq!((groups.len(), groups[0].sessions()), (1, 1));
}

#[test]
fn a_sub_agent_that_an_older_version_recorded_stays_where_it_is() {
    let folder = Folder::new();
    let (name, text) = nested()[1].clone();
    // Older versions did not look at the folder.
    let mut log = log_of("sub-1.jsonl", &text);
    let end = log.annals.position();
    let path = folder.write(name, &text);
    import(&mut log, &path);
    assert_eq!(log.annals.position(), end, "{}", log.report);
    let more = json!({ "id": "g2", "timestamp": at(9), "type": "gemini", "model": "m", "content": "More." });
    let path = folder.write(name, text + &more.to_string());
    import(&mut log, &path);
    assert_eq!(log.count("task.created"), 2);
    assert!(log.frames().contains(&"step_summary: More.".to_owned()));
}

#[test]
fn a_turn_that_was_taken_back_was_paid_for_and_a_history_repeats_nothing() {
    let asked = |id: &str, text: &str| json!({ "id": id, "timestamp": at(1), "type": "user", "content": text });
    let said = |id: &str, tokens: Option<u64>| {
        let mut said =
            json!({ "id": id, "timestamp": at(2), "type": "gemini", "model": "m", "content": "x" });
        if let Some(input) = tokens {
            said["tokens"] = self::tokens(input, 0, 1, 0, 0);
        }
        said
    };
    let history = json!([
        asked("u1", "One"),
        said("g1", Some(100)),
        asked("u3", "Three"),
        said("g3", Some(400))
    ]);
    let lines = [
        metadata(),
        asked("u1", "One"),
        said("g1", Some(50)),
        said("g1", Some(100)),
        asked("u2", "Two"),
        said("g2", Some(200)),
        json!({ "$rewindTo": "u2" }),
        asked("u3", "Three"),
        // Its tokens are in the history only.
        said("g3", None),
        json!({ "$set": { "messages": history } }),
    ];
    let lines = lines.map(|it| it.to_string());
    let log = log_of("session-1.jsonl", lines.join("\n"));
    assert_eq!(log.tokens(), [700, 0, 0, 3]);
    assert_eq!(prompts(&log), ["One", "Two", "Three"]);
    check_lines("session-1.jsonl", &lines, 1);
}

#[test]
fn what_a_person_typed_is_the_prompt_where_the_session_has_it() {
    let mut prompt = prompt();
    prompt["content"] = json!("Run it: expanded by a command");
    prompt["displayContent"] = json!("/run it");
    let log = log_of(
        "s.jsonl",
        [metadata(), prompt].map(|it| it.to_string()).join("\n"),
    );
    assert_eq!(prompts(&log), ["/run it"]);
}

#[test]
fn another_agents_file_is_named() {
    let claude = r#"{"type":"user","sessionId":"s","uuid":"u","message":{"content":"Do it"}}"#;
    let said = refused(Some("gemini"), "a.jsonl", claude);
    assert!(said.contains("it looks like one of Claude Code"), "{said}");
    let said = refused(Some("claude"), "a.jsonl", &lines().join("\n"));
    assert!(said.contains("it looks like one of Gemini CLI"), "{said}");
}

#[test]
fn odd_messages_are_named_and_the_others_are_read() {
    let mut lines = lines();
    lines.extend(
        [
            r#"{"id":"o1","type":"user","content":5}"#,
            r#"{"id":"o2","type":"gemini","content":"x","toolCalls":[{"id":"c","name":7}]}"#,
            r#"{"id":"o3","type":"gemini","content":"x","tokens":{"input":-1}}"#,
            r#"{"id":"","type":"gemini","content":"unnamed","toolCalls":[{"name":"ls"}]}"#,
            r#"{"id":"o4","type":"novelty","content":"kept"}"#,
            r#"{"id":"o5","id":"o6","type":"user","content":"twice"}"#,
            r#"{"id":"o7","type":"gemini""#,
            r#"["x"]"#,
            r#"{"else":1}"#,
        ]
        .map(str::to_owned),
    );
    let log = log_of("session-1.jsonl", lines.join("\n"));
    let broken: Vec<u64> = log.report.broken.iter().map(|it| it.line).collect();
    assert_eq!(broken, [12, 13, 16, 17, 18], "{}", log.report);
    assert_eq!(prompts(&log).len(), 2);
    let frames = log.frames();
    assert!(
        frames.contains(&"novelty: novelty".to_owned()),
        "{frames:#?}"
    );
    assert!(
        frames.contains(&"step_summary: unnamed".to_owned()),
        "{frames:#?}"
    );
    assert_eq!(log.report.waiting, 1);
    assert_eq!(log.report.unknown_types.len(), 1);
    let deep = format!("{}1{}", "[".repeat(500), "]".repeat(500));
    let deep = format!(
        r#"{{"id":"d","type":"gemini","content":"x","toolCalls":[{{"id":"c","name":"ls","args":{deep}}}]}}"#
    );
    let log = log_of("session-1.jsonl", [metadata().to_string(), deep].join("\n"));
    assert_eq!(log.report.broken, [], "{}", log.report);
}

/// Its lines have the members of Claude Code's, and messages of Gemini's parts.
#[test]
fn a_recording_of_qwen_code_is_taken_for_no_other_agents() {
    let line = json!({
        "uuid": "u1", "parentUuid": null, "sessionId": "s", "timestamp": "2026-11-28T20:13:37.614Z", "type": "user",
        "provenance": "real_user", "cwd": "/w", "message": { "role": "user", "parts": [{ "text": "Fix it" }] },
    });
    let said = refused(None, "a.jsonl", &format!("{line}\n"));
    assert!(said.contains("it is a recording of Qwen Code"), "{said}");
}
