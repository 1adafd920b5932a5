//! What several tests need: events without meaning, and child processes.

use std::path::Path;
use std::process::{Command, Stdio};

use annals::domain::run::{CreateRun, RecordToolInvocation, StartPatching, ToolStatus};
use annals::domain::task::CreateTask;
use annals::domain::{ActorRef, Command as DomainCommand, RunId, TaskId};
use annals::{Annals, Request};
use annals_event_log::{Actor, Append, NewEvent, StreamName};
use bytes::Bytes;
use chrono::DateTime;
use futures::executor::block_on;
use uuid::Uuid;

/// An event whose structure is `structure`.
pub fn event(stream: &str, structure: impl Into<Bytes>) -> NewEvent {
    NewEvent {
        stream: stream.parse::<StreamName>().expect("a stream name"),
        id: Uuid::now_v7(),
        event_type: "test.happened".into(),
        schema_version: 1,
        occurred_at: DateTime::from_timestamp(1_700_000_000, 0).expect("a time"),
        actor: Actor {
            kind: "system".into(),
            id: "test".into(),
            display_name: None,
            auth_context: None,
        },
        correlation: None,
        causation: None,
        structure: structure.into(),
        content: Vec::new(),
    }
}

/// A batch with no expectations.
pub fn append(batch: Uuid, events: Vec<NewEvent>) -> Append {
    Append {
        batch,
        request: Bytes::new(),
        events,
        expectations: Vec::new(),
        blobs: Vec::new(),
    }
}

/// What an agent asks for.
pub fn request(command: impl Into<DomainCommand>) -> Request {
    Request::new(ActorRef::agent("worker"), command)
}

/// A tool call of a run.
pub fn call(run: RunId, status: ToolStatus) -> Request {
    request(RecordToolInvocation::new(run, "bash", status))
}

/// Begins a run of a new task, with calls that went well, as one batch.
pub fn run_with_calls(annals: &Annals, calls: usize) -> RunId {
    let (task, run) = (TaskId(Uuid::now_v7()), RunId(Uuid::now_v7()));
    let create_task = CreateTask::new("work").with_id(task);
    let create_run = CreateRun::new(task).with_id(run);
    let mut all = vec![
        request(create_task),
        request(create_run),
        request(StartPatching::new(run)),
    ];
    all.extend((0..calls).map(|_| call(run, ToolStatus::Ok)));
    block_on(annals.execute_batch(None, all)).expect("a batch");
    run
}

/// A log's database without its rules.
pub fn raw(path: &str) -> rocksdb::DB {
    let options = rocksdb::Options::default();
    let families = rocksdb::DB::list_cf(&options, path).unwrap();
    rocksdb::DB::open_cf(&options, Path::new(path), families).unwrap()
}

/// This very test binary, running one test of its own in another process. The
/// test finds `directory` in the variable `variable` and returns at once
/// where that is not set.
pub fn child(test: &str, variable: &str, directory: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("the test binary"));
    command
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env(variable, directory)
        .stdin(Stdio::null());
    command
}
