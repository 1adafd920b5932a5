//! Verbatim copies: identical, continuous, and refused otherwise.

use std::sync::Arc;

use bytes::Bytes;
use chrono::{DateTime, TimeDelta, Utc};
use futures::executor::block_on;
use uuid::Uuid;

use super::Harness;
use super::support::{
    all, assert_dense, assert_unchanged, batch, batch_to, event, inline, must_append, occurred_at,
    record_at, whole,
};
use crate::Classified;
use crate::{
    Append, AppendError, Appended, BatchStatus, Blob, Content, NewEvent, Position, Record, Store,
    store_support,
};

/// A log with batches of different sizes, inline content and blobs.
fn source(harness: &dyn Harness) -> (Arc<dyn Store>, Vec<Append>) {
    let log = harness.open();
    let appends: Vec<Append> = (0..12_u8)
        .map(|n| {
            let blob = Blob::new(vec![n % 5; 5_000]);
            let reference = Content::Blob {
                salt: [n; 16],
                digest: blob.digest(),
                size: 5_000,
            };
            let content = vec![inline(format!("piece {n}")), reference];
            let mut events = vec![event("shared-1"); usize::from(n % 4)];
            events.push(NewEvent {
                content,
                ..event(&format!("own-{}", n % 3))
            });
            Append {
                blobs: vec![blob],
                ..batch(events)
            }
        })
        .collect();
    for append in &appends {
        must_append(&*log, append.clone());
    }
    (log, appends)
}

fn blobs_of(log: &dyn Store, records: &[Record]) -> Vec<Blob> {
    let bytes = |digest| block_on(log.blob(digest)).unwrap().expect("a stored blob");
    store_support::referenced_blobs(records)
        .into_iter()
        .map(|d| Blob::new(bytes(d)))
        .collect()
}

fn copy(log: &dyn Store, records: &[Record], blobs: Vec<Blob>) -> Result<Appended, AppendError> {
    block_on(log.append_records(records.to_vec(), blobs))
}

fn assert_same(source: &dyn Store, copied: &dyn Store) {
    assert!(
        whole(source) == whole(copied),
        "{:?} is not {:?}",
        whole(copied),
        whole(source)
    );
    for blob in blobs_of(source, &all(source)) {
        assert_eq!(
            block_on(copied.blob(blob.digest())).unwrap().as_ref(),
            Some(blob.bytes())
        );
    }
}

fn refused_at(answer: Result<Appended, AppendError>, position: u64, what: &str) {
    match answer {
        Err(error @ AppendError::NotContiguous { .. }) => {
            assert!(!error.is_retryable(), "{what}");
            let place = format!("record {position} ");
            assert!(error.to_string().starts_with(&place), "{what}: {error}");
        }
        other => panic!("{what}: a refusal is expected, not {other:?}"),
    }
}

/// Every byte of records and blobs is copied; the batches' ids are, and their requests are not, so
/// that nothing can be shown to be their repeat.
pub fn a_copy_is_identical(harness: &dyn Harness) {
    let (from, appends) = source(harness);
    let to = harness.open();
    assert_ne!(from.log_id(), to.log_id(), "two logs, not one twice");
    let records = all(&*from);
    let appended = copy(&*to, &records, blobs_of(&*from, &records)).unwrap();
    assert_eq!(appended, Appended::new(Position(1), from.watermark()));
    assert_eq!(to.watermark(), from.watermark());
    assert_same(&*from, &*to);
    for append in appends {
        let first = must_append(&*from, append.clone());
        for request in [&append.request[..], b"whatever"] {
            let status = block_on(to.batch(append.batch, request)).unwrap();
            assert_eq!(status, BatchStatus::Unverifiable(first));
        }
        let end = to.watermark();
        let repeated = block_on(to.append(append));
        assert!(
            matches!(repeated, Err(AppendError::RequestUnverifiable { .. })),
            "{repeated:?}"
        );
        assert_eq!(to.watermark(), end);
    }
    let to = harness.reopen(to);
    assert_same(&*from, &*to);
}

/// Page by page, even where a page ends inside a batch.
pub fn a_copy_in_parts_is_identical(harness: &dyn Harness) {
    let (from, appends) = source(harness);
    let to = harness.open();
    for part in all(&*from).chunks(2) {
        copy(&*to, part, blobs_of(&*from, part)).unwrap();
    }
    assert_same(&*from, &*to);
    for append in appends {
        let first = must_append(&*from, append.clone());
        let status = block_on(to.batch(append.batch, b"")).unwrap();
        assert_eq!(
            status,
            BatchStatus::Unverifiable(first),
            "a batch that came in parts is one"
        );
    }
}

