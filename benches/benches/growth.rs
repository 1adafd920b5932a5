//! How a log performs as it grows: agents fill it by commands up to so many events, and at each
//! power of ten it is asked what it takes: appends, views, lists, the inbox, an opening, disk and
//! memory. Nothing of that but the disk and what reads all of it should grow with the log.
//!
//! `make growth`; `ANNALS_EVENTS` sets how many events (100,000; `make growth` 10,000,000).

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a benchmark that fails may stop, and it prints its results"
)]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use annals::domain::intent::{Risk, Source, SubmitIntent};
use annals::domain::run::{CreateRun, FailRun, RecordToolInvocation, StartPatching, ToolStatus};
use annals::domain::task::CreateTask;
use annals::domain::{self, ActorRef, IntentId, Json, Kind, RunId, TaskId};
use annals::projections::{InboxQuery, ListQuery};
use annals::{Annals, Request};
use annals_benches::watched::{own_memory, watched, written_bytes};
use annals_benches::{directory, median, ms, program, setting, typical};
use futures::executor::block_on;
use futures::future::join_all;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use uuid::Uuid;

/// Threads that give commands, and agents of each that wait for their answers.
const THREADS: usize = 2;
const AGENTS: usize = 32;
/// Tool calls of a run, and of one append.
const CALLS: usize = 40;
const CALLS_AT_ONCE: usize = 8;
/// Every so many of the intents waits for a person, up to so many.
const WAITS: u64 = 50;
const INBOX: u64 = 1_000;
/// How often each question is asked.
const TIMES: usize = 101;
const OPENINGS: usize = 5;

