//! The port of the read models: rows and their checkpoint, committed together.

use async_trait::async_trait;
use bytes::Bytes;

use crate::{CommitError, Position, ReadError};

/// A row's key and value.
pub type Row = (Bytes, Bytes);

/// Changed rows: a key with its new value, or with `None` to delete it. Where a
/// key stands twice, the last one counts.
pub type Rows = Vec<(Bytes, Option<Bytes>)>;

/// Rows that a projection keeps current, by the name of the read model.
///
/// The checkpoint says up to which position the log is folded into the rows.
/// It moves in the same write as the rows, so each event counts exactly once.
///
/// A redaction ([`crate::EventLog::redact`]) drops every model. Whoever was folding
/// meanwhile, with content in memory that was read before, must throw that away and begin
/// again: a checkpoint that is back at [`Position::START`], or a redaction among the
/// events, says so.
#[async_trait]
pub trait ReadModels: Send + Sync {
    /// How far `model` has come; [`Position::START`] if it does not exist.
    async fn checkpoint(&self, model: &str) -> Result<Position, ReadError>;

    /// Writes rows and the checkpoint, if the checkpoint is `expected` now.
    ///
    /// The write need not survive a power cut (the log does, and a model that
    /// fell behind catches up), but rows and checkpoint survive together or
    /// not at all.
    ///
    /// # Errors
    /// [`CommitError::Checkpoint`] when another writer was faster.
    async fn commit(
        &self,
        model: &str,
        expected: Position,
        rows: Rows,
        checkpoint: Position,
    ) -> Result<(), CommitError>;

    /// One row.
    async fn get(&self, model: &str, key: &[u8]) -> Result<Option<Bytes>, ReadError>;

    /// Several rows at once, in the order of `keys`: cheaper than one by one.
    async fn get_many(&self, model: &str, keys: &[Bytes]) -> Result<Vec<Option<Bytes>>, ReadError>;

    /// Rows whose key begins with `prefix`, in the order of their keys,
    /// from the one after `after`, at most `limit`.
    async fn scan(
        &self,
        model: &str,
        prefix: &[u8],
        after: Option<&[u8]>,
        limit: usize,
    ) -> Result<Vec<Row>, ReadError>;

    /// The same from the last key to the first, from the one before `before`.
    async fn scan_back(
        &self,
        model: &str,
        prefix: &[u8],
        before: Option<&[u8]>,
        limit: usize,
    ) -> Result<Vec<Row>, ReadError>;

    /// Removes a read model with its rows and checkpoint.
    async fn drop_model(&self, model: &str) -> Result<(), CommitError>;
}
