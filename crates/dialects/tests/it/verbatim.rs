//! A log that is exported and imported is the same log.

use std::io::{BufRead, Cursor};
use std::sync::Arc;

use annals::Annals;
use annals::event_log::memory::MemoryLog;
use annals::event_log::{
    Actor, Append, Blob, Content, Digest, NewEvent, Position, Query, Record, tree,
};
use annals_dialects::Progress;
use annals_dialects::verbatim::{
    self, VerbatimExportError, VerbatimImportError, VerbatimImported, VerbatimSource,
};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use chrono::DateTime;
use futures::executor::block_on;
use proptest::prelude::*;
use serde_json::{Value, json};
use uuid::Uuid;

fn empty() -> Annals {
    Annals::over(Arc::new(MemoryLog::new(Uuid::from_u128(7))))
}

fn event(stream: &str, content: Vec<Content>) -> NewEvent {
    NewEvent {
        stream: stream.parse().unwrap(),
        id: Uuid::new_v4(),
        event_type: "test.happened".into(),
        schema_version: 1,
        occurred_at: DateTime::from_timestamp(1_700_000_000, 0).unwrap(),
        actor: Actor {
            kind: "agent".into(),
            id: "tester".into(),
            display_name: None,
            auth_context: None,
        },
        correlation: None,
        causation: None,
        structure: Bytes::from_static(b"structure"),
        content,
    }
}

fn append(annals: &Annals, events: Vec<NewEvent>, blobs: Vec<Blob>) {
    let batch = Uuid::new_v4();
    let request = Bytes::copy_from_slice(batch.as_bytes());
    let append = Append {
        batch,
        request,
        events,
        expectations: Vec::new(),
        blobs,
    };
    block_on(annals.log().append(append)).unwrap();
}

/// Appends so many batches of 1 to 4 events, with content inside and beside them: six
/// different blobs in all.
fn grow(annals: &Annals, batches: u8) {
    for n in 0..batches {
        let blob = Blob::new(vec![n % 6; 5_000]);
        let (salt, digest, size) = ([n; 16], blob.digest(), 5_000);
        let content = vec![
            Content::Inline {
                salt,
                bytes: format!("text {n}").into(),
            },
            match n % 2 {
                0 => Content::Blob { salt, digest, size },
                _ => Content::Attachment { salt, digest, size },
            },
        ];
        let mut events = vec![event("shared-1", Vec::new()); usize::from(n % 4)];
        events.push(event(&format!("own-{}", n % 3), content));
        append(annals, events, vec![blob]);
    }
}

fn exported(annals: &Annals, from: u64) -> String {
    let mut out = Vec::new();
    let mut seen = Progress { done: 0, total: 0 };
    let mut progress = |it| seen = it;
    let exported = verbatim::export(annals, Position(from), &mut out, &mut progress);
    let exported = block_on(exported).unwrap();
    assert_eq!(exported.to, annals.position());
    assert_eq!(
        (seen.done, seen.total),
        (exported.records, exported.records)
    );
    String::from_utf8(out).unwrap()
}

fn import(annals: &Annals, text: &str) -> Result<VerbatimImported, VerbatimImportError> {
    let reader: Box<dyn BufRead + Send> = Box::new(Cursor::new(text.as_bytes().to_vec()));
    let source = VerbatimSource::open("log.jsonl", reader)?;
    block_on(verbatim::import(annals, source, &mut |_| {}))
}

fn all(annals: &Annals) -> Vec<Record> {
    let query = Query::all(Position(1)).limit(10_000);
    block_on(annals.log().read(query)).unwrap().records
}

fn root(annals: &Annals) -> Digest {
    block_on(tree::root(annals.log().as_ref(), annals.position().0)).unwrap()
}

fn assert_same(from: &Annals, to: &Annals) {
    assert!(all(from) == all(to));
    assert_eq!(root(from), root(to));
    for record in all(from) {
        for digest in record.content().iter().filter_map(Content::blob) {
            let of = |annals: &Annals| block_on(annals.content(digest)).unwrap().unwrap();
            assert_eq!(of(from), of(to));
        }
    }
}

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

const RECORD: &str = "{\"record\"";
const BLOB: &str = "{\"blob\"";

