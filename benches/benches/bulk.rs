//! Batches as an importer makes them (a tool call and a frame), one after the other and by a bulk writer.
//!
//! `cargo bench --workspace --bench bulk`; `ANNALS_BATCHES` sets how many (20,000). Each way has a log
//! of its own on the disk, with real syncs. It prints batches a second, and the processor time of this process.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a benchmark that fails may stop, and it prints its results"
)]

use std::time::{Duration, Instant};

use annals::domain::pipeline::{CreatePipeline, FrameKind, PushFrame};
use annals::domain::run::{CreateRun, RecordToolInvocation, StartPatching, ToolStatus};
use annals::domain::task::CreateTask;
use annals::domain::{ActorRef, Command, PipelineId, RunId, TaskId, ToolInvocationId};
use annals::{Annals, Request};
use annals_benches::{directory, setting};
use futures::executor::block_on;
use uuid::Uuid;

const TASK: TaskId = TaskId(Uuid::from_u128(1));
const RUN: RunId = RunId(Uuid::from_u128(2));
const PIPELINE: PipelineId = PipelineId(Uuid::from_u128(3));

fn request(command: impl Into<Command>) -> Request {
    Request::new(ActorRef::agent("importer"), command)
}

fn begin(annals: &Annals) {
    let task = CreateTask::new("import").with_id(TASK);
    let run = CreateRun::new(TASK).with_id(RUN);
    let pipeline = CreatePipeline::new().with_id(PIPELINE);
    let requests = vec![
        request(task),
        request(run),
        request(StartPatching::new(RUN)),
        request(pipeline),
    ];
    block_on(annals.execute_batch(None, requests)).expect("the setting");
}

fn key(n: u128) -> Uuid {
    Uuid::from_u128((1 << 100) + n)
}

fn unit(n: u128) -> Vec<Request> {
    let text = "a line of output like others\n".repeat(10);
    let call = RecordToolInvocation::new(RUN, "bash", ToolStatus::Ok)
        .with_id(ToolInvocationId(Uuid::from_u128((1 << 90) + n)))
        .with_result_summary(text.clone())
        .with_duration_ms(3);
    let push = PushFrame::new(PIPELINE, FrameKind::StepSummary, text).with_token_estimate(70);
    vec![request(call), request(push)]
}

/// Processor time of this process, in user and in system mode.
fn processor() -> (Duration, Duration) {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<u64> = stat
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .map(|field| field.parse().unwrap_or(0))
        .collect();
    // The 14th and the 15th field, counted from the first; in hundredths of a second.
    let time = |field: usize| Duration::from_millis(10 * fields.get(field).copied().unwrap_or(0));
    (time(11), time(12))
}

fn measured(name: &str, batches: u128, work: impl FnOnce()) {
    let (began, before) = (Instant::now(), processor());
    work();
    let (took, after) = (began.elapsed(), processor());
    println!(
        "{name:28} {:>8.0} batches/s   {:>6.2} s   user {:.2} s   system {:.2} s",
        batches as f64 / took.as_secs_f64(),
        took.as_secs_f64(),
        (after.0 - before.0).as_secs_f64(),
        (after.1 - before.1).as_secs_f64(),
    );
}

fn main() {
    let batches = setting("ANNALS_BATCHES", 20_000) as u128;
    let one_by_one = std::env::var_os("ANNALS_BULK_ONLY").is_none();
    for asks in [false, true] {
        if one_by_one && !asks {
            let home = directory().expect("a directory");
            let url = home.path().join("log").display().to_string();
            let annals = block_on(Annals::open(&url)).expect("a log");
            begin(&annals);
            measured("one after the other", batches, || {
                for n in 1..=batches {
                    block_on(annals.execute_batch(Some(key(n)), unit(n))).expect("a batch");
                }
            });
            block_on(annals.close());
        }
        let home = directory().expect("a directory");
        let url = home.path().join("log").display().to_string();
        let annals = block_on(Annals::open(&url)).expect("a log");
        begin(&annals);
        let name = match asks {
            false => "by a bulk writer",
            true => "by one that asks for keys",
        };
        measured(name, batches, || {
            let mut bulk = annals.bulk();
            for n in 1..=batches {
                if asks {
                    let known = block_on(bulk.knows(key(n))).expect("an answer");
                    assert!(known.is_none());
                }
                block_on(bulk.execute(Some(key(n)), unit(n))).expect("a batch");
            }
            block_on(bulk.flush()).expect("all of them");
        });
        block_on(annals.close());
    }
}
