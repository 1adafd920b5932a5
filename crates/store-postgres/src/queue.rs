//! The bounded queue of appends in front of the log's one transaction at a time.

use std::sync::{Arc, Mutex, PoisonError};

use annals_event_log::store_support::RequestDigest;
use annals_event_log::{AppendError, Appended, Blob, Prepared, Record, RedactError, Redaction};
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, TryAcquireError, mpsc, oneshot};
use tokio::task::{JoinSet, unconstrained};

use crate::failure::Failure;
use crate::outcome::{AppendFailure, Failed};

/// What is to be appended with others.
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
    /// The content that comes with it.
    pub(crate) fn blobs(&self) -> &[Blob] {
        match self {
            Work::Append { prepared, .. } => &prepared.blobs,
            Work::Copy { blobs, .. } => blobs,
        }
    }

    fn bytes(&self) -> usize {
        let of_blobs = |blobs: &[Blob]| blobs.iter().map(|blob| blob.bytes().len()).sum::<usize>();
        match self {
            Work::Append { prepared, .. } => {
                let events = prepared.events.iter().map(|event| event.len());
                events.sum::<usize>() + prepared.request.len() + of_blobs(&prepared.blobs)
            }
            Work::Copy { records, blobs } => {
                let records = records.iter().map(Record::encoded_len);
                records.sum::<usize>() + of_blobs(blobs)
            }
        }
    }
}

/// A redaction, which has a transaction for itself.
pub(crate) struct Removal {
    pub(crate) redaction: Redaction,
    pub(crate) prepared: Prepared,
    pub(crate) request: RequestDigest,
}

/// Who waits for an answer.
pub(crate) type Caller<E> = oneshot::Sender<Result<Appended, E>>;

/// What waits for its turn.
pub(crate) enum Job {
    Grouped(Work, Caller<AppendError>),
    Alone(Box<Removal>, Caller<RedactError>),
}

impl Job {
    /// Tells its caller that it was not done, or that its outcome is not known.
    pub(crate) fn fail(self, failed: AppendFailure) {
        // A caller that is gone has dropped its future; that is allowed.
        match self {
            Job::Grouped(_, caller) => drop(caller.send(Err(failed.into()))),
            Job::Alone(_, caller) => drop(caller.send(Err(failed.into()))),
        }
    }
}

/// The loop that took a job has ended without an answer, as it does only where it has failed: how far it came is not
/// known.
fn unanswered() -> AppendFailure {
    let detail = "the loop that commits has ended".to_owned();
    let failed = Failed {
        failure: Failure::Lost { detail },
        is_unknown: true,
    };
    AppendFailure::new(failed, 1)
}

/// A job with the room that it takes in the queue, until it is done.
pub(crate) struct Queued {
    pub(crate) job: Job,
    pub(crate) bytes: usize,
    pub(crate) room: OwnedSemaphorePermit,
}

/// The way into the queue.
pub(crate) struct Queue {
    jobs: Mutex<Option<mpsc::UnboundedSender<Queued>>>,
    room: Arc<Semaphore>,
    most: usize,
    runtime: Handle,
}

impl Queue {
    /// A queue for jobs of so many bytes, and the other end of it. Jobs without room wait in tasks of the runtime.
    pub(crate) fn new(bytes: usize, runtime: Handle) -> (Queue, mpsc::UnboundedReceiver<Queued>) {
        let (jobs, taken) = mpsc::unbounded_channel();
        let most = bytes.clamp(1, u32::MAX as usize);
        let queue = Queue {
            jobs: Mutex::new(Some(jobs)),
            room: Arc::new(Semaphore::new(most)),
            most,
            runtime,
        };
        (queue, taken)
    }

    // Callers may be on a runtime's thread that they block (`block_on` of another executor): tokio's budget for a task
    // is that thread's, and would never be given again.

    /// Hands work over and waits for the answer. It is in the queue when this was polled once, if there is room.
    /// Dropping the future is safe; the work may then be done or not.
    pub(crate) async fn append(&self, work: Work) -> Result<Appended, AppendError> {
        let bytes = work.bytes();
        let (caller, answered) = oneshot::channel();
        self.push(Job::Grouped(work, caller), bytes).await?;
        unconstrained(answered)
            .await
            .unwrap_or_else(|_| Err(unanswered().into()))
    }

    /// The same with a redaction.
    pub(crate) async fn redact(&self, removal: Removal) -> Result<Appended, RedactError> {
        let events = removal.prepared.events.iter().map(|event| event.len());
        let bytes = events.sum();
        let (caller, answered) = oneshot::channel();
        self.push(Job::Alone(Box::new(removal), caller), bytes)
            .await?;
        unconstrained(answered)
            .await
            .unwrap_or_else(|_| Err(unanswered().into()))
    }

