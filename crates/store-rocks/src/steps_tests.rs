//! A large redaction under way, on a disk that does one write at a time.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::Path;
use std::sync::mpsc::Sender;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use annals_event_log::Classified;
use annals_event_log::{
    Append, AppendError, Appended, Blob, Blobs, CommitError, Content, EventLog, PiecesOf, Position,
    Query, ReadModels, Record, RedactError, Redaction,
};
use bytes::Bytes;
use futures::FutureExt;
use futures::executor::block_on;
use tempfile::TempDir;
use uuid::Uuid;

use crate::fail_stop_tests::{Order, log_on_obedient_disk};
use crate::fixtures::append;
use crate::{Options, RocksLog};

/// Of 60 KB each: many steps.
const RECORDS: u64 = 400;
const PATIENCE: Duration = Duration::from_secs(120);

fn naming(blob: &Blob, structure: usize) -> Append {
    let mut naming = append("run-1");
    naming.events[0].structure = Bytes::from(vec![7; structure]);
    naming.events[0].content = vec![
        Content::Inline {
            salt: [2; 16],
            bytes: Bytes::from_static(b"kept"),
        },
        Content::Blob {
            salt: [1; 16],
            digest: blob.digest(),
            size: blob.bytes().len() as u64,
        },
    ];
    naming
}

/// A redaction that has said what it removes, and has most of it before it.
struct UnderWay {
    _home: TempDir,
    path: std::path::PathBuf,
    log: RocksLog,
    orders: Sender<Order>,
    blob: Blob,
    other: Blob,
    redaction: Redaction,
    redacting: JoinHandle<Result<Appended, RedactError>>,
}

fn all(log: &RocksLog) -> Vec<Record> {
    let (mut records, mut from) = (Vec::new(), Some(1));
    while let Some(position) = from {
        let page = block_on(log.read(Query::all(Position(position)))).unwrap();
        records.extend(page.records);
        from = page.next;
    }
    records
}

/// Which records have lost their second piece.
fn removed(log: &RocksLog) -> u64 {
    let gone = |record: &&Record| matches!(record.content().get(1), Some(Content::Removed { .. }));
    all(log).iter().filter(gone).count() as u64
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "{what}");
        std::thread::yield_now();
    }
}

impl UnderWay {
    fn begin() -> UnderWay {
        let (home, path, log, orders) = log_on_obedient_disk();
        let [blob, other] = [7, 8].map(|byte| Blob::new(vec![byte; 5_000]));
        for _ in 0..RECORDS {
            orders.send(Order::Write).unwrap();
            let append = Append {
                blobs: vec![blob.clone(), other.clone()],
                batch: Uuid::new_v4(),
                ..naming(&blob, 60_000)
            };
            block_on(log.append(append)).unwrap();
        }
        let all_of_them = (1..=RECORDS).map(|position| PiecesOf {
            position: Position(position),
            pieces: vec![1],
        });
        let redaction = Redaction {
            append: append("run-1"),
            removed: all_of_them.collect(),
            blobs: vec![blob.digest()],
            seen: Position(RECORDS),
        };
        let redacting = {
            let (log, redaction) = (log.clone(), redaction.clone());
            std::thread::spawn(move || block_on(log.redact(redaction)))
        };
        orders.send(Order::Write).unwrap();
        wait_until("what says it is published", || {
            log.watermark() == Position(RECORDS + 1)
        });
        let under_way = UnderWay {
            _home: home,
            path,
            log,
            orders,
            blob,
            other,
            redaction,
            redacting,
        };
        assert!(!under_way.redacting.is_finished());
        assert!((1..RECORDS).contains(&removed(&under_way.log)));
        under_way
    }

