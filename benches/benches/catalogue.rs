//! The catalogue over a long history: rebuilding it, lists, views of long runs, and what
//! one more event costs in a large run and in a new one. It prints each number next to its
//! target.
//!
//! `cargo bench --workspace --bench catalogue`; `ANNALS_EVENTS`
//! sets how long the history is (1,000,000).

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a benchmark that fails may stop, and it prints its results"
)]

use std::path::Path;
use std::time::{Duration, Instant};

use annals::domain::plan::StoredStep;
use annals::domain::run::{
    DiffFormat, EvidenceKind, RecordToolInvocation, StartPatching, ToolStatus, UsageRecorded,
};
use annals::domain::{
    ActorRef, AnyEvent, Command, Emitted, Kind, Pieces, RunId, Slot, StreamKind, StreamRef, TaskId,
    Timestamp, intent, pipeline, plan, run, task,
};
use annals::projections::ListQuery;
use annals::wire::{Envelope, encode};
use annals::{Annals, Request};
use annals_benches::{directory, median, ms, program, setting};
use annals_event_log::{Append, Position, Store};
use bytes::Bytes;
use chrono::DateTime;
use futures::executor::block_on;
use uuid::Uuid;

/// Events of one run with its task, plan and pipeline.
const RUN: usize = 1_000;
/// Calls in the large run.
const CALLS: usize = 100_000;
/// How often one more event is measured.
const SAMPLES: usize = 500;

/// A history as agents leave it: 40 % tool calls, 40 % pushed frames, 15 %
/// tokens used, 5 % everything else.
struct History<'a> {
    log: &'a dyn Store,
    ids: u128,
    seconds: i64,
    events: Vec<(StreamRef, AnyEvent, Pieces)>,
}

