//! The state of a context snapshot: what its decider needs to know.

use super::Event;

/// Where a snapshot is in its life: open, then finalized for good.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum State {
    /// It does not exist.
    #[default]
    Absent,
    /// Items are being collected.
    Open {
        /// For each item, by its number, whether its blob is there.
        blobs: Vec<bool>,
    },
    /// It never changes again.
    Finalized,
}

impl State {
    /// Whether it does not exist.
    pub fn is_absent(&self) -> bool {
        *self == State::Absent
    }

    /// The state's name.
    pub fn name(&self) -> &'static str {
        match self {
            State::Absent => "absent",
            State::Open { .. } => "open",
            State::Finalized => "finalized",
        }
    }
}

/// Folds one event into the state.
pub fn evolve(state: &mut State, event: &Event) {
    match event {
        Event::Opened(_) => *state = State::Open { blobs: Vec::new() },
        // git-internal does not say whether a snapshot is complete: an adopted
        // one is open, and what it lacks can be added.
        Event::Adopted(event) => {
            if event.object.is_some() {
                *state = State::Open { blobs: Vec::new() };
            }
            if let State::Open { blobs } = state {
                blobs.extend(event.items.iter().map(|item| item.blob.is_some()));
            }
        }
        Event::ItemAdded(event) => {
            if let State::Open { blobs } = state {
                blobs.push(event.blob.is_some());
            }
        }
        Event::BlobAttached(event) => {
            if let State::Open { blobs } = state
                && let Some(has_blob) = blobs.get_mut(event.index as usize)
            {
                *has_blob = true;
            }
        }
        Event::Finalized(_) => *state = State::Finalized,
        Event::MetadataSet(_) | Event::Redacted(_) | Event::Sealed(_) => {}
    }
}
