//! The inbox among many intents: 1,000 of 100,000 wait for a person.
//!
//! It prints how long the inbox takes in an open process, a page of it and all of
//! it, just opened and warm, and as a command; then the same with ten times fewer
//! intents that do not wait for a person, since those should not count.
//!
//! `cargo bench --workspace --bench inbox`; `ANNALS_INTENTS` sets how
//! many there are (100,000).

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark that fails may stop, and it prints its results"
)]

use std::process::Command;
use std::time::Duration;

use annals::domain::ActorRef;
use annals::domain::intent::{Risk, Source, SubmitIntent};
use annals::projections::InboxQuery;
use annals::{Annals, Request};
use annals_benches::{directory, program, setting, timed, typical};
use futures::executor::block_on;

/// Intents that wait.
const WAITING: usize = 1_000;
/// Intents of one append.
const BATCH: usize = 500;
/// How often each question is asked.
const TIMES: usize = 21;
const IN_PROCESS: Duration = Duration::from_millis(20);
const AS_COMMAND: Duration = Duration::from_millis(150);

fn intent(number: usize, every: usize) -> Request {
    // Those that wait are spread over the others.
    let risk = match number.is_multiple_of(every) {
        true => Risk::High,
        false => Risk::Low,
    };
    let text = format!("Change number {number}\n\nIt is asked for by many of our users.");
    let submit = SubmitIntent::new(text, Source::Human)
        .with_risk(risk)
        .with_labels(vec!["ui".to_owned()]);
    Request::new(ActorRef::human("ada"), submit)
}

fn fill(annals: &Annals, intents: usize) {
    let every = (intents / WAITING).max(1);
    for first in (0..intents).step_by(BATCH) {
        let last = intents.min(first + BATCH);
        let requests = (first..last).map(|number| intent(number, every)).collect();
        block_on(annals.execute_batch(None, requests)).unwrap();
    }
}

fn measure(intents: usize) {
    let home = directory().unwrap();
    let url = home.path().join("log").display().to_string();
    let annals = block_on(Annals::open(&url)).unwrap();
    let (filled, ()) = timed(|| fill(&annals, intents));
    block_on(annals.close());
    println!("{intents} intents, {WAITING} waiting (written in {filled:.1?}):");

    let annals = block_on(Annals::open(&url)).unwrap();
    let ask = |limit| {
        let query = InboxQuery::default().with_limit(limit);
        let inbox = block_on(annals.inbox().entries(&query)).unwrap();
        assert_eq!(inbox.entries.len(), limit.min(WAITING));
        assert_eq!(inbox.total, WAITING as u64);
    };
    let (first, ()) = timed(|| ask(WAITING));
    let all = typical(TIMES, || ask(WAITING));
    let page = typical(TIMES, || ask(20));
    println!("  all {WAITING}: first {first:.1?}, then {all:.1?} (target: {IN_PROCESS:.0?})");
    println!("  a page of 20: {page:.1?}");
    block_on(annals.close());

    let Some(program) = program() else {
        println!("  the program is not built, so its time is not measured");
        return;
    };
    for limit in ["20", "1000"] {
        let run = || {
            let mut command = Command::new(&program);
            command.args(["inbox", "--limit", limit, "--json", "--log", &url]);
            let output = command.output().unwrap();
            assert!(output.status.success(), "{output:?}");
        };
        let time = typical(TIMES, run);
        println!("  annals intent inbox --limit {limit}: {time:.1?} (target: {AS_COMMAND:.0?})");
    }
}

fn main() {
    let intents = setting("ANNALS_INTENTS", 100_000);
    measure(intents.max(WAITING));
    measure((intents / 10).max(WAITING));
}
