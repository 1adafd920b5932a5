//! The upkeep of the search index in the background: one thread at a time, with its progress.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use annals::blocking::Wait as _;
use annals_search::LogSearch;

/// The least time between two updates.
const PAUSE: Duration = Duration::from_secs(2);
/// The least time after an update that failed.
const PAUSE_AFTER_FAILURE: Duration = Duration::from_secs(30);

/// Brings the search index up to date in the background.
#[derive(Debug, Default)]
pub(crate) struct IndexUpkeep {
    state: Mutex<State>,
    ended: Condvar,
}

#[derive(Debug, Default)]
struct State {
    upkeep: UpkeepState,
    last_end: Option<Instant>,
}

/// The state of the upkeep.
#[derive(Debug, Clone, Default)]
pub(crate) struct UpkeepState {
    /// Whether the index is being brought up to date.
    pub(crate) is_running: bool,
    /// The position up to which the index reaches, if an update is running.
    pub(crate) reached: u64,
    /// The error of the last update, if it failed.
    pub(crate) failure: Option<String>,
}

impl State {
    fn is_due(&self) -> bool {
        let pause = match self.upkeep.failure {
            Some(_) => PAUSE_AFTER_FAILURE,
            None => PAUSE,
        };
        !self.upkeep.is_running && self.last_end.is_none_or(|end| end.elapsed() >= pause)
    }
}

impl IndexUpkeep {
    /// Begins an update on a thread of its own, unless one is running or ended just now.
    pub(crate) fn begin(self: &Arc<Self>, search: &Arc<LogSearch>) {
        {
            let mut state = self.lock();
            if !state.is_due() {
                return;
            }
            state.upkeep.is_running = true;
            state.upkeep.reached = 0;
        }
        // Ends the update whatever becomes of the thread.
        let running = Running(Arc::clone(self));
        let search = Arc::clone(search);
        let started = std::thread::Builder::new()
            .name("search index".to_owned())
            .spawn(move || running.update(&search));
        if let Err(error) = started {
            tracing::warn!(%error, "the search index is not brought up to date");
        }
    }

    /// Waits for an update that is running.
    pub(crate) fn wait(&self) {
        let waited = self
            .ended
            .wait_while(self.lock(), |state| state.upkeep.is_running);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    /// The state of now.
    pub(crate) fn state(&self) -> UpkeepState {
        self.lock().upkeep.clone()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An update that is running; it ends when this is dropped.
struct Running(Arc<IndexUpkeep>);

impl Running {
    fn update(self, search: &LogSearch) {
        let mut reach = |position: annals::event_log::Position| {
            self.0.lock().upkeep.reached = position.0;
        };
        let updated = search.catch_up(&mut reach).wait();
        let updated = updated.and_then(|_| search.refresh().wait());
        if let Err(error) = &updated {
            tracing::debug!(%error, "the search index is not brought up to date");
        }
        self.0.lock().upkeep.failure = updated.err().map(|error| error.to_string());
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.upkeep.is_running = false;
        state.last_end = Some(Instant::now());
        drop(state);
        self.0.ended.notify_all();
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use annals::Annals;

    use super::*;

    #[test]
    fn one_update_runs_at_a_time_and_then_pauses() {
        let annals = Annals::open("memory:").wait().unwrap();
        let search = Arc::new(LogSearch::new(&annals, None));
        let upkeep = Arc::new(IndexUpkeep::default());
        assert!(upkeep.lock().is_due());
        upkeep.begin(&search);
        upkeep.wait();
        let state = upkeep.state();
        assert!(!state.is_running && state.failure.is_none(), "{state:?}");
        assert!(!upkeep.lock().is_due(), "it pauses");
        upkeep.begin(&search);
        assert!(!upkeep.state().is_running);
        let failure = Some("no space".to_owned());
        let failed = State {
            upkeep: UpkeepState {
                failure,
                ..UpkeepState::default()
            },
            last_end: Instant::now().checked_sub(PAUSE),
        };
        assert!(!failed.is_due(), "it pauses longer after a failure");
    }
}
