//! Removing content for good: the request, and why it is refused.

use std::collections::HashSet;

use crate::{
    Append, AppendError, Classification, Classified, Content, Digest, ErrorClass, MalformedRecord,
    Position, ReadError, Record,
};

/// Pieces of one record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PiecesOf {
    /// The record.
    pub position: Position,
    /// Its pieces, by number from 0.
    pub pieces: Vec<u16>,
}

/// Content that goes for good, and the batch that says so.
///
/// A removed piece becomes [`crate::Content::Removed`]: its salted digest stays, so
/// that the record's header, and every proof that rests on it, stays what it is.
#[derive(Debug, Clone)]
pub struct Redaction {
    /// The batch that says what was removed, by whom and why.
    pub append: Append,
    /// The pieces that go, by ascending positions, each position once. One that is
    /// gone already stays so.
    pub removed: Vec<PiecesOf>,
    /// Blobs that go. No piece that stays may refer to one of them, nor the batch.
    pub blobs: Vec<Digest>,
    /// Up to where the caller has looked for pieces that refer to these blobs. The
    /// store looks through what came since.
    pub seen: Position,
}

/// Why content was not removed. Nothing was changed, except with
/// [`AppendError::Unavailable`], where it is unknown: repeat it after reopening.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RedactError {
    /// The batch that goes with it was not appended.
    #[error(transparent)]
    Append(#[from] AppendError),
    /// There is no such record, or it has no such piece.
    #[error("record {position} has no piece {piece}")]
    NoPiece {
        /// The record's position.
        position: Position,
        /// The number of the piece.
        piece: u16,
    },
    /// A blob would be missing from a piece that stays.
    #[error("the blob {digest} is also in record {position}, which keeps it")]
    StillNamed {
        /// The blob.
        digest: Digest,
        /// A record that refers to it.
        position: Position,
    },
}

impl Classified for RedactError {
    fn classify(&self) -> Classification {
        use ErrorClass::{Contended, NotFound};
        match self {
            RedactError::Append(error) => error.classify(),
            RedactError::NoPiece { .. } => NotFound.code("no_piece"),
            RedactError::StillNamed { .. } => Contended.code("still_named"),
        }
    }
}

impl From<ReadError> for RedactError {
    fn from(error: ReadError) -> RedactError {
        RedactError::Append(error.into())
    }
}

impl From<MalformedRecord> for RedactError {
    fn from(error: MalformedRecord) -> RedactError {
        ReadError::from(error).into()
    }
}

impl Redaction {
    /// Whether the positions ascend, so that each is there once, and whether the batch
    /// that says what goes does not refer to a blob that goes: it stays.
    ///
    /// # Errors
    /// [`AppendError::Invalid`].
    pub fn check(&self) -> Result<(), AppendError> {
        let ascend = self
            .removed
            .is_sorted_by(|one, next| one.position < next.position);
        if !ascend {
            return Err(AppendError::Invalid {
                reason: "the positions of what is removed must ascend".into(),
            });
        }
        let blobs: HashSet<Digest> = self.blobs.iter().copied().collect();
        let pieces = self.append.events.iter().flat_map(|event| &event.content);
        match pieces
            .filter_map(Content::blob)
            .find(|it| blobs.contains(it))
        {
            None => Ok(()),
            Some(digest) => Err(AppendError::Invalid {
                reason: format!("the redaction refers to the blob {digest}, which it removes"),
            }),
        }
    }

    /// Checks a record against what is removed: its pieces are there, and none that
    /// it keeps refers to a blob that goes.
    ///
    /// # Errors
    /// [`RedactError::NoPiece`] and [`RedactError::StillNamed`].
    pub fn check_record(
        record: &Record,
        pieces: &[u16],
        blobs: &HashSet<Digest>,
    ) -> Result<(), RedactError> {
        let position = record.position();
        let content = record.content();
        let missing = |piece: &&u16| usize::from(**piece) >= content.len();
        if let Some(piece) = pieces.iter().find(missing) {
            return Err(RedactError::NoPiece {
                position,
                piece: *piece,
            });
        }
        for (number, piece) in (0_u16..).zip(&content) {
            let kept = piece.blob().filter(|blob| blobs.contains(blob));
            if let Some(digest) = kept.filter(|_| !pieces.contains(&number)) {
                return Err(RedactError::StillNamed { digest, position });
            }
        }
        Ok(())
    }
}
