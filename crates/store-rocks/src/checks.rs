//! What a directory and the database in it must be before a log is opened; nothing is altered.

use std::path::Path;
use std::sync::Arc;

use rocksdb::DB;
use uuid::Uuid;

use crate::columns::{self, Columns, Role};
use crate::db::Db;
use crate::error::{OpenError, unreadable};
use crate::folder::{self, Folder};
use crate::options::Options;
use crate::{identity, keys};

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

/// The column families' handles of a database.
pub(crate) fn columns_of<'a>(path: &Path, rocks: &'a DB) -> Result<Columns<'a>, OpenError> {
    Columns::of(rocks).map_err(|name| OpenError::MissingColumnFamily {
        path: path.to_owned(),
        name: name.to_owned(),
    })
}
