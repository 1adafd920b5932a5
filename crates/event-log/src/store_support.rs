//! What every store shares, so that no two of them can differ: the bounds of a
//! page, the salted digest of a request, the name of a read model, and the
//! checks of a verbatim copy.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet, VecDeque};

use bytes::Bytes;
use chrono::{DateTime, Utc};
use uuid::Uuid;

pub use crate::record::Form;
use crate::{
    Altered, AppendError, Appended, BatchId, BatchStatus, Blob, CommitError, Content, Digest, Link,
    MalformedRecord, ModelCheckpoint, Position, Record, Salt, Version, append, limits, piece,
    record,
};

/// The most records, streams or rows that one call returns, even when asked for more.
pub const PAGE_LIMIT: usize = 10_000;

/// The bytes of records that fill a page. A page ends before the record that
/// would bring it over, but has at least one record.
pub const PAGE_BYTES: usize = 8 * 1024 * 1024;

/// The bytes of a read model's longest name.
pub const MODEL_NAME_BYTES: usize = 100;

/// A limit as a store takes it: 0 counts as 1, more than [`PAGE_LIMIT`] as that.
pub fn clamp_limit(limit: usize) -> usize {
    limit.clamp(1, PAGE_LIMIT)
}

/// The position and the version that an encoded record says it has; nothing of what is too
/// short to be a record. It is for a store that checks what it is about to write.
pub fn place_of(record: &[u8]) -> Option<(Position, Version)> {
    record::place(record)
}

/// The event type and the stream that a record names which is kept in some form, without decoding the rest of
/// it; nothing of what cannot be a record. It is for a store that looks for records among others.
pub fn names_of(record: &[u8], form: Form) -> Option<(&str, &str)> {
    record::names(record, form)
}

/// The short form of an encoded record, in parts, for a store that keeps it so. Nothing of what is too short to
/// be a record. Only of a record that [`Record::verify`] is content with can the rest be made again.
pub fn shorten(record: &[u8]) -> Option<[&[u8]; 3]> {
    record::shorten(record)
}

/// The bytes that a record was read from, and the form that they have.
pub fn kept(record: &Record) -> (&Bytes, Form) {
    record.kept()
}

/// Reads a record that is kept in some form.
///
/// # Errors
/// [`MalformedRecord`], as [`Record::decode`].
pub fn decode_form(bytes: Bytes, form: Form) -> Result<Record, MalformedRecord> {
    Record::decode_form(bytes, form)
}

/// Chains that a log knows the ends of. An append of one that it does not know any more is refused, and is
/// given again in a new one.
const CHAINS: usize = 256;

/// How far chains of appends have come: see [`crate::EventLog::append_linked`].
#[derive(Debug, Default)]
pub struct Chains {
    /// The number of the last append of each, the newest chain last.
    ends: VecDeque<(Uuid, u64)>,
}

impl Chains {
    /// Whether an append is the next one of its chain.
    ///
    /// # Errors
    /// [`AppendError::BrokenChain`].
    pub fn check(&self, link: Link) -> Result<(), AppendError> {
        let mut ends = self.ends.iter().rev();
        let end = ends.find(|(chain, _)| *chain == link.chain);
        let next = end.map_or(0, |(_, number)| number.saturating_add(1));
        match link.number == next {
            true => Ok(()),
            false => Err(AppendError::BrokenChain { link }),
        }
    }

    /// Notes that an append was made.
    pub fn advance(&mut self, link: Link) {
        let mut ends = self.ends.iter_mut().rev();
        if let Some((_, number)) = ends.find(|(chain, _)| *chain == link.chain) {
            *number = link.number;
            return;
        }
        if self.ends.len() >= CHAINS {
            self.ends.pop_front();
        }
        self.ends.push_back((link.chain, link.number));
    }
}

/// A new salt for a [`RequestDigest`].
pub fn random_salt() -> Salt {
    rand::random()
}

/// What a store keeps of a batch's request: enough to recognise it, and nothing
/// from which it could be guessed once the salt is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestDigest {
    /// Random, one per batch.
    pub salt: Salt,
    /// The salted digest of the request, as for a piece of content.
    pub digest: Digest,
}

impl RequestDigest {
    /// The digest of `request` under `salt`.
    pub fn new(salt: Salt, request: &[u8]) -> RequestDigest {
        RequestDigest {
            salt,
            digest: piece::commit_to(&salt, &Digest::of(request), request.len() as u64, 0),
        }
    }

    /// Whether this is the digest of `request`.
    pub fn matches(&self, request: &[u8]) -> bool {
        *self == RequestDigest::new(self.salt, request)
    }
}

/// The first key behind all that begin with `prefix`; `None` if it is all 0xff.
pub fn behind(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|byte| *byte != 0xff)?;
    let mut behind = prefix.get(..=last)?.to_vec();
    *behind.last_mut()? += 1;
    Some(behind)
}

