//! Appends on their way to the log, in the order in which they were given to it.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use annals_event_log::{Append, AppendError, Appended, Link, Store};
use futures::future::BoxFuture;
use futures::task::AtomicWaker;
use uuid::Uuid;

use super::ahead::Touched;
use super::given::Given;

/// Batches on their way at most.
const BATCHES: usize = 256;
/// Bytes on their way beyond which no further batch is given to the log.
const BYTES: usize = 4 * 1024 * 1024;
/// What the log says of an append.
pub(super) type Answer = Result<Appended, AppendError>;

/// An append that the log has not answered yet.
pub(super) type Pending = BoxFuture<'static, Answer>;

/// A batch on its way.
pub(super) struct OnItsWay {
    pub(super) given: Given,
    /// Counted from the first that its writer was given.
    pub(super) number: u64,
    /// The epoch that it was decided in.
    pub(super) epoch: u64,
    pub(super) touched: Touched,
    pub(super) bytes: usize,
    pub(super) append: Pending,
}

/// The batches on their way, the oldest first.
#[derive(Default)]
pub(super) struct Line {
    waiting: VecDeque<OnItsWay>,
    bytes: usize,
}

impl Line {
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    pub(super) fn is_full(&self) -> bool {
        self.waiting.len() >= BATCHES || self.bytes >= BYTES
    }

    pub(super) fn has(&self, key: Uuid) -> bool {
        let mut waiting = self.waiting.iter();
        waiting.any(|it| it.given.batch.key() == Some(key))
    }

    pub(super) fn push(&mut self, next: OnItsWay) {
        self.bytes = self.bytes.saturating_add(next.bytes);
        self.waiting.push_back(next);
    }

    /// The oldest batch with its answer, if it has come.
    pub(super) fn answered(&mut self) -> Option<(OnItsWay, Answer)> {
        match self.poll_oldest(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(answered) => answered,
            Poll::Pending => None,
        }
    }

    /// Waits for the answer to the oldest batch; `None` if there is none.
    pub(super) async fn oldest(&mut self) -> Option<(OnItsWay, Answer)> {
        poll_fn(|context| self.poll_oldest(context)).await
    }

    fn poll_oldest(&mut self, context: &mut Context<'_>) -> Poll<Option<(OnItsWay, Answer)>> {
        let Some(oldest) = self.waiting.front_mut() else {
            return Poll::Ready(None);
        };
        let Poll::Ready(answer) = oldest.append.as_mut().poll(context) else {
            return Poll::Pending;
        };
        let oldest = self.waiting.pop_front();
        let bytes = oldest.as_ref().map_or(0, |oldest| oldest.bytes);
        self.bytes = self.bytes.saturating_sub(bytes);
        Poll::Ready(oldest.map(|oldest| (oldest, answer)))
    }
}

/// Gives an append to the log, and returns when what is given to it next comes behind it.
///
/// A log has one queue, first in, first out, in which an append is once its future was polled, if it is
/// small; a larger one is encoded on another thread first, and gets in line when it is polled
/// again after that. Nothing but speed rests on it: were the next one in line before it, its chain
/// would be broken there.
pub(super) async fn hand_over(log: Arc<dyn Store>, append: Append, link: Link) -> HandedOver {
    let is_small = append.is_small();
    let mut append: Pending = Box::pin(async move { log.append_linked(append, link).await });
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
pub(super) enum HandedOver {
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
