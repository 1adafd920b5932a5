//! Content that goes while a projection folds it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use annals_event_log::{Page, Query, ReadError, Record, Store};
use futures::FutureExt;

use super::closed::closed;
use super::original::Original;
use super::redaction::redaction_of;
use crate::through::Hook;

/// Removes content that was read, right before one of the calls to a log.
pub(super) struct Redacting<'a> {
    log: Arc<dyn Store>,
    original: &'a Original,
    /// The number of the call, and how many there may be behind it.
    at: u64,
    patience: u64,
    calls: AtomicU64,
    read: Mutex<Vec<Record>>,
    outcome: Mutex<Result<Outcome, String>>,
}

/// What became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// No content had been read that could be removed.
    Nothing,
    /// Content was removed.
    Removed,
    /// Content was removed, and the calls behind it did not end.
    Endless,
}

impl<'a> Redacting<'a> {
    pub(super) fn new(
        log: Arc<dyn Store>,
        original: &'a Original,
        at: u64,
        patience: u64,
    ) -> Redacting<'a> {
        Redacting {
            log,
            original,
            at,
            patience,
            calls: AtomicU64::new(0),
            read: Mutex::default(),
            outcome: Mutex::new(Ok(Outcome::Nothing)),
        }
    }

    /// Removes the content now where there were fewer calls; whether there were.
    pub(super) fn ended_before(&self) -> bool {
        let ended = self.calls.load(Ordering::SeqCst) <= self.at;
        if ended {
            self.redact();
        }
        ended
    }

    pub(super) fn outcome(&self) -> Result<Outcome, String> {
        lock(&self.outcome).clone()
    }

    fn redact(&self) {
        let redaction = redaction_of(&lock(&self.read), self.original);
        let Some(redaction) = redaction.transpose() else {
            return;
        };
        let redacted = redaction.and_then(|redaction| {
            // A log in memory answers at once. The caller may be within an executor, so
            // that another one cannot wait for it.
            let answer = self.log.redact(redaction).now_or_never();
            let answer = answer.ok_or("the log in memory did not answer at once")?;
            answer.map_err(|error| error.to_string())
        });
        *lock(&self.outcome) = redacted.map(|_| Outcome::Removed);
    }
}

/// A thread that panicked has left what was noted whole.
fn lock<T>(noted: &Mutex<T>) -> MutexGuard<'_, T> {
    noted.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Hook for Redacting<'_> {
    fn before(&self) -> Result<(), ReadError> {
        let number = self.calls.fetch_add(1, Ordering::SeqCst);
        if number == self.at {
            self.redact();
        }
        let behind = number.saturating_sub(self.at);
        if behind <= self.patience {
            return Ok(());
        }
        let mut outcome = lock(&self.outcome);
        if *outcome == Ok(Outcome::Removed) {
            *outcome = Ok(Outcome::Endless);
        }
        drop(outcome);
        Err(closed(behind - self.patience))
    }

    fn page(&self, _: &Query, page: Page) -> Page {
        lock(&self.read).extend_from_slice(&page.records);
        page
    }
}
