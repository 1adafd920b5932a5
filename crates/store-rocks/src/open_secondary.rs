//! Opening RocksDB next to a process that writes, and whether it took all that the other one has.

use std::collections::BTreeSet;
use std::fs::{OpenOptions, TryLockError};
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
use crate::folder::Folder;
use crate::identity;
use crate::latch::OnDrop;
use crate::open_files::raise_open_files;
use crate::open_still::{ALL_TABLES, READER, open_tables};
use crate::options::Options;
use crate::pace::{Manifest, Pace, State, Tables, has_blob_files, manifest};

/// How many tables RocksDB keeps open where it need not read them: as few as it can.
const FEW_TABLES: i32 = 1;
/// How often the newest state is opened while the writer changes its list of files.
const FIXED_ATTEMPTS: u32 = 5;

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
    let (rocks, pace) = open_newest(path, &held, scratch.path(), options)?;
    let db = Db {
        rocks,
        durability: None,
        options: columns::database_options(options, Role::Reader),
        path: path.to_owned(),
        folder: Arc::clone(folder),
        redaction_step_bytes: options.redaction_step_bytes,
        named_removals: options.named_removals,
        pace,
        _scratch: Some(scratch),
        _lock: None,
        released,
    };
    check_meta(&db, log_id, Purpose::Use).map_err(beside_rebuild)?;
    Ok(db)
}

/// Opens the newest state: one that follows the writer, or where RocksDB does not find that state by itself, one
/// that stays as it is.
fn open_newest(
    path: &Path,
    held: &Path,
    scratch: &Path,
    options: &Options,
) -> Result<(DB, Pace), OpenError> {
    let before = manifest(held);
    let has_blob_files = has_blob_files(held);
    let db_options = columns::database_options(options, Role::Reader);
    let (named, rocks) = thread::scope(|scope| {
        let named = scope.spawn(|| named_tables(path, held, scratch, options));
        let descriptors = columns::descriptors(options, Role::Reader);
        let rocks = DB::open_cf_descriptors_as_secondary(&db_options, held, scratch, descriptors);
        (named.join(), rocks)
    });
    // A thread ends without an answer in a panic alone, which RocksDB does not cause.
    let lost = |_| OpenError::io(path, std::io::Error::other("a thread was lost"));
    let named = named.map_err(lost)??;
    let rocks = rocks.map_err(|error| OpenError::rocks(path, error))?;
    let opened = Tables {
        with: before.clone(),
        names: tables_of(path, &rocks)?,
    };
    if opened.names == named {
        let pace = Pace::follows(Some(before), has_blob_files, opened);
        return Ok((rocks, pace));
    }
    // What the secondary did not take is damaged, which this finds; or the writer has moved on since.
    let all = open_tables(path, held, &scratch.join("all"), options, ALL_TABLES);
    all.map(drop)?;
    if manifest(held) != before {
        let pace = Pace::follows(None, has_blob_files, opened);
        return Ok((rocks, pace));
    }
    drop(rocks);
    open_fixed(path, held, options).map(|(rocks, state)| (rocks, Pace::Fixed(state)))
}

/// Opens the newest state as it is.
fn open_fixed(path: &Path, held: &Path, options: &Options) -> Result<(DB, State), OpenError> {
    let db_options = columns::database_options(options, Role::Reader);
    for _ in 0..FIXED_ATTEMPTS {
        let state = State::of(held);
        let descriptors = columns::descriptors(options, Role::Reader);
        let rocks = DB::open_cf_descriptors_read_only(&db_options, held, descriptors, false)
            .map_err(|error| OpenError::rocks(path, error))?;
        // Write-ahead logs go once a new list of files is there, and no sooner.
        if manifest(held) == state.manifest {
            return Ok((rocks, state));
        }
    }
    Err(OpenError::corrupt_but(
        path,
        "its list of files changed each time it was read",
        "try again",
    ))
}

/// The tables that the newest state has, by its list of files alone.
///
/// A secondary takes the newest state of which it can read all files, and reports nothing of a newer one: what a
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

/// Returns `true` if a view that follows has the tables of the newest state.
pub(crate) fn has_newest_tables(db: &Db, options: &Options) -> Result<bool, OpenError> {
    let scratch = Scratch::new(READER, Some(&db.path)).map_err(OpenError::NoTemporary)?;
    let named = named_tables(&db.path, &db.folder.held(), scratch.path(), options)?;
    Ok(tables_of(&db.path, &db.rocks)? == named)
}

/// Returns `true` if tables have come to a view that follows since it was opened. `before` is the list of files before
/// it was brought forward.
pub(crate) fn has_other_tables(db: &Db, before: &Manifest) -> Result<bool, OpenError> {
    let after = manifest(&db.folder.held());
    let now = || tables_of(&db.path, &db.rocks);
    db.pace.has_other_tables((before, &after), now)
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
