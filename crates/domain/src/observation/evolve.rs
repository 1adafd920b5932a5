//! The state of an observation: what its deciders need to know.

use serde::{Deserialize, Serialize};

use super::{Event, ObservationKind};
use crate::IntentId;

/// Where an observation is in its life: open, then processed for good.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum State {
    /// It does not exist.
    #[default]
    Absent,
    /// It is not settled.
    Open {
        /// How it was noticed.
        kind: ObservationKind,
    },
    /// It is settled.
    Processed {
        /// The intent that it led to; none where there was nothing to do.
        intent: Option<IntentId>,
    },
}

impl State {
    /// Whether it does not exist.
    pub fn is_absent(&self) -> bool {
        *self == State::Absent
    }
}

/// Folds one event into the state.
pub fn evolve(state: &mut State, event: &Event) {
    match event {
        Event::Recorded(event) => *state = State::Open { kind: event.kind },
        Event::Processed(event) => {
            *state = State::Processed {
                intent: event.intent,
            };
        }
        Event::MetadataSet(_) | Event::Redacted(_) => {}
    }
}
