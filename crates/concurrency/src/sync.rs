//! What threads share, as shuttle has it: by the names that the `sync` modules of the
//! other crates give the standard library's.
//!
//! event-listener and the futures' channels and mutexes are the real ones. None of their
//! operations blocks a thread, so each is one step; the scheduler may act before it.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use shuttle::rand::Rng;

pub(crate) use shuttle::sync::{Condvar, Mutex, MutexGuard, PoisonError, RwLock, atomic};

/// Lets the scheduler choose who goes on.
pub(crate) fn point() {
    atomic::AtomicBool::new(false).load(atomic::Ordering::SeqCst);
}

/// A bell.
#[derive(Debug, Default)]
pub(crate) struct Event(event_listener::Event);

impl Event {
    pub(crate) fn new() -> Event {
        Event::default()
    }

    pub(crate) fn listen(&self) -> EventListener {
        point();
        EventListener(self.0.listen())
    }

    pub(crate) fn notify(&self, listeners: usize) -> usize {
        point();
        self.0.notify(listeners)
    }
}

/// A listener of it.
#[derive(Debug)]
pub(crate) struct EventListener(event_listener::EventListener);

impl Future for EventListener {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        pin!(&mut self.0).poll(context)
    }
}

/// Listening on a thread.
pub(crate) trait Listener {
    /// Waits for the bell. Time does not pass here: the limit is reached at once or never.
    fn wait_timeout(self, limit: Duration) -> Option<()>;
}

impl Listener for EventListener {
    fn wait_timeout(self, _limit: Duration) -> Option<()> {
        if shuttle::rand::thread_rng().gen_bool(0.5) {
            point();
            return None;
        }
        shuttle::future::block_on(self);
        Some(())
    }
}

/// An asynchronous mutex.
#[derive(Debug, Default)]
pub(crate) struct AsyncMutex<T>(Arc<futures::lock::Mutex<T>>);

/// Holds it, and keeps it, until it is dropped.
pub(crate) struct OwnedMutexGuard<T> {
    guard: Option<futures::lock::OwnedMutexGuard<T>>,
    _mutex: Arc<AsyncMutex<T>>,
}

impl<T> AsyncMutex<T> {
    pub(crate) async fn lock_owned(self: Arc<Self>) -> OwnedMutexGuard<T> {
        point();
        let guard = Arc::clone(&self.0).lock_owned().await;
        OwnedMutexGuard {
            guard: Some(guard),
            _mutex: self,
        }
    }
}

impl<T> Drop for OwnedMutexGuard<T> {
    fn drop(&mut self) {
        point();
        self.guard = None;
        point();
    }
}

/// A channel for one answer.
pub(crate) mod oneshot {
    pub(crate) use futures::channel::oneshot::Receiver;

    /// Where the answer is given.
    pub(crate) struct Sender<T>(futures::channel::oneshot::Sender<T>);

    pub(crate) fn channel<T>() -> (Sender<T>, Receiver<T>) {
        let (sender, receiver) = futures::channel::oneshot::channel();
        (Sender(sender), receiver)
    }

    impl<T> Sender<T> {
        pub(crate) fn send(self, answer: T) -> Result<(), T> {
            super::point();
            let sent = self.0.send(answer);
            super::point();
            sent
        }
    }
}

/// Threads. One of them may be lost to a panic, as in the standard library, where the
/// model says so by [`thread::Lost`]; any other panic is a model's failure.
pub(crate) mod thread {
    use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

    pub(crate) use shuttle::thread::{JoinHandle, current, yield_now};

    /// What a thread panics with that is to be lost.
    pub(crate) struct Lost;

    /// Ends this thread, running the destructors on its stack.
    pub(crate) fn lose() -> ! {
        resume_unwind(Box::new(Lost))
    }

    /// Starts threads.
    pub(crate) struct Builder(shuttle::thread::Builder);

    impl Builder {
        pub(crate) fn new() -> Builder {
            Builder(shuttle::thread::Builder::new())
        }

        pub(crate) fn name(self, name: String) -> Builder {
            Builder(self.0.name(name))
        }

        pub(crate) fn spawn(
            self,
            body: impl FnOnce() + Send + 'static,
        ) -> std::io::Result<JoinHandle<()>> {
            self.0.spawn(move || {
                if let Err(panic) = catch_unwind(AssertUnwindSafe(body))
                    && !panic.is::<Lost>()
                {
                    resume_unwind(panic);
                }
            })
        }
    }
}
