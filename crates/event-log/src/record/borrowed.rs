//! What a record says, as it is in the record's bytes: for code that looks at it and keeps nothing.

use super::{ATTACHMENT, Cursor, PieceAt, Record};
use crate::Digest;

/// A piece of content as it lies in its record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PieceRef<'a> {
    /// It is in the record.
    Inline(&'a [u8]),
    /// It is in the blob with this digest.
    Blob(Digest),
    /// It is in the blob with this digest, which is fetched only on request.
    Attachment(Digest),
    /// It was removed for good.
    Removed,
}

impl Record {
    /// As [`Record::structure`], without a share in the bytes. Threads that take and give back
    /// shares in the same chunk wait for each other.
    pub fn structure_bytes(&self) -> &[u8] {
        let (start, end) = (self.header_end as usize + 4, self.structure_end as usize);
        self.bytes.get(start..end).unwrap_or_default()
    }

    /// As [`Record::content`], without shares in the bytes. Each piece is found by walking over those
    /// before it.
    pub fn pieces(&self) -> impl Iterator<Item = PieceRef<'_>> {
        let mut cursor = Cursor {
            bytes: &self.bytes,
            at: self.structure_end as usize,
        };
        let count = cursor.u16().unwrap_or(0);
        // `decode` walked over the same bytes without an error.
        (0..count).map_while(move |_| {
            let piece = cursor.piece().ok()?;
            Some(match piece {
                PieceAt::Inline { content, .. } => {
                    PieceRef::Inline(self.bytes.get(content).unwrap_or_default())
                }
                PieceAt::Reference {
                    code: ATTACHMENT,
                    digest,
                    ..
                } => PieceRef::Attachment(digest),
                PieceAt::Reference { digest, .. } => PieceRef::Blob(digest),
                PieceAt::Removed { .. } => PieceRef::Removed,
            })
        })
    }
}
