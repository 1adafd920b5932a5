//! Opening RocksDB next to a process that writes, and whether it took all that the other one has.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions, TryLockError};
use std::path::Path;
use std::sync::Arc;
use std::thread;

use annals_files::Scratch;
use rocksdb::DB;
use uuid::Uuid;

use crate::checks::{Purpose, check_columns, check_meta};
use crate::columns::{self, Role};
use crate::db::Db;
use crate::error::OpenError;
use crate::folder::{self, Folder};
use crate::identity;
use crate::latch::OnDrop;
use crate::open_files::raise_open_files;
use crate::open_still::{ALL_TABLES, READER, open_tables};
use crate::options::Options;

/// How many tables RocksDB keeps open where it need not read them: as few as it can.
const FEW_TABLES: i32 = 1;

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
    raise_open_files();
    check_columns(path, options)?;
    let scratch = Scratch::new(READER, Some(path)).map_err(OpenError::NoTemporary)?;
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
    check_meta(&db, log_id, Purpose::Use).map_err(beside_rebuild)?;
    Ok(db)
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

/// Tells a rebuild that goes on now from one that was interrupted: a process that rebuilds
/// holds the lock.
pub(crate) fn beside_rebuild(error: OpenError) -> OpenError {
    let OpenError::RebuildInterrupted { path } = error else {
        return error;
    };
    let file = annals_files::open_with(&path.join(identity::NAME), OpenOptions::new().read(true));
    match file.map(|file| file.try_lock_shared()) {
        Ok(Err(TryLockError::WouldBlock)) => OpenError::Rebuilding { path },
        _ => OpenError::RebuildInterrupted { path },
    }
}
