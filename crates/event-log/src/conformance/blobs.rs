//! Blobs: stored once, with the events that refer to them or not at all.

use futures::executor::block_on;
use uuid::Uuid;

use super::Harness;
use super::support::{
    all, assert_unchanged, batch, batch_to, event, expecting, must_append, occurred_at, record_at,
    whole,
};
use crate::Classified;
use crate::{Append, AppendError, Appended, Blob, Content, Digest, Expected, NewEvent};

/// An event whose content is that blob.
fn referring(blob: &Blob) -> NewEvent {
    let (digest, size) = (blob.digest(), blob.bytes().len() as u64);
    NewEvent {
        content: vec![Content::Blob {
            salt: [4; 16],
            digest,
            size,
        }],
        ..event("blob-1")
    }
}

fn attaching(blob: &Blob) -> NewEvent {
    let (digest, size) = (blob.digest(), blob.bytes().len() as u64);
    NewEvent {
        content: vec![Content::Attachment {
            salt: [5; 16],
            digest,
            size,
        }],
        ..event("blob-1")
    }
}

/// However often content is referred to and supplied, it is there once.
pub fn a_blob_is_stored_once(harness: &dyn Harness) {
    let log = harness.open();
    let blob = Blob::new(vec![1; 10_000]);
    let other = Blob::new(vec![2; 5_000]);
    let appends = [
        Append {
            blobs: vec![blob.clone(), blob.clone()],
            ..batch(vec![referring(&blob), attaching(&blob)])
        },
        Append {
            blobs: vec![blob.clone()],
            ..batch(vec![attaching(&blob)])
        },
        // Nothing is supplied: the store has it.
        batch(vec![referring(&blob)]),
    ];
    for append in appends {
        must_append(&*log, append);
        let stats = block_on(log.stats()).unwrap();
        assert_eq!((stats.blobs, stats.blob_bytes), (1, 10_000));
        assert_eq!(
            block_on(log.blob(blob.digest())).unwrap().as_ref(),
            Some(blob.bytes())
        );
    }
    assert_eq!(block_on(log.blob(other.digest())).unwrap(), None);
    must_append(
        &*log,
        Append {
            blobs: vec![blob, other.clone()],
            ..batch(vec![referring(&other)])
        },
    );
    let stats = block_on(log.stats()).unwrap();
    assert_eq!((stats.blobs, stats.blob_bytes), (2, 15_000));
    assert_eq!(all(&*log).len(), 5);
}

/// Content of 0 bytes is content, and so is what does not compress.
pub fn a_blob_of_any_size(harness: &dyn Harness) {
    let log = harness.open();
    let mut noise = Vec::with_capacity(300_000);
    let mut digest = Digest::of(b"a seed of its own");
    while noise.len() < 300_000 {
        digest = Digest::of(&digest.0);
        noise.extend_from_slice(&digest.0);
    }
    let blobs = [
        Blob::new(""),
        Blob::new("x"),
        Blob::new(vec![0; 1 << 20]),
        Blob::new(noise),
    ];
    let events = blobs.iter().map(referring).collect();
    must_append(
        &*log,
        Append {
            blobs: blobs.to_vec(),
            ..batch(events)
        },
    );
    let log = harness.reopen(log);
    for blob in blobs {
        let stored = block_on(log.blob(blob.digest())).unwrap();
        assert!(
            stored.as_ref() == Some(blob.bytes()),
            "a blob of {} bytes",
            blob.bytes().len()
        );
    }
}

/// A reference to nothing is refused, and says to what.
pub fn an_unknown_blob_is_refused(harness: &dyn Harness) {
    let log = harness.open();
    let (here, missing) = (Blob::new(vec![1; 5_000]), Blob::new(vec![2; 5_000]));
    must_append(
        &*log,
        Append {
            blobs: vec![here.clone()],
            ..batch(vec![referring(&here)])
        },
    );
    let before = whole(&*log);
    for event in [referring(&missing), attaching(&missing)] {
        let append = Append {
            blobs: vec![here.clone()],
            ..batch(vec![referring(&here), event])
        };
        match block_on(log.append(append)) {
            Err(error @ AppendError::UnknownBlob { digest }) => {
                assert_eq!(digest, missing.digest());
                assert!(!error.is_retryable());
            }
            other => panic!("an unknown blob is expected, not {other:?}"),
        }
        assert_unchanged(&*log, &before, "an unknown blob");
    }
}

