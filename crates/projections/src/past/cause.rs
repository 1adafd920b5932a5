//! The event that made something what it is.

use annals_domain::{ActorRef, Timestamp};
use annals_event_log::{EventId, Position};
use serde::Serialize;

use crate::Entry;

/// An event, as far as it is named where something is said to follow from it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Cause {
    /// Its place in the log.
    #[serde(serialize_with = "crate::history::position")]
    pub position: Position,
    /// Its id.
    pub event_id: EventId,
    /// The name of its type.
    pub event_type: &'static str,
    /// When it happened, by its author's clock.
    pub occurred_at: Timestamp,
    /// When the log took it.
    pub recorded_at: Timestamp,
    /// Who caused it.
    pub actor: ActorRef,
}

impl From<&Entry> for Cause {
    fn from(entry: &Entry) -> Cause {
        Cause {
            position: entry.position,
            event_id: entry.event_id,
            event_type: entry.event.event_type(),
            occurred_at: entry.occurred_at,
            recorded_at: entry.recorded_at,
            actor: entry.actor.clone(),
        }
    }
}
