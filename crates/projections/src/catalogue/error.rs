//! Why the catalogue gave no answer.

use annals_domain::Kind;
use annals_event_log::{CommitError, Digest, Position, ReadError};
use annals_wire::{DecodeError, FormatError};

use crate::aside::ThreadLost;

/// Why the catalogue gave no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CatalogueError {
    /// The log could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The rows could not be written.
    #[error("the catalogue's rows were not written: {0}")]
    Commit(#[from] CommitError),
    /// An event cannot be decoded.
    #[error("record {position} cannot be decoded: {source}")]
    Decode {
        /// The record's position.
        position: Position,
        /// What is wrong with it.
        source: DecodeError,
    },
    /// Content that a record refers to is not there.
    #[error("record {position} refers to the blob {digest}, which is not there")]
    MissingBlob {
        /// The record's position.
        position: Position,
        /// The blob's digest.
        digest: Digest,
    },
    /// A row is not what this version writes.
    #[error("the catalogue's row {key} is malformed; rebuild the catalogue with `annals rebuild`")]
    MalformedRow {
        /// The row's key, as hex digits.
        key: String,
    },
    /// A row cannot be written.
    #[error("a row of the catalogue cannot be written: {0}")]
    UnwritableRow(#[from] FormatError),
    /// The text is not the end of an id.
    #[error("{suffix:?} is not the end of an id: 8 to 32 hex digits are expected")]
    InvalidSuffix {
        /// The text, cut to its first 64 characters.
        suffix: String,
    },
    /// Objects of one kind do not belong to objects of the other.
    #[error("no {child} belongs to a {parent}; `annals refs` shows what names it")]
    NotAParent {
        /// What was to be listed.
        child: Kind,
        /// What they were to belong to.
        parent: Kind,
    },
    /// A filter for intents was given for another kind.
    #[error(
        "only intents are listed by approval, type, risk, source and label, and these are of kind \
         {kind}; leave the filter out, or list intents"
    )]
    OnlyIntents {
        /// What was to be listed.
        kind: Kind,
    },
    /// A list of tickets was to go on behind one that nobody has read.
    #[error("no session has read a ticket {id:?}")]
    NoWorkItem {
        /// The ticket's id, cut to its first 64 characters.
        id: String,
    },
    /// Another process wrote rows all the time while they were being read.
    #[error("the catalogue changed {attempts} times while it was being read; try again")]
    Moving {
        /// How often it was tried.
        attempts: u32,
    },
    /// A thread ended before its work.
    #[error("a thread ended before its work; try again")]
    ThreadLost,
}

impl From<ThreadLost> for CatalogueError {
    fn from(_: ThreadLost) -> CatalogueError {
        CatalogueError::ThreadLost
    }
}

impl CatalogueError {
    /// Whether the same call may succeed later.
    pub fn is_retryable(&self) -> bool {
        match self {
            CatalogueError::Read(error) => error.is_retryable(),
            CatalogueError::Commit(error) => error.is_retryable(),
            CatalogueError::Moving { .. } | CatalogueError::ThreadLost => true,
            CatalogueError::Decode { .. }
            | CatalogueError::MissingBlob { .. }
            | CatalogueError::MalformedRow { .. }
            | CatalogueError::UnwritableRow(_)
            | CatalogueError::NotAParent { .. }
            | CatalogueError::OnlyIntents { .. }
            | CatalogueError::NoWorkItem { .. }
            | CatalogueError::InvalidSuffix { .. } => false,
        }
    }

    pub(super) fn malformed(key: &[u8]) -> CatalogueError {
        CatalogueError::MalformedRow {
            key: hex::encode(key),
        }
    }
}
