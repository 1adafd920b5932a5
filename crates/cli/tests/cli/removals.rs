//! Content that was removed without a redaction is found, and is neither copied nor imported.

use std::fs;
use std::path::Path;

use annals::OpenOptions;
use annals::event_log::{Position, Query, Record};
use futures::executor::block_on;
use serde_json::json;

use crate::support::{Place, agent, uuid};

/// Makes a log that has the records of another one without their content: headers and root are the same.
fn empty(log: &Path, to: &Path) {
    let open = |options: OpenOptions, path: &Path| options.open(path.to_str().unwrap()).unwrap();
    let from = open(OpenOptions::new().read_only(true), log);
    let id = from.log().log_id();
    let to = open(OpenOptions::new().create(true).log_id(id), to);
    let page = block_on(from.log().read(Query::all(Position(1)))).unwrap();
    let without = |record: &Record| {
        let all: Vec<u16> = (0..).take(record.content().len()).collect();
        record.without(&all).unwrap()
    };
    let records = page.records.iter().map(without).collect();
    block_on(to.log().append_records(records, Vec::new())).unwrap();
    block_on(to.close());
}

fn create(place: &Place) {
    let create =
        |n, prompt: String| agent("create_intent", json!({ "id": uuid(n), "prompt": prompt }));
    place.accept(&[
        create(1, "delete the payments table".into()),
        create(2, format!("evidence {}", "e".repeat(9_000))),
    ]);
}

#[test]
fn content_that_was_removed_without_a_redaction_is_found() {
    let place = Place::with_log();
    create(&place);
    place.run(&["checkpoint", "--out", "cp"]).ok();
    empty(&place.log_dir(), &place.path("emptied"));
    let of = |arguments: &[&str]| {
        let log = ["--log", "emptied"];
        place.run(&[&log[..], arguments].concat())
    };
    for verify in [
        &["verify", "--json"] as &[&str],
        &["verify", "--checkpoint", "cp", "--json"],
    ] {
        let verified = of(verify);
        assert_eq!(verified.status, 3, "{verified:?}");
        let report = verified.json();
        assert_eq!(
            (&report["ok"], &report["total_findings"]),
            (&json!(false), &json!(2))
        );
        assert_eq!(report["findings"][0]["position"], 1);
        let message = report["findings"][0]["message"].as_str().unwrap();
        assert!(
            message.contains("no redaction of the log names it"),
            "{message}"
        );
    }
    place
        .run(&["--log", "restored", "restore", "emptied"])
        .fails(3, &[]);
    of(&["submit", "Another"]).ok();
    assert_eq!(
        of(&["verify", "--since", "cp"]).status,
        0,
        "that reads what is new"
    );
    let names = ["record 1", "no redaction"];
    place.run(&["copy", "emptied", "copied"]).fails(3, &names);
    of(&["export", "annals", "export"]).fails(3, &names);
    assert!(!place.path("export").exists());
}

/// What a redaction names is no finding, wherever the log goes.
#[test]
fn a_redacted_log_is_sound_wherever_it_goes() {
    let place = Place::with_log();
    create(&place);
    let watermark = place.log_dir().join("WATERMARK");
    let before = fs::read(&watermark).unwrap();
    for position in ["2", "1"] {
        let redacted = place.run(&["redact", position, "--reason", "leaked", "--fast"]);
        assert_eq!(redacted.status, 0, "{redacted:?}");
    }
    place.run(&["verify"]).ok();
    place.run(&["export", "annals", "export"]).ok();
    place
        .run(&["--log", "imported", "import", "annals", "export"])
        .ok();
    place.run(&["copy", "log", "copied"]).ok();
    for log in ["imported", "copied"] {
        place.run(&["--log", log, "verify"]).ok();
    }
    // Its redactions may be behind WATERMARK.
    fs::write(&watermark, before).unwrap();
    let report = place
        .run(&["verify", "--json"])
        .fails(0, &["position 4"])
        .json();
    assert_eq!(
        (&report["ok"], &report["position"]),
        (&json!(true), &json!(2))
    );
    // Such a log has removed content that no redaction up to its end names.
    place
        .run(&["copy", "log", "other"])
        .fails(3, &["was removed from the source"]);
}
