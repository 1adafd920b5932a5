//! The values of the index column families and of `meta`, all of fixed sizes.
//!
//! ```text
//! streams   u64 position of the chunk's first record
//!           u32 records of the stream in the chunk
//!           u32 index of the first of them in the chunk, from 0
//! types     u32 records of the type in the chunk
//!           u32 index of the first of them in the chunk, from 0
//! batches   u8 1, salt (16), digest of the request (32), u64 first, u64 last, check (8)
//!           u8 2, u64 first, u64 last, check (8)           a copied batch
//! models    the checkpoint: u64 position
//! meta      counts: u64 position, streams, batches, blobs, bytes of blobs
//!           created_at: i64 seconds, u32 nanoseconds, check (8)
//! ```
//!
//! Check bytes are the first 8 bytes of SHA-256 over what a value belongs to (the id of
//! the batch, or of the log) and the value before them: nothing else in the log says what
//! these values should be. Older programs wrote none, which is read too.

use annals_event_log::store_support::{BatchRow, RequestDigest};
use annals_event_log::{Appended, BatchId, Digest, Position};
use uuid::Uuid;

/// Where a chunk's records of one stream or type are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Run {
    /// The position of the chunk's first record.
    pub(crate) chunk: Position,
    /// How many records.
    pub(crate) count: u32,
    /// Which record of the chunk is the first one, from 0.
    pub(crate) index: u32,
}

impl Run {
    /// Where the next chunk begins, if the run ends its chunk.
    pub(crate) fn behind(&self) -> Position {
        Position(self.chunk.0 + u64::from(self.index) + u64::from(self.count))
    }
}

pub(crate) const STREAM_RUN: usize = 16;
pub(crate) const TYPE_RUN: usize = 8;
const REQUESTED: usize = 65;
const COPIED: usize = 17;
const COUNTS: usize = 40;
const CREATED_AT: usize = 12;
const CHECK: usize = 8;
const _: () = assert!(STREAM_RUN == 8 + 4 + 4 && TYPE_RUN == 4 + 4);
const _: () = assert!(REQUESTED == 1 + 16 + 32 + 8 + 8 && COPIED == 1 + 8 + 8);
const _: () = assert!(COUNTS == size_of::<Counts>());

impl Run {
    pub(crate) fn encode_stream(&self) -> [u8; STREAM_RUN] {
        let mut out = [0; STREAM_RUN];
        out[..8].copy_from_slice(&self.chunk.0.to_be_bytes());
        out[8..].copy_from_slice(&self.encode_type());
        out
    }

    pub(crate) fn decode_stream(value: &[u8]) -> Option<Run> {
        let (chunk, rest) = value.split_first_chunk()?;
        Run::decode_type(Position(u64::from_be_bytes(*chunk)), rest)
    }

    pub(crate) fn encode_type(&self) -> [u8; TYPE_RUN] {
        let mut out = [0; TYPE_RUN];
        out[..4].copy_from_slice(&self.count.to_be_bytes());
        out[4..].copy_from_slice(&self.index.to_be_bytes());
        out
    }

    pub(crate) fn decode_type(chunk: Position, value: &[u8]) -> Option<Run> {
        let (count, rest) = value.split_first_chunk()?;
        let count = u32::from_be_bytes(*count);
        let index = u32::from_be_bytes(rest.try_into().ok()?);
        (count > 0 && chunk > Position::START).then_some(Run {
            chunk,
            count,
            index,
        })
    }
}

/// The check bytes of a value that belongs to `owner`.
fn check_of(owner: Uuid, value: &[u8]) -> [u8; CHECK] {
    let Digest(digest) = Digest::of(&[owner.as_bytes().as_slice(), value].concat());
    let mut check = [0; CHECK];
    check
        .iter_mut()
        .zip(digest)
        .for_each(|(byte, digest)| *byte = digest);
    check
}

/// The value before its check bytes, if they fit. A value of `bare` bytes has none.
fn checked(owner: Uuid, value: &[u8], bare: usize) -> Option<&[u8]> {
    let (content, check) = value.split_at_checked(bare)?;
    (check.is_empty() || *check == check_of(owner, content)).then_some(content)
}

/// Writes the row of `batch` into `out`, replacing what is there.
pub(crate) fn write_batch(out: &mut Vec<u8>, batch: BatchId, row: &BatchRow) {
    out.clear();
    match &row.request {
        Some(request) => {
            out.push(1);
            out.extend_from_slice(&request.salt);
            out.extend_from_slice(&request.digest.0);
        }
        None => out.push(2),
    }
    out.extend_from_slice(&row.appended.first.0.to_be_bytes());
    out.extend_from_slice(&row.appended.last.0.to_be_bytes());
    let check = check_of(batch, out);
    out.extend_from_slice(&check);
}

