//! What it costs to append to a log that another process owns: a guest's appends beside the owner's own, in turns. And
//! how long a guest's append takes whose owner was killed: it takes the owner's place.
//!
//! `cargo bench --workspace --bench sharing`, with `appends` or `owners` for one of the two

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a benchmark that fails may stop, and it prints its results"
)]

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use annals_benches::{batch, directory, median, payloads, stream};
use annals_event_log::{Append, EventLog, StreamName};
use annals_store_rocks::Options;
use annals_store_shared::SharedLog;
use bytes::Bytes;
use tokio::runtime::Runtime;
use uuid::Uuid;

const ROUNDS: usize = 9;
const RUN: Duration = Duration::from_millis(1_000);

/// The log that the process is to own that is started for that.
const OWNER: &str = "ANNALS_BENCH_OWNER";
/// How many owners are killed.
const KILLS: usize = 21;
/// How long each of them appends before.
const OWNED: Duration = Duration::from_millis(150);
/// Events that the log has before, of which most are in no table yet.
const EVENTS: usize = 100_000;

/// A batch with an id that no other process gives.
fn fresh(stream: &StreamName, version: u64, payloads: &[Bytes]) -> Append {
    Append {
        batch: Uuid::new_v4(),
        ..batch(stream, version, payloads)
    }
}

/// Median time of an append, and appends a second, of so many clients.
fn appends(runtime: &Runtime, log: &SharedLog, clients: usize) -> (Duration, f64) {
    let began = Instant::now();
    let payload = payloads(1);
    let times = runtime.block_on(async {
        let clients: Vec<_> = (0..clients)
            .map(|client| {
                let (log, payload) = (log.clone(), payload.clone());
                tokio::spawn(async move {
                    let stream = stream(client);
                    let mut version = log.head(&stream).await.unwrap().0;
                    let mut times = Vec::new();
                    while began.elapsed() < RUN {
                        let append = fresh(&stream, version, &payload);
                        let began = Instant::now();
                        log.append(append).await.unwrap();
                        times.push(began.elapsed());
                        version += 1;
                    }
                    times
                })
            })
            .collect();
        let mut times = Vec::new();
        for client in clients {
            times.extend(client.await.unwrap());
        }
        times
    });
    let rate = times.len() as f64 / began.elapsed().as_secs_f64();
    (median(times), rate)
}

fn main() {
    if let Some(path) = std::env::var_os(OWNER) {
        return own(Path::new(&path));
    }
    let asked: Vec<String> = std::env::args().skip(1).collect();
    let is_asked = |name: &str| {
        let others = ["appends", "owners"];
        let named = asked.iter().filter(|it| others.contains(&it.as_str()));
        named.clone().count() == 0 || named.clone().any(|it| it == name)
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_time()
        .build()
        .unwrap();
    if is_asked("appends") {
        compare(&runtime);
    }
    if is_asked("owners") {
        kill_owners(&runtime);
    }
}

fn compare(runtime: &Runtime) {
    let home = directory().unwrap();
    let path = home.path().join("log");
    let owner = SharedLog::create(&path, &Options::default()).unwrap();
    let guest = SharedLog::open(&path, &Options::default()).unwrap();
    assert!(!guest.is_owner());
    for clients in [1, 64] {
        let (mut own, mut shared) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            own.push(appends(runtime, &owner, clients));
            shared.push(appends(runtime, &guest, clients));
        }
        let time = |rounds: &[(Duration, f64)]| median(rounds.iter().map(|it| it.0).collect());
        let rate = |rounds: &[(Duration, f64)]| {
            let of_one = rounds.iter().map(|it| Duration::from_secs_f64(1.0 / it.1));
            1.0 / median(of_one.collect()).as_secs_f64()
        };
        println!(
            "{clients} clients: own {:.0}/s, median {:?}; shared {:.0}/s, median {:?}; {:?} more; ratio {:.2}",
            rate(&own),
            time(&own),
            rate(&shared),
            time(&shared),
            time(&shared).saturating_sub(time(&own)),
            rate(&shared) / rate(&own),
        );
    }
}

/// An owner that appends until it is killed.
fn own(path: &Path) {
    let log = SharedLog::open(path, &Options::default()).unwrap();
    assert!(log.is_owner());
    println!("owner");
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .build()
        .unwrap();
    loop {
        appends(&runtime, &log, 4);
    }
}

fn owner(path: &Path) -> Child {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .env(OWNER, path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(said.next().unwrap().unwrap(), "owner");
    child
}

fn kill_owners(runtime: &Runtime) {
    let home = directory().unwrap();
    let path = home.path().join("log");
    let log = SharedLog::create(&path, &Options::default()).unwrap();
    let stream = stream(1_000);
    runtime.block_on(async {
        for first in (0..EVENTS).step_by(1_000) {
            let append = batch(&stream, first as u64, &payloads(1_000));
            log.append(append).await.unwrap();
        }
        log.close().await;
    });
    drop(log);
    let mut times = Vec::new();
    for kill in 0..KILLS {
        let mut child = owner(&path);
        let guest = SharedLog::open(&path, &Options::default()).unwrap();
        assert!(!guest.is_owner());
        std::thread::sleep(OWNED);
        let version = (EVENTS + kill) as u64;
        let append = fresh(&stream, version, &payloads(1));
        child.kill().unwrap();
        let began = Instant::now();
        runtime.block_on(guest.append(append)).unwrap();
        times.push(began.elapsed());
        child.wait().unwrap();
        assert!(guest.is_owner());
        runtime.block_on(guest.close());
    }
    let longest = times.iter().max().copied().unwrap_or_default();
    println!(
        "the next owner after a kill: median {:?}, longest {longest:?}",
        median(times),
    );
}
