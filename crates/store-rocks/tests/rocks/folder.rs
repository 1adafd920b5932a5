//! The log's folder, when a user moves it, puts another in its place, or puts other things than
//! files into it: no log is harmed, nothing outside is touched, and nothing waits for a pipe.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::sync::mpsc;
use std::time::Duration;

use annals_event_log::{AppendError, EventLog, Position, ReadError};
use annals_store_rocks::{OpenError, RocksLog};
use futures::executor::block_on;

use crate::support::{all, append, batch, close, event, fingerprint, new_log, options};

/// A writer whose folder was moved, and another log with the same id in its place: RocksDB used to
/// go on by name, and to delete its old tables there.
#[test]
fn a_writer_whose_folder_is_replaced_stops_and_harms_neither_log() {
    let (home, path, log) = new_log();
    append(&log, "run-1", 3);
    let (away, copy) = (home.path().join("away"), home.path().join("copy"));
    log.backup(&copy).expect("a backup");
    append(&log, "run-1", 1);
    fs::rename(&path, &away).unwrap();
    fs::rename(&copy, &path).unwrap();
    let before = fingerprint(&path);
    for _ in 0..3 {
        let refused = block_on(log.append(batch(vec![event("run-1")], Vec::new())));
        let Err(AppendError::Unavailable { source }) = refused else {
            panic!("{refused:?}");
        };
        let said = source.to_string();
        assert!(said.contains("moved, removed or replaced"), "{said}");
        assert!(said.contains(&*path.to_string_lossy()), "{said}");
    }
    log.compact();
    close(log);
    assert_eq!(fingerprint(&path), before, "the one in its place");
    for (place, least) in [(&path, 3), (&away, 4)] {
        let log = RocksLog::open(place, &options()).expect("it opens");
        assert!(all(&log).len() >= least, "{}", place.display());
        assert!(log.verify(&mut |_| {}).unwrap().is_sound());
        append(&log, "run-1", 1);
        close(log);
    }
}

#[test]
fn nothing_is_acknowledged_in_a_folder_that_was_removed() {
    let (_home, path, log) = new_log();
    append(&log, "run-1", 1);
    fs::remove_dir_all(&path).unwrap();
    let refused = block_on(log.append(batch(vec![event("run-1")], Vec::new())));
    assert!(
        matches!(refused, Err(AppendError::Unavailable { .. })),
        "{refused:?}"
    );
    close(log);
    assert!(!path.exists());
}

/// A reader uses one folder, and does not mix two.
#[test]
fn a_reader_whose_folder_is_replaced_says_so() {
    let (home, path, log) = new_log();
    append(&log, "run-1", 3);
    let (away, copy) = (home.path().join("away"), home.path().join("copy"));
    log.backup(&copy).expect("a backup");
    let reader = RocksLog::open_reader(&path, &options()).expect("a reader");
    let (sender, receiver) = mpsc::channel();
    let waiting = RocksLog::open_reader(&path, &options()).expect("another");
    std::thread::spawn(move || sender.send(block_on(waiting.wait_above(Position(3)))));
    fs::rename(&path, &away).unwrap();
    fs::rename(&copy, &path).unwrap();
    let head = block_on(reader.head(&"run-1".parse().unwrap()));
    assert!(matches!(head, Err(ReadError::Moved { .. })), "{head:?}");
    let waited = receiver
        .recv_timeout(Duration::from_secs(120))
        .expect("it ends");
    assert!(matches!(waited, Err(ReadError::Moved { .. })), "{waited:?}");
    close(log);
}

/// A pipe in the place of `name`, for which a plain open would wait for ever.
fn pipe(path: &Path) {
    let _ = fs::remove_file(path);
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// Each way to look at a log, in time.
fn each_way(path: &Path) -> Vec<Option<OpenError>> {
    let path = path.to_owned();
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let opened = |opened: Result<RocksLog, OpenError>| opened.map(close).err();
        let _ = RocksLog::examine(&path);
        let _ = RocksLog::truncate_tail(&path, &options());
        let reading = opened(RocksLog::open_reader(&path, &options()));
        let _ = sender.send(vec![reading, opened(RocksLog::open(&path, &options()))]);
    });
    receiver
        .recv_timeout(Duration::from_secs(300))
        .expect("nothing waits")
}

