//! A reader next to a live writer: it sees what was acknowledged, and nothing more.

use std::fs;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use annals_event_log::{
    AppendError, BatchStatus, CommitError, EventLog, Position, Query, ReadModels, Version,
};
use annals_store_rocks::{OpenError, RocksLog};
use futures::executor::block_on;

use crate::support::{
    all, append, at, batch, close, event, event_with_blob, fingerprint, new_log, options, tables,
};

#[test]
fn a_reader_sees_everything_acknowledged_and_nothing_above_the_watermark() {
    let (_home, path, log) = new_log();
    append(&log, "run-0", 1);
    let reader = RocksLog::open_reader(&path, &options()).expect("a reader");
    assert_eq!(reader.log_id(), log.log_id());
    let done = AtomicBool::new(false);
    let answered = AtomicU64::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            for n in 1..=300 {
                append(&log, &format!("run-{}", n % 7), n % 20 + 1);
                answered.store(log.watermark().0, Ordering::Release);
                // Large values make RocksDB switch its files under the reader.
                if n % 50 == 0 {
                    log.compact();
                }
            }
            done.store(true, Ordering::Release);
        });
        loop {
            let finished = done.load(Ordering::Acquire);
            let acknowledged = Position(answered.load(Ordering::Acquire));
            let before = reader.watermark();
            assert!(
                before >= acknowledged,
                "{acknowledged} was acknowledged, {before} is seen"
            );
            let from = Position(before.0.saturating_sub(50).max(1));
            let page = block_on(reader.read(Query::all(from))).expect("a page");
            let after = reader.watermark();
            let positions: Vec<u64> = page.records.iter().map(|r| r.position().0).collect();
            assert!(
                positions
                    .iter()
                    .copied()
                    .eq(from.0..from.0 + positions.len() as u64)
            );
            let last = positions.last().copied().unwrap_or_default();
            assert!(
                (before.0..=after.0).contains(&last),
                "{before} <= {last} <= {after}"
            );
            if finished {
                break;
            }
        }
    });
    let bytes = |log: &RocksLog| {
        all(log)
            .iter()
            .map(|r| r.as_bytes().clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(bytes(&reader), bytes(&log));
    for n in 0..7 {
        let stream = format!("run-{n}").parse().unwrap();
        let (ours, theirs) = (block_on(reader.head(&stream)), block_on(log.head(&stream)));
        assert_eq!(ours.unwrap(), theirs.unwrap());
    }
}

#[test]
fn what_lies_above_the_file_watermark_is_served_in_no_way() {
    let (_home, path, log) = new_log();
    append(&log, "run-1", 5);
    let (with_blob, blob) = event_with_blob("run-2", &[7; 10_000]);
    let later = batch(vec![event("run-1"), with_blob, event("run-3")], vec![blob]);
    let (id, request) = (later.batch, later.request.clone());
    block_on(log.append(later)).unwrap();
    // As if the writer had been stopped between its write and its publication.
    let mut content = 5_u64.to_be_bytes().to_vec();
    content.extend_from_slice(&annals_event_log::Digest::of(&content).0[..8]);
    fs::write(path.join("WATERMARK"), content).unwrap();
    let reader = RocksLog::open_reader(&path, &options()).expect("a reader");
    assert_eq!(reader.watermark(), Position(5));
    assert_eq!(all(&reader).len(), 5);
    let read = |query: Query| block_on(reader.read(query)).unwrap().records.len();
    let stream = |name: &str| name.parse::<annals_event_log::StreamName>().unwrap();
    assert_eq!(read(Query::all(Position(u64::MAX)).backward()), 5);
    assert_eq!(read(Query::stream(stream("run-1"), Version(1))), 5);
    assert_eq!(
        read(Query::stream(stream("run-1"), Version(u64::MAX)).backward()),
        5
    );
    assert_eq!(read(Query::stream(stream("run-2"), Version(1))), 0);
    assert_eq!(read(Query::event_type("test.happened", Position(1))), 5);
    assert_eq!(
        read(Query::event_type("test.happened", Position(u64::MAX)).backward()),
        5
    );
    assert_eq!(block_on(reader.head(&stream("run-1"))).unwrap(), Version(5));
    assert_eq!(
        block_on(reader.head(&stream("run-2"))).unwrap(),
        Version::NONE
    );
    let names = block_on(reader.streams("run-", None, 10)).unwrap();
    assert_eq!(
        names
            .iter()
            .map(|head| head.name.as_str())
            .collect::<Vec<_>>(),
        ["run-1"]
    );
    assert_eq!(
        block_on(reader.batch(id, &request)).unwrap(),
        BatchStatus::Unknown
    );

    // The writer's next group publishes all of it.
    append(&log, "run-1", 1);
    assert_eq!(reader.watermark(), Position(9));
    assert!(matches!(
        block_on(reader.batch(id, &request)).unwrap(),
        BatchStatus::Known(_)
    ));
}

#[test]
fn a_waiting_reader_is_woken_and_follows_a_writer_that_is_reopened() {
    let (_home, path, log) = new_log();
    let reader = RocksLog::open_reader(&path, &options()).expect("a reader");
    for round in 0..3 {
        let seen = reader.watermark();
        assert_eq!(seen, Position(round));
        let waiting = {
            let reader = reader.clone();
            thread::spawn(move || block_on(reader.wait_above(seen)).expect("it is woken"))
        };
        let log = if round == 0 {
            log.clone()
        } else {
            RocksLog::open(&path, &options()).unwrap()
        };
        append(&log, "run-1", 1);
        assert_eq!(waiting.join().unwrap(), Position(round + 1));
        close(log);
    }
    assert_eq!(all(&reader).len(), 3);
    let waiting = reader.clone();
    let waiting = thread::spawn(move || block_on(waiting.wait_above(Position(3))));
    close(reader);
    assert!(waiting.join().unwrap().is_err(), "closing ends the wait");
}

#[test]
fn a_reader_writes_nothing() {
    let (_home, path, log) = new_log();
    append(&log, "run-1", 2);
    close(log);
    let before = fingerprint(&path);
    let reader = RocksLog::open_reader(&path, &options()).expect("a reader");
    let refused = block_on(reader.append(batch(vec![event("run-1")], Vec::new())));
    assert!(matches!(refused, Err(AppendError::ReadOnly)), "{refused:?}");
    let refused = block_on(reader.append_records(all(&reader), Vec::new()));
    assert!(matches!(refused, Err(AppendError::ReadOnly)), "{refused:?}");
    let refused = block_on(reader.commit("m", at(0), Vec::new(), Position(1)));
    assert!(matches!(refused, Err(CommitError::ReadOnly)), "{refused:?}");
    let refused = block_on(reader.drop_model("m"));
    assert!(matches!(refused, Err(CommitError::ReadOnly)), "{refused:?}");
    reader.compact();
    close(reader);
    assert_eq!(fingerprint(&path), before);
}

#[test]
fn without_a_watermark_there_is_nothing_to_follow() {
    let (_home, path, log) = new_log();
    append(&log, "run-1", 2);
    close(log);
    for content in [None, Some([9_u8; 16])] {
        match content {
            None => fs::remove_file(path.join("WATERMARK")).unwrap(),
            Some(bytes) => fs::write(path.join("WATERMARK"), bytes).unwrap(),
        }
        let error = RocksLog::open_reader(&path, &options()).expect_err("no watermark");
        assert!(matches!(error, OpenError::Corrupt { .. }), "{error:?}");
        assert!(error.to_string().contains("once for writing"), "{error}");
    }
    close(RocksLog::open(&path, &options()).expect("the writer creates it again"));
    assert_eq!(
        all(&RocksLog::open_reader(&path, &options()).unwrap()).len(),
        2
    );
}

/// A writer that opens replaces RocksDB's manifest and moves the log's first rows
/// from the write-ahead log to tables. A reader that comes just then must not
/// take that for damage.
#[test]
fn readers_open_next_to_writers_that_open_and_close() {
    let (_home, path, log) = new_log();
    close(log);
    let writing = AtomicBool::new(true);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while writing.load(Ordering::Relaxed) {
                    let reader = RocksLog::open_reader(&path, &options()).expect("a reader");
                    let stats = block_on(reader.stats()).expect("stats");
                    assert_eq!(stats.batches, stats.position.0, "of one moment");
                    close(reader);
                }
            });
        }
        for n in 0..140 {
            let log = RocksLog::open(&path, &options()).expect("the writer");
            append(&log, &format!("run-{n}"), 1);
            close(log);
        }
        writing.store(false, Ordering::Relaxed);
    });
    let tables = tables(&path).len();
    assert!(tables < 40, "not one for each writer: {tables}");
}

