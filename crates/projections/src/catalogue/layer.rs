//! Rows in memory over the stored ones: what was changed and not yet written,
//! and what had to be looked at to change it.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;

use annals_domain::{Kind, StreamRef};
use annals_event_log::Rows;
use bytes::Bytes;
use uuid::Uuid;

use super::CatalogueError;
use super::fold::Fold;
use super::keys;
use super::row::ObjectRow;
use super::step::Step;

/// Bytes that a row takes in memory beside its key and value, roughly.
const ROW_OVERHEAD: usize = 96;
/// Bytes that an object's row takes in memory, roughly.
const OBJECT_BYTES: usize = 400;

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
    row: Option<ObjectRow>,
    changed: bool,
}

/// Changed rows of every other table, and those that were looked at.
#[derive(Debug, Clone, Default)]
pub(super) struct Changes {
    /// A key with its new value, or with `None` where the row is gone.
    changed: BTreeMap<Bytes, Option<Bytes>>,
    looked_at: HashMap<Bytes, Option<Bytes>>,
    bytes: usize,
}

/// What was read for a fold.
#[derive(Debug, Default)]
pub(super) struct Loaded {
    pub(super) objects: HashMap<Uuid, Option<ObjectRow>>,
    pub(super) rows: Vec<(Bytes, Option<Bytes>)>,
}

impl Objects {
    /// An object as far as it is known here: not at all, or that there is
    /// none, or its row.
    pub(super) fn known(&self, id: Uuid) -> Option<Option<&ObjectRow>> {
        self.known.get(&id).map(|known| known.row.as_ref())
    }

    /// The row of an object, to be changed.
    pub(super) fn get_mut(&mut self, id: Uuid) -> Option<&mut ObjectRow> {
        let known = self.known.get_mut(&id)?;
        let row = known.row.as_mut()?;
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
        let row = self.known.get(&id)?.row.as_ref()?;
        if !row.is(kind, stream) {
            return None;
        }
        self.get_mut(id)
    }

    pub(super) fn insert(&mut self, row: ObjectRow) {
        let known = Known {
            changed: true,
            row: Some(row),
        };
        let id = known.row.as_ref().map(|row| row.id).unwrap_or_default();
        let before = self.known.insert(id, known);
        if before.is_none_or(|known| !known.changed) {
            self.changed += 1;
        }
    }

    /// Objects that were changed, in no order.
    pub(super) fn changed(&self) -> impl Iterator<Item = &ObjectRow> {
        self.known
            .values()
            .filter(|known| known.changed)
            .filter_map(|known| known.row.as_ref())
    }
}

impl Changes {
    pub(super) fn put(&mut self, key: Bytes, value: Bytes) {
        self.change(key, Some(value));
    }

    pub(super) fn delete(&mut self, key: Bytes) {
        self.change(key, None);
    }

    fn change(&mut self, key: Bytes, value: Option<Bytes>) {
        self.bytes += ROW_OVERHEAD + key.len() + value.as_ref().map_or(0, Bytes::len);
        self.changed.insert(key, value);
    }

    /// A row as it is now. It must have been loaded.
    pub(super) fn get(&self, key: &[u8]) -> Option<&Bytes> {
        self.known(key).flatten()
    }

    /// A row as far as it is known here.
    pub(super) fn known(&self, key: &[u8]) -> Option<Option<&Bytes>> {
        let known = self.changed.get(key).or_else(|| self.looked_at.get(key));
        known.map(Option::as_ref)
    }

    /// Changed rows within bounds, in the order of their keys.
    pub(super) fn range(
        &self,
        from: Bound<&[u8]>,
        to: Bound<&[u8]>,
    ) -> impl DoubleEndedIterator<Item = (&Bytes, &Option<Bytes>)> {
        self.changed.range::<[u8], _>((from, to))
    }
}

impl Layer {
    /// Folds steps in. Everything that they look at is known here or in
    /// `loaded`.
    pub(super) fn fold(&mut self, steps: &[Step], loaded: Loaded) {
        for (id, row) in loaded.objects {
            let known = Known {
                row,
                changed: false,
            };
            self.objects.known.entry(id).or_insert(known);
        }
        for (key, value) in loaded.rows {
            self.rows.looked_at.entry(key).or_insert(value);
        }
        for step in steps {
            Fold {
                objects: &mut self.objects,
                rows: &mut self.rows,
                step,
            }
            .apply();
        }
    }

    /// How many rows were changed.
    pub(super) fn changes(&self) -> usize {
        self.objects.changed + self.rows.changed.len()
    }

    /// How much memory it takes, roughly.
    pub(super) fn bytes(&self) -> usize {
        self.objects.known.len() * OBJECT_BYTES + self.rows.bytes
    }

    /// The changed rows as they are written, in the order of their keys.
    pub(super) fn to_rows(&self) -> Result<Rows, CatalogueError> {
        let mut rows: Rows = Vec::with_capacity(self.changes());
        for row in self.objects.changed() {
            let value = annals_wire::encode_row(row)?;
            rows.push((keys::object(row.id), Some(value.into())));
        }
        rows.extend(
            self.rows
                .changed
                .iter()
                .map(|(k, v)| (k.clone(), v.clone())),
        );
        rows.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        Ok(rows)
    }
}

/// An object from its row.
pub(super) fn read_object(key: &[u8], value: &[u8]) -> Result<ObjectRow, CatalogueError> {
    let malformed = || CatalogueError::malformed(key);
    let id = keys::object_id(key).ok_or_else(malformed)?;
    let row: ObjectRow = annals_wire::decode_row(value).map_err(|_| malformed())?;
    Ok(ObjectRow { id, ..row })
}
