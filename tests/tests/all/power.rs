//! Power cuts and failing disks, on a file system whose power can be cut: each test is a way
//! in which something that was acknowledged was lost, or was shown although it could vanish.
//!
//! `kill.rs` shows what a killed process leaves: nothing of it is lost, as the operating
//! system lives on. Here it does not.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use annals_event_log::Classified;
use annals_event_log::{EventLog, ModelCheckpoint, Position, ReadModels};
use annals_store_rocks::RocksLog;
use annals_testkit::fault_fs::{
    Cut, Effect, Errno, Fault, FaultFs, Hook, Knobs, Operation, Survival, When,
};
use futures::executor::block_on;

use crate::disk::{
    acknowledged, assert_sound, batch, close, commit, cut, cut_off, disk, fault, keys, numbers,
    open, options, rests, wait_until,
};
use crate::support::child;

const CHILD: &str = "ANNALS_POWER_CHILD";

/// Not a test by itself: the process that is killed in the sync of its second batch.
#[test]
fn child_appends_two_batches() {
    let Some(directory) = std::env::var_os(CHILD) else {
        return;
    };
    let log = open(Path::new(&directory));
    acknowledged(&log, 1);
    // The parent arms the fault now.
    let mut line = String::new();
    println!("\nfirst");
    std::io::stdin().read_line(&mut line).expect("a line");
    acknowledged(&log, 2);
    println!("\nsecond");
}

/// Runs that child until it is killed inside a sync of its write-ahead log.
fn killed_in_its_sync(disk: &FaultFs, path: &Path) {
    use std::io::{BufRead, BufReader};
    let mut command = child("power::child_appends_two_batches", CHILD, path);
    command
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped());
    let mut process = command.spawn().expect("a child");
    let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap() == "first"));
    let mut stdin = process.stdin.take().unwrap();
    let process = Arc::new(Mutex::new(process));
    let victim = Arc::clone(&process);
    let kill = Hook::new(move |event| {
        let mut victim = victim.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = victim.kill();
        // The sync does not happen any more.
        event.fail(Errno::EIO);
    });
    disk.arm(fault(Operation::Sync, ".log", 1, Effect::Hook(kill)));
    stdin.write_all(b"go on\n").unwrap();
    let second = lines.any(|line| line.is_ok_and(|line| line == "second"));
    assert!(!second, "it was killed before the acknowledgement");
    let _ = process.lock().unwrap().wait();
    disk.disarm();
}

/// The writer's sync did not happen; the next process finds the batch in the operating system's
/// memory, answers its repeat and goes on. All of that must be durable then.
#[test]
fn what_a_killed_writer_left_unsynced_is_durable_before_it_is_answered() {
    let Some((_home, disk)) = disk() else { return };
    let path = disk.path().join("log");
    killed_in_its_sync(&disk, &path);
    let log = open(&path);
    let repeated = acknowledged(&log, 2);
    assert_eq!(repeated.first, Position(2));
    acknowledged(&log, 3);
    cut_off(&disk, log);
    let log = open(&path);
    assert_eq!(numbers(&log), [1, 2, 3]);
    assert_sound(&log);
    acknowledged(&log, 4);
}

/// What a reader is shown by then must not vanish either.
#[test]
fn what_a_reader_was_shown_after_a_kill_survives_the_power() {
    let Some((_home, disk)) = disk() else { return };
    let path = disk.path().join("log");
    killed_in_its_sync(&disk, &path);
    let reader = RocksLog::open_reader(&path, &options()).expect("a reader");
    let shown = numbers(&reader);
    close(reader);
    cut(&disk);
    let log = open(&path);
    assert!(numbers(&log).starts_with(&shown), "{shown:?} was shown");
}

/// After a sync that failed, Linux takes the pages for clean: they are still there to be read,
/// and the next sync succeeds without writing them.
#[test]
fn what_a_failed_sync_left_is_written_again_before_it_is_answered() {
    let Some((_home, disk)) = disk() else { return };
    let path = disk.path().join("log");
    let log = open(&path);
    acknowledged(&log, 1);
    disk.arm(fault(Operation::Sync, ".log", 1, Effect::FailAndForget));
    let failed = block_on(log.append(batch(2))).expect_err("its sync failed");
    assert!(failed.is_retryable(), "{failed}");
    assert_eq!(disk.fired().len(), 1);
    close(log);
    let log = open(&path);
    acknowledged(&log, 2);
    acknowledged(&log, 3);
    cut_off(&disk, log);
    let log = open(&path);
    assert_eq!(numbers(&log), [1, 2, 3]);
    assert_sound(&log);
}

