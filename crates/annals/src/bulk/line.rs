//! Appends on their way to the log, in the order in which they were given to it.
//!
//! Every append that is on its way is polled while the writer waits for anything: a store may need that to bring a
//! younger one to its end before an older one.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use annals_event_log::{AppendError, Appended};
use futures::future::BoxFuture;
use futures::stream::{FuturesOrdered, StreamExt};
use futures::task::AtomicWaker;
use uuid::Uuid;

use super::ahead::Touched;
use super::given::Given;

/// Batches on their way at most.
const BATCHES: usize = 256;
/// Bytes on their way beyond which no further batch is given to the log.
const BYTES: usize = 4 * 1024 * 1024;
/// The log's answer to an append.
pub(crate) type Answer = Result<Appended, AppendError>;

/// An append that the log has not answered yet.
pub(crate) type Pending = BoxFuture<'static, Answer>;

/// A batch on its way.
pub(crate) struct OnItsWay {
    pub(crate) given: Given,
    /// Counted from the first that its writer was given.
    pub(crate) number: u64,
    /// The epoch that it was decided in.
    pub(crate) epoch: u64,
    pub(crate) touched: Touched,
    pub(crate) bytes: usize,
}

/// The batches on their way, the oldest first.
#[derive(Default)]
pub(crate) struct Line {
    waiting: VecDeque<OnItsWay>,
    appends: FuturesOrdered<Pending>,
    /// The answers to the oldest of them, as far as they came while something else was waited for.
    answers: VecDeque<Answer>,
    bytes: usize,
}

impl Line {
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    pub(crate) fn is_full(&self) -> bool {
        self.waiting.len() >= BATCHES || self.bytes >= BYTES
    }

    pub(crate) fn has(&self, key: Uuid) -> bool {
        let mut waiting = self.waiting.iter();
        waiting.any(|it| it.given.batch.key() == Some(key))
    }

    /// Adds a batch and its append, which was handed over.
    pub(crate) fn push(&mut self, next: OnItsWay, append: Pending) {
        self.bytes = self.bytes.saturating_add(next.bytes);
        self.waiting.push_back(next);
        self.appends.push_back(append);
    }

    /// The oldest batch with its answer, if it has come.
    pub(crate) fn answered(&mut self) -> Option<(OnItsWay, Answer)> {
        self.poll_all(&mut Context::from_waker(Waker::noop()));
        self.take_oldest()
    }

    /// Waits for the answer to the oldest batch; `None` if there is none.
    pub(crate) async fn oldest(&mut self) -> Option<(OnItsWay, Answer)> {
        poll_fn(|context| {
            self.poll_all(context);
            match self.take_oldest() {
                Some(answered) => Poll::Ready(Some(answered)),
                None if self.is_empty() => Poll::Ready(None),
                None => Poll::Pending,
            }
        })
        .await
    }

    /// Waits for something else, and polls the appends meanwhile.
    pub(crate) async fn beside<F: Future>(&mut self, work: F) -> F::Output {
        let mut work = pin!(work);
        poll_fn(|context| {
            if let Poll::Ready(done) = work.as_mut().poll(context) {
                return Poll::Ready(done);
            }
            self.poll_all(context);
            Poll::Pending
        })
        .await
    }

    /// Polls every append that was woken.
    fn poll_all(&mut self, context: &mut Context<'_>) {
        while let Poll::Ready(Some(answer)) = self.appends.poll_next_unpin(context) {
            self.answers.push_back(answer);
        }
    }

    fn take_oldest(&mut self) -> Option<(OnItsWay, Answer)> {
        let answer = self.answers.pop_front()?;
        let oldest = self.waiting.pop_front()?;
        self.bytes = self.bytes.saturating_sub(oldest.bytes);
        Some((oldest, answer))
    }
}

/// Gives an append to the log, and returns when what is given to it next comes behind it.
///
/// A log has one queue, first in, first out, in which an append is once its future was polled, if it is
/// small; a larger one is encoded on another thread first, and gets in line when it is polled
/// again after that. Nothing but speed rests on it: were the next one in line before it, its chain
/// would be broken there.
pub(crate) async fn hand_over(mut append: Pending, is_small: bool) -> HandedOver {
    if is_small {
        return match append
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
        {
            Poll::Ready(answer) => HandedOver::Answered(answer),
            Poll::Pending => HandedOver::Waits(append),
        };
    }
    let bell = Arc::new(Bell::default());
    let waker = Waker::from(Arc::clone(&bell));
    let mut polls = 0;
    let answer = poll_fn(|context| {
        bell.task.register(context.waker());
        if polls > 0 && !bell.has_rung.swap(false, Ordering::AcqRel) {
            return Poll::Pending;
        }
        polls += 1;
        match append.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(answer) => Poll::Ready(Some(answer)),
            Poll::Pending if polls > 1 => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    });
    match answer.await {
        Some(answer) => HandedOver::Answered(answer),
        None => HandedOver::Waits(append),
    }
}

/// What became of an append that was given to the log.
pub(crate) enum HandedOver {
    Answered(Answer),
    Waits(Pending),
}

/// Wakes a task, and remembers that it did: the task may be woken for something else.
#[derive(Default)]
struct Bell {
    has_rung: AtomicBool,
    task: AtomicWaker,
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.has_rung.store(true, Ordering::Release);
        self.task.wake();
    }
}
