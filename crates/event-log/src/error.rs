//! What can go wrong, one enum per operation; each says whether a retry helps.

use std::error::Error as StdError;

use crate::{
    BatchId, Classification, Classified, Digest, Epoch, ErrorClass, Expected, Link,
    MalformedRecord, Position, StreamName, Version,
};

type Source = Box<dyn StdError + Send + Sync>;

/// Why an append was not made. Whatever the reason, nothing of it was stored,
/// except with [`AppendError::Unavailable`], where that is unknown: repeat the
/// append with the same batch id after reopening.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AppendError {
    /// A stream is not as the append expected it.
    #[error("stream {stream} is at version {actual}, but the append expects {expected}")]
    Conflict {
        /// The stream that differs.
        stream: StreamName,
        /// What the append said of it.
        expected: Expected,
        /// The stream's version now; 0 when it does not exist.
        actual: Version,
    },
    /// An append before this one in its chain was not made.
    #[error("an append before number {} of the chain {} was not made", link.number, link.chain)]
    BrokenChain {
        /// The place of the append that is refused.
        link: Link,
    },
    /// The batch id was used before, for another request.
    #[error("batch {batch} was used before for another request; use a new id for a new request")]
    IdempotencyMismatch {
        /// The id that was used twice.
        batch: BatchId,
    },
    /// The batch id was used before, and for which request is not stored any more: content of that
    /// batch was removed, or it was copied without its request. So this one cannot be shown
    /// to be its repeat.
    #[error(
        "batch {batch} was used before, for positions {first} to {last}, and its request is not stored any more (content \
         was removed, or the batch was copied), so that this cannot be shown to be the same; look at what was \
         recorded there, and use a new id for a new request"
    )]
    RequestUnverifiable {
        /// The id that was used before.
        batch: BatchId,
        /// The batch's first position.
        first: Position,
        /// The batch's last position.
        last: Position,
    },
    /// Something is over one of the [`crate::limits`].
    #[error("{what} is too large: {actual}, the limit is {limit}")]
    TooLarge {
        /// What is too large, with its place in the batch.
        what: String,
        /// The limit, in bytes or in pieces as `what` says.
        limit: u64,
        /// The requested size.
        actual: u64,
    },
    /// The append is not valid: no events, or an event type that is empty.
    #[error("the append is malformed: {reason}")]
    Invalid {
        /// What is wrong with it.
        reason: String,
    },
    /// An event refers to content that is neither in the store nor in the append.
    #[error("an event refers to the blob {digest}, which is neither stored nor in the append")]
    UnknownBlob {
        /// The blob that is missing.
        digest: Digest,
    },
    /// An event says of a blob that it has another length than it has.
    #[error("an event says that the blob {digest} has {said} bytes; it has {actual}")]
    BlobSize {
        /// The blob.
        digest: Digest,
        /// The length in bytes that the event says.
        said: u64,
        /// The length in bytes of what is stored, or comes with the append.
        actual: u64,
    },
    /// A record offered for a verbatim copy does not continue the log.
    #[error("record {offered} does not continue the log: {reason}")]
    NotContiguous {
        /// The position of the record that was offered.
        offered: Position,
        /// What does not fit.
        reason: String,
    },
    /// The log was opened for reading only.
    #[error("the log is open for reading only")]
    ReadOnly,
    /// The log is closed.
    #[error("the log is closed")]
    Closed,
    /// The store failed, for example because the disk is full. Its own error says whether it accepts more, or is to be
    /// opened again first.
    #[error("the store failed: {source}")]
    Unavailable {
        /// The store's own error.
        #[source]
        source: Source,
    },
    /// What is stored contradicts itself.
    #[error("the store is corrupt: {reason}. Verify it, and restore it from a backup")]
    Corrupt {
        /// What was found, and where.
        reason: String,
    },
    /// The clock of the process that writes cannot be right.
    #[error("the machine's clock cannot be right: {reason}; set it, and repeat this")]
    Clock {
        /// What it tells, and what that contradicts.
        reason: String,
    },
}

impl Classified for AppendError {
    fn classify(&self) -> Classification {
        use ErrorClass::{Contended, Failed, Invalid, Refused, Unavailable};
        match self {
            AppendError::Conflict { .. } => Contended.code("conflict"),
            AppendError::BrokenChain { .. } => Contended.code("broken_chain"),
            AppendError::IdempotencyMismatch { .. } => Refused.code("key_reused"),
            AppendError::RequestUnverifiable { .. } => Refused.code("key_unverifiable"),
            AppendError::TooLarge { .. } => Invalid.code("too_large"),
            AppendError::Invalid { .. } => Invalid.code("invalid_append"),
            AppendError::UnknownBlob { .. } => Invalid.code("unknown_blob"),
            AppendError::BlobSize { .. } => Invalid.code("blob_size"),
            AppendError::NotContiguous { .. } => Invalid.code("not_contiguous"),
            AppendError::ReadOnly => Failed.code("read_only"),
            AppendError::Closed => Failed.code("closed"),
            AppendError::Unavailable { .. } => Unavailable.code("unavailable"),
            AppendError::Corrupt { .. } => Classification::CORRUPT,
            AppendError::Clock { .. } => Refused.code("clock"),
        }
    }
}

