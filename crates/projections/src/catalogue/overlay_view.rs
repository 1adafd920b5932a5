//! Reading the catalogue as it is at one position: the stored rows with
//! what they lack laid over them.

use std::ops::Bound;
use std::sync::Arc;

use annals_event_log::{Direction, ModelCheckpoint, Row, Store, store_support};
use bytes::Bytes;
use uuid::Uuid;

use super::CatalogueError;
use super::keys;
use super::layer::{Layer, read_object};
use super::row::ObjectRow;

/// Rows and what is laid over them. It is right as long as the stored rows are
/// those of `rows_at`: ask [`OverlayView::is_whole`] when everything is read.
#[derive(Clone)]
pub(super) struct OverlayView<'a> {
    pub(super) log: &'a dyn Store,
    pub(super) model: Arc<str>,
    pub(super) layer: Arc<Layer>,
    pub(super) rows_at: ModelCheckpoint,
}

impl OverlayView<'_> {
    /// Whether the stored rows are still those that the layer was made for.
    pub(super) async fn is_whole(&self) -> Result<bool, CatalogueError> {
        Ok(self.log.checkpoint(&self.model).await? == self.rows_at)
    }

    /// An object, if it exists.
    pub(super) async fn object(&self, id: Uuid) -> Result<Option<ObjectRow>, CatalogueError> {
        let mut rows = self.objects(&[id]).await?;
        Ok(rows.pop().flatten())
    }

    /// Several objects, each if it exists, in the order of their ids as given.
    pub(super) async fn objects(
        &self,
        ids: &[Uuid],
    ) -> Result<Vec<Option<ObjectRow>>, CatalogueError> {
        let unknown = |id: &&Uuid| self.layer.objects.known(**id).is_none();
        let keys: Vec<Bytes> = ids
            .iter()
            .filter(unknown)
            .map(|id| keys::object(*id))
            .collect();
        let mut stored = Vec::new();
        if !keys.is_empty() {
            stored = self.log.get_many(&self.model, &keys).await?;
        }
        let mut stored = keys.iter().zip(stored);
        let mut rows = Vec::with_capacity(ids.len());
        for id in ids {
            let row = match self.layer.objects.known(*id) {
                Some(row) => row.cloned(),
                None => match stored.next() {
                    Some((key, Some(value))) => Some(read_object(key, &value)?),
                    Some((_, None)) | None => None,
                },
            };
            rows.push(row.filter(ObjectRow::exists));
        }
        Ok(rows)
    }

    /// Rows, each if it is there, in the order of their keys as given.
    pub(super) async fn rows(&self, keys: &[Bytes]) -> Result<Vec<Option<Bytes>>, CatalogueError> {
        let known = |key: &Bytes| self.layer.rows.known(key);
        let unknown: Vec<Bytes> = keys
            .iter()
            .filter(|key| known(key).is_none())
            .cloned()
            .collect();
        let mut stored = Vec::new();
        if !unknown.is_empty() {
            stored = self.log.get_many(&self.model, &unknown).await?;
        }
        let mut stored = stored.into_iter();
        let row = |key: &Bytes| match known(key) {
            Some(row) => row.cloned(),
            None => stored.next().flatten(),
        };
        Ok(keys.iter().map(row).collect())
    }

    /// Rows whose key begins with `prefix`, in one direction, from the one
    /// behind `after` in that direction, at most `limit`.
    pub(super) async fn scan(
        &self,
        prefix: &[u8],
        after: Option<&[u8]>,
        direction: Direction,
        limit: usize,
    ) -> Result<Vec<Row>, CatalogueError> {
        let mut found: Vec<Row> = Vec::new();
        let mut cursor = after.map(Bytes::copy_from_slice);
        loop {
            let stored = match direction {
                Direction::Forward => {
                    let scan = self.log.scan(&self.model, prefix, cursor.as_deref(), limit);
                    scan.await?
                }
                Direction::Backward => {
                    let model = &self.model;
                    let scan = self.log.scan_back(model, prefix, cursor.as_deref(), limit);
                    scan.await?
                }
            };
            // Beyond the last stored row of a full page there may be more.
            let until = stored.last().filter(|_| stored.len() >= limit);
            let until = until.map(|(key, _)| key.clone());
            let laid_over = self.changed(prefix, cursor.as_deref(), until.as_deref(), direction);
            merge(stored, laid_over, direction, &mut found);
            if found.len() >= limit || until.is_none() {
                found.truncate(limit);
                return Ok(found);
            }
            cursor = until;
        }
    }

    /// Changed rows behind `after` and not behind `until`.
    fn changed(
        &self,
        prefix: &[u8],
        after: Option<&[u8]>,
        until: Option<&[u8]>,
        direction: Direction,
    ) -> Vec<(Bytes, Option<Bytes>)> {
        let behind = after.map_or(Bound::Unbounded, Bound::Excluded);
        let up_to = until.map_or(Bound::Unbounded, Bound::Included);
        let copy = |(key, value): (&Bytes, &Option<Bytes>)| (key.clone(), value.clone());
        let begins = |(key, _): &(&Bytes, &Option<Bytes>)| key.starts_with(prefix);
        match direction {
            Direction::Forward => {
                let from = match after {
                    Some(after) if after >= prefix => behind,
                    _ => Bound::Included(prefix),
                };
                let rows = self.layer.rows.range(from, up_to);
                rows.take_while(begins).map(copy).collect()
            }
            Direction::Backward => {
                let beyond = store_support::behind(prefix);
                let end = beyond.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
                let to = match (after, beyond.as_deref()) {
                    (Some(after), Some(beyond)) if after >= beyond => end,
                    (Some(_), _) => behind,
                    (None, _) => end,
                };
                let from = match until {
                    Some(until) if until >= prefix => Bound::Included(until),
                    _ => Bound::Included(prefix),
                };
                if is_empty(from, to) {
                    return Vec::new();
                }
                let rows = self.layer.rows.range(from, to).rev();
                rows.take_while(begins).map(copy).collect()
            }
        }
    }

    /// Objects whose ids end with digits, given from the last to the first as
    /// numbers below 16; at most `limit`, by those digits.
    pub(super) async fn ending(
        &self,
        digits: &[u8],
        limit: usize,
    ) -> Result<Vec<ObjectRow>, CatalogueError> {
        let fits = |row: &ObjectRow| row.exists() && keys::ends_with(row.id, digits);
        let changed = self.layer.objects.changed().filter(|row| fits(row));
        let mut found: Vec<ObjectRow> = changed.cloned().collect();
        let laid_over = found.len();
        let prefix = keys::objects_ending(digits);
        let mut cursor: Option<Bytes> = None;
        loop {
            let page = self
                .log
                .scan(&self.model, &prefix, cursor.as_deref(), PAGE)
                .await?;
            for (key, value) in &page {
                let row = read_object(key, value)?;
                if fits(&row) && !self.layer.objects.is_changed(row.id) {
                    found.push(row);
                }
            }
            cursor = page.last().map(|(key, _)| key.clone());
            if page.len() < PAGE || found.len() >= laid_over + limit {
                break;
            }
        }
        found.sort_unstable_by_key(|row| keys::reversed(row.id));
        found.truncate(limit);
        Ok(found)
    }
}

