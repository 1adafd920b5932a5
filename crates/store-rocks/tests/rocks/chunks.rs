//! Chunks of older programs, in which records are whole, are read as ever; and an altered payload is noticed
//! though its digest is not kept whole.

use std::path::Path;

use annals_event_log::{
    Content, Digest, EventLog, PiecesOf, Position, Query, ReadModels, Record, Redaction, Rows,
    Version,
};
use annals_store_rocks::{Fault, RebuildError, RocksLog, VerifyReport};
use bytes::Bytes;
use futures::executor::block_on;
use rocksdb::IteratorMode;

use crate::support::{all, append, at, batch, close, event, new_log, options, raw, tables};

fn inline(text: &str) -> Content {
    Content::Inline {
        salt: [5; 16],
        bytes: Bytes::copy_from_slice(text.as_bytes()),
    }
}

/// Writes all chunks of a closed log in the form that older programs gave them.
fn make_old(path: &Path) {
    let log = RocksLog::open_reader(path, &options()).unwrap();
    let mut records = all(&log).into_iter();
    close(log);
    let db = raw(path);
    let column = db.cf_handle("records").unwrap();
    let chunks: Vec<_> = db
        .iterator_cf(column, IteratorMode::Start)
        .map(Result::unwrap)
        .collect();
    let mut keys = chunks.iter().map(|(key, _)| key).skip(1);
    for (key, _) in &chunks {
        let next = keys
            .next()
            .map(|key| u64::from_be_bytes(key[..].try_into().unwrap()));
        let first = u64::from_be_bytes(key[..].try_into().unwrap());
        let count = next.map_or(usize::MAX, |next| (next - first) as usize);
        let mut chunk = vec![1];
        for record in records.by_ref().take(count) {
            let bytes = record.as_bytes();
            chunk.extend_from_slice(&u32::try_from(bytes.len()).unwrap().to_be_bytes());
            chunk.extend_from_slice(bytes);
        }
        db.put_cf(column, key, chunk).unwrap();
    }
}

fn formats(path: &Path) -> Vec<u8> {
    let db = raw(path);
    let column = db.cf_handle("records").unwrap();
    let chunks = db
        .iterator_cf(column, IteratorMode::Start)
        .map(Result::unwrap);
    chunks.map(|(_, chunk)| chunk[0]).collect()
}

fn verified(path: &Path) -> VerifyReport {
    let log = RocksLog::open_reader(path, &options()).unwrap();
    let report = log.verify(&mut |_| {}).unwrap();
    close(log);
    report
}

/// A closed log of some hundred records in two streams, of which the second has content.
fn filled() -> (tempfile::TempDir, std::path::PathBuf) {
    let (home, path, log) = new_log();
    for n in 0..10 {
        append(&log, "run-1", 20);
        let mut with_content = event("run-2");
        with_content.content = vec![inline("kept"), inline(&format!("secret {n}"))];
        block_on(log.append(batch(vec![with_content], Vec::new()))).unwrap();
    }
    close(log);
    (home, path)
}

#[test]
fn a_log_with_chunks_of_older_programs_is_read_gone_on_with_redacted_and_rebuilt() {
    let (_home, path) = filled();
    let before = verified(&path);
    assert!(before.is_sound());
    assert!(formats(&path).iter().all(|format| *format == 2));
    let log = RocksLog::open_reader(&path, &options()).unwrap();
    let (records, root) = (all(&log), before.root);
    close(log);

    make_old(&path);
    assert!(formats(&path).iter().all(|format| *format == 1));
    let old = verified(&path);
    assert!(old.is_sound(), "{:#?}", old.findings);
    assert_eq!((old.root, old.records), (root, before.records));

    let log = RocksLog::open(&path, &options()).unwrap();
    assert_eq!(all(&log), records);
    let stream = Query::stream("run-2".parse().unwrap(), Version(1));
    assert_eq!(block_on(log.read(stream)).unwrap().records.len(), 10);
    append(&log, "run-1", 30);
    let removed = vec![PiecesOf {
        position: Position(21),
        pieces: vec![1],
    }];
    let redaction = Redaction {
        append: batch(vec![event("run-3")], Vec::new()),
        removed,
        blobs: Vec::new(),
        seen: log.watermark(),
    };
    block_on(log.redact(redaction)).unwrap();
    let content = all(&log)[20].content();
    assert!(matches!(content[1], Content::Removed { .. }));
    close(log);
    let formats = formats(&path);
    assert!(formats.contains(&1) && formats.contains(&2), "{formats:?}");
    let report = verified(&path);
    assert!(report.is_sound(), "{:#?}", report.findings);

    RocksLog::rebuild_indexes(&path, &options(), &mut |_, _| {}).unwrap();
    let rebuilt = verified(&path);
    assert!(rebuilt.is_sound(), "{:#?}", rebuilt.findings);
    assert_eq!(rebuilt.root, report.root);
}

