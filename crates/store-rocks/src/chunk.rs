//! A chunk: consecutive records of one group under one key.
//!
//! ```text
//! chunk = u8 2, the chunk's format
//!         then for each record: u32 length, big-endian; the record in its short form
//!       | u8 1
//!         then for each record: u32 length, big-endian; the record          older logs
//! ```
//!
//! The short form of a record has 4 bytes of each digest of its header, which follow from structure and
//! content: the other 56 are bytes that no compression makes smaller. They are computed when a caller needs the
//! header or the whole record.
//!
//! A chunk holds at least one record and at most 4 KiB (8 or 64 KiB in older logs), except for a record that
//! is larger than that: it has its own chunk.

use std::ops::Range;

use annals_event_log::store_support::{Form, decode_form, kept, names_of, shorten};
use annals_event_log::{MalformedRecord, ReadError, Record};
use bytes::Bytes;

use crate::error::corrupt;

/// The first byte of a chunk whose records are whole.
const WHOLE: u8 = 1;
/// The first byte of a chunk whose records are in their short form.
const SHORT: u8 = 2;
/// The bytes that a chunk with more than one record may have.
///
/// It was 64 KiB, and then 8 KiB. To read one record is to read and to decompress its chunk, and a stream among
/// a thousand others has one record in each of a thousand chunks: what that costs goes with the size. It is a block
/// of RocksDB, too, so that no other chunk is read with it. With less than this, zstd finds too little in a block that
/// is like what is before it.
pub(crate) const TARGET_BYTES: usize = 4 * 1024;
/// Bytes of a record's length.
const LENGTH: usize = size_of::<u32>();

/// Bytes that are not a valid chunk.
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
    chunk.push(SHORT);
}

/// Adds a whole record, which is what [`Record::verify`] asks for, in its short form.
pub(crate) fn push(chunk: &mut Vec<u8>, record: &[u8]) {
    // What the writer stages is a record.
    let parts = shorten(record).unwrap_or([record, &[], &[]]);
    put_length(chunk, parts.iter().map(|part| part.len()).sum());
    parts.iter().for_each(|part| chunk.extend_from_slice(part));
}

fn put_length(chunk: &mut Vec<u8>, len: usize) {
    // A record is far below 4 GiB: its structure and pieces have limits.
    let len = u32::try_from(len).unwrap_or(u32::MAX);
    chunk.extend_from_slice(&len.to_be_bytes());
}

/// Whether a whole record still fits into a chunk that is not empty.
pub(crate) fn has_room(chunk: &[u8], record_len: usize) -> bool {
    let stored = record_len.saturating_sub(Form::Short.left_out());
    chunk.len() + LENGTH + stored <= TARGET_BYTES
}

/// A chunk in which some records lack content that they had, in the form that it had. What their headers said
/// they say again, whether or not it is right.
pub(crate) fn rewrite(form: Form, records: &[Record]) -> Vec<u8> {
    let mut chunk = vec![match form {
        Form::Whole => WHOLE,
        Form::Short => SHORT,
    }];
    for record in records {
        let (bytes, _) = kept(record);
        put_length(&mut chunk, bytes.len());
        chunk.extend_from_slice(bytes);
    }
    chunk
}

/// The form of a chunk's records.
pub(crate) fn form(chunk: &[u8]) -> Result<Form, MalformedChunk> {
    let fail = |reason| MalformedChunk {
        reason,
        at: 0,
        len: chunk.len(),
    };
    match chunk.first() {
        Some(&WHOLE) => Ok(Form::Whole),
        Some(&SHORT) => Ok(Form::Short),
        Some(_) => Err(fail(
            "its format is unknown: a newer program wrote it, or it is damaged",
        )),
        None => Err(fail("it is empty")),
    }
}

/// Where a record is in its chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    at: Range<usize>,
    form: Form,
}

impl Place {
    /// How many bytes the whole record has.
    pub(crate) fn record_len(&self) -> usize {
        self.at.len() + self.form.left_out()
    }

    /// The record, which shares the chunk's bytes.
    pub(crate) fn record(&self, chunk: &Bytes) -> Result<Record, MalformedRecord> {
        decode_form(chunk.slice(self.at.clone()), self.form)
    }

    /// The record, with its own copy of the bytes.
    pub(crate) fn copied(&self, chunk: &[u8]) -> Result<Record, MalformedRecord> {
        decode_form(Bytes::copy_from_slice(self.stored(chunk)), self.form)
    }

    /// The event type and the stream that the record names; `None` if its bytes are not a record.
    pub(crate) fn names<'a>(&self, chunk: &'a [u8]) -> Option<(&'a str, &'a str)> {
        names_of(self.stored(chunk), self.form)
    }

    fn stored<'a>(&self, chunk: &'a [u8]) -> &'a [u8] {
        chunk.get(self.at.clone()).unwrap_or_default()
    }
}

/// The places of a chunk's records, in order. After an error it ends.
pub(crate) struct Places<'a> {
    chunk: &'a [u8],
    at: usize,
    form: Form,
}

/// Looks at a chunk's first bytes and walks over its records.
pub(crate) fn places(chunk: &[u8]) -> Result<Places<'_>, MalformedChunk> {
    let form = form(chunk)?;
    Ok(Places { chunk, at: 1, form })
}

/// All records of the chunk that begins at a position, in order: each says that it is where
/// the chunk's key puts it.
pub(crate) fn records_from(first: u64, chunk: &Bytes) -> Result<Vec<Record>, ReadError> {
    let records = records(chunk)?;
    for (position, record) in (first..).zip(&records) {
        check_position(record, position)?;
    }
    Ok(records)
}

/// Refuses a record that does not say that it is at this position.
pub(crate) fn check_position(record: &Record, position: u64) -> Result<(), ReadError> {
    match record.position().0 {
        found if found == position => Ok(()),
        found => Err(corrupt(format!(
            "the record at {position} says that it is at {found}"
        ))),
    }
}

/// All records of a chunk, in order.
pub(crate) fn records(chunk: &Bytes) -> Result<Vec<Record>, ReadError> {
    let record = |place: Result<Place, MalformedChunk>| -> Result<Record, ReadError> {
        Ok(place?.record(chunk)?)
    };
    places(chunk)?.map(record).collect()
}

impl Iterator for Places<'_> {
    type Item = Result<Place, MalformedChunk>;

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
        let (at, form) = (start..self.at, self.form);
        Some(Ok(Place { at, form }))
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
mod tests;
