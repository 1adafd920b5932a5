//! Sizes: nothing, a little, the limits, and beyond each of them.

use bytes::Bytes;
use futures::executor::block_on;
use uuid::Uuid;

use super::Harness;
use super::support::{all, assert_unchanged, batch, batch_to, event, inline, must_append, whole};
use crate::Classified;
use crate::{
    Actor, Append, AppendError, BatchStatus, Blob, Content, Expectation, Expected, NewEvent,
    Record, Store, limits,
};

fn with_structure(len: usize) -> NewEvent {
    NewEvent {
        structure: vec![b's'; len].into(),
        ..event("size-1")
    }
}

fn with_content(content: Vec<Content>) -> NewEvent {
    NewEvent {
        content,
        ..event("size-1")
    }
}

fn with_actor(kind: usize, id: usize) -> NewEvent {
    let (kind, id) = ("k".repeat(kind), "i".repeat(id));
    NewEvent {
        actor: Actor {
            kind,
            id,
            ..event("size-1").actor
        },
        ..event("size-1")
    }
}

fn of_type(len: usize) -> NewEvent {
    NewEvent {
        event_type: "t".repeat(len).into(),
        ..event("size-1")
    }
}

fn with_blobs(sizes: &[usize]) -> Append {
    let byte = |index: usize| u8::try_from(index).unwrap();
    let filled = |(index, size): (usize, &usize)| Blob::new(vec![byte(index); *size]);
    let blobs: Vec<Blob> = sizes.iter().enumerate().map(filled).collect();
    let refer = |blob: &Blob| Content::Blob {
        salt: [9; 16],
        digest: blob.digest(),
        size: blob.bytes().len() as u64,
    };
    let content = blobs.iter().map(refer).collect();
    Append {
        blobs,
        ..batch(vec![with_content(content)])
    }
}

fn last(log: &dyn Store) -> Record {
    all(log).pop().expect("a record")
}

/// Structure, pieces and blobs come back whole, from 0 bytes to 1 MiB.
pub fn every_size_is_read_back(harness: &dyn Harness) {
    let log = harness.open();
    for len in [0, 1, 255, 256, 4_095, limits::STRUCTURE] {
        let given = with_structure(len);
        must_append(&*log, batch(vec![given.clone()]));
        assert_eq!(
            last(&*log).structure(),
            given.structure,
            "a structure of {len} bytes"
        );
    }
    for len in [0, 1, 255, 256, limits::INLINE] {
        let given = with_content(vec![inline(vec![b'c'; len]), inline("after it")]);
        must_append(&*log, batch(vec![given.clone()]));
        assert_eq!(
            last(&*log).content(),
            given.content,
            "a piece of {len} bytes"
        );
    }
    for len in [0, 1, limits::INLINE + 1, 1024 * 1024] {
        let append = with_blobs(&[len]);
        must_append(&*log, append.clone());
        let record = last(&*log);
        assert_eq!(
            record.content(),
            append.events[0].content,
            "a blob of {len} bytes"
        );
        let digest = append.blobs[0].digest();
        let bytes = block_on(log.blob(digest)).unwrap();
        assert_eq!(
            bytes.as_ref(),
            Some(append.blobs[0].bytes()),
            "a blob of {len} bytes"
        );
        assert_eq!(record.verify(), Ok(()));
    }
}

/// A limit is the largest size that is accepted.
pub fn every_limit_can_be_reached(harness: &dyn Harness) {
    let log = harness.open();
    let largest = [
        batch(vec![with_structure(limits::STRUCTURE)]),
        batch(vec![with_content(vec![inline(vec![0; limits::INLINE])])]),
        batch(vec![with_content(vec![inline(""); limits::PIECES])]),
        batch(vec![of_type(limits::EVENT_TYPE)]),
        batch(vec![with_actor(limits::ACTOR_KIND, limits::ACTOR_ID)]),
        batch_to("size-1", limits::BATCH_EVENTS),
        with_blobs(&[limits::BLOB]),
        Append {
            request: vec![0; limits::REQUEST].into(),
            ..batch_to("size-1", 1)
        },
        expecting_often(limits::EXPECTATIONS),
    ];
    for append in largest {
        let (id, request) = (append.batch, append.request.clone());
        let events = append.events.clone();
        let appended = must_append(&*log, append);
        assert_eq!(appended.last.0 - appended.first.0 + 1, events.len() as u64);
        let status = block_on(log.batch(id, &request)).unwrap();
        assert_eq!(status, BatchStatus::Known(appended.again()));
        let (record, given) = (last(&*log), &events[events.len() - 1]);
        assert_eq!(record.content(), given.content);
        assert_eq!(
            (record.structure(), record.actor()),
            (given.structure.clone(), given.actor.clone())
        );
        assert_eq!(record.event_type(), given.event_type);
    }
}

