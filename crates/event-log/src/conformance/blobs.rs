//! Blobs: stored once, with the events that refer to them or not at all.

use futures::executor::block_on;

use super::Harness;
use super::support::{
    all, assert_unchanged, batch, batch_to, event, expecting, must_append, whole,
};
use crate::{Append, AppendError, Blob, Content, Digest, Expected, NewEvent};

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
