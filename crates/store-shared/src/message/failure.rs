//! The ports' errors as plain data, and back.

use annals_event_log::{
    AppendError, CommitError, Digest, Epoch, Link, Position, ReadError, RedactError, Version,
};
use annals_store_rocks::PurgeError;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::append::{ExpectedOf, stream};

/// A store's own error, of which its text came over.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Told(pub(crate) String);

/// [`AppendError`].
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum AppendFailure {
    Conflict {
        stream: String,
        expected: ExpectedOf,
        actual: u64,
    },
    BrokenChain(Uuid, u64),
    IdempotencyMismatch(Uuid),
    RequestUnverifiable(Uuid, u64, u64),
    TooLarge {
        what: String,
        limit: u64,
        actual: u64,
    },
    Invalid(String),
    UnknownBlob([u8; 32]),
    BlobSize {
        digest: [u8; 32],
        said: u64,
        actual: u64,
    },
    NotContiguous {
        offered: u64,
        reason: String,
    },
    ReadOnly,
    Closed,
    Unavailable(String),
    Corrupt(String),
    Clock(String),
}

impl From<AppendError> for AppendFailure {
    fn from(error: AppendError) -> AppendFailure {
        match error {
            AppendError::Conflict {
                stream,
                expected,
                actual,
            } => AppendFailure::Conflict {
                stream: stream.as_str().to_owned(),
                expected: expected.into(),
                actual: actual.0,
            },
            AppendError::BrokenChain { link } => {
                AppendFailure::BrokenChain(link.chain, link.number)
            }
            AppendError::IdempotencyMismatch { batch } => AppendFailure::IdempotencyMismatch(batch),
            AppendError::RequestUnverifiable { batch, first, last } => {
                AppendFailure::RequestUnverifiable(batch, first.0, last.0)
            }
            AppendError::TooLarge {
                what,
                limit,
                actual,
            } => AppendFailure::TooLarge {
                what,
                limit,
                actual,
            },
            AppendError::Invalid { reason } => AppendFailure::Invalid(reason),
            AppendError::UnknownBlob { digest } => AppendFailure::UnknownBlob(digest.0),
            AppendError::BlobSize {
                digest,
                said,
                actual,
            } => AppendFailure::BlobSize {
                digest: digest.0,
                said,
                actual,
            },
            AppendError::NotContiguous { offered, reason } => AppendFailure::NotContiguous {
                offered: offered.0,
                reason,
            },
            AppendError::ReadOnly => AppendFailure::ReadOnly,
            AppendError::Closed => AppendFailure::Closed,
            AppendError::Corrupt { reason } => AppendFailure::Corrupt(reason),
            AppendError::Clock { reason } => AppendFailure::Clock(reason),
            AppendError::Unavailable { source } => AppendFailure::Unavailable(source.to_string()),
            // One that was added since says so by its text.
            other => AppendFailure::Unavailable(other.to_string()),
        }
    }
}

impl AppendFailure {
    pub(crate) fn into_error(self) -> AppendError {
        let position = Position;
        match self {
            AppendFailure::Conflict {
                stream: name,
                expected,
                actual,
            } => match stream(&name) {
                Ok(stream) => AppendError::Conflict {
                    stream,
                    expected: expected.into(),
                    actual: Version(actual),
                },
                Err(error) => unavailable(error),
            },
            AppendFailure::BrokenChain(chain, number) => AppendError::BrokenChain {
                link: Link { chain, number },
            },
            AppendFailure::IdempotencyMismatch(batch) => AppendError::IdempotencyMismatch { batch },
            AppendFailure::RequestUnverifiable(batch, first, last) => {
                AppendError::RequestUnverifiable {
                    batch,
                    first: position(first),
                    last: position(last),
                }
            }
            AppendFailure::TooLarge {
                what,
                limit,
                actual,
            } => AppendError::TooLarge {
                what,
                limit,
                actual,
            },
            AppendFailure::Invalid(reason) => AppendError::Invalid { reason },
            AppendFailure::UnknownBlob(digest) => AppendError::UnknownBlob {
                digest: Digest(digest),
            },
            AppendFailure::BlobSize {
                digest,
                said,
                actual,
            } => AppendError::BlobSize {
                digest: Digest(digest),
                said,
                actual,
            },
            AppendFailure::NotContiguous { offered, reason } => AppendError::NotContiguous {
                offered: position(offered),
                reason,
            },
            AppendFailure::ReadOnly => AppendError::ReadOnly,
            AppendFailure::Closed => AppendError::Closed,
            AppendFailure::Unavailable(reason) => unavailable(Told(reason)),
            AppendFailure::Corrupt(reason) => AppendError::Corrupt { reason },
            AppendFailure::Clock(reason) => AppendError::Clock { reason },
        }
    }
}

fn unavailable(error: impl std::error::Error + Send + Sync + 'static) -> AppendError {
    AppendError::Unavailable {
        source: Box::new(error),
    }
}

/// [`RedactError`].
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum RedactFailure {
    Append(AppendFailure),
    NoPiece(u64, u16),
    StillNamed([u8; 32], u64),
}

impl From<RedactError> for RedactFailure {
    fn from(error: RedactError) -> RedactFailure {
        match error {
            RedactError::Append(error) => RedactFailure::Append(error.into()),
            RedactError::NoPiece { position, piece } => RedactFailure::NoPiece(position.0, piece),
            RedactError::StillNamed { digest, position } => {
                RedactFailure::StillNamed(digest.0, position.0)
            }
            other => RedactFailure::Append(AppendFailure::Unavailable(other.to_string())),
        }
    }
}

