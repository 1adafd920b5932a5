//! The process is killed at random moments while the catalogue's rows are being
//! written, or rebuilt.
//!
//! A child executes commands and now and then rebuilds the rows. The parent
//! kills it (SIGKILL) and opens the log again: the rows must be those of their
//! checkpoint, byte for byte, as another log with the records up to there makes
//! them.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use annals::Annals;
use annals::domain::run::ToolStatus;
use annals::event_log::memory::MemoryLog;
use annals::event_log::{Position, Query, ReadModels, Row, Store};
use annals::projections::Catalogue;
use annals::store_rocks::{Options, RocksLog};
use annals_event_log::EventLog;
use futures::executor::block_on;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use crate::support::{call, child, run_with_calls};

const CHILD: &str = "ANNALS_KILL_CATALOGUE_CHILD";
/// Kills of one log.
const KILLS: u32 = 8;
const LOGS: u64 = 3;

fn work(annals: &Annals) {
    let run = run_with_calls(annals, 0);
    let status = |n| match n % 7 {
        0 => ToolStatus::Error,
        _ => ToolStatus::Ok,
    };
    for _ in 0..4 {
        let calls = (0..400).map(|n| call(run, status(n))).collect();
        block_on(annals.execute_batch(None, calls)).expect("a batch");
        let row = block_on(annals.index().row(run)).expect("a row");
        assert_eq!(row.counts[0].1 % 400, 0, "what was acknowledged is counted");
    }
}

/// Not a test by itself: the process that is killed.
#[test]
fn child_keeps_a_catalogue_until_it_is_killed() {
    let Some(directory) = std::env::var_os(CHILD) else {
        return;
    };
    let url = directory.to_str().expect("a path");
    let annals = block_on(Annals::open(url)).expect("a log");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            loop {
                std::thread::sleep(Duration::from_millis(30));
                block_on(annals.index().rebuild(&mut |_| {})).expect("new rows");
            }
        });
        loop {
            work(&annals);
        }
    });
}

fn run_and_kill(directory: &Path, lifetime: Duration) {
    let test = "kill_catalogue::child_keeps_a_catalogue_until_it_is_killed";
    let mut process = child(test, CHILD, directory)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the child");
    std::thread::sleep(lifetime);
    assert_eq!(
        process.try_wait().expect("its status"),
        None,
        "it ended by itself"
    );
    process.kill().expect("the kill");
    process.wait().expect("the child's end");
}

fn dump(log: &dyn Store, model: &str) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    loop {
        let after = rows.last().map(|(key, _)| key.clone());
        let scan = log.scan(model, b"", after.as_deref(), 10_000);
        let page = block_on(scan).expect("rows");
        if page.is_empty() {
            return rows;
        }
        rows.extend(page);
    }
}

/// The rows that the log's records up to a position make.
fn made_of(log: &dyn Store, end: Position) -> Vec<Row> {
    let copy = MemoryLog::new(log.log_id());
    let mut next = Some(1);
    while let Some(from) = next.filter(|from| *from <= end.0) {
        let page = block_on(log.read(Query::all(Position(from)))).expect("a page");
        let records = page.records.into_iter();
        let records: Vec<_> = records.filter(|record| record.position() <= end).collect();
        block_on(copy.append_records(records, Vec::new())).expect("a copy");
        next = page.next;
    }
    let catalogue = Catalogue::new();
    block_on(catalogue.rebuild(&copy, &mut |_| {})).expect("rows");
    let model = block_on(catalogue.model(&copy)).expect("a model");
    dump(&copy, &model)
}

/// Compares the rows with their records; what checkpoint they had.
fn check(path: &Path) -> Position {
    let log = RocksLog::open_or_create(path, &Options::default()).expect("it opens again");
    let catalogue = Catalogue::new();
    let model = block_on(catalogue.model(&log)).expect("a model");
    let checkpoint = block_on(log.checkpoint(&model))
        .expect("a checkpoint")
        .position;
    assert!(checkpoint <= log.watermark());
    let rows = dump(&log, &model);
    assert_eq!(rows, made_of(&log, checkpoint), "{model} at {checkpoint}");
    // And they go on from there.
    block_on(catalogue.catch_up(&log)).expect("it catches up");
    block_on(catalogue.flush(&log)).expect("rows are written");
    let newest = made_of(&log, log.watermark());
    assert_eq!(dump(&log, &model), newest);
    block_on(log.close());
    checkpoint
}

/// The longest life of a child.
const PATIENCE: Duration = Duration::from_secs(120);

#[test]
fn rows_are_those_of_their_checkpoint_when_the_process_is_killed() {
    let seed = std::env::var("ANNALS_SEED")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(42);
    println!("{KILLS} kills of each of {LOGS} logs, seed {seed} (ANNALS_SEED)");
    let mut rng = StdRng::seed_from_u64(seed);
    let mut furthest = Position::START;
    for _ in 0..LOGS {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("log");
        for _ in 0..KILLS {
            run_and_kill(&path, Duration::from_millis(rng.random_range(50..250)));
            furthest = furthest.max(check(&path));
        }
    }
    // On a busy machine a life is as long as it takes.
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("log");
    let mut lifetime = Duration::from_millis(250);
    while furthest.0 <= 1_000 && lifetime < PATIENCE {
        lifetime *= 2;
        run_and_kill(&path, lifetime);
        furthest = furthest.max(check(&path));
    }
    println!("the furthest checkpoint was {furthest}");
    assert!(furthest.0 > 1_000, "the child hardly ran");
}
