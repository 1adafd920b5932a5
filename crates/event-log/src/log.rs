//! The port of the log itself.

use async_trait::async_trait;
use uuid::Uuid;

use crate::{
    Append, AppendError, Appended, BatchId, BatchStatus, Blob, Blobs, Digest, IdSecret, Link,
    Position, ReadError, ReadModels, Record, RedactError, Redaction, StreamName, Version,
};

/// What a read goes through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// The whole log, by position.
    All,
    /// One stream, by version.
    Stream(StreamName),
    /// The records of one event type, by position.
    EventType(String),
}

/// Which way a read goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Oldest first.
    Forward,
    /// Newest first.
    Backward,
}

/// One page of a read.
///
/// `from` is inclusive, a position or (for a stream) a version. Forward,
/// anything beyond the end gives an empty page; backward, it means the end.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Query {
    /// What to read.
    pub source: Source,
    /// Where to begin.
    pub from: u64,
    /// Which way to go.
    pub direction: Direction,
    /// The most records to give; 0 counts as 1.
    pub limit: usize,
}

impl Query {
    /// The whole log, forward, from `position`.
    pub fn all(from: Position) -> Query {
        Query {
            source: Source::All,
            from: from.0,
            direction: Direction::Forward,
            limit: 1_000,
        }
    }

    /// One stream, forward, from `version`.
    pub fn stream(stream: StreamName, from: Version) -> Query {
        Query {
            source: Source::Stream(stream),
            from: from.0,
            ..Query::all(Position::START)
        }
    }

    /// The records of one event type, forward, from `position`.
    pub fn event_type(event_type: impl Into<String>, from: Position) -> Query {
        Query {
            source: Source::EventType(event_type.into()),
            ..Query::all(from)
        }
    }

    /// The same, from another position, or (of a stream) another version.
    pub fn starting_at(self, from: u64) -> Query {
        Query { from, ..self }
    }

    /// The same, backward.
    pub fn backward(self) -> Query {
        Query {
            direction: Direction::Backward,
            ..self
        }
    }

    /// The same, with at most `limit` records a page.
    pub fn limit(self, limit: usize) -> Query {
        Query { limit, ..self }
    }
}

/// What a read gave.
#[derive(Debug, Clone, Default)]
pub struct Page {
    /// The records, in the requested order.
    pub records: Vec<Record>,
    /// The `from` of the next page; `None` when there is nothing more now.
    pub next: Option<u64>,
}

/// A stream and how long it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamHead {
    /// Its name.
    pub name: StreamName,
    /// The version of its last record.
    pub version: Version,
}

/// Sizes of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stats {
    /// The watermark, which is also the number of events.
    pub position: Position,
    /// How many streams there are.
    pub streams: u64,
    /// How many batches were appended.
    pub batches: u64,
    /// How many blobs are stored.
    pub blobs: u64,
    /// Their content's bytes, before compression.
    pub blob_bytes: u64,
    /// Bytes on disk, everything included; 0 for a store in memory.
    pub bytes: u64,
}

/// An append-only log of records in streams.
///
/// ```text
///            append ─┐             ┌─ read, above
/// position  1  2  3  4  5  6 │ 7  8
///                  watermark ┘ └─┴── staged: not durable, seen by no reader
/// ```
///
/// The contract, which [`crate::conformance`] checks:
///
/// - **Dense**: positions count from 1 without a gap in the order of commits,
///   versions the same in each stream.
/// - **All or nothing**: an append is stored whole or not at all, and only if
///   every expectation holds at that moment.
/// - **Durable**: when [`EventLog::append`] answers, the batch is on disk.
/// - **Nothing unsafe is seen**: no read gives a record above the watermark.
/// - **Idempotent**: the same batch id and request again give the first answer.
/// - **Cancellation is safe**: dropping a future breaks nothing. A dropped
///   append is *unknown*: repeat it with the same id.
///
/// The futures run on any executor; a store does its blocking work on its own
/// threads.
#[async_trait]
pub trait EventLog: Send + Sync {
    /// The log's own id, given when it was created.
    fn log_id(&self) -> Uuid;

    /// The secret from which ids follow that the log gives by a text alone. It is another one after
    /// each redaction. `None` for a log of an older version that had no redaction since: its
    /// ids are UUIDs of version 5 over the texts.
    async fn id_secret(&self) -> Result<Option<IdSecret>, ReadError>;

    /// Up to where the log is durable.
    fn watermark(&self) -> Position;

    /// Waits until the watermark is above `seen`; answers with it.
    async fn wait_above(&self, seen: Position) -> Result<Position, ReadError>;

    /// Appends one batch.
    async fn append(&self, append: Append) -> Result<Appended, AppendError>;