#[test]
fn an_imported_export_is_the_same_log() {
    let from = empty();
    grow(&from, 40);
    let text = exported(&from, 1);
    assert_eq!(
        text.lines().filter(|line| line.starts_with(BLOB)).count(),
        6
    );
    let to = empty();
    let imported = import(&to, &text).unwrap();
    assert_eq!((imported.copied, imported.known), (from.position().0, 0));
    assert_eq!((imported.blobs, imported.root), (6, root(&from)));
    assert_same(&from, &to);
    assert_eq!(text.replace(&Uuid::from_u128(7).to_string(), ""), {
        let again = exported(&to, 1);
        again.replace(&to.log().log_id().to_string(), "")
    });
    // Again it adds nothing.
    let again = import(&to, &text).unwrap();
    assert_eq!(
        (again.copied, again.known, again.blobs),
        (0, from.position().0, 0)
    );
    assert_same(&from, &to);
}

#[test]
fn an_empty_log_has_an_export_too() {
    let text = exported(&empty(), 1);
    assert_eq!(text.lines().count(), 2);
    let to = empty();
    assert_eq!(import(&to, &text).unwrap().root, Digest::of(b""));
    grow(&to, 3);
    import(&to, &text).expect("nothing is the beginning of everything");
}

#[test]
fn what_people_read_stands_beside_the_bytes() {
    let from = empty();
    grow(&from, 2);
    let text = exported(&from, 1);
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let records: Vec<&Value> = lines.iter().filter_map(|line| line.get("record")).collect();
    for (line, record) in records.iter().zip(all(&from)) {
        assert_eq!(
            STANDARD.decode(line["base64"].as_str().unwrap()).unwrap(),
            record.as_bytes()[..]
        );
        assert_eq!(line["version"], record.version().0);
        assert_eq!(line["event_id"], record.event_id().to_string());
    }
    assert_eq!(
        records[0]["content"][0],
        json!({ "kind": "inline", "text": "text 0" })
    );
    let digest = Blob::new(vec![0; 5_000]).digest().to_string();
    assert_eq!(
        records[0]["content"][1],
        json!({ "kind": "blob", "digest": digest, "size": 5_000 })
    );
}

/// A record too long for its line to be readable twice over is still whole.
#[test]
fn a_long_record_has_only_its_bytes() {
    let from = empty();
    let piece = |n: u8| Content::Inline {
        salt: [n; 16],
        bytes: Bytes::from(vec![b'x'; 4_096]),
    };
    append(
        &from,
        vec![event("own-1", (0..100).map(piece).collect())],
        Vec::new(),
    );
    let text = exported(&from, 1);
    let line: Value = serde_json::from_str(text.lines().nth(1).unwrap()).unwrap();
    assert!(line["record"].get("content").is_none());
    let to = empty();
    import(&to, &text).unwrap();
    assert_same(&from, &to);
}

#[test]
fn an_import_goes_on_where_another_ended() {
    let from = empty();
    grow(&from, 20);
    let text = exported(&from, 1);
    for lines in [1, 2, 3, 10, 30] {
        let to = empty();
        let cut: String = text
            .lines()
            .take(lines)
            .map(|line| format!("{line}\n"))
            .collect();
        match import(&to, &cut) {
            Err(VerbatimImportError::CutOff { lines: read, .. }) => assert_eq!(read, lines as u64),
            other => panic!("{other:?}"),
        }
        let there = to.position().0;
        let records = cut.lines().filter(|line| line.starts_with(RECORD)).count();
        assert_eq!(there, records as u64, "what was whole is there");
        let imported = import(&to, &text).unwrap();
        assert_eq!(
            (imported.known, imported.copied),
            (there, from.position().0 - there)
        );
        assert_same(&from, &to);
    }
}

#[test]
fn newer_records_go_behind_older_ones() {
    let from = empty();
    grow(&from, 10);
    let older = exported(&from, 1);
    let end = from.position().0;
    grow(&from, 10);
    let newer = exported(&from, end + 1);
    let to = empty();
    match import(&to, &newer) {
        Err(VerbatimImportError::Gap {
            from,
            end: Position(0),
        }) => {
            assert_eq!(from, Position(end + 1));
        }
        other => panic!("{other:?}"),
    }
    import(&to, &older).unwrap();
    // It overlaps what is there.
    import(&to, &exported(&from, end - 3)).unwrap();
    assert_same(&from, &to);
    let known = import(&to, &newer).unwrap();
    assert_eq!((known.copied, known.known), (0, from.position().0 - end));
    // A longer log has the older export as its beginning.
    import(&to, &older).unwrap();
    let refused = block_on(verbatim::export(
        &from,
        from.position().next().next(),
        &mut Vec::new(),
        &mut |_| {},
    ));
    assert!(
        matches!(refused, Err(VerbatimExportError::BeyondEnd { .. })),
        "{refused:?}"
    );
}