impl History<'_> {
    fn id(&mut self) -> Uuid {
        self.ids += 1;
        Uuid::from_u128(0x0198_c0de_0000_7000_8000_0000_0000_0000 | (self.ids * 0x9e37_79b9))
    }

    fn push(&mut self, kind: StreamKind, id: Uuid, event: impl FnOnce(&mut Pieces) -> AnyEvent) {
        let mut pieces = Pieces::new();
        let event = event(&mut pieces);
        self.events.push((StreamRef { kind, id }, event, pieces));
    }

    fn append(&mut self) {
        let mut append = Append {
            batch: Uuid::now_v7(),
            request: Bytes::new(),
            events: Vec::new(),
            expectations: Vec::new(),
            blobs: Vec::new(),
        };
        for (stream, event, pieces) in std::mem::take(&mut self.events) {
            self.seconds += 1;
            let at = DateTime::from_timestamp(1_700_000_000 + self.seconds, 0).unwrap();
            let envelope = Envelope {
                event_id: Uuid::from_u128(self.ids << 64 | self.seconds as u128),
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
            append.events.push(encoded.event);
        }
        block_on(self.log.append(append)).unwrap();
    }

    /// One run from its intent to its failure.
    fn run(&mut self) {
        let [intent, plan, task, run, pipeline] = std::array::from_fn(|_| self.id());
        self.begin(intent, plan, task, run, pipeline);
        let others = self.events.len() + 31;
        for n in 0..RUN - others {
            match n % 19 {
                0..8 => self.tool_call(run, n),
                8..16 => self.frame(pipeline, n as u64 / 2),
                _ => self.usage(run),
            }
        }
        for _ in 0..10 {
            self.patch_set(run);
        }
        self.push(StreamKind::Run, run, |pieces| {
            let error = pieces.text("out of time");
            AnyEvent::Run(run::Failed { error }.into())
        });
    }

    fn begin(&mut self, intent: Uuid, plan: Uuid, task: Uuid, run: Uuid, pipeline: Uuid) {
        self.push(StreamKind::Intent, intent, |pieces| {
            let prompt = pieces.text("make the parser faster");
            AnyEvent::Intent(
                intent::Submitted {
                    refines: None,
                    prompt,
                }
                .into(),
            )
        });
        self.push(StreamKind::Pipeline, pipeline, |_| {
            AnyEvent::Pipeline(pipeline::Created { max_frames: 64 }.into())
        });
        self.push(StreamKind::Plan, plan, |pieces| {
            let step = |description: Slot| StoredStep {
                description,
                inputs: None,
                outputs: None,
                checks: None,
                iframes: Vec::new(),
                oframes: Vec::new(),
                task: None,
            };
            let drafted = plan::Drafted {
                previous: None,
                intent: Some(intent.into()),
                pipeline: Some(pipeline.into()),
                fwindow: None,
                steps: (0..5).map(|_| step(pieces.text("a step"))).collect(),
            };
            AnyEvent::Plan(drafted.into())
        });
        self.push(StreamKind::Task, task, |pieces| {
            let created = task::Created {
                title: pieces.text("cache what was parsed"),
                description: None,
                goal: None,
                constraints: Vec::new(),
                acceptance_criteria: Vec::new(),
                requester: None,
                parent: None,
                intent: Some(intent.into()),
                dependencies: Vec::new(),
            };
            AnyEvent::Task(created.into())
        });
        self.push(StreamKind::Run, run, |_| {
            let created = run::Created {
                task: task.into(),
                plan: Some(plan.into()),
                commit: None,
                snapshot: None,
                environment: None,
                reverts: None,
            };
            AnyEvent::Run(created.into())
        });
        self.push(StreamKind::Task, task, |_| {
            AnyEvent::Task(task::RunAdded { run: run.into() }.into())
        });
    }

    fn tool_call(&mut self, run: Uuid, n: usize) {
        let id = self.id();
        self.push(StreamKind::Run, run, |pieces| {
            let invoked = run::ToolInvoked {
                tool_invocation: id.into(),
                tool_name: pieces.text("bash"),
                io_footprint: None,
                args: Some(pieces.text(format!("{{\"command\":\"cargo test case_{n}\"}}"))),
                status: if n.is_multiple_of(19) {
                    ToolStatus::Error
                } else {
                    ToolStatus::Ok
                },
                result_summary: Some(pieces.text("x".repeat(150))),
                artifacts: Vec::new(),
                duration_ms: Some(12),
            };
            AnyEvent::Run(invoked.into())
        });
    }

    fn frame(&mut self, pipeline: Uuid, n: u64) {
        self.push(StreamKind::Pipeline, pipeline, |pieces| {
            let pushed = pipeline::FramePushed {
                frame_id: annals::domain::FrameId(n),
                kind: pipeline::FrameKind::StepSummary,
                summary: pieces.text("y".repeat(150)),
                data: None,
                content: None,
                token_estimate: Some(120),
            };
            AnyEvent::Pipeline(pushed.into())
        });
    }

    fn usage(&mut self, run: Uuid) {
        self.push(StreamKind::Run, run, |_| {
            let used = UsageRecorded {
                model: None,
                uncached_input_tokens: 100,
                cache_read_tokens: 10_000,
                cache_write_tokens: 500,
                cache_write_1h_tokens: 0,
                output_tokens: 300,
                reasoning_tokens: 0,
                web_searches: 0,
                cost_usd: Some(0.01),
            };
            AnyEvent::Run(used.into())
        });
    }

    fn patch_set(&mut self, run: Uuid) {
        let (patch_set, evidence) = (self.id(), self.id());
        self.push(StreamKind::Run, run, |pieces| {
            let proposed = run::PatchSetProposed {
                patch_set: patch_set.into(),
                commit: None,
                format: DiffFormat::GitDiff,
                artifact: None,
                touched: Vec::new(),
                rationale: Some(pieces.text("faster")),
            };
            AnyEvent::Run(proposed.into())
        });
        self.push(StreamKind::Run, run, |pieces| {
            let recorded = run::EvidenceRecorded {
                evidence: evidence.into(),
                patch_set: Some(patch_set.into()),
                kind: EvidenceKind::Test,
                tool: pieces.text("cargo"),
                command: None,
                exit_code: Some(1),
                summary: None,
                report_artifacts: Vec::new(),
            };
            AnyEvent::Run(recorded.into())
        });
        self.push(StreamKind::Run, run, |_| {
            let rejected = run::PatchSetRejected {
                patch_set: patch_set.into(),
                reason: None,
            };
            AnyEvent::Run(rejected.into())
        });
    }
}

/// A log with so many events, and no catalogue yet.
fn fill(url: &str, events: usize) {
    let annals = block_on(Annals::open(url)).unwrap();
    let start = Instant::now();
    let mut history = History {
        log: annals.log().as_ref(),
        ids: 0,
        seconds: 0,
        events: Vec::new(),
    };
    for _ in 0..events / RUN {
        history.run();
        history.append();
    }
    let rate = events as f64 / start.elapsed().as_secs_f64();
    println!("appended {events} events, {rate:.0}/s");
    block_on(annals.log().close());
}

fn rebuilds(annals: &Annals) {
    for round in 1..=3 {
        let start = Instant::now();
        let rebuilt = block_on(annals.index().rebuild(&mut |_| {})).unwrap();
        let seconds = start.elapsed().as_secs_f64();
        let rate = rebuilt.events as f64 / seconds;
        println!(
            "rebuild {round}: {} events, {} rows in {seconds:.2} s: {rate:.0} events/s (target: 300,000)",
            rebuilt.events, rebuilt.rows
        );
    }
}

