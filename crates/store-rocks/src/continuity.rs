//! Whether what was recovered when a log was opened hangs together: no gap between chunks,
//! and the end that the counts and the records name is one and the same.
//!
//! Tables come and go whole, so a gap can only be in what was read out of write-ahead logs. Only
//! that is walked over: nothing where the log was written to tables before, and never more than
//! the write-ahead logs hold. A writer that recovers much writes it into tables as it opens;
//! so a log that was not closed in order is looked at before that ([`check_before`]).

use std::path::Path;

use annals_event_log::{Position, ReadError};
use uuid::Uuid;

use crate::checks::{Purpose, check_meta};
use crate::columns::{self, Columns, Role};
use crate::db::Db;
use crate::error::{OpenError, corrupt, unreadable};
use crate::open_still::open_still;
use crate::{chunk, index, ingest, keys};

/// Checks a log that was not closed in order, as a writer would find it, before one opens it.
pub(crate) fn check_before(path: &Path, log_id: Uuid, purpose: Purpose) -> Result<(), OpenError> {
    let db = ingest::open(path, || open_still(path, Role::Writer))?;
    check_meta(&db, log_id, purpose)?;
    if purpose == Purpose::Rebuild {
        return Ok(()); // It reads all records, and their counts may be what is wrong.
    }
    let checked = db.last_position().and_then(|last| check(&db, last));
    checked.map_err(|error| unreadable(path, error))
}

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

/// Up to which position the records of a log hang together.
pub(crate) fn end(db: &Db) -> Result<Position, ReadError> {
    let walked = walk(db, &db.columns()?)?;
    Ok(Position(walked.expected.0.saturating_sub(1)))
}

fn no_gap(db: &Db, columns: &Columns<'_>, last: Position) -> Result<(), ReadError> {
    let Walked { expected, found } = walk(db, columns)?;
    match found {
        None if last.next() == expected => Ok(()),
        found => Err(gap(expected, found.unwrap_or(last.next()))),
    }
}

/// What a walk over the chunks came to.
struct Walked {
    /// The position behind the last chunk of those that hang together.
    expected: Position,
    /// Where the next chunk begins, which is not there.
    found: Option<Position>,
}

/// Walks over the chunks from the last one that is in a table, or from the log's first, to the
/// first gap.
fn walk(db: &Db, columns: &Columns<'_>) -> Result<Walked, ReadError> {
    let mut iterator = db.iterate(columns.records, None);
    let in_tables = last_in_tables(db)?;
    let mut expected = match in_tables {
        Some(first) => first,
        None => Position::START.next(),
    };
    iterator.seek(keys::record(expected));
    while let Some((key, value)) = iterator.item() {
        let first = keys::number(key).ok_or_else(|| corrupt("a chunk's key is not a position"))?;
        if first != expected.0 {
            let found = Some(Position(first));
            return Ok(Walked { expected, found });
        }
        let count = chunk::places(value)?.try_fold(0, |count, place| place.map(|_| count + 1))?;
        expected = Position(first.saturating_add(count));
        iterator.next();
    }
    db.check(&iterator)?;
    Ok(Walked {
        expected,
        found: None,
    })
}

/// Where the last chunk begins that is in a table; `None` where all are in memory.
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
