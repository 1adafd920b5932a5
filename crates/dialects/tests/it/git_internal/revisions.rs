//! Objects of git-internal 0.8: revisions, and the events about them.

use serde_json::{Value, json};
use uuid::Uuid;

use super::{export, import_text, log};

fn id(number: u128) -> Uuid {
    Uuid::from_u128(0x0198_0000_0000_7000_8000_0000_0000_0000 + number)
}

fn at(second: u32) -> String {
    format!("2026-03-01T10:00:{second:02}Z")
}

/// An object of 0.8, created at a second.
fn object(number: u128, kind: &str, second: u32, fields: Value) -> String {
    let mut all = json!({
        "object_id": id(number), "object_type": kind, "version": 1, "created_at": at(second),
        "created_by": { "kind": "agent", "id": "coder" },
    });
    all.as_object_mut()
        .unwrap()
        .extend(fields.as_object().unwrap().clone());
    all.to_string()
}

/// One of each kind, the events in another order than they happened.
fn all() -> Vec<String> {
    let commit = "a".repeat(64);
    vec![
        object(
            40,
            "intent_event",
            9,
            json!({ "intent_id": id(1), "kind": "completed", "reason": "merged", "result_commit": commit }),
        ),
        object(
            1,
            "intent",
            0,
            json!({ "parents": [id(90)], "prompt": "Add a cache", "spec": { "goal": "speed", "n": 1.5 }, "analysis_context_frames": [id(8)] }),
        ),
        object(
            41,
            "intent_event",
            1,
            json!({ "intent_id": id(1), "kind": "analyzed" }),
        ),
        object(
            2,
            "plan",
            2,
            json!({ "intent": id(1), "steps": [{ "step_id": id(70), "description": "cache it" }] }),
        ),
        object(
            42,
            "plan_step_event",
            3,
            json!({ "plan_id": id(2), "step_id": id(70), "run_id": id(4), "status": "progressing", "spawned_task_id": id(3), "outputs": { "files": 2 } }),
        ),
        object(
            3,
            "task",
            3,
            json!({ "title": "Cache it", "intent": id(1), "origin_step_id": id(70) }),
        ),
        object(
            43,
            "task_event",
            8,
            json!({ "task_id": id(3), "kind": "done", "run_id": id(4) }),
        ),
        object(
            44,
            "task_event",
            4,
            json!({ "task_id": id(3), "kind": "running" }),
        ),
        object(
            4,
            "run",
            4,
            json!({ "task": id(3), "plan": id(2), "commit": "b".repeat(64) }),
        ),
        object(
            45,
            "run_event",
            5,
            json!({ "run_id": id(4), "kind": "patching" }),
        ),
        object(
            46,
            "run_event",
            7,
            json!({ "run_id": id(4), "kind": "completed", "metrics": { "ms": 7 } }),
        ),
        object(
            6,
            "patch_set",
            6,
            json!({ "run": id(4), "sequence": 2, "commit": "b".repeat(64), "format": "git_diff", "touched": [] }),
        ),
        object(
            5,
            "patch_set",
            5,
            json!({ "run": id(4), "sequence": 1, "commit": "b".repeat(64), "format": "git_diff", "artifact": { "store": "s", "key": "k" }, "touched": [] }),
        ),
        object(
            7,
            "decision",
            7,
            json!({ "run_id": id(4), "decision_type": "commit", "chosen_patchset_id": id(6), "result_commit_sha": commit }),
        ),
        object(
            8,
            "context_frame",
            1,
            json!({ "intent_id": id(1), "kind": "intent_analysis", "summary": "it is slow", "token_estimate": 3 }),
        ),
        object(
            9,
            "provenance",
            4,
            json!({ "run_id": id(4), "provider": "p", "model": "m" }),
        ),
        object(
            47,
            "run_usage",
            8,
            json!({ "run_id": id(4), "input_tokens": 5, "output_tokens": 2, "total_tokens": 7 }),
        ),
    ]
}

fn shown(rendered: &[super::Rendered], number: u128) -> Value {
    let json = rendered
        .iter()
        .map(|one| serde_json::from_str::<Value>(&one.json).unwrap());
    let mut found = json.filter(|json| json["object_id"] == json!(id(number)));
    found
        .next()
        .unwrap_or_else(|| panic!("{number} is not there"))
}

