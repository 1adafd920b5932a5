//! Ratios to raw RocksDB: each case nine times, alternating; those of the tree,
//! whose differences are small, 25 times. The rates are medians; the ratio is the
//! median of the pairs' ratios, since a machine's speed drifts more between pairs than
//! within one.
//!
//! `cargo bench --workspace --bench ratios`; behind `--`, a part of
//! the cases' names runs only those.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a benchmark that fails may stop, and it prints its results"
)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use annals::domain::run::{RecordToolInvocation, StartPatching, ToolStatus};
use annals::domain::task::CreateTask;
use annals::domain::{ActorRef, AnyState, Command, RunId, StreamRef, TaskId, run::CreateRun};
use annals::projections::origin_of;
use annals::{Annals, Request};
use annals_benches::{
    batch, directory, log, log_with, payloads, raw, raw_batch, scan, stream, synced,
};
use annals_event_log::{EventLog, Position, Query};
use futures::executor::block_on;
use uuid::Uuid;

const ROUNDS: usize = 9;
const TREE_ROUNDS: usize = 25;
const RUN: Duration = Duration::from_millis(1_000);

/// Events a second.
type Rate = f64;

fn rate(count: u64, since: Instant) -> Rate {
    count as f64 / since.elapsed().as_secs_f64()
}

fn median(mut rates: Vec<Rate>) -> Rate {
    rates.sort_by(f64::total_cmp);
    rates[rates.len() / 2]
}

/// Whether a case was requested.
fn wanted(case: &str) -> bool {
    let mut parts = std::env::args()
        .skip(1)
        .filter(|part| !part.starts_with('-'));
    parts.next().is_none_or(|part| case.contains(&part))
}

/// Runs both in turn and prints the medians and their ratio.
fn compare(
    case: &str,
    peer: &str,
    target: &str,
    ours: impl FnMut() -> Rate,
    theirs: impl FnMut() -> Rate,
) {
    compare_in(ROUNDS, case, peer, target, ours, theirs);
}

fn compare_in(
    rounds: usize,
    case: &str,
    peer: &str,
    target: &str,
    mut ours: impl FnMut() -> Rate,
    mut theirs: impl FnMut() -> Rate,
) {
    if !wanted(case) {
        return;
    }
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        a.push(ours());
        b.push(theirs());
    }
    let ratio = median(a.iter().zip(&b).map(|(a, b)| a / b).collect());
    let (a, b) = (median(a), median(b));
    println!("{case:<34} {a:>12.0}/s   {peer:<34} {b:>12.0}/s   ratio {ratio:>6.2}   {target}");
}

/// Whether a log keeps the hashes of its Merkle tree.
#[derive(Clone, Copy, PartialEq)]
enum Tree {
    Kept,
    Off,
}

/// What the tree costs: the same appends with it and without it.
fn trees() {
    let target = "(target: 0.85)";
    compare_in(
        TREE_ROUNDS,
        "tree, append, 64 clients",
        "the same without the tree",
        target,
        || append_clients(64, Tree::Kept),
        || append_clients(64, Tree::Off),
    );
    for size in [10, 100, 1_000] {
        let case = format!("tree, append, batches of {size}");
        compare_in(
            TREE_ROUNDS,
            &case,
            "the same without the tree",
            target,
            || append_batches(size, Tree::Kept),
            || append_batches(size, Tree::Off),
        );
    }
}

fn append_clients(clients: usize, tree: Tree) -> Rate {
    let directory = directory().unwrap();
    let log = Arc::new(log_with(&directory, tree == Tree::Kept).unwrap());
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .build()
        .unwrap();
    let payload = payloads(1);
    let start = Instant::now();
    let count = runtime.block_on(async {
        let tasks: Vec<_> = (0..clients)
            .map(|client| {
                let (log, payload) = (Arc::clone(&log), payload.clone());
                tokio::spawn(async move {
                    let stream = stream(client);
                    let mut version = 0;
                    while start.elapsed() < RUN {
                        log.append(batch(&stream, version, &payload)).await.unwrap();
                        version += 1;
                    }
                    version
                })
            })
            .collect();
        let mut count = 0;
        for task in tasks {
            count += task.await.unwrap();
        }
        count
    });
    rate(count, start)
}

fn raw_threads(threads: u64) -> Rate {
    let directory = directory().unwrap();
    let db = raw(&directory).unwrap();
    let payload = &payloads(1)[0];
    let next = AtomicU64::new(0);
    let start = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while start.elapsed() < RUN {
                    let key = next.fetch_add(1, Ordering::Relaxed);
                    db.put_opt(key.to_be_bytes(), payload, &synced()).unwrap();
                }
            });
        }
    });
    rate(next.load(Ordering::Relaxed), start)
}

/// The least that durability costs: append to a file and fdatasync.
fn bare_file() -> Rate {
    use std::io::Write;
    let directory = directory().unwrap();
    let mut file = std::fs::File::create(directory.path().join("bare")).unwrap();
    let payload = &payloads(1)[0];
    let start = Instant::now();
    let mut count = 0;
    while start.elapsed() < RUN {
        file.write_all(payload).unwrap();
        file.sync_data().unwrap();
        count += 1;
    }
    rate(count, start)
}

