//! The search for the log's next owner: one at a time, for all callers that lost theirs.
//!
//! The search runs on a thread of its own, and callers wait for its outcome. None of them holds anything meanwhile: a
//! future that is never polled again, or is dropped, delays no other one.

use std::sync::Arc;

use crate::sync::{Event, Mutex, MutexGuard, PoisonError, thread};

/// The search under way, if there is one. `T` is its outcome.
pub(crate) struct OwnerSearch<T> {
    under_way: Mutex<Option<Arc<Search<T>>>>,
}

/// Result of looking at the state of things before a search starts.
pub(crate) enum Plan<T, W> {
    /// No search is needed: this is the outcome.
    Known(T),
    /// This work finds the outcome. It may block.
    Search(W),
}

/// A search that callers wait for.
struct Search<T> {
    outcome: Mutex<Outcome<T>>,
    bell: Event,
}

enum Outcome<T> {
    Pending,
    Found(T),
    /// The thread ended in a panic.
    Lost,
}

/// Ends a search when its thread ends, however it ends.
struct Ending<T> {
    searches: Arc<OwnerSearch<T>>,
    search: Arc<Search<T>>,
    outcome: Outcome<T>,
}

impl<T> OwnerSearch<T> {
    pub(crate) fn new() -> Arc<OwnerSearch<T>> {
        Arc::new(OwnerSearch {
            under_way: Mutex::new(None),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Option<Arc<Search<T>>>> {
        self.under_way
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until no search is under way.
    pub(crate) async fn idle(&self) {
        loop {
            let search = self.lock().clone();
            match search {
                Some(search) => search.ended().await,
                None => return,
            }
        }
    }
}

impl<T: Clone + Send + 'static> OwnerSearch<T> {
    /// Returns the outcome that is known, or waits for the search under way, or starts one. `plan` is called while no
    /// search starts or ends. `None` if the search was lost to a panic.
    ///
    /// # Errors
    /// The operating system's, if there can be no thread.
    pub(crate) async fn outcome<W: FnOnce() -> T + Send + 'static>(
        self: &Arc<Self>,
        plan: impl FnOnce() -> Plan<T, W>,
    ) -> std::io::Result<Option<T>> {
        let search = match self.join(plan)? {
            Plan::Known(outcome) => return Ok(Some(outcome)),
            Plan::Search(search) => search,
        };
        search.ended().await;
        Ok(search.found())
    }

    fn join<W: FnOnce() -> T + Send + 'static>(
        self: &Arc<Self>,
        plan: impl FnOnce() -> Plan<T, W>,
    ) -> std::io::Result<Plan<T, Arc<Search<T>>>> {
        let (search, work) = {
            let mut under_way = self.lock();
            let work = match plan() {
                Plan::Known(outcome) => return Ok(Plan::Known(outcome)),
                Plan::Search(work) => work,
            };
            if let Some(search) = &*under_way {
                return Ok(Plan::Search(Arc::clone(search)));
            }
            let search = Arc::new(Search {
                outcome: Mutex::new(Outcome::Pending),
                bell: Event::new(),
            });
            *under_way = Some(Arc::clone(&search));
            (search, work)
        };
        let ending = Ending {
            searches: Arc::clone(self),
            search: Arc::clone(&search),
            outcome: Outcome::Lost,
        };
        // Without a thread its work is dropped here, which ends the search for others that wait by now.
        let thread = thread::Builder::new().name("annals-find-owner".into());
        thread.spawn(move || ending.with(work))?;
        Ok(Plan::Search(search))
    }
}

impl<T> Search<T> {
    fn lock(&self) -> MutexGuard<'_, Outcome<T>> {
        self.outcome.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the end of the search.
    async fn ended(&self) {
        loop {
            // Listen first and look then: an end between the two is heard.
            let listener = self.bell.listen();
            if !matches!(*self.lock(), Outcome::Pending) {
                return;
            }
            listener.await;
        }
    }
}

impl<T: Clone> Search<T> {
    fn found(&self) -> Option<T> {
        match &*self.lock() {
            Outcome::Found(outcome) => Some(outcome.clone()),
            Outcome::Pending | Outcome::Lost => None,
        }
    }
}

impl<T> Ending<T> {
    /// Does the work of the search, and ends it.
    fn with(mut self, work: impl FnOnce() -> T) {
        self.outcome = Outcome::Found(work());
    }
}

impl<T> Drop for Ending<T> {
    fn drop(&mut self) {
        *self.searches.lock() = None;
        let outcome = std::mem::replace(&mut self.outcome, Outcome::Lost);
        *self.search.lock() = outcome;
        self.search.bell.notify(usize::MAX);
    }
}
