//! Rows in memory over the stored ones: what was changed and not yet written,
//! and what had to be looked at to change it.

use annals_event_log::Rows;
use bytes::Bytes;
use rayon::prelude::*;
use uuid::Uuid;

use super::CatalogueError;
use super::arena::Arena;
use super::changes::{Changed, Changes, InTurn, Known, Objects};
use super::fold::Fold;
use super::keys;
use super::row::ObjectRow;
use super::step::Step;

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
    use std::collections::BTreeMap;

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
