//! Removed content is in no file of the log afterwards, and an interrupted redaction
//! is completed.

use std::path::Path;

use annals_event_log::{
    Content, Digest, EventLog, NewEvent, PiecesOf, Position, ReadModels, Redaction, tree,
};
use annals_store_rocks::{Options, PurgeError, RocksLog};
use bytes::Bytes;
use futures::executor::block_on;

use crate::support::{
    all, append, at, batch, close, copy_of, event, event_with_blob, fingerprint, options, raw,
};

/// What must go, in a record, a blob, rows and the request of a batch.
const SECRET: &str = "it-was-the-butler-in-the-library";

/// As stored, so that its bytes can be searched for.
fn plain() -> Options {
    options().with_compression(false)
}

/// The same, as older programs wrote it.
fn plain_with_blob_files() -> Options {
    plain().with_blob_files(true)
}

fn inline(text: &str) -> Content {
    Content::Inline {
        salt: [5; 16],
        bytes: Bytes::copy_from_slice(text.as_bytes()),
    }
}

fn with(pieces: &[&str]) -> NewEvent {
    NewEvent {
        content: pieces.iter().map(|text| inline(text)).collect(),
        ..event("run-1")
    }
}

fn large(text: &str) -> Vec<u8> {
    format!("{text} ").repeat(400).into_bytes()
}

/// Which of a log's files have a text in them. RocksDB's list of its files names keys
/// of those that are gone, too, until the log is opened the next time.
fn files_of_open_log_with(path: &Path, text: &str) -> Vec<String> {
    let mut found = files_with(path, text);
    found.retain(|name| !name.starts_with("MANIFEST-"));
    found
}

/// Which of a log's files have a text in them.
fn files_with(path: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for file in fingerprint(path).into_keys() {
        let bytes = std::fs::read(&file).unwrap();
        if bytes
            .windows(text.len())
            .any(|part| part == text.as_bytes())
        {
            found.push(file.file_name().unwrap().to_string_lossy().into_owned());
        }
    }
    found
}

fn removing(removed: &[(u64, &[u16])], blobs: &[Digest], seen: Position) -> Redaction {
    Redaction {
        append: batch(vec![with(&["why"])], Vec::new()),
        removed: removed
            .iter()
            .map(|(position, pieces)| PiecesOf {
                position: Position(*position),
                pieces: pieces.to_vec(),
            })
            .collect(),
        blobs: blobs.to_vec(),
        seen,
    }
}

/// A log with the secret in tables of several levels, in the
/// write-ahead log and in rows; the blob's digest.
fn filled(path: &Path) -> (RocksLog, Digest) {
    filled_with(path, &plain())
}

fn filled_with(path: &Path, options: &Options) -> (RocksLog, Digest) {
    let log = RocksLog::create(path, options).unwrap();
    block_on(log.append(batch(vec![with(&["kept", SECRET])], Vec::new()))).unwrap();
    let (naming, blob) = event_with_blob("run-2", &large(SECRET));
    let digest = blob.digest();
    block_on(log.append(batch(vec![naming], vec![blob]))).unwrap();
    let many = (0..12_000).map(|n| {
        let key = Bytes::from(format!("row {n:05} {SECRET}"));
        (key, Some(Bytes::from_static(SECRET.as_bytes())))
    });
    block_on(log.commit("titles", at(0), many.collect(), Position(2))).unwrap();
    log.compact();
    let mut request = batch(vec![with(&[SECRET])], Vec::new());
    request.request = Bytes::from_static(SECRET.as_bytes());
    block_on(log.append(request)).unwrap();
    let row = vec![(
        Bytes::from_static(b"new"),
        Some(Bytes::from_static(SECRET.as_bytes())),
    )];
    block_on(log.commit("titles", at(2), row, Position(3))).unwrap();
    append(&log, "run-1", 500);
    (log, digest)
}

#[test]
fn nothing_of_what_was_removed_is_in_any_file() {
    is_in_no_file(&plain(), &[".sst", ".log"]);
    is_in_no_file(&plain_with_blob_files(), &[".sst", ".blob", ".log"]);
}

/// Removes the secret from a log that has it in files of these sorts.
fn is_in_no_file(options: &Options, sorts: &[&str]) {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("log");
    let (log, digest) = filled_with(&path, options);
    let root = block_on(tree::root(&log, 503)).unwrap();
    let headers: Vec<Vec<u8>> = all(&log)
        .iter()
        .map(|record| record.header_bytes().to_vec())
        .collect();
    // The control: it is there, in files of every sort.
    let found = files_with(&path, SECRET);
    for sort in sorts {
        assert!(
            found.iter().any(|name| name.ends_with(sort)),
            "{sort}: {found:?}"
        );
    }
    let redaction = removing(&[(1, &[1]), (2, &[0]), (3, &[0])], &[digest], Position(503));
    block_on(log.redact(redaction)).unwrap();
    assert!(log.needs_purge().unwrap());
    assert!(
        !files_with(&path, SECRET).is_empty(),
        "old bytes lie in old files"
    );
    log.purge().unwrap();
    assert!(!log.needs_purge().unwrap());
    assert_eq!(files_of_open_log_with(&path, SECRET), [""; 0]);
    // What was not named is as it was, and proofs stay right.
    assert_eq!(all(&log)[0].content()[0], inline("kept"));
    let after = all(&log);
    for (record, header) in after.iter().zip(&headers) {
        assert_eq!(record.header_bytes(), header);
    }
    assert_eq!(block_on(tree::root(&log, 503)).unwrap(), root);
    let report = log.verify(&mut |_| {}).unwrap();
    assert!(report.is_sound(), "{:#?}", report.findings);
    close(log);
    // Opened once more, RocksDB's list of its files has no old keys either.
    close(RocksLog::open(&path, &plain()).unwrap());
    assert_eq!(files_with(&path, SECRET), [""; 0]);
    let digest: &[u8] = &digest.0;
    for file in fingerprint(&path).into_keys() {
        let bytes = std::fs::read(&file).unwrap();
        let there = bytes.windows(32).any(|part| part == digest);
        assert!(!there, "{} has the digest of the blob", file.display());
    }
}

