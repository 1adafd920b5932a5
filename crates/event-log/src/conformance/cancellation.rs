//! Dropped futures: nothing breaks, and a dropped append can be repeated.

use std::thread;

use futures::executor::block_on;

use super::Harness;
use super::support::{
    all, assert_dense, assert_unchanged, batch_to, must_append, name, poll_once, whole,
};
use crate::{BatchStatus, Position, Query};

/// An append begins when it is first polled.
pub fn a_future_that_was_never_polled_does_nothing(harness: &dyn Harness) {
    let log = harness.open();
    must_append(&*log, batch_to("a-1", 1));
    let before = whole(&*log);
    let append = batch_to("a-1", 1);
    drop(log.append(append.clone()));
    drop(log.append_records(all(&*log), Vec::new()));
    drop(log.close());
    let status = block_on(log.batch(append.batch, &append.request)).unwrap();
    assert_eq!(status, BatchStatus::Unknown);
    assert_unchanged(&*log, &before, "dropping futures");
    must_append(&*log, append);
}

/// Whether or not a dropped append was made, repeating it makes it once.
pub fn a_dropped_append_can_be_repeated(harness: &dyn Harness) {
    const WRITERS: usize = 4;
    const ROUNDS: usize = 50;
    let log = harness.open();
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let log = &*log;
            scope.spawn(move || {
                for _ in 0..ROUNDS {
                    let append = batch_to(&format!("dropped-{writer}"), 2);
                    let first = poll_once(log.append(append.clone()));
                    must_append(log, batch_to("between-1", 1));
                    let again = must_append(log, append.clone());
                    if let Some(first) = first {
                        assert_eq!(first.unwrap().again(), again.again());
                    }
                    assert_eq!(must_append(log, append), again.again());
                }
            });
        }
    });
    let records = all(&*log);
    assert_dense(&records);
    assert_eq!(records.len(), WRITERS * ROUNDS * 3, "one copy of each");
    for writer in 0..WRITERS {
        let head = block_on(log.head(&name(&format!("dropped-{writer}")))).unwrap();
        assert_eq!(head.0, 2 * ROUNDS as u64);
    }
}

/// Dropped reads and waits leave a log that answers.
pub fn dropped_reads_and_waits_are_harmless(harness: &dyn Harness) {
    let log = harness.open();
    for n in 0..100 {
        must_append(&*log, batch_to("a-1", 1));
        let _ = poll_once(log.read(Query::all(Position(1))));
        let _ = poll_once(log.stats());
        let _ = poll_once(log.head(&name("a-1")));
        let _ = poll_once(log.streams("", None, 10));
        let waited = poll_once(log.wait_above(log.watermark()));
        assert!(waited.is_none(), "nothing was appended: {waited:?}");
        assert_eq!(log.watermark(), Position(n + 1));
    }
    assert_dense(&all(&*log));
    let above = block_on(log.wait_above(Position(99))).unwrap();
    assert_eq!(above, Position(100));
}
