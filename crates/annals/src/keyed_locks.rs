//! Queues for commands on the same object, so that within one process they
//! wait for each other instead of failing optimistically.

use std::collections::HashMap;
use std::sync::Arc;

use uuid::Uuid;

use crate::sync::{AsyncMutex, Mutex, OwnedMutexGuard, PoisonError};

type KeyedLock = Arc<AsyncMutex<()>>;

#[derive(Debug, Default)]
pub(crate) struct KeyedLocks {
    pub(crate) locks: Mutex<HashMap<Uuid, KeyedLock>>,
}

/// The right to go first on some objects, until it is dropped.
pub(crate) struct Turn<'a> {
    locks: &'a KeyedLocks,
    ids: Vec<Uuid>,
    guards: Vec<OwnedMutexGuard<()>>,
}

impl KeyedLocks {
    /// Waits for its turn on every object. The ids are taken in order, so that
    /// two commands cannot wait for each other.
    pub(crate) async fn turn(&self, mut ids: Vec<Uuid>) -> Turn<'_> {
        ids.sort_unstable();
        ids.dedup();
        let mut turn = Turn {
            locks: self,
            ids: Vec::new(),
            guards: Vec::new(),
        };
        for id in ids {
            let lock = {
                let mut locks = self.locks.lock().unwrap_or_else(PoisonError::into_inner);
                Arc::clone(locks.entry(id).or_default())
            };
            turn.ids.push(id);
            turn.guards.push(lock.lock_owned().await);
        }
        turn
    }

    /// Whether a caller has its turn on one of these objects now, or waits for it.
    pub(crate) fn are_wanted(&self, ids: impl IntoIterator<Item = Uuid>) -> bool {
        let locks = self.locks.lock().unwrap_or_else(PoisonError::into_inner);
        !locks.is_empty() && ids.into_iter().any(|id| locks.contains_key(&id))
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.guards.clear();
        let mut locks = self
            .locks
            .locks
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        for id in &self.ids {
            // The map's own reference is the last one: no caller waits.
            if locks
                .get(id)
                .is_some_and(|lock| Arc::strong_count(lock) == 1)
            {
                locks.remove(id);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;
    use futures::executor::block_on;

    #[test]
    fn turns_exclude_each_other_and_leave_nothing_behind() {
        let locks = KeyedLocks::default();
        let (a, b) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let first = block_on(locks.turn(vec![b, a, b]));
        assert!(locks.turn(vec![a]).now_or_never().is_none());
        drop(first);
        assert!(locks.turn(vec![a]).now_or_never().is_some());
        assert!(locks.locks.lock().is_ok_and(|locks| locks.is_empty()));
    }
}
