//! Backups: consistent while writers run, and logs of their own.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use annals_event_log::{Blobs, EventLog, Position, ReadModels};
use annals_store_rocks::{BackupError, RocksLog};
use bytes::Bytes;
use futures::executor::block_on;

use crate::support::{
    all, append, at, batch, close, event_with_blob, fingerprint, new_log, options,
};

/// Writes without a pause while `take` makes backups; each must hold all that
/// was acknowledged before it, and verify.
fn while_writing(take: impl Fn(&RocksLog, &std::path::Path) -> Position + Sync) {
    let (home, _path, log) = new_log();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        for writer in 0..3 {
            let (log, done) = (&log, &done);
            scope.spawn(move || {
                let mut n = 0_u32;
                while !done.load(Ordering::Acquire) {
                    append(log, &format!("run-{writer}"), 7);
                    n += 1;
                    let (with_blob, blob) =
                        event_with_blob("run-blobs", &n.to_be_bytes().repeat(2_000));
                    block_on(log.append(batch(vec![with_blob], vec![blob]))).unwrap();
                }
            });
        }
        for n in 0..3 {
            let dest = home.path().join(format!("backup-{n}"));
            if n == 1 {
                std::fs::create_dir(&dest).unwrap();
            }
            while log.watermark() < Position(200 * (n + 1)) {
                thread::yield_now();
            }
            let acknowledged = log.watermark();
            let position = take(&log, &dest);
            assert!(
                position >= acknowledged,
                "{position} was copied, {acknowledged} acknowledged"
            );
            let copy = RocksLog::open(&dest, &options()).expect("a backup is a log");
            assert_eq!(copy.watermark(), position);
            assert_eq!(copy.log_id(), log.log_id());
            let report = copy.verify(&mut |_| {}).unwrap();
            assert!(report.is_sound(), "{:#?}", report.findings);
            assert_eq!(report.records, position.0);
            // It goes on by itself.
            append(&copy, "run-own", 1);
            close(copy);
        }
        done.store(true, Ordering::Release);
    });
    let leftovers = std::fs::read_dir(home.path()).unwrap().count();
    assert_eq!(leftovers, 4, "the log, three backups and nothing half made");
}

#[test]
fn a_writers_backup_is_consistent_while_it_writes() {
    while_writing(|log, dest| log.backup(dest).expect("a backup").position);
}

#[test]
fn a_readers_backup_is_consistent_while_another_writes() {
    while_writing(|_, dest| {
        let path = dest.parent().unwrap().join("log");
        let reader = RocksLog::open_reader(&path, &options()).expect("a reader");
        reader.backup(dest).expect("a backup").position
    });
}

#[test]
fn a_backup_holds_everything_and_leaves_the_log_as_it_was() {
    let (home, path, log) = new_log();
    append(&log, "run-1", 500);
    let (with_blob, blob) = event_with_blob("run-2", &[5; 100_000]);
    let digest = blob.digest();
    block_on(log.append(batch(vec![with_blob], vec![blob.clone()]))).unwrap();
    let row = (
        Bytes::from_static(b"key"),
        Some(Bytes::from_static(b"value")),
    );
    block_on(log.commit("model", at(0), vec![row], Position(501))).unwrap();
    let dest = home.path().join("deep/copy");
    let report = log.backup(&dest).expect("a backup");
    assert_eq!(
        (report.position, report.path.as_path()),
        (Position(501), dest.as_path())
    );
    assert!(report.bytes > 0);
    append(&log, "run-1", 1);
    assert_eq!(all(&log).len(), 502);

    let before = fingerprint(&dest);
    let reader = RocksLog::open_reader(&dest, &options()).expect("readers open it as it is");
    assert_eq!(all(&reader).len(), 501);
    assert_eq!(
        block_on(reader.blob(digest)).unwrap().as_ref(),
        Some(blob.bytes())
    );
    assert_eq!(
        block_on(reader.checkpoint("model")).unwrap().position,
        Position(501)
    );
    assert_eq!(
        block_on(reader.get("model", b"key")).unwrap().as_deref(),
        Some(&b"value"[..])
    );
    close(reader);
    assert_eq!(fingerprint(&dest), before);
    close(log);
    assert!(path.exists());
}

#[test]
fn a_destination_in_use_is_refused() {
    let (home, path, log) = new_log();
    append(&log, "run-1", 1);
    let file = home.path().join("file");
    std::fs::write(&file, "text").unwrap();
    for dest in [path, file] {
        let error = log.backup(&dest).expect_err("something is there");
        assert!(matches!(error, BackupError::NotEmpty { .. }), "{error:?}");
    }
    let clone = log.clone();
    close(log);
    let error = clone
        .backup(&home.path().join("late"))
        .expect_err("it is closed");
    assert!(matches!(error, BackupError::Closed), "{error:?}");
    assert!(!home.path().join("late").exists());
}
