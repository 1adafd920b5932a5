//! Streams whose runs are in chunks that follow each other, are apart or are
//! shared: every page of every stream has what the whole log has.

use std::thread;

use annals_event_log::{EventLog, Query, Record, StreamName, Version};
use annals_store_rocks::RocksLog;
use futures::executor::block_on;

use crate::support::{all, append, new_log, options};

/// Which stream the next append goes to, and how many events: alone for a long
/// time, in turn, in pairs, in large ones.
fn writes() -> Vec<(String, usize)> {
    let mut writes = Vec::new();
    writes.extend((0..40).map(|_| ("run-a".to_owned(), 1)));
    writes.extend((0..40).map(|n| (format!("run-{}", ["a", "b"][n % 2]), 1)));
    writes.extend((0..40).map(|n| (format!("run-{}", ["a", "a", "b", "c"][n % 4]), n % 3 + 1)));
    writes.extend((0..6).map(|n| (format!("run-{}", ["b", "a", "a"][n % 3]), 300)));
    writes
}

fn check(log: &RocksLog, records: &[Record]) {
    for name in ["run-a", "run-b", "run-c"] {
        let stream: StreamName = name.parse().expect("a name");
        let whole: Vec<&Record> = records.iter().filter(|it| it.stream() == name).collect();
        let end = whole.len() as u64;
        for (from, limit) in [
            (1, 7),
            (1, 5_000),
            (3, 1),
            (39, 50),
            (90, 3),
            (end, 4),
            (end + 1, 4),
        ] {
            let query = Query::stream(stream.clone(), Version(from)).limit(limit);
            let page = block_on(log.read(query.clone())).expect("a page");
            let expected: Vec<&Record> = whole
                .iter()
                .copied()
                .skip(from as usize - 1)
                .take(limit)
                .collect();
            let found: Vec<&Record> = page.records.iter().collect();
            assert_eq!(found, expected, "{name} from {from}, {limit}");
            let back = block_on(log.read(query.backward())).expect("a page");
            let expected: Vec<&Record> = whole
                .iter()
                .copied()
                .take(from as usize)
                .rev()
                .take(limit)
                .collect();
            let found: Vec<&Record> = back.records.iter().collect();
            assert_eq!(found, expected, "{name} back from {from}, {limit}");
        }
    }
}

#[test]
fn pages_of_a_stream_are_what_the_whole_log_has_of_it() {
    let (_home, path, log) = new_log();
    for (stream, events) in writes() {
        append(&log, &stream, events);
    }
    let records = all(&log);
    check(&log, &records);
    log.compact();
    check(&log, &records);
    let reader = RocksLog::open_reader(&path, &options()).expect("a reader");
    check(&reader, &records);
}

#[test]
fn a_stream_is_read_whole_next_to_its_writer_in_both_processes() {
    let (_home, path, log) = new_log();
    append(&log, "run-a", 1);
    let reader = RocksLog::open_reader(&path, &options()).expect("a reader");
    let stream: StreamName = "run-a".parse().expect("a name");
    thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for n in 0..400 {
                append(&log, "run-a", 1);
                if n % 90 == 89 {
                    log.compact();
                }
            }
        });
        while !writer.is_finished() {
            for log in [&log, &reader] {
                let before = block_on(log.head(&stream)).expect("a head").0;
                let query = Query::stream(stream.clone(), Version(1)).limit(5_000);
                let page = block_on(log.read(query)).expect("a page");
                let versions: Vec<u64> = page.records.iter().map(|it| it.version().0).collect();
                assert!(
                    versions.len() as u64 >= before,
                    "{} of {before}",
                    versions.len()
                );
                assert!(versions.iter().copied().eq(1..=versions.len() as u64));
            }
        }
    });
}
