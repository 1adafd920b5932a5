//! The watermark: it does not go back, and all who wait are woken by a move and by the
//! close.

use std::sync::Arc;

use annals_event_log::{Position, ReadError};
use shuttle::future::block_on;
use shuttle::thread;

use super::all;
use crate::watermark::Watermark;

/// Two who move it, out of order, and three who wait.
pub fn it_rises_and_wakes_all() {
    let watermark = Arc::new(Watermark::new(Position(0)));
    let mut threads: Vec<Box<dyn FnOnce() + Send>> = Vec::new();
    for positions in [[1, 3], [2, 4]] {
        let watermark = Arc::clone(&watermark);
        threads.push(Box::new(move || {
            for position in positions {
                watermark.advance(Position(position));
                assert!(watermark.get() >= Position(position));
            }
        }));
    }
    for _ in 0..3 {
        let watermark = Arc::clone(&watermark);
        threads.push(Box::new(move || {
            let mut seen = Position(0);
            while seen < Position(4) {
                let now = block_on(watermark.above(seen)).expect("it is open");
                assert!(now > seen && now <= Position(4), "{now} after {seen}");
                assert!(watermark.get() >= now, "it went back");
                seen = now;
            }
        }));
    }
    all(threads);
    assert_eq!(watermark.get(), Position(4));
}

/// One move, then the close. A waiting reader sees the move first.
pub fn closing_wakes_all_and_hides_no_move() {
    let watermark = Arc::new(Watermark::new(Position(0)));
    let mut threads: Vec<Box<dyn FnOnce() + Send>> = Vec::new();
    let moved = Arc::clone(&watermark);
    threads.push(Box::new(move || {
        moved.advance(Position(1));
        moved.close();
    }));
    for _ in 0..2 {
        let watermark = Arc::clone(&watermark);
        threads.push(Box::new(move || {
            assert!(matches!(
                block_on(watermark.above(Position(0))),
                Ok(Position(1))
            ));
            let end = block_on(watermark.above(Position(1)));
            assert!(matches!(end, Err(ReadError::Closed)), "{end:?}");
        }));
    }
    all(threads);
}

/// One thread that waits and one that moves it: few enough steps for every schedule.
pub fn a_waiter_is_woken_by_a_move() {
    let watermark = Arc::new(Watermark::new(Position(0)));
    let waiting = Arc::clone(&watermark);
    let waiter = thread::spawn(move || block_on(waiting.above(Position(0))));
    watermark.advance(Position(1));
    assert!(matches!(waiter.join().unwrap(), Ok(Position(1))));
}

/// One thread that waits and one that closes it: few enough steps for every schedule.
pub fn a_waiter_is_woken_by_the_close() {
    let watermark = Arc::new(Watermark::new(Position(0)));
    let waiting = Arc::clone(&watermark);
    let waiter = thread::spawn(move || block_on(waiting.above(Position(0))));
    watermark.close();
    assert!(matches!(waiter.join().unwrap(), Err(ReadError::Closed)));
}