/// What an event says of the length of a blob is true, regardless of where the blob comes from: it
/// comes with the append, is stored, or came with the append right before.
pub fn a_false_size_is_refused(harness: &dyn Harness) {
    let log = harness.open();
    let (stored, new) = (Blob::new(vec![1; 5_000]), Blob::new(vec![2; 5_000]));
    let bring = |blob: &Blob, events: Vec<NewEvent>| Append {
        blobs: vec![blob.clone()],
        ..batch(events)
    };
    must_append(&*log, bring(&stored, vec![referring(&stored)]));
    let log = harness.reopen(log);
    let before = whole(&*log);
    for size in [0, 4_999, 5_001, u64::MAX] {
        for event in [lying(&stored, size), attaching_with(&stored, size)] {
            let content = event.content.clone();
            // Alone, behind a piece that is right, and with the content brought along.
            let honest = referring(&stored);
            let appends = [
                batch(vec![event.clone()]),
                batch(vec![honest, event.clone()]),
                bring(&stored, vec![event]),
            ];
            for append in appends {
                refused_size(block_on(log.append(append)), &stored, size);
                assert_unchanged(&*log, &before, &format!("{content:?}"));
            }
        }
        let append = bring(&new, vec![referring(&new), lying(&new, size)]);
        refused_size(block_on(log.append(append)), &new, size);
        assert_unchanged(&*log, &before, "a new blob");
        assert_eq!(block_on(log.blob(new.digest())).unwrap(), None);
    }
    // A refused append does not prevent a correct one.
    must_append(&*log, batch(vec![referring(&stored), attaching(&stored)]));
    must_append(&*log, bring(&new, vec![referring(&new)]));
}

/// The same for records that are copied.
pub fn a_false_size_is_not_copied(harness: &dyn Harness) {
    let log = harness.open();
    let blob = Blob::new(vec![1; 5_000]);
    let at = |event: NewEvent, position: u64| {
        let place = (position, position);
        record_at(event, Uuid::new_v4(), place, occurred_at())
    };
    let empty = whole(&*log);
    let first = at(lying(&blob, 4_999), 1);
    let refused = block_on(log.append_records(vec![first], vec![blob.clone()]));
    refused_size(refused, &blob, 4_999);
    assert_unchanged(&*log, &empty, "a copy with its blob");
    assert_eq!(block_on(log.blob(blob.digest())).unwrap(), None);
    let first = at(referring(&blob), 1);
    block_on(log.append_records(vec![first], vec![blob.clone()])).expect("it is right");
    let one = whole(&*log);
    let more = vec![at(referring(&blob), 2), at(lying(&blob, 5_001), 3)];
    refused_size(block_on(log.append_records(more, Vec::new())), &blob, 5_001);
    assert_unchanged(&*log, &one, "a copy whose blob is stored");
}

/// An event that says a length of a blob that may not be its length.
fn lying(blob: &Blob, size: u64) -> NewEvent {
    let content = Content::Blob {
        salt: [6; 16],
        digest: blob.digest(),
        size,
    };
    NewEvent {
        content: vec![content],
        ..event("blob-1")
    }
}

fn attaching_with(blob: &Blob, size: u64) -> NewEvent {
    let content = Content::Attachment {
        salt: [6; 16],
        digest: blob.digest(),
        size,
    };
    NewEvent {
        content: vec![content],
        ..event("blob-1")
    }
}

fn refused_size(answer: Result<Appended, AppendError>, blob: &Blob, size: u64) {
    match answer {
        Err(
            error @ AppendError::BlobSize {
                digest,
                said,
                actual,
            },
        ) => {
            let length = blob.bytes().len() as u64;
            assert_eq!((digest, said, actual), (blob.digest(), size, length));
            assert!(!error.is_retryable());
        }
        other => panic!("a false size is expected to be refused, not {other:?}"),
    }
}

/// Blobs come with their events or not at all.
pub fn a_refused_append_leaves_no_blob(harness: &dyn Harness) {
    let log = harness.open();
    must_append(&*log, batch_to("blob-1", 1));
    let before = whole(&*log);
    let blob = Blob::new(vec![3; 5_000]);
    let append = Append {
        blobs: vec![blob.clone()],
        ..batch(vec![referring(&blob)])
    };
    let refused = block_on(log.append(expecting(append, "blob-1", Expected::NoStream)));
    assert!(
        matches!(refused, Err(AppendError::Conflict { .. })),
        "{refused:?}"
    );
    assert_unchanged(&*log, &before, "a conflict");
    assert_eq!(block_on(log.blob(blob.digest())).unwrap(), None);
    let later = block_on(log.append(batch(vec![referring(&blob)])));
    assert!(
        matches!(later, Err(AppendError::UnknownBlob { .. })),
        "{later:?}"
    );
}
