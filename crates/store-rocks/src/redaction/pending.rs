//! What is left to do of a redaction, as it is stored in `meta`.
//!
//! ```text
//! redaction     = u8 the format, 1 or 2
//!                 u8 1 records are left to be rewritten, 2 old bytes are in the files,
//!                    3 the same, and they stay until a caller has them removed
//!                 u64 the position of the last record that said what is removed
//!                 after a 1: u32 count, and the digests of the blobs that go with the
//!                    last of these records; in format 1 all of the records follow
//! redaction/ u32 = a part of the records, in format 2: for each record u64 position,
//!                 u16 count, u16 each
//! ```
//!
//! The parts are written once, with what says that the content is removed, and deleted as
//! they are done. A step that ends in the middle of a part leaves it: what is removed twice
//! is removed. Programs before format 2 wrote the whole list again after each step; format 1
//! is still written where no records are left, which they read, too.

use std::collections::VecDeque;

use annals_event_log::{Digest, PiecesOf, Position, ReadError};
use rocksdb::WriteBatch;

use crate::columns::Columns;
use crate::db::Db;
use crate::error::corrupt;
use crate::keys;

/// The records, if there are any, follow the blobs.
const LISTED: u8 = 1;
/// The records are stored in parts.
const IN_PARTS: u8 = 2;
/// Bytes after which a part ends.
const PART_BYTES: usize = 16 * 1024;

/// What is left to do of redactions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pending {
    /// The position of the last record that said what is removed. It tells this one
    /// from the next.
    pub(crate) said: Position,
    pub(crate) left: Left,
}

/// What is left to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Left {
    /// Records, and blobs, which go with the last of them.
    Content {
        blobs: Vec<Digest>,
        /// By ascending positions, as older programs wrote them; `None` where they are in
        /// parts.
        listed: Option<VecDeque<PiecesOf>>,
    },
    /// Old bytes are in the files.
    Files,
    /// The same; they stay until a caller has them removed.
    PutOff,
}

impl Pending {
    /// As it is stored. Records are in separate parts, see [`store_parts`].
    pub(crate) fn encode(&self) -> Vec<u8> {
        let (format, stage) = match &self.left {
            Left::Content { .. } => (IN_PARTS, 1),
            Left::Files => (LISTED, 2),
            Left::PutOff => (LISTED, 3),
        };
        let mut out = vec![format, stage];
        out.extend_from_slice(&self.said.0.to_be_bytes());
        if let Left::Content { blobs, .. } = &self.left {
            // A batch that brought more would be over every limit.
            let count = u32::try_from(blobs.len()).unwrap_or(u32::MAX);
            out.extend_from_slice(&count.to_be_bytes());
            blobs.iter().for_each(|blob| out.extend_from_slice(&blob.0));
        }
        out
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Pending> {
        let [format @ (LISTED | IN_PARTS), stage, rest @ ..] = bytes else {
            return None;
        };
        let (said, rest) = rest.split_first_chunk()?;
        let left = match stage {
            1 => content(*format, rest)?,
            2 if rest.is_empty() => Left::Files,
            3 if rest.is_empty() => Left::PutOff,
            _ => return None,
        };
        let said = Position(u64::from_be_bytes(*said));
        Some(Pending { said, left })
    }
}

fn content(format: u8, bytes: &[u8]) -> Option<Left> {
    let (count, rest) = bytes.split_first_chunk()?;
    let count = usize::try_from(u32::from_be_bytes(*count)).ok()?;
    let (blobs, rest) = rest.split_at_checked(count.checked_mul(size_of::<Digest>())?)?;
    let (blobs, _) = blobs.as_chunks();
    let listed = match format {
        LISTED => Some(decode_records(rest)?),
        _ if rest.is_empty() => None,
        _ => return None,
    };
    let blobs = blobs.iter().copied().map(Digest).collect();
    Some(Left::Content { blobs, listed })
}

fn push_record(out: &mut Vec<u8>, PiecesOf { position, pieces }: &PiecesOf) {
    // No record has more pieces than a u16 counts.
    let count = u16::try_from(pieces.len()).unwrap_or(u16::MAX);
    out.extend_from_slice(&position.0.to_be_bytes());
    out.extend_from_slice(&count.to_be_bytes());
    let pieces = pieces.iter().take(usize::from(count));
    pieces.for_each(|piece| out.extend_from_slice(&piece.to_be_bytes()));
}

/// The records of a list or of a part.
pub(crate) fn decode_records(mut bytes: &[u8]) -> Option<VecDeque<PiecesOf>> {
    let mut records = VecDeque::new();
    while !bytes.is_empty() {
        let (position, more) = bytes.split_first_chunk()?;
        let (count, more) = more.split_first_chunk()?;
        let count = usize::from(u16::from_be_bytes(*count));
        let (pieces, more) = more.split_at_checked(count * size_of::<u16>())?;
        let (pieces, _) = pieces.as_chunks();
        records.push_back(PiecesOf {
            position: Position(u64::from_be_bytes(*position)),
            pieces: pieces.iter().copied().map(u16::from_be_bytes).collect(),
        });
        bytes = more;
    }
    Some(records)
}

/// A part of the records that is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) number: u32,
    /// How many of its records are left to be rewritten.
    pub(crate) left: usize,
}

