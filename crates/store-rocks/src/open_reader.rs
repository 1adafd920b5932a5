//! Opening for reading: next to a process that writes, or where no process does.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use annals_event_log::{Position, Watermark};
use rocksdb::DB;
use tempfile::TempDir;
use uuid::Uuid;

use crate::columns::{self, Role};
use crate::db::Db;
use crate::error::OpenError;
use crate::folder::{self, Folder};
use crate::latch::OnDrop;
use crate::open::{Access, Opened, Purpose, check_columns, check_meta, hold, unreadable};
use crate::options::Options;
use crate::secondary::{self, Follower};
use crate::slot::Slot;
use crate::watermark_file::{self, WatermarkFile};
use crate::{endless, identity, index};

/// How often opening a reader must fail while the log does not change.
const STILL_ATTEMPTS: u32 = 5;
const BETWEEN_ATTEMPTS: Duration = Duration::from_millis(20);
/// How many tables RocksDB keeps open: all of them, which it then opens at once, or as few as it can.
const ALL_TABLES: i32 = -1;
const FEW_TABLES: i32 = 1;
/// For how long it is tried while the log changes.
const RESTLESS: Duration = Duration::from_secs(10);

/// Opens an existing log for reading, while another process may write to it.
pub(crate) fn open_reader(path: &Path, options: &Options) -> Result<Opened, OpenError> {
    let log_id = identity::read(path)?;
    let file = WatermarkFile::open(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => no_watermark(path),
        _ => OpenError::io(&path.join(watermark_file::NAME), error),
    })?;
    if file
        .read()
        .map_err(|error| OpenError::io(path, error))?
        .is_none()
    {
        return Err(no_watermark(path));
    }
    let folder = hold(path)?;
    endless::check(path)?;
    let db = settled(path, || {
        open_secondary(path, &folder, options, log_id, Arc::default())
    })?;
    let db = Slot::new(Arc::new(db));
    let watermark = Arc::new(Watermark::new(Position::START));
    let follower = Follower::new(
        Arc::clone(&db),
        (options.clone(), log_id),
        file,
        Arc::clone(&watermark),
    );
    let follower = Arc::new(follower);
    follower
        .begin()
        .map_err(|error| follower.beginning(path, error))?;
    Ok(Opened {
        log_id,
        db,
        watermark,
        access: Access::Follow(follower),
    })
}

/// Repeats what can fail while a writer replaces files at that moment. It
/// is true damage where the log does not change and the attempt fails again.
fn settled<T>(
    path: &Path,
    mut attempt: impl FnMut() -> Result<T, OpenError>,
) -> Result<T, OpenError> {
    let deadline = Instant::now() + RESTLESS;
    let (mut last, mut still) = (signs_of_life(path), 0);
    loop {
        let error = match attempt() {
            Ok(done) => return Ok(done),
            Err(error) => error,
        };
        let signs = signs_of_life(path);
        still = if signs == last { still + 1 } else { 0 };
        last = signs;
        let passing = matches!(
            error,
            OpenError::Corrupt { .. }
                | OpenError::MissingColumnFamily { .. }
                | OpenError::Rocks { .. }
        );
        if !passing || still >= STILL_ATTEMPTS || Instant::now() > deadline {
            return Err(error);
        }
        thread::sleep(BETWEEN_ATTEMPTS);
    }
}

/// What changes while a process writes: which manifest there is, how long it is,
/// and the watermark.
fn signs_of_life(path: &Path) -> (Manifest, Vec<u8>) {
    let watermark = folder::read_file(&path.join(watermark_file::NAME));
    (manifest(path), watermark.unwrap_or_default())
}

/// Which manifest there is, and how long it is.
pub(crate) type Manifest = (Vec<u8>, u64);

/// It changes whenever a table comes or goes.
pub(crate) fn manifest(path: &Path) -> Manifest {
    let current = folder::read_file(&path.join("CURRENT")).unwrap_or_default();
    let manifest = path.join(String::from_utf8_lossy(&current).trim());
    let length = fs::metadata(manifest).map_or(0, |found| found.len());
    (current, length)
}

/// Opens RocksDB as a follower of another process's. `released` is the signal
/// that it is closed.
pub(crate) fn open_secondary(
    path: &Path,
    folder: &Arc<Folder>,
    options: &Options,
    log_id: Uuid,
    released: Arc<OnDrop>,
) -> Result<Db, OpenError> {
    check_columns(path, options)?;
    let scratch = scratch()?;
    let held = folder.held();
    let db_options = columns::database_options(options, Role::Reader);
    let (named, rocks) = thread::scope(|scope| {
        let named = scope.spawn(|| named_tables(path, &held, scratch.path(), options));
        let descriptors = columns::descriptors(options, Role::Reader);
        let rocks = DB::open_cf_descriptors_as_secondary(
            &db_options,
            held.as_path(),
            scratch.path(),
            descriptors,
        );
        (named.join(), rocks)
    });
    // A thread ends without an answer in a panic alone, which RocksDB does not cause.
    let lost = |_| OpenError::io(path, std::io::Error::other("a thread was lost"));
    let named = named.map_err(lost)??;
    let rocks = rocks.map_err(|error| OpenError::rocks(path, error))?;
    if tables_of(path, &rocks)? != named {
        check_tables(path, &held, scratch.path(), options)?;
    }
    let db = Db {
        rocks,
        durability: None,
        options: db_options,
        path: path.to_owned(),
        folder: Arc::clone(folder),
        redaction_step_bytes: options.redaction_step_bytes,
        _scratch: Some(scratch),
        _lock: None,
        released,
    };
    check_meta(&db, log_id, Purpose::Use).map_err(secondary::beside_rebuild)?;
    Ok(db)
}

