//! The port of the read models: rows and their checkpoint, committed together.

use async_trait::async_trait;
use bytes::Bytes;

use crate::{CommitError, Epoch, Position, ReadError};

/// A row's key and value.
pub type Row = (Bytes, Bytes);

/// Changed rows: a key with its new value, or with `None` to delete it. Where a
/// key occurs twice, the last one counts.
pub type Rows = Vec<(Bytes, Option<Bytes>)>;

/// How far a read model has come, and what content of the log there is.
///
/// ```text
/// 1. checkpoint()    position 5, epoch 3
/// 2. read and fold   the events from 6 on
/// 3. commit(expected = what 1 gave, rows, position 9)
/// 4. and so on       expected = what 1 gave, at position 9
/// ```
///
/// It is read *before* the events are read, and passed on unchanged: a redaction that
/// comes after it moves the epoch, and rows that were folded from what it removed are then
/// refused. To read it again right before the commit would let them pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct ModelCheckpoint {
    /// Up to where the log is folded into the rows; [`Position::START`] for a model that
    /// does not exist.
    pub position: Position,
    /// Which content the log had when this checkpoint was read.
    pub epoch: Epoch,
}

impl ModelCheckpoint {
    /// The checkpoint after a commit up to `position`, folded under the same epoch.
    #[must_use]
    pub fn at(self, position: Position) -> ModelCheckpoint {
        ModelCheckpoint { position, ..self }
    }
}

/// The read model that a redaction leaves: up to where each subscriber has dealt with the log, by the subscription's
/// name. Neither is content, and to lose it would send each of them the whole log again.
pub const SUBSCRIPTIONS: &str = "subscriptions";

/// Rows that a projection keeps current, by the name of the read model.
///
/// The checkpoint says up to which position the log is folded into the rows.
/// It moves in the same write as the rows, so each event counts exactly once.
///
/// A redaction ([`crate::EventLog::redact`]) drops every model but [`SUBSCRIPTIONS`], and moves the epoch in the
/// same write. Rows that were folded from content that was read before are refused from
/// then on, also those of a model that is new.
#[async_trait]
pub trait ReadModels: Send + Sync {
    /// How far `model` has come, and the log's epoch. Ask for it before you read the events
    /// to fold, see [`ModelCheckpoint`].
    async fn checkpoint(&self, model: &str) -> Result<ModelCheckpoint, ReadError>;

    /// Writes rows and the new checkpoint, which is `expected` at `position`, if the
    /// checkpoint is `expected` now.
    ///
    /// The write need not survive a power cut (the log does, and a model that
    /// fell behind catches up), but rows and checkpoint survive together or
    /// not at all.
    ///
    /// # Errors
    /// [`CommitError::Epoch`] when content was removed from the log since `expected` was
    /// read, [`CommitError::Checkpoint`] when another writer was faster.
    async fn commit(
        &self,
        model: &str,
        expected: ModelCheckpoint,
        rows: Rows,
        position: Position,
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

    /// Whether this process is the one that keeps `model` current without being asked, where several share its rows. One
    /// of them leads, and another takes over when it closes the log or dies. Nothing rests on it: who does not lead
    /// may commit as well, and folds what the rows lack where it is to answer from them. Where processes do not share
    /// the store, each one leads.
    async fn leads(&self, _model: &str) -> bool {
        true
    }

    /// Removes a read model with its rows and checkpoint.
    async fn drop_model(&self, model: &str) -> Result<(), CommitError>;
}
