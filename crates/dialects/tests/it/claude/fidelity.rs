//! The fidelity report: what became of every field and every line.

use serde_json::{Value, json};

use super::log::Log;
use super::recording::{Folder, Recording, story};

/// The leaves of a JSON value; what is empty is a leaf.
fn leaves(value: &Value) -> u64 {
    match value {
        Value::Object(fields) if !fields.is_empty() => fields.values().map(leaves).sum(),
        Value::Array(items) if !items.is_empty() => items.iter().map(leaves).sum(),
        _ => 1,
    }
}

#[test]
fn every_path_of_an_unknown_line_is_lost() {
    let line = json!({ "type": "novelty", "a": [{ "b": 1 }, { "b": 2 }, {}], "c": null, "d": { "e.f": [] } });
    let mut recording = Recording::of("s");
    recording.raw(line.clone()).raw(json!({ "no": "type" }));
    let log = Log::of(&recording);
    let lost: u64 = log.report.fields_lost.iter().map(|field| field.count).sum();
    assert_eq!(lost, leaves(&line) + 1);
    assert_eq!(log.fates("a[].b"), [0, 0, 2]);
    assert_eq!(log.fates("d.e.f"), [0, 0, 1]);
    let types: Vec<(&str, u64)> = log
        .report
        .unknown_types
        .iter()
        .map(|kind| (kind.name.as_str(), kind.count))
        .collect();
    assert_eq!(types, [("(none)", 1), ("novelty", 1)]);
    assert_eq!((log.report.records_read, log.report.imported), (2, 0));
}

#[test]
fn known_lines_without_anything_for_a_log_are_counted() {
    let mut recording = Recording::of("s");
    recording
        .user(json!("Go"))
        .raw(json!({ "type": "file-history-snapshot", "messageId": "m", "snapshot": {} }))
        .raw(json!({ "type": "queue-operation", "operation": "enqueue" }))
        .line(
            "system",
            json!({ "subtype": "turn_duration", "durationMs": 5 }),
        )
        .line(
            "attachment",
            json!({ "attachment": { "type": "todo", "x": [1] } }),
        )
        .user(json!([]));
    let log = Log::of(&recording);
    let types: Vec<(&str, u64)> = log
        .report
        .skipped_types
        .iter()
        .map(|kind| (kind.name.as_str(), kind.count))
        .collect();
    let expected = [
        ("file-history-snapshot", 1),
        ("queue-operation/enqueue", 1),
        ("user without content", 1),
    ];
    assert_eq!(types, expected);
    assert_eq!(log.report.unknown_types, []);
    assert_eq!(log.fates("snapshot"), [0, 0, 1]);
    assert_eq!(log.fates("content"), [0, 0, 0]);
    assert_eq!(log.fates("attachment"), [1, 0, 0]);
    assert_eq!(
        log.frames(),
        ["intent_analysis: Go", "system_state: attachment"]
    );
}

#[test]
fn what_is_kept_inferred_and_lost_of_a_session_is_said_by_path() {
    let log = Log::of(&story());
    for (path, fates) in [
        ("message.content", [4, 0, 0]),
        ("message.content[].text", [4, 0, 0]),
        ("message.content[].thinking", [1, 0, 0]),
        ("message.content[].signature", [0, 0, 1]),
        ("message.content[].input", [4, 0, 0]),
        ("message.content[].content", [3, 0, 0]),
        ("message.content[].is_error", [1, 0, 0]),
        ("message.usage.output_tokens", [7, 0, 0]),
        ("message.stop_reason", [7, 0, 0]),
        ("toolUseResult.structuredPatch", [1, 0, 0]),
        ("compactMetadata", [1, 0, 0]),
        ("userType", [0, 17, 0]),
        ("leafUuid", [1, 0, 0]),
        ("intent.content (the prompt)", [0, 3, 0]),
    ] {
        assert_eq!(log.fates(path), fates, "{path}");
    }
    let text = log.report.with_all_fields().to_string();
    assert!(
        text.contains("\nlost           message.content[].signature (1)\n"),
        "{text}"
    );
    // For people there are groups, which have all of them.
    let text = log.report.to_string();
    let lost: u64 = log.report.fields_lost.iter().map(|field| field.count).sum();
    let groups = text.lines().filter_map(|line| line.strip_prefix("lost "));
    let groups = groups.flat_map(|line| {
        line.split(", ").filter_map(|group| {
            let number: String = group.chars().filter(char::is_ascii_digit).collect();
            group.ends_with(')').then(|| number.parse::<u64>().unwrap())
        })
    });
    assert_eq!(groups.sum::<u64>(), lost, "{text}");
    assert!(!text.contains("signature"), "{text}");
}

