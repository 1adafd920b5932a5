//! The process is killed at random moments while it appends.
//!
//! A child appends batches from several threads and says on its standard
//! output what it sends and what was acknowledged. The parent kills it
//! (SIGKILL), reopens the log and compares. A kill alone does not show that
//! data is on disk, since the operating system survives: `durability.rs` does.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use annals_event_log::{EventLog, Position, Query};
use annals_store_rocks::{Options, RocksLog};
use futures::executor::block_on;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use uuid::Uuid;

use crate::support::{append, child, event};

const CHILD: &str = "ANNALS_KILL_CHILD";
const THREADS: u64 = 4;

/// How many events a batch has, and what is in them, follow from its id alone.
fn batch_events(batch: Uuid) -> Vec<(String, Vec<u8>)> {
    let mut rng = StdRng::seed_from_u64(batch.as_u64_pair().1);
    let count = rng.random_range(1..=12);
    (0..count)
        .map(|index| {
            let stream = format!("test-{}", rng.random_range(0..20));
            let mut structure = batch.as_bytes().to_vec();
            structure.push(index);
            structure.resize(rng.random_range(17..2_000), index);
            (stream, structure)
        })
        .collect()
}

fn say(word: &str, batch: Uuid) {
    let mut out = std::io::stdout().lock();
    // The parent may be gone; then this process is about to be, too.
    let _ = writeln!(out, "\n{word} {batch}");
    let _ = out.flush();
}

/// Not a test by itself: the process that is killed.
#[test]
fn child_appends_until_it_is_killed() {
    let Some(directory) = std::env::var_os(CHILD) else {
        return;
    };
    let log = RocksLog::open_or_create(Path::new(&directory), &Options::default()).expect("a log");
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                loop {
                    let batch = Uuid::now_v7();
                    let events = batch_events(batch)
                        .into_iter()
                        .map(|(stream, structure)| event(&stream, structure))
                        .collect();
                    say("sent", batch);
                    block_on(log.append(append(batch, events))).expect("an append");
                    say("acknowledged", batch);
                }
            });
        }
    });
}

/// The longest life of a child.
const PATIENCE: Duration = Duration::from_secs(120);

#[derive(Default)]
struct Said {
    sent: BTreeSet<Uuid>,
    acknowledged: BTreeSet<Uuid>,
}

/// Runs the child for a while, kills it, and adds what it said.
fn run_and_kill(directory: &Path, lifetime: Duration, said: &mut Said) {
    let mut process = child("kill::child_appends_until_it_is_killed", CHILD, directory)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the child");
    let lines = BufReader::new(process.stdout.take().expect("its output")).lines();
    let reader = std::thread::spawn(move || lines.map_while(Result::ok).collect::<Vec<_>>());
    std::thread::sleep(lifetime);
    process.kill().expect("the kill");
    process.wait().expect("the child's end");
    for line in reader.join().expect("the reader") {
        let Some((word, id)) = line.split_once(' ') else {
            continue;
        };
        // The kill may cut the last line short: an id is whole or not there.
        let Ok(batch) = Uuid::parse_str(id) else {
            continue;
        };
        match word {
            "sent" => said.sent.insert(batch),
            "acknowledged" => said.acknowledged.insert(batch),
            _ => continue,
        };
    }
}

/// Every batch in the log with its events, in order.
fn batches(log: &RocksLog) -> BTreeMap<Uuid, Vec<(String, Vec<u8>)>> {
    let mut batches: BTreeMap<Uuid, Vec<(String, Vec<u8>)>> = BTreeMap::new();
    let mut expected = Position::START;
    let mut next = Some(1);
    while let Some(from) = next {
        let page = block_on(log.read(Query::all(Position(from)))).expect("a page");
        for record in &page.records {
            expected = expected.next();
            assert_eq!(record.position(), expected, "positions have a gap");
            record.verify().expect("a record as it was written");
            let event = (record.stream().to_owned(), record.structure().to_vec());
            batches.entry(record.batch_id()).or_default().push(event);
        }
        next = page.next;
    }
    assert_eq!(expected, log.watermark());
    batches
}

#[test]
fn no_acknowledged_batch_is_lost_when_the_process_is_killed() {
    let kills: u32 = std::env::var("ANNALS_KILLS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(100);
    let seed = std::env::var("ANNALS_SEED")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(42);
    println!("{kills} kills, seed {seed} (ANNALS_KILLS, ANNALS_SEED)");
    let mut rng = StdRng::seed_from_u64(seed);
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("log");
    let mut said = Said::default();
    // On a busy machine the first life is as long as it takes.
    let mut lifetime = Duration::from_millis(100);
    while said.acknowledged.is_empty() && lifetime < PATIENCE {
        lifetime *= 2;
        run_and_kill(&path, lifetime, &mut said);
    }
    for kill in 0..kills {
        // Some kills come while the child is still opening the log.
        let lifetime = Duration::from_millis(rng.random_range(5..200));
        run_and_kill(&path, lifetime, &mut said);
        // Reading everything every time would take longer the more there is.
        if kill % 10 == 9 || kill + 1 == kills {
            let log = RocksLog::open_or_create(&path, &Options::default()).expect("it opens again");
            let found = batches(&log);
            for batch in &said.acknowledged {
                assert!(
                    found.contains_key(batch),
                    "acknowledged batch {batch} is lost after kill {kill}"
                );
            }
            for (batch, events) in &found {
                assert!(said.sent.contains(batch), "batch {batch} was never sent");
                assert_eq!(events, &batch_events(*batch), "batch {batch} is not whole");
            }
            block_on(log.close());
        }
    }
    println!(
        "{} batches sent, {} acknowledged",
        said.sent.len(),
        said.acknowledged.len()
    );
    assert!(!said.acknowledged.is_empty(), "the child never ran");
}