/// One more than each limit, with the limit that is to be reported.
fn too_large() -> Vec<(&'static str, usize, Append)> {
    let fits = event("size-1");
    let second = |bad: NewEvent| batch(vec![fits.clone(), bad]);
    let many_kib =
        vec![with_structure(limits::STRUCTURE); 1 + limits::BATCH_BYTES / limits::STRUCTURE];
    let half = limits::BATCH_BYTES / 2;
    let request = Bytes::from(vec![0; limits::REQUEST + 1]);
    vec![
        (
            "a structure",
            limits::STRUCTURE,
            second(with_structure(limits::STRUCTURE + 1)),
        ),
        (
            "a piece",
            limits::INLINE,
            second(with_content(vec![inline(vec![0; limits::INLINE + 1])])),
        ),
        (
            "pieces",
            limits::PIECES,
            second(with_content(vec![inline(""); limits::PIECES + 1])),
        ),
        (
            "a type",
            limits::EVENT_TYPE,
            second(of_type(limits::EVENT_TYPE + 1)),
        ),
        (
            "an actor's kind",
            limits::ACTOR_KIND,
            second(with_actor(limits::ACTOR_KIND + 1, 1)),
        ),
        (
            "an actor's id",
            limits::ACTOR_ID,
            second(with_actor(1, limits::ACTOR_ID + 1)),
        ),
        (
            "events",
            limits::BATCH_EVENTS,
            batch_to("size-1", limits::BATCH_EVENTS + 1),
        ),
        ("a blob", limits::BLOB, with_blobs(&[10, limits::BLOB + 1])),
        ("blobs", limits::BATCH_BYTES, with_blobs(&[half, half, 1])),
        ("records", limits::BATCH_BYTES, batch(many_kib)),
        (
            "a request",
            limits::REQUEST,
            Append {
                request,
                ..batch_to("size-1", 1)
            },
        ),
        (
            "expectations",
            limits::EXPECTATIONS,
            expecting_often(limits::EXPECTATIONS + 1),
        ),
    ]
}

/// An append that expects the same thing so many times.
fn expecting_often(times: usize) -> Append {
    let append = batch_to("often-1", 1);
    let expectation = Expectation {
        stream: append.events[0].stream.clone(),
        expected: Expected::Any,
    };
    Append {
        expectations: vec![expectation; times],
        ..append
    }
}

/// What is over a limit is refused, with the limit, and nothing of it is stored.
pub fn beyond_every_limit_nothing_is_stored(harness: &dyn Harness) {
    let log = harness.open();
    must_append(&*log, batch_to("here-1", 1));
    let before = whole(&*log);
    for (what, expected, append) in too_large() {
        let (id, digests): (Uuid, Vec<_>) = (
            append.batch,
            append.blobs.iter().map(Blob::digest).collect(),
        );
        let refused = block_on(log.append(append));
        match &refused {
            Err(AppendError::TooLarge { limit, actual, .. }) => {
                assert_eq!(*limit, expected as u64, "{what}");
                assert!(actual > limit, "{what}: {actual}");
            }
            other => panic!("{what}: a refusal is expected, not {other:?}"),
        }
        assert!(refused.is_err_and(|error| !error.is_retryable()), "{what}");
        assert_unchanged(&*log, &before, what);
        assert_eq!(
            block_on(log.batch(id, b"")).unwrap(),
            BatchStatus::Unknown,
            "{what}"
        );
        for digest in digests {
            assert_eq!(block_on(log.blob(digest)).unwrap(), None, "{what}");
        }
    }
}

/// A reference says how long its blob is; a wrong length is refused.
pub fn a_blob_of_another_length_is_refused(harness: &dyn Harness) {
    let log = harness.open();
    let blob = Blob::new(vec![7; 5_000]);
    let lying = Content::Blob {
        salt: [9; 16],
        digest: blob.digest(),
        size: 4_999,
    };
    let append = Append {
        blobs: vec![blob],
        ..batch(vec![with_content(vec![lying])])
    };
    match block_on(log.append(append)) {
        Err(AppendError::BlobSize { said, actual, .. }) => {
            assert_eq!((said, actual), (4_999, 5_000));
        }
        other => panic!("a refusal is expected, not {other:?}"),
    }
    assert!(all(&*log).is_empty());
}