/// Checks the name of a read model.
///
/// # Errors
/// [`CommitError::InvalidName`] unless it is 1 to 100 bytes of `a-z`, `0-9`,
/// `_` and `.`.
pub fn check_model_name(model: &str) -> Result<(), CommitError> {
    let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_' || b == b'.';
    if model.is_empty() || model.len() > MODEL_NAME_BYTES || !model.bytes().all(allowed) {
        let model = model.chars().take(MODEL_NAME_BYTES).collect();
        return Err(CommitError::InvalidName { model });
    }
    Ok(())
}

/// Compares what a commit of rows expects with what there is.
///
/// # Errors
/// [`CommitError::Epoch`] and [`CommitError::Checkpoint`].
pub fn check_checkpoint(
    model: &str,
    expected: ModelCheckpoint,
    actual: ModelCheckpoint,
) -> Result<(), CommitError> {
    let model = || model.to_owned();
    if expected.epoch != actual.epoch {
        return Err(CommitError::Epoch {
            model: model(),
            expected: expected.epoch,
            actual: actual.epoch,
        });
    }
    if expected.position != actual.position {
        return Err(CommitError::Checkpoint {
            model: model(),
            expected: expected.position,
            actual: actual.position,
        });
    }
    Ok(())
}

/// Checks the blobs that come with an append or a copy, and drops repeated ones.
///
/// # Errors
/// [`AppendError::TooLarge`] beyond [`limits::BLOB`] or [`limits::BATCH_BYTES`].
pub fn distinct_blobs(blobs: Vec<Blob>) -> Result<Vec<Blob>, AppendError> {
    append::distinct_blobs(blobs)
}

/// The blobs that records refer to, each once, in the order of the records.
pub fn referenced_blobs(records: &[Record]) -> Vec<Digest> {
    let mut seen = HashSet::new();
    let pieces = records.iter().flat_map(Record::content);
    pieces
        .filter_map(|piece| Content::blob(&piece))
        .filter(|digest| seen.insert(*digest))
        .collect()
}

/// Checks what copied records say of blobs: each comes with them or is stored, and has the
/// length that they say. `stored` returns the length of one that is stored, and is called once
/// for each blob that does not come with the records.
///
/// # Errors
/// [`AppendError::UnknownBlob`], [`AppendError::BlobSize`], and those of `stored`.
pub fn check_references<E: From<AppendError>>(
    records: &[Record],
    supplied: &[Blob],
    mut stored: impl FnMut(Digest) -> Result<Option<u64>, E>,
) -> Result<(), E> {
    let sizes = supplied
        .iter()
        .map(|blob| (blob.digest(), Some(blob.bytes().len() as u64)));
    let mut sizes: HashMap<Digest, Option<u64>> = sizes.collect();
    let pieces = records.iter().flat_map(Record::content);
    for reference in pieces.filter_map(|piece| Content::reference(&piece)) {
        let size = match sizes.entry(reference.digest) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(place) => *place.insert(stored(reference.digest)?),
        };
        reference.check(size)?;
    }
    Ok(())
}

/// Checks, record by record, that a verbatim copy continues a log. Make one for
/// each call of [`crate::EventLog::append_records`].
#[derive(Debug, Clone)]
pub struct CopyCheck {
    last: Position,
    last_recorded_at: DateTime<Utc>,
    records: usize,
    bytes: usize,
}

impl CopyCheck {
    /// For a log that ends at `watermark`, its last record taken at
    /// `last_recorded_at` (for an empty log, any time before all records').
    pub fn new(watermark: Position, last_recorded_at: DateTime<Utc>) -> CopyCheck {
        CopyCheck {
            last: watermark,
            last_recorded_at,
            records: 0,
            bytes: 0,
        }
    }

    /// Checks the next record. `head` is its stream's version, the copy's
    /// records before this one included.
    ///
    /// # Errors
    /// [`AppendError::NotContiguous`] for the wrong position, version or time,
    /// [`AppendError::Invalid`] for digests that do not fit, and
    /// [`AppendError::TooLarge`] beyond the limits of a batch.
    pub fn record(&mut self, record: &Record, head: Version) -> Result<(), AppendError> {
        let offered = record.position();
        let refuse = |reason: String| AppendError::NotContiguous { offered, reason };
        if offered != self.last.next() {
            return Err(refuse(format!("the log ends at {}", self.last)));
        }
        if record.version() != head.next() {
            let (stream, version) = (record.stream(), record.version());
            return Err(refuse(format!(
                "its version is {version}, but {stream} is at {head}"
            )));
        }
        if record.recorded_at() < self.last_recorded_at {
            return Err(refuse("it was recorded before the record before it".into()));
        }
        if record.verify().is_err() {
            let reason = format!("the record at {offered}: {}", Altered::Payload);
            return Err(AppendError::Invalid { reason });
        }
        self.records += 1;
        self.bytes += record.encoded_len();
        append::within(
            || "the number of records".into(),
            limits::BATCH_EVENTS,
            self.records,
        )?;
        append::within(
            || "the copy, in bytes,".into(),
            limits::BATCH_BYTES,
            self.bytes,
        )?;
        self.last = offered;
        self.last_recorded_at = record.recorded_at();
        Ok(())
    }
}

