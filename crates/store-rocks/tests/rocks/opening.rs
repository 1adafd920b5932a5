//! Opening and creating: each refusal is typed, says what to do, and alters nothing.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use annals_event_log::Classified;
use annals_event_log::{Digest, EventLog, Position};
use annals_store_rocks::{OpenError, RocksLog};
use tempfile::TempDir;
use uuid::Uuid;

use crate::support::{
    all, append, close, copy_of, damage, fingerprint, new_log, options, raw, tables,
};

/// Opens for writing and for reading; both must be refused, and nothing altered.
fn refused(path: &Path) -> (OpenError, OpenError) {
    let before = path.is_dir().then(|| fingerprint(path));
    let writing = RocksLog::open(path, &options()).expect_err("opening for writing is refused");
    let reading = RocksLog::open_reader(path, &options()).expect_err("so is reading");
    assert_eq!(
        path.is_dir().then(|| fingerprint(path)),
        before,
        "something was altered"
    );
    (writing, reading)
}

#[test]
fn where_nothing_is_init_is_named() {
    let home = tempfile::tempdir().unwrap();
    for path in [home.path().join("missing"), home.path().to_owned()] {
        let (writing, reading) = refused(&path);
        assert!(matches!(writing, OpenError::NotFound { .. }), "{writing:?}");
        assert!(matches!(reading, OpenError::NotFound { .. }), "{reading:?}");
        assert!(writing.to_string().contains("annals log init"), "{writing}");
    }
    assert!(!home.path().join("missing").exists());
}

#[test]
fn what_is_no_log_is_named_so() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("file");
    fs::write(&file, "text").unwrap();
    let other = home.path().join("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("notes.txt"), "text").unwrap();
    let pretender = home.path().join("pretender");
    fs::create_dir(&pretender).unwrap();
    fs::write(pretender.join("ANNALS"), "the annals of Tacitus\n").unwrap();
    for path in [file, other, pretender] {
        let (writing, reading) = refused(&path);
        assert!(matches!(writing, OpenError::NotALog { .. }), "{writing:?}");
        assert!(matches!(reading, OpenError::NotALog { .. }), "{reading:?}");
    }
}

#[test]
fn a_foreign_rocksdb_is_left_alone() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("db");
    drop(rocksdb::DB::open_default(&path).unwrap());
    let (writing, _) = refused(&path);
    assert!(matches!(writing, OpenError::NotALog { .. }), "{writing:?}");
    assert!(
        writing.to_string().contains("RocksDB of another program"),
        "{writing}"
    );

    // Even where a file of that name lies next to it.
    fs::write(
        path.join("ANNALS"),
        format!("annals log, format 1\n{}\n", Uuid::nil()),
    )
    .unwrap();
    let (writing, _) = refused(&path);
    assert!(
        matches!(writing, OpenError::MissingColumnFamily { .. }),
        "{writing:?}"
    );
}

#[test]
fn a_newer_format_is_refused_with_both_numbers() {
    let (_home, path, log) = new_log();
    close(log);
    let identity = fs::read_to_string(path.join("ANNALS")).unwrap();
    fs::write(
        path.join("ANNALS"),
        identity.replace("format 1", "format 7"),
    )
    .unwrap();
    let (writing, reading) = refused(&path);
    for error in [writing, reading] {
        assert!(
            matches!(
                error,
                OpenError::NewerFormat {
                    found: 7,
                    known: 1,
                    ..
                }
            ),
            "{error:?}"
        );
    }
}

#[test]
fn a_missing_column_family_is_named() {
    let (_home, path, log) = new_log();
    append(&log, "run-1", 3);
    close(log);
    {
        let mut db = raw(&path);
        db.drop_cf("types").unwrap();
    }
    let (writing, reading) = refused(&path);
    for error in [writing, reading] {
        let named =
            matches!(&error, OpenError::MissingColumnFamily { name, .. } if name == "types");
        assert!(named, "{error:?}");
    }
}

/// The files once the log's own thread has synced `WATERMARK`, which rests its position.
fn settled(path: &Path) -> BTreeMap<PathBuf, Digest> {
    let mut seen = fingerprint(path);
    loop {
        std::thread::sleep(Duration::from_millis(400));
        let now = fingerprint(path);
        if now == seen {
            return now;
        }
        seen = now;
    }
}

