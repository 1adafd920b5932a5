//! What does not fit together: the answers that an auditor looks for.

use annals_event_log::{Classification, Classified, Digest, ErrorClass, Position};

/// Why a proof, a checkpoint and a log do not belong together. One of them is of
/// something else, was altered, or has lost something.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProofMismatch {
    /// They are of different logs.
    #[error("the checkpoint is of {expected}, this is {found}: they are different logs")]
    Origin {
        /// Whose checkpoint it is.
        expected: String,
        /// What was compared with it.
        found: String,
    },
    /// The log is shorter than it was.
    #[error(
        "the log has lost its end: the checkpoint is of {size} records, and the log ends at \
         position {end}"
    )]
    Truncated {
        /// How many records there were.
        size: u64,
        /// Where the log ends.
        end: Position,
    },
    /// The records that a checkpoint covers are not what they were.
    #[error(
        "the first {size} records are not those of the checkpoint: its root is {expected}, theirs \
         is {found}"
    )]
    Root {
        /// How many records the checkpoint covers.
        size: u64,
        /// The checkpoint's root.
        expected: Digest,
        /// The root of what is there.
        found: Digest,
    },
    /// A proof is of another size of the log than the checkpoint.
    #[error(
        "the proof is for a log of {found} records, the checkpoint is of {expected}: make the \
         proof with --checkpoint, or get the checkpoint of that size"
    )]
    Size {
        /// The checkpoint's size.
        expected: u64,
        /// The proof's.
        found: u64,
    },
    /// A proof's log is as long as the checkpoint's and has another root.
    #[error("the proof's root is {found}, the checkpoint's is {expected}")]
    ProofRoot {
        /// The checkpoint's root.
        expected: Digest,
        /// The proof's.
        found: Digest,
    },
    /// One checkpoint's log is not the beginning of another's.
    #[error(
        "the log of {old} records is not the beginning of the log of {new} records: the hashes of \
         the proof do not lead from one root to the other"
    )]
    Inconsistent {
        /// The older size.
        old: u64,
        /// The newer size.
        new: u64,
    },
    /// Something about one event.
    #[error("event {position}: {reason}")]
    Event {
        /// The event's position, as the proof gives it.
        position: Position,
        /// What does not fit.
        reason: String,
    },
    /// The proof as a whole says more or less than its parts.
    #[error("{reason}")]
    Whole {
        /// What does not fit.
        reason: String,
    },
}

impl Classified for ProofMismatch {
    fn classify(&self) -> Classification {
        ErrorClass::Corrupt.code("does_not_fit")
    }
}

impl ProofMismatch {
    pub(super) fn event(position: Position, reason: impl Into<String>) -> ProofMismatch {
        ProofMismatch::Event {
            position,
            reason: reason.into(),
        }
    }

    pub(super) fn whole(reason: impl Into<String>) -> ProofMismatch {
        ProofMismatch::Whole {
            reason: reason.into(),
        }
    }
}
