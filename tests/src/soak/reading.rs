//! Reading a log as its users do, and what must hold of every answer.

use annals::Annals;
use annals::projections::ListQuery;
use annals_event_log::tree::{Frontier, leaf};
use annals_event_log::{Digest, Position, Query, ReadError, Record, Store};
use futures::executor::block_on;
use uuid::Uuid;

use super::said::{Invariant, Said, Violation, say};

/// All records up to a position.
///
/// # Errors
/// [`ReadError`].
pub fn records(log: &dyn Store, end: Position) -> Result<Vec<Record>, ReadError> {
    let mut records = Vec::new();
    let mut next = Some(1);
    while let Some(from) = next.filter(|from| *from <= end.0) {
        let page = block_on(log.read(Query::all(Position(from)).limit(5_000)))?;
        records.extend(page.records);
        next = page.next;
    }
    records.retain(|record| record.position() <= end);
    Ok(records)
}

/// The root of the tree over records from the first one on.
pub fn root(records: &[Record]) -> Digest {
    let mut frontier = Frontier::default();
    let leaves: Vec<Digest> = records.iter().map(|r| leaf(r.header_bytes())).collect();
    frontier.extend(&leaves, |_| {});
    frontier.root()
}

/// Reads all, says what was shown, and what is wrong with that.
///
/// # Errors
/// [`ReadError`].
pub fn read_all(log: &dyn Store) -> Result<Vec<Record>, ReadError> {
    let end = log.watermark();
    let records = records(log, end)?;
    let read = records.len() as u64;
    let ascending = (1..)
        .zip(&records)
        .all(|(at, r)| r.position() == Position(at));
    if read != end.0 || !ascending {
        let found = format!("a reader has the watermark {end} and is given {read} records");
        say(&Said::Violation(Violation::new(Invariant::Shown, found)));
    }
    if read > 0 {
        let (size, root) = (read, root(&records).to_string());
        say(&Said::Records { size, root });
    }
    Ok(records)
}

/// Lists objects, and says which ones were shown. None may be above what the reader sees
/// of the log afterwards.
///
/// # Errors
/// What the facade says.
pub fn list(annals: &Annals) -> Result<Vec<Uuid>, annals::LoadError> {
    let mut shown = Vec::new();
    let mut query = ListQuery::new(annals::domain::Kind::Intent);
    query.limit = 50;
    let listed = block_on(annals.index().list(&query))?;
    let end = annals.position();
    for row in listed.rows {
        if row.last_position > end {
            let (id, at) = (row.id, row.last_position);
            let found = format!("a reader that ends at {end} lists {id} of position {at}");
            say(&Said::Violation(Violation::new(Invariant::Shown, found)));
        }
        say(&Said::Object(row.id));
        shown.push(row.id);
    }
    Ok(shown)
}