/// Puts all records into a write, in parts.
pub(crate) fn store_parts(
    columns: &Columns<'_>,
    records: &VecDeque<PiecesOf>,
    write: &mut WriteBatch,
) -> VecDeque<Part> {
    let mut parts = VecDeque::new();
    let (mut bytes, mut left, mut number) = (Vec::new(), 0, 0);
    for (index, record) in (1..).zip(records) {
        push_record(&mut bytes, record);
        left += 1;
        if bytes.len() >= PART_BYTES || index == records.len() {
            write.put_cf(columns.meta, keys::redaction_part(number), &bytes);
            parts.push_back(Part { number, left });
            bytes.clear();
            (left, number) = (0, number.saturating_add(1));
        }
    }
    parts
}

/// All parts that are stored, and their records.
pub(crate) fn load_parts(db: &Db) -> Result<(VecDeque<Part>, VecDeque<PiecesOf>), ReadError> {
    let malformed = || corrupt("a part of what is left to do of a redaction cannot be read");
    let mut iterator = db.iterate(db.columns()?.meta, Some(keys::redaction_parts()));
    let (mut parts, mut records) = (VecDeque::new(), VecDeque::new());
    iterator.seek_to_first();
    while let Some((key, value)) = iterator.item() {
        let number = keys::redaction_part_number(key).ok_or_else(malformed)?;
        let mut of_part = decode_records(value).ok_or_else(malformed)?;
        let left = of_part.len();
        parts.push_back(Part { number, left });
        records.append(&mut of_part);
        iterator.next();
    }
    db.check(&iterator)?;
    Ok((parts, records))
}

/// What is left to do, if anything is.
pub(crate) fn pending(db: &Db) -> Result<Option<Pending>, ReadError> {
    let columns = db.columns()?;
    let Some(stored) = db.get(columns.meta, keys::META_REDACTION)? else {
        return Ok(None);
    };
    let pending = Pending::decode(&stored);
    let malformed = || corrupt("what is left to do of a redaction cannot be read");
    pending.ok_or_else(malformed).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(position: u64, pieces: &[u16]) -> PiecesOf {
        PiecesOf {
            position: Position(position),
            pieces: pieces.to_vec(),
        }
    }

    #[test]
    fn what_is_left_is_read_as_written_and_nothing_else_is() {
        let content = Left::Content {
            blobs: vec![Digest([7; 32]), Digest([8; 32])],
            listed: None,
        };
        for left in [content, Left::Files, Left::PutOff] {
            let said = Position(9);
            let pending = Pending { said, left };
            let bytes = pending.encode();
            assert_eq!(Pending::decode(&bytes), Some(pending.clone()));
            let longer = [bytes.as_slice(), &[0]].concat();
            assert_eq!(Pending::decode(&longer), None, "{pending:?}");
            assert_eq!(Pending::decode(&bytes[..1]), None);
            assert_eq!(Pending::decode(&[3, 1]), None, "a format that is unknown");
        }
    }

    #[test]
    fn a_list_of_an_older_program_is_read() {
        let mut bytes = vec![1, 1];
        bytes.extend_from_slice(&9_u64.to_be_bytes());
        bytes.extend_from_slice(&1_u32.to_be_bytes());
        bytes.extend_from_slice(&[7; 32]);
        let records = [of(1, &[]), of(u64::MAX, &[0, 7, u16::MAX])];
        for record in &records {
            push_record(&mut bytes, record);
        }
        let left = Left::Content {
            blobs: vec![Digest([7; 32])],
            listed: Some(records.into()),
        };
        let said = Position(9);
        assert_eq!(Pending::decode(&bytes), Some(Pending { said, left }));
        assert_eq!(Pending::decode(&bytes[..bytes.len() - 1]), None);
    }
}
