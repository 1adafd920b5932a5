//! What was altered, cut off or cannot be read is named by its place.

use std::io::{BufRead, Cursor};

use annals::event_log::{Append, Blob, Content, Digest, Position, Prepared, Version};
use annals_dialects::verbatim::{self, VerbatimImportError, VerbatimSource};
use annals_event_log::{Classified, ErrorClass};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use chrono::DateTime;
use futures::executor::block_on;
use proptest::prelude::*;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{BLOB, RECORD, all, append, empty, event, exported, grow, import, root};

/// The text with the line that begins so, the `nth` of them, changed as JSON.
fn with_line(text: &str, begins: &str, nth: usize, change: impl FnOnce(&mut Value)) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut those = lines.iter_mut().filter(|line| line.starts_with(begins));
    let line = those.nth(nth).expect("such a line");
    let mut value: Value = serde_json::from_str(line).unwrap();
    change(&mut value);
    *line = value.to_string();
    lines.join("\n")
}

fn wrong(text: &str) -> VerbatimImportError {
    let error = import(&empty(), text).expect_err("it is wrong");
    assert!(!error.is_retryable());
    error
}

/// What is damaged is named by its line.
#[test]
fn every_alteration_is_found() {
    let from = empty();
    grow(&from, 6);
    let text = exported(&from, 1);
    let line_of = |begins: &str| {
        text.lines()
            .position(|line| line.starts_with(begins))
            .unwrap() as u64
            + 1
    };
    let damaged = |text: String, at: u64| match wrong(&text) {
        VerbatimImportError::Damaged { file, line, .. } => {
            assert_eq!((file.as_str(), line), ("log.jsonl", at));
        }
        other => panic!("{other}"),
    };
    let flip = |value: &mut Value, at: usize| {
        let mut bytes = STANDARD.decode(value.as_str().unwrap()).unwrap();
        let at = bytes.len() - at;
        bytes[at] ^= 1;
        *value = STANDARD.encode(bytes).into();
    };
    // The structure of the first record, which is followed by two pieces.
    damaged(
        with_line(&text, BLOB, 0, |line| flip(&mut line["blob"]["base64"], 1)),
        line_of(BLOB),
    );
    for field in ["position", "stream", "type"] {
        let changed = with_line(&text, RECORD, 0, |line| {
            line["record"][field] = match field {
                "position" => json!(2),
                _ => json!("other-1"),
            };
        });
        damaged(changed, line_of(RECORD));
    }
    for piece in 0..40 {
        let changed = with_line(&text, RECORD, 0, |line| {
            flip(&mut line["record"]["base64"], 30 + piece);
        });
        let error = wrong(&changed);
        let says = error.to_string();
        assert!(
            says.starts_with(&format!("log.jsonl, line {}: ", line_of(RECORD))),
            "{says}"
        );
    }
    // The counts of the last line, and its root.
    for field in ["records", "blobs"] {
        let changed = with_line(&text, "{\"end\"", 0, |line| line["end"][field] = json!(3));
        damaged(changed, text.lines().count() as u64);
    }
    let other = Digest::of(b"x").to_string();
    let changed = with_line(&text, "{\"end\"", 0, |line| {
        line["end"]["root"] = json!(other)
    });
    damaged(changed, text.lines().count() as u64);
    // The header of a record, with all else in order: only the root shows it.
    let changed = with_line(&text, RECORD, 3, |line| {
        let mut bytes = STANDARD
            .decode(line["record"]["base64"].as_str().unwrap())
            .unwrap();
        bytes[2 + 41] ^= 1; // in the event's id
        line["record"]["base64"] = STANDARD.encode(bytes).into();
    });
    match wrong(&changed) {
        error @ VerbatimImportError::Root { .. } => {
            assert_eq!(error.class(), ErrorClass::Corrupt);
        }
        other => panic!("{other}"),
    }
}

