//! What programs read of an error: its code, its class, and whether a retry helps, wherever it is said.

use std::fs;

use serde_json::{Value, json};

use crate::support::{Place, Ran, human, story, uuid};

/// Code, class and whether a retry helps.
#[track_caller]
fn said(error: &Value) -> (&str, &str, bool) {
    let text = |name: &str| error[name].as_str().unwrap_or_else(|| panic!("{error}"));
    let retryable = error["retryable"].as_bool();
    (
        text("code"),
        text("class"),
        retryable.unwrap_or_else(|| panic!("{error}")),
    )
}

/// The same of an error that a command ended with.
#[track_caller]
fn check(ran: &Ran, expected: (&str, &str, bool)) {
    let error: Value = serde_json::from_str(&ran.stderr).unwrap_or_else(|_| panic!("{ran:?}"));
    assert_eq!(said(&error["error"]), expected, "{ran:?}");
}

#[test]
fn wrong_usage_has_a_class_too() {
    let place = Place::empty();
    for wrong in [&["lock", "--json"][..], &["log", "--from", "1", "--json"]] {
        let ran = place.run(wrong);
        assert_eq!(ran.status, 2);
        check(&ran, ("usage", "usage", false));
    }
}

#[test]
fn each_answer_to_one_of_several_has_a_class() {
    let place = Place::with_log();
    let intent = json!({ "id": uuid(1), "prompt": "p" });
    let answers = place.apply(&[
        human("create_intent", intent.clone()),
        human("create_intent", intent),
        human("complete_intent", json!({ "intent": uuid(1) })),
        human("complete_intent", json!({ "intent": uuid(2) })),
        human("create_intent", json!({ "prompt": " " })),
        human("create_intent", json!({})),
        human("make_intent", json!({})),
    ]);
    let expected = [
        ("exists", "refused", false),
        ("transition", "refused", false),
        ("not_found", "not_found", false),
        ("invalid", "invalid", false),
        ("invalid", "invalid", false),
        ("unknown_command", "not_found", false),
    ];
    for (answer, expected) in answers[1..].iter().zip(expected) {
        assert_eq!(said(&answer["error"]), expected, "{answer}");
    }
    let approved = place.run(&["approve", &uuid(8), &uuid(9), "--json"]);
    let answers = approved.lines();
    assert_eq!(answers.len(), 2);
    for answer in answers {
        assert_eq!(
            said(&answer["error"]),
            ("not_found", "not_found", false),
            "{answer}"
        );
    }
}

#[test]
fn a_position_that_is_not_there_has_one_class() {
    let place = Place::with_log();
    let story = story(&place);
    let expected = ("beyond_end", "not_found", false);
    for args in [
        &["prove", "5", "--at", "3"][..],
        &["prove", "5", "--at", "999"],
        &["show", &story.run, "--at", "999"],
        &["log", "--since", "999"],
        &["export", "annals", "--from", "999"],
    ] {
        check(&place.run(&[args, &["--json"]].concat()), expected);
    }
    let ran = place.run(&["prove", "0", "--json"]);
    check(&ran, ("no_position", "invalid", false));
}

#[test]
fn a_place_that_cannot_be_written_is_not_tried_again() {
    let place = Place::with_log();
    let ran = place.run(&["checkpoint", "--out", "none/of/these/cp", "--json"]);
    check(&ran, ("checkpoint_not_kept", "failed", false));
    // No user may make a folder there, root neither.
    let ran = place.run(&["backup", "/proc/none/copy", "--json"]);
    check(&ran, ("backup_failed", "failed", false));
}

#[test]
fn a_trajectory_needs_a_run_and_something_said_in_it() {
    let place = Place::with_log();
    let task = uuid(1);
    place.accept(&[human(
        "create_task",
        json!({ "id": task, "title": "Test it" }),
    )]);
    let ran = place.run(&["export", "atif", &task, "--json"]);
    check(&ran, ("no_run", "not_found", false));
    place.accept(&[human("create_run", json!({ "task": task }))]);
    let ran = place.run(&["export", "atif", &task]);
    assert_eq!(ran.json()["steps"][0]["message"], "Test it");
    ran.fails(0, &["no message of a model", "annals log history"]);
}

/// A log that says it is another one, and one without a file of RocksDB's.
#[test]
fn a_log_that_does_not_open_comes_with_one_advice() {
    let (place, other) = (Place::with_log(), Place::with_log());
    story(&place);
    let name = place.log_dir().join("ANNALS");
    let own = fs::read(&name).unwrap();
    fs::copy(other.log_dir().join("ANNALS"), &name).unwrap();
    check_advice(&place);
    fs::write(&name, own).unwrap();
    place.run(&["verify"]).ok();
    fs::remove_file(place.log_dir().join("CURRENT")).unwrap();
    check_advice(&place);
}

#[track_caller]
fn check_advice(place: &Place) {
    let ran = place.run(&["stats"]);
    assert_eq!(ran.status, 3, "{ran:?}");
    assert_eq!(ran.stderr.matches("backup").count(), 1, "{ran:?}");
    let ran = place.run(&["doctor", "--json"]);
    assert_eq!(ran.status, 3, "{ran:?}");
    let report = ran.json();
    let checks = report["checks"].as_array().unwrap();
    let corrupt = || checks.iter().filter(|check| check["corrupt"] == true);
    assert!(corrupt().count() > 0, "{report}");
    for check in corrupt() {
        let what = check["what"].as_str().unwrap();
        assert!(
            !what.contains("backup") && !what.contains("doctor"),
            "{report}"
        );
    }
    let advised = corrupt().filter(|check| check["remedy"].is_string());
    assert!(advised.count() > 0, "{report}");
}
