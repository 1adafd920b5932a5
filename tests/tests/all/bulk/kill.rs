//! The process is killed while a bulk writer is at work: what was flushed is there, and every batch is whole.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use annals::Annals;
use annals::event_log::{EventLog, Record};
use annals::store_rocks::{Options, RocksLog};
use futures::executor::block_on;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::{batches, key, records, setting, unit};
use crate::support::child;

const CHILD: &str = "ANNALS_BULK_KILL_CHILD";
const KILLS: u32 = 12;

/// Not a test by itself: the process that is killed. It goes on where the log ends.
#[test]
fn child_writes_until_it_is_killed() {
    let Some(directory) = std::env::var_os(CHILD) else {
        return;
    };
    let url = Path::new(&directory).display().to_string();
    let annals = block_on(Annals::open(&url)).expect("a log");
    let mut bulk = annals.bulk();
    block_on(bulk.execute(Some(key(0)), setting())).expect("the setting");
    for n in 1_u32.. {
        let (key, unit) = (key(n.into()), unit(n.into()));
        if block_on(bulk.knows(key)).expect("an answer").is_none() {
            block_on(bulk.execute(Some(key), unit)).expect("a batch");
        }
        if n % 97 == 0 {
            block_on(bulk.flush()).expect("it is there");
            let mut out = std::io::stdout().lock();
            // The parent may be gone; then this process is about to be, too.
            let _ = writeln!(out, "\nflushed {n}");
            let _ = out.flush();
        }
    }
}

/// Runs the child for a while and kills it; up to where it said that all is there.
fn run_and_kill(directory: &Path, lifetime: Duration) -> u128 {
    let mut process = child(
        "bulk::kill::child_writes_until_it_is_killed",
        CHILD,
        directory,
    )
    .stdout(Stdio::piped())
    .stderr(Stdio::null())
    .spawn()
    .expect("the child");
    let lines = BufReader::new(process.stdout.take().expect("its output")).lines();
    let reader = std::thread::spawn(move || lines.map_while(Result::ok).collect::<Vec<_>>());
    std::thread::sleep(lifetime);
    process.kill().expect("the kill");
    process.wait().expect("the child's end");
    let lines = reader.join().expect("the reader");
    let said = lines
        .iter()
        .filter_map(|line| line.strip_prefix("flushed "));
    // The kill may cut the last number short: it is a smaller one then.
    said.filter_map(|number| number.parse().ok())
        .max()
        .unwrap_or(0)
}

/// The longest life of a child.
const PATIENCE: Duration = Duration::from_secs(120);

#[test]
fn what_was_flushed_is_there_and_every_batch_is_whole() {
    let mut rng = StdRng::seed_from_u64(23);
    let home = tempfile::tempdir().expect("a directory");
    let path = home.path().join("log");
    let mut flushed = 0;
    for _ in 0..KILLS {
        let lifetime = Duration::from_millis(rng.random_range(100..700));
        flushed = run_and_kill(&path, lifetime).max(flushed);
    }
    // On a busy machine a life is as long as it takes.
    let mut lifetime = Duration::from_millis(700);
    while flushed == 0 && lifetime < PATIENCE {
        lifetime *= 2;
        flushed = run_and_kill(&path, lifetime);
    }
    assert!(flushed > 0, "the child never ran");
    let log = RocksLog::open(&path, &Options::default()).expect("it opens again");
    let there = batches(&log);
    assert!(
        there.len() as u128 > flushed,
        "{} of {flushed}",
        there.len()
    );
    // All are of the same run and the same pipeline: none is there without those before it.
    let expected: Vec<_> = (0..there.len() as u128).map(key).collect();
    assert_eq!(there, expected);
    let mut counts = std::collections::HashMap::new();
    for record in records(&log) {
        *counts.entry(Record::batch_id(&record)).or_insert(0) += 1;
    }
    assert!(counts.remove(&key(0)) > Some(4));
    assert!(
        counts.values().all(|count| *count == 2),
        "a batch is not whole"
    );
    println!("{} batches are there, {flushed} were flushed", there.len());
    block_on(log.close());
}
