//! The in-memory store: the strictest one, and the model that the others follow.
//!
//! It keeps nothing when the last handle goes, so it is for tests, for what-if
//! histories and for `memory:` logs. What it stores are the very bytes that a
//! store on disk would: each record is encoded, stamped, decoded and compared
//! on every append.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use uuid::Uuid;

use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Mutex, MutexGuard, PoisonError};
use crate::{
    Append, AppendError, Appended, BatchId, BatchStatus, Blob, Blobs, CommitError, Digest,
    EventLog, IdSecret, Link, ModelCheckpoint, Page, Position, Prepared, Query, ReadError,
    ReadModels, Record, RedactError, Redaction, Row, Rows, Stats, StreamHead, StreamName, Version,
    Watermark,
};

mod models;
mod reads;
mod state;

use models::Models;
use state::State;

/// A log in memory.
#[derive(Debug)]
pub struct MemoryLog {
    log_id: Uuid,
    watermark: Watermark,
    closed: AtomicBool,
    shared: Arc<Mutex<Shared>>,
}

/// What outlives a handle, as a directory outlives a process.
#[derive(Debug, Default)]
struct Shared {
    state: State,
    models: Models,
}

impl MemoryLog {
    /// A new, empty log.
    pub fn new(log_id: Uuid) -> MemoryLog {
        MemoryLog::over(log_id, Arc::default())
    }

    /// A new log with a given secret, so that ids are the same in several logs.
    pub fn with_id_secret(log_id: Uuid, secret: IdSecret) -> MemoryLog {
        let log = MemoryLog::new(log_id);
        lock(&log.shared).state.id_secret = secret;
        log
    }

    /// Closes this handle and opens another one on the same log, as a store on
    /// disk is closed and opened again.
    pub fn reopen(&self) -> MemoryLog {
        self.shut();
        MemoryLog::over(self.log_id, Arc::clone(&self.shared))
    }

    fn over(log_id: Uuid, shared: Arc<Mutex<Shared>>) -> MemoryLog {
        let watermark = Watermark::new(lock(&shared).state.watermark());
        MemoryLog {
            log_id,
            watermark,
            closed: AtomicBool::new(false),
            shared,
        }
    }

    fn shut(&self) {
        // Under the lock: the caller that holds it finishes first, and none starts after.
        let _shared = lock(&self.shared);
        self.closed.store(true, Ordering::Release);
        self.watermark.close();
    }

    /// The log, if this handle is still open.
    fn opened(&self) -> Result<MutexGuard<'_, Shared>, ReadError> {
        let shared = lock(&self.shared);
        if self.closed.load(Ordering::Acquire) {
            Err(ReadError::Closed)
        } else {
            Ok(shared)
        }
    }
}

/// A thread that panicked has left nothing half-made: every change is checked
/// before the first of its steps.
fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

#[async_trait]
impl EventLog for MemoryLog {
    fn log_id(&self) -> Uuid {
        self.log_id
    }

    async fn id_secret(&self) -> Result<Option<IdSecret>, ReadError> {
        Ok(Some(self.opened()?.state.id_secret.clone()))
    }

    fn watermark(&self) -> Position {
        self.watermark.get()
    }

    async fn wait_above(&self, seen: Position) -> Result<Position, ReadError> {
        drop(self.opened()?);
        self.watermark.above(seen).await
    }

    async fn append(&self, append: Append) -> Result<Appended, AppendError> {
        let prepared = Prepared::new(append)?;
        let mut shared = self.opened()?;
        let appended = shared.state.append(prepared)?;
        self.watermark.advance(appended.last);
        Ok(appended)
    }

    async fn append_linked(&self, append: Append, link: Link) -> Result<Appended, AppendError> {
        let mut prepared = Prepared::new(append)?;
        prepared.link = Some(Box::new(link));
        let mut shared = self.opened()?;
        let appended = shared.state.append(prepared)?;
        self.watermark.advance(appended.last);
        Ok(appended)
    }

