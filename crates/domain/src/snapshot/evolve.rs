//! The state of a context snapshot: what its decider needs to know.

use serde::{Deserialize, Serialize};

use super::Event;
use crate::GitOid;

/// What the decider knows of an item of an open snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ItemState {
    /// Its blob is not known yet.
    Lacking,
    /// Its blob was named.
    Named,
    /// The log has its content, and its blob with it.
    Kept,
}

impl ItemState {
    fn of(blob: Option<GitOid>) -> ItemState {
        blob.map_or(ItemState::Lacking, |_| ItemState::Named)
    }
}

/// Where a snapshot is in its life: open, then finalized for good.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum State {
    /// It does not exist.
    #[default]
    Absent,
    /// Items are being collected.
    Open {
        /// Each item, by its number.
        items: Vec<ItemState>,
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
        Event::Opened(_) => *state = State::Open { items: Vec::new() },
        // git-internal does not say whether a snapshot is complete: an adopted
        // one is open, and what it lacks can be added.
        Event::Adopted(event) => {
            if event.object.is_some() {
                *state = State::Open { items: Vec::new() };
            }
            if let State::Open { items } = state {
                items.extend(event.items.iter().map(|item| ItemState::of(item.blob)));
            }
        }
        Event::ItemAdded(event) => {
            if let State::Open { items } = state {
                items.push(match event.content {
                    Some(_) => ItemState::Kept,
                    None => ItemState::of(event.blob),
                });
            }
        }
        Event::BlobAttached(event) => {
            if let State::Open { items } = state
                && let Some(item @ ItemState::Lacking) = items.get_mut(event.index as usize)
            {
                *item = ItemState::Named;
            }
        }
        Event::Finalized(_) => *state = State::Finalized,
        Event::MetadataSet(_) | Event::Redacted(_) | Event::Sealed(_) => {}
    }
}