#[test]
fn a_locked_log_is_refused_to_writers_and_open_to_readers() {
    let (_home, path, log) = new_log();
    append(&log, "run-1", 3);
    let before = settled(&path);
    let error = RocksLog::open(&path, &options()).expect_err("it is open already");
    assert!(
        matches!(&error, OpenError::Locked { path: named } if *named == path),
        "{error:?}"
    );
    assert!(error.is_retryable());
    let reader = RocksLog::open_reader(&path, &options()).expect("readers take no lock");
    assert_eq!(all(&reader).len(), 3);
    drop(reader);
    assert_eq!(fingerprint(&path), before, "neither altered anything");
    close(log);
    RocksLog::open(&path, &options()).expect("the lock was given back");
}

#[test]
fn dropping_the_last_handle_gives_the_lock_back() {
    let (_home, path, log) = new_log();
    let clone = log.clone();
    drop(log);
    append(&clone, "run-1", 1);
    drop(clone);
    let log = RocksLog::open(&path, &options()).expect("the lock was given back");
    assert_eq!(log.watermark(), Position(1));
}

#[test]
fn a_log_of_another_id_than_its_file_says_is_corrupt() {
    let (_home, path, log) = new_log();
    close(log);
    let other = format!("annals log, format 1\n{}\n", Uuid::from_u128(5));
    fs::write(path.join("ANNALS"), other).unwrap();
    let error = RocksLog::open(&path, &options()).expect_err("the ids differ");
    assert!(matches!(error, OpenError::Corrupt { .. }), "{error:?}");
}

#[test]
fn creating_needs_a_new_or_an_empty_directory() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("a/b/log");
    let id = Uuid::from_u128(9);
    let with_id = options().with_log_id(id);
    let log = RocksLog::create(&path, &with_id).expect("parents are made");
    assert_eq!(log.log_id(), id);
    close(log);
    let before = fingerprint(&path);
    let error = RocksLog::create(&path, &options()).expect_err("it exists");
    assert!(
        matches!(error, OpenError::AlreadyExists { .. }),
        "{error:?}"
    );
    assert_eq!(fingerprint(&path), before);

    let full = home.path().join("full");
    fs::create_dir(&full).unwrap();
    fs::write(full.join("x"), "x").unwrap();
    for path in [full.clone(), full.join("x")] {
        let error = RocksLog::create(&path, &options()).expect_err("something is there");
        assert!(matches!(error, OpenError::NotEmpty { .. }), "{error:?}");
    }
    assert_eq!(fs::read_dir(&full).unwrap().count(), 1);

    let empty = home.path().join("empty");
    fs::create_dir(&empty).unwrap();
    RocksLog::create(&empty, &options()).expect("an empty directory will do");
    assert!(matches!(RocksLog::open_or_create(&path, &options()), Ok(log) if log.log_id() == id));
    RocksLog::open_or_create(&home.path().join("new"), &options()).expect("it is made");
}

#[test]
fn an_interrupted_creation_is_recognised_and_completed() {
    let (_home, path, log) = new_log();
    close(log);
    // As if the power had gone before the last step.
    fs::rename(path.join("ANNALS"), path.join("ANNALS.new")).unwrap();
    let (writing, reading) = refused(&path);
    assert!(
        matches!(writing, OpenError::CreationInterrupted { .. }),
        "{writing:?}"
    );
    assert!(
        matches!(reading, OpenError::CreationInterrupted { .. }),
        "{reading:?}"
    );
    let log = RocksLog::create(&path, &options()).expect("it is completed");
    append(&log, "run-1", 2);
    close(log);
    assert_eq!(all(&RocksLog::open(&path, &options()).unwrap()).len(), 2);
}

const UNPRIVILEGED: &str = "ANNALS_TEST_UNPRIVILEGED";
/// The number of the user `nobody` on every common system.
const NOBODY: u32 = 65_534;

