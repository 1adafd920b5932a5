//! The gate: how long a verdict takes compared with a bare durable append, which is
//! the least that it can take.
//!
//! Both write to logs of their own on one disk, in turns, in blocks. It prints
//! the p99 of each and their difference, for five runs and their median, and
//! then what the record's own work is: a session with a long history, an open
//! command that ends, and a policy with everything in it.
//!
//! `cargo bench --profile dev --workspace --bench gate`; `ANNALS_VERDICTS` sets
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
    RepoRef {
        name: "app".into(),
        path: "/src/app".into(),
    }
}

/// A policy that has every rule in it, and lets the commands pass.
fn policy(shared: bool) -> PolicyProfile {
    let kinds = || CommandKind::ALL.iter().map(|kind| kind.as_str().to_owned());
    let caps = || Ordered(kinds().map(|kind| (kind, 1_000_000)).collect());
    PolicyProfile {
        name: "everything".into(),
        command_whitelist: Some(kinds().collect()),
        command_blacklist: Some(Vec::new()),
        protected_branches: (0..50).map(|n| format!("release/{n}")).collect(),
        max_files_per_commit: Some(100),
        require_tests_before_push: true,
        filtered_tests_count: false,
        require_approval_for_push: true,
        allowed_work_item_transitions: Some(vec!["Open->Done".into()]),
        limits: Some(RateLimits {
            calls_per_minute: Some(60_000_000),
            burst: Some(1_000_000),
            per_command_caps: shared.then(caps),
        }),
    }
}

fn session(annals: &Annals, shared: bool) -> SessionId {
    let session = SessionId(Uuid::now_v7());
    let create = CreateSession {
        config: SessionConfig {
            session_id: session,
            parent_session_id: None,
            plan_node_id: None,
            policy: policy(shared),
            repo: repo(),
            workspace: WorkspaceRef {
                path: "/work".into(),
            },
            work_item: None,
            agent_profile: "coder".into(),
        },
        approval_expiry_seconds: None,
        pause_after_failures: None,
    };
    block_on(annals.execute(Request::new(ActorRef::human("ada"), create))).unwrap();
    session
}

fn commit() -> AgentCommand {
    AgentCommand {
        id: CommandId(Uuid::now_v7()),
        parent: None,
        plan_node: None,
        branch: Some("topic".into()),
        files: Some(vec!["src/lib.rs".into(), "src/main.rs".into()]),
        body: Commit {
            repo: repo(),
            message: "x".repeat(120),
            include_paths: vec!["src/lib.rs".into(), "src/main.rs".into()],
            amend: false,
        }
        .into(),
    }
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
