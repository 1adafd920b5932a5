//! Rows that a redaction which is not at its end may explain: they have content that is going, and
//! the records have it no more.
//!
//! The last step of a redaction drops all rows, so until then rows that were folded before it say what the records
//! said. What can differ by that is what a row takes from content: titles, tags, external ids, labels and types of
//! intents, aliases, tickets, and nodes of sessions' plans. All else that differs is a fault, in rows of these objects
//! too.

use std::collections::HashSet;

use annals_domain::redaction::Redacted;
use annals_domain::{Kind, StreamKind};
use annals_event_log::Record;
use uuid::Uuid;

use super::keys;
use super::relation::Relation;
use super::row::ObjectRow;
use super::{CatalogueError, step};

/// What a redaction is about that is not at its end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Going {
    /// The objects that lose content, and the streams.
    ids: HashSet<Uuid>,
    streams: HashSet<StreamKind>,
}

impl Going {
    /// What these records say is removed; none of them need be published.
    ///
    /// # Errors
    /// [`CatalogueError::Decode`].
    pub fn of(records: &[Record]) -> Result<Going, CatalogueError> {
        let mut going = Going::default();
        for step in step::decode(records.to_vec())? {
            let decoded = step.decoded;
            if let Some(event) = Redacted::of(&decoded.event) {
                going.ids.insert(decoded.stream.id);
                going.ids.extend(event.touched().iter().map(|(_, id)| *id));
                going.streams.insert(decoded.stream.kind);
            }
        }
        Ok(going)
    }

    /// Whether a row that is stored, and the one that is folded now, can differ by what is going.
    pub(super) fn explains(
        &self,
        key: &[u8],
        stored: Option<&[u8]>,
        folded: Option<&[u8]>,
    ) -> bool {
        let of = |bytes: Option<&[u8]>| {
            let id = bytes.and_then(|bytes| Uuid::from_slice(bytes).ok());
            id.is_some_and(|id| self.ids.contains(&id))
        };
        let in_key = || of(key.get(keys::OF_OBJECT));
        let value = stored.or(folded);
        match keys::depends(key) {
            keys::Depends::No => false,
            keys::Depends::Object => match (stored, folded) {
                (Some(stored), Some(folded)) => self.explains_object(key, stored, folded),
                _ => false,
            },
            keys::Depends::OnObjectInKey => in_key(),
            keys::Depends::OnObjectInValue => of(value),
            keys::Depends::OnAliases => self.streams.contains(&StreamKind::Alias),
            keys::Depends::OnSessions => self.streams.contains(&StreamKind::Session),
            keys::Depends::OnNodes(Relation::SessionTasks) => in_key() || of(value),
            keys::Depends::OnNodes(_) => false,
        }
    }

    /// Whether two rows of an object say the same but for what they take from content.
    fn explains_object(&self, key: &[u8], stored: &[u8], folded: &[u8]) -> bool {
        let read = |row: &[u8]| annals_wire::decode_row::<ObjectRow>(row).ok();
        let (Some(mut stored), Some(folded)) = (read(stored), read(folded)) else {
            return false;
        };
        if keys::object_id(key).is_some_and(|id| self.ids.contains(&id)) {
            stored.title.clone_from(&folded.title);
            stored.sort.clone_from(&folded.sort);
            stored.work_type.clone_from(&folded.work_type);
            // What was removed is not a tag or an external id any more.
            stored.tags = folded.tags;
            stored.external_ids = folded.external_ids;
            if stored.kind == Kind::Session {
                // It counts the nodes of its plans that became tasks, by their names.
                stored.counts = folded.counts;
            }
        }
        if self.streams.contains(&StreamKind::Alias) {
            // The event that says so does not name the object that had it.
            stored.aliases = folded.aliases;
        }
        stored == folded
    }
}
