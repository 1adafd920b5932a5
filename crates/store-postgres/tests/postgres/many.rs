//! Many processes on one log: positions without holes, no batch lost or twice, and no reader that skips.

use std::collections::HashMap;
use std::thread;
use std::time::{Duration, Instant};

use annals_event_log::{EventLog, Position, Query, Record};
use annals_store_postgres::{PostgresLog, Settings};
use annals_testkit::invariants;
use futures::executor::block_on;
use tokio::runtime::Builder;
use uuid::Uuid;

use crate::process::{Process, part, say, together, wait_for_others};
use crate::support::{DATABASE, batch, batches, server, url};

const PROCESSES: usize = 16;
/// In each of them.
const WRITERS: usize = 4;
const BATCHES: usize = 12;
/// Processes that read, with so many tails in each.
const READERS: usize = 2;
const TAILS: usize = 4;
const PATIENCE: Duration = Duration::from_secs(120);

/// How many events the batch of a writer has.
fn size(writer: usize, n: usize) -> usize {
    1 + (7 * writer + 11 * n) % 5
}

/// How many events come from all processes.
fn total() -> u64 {
    let of_writer = |writer| (0..BATCHES).map(move |n| size(writer, n));
    let of_process: usize = (0..WRITERS).flat_map(of_writer).sum();
    (of_process * PROCESSES) as u64
}

/// Not a test by itself: a process that appends, and says what each batch was answered.
#[test]
fn child_appends() {
    let Some((settings, process)) = part() else {
        return;
    };
    let log = PostgresLog::open(&settings).unwrap();
    wait_for_others();
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
                    assert!(!appended.repeated, "{appended:?}");
                    say(format_args!(
                        "{id} {count} {} {}",
                        appended.first, appended.last
                    ));
                }
            });
        }
    });
    block_on(log.close());
}

/// Not a test by itself: a process with several tails, each of which says the positions that it has seen.
#[test]
fn child_follows() {
    let Some((settings, _)) = part() else {
        return;
    };
    let logs: Vec<PostgresLog> = (0..TAILS)
        .map(|_| PostgresLog::open(&settings).unwrap())
        .collect();
    wait_for_others();
    thread::scope(|scope| {
        for log in &logs {
            scope.spawn(move || {
                let seen = tail(log, total());
                let seen: Vec<String> = seen.iter().map(ToString::to_string).collect();
                say(seen.join(" "));
            });
        }
    });
}

/// Reads to the watermark and waits, until so many were seen.
fn tail(log: &PostgresLog, total: u64) -> Vec<u64> {
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

/// What a batch was answered.
struct Answer {
    count: usize,
    first: u64,
    last: u64,
}

/// A batch and its answer, as a process says them.
fn answer(line: &str) -> (Uuid, Answer) {
    let words: Vec<&str> = line.split(' ').collect();
    let [batch, count, first, last] = words.as_slice() else {
        panic!("{line:?} is no answer");
    };
    let answer = Answer {
        count: count.parse().unwrap(),
        first: first.parse().unwrap(),
        last: last.parse().unwrap(),
    };
    (batch.parse().unwrap(), answer)
}

#[test]
fn sixteen_processes_leave_no_hole_and_no_reader_skips() {
    let Some(server) = server() else { return };
    let url = url(server, DATABASE, "&connections=1");
    let log = PostgresLog::create(&Settings::from_url(&url).unwrap()).unwrap();
    let begun = Instant::now();
    let readers = together("many::child_follows", &url, READERS);
    let writers = together("many::child_appends", &url, PROCESSES);
    let said: Vec<String> = writers.into_iter().flat_map(Process::rest).collect();
    assert_eq!(said.len(), PROCESSES * WRITERS * BATCHES);
    let answers: HashMap<Uuid, Answer> = said.iter().map(|line| answer(line)).collect();
    let tails: Vec<String> = readers.into_iter().flat_map(Process::rest).collect();
    assert_eq!(tails.len(), READERS * TAILS);
    for seen in tails {
        let positions = seen.split(' ').map(|it| it.parse::<u64>().unwrap());
        assert!(
            positions.eq(1..=total()),
            "a reader skipped or saw twice: {seen}"
        );
    }
    let took = begun.elapsed();
    println!("{} events of {PROCESSES} processes in {took:?}", total());
    let stored = batches(&log);
    assert_eq!(stored.values().map(Vec::len).sum::<usize>() as u64, total());
    assert_eq!(stored.len(), answers.len(), "a batch is there unasked");
    for (batch, answer) in answers {
        let expected: Vec<u64> = (answer.first..=answer.last).collect();
        assert_eq!(stored.get(&batch), Some(&expected), "{batch}");
        assert_eq!(expected.len(), answer.count, "a batch is whole");
    }
    invariants::check_all(&log).unwrap();
}
