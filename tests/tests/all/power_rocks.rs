//! What RocksDB leaves of its own files after a failure of the disk, and what that must not do to
//! a log: each test is a way in which one did not open any more, or had counts without records.

use std::time::Duration;

use annals_event_log::{Content, EventLog, PiecesOf, Position, ReadModels, Redaction};
use annals_store_rocks::RocksLog;
use annals_testkit::fault_fs::{Effect, Errno, Fault, Operation, PathPattern, When};
use bytes::Bytes;
use futures::executor::block_on;

use crate::disk::{
    acknowledged, assert_sound, batch, close, cut, cut_off, disk, fault, numbers, open,
};

/// RocksDB's list of its tables fails to be brought to the disk, once.
fn no_list_of_tables(nth: u64, error: Errno) -> Fault {
    Fault {
        on: Operation::Sync,
        path: Some(PathPattern::Contains("MANIFEST".into())),
        nth,
        then: Effect::Fail(error),
    }
}

/// RocksDB fails to bring to the disk that it has taken a table of rows over, and removes the
/// table; what it wrote of it is there all the same.
#[test]
fn rows_that_were_not_quite_taken_over_do_not_keep_a_log_from_opening() {
    for cut_off in [false, true] {
        let Some((_home, disk)) = disk() else { return };
        let path = disk.path().join("log");
        let log = open(&path);
        acknowledged(&log, 1);
        disk.arm(no_list_of_tables(1, Errno::ENOSPC));
        let rows = (0..10_500_u32).map(|n| {
            let key = Bytes::copy_from_slice(&n.to_be_bytes());
            (key, Some(Bytes::from_static(b"row")))
        });
        let before = block_on(log.checkpoint("m")).unwrap();
        let failed = block_on(log.commit("m", before, rows.collect(), Position(1)));
        assert!(failed.is_err(), "its sync failed");
        assert_eq!(disk.fired().len(), 1);
        close(log);
        if cut_off {
            disk.power_off();
            cut(&disk);
        }
        let log = open(&path);
        assert_eq!(numbers(&log), [1]);
        acknowledged(&log, 2);
        let rows = block_on(log.scan("m", b"", None, 20_000)).unwrap().len();
        let at = block_on(log.checkpoint("m")).unwrap().position;
        assert!([(0, Position(0)), (rows, Position(1))].contains(&(rows, at)));
        assert_sound(&log);
        close(log);
        let left = std::fs::read_dir(&path).unwrap().flatten();
        let left: Vec<_> = left.map(|entry| entry.file_name()).collect();
        assert!(
            !left
                .iter()
                .any(|name| name.to_string_lossy().ends_with(".new")),
            "{left:?}"
        );
    }
}

/// The batch of this number, with a piece of content that can be redacted.
fn with_content(log: &RocksLog, number: u128) {
    let mut append = batch(number);
    let text = Bytes::from(format!("text of {number} ").repeat(50));
    for event in &mut append.events {
        event.content = vec![Content::Inline {
            salt: [7; 16],
            bytes: text.clone(),
        }];
    }
    block_on(log.append(append)).expect("it is acknowledged");
}

/// A purge rewrites tables, and RocksDB can't bring the list of the new ones to the disk: it keeps
/// them, as the disk may have the list. To set an option next made it forget that, and
/// remove them.
#[test]
fn a_purge_whose_list_of_tables_fails_does_not_keep_a_log_from_opening() {
    let mut failed = 0;
    for nth in 1.. {
        let Some((_home, disk)) = disk() else { return };
        let path = disk.path().join("log");
        let log = open(&path);
        (1..=3).for_each(|number| with_content(&log, number));
        let pieces = vec![0];
        let redaction = Redaction {
            append: batch(4),
            removed: vec![PiecesOf {
                position: Position(2),
                pieces,
            }],
            blobs: Vec::new(),
            seen: log.watermark(),
        };
        block_on(log.redact(redaction)).expect("it is redacted");
        disk.arm(no_list_of_tables(nth, Errno::EIO));
        let purged = log.purge();
        let fired = !disk.fired().is_empty();
        disk.disarm();
        assert!(fired || purged.is_ok(), "{purged:?}");
        failed += u32::from(purged.is_err());
        // The list is there then, though it was not synced.
        close(log);
        let log = open(&path);
        assert_eq!(numbers(&log), [1, 2, 3, 4], "list {nth}");
        assert_sound(&log);
        log.purge().expect("it is tried again");
        acknowledged(&log, 5);
        if !fired {
            break;
        }
    }
    assert!(failed > 3, "{failed} purges failed");
}

/// A write-ahead log could not be synced as the disk was full. RocksDB writes what it has in memory
/// to tables then, by itself, one column family after the other, and may be cut off by the power
/// at each of them.
#[test]
fn a_full_disk_and_a_cut_leave_no_counts_without_records() {
    let mut cuts = 0;
    // The first sync is the one that fails.
    for nth in 2.. {
        let Some((_home, disk)) = disk() else { return };
        let path = disk.path().join("log");
        let log = open(&path);
        (1..=3).for_each(|number| with_content(&log, number));
        let full = Effect::Fail(Errno::ENOSPC);
        disk.arm(Fault {
            on: Operation::Sync,
            path: None,
            nth,
            then: Effect::PowerOff(When::After),
        });
        disk.arm(fault(Operation::Sync, ".log", 1, full));
        block_on(log.append(batch(4))).expect_err("its sync failed");
        let was_off = disk.wait_for_power_off(Duration::from_secs(10));
        cut_off(&disk, log);
        let log = open(&path);
        let found = numbers(&log);
        assert!(found.starts_with(&[1, 2, 3]), "sync {nth}: {found:?}");
        assert_sound(&log);
        acknowledged(&log, 4);
        assert_eq!(numbers(&log), [1, 2, 3, 4], "sync {nth}");
        if !was_off {
            break;
        }
        cuts += 1;
    }
    assert!(cuts > 3, "{cuts} cuts");
}
