//! Opening a log that no process writes to, to look at it, and its tables alone.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use annals_files::Scratch;
use rocksdb::DB;

use crate::checks::{check_blob_files, hold};
use crate::columns::{self, Role};
use crate::db::Db;
use crate::error::{OpenError, unreadable};
use crate::options::Options;
use crate::pace::Pace;
use crate::{endless, index};

/// How the folders are named in which a look at a log has files of RocksDB.
pub(crate) const READER: &str = "annals-reader-";

/// How many tables RocksDB keeps open: all of them, which it then opens at once.
pub(crate) const ALL_TABLES: i32 = -1;

/// Opens a log that no process writes to, as this role would find it, and alters nothing.
/// The write-ahead log is read into memory.
pub(crate) fn open_still(path: &Path, role: Role) -> Result<Db, OpenError> {
    let options = small();
    let mut db_options = columns::database_options(&options, role);
    // Nothing is compacted here.
    db_options.set_skip_stats_update_on_db_open(true);
    let descriptors = columns::descriptors(&options, role);
    let folder = hold(path)?;
    let mut logs = None;
    if endless::is_in(path).map_err(|error| OpenError::io(path, error))? {
        let mended = Scratch::new(READER, Some(path)).map_err(OpenError::NoTemporary)?;
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
        named_removals: options.named_removals,
        pace: Pace::Alone,
        _scratch: logs,
        _lock: None,
        released: Arc::default(),
    })
}

/// Opens the log without what is in write-ahead logs, for which `no_wal` is made, and so many of its tables.
pub(crate) fn open_tables(
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
    let scratch = Scratch::new(READER, Some(path)).map_err(OpenError::NoTemporary)?;
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
        named_removals: options.named_removals,
        pace: Pace::Alone,
        _scratch: Some(scratch),
        _lock: None,
        released: Arc::default(),
    };
    let read = || {
        db.last_position()?;
        index::counts(&db, &db.columns()?).map(drop)
    };
    read().map_err(|error| unreadable(path, error))?;
    check_blob_files(&db)
}

/// Options for a look that needs little memory.
fn small() -> Options {
    Options {
        cache_bytes: 8 * 1024 * 1024,
        ..Options::default()
    }
}