#[test]
fn another_log_is_refused_at_its_first_difference() {
    let (one, two) = (empty(), empty());
    grow(&one, 6);
    import(&two, &exported(&one, 1)).unwrap();
    let shared = one.position();
    grow(&one, 3);
    grow(&two, 5);
    let before = all(&two);
    match import(&two, &exported(&one, 1)) {
        Err(VerbatimImportError::Contradiction { position }) => assert_eq!(position, shared.next()),
        other => panic!("{other:?}"),
    }
    let behind = exported(&one, shared.0 + 3);
    match import(&two, &behind) {
        Err(VerbatimImportError::OtherBeginning { before }) => {
            assert_eq!(before, Position(shared.0 + 2));
        }
        other => panic!("{other:?}"),
    }
    assert!(all(&two) == before, "nothing was copied");
}

/// The record with its first piece removed; its header is the same.
fn redacted(record: &Record) -> Record {
    let pieces = record.content();
    let begin = 2 + record.header_bytes().len() + 4 + record.structure().len();
    let mut bytes = record.as_bytes()[..begin].to_vec();
    bytes.extend_from_slice(&(pieces.len() as u16).to_be_bytes());
    for piece in pieces {
        bytes.push(4);
        bytes.extend_from_slice(&piece.salted_digest().0);
    }
    Record::decode(bytes.into()).unwrap()
}

#[test]
fn content_that_was_removed_stays_removed_on_its_side() {
    let whole = empty();
    grow(&whole, 8);
    let removed = empty();
    let records = all(&whole).iter().map(redacted).collect();
    block_on(removed.log().append_records(records, Vec::new())).unwrap();
    assert_eq!(root(&whole), root(&removed));
    let (with, without) = (exported(&whole, 1), exported(&removed, 1));
    assert!(!without.contains(BLOB) && !without.contains("text 3"));
    let to = empty();
    import(&to, &without).unwrap();
    assert_same(&removed, &to);
    // What was removed does not come back, and what is there does not go.
    for (log, text) in [(&to, &with), (&whole, &without)] {
        let before = all(log);
        let imported = import(log, text).unwrap();
        assert_eq!((imported.copied, imported.known_but_for_content), (0, 8));
        assert!(all(log) == before);
    }
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
        error @ VerbatimImportError::Root { .. } => assert!(error.is_corrupt()),
        other => panic!("{other}"),
    }
}

/// A record that says of its content what is not so, with all digests in order.
#[test]
fn content_of_another_size_is_found() {
    let from = empty();
    let blob = Blob::new(vec![1; 5_000]);
    let content = Content::Attachment {
        salt: [1; 16],
        digest: blob.digest(),
        size: 4_999,
    };
    let with_blob = event("own-1", vec![content]);
    // A log that has the content takes the size for what it is said to be.
    let right = Content::Attachment {
        salt: [1; 16],
        digest: blob.digest(),
        size: 5_000,
    };
    append(&from, vec![event("own-1", vec![right])], vec![blob]);
    append(&from, vec![with_blob], Vec::new());
    let behind = exported(&from, 2);
    let to = empty();
    let first = exported(&from, 1);
    let cut: String = first
        .lines()
        .take(3)
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
        ("hello", "no JSON"),
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

/// More records and more content than are handed over at once.
#[test]
fn a_long_log_is_copied_in_parts() {
    let from = empty();
    for n in 0..3_u8 {
        append(
            &from,
            vec![event("shared-1", Vec::new()); 1_500],
            Vec::new(),
        );
        for m in 0..3_u8 {
            let blob = Blob::new(vec![n * 3 + m; 3 * 1024 * 1024]);
            let content = Content::Attachment {
                salt: [m; 16],
                digest: blob.digest(),
                size: 3 * 1024 * 1024,
            };
            append(&from, vec![event("own-1", vec![content])], vec![blob]);
        }
    }
    let to = empty();
    let imported = import(&to, &exported(&from, 1)).unwrap();
    assert_eq!((imported.copied, imported.blobs), (4_509, 9));
    assert_same(&from, &to);
}

proptest! {
    #![proptest_config(crate::cases(24))]

    /// Whatever is in the lines, nothing panics, and what comes in is a part of the log.
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

    /// Cut into any parts, each with its own beginning, it is the same log.
    #[test]
    fn parts_of_any_length_make_the_same_log(batches in 1_u8..10, cuts in prop::collection::vec(1_u64..30, 0..4)) {
        let from = empty();
        grow(&from, batches);
        let text = exported(&from, 1);
        let to = empty();
        let mut cuts = cuts;
        cuts.sort_unstable();
        for lines in cuts {
            let cut: String = text.lines().take(lines as usize).map(|line| format!("{line}\n")).collect();
            let _ = import(&to, &cut);
        }
        import(&to, &text).unwrap();
        assert_same(&from, &to);
    }
}
