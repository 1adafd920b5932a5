//! The bounded queue of appends in front of the log's one transaction at a time.

use std::sync::{Arc, Mutex, PoisonError};

use annals_event_log::store_support::RequestDigest;
use annals_event_log::{AppendError, Appended, Blob, Prepared, Record, RedactError, Redaction};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio::task::unconstrained;

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
}

impl Queue {
    /// A queue for jobs of so many bytes, and the other end of it.
    pub(crate) fn new(bytes: usize) -> (Queue, mpsc::UnboundedReceiver<Queued>) {
        let (jobs, taken) = mpsc::unbounded_channel();
        let most = bytes.clamp(1, u32::MAX as usize);
        let queue = Queue {
            jobs: Mutex::new(Some(jobs)),
            room: Arc::new(Semaphore::new(most)),
            most,
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
        let room = Arc::clone(&self.room).acquire_many_owned(permits);
        let room = unconstrained(room).await;
        let queued = Queued {
            job,
            bytes,
            room: room.map_err(|_| AppendError::Closed)?,
        };
        let jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        let jobs = jobs.as_ref().ok_or(AppendError::Closed)?;
        jobs.send(queued).map_err(|_| AppendError::Closed)
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

#[cfg(test)]
#[allow(clippy::panic)]
mod tests {
    use futures::executor::block_on;
    use futures::future::join;

    use super::*;

    /// The task that has it may have stored it.
    #[test]
    fn work_that_is_lost_is_not_said_to_be_undone() {
        let (queue, mut taken) = Queue::new(1_000);
        let work = Work::Copy {
            records: Vec::new(),
            blobs: Vec::new(),
        };
        let losing = async { drop(taken.recv().await) };
        let (answer, ()) = block_on(join(queue.append(work), losing));
        let Err(AppendError::Unavailable { source }) = answer else {
            panic!("{answer:?}")
        };
        let failed: &AppendFailure = source.downcast_ref().unwrap();
        assert!(failed.is_unknown, "{failed}");
    }
}
