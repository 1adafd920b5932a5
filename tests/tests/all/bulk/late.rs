//! A log in memory whose answers come late, and whose appends can be met on their way.

use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;

use annals::Annals;
use annals::event_log::memory::MemoryLog;
use annals::event_log::{Append, AppendError, ReadError, Store};
use annals_testkit::through::{Hook, Through};
use futures::future::{BoxFuture, FutureExt};
use uuid::Uuid;

/// What happens when a batch is about to be appended.
type Meeting = Box<dyn FnOnce() -> Result<(), AppendError> + Send>;

#[derive(Default)]
pub struct Late {
    /// How often an answer is polled without a result, at most.
    polls: u64,
    answered: AtomicU64,
    meetings: Mutex<HashMap<Uuid, Meeting>>,
    /// Whether nothing is appended any more.
    fails: AtomicBool,
    /// Whether what is done is not acknowledged any more.
    loses: AtomicBool,
}

impl Hook for Late {
    fn after(&self) -> Result<(), ReadError> {
        match self.loses.load(Ordering::Relaxed) {
            true => Err(ReadError::Unavailable {
                source: "the disk is full".into(),
            }),
            false => Ok(()),
        }
    }

    fn appending(&self, append: &Append) -> Result<(), AppendError> {
        if self.fails.load(Ordering::Relaxed) {
            return Err(AppendError::Unavailable {
                source: "the disk is full".into(),
            });
        }
        let meeting = self.meetings.lock().unwrap().remove(&append.batch);
        // On a thread of its own: this one is in a future already.
        let met = meeting.map(|meeting| std::thread::spawn(meeting).join().unwrap());
        met.unwrap_or(Ok(()))
    }

    fn answering(&self) -> BoxFuture<'_, ()> {
        let number = self.answered.fetch_add(1, Ordering::Relaxed);
        // Not in step with anything.
        let mut left = ((number + 1).wrapping_mul(2_654_435_761) >> 7) % (self.polls + 1);
        poll_fn(move |context| {
            if left == 0 {
                return Poll::Ready(());
            }
            left -= 1;
            context.waker().wake_by_ref();
            Poll::Pending
        })
        .boxed()
    }
}

/// A log whose answers come late, by another way also at once.
pub struct LateLog {
    /// Those who use it do not know of the others who use the log.
    pub annals: Annals,
    /// The log itself.
    pub log: Arc<MemoryLog>,
    through: Arc<Through<Late>>,
}

impl LateLog {
    pub fn new(polls: u64) -> LateLog {
        LateLog::over(MemoryLog::new(Uuid::from_u128(1)), polls)
    }

    pub fn over(log: MemoryLog, polls: u64) -> LateLog {
        let log = Arc::new(log);
        let hook = Late {
            polls,
            ..Late::default()
        };
        let through = Through::new(Arc::clone(&log) as Arc<dyn Store>, hook);
        let through = Arc::new(through);
        LateLog {
            annals: Annals::over(Arc::clone(&through) as Arc<dyn Store>),
            log,
            through,
        }
    }

    /// Another caller, who shares nothing but the log.
    pub fn other(&self) -> Annals {
        Annals::over(Arc::clone(&self.log) as Arc<dyn Store>)
    }

    /// Lets something happen just before a batch is appended.
    pub fn meet(
        &self,
        batch: Uuid,
        meeting: impl FnOnce() -> Result<(), AppendError> + Send + 'static,
    ) {
        let mut meetings = self.through.hook().meetings.lock().unwrap();
        meetings.insert(batch, Box::new(meeting));
    }

    /// Lets every append fail from now on.
    pub fn fail(&self) {
        self.through.hook().fails.store(true, Ordering::Relaxed);
    }

    /// Lets every call fail from now on, after it had its effect.
    pub fn lose_answers(&self) {
        self.through.hook().loses.store(true, Ordering::Relaxed);
    }
}