#[test]
fn revisions_are_what_their_events_made_of_them() {
    let annals = log();
    let report = import_text(&annals, all().join("\n"));
    assert_eq!(report.broken, [], "{report}");
    assert_eq!((report.records_read, report.imported), (17, 9), "{report}");
    let rendered = export(&annals);
    let intent = shown(&rendered, 1);
    assert_eq!(intent["header_version"], 1);
    assert_eq!(intent["parent"], json!(id(90)));
    assert_eq!(intent["content"], r#"{"goal":"speed","n":1.5}"#);
    assert_eq!(intent["plan"], json!(id(2)));
    assert_eq!(intent["commit"], "a".repeat(64));
    assert_eq!(intent["updated_at"], at(9));
    let statuses = intent["statuses"].as_array().unwrap();
    let words: Vec<&Value> = statuses.iter().map(|it| &it["status"]).collect();
    assert_eq!(words, ["draft", "active", "completed"]);
    assert_eq!(
        statuses[2],
        json!({ "status": "completed", "changed_at": at(9), "reason": "merged" })
    );
    let step = &shown(&rendered, 2)["steps"][0];
    assert_eq!(step["task"], json!(id(3)));
    assert_eq!(step["outputs"], json!({ "files": 2 }));
    assert_eq!(step["statuses"][1]["status"], "progressing");
    let task = shown(&rendered, 3);
    assert_eq!(
        (&task["status"], &task["runs"]),
        (&json!("done"), &json!([id(4)]))
    );
    let run = shown(&rendered, 4);
    assert_eq!(run["status"], "completed");
    assert_eq!(
        run["patchsets"],
        json!([id(5), id(6)]),
        "in the order of their numbers"
    );
    assert_eq!(run["metrics"], json!({ "ms": 7 }));
    assert_eq!(shown(&rendered, 5)["apply_status"], "proposed");
    assert_eq!(shown(&rendered, 6)["apply_status"], "applied");
    assert_eq!(shown(&rendered, 8)["frames"][0]["summary"], "it is slow");
    assert_eq!(shown(&rendered, 9)["token_usage"]["total_tokens"], 7);
    let lost: Vec<&str> = report
        .fields_lost
        .iter()
        .map(|it| it.path.as_str())
        .collect();
    assert!(lost.contains(&"analysis_context_frames"), "{lost:?}");
    // Again it is the same, also where the lines come in another order.
    let mut again = all();
    again.reverse();
    let report = import_text(&annals, again.join("\n"));
    assert_eq!((report.imported, report.already_there), (0, 9), "{report}");
}

#[test]
fn a_later_event_brings_its_object_on() {
    let annals = log();
    let intent = object(1, "intent", 0, json!({ "prompt": "Add a cache" }));
    let report = import_text(&annals, &intent);
    assert_eq!((report.imported, report.broken_count), (1, 0), "{report}");
    assert_eq!(shown(&export(&annals), 1)["statuses"][0]["status"], "draft");
    let event = object(
        2,
        "intent_event",
        5,
        json!({ "intent_id": id(1), "kind": "cancelled" }),
    );
    let report = import_text(&annals, format!("{intent}\n{event}"));
    assert_eq!((report.imported, report.events_made), (1, 1), "{report}");
    assert_eq!(
        shown(&export(&annals), 1)["statuses"][1]["status"],
        "cancelled"
    );
    // By itself it says nothing of what it was about.
    let report = import_text(&log(), &event);
    assert_eq!((report.imported, report.broken_count), (0, 1), "{report}");
    assert!(
        report.broken[0]
            .reason
            .contains("import the object together with its events")
    );
}

#[test]
fn what_is_wrong_with_a_revision_or_an_event_is_named() {
    for (line, says) in [
        (object(1, "intent", 0, json!({})), "prompt: it is missing"),
        (
            object(1, "intent", 0, json!({ "prompt": "p", "version": 0 })),
            "header_version: it must not be 0",
        ),
        (
            object(1, "task_event", 0, json!({ "kind": "done" })),
            "task_id: it is missing",
        ),
        (
            object(1, "task_event", 0, json!({ "task_id": id(2) })),
            "kind: it is missing",
        ),
        (
            object(1, "run_usage", 0, json!({ "run_id": id(2) })),
            "input_tokens: it is missing",
        ),
        (
            object(1, "plan", 0, json!({ "intent": id(2), "steps": 7 })),
            "steps",
        ),
        (object(1, "plan_event", 0, json!({})), "object_type"),
    ] {
        let report = import_text(&log(), &line);
        assert_eq!((report.imported, report.broken_count), (0, 1), "{line}");
        let reason = &report.broken[0].reason;
        assert!(reason.contains(says), "{line}: {reason}");
    }
}

#[test]
fn secrets_in_events_are_gone() {
    let annals = log();
    let secret = format!(
        "ghp_{}",
        "aB3dE6gH9j".repeat(4).chars().take(36).collect::<String>()
    );
    let run = object(
        1,
        "run",
        0,
        json!({ "task": id(2), "commit": "b".repeat(64) }),
    );
    let event = object(
        3,
        "run_event",
        1,
        json!({ "run_id": id(1), "kind": "failed", "error": secret }),
    );
    let report = import_text(&annals, format!("{run}\n{event}"));
    assert_eq!(report.broken, [], "{report}");
    let run = shown(&export(&annals), 1);
    assert_eq!(run["status"], "failed");
    assert!(!run["error"].as_str().unwrap().contains("ghp_"), "{run}");
}
