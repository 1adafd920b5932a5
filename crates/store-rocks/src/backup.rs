//! Backups: a copy of the log that is a separate log, made while writers run.
//!
//! A writer's log is copied by RocksDB's checkpoint, which links the tables that
//! never change and copies the rest. A reader cannot make one, so its view is
//! copied key by key. Either way the copy is made next to its destination, opened
//! once to prove that it can be, and moved into place at the end.

use std::fs;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use annals_event_log::{Digest, Position, ReadError};
use annals_files::Unfinished;
use rocksdb::checkpoint::Checkpoint;
use rocksdb::{DB, WriteBatch};
use uuid::Uuid;

use crate::columns::{self, Role};
use crate::db::Db;
use crate::error::{BackupError, OpenError, corrupt, unreadable};
use crate::folder::directory_bytes;
use crate::open::Access;
use crate::open_still::open_still;
use crate::options::Options;
use crate::secondary::Follower;
use crate::watermark_file::WatermarkFile;
use crate::{creation, directories, identity, index, mutants, tree};

/// How the name of the folder begins in which a copy is made, next to its destination.
pub const WORK: &str = ".annals-backup-";
/// Bytes of one write of a copy that is made key by key.
const WRITE_BYTES: usize = 4 * 1024 * 1024;

/// What a backup holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupReport {
    /// The copy's last position.
    pub position: Position,
    /// The root of the Merkle tree over its records; `None` where an older program wrote
    /// the log and its hashes are not all there.
    pub root: Option<Digest>,
    /// Bytes of the copy, those shared with the log included.
    pub bytes: u64,
    /// Where it is.
    pub path: PathBuf,
}

pub(crate) fn backup(
    db: &Db,
    access: &Access,
    log_id: Uuid,
    dest: &Path,
) -> Result<BackupReport, BackupError> {
    let io = |source| BackupError::Io {
        path: dest.to_owned(),
        source,
    };
    check_destination(dest)?;
    if is_inside(dest, &db.path) {
        return Err(BackupError::Inside {
            path: dest.to_owned(),
        });
    }
    let parent = dest
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    if let Some(log) = creation::enclosing_log(dest) {
        return Err(BackupError::InsideLog {
            path: dest.to_owned(),
            log,
        });
    }
    directories::create_directory(parent).map_err(io)?;
    // Once more: only now it is known where a path with links and dots leads.
    if is_inside(parent, &db.path) {
        return Err(BackupError::Inside {
            path: dest.to_owned(),
        });
    }
    // Removed when it is dropped, together with a half-made copy; by a signal, where the program does so.
    let make = || directories::temporary_folder(WORK, parent);
    let (work, _unfinished) =
        Unfinished::making(make, |work| work.path().to_owned()).map_err(io)?;
    let copy = work.path().join("log");
    match access {
        Access::Write(_) => checkpoint(db, &copy, dest)?,
        Access::Follow(follower) => copy_keys(follower, &copy, dest)?,
    }
    let (position, root) = prove(&copy).map_err(|source| BackupError::Unusable {
        path: dest.to_owned(),
        source,
    })?;
    directories::make_own(&copy)
        .and_then(|()| finish(&copy, position, log_id))
        .and_then(|()| fs::rename(&copy, dest))
        .map_err(io)?;
    if !mutants::is(mutants::BACKUP_UNSYNCED) {
        directories::sync_directory(dest).map_err(io)?;
    }
    let bytes = directory_bytes(dest).map_err(io)?;
    Ok(BackupReport {
        position,
        root,
        bytes,
        path: dest.to_owned(),
    })
}

/// Whether a place is in the log's own directory, or is it.
fn is_inside(dest: &Path, log: &Path) -> bool {
    let Ok(log) = log.canonicalize() else {
        return false;
    };
    // The destination itself need not exist: its nearest ancestor does.
    let dest = std::path::absolute(dest).unwrap_or_else(|_| dest.to_owned());
    let existing = dest.ancestors().find_map(|at| at.canonicalize().ok());
    existing.is_some_and(|existing| existing.starts_with(log))
}