    async fn push(&self, job: Job, bytes: usize) -> Result<(), AppendError> {
        // A job that is larger than the queue comes when nothing else is in it.
        let permits = u32::try_from(bytes.clamp(1, self.most)).unwrap_or(u32::MAX);
        let jobs = self
            .jobs
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
            .ok_or(AppendError::Closed)?;
        match Arc::clone(&self.room).try_acquire_many_owned(permits) {
            Ok(room) => send(&jobs, Queued { job, bytes, room }),
            Err(TryAcquireError::Closed) => Err(AppendError::Closed),
            // The semaphore reserves room for its oldest waiter. A caller that is not polled any more would never take
            // it, and block all younger ones. So a task waits, which ends when the caller's future is dropped.
            Err(TryAcquireError::NoPermits) => {
                let room = Arc::clone(&self.room).acquire_many_owned(permits);
                let mut waiting = JoinSet::new();
                let push = async move {
                    let room = room.await.map_err(|_| AppendError::Closed)?;
                    send(&jobs, Queued { job, bytes, room })
                };
                waiting.spawn_on(push, &self.runtime);
                match unconstrained(waiting.join_next()).await {
                    Some(Ok(pushed)) => pushed,
                    // The log's runtime has ended.
                    _ => Err(AppendError::Closed),
                }
            }
        }
    }

    /// Takes nothing more; what is in it is still done.
    pub(crate) fn close(&self) {
        self.room.close();
        drop(
            self.jobs
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take(),
        );
    }
}

fn send(jobs: &mpsc::UnboundedSender<Queued>, queued: Queued) -> Result<(), AppendError> {
    jobs.send(queued).map_err(|_| AppendError::Closed)
}

#[cfg(test)]
#[allow(clippy::panic)]
mod tests {
    use annals_event_log::Position;
    use annals_testkit::process::WIDE;
    use futures::FutureExt;
    use futures::executor::block_on;
    use futures::future::join;
    use tokio::runtime::{Builder, Runtime};

    use super::*;

    fn runtime() -> Runtime {
        Builder::new_multi_thread()
            .worker_threads(1)
            .enable_time()
            .build()
            .unwrap()
    }

    fn work(bytes: usize) -> Work {
        Work::Copy {
            records: Vec::new(),
            blobs: vec![Blob::new(vec![0; bytes])],
        }
    }

    /// Room must not be reserved for a caller that was polled once, did not find any, and is not polled again.
    #[test]
    fn a_caller_that_is_not_polled_any_more_holds_up_nobody() {
        let runtime = runtime();
        let (queue, mut taken) = Queue::new(10, runtime.handle().clone());
        let (first, left, next) = (
            &mut Box::pin(queue.append(work(10))),
            &mut Box::pin(queue.append(work(10))),
            &mut Box::pin(queue.append(work(1))),
        );
        for append in [&mut *first, &mut *left, &mut *next] {
            assert!(append.now_or_never().is_none());
        }
        runtime.spawn(async move {
            while let Some(Queued { job, .. }) = taken.recv().await {
                if let Job::Grouped(_, caller) = job {
                    let _ = caller.send(Ok(Appended::new(Position(1), Position(1))));
                }
            }
        });
        let waited = runtime.block_on(async {
            first.await.unwrap();
            tokio::time::timeout(WIDE, next).await
        });
        assert!(
            waited.is_ok_and(|appended| appended.is_ok()),
            "it waits for ever"
        );
        // What it brought is done, too.
        assert!(left.now_or_never().is_some_and(|appended| appended.is_ok()));
    }

    /// A caller that is dropped takes its work back, if that is not in the queue yet.
    #[test]
    fn a_caller_that_is_gone_leaves_no_work() {
        let runtime = runtime();
        let (queue, mut taken) = Queue::new(10, runtime.handle().clone());
        let mut first = Box::pin(queue.append(work(10)));
        assert!((&mut first).now_or_never().is_none());
        assert!(queue.append(work(10)).now_or_never().is_none());
        drop(taken.try_recv());
        queue.close();
        assert!(runtime.block_on(taken.recv()).is_none());
    }

    /// The task that has it may have stored it.
    #[test]
    fn work_that_is_lost_is_not_said_to_be_undone() {
        let runtime = runtime();
        let (queue, mut taken) = Queue::new(1_000, runtime.handle().clone());
        let losing = async { drop(taken.recv().await) };
        let (answer, ()) = block_on(join(queue.append(work(1)), losing));
        let Err(AppendError::Unavailable { source }) = answer else {
            panic!("{answer:?}")
        };
        let failed: &AppendFailure = source.downcast_ref().unwrap();
        assert!(failed.is_unknown, "{failed}");
    }
}
