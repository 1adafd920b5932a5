//! A log behind another one: every call passes through, and what is asked and answered
//! can be changed on its way.

use std::sync::Arc;

use annals_event_log::{
    Append, AppendError, Appended, BatchId, BatchStatus, Blob, Blobs, CommitError, Digest,
    EventLog, IdSecret, Link, ModelCheckpoint, Page, Position, Query, ReadError, ReadModels,
    Record, RedactError, Redaction, Row, Rows, Stats, Store, StreamHead, StreamName, Version,
};
use async_trait::async_trait;
use bytes::Bytes;
use futures::future::{BoxFuture, FutureExt, ready};
use uuid::Uuid;

/// What happens to calls on their way. What is not overridden passes unchanged.
pub trait Hook: Send + Sync {
    /// Before any call that can fail; an error is the answer then, and nothing is asked.
    ///
    /// # Errors
    /// What the caller is to be answered.
    fn before(&self) -> Result<(), ReadError> {
        Ok(())
    }

    /// After any call that can fail, when it has had its effect; an error takes the place
    /// of its answer.
    ///
    /// # Errors
    /// What the caller is to be answered.
    fn after(&self) -> Result<(), ReadError> {
        Ok(())
    }

    /// The watermark.
    fn watermark(&self, position: Position) -> Position {
        position
    }

    /// An append before it reaches the log; an error is its answer then, and nothing is appended.
    ///
    /// # Errors
    /// What the caller is to be answered.
    fn appending(&self, _append: &Append) -> Result<(), AppendError> {
        Ok(())
    }

    /// What the answer to an append waits for, when it has had its effect.
    fn answering(&self) -> BoxFuture<'_, ()> {
        ready(()).boxed()
    }

    /// The answer to an append.
    fn appended(&self, appended: Appended) -> Appended {
        appended
    }

    /// A page.
    fn page(&self, _query: &Query, page: Page) -> Page {
        page
    }

    /// A stream's head.
    fn head(&self, version: Version) -> Version {
        version
    }

    /// A list of streams.
    fn streams(&self, streams: Vec<StreamHead>) -> Vec<StreamHead> {
        streams
    }

    /// What is known of a batch.
    fn batch(&self, status: BatchStatus) -> BatchStatus {
        status
    }

    /// Hashes of the tree.
    fn hashes(&self, _level: u8, hashes: Vec<Digest>) -> Vec<Digest> {
        hashes
    }

    /// A blob.
    fn blob(&self, blob: Option<Bytes>) -> Option<Bytes> {
        blob
    }

    /// The counts.
    fn stats(&self, stats: Stats) -> Stats {
        stats
    }
}

/// A log with a [`Hook`] before it.
///
/// ```
/// use std::sync::Arc;
/// use annals_event_log::{EventLog, Position, memory::MemoryLog};
/// use annals_testkit::through::{Hook, Through};
///
/// /// A log that says that it is longer than it is.
/// struct Boasting;
///
/// impl Hook for Boasting {
///     fn watermark(&self, position: Position) -> Position {
///         position.next()
///     }
/// }
///
/// let log = MemoryLog::new(uuid::Uuid::from_u128(1));
/// let log = Through::new(Arc::new(log), Boasting);
/// assert_eq!(log.watermark(), Position(1));
/// assert!(annals_testkit::invariants::check_all(&log).is_err());
/// ```
pub struct Through<H> {
    log: Arc<dyn Store>,
    hook: H,
}

impl<H: Hook> Through<H> {
    /// Puts a hook before a log.
    pub fn new(log: Arc<dyn Store>, hook: H) -> Through<H> {
        Through { log, hook }
    }

    /// The hook.
    pub fn hook(&self) -> &H {
        &self.hook
    }

    async fn answer(
        &self,
        appended: Result<Appended, AppendError>,
    ) -> Result<Appended, AppendError> {
        self.hook.answering().await;
        let appended = appended?;
        self.hook.after()?;
        Ok(self.hook.appended(appended))
    }
}

#[async_trait]
impl<H: Hook> EventLog for Through<H> {
    fn log_id(&self) -> Uuid {
        self.log.log_id()
    }

    async fn id_secret(&self) -> Result<Option<IdSecret>, ReadError> {
        self.hook.before()?;
        let secret = self.log.id_secret().await?;
        self.hook.after()?;
        Ok(secret)
    }

    fn watermark(&self) -> Position {
        self.hook.watermark(self.log.watermark())
    }

    async fn wait_above(&self, seen: Position) -> Result<Position, ReadError> {
        self.hook.before()?;
        let position = self.log.wait_above(seen).await?;
        self.hook.after()?;
        Ok(self.hook.watermark(position))
    }

    async fn append(&self, append: Append) -> Result<Appended, AppendError> {
        self.hook.before()?;
        self.hook.appending(&append)?;
        self.answer(self.log.append(append).await).await
    }

    async fn append_linked(&self, append: Append, link: Link) -> Result<Appended, AppendError> {
        self.hook.before()?;
        self.hook.appending(&append)?;
        self.answer(self.log.append_linked(append, link).await)
            .await
    }

