//! The forms in which a record is kept.

use bytes::Bytes;

use super::layout::{AT_CONTENT_DIGEST, AT_STRUCTURE_DIGEST, AT_TEXTS, HEADER_START};
use crate::Digest;

/// Bytes that the short form has of a digest.
pub(super) const PREFIX: usize = 4;

/// How the bytes of a record are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// All of them.
    Whole,
    /// With the first 4 bytes of each of the header's two digests. The full digests are computed from
    /// structure and content on demand; the kept bytes show whether they are the digests that were appended.
    Short,
}

impl Form {
    /// How many bytes this form leaves out.
    pub fn left_out(self) -> usize {
        match self {
            Form::Whole => 0,
            Form::Short => 2 * (size_of::<Digest>() - PREFIX),
        }
    }
}

/// The parts of a whole record that its short form has, one after the other. Nothing of what is too short to
/// be a record.
pub(crate) fn shorten(whole: &[u8]) -> Option<[&[u8]; 3]> {
    let content = HEADER_START + AT_CONTENT_DIGEST;
    Some([
        whole.get(..HEADER_START + AT_STRUCTURE_DIGEST + PREFIX)?,
        whole.get(content..content + PREFIX)?,
        whole.get(HEADER_START + AT_TEXTS..)?,
    ])
}

/// The whole form of a record that is kept in a short one.
#[derive(Debug, Clone)]
pub(super) struct Whole {
    pub(super) bytes: Bytes,
    /// Whether the digests that were made begin with what is kept of them.
    pub(super) fits: bool,
}

/// The digest whose first bytes were kept: `made`, if it begins with them; else those bytes and zeros.
pub(super) fn known(made: Digest, kept: &[u8]) -> Digest {
    if made.0.starts_with(kept) {
        return made;
    }
    let mut unknown = Digest([0; 32]);
    unknown.0[..PREFIX].copy_from_slice(kept);
    unknown
}
