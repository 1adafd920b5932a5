//! Why there is no proof.

use annals_event_log::{Classification, Classified, ErrorClass, Position, ReadError};

use super::ProofMismatch;
use crate::{LoadError, ViewError};

/// Why a proof or a checkpoint was not made, or a log not compared with one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProofError {
    /// The log ends before it.
    #[error("position {position} is not there yet: the log ends at {end}")]
    BeyondEnd {
        /// The requested position.
        position: Position,
        /// Where the log, or the checkpoint's log, ends.
        end: Position,
    },
    /// The first record is at position 1.
    #[error("there is no position 0: the first event is at position 1")]
    NoPosition,
    /// The log was written by an older program, which kept no hashes.
    #[error(
        "the hashes of the first {size} records are not stored yet: the next command that writes \
         to the log makes them"
    )]
    NoTree {
        /// How many records the request is about.
        size: u64,
    },
    /// The log's files have the records of the checkpoint, and readers are not shown all of them.
    #[error(
        "the checkpoint is of {size} records, and readers see {end}: the rest is in the log's files, and the next opening \
         for writing settles it, as `annals service apply /dev/null` does"
    )]
    Unpublished {
        /// How many records the checkpoint covers.
        size: u64,
        /// Where the log ends for readers.
        end: Position,
    },
    /// Nothing of the object had happened by then.
    #[error("nothing of {object} is among the first {size} records")]
    NotYet {
        /// The object.
        object: String,
        /// The size of the log that the request is about.
        size: u64,
    },
    /// What an event is about is in the event, not in its header.
    #[error(
        "{object} is in the stream of its run, and only whole records say which of its events are \
         about it: leave --headers-only away"
    )]
    HeadersOnly {
        /// The object.
        object: String,
    },
    /// The older checkpoint is the longer one.
    #[error(
        "the older checkpoint is of {old} records and the newer one of {new}: give them the other \
         way round"
    )]
    Order {
        /// The size of the one that was called older.
        old: u64,
        /// The size of the other.
        new: u64,
    },
    /// The request does not fit the log.
    #[error(transparent)]
    ProofMismatch(#[from] ProofMismatch),
    /// The object could not be found.
    #[error(transparent)]
    View(#[from] ViewError),
    /// The log could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
}

impl Classified for ProofError {
    fn classify(&self) -> Classification {
        use ErrorClass::{Invalid, NotFound, Refused, Unavailable};
        match self {
            ProofError::BeyondEnd { .. } => NotFound.code("beyond_end"),
            ProofError::NoTree { .. } => Unavailable.code("no_tree"),
            ProofError::Unpublished { .. } => Unavailable.code("unpublished"),
            ProofError::NotYet { .. } => NotFound.code("not_yet"),
            ProofError::HeadersOnly { .. } => Refused.code("headers_only"),
            ProofError::NoPosition => Invalid.code("no_position"),
            ProofError::Order { .. } => Invalid.code("wrong_order"),
            ProofError::ProofMismatch(mismatch) => mismatch.classify(),
            ProofError::View(error) => error.classify(),
            ProofError::Read(error) => error.classify(),
        }
    }
}

impl From<LoadError> for ProofError {
    fn from(error: LoadError) -> ProofError {
        match error {
            LoadError::Read(error) => ProofError::Read(error),
            error => ProofError::View(ViewError::Load(error)),
        }
    }
}
