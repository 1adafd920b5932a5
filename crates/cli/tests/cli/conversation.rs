//! Conversations: `show SESSION` and `export markdown SESSION` have everything that was recorded, once and in order.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::import_claude::write;
use crate::support::Place;

/// Characters of a text whose occurrences are counted: shorter ones are parts of others.
const COUNTED: usize = 24;

/// A recording of Claude Code with what breaks renderers.
fn recording() -> Vec<Value> {
    let mut lines: Vec<Value> = Vec::new();
    let mut line = |kind: &str, message: Value| {
        let number = lines.len();
        let parent = number.checked_sub(1).map(|before| format!("l-{before}"));
        lines.push(json!({
            "type": kind, "uuid": format!("l-{number}"), "parentUuid": parent, "sessionId": "s-1",
            "cwd": "/w/shop", "gitBranch": "main", "version": "2.0.0", "isSidechain": false,
            "timestamp": format!("2026-01-02T03:04:{number:02}Z"), "message": message,
        }));
    };
    let says = |id: &str, content: Value| {
        json!({ "id": id, "role": "assistant", "type": "message", "model": "claude-opus-4-5",
            "content": [content], "usage": { "input_tokens": 10, "output_tokens": 5 } })
    };
    let result = |id: &str, content: &str, is_error: bool| {
        json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": id,
            "content": content, "is_error": is_error }] })
    };
    line("user", json!({ "role": "user", "content": PROMPTS[0] }));
    line(
        "assistant",
        says("m-1", json!({ "type": "text", "text": ANSWERS[0] })),
    );
    let command =
        json!({ "command": "cat <<'EOF' > a.md\n```\nx\n```\nEOF", "description": "Write" });
    line(
        "assistant",
        says(
            "m-1",
            json!({ "type": "tool_use", "id": "t-1", "name": "Bash", "input": command }),
        ),
    );
    line("user", result("t-1", RESULTS[0], true));
    line(
        "assistant",
        says("m-2", json!({ "type": "text", "text": ANSWERS[1] })),
    );
    line("user", json!({ "role": "user", "content": PROMPTS[1] }));
    line(
        "assistant",
        says("m-3", json!({ "type": "text", "text": ANSWERS[2] })),
    );
    line("user", json!({ "role": "user", "content": PROMPTS[2] }));
    lines
}

const PROMPTS: [&str; 3] = [
    "Fix the <b>total</b> of the cart\n\n# Not a heading of ours\n\u{202e}reversed\u{1b}[2J",
    "continue with the next step",
    "continue with the next step",
];
const ANSWERS: [&str; 3] = [
    "The cause is in `cart.rs`:\n\n```rust\nfn total() -> u64 { 0 }\n```\n\n- **one**\n- two",
    "An open block:\n\n~~~text\nnever closed",
    "## Prompt 2\n\nDone with the second step.",
];
const RESULTS: [&str; 1] = ["Exit code 2\n````\nfour backticks\n````"];

/// The recordings that are compared: ours, the example, and those of the folder that `CORPUS` names.
fn recordings(place: &Place) -> Vec<PathBuf> {
    write(place, "shop.jsonl", &recording());
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/session.jsonl");
    let mut found = vec![place.path("shop.jsonl"), example];
    if let Some(folder) = std::env::var_os("CORPUS") {
        let entries = std::fs::read_dir(folder).unwrap();
        let files = entries.map(|entry| entry.unwrap().path());
        let is_recording = |path: &PathBuf| {
            let name = path.extension().unwrap_or_default();
            ["jsonl", "json", "db", "traj"]
                .iter()
                .any(|known| name == *known)
        };
        found.extend(files.filter(is_recording));
    }
    found
}

/// The sessions at the top that a log has, oldest first.
fn sessions(place: &Place) -> Vec<String> {
    let rows = place.run(&["list", "tasks", "--oldest", "--limit", "1000", "--json"]);
    let rows = rows.ok().lines();
    let is_top = |row: &&Value| row["links"].get("task.parent").is_none();
    let ids = rows
        .iter()
        .filter(is_top)
        .map(|row| row["id"].as_str().unwrap().to_owned());
    ids.collect()
}

