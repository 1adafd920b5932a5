//! Logs of older programs have content of 4 KiB and more in blob files. Their readers lose nothing when such a file
//! goes, and a damaged one is reported.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use annals_event_log::{
    Blobs, Classified, Content, Digest, ErrorClass, EventLog, NewEvent, PiecesOf, Position,
    Redaction,
};
use annals_store_rocks::{Options, RocksLog, Tail};
use bytes::Bytes;
use futures::executor::block_on;

use crate::support::{batch, close, copy_of, event, event_with_blob, options};

/// Options as older programs had them.
fn old() -> Options {
    options().with_blob_files(true)
}

/// Appends content with its event.
fn add(log: &RocksLog, content: &[u8]) -> Digest {
    let (event, blob) = event_with_blob("run-1", content);
    let digest = blob.digest();
    block_on(log.append(batch(vec![event], vec![blob]))).unwrap();
    digest
}

fn reason() -> NewEvent {
    let bytes = Bytes::from_static(b"why");
    let salt = [5; 16];
    NewEvent {
        content: vec![Content::Inline { salt, bytes }],
        ..event("run-2")
    }
}

/// Removes the content of the record at a position.
fn remove(log: &RocksLog, position: u64, digest: Digest) {
    let redaction = Redaction {
        append: batch(vec![reason()], Vec::new()),
        removed: vec![PiecesOf {
            position: Position(position),
            pieces: vec![0],
        }],
        blobs: vec![digest],
        seen: log.watermark(),
    };
    block_on(log.redact(redaction)).unwrap();
    log.purge().unwrap();
}

fn blob_files(path: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(path).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths
        .filter(|path| path.extension().is_some_and(|ending| ending == "blob"))
        .collect()
}

fn content(log: &RocksLog, digest: Digest) -> Option<usize> {
    let blob = block_on(log.blob(digest)).unwrap();
    blob.map(|blob| blob.len())
}

const SMALL: usize = 1_000;
const LARGE: usize = 9_000;

/// A log with a small and a large blob in tables.
fn filled(path: &Path, options: &Options) -> (RocksLog, Digest, Digest) {
    let log = RocksLog::create(path, options).unwrap();
    let small = add(&log, &[1; SMALL]);
    let large = add(&log, &[2; LARGE]);
    log.compact();
    (log, small, large)
}

#[test]
fn readers_keep_the_other_content_when_the_last_blob_file_goes() {
    for (writer, with_file) in [(old(), true), (options(), false)] {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("log");
        let (log, small, large) = filled(&path, &writer);
        assert_eq!(!blob_files(&path).is_empty(), with_file);
        let before = RocksLog::open_reader(&path, &options()).unwrap();
        assert_eq!(content(&before, large), Some(LARGE));
        remove(&log, 2, large);
        assert_eq!(blob_files(&path), Vec::<PathBuf>::new());
        block_on(before.catch_up()).unwrap();
        let after = RocksLog::open_reader(&path, &options()).unwrap();
        for (name, reader) in [("before", &before), ("after", &after)] {
            assert_eq!(content(reader, small), Some(SMALL), "{name}");
            assert_eq!(content(reader, large), None, "{name}");
            let report = reader.verify(&mut |_| {}).unwrap();
            assert!(report.is_sound(), "{name}: {:#?}", report.findings);
            let copy = home.path().join(name);
            reader.backup(&copy).unwrap();
            let copy = RocksLog::open_reader(&copy, &options()).unwrap();
            assert!(copy.verify(&mut |_| {}).unwrap().is_sound(), "{name}");
            close(copy);
        }
        // What comes then is seen by both, and next to no writer, too.
        let more = add(&log, &[3; LARGE]);
        close(log);
        let alone = RocksLog::open_reader(&path, &options()).unwrap();
        for (name, reader) in [("before", &before), ("after", &after), ("alone", &alone)] {
            assert_eq!(content(reader, more), Some(LARGE), "{name}");
            assert_eq!(content(reader, small), Some(SMALL), "{name}");
        }
        for log in [before, after, alone] {
            close(log);
        }
    }
}

