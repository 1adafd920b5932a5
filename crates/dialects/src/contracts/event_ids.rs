//! Which ids are taken: by an event of the log, or by an object of the file that is imported. An id is
//! checked before it is given to an event, so that no object of a file takes the id of something else.

use std::collections::{HashMap, HashSet};
use std::fmt;

use annals::{Annals, LoadError};
use annals_event_log::{Position, Query};
use uuid::Uuid;

use super::target::Known;

/// What has an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holder {
    /// An event of the log.
    Event(Position),
    /// An object of the file, by its line.
    Line(u64),
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Holder::Event(position) => write!(f, "event {position} of the log"),
            Holder::Line(line) => write!(f, "the object of line {line}"),
        }
    }
}

/// The ids that a file has, and what has them already.
#[derive(Debug, Default)]
pub(super) struct EventIds {
    wanted: HashSet<Uuid>,
    /// What has them; nothing, until the log was looked through.
    held: Option<HashMap<Uuid, Holder>>,
}

impl EventIds {
    /// Those that a file has.
    pub(super) fn of(wanted: HashSet<Uuid>) -> EventIds {
        EventIds { wanted, held: None }
    }

    /// What has an id that is about to be given to an event. The log has no index of them: it is looked
    /// through once, for all ids of the file.
    pub(super) async fn holder(
        &mut self,
        annals: &Annals,
        id: Uuid,
    ) -> Result<Option<Holder>, LoadError> {
        if self.held.is_none() {
            self.held = Some(self.look_through(annals).await?);
        }
        let held = self.held.as_ref().and_then(|held| held.get(&id)).copied();
        if held.is_some() || self.wanted.contains(&id) {
            return Ok(held);
        }
        // The file was changed since its ids were read.
        let found = annals.proofs().find_event(id, |_| {}).await?;
        Ok(found.map(Holder::Event))
    }

    async fn look_through(&self, annals: &Annals) -> Result<HashMap<Uuid, Holder>, LoadError> {
        let mut held = HashMap::new();
        let mut next = Some(1);
        while let Some(from) = next {
            let page = annals.log().read(Query::all(Position(from))).await?;
            for record in &page.records {
                let id = record.event_id();
                if self.wanted.contains(&id) {
                    held.entry(id).or_insert(Holder::Event(record.position()));
                }
            }
            next = page.next;
        }
        Ok(held)
    }

    /// Remembers an id that an object of the file has now.
    pub(super) fn take(&mut self, known: Known, line: u64) {
        if let Some(held) = self.held.as_mut().filter(|_| known.is_named) {
            held.insert(known.id, Holder::Line(line));
        }
    }
}
