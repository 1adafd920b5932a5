//! The state of an alias: what its decider needs to know.

use serde::{Deserialize, Serialize};

use uuid::Uuid;

use super::Event;

/// Whose alias it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum State {
    /// No object has it.
    #[default]
    Absent,
    /// An object's.
    Reserved {
        /// The object.
        object: Uuid,
    },
}

impl State {
    /// Whether no object has it.
    pub fn is_absent(&self) -> bool {
        *self == State::Absent
    }
}

/// Folds one event into the state.
pub fn evolve(state: &mut State, event: &Event) {
    match event {
        Event::Reserved(event) => {
            *state = State::Reserved {
                object: event.object,
            };
        }
        Event::Redacted(_) => {}
    }
}