    async fn append_records(
        &self,
        records: Vec<Record>,
        blobs: Vec<Blob>,
    ) -> Result<Appended, AppendError> {
        let blobs = crate::store_support::distinct_blobs(blobs)?;
        let mut shared = self.opened()?;
        let appended = shared.state.append_records(records, blobs)?;
        self.watermark.advance(appended.last);
        Ok(appended)
    }

    async fn redact(&self, redaction: Redaction) -> Result<Appended, RedactError> {
        redaction.check()?;
        let Redaction {
            append,
            removed,
            blobs,
            ..
        } = redaction;
        let prepared = Prepared::new(append)?;
        let mut shared = self.opened()?;
        let before = shared.state.watermark();
        let appended = shared.state.redact(prepared, &removed, blobs)?;
        if shared.state.watermark() > before {
            shared.models.redacted(appended.last);
        }
        self.watermark.advance(appended.last);
        Ok(appended)
    }

    async fn batch(&self, batch: BatchId, request: &[u8]) -> Result<BatchStatus, ReadError> {
        Ok(self.opened()?.state.batch(batch, request))
    }

    async fn head(&self, stream: &StreamName) -> Result<Version, ReadError> {
        Ok(self.opened()?.state.head(stream))
    }

    async fn read(&self, query: Query) -> Result<Page, ReadError> {
        Ok(self.opened()?.state.read(&query))
    }

    async fn streams(
        &self,
        prefix: &str,
        after: Option<&StreamName>,
        limit: usize,
    ) -> Result<Vec<StreamHead>, ReadError> {
        Ok(self.opened()?.state.streams(prefix, after, limit))
    }

    async fn tree_hashes(
        &self,
        level: u8,
        first: u64,
        limit: usize,
    ) -> Result<Vec<Digest>, ReadError> {
        Ok(self.opened()?.state.tree_hashes(level, first, limit))
    }

    async fn stats(&self) -> Result<Stats, ReadError> {
        Ok(self.opened()?.state.stats())
    }

    async fn close(&self) {
        self.shut();
    }
}

#[async_trait]
impl Blobs for MemoryLog {
    async fn blob(&self, digest: Digest) -> Result<Option<Bytes>, ReadError> {
        Ok(self.opened()?.state.blob(digest))
    }
}

#[async_trait]
impl ReadModels for MemoryLog {
    async fn checkpoint(&self, model: &str) -> Result<ModelCheckpoint, ReadError> {
        Ok(self.opened()?.models.checkpoint(model))
    }

    async fn commit(
        &self,
        model: &str,
        expected: ModelCheckpoint,
        rows: Rows,
        position: Position,
    ) -> Result<(), CommitError> {
        let mut shared = self.opened()?;
        let watermark = shared.state.watermark();
        shared
            .models
            .commit(model, expected, rows, position, watermark)
    }

    async fn get(&self, model: &str, key: &[u8]) -> Result<Option<Bytes>, ReadError> {
        Ok(self.opened()?.models.get(model, key))
    }

    async fn get_many(&self, model: &str, keys: &[Bytes]) -> Result<Vec<Option<Bytes>>, ReadError> {
        let shared = self.opened()?;
        Ok(keys
            .iter()
            .map(|key| shared.models.get(model, key))
            .collect())
    }

    async fn scan(
        &self,
        model: &str,
        prefix: &[u8],
        after: Option<&[u8]>,
        limit: usize,
    ) -> Result<Vec<Row>, ReadError> {
        Ok(self.opened()?.models.scan(model, prefix, after, limit))
    }

    async fn scan_back(
        &self,
        model: &str,
        prefix: &[u8],
        before: Option<&[u8]>,
        limit: usize,
    ) -> Result<Vec<Row>, ReadError> {
        Ok(self
            .opened()?
            .models
            .scan_back(model, prefix, before, limit))
    }

    async fn drop_model(&self, model: &str) -> Result<(), CommitError> {
        self.opened()?.models.drop_model(model)
    }
}
