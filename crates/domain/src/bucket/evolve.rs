//! The state of a bucket that sessions share.

use serde::{Deserialize, Serialize};

use super::{Event, Level, Limit};
use crate::Origin;

/// What is in a bucket.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// What is in it; `None` while nothing was taken, and it is full.
    pub level: Option<Level>,
}

impl State {
    /// Whether nothing was ever taken.
    pub fn is_absent(&self) -> bool {
        self.level.is_none()
    }
}

/// Folds one event into the state.
pub fn evolve(state: &mut State, event: &Event, origin: &Origin<'_>) {
    match event {
        Event::Taken(event) => {
            let limit = Limit {
                capacity: event.capacity,
                per_minute: event.per_minute,
            };
            state.level = Some(limit.take(state.level, origin.at));
        }
        Event::Redacted(_) => {}
    }
}
