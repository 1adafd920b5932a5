//! `import cursor`, run on transcripts that the tests make.

use annals::projections::TaskView;
use annals_dialects::cursor;
use serde_json::{Value, json};

use crate::claude::log::Log;
use crate::claude::recording::Folder;
use crate::recorded::{
    assert_complete, assert_same, calls, calls_of, edited_files, import, import_bytes, log_of,
    log_of_lines, prompts, refused, text, try_import,
};

const NAME: &str = "0a1b.jsonl";

fn line(role: &str, content: Value) -> Value {
    json!({ "role": role, "message": { "content": content } })
}

fn typed(text: &str) -> Value {
    let text = format!(
        "<timestamp>Sunday, Aug 2, 2026, 3:51 AM (UTC-7)</timestamp>\n<user_query>\n{text}\n</user_query>"
    );
    line("user", json!([{ "type": "text", "text": text }]))
}

fn says(text: &str, calls: &[(&str, Value)]) -> Value {
    let calls = calls.iter();
    let calls =
        calls.map(|(name, input)| json!({ "type": "tool_use", "name": name, "input": input }));
    let text = json!({ "type": "text", "text": text });
    line("assistant", [text].into_iter().chain(calls).collect())
}

/// A transcript with something of everything.
fn transcript() -> Vec<Value> {
    let write = json!({ "path": "/w/a.txt", "contents": "1\n2\n" });
    let replace = json!({ "path": "/w/a.txt", "old_string": "2\n", "new_string": "3\n" });
    let test = [("Shell", json!({ "command": "make test" }))];
    vec![
        typed("Make a file"),
        says(
            "I make it.",
            &[
                ("Write", write),
                ("Read", json!({ "path": "/w/b.txt", "limit": 40 })),
            ],
        ),
        says("[REDACTED]", &[("StrReplace", replace)]),
        says("[REDACTED]", &test),
        says("[REDACTED]", &test),
        json!({ "type": "turn_ended", "status": "success" }),
        typed("continue"),
        line("user", json!("<system_reminder>Be brief</system_reminder>")),
        line(
            "assistant",
            json!([
                { "type": "thinking", "thinking": "Hm" },
                { "type": "tool_use", "id": "t1", "name": "Grep", "input": { "pattern": "x" } },
                { "type": "novelty", "x": 1 },
            ]),
        ),
        line(
            "user",
            json!([{ "type": "tool_result", "tool_use_id": "t1", "content": "no x", "is_error": true }]),
        ),
        typed("continue"),
        line("assistant", json!("Done.")),
    ]
}

#[test]
fn a_transcript_has_what_a_recount_has() {
    let log = log_of_lines(NAME, &transcript());
    assert_eq!(prompts(&log), ["Make a file", "continue", "continue"]);
    let expected = [
        "Write ok: ",
        "Read ok: ",
        "StrReplace ok: ",
        "Shell ok: ",
        "Shell ok: ",
        "Grep error: no x",
    ];
    assert_eq!(calls(&log), expected);
    let files = edited_files(&log);
    assert_eq!(files, ["add /w/a.txt +2 -0", "modify /w/a.txt +1 -1"]);
    let ids = cursor::ids().session("transcript/0a1b");
    assert_eq!(calls_of(&log, ids.run), 6);
    let task: TaskView = log.get(ids.task);
    assert_eq!(task.title.as_str(), Some("Make a file"));
    assert_eq!(task.header.created_at.to_string(), "2026-08-02T10:51:00Z");
    for (path, fates) in [
        ("role", [11, 0, 0]),
        ("message.content[].text", [7, 0, 0]),
        ("message.content[].input", [6, 0, 0]),
        ("message.content[].type", [0, 15, 0]),
    ] {
        assert_eq!(log.fates(path), fates, "{path} in {}", log.report);
    }
    assert_eq!(log.report.fields_lost, [], "{}", log.report);
}

