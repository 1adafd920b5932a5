//! The single writer: one thread that takes all jobs that wait, stages them as one
//! group, writes it synced, publishes the watermark and answers.
//!
//! There is no timer. While a group is being synced the next one gathers in the
//! queue, so groups grow with the load by themselves.
//!
//! **Fail-stop**: after a write that failed it is unknown what is on the disk.
//! Everything in that group, in the queue and later is answered `Unavailable`
//! until the log is reopened, which finds out.

use std::sync::{Arc, OnceLock};

use annals_event_log::store_support::RequestDigest;
use annals_event_log::{
    AppendError, Appended, Blob, Position, Prepared, ReadError, Record, Watermark,
};
use rocksdb::WriteBatch;

use crate::db::Db;
use crate::error::StoreFailure;
use crate::latch::{Latch, OnDrop};
use crate::mutants;
use crate::queue::Queue;
use crate::staging::{Refusal, Staging, Tail};
use crate::sync::thread::{self, JoinHandle};
use crate::sync::{Mutex, PoisonError, oneshot};
use crate::tree::OpenTree;
use crate::watermark_file::{Syncer, WatermarkFile};

/// Bytes at which a group ends, even if more is waiting.
const GROUP_BYTES: usize = 64 * 1024 * 1024;
/// Bytes in memory from which on a closing writer writes them to tables. Less
/// is replayed at the next open faster than it would be written now.
const FLUSH_BYTES: u64 = 4 * 1024 * 1024;

/// Write-ahead logs, one for each time that the log was opened, from which on it
/// writes tables, too: to open many files takes time.
const FLUSH_FILES: usize = 64;

/// What a caller gets.
type Answer = Result<Appended, AppendError>;

/// What the writer is asked to do.
pub(crate) enum Work {
    Append {
        prepared: Prepared,
        request: RequestDigest,
    },
    Copy {
        records: Vec<Record>,
        blobs: Vec<Blob>,
    },
}

impl Work {
    fn bytes(&self) -> usize {
        let of_blobs = |blobs: &[Blob]| blobs.iter().map(|blob| blob.bytes().len()).sum::<usize>();
        match self {
            Work::Append { prepared, .. } => {
                let events = prepared
                    .events
                    .iter()
                    .map(|event| event.len())
                    .sum::<usize>();
                events + prepared.request.len() + of_blobs(&prepared.blobs)
            }
            Work::Copy { records, blobs } => {
                let records = records
                    .iter()
                    .map(|record| record.encoded_len())
                    .sum::<usize>();
                records + of_blobs(blobs)
            }
        }
    }
}

