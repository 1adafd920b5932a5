//! Opening and creating: what the directory is comes first, RocksDB second, so
//! that a refusal alters nothing of what a log says, and nothing at all of another directory.

use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;

use annals_event_log::{Position, ReadError, Watermark, encode_timestamp};
use chrono::{DateTime, Utc};
use rocksdb::{DB, WriteBatch};
use uuid::Uuid;

use crate::checks::{Purpose, check_columns, check_meta, columns_of, hold};
use crate::columns::{self, Role};
use crate::db::{Db, synced};
use crate::durability::Durability;
use crate::error::{OpenError, StoreFailure, unreadable};
use crate::folder::{Folder, is_of_rocksdb};
use crate::latch::OnDrop;
use crate::open_files::raise_open_files;
use crate::options::Options;
use crate::pace::Pace;
use crate::secondary::Follower;
use crate::settle::settle;
use crate::slot::Slot;
use crate::staging::Tail;
use crate::watermark_file::{self, Syncer, WatermarkFile, lost};
use crate::writer::{Disk, End, Publish, Writer};
use crate::{
    continuity, creation, directories, endless, identity, index, ingest, keys, models, mutants,
    redaction, rows, secret, tree,
};

/// A log that was opened, in parts.
pub(crate) struct Opened {
    pub(crate) log_id: Uuid,
    pub(crate) db: Arc<Slot>,
    pub(crate) watermark: Arc<Watermark>,
    pub(crate) access: Access,
}

/// What the handle may do.
pub(crate) enum Access {
    Write(Writer),
    Follow(Arc<Follower>),
}

/// Makes a new log and opens it.
pub(crate) fn create(path: &Path, options: &Options) -> Result<Opened, OpenError> {
    creation::check_place(path)?;
    create_in_place(path, options)
}

/// Makes a new log in a place that is known to hold nothing, as a temporary folder of this process does: that may lie in
/// the folder of another log.
pub(crate) fn create_in_place(path: &Path, options: &Options) -> Result<Opened, OpenError> {
    directories::create_log_folder(path).map_err(|error| OpenError::io(path, error))?;
    raise_open_files();
    let log_id = options.log_id.unwrap_or_else(annals_event_log::new_id);
    let folder = hold(path)?;
    let lock = identity::begin(path, log_id)?;
    creation::clear(path)?;
    let db_options = columns::database_options(options, Role::Creator);
    let rocks = DB::open_cf_descriptors(
        &db_options,
        folder.held(),
        columns::descriptors(options, Role::Creator),
    )
    .map_err(|error| OpenError::rocks(path, error))?;
    write_meta(path, &rocks, log_id)?;
    let file = WatermarkFile::open_for_writing(path).map_err(|error| OpenError::io(path, error))?;
    let written = file.write(Position::START).and_then(|()| file.sync_new());
    written.map_err(|error| OpenError::io(path, error))?;
    identity::finish(path)?;
    let db = Db {
        rocks,
        durability: Some(Durability::new(file)),
        options: db_options,
        path: path.to_owned(),
        folder,
        redaction_step_bytes: options.redaction_step_bytes,
        named_removals: options.named_removals,
        pace: Pace::Alone,
        _scratch: None,
        _lock: Some(lock),
        released: Arc::default(),
    };
    start_writer(log_id, db, options, |db| disk(db, options.sync))
}

fn write_meta(path: &Path, rocks: &DB, log_id: Uuid) -> Result<(), OpenError> {
    let columns = columns_of(path, rocks)?;
    let mut write = WriteBatch::default();
    write.put_cf(
        columns.meta,
        keys::META_FORMAT,
        identity::FORMAT.to_be_bytes(),
    );
    write.put_cf(columns.meta, keys::META_LOG_ID, log_id.as_bytes());
    write.put_cf(
        columns.meta,
        keys::META_CREATED_AT,
        rows::created_at(log_id, encode_timestamp(annals_event_log::now())),
    );
    write.put_cf(columns.meta, keys::META_ROWS_SYNCED, keys::ROWS_SYNCED);
    secret::renew(&columns, &mut write);
    rocks
        .write_opt(write, &synced(true))
        .map_err(|error| OpenError::rocks(path, error))
}

