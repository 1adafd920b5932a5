//! Signals between the tasks of one open log: who waits for more, what woke them, and why they wait no longer.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use event_listener::{Event, EventListener};
use tokio::sync::Notify;

use crate::failure::Failure;

/// Who waits, and what they wait for besides the watermark.
#[derive(Debug, Default)]
pub(crate) struct Signals {
    waiting: AtomicUsize,
    /// Somebody began to wait, or heard that there is more.
    rung: Notify,
    /// This process has committed.
    committed: Notify,
    /// The server has been away for longer than anybody should wait.
    lost: Event,
    failure: Mutex<Option<Failure>>,
}

impl Signals {
    /// Has the head looked at soon.
    pub(crate) fn ring(&self) {
        self.rung.notify_one();
    }

    /// Has others told that there is more, where that is wanted.
    pub(crate) fn committed(&self) {
        self.committed.notify_one();
    }

    /// Waits until this process has committed since the last call.
    pub(crate) async fn has_committed(&self) {
        self.committed.notified().await;
    }

    /// Waits until somebody begins to wait, or hears that there is more.
    pub(crate) async fn is_rung(&self) {
        self.rung.notified().await;
    }

    /// Whether somebody waits.
    pub(crate) fn has_waiting(&self) -> bool {
        self.waiting.load(Ordering::Acquire) > 0
    }

    /// Tells all who wait that they wait in vain.
    pub(crate) fn lose(&self, failure: Failure) {
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(failure);
        self.lost.notify(usize::MAX);
    }

    /// Ends when the server has been away for too long; [`Signals::why`] says more.
    pub(crate) fn lost(&self) -> EventListener {
        self.lost.listen()
    }

    /// What the server was away by.
    pub(crate) fn why(&self) -> Failure {
        let failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.clone().unwrap_or(Failure::Lost {
            detail: "the log's head cannot be looked at".to_owned(),
        })
    }
}

/// One that waits, until it is dropped.
pub(crate) struct Waiting<'a>(&'a Signals);

impl<'a> Waiting<'a> {
    /// Begins to wait.
    pub(crate) fn begin(signals: &'a Signals) -> Waiting<'a> {
        signals.waiting.fetch_add(1, Ordering::AcqRel);
        signals.ring();
        Waiting(signals)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::AcqRel);
    }
}
