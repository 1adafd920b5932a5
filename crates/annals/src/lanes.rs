//! Queues for commands on the same object, so that within one process they
//! wait for each other instead of failing optimistically.

use std::collections::HashMap;
use std::sync::Arc;

use uuid::Uuid;

use crate::sync::{AsyncMutex, Mutex, OwnedMutexGuard, PoisonError};

type Lane = Arc<AsyncMutex<()>>;

#[derive(Debug, Default)]
pub(crate) struct Lanes {
    pub(crate) lanes: Mutex<HashMap<Uuid, Lane>>,
}

/// The right to go first on some objects, until it is dropped.
pub(crate) struct Turn<'a> {
    lanes: &'a Lanes,
    ids: Vec<Uuid>,
    guards: Vec<OwnedMutexGuard<()>>,
}

impl Lanes {
    /// Waits for its turn on every object. The ids are taken in order, so that
    /// two commands cannot wait for each other.
    pub(crate) async fn turn(&self, mut ids: Vec<Uuid>) -> Turn<'_> {
        ids.sort_unstable();
        ids.dedup();
        let mut turn = Turn {
            lanes: self,
            ids: Vec::new(),
            guards: Vec::new(),
        };
        for id in ids {
            let lane = {
                let mut lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
                Arc::clone(lanes.entry(id).or_default())
            };
            turn.ids.push(id);
            turn.guards.push(lane.lock_owned().await);
        }
        turn
    }

    /// Whether anybody goes first on one of these objects now, or waits for that.
    pub(crate) fn are_wanted(&self, ids: impl IntoIterator<Item = Uuid>) -> bool {
        let lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        !lanes.is_empty() && ids.into_iter().any(|id| lanes.contains_key(&id))
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.guards.clear();
        let mut lanes = self
            .lanes
            .lanes
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        for id in &self.ids {
            // The map's own reference is the last one: nobody waits.
            if lanes
                .get(id)
                .is_some_and(|lane| Arc::strong_count(lane) == 1)
            {
                lanes.remove(id);
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
        let lanes = Lanes::default();
        let (a, b) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let first = block_on(lanes.turn(vec![b, a, b]));
        assert!(lanes.turn(vec![a]).now_or_never().is_none());
        drop(first);
        assert!(lanes.turn(vec![a]).now_or_never().is_some());
        assert!(lanes.lanes.lock().is_ok_and(|lanes| lanes.is_empty()));
    }
}
