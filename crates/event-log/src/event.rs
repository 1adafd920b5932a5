//! What an append is made of: events, expectations on streams, the place in a chain, and how large they may be.

use std::borrow::Cow;
use std::fmt;

use bytes::Bytes;
use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::ids::has_control;
use crate::{Content, EventId, StreamName, Version};

/// The sizes that an append may have. Beyond them it is refused, whole, with
/// [`AppendError::TooLarge`](crate::AppendError::TooLarge).
pub mod limits {
    /// Bytes of one event's structure.
    pub const STRUCTURE: usize = 64 * 1024;
    /// Bytes of one piece of content inside a record; larger ones are blobs.
    pub const INLINE: usize = 4 * 1024;
    /// Pieces of content in one event.
    pub const PIECES: usize = 10_000;
    /// Bytes of one blob.
    pub const BLOB: usize = 64 * 1024 * 1024;
    /// Events in one batch.
    pub const BATCH_EVENTS: usize = 10_000;
    /// Bytes of one batch's records, and again of its blobs.
    pub const BATCH_BYTES: usize = 64 * 1024 * 1024;
    /// Bytes of an event type's name.
    pub const EVENT_TYPE: usize = 100;
    /// Bytes of an actor's kind.
    pub const ACTOR_KIND: usize = 100;
    /// Bytes of an actor's id.
    pub const ACTOR_ID: usize = 1_024;
    /// Expectations of one batch.
    pub const EXPECTATIONS: usize = 100_000;
    /// Bytes of a batch's request.
    pub const REQUEST: usize = 64 * 1024 * 1024;
}

/// Who caused an event. Names shown to people and authentication context are
/// content and therefore pieces; the header says which.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor {
    /// `human`, `agent`, `system`, `mcp_client` or another word.
    pub kind: String,
    /// The actor's id within its kind.
    pub id: String,
    /// Which piece holds the display name.
    pub display_name: Option<u16>,
    /// Which piece holds the authentication context.
    pub auth_context: Option<u16>,
}

/// One event as its author gives it; the store adds position, version and
/// recorded_at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEvent {
    /// The stream that it goes to.
    pub stream: StreamName,
    /// Its own id.
    pub id: EventId,
    /// The name of its type, for example `run.created`.
    pub event_type: Cow<'static, str>,
    /// The version of that type's shape, from 1.
    pub schema_version: u16,
    /// When it happened, by its author's clock.
    pub occurred_at: DateTime<Utc>,
    /// Who caused it.
    pub actor: Actor,
    /// What it belongs to, beyond its batch.
    pub correlation: Option<Uuid>,
    /// The event that led to it.
    pub causation: Option<EventId>,
    /// What a fold needs; never removed.
    pub structure: Bytes,
    /// What a reader wants to see; each piece can be removed.
    pub content: Vec<Content>,
}

/// How a stream must be for an append to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Expected {
    /// In any state.
    Any,
    /// Not there.
    NoStream,
    /// There, at any version.
    Exists,
    /// At exactly this version; `Exactly(Version::NONE)` is `NoStream`.
    Exactly(Version),
}

impl Expected {
    /// Whether a stream at `actual` is as expected.
    pub fn holds(self, actual: Version) -> bool {
        match self {
            Expected::Any => true,
            Expected::NoStream => actual == Version::NONE,
            Expected::Exists => actual > Version::NONE,
            Expected::Exactly(version) => actual == version,
        }
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expected::Any => f.write_str("anything"),
            Expected::NoStream => f.write_str("no such stream"),
            Expected::Exists => f.write_str("a stream that exists"),
            Expected::Exactly(version) => write!(f, "version {version}"),
        }
    }
}

/// An expectation on a stream, whether the append writes to it or only read
/// it to decide (a *guard*). All hold for the state before the batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expectation {
    /// The stream.
    pub stream: StreamName,
    /// How it must be.
    pub expected: Expected,
}

/// The place of an append in a chain of appends that are given to a log one behind the other, before the first
/// of them is answered: see [`crate::EventLog::append_linked`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Link {
    /// The chain: a new id for each.
    pub chain: Uuid,
    /// The append's number in it, from 0.
    pub number: u64,
}

/// Whether a text can be the name of an event's type.
pub(crate) fn is_event_type(text: &str) -> bool {
    let printable = !has_control(text);
    printable && (1..=limits::EVENT_TYPE).contains(&text.len())
}