/// A copy goes on where another ended, and ordinary appends go on after it.
pub fn a_copy_continues_at_the_exact_head(harness: &dyn Harness) {
    let (from, _) = source(harness);
    let to = harness.open();
    let records = all(&*from);
    copy(&*to, &records, blobs_of(&*from, &records)).unwrap();
    must_append(&*from, batch_to("shared-1", 3));
    let more = all(&*from).split_off(records.len());
    copy(&*to, &more, Vec::new()).unwrap();
    assert_same(&*from, &*to);
    let appended = must_append(&*to, batch_to("shared-1", 1));
    assert_eq!(appended.first, from.watermark().next());
    assert_dense(&all(&*to));
    let too_late = block_on(to.append_records(Vec::new(), Vec::new()));
    assert!(
        matches!(too_late, Err(AppendError::Invalid { .. })),
        "no records: {too_late:?}"
    );
}

/// A gap, a repetition, another order: refused, and nothing of it is stored.
pub fn a_copy_that_does_not_fit_is_refused(harness: &dyn Harness) {
    let (from, _) = source(harness);
    let records = all(&*from);
    let blobs = || blobs_of(&*from, &records);
    let to = harness.open();
    let empty = whole(&*to);
    refused_at(copy(&*to, &records[1..], blobs()), 2, "no beginning");
    let gap = [&records[..4], &records[5..]].concat();
    refused_at(copy(&*to, &gap, blobs()), 6, "a gap");
    let twice = [&records[..4], &records[3..]].concat();
    refused_at(copy(&*to, &twice, blobs()), 4, "a record twice");
    let mut swapped = records.clone();
    swapped.swap(2, 3);
    refused_at(copy(&*to, &swapped, blobs()), 4, "another order");
    assert_unchanged(&*to, &empty, "refused copies");
    for blob in blobs() {
        assert_eq!(block_on(to.blob(blob.digest())).unwrap(), None);
    }
    copy(&*to, &records[..4], blobs()).unwrap();
    let four = whole(&*to);
    refused_at(copy(&*to, &records, blobs()), 1, "again from the start");
    refused_at(copy(&*to, &records[3..], blobs()), 4, "an overlap");
    refused_at(
        copy(&*to, &records[5..], blobs()),
        6,
        "a gap after the head",
    );
    assert_unchanged(&*to, &four, "more refused copies");
    copy(&*to, &records[4..], blobs()).unwrap();
}

/// A record that skips a version, repeats one, or goes back in time.
pub fn a_copy_within_its_stream_must_fit(harness: &dyn Harness) {
    let log = harness.open();
    let start = occurred_at();
    let at = |place, seconds| {
        record_at(
            event("a-1"),
            Uuid::new_v4(),
            place,
            start + TimeDelta::seconds(seconds),
        )
    };
    copy(&*log, &[at((1, 1), 10), at((2, 2), 10)], Vec::new()).unwrap();
    let before = whole(&*log);
    refused_at(
        copy(&*log, &[at((3, 4), 20)], Vec::new()),
        3,
        "a version is skipped",
    );
    refused_at(
        copy(&*log, &[at((3, 2), 20)], Vec::new()),
        3,
        "a version comes again",
    );
    refused_at(
        copy(&*log, &[at((3, 1), 20)], Vec::new()),
        3,
        "the stream begins again",
    );
    refused_at(
        copy(&*log, &[at((3, 3), 9)], Vec::new()),
        3,
        "earlier than the head",
    );
    let within = [at((3, 3), 20), at((4, 4), 19)];
    refused_at(
        copy(&*log, &within, Vec::new()),
        4,
        "earlier than the one before",
    );
    let versions = [at((3, 3), 20), at((4, 5), 20)];
    refused_at(
        copy(&*log, &versions, Vec::new()),
        4,
        "a version is skipped in the copy",
    );
    assert_unchanged(&*log, &before, "refused copies");
    copy(&*log, &[at((3, 3), 10), at((4, 4), 20)], Vec::new()).unwrap();
    assert_dense(&all(&*log));
}

/// The record with one byte of its payload changed.
fn altered(record: &Record, payload: &[u8]) -> Record {
    let mut bytes = record.as_bytes().to_vec();
    let at = bytes
        .windows(payload.len())
        .rposition(|part| part == payload)
        .expect("the payload");
    bytes[at] ^= 1;
    Record::decode(bytes.into()).expect("it still reads as a record")
}

/// A payload that is not what its header says, in any record of the copy.
pub fn an_altered_record_is_refused(harness: &dyn Harness) {
    let (from, _) = source(harness);
    let records = all(&*from);
    let to = harness.open();
    let empty = whole(&*to);
    for index in [0, 1, records.len() - 1] {
        let piece = records[index]
            .content()
            .iter()
            .find_map(|piece| match piece {
                Content::Inline { bytes, .. } => Some(bytes.clone()),
                _ => None,
            });
        for payload in [Some(records[index].structure()), piece]
            .into_iter()
            .flatten()
        {
            let mut offered = records.clone();
            offered[index] = altered(&records[index], &payload);
            let refused = copy(&*to, &offered, blobs_of(&*from, &records));
            assert!(
                matches!(refused, Err(AppendError::Invalid { .. })),
                "{index}: {refused:?}"
            );
            assert_unchanged(&*to, &empty, "an altered record");
        }
    }
}

