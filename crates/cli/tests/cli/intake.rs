//! Intake: what a text asks for, by rule.

use serde_json::json;

use crate::support::Place;

#[test]
fn a_text_is_classified_without_a_log_in_both_languages() {
    let place = Place::empty();
    let text = place.run(&["classify", "Fix the crash at login"]).ok();
    let expected = "type  fix\nflow  analyze, implement, review\nrisk  low\n";
    assert_eq!(text.stdout, expected);
    let explained = place
        .run(&["classify", "--explain", "認証の不具合"])
        .ok()
        .stdout;
    assert!(explained.contains("fix, by the keyword \"不具合\""));
    assert!(explained.contains("high, by the high word \"認証\""));
    assert!(!place.log_dir().exists());
}

#[test]
fn a_text_can_come_from_standard_input_with_what_its_author_said() {
    let place = Place::empty();
    let text = "The cache grows\n\nIt is never emptied.\n";
    let args = ["classify", "--source", "reflection", "--json"];
    let found = place.run_with(&args, text).ok().json();
    assert_eq!(found["type"], "audit");
    assert_eq!(found["type_rule"], json!({ "by": "source" }));
    assert_eq!(found["flow"], json!(["audit", "report"]));
    let args = [
        "classify", "--type", "test", "--label", "fix", "--json", "-",
    ];
    let found = place.run_with(&args, text).ok().json();
    assert_eq!(found["type_rule"], json!({ "by": "declared" }));
    assert_eq!(found["risk"], "low");
}

#[test]
fn what_is_no_text_and_no_type_is_refused_by_name() {
    let place = Place::empty();
    place
        .run_with(&["classify"], [b'a', 0xff])
        .fails(1, &["no UTF-8 from its byte 2 on"]);
    place
        .run_with(&["classify"], "x".repeat(1024 * 1024 + 1))
        .fails(1, &["longer than 1 MiB"]);
    place
        .run(&["classify", "--type", "bugfix", "x"])
        .fails(2, &["bugfix", "feature, refactor, fix, test, audit"]);
}