/// Why a read gave no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The log is closed.
    #[error("the log is closed")]
    Closed,
    /// The store could not be read.
    #[error("the store cannot be read: {source}")]
    Unavailable {
        /// The store's own error.
        #[source]
        source: Source,
    },
    /// The log is not where it was when it was opened.
    #[error(
        "another log than the one that was opened is at {place} now, or none: it was moved, removed or replaced; \
         open it again"
    )]
    Moved {
        /// Where it was.
        place: String,
    },
    /// What is stored contradicts itself.
    #[error("the store is corrupt: {reason}. Verify it, and restore it from a backup")]
    Corrupt {
        /// What was found, and where.
        reason: String,
    },
}

impl Classified for ReadError {
    fn classify(&self) -> Classification {
        use ErrorClass::{Failed, Unavailable};
        match self {
            ReadError::Closed => Failed.code("closed"),
            ReadError::Unavailable { .. } => Unavailable.code("unreadable"),
            ReadError::Moved { .. } => Failed.code("moved"),
            ReadError::Corrupt { .. } => Classification::CORRUPT,
        }
    }
}

/// Why rows of a read model were not committed. Nothing of them was stored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CommitError {
    /// Another writer moved the checkpoint; read it and fold on from there.
    #[error("the read model {model} is at {actual}, but the commit expects {expected}")]
    Checkpoint {
        /// The read model.
        model: String,
        /// What the commit expected.
        expected: Position,
        /// Where the read model is.
        actual: Position,
    },
    /// Content was removed from the log since the rows began to be folded: they may have it.
    /// Throw them away with all that was read for them, read the checkpoint, and fold from
    /// there.
    #[error(
        "rows of the read model {model} were folded {expected}, and the log is {actual}: they may have \
         content that was removed since; read the checkpoint and fold again from there"
    )]
    Epoch {
        /// The read model.
        model: String,
        /// What the rows were folded under.
        expected: Epoch,
        /// What the log is at.
        actual: Epoch,
    },
    /// The checkpoint lies beyond what is stored.
    #[error("the checkpoint {checkpoint} lies beyond the watermark {watermark}")]
    BeyondWatermark {
        /// What was to be committed.
        checkpoint: Position,
        /// The log's watermark.
        watermark: Position,
    },
    /// The name of a read model is 1 to 100 bytes of `a-z`, `0-9`, `_` and `.`.
    #[error("{model:?} is not the name of a read model: 1 to 100 bytes of a-z, 0-9, _ and .")]
    InvalidName {
        /// The name that was refused.
        model: String,
    },
    /// The log was opened for reading only.
    #[error("the log is open for reading only")]
    ReadOnly,
    /// The log is closed.
    #[error("the log is closed")]
    Closed,
    /// The store failed. Its own error says whether it is to be opened again first.
    #[error("the store failed: {source}")]
    Unavailable {
        /// The store's own error.
        #[source]
        source: Source,
    },
    /// What is stored contradicts itself.
    #[error("the store is corrupt: {reason}. Verify it, and restore it from a backup")]
    Corrupt {
        /// What was found, and where.
        reason: String,
    },
}

impl Classified for CommitError {
    fn classify(&self) -> Classification {
        use ErrorClass::{Contended, Failed, Invalid, NotFound, Unavailable};
        match self {
            CommitError::Checkpoint { .. } | CommitError::Epoch { .. } => {
                Contended.code("conflict")
            }
            CommitError::BeyondWatermark { .. } => NotFound.code("beyond_end"),
            CommitError::InvalidName { .. } => Invalid.code("invalid_name"),
            CommitError::ReadOnly => Failed.code("read_only"),
            CommitError::Closed => Failed.code("closed"),
            CommitError::Unavailable { .. } => Unavailable.code("unavailable"),
            CommitError::Corrupt { .. } => Classification::CORRUPT,
        }
    }
}

impl From<ReadError> for AppendError {
    fn from(error: ReadError) -> AppendError {
        match error {
            ReadError::Closed => AppendError::Closed,
            ReadError::Unavailable { source } => AppendError::Unavailable { source },
            ReadError::Moved { .. } => AppendError::Unavailable {
                source: Box::new(error),
            },
            ReadError::Corrupt { reason } => AppendError::Corrupt { reason },
        }
    }
}

impl From<ReadError> for CommitError {
    fn from(error: ReadError) -> CommitError {
        match error {
            ReadError::Closed => CommitError::Closed,
            ReadError::Unavailable { source } => CommitError::Unavailable { source },
            ReadError::Moved { .. } => CommitError::Unavailable {
                source: Box::new(error),
            },
            ReadError::Corrupt { reason } => CommitError::Corrupt { reason },
        }
    }
}

impl From<MalformedRecord> for ReadError {
    fn from(error: MalformedRecord) -> ReadError {
        ReadError::Corrupt {
            reason: error.to_string(),
        }
    }
}