fn lists(annals: &Annals) {
    for kind in [Kind::Run, Kind::ToolInvocation, Kind::Intent] {
        let query = ListQuery::new(kind);
        let times = (0..101).map(|_| {
            let start = Instant::now();
            assert_eq!(
                block_on(annals.index().list(&query)).unwrap().rows.len(),
                20
            );
            start.elapsed()
        });
        let times: Vec<Duration> = times.collect();
        let first = times[0];
        println!(
            "list {kind}, 20 rows: {:.2} ms, the first time {:.2} ms (target: 20)",
            ms(median(times)),
            ms(first)
        );
    }
}

/// The program next to this benchmark, if it was built.
fn list_command(url: &str) {
    let Some(program) = program() else {
        println!("list as a command: not measured, the program is not built (`make build`)");
        return;
    };
    let times = (0..11).map(|_| {
        let start = Instant::now();
        let output = std::process::Command::new(&program)
            .args(["--log", url, "list", "tool_invocation"])
            .output()
            .unwrap();
        let time = start.elapsed();
        let rows = output.stdout.iter().filter(|byte| **byte == b'\n').count();
        assert_eq!((output.status.success(), rows), (true, 21));
        time
    });
    let time = ms(median(times.collect()));
    println!("list as a command: {time:.1} ms (target: 150)");
}

fn request(command: impl Into<Command>) -> Request {
    Request::new(ActorRef::agent("bench"), command)
}

fn call(run: RunId) -> Request {
    request(
        RecordToolInvocation::new(run, "bash", ToolStatus::Ok).with_result_summary("x".repeat(150)),
    )
}

fn new_run(annals: &Annals) -> RunId {
    let (task, run) = (TaskId(Uuid::now_v7()), RunId(Uuid::now_v7()));
    let task_command = task::CreateTask::new("bench").with_id(task);
    let run_command = run::CreateRun::new(task).with_id(run);
    let commands = vec![
        request(task_command),
        request(run_command),
        request(StartPatching::new(run)),
    ];
    block_on(annals.execute_batch(None, commands)).unwrap();
    run
}

/// A run with so many tool calls.
fn run_of(annals: &Annals, calls: usize) -> RunId {
    let run = new_run(annals);
    for _ in (0..calls).step_by(500) {
        let calls = (0..500).map(|_| call(run)).collect();
        block_on(annals.execute_batch(None, calls)).unwrap();
    }
    run
}

/// The view of a run is folded from its whole stream, however long that is.
fn views(annals: &Annals) {
    for calls in [1_000, 10_000, CALLS] {
        let run = run_of(annals, calls);
        let times = (0..11).map(|_| {
            let start = Instant::now();
            block_on(annals.view(run)).unwrap();
            start.elapsed()
        });
        let time = median(times.collect());
        println!(
            "view of a run of {calls} calls: {:.2} ms, {:.0} events/s (target: 1,000,000)",
            ms(time),
            calls as f64 / time.as_secs_f64()
        );
    }
}

/// One more call in each of two runs, in turn, and the row of the run after it.
fn one_more(annals: &Annals) {
    let large = run_of(annals, CALLS);
    let fresh = new_run(annals);
    let measure = |run: RunId| {
        let start = Instant::now();
        block_on(annals.execute(call(run))).unwrap();
        block_on(annals.index().row(run)).unwrap();
        start.elapsed()
    };
    let (mut in_large, mut in_fresh) = (Vec::new(), Vec::new());
    for _ in 0..SAMPLES {
        in_large.push(measure(large));
        in_fresh.push(measure(fresh));
    }
    let (large, fresh) = (ms(median(in_large)), ms(median(in_fresh)));
    println!(
        "one more call and the run's row: {large:.3} ms with {CALLS} calls, {fresh:.3} ms in a new run, ratio {:.2} (target: at most 1.3)",
        large / fresh
    );
}

fn main() {
    let events = setting("ANNALS_EVENTS", 1_000_000);
    let directory = directory().unwrap();
    let path: &Path = &directory.path().join("log");
    let url = path.to_str().unwrap();
    fill(url, events);
    let annals = block_on(Annals::open(url)).unwrap();
    assert_eq!(annals.position(), Position(events as u64));
    rebuilds(&annals);
    lists(&annals);
    block_on(annals.close());
    list_command(url);
    let annals = block_on(Annals::open(url)).unwrap();
    views(&annals);
    one_more(&annals);
    block_on(annals.close());
}
