//! What a process that cannot write rows folds for its questions, kept from one to the next.

use std::sync::Arc;

use annals_event_log::{Epoch, ModelCheckpoint, Position};

use super::table::Changes;
use crate::generation::Generation;

/// Changes of rows that are in memory alone.
#[derive(Debug)]
pub(super) struct Unwritten {
    generation: Generation,
    epoch: Epoch,
    end: Position,
    changes: Arc<Changes>,
}

impl Unwritten {
    /// Nothing is folded beyond the stored rows.
    pub(super) fn new(generation: Generation, start: ModelCheckpoint) -> Unwritten {
        Unwritten {
            generation,
            epoch: start.epoch,
            end: start.position,
            changes: Arc::default(),
        }
    }

    /// Returns `true` if the changes lie over such stored rows: they are of the same generation, no content was removed
    /// since, and they have no event that is not folded here.
    pub(super) fn is_over(&self, generation: Generation, start: ModelCheckpoint) -> bool {
        let is_same = self.generation == generation && self.epoch == start.epoch;
        // Where the stored rows have caught up, nothing here is needed any more.
        is_same && start.position < self.end
    }

    /// The position up to which the events are folded.
    pub(super) fn end(&self) -> Position {
        self.end
    }

    /// The changes so far.
    pub(super) fn changes(&self) -> Arc<Changes> {
        Arc::clone(&self.changes)
    }

    /// Adds those of a page of events. They are copied only where a question still reads the ones before.
    pub(super) fn add(&mut self, changes: Changes, end: Position) {
        Arc::make_mut(&mut self.changes).extend(changes);
        self.end = end;
    }
}
