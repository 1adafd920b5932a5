//! Redaction: what a stream knows of content that was removed from it for good.
//!
//! The content and its salts are gone, so that no guess can be checked
//! against a digest. What stays says which pieces of which events they were, who
//! had them removed (the event's actor), when, and why. No fold of a decider looks
//! at content, so this event changes no state.

use schemars::JsonSchema;
mod in_stream;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::Kind;
use crate::pieces::Slot;

/// Content of events in this stream was removed for good, by the event's actor. It changes no
/// state; the objects show what is left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Redacted {
    /// The events that lost content.
    pub removed: Vec<RemovedPieces>,
    /// The objects that these events are about, each with its kind's number.
    pub objects: Vec<(u8, Uuid)>,
    /// Why.
    pub reason: Slot,
}

/// The pieces that an event lost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "event")]
pub struct RemovedPieces {
    /// An event's position in the log.
    pub position: u64,
    /// The pieces that it lost, by its numbers for them.
    pub pieces: Vec<u16>,
}

impl Redacted {
    /// The objects that lost content.
    pub fn touched(&self) -> Vec<(Kind, Uuid)> {
        let known = |(kind, id): &(u8, Uuid)| Some((Kind::from_number(*kind)?, *id));
        self.objects.iter().filter_map(known).collect()
    }
}
