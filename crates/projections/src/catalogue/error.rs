//! Why the catalogue gave no answer.

use annals_domain::Kind;
use annals_event_log::{
    Classification, Classified, CommitError, Digest, ErrorClass, Position, ReadError,
};
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
    #[error(
        "the catalogue's row {key} is malformed; rebuild the catalogue with `annals log rebuild`"
    )]
    MalformedRow {
        /// The row's key, as hex digits.
        key: String,
    },
    /// A row cannot be written.
    #[error("a row of the catalogue cannot be written: {0}")]
    UnwritableRow(#[from] FormatError),
    /// The text cannot be the end of an id.
    #[error("invalid end of an id {suffix:?}: expected 8 to 32 hex digits")]
    InvalidSuffix {
        /// The text, cut to its first 64 characters.
        suffix: String,
    },
    /// Objects of one kind do not belong to objects of the other.
    #[error("no {child} belongs to a {parent}; `annals log refs` shows what names it")]
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
    /// A list of tickets was to go on behind one that was never read.
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
    pub(super) fn malformed(key: &[u8]) -> CatalogueError {
        CatalogueError::MalformedRow {
            key: hex::encode(key),
        }
    }
}

impl Classified for CatalogueError {
    fn classify(&self) -> Classification {
        use ErrorClass::{Contended, Failed, Invalid, NotFound, Unavailable};
        match self {
            CatalogueError::Read(error) => error.classify(),
            CatalogueError::Commit(error) => match error.class() {
                // It is about the rows, and not about what was asked of the catalogue.
                Contended => Unavailable.code("unreadable"),
                Invalid | NotFound => Failed.code("unreadable"),
                _ => error.classify().of("unreadable"),
            },
            CatalogueError::Decode { source, .. } => source.classify(),
            CatalogueError::MissingBlob { .. } => Classification::CORRUPT,
            CatalogueError::MalformedRow { .. } | CatalogueError::UnwritableRow(_) => {
                Failed.code("unreadable")
            }
            CatalogueError::InvalidSuffix { .. } => Invalid.code("invalid_id"),
            CatalogueError::NotAParent { .. } => Invalid.code("not_a_parent"),
            CatalogueError::OnlyIntents { .. } => Invalid.code("only_intents"),
            CatalogueError::NoWorkItem { .. } => NotFound.code("not_found"),
            CatalogueError::Moving { .. } | CatalogueError::ThreadLost => {
                Unavailable.code("unreadable")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use annals_event_log::{CommitError, Position};

    use super::*;

    /// Who gives several commands stops at what the catalogue suffers from, and goes on after what is wrong
    /// with one command.
    #[test]
    fn rows_that_are_not_committed_are_not_about_the_request() {
        let outdone = CommitError::Checkpoint {
            model: "catalogue".to_owned(),
            expected: Position(1),
            actual: Position(2),
        };
        let beyond = CommitError::BeyondWatermark {
            checkpoint: Position(2),
            watermark: Position(1),
        };
        for (error, is_retryable) in [(outdone, true), (beyond, false)] {
            let error = CatalogueError::Commit(error);
            assert!(!error.class().is_about_request(), "{error}");
            assert_eq!(error.is_retryable(), is_retryable, "{error}");
        }
    }
}
