//! The gate: how long a verdict takes compared with a bare durable append, which is
//! the least that it can take.
//!
//! Both write to logs of their own on one disk, in turns, in blocks. It prints
//! the p99 of each and their difference, for five runs and their median, and
//! then what the record's own work is: a session with a long history, an open
//! command that ends, and a policy with everything in it.
//!
//! `cargo bench --workspace --bench gate`; `ANNALS_VERDICTS` sets
//! how many there are in a run (4,000).

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a benchmark that fails may stop, and it prints its results"
)]

use std::time::Duration;

use annals::domain::session::{
    AgentCommand, CommandKind, Commit, CreateSession, PolicyProfile, RateLimits, RepoRef,
    SessionConfig, WorkspaceRef,
};
use annals::domain::{ActorRef, CommandId, Ordered, SessionId};
use annals::{Annals, Request};
use annals_benches::{batch, directory, log, payloads, setting, stream, timed};
use annals_event_log::EventLog;
use futures::executor::block_on;
use uuid::Uuid;

/// Verdicts, or appends, in a row before it is the other's turn.
const BLOCK: usize = 100;
const RUNS: usize = 5;
const TARGET: Duration = Duration::from_micros(200);

fn repo() -> RepoRef {
    RepoRef::new("app", "/src/app")
}

/// A policy that has every rule in it, and lets the commands pass.
fn policy(shared: bool) -> PolicyProfile {
    let kinds = || CommandKind::ALL.iter().map(|kind| kind.as_str().to_owned());
    let caps = || Ordered(kinds().map(|kind| (kind, 1_000_000)).collect());
    PolicyProfile::new("everything")
        .with_command_whitelist(Some(kinds().collect()))
        .with_command_blacklist(Vec::new())
        .with_protected_branches((0..50).map(|n| format!("release/{n}")).collect::<Vec<_>>())
        .with_max_files_per_commit(100)
        .with_require_tests_before_push(true)
        .with_require_approval_for_push(true)
        .with_allowed_work_item_transitions(vec!["Open->Done".into()])
        .with_limits(
            RateLimits::new()
                .with_calls_per_minute(60_000_000)
                .with_burst(1_000_000)
                .with_per_command_caps(shared.then(caps)),
        )
}

fn session(annals: &Annals, shared: bool) -> SessionId {
    let session = SessionId(Uuid::now_v7());
    let create = CreateSession::new(SessionConfig::new(
        session,
        policy(shared),
        repo(),
        WorkspaceRef::new("/work"),
        "coder",
    ));
    block_on(annals.execute(Request::new(ActorRef::human("ada"), create))).unwrap();
    session
}

fn commit() -> AgentCommand {
    AgentCommand::new(
        CommandId(Uuid::now_v7()),
        Commit::new(
            repo(),
            "x".repeat(120),
            vec!["src/lib.rs".into(), "src/main.rs".into()],
        ),
    )
    .with_branch("topic".to_owned())
    .with_files(vec!["src/lib.rs".into(), "src/main.rs".into()])
}

/// The time below which `percent` of the times are.
fn percentile(times: &mut [Duration], percent: usize) -> Duration {
    times.sort_unstable();
    let place = (times.len() * percent / 100).min(times.len() - 1);
    times[place]
}

/// One run: the p50 and p99 of a bare append and of a verdict.
fn run(verdicts: usize, shared: bool) -> [Duration; 4] {
    let home = directory().unwrap();
    let bare = log(&home).unwrap();
    let url = home.path().join("gate").display().to_string();
    let annals = block_on(Annals::open(&url)).unwrap();
    let session = session(&annals, shared);
    let payloads = payloads(verdicts);
    let actor = ActorRef::agent("coder");
    let (mut appends, mut gates) = (Vec::new(), Vec::new());
    for _ in 0..BLOCK {
        block_on(annals.by(&actor).gate(session, &commit())).unwrap();
    }
    for block in 0..verdicts / BLOCK {
        for index in block * BLOCK..(block + 1) * BLOCK {
            let one = batch(&stream(0), index as u64, &payloads[index..=index]);
            appends.push(timed(|| block_on(bare.append(one)).unwrap()).0);
        }
        for _ in 0..BLOCK {
            let command = commit();
            gates.push(
                timed(|| {
                    let gated = block_on(annals.by(&actor).gate(session, &command)).unwrap();
                    assert!(gated.verdict.is_accepted());
                })
                .0,
            );
        }
    }
    block_on(annals.close());
    block_on(bare.close());
    [
        percentile(&mut appends, 50),
        percentile(&mut appends, 99),
        percentile(&mut gates, 50),
        percentile(&mut gates, 99),
    ]
}

fn main() {
    let verdicts = setting("ANNALS_VERDICTS", 4_000);
    for shared in [false, true] {
        let what = if shared {
            "a cap that sessions share"
        } else {
            "a bucket of its own"
        };
        println!("verdicts on a warm session with {what}, {verdicts} in a run:");
        let mut differences = Vec::new();
        for number in 1..=RUNS {
            let [append50, append99, gate50, gate99] = run(verdicts.max(BLOCK), shared);
            let difference = gate99.saturating_sub(append99);
            println!(
                "  run {number}: append p50 {append50:.0?} p99 {append99:.0?}, \
                 verdict p50 {gate50:.0?} p99 {gate99:.0?}, p99 difference {difference:.0?}"
            );
            differences.push(difference);
        }
        let median = annals_benches::median(differences);
        println!("  median difference of p99: {median:.0?} (target: at most {TARGET:.0?})");
    }
}
