//! Fail-stop, with a disk that fails on command: nothing is acknowledged
//! on a failed write or sync, and nothing is accepted behind it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use annals_event_log::Classified;
use annals_event_log::{
    Append, AppendError, Appended, Blob, Blobs, CommitError, Content, EventLog, Expectation,
    Expected, ModelCheckpoint, PiecesOf, Position, Query, ReadModels, Redaction, Version,
};
use bytes::Bytes;
use futures::FutureExt;
use futures::executor::block_on;
use rocksdb::{WriteBatch, WriteOptions};
use tempfile::TempDir;
use uuid::Uuid;

use crate::db::Db;
use crate::fixtures::append;
use crate::{Options, PurgeError, RocksLog, StoreFailure, open};

/// What the disk does with the next group.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Order {
    Write,
    /// As a disk without room does.
    Refuse,
    /// As a sync that fails does: the bytes may be there.
    WriteAndFail,
}

/// A disk that waits for an order before each group.
fn obedient(db: Arc<Db>, orders: Receiver<Order>) -> crate::writer::Disk {
    Box::new(move |write: WriteBatch| {
        let order = orders.recv().expect("an order for each group");
        if order != Order::Refuse {
            let mut synced = WriteOptions::default();
            synced.set_sync(true);
            db.rocks
                .write_opt(write, &synced)
                .expect("the real disk works");
        }
        let path = Arc::from(db.path.as_path());
        match order {
            Order::Write => Ok(()),
            Order::Refuse => Err(StoreFailure::DiskFull {
                path,
                detail: "No space left on device".into(),
            }),
            Order::WriteAndFail => Err(StoreFailure::Rocks {
                path,
                detail: "IO error: sync failed".into(),
            }),
        }
    })
}

/// A new log on such a disk.
pub(crate) fn log_on_obedient_disk() -> (TempDir, PathBuf, RocksLog, Sender<Order>) {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("log");
    block_on(
        RocksLog::create(&path, &Options::default())
            .unwrap()
            .close(),
    );
    let (orders, received) = channel();
    let options = Options::default();
    let opened = open::open_on(&path, &options, |db| obedient(db, received)).unwrap();
    let log = RocksLog::start(&path, &options, opened).unwrap();
    (home, path, log, orders)
}

fn at(position: u64) -> Appended {
    Appended::new(Position(position), Position(position))
}

fn positions(log: &RocksLog) -> Vec<u64> {
    let page = block_on(log.read(Query::all(Position(1)))).unwrap();
    page.records
        .iter()
        .map(|record| record.position().0)
        .collect()
}

/// Fails a group of three appends, one of which was to be refused, and looks at
/// everything that comes behind it.
fn fail_with(order: Order) -> (TempDir, PathBuf, Vec<Append>, String) {
    let (home, path, log, orders) = log_on_obedient_disk();
    orders.send(Order::Write).unwrap();
    assert_eq!(block_on(log.append(append("run-0"))).unwrap(), at(1));

    // The first group holds the writer up while the second one gathers.
    let mut held = log.append(append("run-0"));
    assert!((&mut held).now_or_never().is_none());
    while log.queue_len() > 0 {
        std::thread::yield_now();
    }
    let refused = Append {
        expectations: vec![Expectation {
            stream: "run-1".parse().unwrap(),
            expected: Expected::NoStream,
        }],
        ..append("run-1")
    };
    let appends = vec![append("run-1"), refused, append("run-2")];
    let mut gathered: Vec<_> = appends
        .iter()
        .map(|append| log.append(append.clone()))
        .collect();
    for future in &mut gathered {
        assert!(future.now_or_never().is_none());
    }
    orders.send(Order::Write).unwrap();
    assert_eq!(block_on(held).unwrap(), at(2));
    orders.send(order).unwrap();
    let mut message = String::new();
    for future in gathered {
        let error = block_on(future).expect_err("nothing of a failed group is acknowledged");
        assert!(
            matches!(error, AppendError::Unavailable { .. }),
            "{error:?}"
        );
        message = error.to_string();
    }

    assert_eq!(log.watermark(), Position(2), "nor published");
    let later = block_on(log.append(append("run-3"))).expect_err("nothing is accepted behind it");
    assert!(
        matches!(later, AppendError::Unavailable { .. }) && later.is_retryable(),
        "{later:?}"
    );
    let commit = block_on(log.commit("m", ModelCheckpoint::default(), Vec::new(), Position(1)));
    assert!(
        matches!(commit, Err(CommitError::Unavailable { .. })),
        "{commit:?}"
    );
    assert_eq!(
        positions(&log),
        [1, 2],
        "what was acknowledged can still be read"
    );
    block_on(log.close());
    (home, path, appends, message)
}

fn reopen(path: &Path) -> RocksLog {
    RocksLog::open(path, &Options::default()).expect("it opens again")
}

#[test]
fn a_full_disk_stops_the_log_and_a_repeat_after_reopening_succeeds() {
    let (_home, path, appends, message) = fail_with(Order::Refuse);
    assert!(
        message.contains("the disk is full") && message.contains("reopen"),
        "{message}"
    );
    let log = reopen(&path);
    assert_eq!(positions(&log), [1, 2]);
    for (n, append) in (3..).zip([&appends[0], &appends[2]]) {
        assert_eq!(block_on(log.append(append.clone())).unwrap(), at(n));
    }
    assert!(log.verify(&mut |_| {}).unwrap().is_sound());
}

