//! The end of a log that cannot be read: removed where it was not acknowledged, refused
//! where it was.

use std::fs;
use std::path::{Path, PathBuf};

use annals_event_log::Classified;
use annals_event_log::{
    Content, Digest, EventLog, NewEvent, PiecesOf, Position, ReadModels, Redaction,
};
use annals_store_rocks::{Behind, OpenError, PutBackError, RocksLog, Tail, TruncateError, Written};
use futures::executor::block_on;
use tempfile::TempDir;

use crate::support::{all, append, at, batch, close, event, fingerprint, new_log, options};

/// The write-ahead log that holds the last appends.
fn wal(path: &Path) -> PathBuf {
    let entries = fs::read_dir(path)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let logs = entries.filter(|path| path.extension().is_some_and(|e| e == "log"));
    logs.max_by_key(|path| fs::metadata(path).unwrap().len())
        .expect("a write-ahead log")
}

/// A closed log of three appends of 10, 20 and 30 records, and its write-ahead log's
/// length after each.
fn three_appends() -> (TempDir, PathBuf, Vec<usize>) {
    let (home, path, log) = new_log();
    let mut ends = Vec::new();
    for n in 1..=3 {
        append(&log, "run-1", n * 10);
        ends.push(fs::metadata(wal(&path)).unwrap().len() as usize);
    }
    close(log);
    (home, path, ends)
}

/// Writes what a writer publishes.
fn publish(path: &Path, position: u64) {
    let position = position.to_be_bytes();
    let check = Digest::of(&position).0;
    fs::write(
        path.join("WATERMARK"),
        [&position[..], &check[..8]].concat(),
    )
    .unwrap();
}

fn flip(file: &Path, at: usize) {
    let mut content = fs::read(file).unwrap();
    content[at] ^= 0xff;
    fs::write(file, content).unwrap();
}

#[test]
fn a_damaged_end_that_was_not_acknowledged_is_removed() {
    let (home, path, ends) = three_appends();
    // The third group is in the write-ahead log, damaged, and was never published.
    publish(&path, 30);
    flip(&wal(&path), (ends[1] + ends[2]) / 2);
    let damaged = fs::read(wal(&path)).unwrap();
    let name = wal(&path).file_name().unwrap().to_owned();
    let error = RocksLog::open(&path, &options()).expect_err("it is not just torn");
    assert!(matches!(error, OpenError::Corrupt { .. }), "{error:?}");

    let before = fingerprint(&path);
    let examined = RocksLog::examine(&path);
    assert_eq!(examined.acknowledged, Some(Position(30)));
    assert_eq!(examined.written, Written::No);
    match &examined.tail {
        Tail::Damaged {
            last,
            damage,
            behind,
        } => {
            assert_eq!((*last, *behind), (Position(30), Behind::Nothing));
            assert!(damage.contains("checksum"), "{damage}");
        }
        tail => panic!("{tail:?}"),
    }
    assert_eq!(fingerprint(&path), before, "it was only looked at");

    let report = RocksLog::truncate_tail(&path, &options()).expect("it is removed");
    assert_eq!(
        (report.last, report.acknowledged),
        (Position(30), Position(30))
    );
    let removed = report.removed.expect("something was removed");
    assert_eq!(
        removed.aside.parent(),
        Some(home.path().canonicalize().unwrap().as_path())
    );
    assert!(fs::read(removed.aside.join(name)).unwrap() == damaged);

    let log = RocksLog::open(&path, &options()).expect("it opens as any log");
    assert_eq!(all(&log).len(), 30);
    append(&log, "run-1", 5);
    assert!(log.verify(&mut |_| {}).unwrap().is_sound());
    close(log);
    let log = RocksLog::open(&path, &options()).expect("and again");
    assert_eq!(log.watermark(), Position(35));
    let leftovers = RocksLog::examine(&path).leftovers;
    assert_eq!(leftovers.len(), 1, "{leftovers:?}");
    assert_eq!(leftovers[0].path, removed.aside);
}

