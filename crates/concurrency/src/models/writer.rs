//! The writer's thread: every job is answered once, also where the writer fails; what
//! is acknowledged was written first and published before; behind a failure nothing is.

use std::sync::Arc;

use annals_event_log::store_support::{RequestDigest, random_salt};
use annals_event_log::{AppendError, Appended, BatchId, Position, Prepared};
use shuttle::future::block_on;

use super::follow::append;
use super::{all, one_of, poll_a_few_times};
use crate::WriteBatch;
use crate::db::Db;
use crate::error::StoreFailure;
use crate::staging::{LARGE, REFUSED, Tail, UNREADABLE};
use crate::stand_ins::disk::{Disk, Fault};
use crate::sync::oneshot::Sender;
use crate::sync::thread;
use crate::watermark_file::{Syncer, WatermarkFile};
use crate::writer::{Alone, End, Groups, Publish, Work, Writer};

/// An event's type with which an append is neither refused nor large.
const ORDINARY: &str = "test.happened";

/// Bytes that may wait in the queue: not enough for two appends, or enough for all.
const QUEUE_BYTES: [usize; 2] = [1, 1_000_000];

/// A writer on such a disk.
struct Bench {
    writer: Writer,
    watermark: Arc<annals_event_log::Watermark>,
    disk: Arc<Disk>,
}

impl Bench {
    /// Starts the writer; the disk's write of that number has the fault.
    fn start(fault: Option<(usize, Fault)>) -> Arc<Bench> {
        Bench::start_on(Db::default(), fault)
    }

    fn start_on(db: Db, fault: Option<(usize, Fault)>) -> Arc<Bench> {
        let disk = Arc::new(Disk::default());
        let watermark = Arc::new(annals_event_log::Watermark::new(Position::START));
        let publish = Publish {
            watermark: Arc::clone(&watermark),
            file: Arc::new(WatermarkFile(Arc::clone(&disk))),
            syncer: Syncer,
        };
        let (written, mut writes) = (Arc::clone(&disk), 0);
        let write = Box::new(move |write: WriteBatch| {
            writes += 1;
            let fault = fault.filter(|(number, _)| *number == writes);
            written.write(write, fault.map(|(_, fault)| fault))
        });
        let end = End {
            tail: Tail {
                last: Position::START,
            },
            tree: None,
        };
        let queue_bytes = one_of(QUEUE_BYTES);
        let writer = Writer::start(Arc::new(db), end, publish, write, queue_bytes).unwrap();
        Arc::new(Bench {
            writer,
            watermark,
            disk,
        })
    }

    /// Appends, and checks what is answered.
    async fn append(&self, event_type: &'static str) -> Result<Appended, AppendError> {
        let prepared = Prepared::new(append("run-1", event_type, 1)).unwrap();
        let batch = prepared.batch;
        let request = RequestDigest::new(random_salt(), &prepared.request);
        let answer = self.writer.submit(Work::Append { prepared, request }).await;
        self.check(batch, &answer);
        answer
    }

    fn check(&self, batch: BatchId, answer: &Result<Appended, AppendError>) {
        match answer {
            Ok(appended) => {
                assert!(appended.last <= self.watermark.get(), "not published");
                self.disk.check_published(appended.last);
                assert!(self.disk.lock().batches.contains(&batch), "not written");
            }
            Err(AppendError::Invalid { .. }) => {
                assert!(!self.disk.lock().batches.contains(&batch), "written");
            }
            Err(AppendError::Unavailable { .. }) => {
                assert!(
                    self.writer.failure().is_some(),
                    "a caller got a failure, and the writer reports none"
                );
            }
            Err(AppendError::Closed) => {
                assert!(!self.disk.lock().batches.contains(&batch), "written");
            }
            Err(error) => panic!("{error:?}"),
        }
    }

