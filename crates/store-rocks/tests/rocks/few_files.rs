//! A log of many short-lived writers has few files, and a small log takes little room.

use std::fs;
use std::os::unix::fs::MetadataExt;

use annals_store_rocks::RocksLog;
use futures::executor::block_on;

use annals_event_log::{EventLog, ReadModels};

use crate::support::{all, append, at, batch, close, event_with_blob, new_log, options, tables};

fn blob_files(path: &std::path::Path) -> usize {
    let names = fs::read_dir(path).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name());
    names
        .filter(|name| name.to_string_lossy().ends_with(".blob"))
        .count()
}

/// Each writes as much as a closing writer writes to tables, in few bytes: rows of a read model, over and over.
fn write_a_little(log: &RocksLog, n: u64) {
    append(log, &format!("run-{}", n % 5), 3);
    let content = format!("{n} ").repeat(3_000);
    let (event, blob) = event_with_blob("run-9", content.as_bytes());
    block_on(log.append(batch(vec![event], vec![blob]))).unwrap();
    let rows = (0..400_u64).map(|row| {
        let key = (row % 7).to_be_bytes().to_vec();
        let value = vec![u8::try_from(n % 251).unwrap(); 12_000];
        (key.into(), Some(value.into()))
    });
    let before = block_on(log.checkpoint("m")).unwrap();
    let last = log.watermark();
    block_on(log.commit("m", before, rows.collect(), last)).unwrap();
}

#[test]
fn many_short_lived_writers_leave_few_files() {
    let (_home, path, log) = new_log();
    close(log);
    let mut options = options().with_blob_files(true);
    options.sync = false;
    for n in 0..60 {
        let log = RocksLog::open(&path, &options).unwrap();
        write_a_little(&log, n);
        close(log);
    }
    let (tables, blobs) = (tables(&path).len(), blob_files(&path));
    assert!((8..=64).contains(&tables), "{tables} tables");
    assert!((1..=32).contains(&blobs), "{blobs} blob files");
    let log = RocksLog::open(&path, &options).unwrap();
    assert_eq!(all(&log).len(), 60 * 4);
    let verified = log.verify(&mut |_| {}).unwrap();
    assert!(verified.is_sound(), "{verified:?}");
    assert_eq!(block_on(log.checkpoint("m")).unwrap(), at(60 * 4));
}

#[test]
fn an_open_log_of_few_events_takes_little_room() {
    let (_home, path, log) = new_log();
    append(&log, "run-1", 3);
    let blocks: u64 = fs::read_dir(&path)
        .unwrap()
        .map(|entry| entry.unwrap().metadata().unwrap().blocks())
        .sum();
    let bytes = blocks * 512;
    assert!(bytes < 4 * 1024 * 1024, "{bytes} bytes");
}

#[test]
fn a_writer_that_stays_gives_its_write_ahead_log_up_without_waiting() {
    let (_home, path, log) = new_log();
    for n in 0..20 {
        append(&log, &format!("run-{n}"), 200);
    }
    let before = log.wal_bytes().unwrap();
    log.begin_flush().unwrap();
    while log.wal_bytes().unwrap() >= before {
        std::thread::yield_now();
    }
    let reader = RocksLog::open_reader(&path, &options()).unwrap();
    assert_eq!(reader.wal_bytes(), None);
    assert_eq!(all(&reader).len(), 4_000);
    append(&log, "run-1", 1);
    assert_eq!(all(&reader).len(), 4_001);
}