#[test]
fn what_is_no_file_is_named_and_not_waited_for() {
    for name in ["ANNALS", "WATERMARK", "CURRENT", "IDENTITY", "000999.log"] {
        for is_link in [false, true] {
            let (home, path, log) = new_log();
            append(&log, "run-1", 3);
            close(log);
            let (outside, file) = (home.path().join("outside"), path.join(name));
            match fs::rename(&file, &outside) {
                Ok(()) => {}
                Err(_) => fs::write(&outside, "not ours").unwrap(),
            }
            match is_link {
                true => symlink(&outside, &file).unwrap(),
                false => pipe(&file),
            }
            let before = fs::read(&outside).unwrap();
            for error in each_way(&path) {
                let error = error.unwrap_or_else(|| panic!("{name} is refused"));
                let said = error.to_string();
                assert!(
                    said.contains("not a regular file") && said.contains(name),
                    "{said}"
                );
            }
            assert_eq!(fs::read(&outside).unwrap(), before, "{name}");
        }
    }
}

#[test]
fn files_that_never_end_are_not_read_whole() {
    for name in ["ANNALS", "WATERMARK", "CURRENT", "IDENTITY"] {
        let (_home, path, log) = new_log();
        append(&log, "run-1", 3);
        close(log);
        let file = fs::OpenOptions::new()
            .write(true)
            .open(path.join(name))
            .unwrap();
        file.set_len(64 << 30).unwrap();
        // WATERMARK is read up to the length that it has.
        assert_eq!(
            each_way(&path).iter().all(Option::is_some),
            name != "WATERMARK",
            "{name}"
        );
    }
}

/// A folder `name.log` does not belong to RocksDB, and a folder in the place of a copy is named.
#[test]
fn folders_among_the_files_are_left_alone_or_named() {
    let (_home, path, log) = new_log();
    append(&log, "run-1", 1);
    drop(log);
    fs::create_dir(path.join("notes.log")).unwrap();
    close(RocksLog::open(&path, &options()).expect("the folder is ignored"));
    // Not closed in order, so that opening looks for copies.
    fs::write(
        path.join("WATERMARK"),
        fs::read(path.join("WATERMARK")).unwrap().get(..16).unwrap(),
    )
    .unwrap();
    fs::create_dir(path.join("000008.log.settling")).unwrap();
    let error = RocksLog::open(&path, &options()).expect_err("it is in the way");
    assert!(error.to_string().contains("000008.log.settling"), "{error}");
}

/// The name of the file ANNALS while a log is created was enough to have everything else removed.
#[test]
fn a_log_that_lost_its_name_is_not_created_over() {
    for promised in [true, false] {
        let (_home, path, log) = new_log();
        append(&log, "run-1", 2);
        close(log);
        fs::rename(path.join("ANNALS"), path.join("ANNALS.new")).unwrap();
        if !promised {
            fs::remove_file(path.join("WATERMARK")).unwrap();
        }
        let before = fingerprint(&path);
        for error in [
            RocksLog::open(&path, &options()).err(),
            RocksLog::create(&path, &options()).err(),
            RocksLog::open_or_create(&path, &options()).err(),
        ] {
            let error = error.expect("a refusal");
            assert!(matches!(error, OpenError::Corrupt { .. }), "{error:?}");
            assert!(error.to_string().contains("ANNALS.new"), "{error}");
        }
        assert_eq!(fingerprint(&path), before);
        fs::rename(path.join("ANNALS.new"), path.join("ANNALS")).unwrap();
        let log = RocksLog::open(&path, &options()).expect("as the message says");
        assert_eq!(all(&log).len(), 2);
    }
}

#[test]
fn what_no_creation_left_is_not_removed() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("papers");
    fs::create_dir(&path).unwrap();
    fs::write(path.join("thesis.txt"), "precious").unwrap();
    fs::write(path.join("ANNALS.new"), "").unwrap();
    let before = fingerprint(&path);
    let created = RocksLog::open_or_create(&path, &options());
    assert!(
        matches!(created, Err(OpenError::NotALog { .. })),
        "{created:?}"
    );
    let created = RocksLog::create(&path, &options());
    assert!(
        matches!(created, Err(OpenError::NotEmpty { .. })),
        "{created:?}"
    );
    assert_eq!(fingerprint(&path), before);
}

#[test]
fn a_creation_follows_no_link() {
    let home = tempfile::tempdir().unwrap();
    let (path, victim) = (home.path().join("log"), home.path().join("victim"));
    fs::create_dir(&path).unwrap();
    fs::write(&victim, "precious").unwrap();
    symlink(&victim, path.join("ANNALS.new")).unwrap();
    let created = RocksLog::open_or_create(&path, &options());
    assert!(created.is_err(), "{created:?}");
    assert!(RocksLog::create(&path, &options()).is_err());
    assert_eq!(fs::read(&victim).unwrap(), b"precious");
}