/// A record that says of its content what is not so, with all digests in order.
#[test]
fn content_of_another_size_is_found() {
    let from = empty();
    let blob = Blob::new(vec![1; 5_000]);
    let naming = |size| {
        let content = Content::Attachment {
            salt: [1; 16],
            digest: blob.digest(),
            size,
        };
        event("own-1", vec![content])
    };
    append(&from, vec![naming(5_000)], vec![blob.clone()]);
    append(&from, vec![naming(5_000)], Vec::new());
    // No store takes such a record now; an older program's did.
    let batch = Uuid::new_v4();
    let prepared = Prepared::new(Append {
        batch,
        request: Bytes::new(),
        events: vec![naming(4_999)],
        expectations: Vec::new(),
        blobs: Vec::new(),
    });
    let mut prepared = prepared.unwrap();
    let record = prepared.events[0].stamp(Position(2), Version(2), DateTime::UNIX_EPOCH);
    let record = STANDARD.encode(record);
    let behind = with_line(&exported(&from, 2), RECORD, 0, |line| {
        line["record"]["base64"] = json!(record);
    });
    let to = empty();
    let first = exported(&from, 1);
    // With the record behind it, which shows that the first one's batch is whole.
    let cut: String = first
        .lines()
        .take(4)
        .map(|line| format!("{line}\n"))
        .collect();
    assert!(matches!(
        import(&to, &cut),
        Err(VerbatimImportError::CutOff { .. })
    ));
    match import(&to, &behind) {
        Err(VerbatimImportError::Damaged {
            line: 3, reason, ..
        }) => {
            assert!(reason.contains("5000 bytes, not 4999"), "{reason}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_cannot_be_read_is_named_by_its_line() {
    let from = empty();
    grow(&from, 4);
    let text = exported(&from, 1);
    let lines: Vec<&str> = text.lines().collect();
    let without = |at: usize| [&lines[..at], &lines[at + 1..]].concat().join("\n");
    let with = |at: usize, line: &str| [&lines[..at], &[line], &lines[at..]].concat().join("\n");
    let at = |text: &str| match wrong(text) {
        VerbatimImportError::Line { line, .. } => line,
        other => panic!("{other}"),
    };
    let record = lines
        .iter()
        .position(|line| line.starts_with(RECORD))
        .unwrap();
    // The one behind it does not fit then.
    let behind = lines[record + 1..]
        .iter()
        .position(|line| line.starts_with(RECORD));
    assert_eq!(at(&without(record)), (record + 1 + behind.unwrap()) as u64);
    for bad in [
        "{}",
        "no json",
        "{\"record\":{}}",
        "{\"surprise\":1}",
        "[1]",
        "{\"blob\":{\"digest\":\"\",\"base64\":\"?\"}}",
    ] {
        assert_eq!(at(&with(record, bad)), record as u64 + 1, "{bad}");
    }
    assert_eq!(
        at(&format!("{text}\n\n{}", lines[record])),
        lines.len() as u64 + 3
    );
    // Without its content a record is not taken.
    let blob = lines
        .iter()
        .position(|line| line.starts_with(BLOB))
        .unwrap();
    let missing = with_line(&without(blob), "{\"end\"", 0, |line| {
        line["end"]["blobs"] = json!(line["end"]["blobs"].as_u64().unwrap() - 1);
    });
    let error = wrong(&missing);
    assert!(
        matches!(error, VerbatimImportError::Append { .. }),
        "{error}"
    );
    for (first, says) in [
        ("", "it is empty"),
        ("hello", "not JSON"),
        ("{\"annals\":1}", "does not say"),
        ("{\"annals\":\"export\",\"version\":1}", "cannot be read"),
        ("{\"annals\":\"export\",\"version\":2}", "of version 2"),
    ] {
        let error = wrong(first).to_string();
        assert!(error.contains(says), "{error}");
    }
    let backward = with_line(&text, "{\"annals\"", 0, |line| line["to"] = json!(-1));
    assert!(wrong(&backward).to_string().contains("cannot be read"));
    let backward = with_line(&text, "{\"annals\"", 0, |line| line["from"] = json!(0));
    assert!(wrong(&backward).to_string().contains("from position 0"));
}

proptest! {
    #![proptest_config(crate::cases(24))]

    /// Nothing panics on any lines, and what comes in is a part of the log.
    #[test]
    fn a_file_with_a_changed_byte_is_imported_or_refused(
        batches in 1_u8..6, place in 0.0_f64..1.0, byte in any::<u8>(),
    ) {
        let from = empty();
        grow(&from, batches);
        let mut bytes = exported(&from, 1).into_bytes();
        let at = (place * bytes.len() as f64) as usize;
        bytes[at] = byte;
        let to = empty();
        let reader: Box<dyn BufRead + Send> = Box::new(Cursor::new(bytes));
        if let Ok(source) = VerbatimSource::open("log.jsonl", reader)
            && block_on(verbatim::import(&to, source, &mut |_| {})).is_ok()
        {
            prop_assert_eq!(root(&from), root(&to));
            prop_assert!(all(&from) == all(&to));
        }
    }
}