/// The turns of a conversation with those of its sub-agents behind the turns that started them.
fn turns(conversation: &Value) -> Vec<&Value> {
    let mut found = Vec::new();
    for turn in conversation["turns"].as_array().unwrap() {
        found.push(turn);
        if turn.get("conversation").is_some() {
            found.extend(turns(&turn["conversation"]));
        }
    }
    found
}

/// The texts of a turn, in the order of the Markdown.
fn texts(turn: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut add = |value: &Value| {
        if let Some(text) = value.as_str() {
            found.push(text.to_owned());
        }
    };
    add(&turn["text"]);
    leaves(&turn["args"], &mut add);
    add(&turn["result"]["text"]);
    leaves(&turn["result"]["json"], &mut add);
    found
}

fn leaves(json: &Value, add: &mut impl FnMut(&Value)) {
    match json {
        Value::Object(members) => members.values().for_each(|value| leaves(value, add)),
        Value::Array(items) => items.iter().for_each(|value| leaves(value, add)),
        other => add(other),
    }
}

#[test]
fn prompts_and_answers_are_those_of_the_recording() {
    let place = Place::with_log();
    write(&place, "shop.jsonl", &recording());
    place.run(&["import", "claude", "shop.jsonl"]).ok();
    let [session] = sessions(&place).try_into().unwrap();
    let shown = place.run(&["show", &session, "--json"]).ok().json();
    assert_eq!(shown["session"]["id"], json!(session));
    let said = |kind: &str| -> Vec<String> {
        let turns = turns(&shown)
            .into_iter()
            .filter(|turn| turn["kind"] == kind);
        turns
            .map(|turn| turn["text"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(said("prompt"), PROMPTS);
    assert_eq!(said("answer"), ANSWERS);
    let call = turns(&shown)
        .into_iter()
        .find(|turn| turn["kind"] == "tool_call")
        .unwrap();
    assert_eq!(call["result"]["text"], json!(RESULTS[0]));
    let markdown = place.run(&["export", "markdown", &session]).ok().stdout;
    for text in PROMPTS.iter().chain(&ANSWERS).chain(&RESULTS) {
        let recorded = PROMPTS
            .iter()
            .filter(|prompt| *prompt == text)
            .count()
            .max(1);
        assert_eq!(
            markdown.matches(text).count(),
            recorded,
            "{text:?} in {markdown}"
        );
    }
}

#[test]
fn markdown_has_each_text_as_often_as_the_json_and_in_its_order() {
    let place = Place::empty();
    let mut compared = 0;
    for (number, recording) in recordings(&place).into_iter().enumerate() {
        let log = format!("log-{number}");
        let run = |args: &[&str]| {
            let args: Vec<&str> = ["--log", &log].iter().chain(args).copied().collect();
            place.run(&args)
        };
        run(&["init"]).ok();
        run(&["import", recording.to_str().unwrap()]);
        let rows = run(&["list", "tasks", "--limit", "1000", "--json"])
            .ok()
            .lines();
        for row in rows {
            let id = row["id"].as_str().unwrap();
            let conversation = run(&["show", id, "--json"]).ok().json();
            if conversation.get("turns").is_none() {
                continue;
            }
            let markdown = run(&["export", "markdown", id]).ok().stdout;
            compare(&conversation, &markdown, &recording);
            compared += 1;
        }
    }
    assert!(compared >= 2, "{compared} sessions");
}

fn compare(conversation: &Value, markdown: &str, recording: &Path) {
    let texts: Vec<String> = turns(conversation).into_iter().flat_map(texts).collect();
    let spoken = |kind: &str| kind == "prompt" || kind == "answer";
    let mut rest = markdown;
    for turn in turns(conversation) {
        let text = turn["text"].as_str().unwrap_or_default();
        if !spoken(turn["kind"].as_str().unwrap()) || text.trim().is_empty() {
            continue;
        }
        let found = rest.find(text);
        let at =
            found.unwrap_or_else(|| panic!("{}: {text:?} is not in order", recording.display()));
        rest = &rest[at + text.len()..];
    }
    for text in texts.iter().filter(|text| text.chars().count() >= COUNTED) {
        let recorded: usize = texts
            .iter()
            .map(|other| other.matches(text.as_str()).count())
            .sum();
        let written = markdown.matches(text.as_str()).count();
        // A diff may repeat a line that a command wrote, and a result of bytes is written as its size.
        let is_bytes = text.len() > 1_024 && !text.contains(char::is_whitespace);
        assert!(
            written == recorded || is_bytes || written > recorded && !text.contains('\n'),
            "{}: {text:?} is recorded {recorded} times and written {written} times",
            recording.display()
        );
    }
}

#[test]
fn a_session_is_shown_turn_by_turn_and_foreign_text_is_harmless() {
    let place = Place::with_log();
    write(&place, "shop.jsonl", &recording());
    place.run(&["import", "claude", "shop.jsonl"]).ok();
    let [session] = sessions(&place).try_into().unwrap();
    let shown = place.run(&["show", "@last"]).ok().stdout;
    assert_eq!(place.run(&["show", &session]).ok().stdout, shown);
    for text in [
        "project  shop (/w/shop)\n",
        "branch   main\n",
        "Prompt 1",
        "Fix the <b>total</b> of the cart",
        "\\u{202e}reversed\\u{1b}[2J",
        "fn total() -> u64 { 0 }",
        "• Bash ",
        "-> exit 2",
        "four backticks",
        "Prompt 3",
    ] {
        assert!(shown.contains(text), "{text:?} is not in\n{shown}");
    }
    assert!(
        !shown.contains('\u{1b}') && !shown.contains('\u{202e}'),
        "{shown:?}"
    );
    assert!(!shown.contains("description: "), "{shown}");
    let full = place.run(&["show", "@last", "--full"]).ok().stdout;
    assert!(full.contains("description: Write\n"), "{full}");
    let coloured = place
        .run(&["show", "@last", "--color", "always"])
        .ok()
        .stdout;
    assert!(
        coloured.contains("\x1b[38;5;3mfn total() -> u64 { 0 }\x1b[0m"),
        "{coloured}"
    );
}

#[test]
fn a_turn_and_the_changed_files_are_shown_alone() {
    let place = Place::with_log();
    write(&place, "s.jsonl", &crate::import_claude::session("s"));
    place.run(&["import", "claude", "s.jsonl"]).ok();
    let turn = place.run(&["show", "@last", "--turn", "2"]).ok().stdout;
    assert!(
        turn.contains("turn 2") && turn.contains("• Edit a +1 -1"),
        "{turn}"
    );
    assert!(
        turn.contains("old_string: x") && !turn.contains("Fix it\n"),
        "{turn}"
    );
    let one = place
        .run(&["show", "@last", "--turn", "2", "--json"])
        .ok()
        .json();
    assert_eq!(one["turns"].as_array().unwrap().len(), 1);
    assert_eq!(one["turns"][0]["number"], json!(2));
    place
        .run(&["show", "@last", "--turn", "99"])
        .fails(1, &["no turn 99", "2 turns"]);
    let files = place.run(&["show", "@last", "--files"]).ok().stdout;
    assert_eq!(
        files,
        "a  +1 -1\n  prompt 1  +1 -1  turn 2  Fix it\n1 file  +1 -1\n"
    );
    let files = place
        .run(&["show", "@last", "--files", "--json"])
        .ok()
        .json();
    assert_eq!(files["files"][0]["path"], json!("a"));
    assert_eq!(files["files"][0]["prompts"][0]["prompt"], json!(1));
    let run = place.run(&["list", "runs", "--json"]).ok().lines();
    let run = run[0]["id"].as_str().unwrap().to_owned();
    place
        .run(&["show", &run, "--files"])
        .fails(2, &["is not a session"]);
    place.run(&["show", "@last", "--at", "1"]).fails(1, &[]);
}

#[test]
fn markdown_goes_to_a_file() {
    let place = Place::with_log();
    write(&place, "s.jsonl", &crate::import_claude::session("s"));
    place.run(&["import", "claude", "s.jsonl"]).ok();
    let printed = place.run(&["export", "markdown", "@last"]).ok().stdout;
    place
        .run(&["export", "markdown", "@last", "-o", "s.md"])
        .ok();
    let written = std::fs::read_to_string(place.path("s.md")).unwrap();
    assert_eq!(written, printed);
    let json = place
        .run(&["export", "markdown", "@last", "--json"])
        .ok()
        .json();
    assert_eq!(json["markdown"], json!(printed));
    place
        .run(&["export", "markdown", "@9"])
        .fails(1, &["annals ls"]);
}

/// Times are those of the user's zone, or of the one that is named, in conversations, objects and Markdown.
#[test]
fn times_are_those_of_the_zone_that_is_named() {
    let place = Place::with_log();
    write(&place, "s.jsonl", &recording());
    place.run(&["import", "claude", "s.jsonl"]).ok();
    let run = place
        .run(&["object", "list", "runs", "--json"])
        .ok()
        .lines()[0]["id"]
        .clone();
    let run = run.as_str().unwrap();
    for args in [
        &["export", "markdown", "@last"][..],
        &["show", "@last", "--full"],
        &["show", "@last", "--turn", "1"],
        &["show", run, "--full"],
    ] {
        let local = place.run(args).ok().stdout;
        assert!(local.contains("2026-01-02 03:04:"), "{args:?}: {local}");
        let zone = [args, &["--time-zone", "+05:30"]].concat();
        let shown = place.run(&zone).ok().stdout;
        assert!(shown.contains("2026-01-02 08:34:"), "{args:?}: {shown}");
        assert!(shown.contains(" +05:30"), "{args:?}: {shown}");
        for text in ["03:04:", "T08:34"] {
            assert!(!shown.contains(text), "{args:?}: {text} is in {shown}");
        }
    }
    place
        .run(&["show", "@last", "--time-zone", "Mars"])
        .fails(2, &["Europe/Berlin"]);
}

#[test]
fn hits_name_their_session_and_turn_once() {
    let place = Place::with_log();
    write(&place, "shop.jsonl", &recording());
    place.run(&["import", "claude", "shop.jsonl"]).ok();
    let [session] = sessions(&place).try_into().unwrap();
    let found = place
        .run(&["search", "four backticks", "--json"])
        .ok()
        .json();
    let hits = found["hits"].as_array().unwrap();
    let shown = place.run(&["show", &session, "--json"]).ok().json();
    let call = turns(&shown)
        .into_iter()
        .find(|turn| turn["kind"] == "tool_call")
        .unwrap();
    assert_eq!(hits.len(), 1, "{found}");
    assert_eq!(hits[0]["session"], json!(session));
    assert_eq!(hits[0]["project"], json!("/w/shop"));
    assert_eq!(hits[0]["turn"], call["number"]);
    // The prompt is in its intent, its task and its frame, which are one turn.
    let found = place.run(&["search", "reversed", "--json"]).ok().json();
    let turns: Vec<&Value> = found["hits"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hit| &hit["turn"])
        .collect();
    assert_eq!(turns, [&json!(1)], "{found}");
    let text = place.run(&["search", "cart.rs"]).ok().stdout;
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].contains("  shop  "), "{text}");
    assert!(
        lines[1].starts_with("  turn 2  in rationale  event "),
        "{text}"
    );
    assert!(
        lines
            .iter()
            .any(|line| line.trim_start().starts_with("The cause is in")),
        "{text}"
    );
}
