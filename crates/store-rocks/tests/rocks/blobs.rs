//! Content over 4 KiB: stored once, however many events refer to it.

use std::collections::BTreeSet;
use std::path::Path;

use annals_event_log::{Append, Blob, Digest, EventLog};
use annals_store_rocks::RocksLog;
use futures::executor::block_on;
use rand::rngs::StdRng;
use rand::{RngCore, SeedableRng};

use crate::support::{append, batch, close, event_with_blob, new_log, options};

const MIB: usize = 1024 * 1024;

/// Outputs of tools that cannot be made smaller, so that bytes on the disk are those of
/// the content. The same ones each time.
fn outputs(count: usize) -> impl Iterator<Item = Vec<u8>> {
    let mut random = StdRng::seed_from_u64(7);
    (0..count).map(move |_| {
        let mut output = vec![0; MIB];
        random.fill_bytes(&mut output);
        output
    })
}

/// Appends each output with its own event.
fn import(log: &RocksLog, stream: &str, count: usize) {
    for output in outputs(count) {
        let (event, blob) = event_with_blob(stream, &output);
        let appended: Append = batch(vec![event], vec![blob]);
        block_on(log.append(appended)).expect("the append is accepted");
    }
}

fn directory_bytes(path: &Path) -> u64 {
    let entries = std::fs::read_dir(path).unwrap();
    entries
        .map(|entry| entry.unwrap().metadata().unwrap().len())
        .sum()
}

/// The same outputs under other events; what the log has of them, before and after.
fn twice(count: usize) {
    let (_home, path, log) = new_log();
    import(&log, "run-1", count);
    log.compact();
    let once = (block_on(log.stats()).unwrap(), directory_bytes(&path));
    import(&log, "run-2", count);
    log.compact();
    let twice = (block_on(log.stats()).unwrap(), directory_bytes(&path));
    let bytes = (count * MIB) as u64;
    assert_eq!((once.0.blobs, once.0.blob_bytes), (count as u64, bytes));
    assert_eq!((twice.0.blobs, twice.0.blob_bytes), (count as u64, bytes));
    assert_eq!(twice.0.position.0, 2 * count as u64);
    assert!(once.1 >= bytes, "{} bytes are too few for it", once.1);
    let more = twice.1.saturating_sub(once.1);
    assert!(more < bytes / 50, "{more} bytes more");
    close(log);
    let log = RocksLog::open(&path, &options()).unwrap();
    assert!(log.verify(&mut |_| {}).unwrap().is_sound());
    close(log);
}

#[test]
fn the_same_outputs_under_other_events_are_stored_once() {
    twice(100);
}

#[test]
fn stored_blobs_are_listed_in_the_order_of_their_digests() {
    let (_home, path, log) = new_log();
    let first = Digest([0; 32]);
    assert!(log.stored_blobs(first, 10).unwrap().is_empty());
    append(&log, "run-1", 1);
    let mut expected = BTreeSet::new();
    for n in 0..30_u8 {
        let (event, blob) = event_with_blob("run-1", &[n; 5_000]);
        expected.insert(blob.digest().0);
        block_on(log.append(batch(vec![event], vec![blob]))).unwrap();
    }
    let expected: Vec<Digest> = expected.into_iter().map(Digest).collect();
    let listed = |log: &RocksLog, from: usize, limit: usize| -> Vec<Digest> {
        let blobs = log.stored_blobs(expected[from], limit).unwrap();
        assert!(blobs.iter().all(|blob| blob.size == 5_000));
        blobs.into_iter().map(|blob| blob.digest).collect()
    };
    assert_eq!(listed(&log, 0, 100), expected);
    assert_eq!(listed(&log, 7, 5), expected[7..12]);
    let reader = RocksLog::open_reader(&path, &options()).unwrap();
    assert_eq!(listed(&reader, 20, 100), expected[20..]);
    let behind = Blob::new(vec![99; 10]).digest();
    let there: Vec<_> = expected
        .iter()
        .filter(|digest| digest.0 >= behind.0)
        .collect();
    assert_eq!(reader.stored_blobs(behind, 100).unwrap().len(), there.len());
    close(reader);
    close(log);
}