/// Alters a byte of the payload of the record at position 21 in its chunk.
fn alter(path: &Path, with_digest: bool) {
    let db = raw(path);
    let column = db.cf_handle("records").unwrap();
    let mut iterator = db.raw_iterator_cf(column);
    iterator.seek_for_prev(21_u64.to_be_bytes());
    let (key, chunk) = iterator.item().unwrap();
    let (key, mut chunk) = (key.to_vec(), chunk.to_vec());
    let secret = b"secret 0";
    let at = chunk
        .windows(secret.len())
        .position(|part| part == secret)
        .unwrap();
    chunk[at] = b'S';
    if with_digest {
        // An attacker who alters a payload may alter what is kept of its digest; then the tree does not fit.
        let digest = |text: &str| {
            let content = [inline("kept"), inline(text)].map(|piece| piece.salted_digest().0);
            Digest::of(content.as_flattened()).0
        };
        let (before, after) = (digest("secret 0"), digest("Secret 0"));
        let at = chunk
            .windows(4)
            .position(|part| part == &before[..4])
            .unwrap();
        chunk[at..at + 4].copy_from_slice(&after[..4]);
    }
    db.put_cf(column, key, chunk).unwrap();
}

#[test]
fn an_altered_payload_is_named_and_nothing_is_made_of_it() {
    let (_home, path) = filled();
    alter(&path, false);
    let report = verified(&path);
    let finding = &report.findings[0];
    assert_eq!(finding.fault, Fault::Digest);
    assert_eq!(finding.position, Some(Position(21)));
    assert_eq!(finding.stream.as_deref(), Some("run-2"));
    assert!(
        report.total_findings > report.of_indexes + report.of_models,
        "no index is at fault"
    );
    // Otherwise the tree would be made of what was altered, and it would look sound.
    let refused = RocksLog::rebuild_indexes(&path, &options(), &mut |_, _| {});
    let error = refused.unwrap_err();
    assert!(matches!(error, RebuildError::Read(_)), "{error:?}");
    assert!(error.to_string().contains("payload"), "{error}");
}

#[test]
fn an_altered_payload_looks_right_nowhere() {
    let (_home, path) = filled();
    alter(&path, false);
    let log = RocksLog::open_reader(&path, &options()).unwrap();
    let record = all(&log).swap_remove(20);
    close(log);
    assert!(record.verify().is_err());
    // A reader of its bytes, from an export or a proof, sees it as well.
    let copy = Record::decode(record.as_bytes().clone()).unwrap();
    assert!(copy.verify().is_err());
    assert_eq!(copy, record);
    let said = record.digests().content.0;
    assert!(said[..4] != [0; 4] && said[4..] == [0; 28], "{said:?}");

    // A tree that is lost is not made of it.
    let db = raw(&path);
    db.delete_cf(db.cf_handle("meta").unwrap(), "tree").unwrap();
    drop(db);
    let error = RocksLog::open(&path, &options()).err().unwrap().to_string();
    assert!(error.contains("the record at 21: its payload"), "{error}");
}

/// Rows of a model that goes on are a separate table from so many on, also where some of them are in memory.
#[test]
fn many_rows_replace_those_that_are_there() {
    let (_home, path, log) = new_log();
    append(&log, "run-1", 3);
    let rows = |count: u32, value: &'static str| -> Rows {
        let row = |n: u32| {
            let key = Bytes::copy_from_slice(&n.to_be_bytes());
            (key, Some(Bytes::from_static(value.as_bytes())))
        };
        (0..count).map(row).collect()
    };
    block_on(log.commit("m", at(0), rows(3, "before"), Position(1))).unwrap();
    block_on(log.commit("m", at(1), rows(4, "between"), Position(2))).unwrap();
    let before = tables(&path).len();
    block_on(log.commit("m", at(2), rows(50_000, "after"), Position(3))).unwrap();
    assert!(tables(&path).len() > before, "it is a table");
    close(log);
    let log = RocksLog::open(&path, &options()).unwrap();
    for n in [0_u32, 3, 4, 49_999] {
        let row = block_on(log.get("m", &n.to_be_bytes())).unwrap();
        assert_eq!(row.as_deref(), Some(&b"after"[..]), "{n}");
    }
    assert_eq!(block_on(log.checkpoint("m")).unwrap(), at(3));
    assert!(log.verify(&mut |_| {}).unwrap().is_sound());
}

#[test]
fn an_altered_payload_with_its_digest_is_not_in_the_tree() {
    let (_home, path) = filled();
    let root = verified(&path).root;
    alter(&path, true);
    let report = verified(&path);
    assert!(!report.is_sound() && report.root != root);
    let fault = &report.findings[0].fault;
    assert!(
        matches!(
            fault,
            Fault::Tree {
                level: 0,
                index: 20
            }
        ),
        "{fault:?}"
    );
}