    async fn append_records(
        &self,
        records: Vec<Record>,
        blobs: Vec<Blob>,
    ) -> Result<Appended, AppendError> {
        self.hook.before()?;
        let appended = self.log.append_records(records, blobs).await?;
        self.hook.after()?;
        Ok(self.hook.appended(appended))
    }

    async fn redact(&self, redaction: Redaction) -> Result<Appended, RedactError> {
        self.hook.before()?;
        let appended = self.log.redact(redaction).await?;
        self.hook.after()?;
        Ok(self.hook.appended(appended))
    }

    async fn batch(&self, batch: BatchId, request: &[u8]) -> Result<BatchStatus, ReadError> {
        self.hook.before()?;
        let status = self.log.batch(batch, request).await?;
        self.hook.after()?;
        Ok(self.hook.batch(status))
    }

    async fn head(&self, stream: &StreamName) -> Result<Version, ReadError> {
        self.hook.before()?;
        let version = self.log.head(stream).await?;
        self.hook.after()?;
        Ok(self.hook.head(version))
    }

    async fn read(&self, query: Query) -> Result<Page, ReadError> {
        self.hook.before()?;
        let page = self.log.read(query.clone()).await?;
        self.hook.after()?;
        Ok(self.hook.page(&query, page))
    }

    async fn streams(
        &self,
        prefix: &str,
        after: Option<&StreamName>,
        limit: usize,
    ) -> Result<Vec<StreamHead>, ReadError> {
        self.hook.before()?;
        let streams = self.log.streams(prefix, after, limit).await?;
        self.hook.after()?;
        Ok(self.hook.streams(streams))
    }

    async fn tree_hashes(
        &self,
        level: u8,
        first: u64,
        limit: usize,
    ) -> Result<Vec<Digest>, ReadError> {
        self.hook.before()?;
        let hashes = self.log.tree_hashes(level, first, limit).await?;
        self.hook.after()?;
        Ok(self.hook.hashes(level, hashes))
    }

    async fn stats(&self) -> Result<Stats, ReadError> {
        self.hook.before()?;
        let stats = self.log.stats().await?;
        self.hook.after()?;
        Ok(self.hook.stats(stats))
    }

    async fn check_tables(&self) -> Result<Vec<String>, ReadError> {
        self.log.check_tables().await
    }

    async fn confirm(&self) -> Result<(), ReadError> {
        self.log.confirm().await
    }

    async fn close(&self) {
        self.log.close().await;
    }
}

#[async_trait]
impl<H: Hook> Blobs for Through<H> {
    async fn blob(&self, digest: Digest) -> Result<Option<Bytes>, ReadError> {
        self.hook.before()?;
        let blob = self.log.blob(digest).await?;
        self.hook.after()?;
        Ok(self.hook.blob(blob))
    }
}

#[async_trait]
impl<H: Hook> ReadModels for Through<H> {
    async fn checkpoint(&self, model: &str) -> Result<ModelCheckpoint, ReadError> {
        self.hook.before()?;
        let checkpoint = self.log.checkpoint(model).await?;
        self.hook.after()?;
        Ok(checkpoint)
    }

    async fn commit(
        &self,
        model: &str,
        expected: ModelCheckpoint,
        rows: Rows,
        position: Position,
    ) -> Result<(), CommitError> {
        self.hook.before()?;
        self.log.commit(model, expected, rows, position).await?;
        Ok(self.hook.after()?)
    }

    async fn leads(&self, model: &str) -> bool {
        self.log.leads(model).await
    }

    async fn get(&self, model: &str, key: &[u8]) -> Result<Option<Bytes>, ReadError> {
        self.hook.before()?;
        let row = self.log.get(model, key).await?;
        self.hook.after()?;
        Ok(row)
    }

    async fn get_many(&self, model: &str, keys: &[Bytes]) -> Result<Vec<Option<Bytes>>, ReadError> {
        self.hook.before()?;
        let rows = self.log.get_many(model, keys).await?;
        self.hook.after()?;
        Ok(rows)
    }

    async fn scan(
        &self,
        model: &str,
        prefix: &[u8],
        after: Option<&[u8]>,
        limit: usize,
    ) -> Result<Vec<Row>, ReadError> {
        self.hook.before()?;
        let rows = self.log.scan(model, prefix, after, limit).await?;
        self.hook.after()?;
        Ok(rows)
    }

    async fn scan_back(
        &self,
        model: &str,
        prefix: &[u8],
        before: Option<&[u8]>,
        limit: usize,
    ) -> Result<Vec<Row>, ReadError> {
        self.hook.before()?;
        let rows = self.log.scan_back(model, prefix, before, limit).await?;
        self.hook.after()?;
        Ok(rows)
    }

    async fn drop_model(&self, model: &str) -> Result<(), CommitError> {
        self.hook.before()?;
        self.log.drop_model(model).await?;
        Ok(self.hook.after()?)
    }
}
