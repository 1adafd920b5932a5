//! An acknowledgement means a sync: RocksDB's own count of synced WAL writes
//! grows by at least one for every acknowledged group.

use annals_event_log::EventLog;
use annals_store_rocks::{Options, RocksLog};
use futures::executor::block_on;
use uuid::Uuid;

use crate::support::{append, event};

const APPENDS: u64 = 50;

/// Appends one after the other, each a group of its own, and says how many
/// syncs RocksDB counted meanwhile.
fn syncs_of_appends(sync: bool) -> u64 {
    let directory = tempfile::tempdir().expect("a directory");
    let options = Options::default().with_sync(sync).with_statistics(true);
    let log = RocksLog::create(&directory.path().join("log"), &options).expect("a log");
    let before = log.wal_syncs();
    for n in 0..APPENDS {
        block_on(log.append(append(
            Uuid::now_v7(),
            vec![event("test-1", n.to_be_bytes().to_vec())],
        )))
        .expect("an append");
    }
    log.wal_syncs() - before
}

#[test]
fn every_acknowledged_group_was_synced() {
    assert!(syncs_of_appends(true) >= APPENDS);
}

#[test]
fn the_count_notices_a_log_that_does_not_sync() {
    assert!(
        syncs_of_appends(false) < APPENDS,
        "the test above could not fail"
    );
}
