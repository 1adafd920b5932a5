//! A redaction that is not finished, as a reader sees it.

use annals_event_log::{BatchId, Position, ReadError, Record, UnnamedRemovals};

use super::pending::{self, Left, Pending, load_parts};
use crate::db::Db;

/// A redaction of which records are left to be rewritten.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unfinished {
    /// The position of the last record that says what is removed.
    pub said: Position,
    /// How many records are left to be rewritten, at most: some of them may be done.
    pub left: u64,
    /// The records that say what is removed, also where they are not published.
    pub events: Vec<Record>,
    /// Whether the log is open for writing, so that it is being carried out. If not, the next
    /// opening for writing completes it.
    pub is_going_on: bool,
}

/// What a database says is not at its end.
pub(crate) fn unfinished(
    db: &Db,
    is_going_on: impl FnOnce() -> bool,
) -> Result<Option<Unfinished>, ReadError> {
    let pending = pending::pending(db)?;
    let Some((said, listed)) = pending.and_then(|pending| match pending.left {
        Left::Content { listed, .. } => Some((pending.said, listed)),
        Left::Files | Left::PutOff => None,
    }) else {
        return Ok(None);
    };
    let left = match listed {
        Some(listed) => listed.len(),
        None => load_parts(db)?.1.len(),
    };
    Ok(Some(Unfinished {
        said,
        left: left as u64,
        events: batch_that_ends(db, said)?,
        is_going_on: is_going_on(),
    }))
}

/// The event of an interrupted redaction that would remove more than its batch names.
pub(crate) fn unnamed(db: &Db) -> Result<Option<Position>, ReadError> {
    let Some(named) = db.named_removals else {
        return Ok(None);
    };
    let Some(Pending {
        said,
        left: Left::Content { listed, .. },
    }) = pending::pending(db)?
    else {
        return Ok(None);
    };
    let records = match listed {
        Some(listed) => listed,
        None => load_parts(db)?.1,
    };
    let mut unnamed = UnnamedRemovals::default();
    for of in &records {
        unnamed.add(of.position, &of.pieces);
    }
    for record in batch_that_ends(db, said)? {
        unnamed.strike_out(&named(&record));
    }
    Ok((!unnamed.is_empty()).then_some(said))
}

/// The records of the batch whose last one is at a position.
fn batch_that_ends(db: &Db, last: Position) -> Result<Vec<Record>, ReadError> {
    let mut records: Vec<Record> = Vec::new();
    let mut next = db.record_at(last)?;
    while let Some(record) = next {
        let batch: Option<BatchId> = records.first().map(Record::batch_id);
        if batch.is_some_and(|batch| batch != record.batch_id()) {
            break;
        }
        next = db.record_before(record.position())?;
        records.push(record);
    }
    records.reverse();
    Ok(records)
}
