//! A log whose read models are in another store.

use annals_event_log::{
    Append, AppendError, Appended, BatchId, BatchStatus, Blob, Blobs, CommitError, Digest,
    EventLog, IdSecret, ModelCheckpoint, Page, Position, Query, ReadError, ReadModels, Record,
    RedactError, Redaction, Row, Rows, Stats, Store, StreamHead, StreamName, Version,
};
use async_trait::async_trait;
use bytes::Bytes;
use uuid::Uuid;

/// A log to be read, and a place for rows. The rows' checkpoint is not kept: their place may
/// be a log without records.
pub(crate) struct WithRows<'a> {
    pub(crate) log: &'a dyn Store,
    pub(crate) rows: &'a dyn ReadModels,
}

#[async_trait]
impl ReadModels for WithRows<'_> {
    async fn checkpoint(&self, _: &str) -> Result<ModelCheckpoint, ReadError> {
        Ok(ModelCheckpoint::default())
    }

    async fn commit(
        &self,
        model: &str,
        _: ModelCheckpoint,
        rows: Rows,
        _: Position,
    ) -> Result<(), CommitError> {
        let start = ModelCheckpoint::default();
        self.rows.commit(model, start, rows, start.position).await
    }

    async fn get(&self, model: &str, key: &[u8]) -> Result<Option<Bytes>, ReadError> {
        self.rows.get(model, key).await
    }

    async fn get_many(&self, model: &str, keys: &[Bytes]) -> Result<Vec<Option<Bytes>>, ReadError> {
        self.rows.get_many(model, keys).await
    }

    async fn scan(
        &self,
        model: &str,
        prefix: &[u8],
        after: Option<&[u8]>,
        limit: usize,
    ) -> Result<Vec<Row>, ReadError> {
        self.rows.scan(model, prefix, after, limit).await
    }

    async fn scan_back(
        &self,
        model: &str,
        prefix: &[u8],
        before: Option<&[u8]>,
        limit: usize,
    ) -> Result<Vec<Row>, ReadError> {
        self.rows.scan_back(model, prefix, before, limit).await
    }

    async fn drop_model(&self, model: &str) -> Result<(), CommitError> {
        self.rows.drop_model(model).await
    }
}

#[async_trait]
impl Blobs for WithRows<'_> {
    async fn blob(&self, digest: Digest) -> Result<Option<Bytes>, ReadError> {
        self.log.blob(digest).await
    }
}

#[async_trait]
impl EventLog for WithRows<'_> {
    fn log_id(&self) -> Uuid {
        self.log.log_id()
    }

    async fn id_secret(&self) -> Result<Option<IdSecret>, ReadError> {
        self.log.id_secret().await
    }

    fn watermark(&self) -> Position {
        self.log.watermark()
    }

    async fn wait_above(&self, seen: Position) -> Result<Position, ReadError> {
        self.log.wait_above(seen).await
    }

    async fn append(&self, _: Append) -> Result<Appended, AppendError> {
        Err(AppendError::ReadOnly)
    }

    async fn append_records(&self, _: Vec<Record>, _: Vec<Blob>) -> Result<Appended, AppendError> {
        Err(AppendError::ReadOnly)
    }

    async fn redact(&self, _: Redaction) -> Result<Appended, RedactError> {
        Err(AppendError::ReadOnly.into())
    }

    async fn batch(&self, batch: BatchId, request: &[u8]) -> Result<BatchStatus, ReadError> {
        self.log.batch(batch, request).await
    }

    async fn head(&self, stream: &StreamName) -> Result<Version, ReadError> {
        self.log.head(stream).await
    }

    async fn read(&self, query: Query) -> Result<Page, ReadError> {
        self.log.read(query).await
    }

    async fn streams(
        &self,
        prefix: &str,
        after: Option<&StreamName>,
        limit: usize,
    ) -> Result<Vec<StreamHead>, ReadError> {
        self.log.streams(prefix, after, limit).await
    }

    async fn tree_hashes(
        &self,
        level: u8,
        first: u64,
        limit: usize,
    ) -> Result<Vec<Digest>, ReadError> {
        self.log.tree_hashes(level, first, limit).await
    }

    async fn stats(&self) -> Result<Stats, ReadError> {
        self.log.stats().await
    }

    async fn close(&self) {}
}