#[test]
fn a_setting_that_changes_on_the_way_is_lost() {
    let mut recording = Recording::of("s");
    recording.user(json!("Go")).text("m1", "Going.");
    recording.with(json!({ "gitBranch": "other", "cwd": "/elsewhere" }));
    let log = Log::of(&recording);
    assert_eq!(log.fates("gitBranch"), [2, 0, 0], "each frame says it");
    assert_eq!(log.fates("cwd"), [1, 0, 1]);
    assert_eq!(log.fates("version"), [2, 0, 0]);
}

#[test]
fn an_import_of_nothing_new_reports_no_fields() {
    let story = story();
    let mut log = Log::of(&story);
    let first = log.report.clone();
    assert_eq!(
        (first.records_read, first.imported, first.waiting),
        (18, 18, 0)
    );
    log.grow(&story, 99);
    assert_eq!(
        (log.report.records_read, log.report.already_there),
        (18, 18)
    );
    assert_eq!((log.report.imported, log.report.events_made), (0, 0));
    assert_eq!(
        (&log.report.fields_kept, &log.report.fields_lost),
        (&vec![], &vec![])
    );
}

const OUTPUT: &str = "message.usage.output_tokens";

/// The sum of a run's tokens must fit into its number.
#[test]
fn tokens_that_are_refused_are_lost() {
    let text = || json!({ "type": "text", "text": "x" });
    let mut recording = Recording::of("s");
    recording
        .user(json!("Go"))
        .says("m1", text(), [1, 2, 3, u64::MAX - 100])
        .says("m2", text(), [1, 2, 3, 4_000])
        .says("m2", text(), [1, 2, 3, 5_000])
        .says("m3", text(), [0, 0, 0, 1]);
    let folder = Folder::new();
    let path = folder.write("r.jsonl", recording.file(9));
    let mut log = Log::empty();
    log.report = log.try_import(&path, &Default::default()).unwrap();
    assert_eq!((log.report.imported, log.report.broken_count), (5, 1));
    assert_eq!(log.tokens(), [1, 2, 3, u64::MAX - 99]);
    for path in [OUTPUT, "message.usage.input_tokens"] {
        assert_eq!(log.fates(path), [2, 0, 2], "{}", log.report);
    }
    // They are not in the log, as often as it is tried.
    log.report = log.try_import(&path, &Default::default()).unwrap();
    assert_eq!(log.fates(OUTPUT), [0, 0, 2], "{}", log.report);
}

/// With the line or with the message: every line's tokens count once.
#[test]
fn tokens_are_counted_with_what_records_them() {
    let text = || json!({ "type": "text", "text": "x" });
    let mut recording = Recording::of("s");
    recording
        .user(json!("Go"))
        .with(json!({ "message": { "role": "user", "content": "Go", "usage": { "output_tokens": 1 } } }))
        .says("m1", text(), [1, 0, 0, 1])
        .says("m1", text(), [1, 0, 0, 5])
        .says("m2", text(), [0; 4])
        .says("m1", text(), [1, 0, 0, 5]);
    recording.lines[1]["message"]["usage"]["output_tokens"] = json!(null);
    let log = Log::of(&recording);
    assert_eq!(log.fates(OUTPUT), [4, 0, 1], "{}", log.report);
    let mut grown = Log::empty();
    grown.grow(&recording, 2);
    assert_eq!(grown.fates(OUTPUT), [1, 0, 1]);
    grown.grow(&recording, 9);
    assert_eq!(grown.fates(OUTPUT), [3, 0, 0], "{}", grown.report);
    grown.grow(&recording, 9);
    assert_eq!(grown.fates(OUTPUT), [0; 3], "{}", grown.report);
}
