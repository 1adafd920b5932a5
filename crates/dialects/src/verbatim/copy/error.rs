//! Why a copy of a log came to nothing, or was not finished.

use annals::domain::Refusal;
use annals::proof::ProofError;
use annals_event_log::{
    AppendError, Classification, Classified, Digest, ErrorClass, Position, ReadError,
};
use uuid::Uuid;

use crate::verbatim::copied_by::named;

/// Why a log was not copied, or not to its end. What was copied stays at the destination, and the next copy goes on
/// behind it. The source is only read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LogCopyError {
    /// The destination is another log.
    #[error(
        "the destination is the log {found}, and the source is {expected}: a log is copied to where none is, or where a \
         copy of it was begun. Nothing was copied"
    )]
    OtherLog {
        /// The id of the source.
        expected: Uuid,
        /// The id of the destination.
        found: Uuid,
    },
    /// The destination has more than the source.
    #[error(
        "the destination has {there} records, and the source ends at {end}: the destination was written to, and is no \
         beginning of the source. Nothing was copied"
    )]
    Ahead {
        /// Where the destination ends.
        there: Position,
        /// Where the source ends.
        end: Position,
    },
    /// The destination has other records than the source.
    #[error(
        "the {there} records of the destination are not the first ones of the source, though both have the same id: one of \
         them was written to after it was copied. Nothing was copied; name another destination"
    )]
    OtherHistory {
        /// Where the destination ends.
        there: Position,
    },
    /// Content of a record was removed on one side.
    #[error(
        "content of record {position} was removed from one of the two logs since it was copied, and the other one has it. \
         Nothing was copied; remove the destination, and copy the log again"
    )]
    OtherContent {
        /// The record.
        position: Position,
    },
    /// The importer is not a person, and this is not theirs to copy.
    #[error("{}: {refusal}. Nothing was copied", named(*.count, *.position))]
    NotPermitted {
        /// How many records are refused.
        count: u64,
        /// The first of them.
        position: Position,
        /// Why that one is not copied.
        refusal: Refusal,
    },
    /// A record of one of the two does not fit its own digests, or its place.
    #[error(
        "record {position} is damaged at the source or at the destination; `annals proof verify` on each says which. Nothing \
         was copied"
    )]
    Damaged {
        /// The record.
        position: Position,
    },
    /// Content of the source was removed, and no redaction names it.
    #[error(
        "content of record {position} was removed from the source, and no redaction of it names that: it was altered, or \
         readers do not see its end yet (`annals proof verify` tells). Nothing was copied"
    )]
    Removed {
        /// The record.
        position: Position,
    },
    /// A redaction of the source is not at its end.
    #[error(
        "a redaction of the source (event {said}) is unfinished: let it end, or complete it with `annals log redact --finish`, \
         and copy then"
    )]
    Unfinished {
        /// The last event that says so.
        said: Position,
    },
    /// Content was removed from the source while it was copied.
    #[error(
        "content was removed from the source while it was copied, and the copy may have it: copy again, which compares \
         what is there"
    )]
    RedactedMeanwhile,
    /// The destination did not take records.
    #[error(
        "the destination did not take the records from position {position} on: {source}. Copy again, which goes on there"
    )]
    Append {
        /// The first of them.
        position: Position,
        /// Why not.
        source: AppendError,
    },
    /// Somebody else wrote to the destination.
    #[error(
        "the destination ends at {there} and should end at {expected}: something else wrote to it while the log was copied. \
         If that was another copy of the same log, copy again, which goes on there; otherwise remove it, let nobody write to \
         it, and copy the log again"
    )]
    WrittenMeanwhile {
        /// Where it ends.
        there: Position,
        /// Where it should end.
        expected: Position,
    },
    /// All was copied, and the roots differ.
    #[error(
        "the root of the source's {size} records is {expected}, and that of the copy {found}: something else wrote to the \
         destination, or it is damaged. Remove it, and copy the log again"
    )]
    Root {
        /// How many records the roots are over.
        size: u64,
        /// That of the source.
        expected: Digest,
        /// That of the destination.
        found: Digest,
    },
    /// What the destination has is not what was copied.
    #[error(
        "the copy is damaged ({findings} in all): {first}. Remove the destination, and copy the log again"
    )]
    Findings {
        /// How many findings there are.
        findings: u64,
        /// The first of them.
        first: String,
    },
    /// The copy could not be checked.
    #[error("the copy could not be verified: {0}")]
    Verify(#[from] ProofError),
    /// The source could not be read.
    #[error("the source cannot be read: {0}")]
    ReadSource(#[source] ReadError),
    /// The destination could not be read.
    #[error("the destination cannot be read: {0}")]
    ReadDestination(#[source] ReadError),
}

impl Classified for LogCopyError {
    fn classify(&self) -> Classification {
        use ErrorClass::{Contended, Corrupt, Refused};
        match self {
            LogCopyError::OtherLog { .. }
            | LogCopyError::Ahead { .. }
            | LogCopyError::OtherHistory { .. } => Refused.code("another_log"),
            LogCopyError::OtherContent { .. } => Refused.code("other_content"),
            LogCopyError::NotPermitted { refusal, .. } => Refused.code(refusal.code()),
            LogCopyError::Damaged { .. } | LogCopyError::Removed { .. } => Classification::CORRUPT,
            LogCopyError::Unfinished { .. } => Refused.code("redaction_unfinished"),
            LogCopyError::WrittenMeanwhile { .. } => Refused.code("another_log"),
            LogCopyError::RedactedMeanwhile => Contended.code("redacted_meanwhile"),
            LogCopyError::Append { source, .. } => source.classify().of("copy_failed"),
            LogCopyError::Root { .. } | LogCopyError::Findings { .. } => {
                Corrupt.code("verification_failed")
            }
            LogCopyError::Verify(error) => error.classify().of("copy_failed"),
            LogCopyError::ReadSource(error) | LogCopyError::ReadDestination(error) => {
                error.classify().of("copy_failed")
            }
        }
    }
}