fn check_destination(dest: &Path) -> Result<(), BackupError> {
    match directories::is_empty(dest) {
        Ok(true) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Ok(false) => Err(BackupError::NotEmpty {
            path: dest.to_owned(),
        }),
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => {
            Err(BackupError::NotEmpty {
                path: dest.to_owned(),
            })
        }
        Err(source) => Err(BackupError::Io {
            path: dest.to_owned(),
            source,
        }),
    }
}

fn checkpoint(db: &Db, copy: &Path, dest: &Path) -> Result<(), BackupError> {
    let made = Checkpoint::new(&db.rocks).and_then(|checkpoint| checkpoint.create_checkpoint(copy));
    made.map_err(|source| BackupError::Rocks {
        path: dest.to_owned(),
        source,
    })
}

/// Copies all that a reader sees, into a new database.
fn copy_keys(follower: &Follower, copy: &Path, dest: &Path) -> Result<(), BackupError> {
    let rocks = |source| BackupError::Rocks {
        path: dest.to_owned(),
        source,
    };
    let options = Options {
        cache_bytes: 8 * 1024 * 1024,
        ..Options::default()
    };
    let db_options = columns::database_options(&options, Role::Creator);
    let target = DB::open_cf_descriptors(
        &db_options,
        copy,
        columns::descriptors(&options, Role::Creator),
    );
    let target = target.map_err(rocks)?;
    // The view must not move under the copy.
    let still = follower.hold_still()?;
    let db = &still.db;
    for name in columns::ALL {
        let (Some(from), Some(to)) = (db.rocks.cf_handle(name), target.cf_handle(name)) else {
            continue;
        };
        let mut iterator = db.iterate_once(from);
        iterator.seek_to_first();
        let mut write = WriteBatch::default();
        let mut copied = 0;
        while let Some((key, value)) = iterator.item() {
            copied += 1;
            write.put_cf(to, key, value);
            if write.size_in_bytes() >= WRITE_BYTES {
                target
                    .write_without_wal(std::mem::take(&mut write))
                    .map_err(rocks)?;
            }
            iterator.next();
        }
        db.check(&iterator)?;
        target.write_without_wal(write).map_err(rocks)?;
        target.flush_cf(to).map_err(rocks)?;
        if name == columns::BLOBS {
            check_blobs(db, copied)?;
        }
    }
    Ok(())
}

/// Refuses a copy with fewer blobs than the log counts, or more.
fn check_blobs(db: &Db, copied: u64) -> Result<(), ReadError> {
    let counted = index::counts(db, &db.columns()?)?.blobs;
    match counted == copied {
        true => Ok(()),
        false => Err(corrupt(format!(
            "it counts {counted} blobs, and {copied} can be read"
        ))),
    }
}

/// Opens a copy without altering it; where it ends, and the root of all that it has.
fn prove(copy: &Path) -> Result<(Position, Option<Digest>), OpenError> {
    let db = open_still(copy, Role::Reader)?;
    let read = || {
        let position = db.last_position()?;
        let frontier = tree::frontier(&db, &db.columns()?)?;
        let is_whole = frontier.size() == position.0;
        Ok((position, is_whole.then(|| frontier.root())))
    };
    read().map_err(|error: ReadError| unreadable(copy, error))
}

/// Adds our own files, and brings everything to the disk.
fn finish(copy: &Path, position: Position, log_id: Uuid) -> std::io::Result<()> {
    let watermark = WatermarkFile::open_for_writing(copy)?;
    watermark.write(position)?;
    let mut created = fs::OpenOptions::new();
    let created = created.write(true).create_new(true);
    let created = created.mode(directories::file_mode(copy));
    let mut identity = created.open(copy.join(identity::NAME))?;
    identity.write_all(identity::text(log_id).as_bytes())?;
    if mutants::is(mutants::BACKUP_UNSYNCED) {
        return Ok(());
    }
    watermark.sync_new()?;
    identity.sync_all()?;
    directories::sync_directory(copy)
}