    /// Appends one batch as a link of a chain: only if the append with the number before it was made, as a new
    /// batch, by this log since it was opened. So a caller can give the next one before this one is
    /// answered, decided on what it leaves. Its expectations alone would not do: that a stream is at a
    /// version says how many events it has, and not whose.
    ///
    /// A store that keeps no chains makes the first link of each, and refuses the others.
    ///
    /// # Errors
    /// [`AppendError::BrokenChain`], and those of [`EventLog::append`].
    async fn append_linked(&self, append: Append, link: Link) -> Result<Appended, AppendError> {
        match link.number {
            0 => self.append(append).await,
            _ => Err(AppendError::BrokenChain { link }),
        }
    }

    /// Copies records verbatim, with the blobs that they refer to. The first
    /// one has the position after the watermark, and all continue their streams.
    ///
    /// # Errors
    /// [`AppendError::NotContiguous`], or [`AppendError::Invalid`] for a record
    /// whose digests do not fit its payload.
    async fn append_records(
        &self,
        records: Vec<Record>,
        blobs: Vec<Blob>,
    ) -> Result<Appended, AppendError>;

    /// Removes content for good, and appends the batch that says so. When it is answered, both
    /// are done. A store may do much of it in several steps, between which others append:
    /// then the batch is there first, and some of the content is still read until all of it
    /// is gone. Where that is interrupted, it is completed, at the latest when the log is
    /// opened for writing again. Blobs that go can be referred to by no append from the
    /// batch on, unless they come along again.
    ///
    /// What was derived from content goes with it: the secret of its ids (see [`EventLog::id_secret`]),
    /// every read model, to be folded
    /// again (rows that were folded before are refused, see [`crate::Epoch`]), and the digests
    /// of the requests of the batches that lose some (such a batch is
    /// [`BatchStatus::Unverifiable`] then). Bytes that the store has given up may lie on
    /// the disk until it rewrites its files.
    ///
    /// # Errors
    /// [`RedactError`].
    async fn redact(&self, redaction: Redaction) -> Result<Appended, RedactError>;

    /// Whether a batch id was used, and for the same request. Records that
    /// were copied do not carry their requests: a batch that came with
    /// [`EventLog::append_records`] is [`BatchStatus::Unverifiable`].
    async fn batch(&self, batch: BatchId, request: &[u8]) -> Result<BatchStatus, ReadError>;

    /// The version of a stream's last record; [`Version::NONE`] if there is none.
    async fn head(&self, stream: &StreamName) -> Result<Version, ReadError>;

    /// One page of records.
    async fn read(&self, query: Query) -> Result<Page, ReadError>;

    /// Streams whose name begins with `prefix`, in the order of their names,
    /// from the one after `after`, at most `limit`.
    async fn streams(
        &self,
        prefix: &str,
        after: Option<&StreamName>,
        limit: usize,
    ) -> Result<Vec<StreamHead>, ReadError>;

    /// Hashes of the Merkle tree over the headers ([`crate::tree`]): those of a
    /// level from number `first` on, at most `limit` and no more than there are up to
    /// the watermark. Only the levels that are multiples of 8 are kept.
    async fn tree_hashes(
        &self,
        level: u8,
        first: u64,
        limit: usize,
    ) -> Result<Vec<Digest>, ReadError>;

    /// Counts and sizes.
    async fn stats(&self) -> Result<Stats, ReadError>;

    /// Compares with the records what the store keeps beside them, and that no digest is over, such as tables that they
    /// are found by; what does not fit, in words. A store whose files have a verification of their own finds nothing here.
    async fn check_tables(&self) -> Result<Vec<String>, ReadError> {
        Ok(Vec::new())
    }

    /// Waits until all that this process was shown survives, as what is acknowledged does, and what was removed is gone.
    /// For who answers, from what is there, that something is done already: the process that did it may have been told
    /// that this is not known. A store that shows nothing before, and one that is open for reading only, does nothing.
    ///
    /// # Errors
    /// [`ReadError`]; whether it survives is not known then.
    async fn confirm(&self) -> Result<(), ReadError> {
        Ok(())
    }

    /// Waits for what was accepted, and releases the log. Repeating it is harmless.
    async fn close(&self);
}

/// What an open log is: its records, its content, and the rows of its read models.
pub trait Store: EventLog + Blobs + ReadModels {}

impl<S: EventLog + Blobs + ReadModels + ?Sized> Store for S {}

/// The record at a position, unless the log ends before it.
///
/// # Errors
/// [`ReadError`].
pub async fn record_at(
    log: &dyn EventLog,
    position: Position,
) -> Result<Option<Record>, ReadError> {
    let page = log.read(Query::all(position).limit(1)).await?;
    Ok(page.records.into_iter().next())
}
