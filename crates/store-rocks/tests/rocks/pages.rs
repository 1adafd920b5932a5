//! Large pages of the whole log, which several threads read: each is what one reader after the other
//! would have taken.

use std::ops::Range;

use annals_event_log::store_support::PAGE_BYTES;
use annals_event_log::{Direction, EventLog, NewEvent, Position, Query, Record};
use annals_store_rocks::RocksLog;
use futures::executor::block_on;

use crate::support::{all, append, batch, event, options};

/// Small records, some hundred large ones among them, and small ones again.
fn fill(log: &RocksLog) {
    for _ in 0..6 {
        append(log, "run-a", 1_000);
    }
    let large = NewEvent {
        structure: vec![7; 60_000].into(),
        ..event("run-b")
    };
    for _ in 0..4 {
        block_on(log.append(batch(vec![large.clone(); 80], vec![]))).expect("large ones");
    }
    for _ in 0..5 {
        append(log, "run-c", 1_000);
    }
}

/// The places of a page in the whole log, taken one record after the other, and where the next begins.
fn expected(records: &[Record], query: &Query) -> (Range<usize>, Option<u64>) {
    let (len, from) = (records.len(), query.from as usize);
    let forward = query.direction == Direction::Forward;
    let places: Vec<usize> = match forward {
        true => (from.saturating_sub(1)..len).collect(),
        false => (0..from.min(len)).rev().collect(),
    };
    let mut bytes = 0;
    let mut taken = 0;
    for place in &places {
        bytes += records[*place].as_bytes().len();
        if taken == query.limit || (bytes > PAGE_BYTES && taken > 0) {
            break;
        }
        taken += 1;
    }
    let next = places.get(taken).map(|place| records[*place].position().0);
    let first = places.first().copied().unwrap_or_default();
    match forward {
        true => (first..first + taken, next),
        false => (first + 1 - taken..first + 1, next),
    }
}

#[test]
fn a_large_page_is_what_one_reader_would_have_taken() {
    for read_threads in [1, 2, 3] {
        let home = tempfile::tempdir().expect("a folder");
        let options = options().with_read_threads(read_threads);
        let log = RocksLog::create(&home.path().join("log"), &options).expect("a log");
        fill(&log);
        let records = all(&log);
        assert_eq!(records.len(), 11_320);
        for limit in [2_000, 2_003, 5_001, 10_000] {
            for from in [1, 2, 999, 4_321, 5_990, 6_001, 6_100, 6_320, 9_320, 11_320] {
                let forward = Query::all(Position(from)).limit(limit);
                for query in [forward.clone(), forward.backward()] {
                    let page = block_on(log.read(query.clone())).expect("a page");
                    let (places, next) = expected(&records, &query);
                    let mut wanted = records[places].to_vec();
                    if query.direction == Direction::Backward {
                        wanted.reverse();
                    }
                    assert_eq!(page.next, next, "{read_threads} threads, {query:?}");
                    assert!(page.records == wanted, "{read_threads} threads, {query:?}");
                }
            }
        }
        let behind = Query::all(Position(11_321)).limit(2_000);
        let page = block_on(log.read(behind)).expect("a page");
        assert!(page.records.is_empty() && page.next.is_none());
    }
}