/// Each process ends in order, with rows that were not synced by a later group: no hole is left
/// in a write-ahead log that the next process goes on from.
#[test]
fn short_processes_that_end_in_order_leave_no_hole() {
    for appends in [1, 3, 6] {
        let Some((_home, disk)) = disk() else { return };
        let path = disk.path().join("log");
        for process in 0..2_u8 {
            let log = open(&path);
            for n in 0..appends {
                acknowledged(&log, u128::from(process) * 100 + n + 1);
            }
            commit(&log, process);
            close(log);
        }
        disk.power_off();
        cut(&disk);
        let reader = RocksLog::open_reader(&path, &options()).expect("a reader");
        assert_eq!(numbers(&reader).len() as u128, 2 * appends, "for a reader");
        assert_eq!(reader.unpublished(), None);
        assert_eq!(keys(&reader), [0, 1]);
        close(reader);
        let log = open(&path);
        assert_eq!(numbers(&log).len() as u128, 2 * appends);
        assert_eq!(keys(&log), [0, 1]);
        assert_sound(&log);
        acknowledged(&log, 1_000);
    }
}

/// Rows of an earlier process are in its write-ahead log, and later ones in tables: a cut must
/// not take the older ones away and leave the newer ones with their checkpoint.
#[test]
fn older_rows_are_not_lost_behind_newer_ones() {
    let Some((_home, disk)) = disk() else { return };
    let path = disk.path().join("log");
    let log = open(&path);
    for key in 0..5 {
        acknowledged(&log, u128::from(key) + 1);
        commit(&log, key);
    }
    close(log);
    let log = open(&path);
    for key in 5..10 {
        acknowledged(&log, u128::from(key) + 1);
        commit(&log, key);
    }
    log.compact();
    cut_off(&disk, log);
    let log = open(&path);
    let checkpoint = block_on(log.checkpoint("m")).unwrap().position;
    let expected: Vec<u8> = (0..u8::try_from(checkpoint.0).unwrap()).collect();
    assert_eq!(keys(&log), expected, "those up to its checkpoint");
    assert_eq!(numbers(&log).len(), 10);
    assert_sound(&log);
}

/// `doctor --truncate-tail` relies on WATERMARK, so that must not be old.
#[test]
fn watermark_is_durable_a_moment_after_an_acknowledgement() {
    let Some((_home, disk)) = disk() else { return };
    let path = disk.path().join("log");
    let log = open(&path);
    for number in 1..=50 {
        acknowledged(&log, number);
    }
    rests(&disk);
    cut_off(&disk, log);
    assert_eq!(RocksLog::examine(&path).acknowledged, Some(Position(50)));
}

/// WATERMARK is overwritten in place, and a cut may tear it at any byte. What was said a while
/// before is known all the same.
#[test]
fn a_watermark_that_is_torn_says_what_was_said_before() {
    let knobs = Knobs {
        writes: Survival::Prefix,
        tear: true,
        ..Knobs::default()
    };
    let mut torn = 0;
    for seed in 0..24 {
        let Some((_home, disk)) = disk() else { return };
        let path = disk.path().join("log");
        let position = || std::fs::read(path.join("WATERMARK")).unwrap()[..16].to_vec();
        let log = open(&path);
        acknowledged(&log, 1);
        rests(&disk);
        let before = position();
        acknowledged(&log, 2);
        let after = position();
        disk.power_off();
        drop(log);
        disk.power_on(&Cut::Tuned { seed, knobs });
        torn += usize::from(![before, after].contains(&position()));
        let said = RocksLog::examine(&path).acknowledged;
        assert!(said >= Some(Position(1)), "{said:?}, seed {seed}");
    }
    assert!(torn > 0, "no cut has torn it");
}

/// A sync of WATERMARK that fails once is tried again, though nothing is appended any more.
#[test]
fn a_watermark_whose_sync_failed_is_synced_later() {
    let Some((_home, disk)) = disk() else { return };
    let path = disk.path().join("log");
    let log = open(&path);
    let once = fault(Operation::Sync, "WATERMARK", 1, Effect::FailAndForget);
    disk.arm(once);
    acknowledged(&log, 1);
    wait_until(|| !disk.fired().is_empty());
    rests(&disk);
    cut_off(&disk, log);
    assert_eq!(RocksLog::examine(&path).acknowledged, Some(Position(1)));
}

/// Without a sync for each group what is said at close must still be true: the next process
/// builds on it.
#[test]
fn a_log_that_was_written_without_syncs_is_durable_when_it_is_closed() {
    let Some((_home, disk)) = disk() else { return };
    let path = disk.path().join("log");
    let careless = options().with_sync(false);
    let log = RocksLog::open_or_create(&path, &careless).unwrap();
    acknowledged(&log, 1);
    close(log);
    let log = open(&path);
    acknowledged(&log, 2);
    cut_off(&disk, log);
    let log = open(&path);
    assert_eq!(numbers(&log), [1, 2]);
    assert_sound(&log);
}

/// Folders that an interrupted creation made are not on the disk yet.
#[test]
fn folders_that_were_there_before_a_creation_survive_with_it() {
    let Some((_home, disk)) = disk() else { return };
    let path = disk.path().join("new").join("folders").join("log");
    std::fs::create_dir_all(&path).unwrap();
    let log = open(&path);
    acknowledged(&log, 1);
    cut_off(&disk, log);
    assert_eq!(numbers(&open(&path)), [1]);
}