    /// Lets the disk write until the answer is there.
    fn answered<T>(&self, mut future: impl Future<Output = T> + Unpin) -> T {
        let begun = Instant::now();
        loop {
            if let Some(answer) = (&mut future).now_or_never() {
                return answer;
            }
            assert!(begun.elapsed() < PATIENCE, "no answer");
            self.orders.send(Order::Write).unwrap();
            // One write after the other, so that not all of it is done at once.
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Lets the disk write all that is left.
    fn finish(self) -> (RocksLog, TempDir) {
        for _ in 0..10 * RECORDS {
            let _ = self.orders.send(Order::Write);
        }
        let said = Position(RECORDS + 1);
        let appended = self.redacting.join().unwrap().unwrap();
        assert_eq!(appended, Appended::new(said, said));
        (self.log, self._home)
    }
}

fn assert_done(log: &RocksLog) {
    assert_eq!(removed(log), RECORDS);
    for record in all(log).iter().take(RECORDS as usize) {
        assert!(matches!(record.content()[0], Content::Inline { .. }));
        assert_eq!(record.verify(), Ok(()));
    }
    let report = log.verify(&mut |_| {}).unwrap();
    assert!(report.is_sound(), "{:#?}", report.findings);
}

fn reopen(path: &Path) -> RocksLog {
    RocksLog::open(path, &Options::default()).expect("it opens again")
}

#[test]
fn appends_go_on_between_the_steps() {
    let under_way = UnderWay::begin();
    let log = &under_way.log;
    for _ in 0..3 {
        under_way.answered(log.append(append("other-1"))).unwrap();
    }
    assert!(!under_way.redacting.is_finished(), "it has steps left");
    // For appends the blob is gone from the beginning; others are not concerned.
    let unknown = under_way.answered(log.append(naming(&under_way.blob, 10)));
    assert!(
        matches!(unknown, Err(AppendError::UnknownBlob { .. })),
        "{unknown:?}"
    );
    under_way
        .answered(log.append(naming(&under_way.other, 10)))
        .unwrap();
    // What is there meanwhile agrees with itself, and records have what they name.
    let report = log.verify(&mut |_| {}).unwrap();
    assert!(report.is_sound(), "{:#?}", report.findings);
    assert!(
        block_on(log.blob(under_way.blob.digest()))
            .unwrap()
            .is_some()
    );
    // Rows may be folded meanwhile; they go with the last step, and no more come.
    let before = block_on(log.checkpoint("model")).unwrap();
    block_on(log.commit("model", before, Vec::new(), Position(3))).unwrap();
    assert!(!under_way.redacting.is_finished(), "it has steps left");
    let digest = under_way.blob.digest();
    let (log, _home) = under_way.finish();
    assert_done(&log);
    assert_eq!(block_on(log.blob(digest)).unwrap(), None);
    let refused = block_on(log.commit("model", before, Vec::new(), Position(3)));
    assert!(
        matches!(refused, Err(CommitError::Epoch { .. })),
        "{refused:?}"
    );
    assert_eq!(
        block_on(log.checkpoint("model")).unwrap().position,
        Position(0)
    );
}

#[test]
fn a_blob_that_comes_along_again_stays() {
    for is_interrupted in [false, true] {
        let under_way = UnderWay::begin();
        let append = Append {
            blobs: vec![under_way.blob.clone()],
            ..naming(&under_way.blob, 10)
        };
        under_way.answered(under_way.log.append(append)).unwrap();
        // By now it is there, for those who only refer to it, too.
        let later = naming(&under_way.blob, 10);
        under_way.answered(under_way.log.append(later)).unwrap();
        assert!(!under_way.redacting.is_finished(), "it has steps left");
        let digest = under_way.blob.digest();
        let (log, _home) = match is_interrupted {
            false => under_way.finish(),
            true => interrupt(under_way),
        };
        assert_done(&log);
        assert!(block_on(log.blob(digest)).unwrap().is_some());
    }
}

/// The disk fails in the middle, and the log is opened again.
fn interrupt(under_way: UnderWay) -> (RocksLog, TempDir) {
    for _ in 0..3 {
        under_way.orders.send(Order::Write).unwrap();
    }
    under_way.orders.send(Order::Refuse).unwrap();
    let failed = under_way.redacting.join().unwrap().unwrap_err();
    assert!(failed.is_retryable(), "{failed}");
    let some = removed(&under_way.log);
    assert!((1..RECORDS).contains(&some), "{some}");
    block_on(under_way.log.close());
    drop(under_way.log);
    (reopen(&under_way.path), under_way._home)
}

#[test]
fn what_is_interrupted_is_completed_by_opening() {
    let under_way = UnderWay::begin();
    let (digest, redaction) = (under_way.blob.digest(), under_way.redaction.clone());
    let (log, _home) = interrupt(under_way);
    assert!(!log.needs_purge().unwrap());
    assert_done(&log);
    assert_eq!(block_on(log.blob(digest)).unwrap(), None);
    let said = Position(RECORDS + 1);
    let again = block_on(log.redact(redaction)).unwrap();
    assert_eq!(again, Appended::new(said, said).again());
    assert_eq!(block_on(log.checkpoint("model")).unwrap().epoch.0, said.0);
}

#[test]
fn closing_waits_for_the_last_step() {
    let under_way = UnderWay::begin();
    let (log, path) = (under_way.log.clone(), under_way.path.clone());
    let mut closing = Box::pin(log.close());
    assert!((&mut closing).now_or_never().is_none(), "it is not over");
    for _ in 0..2 * RECORDS {
        under_way.orders.send(Order::Write).unwrap();
    }
    block_on(closing);
    under_way.redacting.join().unwrap().unwrap();
    drop((log, under_way.log));
    assert_done(&reopen(&path));
}

/// The next one waits, also where it is the same once more; and so does giving up the bytes.
#[test]
fn redactions_come_one_after_the_other() {
    let under_way = UnderWay::begin();
    let log = under_way.log.clone();
    let mut again = log.redact(under_way.redaction.clone());
    let mut next = log.redact(Redaction {
        append: append("run-1"),
        removed: vec![PiecesOf {
            position: Position(1),
            pieces: vec![0],
        }],
        blobs: vec![under_way.other.digest()],
        seen: Position(RECORDS),
    });
    let purging = {
        let log = log.clone();
        std::thread::spawn(move || log.purge())
    };
    for _ in 0..3 {
        assert!(
            (&mut again).now_or_never().is_none(),
            "the first one is not over"
        );
        assert!(
            (&mut next).now_or_never().is_none(),
            "the first one is not over"
        );
        under_way.answered(log.append(append("other-1"))).unwrap();
    }
    assert!(!under_way.redacting.is_finished() && !purging.is_finished());
    let (log, _home) = under_way.finish();
    let said = Position(RECORDS + 1);
    assert_eq!(block_on(again).unwrap(), Appended::new(said, said).again());
    let appended = block_on(next).unwrap();
    assert!(appended.first > Position(RECORDS + 1));
    let first = &all(&log)[0];
    assert!(
        first
            .content()
            .iter()
            .all(|piece| matches!(piece, Content::Removed { .. }))
    );
    assert_eq!(block_on(log.stats()).unwrap().blobs, 0);
    purging.join().unwrap().unwrap();
    log.purge().unwrap();
    assert!(!log.needs_purge().unwrap());
    let report = log.verify(&mut |_| {}).unwrap();
    assert!(report.is_sound(), "{:#?}", report.findings);
}

/// A copy that is made meanwhile is completed by opening it.
#[test]
fn a_backup_in_between_is_completed() {
    let under_way = UnderWay::begin();
    let home = tempfile::tempdir().unwrap();
    let copy = home.path().join("copy");
    under_way.log.backup(&copy).unwrap();
    let reader = RocksLog::open_reader(&copy, &Options::default()).unwrap();
    assert!((1..RECORDS).contains(&removed(&reader)));
    assert!(reader.needs_purge().unwrap());
    let report = reader.verify(&mut |_| {}).unwrap();
    assert!(report.is_sound(), "{:#?}", report.findings);
    block_on(reader.close());
    let log = reopen(&copy);
    assert_done(&log);
    assert!(!log.needs_purge().unwrap());
    under_way.finish();
}

/// Blobs that are collected meanwhile are not counted off twice.
#[test]
fn collecting_in_between_counts_right() {
    let under_way = UnderWay::begin();
    let log = under_way.log.clone();
    let collecting = {
        let log = log.clone();
        std::thread::spawn(move || block_on(log.collect(&mut |_| {})))
    };
    let (log_after, _home) = under_way.finish();
    collecting.join().unwrap().unwrap();
    assert_done(&log_after);
    assert_eq!(
        block_on(log.stats()).unwrap().blobs,
        0,
        "the other one was an orphan"
    );
}