/// What the writer does between two groups, alone. Where the log has failed it is
/// called with that failure instead.
pub(crate) type Alone = Box<dyn FnOnce(Result<&mut Groups<'_>, StoreFailure>) + Send>;

/// What waits for the writer.
pub(crate) enum Job {
    /// Work for a group, and who waits for its answer.
    Grouped(Work, oneshot::Sender<Answer>),
    /// Work that has a write for itself.
    Alone(Alone),
}

/// The way to the writer's thread.
pub(crate) struct Writer {
    queue: Arc<Queue<Job>>,
    failure: Arc<OnceLock<StoreFailure>>,
    ended: Arc<Latch>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// What brings a group to the disk; replaced by tests that let it fail.
pub(crate) type Disk = Box<dyn FnMut(WriteBatch) -> Result<(), StoreFailure> + Send>;

/// Where a log ends: what the writer goes on with.
pub(crate) struct End {
    pub(crate) tail: Tail,
    /// None where the tree is not kept.
    pub(crate) tree: Option<OpenTree>,
}

/// What the thread publishes its progress to.
pub(crate) struct Publish {
    pub(crate) watermark: Arc<Watermark>,
    pub(crate) file: Arc<WatermarkFile>,
    pub(crate) syncer: Syncer,
}

impl Writer {
    /// Starts the thread on an open database whose log ends with `tail`.
    pub(crate) fn start(
        db: Arc<Db>,
        end: End,
        publish: Publish,
        disk: Disk,
        queue_bytes: usize,
    ) -> std::io::Result<Writer> {
        let queue = Arc::new(Queue::new(queue_bytes));
        let failure = Arc::new(OnceLock::new());
        let ended = Arc::new(Latch::default());
        let guard = Guard {
            queue: Arc::clone(&queue),
            failed: Arc::clone(&failure),
            all_done: false,
            _ended: OnDrop(Arc::clone(&ended)),
        };
        let thread = thread::Builder::new()
            .name("annals-writer".into())
            .spawn(move || run(guard, db, end, publish, disk))?;
        Ok(Writer {
            queue,
            failure,
            ended,
            thread: Mutex::new(Some(thread)),
        })
    }

    /// Hands work over and waits for the answer. Dropping the future is safe;
    /// the work may then be done or not.
    pub(crate) async fn submit(&self, work: Work) -> Answer {
        let bytes = work.bytes();
        let (answer, answered) = oneshot::channel();
        self.queue
            .push(Job::Grouped(work, answer), bytes)
            .await
            .map_err(|_| self.refusal())?;
        // The thread that took the job answers it, unless that thread is lost.
        answered
            .await
            .unwrap_or_else(|_| Err(self.thread_lost().into()))
    }

    /// Has work done between two groups, and waits for the answer. Dropping the
    /// future is safe; the work may then be done or not. `bytes` is what it has in
    /// memory.
    pub(crate) async fn alone<T, E>(
        &self,
        bytes: usize,
        work: impl FnOnce(&mut Groups<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<AppendError> + Send + 'static,
    {
        let work = move |groups: Result<&mut Groups<'_>, StoreFailure>,
                         answer: oneshot::Sender<_>| {
            let done = match groups {
                Ok(groups) => work(groups),
                Err(failure) => Err(AppendError::from(failure).into()),
            };
            // A caller that is gone has dropped its future; that is allowed.
            let _ = answer.send(done);
        };
        self.hand_over(bytes, work).await
    }

    /// The same of work that answers by itself, then or later ([`Groups::put_back`]).
    pub(crate) async fn hand_over<T, E>(
        &self,
        bytes: usize,
        work: impl FnOnce(Result<&mut Groups<'_>, StoreFailure>, oneshot::Sender<Result<T, E>>)
        + Send
        + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<AppendError> + Send + 'static,
    {
        let (answer, answered) = oneshot::channel();
        let job: Alone = Box::new(move |groups| work(groups, answer));
        let pushed = self.queue.push(Job::Alone(job), bytes).await;
        pushed.map_err(|_| self.refusal())?;
        answered
            .await
            .unwrap_or_else(|_| Err(AppendError::from(self.thread_lost()).into()))
    }

    /// The thread has dropped a job. It may not have come to say so itself.
    fn thread_lost(&self) -> StoreFailure {
        let _ = self.failure.set(StoreFailure::ThreadLost);
        StoreFailure::ThreadLost
    }

    /// Why the queue takes nothing more.
    fn refusal(&self) -> AppendError {
        match self.failure() {
            // It was not closed.
            Some(StoreFailure::ThreadLost) => StoreFailure::ThreadLost.into(),
            _ => AppendError::Closed,
        }
    }

    /// Jobs that the thread has not taken yet.
    #[cfg(test)]
    pub(crate) fn queue_len(&self) -> usize {
        self.queue.len()
    }

    /// Why the writer stopped, if it did.
    pub(crate) fn failure(&self) -> Option<&StoreFailure> {
        self.failure.get()
    }

    /// Lets the writer do what was accepted, and nothing more.
    pub(crate) fn shut(&self) {
        self.queue.close();
    }

    /// Waits until the thread has done so.
    pub(crate) async fn ended(&self) {
        self.ended.wait().await;
    }

    /// Waits for the thread itself, on this thread.
    pub(crate) fn join(&self) {
        let thread = self
            .thread
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        // A waker may drop the last handle of a log on the writer's own thread.
        if let Some(thread) = thread.filter(|t| t.thread().id() != thread::current().id()) {
            let _ = thread.join();
        }
    }
}

/// Closes the queue when the thread ends, however it ends.
struct Guard {
    queue: Arc<Queue<Job>>,
    failed: Arc<OnceLock<StoreFailure>>,
    /// Whether the thread ends because the queue is closed and empty.
    all_done: bool,
    _ended: OnDrop,
}

impl Drop for Guard {
    fn drop(&mut self) {
        if !self.all_done {
            let _ = self.failed.set(StoreFailure::ThreadLost);
        }
        self.queue.close();
        // The callers still in the queue learn that the thread is lost.
        self.queue.take(&mut Vec::new(), 0);
    }
}

fn run(mut guard: Guard, db: Arc<Db>, end: End, publish: Publish, disk: Disk) {
    let columns = match db.columns() {
        Ok(columns) => columns,
        Err(error) => {
            tracing::error!(%error, "the writer cannot start");
            return;
        }
    };
    let staging = Staging::new(&db, columns, end.tail, end.tree);
    let mut groups = Groups {
        db: &db,
        staging,
        publish,
        disk,
        failed: Arc::clone(&guard.failed),
        queue: Arc::clone(&guard.queue),
        answers: Vec::new(),
        begun: end.tail,
        spent: Vec::new(),
    };
    let (mut jobs, mut taken) = (Vec::new(), 0);
    while guard.queue.take(&mut jobs, taken) {
        taken = jobs.len();
        groups.run(&mut jobs);
    }
    guard.all_done = true;
    groups.end();
    drop(groups);
    // The database goes before the signal that it was given back.
    drop(db);
    drop(guard);
}

/// The groups, one after the other.
pub(crate) struct Groups<'a> {
    pub(crate) db: &'a Db,
    pub(crate) staging: Staging<'a>,
    publish: Publish,
    disk: Disk,
    failed: Arc<OnceLock<StoreFailure>>,
    queue: Arc<Queue<Job>>,
    answers: Vec<(oneshot::Sender<Answer>, Answer)>,
    /// Where the log ended before what is staged.
    begun: Tail,
    /// Work that is done: given back to the memory after its callers went on.
    spent: Vec<Work>,
}

impl Groups<'_> {
    /// Does all jobs, in one group or, where they are large, in several.
    fn run(&mut self, jobs: &mut Vec<Job>) {
        self.staging.begin(annals_event_log::now());
        for job in jobs.drain(..) {
            let (mut work, answer) = match job {
                Job::Grouped(work, answer) => (work, answer),
                Job::Alone(job) => {
                    self.alone(job);
                    continue;
                }
            };
            if let Some(failure) = self.failed.get() {
                let _ = answer.send(Err(failure.clone().into()));
                continue;
            }
            let staged = self.stage(&mut work);
            self.spent.push(work);
            match staged {
                Ok(appended) => self.answers.push((answer, Ok(appended))),
                Err(Refusal::Batch(error)) => self.answers.push((answer, Err(error))),
                Err(Refusal::Store(error)) => {
                    self.answers.push((answer, Err(AppendError::Closed)));
                    self.fail(unreadable(self.db, &error));
                }
            }
            if self.staging.bytes() >= GROUP_BYTES {
                self.commit();
                self.staging.begin(annals_event_log::now());
            }
        }
        self.commit();
        self.spent.clear();
    }

    /// Ends the group, has the job done, and begins another group.
    fn alone(&mut self, job: Alone) {
        self.commit();
        self.staging.begin(annals_event_log::now());
        match self.failed.get().cloned() {
            Some(failure) => job(Err(failure)),
            None => job(Ok(self)),
        }
        self.staging.begin(annals_event_log::now());
    }

    /// Has more work done between two groups, behind all that waits. It is done before the
    /// log closes.
    pub(crate) fn put_back(&self, job: Alone) {
        self.queue.put_back(Job::Alone(job));
    }

    /// Writes something outside of a group; after a failure the log accepts nothing
    /// more.
    pub(crate) fn write_alone(&mut self, write: WriteBatch) -> Result<(), StoreFailure> {
        (self.disk)(write).inspect_err(|failure| self.fail(failure.clone()))
    }

    /// Ends the log's writing: what is staged is not what is stored.
    pub(crate) fn give_up(&mut self, error: &ReadError) -> StoreFailure {
        let failure = unreadable(self.db, error);
        self.fail(failure.clone());
        failure
    }

    fn stage(&mut self, work: &mut Work) -> Result<Appended, Refusal> {
        match work {
            Work::Append { prepared, request } => self.staging.append(prepared, *request),
            Work::Copy { records, blobs } => self.staging.copy(records, blobs),
        }
    }

    /// Writes what is staged, publishes it, and only then answers. Refusals
    /// wait too: they may rest on what was staged before them.
    fn commit(&mut self) {
        if self.failed.get().is_some() {
            return;
        }
        let finished = match self.staging.finish() {
            Ok(finished) => finished,
            Err(error) => return self.fail(unreadable(self.db, &error)),
        };
        if let Some((write, last)) = finished {
            if mutants::is(mutants::ACK_BEFORE_SYNC) {
                self.publish(last);
                self.answer();
            }
            if mutants::is(mutants::WATERMARK_BEFORE_WRITE) {
                self.publish(last);
            }
            match (self.disk)(write) {
                Ok(()) => self.publish(last),
                Err(failure) if mutants::is(mutants::POSITION_REUSED) => {
                    self.staging.rewind(self.begun);
                    for (caller, _) in self.answers.drain(..) {
                        let _ = caller.send(Err(failure.clone().into()));
                    }
                }
                Err(failure) => return self.fail(failure),
            }
            if mutants::is(mutants::CHECKPOINT_EARLY) {
                // The sync, behind the publication.
                let _ = (self.disk)(WriteBatch::default());
            }
        }
        self.begun = self.staging.tail();
        self.answer();
    }

    /// Answers everything that was staged.
    fn answer(&mut self) {
        for (caller, answer) in self.answers.drain(..) {
            // A caller that is gone has dropped its future; that is allowed.
            let _ = caller.send(answer);
        }
    }

    pub(crate) fn publish(&mut self, last: Position) {
        // This process first: a reader in another one never sees what is not yet here. And
        // both before the answer: a caller that has it may ask a reader in another process.
        self.publish.watermark.advance(last);
        if let Err(error) = self.publish.file.write(last) {
            tracing::warn!(%error, "WATERMARK cannot be written; readers in other processes lag");
        }
        self.publish.syncer.written();
    }

    fn fail(&mut self, failure: StoreFailure) {
        tracing::error!(error = %failure, "the log accepts nothing more until it is reopened");
        // First, so that no caller gets the failure and then finds the log in order.
        let _ = self.failed.set(failure.clone());
        self.db.failed();
        for (caller, _) in self.answers.drain(..) {
            let _ = caller.send(Err(failure.clone().into()));
        }
    }

    fn end(&mut self) {
        let much = self.db.unflushed_bytes() >= FLUSH_BYTES || self.db.wal_files() >= FLUSH_FILES;
        if self.failed.get().is_none() && much {
            // Nothing depends on it: all of it is in the synced WAL.
            match self.db.flush() {
                Ok(()) => self.db.merge_small_tables(),
                Err(error) => tracing::warn!(%error, "the tables were not written at close"),
            }
        }
    }
}

fn unreadable(db: &Db, error: &ReadError) -> StoreFailure {
    match error {
        ReadError::Corrupt { reason } => StoreFailure::Corrupt {
            reason: reason.as_str().into(),
        },
        error => StoreFailure::Rocks {
            path: db.path.as_path().into(),
            detail: error.to_string().into(),
        },
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    use annals_event_log::{EventLog, Position};
    use futures::executor::block_on;

    use crate::fixtures::append;
    use crate::watermark_file::WatermarkFile;
    use crate::{Options, RocksLog};

    /// A reader in another process takes the position from the file. It must not see an
    /// event that a handle in the writer's process, asked later, does not have yet.
    #[test]
    fn readers_elsewhere_see_nothing_before_the_writers_own_process() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("log");
        let options = Options {
            sync: false,
            ..Options::default()
        };
        let log = RocksLog::create(&path, &options).unwrap();
        let file = WatermarkFile::open(&path).unwrap();
        let done = AtomicBool::new(false);
        let seen = thread::scope(|scope| {
            let watching = scope.spawn(|| {
                let mut seen = Position::START;
                while !done.load(Ordering::Acquire) {
                    let elsewhere = file.read().unwrap().unwrap();
                    let here = log.watermark();
                    assert!(elsewhere <= here, "{elsewhere:?} elsewhere, {here:?} here");
                    seen = elsewhere;
                }
                seen
            });
            for _ in 0..5_000 {
                if watching.is_finished() {
                    break;
                }
                block_on(log.append(append("a-1"))).unwrap();
            }
            done.store(true, Ordering::Release);
            watching.join().unwrap()
        });
        assert!(seen > Position::START, "the file was not looked at");
    }
}
