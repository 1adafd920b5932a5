//! A chunk: consecutive records of one group under one key.
//!
//! ```text
//! chunk = u8 1, the chunk's format
//!         then for each record: u32 length, big-endian; the record
//! ```
//!
//! A chunk holds at least one record and at most 8 KiB (64 KiB in older logs), but for a record that
//! is larger than that: it has a chunk of its own.

use std::ops::Range;

use annals_event_log::{ReadError, Record};
use bytes::Bytes;

use crate::error::corrupt;

/// The first byte of every chunk.
pub(crate) const FORMAT: u8 = 1;
/// The bytes that a chunk with more than one record may have.
///
/// It was 64 KiB. To read one record is to read and to decompress its chunk, and a stream among a
/// thousand others has one record in each of a thousand chunks: what that costs goes with the size.
/// RocksDB compresses two of them together.
pub(crate) const TARGET_BYTES: usize = 8 * 1024;
/// Bytes of a record's length.
const LENGTH: usize = size_of::<u32>();

/// Bytes that are no chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("malformed chunk: {reason} (at byte {at} of {len})")]
pub(crate) struct MalformedChunk {
    reason: &'static str,
    at: usize,
    len: usize,
}

impl From<MalformedChunk> for ReadError {
    fn from(error: MalformedChunk) -> ReadError {
        corrupt(error.to_string())
    }
}

/// Begins a chunk in a buffer, replacing what is there.
pub(crate) fn begin(chunk: &mut Vec<u8>) {
    chunk.clear();
    chunk.push(FORMAT);
}

/// Adds a record.
pub(crate) fn push(chunk: &mut Vec<u8>, record: &[u8]) {
    // A record is far below 4 GiB: its structure and pieces have limits.
    let len = u32::try_from(record.len()).unwrap_or(u32::MAX);
    chunk.extend_from_slice(&len.to_be_bytes());
    chunk.extend_from_slice(record);
}

/// Whether a record still fits into a chunk that is not empty.
pub(crate) fn has_room(chunk: &[u8], record_len: usize) -> bool {
    chunk.len() + LENGTH + record_len <= TARGET_BYTES
}

/// The places of a chunk's records, in order. After an error it ends.
pub(crate) struct Places<'a> {
    chunk: &'a [u8],
    at: usize,
}

/// Looks at a chunk's first byte and walks over its records.
pub(crate) fn places(chunk: &[u8]) -> Result<Places<'_>, MalformedChunk> {
    match chunk.first() {
        Some(&FORMAT) => Ok(Places { chunk, at: 1 }),
        Some(_) => Err(MalformedChunk {
            reason: "its format is unknown",
            at: 0,
            len: chunk.len(),
        }),
        None => Err(MalformedChunk {
            reason: "it is empty",
            at: 0,
            len: 0,
        }),
    }
}

/// All records of the chunk that begins at a position, in order: each says that it is where
/// the chunk's key puts it.
pub(crate) fn records_from(first: u64, chunk: &Bytes) -> Result<Vec<Record>, ReadError> {
    let records = records(chunk)?;
    for (position, record) in (first..).zip(&records) {
        if record.position().0 != position {
            let found = record.position();
            let reason = format!("the record at {position} says that it is at {found}");
            return Err(corrupt(reason));
        }
    }
    Ok(records)
}

/// All records of a chunk, in order.
pub(crate) fn records(chunk: &Bytes) -> Result<Vec<Record>, ReadError> {
    let record = |place: Result<Range<usize>, MalformedChunk>| -> Result<Record, ReadError> {
        Ok(Record::decode(chunk.slice(place?))?)
    };
    places(chunk)?.map(record).collect()
}

impl Iterator for Places<'_> {
    type Item = Result<Range<usize>, MalformedChunk>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.chunk.get(self.at..).filter(|rest| !rest.is_empty())?;
        let Some((length, rest)) = rest.split_first_chunk::<LENGTH>() else {
            return Some(Err(self.fail("a length is cut off")));
        };
        let length = u32::from_be_bytes(*length) as usize;
        if length > rest.len() {
            return Some(Err(self.fail("a record is cut off")));
        }
        let start = self.at + LENGTH;
        self.at = start + length;
        Some(Ok(start..self.at))
    }
}

impl Places<'_> {
    fn fail(&mut self, reason: &'static str) -> MalformedChunk {
        let error = MalformedChunk {
            reason,
            at: self.at,
            len: self.chunk.len(),
        };
        self.at = self.chunk.len();
        error
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use proptest::prelude::*;

    use super::*;

    fn read(chunk: &[u8]) -> Result<Vec<Vec<u8>>, MalformedChunk> {
        places(chunk)?
            .map(|place| Ok(chunk[place?].to_vec()))
            .collect()
    }

    proptest! {
        #[test]
        fn what_was_put_in_comes_out(records in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..80), 1..20)) {
            let mut chunk = vec![9; 3];
            begin(&mut chunk);
            for record in &records {
                push(&mut chunk, record);
            }
            prop_assert_eq!(read(&chunk), Ok(records));
        }

        #[test]
        fn any_bytes_are_read_without_a_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..200), formatted: bool) {
            if let (true, Some(first)) = (formatted, bytes.first_mut()) {
                *first = FORMAT;
            }
            let _ = read(&bytes);
        }
    }

    #[test]
    fn a_cut_chunk_is_noticed_wherever_it_is_cut_inside_a_record() {
        let mut chunk = Vec::new();
        begin(&mut chunk);
        push(&mut chunk, b"one");
        let whole = chunk.len();
        push(&mut chunk, b"three");
        for cut in 0..chunk.len() {
            let result = read(&chunk[..cut]);
            assert_eq!(
                result.is_ok(),
                cut == 1 || cut == whole,
                "cut at {cut}: {result:?}"
            );
        }
        chunk[0] = 2;
        assert!(
            read(&chunk)
                .unwrap_err()
                .to_string()
                .contains("format is unknown")
        );
    }

    #[test]
    fn room_ends_at_the_target() {
        let chunk = vec![FORMAT; TARGET_BYTES - LENGTH - 10];
        assert!(has_room(&chunk, 10));
        assert!(!has_room(&chunk, 11));
    }
}
