//! Readers while others write: nothing too early, nothing twice, nothing missed.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use futures::executor::block_on;

use super::Harness;
use super::support::{
    Done, all, assert_dense, batch_to, must_append, name, pages, patiently, poll_once,
};
use crate::{Position, Query, Source, Store};

/// Runs writers to their end, each with batches of 1 to 20 events; gives the
/// position of each batch's last record.
fn write_batches(log: &dyn Store, writers: usize, batches: usize) -> BTreeSet<Position> {
    let ends: Mutex<BTreeSet<Position>> = Mutex::default();
    thread::scope(|scope| {
        for writer in 0..writers {
            let ends = &ends;
            scope.spawn(move || {
                for n in 0..batches {
                    let size = 1 + (7 * writer + 11 * n) % 20;
                    let appended = must_append(log, batch_to(&format!("w-{writer}"), size));
                    ends.lock().unwrap().insert(appended.last);
                }
            });
        }
    });
    ends.into_inner().unwrap()
}

/// While batches are written, what a reader sees ends with a whole batch
/// and lies within the watermark.
pub fn nothing_partial_and_nothing_past_the_watermark(harness: &dyn Harness) {
    let log = harness.open();
    let done = AtomicBool::new(false);
    let (ends, seen) = thread::scope(|scope| {
        let readers: Vec<_> = (0..3)
            .map(|reader| {
                let (log, done) = (&*log, &done);
                scope.spawn(move || read_until(log, done, reader))
            })
            .collect();
        let writing = Done(&done);
        let ends = write_batches(&*log, 4, 60);
        drop(writing);
        let seen: BTreeSet<Position> = readers
            .into_iter()
            .flat_map(|reader| reader.join().unwrap())
            .collect();
        (ends, seen)
    });
    assert_eq!(Some(&log.watermark()), ends.last());
    assert!(seen.contains(&log.watermark()), "the readers saw the end");
    let partial: Vec<_> = seen
        .difference(&ends)
        .filter(|p| **p != Position::START)
        .collect();
    assert!(
        partial.is_empty(),
        "seen although no batch ends there: {partial:?}"
    );
}

/// The ends of the log as one reader sees them, until the writers are done.
fn read_until(log: &dyn Store, done: &AtomicBool, reader: usize) -> BTreeSet<Position> {
    let mut seen = BTreeSet::new();
    let mut last_watermark = Position::START;
    loop {
        let finished = done.load(Ordering::Acquire);
        let watermark = log.watermark();
        assert!(watermark >= last_watermark, "the watermark went back");
        last_watermark = watermark;
        seen.insert(watermark);
        let end = match reader {
            0 => end_backward(log),
            1 => end_forward(log, watermark),
            _ => {
                let head = block_on(log.head(&name("w-0"))).unwrap();
                let page = stream_page(log, head.0);
                assert!(
                    head.0 == 0 || !page.is_empty(),
                    "a head that cannot be read"
                );
                watermark
            }
        };
        // Only the watermark after the read bounds what the read may give.
        assert!(end <= log.watermark(), "{end} was read past the watermark");
        assert!(
            end >= watermark,
            "{watermark} is durable, the read ended at {end}"
        );
        seen.insert(end);
        if finished {
            return seen;
        }
    }
}

fn end_backward(log: &dyn Store) -> Position {
    let query = Query::all(Position(u64::MAX)).backward().limit(1);
    let page = block_on(log.read(query)).unwrap();
    page.records
        .first()
        .map_or(Position::START, |record| record.position())
}

fn end_forward(log: &dyn Store, from: Position) -> Position {
    let records = pages(log, Query::all(from.next()).limit(7)).concat();
    let positions: Vec<u64> = records.iter().map(|record| record.position().0).collect();
    let wanted: Vec<u64> = (from.next().0..).take(positions.len()).collect();
    assert_eq!(positions, wanted, "a read has no gap");
    positions.last().map_or(from, |last| Position(*last))
}

fn stream_page(log: &dyn Store, version: u64) -> Vec<crate::Record> {
    let source = Source::Stream(name("w-0"));
    let query = Query {
        source,
        from: version,
        ..Query::all(Position(1))
    };
    let records = block_on(log.read(query)).unwrap().records;
    assert!(
        records
            .iter()
            .all(|record| record.position() <= log.watermark())
    );
    records
}

/// Read to the watermark, wait, repeat: each record once, in order.
pub fn a_live_tail_sees_each_record_once(harness: &dyn Harness) {
    const WRITERS: usize = 8;
    const BATCHES: usize = 25;
    let log = harness.open();
    let total: usize = (0..WRITERS)
        .flat_map(|writer| (0..BATCHES).map(move |n| 1 + (7 * writer + 11 * n) % 20))
        .sum();
    thread::scope(|scope| {
        let tails: Vec<_> = [1, 16, 1_000]
            .map(|limit| {
                let log = &*log;
                scope.spawn(move || tail(log, total, limit))
            })
            .into();
        let ends = write_batches(&*log, WRITERS, BATCHES);
        assert_eq!(ends.last(), Some(&Position(total as u64)));
        for tail in tails {
            let positions = tail.join().unwrap();
            assert!(
                positions.iter().copied().eq(1..=total as u64),
                "{positions:?}"
            );
        }
    });
    assert_dense(&all(&*log));
}

fn tail(log: &dyn Store, total: usize, limit: usize) -> Vec<u64> {
    let mut positions = Vec::new();
    let mut last = Position::START;
    while positions.len() < total {
        let page = block_on(log.read(Query::all(last.next()).limit(limit))).unwrap();
        positions.extend(page.records.iter().map(|record| record.position().0));
        last = page.records.last().map_or(last, |record| record.position());
        if page.next.is_none() && positions.len() < total {
            let above = patiently("the tail", log.wait_above(last)).unwrap();
            assert!(above > last, "woken at {above} while waiting above {last}");
        }
    }
    positions
}

/// A reader that waits is woken by the append, and a reader that need not wait does not.
pub fn waiting_ends_when_the_watermark_moves(harness: &dyn Harness) {
    let log = harness.open();
    must_append(&*log, batch_to("a-1", 3));
    let at_once = patiently("no wait at all", log.wait_above(Position(1))).unwrap();
    assert_eq!(at_once, Position(3));
    let mut waits: Vec<_> = (0..8).map(|_| log.wait_above(Position(3))).collect();
    for wait in &mut waits {
        let early = poll_once(wait);
        assert!(early.is_none(), "nothing was appended: {early:?}");
    }
    thread::scope(|scope| {
        for wait in waits {
            scope.spawn(move || {
                let above = patiently("the append", wait).unwrap();
                assert_eq!(above, Position(5));
            });
        }
        must_append(&*log, batch_to("a-1", 2));
    });
}
