//! The signal that is given once, and for ever; and the slot whose database gives it.

use std::sync::Arc;
use std::time::Duration;

use annals_event_log::ReadError;
use shuttle::future::block_on;
use shuttle::thread;

use super::all;
use crate::db::Db;
use crate::latch::{Latch, OnDrop};
use crate::slot::Slot;

/// Several wait, as futures and as threads, one gives it.
pub fn everyone_hears_of_it_and_it_stays() {
    let latch = Arc::new(Latch::default());
    let mut threads: Vec<Box<dyn FnOnce() + Send>> = Vec::new();
    for waiter in 0..4 {
        let latch = Arc::clone(&latch);
        threads.push(Box::new(move || {
            if waiter % 2 == 0 {
                block_on(latch.wait());
                assert!(latch.is_given());
            } else if latch.wait_blocking(Duration::from_secs(1)) {
                assert!(latch.is_given());
            }
            block_on(latch.wait());
            assert!(latch.wait_blocking(Duration::ZERO), "it was taken back");
        }));
    }
    let given = OnDrop(Arc::clone(&latch));
    threads.push(Box::new(move || drop(given)));
    all(threads);
    assert!(latch.is_given());
}

/// One thread that waits and one that gives it: few enough steps for every schedule.
pub fn a_waiter_hears_of_it() {
    let latch = Arc::new(Latch::default());
    let given = OnDrop(Arc::clone(&latch));
    let giver = thread::spawn(move || drop(given));
    block_on(latch.wait());
    giver.join().unwrap();
}

/// Readers, a thread that puts another database in its place, and the close: the signal is
/// given when the last one has let the last database go, and nothing is put in the place
/// of a closed one.
pub fn a_slot_is_released_when_the_last_reader_lets_go() {
    let released: Arc<OnDrop> = Arc::default();
    let db = |released: &Arc<OnDrop>| Db {
        released: Arc::clone(released),
        ..Db::default()
    };
    let slot = Slot::new(Arc::new(db(&released)));
    let mut threads: Vec<Box<dyn FnOnce() + Send>> = Vec::new();
    for _ in 0..2 {
        let slot = Arc::clone(&slot);
        threads.push(Box::new(move || {
            while let Ok(db) = slot.get() {
                assert!(!slot.released().is_given(), "it is open, and was released");
                drop(db);
                thread::yield_now();
            }
        }));
    }
    let (replaced, next) = (Arc::clone(&slot), db(&released));
    threads.push(Box::new(move || match replaced.replace(next) {
        Ok(()) | Err(ReadError::Closed) => {}
        Err(error) => panic!("{error}"),
    }));
    drop(released);
    threads.push(Box::new(move || {
        drop(slot.take());
        assert!(slot.take().is_none());
        assert!(matches!(slot.get(), Err(ReadError::Closed)));
        block_on(slot.released().wait());
    }));
    all(threads);
}
