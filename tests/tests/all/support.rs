//! What several tests need: events without meaning, and child processes.

use std::path::Path;
use std::process::{Command, Stdio};

use annals_event_log::{Actor, Append, NewEvent, StreamName};
use bytes::Bytes;
use chrono::DateTime;
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
