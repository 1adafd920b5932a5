//! Tokens: the last line of a message counts, once.

use serde_json::json;

use super::log::Log;
use super::recording::Recording;

fn text() -> serde_json::Value {
    json!({ "type": "text", "text": "x" })
}

#[test]
fn the_last_line_of_a_message_counts_once_and_kinds_are_kept_apart() {
    let mut recording = Recording::of("s");
    recording
        .user(json!("Go"))
        .says("m1", text(), [10, 20, 30, 1])
        .says("m1", text(), [10, 20, 30, 5])
        .says("m1", text(), [10, 20, 30, 9])
        .says("m2", text(), [1, 0, 0, 2]);
    let log = Log::of(&recording);
    assert_eq!(log.tokens(), [11, 20, 30, 11]);
    assert_eq!(log.count("run.usage_recorded"), 2);
}

#[test]
fn lines_of_two_messages_may_alternate() {
    let mut recording = Recording::of("s");
    recording
        .user(json!("Go"))
        .says("m1", text(), [10, 0, 0, 1])
        .says("m2", text(), [5, 0, 0, 1])
        .says("m1", text(), [10, 0, 0, 8])
        .says("m2", text(), [5, 0, 0, 3]);
    let log = Log::of(&recording);
    assert_eq!(log.tokens(), [15, 0, 0, 11]);
}

#[test]
fn a_message_that_grows_between_imports_is_recorded_by_differences() {
    let mut recording = Recording::of("s");
    recording
        .user(json!("Go"))
        .says("m1", text(), [10, 20, 30, 1])
        .says("m1", text(), [10, 20, 30, 5])
        .says("m1", text(), [10, 20, 30, 9]);
    let mut log = Log::empty();
    for (lines, output) in [(2, 1), (2, 1), (3, 5), (4, 9), (4, 9)] {
        log.grow(&recording, lines);
        assert_eq!(log.tokens(), [10, 20, 30, output], "{lines} lines");
    }
    assert_eq!(log.count("run.usage_recorded"), 3);
}

#[test]
fn tokens_that_shrink_between_imports_are_said() {
    let mut recording = Recording::of("s");
    recording
        .user(json!("Go"))
        .says("m1", text(), [10, 0, 0, 9])
        .says("m1", text(), [10, 0, 0, 4]);
    assert_eq!(Log::of(&recording).tokens(), [10, 0, 0, 4]);
    let mut log = Log::empty();
    log.grow(&recording, 2);
    log.grow(&recording, 3);
    assert_eq!(log.tokens(), [10, 0, 0, 9]);
    assert!(
        log.has_note("the log has more than the recording"),
        "{}",
        log.report
    );
}

#[test]
fn messages_without_tokens_record_none() {
    let mut recording = Recording::of("s");
    recording.user(json!("Go")).says("m1", text(), [0; 4]);
    recording.says("m2", text(), [1; 4]).lines[2]["message"]["usage"] = json!(null);
    assert_eq!(Log::of(&recording).count("run.usage_recorded"), 0);
}

#[test]
fn a_message_may_grow_by_many_lines_between_imports() {
    let mut recording = Recording::of("s");
    recording.user(json!("Go"));
    for output in 1..=200 {
        recording.says("m1", text(), [10, 0, 0, output]);
    }
    let mut log = Log::empty();
    for lines in [3, 201] {
        log.grow(&recording, lines);
    }
    assert_eq!(log.tokens(), [10, 0, 0, 200]);
}