/// RocksDB keeps an error that it met in the manifest and answers each later
/// attempt with it. So it also does when a table that it is about to open is
/// deleted at that moment, which no test can time.
#[test]
fn a_reader_follows_again_after_rocksdb_gave_up_following() {
    let (_home, path, log) = new_log();
    append(&log, "run-0", 1);
    let reader = RocksLog::open_reader(&path, &options()).expect("a reader");
    append(&log, "run-0", 1);
    close(log);
    let current = fs::read_to_string(path.join("CURRENT")).expect("CURRENT");
    let manifest = path.join(current.trim());
    let whole = fs::read(&manifest).expect("the manifest");
    // A record of the manifest that is complete and whose checksum is wrong.
    let mut broken = whole.clone();
    broken.extend([0xbd, 0xad, 0xbd, 0xad, 4, 0, 1, 1, 2, 3, 4]);
    fs::write(&manifest, &broken).expect("written");
    let refused = block_on(reader.read(Query::all(Position(1))));
    assert!(refused.is_err(), "{refused:?}");
    fs::write(&manifest, &whole).expect("written");
    // An attempt that had begun before may still find it broken.
    let deadline = Instant::now() + Duration::from_secs(120);
    while block_on(reader.read(Query::all(Position(1)))).is_err() {
        assert!(Instant::now() < deadline, "it does not follow again");
    }
    assert_eq!(all(&reader).len(), 2);
    let log = RocksLog::open(&path, &options()).expect("the log");
    append(&log, "run-0", 1);
    assert_eq!(all(&reader), all(&log));
    drop(log);
    close(reader);
}