/// What a store keeps of a batch, by its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchRow {
    /// The answer that the append was given.
    pub appended: Appended,
    /// The request; `None` for a batch that was copied, which comes without it, and for
    /// one of which content was removed, which a digest would let be guessed.
    pub request: Option<RequestDigest>,
}

impl BatchRow {
    /// What this row says of a request with its batch id.
    pub fn status(&self, request: &[u8]) -> BatchStatus {
        match &self.request {
            Some(digest) if digest.matches(request) => BatchStatus::Known(self.appended.again()),
            Some(_) => BatchStatus::Mismatch(self.appended.again()),
            None => BatchStatus::Unverifiable(self.appended.again()),
        }
    }

    /// What to answer to an append whose batch has this row.
    ///
    /// # Errors
    /// [`AppendError::IdempotencyMismatch`] or [`AppendError::RequestUnverifiable`], unless it is
    /// shown to be a repeat.
    pub fn answer(&self, batch: BatchId, request: &[u8]) -> Result<Appended, AppendError> {
        let Appended { first, last, .. } = self.appended;
        match self.status(request) {
            BatchStatus::Known(appended) => Ok(appended),
            BatchStatus::Unverifiable(_) => {
                Err(AppendError::RequestUnverifiable { batch, first, last })
            }
            BatchStatus::Mismatch(_) | BatchStatus::Unknown => {
                Err(AppendError::IdempotencyMismatch { batch })
            }
        }
    }

    /// The row of a copied record's batch, given the row there was. A batch may
    /// arrive in several calls, but always in consecutive records.
    ///
    /// # Errors
    /// [`AppendError::NotContiguous`] when the batch ended before this record,
    /// or was appended here, and so was whole.
    pub fn copied(known: Option<BatchRow>, record: &Record) -> Result<BatchRow, AppendError> {
        let offered = record.position();
        let Some(BatchRow { appended, request }) = known else {
            return Ok(BatchRow {
                appended: Appended::new(offered, offered),
                request: None,
            });
        };
        if request.is_some() || appended.last.next() != offered {
            let (id, last) = (record.batch_id(), appended.last);
            let reason = format!("its batch {id} ended at {last}");
            return Err(AppendError::NotContiguous { offered, reason });
        }
        Ok(BatchRow {
            appended: Appended {
                last: offered,
                ..appended
            },
            request: None,
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;

    #[test]
    fn limits_are_clamped() {
        for (asked, given) in [
            (0, 1),
            (1, 1),
            (500, 500),
            (10_000, 10_000),
            (usize::MAX, 10_000),
        ] {
            assert_eq!(clamp_limit(asked), given, "limit {asked}");
        }
    }

    #[test]
    fn a_request_is_recognised_and_the_salt_counts() {
        let digest = RequestDigest::new([1; 16], b"request");
        assert!(digest.matches(b"request"));
        assert!(!digest.matches(b"another"));
        assert!(!digest.matches(b""));
        assert_ne!(
            digest.digest,
            RequestDigest::new([2; 16], b"request").digest
        );
        assert_ne!(random_salt(), random_salt());
    }

    #[test]
    fn model_names_are_checked() {
        let longest = "m".repeat(100);
        for good in ["catalogue", "a", "0", "catalogue.v2_b", longest.as_str()] {
            assert!(check_model_name(good).is_ok(), "{good:?} must be accepted");
        }
        let too_long = "m".repeat(101);
        for bad in ["", "A", "a b", "a-b", "a/b", "é", "a\0b", too_long.as_str()] {
            let refused = matches!(check_model_name(bad), Err(CommitError::InvalidName { .. }));
            assert!(refused, "{bad:?} must be refused");
        }
    }

    #[test]
    fn a_row_says_what_is_known_of_its_batch() {
        let (first, last) = (Position(3), Position(5));
        let appended = Appended::new(first, last);
        let request = Some(RequestDigest::new([1; 16], b"request"));
        let here = BatchRow { appended, request };
        assert_eq!(
            here.status(b"request"),
            BatchStatus::Known(appended.again())
        );
        assert_eq!(
            here.status(b"another"),
            BatchStatus::Mismatch(appended.again())
        );
        let copied = BatchRow {
            appended,
            request: None,
        };
        assert_eq!(
            copied.status(b"request"),
            BatchStatus::Unverifiable(appended.again())
        );
        let batch = BatchId::from_u128(7);
        assert_eq!(here.answer(batch, b"request").unwrap(), appended.again());
        assert!(matches!(
            here.answer(batch, b"another"),
            Err(AppendError::IdempotencyMismatch { .. })
        ));
        assert!(matches!(
            copied.answer(batch, b"request"),
            Err(AppendError::RequestUnverifiable { .. })
        ));
    }
}
