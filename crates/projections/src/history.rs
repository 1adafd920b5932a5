//! The history of an object: one line an event.

mod calls;
mod content;
mod summary;

#[cfg(test)]
mod tests;

use annals_domain::{ActorRef, Timestamp};
use annals_event_log::{Position, Version};
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::{CallLine, Entry};
use calls::RecentCalls;

pub(crate) use calls::{ended, invoked, requested};

/// One event as people read it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HistoryEntry {
    /// Its place in the log.
    #[serde(serialize_with = "position")]
    pub position: Position,
    /// Its place in its stream.
    #[serde(serialize_with = "version")]
    pub version: Version,
    /// The name of the event's type.
    pub event_type: &'static str,
    /// When it happened, by its author's clock.
    pub occurred_at: Timestamp,
    /// When the log took it.
    pub recorded_at: Timestamp,
    /// Who caused it.
    pub actor: ActorRef,
    /// What changed, in one line.
    pub summary: String,
    /// The same line in its parts, where it is about a tool call and says what was called; not part of the JSON.
    #[serde(skip)]
    pub call: Option<CallLine>,
    /// The event itself, its content in its place.
    pub event: Value,
}

pub(crate) fn position<S: Serializer>(
    position: &Position,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(position.0)
}

pub(crate) fn optional_position<S: Serializer>(
    position: &Option<Position>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    position.map(|position| position.0).serialize(serializer)
}

fn version<S: Serializer>(version: &Version, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(version.0)
}

/// Tells what entries changed, in any order, with what earlier ones said: an event that only names a tool call is told
/// with what was called. It remembers the last 4,096 calls.
#[derive(Debug, Default)]
pub struct Teller {
    calls: RecentCalls,
}

impl Teller {
    /// One that has not been told of anything yet.
    pub fn new() -> Teller {
        Teller::default()
    }

    /// Remembers what an entry says of a call, for entries that are told before it: where a log is read backward.
    pub fn learn(&mut self, entry: &Entry) {
        self.calls.learn(entry);
    }

    /// Tells what an entry changed, and remembers it.
    pub fn tell(&mut self, entry: &Entry) -> HistoryEntry {
        self.learn(entry);
        let call = self.calls.line(entry);
        let summary = match &call {
            Some(line) => line.to_string(),
            None => summary::summary(entry),
        };
        HistoryEntry {
            position: entry.position,
            version: entry.version,
            event_type: entry.event.event_type(),
            occurred_at: entry.occurred_at,
            recorded_at: entry.recorded_at,
            actor: entry.actor.clone(),
            summary,
            call,
            event: content::event(entry),
        }
    }
}

/// Tells what an entry changed, by itself.
pub fn history_entry(entry: &Entry) -> HistoryEntry {
    Teller::new().tell(entry)
}