/// Opens an existing log for writing.
pub(crate) fn open(path: &Path, options: &Options) -> Result<Opened, OpenError> {
    let sync = options.sync && !mutants::is(mutants::OPEN_NO_SYNC);
    open_on(path, options, |db| disk(db, sync))
}

/// The same, with another disk.
pub(crate) fn open_on(
    path: &Path,
    options: &Options,
    disk: impl FnOnce(Arc<Db>) -> Disk,
) -> Result<Opened, OpenError> {
    let (log_id, db) = open_locked(path, options, Purpose::Use)?;
    start_writer(log_id, db, options, disk)
}

/// Opens the database under the writer's lock. Everything that is recovered is durable then.
pub(crate) fn open_locked(
    path: &Path,
    options: &Options,
    purpose: Purpose,
) -> Result<(Uuid, Db), OpenError> {
    let log_id = identity::read(path)?;
    let folder = hold(path)?;
    // Who may not write does not take the lock from those who may.
    let may_write = fs::OpenOptions::new()
        .write(true)
        .open(path.join(identity::NAME));
    may_write.map_err(|error| OpenError::io(path, error))?;
    let lock = identity::lock(path)?;
    raise_open_files();
    check_columns(path, options)?;
    let file = WatermarkFile::open_for_writing(path).map_err(|error| OpenError::io(path, error))?;
    endless::check(path)?;
    remove_unfinished(&folder.held());
    if settle(path, &file)? {
        continuity::check_before(path, log_id, purpose)?;
    }
    let db = open_writer(path, folder, options, file, Some(lock), Arc::default())?;
    check_meta(&db, log_id, purpose)?;
    Ok((log_id, db))
}