#[test]
fn groups_before_the_damage_are_kept_though_they_were_not_acknowledged() {
    let (_home, path, ends) = three_appends();
    publish(&path, 10);
    flip(&wal(&path), (ends[1] + ends[2]) / 2);
    let report = RocksLog::truncate_tail(&path, &options()).expect("it is removed");
    assert_eq!(
        (report.last, report.acknowledged),
        (Position(30), Position(10))
    );
}

/// A removal that would lose an acknowledged record is refused, and alters no byte.
#[test]
fn what_was_acknowledged_is_never_removed() {
    let (_home, path, ends) = three_appends();
    flip(&wal(&path), (ends[1] + ends[2]) / 2);
    let before = fingerprint(path.parent().unwrap());
    match RocksLog::truncate_tail(&path, &options()) {
        Err(
            error @ TruncateError::AcknowledgedLost {
                acknowledged: Position(60),
                damage: Some(_),
                ..
            },
        ) => {
            let text = error.to_string();
            assert!(text.contains("up to 30 "), "{text}");
            assert!(!error.is_retryable());
        }
        other => panic!("a refusal is expected, not {other:?}"),
    }
    assert_eq!(fingerprint(path.parent().unwrap()), before);
}

/// A power cut can leave WATERMARK older than what was acknowledged. A group is written only
/// when the one before it was synced, so where one is whole behind the damage, what is damaged
/// was acknowledged, regardless of what WATERMARK says.
#[test]
fn a_damage_with_something_whole_behind_it_is_left_alone_though_watermark_is_old() {
    for acknowledged in [0, 10, 60] {
        let (_home, path, ends) = three_appends();
        publish(&path, acknowledged);
        flip(&wal(&path), (ends[0] + ends[1]) / 2);
        let before = fingerprint(path.parent().unwrap());
        match RocksLog::examine(&path).tail {
            Tail::Damaged { last, behind, .. } => {
                assert_eq!((last, behind), (Position(10), Behind::Something));
            }
            tail => panic!("{tail:?}"),
        }
        match RocksLog::truncate_tail(&path, &options()) {
            Err(error @ TruncateError::WholeBehind { last, .. }) => {
                assert_eq!(last, Position(10));
                assert!(error.to_string().contains("restore the log from a backup"));
            }
            other => panic!("a refusal is expected, not {other:?}"),
        }
        assert_eq!(fingerprint(path.parent().unwrap()), before);
    }
}