impl RedactFailure {
    pub(crate) fn into_error(self) -> RedactError {
        match self {
            RedactFailure::Append(error) => error.into_error().into(),
            RedactFailure::NoPiece(position, piece) => RedactError::NoPiece {
                position: Position(position),
                piece,
            },
            RedactFailure::StillNamed(digest, position) => RedactError::StillNamed {
                digest: Digest(digest),
                position: Position(position),
            },
        }
    }
}

/// [`ReadError`].
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum ReadFailure {
    Closed,
    Unavailable(String),
    Moved(String),
    Corrupt(String),
}

impl From<ReadError> for ReadFailure {
    fn from(error: ReadError) -> ReadFailure {
        match error {
            ReadError::Closed => ReadFailure::Closed,
            ReadError::Moved { place } => ReadFailure::Moved(place),
            ReadError::Corrupt { reason } => ReadFailure::Corrupt(reason),
            ReadError::Unavailable { source } => ReadFailure::Unavailable(source.to_string()),
            other => ReadFailure::Unavailable(other.to_string()),
        }
    }
}

impl ReadFailure {
    pub(crate) fn into_error(self) -> ReadError {
        match self {
            ReadFailure::Closed => ReadError::Closed,
            ReadFailure::Moved(place) => ReadError::Moved { place },
            ReadFailure::Corrupt(reason) => ReadError::Corrupt { reason },
            ReadFailure::Unavailable(reason) => ReadError::Unavailable {
                source: Box::new(Told(reason)),
            },
        }
    }
}

/// [`CommitError`].
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum CommitFailure {
    Checkpoint {
        model: String,
        expected: u64,
        actual: u64,
    },
    Epoch {
        model: String,
        expected: u64,
        actual: u64,
    },
    BeyondWatermark(u64, u64),
    InvalidName(String),
    ReadOnly,
    Closed,
    Unavailable(String),
    Corrupt(String),
}

impl From<CommitError> for CommitFailure {
    fn from(error: CommitError) -> CommitFailure {
        match error {
            CommitError::Checkpoint {
                model,
                expected,
                actual,
            } => CommitFailure::Checkpoint {
                model,
                expected: expected.0,
                actual: actual.0,
            },
            CommitError::Epoch {
                model,
                expected,
                actual,
            } => CommitFailure::Epoch {
                model,
                expected: expected.0,
                actual: actual.0,
            },
            CommitError::BeyondWatermark {
                checkpoint,
                watermark,
            } => CommitFailure::BeyondWatermark(checkpoint.0, watermark.0),
            CommitError::InvalidName { model } => CommitFailure::InvalidName(model),
            CommitError::ReadOnly => CommitFailure::ReadOnly,
            CommitError::Closed => CommitFailure::Closed,
            CommitError::Corrupt { reason } => CommitFailure::Corrupt(reason),
            CommitError::Unavailable { source } => CommitFailure::Unavailable(source.to_string()),
            other => CommitFailure::Unavailable(other.to_string()),
        }
    }
}

impl CommitFailure {
    pub(crate) fn into_error(self) -> CommitError {
        match self {
            CommitFailure::Checkpoint {
                model,
                expected,
                actual,
            } => CommitError::Checkpoint {
                model,
                expected: Position(expected),
                actual: Position(actual),
            },
            CommitFailure::Epoch {
                model,
                expected,
                actual,
            } => CommitError::Epoch {
                model,
                expected: Epoch(expected),
                actual: Epoch(actual),
            },
            CommitFailure::BeyondWatermark(checkpoint, watermark) => CommitError::BeyondWatermark {
                checkpoint: Position(checkpoint),
                watermark: Position(watermark),
            },
            CommitFailure::InvalidName(model) => CommitError::InvalidName { model },
            CommitFailure::ReadOnly => CommitError::ReadOnly,
            CommitFailure::Closed => CommitError::Closed,
            CommitFailure::Corrupt(reason) => CommitError::Corrupt { reason },
            CommitFailure::Unavailable(reason) => CommitError::Unavailable {
                source: Box::new(Told(reason)),
            },
        }
    }
}

/// [`PurgeError`].
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum PurgeFailure {
    ReadOnly,
    Unfinished,
    Read(ReadFailure),
    StillThere(Vec<String>),
}

impl From<PurgeError> for PurgeFailure {
    fn from(error: PurgeError) -> PurgeFailure {
        match error {
            PurgeError::ReadOnly => PurgeFailure::ReadOnly,
            PurgeError::Unfinished => PurgeFailure::Unfinished,
            PurgeError::Read(error) => PurgeFailure::Read(error.into()),
            PurgeError::StillThere { files } => PurgeFailure::StillThere(files),
            // The store's own failure, by its text.
            other => PurgeFailure::Read(ReadFailure::Unavailable(other.to_string())),
        }
    }
}

impl PurgeFailure {
    pub(crate) fn into_error(self) -> PurgeError {
        match self {
            PurgeFailure::ReadOnly => PurgeError::ReadOnly,
            PurgeFailure::Unfinished => PurgeError::Unfinished,
            PurgeFailure::Read(failure) => PurgeError::Read(failure.into_error()),
            PurgeFailure::StillThere(files) => PurgeError::StillThere { files },
        }
    }
}