#[test]
fn bytes_that_were_put_off_lie_until_they_are_asked_for() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("log");
    let (log, _) = filled(&path);
    let redacted = removing(&[(1, &[1])], &[], Position(503));
    let said = block_on(log.redact(redacted)).unwrap().last;
    log.put_off_purge(Position(1)).unwrap();
    log.put_off_purge(said).unwrap();
    close(log);
    let reader = RocksLog::open_reader(&path, &plain()).unwrap();
    assert!(reader.needs_purge().unwrap());
    assert!(matches!(reader.purge(), Err(PurgeError::ReadOnly)));
    close(reader);
    let log = RocksLog::open(&path, &plain()).unwrap();
    assert!(log.needs_purge().unwrap(), "opening leaves them");
    log.purge().unwrap();
    assert!(!log.needs_purge().unwrap());
    assert!(
        !files_with(&path, SECRET).is_empty(),
        "the others were not named"
    );
    close(log);
}

/// A log as a kill between two steps leaves it: the marker says which records are
/// left.
#[test]
fn an_interrupted_redaction_is_completed_on_the_next_opening() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("log");
    let (log, digest) = filled(&path);
    let whole = removing(&[(1, &[1]), (2, &[0]), (3, &[0])], &[digest], Position(503));
    close(log);
    let before = copy_of(&path);
    let log = RocksLog::open(&path, &plain()).unwrap();
    block_on(log.redact(whole)).unwrap();
    let expected: Vec<_> = all(&log).into_iter().take(503).collect();
    close(log);
    // The copy has the secret, and a marker with two records to go.
    let db = raw(before.path());
    let meta = db.cf_handle("meta").unwrap();
    let mut marker = vec![1, 1];
    marker.extend_from_slice(&503_u64.to_be_bytes());
    marker.extend_from_slice(&1_u32.to_be_bytes());
    marker.extend_from_slice(&digest.0);
    for (position, piece) in [(1_u64, 1_u16), (2, 0), (3, 0)] {
        marker.extend_from_slice(&position.to_be_bytes());
        marker.extend_from_slice(&1_u16.to_be_bytes());
        marker.extend_from_slice(&piece.to_be_bytes());
    }
    db.put_cf(meta, b"redaction", marker).unwrap();
    drop(db);
    let log = RocksLog::open(before.path(), &plain()).unwrap();
    assert!(!log.needs_purge().unwrap(), "the bytes were given up, too");
    let records = all(&log);
    for position in 0..3 {
        assert_eq!(records[position], expected[position]);
    }
    assert_eq!(block_on(log.stats()).unwrap().blobs, 0);
    let report = log.verify(&mut |_| {}).unwrap();
    assert!(report.is_sound(), "{:#?}", report.findings);
    close(log);
}

#[test]
fn a_marker_that_cannot_be_read_is_said() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("log");
    let (log, _) = filled(&path);
    close(log);
    let db = raw(&path);
    db.put_cf(db.cf_handle("meta").unwrap(), b"redaction", [7, 7])
        .unwrap();
    drop(db);
    let refused = RocksLog::open(&path, &plain()).unwrap_err().to_string();
    assert!(
        refused.contains("of a redaction cannot be read"),
        "{refused}"
    );
}

/// Appends and reads go on while files are rewritten.
#[test]
fn a_redaction_during_writes_and_reads_loses_nothing() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("log");
    let (log, digest) = filled(&path);
    let writers: Vec<_> = (0..3)
        .map(|n| {
            let log = log.clone();
            std::thread::spawn(move || {
                for _ in 0..60 {
                    append(&log, &format!("other-{n}"), 3);
                }
            })
        })
        .collect();
    let reader = RocksLog::open_reader(&path, &plain()).unwrap();
    for (position, piece, blobs) in [(1, 1, vec![]), (2, 0, vec![digest]), (3, 0, vec![])] {
        let seen = log.watermark();
        block_on(log.redact(removing(&[(position, &[piece])], &blobs, seen))).unwrap();
        let removed = |log: &RocksLog| {
            let page =
                block_on(log.read(annals_event_log::Query::all(Position(position)).limit(1)));
            let piece = page.unwrap().records[0].content()[usize::from(piece)].clone();
            matches!(piece, Content::Removed { .. })
        };
        assert!(removed(&log));
        assert!(
            removed(&reader),
            "a reader sees it when it sees what says so"
        );
    }
    for writer in writers {
        writer.join().unwrap();
    }
    close(reader);
    log.purge().unwrap();
    assert_eq!(files_of_open_log_with(&path, SECRET), [""; 0]);
    assert_eq!(log.watermark(), Position(503 + 3 + 3 * 60 * 3));
    let report = log.verify(&mut |_| {}).unwrap();
    assert!(report.is_sound(), "{:#?}", report.findings);
    close(log);
}
