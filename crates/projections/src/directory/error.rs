//! Why the directory gave no answer.

use annals_event_log::{CommitError, Position, ReadError};
use annals_wire::DecodeError;

/// Why the directory gave no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DirectoryError {
    /// The log could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The rows could not be written.
    #[error("the directory's rows were not written: {0}")]
    Commit(#[from] CommitError),
    /// An event that creates an object cannot be decoded.
    #[error("record {position} cannot be decoded: {source}")]
    Decode {
        /// The record's position.
        position: Position,
        /// What is wrong with it.
        source: DecodeError,
    },
    /// A row is not what this version writes.
    #[error("the directory's row {key} is malformed; rebuild the read model to get it right")]
    MalformedRow {
        /// The row's key, as hex digits.
        key: String,
    },
    /// The text is not the end of an id.
    #[error("{suffix:?} is not the end of an id: 8 to 32 hex digits are expected")]
    InvalidSuffix {
        /// The text, cut to its first 64 characters.
        suffix: String,
    },
}

impl DirectoryError {
    /// Whether the same call may succeed later.
    pub fn is_retryable(&self) -> bool {
        match self {
            DirectoryError::Read(error) => error.is_retryable(),
            DirectoryError::Commit(error) => error.is_retryable(),
            DirectoryError::Decode { .. }
            | DirectoryError::MalformedRow { .. }
            | DirectoryError::InvalidSuffix { .. } => false,
        }
    }
}
