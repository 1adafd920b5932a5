//! A log on a disk whose power can be cut, for the tests of it.

use std::path::Path;
use std::time::{Duration, Instant};

use annals_event_log::{Append, Appended, EventLog, Position, Query, ReadModels, Record};
use annals_store_rocks::{Options, RocksLog};
use annals_testkit::fault_fs::{Cut, Effect, Fault, FaultFs, Operation, PathPattern};
use bytes::Bytes;
use futures::executor::block_on;
use tempfile::TempDir;
use uuid::Uuid;

use crate::support::{append, event};

/// A disk, unless this machine has none; that is said loudly, and fails under CI.
pub fn disk() -> Option<(TempDir, FaultFs)> {
    let home = tempfile::tempdir().unwrap();
    let disk = FaultFs::mount_in_test(home.path())?;
    Some((home, disk))
}

pub fn options() -> Options {
    Options::default().with_cache_bytes(8 * 1024 * 1024)
}

pub fn open(path: &Path) -> RocksLog {
    RocksLog::open_or_create(path, &options()).expect("the log opens")
}

pub fn close(log: RocksLog) {
    block_on(log.close());
}

/// The batch of this number, always the same.
pub fn batch(number: u128) -> Append {
    append(
        Uuid::from_u128(number),
        vec![event("test-1", number.to_be_bytes().to_vec())],
    )
}

pub fn acknowledged(log: &RocksLog, number: u128) -> Appended {
    block_on(log.append(batch(number))).expect("it is acknowledged")
}

pub fn records(log: &RocksLog) -> Vec<Record> {
    let (mut records, mut from) = (Vec::new(), Some(1));
    while let Some(position) = from {
        let page = block_on(log.read(Query::all(Position(position)))).expect("a page");
        records.extend(page.records);
        from = page.next;
    }
    records
}

/// The numbers of the batches that a log has, in its order.
pub fn numbers(log: &RocksLog) -> Vec<u128> {
    let of = |record: &Record| record.batch_id().as_u128();
    records(log).iter().map(of).collect()
}

pub fn assert_sound(log: &RocksLog) {
    let report = log.verify(&mut |_| {}).expect("it can be verified");
    assert!(report.is_sound(), "{:#?}", report.findings);
}

/// Nothing that was not synced survives.
pub fn cut(disk: &FaultFs) {
    disk.power_on(&Cut::DropAll);
}

pub fn fault(on: Operation, end: &str, nth: u64, then: Effect) -> Fault {
    Fault {
        on,
        path: Some(PathPattern::EndsWith(end.into())),
        nth,
        then,
    }
}

pub fn row(key: u8) -> Vec<(Bytes, Option<Bytes>)> {
    let value = Bytes::from(vec![key; 300]);
    vec![(Bytes::copy_from_slice(&[key]), Some(value))]
}

pub fn commit(log: &RocksLog, key: u8) {
    let before = block_on(log.checkpoint("m")).expect("a checkpoint");
    let end = log.watermark();
    block_on(log.commit("m", before, row(key), end)).expect("rows are committed");
}

pub fn keys(log: &RocksLog) -> Vec<u8> {
    let rows = block_on(log.scan("m", b"", None, 1_000)).expect("rows");
    rows.iter().map(|(key, _)| key[0]).collect()
}

/// The power goes while the log is open, and comes back.
pub fn cut_off(disk: &FaultFs, log: RocksLog) {
    disk.power_off();
    drop(log);
    cut(disk);
}

/// Waits until WATERMARK is on the disk, which it is a moment after the last append.
pub fn rests(disk: &FaultFs) {
    wait_until(|| disk.is_synced(Path::new("log/WATERMARK")));
}

/// Waits, two minutes at most.
pub fn wait_until(condition: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(120);
    while !condition() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(5));
    }
}
