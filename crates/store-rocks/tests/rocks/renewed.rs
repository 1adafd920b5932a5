//! A reader that stays open shows nothing that was removed since, although its RocksDB had the content in memory, from a
//! write-ahead log.

use std::path::Path;

use annals_event_log::{
    Blobs, Content, Digest, EventLog, PiecesOf, Position, Query, ReadModels, Redaction,
};
use annals_store_rocks::{Options, RocksLog};
use bytes::Bytes;
use futures::executor::block_on;

use crate::support::{all, append, at, batch, close, event, event_with_blob, options};

const SECRET: &str = "it-was-the-butler-in-the-library";

fn inline(text: &str) -> Content {
    Content::Inline {
        salt: [5; 16],
        bytes: Bytes::copy_from_slice(text.as_bytes()),
    }
}

/// Appends an event with the secret and one with a blob that has it; the blob's digest.
fn tell(log: &RocksLog) -> Digest {
    let mut told = event("run-1");
    told.content = vec![inline("kept"), inline(SECRET)];
    let (naming, blob) = event_with_blob("run-2", SECRET.repeat(300).as_bytes());
    let digest = blob.digest();
    block_on(log.append(batch(vec![told, naming], vec![blob]))).unwrap();
    digest
}

/// Removes what was told at two positions, the second of which has a blob.
fn remove(log: &RocksLog, first: u64, digest: Digest) {
    let mut why = event("run-1");
    why.content = vec![inline("why")];
    let of = |position, piece| PiecesOf {
        position: Position(position),
        pieces: vec![piece],
    };
    let redaction = Redaction {
        append: batch(vec![why], Vec::new()),
        removed: vec![of(first, 1), of(first + 1, 0)],
        blobs: vec![digest],
        seen: log.watermark(),
    };
    block_on(log.redact(redaction)).unwrap();
}

fn shows(log: &RocksLog, digest: Digest) -> bool {
    let has = |bytes: &[u8]| {
        bytes
            .windows(SECRET.len())
            .any(|part| part == SECRET.as_bytes())
    };
    let in_records = all(log).iter().any(|record| has(record.as_bytes()));
    let in_stream = Query::stream("run-1".parse().unwrap(), annals_event_log::Version(1));
    let in_stream = block_on(log.read(in_stream)).unwrap();
    let in_stream = in_stream.records.iter().any(|it| has(it.as_bytes()));
    let blob = block_on(log.blob(digest)).unwrap();
    in_records || in_stream || blob.is_some_and(|blob| has(&blob))
}

/// A log whose write-ahead log has the secret, and a reader that took it from there.
fn told(path: &Path) -> (RocksLog, Digest) {
    let log = RocksLog::create(path, &options()).unwrap();
    let digest = tell(&log);
    close(log);
    let reader = RocksLog::open_reader(path, &options()).unwrap();
    assert!(shows(&reader, digest), "it is there");
    (reader, digest)
}

#[test]
fn a_reader_shows_nothing_that_was_removed_since_it_was_opened() {
    for is_purged in [true, false] {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("log");
        let (reader, digest) = told(&path);
        let writer = RocksLog::open(&path, &options()).unwrap();
        remove(&writer, 1, digest);
        if is_purged {
            writer.purge().unwrap();
        }
        assert!(!shows(&reader, digest), "beside the writer, {is_purged}");
        close(writer);
        assert!(!shows(&reader, digest), "behind the writer, {is_purged}");
        for n in 0..3 {
            let writer = RocksLog::open(&path, &options()).unwrap();
            append(&writer, "run-3", 1);
            close(writer);
            assert!(!shows(&reader, digest), "{n} writers later, {is_purged}");
        }
        assert_eq!(reader.watermark(), Position(6));
    }
}

