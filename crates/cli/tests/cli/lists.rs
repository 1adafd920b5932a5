//! Lists of intents and runs, and their filters.

use serde_json::{Value, json};

use super::intake::{agent, submit};
use crate::support::Place;

/// The aliases of the intents that filters leave, the oldest first.
fn listed(place: &Place, filters: &[&str]) -> Vec<String> {
    let mut args = vec!["list", "intents", "--oldest", "--json"];
    args.extend(filters);
    let rows = place.run(&args).ok().lines();
    let alias = |row: &Value| row["aliases"][0].as_str().unwrap().to_owned();
    rows.iter().map(alias).collect()
}

#[test]
fn intents_are_listed_by_approval_type_risk_source_and_label_and_filters_combine() {
    let place = Place::with_log();
    submit(
        &place,
        "a",
        &["--label", "ui", "--label", "login"],
        "Add a link",
    );
    let args = ["submit", "--alias", "b", "--label", "ui", "--type", "docs"];
    let args = [&args[..], &["Add a page"]].concat();
    place.run(&args).fails(0, &["\"docs\" is not one of"]);
    submit(&place, "c", &["--source", "audit"], "認証の監査");
    submit(&place, "d", &[], "Fix a typo");
    for (filters, expected) in [
        (&["--approval", "proposed"][..], &["a", "b", "c"][..]),
        (&["--approval", "approved"], &["d"]),
        (&["--approval", "done"], &[]),
        (&["--type", "docs"], &["b"]),
        (&["--type", "feature"], &["a"]),
        (&["--risk", "med"], &["a", "b"]),
        (&["--risk", "high"], &["c"]),
        (&["--source", "audit"], &["c"]),
        (&["--source", "human"], &["a", "b", "d"]),
        (&["--label", "ui"], &["a", "b"]),
        (&["--label", "ui", "--label", "login"], &["a"]),
        (&["--label", "UI"], &[]),
        (
            &["--label", "ui", "--risk", "med", "--type", "docs"],
            &["b"],
        ),
        (&["--source", "human", "--status", "active"], &["d"]),
    ] {
        assert_eq!(listed(&place, filters), expected, "{filters:?}");
    }
    // What changes moves between the lists.
    place
        .run(&["approve", "a", "--actor", "human:approver"])
        .ok();
    place.run(&["reject", "b"]).ok();
    place
        .run(&[
            "judge",
            "c",
            "--type",
            "fix",
            "--risk",
            "low",
            "--actor",
            "human:approver",
        ])
        .ok();
    assert_eq!(listed(&place, &["--approval", "approved"]), ["a", "c", "d"]);
    assert_eq!(listed(&place, &["--approval", "rejected"]), ["b"]);
    assert_eq!(listed(&place, &["--approval", "proposed"]), [""; 0]);
    assert_eq!(listed(&place, &["--type", "fix"]), ["c", "d"]);
    assert_eq!(listed(&place, &["--type", "audit"]), [""; 0]);
    assert_eq!(listed(&place, &["--risk", "low"]), ["c", "d"]);
    let one = ["--risk", "low", "--limit", "1"];
    assert_eq!(listed(&place, &one), ["c"]);

    let args = ["list", "tasks", "--approval", "done"];
    place
        .run(&args)
        .fails(1, &["only intents are listed by approval"]);
    let args = ["list", "intents", "--status", "proposed"];
    place.run(&args).fails(
        1,
        &["`--approval` lists by approval status, one of proposed, approved"],
    );
    let args = ["list", "intents", "--approval", "open"];
    place.run(&args).fails(2, &["proposed, approved"]);
    place.run(&["verify"]).ok();
}

#[test]
fn runs_are_listed_with_their_tasks_title_and_then_counts() {
    let place = Place::with_log();
    let task = json!({ "command": "create_task", "actor": agent(), "title": "Send the mail" });
    let task = place.accept(&[task]).remove(0);
    let run = json!({ "command": "create_run", "actor": agent(), "task": task });
    let run = place.accept(&[run]).remove(0);
    let used = json!({ "command": "record_usage", "actor": agent(), "run": run,
        "uncached_input_tokens": 0, "cache_read_tokens": 14_400_000, "output_tokens": 1 });
    place.accept(&[used]);
    let text = place.run(&["list", "runs"]).ok().stdout;
    assert!(text.contains("Send the mail (14.4 M tokens)"), "{text}");
    let json = place.run(&["list", "runs", "--json"]).ok().json();
    assert_eq!(json["task_title"], "Send the mail");
    assert_eq!(json["tokens"]["total_tokens"], 14_400_001);
}
