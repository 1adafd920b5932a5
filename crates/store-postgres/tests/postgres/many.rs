//! Many processes on one log: positions without holes, and no reader that skips.

use std::collections::HashMap;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use annals_event_log::{Appended, EventLog, Position, Query, Record, Store};
use annals_store_postgres::{PostgresLog, Settings};
use annals_testkit::invariants;
use futures::executor::block_on;
use tokio::runtime::Builder;
use uuid::Uuid;

use crate::support::{DATABASE, all, batch, server, settings};

const PROCESSES: usize = 16;
const WRITERS: usize = 4;
const BATCHES: usize = 12;
const TAILS: usize = 8;
const PATIENCE: Duration = Duration::from_secs(20);

/// How many events the batch of a writer has.
fn size(writer: usize, n: usize) -> usize {
    1 + (7 * writer + 11 * n) % 5
}

/// Appends as one process does; what each batch was answered.
fn write(settings: &Settings, process: usize, answers: &Mutex<HashMap<Uuid, (Appended, usize)>>) {
    let log = PostgresLog::open(settings).unwrap();
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let log = &log;
            scope.spawn(move || {
                for n in 0..BATCHES {
                    let own = format!("own-{process}.{writer}");
                    let stream = if n % 2 == 0 { "shared-1" } else { own.as_str() };
                    let append = batch(stream, size(writer, n));
                    let (id, count) = (append.batch, append.events.len());
                    let appended = block_on(log.append(append)).unwrap();
                    answers.lock().unwrap().insert(id, (appended, count));
                }
            });
        }
    });
    block_on(log.close());
}

/// Reads to the watermark and waits, until so many were seen.
fn tail(settings: &Settings, total: u64) -> Vec<u64> {
    let log = PostgresLog::open(settings).unwrap();
    let clock = Builder::new_current_thread().enable_time().build().unwrap();
    let mut seen = Vec::new();
    let mut last = Position::START;
    while last.0 < total {
        let page = block_on(log.read(Query::all(last.next()).limit(37))).unwrap();
        seen.extend(page.records.iter().map(|record| record.position().0));
        last = page.records.last().map_or(last, Record::position);
        if page.next.is_none() && last.0 < total {
            // Where writers fail there is nothing to wait for: the test must end.
            let waited = async { tokio::time::timeout(PATIENCE, log.wait_above(last)).await };
            clock.block_on(waited).expect("more events").unwrap();
        }
    }
    seen
}

#[test]
fn sixteen_processes_leave_no_hole_and_no_reader_skips() {
    let Some(server) = server() else { return };
    let settings = settings(server, DATABASE, "&connections=1");
    let log = PostgresLog::create(&settings).unwrap();
    let per_writer = |writer| (0..BATCHES).map(move |n| size(writer, n));
    let total = (0..WRITERS).flat_map(per_writer).sum::<usize>() * PROCESSES;
    let answers: Mutex<HashMap<Uuid, (Appended, usize)>> = Mutex::default();
    let begun = std::time::Instant::now();
    thread::scope(|scope| {
        let tails: Vec<_> = (0..TAILS)
            .map(|_| scope.spawn(|| tail(&settings, total as u64)))
            .collect();
        for process in 0..PROCESSES {
            let (settings, answers) = (&settings, &answers);
            scope.spawn(move || write(settings, process, answers));
        }
        for tail in tails {
            let seen = tail.join().unwrap();
            assert!(
                seen.iter().copied().eq(1..=total as u64),
                "a reader skipped or saw twice: {seen:?}"
            );
        }
    });
    println!(
        "{total} events of {PROCESSES} processes in {:?}",
        begun.elapsed()
    );
    let records = all(&log as &dyn Store);
    assert_eq!(records.len(), total);
    let answers = answers.into_inner().unwrap();
    assert_eq!(answers.len(), PROCESSES * WRITERS * BATCHES);
    for (id, (appended, count)) in answers {
        let own: Vec<u64> = records
            .iter()
            .filter(|it| it.batch_id() == id)
            .map(|it| it.position().0)
            .collect();
        assert!(
            own.iter().copied().eq(appended.first.0..=appended.last.0),
            "{own:?}, not {appended:?}"
        );
        assert_eq!(own.len(), count, "a batch is whole");
    }
    invariants::check_all(&log).unwrap();
}
