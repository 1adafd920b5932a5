//! What it costs to append to a log that another process owns: a guest's appends beside the owner's own, in turns.
//!
//! `cargo bench --profile dev --workspace --bench sharing`

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a benchmark that fails may stop, and it prints its results"
)]

use std::time::{Duration, Instant};

use annals_benches::{batch, directory, median, payloads, stream};
use annals_event_log::EventLog;
use annals_store_rocks::Options;
use annals_store_shared::SharedLog;
use tokio::runtime::Runtime;

const ROUNDS: usize = 9;
const RUN: Duration = Duration::from_millis(1_000);

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
                        let append = batch(&stream, version, &payload);
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
    let home = directory().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .build()
        .unwrap();
    let path = home.path().join("log");
    let owner = SharedLog::create(&path, &Options::default()).unwrap();
    let guest = SharedLog::open(&path, &Options::default()).unwrap();
    assert!(!guest.is_owner());
    for clients in [1, 64] {
        let (mut own, mut shared) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            own.push(appends(&runtime, &owner, clients));
            shared.push(appends(&runtime, &guest, clients));
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
