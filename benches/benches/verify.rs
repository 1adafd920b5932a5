//! Verifying a long log, its indexes and its catalogue included: how long the program takes,
//! and how much memory. It prints each number next to its target.
//!
//! `cargo bench --workspace --bench verify`, after the program was built;
//! `ANNALS_EVENTS` sets how long the log is (1,000,000), `ANNALS_RUN` how many events a run
//! has (100).

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a benchmark that fails may stop, and it prints its results"
)]

use std::process::Command;
use std::time::Instant;

use annals::Annals;
use annals::domain::run::ToolStatus;
use annals::domain::{
    ActorRef, AnyEvent, Emitted, Pieces, StreamKind, StreamRef, Timestamp, run, task,
};
use annals::wire::{Envelope, encode};
use annals_benches::watched::watched;
use annals_benches::{PAYLOAD, directory, payloads, program, setting};
use annals_event_log::{Append, NewEvent, Store};
use bytes::Bytes;
use chrono::DateTime;
use futures::executor::block_on;
use uuid::Uuid;

/// Events of one append.
const BATCH: usize = 10;
/// Appends that wait for each other's sync.
const WAITING: usize = 256;

fn encoded(stream: StreamRef, event: AnyEvent, pieces: Pieces, number: u128) -> NewEvent {
    let at = DateTime::from_timestamp(1_700_000_000, 0).unwrap();
    let envelope = Envelope {
        event_id: Uuid::from_u128(number),
        occurred_at: Timestamp::from(at),
        actor: ActorRef::agent("coder"),
        correlation: None,
        causation: None,
    };
    let emitted = Emitted {
        stream,
        event,
        pieces,
    };
    let encoded = encode(&emitted, &envelope, &mut || [7; 16]).unwrap();
    encoded.event
}

/// The events of one run: its task, itself, and tool calls with results of 300 bytes.
fn run_of(number: usize, events: usize, results: &[String]) -> Vec<NewEvent> {
    let id = |kind: u128| Uuid::from_u128(((number as u128) << 32) | (kind << 24));
    let (task, run) = (id(1), id(2));
    let event = |kind, id, event, pieces, n: usize| {
        let number = ((number as u128) << 64) | (n as u128 + 1);
        encoded(StreamRef { kind, id }, event, pieces, number)
    };
    let mut pieces = Pieces::new();
    let created = task::Created {
        title: pieces.text("cache what was parsed"),
        description: None,
        goal: None,
        constraints: Vec::new(),
        acceptance_criteria: Vec::new(),
        requester: None,
        parent: None,
        intent: None,
        dependencies: Vec::new(),
    };
    let created = AnyEvent::Task(created.into());
    let mut all = vec![event(StreamKind::Task, task, created, pieces, 0)];
    let begun = run::Created {
        task: task.into(),
        plan: None,
        commit: None,
        snapshot: None,
        environment: None,
        reverts: None,
    };
    let begun = AnyEvent::Run(begun.into());
    all.push(event(StreamKind::Run, run, begun, Pieces::new(), 1));
    for n in 2..events {
        let mut pieces = Pieces::new();
        let invoked = run::ToolInvoked {
            tool_invocation: Uuid::from_u128(run.as_u128() | n as u128).into(),
            tool_name: pieces.text("bash"),
            io_footprint: None,
            args: None,
            status: ToolStatus::Ok,
            result_summary: Some(pieces.text(results[(number + n) % results.len()].clone())),
            artifacts: Vec::new(),
            duration_ms: Some(12),
        };
        let invoked = AnyEvent::Run(invoked.into());
        all.push(event(StreamKind::Run, run, invoked, pieces, n));
    }
    all
}

fn fill(url: &str, events: usize, of_run: usize) {
    let annals = block_on(Annals::open(url)).unwrap();
    let log: &dyn Store = annals.log().as_ref();
    let text = |payload: &Bytes| -> String {
        let letter = |byte: &u8| char::from(b' ' + byte % 90);
        payload.iter().take(PAYLOAD).map(letter).collect()
    };
    let results: Vec<String> = payloads(1_000).iter().map(text).collect();
    let start = Instant::now();
    let mut waiting = Vec::new();
    for number in 1..=events / of_run {
        let mut all = run_of(number, of_run, &results).into_iter().peekable();
        while all.peek().is_some() {
            waiting.push(log.append(Append {
                batch: Uuid::now_v7(),
                request: Bytes::new(),
                events: all.by_ref().take(BATCH).collect(),
                expectations: Vec::new(),
                blobs: Vec::new(),
            }));
        }
        if waiting.len() >= WAITING || number == events / of_run {
            let appended = futures::future::join_all(std::mem::take(&mut waiting));
            for appended in block_on(appended) {
                appended.unwrap();
            }
        }
    }
    let rate = events as f64 / start.elapsed().as_secs_f64();
    println!("appended {events} events in runs of {of_run}, {rate:.0}/s");
    // The catalogue is brought up to date.
    block_on(annals.close());
}

fn verify(url: &str) {
    let Some(program) = program() else {
        println!("the program is not built: nothing is measured");
        return;
    };
    let took = watched(Command::new(program).args(["--log", url, "verify"])).expect("it is sound");
    println!(
        "verify: {:.1} s (target: below 20), {:.1} s of processors, {} MiB (target: below 200)",
        took.time.as_secs_f64(),
        took.processor,
        took.memory
    );
}

fn main() {
    let (events, of_run) = (
        setting("ANNALS_EVENTS", 1_000_000),
        setting("ANNALS_RUN", 100),
    );
    let directory = directory().unwrap();
    let path = directory.path().join("log");
    let url = path.to_str().unwrap();
    fill(url, events, of_run.max(2));
    verify(url);
}
