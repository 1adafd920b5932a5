//! Whether what was recovered when a log was opened hangs together: no gap between chunks,
//! and the end that the counts and the records name is one and the same.
//!
//! Tables come and go whole, so a gap can only be in what was read out of write-ahead logs. Only
//! that is walked over: nothing where the log was written to tables before, and never more than
//! the write-ahead logs hold.

use annals_event_log::{Position, ReadError};

use crate::columns::{self, Columns};
use crate::db::Db;
use crate::error::corrupt;
use crate::{chunk, index, keys};

/// Checks what a log that ends at `last` has recovered.
pub(crate) fn check(db: &Db, last: Position) -> Result<(), ReadError> {
    let columns = db.columns()?;
    no_gap(db, &columns, last)?;
    if db.get(columns.meta, keys::META_COUNTS)?.is_none() {
        return Ok(()); // An empty log.
    }
    // They are written with each group.
    let counted = Position(index::counts(db, &columns)?.position);
    if counted != last {
        return Err(corrupt(format!(
            "its counts go up to position {counted}, and its records up to {last}"
        )));
    }
    Ok(())
}

/// Walks over the chunks from the last one that is in a table, or from the log's first.
fn no_gap(db: &Db, columns: &Columns<'_>, last: Position) -> Result<(), ReadError> {
    let mut iterator = db.iterate(columns.records, None);
    let in_tables = last_in_tables(db)?;
    let mut expected = match in_tables {
        Some(first) => first,
        None => Position::START.next(),
    };
    iterator.seek(keys::record(expected));
    while let Some((key, value)) = iterator.item() {
        let first = keys::number(key).ok_or_else(|| corrupt("a chunk's key is no position"))?;
        if first != expected.0 {
            return Err(gap(expected, Position(first)));
        }
        let count = chunk::places(value)?.try_fold(0, |count, place| place.map(|_| count + 1))?;
        expected = Position(first.saturating_add(count));
        iterator.next();
    }
    db.check(&iterator)?;
    match last.next() {
        end if end == expected => Ok(()),
        end => Err(gap(expected, end)),
    }
}

/// Where the last chunk begins that is in a table; none, where all are in memory.
fn last_in_tables(db: &Db) -> Result<Option<Position>, ReadError> {
    let tables = db
        .rocks
        .live_files()
        .map_err(|error| db.read_error(&error))?;
    let of_records = tables
        .into_iter()
        .filter(|table| table.column_family_name == columns::RECORDS);
    let keys = of_records.filter_map(|table| table.end_key);
    Ok(keys.max().and_then(|key| keys::number(&key)).map(Position))
}

fn gap(wanted: Position, found: Position) -> ReadError {
    corrupt(format!(
        "the records from position {wanted} on are missing: the next ones begin at {found}"
    ))
}