/// The superuser may do anything, so the test runs itself again as the user `nobody`.
#[test]
fn no_permission_is_named() {
    if let Some(path) = std::env::var_os(UNPRIVILEGED) {
        return check_permissions(Path::new(&path));
    }
    let (home, path, log) = new_log();
    append(&log, "run-1", 1);
    close(log);
    let mode = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    mode(home.path(), 0o755);
    let program = home.path().join("test-program");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    mode(&program, 0o755);
    // Files to read, none to write; then not even to read.
    for entry in fs::read_dir(&path).unwrap() {
        mode(&entry.unwrap().path(), 0o444);
    }
    let is_root =
        fs::metadata("/proc/self").is_ok_and(|m| std::os::unix::fs::MetadataExt::uid(&m) == 0);
    for (case, bits) in [("read-only", 0o555), ("closed", 0o000)] {
        mode(&path, bits);
        let mut command = Command::new(&program);
        command.args(["--exact", "opening::no_permission_is_named", "--nocapture"]);
        command
            .env(UNPRIVILEGED, &path)
            .env("ANNALS_TEST_CASE", case);
        if is_root {
            command.uid(NOBODY).gid(NOBODY);
        }
        let output = command
            .current_dir(home.path())
            .output()
            .expect("the test runs again");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success(),
            "{case}: {text}{}",
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(text.contains("1 passed"), "{case}: {text}");
    }
    mode(&path, 0o755);
}

fn check_permissions(path: &Path) {
    let read_only = std::env::var("ANNALS_TEST_CASE").unwrap() == "read-only";
    let before = read_only.then(|| fingerprint(path));
    let error = RocksLog::open(path, &options()).expect_err("the folder is not writable");
    assert!(matches!(error, OpenError::NoPermission { .. }), "{error:?}");
    let reading = RocksLog::open_reader(path, &options());
    if read_only {
        assert_eq!(
            all(&reading.expect("reading needs no more than to read")).len(),
            1
        );
    } else {
        let error = reading.expect_err("the folder is not readable");
        assert!(matches!(error, OpenError::NoPermission { .. }), "{error:?}");
    }
    let inside = RocksLog::create(&path.join("inside"), &options());
    let error = inside.expect_err("no directory can be made here");
    // Where the folder can be read, it is seen that it is a log.
    let is_refused = match read_only {
        true => matches!(error, OpenError::InsideLog { .. }),
        false => matches!(error, OpenError::NoPermission { .. }),
    };
    assert!(is_refused, "{error:?}");
    assert_eq!(
        read_only.then(|| fingerprint(path)),
        before,
        "something was altered"
    );
}

#[test]
fn a_link_to_nothing_is_named_when_a_log_is_created() {
    let home = tempfile::tempdir().unwrap();
    let link = home.path().join("link");
    std::os::unix::fs::symlink("nowhere", &link).unwrap();
    let error = RocksLog::create(&link, &options()).expect_err("its target is not there");
    let text = error.to_string();
    assert!(text.contains("a link to nowhere"), "{text}");
    fs::create_dir(home.path().join("nowhere")).unwrap();
    close(RocksLog::create(&link, &options()).unwrap());
}

/// A copy of hard links, as `cp -al` makes it.
fn linked_copy(home: &TempDir, path: &Path) -> PathBuf {
    let copy = home.path().join("copy");
    fs::create_dir(&copy).unwrap();
    for entry in fs::read_dir(path).unwrap() {
        let entry = entry.unwrap();
        fs::hard_link(entry.path(), copy.join(entry.file_name())).unwrap();
    }
    copy
}

/// A copy that a backup made of hard links (`cp -al`): its files are those of the log.
#[test]
fn a_log_whose_files_another_folder_has_is_read_and_not_written() {
    let (home, path, log) = new_log();
    append(&log, "a-1", 50);
    close(log);
    let copy = linked_copy(&home, &path);
    let before = fingerprint(&path);
    for folder in [&path, &copy] {
        let error = RocksLog::open(folder, &options()).expect_err("it has two folders");
        assert!(matches!(error, OpenError::Linked { .. }), "{error:?}");
        let reader = RocksLog::open_reader(folder, &options()).unwrap();
        assert_eq!(all(&reader).len(), 50);
    }
    assert_eq!(fingerprint(&path), before);
    fs::remove_dir_all(&copy).unwrap();
    close(RocksLog::open(&path, &options()).unwrap());
}

