//! Many rows in one commit: as a sorted table of their own, which RocksDB takes
//! over whole. It costs a third of what the same rows cost by way of the WAL
//! and the memtable, and a table is taken over all or nothing too, with the
//! checkpoint that is in it.
//!
//! Such a commit is synced. All records that it was folded from are on the disk
//! already, and a commit to the same model that is only in the WAL is written
//! out by RocksDB first, so the order of what can be lost stays as it was.
//!
//! Where RocksDB cannot bring to the disk that it has taken a table over, it removes the
//! table, and what it wrote of it may be there all the same: such a database does not open. So
//! after a failure the table stays under its first name, and the next writer puts it where it
//! is missed ([`open`]).

pub(crate) mod leftovers;

use std::fs;
use std::path::{Path, PathBuf};

use annals_event_log::{CommitError, Position, Rows};
use rocksdb::{IngestExternalFileOptions, SstFileWriter};

use crate::error::{OpenError, StoreFailure};
use crate::read::View;
use crate::{columns, directories, keys};

use leftovers::{BEGIN, END, leftovers, missing_table};

/// From this many rows on a table pays for its files and their syncs, where a model begins.
const INGEST_FROM: usize = 10_000;
/// The same where it goes on. Rows that it has in memory are written to tables before one is taken over, and
/// everything else with them: so many small tables, and all callers wait.
const INGEST_MORE_FROM: usize = 50_000;

/// Whether a commit is worth a separate table.
/// These are its rows, and the model has come so far.
pub(crate) fn is_for(expected: Position, rows: usize) -> bool {
    let from = match expected {
        Position::START => INGEST_FROM,
        _ => INGEST_MORE_FROM,
    };
    rows >= from
}

/// A table under its first name, which goes when this does, unless it is kept.
struct Table {
    path: PathBuf,
    is_kept: bool,
}

impl Table {
    /// Makes the file, which must not exist: a file that is there already may be a live
    /// table of the database.
    fn create(directory: &Path) -> std::io::Result<Table> {
        let name = format!("{BEGIN}-{}{END}", annals_event_log::new_id().simple());
        let path = directory.join(name);
        fs::File::create_new(&path)?;
        let is_kept = false;
        Ok(Table { path, is_kept })
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        if !self.is_kept {
            remove(&self.path);
        }
    }
}

/// Removes what an interrupted commit left. Where it also is a live table, that stays under
/// its own name.
pub(crate) fn clean(directory: &Path) {
    leftovers(directory).iter().for_each(|path| remove(path));
}

/// Removes a name. One that stays harms nothing: it is never written to again.
fn remove(path: &Path) {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            tracing::warn!(%error, path = %path.display(), "rows that were taken over are left under their first name");
        }
        _ => {}
    }
}

/// Writes rows and checkpoint, or nothing.
pub(crate) fn commit(
    view: &View<'_>,
    model: &str,
    rows: Rows,
    position: Position,
) -> Result<(), CommitError> {
    let table = Table::create(&view.db.folder.held());
    let mut table = table.map_err(|error| StoreFailure::io(&view.db.path, &error))?;
    write_table(&table.path, model, rows, position).map_err(|error| view.db.failure(&error))?;
    let mut options = IngestExternalFileOptions::default();
    options.set_move_files(true);
    // Before it begins: nothing of this is done by a process that is killed.
    table.is_kept = true;
    let models = view.columns.models;
    let rocks = &view.db.rocks;
    let taken = rocks.ingest_external_file_cf_opts(models, &options, vec![&table.path]);
    taken.map_err(|error| view.db.write_failure(&error))?;
    // RocksDB has removed it; where it could not, this may.
    table.is_kept = false;
    Ok(())
}

/// Opens a database that no other process has open for writing. Where it misses a table that
/// RocksDB removed when it failed to take it over, one that was kept takes its place.
pub(crate) fn open<T>(
    directory: &Path,
    mut open: impl FnMut() -> Result<T, OpenError>,
) -> Result<T, OpenError> {
    let first = match open() {
        Ok(opened) => return Ok(opened),
        Err(error) => error,
    };
    let missing = match &first {
        OpenError::Corrupt { reason, .. } => missing_table(directory, reason),
        _ => None,
    };
    let Some(missing) = missing else {
        return Err(first);
    };
    // The newest is the one. Another one has another size, which RocksDB looks at.
    for kept in leftovers(directory).iter().rev() {
        let failed = |error| OpenError::io(kept, error);
        fs::rename(kept, &missing).map_err(failed)?;
        directories::sync_directory(directory).map_err(failed)?;
        match open() {
            Ok(opened) => {
                tracing::info!(table = %missing.display(), "rows that were taken over are put in their place");
                return Ok(opened);
            }
            Err(_) => fs::rename(&missing, kept).map_err(failed)?,
        }
    }
    Err(first)
}

fn write_table(
    path: &Path,
    model: &str,
    rows: Rows,
    position: Position,
) -> Result<(), rocksdb::Error> {
    let options = columns::table_of_rows();
    let mut table = SstFileWriter::create(&options);
    table.open(path)?;
    // The checkpoint's key is before those of all rows.
    table.put(keys::model_checkpoint(model), position.0.to_be_bytes())?;
    // One key's room serves them all.
    let mut full = keys::model_row(model, &[]);
    let before = full.len();
    for (key, value) in in_order(rows) {
        full.truncate(before);
        full.extend_from_slice(&key);
        match value {
            Some(value) => table.put(&full, value)?,
            None => table.delete(&full)?,
        }
    }
    table.finish()
}

/// Rows in the order of their keys, each key once with its last change.
fn in_order(mut rows: Rows) -> Rows {
    if rows.is_sorted_by(|(a, _), (b, _)| a < b) {
        return rows;
    }
    rows.sort_by(|(a, _), (b, _)| a.cmp(b));
    // `dedup_by` keeps the first of equals, which is made the last one.
    rows.dedup_by(|later, first| {
        let same = later.0 == first.0;
        if same {
            std::mem::swap(later, first);
        }
        same
    });
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    #[test]
    fn rows_come_in_order_and_each_with_its_last_change() {
        let row = |key: &'static str, value: Option<&'static str>| {
            (Bytes::from(key), value.map(Bytes::from))
        };
        let rows = vec![
            row("b", Some("1")),
            row("a", Some("1")),
            row("b", None),
            row("a", Some("2")),
            row("b", Some("3")),
        ];
        let wanted = vec![row("a", Some("2")), row("b", Some("3"))];
        assert_eq!(in_order(rows), wanted);
        assert_eq!(in_order(wanted.clone()), wanted);
    }
}