fn append_batches(size: usize, tree: Tree) -> Rate {
    let directory = directory().unwrap();
    let log = log_with(&directory, tree == Tree::Kept).unwrap();
    let payloads = payloads(size);
    let stream = stream(0);
    let start = Instant::now();
    let mut count = 0;
    while start.elapsed() < RUN {
        block_on(log.append(batch(&stream, count, &payloads))).unwrap();
        count += size as u64;
    }
    rate(count, start)
}

fn raw_batches(size: usize) -> Rate {
    let directory = directory().unwrap();
    let db = raw(&directory).unwrap();
    let payloads = payloads(size);
    let start = Instant::now();
    let mut count = 0;
    while start.elapsed() < RUN {
        db.write_opt(raw_batch(count, &payloads), &synced())
            .unwrap();
        count += size as u64;
    }
    rate(count, start)
}

const SCANNED: u64 = 300_000;

fn scans() {
    let directory = directory().unwrap();
    let log = log(&directory).unwrap();
    let payloads = payloads(1_000);
    let stream = stream(0);
    for done in (0..SCANNED).step_by(1_000) {
        block_on(log.append(batch(&stream, done, &payloads))).unwrap();
    }
    let db = raw(&directory).unwrap();
    for done in (0..SCANNED).step_by(1_000) {
        db.write_opt(raw_batch(done, &payloads), &synced()).unwrap();
    }
    log.compact();
    db.compact_range::<&[u8], &[u8]>(None, None);
    let ours = || {
        let start = Instant::now();
        assert_eq!(block_on(scan(&log)).unwrap(), SCANNED);
        rate(SCANNED, start)
    };
    let theirs = || {
        let start = Instant::now();
        let mut bytes = 0;
        for row in db.iterator(rocksdb::IteratorMode::Start) {
            bytes += row.unwrap().1.len();
        }
        assert_eq!(bytes, 300 * SCANNED as usize);
        rate(SCANNED, start)
    };
    compare("full read", "raw iterator", "(target: > 1)", ours, theirs);
}

const TOOLS: u64 = 20_000;

fn request(command: impl Into<Command>) -> Request {
    Request::new(ActorRef::agent("bench"), command)
}

/// A run with many tool invocations, as real events.
fn busy_run(annals: &Annals) -> RunId {
    let task = TaskId(Uuid::now_v7());
    let run = RunId(Uuid::now_v7());
    block_on(async {
        let create = CreateTask::new("bench").with_id(task);
        annals.execute(request(create)).await.unwrap();
        let create = CreateRun::new(task).with_id(run);
        annals.execute(request(create)).await.unwrap();
        annals
            .execute(request(StartPatching::new(run)))
            .await
            .unwrap();
        for _ in (0..TOOLS).step_by(500) {
            let tool = || {
                RecordToolInvocation::new(run, "bash", ToolStatus::Ok)
                    .with_duration_ms(1_250)
                    .with_result_summary("x".repeat(200))
            };
            let batch = (0..500).map(|_| request(tool())).collect();
            annals.execute_batch(None, batch).await.unwrap();
        }
    });
    run
}

fn folds() {
    let directory = directory().unwrap();
    let url = directory.path().join("log").to_string_lossy().into_owned();
    let annals = block_on(Annals::open(&url)).unwrap();
    let run = busy_run(&annals);
    let events = annals.position().0;
    let log = Arc::clone(annals.log());
    let decode_and_evolve = || {
        let start = Instant::now();
        let mut states = std::collections::HashMap::<StreamRef, AnyState>::new();
        let mut next = Some(1);
        while let Some(from) = next {
            let page = block_on(log.read(Query::all(Position(from)).limit(10_000))).unwrap();
            for record in &page.records {
                let decoded = annals_wire::decode(record).unwrap();
                let kind = decoded.stream.kind;
                states
                    .entry(decoded.stream)
                    .or_insert_with(|| AnyState::new(kind))
                    .evolve(&decoded.event, &origin_of(record));
            }
            next = page.next;
        }
        rate(events, start)
    };
    let read = || {
        let start = Instant::now();
        block_on(scan(log.as_ref())).unwrap();
        rate(events, start)
    };
    compare(
        "read, decode and fold",
        "read alone",
        "",
        decode_and_evolve,
        read,
    );
    let view = || {
        let start = Instant::now();
        block_on(annals.view(run)).unwrap();
        rate(events, start)
    };
    compare("view of a run, its events", "read alone", "", view, read);
}

fn main() {
    println!(
        "medians of {ROUNDS} alternating runs ({TREE_ROUNDS} for the tree) in {}",
        annals_benches::place().display()
    );
    compare(
        "append, 64 clients",
        "raw put, synced, 64 threads",
        "(target: 1.4)",
        || append_clients(64, Tree::Kept),
        || raw_threads(64),
    );
    compare(
        "append, 1 client",
        "raw put, synced, 1 thread",
        "",
        || append_clients(1, Tree::Kept),
        || raw_threads(1),
    );
    compare(
        "append, 1 client",
        "bare append + fdatasync",
        "",
        || append_clients(1, Tree::Kept),
        bare_file,
    );
    for (size, target) in [(10, ""), (100, ""), (1_000, "(target: 0.5)")] {
        let case = format!("append, batches of {size}");
        let peer = format!("raw WriteBatch of {size}, synced");
        compare(
            &case,
            &peer,
            target,
            || append_batches(size, Tree::Kept),
            || raw_batches(size),
        );
    }
    trees();
    if wanted("full read") {
        scans();
    }
    if wanted("read, decode and fold") || wanted("view of a run, its events") {
        folds();
    }
}