/// As most readers do: the process that removes content is gone before they look again.
#[test]
fn a_reader_that_was_idle_shows_nothing_that_was_removed() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("log");
    let (reader, digest) = told(&path);
    let writer = RocksLog::open(&path, &options()).unwrap();
    remove(&writer, 1, digest);
    writer.purge().unwrap();
    close(writer);
    assert!(!shows(&reader, digest));
}

/// The second removal's epoch is hidden by the first one's, which the reader has in memory.
#[test]
fn each_of_several_removals_is_seen() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("log");
    let log = RocksLog::create(&path, &options()).unwrap();
    let first = tell(&log);
    remove(&log, 1, first);
    let second = tell(&log);
    close(log);
    let reader = RocksLog::open_reader(&path, &options()).unwrap();
    assert!(shows(&reader, second));
    for _ in 0..2 {
        let writer = RocksLog::open(&path, &options()).unwrap();
        let last = writer.watermark().0;
        remove(&writer, last - 1, second);
        writer.purge().unwrap();
        let checkpoint = block_on(writer.checkpoint("model")).unwrap();
        close(writer);
        assert!(!shows(&reader, second));
        assert_eq!(block_on(reader.checkpoint("model")).unwrap(), checkpoint);
        let writer = RocksLog::open(&path, &options()).unwrap();
        assert_eq!(tell(&writer), second);
        close(writer);
        assert!(shows(&reader, second), "it was told again");
    }
}

/// What a large redaction does last moves no position.
#[test]
fn the_last_step_of_a_large_removal_is_seen_by_a_reader_that_had_seen_the_first() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("log");
    let (reader, digest) = told(&path);
    let small = Options::default().with_redaction_step_bytes(1);
    let writer = RocksLog::open(&path, &small).unwrap();
    append(&writer, "run-3", 500);
    tell(&writer);
    let mut why = event("run-1");
    why.content = vec![inline("why")];
    let of = |position, piece| PiecesOf {
        position: Position(position),
        pieces: vec![piece],
    };
    let redaction = Redaction {
        append: batch(vec![why], Vec::new()),
        removed: vec![of(1, 1), of(2, 0), of(503, 1), of(504, 0)],
        blobs: vec![digest],
        seen: writer.watermark(),
    };
    std::thread::scope(|scope| {
        let done = scope.spawn(|| block_on(writer.redact(redaction)));
        while !done.is_finished() {
            // It may see any step.
            shows(&reader, digest);
        }
    });
    assert!(!shows(&reader, digest));
    close(writer);
}

/// The same cause without a removal: what a writer wrote to tables as it closed is not hidden by what the
/// reader has in memory.
#[test]
fn a_reader_takes_what_came_by_tables_alone() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("log");
    let log = RocksLog::create(&path, &options()).unwrap();
    append(&log, "run-1", 1);
    let row = |text: &'static str| {
        let key = Bytes::from_static(b"key");
        vec![(key, Some(Bytes::from_static(text.as_bytes())))]
    };
    block_on(log.commit("titles", at(0), row("old"), Position(1))).unwrap();
    close(log);
    let reader = RocksLog::open_reader(&path, &options()).unwrap();
    assert_eq!(block_on(reader.stats()).unwrap().position, Position(1));
    let writer = RocksLog::open(&path, &options()).unwrap();
    append(&writer, "run-1", 1);
    block_on(writer.commit("titles", at(1), row("new"), Position(2))).unwrap();
    writer.compact();
    let stats = block_on(writer.stats()).unwrap();
    close(writer);
    assert_eq!(reader.watermark(), Position(2));
    let seen = block_on(reader.stats()).unwrap();
    assert_eq!(
        (seen.position, seen.batches),
        (stats.position, stats.batches)
    );
    let checkpoint = block_on(reader.checkpoint("titles")).unwrap();
    assert_eq!(checkpoint, at(2));
    let found = block_on(reader.get("titles", b"key")).unwrap();
    assert_eq!(found.as_deref(), Some(b"new".as_slice()));
}