/// A line has no name: the same words twice are said twice, in whatever pieces the transcript was read.
#[test]
fn cut_and_read_again_it_is_the_same() {
    let lines = transcript();
    let once = log_of_lines(NAME, &lines);
    for cut in 1..=lines.len() {
        let mut grown = log_of_lines(NAME, &lines[..cut]);
        import_bytes(&mut grown, NAME, text(&lines));
        assert_same(&grown, &once, &format!("cut after line {cut}"));
        assert_complete(&mut grown, NAME, text(&lines));
    }
    let bytes = text(&lines).into_bytes();
    for cut in (1..bytes.len()).step_by(97) {
        let mut log = Log::empty();
        let folder = Folder::new();
        let path = folder.write(NAME, &bytes[..cut]);
        // Before the first line is whole, nothing says whose it is.
        if try_import(&log, None, &path).is_ok() {
            import_bytes(&mut log, NAME, &bytes);
            assert_same(&log, &once, &format!("cut at byte {cut}"));
        }
    }
    let doubled: Vec<Value> = lines.iter().chain(&lines).cloned().collect();
    let twice = log_of_lines(NAME, &doubled);
    assert_eq!(prompts(&twice).len(), 2 * prompts(&once).len());
    assert_eq!(calls(&twice).len(), 2 * calls(&once).len());
}

/// Some models name their calls `call_0` again and again; a result before a text comes before it.
#[test]
fn calls_of_one_name_are_calls_of_their_own() {
    let asks = |path: &str| {
        let input = json!({ "path": path });
        line(
            "assistant",
            json!([{ "type": "tool_use", "id": "call_0", "name": "Read", "input": input }]),
        )
    };
    let answers =
        |text: &str| json!({ "type": "tool_result", "tool_use_id": "call_0", "content": text });
    let lines = [
        typed("Read them"),
        asks("/w/a"),
        line(
            "user",
            json!([answers("AAA"), { "type": "text", "text": "go on" }]),
        ),
        asks("/w/b"),
        line("user", json!([answers("BBB")])),
    ];
    let log = log_of_lines(NAME, &lines);
    assert_eq!(calls(&log), ["Read ok: AAA", "Read ok: BBB"]);
    assert_eq!(log.report.broken, [], "{}", log.report);
    let frames = log.frames();
    let at = |end: &str| {
        frames
            .iter()
            .position(|frame| frame.ends_with(end))
            .unwrap()
    };
    assert!(
        at("AAA") < at("go on") && at("go on") < at("BBB"),
        "{frames:#?}"
    );
}

/// Lines in any order have the same names.
#[test]
fn the_order_of_lines_makes_no_other_events() {
    let lines = transcript();
    let mut turned = lines.clone();
    turned.swap(2, 3);
    let mut log = log_of_lines(NAME, &lines);
    let before = log.annals.position();
    import_bytes(&mut log, NAME, text(&turned));
    assert_eq!(log.annals.position(), before, "{}", log.report);
}

#[test]
fn a_sub_agents_transcript_is_a_side_chain_of_its_session() {
    let folder = Folder::new();
    folder.write("0a1b/0a1b.jsonl", text(&[typed("Look around")]));
    folder.write(
        "0a1b/subagents/5c.jsonl",
        text(&[
            typed("Look for it"),
            says("Found", &[("Grep", json!({ "pattern": "it" }))]),
        ]),
    );
    let mut log = Log::empty();
    import(&mut log, folder.path());
    assert_eq!(prompts(&log), ["Look around"]);
    let ids = cursor::ids();
    assert_eq!(calls_of(&log, ids.session("transcript/0a1b").run), 0);
    assert_eq!(
        calls_of(&log, ids.side_chain("transcript/0a1b", "5c").run),
        1
    );
}

#[test]
fn odd_lines_are_named_and_the_others_are_imported() {
    let mut lines: Vec<String> = transcript().iter().map(Value::to_string).collect();
    lines.insert(1, "[1]".to_owned());
    lines.insert(2, "{\"role\":\"assistant\",".to_owned());
    lines.insert(3, json!({ "role": 5, "message": 6 }).to_string());
    lines.insert(
        4,
        json!({ "role": "assistant", "message": { "content": [5, "x", null, { "type": 7 }] } })
            .to_string(),
    );
    let log = log_of(NAME, text(&lines));
    let broken: Vec<u64> = log.report.broken.iter().map(|it| it.line).collect();
    assert_eq!(broken, [2, 3]);
    assert_eq!(calls(&log), calls(&log_of_lines(NAME, &transcript())));
    let unknown = log.report.unknown_types.iter().map(|it| it.name.as_str());
    assert_eq!(unknown.collect::<Vec<_>>(), ["(none)"]);
}

#[test]
fn another_agents_recording_is_named() {
    let claude =
        r#"{"type":"user","sessionId":"s","uuid":"u","message":{"role":"user","content":"x"}}"#;
    let said = refused(Some("cursor"), "a.jsonl", claude);
    assert!(said.contains("Claude Code"), "{said}");
    let said = refused(Some("claude"), "a.jsonl", &text(&transcript()));
    assert!(said.contains("Cursor"), "{said}");
}
