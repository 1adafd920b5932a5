//! Rows that were changed and are not yet written, and those that were looked at for it.

use std::collections::BTreeMap;
use std::ops::Bound;

use annals_domain::{Kind, StreamRef};
use annals_event_log::Rows;
use bytes::Bytes;
use foldhash::{HashMap, HashSet};
use uuid::Uuid;

use super::keys;
use super::row::ObjectRow;

/// Bytes that a row takes in memory in addition to its key and value, roughly.
const ROW_OVERHEAD: usize = 96;

/// Objects by their ids, as they are now.
#[derive(Debug, Clone, Default)]
pub(super) struct Objects {
    pub(super) known: HashMap<Uuid, Known>,
    pub(super) changed: usize,
}

#[derive(Debug, Clone)]
pub(super) struct Known {
    pub(super) row: Option<Box<ObjectRow>>,
    pub(super) changed: bool,
}

/// Changed rows of every other table, and those that folds look at.
#[derive(Debug, Clone, Default)]
pub(super) struct Changes {
    pub(super) changed: Changed,
    /// The newest form of rows that folds look at.
    pub(super) seen: HashMap<Bytes, Option<Bytes>>,
    /// For each kind the last row of an actor's block.
    said: Vec<Said>,
    /// Rows that were put here before they were ever deleted here, so that the
    /// store does not have them.
    fresh: HashSet<Bytes>,
    /// Such rows that the store may have.
    taken_away: HashSet<Bytes>,
    pub(super) bytes: usize,
}

/// A row of an actor's block.
#[derive(Debug, Clone)]
struct Said {
    kind: Kind,
    block: u64,
    actor_id: String,
}

/// Changed rows: a key with its new value, or with `None` where the row is
/// gone.
#[derive(Debug, Clone)]
pub(super) enum Changed {
    /// For those who ask for ranges of them.
    Ordered(BTreeMap<Bytes, Option<Bytes>>),
    /// One after the other as they were changed, which costs less where they
    /// are only written: of two changes of one row the later one counts.
    InTurn(InTurn),
}

/// Changed rows whose keys and values lie one behind the other.
#[derive(Debug, Clone, Default)]
pub(super) struct InTurn {
    bytes: Vec<u8>,
    rows: Vec<Lying>,
}

/// Where a row lies, and how long its key and its value are.
#[derive(Debug, Clone, Copy)]
struct Lying {
    at: usize,
    key: usize,
    value: Option<usize>,
}

impl InTurn {
    fn push(&mut self, key: &[u8], value: Option<&[u8]>) {
        self.rows.push(Lying {
            at: self.bytes.len(),
            key: key.len(),
            value: value.map(<[u8]>::len),
        });
        self.bytes.extend_from_slice(key);
        self.bytes.extend_from_slice(value.unwrap_or_default());
    }

    fn into_rows(self) -> Rows {
        let bytes = Bytes::from(self.bytes);
        let row = |row: Lying| {
            let end = row.at + row.key;
            let value = row.value.map(|value| bytes.slice(end..end + value));
            (bytes.slice(row.at..end), value)
        };
        self.rows.into_iter().map(row).collect()
    }
}

impl Default for Changed {
    fn default() -> Changed {
        Changed::Ordered(BTreeMap::new())
    }
}

impl Changed {
    pub(super) fn into_rows(self) -> Rows {
        match self {
            Changed::Ordered(rows) => rows.into_iter().collect(),
            Changed::InTurn(rows) => rows.into_rows(),
        }
    }
}

impl Objects {
    /// An object as far as it is known here: not at all, or that there is
    /// none, or its row.
    pub(super) fn known(&self, id: Uuid) -> Option<Option<&ObjectRow>> {
        self.known.get(&id).map(|known| known.row.as_deref())
    }

    /// The row of an object, to be changed.
    pub(super) fn get_mut(&mut self, id: Uuid) -> Option<&mut ObjectRow> {
        let known = self.known.get_mut(&id)?;
        let row = known.row.as_deref_mut()?;
        if !known.changed {
            known.changed = true;
            self.changed += 1;
        }
        Some(row)
    }

    /// The same, if it is this object in this stream.
    pub(super) fn get_if(
        &mut self,
        kind: Kind,
        id: Uuid,
        stream: StreamRef,
    ) -> Option<&mut ObjectRow> {
        let known = self.known.get_mut(&id)?;
        let row = known.row.as_deref_mut()?;
        if !row.is(kind, stream) {
            return None;
        }
        if !known.changed {
            known.changed = true;
            self.changed += 1;
        }
        Some(row)
    }

    pub(super) fn insert(&mut self, row: ObjectRow) {
        let known = Known {
            changed: true,
            row: None,
        };
        let slot = self.known.entry(row.id).or_insert_with(|| {
            self.changed += 1;
            known
        });
        if !slot.changed {
            slot.changed = true;
            self.changed += 1;
        }
        slot.row = Some(Box::new(row));
    }

