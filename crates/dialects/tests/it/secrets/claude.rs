//! Recordings of Claude Code with secrets in every field.

use annals_dialects::claude::{self, ClaudeOptions};
use futures::executor::block_on;
use serde_json::{Value, json};

use super::{check, count, key_line, places, private_key, token};

fn line(n: usize, kind: &str, fields: Value) -> Value {
    let mut line = json!({ "type": kind, "uuid": format!("u{n}"), "sessionId": format!("s-{}", token(1)),
        "cwd": format!("/w/{}", token(2)), "gitBranch": format!("b-{}", token(3)), "version": "1.0.0",
        "timestamp": format!("2026-01-02T03:04:{n:02}Z") });
    let (Value::Object(line), Value::Object(fields)) = (&mut line, fields) else {
        panic!("two objects are expected");
    };
    line.extend(fields);
    Value::Object(std::mem::take(line))
}

/// A recording; its lines are numbered from 1.
fn recording() -> Vec<Value> {
    let usage = json!({ "input_tokens": 1, "output_tokens": 2 });
    let says = |n: usize, id: &str, part: Value| {
        line(
            n,
            "assistant",
            json!({ "message": { "id": format!("m{id}"), "model": format!("model-{}", token(4)),
            "content": [part], "usage": usage } }),
        )
    };
    let result = |n: usize, call: &str, content: Value, more: Value| {
        let part = json!({ "type": "tool_result", "tool_use_id": call, "content": content });
        line(
            n,
            "user",
            json!({ "message": { "role": "user", "content": [part] }, "toolUseResult": more }),
        )
    };
    let key = private_key(9);
    let patch: Vec<String> = key.lines().map(|line| format!("+{line}")).collect();
    let mut anonymous = line(
        12,
        "user",
        json!({ "message": { "role": "user", "content": format!("Also {}", token(20)) } }),
    );
    anonymous["uuid"] = Value::Null;
    vec![
        json!({ "type": "summary", "summary": format!("All about {}", token(5)), "leafUuid": token(6) }),
        line(
            1,
            "user",
            json!({ "message": { "role": "user", "content": format!("Use {} now\nand {}", token(7), private_key(8)) } }),
        ),
        says(
            2,
            "a",
            json!({ "type": "thinking", "thinking": format!("Hm, {}", token(10)) }),
        ),
        says(
            3,
            "b",
            json!({ "type": "text", "text": format!("I use {}", token(11)) }),
        ),
        says(
            4,
            "c",
            json!({ "type": "tool_use", "id": "edit", "name": "Edit", "input": {
            "file_path": format!("/src/{}.txt", token(12)), "old_string": "x", "new_string": key } }),
        ),
        result(
            5,
            "edit",
            json!("done"),
            json!({ "structuredPatch": [{ "oldStart": 1, "oldLines": 1, "newStart": 1,
            "newLines": 5, "lines": patch }] }),
        ),
        says(
            6,
            "d",
            json!({ "type": "tool_use", "id": "bash", "name": "Bash", "input": {
            "command": format!("curl -H 'Authorization: Bearer {}'", "Abc1".repeat(8)),
            token(13): { "deep": [format!("{{\"nested\": \"a\\n{}\"}}", token(14))] } } }),
        ),
        result(
            7,
            "bash",
            json!([{ "type": "text", "text": format!("\u{1b}[31m{}\u{1b}[0m", token(15)) }]),
            json!({ "stdout": "" }),
        ),
        line(
            8,
            "system",
            json!({ "subtype": "local_command", "content": format!("env: {}", token(16)) }),
        ),
        line(
            9,
            "attachment",
            json!({ "attachment": { "type": "file", "content": format!("A={}", token(17)) } }),
        ),
        line(
            10,
            "user",
            json!({ "message": { "role": "user", "content": [{ "type": "odd", "of": token(18) }] } }),
        ),
        line(
            11,
            "user",
            json!({ "isSidechain": true, "agentId": format!("agent-{}", token(19)),
            "message": { "role": "user", "content": "Look around" } }),
        ),
        anonymous,
        says(
            13,
            "e",
            json!({ "type": "tool_use", "id": format!("call-{}", token(21)), "name": format!("Tool-{}", token(22)),
            "input": {} }),
        ),
        result(
            14,
            &format!("call-{}", token(21)),
            json!(format!("failed at {}", token(23))),
            json!(null),
        ),
    ]
}

#[test]
fn nothing_of_a_recordings_secrets_is_stored() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("recording.jsonl");
    let lines: Vec<String> = recording().iter().map(|line| format!("{line}\n")).collect();
    std::fs::write(&path, lines.concat()).unwrap();
    let stored = [
        1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 13, 14, 15, 16, 17, 18, 20, 22, 23,
    ];
    let mut needles: Vec<String> = stored.into_iter().map(token).collect();
    needles.extend((0..3).flat_map(|line| [key_line(8, line), key_line(9, line)]));
    needles.push("Abc1".repeat(8));
    let report = check(&needles, |annals, secrets| {
        let options = ClaudeOptions::default()
            .with_ended(true)
            .with_secrets(secrets.clone());
        let report = block_on(claude::import(annals, &path, &options, &mut |_| {})).unwrap();
        assert_eq!(report.broken, [], "{report}");
        report
    });
    assert_eq!(count(&report, "authorization-header"), 1);
    let keys = places(&report, "private-key");
    assert_eq!(keys[0], "recording.jsonl:2 (message.content)");
    assert_eq!(
        keys[1],
        "recording.jsonl:5 (message.content[0].input.new_string)"
    );
    let tokens = places(&report, "github-token");
    assert!(tokens.contains(&"recording.jsonl:1 (summary)".to_owned()));
}
