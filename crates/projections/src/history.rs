//! The history of an object: one line an event.

mod content;
mod summary;

#[cfg(test)]
mod tests;

use annals_domain::{ActorRef, Timestamp};
use annals_event_log::{Position, Version};
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::Entry;

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

/// Tells what an entry changed.
pub fn history_entry(entry: &Entry) -> HistoryEntry {
    HistoryEntry {
        position: entry.position,
        version: entry.version,
        event_type: entry.event.event_type(),
        occurred_at: entry.occurred_at,
        recorded_at: entry.recorded_at,
        actor: entry.actor.clone(),
        summary: summary::summary(entry),
        event: content::event(entry),
    }
}
