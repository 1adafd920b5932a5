//! What is copied is the same, whole, in parts, and again.

use std::io::{BufRead, Cursor};

use annals::domain::ActorRef;
use annals::event_log::{Blob, Content, Digest, Position, Record};
use annals::{Annals, RedactRequest, Target};
use annals_dialects::verbatim::{self, VerbatimExportError, VerbatimImportError, VerbatimSource};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use futures::executor::block_on;
use proptest::prelude::*;
use regex::bytes::Regex;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{BLOB, RECORD, all, append, assert_same, empty, event, exported, grow, import, root};

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
fn what_people_read_is_next_to_the_bytes() {
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

/// How many of a log's first records are those of batches that are known to be whole, as another one follows.
fn whole_batches(of: &Annals, first: usize) -> u64 {
    let mut records = all(of);
    records.truncate(first);
    let last = records.pop().map(|record| record.batch_id());
    let before = records
        .iter()
        .rposition(|record| Some(record.batch_id()) != last);
    before.map_or(0, |at| at as u64 + 1)
}

/// Half a batch would be taken for the whole one by a caller that appends it under its key.
#[test]
fn a_batch_is_imported_as_a_whole_or_not_at_all() {
    let from = empty();
    grow(&from, 4);
    append(&from, vec![event("long-1", Vec::new()); 2_500], Vec::new());
    append(&from, vec![event("last-1", Vec::new())], Vec::new());
    let batches: Vec<Uuid> = all(&from).iter().map(Record::batch_id).collect();
    let ends_at = |position: usize| batches.get(position - 1) != batches.get(position);
    let text = exported(&from, 1);
    for lines in [2, 5, 9, 10, 11, 12, 13, 14, 1_500, 2_515, 2_516] {
        let cut: Vec<&str> = text.lines().take(lines).collect();
        let to = empty();
        let error = import(&to, &cut.join("\n")).unwrap_err();
        assert!(
            matches!(error, VerbatimImportError::CutOff { .. }),
            "{error}"
        );
        let there = to.position().0 as usize;
        assert!(
            there == 0 || ends_at(there),
            "{there} records of {lines} lines"
        );
        import(&to, &text).unwrap();
        assert_same(&from, &to);
    }
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
        assert_eq!(
            there,
            whole_batches(&from, records),
            "what was whole is there"
        );
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
    let from = empty();
    let ada = ActorRef::human("ada");
    for n in 0..8 {
        let text = format!("text {n} {}", "x".repeat(n % 2 * 5_000));
        block_on(from.by(&ada).submit(text)).unwrap();
    }
    let whole = empty();
    let with = exported(&from, 1);
    import(&whole, &with).unwrap();
    let target = Target::Pattern(Regex::new("text").unwrap());
    let request = RedactRequest::new(vec![target], ada, "it must go");
    block_on(from.contents().redact(&request, &mut |_| {})).unwrap();
    let without = exported(&from, 1);
    assert!(!without.contains(BLOB) && !without.contains("text 3"));
    let to = empty();
    import(&to, &without).unwrap();
    assert_same(&from, &to);
    // What was removed does not come back, and what is there does not go.
    let redactions = from.position().0 - whole.position().0;
    let pairs = all(&from).into_iter().zip(all(&whole));
    let emptied = pairs.filter(|(one, other)| one != other).count() as u64;
    assert!(emptied >= 8);
    for (log, text, copied) in [(&to, &with, 0), (&whole, &without, redactions)] {
        let before = all(log);
        let imported = import(log, text).unwrap();
        let found = (imported.copied, imported.known_but_for_content);
        assert_eq!(found, (copied, emptied));
        assert!(all(log)[..before.len()] == before);
    }
}

/// A sender does not hide content that a redaction does not name.
#[test]
fn content_that_was_removed_without_a_redaction_is_refused() {
    let from = empty();
    grow(&from, 8);
    let lines = exported(&from, 1);
    let lines = lines.lines().filter_map(|line| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        if let Some(end) = line.get_mut("end") {
            end["blobs"] = json!(0);
        }
        if let Some(record) = line.get_mut("record") {
            let bytes = STANDARD.decode(record["base64"].as_str().unwrap());
            let whole = Record::decode(bytes.unwrap().into()).unwrap();
            record["base64"] = STANDARD.encode(redacted(&whole).as_bytes()).into();
            record.as_object_mut().unwrap().remove("content");
        }
        let is_blob = line.get("blob").is_some();
        (!is_blob).then(|| format!("{line}\n"))
    });
    let emptied: String = lines.collect();
    let refused = import(&empty(), &emptied).unwrap_err();
    assert!(
        matches!(refused, VerbatimImportError::Removed { .. }),
        "{refused:?}"
    );
    let reader: Box<dyn BufRead + Send> = Box::new(Cursor::new(emptied.into_bytes()));
    let source = VerbatimSource::open("log.jsonl", reader).unwrap();
    let agent = ActorRef::agent("ci");
    let refused = block_on(verbatim::examine(source, &agent, None)).unwrap_err();
    assert!(
        matches!(refused, VerbatimImportError::Removed { .. }),
        "{refused:?}"
    );
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

/// Content that was removed elsewhere comes with the first batch that refers to it still: together it may be more
/// than an append takes.
#[test]
fn a_batch_with_more_content_than_an_append_takes_is_copied_in_parts() {
    let blob = |n: u8| Blob::new(vec![n; 40 * 1024 * 1024]);
    let naming = |blob: &Blob| {
        let (digest, size) = (blob.digest(), blob.bytes().len() as u64);
        let salt = [1; 16];
        event("own-1", vec![Content::Attachment { salt, digest, size }])
    };
    let (one, two) = (blob(1), blob(2));
    let from = empty();
    append(&from, vec![naming(&one)], vec![one.clone()]);
    append(&from, vec![naming(&one), naming(&two)], vec![two.clone()]);
    let to = empty();
    let first = vec![redacted(&all(&from)[0])];
    block_on(to.log().append_records(first, Vec::new())).unwrap();
    let imported = import(&to, &exported(&from, 2)).unwrap();
    assert_eq!((imported.copied, imported.blobs), (2, 2));
    assert_eq!(root(&from), root(&to));
}

proptest! {
    #![proptest_config(crate::cases(24))]

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
