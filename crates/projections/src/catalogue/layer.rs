//! Rows in memory over the stored ones: what was changed and not yet written,
//! and what had to be looked at to change it.

use std::collections::BTreeMap;
use std::ops::Bound;

use annals_domain::{Kind, StreamRef};
use annals_event_log::Rows;
use bytes::Bytes;
use foldhash::{HashMap, HashSet};
use rayon::prelude::*;
use uuid::Uuid;

use super::CatalogueError;
use super::arena::Arena;
use super::fold::Fold;
use super::keys;
use super::row::ObjectRow;
use super::step::Step;

/// Bytes that a row takes in memory in addition to its key and value, roughly.
const ROW_OVERHEAD: usize = 96;
/// Bytes that an object's row takes in memory, roughly.
const OBJECT_BYTES: usize = 400;

/// Objects that one thread makes rows of at once.
const OBJECTS_AT_ONCE: usize = 4_096;

/// Rows in memory.
#[derive(Debug, Clone, Default)]
pub(super) struct Layer {
    pub(super) objects: Objects,
    pub(super) rows: Changes,
}

/// Objects by their ids, as they are now.
#[derive(Debug, Clone, Default)]
pub(super) struct Objects {
    known: HashMap<Uuid, Known>,
    changed: usize,
}

#[derive(Debug, Clone)]
struct Known {
    row: Option<Box<ObjectRow>>,
    changed: bool,
}

/// Changed rows of every other table, and those that folds look at.
#[derive(Debug, Clone, Default)]
pub(super) struct Changes {
    changed: Changed,
    /// The newest form of rows that folds look at.
    seen: HashMap<Bytes, Option<Bytes>>,
    /// For each kind the last row of an actor's block.
    said: Vec<Said>,
    /// Rows that were put here before they were ever deleted here, so that the
    /// store does not have them.
    fresh: HashSet<Bytes>,
    /// Such rows that the store may have.
    taken_away: HashSet<Bytes>,
    bytes: usize,
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
    fn into_rows(self) -> Rows {
        match self {
            Changed::Ordered(rows) => rows.into_iter().collect(),
            Changed::InTurn(rows) => rows.into_rows(),
        }
    }
}

/// What was read for a fold. The objects are in the order of their ids.
#[derive(Debug, Default)]
pub(super) struct Loaded {
    pub(super) objects: Vec<(Uuid, Option<Box<ObjectRow>>)>,
    pub(super) rows: Vec<(Bytes, Option<Bytes>)>,
}

