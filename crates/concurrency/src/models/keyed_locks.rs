//! Turns on objects: one at a time, no two wait for each other, nothing is left behind.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use shuttle::future::block_on;
use uuid::Uuid;

use super::{all, poll_a_few_times};
use crate::keyed_locks::KeyedLocks;
use crate::sync::point;

/// Objects: for each, whether a caller is in its critical section.
struct Objects {
    locks: KeyedLocks,
    busy: [AtomicBool; 3],
}

impl Objects {
    fn new() -> Arc<Objects> {
        Arc::new(Objects {
            locks: KeyedLocks::default(),
            busy: Default::default(),
        })
    }

    /// Waits for the turn on some, and is alone with them.
    async fn use_alone(&self, objects: &[usize]) {
        let ids = objects
            .iter()
            .map(|object| Uuid::from_u128(*object as u128));
        let turn = self.locks.turn(ids.collect()).await;
        let distinct: std::collections::BTreeSet<usize> = objects.iter().copied().collect();
        for object in &distinct {
            let busy = self.busy[*object].swap(true, Ordering::SeqCst);
            assert!(!busy, "two have their turn on object {object}");
        }
        point();
        for object in &distinct {
            self.busy[*object].store(false, Ordering::SeqCst);
        }
        drop(turn);
    }

    fn check_nothing_is_left(&self) {
        let locks = self.locks.locks.lock().unwrap();
        assert!(locks.is_empty(), "left behind: {locks:?}");
    }
}

/// Four with objects in common, in orders that would lock each other out.
pub fn turns_exclude_each_other_without_a_deadlock() {
    let objects = Objects::new();
    let wanted: [&[usize]; 4] = [&[0, 1], &[1, 0, 1], &[2, 1, 0], &[2]];
    all(wanted
        .into_iter()
        .map(|wanted| {
            let objects = Arc::clone(&objects);
            Box::new(move || block_on(objects.use_alone(wanted))) as Box<dyn FnOnce() + Send>
        })
        .collect());
    objects.check_nothing_is_left();
}

/// The same together with callers that give up while they wait.
pub fn who_gives_up_leaves_nothing_behind() {
    let objects = Objects::new();
    let wanted: [&[usize]; 4] = [&[0, 1], &[1, 0], &[1, 2, 0], &[1]];
    all(wanted
        .into_iter()
        .enumerate()
        .map(|(who, wanted)| {
            let objects = Arc::clone(&objects);
            Box::new(move || {
                if who % 2 == 0 {
                    block_on(objects.use_alone(wanted));
                } else {
                    poll_a_few_times(objects.use_alone(wanted), who);
                }
            }) as Box<dyn FnOnce() + Send>
        })
        .collect());
    objects.check_nothing_is_left();
}
