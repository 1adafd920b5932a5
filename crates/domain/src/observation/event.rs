//! What happens to an observation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use smallvec::smallvec;
use uuid::Uuid;

use crate::codes::coded_enum;
use crate::event::{Touched, events};
use crate::intent::Source;
use crate::metadata::{MetadataSet, subject};
use crate::pieces::Slot;
use crate::redaction::Redacted;
use crate::{IntentId, Kind};

coded_enum! {
    /// How something was noticed. Forge has the words among the sources of
    /// intents.
    pub enum ObservationKind {
        /// An agent noticed it while it did something else.
        Epiphany = 1 => "epiphany",
        /// An agent found it when it looked back at what was done.
        Reflection = 2 => "reflection",
    }
}

impl ObservationKind {
    /// Where an intent comes from that such an observation leads to.
    pub fn source(self) -> Source {
        match self {
            ObservationKind::Epiphany => Source::Epiphany,
            ObservationKind::Reflection => Source::Reflection,
        }
    }
}

events! {
    /// An event of an observation's stream.
    pub enum Event {
        Recorded = "observation.recorded" v 1,
        Processed = "observation.processed" v 1,
        MetadataSet = "observation.metadata_set" v 1,
        Redacted = "observation.redacted" v 1,
    }
}

/// Something was noticed; it is open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Recorded {
    /// How.
    pub kind: ObservationKind,
    /// What.
    pub text: Slot,
    /// What it rests on: paths, quotes, URLs.
    pub evidence: Vec<Slot>,
    /// The objects of this log that it is about, each once.
    pub about: Vec<Subject>,
}

/// An object that an observation is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "object")]
pub struct Subject {
    /// The object's kind, by its number (8 to 18, 64 for a session, or 65 for an observation).
    pub kind: u8,
    /// The object.
    pub object: Uuid,
}

/// It is settled: it led to an intent, which names it, or there is nothing to do about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Processed {
    /// The intent that it led to; absent where there was nothing to do.
    pub intent: Option<IntentId>,
    /// Why.
    pub reason: Option<Slot>,
}

/// What an observation is about stays as it is.
fn touches(event: &Event, id: Uuid) -> Touched {
    match event {
        Event::MetadataSet(event) => subject(event.kind, event.object),
        Event::Redacted(event) => event.touched().into(),
        Event::Recorded(_) | Event::Processed(_) => smallvec![(Kind::Observation, id)],
    }
}
