//! Content: the part of an event that can be removed without breaking a fold.

use bytes::Bytes;

use crate::Digest;

/// 16 random bytes that make a piece's digest unguessable. They go when the
/// piece goes, so that a removed secret cannot be found by trying.
pub type Salt = [u8; 16];

/// One piece of an event's content.
///
/// Even when a piece is removed, its salted digest stays the same: it is what
/// the record's header commits to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// Up to 4 KiB, stored in the record itself.
    Inline {
        /// Random, one per piece.
        salt: Salt,
        /// The content.
        bytes: Bytes,
    },
    /// Larger content, stored once in the blob store; readers fetch it as part
    /// of the event.
    Blob {
        /// Random, one per piece.
        salt: Salt,
        /// The content's SHA-256.
        digest: Digest,
        /// The content's length in bytes.
        size: u64,
    },
    /// Like a blob, but fetched only when asked for by name (a diff, a report).
    Attachment {
        /// Random, one per piece.
        salt: Salt,
        /// The content's SHA-256.
        digest: Digest,
        /// The content's length in bytes.
        size: u64,
    },
    /// The content and its salt were removed for good.
    Removed {
        /// The salted digest, all that is left.
        salted: Digest,
    },
}

impl Content {
    /// The salted digest: SHA-256 over the salt, the content's SHA-256, its
    /// length (u64, big-endian) and one byte that is 1 for an attachment.
    ///
    /// ```
    /// use annals_event_log::{Content, Digest};
    /// let salt = [7; 16];
    /// let inline = Content::Inline { salt, bytes: "secret".into() };
    /// let blob = Content::Blob { salt, digest: Digest::of(b"secret"), size: 6 };
    /// let removed = Content::Removed { salted: inline.salted_digest() };
    /// assert_eq!(inline.salted_digest(), blob.salted_digest());
    /// assert_eq!(inline.salted_digest(), removed.salted_digest());
    /// ```
    pub fn salted_digest(&self) -> Digest {
        match self {
            Content::Inline { salt, bytes } => {
                commit_to(salt, &Digest::of(bytes), bytes.len() as u64, 0)
            }
            Content::Blob { salt, digest, size } => commit_to(salt, digest, *size, 0),
            Content::Attachment { salt, digest, size } => commit_to(salt, digest, *size, 1),
            Content::Removed { salted } => *salted,
        }
    }

    /// The blob that this piece refers to, if it does.
    pub fn blob(&self) -> Option<Digest> {
        self.reference().map(|reference| reference.digest)
    }

    /// The blob that this piece refers to, and the length that it says.
    pub fn reference(&self) -> Option<BlobReference> {
        match self {
            Content::Blob { digest, size, .. } | Content::Attachment { digest, size, .. } => {
                let (digest, size) = (*digest, *size);
                Some(BlobReference { digest, size })
            }
            Content::Inline { .. } | Content::Removed { .. } => None,
        }
    }
}

/// What a piece says of the blob that it refers to.
///
/// The piece's salted digest is over both, so a wrong size would stay wrong for ever:
/// a store refuses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BlobReference {
    /// The content's SHA-256.
    pub digest: Digest,
    /// The content's length in bytes.
    pub size: u64,
}

pub(crate) fn commit_to(salt: &Salt, content: &Digest, size: u64, attachment: u8) -> Digest {
    Digest::of_parts([&salt[..], &content.0, &size.to_be_bytes(), &[attachment]])
}

/// The digest that a header holds of all the pieces: SHA-256 over their salted
/// digests, one after the other.
pub(crate) fn content_digest<'a>(pieces: impl Iterator<Item = &'a Content>) -> Digest {
    let mut pieces = pieces.peekable();
    if pieces.peek().is_none() {
        return Digest::of(b"");
    }
    Digest::of_parts(pieces.map(|piece| piece.salted_digest().0))
}
