//! Looks at the blob files that older programs wrote content of 4 KiB and more to.
//!
//! RocksDB opens them when a value is read, so that a log with a damaged or missing one opens.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use annals_event_log::ReadError;

use crate::db::Db;
use crate::error::{OpenError, unreadable};
use crate::folder::files;

/// The number of blob files that the list of files names.
const NAMED: &str = "rocksdb.num-blob-files";
/// Bytes at the end of a blob file, and the number that they begin with.
const FOOTER: u64 = 32;
const MAGIC: u32 = 2_395_959;

/// Refuses a log in which a blob file is missing, or not whole.
pub(crate) fn check(db: &Db) -> Result<(), OpenError> {
    let failed = |error| unreadable(&db.path, error);
    let blobs = db.columns().map_err(failed)?.blobs;
    let named = db.rocks.property_int_value_cf(blobs, NAMED);
    let named = named.map_err(|error| OpenError::rocks(&db.path, error))?;
    let folder = db.folder.held();
    let found = files(&folder, "blob").map_err(|error| OpenError::io(&db.path, error))?;
    let is_missing = named.is_some_and(|named| named > found.len() as u64);
    if torn(&folder).is_empty() && !is_missing {
        return Ok(());
    }
    // A writer that was killed leaves one that nothing refers to.
    read_all(db).map_err(failed)
}

fn read_all(db: &Db) -> Result<(), ReadError> {
    let mut iterator = db.iterate_once(db.columns()?.blobs);
    iterator.seek_to_first();
    while iterator.valid() {
        iterator.next();
    }
    db.check(&iterator)
}

/// RocksDB's report of damage in a blob file, with the names of those that are not whole, unless it names one.
pub(crate) fn with_name(folder: &Path, said: String) -> String {
    if !said.contains("blob") || said.contains(".blob") {
        return said;
    }
    match torn(folder).as_slice() {
        [] => said,
        torn => format!("{said} ({})", torn.join(", ")),
    }
}

/// The blob files without their end.
fn torn(folder: &Path) -> Vec<String> {
    let mut found = files(folder, "blob").unwrap_or_default();
    found.retain(|name| !is_whole(&folder.join(name)).unwrap_or(false));
    found
}

/// Returns `true` if a blob file has its end.
fn is_whole(path: &Path) -> io::Result<bool> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let Some(footer) = length.checked_sub(FOOTER) else {
        return Ok(false);
    };
    file.seek(SeekFrom::Start(footer))?;
    let mut magic = [0; 4];
    file.read_exact(&mut magic)?;
    Ok(u32::from_le_bytes(magic) == MAGIC)
}
