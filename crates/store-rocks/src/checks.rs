//! What a directory and the database in it must be before a log is opened; nothing is altered.

use std::path::Path;
use std::sync::Arc;

use annals_event_log::ReadError;
use rocksdb::DB;
use uuid::Uuid;

use crate::blob_files::torn;
use crate::columns::{self, Columns, Role};
use crate::db::Db;
use crate::error::{OpenError, unreadable};
use crate::folder::{self, Folder, files};
use crate::options::Options;
use crate::{identity, keys};

/// The number of blob files that the list of files names.
const BLOB_FILES: &str = "rocksdb.num-blob-files";

/// Opens the directory, which RocksDB is to work in; no file in it would keep that waiting.
pub(crate) fn hold(path: &Path) -> Result<Arc<Folder>, OpenError> {
    let failed = |error| OpenError::io(path, error);
    folder::check_files(path).map_err(failed)?;
    Folder::open(path).map_err(failed)
}

/// Compares the column families with those that a log has; alters nothing.
pub(crate) fn check_columns(path: &Path, options: &Options) -> Result<(), OpenError> {
    let failed = |error| OpenError::io(path, error);
    if !path.join("CURRENT").try_exists().map_err(failed)? {
        return Err(OpenError::corrupt(
            path,
            "RocksDB's file CURRENT is missing",
        ));
    }
    let db_options = columns::database_options(options, Role::Reader);
    let found = DB::list_cf(&db_options, path).map_err(|error| OpenError::rocks(path, error))?;
    for name in columns::ALL {
        if !found.iter().any(|found| found == name) {
            return Err(OpenError::MissingColumnFamily {
                path: path.to_owned(),
                name: name.into(),
            });
        }
    }
    match found
        .iter()
        .find(|found| !columns::ALL.contains(&found.as_str()))
    {
        Some(name) => Err(OpenError::NotALog {
            path: path.to_owned(),
            reason: format!("it has a column family {name:?} that no log has"),
        }),
        None => Ok(()),
    }
}

/// What a database is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To read or to write records.
    Use,
    /// To rebuild its indexes.
    Rebuild,
}

/// Compares what the database says of itself with the file ANNALS.
pub(crate) fn check_meta(db: &Db, log_id: Uuid, purpose: Purpose) -> Result<(), OpenError> {
    let path = db.path.as_path();
    let columns = columns_of(path, &db.rocks)?;
    let get = |key: &[u8]| {
        db.get(columns.meta, key)
            .map_err(|error| unreadable(path, error))
    };
    let format = get(keys::META_FORMAT)?
        .and_then(|value| Some(u32::from_be_bytes((*value).try_into().ok()?)));
    match format {
        Some(found) if found > identity::FORMAT => {
            let path = path.to_owned();
            return Err(OpenError::NewerFormat {
                path,
                found,
                known: identity::FORMAT,
            });
        }
        Some(1..) => {}
        Some(0) | None => {
            return Err(OpenError::corrupt(
                path,
                "the database does not say its format",
            ));
        }
    }
    if get(keys::META_REBUILDING)?.is_some() && !matches!(purpose, Purpose::Rebuild) {
        return Err(OpenError::RebuildInterrupted {
            path: path.to_owned(),
        });
    }
    match get(keys::META_LOG_ID)? {
        Some(stored) if *stored == log_id.as_bytes()[..] => Ok(()),
        _ => Err(OpenError::corrupt(
            path,
            "the file ANNALS names another log than the database",
        )),
    }
}

/// Refuses a log in which a blob file is missing, or not whole.
pub(crate) fn check_blob_files(db: &Db) -> Result<(), OpenError> {
    let failed = |error| unreadable(&db.path, error);
    let blobs = db.columns().map_err(failed)?.blobs;
    let named = db.rocks.property_int_value_cf(blobs, BLOB_FILES);
    let named = named.map_err(|error| OpenError::rocks(&db.path, error))?;
    let folder = db.folder.held();
    let found = files(&folder, "blob").map_err(|error| OpenError::io(&db.path, error))?;
    let is_missing = named.is_some_and(|named| named > found.len() as u64);
    if torn(&folder).is_empty() && !is_missing {
        return Ok(());
    }
    // A writer that was killed leaves one that nothing refers to.
    read_all_blobs(db).map_err(failed)
}

fn read_all_blobs(db: &Db) -> Result<(), ReadError> {
    let mut iterator = db.iterate_once(db.columns()?.blobs);
    iterator.seek_to_first();
    while iterator.valid() {
        iterator.next();
    }
    db.check(&iterator)
}

/// The column families' handles of a database.
pub(crate) fn columns_of<'a>(path: &Path, rocks: &'a DB) -> Result<Columns<'a>, OpenError> {
    Columns::of(rocks).map_err(|name| OpenError::MissingColumnFamily {
        path: path.to_owned(),
        name: name.to_owned(),
    })
}