/// The number of an intent, and of what came from it.
fn id(kind: u128, number: u64) -> Uuid {
    // Spread over all ids, so that a look-up is somewhere in the tables.
    let spread = u128::from(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    Uuid::from_u128(spread << 64 | 0x8000_0000_0000_0000 | kind << 32 | u128::from(number as u32))
}

fn intent(number: u64) -> IntentId {
    IntentId(id(1, number))
}

fn run(number: u64) -> RunId {
    RunId(id(3, number))
}

fn by_agent(command: impl Into<domain::Command>) -> Request {
    Request::new(ActorRef::agent("coder"), command)
}

fn call(number: u64, n: usize) -> Request {
    by_agent(
        RecordToolInvocation::new(run(number), "bash", ToolStatus::Ok)
            .with_args(Json::parse(&format!(r#"{{"command":"cargo test case_{n}"}}"#)).ok())
            .with_result_summary(format!(
                "test case_{n} ... ok, as change {number} expects it"
            ))
            .with_duration_ms(12),
    )
}

/// What is done for one intent: batches of commands, one after the other.
fn work(number: u64) -> Vec<Vec<Request>> {
    let waits = number.is_multiple_of(WAITS) && number / WAITS <= INBOX;
    let submit = SubmitIntent::new(
        format!("Change number {number}\n\nIt is asked for by many."),
        Source::Human,
    )
    .with_id(intent(number))
    .with_risk(if waits { Risk::High } else { Risk::Low });
    let mut batches = vec![vec![Request::new(ActorRef::human("ada"), submit)]];
    let task = TaskId(id(2, number));
    let create_task = CreateTask::new(format!("a part of change {number}")).with_id(task);
    let create_run = CreateRun::new(task).with_id(run(number));
    let start = StartPatching::new(run(number));
    batches.push(vec![
        by_agent(create_task),
        by_agent(create_run),
        by_agent(start),
    ]);
    for first in (0..CALLS).step_by(CALLS_AT_ONCE) {
        batches.push(
            (first..first + CALLS_AT_ONCE)
                .map(|n| call(number, n))
                .collect(),
        );
    }
    let fail = FailRun::new(run(number), "out of time");
    batches.push(vec![by_agent(fail)]);
    batches
}

/// Goes on with new intents until there are so many events; the times of all batches.
fn fill(annals: &Annals, next: &AtomicU64, events: u64) -> Vec<Duration> {
    let times = Mutex::new(Vec::new());
    let agent = async || {
        while annals.position().0 < events {
            let number = next.fetch_add(1, Ordering::Relaxed);
            for batch in work(number) {
                let start = Instant::now();
                annals.execute_batch(None, batch).await.unwrap();
                times.lock().unwrap().push(start.elapsed());
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| block_on(join_all((0..AGENTS).map(|_| agent()))));
        }
    });
    times.into_inner().unwrap()
}

/// What a log of some length is asked.
struct Asked {
    view: f64,
    list: f64,
    inbox: f64,
    open: f64,
    first_view: f64,
    bytes: f64,
}

fn ask(annals: Annals, url: &str, runs: u64) -> (Annals, Asked) {
    let mut random = StdRng::seed_from_u64(runs);
    let mut any = || run(random.random_range(1..runs.max(2)));
    let view = ms(typical(TIMES, || {
        drop(block_on(annals.view(any())).unwrap())
    }));
    let query = ListQuery::new(Kind::Run).with_limit(50);
    let list = ms(typical(TIMES, || {
        assert!(
            !block_on(annals.index().list(&query))
                .unwrap()
                .rows
                .is_empty()
        )
    }));
    let inbox = ms(typical(TIMES, || {
        let query = InboxQuery::default().with_limit(20);
        drop(block_on(annals.inbox().entries(&query)).unwrap())
    }));
    let stats = block_on(annals.stats()).unwrap();
    block_on(annals.close());
    drop(annals);
    let mut opened = None;
    let mut first_views = Vec::new();
    let open = ms(typical(OPENINGS, || {
        if let Some(before) = opened.take() {
            let start = Instant::now();
            drop(block_on(Annals::view(&before, any())).unwrap());
            first_views.push(start.elapsed());
            block_on(Annals::close(&before));
        }
        opened = Some(block_on(Annals::open(url)).unwrap());
    }));
    let asked = Asked {
        view,
        list,
        inbox,
        open,
        first_view: ms(median(first_views)),
        bytes: stats.bytes as f64 / stats.position.0 as f64,
    };
    (opened.unwrap(), asked)
}

/// The powers of ten up to a number, and the number.
fn steps(events: u64) -> Vec<u64> {
    let powers = (4..).map(|power| 10_u64.pow(power));
    powers
        .take_while(|power| *power < events)
        .chain([events])
        .collect()
}

fn grow(url: &str, events: u64) -> Annals {
    let mut annals = block_on(Annals::open(url)).unwrap();
    let next = AtomicU64::new(1);
    println!(
        "{:>11} {:>9} {:>8} {:>8} {:>8} {:>10} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}",
        "events",
        "events/s",
        "p50 ms",
        "p99 ms",
        "view ms",
        "1st view",
        "list ms",
        "inbox",
        "open ms",
        "B/event",
        "written",
        "MiB"
    );
    for step in steps(events) {
        let before = annals.position().0;
        let start = Instant::now();
        let mut times = fill(&annals, &next, step);
        let rate = (annals.position().0 - before) as f64 / start.elapsed().as_secs_f64();
        times.sort_unstable();
        let at = |percent: usize| ms(times[(times.len() - 1) * percent / 100]);
        let memory = own_memory();
        let length = annals.position().0;
        let (after, asked) = ask(
            annals,
            url,
            next.load(Ordering::Relaxed) - (THREADS * AGENTS) as u64,
        );
        annals = after;
        println!(
            "{length:>11} {rate:>9.0} {:>8.2} {:>8.2} {:>8.3} {:>10.2} {:>8.2} {:>8.2} {:>8.1} {:>8.1} {:>8.2} {memory:>8}",
            at(50),
            at(99),
            asked.view,
            asked.first_view,
            asked.list,
            asked.inbox,
            asked.open,
            asked.bytes,
            written_bytes() as f64 / (asked.bytes * length as f64),
        );
    }
    annals
}

/// What commands take of the log, each a process of its own.
fn commands(url: &str, runs: u64) {
    let Some(program) = program() else {
        println!("commands: not measured, the program is not built (`make build`)");
        return;
    };
    let middle = run(runs / 2).to_string();
    for arguments in [
        &["show", &middle][..],
        &["log", "--limit", "20"],
        &["list", "run"],
        &["verify"],
    ] {
        let mut command = Command::new(&program);
        let took = watched(command.args(["--log", url]).args(arguments)).expect("a command fails");
        println!(
            "annals {:<8} {:>10.1} ms, {:>8.2} s of processors, {:>6} MiB",
            arguments[0],
            ms(took.time),
            took.processor,
            took.memory
        );
    }
}

/// What RocksDB's tables of a closed log are of: to open the log is to open all of them.
fn tables(path: &Path) {
    let options = rocksdb::Options::default();
    let families = rocksdb::DB::list_cf(&options, path).unwrap();
    let db = rocksdb::DB::open_cf_for_read_only(&options, path, families, false).unwrap();
    let mut found = BTreeMap::new();
    for table in db.live_files().unwrap() {
        let (count, bytes) = found.entry(table.column_family_name).or_insert((0, 0));
        *count += 1;
        *bytes += table.size;
    }
    let each = found
        .iter()
        .map(|(name, (count, bytes))| format!("{count} of {name} ({} MB)", bytes / 1_000_000));
    println!("tables: {}", each.collect::<Vec<_>>().join(", "));
}

fn main() {
    let events = setting("ANNALS_EVENTS", 100_000);
    let directory = directory().unwrap();
    let path = directory.path().join("log");
    let url = path.to_str().unwrap();
    let annals = grow(url, events);
    block_on(annals.close());
    drop(annals);
    tables(&path);
    commands(url, events / (CALLS as u64 + 6));
    let annals = block_on(Annals::open(url)).unwrap();
    let start = Instant::now();
    let rocks = annals.rocks().unwrap();
    rocks.compact();
    let took = start.elapsed().as_secs_f64();
    let stats = block_on(annals.stats()).unwrap();
    let bytes = stats.bytes as f64 / stats.position.0 as f64;
    println!("compacted in {took:.1} s: {bytes:.1} bytes an event");
    block_on(annals.close());
}