#[test]
fn after_a_failed_sync_a_repeat_finds_out_what_happened() {
    let (_home, path, appends, _) = fail_with(Order::WriteAndFail);
    let log = reopen(&path);
    // The refused one is not there; the two others are, and stay single.
    assert_eq!(positions(&log), [1, 2, 3, 4]);
    for (n, append) in (3..).zip([&appends[0], &appends[2]]) {
        let answer = block_on(log.append(append.clone())).unwrap();
        assert_eq!(answer, at(n).again());
    }
    let stream = "run-1".parse().unwrap();
    assert_eq!(block_on(log.head(&stream)).unwrap(), Version(1));
    let refused = block_on(log.append(appends[1].clone()));
    assert!(
        matches!(refused, Err(AppendError::Conflict { .. })),
        "{refused:?}"
    );
    assert!(log.verify(&mut |_| {}).unwrap().is_sound());
}

#[test]
fn what_was_accepted_is_written_before_the_log_closes() {
    let (_home, path, log, orders) = log_on_obedient_disk();
    let mut pending = log.append(append("run-1"));
    assert!((&mut pending).now_or_never().is_none());
    let mut closing = Box::pin(log.close());
    assert!(
        (&mut closing).now_or_never().is_none(),
        "it waits for the writer"
    );
    orders.send(Order::Write).unwrap();
    block_on(closing);
    assert_eq!(block_on(pending).unwrap(), at(1));
    let late = block_on(log.append(append("run-1")));
    assert!(matches!(late, Err(AppendError::Closed)), "{late:?}");
    assert_eq!(positions(&reopen(&path)), [1]);
}

/// The writer's thread is lost to a panic with a group in its hands and others in the queue.
#[test]
fn a_writer_that_is_lost_is_named_and_nothing_is_accepted_behind_it() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("log");
    let options = Options::default();
    block_on(RocksLog::create(&path, &options).unwrap().close());
    let opened = open::open_on(&path, &options, |_| {
        Box::new(|_| std::panic::resume_unwind(Box::new("a bug")))
    })
    .unwrap();
    let log = RocksLog::start(&path, &options, opened).unwrap();
    let appends = (0..20).map(|_| log.append(append("run-1")));
    for answer in block_on(futures::future::join_all(appends)) {
        let error = answer.expect_err("nothing was written");
        assert!(error.is_retryable(), "{error}");
        assert!(error.to_string().contains("reopen"), "{error}");
    }
    let later = block_on(log.append(append("run-1"))).unwrap_err();
    assert!(
        matches!(later, AppendError::Unavailable { .. }),
        "{later:?}"
    );
    let commit = block_on(log.commit("m", ModelCheckpoint::default(), Vec::new(), Position(0)));
    assert!(
        matches!(commit, Err(CommitError::Unavailable { .. })),
        "{commit:?}"
    );
    block_on(log.close());
    let log = reopen(&path);
    assert!(positions(&log).is_empty());
    assert_eq!(block_on(log.append(append("run-1"))).unwrap(), at(1));
}

/// A redaction of more than one write, which fails in the middle: it is not answered, and all
/// of it is done by reopening.
#[test]
fn a_redaction_that_fails_between_two_writes_is_completed_by_reopening() {
    const RECORDS: u64 = 200;
    let (_home, path, log, orders) = log_on_obedient_disk();
    let blob = Blob::new(vec![7; 5_000]);
    let mut large = append("run-1");
    large.events[0].structure = Bytes::from(vec![7; 60_000]);
    large.events[0].content = vec![Content::Blob {
        salt: [1; 16],
        digest: blob.digest(),
        size: 5_000,
    }];
    large.blobs = vec![blob.clone()];
    for _ in 0..RECORDS {
        let batch = Uuid::new_v4();
        orders.send(Order::Write).unwrap();
        block_on(log.append(Append {
            batch,
            ..large.clone()
        }))
        .unwrap();
    }
    let redaction = Redaction {
        append: append("run-1"),
        removed: (1..=RECORDS)
            .map(|position| PiecesOf {
                position: Position(position),
                pieces: vec![0],
            })
            .collect(),
        blobs: vec![blob.digest()],
        seen: Position(RECORDS),
    };
    orders.send(Order::Write).unwrap();
    orders.send(Order::Refuse).unwrap();
    let failed = block_on(log.redact(redaction.clone())).unwrap_err();
    assert!(failed.is_retryable(), "{failed}");
    assert_eq!(
        log.watermark(),
        Position(RECORDS + 1),
        "what says it is there"
    );
    assert!(
        block_on(log.blob(blob.digest())).unwrap().is_some(),
        "records still refer to it"
    );
    assert!(matches!(log.purge(), Err(PurgeError::Store(_))));
    let late = block_on(log.append(append("run-3"))).unwrap_err();
    assert!(matches!(late, AppendError::Unavailable { .. }), "{late}");
    drop(log);
    let log = reopen(&path);
    assert_eq!(log.watermark(), Position(RECORDS + 1));
    assert!(!log.needs_purge().unwrap());
    assert_eq!(block_on(log.blob(blob.digest())).unwrap(), None);
    let removed = |record: &annals_event_log::Record| {
        matches!(record.content().first(), Some(Content::Removed { .. }))
    };
    let mut from = Some(1);
    while let Some(position) = from {
        let page = block_on(log.read(Query::all(Position(position)))).unwrap();
        let told = |record: &annals_event_log::Record| record.position().0 > RECORDS;
        assert!(
            page.records
                .iter()
                .all(|record| told(record) || removed(record))
        );
        from = page.next;
    }
    assert!(log.verify(&mut |_| {}).unwrap().is_sound());
    let again = block_on(log.redact(redaction)).unwrap();
    assert_eq!(again, at(RECORDS + 1).again());
}