/// The record with all its pieces removed; its header is the same.
fn without_content(record: &Record) -> Record {
    let pieces = record.content();
    let before_pieces = 2 + record.header_bytes().len() + 4 + record.structure().len();
    let mut bytes = record.as_bytes()[..before_pieces].to_vec();
    bytes.extend_from_slice(&u16::try_from(pieces.len()).unwrap().to_be_bytes());
    for piece in pieces {
        bytes.push(4);
        bytes.extend_from_slice(&piece.salted_digest().0);
    }
    Record::decode(bytes.into()).expect("a record without content")
}

/// What was removed stays removed, and its record is as good as any.
pub fn a_removed_piece_is_copied(harness: &dyn Harness) {
    let (from, _) = source(harness);
    let records: Vec<Record> = all(&*from).iter().map(without_content).collect();
    let to = harness.open();
    copy(&*to, &records, Vec::new()).expect("no blob is needed");
    assert!(all(&*to) == records);
    assert_eq!(block_on(to.stats()).unwrap().blobs, 0);
}

/// Every blob that a record refers to is supplied or there.
pub fn a_copy_needs_its_blobs(harness: &dyn Harness) {
    let (from, _) = source(harness);
    let records = all(&*from);
    let mut blobs = blobs_of(&*from, &records);
    let missing = blobs.pop().unwrap();
    let to = harness.open();
    let empty = whole(&*to);
    match copy(&*to, &records, blobs.clone()) {
        Err(AppendError::UnknownBlob { digest }) => assert_eq!(digest, missing.digest()),
        other => panic!("an unknown blob is expected, not {other:?}"),
    }
    assert_unchanged(&*to, &empty, "a missing blob");
    assert_eq!(block_on(to.blob(blobs[0].digest())).unwrap(), None);
    let reference = Content::Blob {
        salt: [0; 16],
        digest: missing.digest(),
        size: 5_000,
    };
    let content = NewEvent {
        content: vec![reference],
        ..event("a-1")
    };
    let start = occurred_at();
    let at = |position| record_at(content.clone(), Uuid::new_v4(), (position, position), start);
    copy(&*to, &[at(1)], vec![missing]).unwrap();
    copy(&*to, &[at(2)], Vec::new()).expect("the blob is there already");
}

/// A batch is consecutive, and one that was appended here is complete.
pub fn a_batch_that_was_whole_is_not_continued(harness: &dyn Harness) {
    let log = harness.open();
    let append = batch_to("a-1", 1);
    let (here, request) = (append.batch, append.request.clone());
    let first = must_append(&*log, append);
    let later = all(&*log)[0].recorded_at();
    let at = |id, n| record_at(event("a-1"), id, (n, n), later);
    let before = whole(&*log);
    refused_at(
        copy(&*log, &[at(here, 2)], Vec::new()),
        2,
        "an appended batch goes on",
    );
    let (one, two) = (Uuid::new_v4(), Uuid::new_v4());
    let torn = [at(one, 2), at(two, 3), at(one, 4)];
    refused_at(copy(&*log, &torn, Vec::new()), 4, "a batch around another");
    assert_unchanged(&*log, &before, "torn batches");
    assert_eq!(
        block_on(log.batch(here, &request)).unwrap(),
        BatchStatus::Known(first.again())
    );
    copy(&*log, &torn[..2], Vec::new()).unwrap();
    refused_at(
        copy(&*log, &torn[2..], Vec::new()),
        4,
        "a batch that ended goes on",
    );
}

/// Where a copy comes from a clock that is ahead, ours waits for it.
pub fn times_go_on_from_a_copy(harness: &dyn Harness) {
    let log = harness.open();
    let ahead: DateTime<Utc> = DateTime::from_timestamp(4_102_444_800, 999_999_999).unwrap();
    let record = record_at(event("a-1"), Uuid::new_v4(), (1, 1), ahead);
    let bytes: Bytes = record.as_bytes().clone();
    copy(&*log, &[record], Vec::new()).unwrap();
    must_append(&*log, batch_to("a-1", 1));
    let log = harness.reopen(log);
    must_append(&*log, batch_to("a-1", 2));
    let records = all(&*log);
    assert_eq!(records[0].as_bytes(), &bytes);
    assert!(
        records.iter().all(|record| record.recorded_at() >= ahead),
        "never decreasing"
    );
    assert_dense(&records);
}