/// Reads the row of `batch`; `None` where it is not a valid row or another one's.
pub(crate) fn read_batch(batch: BatchId, value: &[u8]) -> Option<BatchRow> {
    let bare = match value.first()? {
        1 => REQUESTED,
        2 => COPIED,
        _ => return None,
    };
    let (kind, rest) = checked(batch, value, bare)?.split_first()?;
    let (request, rest) = match kind {
        1 => {
            let (salt, rest) = rest.split_first_chunk()?;
            let (digest, rest) = rest.split_first_chunk()?;
            (
                Some(RequestDigest {
                    salt: *salt,
                    digest: Digest(*digest),
                }),
                rest,
            )
        }
        2 => (None, rest),
        _ => return None,
    };
    let (first, last) = rest.split_first_chunk()?;
    let first = Position(u64::from_be_bytes(*first));
    let last = Position(u64::from_be_bytes(last.try_into().ok()?));
    Some(BatchRow {
        appended: Appended::new(first, last),
        request,
    })
}

/// When the log was created, as `meta` has it.
pub(crate) fn created_at(log_id: Uuid, time: [u8; CREATED_AT]) -> Vec<u8> {
    let mut value = time.to_vec();
    value.extend_from_slice(&check_of(log_id, &time));
    value
}

/// Whether a value says when the log was created.
pub(crate) fn is_created_at(log_id: Uuid, value: &[u8]) -> bool {
    checked(log_id, value, CREATED_AT).is_some()
}

/// What `stats` needs, kept up by the writer in each group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Counts {
    /// The last position that is counted in.
    pub(crate) position: u64,
    pub(crate) streams: u64,
    pub(crate) batches: u64,
    pub(crate) blobs: u64,
    pub(crate) blob_bytes: u64,
}

impl Counts {
    pub(crate) fn encode(&self) -> [u8; COUNTS] {
        let numbers = [
            self.position,
            self.streams,
            self.batches,
            self.blobs,
            self.blob_bytes,
        ];
        let mut out = [0; COUNTS];
        for (place, number) in out.chunks_exact_mut(8).zip(numbers) {
            place.copy_from_slice(&number.to_be_bytes());
        }
        out
    }

    pub(crate) fn decode(value: &[u8]) -> Option<Counts> {
        let value: &[u8; COUNTS] = value.try_into().ok()?;
        let mut numbers = value
            .chunks_exact(8)
            .map(|n| n.try_into().ok().map(u64::from_be_bytes));
        let mut next = || numbers.next().flatten();
        Some(Counts {
            position: next()?,
            streams: next()?,
            batches: next()?,
            blobs: next()?,
            blob_bytes: next()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_round_trip_and_nothing_else_is_a_run() {
        let run = Run {
            chunk: Position(7),
            count: 3,
            index: 2,
        };
        assert_eq!(Run::decode_stream(&run.encode_stream()), Some(run));
        assert_eq!(Run::decode_type(run.chunk, &run.encode_type()), Some(run));
        assert_eq!(
            Run::decode_stream(&[0; STREAM_RUN]),
            None,
            "a run of no records is invalid"
        );
        assert_eq!(Run::decode_stream(&run.encode_stream()[1..]), None);
        assert_eq!(Run::decode_type(run.chunk, &[1; TYPE_RUN + 1]), None);
    }

    #[test]
    fn batches_round_trip_with_and_without_a_request() {
        let appended = Appended::new(Position(3), Position(9));
        let digest = RequestDigest {
            salt: [1; 16],
            digest: Digest([2; 32]),
        };
        let batch = Uuid::from_u128(7);
        for (request, len) in [(Some(digest), REQUESTED), (None, COPIED)] {
            let row = BatchRow { appended, request };
            let mut value = vec![7];
            write_batch(&mut value, batch, &row);
            assert_eq!(value.len(), len + CHECK);
            assert_eq!(read_batch(batch, &value), Some(row));
            assert_eq!(
                read_batch(Uuid::from_u128(8), &value),
                None,
                "another one's"
            );
            for cut in (0..value.len()).filter(|cut| *cut != len) {
                assert_eq!(read_batch(batch, &value[..cut]), None, "cut at {cut}");
            }
            let older = &value[..len];
            assert_eq!(read_batch(batch, older), Some(row), "without check bytes");
            for at in 0..value.len() {
                let mut flipped = value.clone();
                flipped[at] ^= 1 << (at % 8);
                assert_eq!(read_batch(batch, &flipped), None, "byte {at}");
            }
        }
    }

    #[test]
    fn the_time_of_creation_is_that_of_its_log() {
        let (log, time) = (Uuid::from_u128(1), [3; CREATED_AT]);
        let value = created_at(log, time);
        assert!(is_created_at(log, &value) && is_created_at(log, &time));
        assert!(!is_created_at(Uuid::from_u128(2), &value));
        assert!(!is_created_at(log, &value[..19]) && !is_created_at(log, &time[1..]));
    }

    #[test]
    fn counts_round_trip() {
        let counts = Counts {
            position: 1,
            streams: 2,
            batches: 3,
            blobs: 4,
            blob_bytes: 5,
        };
        assert_eq!(Counts::decode(&counts.encode()), Some(counts));
        assert_eq!(Counts::decode(&[0; COUNTS - 8]), None);
    }
}
