//! Blobs that nothing refers to are collected, and no others, regardless of what goes on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use annals_event_log::{Blob, Blobs, EventLog, PiecesOf, Position, Redaction};
use annals_store_rocks::{CollectError, Orphans, RocksLog};
use futures::executor::block_on;

use crate::support::{batch, close, event, event_with_blob, new_log, options};

fn content(n: usize) -> Vec<u8> {
    format!("output {n} ").repeat(600).into_bytes()
}

fn orphan(log: &RocksLog, n: usize) -> Blob {
    let blob = Blob::new(content(n));
    block_on(log.append(batch(vec![event("run-1")], vec![blob.clone()]))).unwrap();
    blob
}

fn named(log: &RocksLog, n: usize) -> Blob {
    let (naming, blob) = event_with_blob("run-1", &content(n));
    block_on(log.append(batch(vec![naming], vec![blob.clone()]))).unwrap();
    blob
}

#[test]
fn what_nothing_refers_to_goes_and_the_rest_stays() {
    let (_home, path, log) = new_log();
    let (kept, gone) = (named(&log, 1), orphan(&log, 2));
    let lost = named(&log, 3);
    // One that its event lost.
    let redaction = Redaction {
        append: batch(vec![event("run-1")], Vec::new()),
        removed: vec![PiecesOf {
            position: Position(3),
            pieces: vec![0],
        }],
        blobs: Vec::new(),
        seen: log.watermark(),
    };
    block_on(log.redact(redaction)).unwrap();
    let mut digests = vec![gone.digest(), lost.digest()];
    digests.sort_unstable();
    let expected = Orphans {
        blobs: 2,
        bytes: (content(2).len() + content(3).len()) as u64,
        digests,
    };
    assert_eq!(log.orphans(&mut |_| {}).unwrap(), expected);
    let reader = RocksLog::open_reader(&path, &options()).unwrap();
    assert_eq!(reader.orphans(&mut |_| {}).unwrap(), expected);
    let refused = block_on(reader.collect(&mut |_| {})).unwrap_err();
    assert!(matches!(refused, CollectError::Write(_)), "{refused}");
    close(reader);
    assert_eq!(block_on(log.collect(&mut |_| {})).unwrap(), expected);
    for blob in [&gone, &lost] {
        assert_eq!(block_on(log.blob(blob.digest())).unwrap(), None);
    }
    let content = block_on(log.blob(kept.digest())).unwrap();
    assert_eq!(content.as_ref(), Some(kept.bytes()));
    let stats = block_on(log.stats()).unwrap();
    assert_eq!(
        (stats.blobs, stats.blob_bytes),
        (1, kept.bytes().len() as u64)
    );
    assert_eq!(
        block_on(log.collect(&mut |_| {})).unwrap(),
        Orphans::default()
    );
    // What was collected can come again.
    named(&log, 2);
    let report = log.verify(&mut |_| {}).unwrap();
    assert!(report.is_sound(), "{:#?}", report.findings);
    close(log);
}

/// Writers refer to blobs that nothing referred to until then, and bring them along
/// where they are gone, while others are collected.
#[test]
fn nothing_that_is_referred_to_goes_while_appends_run() {
    const BLOBS: usize = 24;
    let (_home, _path, log) = new_log();
    for n in 0..BLOBS {
        orphan(&log, n);
    }
    let ended = Arc::new(AtomicBool::new(false));
    let collector = {
        let (log, ended) = (log.clone(), Arc::clone(&ended));
        std::thread::spawn(move || {
            let mut collected = 0;
            while !ended.load(Ordering::Acquire) {
                collected += block_on(log.collect(&mut |_| {})).unwrap().blobs;
            }
            collected
        })
    };
    let writers: Vec<_> = (0..2)
        .map(|writer| {
            let log = log.clone();
            std::thread::spawn(move || {
                for n in 0..BLOBS {
                    let (naming, blob) = event_with_blob("run-2", &content(n));
                    let bare = batch(vec![naming.clone()], Vec::new());
                    // It is there and stays, or is not there and comes along.
                    if writer == 0 || block_on(log.append(bare)).is_err() {
                        block_on(log.append(batch(vec![naming], vec![blob]))).unwrap();
                    }
                    orphan(&log, BLOBS + n);
                }
            })
        })
        .collect();
    for writer in writers {
        writer.join().unwrap();
    }
    ended.store(true, Ordering::Release);
    assert!(
        collector.join().unwrap() > 0,
        "something was collected meanwhile"
    );
    block_on(log.collect(&mut |_| {})).unwrap();
    let report = log.verify(&mut |_| {}).unwrap();
    assert!(report.is_sound(), "{:#?}", report.findings);
    assert_eq!(block_on(log.stats()).unwrap().blobs, BLOBS as u64);
    close(log);
}