/// A reader that comes before any writer does not know whether what is behind WATERMARK is
/// durable. It says so, and shows no rows that were folded from it.
#[test]
fn a_reader_after_a_cut_says_what_it_does_not_show() {
    let Some((_home, disk)) = disk() else { return };
    let path = disk.path().join("log");
    let log = open(&path);
    acknowledged(&log, 1);
    close(log);
    let log = open(&path);
    let sync = fault(
        Operation::Sync,
        "WATERMARK",
        1,
        Effect::KeepFailing(Errno::EIO),
    );
    disk.arm(sync);
    for number in 2..=9 {
        acknowledged(&log, number);
    }
    commit(&log, 7);
    // The rows are synced with the next group.
    acknowledged(&log, 10);
    cut_off(&disk, log);
    let reader = RocksLog::open_reader(&path, &options()).expect("a reader");
    assert_eq!(numbers(&reader), [1]);
    assert_eq!(reader.unpublished(), Some(Position(10)), "it says so");
    let counted = block_on(reader.stats()).expect("counts");
    let what = (counted.position, counted.streams, counted.batches);
    assert_eq!(what, (Position(1), 1, 1), "nothing that may vanish");
    assert_eq!(keys(&reader), [] as [u8; 0]);
    let checkpoint = block_on(reader.checkpoint("m")).unwrap();
    assert_eq!(checkpoint, ModelCheckpoint::default());

    let log = open(&path);
    assert_eq!(numbers(&log), (1..=10).collect::<Vec<u128>>());
    assert_eq!(keys(&log), [7]);
    assert_eq!(numbers(&reader).len(), 10, "now it is known");
    assert_eq!(reader.unpublished(), None);
    assert_eq!(keys(&reader), [7]);
    assert_sound(&log);
}

/// Not a test by itself: a process that creates a log at a relative path, and backs it up to
/// another.
#[test]
fn child_uses_relative_paths() {
    let Some(directory) = std::env::var_os(CHILD) else {
        return;
    };
    std::env::set_current_dir(directory).expect("the disk");
    let log = open(Path::new("log"));
    acknowledged(&log, 1);
    log.backup(Path::new("copy")).expect("a backup");
    log.backup(Path::new("new/folders/copy")).expect("a backup");
    std::process::exit(0);
}

#[test]
fn the_names_of_logs_and_backups_at_relative_paths_survive() {
    let Some((_home, disk)) = disk() else { return };
    let process = child("power::child_uses_relative_paths", CHILD, disk.path()).status();
    assert!(process.unwrap().success());
    disk.power_off();
    cut(&disk);
    for place in ["log", "copy", "new/folders/copy"] {
        let log = RocksLog::open(&disk.path().join(place), &options());
        let log = log.unwrap_or_else(|error| panic!("{place}: {error}"));
        assert_eq!(numbers(&log), [1], "{place}");
    }
}

#[test]
fn the_names_of_new_folders_above_a_log_survive() {
    let Some((_home, disk)) = disk() else { return };
    let path: PathBuf = disk.path().join("new/folders/log");
    let log = open(&path);
    acknowledged(&log, 1);
    cut_off(&disk, log);
    assert_eq!(numbers(&open(&path)), [1]);
}

/// The power goes within the opening of a log that a killed process left, at each of the first
/// operations and at ever wider steps behind them: recovery itself loses nothing.
#[test]
fn a_cut_at_any_moment_of_a_recovery_loses_nothing() {
    let Some((_home, disk)) = disk() else { return };
    let (mut nth, mut cuts) = (0, 0);
    loop {
        nth += 1 + nth / 6;
        cuts += 1;
        let path = disk.path().join(format!("log-{nth}"));
        killed_in_its_sync(&disk, &path);
        disk.arm(Fault {
            on: Operation::Change,
            path: None,
            nth,
            then: Effect::PowerOff(When::Before),
        });
        // Both batches, acknowledged by this process or not at all.
        let told = RocksLog::open(&path, &options()).ok().map(|log| {
            let told = block_on(log.append(batch(2))).is_ok();
            close(log);
            told
        });
        let was_off = !disk.is_powered();
        disk.power_off();
        let cut = match cuts % 2 {
            0 => Cut::DropAll,
            _ => Cut::Random { seed: nth },
        };
        disk.power_on(&cut);
        let log = open(&path);
        let found = numbers(&log);
        let expected: &[&[u128]] = match told {
            Some(true) => &[&[1, 2]],
            _ => &[&[1], &[1, 2]],
        };
        assert!(expected.contains(&&*found), "at {nth}: {found:?}");
        assert_sound(&log);
        acknowledged(&log, 2);
        assert_eq!(numbers(&log), [1, 2], "at {nth}");
        close(log);
        if !was_off {
            break; // it has fewer operations than that
        }
    }
    assert!(cuts > 10, "there were {nth} moments, and {cuts} cuts");
}