/// Opens a log that no process writes to, as this role would find it, and alters nothing.
/// The write-ahead log is read into memory.
pub(crate) fn open_still(path: &Path, role: Role) -> Result<Db, OpenError> {
    let options = small();
    let mut db_options = columns::database_options(&options, role);
    let descriptors = columns::descriptors(&options, role);
    let folder = hold(path)?;
    let mut logs = None;
    if endless::is_in(path).map_err(|error| OpenError::io(path, error))? {
        let mended = scratch()?;
        endless::copy_mended(path, mended.path()).map_err(|error| OpenError::io(path, error))?;
        db_options.set_wal_dir(mended.path());
        logs = Some(mended);
    }
    let rocks = DB::open_cf_descriptors_read_only(&db_options, folder.held(), descriptors, false)
        .map_err(|error| OpenError::rocks(path, error))?;
    Ok(Db {
        rocks,
        durability: None,
        options: db_options,
        path: path.to_owned(),
        folder,
        redaction_step_bytes: options.redaction_step_bytes,
        _scratch: logs,
        _lock: None,
        released: Arc::default(),
    })
}

/// The tables that the newest state has, by its list of files alone.
///
/// A secondary takes the newest state of which it can read all tables, and says nothing of a newer one: what a
/// damaged table holds would just be missing. So what it took is compared with this.
fn named_tables(
    path: &Path,
    held: &Path,
    scratch: &Path,
    options: &Options,
) -> Result<BTreeSet<String>, OpenError> {
    let rocks = open_tables(path, held, &scratch.join("named"), options, FEW_TABLES)?;
    tables_of(path, &rocks)
}

fn tables_of(path: &Path, rocks: &DB) -> Result<BTreeSet<String>, OpenError> {
    let live = rocks.live_files();
    let live = live.map_err(|error| OpenError::rocks(path, error))?;
    Ok(live.into_iter().map(|file| file.name).collect())
}

/// Opens all tables as a writer would, and closes them again: what the secondary did not take is damaged, or
/// the writer has moved on since.
fn check_tables(
    path: &Path,
    held: &Path,
    scratch: &Path,
    options: &Options,
) -> Result<(), OpenError> {
    let all = open_tables(path, held, &scratch.join("all"), options, ALL_TABLES);
    all.map(drop)
}

/// Opens the log without what is in write-ahead logs, for which `no_wal` is made, and so many of its tables.
fn open_tables(
    path: &Path,
    held: &Path,
    no_wal: &Path,
    options: &Options,
    tables: i32,
) -> Result<DB, OpenError> {
    let mut db_options = columns::database_options(options, Role::Reader);
    db_options.set_max_open_files(tables);
    fs::create_dir(no_wal).map_err(|error| OpenError::io(no_wal, error))?;
    db_options.set_wal_dir(no_wal);
    let descriptors = columns::descriptors(options, Role::Reader);
    DB::open_cf_descriptors_read_only(&db_options, held, descriptors, false)
        .map_err(|error| OpenError::rocks(path, error))
}

/// Whether what opening a log reads of its tables can be read.
pub(crate) fn check_readable_tables(path: &Path) -> Result<(), OpenError> {
    let folder = hold(path)?;
    let scratch = scratch()?;
    let options = small();
    let no_wal = scratch.path().join("no-wal");
    let rocks = open_tables(path, &folder.held(), &no_wal, &options, ALL_TABLES)?;
    let db = Db {
        rocks,
        durability: None,
        options: columns::database_options(&options, Role::Reader),
        path: path.to_owned(),
        folder,
        redaction_step_bytes: options.redaction_step_bytes,
        _scratch: Some(scratch),
        _lock: None,
        released: Arc::default(),
    };
    let read = || {
        db.last_position()?;
        index::counts(&db, &db.columns()?).map(drop)
    };
    read().map_err(|error| unreadable(path, error))
}

fn scratch() -> Result<TempDir, OpenError> {
    let home = std::env::temp_dir();
    let made = identity::temporary_folder("annals-reader-", &home);
    made.map_err(|error| OpenError::io(&home, error))
}

/// Options for a look that needs little memory.
fn small() -> Options {
    Options {
        cache_bytes: 8 * 1024 * 1024,
        ..Options::default()
    }
}

fn no_watermark(path: &Path) -> OpenError {
    let reason = format!("its file {} is missing or damaged", watermark_file::NAME);
    let remedy =
        "opening the log once for writing creates it again, as `annals apply /dev/null` does";
    OpenError::corrupt_but(path, reason, remedy)
}
