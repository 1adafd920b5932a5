//! `apply`: one answer a line, in order, and what repeats are good for.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::{Place, agent, human, uuid};

#[test]
fn each_line_is_answered_in_order() {
    let place = Place::with_log();
    let answers = place.apply(&[
        human("create_intent", json!({ "id": uuid(1), "prompt": "one" })),
        human("activate_intent", json!({ "intent": uuid(1) })),
        agent("create_pipeline", json!({ "id": uuid(2) })),
        agent("push_frame", json!({ "pipeline": uuid(2), "kind": "checkpoint", "summary": "s", "token_estimate": 120 })),
        agent("push_frame", json!({ "pipeline": uuid(2), "kind": { "other": "x" }, "summary": "s" })),
    ]);
    assert_eq!(
        answers[0],
        json!({ "ok": true, "id": uuid(1), "position": 1 })
    );
    assert_eq!(
        (&answers[1]["ok"], &answers[1]["line"]),
        (&json!(false), &json!(2))
    );
    assert_eq!(answers[1]["error"]["code"], "transition");
    assert_eq!(
        answers[2],
        json!({ "ok": true, "id": uuid(2), "position": 2 })
    );
    assert_eq!(
        answers[3],
        json!({ "ok": true, "id": uuid(2), "position": 3, "frame_id": 0 })
    );
    assert_eq!(answers[4]["frame_id"], 1);
}

#[test]
fn answers_come_before_the_input_ends() {
    let place = Place::with_log();
    let mut child = place
        .command(&["apply"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    for position in 1..=3 {
        writeln!(
            stdin,
            "{}",
            human("create_intent", json!({ "prompt": "again" }))
        )
        .unwrap();
        let answer: Value = serde_json::from_str(&answers.next().unwrap().unwrap()).unwrap();
        assert_eq!(answer["position"], position);
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_key_makes_repeating_safe() {
    let place = Place::with_log();
    let create = |prompt: &str, at: &str| {
        human(
            "create_intent",
            json!({ "prompt": prompt, "key": uuid(8), "at": at }),
        )
    };
    let first = place.apply(&[create("p", "2026-01-01T00:00:00Z")]);
    let again = place.apply(&[create("p", "2026-02-02T00:00:00Z")]);
    assert_eq!(first, again);
    let other = place.apply(&[create("q", "2026-01-01T00:00:00Z")]);
    assert_eq!(other[0]["error"]["code"], "key_reused");
    assert_eq!(place.run(&["stats", "--json"]).ok().json()["events"], 1);
}

#[test]
fn times_and_links_reach_the_events() {
    let place = Place::with_log();
    let links = json!({
        "prompt": "p", "at": "2026-01-02T04:04:05.5+01:00",
        "correlation": uuid(5), "causation": uuid(6),
    });
    place.accept(&[human("create_intent", links)]);
    let event = &place.run(&["log", "--json"]).ok().lines()[0];
    assert_eq!(event["occurred_at"], "2026-01-02T03:04:05.500Z");
    assert_eq!(
        (&event["correlation"], &event["causation"]),
        (&json!(uuid(5)), &json!(uuid(6)))
    );
}

#[test]
fn a_seal_gets_its_checksum_and_breaks_with_the_next_event() {
    let place = Place::with_log();
    place.accept(&[human(
        "create_intent",
        json!({ "id": uuid(1), "prompt": "p" }),
    )]);
    let checksum = || place.run(&["show", &uuid(1), "--json"]).ok().json()["checksum"].clone();
    assert_eq!(checksum(), Value::Null);
    place.accept(&[human("seal", json!({ "object": uuid(1) }))]);
    assert_eq!(checksum().as_str().unwrap().len(), 64);
    place.accept(&[human(
        "analyze_intent",
        json!({ "intent": uuid(1), "content": "c" }),
    )]);
    assert_eq!(checksum(), Value::Null);
    let unknown = place.apply(&[human("seal", json!({ "object": uuid(2) }))]);
    assert_eq!(unknown[0]["error"]["code"], "not_found");
}

#[test]
fn files_blank_lines_and_line_ends_of_all_kinds_are_read() {
    let place = Place::with_log();
    let line = human("create_intent", json!({ "prompt": "p" })).to_string();
    std::fs::write(
        place.path("work.jsonl"),
        format!("\u{feff}{line}\r\n\n  \n{line}"),
    )
    .unwrap();
    let ran = place.run(&["apply", "work.jsonl"]).ok();
    assert_eq!(ran.lines().len(), 2);
    place.run_with(&["apply", "-"], &line).ok();
    assert_eq!(place.run(&["stats", "--json"]).ok().json()["events"], 3);
}

#[test]
fn a_log_in_memory_can_be_tried() {
    let place = Place::empty();
    let line = human("create_intent", json!({ "prompt": "p" })).to_string();
    let ran = place.run_with(&["--log", "memory:", "apply"], line).ok();
    assert_eq!(ran.lines()[0]["position"], 1);
}

/// The line is written before it is noticed that the folder has gone.
#[test]
fn a_line_at_which_the_log_failed_may_be_recorded() {
    let place = Place::with_log();
    let mut child = place
        .command(&["apply"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap());
    let mut answer = || {
        let mut line = String::new();
        answers.read_line(&mut line).unwrap();
        line
    };
    let create = |n| human("create_intent", json!({ "id": uuid(n), "prompt": "x" }));
    writeln!(stdin, "{}", create(1)).unwrap();
    assert!(answer().contains(r#""ok":true"#));
    std::fs::rename(place.log_dir(), place.path("moved")).unwrap();
    writeln!(stdin, "{}", create(2)).unwrap();
    assert!(answer().contains(r#""ok":false"#));
    let ended = child.wait_with_output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(1), "{said}");
    for text in ["line 2: ", "not known whether", "\"key\""] {
        assert!(said.contains(text), "{text}: {said}");
    }
    assert!(!said.contains("from this line on"), "{said}");
}
