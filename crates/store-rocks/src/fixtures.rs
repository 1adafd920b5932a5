//! Appends for this crate's unit tests.
#![allow(clippy::unwrap_used)]

use annals_event_log::{Actor, Append, NewEvent};
use bytes::Bytes;
use chrono::DateTime;
use uuid::Uuid;

/// An event without a payload, with its own id.
pub(crate) fn event(stream: &str) -> NewEvent {
    NewEvent {
        stream: stream.parse().unwrap(),
        id: Uuid::new_v4(),
        event_type: "test.happened".into(),
        schema_version: 1,
        occurred_at: DateTime::UNIX_EPOCH,
        actor: Actor {
            kind: "agent".into(),
            id: "a".into(),
            display_name: None,
            auth_context: None,
        },
        correlation: None,
        causation: None,
        structure: Bytes::new(),
        content: Vec::new(),
    }
}

/// A batch of such events that expects nothing.
pub(crate) fn append_of(events: Vec<NewEvent>) -> Append {
    Append {
        batch: Uuid::new_v4(),
        request: Bytes::new(),
        events,
        expectations: Vec::new(),
        blobs: Vec::new(),
    }
}

/// A batch of one event.
pub(crate) fn append(stream: &str) -> Append {
    append_of(vec![event(stream)])
}