/// The writer that had the log open goes on. The log stays whole, and the copy is either all of it or refused.
#[test]
fn hard_links_made_beside_a_writer_leave_the_log_whole() {
    for is_compacted in [false, true] {
        let (home, path, log) = new_log();
        append(&log, "a-1", 50);
        let copy = linked_copy(&home, &path);
        append(&log, "a-1", 50);
        if is_compacted {
            log.compact();
            append(&log, "a-1", 50);
        }
        let count = all(&log).len();
        close(log);
        for folder in [&path, &copy] {
            let error = RocksLog::open(folder, &options()).expect_err("it has two folders");
            assert!(matches!(error, OpenError::Linked { .. }), "{error:?}");
        }
        let log = RocksLog::open_reader(&path, &options()).unwrap();
        assert_eq!(all(&log).len(), count);
        assert!(log.verify(&mut |_| ()).unwrap().is_sound());
        close(log);
        match RocksLog::open_reader(&copy, &options()) {
            Ok(reader) => assert_eq!(all(&reader).len(), count),
            Err(error) => assert!(matches!(error, OpenError::Corrupt { .. }), "{error:?}"),
        }
        fs::remove_dir_all(&copy).unwrap();
        close(RocksLog::open(&path, &options()).unwrap());
    }
}

/// Without the check, a reader would serve the log as if the table had never
/// been written: RocksDB's secondary hides what it cannot open.
#[test]
fn every_table_that_is_missing_or_cut_is_corruption() {
    let (_home, path, log) = new_log();
    append(&log, "a-1", 50);
    log.compact();
    append(&log, "b-1", 50);
    log.compact();
    close(log);
    let tables = tables(&path);
    assert!(tables.len() >= 5, "one for each index: {tables:?}");
    for table in tables {
        for cut in [false, true] {
            let copy = copy_of(&path);
            let table = copy.path().join(&table);
            if cut {
                let content = fs::read(&table).unwrap();
                fs::write(&table, &content[..content.len() - 30]).unwrap();
            } else {
                fs::remove_file(&table).unwrap();
            }
            for error in [refused(copy.path()).0, refused(copy.path()).1] {
                assert!(matches!(error, OpenError::Corrupt { .. }), "{error:?}");
                assert!(error.to_string().contains("from a backup"), "{error}");
            }
        }
    }
}

/// Its size is right, so the manifest has no complaint.
#[test]
fn a_damaged_table_hides_nothing_from_a_reader() {
    let (_home, path, log) = new_log();
    append(&log, "a-1", 50);
    log.compact();
    close(log);
    for table in tables(&path) {
        let copy = copy_of(&path);
        damage(&copy.path().join(&table), |content| {
            let end = content.len() - 60;
            end / 2..end
        });
        match RocksLog::open_reader(copy.path(), &options()) {
            Err(error) => assert!(matches!(error, OpenError::Corrupt { .. }), "{error:?}"),
            Ok(log) => {
                let report = log.verify(&mut |_| ()).expect("damage is reported");
                assert!(!report.is_sound(), "{table}");
            }
        }
    }
}

#[test]
fn a_log_whose_file_annals_is_damaged_is_a_damaged_log() {
    let (_home, path, log) = new_log();
    append(&log, "a-1", 1);
    close(log);
    let annals = path.join("ANNALS");
    for damage in [&b"annals log, forma"[..], b"", &[0xff; 5_000]] {
        fs::write(&annals, damage).unwrap();
        let (writing, reading) = refused(&path);
        assert!(matches!(writing, OpenError::Corrupt { .. }), "{writing:?}");
        assert!(matches!(reading, OpenError::Corrupt { .. }), "{reading:?}");
    }
    fs::remove_file(&annals).unwrap();
    let (writing, _) = refused(&path);
    assert!(
        writing.to_string().contains("ANNALS is missing"),
        "{writing}"
    );
}

#[test]
fn what_a_killed_writer_began_to_write_goes_with_the_next_opening_for_writing() {
    let (_home, path, log) = new_log();
    close(log);
    let left = path.join("OPTIONS-000999.dbtmp");
    fs::write(&left, "half").unwrap();
    close(RocksLog::open_reader(&path, &options()).unwrap());
    assert!(left.exists());
    close(RocksLog::open(&path, &options()).unwrap());
    assert!(!left.exists());
}