/// Objects that are looked through at once for the end of their ids.
const PAGE: usize = 64;

/// Whether no key can be within bounds; a map panics over such bounds.
fn is_empty(from: Bound<&[u8]>, to: Bound<&[u8]>) -> bool {
    match (from, to) {
        (Bound::Included(from), Bound::Excluded(to)) => from >= to,
        (Bound::Included(from), Bound::Included(to)) => from > to,
        (Bound::Excluded(from), Bound::Excluded(to) | Bound::Included(to)) => from >= to,
        (_, Bound::Unbounded) | (Bound::Unbounded, _) => false,
    }
}

/// Stored rows and those laid over them, both in the same direction.
fn merge(
    stored: Vec<Row>,
    laid_over: Vec<(Bytes, Option<Bytes>)>,
    direction: Direction,
    found: &mut Vec<Row>,
) {
    let before = |a: &Bytes, b: &Bytes| match direction {
        Direction::Forward => a < b,
        Direction::Backward => a > b,
    };
    let mut stored = stored.into_iter().peekable();
    for (key, value) in laid_over {
        while let Some(row) = stored.next_if(|(stored, _)| before(stored, &key)) {
            found.push(row);
        }
        stored.next_if(|(stored, _)| *stored == key);
        found.extend(value.map(|value| (key, value)));
    }
    found.extend(stored);
}