/// A log as a kill leaves it: 10 records, a row of so many bytes that is damaged then, and 200
/// records.
fn with_a_damaged_row(bytes: usize) -> (TempDir, PathBuf) {
    let (home, written, log) = new_log();
    append(&log, "run-1", 10);
    let length = || fs::metadata(wal(&written)).unwrap().len() as usize;
    let begin = length();
    let rows = vec![("a".into(), Some(vec![7; bytes].into()))];
    block_on(log.commit("m", at(0), rows, Position(10))).unwrap();
    append(&log, "run-1", 200);
    let path = home.path().join("copy");
    copy(&written, &path);
    close(log);
    flip(&wal(&path), begin + bytes / 2);
    let error = RocksLog::open(&path, &options()).expect_err("it cannot be read");
    assert!(matches!(error, OpenError::Corrupt { .. }), "{error:?}");
    (home, path)
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

fn damaged_behind(path: &Path) -> (Position, Behind) {
    match RocksLog::examine(path).tail {
        Tail::Damaged { last, behind, .. } => (last, behind),
        tail => panic!("{tail:?}"),
    }
}

/// Rows of a read model are written without a sync, so in logs of older programs they may be
/// damaged with acknowledged groups behind them. No record is missing without them.
#[test]
fn damaged_rows_are_dropped_where_every_record_is_there() {
    // Over the end of a block of the write-ahead log, so that RocksDB gives up nothing else.
    let (_home, path) = with_a_damaged_row(50_000);
    let all_there = Behind::Everything(Position(210));
    assert_eq!(damaged_behind(&path), (Position(10), all_there));
    let report = RocksLog::truncate_tail(&path, &options()).expect("it is removed");
    assert_eq!(report.last, Position(210));
    let log = RocksLog::open(&path, &options()).unwrap();
    assert_eq!(all(&log).len(), 210);
    assert_eq!(block_on(log.checkpoint("m")).unwrap().position, Position(0));
    assert!(log.verify(&mut |_| {}).unwrap().is_sound());
}

/// RocksDB gives up all of a block behind a damage in it. A record that would go with it is
/// seen, and nothing is removed.
#[test]
fn what_is_whole_in_the_same_block_is_not_removed_with_the_damage() {
    let (_home, path) = with_a_damaged_row(1_000);
    let before = fingerprint(&path);
    assert_eq!(damaged_behind(&path), (Position(10), Behind::Something));
    let refused = RocksLog::truncate_tail(&path, &options());
    assert!(
        matches!(refused, Err(TruncateError::WholeBehind { .. })),
        "{refused:?}"
    );
    assert_eq!(fingerprint(&path), before);
}

#[test]
fn what_was_put_aside_is_put_back_unless_something_was_appended() {
    let (home, path, ends) = three_appends();
    publish(&path, 30);
    flip(&wal(&path), (ends[1] + ends[2]) / 2);
    let before = fingerprint(&path);
    let report = RocksLog::truncate_tail(&path, &options()).expect("it is removed");
    let aside = report.removed.expect("something was removed").aside;

    let report = RocksLog::put_back(&path, &aside).expect("it is put back");
    assert_eq!(fingerprint(&path), before, "as it was, byte for byte");
    let replaced = report.replaced.expect("the shorter log is kept");
    let log = RocksLog::open(&replaced, &options()).expect("it opens");
    assert_eq!(all(&log).len(), 30);
    close(log);

    let report = RocksLog::truncate_tail(&path, &options()).expect("it is removed again");
    let aside = report.removed.expect("something was removed").aside;
    let log = RocksLog::open(&path, &options()).unwrap();
    let busy = RocksLog::put_back(&path, &aside);
    assert!(
        matches!(busy, Err(PutBackError::Open(OpenError::Locked { .. }))),
        "{busy:?}"
    );
    append(&log, "run-1", 1);
    close(log);
    let before = fingerprint(home.path());
    let refused = RocksLog::put_back(&path, &aside);
    assert!(
        matches!(
            refused,
            Err(PutBackError::Appended {
                last: Position(31),
                ended: Position(30),
                ..
            })
        ),
        "{refused:?}"
    );
    let not_aside = RocksLog::put_back(&path, &replaced);
    assert!(
        matches!(not_aside, Err(PutBackError::NotAside { .. })),
        "{not_aside:?}"
    );
    assert_eq!(fingerprint(home.path()), before, "nothing was altered");
}

#[test]
fn records_that_are_just_missing_are_not_given_up_either() {
    let (_home, path, ends) = three_appends();
    let content = fs::read(wal(&path)).unwrap();
    fs::write(wal(&path), &content[..(ends[1] + ends[2]) / 2]).unwrap();
    let before = fingerprint(path.parent().unwrap());
    let refused = RocksLog::truncate_tail(&path, &options());
    assert!(
        matches!(
            refused,
            Err(TruncateError::AcknowledgedLost { damage: None, .. })
        ),
        "{refused:?}"
    );
    assert_eq!(fingerprint(path.parent().unwrap()), before);
}

#[test]
fn nothing_is_removed_where_nobody_knows_what_was_acknowledged() {
    let damages: [fn(&Path); 2] = [
        |path| fs::remove_file(path.join("WATERMARK")).unwrap(),
        |path| fs::write(path.join("WATERMARK"), [7; 16]).unwrap(),
    ];
    for damage in damages {
        let (_home, path, ends) = three_appends();
        flip(&wal(&path), (ends[1] + ends[2]) / 2);
        damage(&path);
        let before = fingerprint(path.parent().unwrap());
        let refused = RocksLog::truncate_tail(&path, &options());
        assert!(
            matches!(refused, Err(TruncateError::AcknowledgedUnknown { .. })),
            "{refused:?}"
        );
        assert_eq!(fingerprint(path.parent().unwrap()), before);
    }
}

/// What is left without it is not a log.
#[test]
fn the_write_that_created_a_log_is_not_removed() {
    let (_home, path, log) = new_log();
    close(log);
    flip(&wal(&path), 20);
    let before = fingerprint(path.parent().unwrap());
    let examined = RocksLog::examine(&path);
    match &examined.tail {
        Tail::Damaged { last, behind, .. } => {
            assert_eq!((*last, *behind), (Position(0), Behind::Creation));
        }
        tail => panic!("{tail:?}"),
    }
    match RocksLog::truncate_tail(&path, &options()) {
        Err(error @ TruncateError::CreationDamaged { .. }) => {
            let text = error.to_string();
            assert!(text.contains("annals log init"), "{text}");
            assert!(text.contains(&path.display().to_string()), "{text}");
        }
        other => panic!("a refusal is expected, not {other:?}"),
    }
    assert_eq!(fingerprint(path.parent().unwrap()), before);

    publish(&path, 1);
    let refused = RocksLog::truncate_tail(&path, &options());
    assert!(
        matches!(refused, Err(TruncateError::AcknowledgedLost { .. })),
        "{refused:?}"
    );
}

#[test]
fn a_sound_log_and_one_in_use_are_left_alone() {
    let (_home, path, _) = three_appends();
    let before = fingerprint(path.parent().unwrap());
    let report = RocksLog::truncate_tail(&path, &options()).expect("there is nothing to do");
    assert_eq!((report.last, report.removed), (Position(60), None));
    assert_eq!(fingerprint(path.parent().unwrap()), before);

    let log = RocksLog::open(&path, &options()).unwrap();
    let refused = RocksLog::truncate_tail(&path, &options());
    assert!(
        matches!(refused, Err(TruncateError::Open(OpenError::Locked { .. }))),
        "{refused:?}"
    );
    let examined = RocksLog::examine(&path);
    assert_eq!(examined.written, Written::Now);
    assert!(matches!(examined.tail, Tail::Unknown));
    append(&log, "run-1", 1);
    close(log);
}

#[test]
fn a_log_that_is_none_is_said_to_be_none() {
    let home = tempfile::tempdir().unwrap();
    let examined = RocksLog::examine(&home.path().join("log"));
    assert!(
        matches!(examined.identity, Err(OpenError::NotFound { .. })),
        "{examined:?}"
    );
    assert!(examined.free.is_some_and(|free| free > 0));
    let refused = RocksLog::truncate_tail(&home.path().join("log"), &options());
    assert!(
        matches!(
            refused,
            Err(TruncateError::Open(OpenError::NotFound { .. }))
        ),
        "{refused:?}"
    );
}

/// Two processes' write-ahead logs, the first without its last group: a file that just ends, as a
/// sync that never happened leaves it.
fn with_a_hole_between_two_logs() -> (TempDir, PathBuf) {
    let (home, path, log) = new_log();
    append(&log, "run-1", 10);
    let end = fs::metadata(wal(&path)).unwrap().len();
    append(&log, "run-1", 20);
    close(log);
    let first = wal(&path);
    let log = RocksLog::open(&path, &options()).unwrap();
    append(&log, "run-1", 30);
    close(log);
    let file = fs::OpenOptions::new().write(true).open(first).unwrap();
    file.set_len(end).unwrap();
    // The end of the file is that of a record; and no mark says how it should be.
    publish(&path, 10);
    (home, path)
}

#[test]
fn a_hole_between_two_write_ahead_logs_is_found_each_time_and_never_closed() {
    let (_home, path) = with_a_hole_between_two_logs();
    for _ in 0..2 {
        match RocksLog::open(&path, &options()) {
            Err(OpenError::Corrupt { reason, .. }) => {
                assert!(
                    reason.contains("from position 11 on are missing"),
                    "{reason}"
                );
            }
            other => panic!("a refusal is expected, not {other:?}"),
        }
        assert_eq!(damaged_behind(&path), (Position(10), Behind::Something));
        let refused = RocksLog::truncate_tail(&path, &options());
        assert!(
            matches!(refused, Err(TruncateError::WholeBehind { .. })),
            "{refused:?}"
        );
    }
    let reader = RocksLog::open_reader(&path, &options());
    let shown = reader.map(|log| all(&log).len());
    assert!(shown.as_ref().is_ok_and(|shown| *shown == 10), "{shown:?}");
}

/// The steps of a redaction have no records of their own: a damaged one is not taken for rows.
#[test]
fn a_damaged_step_of_a_redaction_is_not_given_up() {
    let small_steps = options()
        .with_redaction_step_bytes(1)
        .with_compression(false);
    let home = tempfile::tempdir().unwrap();
    let written = home.path().join("log");
    let log = RocksLog::create(&written, &small_steps).unwrap();
    let secret = |n: usize| NewEvent {
        structure: vec![n as u8; 50_000].into(),
        content: vec![Content::Inline {
            salt: [1; 16],
            bytes: format!("secret {n}").into(),
        }],
        ..event("run-1")
    };
    for n in 0..6 {
        block_on(log.append(batch(vec![secret(n)], Vec::new()))).unwrap();
    }
    // So that the log is not rewritten before it is copied.
    log.compact();
    let removed = (1..=6).map(|position| PiecesOf {
        position: Position(position),
        pieces: vec![0],
    });
    let redaction = Redaction {
        append: batch(vec![event("run-1")], Vec::new()),
        removed: removed.collect(),
        blobs: Vec::new(),
        seen: Position(6),
    };
    block_on(log.redact(redaction)).unwrap();
    append(&log, "run-1", 400);
    let path = home.path().join("copy");
    copy(&written, &path);
    close(log);

    // In the fourth record's rewritten form.
    let file = wal(&path);
    let content = fs::read(&file).unwrap();
    let at = content.windows(64).position(|part| part == [3; 64]);
    flip(&file, at.expect("it is there") + 2_000);
    assert!(RocksLog::open(&path, &options()).is_err());
    let (_, behind) = damaged_behind(&path);
    assert_eq!(behind, Behind::Something);
    let refused = RocksLog::truncate_tail(&path, &options());
    assert!(
        matches!(refused, Err(TruncateError::WholeBehind { .. })),
        "{refused:?}"
    );
}

/// Where the log's path is a link, what it leads to is replaced.
#[test]
fn a_log_is_put_back_behind_a_link() {
    let (home, path, ends) = three_appends();
    publish(&path, 30);
    flip(&wal(&path), (ends[1] + ends[2]) / 2);
    let link = home.path().join("link");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let before = fingerprint(&path);
    let report = RocksLog::truncate_tail(&link, &options()).expect("it is removed");
    let aside = report.removed.expect("something was removed").aside;
    let report = RocksLog::put_back(&link, &aside).expect("it is put back");
    assert_eq!(fingerprint(&path), before);
    assert!(report.replaced.is_some_and(|replaced| replaced.is_dir()));
    assert!(link.is_symlink());
}

/// A log of which the third append was removed, and the folder with it as it was.
fn with_a_copy_aside() -> (TempDir, PathBuf, PathBuf) {
    let (home, path, ends) = three_appends();
    publish(&path, 30);
    flip(&wal(&path), (ends[1] + ends[2]) / 2);
    let report = RocksLog::truncate_tail(&path, &options()).expect("it is removed");
    let aside = report.removed.expect("something was removed").aside;
    (home, path, aside)
}

/// What a removal that failed left may not open at all; it is kept next to the log.
#[test]
fn a_log_is_put_back_in_the_place_of_one_that_does_not_open() {
    let (_home, path, ends) = three_appends();
    publish(&path, 30);
    flip(&wal(&path), (ends[1] + ends[2]) / 2);
    let before = fingerprint(&path);
    let report = RocksLog::truncate_tail(&path, &options()).expect("it is removed");
    let aside = report.removed.expect("something was removed").aside;
    fs::remove_file(path.join("CURRENT")).unwrap();
    RocksLog::put_back(&path, &aside).expect("it is put back");
    assert_eq!(fingerprint(&path), before);
}

/// What was acknowledged since cannot be read; WATERMARK tells of it all the same.
#[test]
fn a_log_is_not_put_back_over_acknowledged_records_that_cannot_be_read() {
    for with_watermark in [true, false] {
        let (_home, path, aside) = with_a_copy_aside();
        let log = RocksLog::open(&path, &options()).unwrap();
        append(&log, "run-1", 1);
        close(log);
        fs::remove_file(path.join("CURRENT")).unwrap();
        if !with_watermark {
            fs::remove_file(path.join("WATERMARK")).unwrap();
        }
        let before = fingerprint(path.parent().unwrap());
        let refused = RocksLog::put_back(&path, &aside);
        match (&refused, with_watermark) {
            (Err(PutBackError::Appended { last, ended, .. }), true) => {
                assert_eq!((*last, *ended), (Position(31), Position(30)));
            }
            (Err(PutBackError::Unknown { .. }), false) => {}
            _ => panic!("{refused:?}"),
        }
        assert_eq!(fingerprint(path.parent().unwrap()), before);
    }
}

#[test]
fn a_log_is_not_put_back_in_its_own_place_or_while_a_process_writes_to_it() {
    let (_home, path, aside) = with_a_copy_aside();
    let before = fingerprint(path.parent().unwrap());
    let refused = RocksLog::put_back(&aside, &aside);
    assert!(
        matches!(refused, Err(PutBackError::NotAside { .. })),
        "{refused:?}"
    );
    assert_eq!(fingerprint(path.parent().unwrap()), before);
    let lock = fs::File::open(aside.join("ANNALS")).unwrap();
    lock.lock().unwrap();
    let refused = RocksLog::put_back(&path, &aside);
    assert!(
        matches!(refused, Err(PutBackError::Open(OpenError::Locked { .. }))),
        "{refused:?}"
    );
}

/// RocksDB would read the record with that type for ever, regardless of who opens the log.
#[test]
fn a_record_of_a_wrong_type_is_a_damage_like_any_other() {
    for acknowledged in [30, 60] {
        let (_home, path, ends) = three_appends();
        publish(&path, acknowledged);
        let mut content = fs::read(wal(&path)).unwrap();
        // The type in the header of the third append's first record.
        content[ends[1] + 6] = 7;
        fs::write(wal(&path), content).unwrap();
        for error in [
            RocksLog::open(&path, &options()).expect_err("for writing"),
            RocksLog::open_reader(&path, &options()).expect_err("for reading"),
        ] {
            assert!(matches!(error, OpenError::Corrupt { .. }), "{error:?}");
        }
        assert_eq!(damaged_behind(&path), (Position(30), Behind::Nothing));
        let before = fingerprint(&path);
        match RocksLog::truncate_tail(&path, &options()) {
            Ok(report) if acknowledged == 30 => {
                let aside = report.removed.expect("something was removed").aside;
                let log = RocksLog::open(&path, &options()).expect("it opens");
                assert_eq!(all(&log).len(), 30);
                close(log);
                RocksLog::put_back(&path, &aside).expect("it is put back");
            }
            Err(TruncateError::AcknowledgedLost { .. }) if acknowledged == 60 => {}
            other => panic!("{other:?}"),
        }
        assert_eq!(fingerprint(&path), before);
    }
}

/// A table is not the end of the log: removing what comes behind the newest one repairs nothing.
#[test]
fn a_damaged_table_is_not_taken_for_a_damaged_end() {
    let (_home, path, log) = new_log();
    append(&log, "run-1", 20);
    log.compact();
    append(&log, "run-1", 5);
    close(log);
    let tables = fs::read_dir(&path)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let tables = tables.filter(|path| path.extension().is_some_and(|e| e == "sst"));
    let whole = fingerprint(&path);
    let (mut refused, mut unread) = (0, 0);
    for table in tables.collect::<Vec<_>>() {
        let content = fs::read(&table).unwrap();
        for at in (0..content.len()).step_by(97) {
            flip(&table, at);
            let before = fingerprint(&path);
            match RocksLog::truncate_tail(&path, &options()) {
                Ok(report) => {
                    assert_eq!(report.removed, None, "{} at {at}", table.display());
                    unread += 1;
                }
                Err(TruncateError::Open(OpenError::Corrupt { .. })) => refused += 1,
                Err(other) => panic!("{} at {at}: {other}", table.display()),
            }
            assert_eq!(fingerprint(&path), before, "{} at {at}", table.display());
            fs::write(&table, &content).unwrap();
        }
    }
    assert_eq!(fingerprint(&path), whole);
    assert!(
        refused > 20 && unread > 0,
        "{refused} refused, {unread} unread"
    );
}
