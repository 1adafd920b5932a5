//! A signal that is given once, and may be waited for.

use std::sync::Arc;
use std::time::Duration;

use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Event, Listener};

/// A signal that is given once, and for ever.
#[derive(Debug, Default)]
pub(crate) struct Latch {
    given: AtomicBool,
    bell: Event,
}

impl Latch {
    pub(crate) fn give(&self) {
        self.given.store(true, Ordering::Release);
        self.bell.notify(usize::MAX);
    }

    pub(crate) fn is_given(&self) -> bool {
        self.given.load(Ordering::Acquire)
    }

    pub(crate) async fn wait(&self) {
        loop {
            let listener = self.bell.listen();
            if self.is_given() {
                return;
            }
            listener.await;
        }
    }

    /// Waits on this thread, at most so long; whether the signal was given.
    pub(crate) fn wait_blocking(&self, limit: Duration) -> bool {
        let listener = self.bell.listen();
        if !self.is_given() {
            listener.wait_timeout(limit);
        }
        self.is_given()
    }
}

/// Gives the signal when it is dropped.
#[derive(Debug, Default)]
pub(crate) struct OnDrop(pub(crate) Arc<Latch>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.give();
    }
}