/// Removes what killed writers had begun to write of RocksDB's small files. This process has the lock, so that no
/// other one writes them. Nothing depends on it.
fn remove_unfinished(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_unfinished = |name: &str| name.ends_with(".dbtmp") && is_of_rocksdb(name);
        if name.to_str().is_some_and(is_unfinished) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Opens the database for writing. Its write-ahead logs are durable already.
fn open_writer(
    path: &Path,
    folder: Arc<Folder>,
    options: &Options,
    file: WatermarkFile,
    lock: Option<File>,
    released: Arc<OnDrop>,
) -> Result<Db, OpenError> {
    let db_options = columns::database_options(options, Role::Writer);
    let rocks = DB::open_cf_descriptors(
        &db_options,
        folder.held(),
        columns::descriptors(options, Role::Writer),
    )
    .map_err(|error| OpenError::rocks(path, error))?;
    Ok(Db {
        rocks,
        durability: Some(Durability::new(file)),
        options: db_options,
        path: path.to_owned(),
        folder,
        redaction_step_bytes: options.redaction_step_bytes,
        named_removals: options.named_removals,
        pace: Pace::Alone,
        _scratch: None,
        _lock: lock,
        released,
    })
}

fn start_writer(
    log_id: Uuid,
    db: Db,
    options: &Options,
    disk: impl FnOnce(Arc<Db>) -> Disk,
) -> Result<Opened, OpenError> {
    let path = db.path.clone();
    ingest::clean(&path);
    let mut tail = read_tail(&db).map_err(|error| unreadable(&path, error))?;
    let file = watermark_file(&db)?;
    check_watermark(&path, &file, tail.last)?;
    continuity::check(&db, tail.last).map_err(|error| unreadable(&path, error))?;
    models::drop_unsynced(&db)?;
    let purged = redaction::resume(&db, &mut tail.counts).map_err(|failure| match failure {
        redaction::Failure::Read(error) => unreadable(&path, error),
        redaction::Failure::Write(error) => OpenError::rocks(&path, error),
    })?;
    let db = match purged {
        // RocksDB's list of its files still has keys of those that are gone.
        true => reopen(db, options)?,
        false => db,
    };
    let tree = match options.tree {
        true => Some(tree::open(&db, tail.last).map_err(|failure| match failure {
            tree::Failure::Read(error) => unreadable(&path, error),
            tree::Failure::Write(error) => OpenError::rocks(&path, error),
        })?),
        false => None,
    };
    let file = watermark_file(&db)?;
    let failed = |error| OpenError::io(&path.join(watermark_file::NAME), error);
    file.write(tail.last).map_err(failed)?;
    let syncer = Syncer::start(Arc::clone(&file)).map_err(failed)?;
    syncer.written();
    if let Some(durability) = &db.durability {
        durability.opened();
    }
    let db = Arc::new(db);
    let watermark = Arc::new(Watermark::new(tail.last));
    let publish = Publish {
        watermark: Arc::clone(&watermark),
        file,
        syncer,
    };
    let disk = disk(Arc::clone(&db));
    let end = End { tail, tree };
    let writer = Writer::start(Arc::clone(&db), end, publish, disk, options.queue_bytes)
        .map_err(|error| OpenError::io(&path, error))?;
    Ok(Opened {
        log_id,
        db: Slot::new(db),
        watermark,
        access: Access::Write(writer),
    })
}

/// The file WATERMARK of a database that was opened for writing.
pub(crate) fn watermark_file(db: &Db) -> Result<Arc<WatermarkFile>, OpenError> {
    let file = db.durability.as_ref().map(|known| Arc::clone(known.file()));
    file.ok_or_else(|| OpenError::corrupt(&db.path, "it was opened for reading"))
}

/// Closes the database and opens it again, under the same lock.
fn reopen(mut db: Db, options: &Options) -> Result<Db, OpenError> {
    let (path, lock) = (db.path.clone(), db._lock.take());
    let (folder, released) = (Arc::clone(&db.folder), Arc::clone(&db.released));
    if let Some(durability) = &db.durability {
        durability.opened();
    }
    drop(db);
    let file =
        WatermarkFile::open_for_writing(&path).map_err(|error| OpenError::io(&path, error))?;
    settle(&path, &file)?;
    open_writer(&path, folder, options, file, lock, released)
}

/// The disk of every log outside tests.
fn disk(db: Arc<Db>, sync: bool) -> Disk {
    let options = synced(sync);
    let mut said = 0;
    Box::new(move |write| {
        if mutants::is(mutants::CHECKPOINT_EARLY) {
            let written = match write.is_empty() {
                true => db.rocks.flush_wal(true),
                false => db.rocks.write(write),
            };
            return written.map_err(|error| db.write_failure(&error));
        }
        let records = !write.is_empty();
        let written = db.rocks.write_opt(write, &options);
        if !sync {
            db.unsynced();
        }
        if mutants::is(mutants::POSITION_REUSED) && records {
            said += 1;
            if said % 3 == 0 {
                let full = std::io::Error::from(std::io::ErrorKind::StorageFull);
                return Err(StoreFailure::io(&db.path, &full));
            }
        }
        if mutants::is(mutants::SYNC_ERROR_IGNORED) {
            return Ok(());
        }
        written.map_err(|error| db.write_failure(&error))?;
        db.check_place()
    })
}

fn read_tail(db: &Db) -> Result<Tail, ReadError> {
    let counts = index::counts(db, &db.columns()?)?;
    Ok(match db.last_record()? {
        None => Tail {
            last: Position::START,
            recorded_at: DateTime::<Utc>::MIN_UTC,
            counts,
        },
        Some(record) => Tail {
            last: record.position(),
            recorded_at: record.recorded_at(),
            counts,
        },
    })
}

/// What WATERMARK says was synced before anyone was answered. A log that ends
/// before it has lost acknowledged records, regardless of what RocksDB recovered from its files.
pub(crate) fn check_watermark(
    path: &Path,
    file: &WatermarkFile,
    last: Position,
) -> Result<(), OpenError> {
    let published = file.read().map_err(|error| OpenError::io(path, error))?;
    match published {
        Some(published) if published > last => Err(OpenError::corrupt(path, lost(published, last))),
        _ => Ok(()),
    }
}