    /// Whether an object was changed, and not just looked at.
    pub(super) fn is_changed(&self, id: Uuid) -> bool {
        self.known.get(&id).is_some_and(|known| known.changed)
    }

    /// Objects that were changed, in no order.
    pub(super) fn changed(&self) -> impl Iterator<Item = &ObjectRow> {
        self.known
            .values()
            .filter(|known| known.changed)
            .filter_map(|known| known.row.as_deref())
    }
}

impl Changes {
    pub(super) fn put(&mut self, key: &[u8], value: &[u8]) {
        self.change(key, Some(value));
    }

    pub(super) fn delete(&mut self, key: &[u8]) {
        self.change(key, None);
    }

    /// As [`Changes::put`], for a row that is not there: many such rows are gone
    /// again before they are ever written, and then their deletion is not written
    /// either. The store would step over it at each look until it compacts.
    pub(super) fn put_new(&mut self, key: &[u8], value: &[u8]) {
        if !self.taken_away.contains(key) {
            self.fresh.insert(Bytes::copy_from_slice(key));
        }
        self.put(key, value);
    }

    /// Takes a row away that was put by [`Changes::put_new`].
    pub(super) fn take_away(&mut self, key: &[u8]) {
        if !self.fresh.contains(key) {
            self.taken_away.insert(Bytes::copy_from_slice(key));
        }
        self.delete(key);
    }

    /// The rows of the store are others now, and may have any.
    pub(super) fn forget_what_is_fresh(&mut self) {
        let fresh = std::mem::take(&mut self.fresh);
        self.taken_away.extend(fresh);
    }

    /// Rows as they are written, of those that were changed, each once: without those that were
    /// never stored and are gone.
    pub(super) fn to_be_stored(&self, mut rows: Rows) -> Rows {
        rows.retain(|(key, value)| value.is_some() || !self.fresh.contains(key));
        rows
    }

    fn change(&mut self, key: &[u8], value: Option<&[u8]>) {
        self.bytes += ROW_OVERHEAD + key.len() + value.map_or(0, <[u8]>::len);
        // Each has bytes of its own: a share in new ones asks for as much memory as a copy.
        let owned = || {
            let value = value.map(Bytes::copy_from_slice);
            (Bytes::copy_from_slice(key), value)
        };
        if keys::is_looked_at(key) {
            let (key, value) = owned();
            self.seen.insert(key, value);
        }
        match &mut self.changed {
            Changed::Ordered(rows) => {
                let (key, value) = owned();
                rows.insert(key, value);
            }
            Changed::InTurn(rows) => rows.push(key, value),
        }
    }

    /// Notes that an actor created an object of a kind that begins at a
    /// position. One row says it for a whole block of positions.
    pub(super) fn put_actor(&mut self, kind: Kind, actor_id: &str, first: u64) {
        let block = first >> keys::BLOCK_BITS;
        let said = self.said.iter_mut().find(|said| said.kind == kind);
        match said {
            Some(said) if said.block == block && said.actor_id == actor_id => return,
            Some(said) => {
                said.block = block;
                actor_id.clone_into(&mut said.actor_id);
            }
            None => self.said.push(Said {
                kind,
                block,
                actor_id: actor_id.to_owned(),
            }),
        }
        let actor = keys::of_actor(kind, actor_id);
        self.put(&keys::block(&actor, first), b"");
    }

    /// A row as it is now, for folds. It must have been loaded, and be one of a table that they look at.
    pub(super) fn get(&self, key: &[u8]) -> Option<&Bytes> {
        self.known(key).flatten()
    }

    /// A row as far as it is known here.
    pub(super) fn known(&self, key: &[u8]) -> Option<Option<&Bytes>> {
        let seen = self.seen.get(key);
        let changed = || match &self.changed {
            Changed::Ordered(rows) => rows.get(key),
            // It is only written.
            Changed::InTurn(_) => None,
        };
        seen.or_else(changed).map(Option::as_ref)
    }

    pub(super) fn len(&self) -> usize {
        match &self.changed {
            Changed::Ordered(rows) => rows.len(),
            Changed::InTurn(rows) => rows.rows.len(),
        }
    }

    /// Changed rows within bounds, in the order of their keys. There are none
    /// to be had from a layer that is only written.
    pub(super) fn range(
        &self,
        from: Bound<&[u8]>,
        to: Bound<&[u8]>,
    ) -> impl DoubleEndedIterator<Item = (&Bytes, &Option<Bytes>)> {
        let rows = match &self.changed {
            Changed::Ordered(rows) => Some(rows),
            Changed::InTurn(_) => None,
        };
        rows.into_iter()
            .flat_map(move |rows| rows.range::<[u8], _>((from, to)))
    }
}
