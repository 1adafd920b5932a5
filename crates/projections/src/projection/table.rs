//! The rows while events are folded into them.

use std::any::Any;
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use annals_event_log::{Row, Store};
use bytes::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::ProjectionError;

/// Rows by their keys; `None` for one that was removed.
pub(super) type Changes = BTreeMap<Bytes, Option<Bytes>>;

/// The rows of a read model while events are folded into them: what was written, with what was put since over it.
/// Values are JSON, or with the `_bytes` methods whatever the projection makes of them.
pub struct Table<'a> {
    log: &'a dyn Store,
    model: &'a str,
    /// Changes that were folded before and are written nowhere.
    unwritten: Arc<Changes>,
    changed: Changes,
    /// Rows that a projection holds decoded until the end of a page.
    scratch: Option<Box<dyn Any + Send + Sync>>,
}

impl<'a> Table<'a> {
    pub(super) fn new(log: &'a dyn Store, model: &'a str) -> Table<'a> {
        Table::over(log, model, Arc::default())
    }

    /// The stored rows with changes over them that are written nowhere.
    pub(super) fn over(log: &'a dyn Store, model: &'a str, unwritten: Arc<Changes>) -> Table<'a> {
        Table {
            log,
            model,
            unwritten,
            changed: Changes::new(),
            scratch: None,
        }
    }

    /// Takes what the projection left here since the page began, or an empty value. Put it back with
    /// [`Table::keep_scratch`]; it is dropped with the table.
    pub fn take_scratch<T: Any + Default + Send + Sync>(&mut self) -> T {
        let scratch = self.scratch.take().and_then(|it| it.downcast::<T>().ok());
        scratch.map(|it| *it).unwrap_or_default()
    }

    /// Keeps decoded rows for the next event of the page.
    pub fn keep_scratch<T: Any + Send + Sync>(&mut self, scratch: T) {
        self.scratch = Some(Box::new(scratch));
    }

    /// The changes since [`Table::over`].
    pub(super) fn into_changes(self) -> Changes {
        self.changed
    }

    /// A row's value.
    ///
    /// # Errors
    /// [`ProjectionError::Row`] where it is no such value, [`ProjectionError::Read`].
    pub async fn get<T: DeserializeOwned>(&self, key: &[u8]) -> Result<Option<T>, ProjectionError> {
        let row = self.get_bytes(key).await?;
        row.map(|row| value(self.model, key, &row)).transpose()
    }

    /// Puts a value in a row's place.
    ///
    /// # Errors
    /// [`ProjectionError::Row`] where it cannot be written as JSON.
    pub fn put(&mut self, key: &[u8], value: &impl Serialize) -> Result<(), ProjectionError> {
        let row = serde_json::to_vec(value).map_err(|error| row_error(self.model, key, error))?;
        self.put_bytes(key, row);
        Ok(())
    }

    /// A row's bytes.
    ///
    /// # Errors
    /// [`ProjectionError::Read`].
    pub async fn get_bytes(&self, key: &[u8]) -> Result<Option<Bytes>, ProjectionError> {
        let changed = self.changed.get(key).or_else(|| self.unwritten.get(key));
        match changed {
            Some(changed) => Ok(changed.clone()),
            None => Ok(self.log.get(self.model, key).await?),
        }
    }

    /// Rows whose keys begin with `prefix`, in the order of their keys, from the one behind `after`: at most about
    /// `limit` of them, and the key to go on behind, unless there are no more.
    ///
    /// # Errors
    /// [`ProjectionError::Read`].
    pub async fn page(
        &self,
        prefix: &[u8],
        after: Option<&[u8]>,
        limit: usize,
    ) -> Result<(Vec<Row>, Option<Bytes>), ProjectionError> {
        let stored = self.log.scan(self.model, prefix, after, limit).await?;
        let last = stored.last().filter(|_| stored.len() >= limit);
        let next = last.map(|(key, _)| key.clone());
        if self.changed.is_empty() && self.unwritten.is_empty() {
            return Ok((stored, next));
        }
        let from = match after {
            Some(after) if after >= prefix => Bound::Excluded(after),
            _ => Bound::Included(prefix),
        };
        let to = next.as_deref().map_or(Bound::Unbounded, Bound::Included);
        let mut rows: Changes = stored
            .into_iter()
            .map(|(key, value)| (key, Some(value)))
            .collect();
        for changes in [self.unwritten.as_ref(), &self.changed] {
            let changed = changes.range::<[u8], _>((from, to));
            let changed = changed.take_while(|(key, _)| key.starts_with(prefix));
            rows.extend(changed.map(|(key, value)| (key.clone(), value.clone())));
        }
        let there = |(key, value): (Bytes, Option<Bytes>)| Some((key, value?));
        Ok((rows.into_iter().filter_map(there).collect(), next))
    }

    /// Puts bytes in a row's place.
    pub fn put_bytes(&mut self, key: &[u8], row: impl Into<Bytes>) {
        self.changed
            .insert(Bytes::copy_from_slice(key), Some(row.into()));
    }

    /// Removes a row.
    pub fn delete(&mut self, key: &[u8]) {
        self.changed.insert(Bytes::copy_from_slice(key), None);
    }
}

impl std::fmt::Debug for Table<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Table")
            .field("model", &self.model)
            .field("changed", &self.changed.len())
            .finish_non_exhaustive()
    }
}

/// A row as a value.
pub(super) fn value<T: DeserializeOwned>(
    model: &str,
    key: &[u8],
    row: &[u8],
) -> Result<T, ProjectionError> {
    serde_json::from_slice(row).map_err(|error| row_error(model, key, error))
}

fn row_error(model: &str, key: &[u8], source: serde_json::Error) -> ProjectionError {
    ProjectionError::Row {
        model: model.to_owned(),
        key: hex::encode(key),
        source,
    }
}
