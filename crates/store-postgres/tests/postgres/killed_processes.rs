//! Processes that are killed or stopped at any moment: what they were told is there, nothing is there twice, and the
//! others go on.

use std::collections::HashMap;
use std::thread;
use std::time::{Duration, Instant};

use annals_event_log::{Appended, EventLog};
use annals_store_postgres::{PostgresLog, Settings};
use annals_testkit::invariants;
use annals_testkit::process::assert_within;
use futures::executor::block_on;
use rustix::process::Signal;
use uuid::Uuid;

use crate::process::{Process, part, say};
use crate::support::{DATABASE, batch, batches, server, url};

const CHILD: &str = "killed_processes::child_appends_until_it_is_killed";
const PROCESSES: usize = 4;
const WRITERS: usize = 3;
const KILLS: usize = 12;
/// No process holds up another one for longer: far less than its own limits.
const PROMPT: Duration = Duration::from_secs(5);

/// Not a test by itself: a process that appends for as long as it lives, and says what it sends and is answered.
#[test]
fn child_appends_until_it_is_killed() {
    let Some((settings, number)) = part() else {
        return;
    };
    let log = PostgresLog::open(&settings).unwrap();
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let log = &log;
            scope.spawn(move || {
                for n in 0.. {
                    let stream = format!("s-{}", n % 3);
                    let append = batch(&stream, 1 + (number + writer + n) % 4);
                    let (id, count) = (append.batch, append.events.len());
                    say(format_args!("sent {id} {count}"));
                    let Appended {
                        first,
                        last,
                        repeated,
                    } = block_on(log.append(append)).unwrap();
                    assert!(!repeated, "nobody else has sent it");
                    say(format_args!("acknowledged {id} {first} {last}"));
                }
            });
        }
    });
}

/// What processes have said.
#[derive(Default)]
struct Said {
    /// Batches, and how many events they have.
    sent: HashMap<Uuid, usize>,
    acknowledged: HashMap<Uuid, (u64, u64)>,
}

impl Said {
    fn hear(&mut self, line: &str) {
        let words: Vec<&str> = line.split(' ').collect();
        match words.as_slice() {
            ["sent", batch, count] => {
                let count = count.parse().unwrap();
                self.sent.insert(batch.parse().unwrap(), count);
            }
            ["acknowledged", batch, first, last] => {
                let place = (first.parse().unwrap(), last.parse().unwrap());
                self.acknowledged.insert(batch.parse().unwrap(), place);
            }
            _ => panic!("{line:?} is not what a process says"),
        }
    }

    fn hear_all(&mut self, lines: Vec<String>) {
        lines.iter().for_each(|line| self.hear(line));
    }

    /// Listens until so many more appends were acknowledged.
    fn hear_more(&mut self, process: &Process, more: usize) {
        let enough = self.acknowledged.len() + more;
        while self.acknowledged.len() < enough {
            self.hear(&process.hear());
        }
    }

    /// Appends from this process, and says how long that took.
    fn append(&mut self, log: &PostgresLog) -> Duration {
        let append = batch("s-0", 1);
        let (id, begun) = (append.batch, Instant::now());
        let appended = block_on(log.append(append)).unwrap();
        self.sent.insert(id, 1);
        let place = (appended.first.0, appended.last.0);
        self.acknowledged.insert(id, place);
        begun.elapsed()
    }

    /// Compares what was said with the log.
    fn check(&self, log: &PostgresLog) {
        let stored = batches(log);
        for (batch, (first, last)) in &self.acknowledged {
            let expected: Vec<u64> = (*first..=*last).collect();
            assert_eq!(stored.get(batch), Some(&expected), "acknowledged: {batch}");
        }
        for (batch, positions) in &stored {
            let sent = self.sent.get(batch);
            assert_eq!(
                sent,
                Some(&positions.len()),
                "{batch} is not as it was sent"
            );
        }
        println!(
            "{} sent, {} acknowledged, {} in the log",
            self.sent.len(),
            self.acknowledged.len(),
            stored.len()
        );
        invariants::check_all(log).unwrap();
    }
}

/// Numbers that follow from a seed (SplitMix64).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) % limit as u64) as usize
    }
}

#[test]
fn killed_processes_lose_nothing_that_they_were_told_and_hold_up_nobody() {
    let Some(server) = server() else { return };
    let seed = std::env::var("ANNALS_SEED").ok();
    let seed = seed.and_then(|seed| seed.parse().ok()).unwrap_or(42);
    println!("{KILLS} kills, seed {seed} (ANNALS_SEED)");
    let mut random = Numbers(seed);
    let url = url(server, DATABASE, "&connections=1");
    let log = PostgresLog::create(&Settings::from_url(&url).unwrap()).unwrap();
    let mut said = Said::default();
    let started = (0..PROCESSES).map(|number| Process::start(CHILD, &url, number));
    let mut processes: Vec<Process> = started.collect();
    for process in &processes {
        said.hear_more(process, 1);
    }
    let mut longest = Duration::ZERO;
    for kill in 0..KILLS {
        // Some kills come while a process is still opening the log.
        thread::sleep(Duration::from_millis(random.below(120) as u64));
        let process = processes.swap_remove(random.below(PROCESSES));
        said.hear_all(process.kill());
        longest = longest.max(said.append(&log));
        processes.push(Process::start(CHILD, &url, PROCESSES + kill));
    }
    for process in processes {
        said.hear_all(process.kill());
    }
    println!("an append beside a killed process took {longest:?} at most");
    assert_within(longest, PROMPT);
    assert!(said.acknowledged.len() > 10 * KILLS, "too little happened");
    said.check(&log);
}

/// One that is stopped between the lock and the commit holds the log's head. The server ends its session.
#[test]
fn a_stopped_process_loses_the_head_and_goes_on_later() {
    let Some(server) = server() else { return };
    let held = Duration::from_millis(500);
    let more = format!(
        "&connections=1&idle_in_transaction_timeout={}",
        held.as_secs_f64()
    );
    let url = url(server, DATABASE, &more);
    let log = PostgresLog::create(&Settings::from_url(&url).unwrap()).unwrap();
    let process = Process::start(CHILD, &url, 0);
    let mut said = Said::default();
    let (mut stops, mut longest) = (0, Duration::ZERO);
    // Until it was stopped there at least once.
    while stops < 4 || longest < held / 2 {
        assert!(stops < 60, "it was never stopped within an append");
        stops += 1;
        said.hear_more(&process, 3 * WRITERS);
        process.signal(Signal::STOP);
        let waited = said.append(&log);
        assert_within(waited, PROMPT);
        longest = longest.max(waited);
        // What it said before does not count as going on.
        thread::sleep(Duration::from_millis(20));
        said.hear_all(process.heard());
        process.signal(Signal::CONT);
    }
    said.hear_more(&process, 3 * WRITERS);
    println!("stopped {stops} times, an append beside it took {longest:?} at most");
    said.hear_all(process.kill());
    said.check(&log);
}