impl Loaded {
    /// An object as far as it was read.
    pub(super) fn object(&self, id: Uuid) -> Option<Option<&ObjectRow>> {
        let place = self.objects.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        self.objects.get(place).map(|(_, row)| row.as_deref())
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
    fn to_be_stored(&self, mut rows: Rows) -> Rows {
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

    /// A row as it is now. It must have been loaded, and be one of a table
    /// that folds look at.
    pub(super) fn get(&self, key: &[u8]) -> Option<&Bytes> {
        self.known(key).flatten()
    }

    /// A row as far as it is known here.
    pub(super) fn known(&self, key: &[u8]) -> Option<Option<&Bytes>> {
        self.seen.get(key).map(Option::as_ref)
    }

    fn len(&self) -> usize {
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

impl Layer {
    /// A layer whose rows are only written and never read in ranges.
    pub(super) fn to_be_written() -> Layer {
        let mut layer = Layer::default();
        layer.rows.changed = Changed::InTurn(InTurn::default());
        layer
    }

    /// The ids of objects that were changed, new ones among them.
    pub(super) fn changed_ids(&self) -> impl Iterator<Item = Uuid> {
        self.objects.changed().map(|row| row.id)
    }

    /// Folds steps in. Everything that they look at is known here or in
    /// `loaded`.
    pub(super) fn fold(&mut self, steps: &mut [Step], loaded: Loaded) {
        for (id, row) in loaded.objects {
            self.objects.known.entry(id).or_insert_with(|| Known {
                row,
                changed: false,
            });
        }
        for (key, value) in loaded.rows {
            self.rows.seen.entry(key).or_insert(value);
        }
        for step in steps {
            let title = step.title.take();
            Fold {
                objects: &mut self.objects,
                rows: &mut self.rows,
                step,
                title,
            }
            .apply();
        }
    }

    /// How many rows were changed.
    pub(super) fn changes(&self) -> usize {
        self.objects.changed + self.rows.len()
    }

    /// How much memory it takes, roughly.
    pub(super) fn bytes(&self) -> usize {
        self.objects.known.len() * OBJECT_BYTES + self.rows.bytes
    }

    /// The changed rows as they are written.
    pub(super) fn to_rows(&self) -> Result<Rows, CatalogueError> {
        in_order(self, self.rows.changed.clone())
    }

    /// Takes the changed rows out, but for those of objects. The layer still
    /// knows everything that folds look at.
    pub(super) fn take_changes(&mut self) -> Changed {
        std::mem::take(&mut self.rows.changed)
    }

    fn object_rows(&self) -> Result<Rows, CatalogueError> {
        let changed = self.objects.changed();
        let key = |row: &ObjectRow| u128::from_be_bytes(keys::reversed(row.id));
        let mut objects: Vec<_> = changed.map(|row| (key(row), row)).collect();
        // Stores take rows that come in the order of their keys more easily.
        objects.par_sort_unstable_by_key(|(key, _)| *key);
        let parts: Vec<Rows> = objects
            .par_chunks(OBJECTS_AT_ONCE)
            .map(encode_objects)
            .collect::<Result<_, _>>()?;
        let mut rows: Rows = Vec::with_capacity(objects.len() + self.rows.len());
        parts.into_iter().for_each(|part| rows.extend(part));
        Ok(rows)
    }
}

fn encode_objects(objects: &[(u128, &ObjectRow)]) -> Result<Rows, CatalogueError> {
    let mut arena = Arena::default();
    let mut value = Vec::new();
    let mut rows = Rows::with_capacity(objects.len());
    for (_, row) in objects {
        annals_wire::encode_row_into(*row, &mut value)?;
        let key = arena.copy(&keys::of_object(row.id));
        rows.push((key, Some(arena.copy(&value))));
    }
    Ok(rows)
}

/// The rows of a layer's objects and what else was changed, in the order of
/// their keys, each once. Of two changes of one row the later one counts.
pub(super) fn in_order(layer: &Layer, changed: Changed) -> Result<Rows, CatalogueError> {
    let stored = || layer.rows.to_be_stored(sorted(changed.into_rows()));
    let (objects, mut changed) = rayon::join(|| layer.object_rows(), stored);
    let mut objects = objects?;
    if let Some((first, _)) = objects.first() {
        let place = changed.partition_point(|(key, _)| key < first);
        let mut behind = changed.split_off(place);
        changed.append(&mut objects);
        changed.append(&mut behind);
    }
    Ok(changed)
}

/// What distinguishes nearly all keys: their first 32 bytes as numbers, with zeros behind
/// shorter ones. The keys themselves lie all over memory, so that each look at one waits for it.
type Head = [u64; 4];

fn head(key: &[u8]) -> Head {
    let mut bytes = [0; size_of::<Head>()];
    let key = key.get(..bytes.len()).unwrap_or(key);
    let (here, _) = bytes.split_at_mut(key.len());
    here.copy_from_slice(key);
    let (numbers, _) = bytes.as_chunks::<8>();
    let mut head = Head::default();
    for (number, bytes) in head.iter_mut().zip(numbers) {
        *number = u64::from_be_bytes(*bytes);
    }
    head
}

/// Rows in the order of their keys, each once, with its last change.
fn sorted(mut rows: Rows) -> Rows {
    if rows.is_sorted_by(|(a, _), (b, _)| a < b) {
        return rows;
    }
    let heads = rows.iter().map(|(key, _)| head(key));
    let mut order: Vec<(Head, usize)> = heads.zip(0..).collect();
    let key = |place: usize| rows.get(place).map(|(key, _)| key);
    order.par_sort_unstable_by(|(a, m), (b, n)| {
        let by_key = || key(*m).cmp(&key(*n));
        a.cmp(b).then_with(by_key).then(m.cmp(n))
    });
    let mut sorted = Rows::with_capacity(rows.len());
    for (_, place) in order {
        let Some(row) = rows.get_mut(place).map(std::mem::take) else {
            continue;
        };
        match sorted.last_mut() {
            Some(last) if last.0 == row.0 => *last = row,
            _ => sorted.push(row),
        }
    }
    sorted
}

/// An object from its row.
pub(super) fn read_object(key: &[u8], value: &[u8]) -> Result<ObjectRow, CatalogueError> {
    let malformed = || CatalogueError::malformed(key);
    let id = keys::object_id(key).ok_or_else(malformed)?;
    let row: ObjectRow = annals_wire::decode_row(value).map_err(|_| malformed())?;
    Ok(ObjectRow { id, ..row })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted_by_all_of_their_keys_and_the_last_change_counts() {
        let long = |end: &str| [&"k".repeat(size_of::<Head>()), end].concat();
        let mut keys: Vec<Vec<u8>> = ["", "a", "a\0", "a\0\0", "b", "a\u{1}"]
            .map(|key| key.as_bytes().to_vec())
            .into();
        keys.extend(["", "\0", "b", "a", "ab"].map(|end| long(end).into_bytes()));
        keys.extend((0..=u8::MAX).rev().map(|byte| vec![b'k', byte]));
        let mut rows = Rows::new();
        let mut wanted: BTreeMap<Bytes, Option<Bytes>> = BTreeMap::new();
        for round in 0..3_u8 {
            for (number, key) in (0_u8..=u8::MAX).cycle().zip(&keys) {
                let key = Bytes::from(key.clone());
                let value = (!number.wrapping_add(round).is_multiple_of(3))
                    .then(|| Bytes::from(vec![round, number]));
                wanted.insert(key.clone(), value.clone());
                rows.push((key, value));
            }
            keys.reverse();
        }
        let wanted: Rows = wanted.into_iter().collect();
        assert_eq!(sorted(rows), wanted);
    }
}
