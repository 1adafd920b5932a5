//! What a store may answer, as the model sees it.

use annals_event_log::{
    AppendError, BatchId, CommitError, Digest, Epoch, Expected, Position, RedactError, StreamName,
    Version,
};

/// Why something is refused: the errors of the ports, without their wording.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// A stream is not as the append expects it.
    Conflict {
        /// The stream.
        stream: StreamName,
        /// What the append says of it.
        expected: Expected,
        /// Its version.
        actual: Version,
    },
    /// The batch id was used for another request.
    IdempotencyMismatch {
        /// The id.
        batch: BatchId,
    },
    /// The batch id was used, and for which request is not stored any more.
    RequestUnverifiable {
        /// The id.
        batch: BatchId,
        /// The batch's first position.
        first: Position,
        /// The batch's last position.
        last: Position,
    },
    /// Something is over a limit.
    TooLarge {
        /// The limit.
        limit: u64,
    },
    /// The append makes no sense.
    Invalid,
    /// A blob is neither stored nor in the append.
    UnknownBlob {
        /// The blob.
        digest: Digest,
    },
    /// An event says another length of a blob than it has.
    BlobSize {
        /// The blob.
        digest: Digest,
        /// What the event says.
        said: u64,
        /// Its length.
        actual: u64,
    },
    /// A copied record does not continue the log.
    NotContiguous {
        /// The position that was offered.
        offered: Position,
    },
    /// There is no such piece to remove.
    NoPiece {
        /// The record.
        position: Position,
        /// The piece.
        piece: u16,
    },
    /// A piece that stays refers to the blob that was to go.
    StillNamed {
        /// The blob.
        digest: Digest,
        /// The record that keeps it.
        position: Position,
    },
    /// The checkpoint is not the expected one.
    Checkpoint {
        /// What the commit expected.
        expected: Position,
        /// Where the read model is.
        actual: Position,
    },
    /// Something was removed since the rows were folded.
    Epoch {
        /// What the commit expected.
        expected: Epoch,
        /// What the log is at.
        actual: Epoch,
    },
    /// The checkpoint would lie beyond the log.
    BeyondWatermark,
    /// No read model can have this name.
    InvalidName,
    /// Anything that a sound store in use has no reason for, in its own words.
    Other(String),
}

impl From<&AppendError> for Reason {
    fn from(error: &AppendError) -> Reason {
        match error {
            AppendError::Conflict {
                stream,
                expected,
                actual,
            } => Reason::Conflict {
                stream: stream.clone(),
                expected: *expected,
                actual: *actual,
            },
            AppendError::IdempotencyMismatch { batch } => {
                Reason::IdempotencyMismatch { batch: *batch }
            }
            AppendError::RequestUnverifiable { batch, first, last } => {
                Reason::RequestUnverifiable {
                    batch: *batch,
                    first: *first,
                    last: *last,
                }
            }
            AppendError::TooLarge { limit, .. } => Reason::TooLarge { limit: *limit },
            AppendError::Invalid { .. } => Reason::Invalid,
            AppendError::UnknownBlob { digest } => Reason::UnknownBlob { digest: *digest },
            AppendError::BlobSize {
                digest,
                said,
                actual,
            } => Reason::BlobSize {
                digest: *digest,
                said: *said,
                actual: *actual,
            },
            AppendError::NotContiguous { offered, .. } => {
                Reason::NotContiguous { offered: *offered }
            }
            other => Reason::Other(other.to_string()),
        }
    }
}

impl From<&RedactError> for Reason {
    fn from(error: &RedactError) -> Reason {
        match error {
            RedactError::Append(error) => error.into(),
            RedactError::NoPiece { position, piece } => Reason::NoPiece {
                position: *position,
                piece: *piece,
            },
            RedactError::StillNamed { digest, position } => Reason::StillNamed {
                digest: *digest,
                position: *position,
            },
            other => Reason::Other(other.to_string()),
        }
    }
}

impl From<&CommitError> for Reason {
    fn from(error: &CommitError) -> Reason {
        match error {
            CommitError::Checkpoint {
                expected, actual, ..
            } => Reason::Checkpoint {
                expected: *expected,
                actual: *actual,
            },
            CommitError::Epoch {
                expected, actual, ..
            } => Reason::Epoch {
                expected: *expected,
                actual: *actual,
            },
            CommitError::BeyondWatermark { .. } => Reason::BeyondWatermark,
            CommitError::InvalidName { .. } => Reason::InvalidName,
            other => Reason::Other(other.to_string()),
        }
    }
}

/// The answers that are right. Where several things are wrong with one request, the
/// ports do not say which is named: any of them is right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict<T> {
    /// The answer, where the request may be accepted.
    pub accept: Option<T>,
    /// The reasons that it may be refused for.
    pub refuse: Vec<Reason>,
}

impl<T: PartialEq> Verdict<T> {
    pub(super) fn new(accept: T, refuse: Vec<Reason>) -> Verdict<T> {
        Verdict {
            accept: refuse.is_empty().then_some(accept),
            refuse,
        }
    }

    /// Whether an answer is one of those that are right.
    pub fn allows(&self, answer: &Result<T, Reason>) -> bool {
        match answer {
            Ok(answer) => self.accept.as_ref() == Some(answer),
            Err(reason) => self.refuse.contains(reason),
        }
    }
}