    /// Appends three times; behind a failure nothing more is acknowledged to the same
    /// caller. What was acknowledged.
    fn append_three(&self, event_types: [&'static str; 3]) -> Vec<Appended> {
        let (mut acknowledged, mut failed) = (Vec::new(), false);
        for event_type in event_types {
            match block_on(self.append(event_type)) {
                Ok(appended) => {
                    assert!(!failed, "acknowledged behind a failure");
                    acknowledged.push(appended);
                }
                Err(AppendError::Invalid { .. }) => assert!(!failed, "decided behind a failure"),
                Err(_) => failed = true,
            }
        }
        acknowledged
    }

    /// What any reader may look at while the writer works.
    fn watch(&self) {
        let mut before = Position::START;
        for _ in 0..4 {
            let now = self.watermark.get();
            assert!(now >= before, "it went back");
            self.disk.check_published(now);
            before = now;
            thread::yield_now();
        }
    }

    /// Waits for the thread, as who closes the log does.
    fn close(&self) {
        self.writer.shut();
        block_on(self.writer.ended());
        self.writer.join();
        let late = block_on(self.append(ORDINARY)).expect_err("it is closed");
        match self.writer.failure() {
            Some(StoreFailure::ThreadLost) => {
                assert!(matches!(late, AppendError::Unavailable { .. }), "{late:?}");
            }
            _ => assert!(matches!(late, AppendError::Closed), "{late:?}"),
        }
    }
}

/// Starts a caller for each, and a thread that watches; returns what was acknowledged, by position.
fn callers(bench: &Arc<Bench>, event_types: &[[&'static str; 3]]) -> Vec<Appended> {
    let mut threads: Vec<Box<dyn FnOnce() -> Vec<Appended> + Send>> = Vec::new();
    for event_types in event_types.iter().copied() {
        let bench = Arc::clone(bench);
        threads.push(Box::new(move || bench.append_three(event_types)));
    }
    let watched = Arc::clone(bench);
    threads.push(Box::new(move || {
        watched.watch();
        Vec::new()
    }));
    let mut acknowledged: Vec<Appended> = all(threads).into_iter().flatten().collect();
    acknowledged.sort_by_key(|appended| appended.first);
    let overlap = acknowledged
        .windows(2)
        .find(|pair| pair[1].first <= pair[0].last);
    assert!(overlap.is_none(), "two were given a position: {overlap:?}");
    acknowledged
}

/// Nothing fails: all that can be written is, one batch of each three is refused.
pub fn every_job_is_answered() {
    let bench = Bench::start(None);
    let types = [
        [ORDINARY, REFUSED, ORDINARY],
        [LARGE, ORDINARY, REFUSED],
        [REFUSED, LARGE, LARGE],
    ];
    let acknowledged = callers(&bench, &types);
    let positions: Vec<u64> = acknowledged
        .iter()
        .map(|appended| appended.last.0)
        .collect();
    assert_eq!(positions, [1, 2, 3, 4, 5, 6]);
    bench.close();
    assert_eq!(bench.disk.lock().batches.len(), 6);
}

/// The log is closed while callers come: each is answered, and what was acknowledged is
/// there.
pub fn every_job_is_answered_when_the_log_is_closed_beside_it() {
    let bench = Bench::start(None);
    let closing = Arc::clone(&bench);
    let closer = shuttle::thread::spawn(move || closing.close());
    let acknowledged = callers(&bench, &[[ORDINARY; 3], [ORDINARY, LARGE, REFUSED]]);
    closer.join().unwrap();
    assert_eq!(bench.disk.lock().batches.len(), acknowledged.len());
}

/// One of the writes fails: every caller is answered, and nothing behind it is acknowledged.
pub fn every_job_is_answered_when_a_write_fails() {
    let fault = one_of([Fault::Refuse, Fault::WriteAndFail]);
    let bench = Bench::start(Some((one_of([1, 2, 3]), fault)));
    let acknowledged = callers(&bench, &[[ORDINARY; 3], [LARGE, ORDINARY, LARGE]]);
    let last = bench.disk.lock().last;
    assert!(acknowledged.iter().all(|appended| appended.last <= last));
    bench.close();
}

/// The store cannot be read while a batch is staged: the group is given up.
pub fn every_job_is_answered_when_staging_fails() {
    let bench = Bench::start(None);
    let acknowledged = callers(&bench, &[[ORDINARY; 3], [ORDINARY, UNREADABLE, ORDINARY]]);
    let last = bench.disk.lock().last;
    assert!(acknowledged.iter().all(|appended| appended.last <= last));
    assert!(bench.writer.failure().is_some());
    bench.close();
}

/// The thread is lost to a panic in the middle of a group.
pub fn every_job_is_answered_when_the_thread_is_lost() {
    let bench = Bench::start(Some((one_of([1, 2]), Fault::LoseThread)));
    callers(&bench, &[[ORDINARY; 3], [ORDINARY, LARGE, ORDINARY]]);
    assert!(matches!(
        bench.writer.failure(),
        Some(StoreFailure::ThreadLost)
    ));
    bench.close();
}

/// The thread ends before it takes anything.
pub fn every_job_is_answered_when_the_thread_cannot_start() {
    let broken = Db {
        broken: true,
        ..Db::default()
    };
    let bench = Bench::start_on(broken, None);
    let acknowledged = callers(&bench, &[[ORDINARY; 3], [ORDINARY; 3]]);
    assert_eq!(acknowledged, []);
    bench.writer.shut();
    block_on(bench.writer.ended());
    assert!(matches!(
        bench.writer.failure(),
        Some(StoreFailure::ThreadLost)
    ));
    bench.close();
}

/// Callers that drop their futures: their work is done or not, and the others' is.
pub fn a_caller_that_gives_up_disturbs_no_other() {
    let bench = Bench::start(None);
    let mut threads: Vec<Box<dyn FnOnce() + Send>> = Vec::new();
    for caller in 0..4 {
        let bench = Arc::clone(&bench);
        threads.push(Box::new(move || {
            if caller % 2 == 0 {
                block_on(bench.append(ORDINARY)).expect("it is open");
            } else if let Some(answer) = poll_a_few_times(bench.append(ORDINARY), caller) {
                answer.expect("it is open");
            }
        }));
    }
    all(threads);
    bench.close();
    bench.disk.check_published(bench.watermark.get());
}

/// Work that is done between two groups: nothing is staged then, and when its write fails
/// nothing behind it is acknowledged.
pub fn work_between_groups_has_the_log_for_itself() {
    let fails = one_of([true, false]);
    let bench = Bench::start(None);
    let mut threads: Vec<Box<dyn FnOnce() + Send>> = Vec::new();
    for _ in 0..2 {
        let caller = Arc::clone(&bench);
        threads.push(Box::new(move || {
            caller.append_three([ORDINARY, REFUSED, ORDINARY]);
        }));
        let alone = Arc::clone(&bench);
        threads.push(Box::new(move || {
            let at_work = Arc::clone(&alone);
            let work = move |groups: &mut Groups<'_>| -> Result<(), AppendError> {
                let failure = at_work.writer.failure();
                assert!(failure.is_none(), "begun behind a failure: {failure:?}");
                assert!(groups.staging.is_empty(), "something is staged");
                let last = groups.staging.last();
                at_work.disk.check_published(last);
                if fails {
                    let error = annals_event_log::ReadError::Closed;
                    return Err(groups.give_up(&error).into());
                }
                let batches = Vec::new();
                groups.write_alone(WriteBatch { batches, last })?;
                groups.publish(last);
                Ok(())
            };
            let done = block_on(alone.writer.alone(1, work));
            assert_eq!(done.is_err(), fails);
            if fails {
                assert!(alone.writer.failure().is_some());
                block_on(alone.append(ORDINARY)).expect_err("the log was given up");
            }
        }));
    }
    all(threads);
    bench.close();
}

/// The rest of some work: a write for each step, other callers' groups between the steps.
fn step(mut written: Vec<BatchId>, answer: Sender<Result<Vec<BatchId>, AppendError>>) -> Alone {
    Box::new(move |groups| {
        let step = match groups {
            Err(failure) => Err(failure),
            Ok(groups) => {
                assert!(groups.staging.is_empty(), "something is staged");
                written.push(BatchId::new_v4());
                let (batches, last) = (vec![written[written.len() - 1]], groups.staging.last());
                let write = groups.write_alone(WriteBatch { batches, last });
                write.map(|()| groups)
            }
        };
        match step {
            Err(failure) => drop(answer.send(Err(failure.into()))),
            Ok(_) if written.len() == 3 => drop(answer.send(Ok(written))),
            Ok(groups) => groups.put_back(self::step(written, answer)),
        }
    })
}

/// Work in three steps, together with callers, a close, and a write that fails in some runs: it
/// is done to its end before the log closes, or answered with the failure.
pub fn work_in_steps_is_done_before_the_log_closes() {
    let bench = Bench::start(one_of([None, Some((2, Fault::Refuse))]));
    let mut threads: Vec<Box<dyn FnOnce() + Send>> = Vec::new();
    let (caller, worker, closing) = (Arc::clone(&bench), Arc::clone(&bench), Arc::clone(&bench));
    threads.push(Box::new(move || {
        caller.append_three([ORDINARY; 3]);
    }));
    threads.push(Box::new(move || {
        let work = |groups: Result<&mut Groups<'_>, StoreFailure>, answer: Sender<_>| {
            step(Vec::new(), answer)(groups);
        };
        match block_on(worker.writer.hand_over(1, work)) {
            Ok(written) => {
                let disk = worker.disk.lock();
                assert!(written.iter().all(|step| disk.batches.contains(step)));
            }
            Err(AppendError::Unavailable { .. }) => assert!(matches!(
                worker.writer.failure(),
                Some(StoreFailure::Rocks { .. })
            )),
            Err(AppendError::Closed) => {}
            Err(error) => panic!("{error}"),
        }
    }));
    threads.push(Box::new(move || closing.close()));
    all(threads);
}

/// The last handle is dropped on the writer's own thread, as a waker may do.
pub fn the_thread_does_not_wait_for_itself() {
    let bench = Bench::start(None);
    let own = Arc::clone(&bench);
    let work = move |_: &mut Groups<'_>| -> Result<(), AppendError> {
        own.writer.shut();
        own.writer.join();
        Ok(())
    };
    let other = Arc::clone(&bench);
    let appends = shuttle::thread::spawn(move || other.append_three([ORDINARY; 3]));
    match block_on(bench.writer.alone(1, work)) {
        Ok(()) | Err(AppendError::Closed) => {}
        Err(error) => panic!("{error}"),
    }
    appends.join().unwrap();
    bench.close();
}
