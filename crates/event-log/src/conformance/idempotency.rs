//! Batch ids: a repeat is harmless, a second use is noticed.

use std::thread;

use bytes::Bytes;
use futures::executor::block_on;
use uuid::Uuid;

use super::Harness;
use super::support::{all, assert_unchanged, batch_to, expecting, must_append, whole};
use crate::Classified;
use crate::{Append, AppendError, Appended, BatchStatus, Blob, Expected, Position, Version};

/// The repeat is answered before its expectations are looked at: they held the
/// first time.
pub fn a_repeat_gets_the_first_answer(harness: &dyn Harness) {
    let log = harness.open();
    must_append(&*log, batch_to("before-1", 1));
    let append = expecting(batch_to("a-1", 3), "a-1", Expected::NoStream);
    let first = must_append(&*log, append.clone());
    assert_eq!(first, Appended::new(Position(2), Position(4)));
    must_append(&*log, batch_to("a-1", 1));
    let before = whole(&*log);
    assert_eq!(must_append(&*log, append.clone()), first.again());
    // Deciding again may give other events; the request is what counts.
    let again = Append {
        events: batch_to("elsewhere-1", 1).events,
        ..append
    };
    assert_eq!(must_append(&*log, again), first.again());
    assert_unchanged(&*log, &before, "two repeats");
}

/// The same id with another request is an error that no retry cures.
pub fn another_request_is_a_mismatch(harness: &dyn Harness) {
    let log = harness.open();
    let append = batch_to("a-1", 1);
    let id = append.batch;
    must_append(&*log, append.clone());
    let before = whole(&*log);
    let request = &append.request;
    for other in [
        &b""[..],
        &b"another"[..],
        &request[1..],
        &[&request[..], &b" "[..]].concat(),
    ] {
        let append = Append {
            request: Bytes::copy_from_slice(other),
            ..append.clone()
        };
        match block_on(log.append(append)) {
            Err(error @ AppendError::IdempotencyMismatch { batch }) => {
                assert_eq!(batch, id);
                assert!(!error.is_retryable());
            }
            answer => panic!("a mismatch is expected for {other:?}, not {answer:?}"),
        }
    }
    assert_unchanged(&*log, &before, "mismatches");
}

/// A batch is unknown, known with its answer, or used for another request.
pub fn the_status_of_a_batch(harness: &dyn Harness) {
    let log = harness.open();
    must_append(&*log, batch_to("before-1", 2));
    for request in [&b""[..], &b"a request"[..]] {
        let append = Append {
            request: Bytes::copy_from_slice(request),
            ..batch_to("a-1", 2)
        };
        let id = append.batch;
        assert_eq!(
            block_on(log.batch(id, request)).unwrap(),
            BatchStatus::Unknown
        );
        let appended = must_append(&*log, append);
        assert_eq!(
            block_on(log.batch(id, request)).unwrap(),
            BatchStatus::Known(appended.again())
        );
        assert_eq!(
            block_on(log.batch(id, b"other")).unwrap(),
            BatchStatus::Mismatch(appended.again())
        );
    }
    assert_eq!(
        block_on(log.batch(Uuid::new_v4(), b"")).unwrap(),
        BatchStatus::Unknown
    );
}

/// A refusal leaves nothing behind, not even the id.
pub fn a_refused_batch_id_can_be_used_again(harness: &dyn Harness) {
    let log = harness.open();
    let append = batch_to("a-1", 1);
    let refused = expecting(append.clone(), "a-1", Expected::Exists);
    assert!(block_on(log.append(refused)).is_err());
    let status = block_on(log.batch(append.batch, &append.request)).unwrap();
    assert_eq!(status, BatchStatus::Unknown);
    let other = Append {
        request: Bytes::from_static(b"another request"),
        ..append
    };
    must_append(
        &*log,
        expecting(other, "a-1", Expected::Exactly(Version::NONE)),
    );
    assert_eq!(log.watermark(), Position(1));
}

/// Repeats that race each other store one copy and get one answer.
pub fn concurrent_repeats_store_one_copy(harness: &dyn Harness) {
    let log = harness.open();
    let mut total = 0;
    for round in 0..10 {
        let mut append = batch_to(&format!("round-{round}"), 3);
        append.blobs = vec![Blob::new(format!("content of round {round}"))];
        let answers: Vec<Appended> = thread::scope(|scope| {
            let repeat = || must_append(&*log, append.clone());
            let writers: Vec<_> = (0..16).map(|_| scope.spawn(repeat)).collect();
            writers
                .into_iter()
                .map(|writer| writer.join().unwrap())
                .collect()
        });
        let told_apart = answers.iter().filter(|answer| !answer.repeated).count();
        assert_eq!(told_apart, 1, "one of them appended: {answers:?}");
        assert!(
            answers
                .iter()
                .all(|answer| answer.again() == answers[0].again()),
            "{answers:?}"
        );
        total += 3;
        assert_eq!(all(&*log).len(), total, "round {round}");
    }
}

/// The next process knows what was acknowledged.
pub fn a_batch_is_known_after_reopening(harness: &dyn Harness) {
    let log = harness.open();
    let append = expecting(batch_to("a-1", 2), "a-1", Expected::NoStream);
    let appended = must_append(&*log, append.clone());
    let before = whole(&*log);
    let log = harness.reopen(log);
    assert_eq!(must_append(&*log, append.clone()), appended.again());
    let mismatch = Append {
        request: Bytes::from_static(b"another"),
        ..append
    };
    let refused = block_on(log.append(mismatch));
    assert!(
        matches!(refused, Err(AppendError::IdempotencyMismatch { .. })),
        "{refused:?}"
    );
    assert_unchanged(&*log, &before, "a repeat after reopening");
}