/// A blob file goes while an older one is still in use.
#[test]
fn readers_keep_the_other_content_when_a_newer_blob_file_goes() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("log");
    let (log, small, large) = filled(&path, &old());
    let before = RocksLog::open_reader(&path, &options()).unwrap();
    let second = add(&log, &[4; LARGE]);
    let third = add(&log, &[5; LARGE]);
    log.compact();
    remove(&log, 4, third);
    for reader in [&before, &RocksLog::open_reader(&path, &options()).unwrap()] {
        block_on(reader.catch_up()).unwrap();
        assert_eq!(content(reader, small), Some(SMALL));
        assert_eq!(content(reader, large), Some(LARGE));
        assert_eq!(content(reader, second), Some(LARGE));
        assert_eq!(content(reader, third), None);
    }
    close(before);
    close(log);
}

#[test]
fn content_is_there_for_readers_all_the_time_while_a_redaction_runs() {
    for writer in [old(), options()] {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("log");
        let (log, small, large) = filled(&path, &writer);
        let is_done = AtomicBool::new(false);
        let stays = RocksLog::open_reader(&path, &options()).unwrap();
        std::thread::scope(|scope| {
            let look = scope.spawn(|| {
                let mut looks = 0;
                while !is_done.load(Ordering::SeqCst) || looks == 0 {
                    let fresh = RocksLog::open_reader(&path, &options()).unwrap();
                    for reader in [&fresh, &stays] {
                        let _ = block_on(reader.catch_up());
                        match block_on(reader.blob(small)) {
                            Ok(found) => assert!(found.is_some(), "after {looks} looks"),
                            Err(error) => assert_eq!(error.class(), ErrorClass::Contended),
                        }
                    }
                    close(fresh);
                    looks += 1;
                }
            });
            remove(&log, 2, large);
            is_done.store(true, Ordering::SeqCst);
            look.join().unwrap();
        });
        close(stays);
        close(log);
    }
}

#[test]
fn a_missing_or_damaged_blob_file_is_damage_that_names_the_file() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("log");
    let (log, small, large) = filled(&path, &old());
    close(log);
    let name = blob_files(&path)[0].file_name().unwrap().to_owned();
    for damage in ["missing", "cut", "grown", "empty"] {
        let copy = copy_of(&path);
        let file = copy.path().join(&name);
        let mut bytes = fs::read(&file).unwrap();
        match damage {
            "missing" => fs::remove_file(&file).unwrap(),
            "cut" => fs::write(&file, &bytes[..bytes.len() - 10]).unwrap(),
            "grown" => {
                bytes.extend([0; 100]);
                fs::write(&file, &bytes).unwrap();
            }
            _ => fs::write(&file, []).unwrap(),
        }
        let named = name.to_string_lossy();
        let reader = RocksLog::open_reader(copy.path(), &options()).unwrap();
        assert_eq!(content(&reader, small), Some(SMALL), "{damage}");
        let error = block_on(reader.blob(large)).unwrap_err();
        assert_eq!(error.class(), ErrorClass::Corrupt, "{damage}: {error}");
        let said = format!("{error} {:?}", std::error::Error::source(&error));
        assert!(said.contains(&*named), "{damage}: {said}");
        let error = reader.backup(&home.path().join(damage)).unwrap_err();
        assert_eq!(error.class(), ErrorClass::Corrupt, "{damage}: {error}");
        assert!(!reader.verify(&mut |_| {}).unwrap().is_sound(), "{damage}");
        close(reader);
        match RocksLog::examine(copy.path()).tail {
            Tail::Unreadable(error) => {
                assert_eq!(error.class(), ErrorClass::Corrupt);
                assert!(error.to_string().contains(&*named), "{damage}: {error}");
            }
            tail => panic!("{damage}: {tail:?}"),
        }
    }
}

#[test]
fn content_in_blob_files_goes_to_tables_when_files_are_rewritten() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("log");
    let (log, small, large) = filled(&path, &old());
    close(log);
    assert_eq!(blob_files(&path).len(), 1);
    let log = RocksLog::open(&path, &options()).unwrap();
    assert_eq!(content(&log, large), Some(LARGE));
    let more = add(&log, &[3; LARGE]);
    log.compact();
    assert_eq!(blob_files(&path).len(), 1, "nothing new is written to one");
    log.purge().unwrap();
    assert_eq!(blob_files(&path).len(), 0);
    for (digest, length) in [(small, SMALL), (large, LARGE), (more, LARGE)] {
        assert_eq!(content(&log, digest), Some(length));
    }
    assert!(log.verify(&mut |_| {}).unwrap().is_sound());
    close(log);
}
