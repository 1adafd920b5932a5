//! What follows from the records, as the ports answer it: invariant 5.

use std::collections::{BTreeMap, HashMap};

use annals_event_log::{
    BatchStatus, Position, Query, ReadError, Record, Store, StreamName, Version, tree,
};
use futures::executor::block_on;

use super::violation;
use crate::soak::reading;
use crate::soak::said::Invariant;

/// Everything that the log answers from its indexes is what its records give.
pub(super) fn check(log: &dyn Store, records: &[Record]) {
    let checks = [
        streams(log, records),
        types(log, records),
        batches(log, records),
        tree(log, records),
    ];
    for error in checks.into_iter().filter_map(Result::err) {
        violation(
            Invariant::Derived,
            format!("an index cannot be read: {error}"),
        );
    }
}

/// All positions that a query gives.
fn positions(log: &dyn Store, mut query: Query) -> Result<Vec<Position>, ReadError> {
    let mut positions = Vec::new();
    query.limit = 5_000;
    loop {
        let page = block_on(log.read(query.clone()))?;
        positions.extend(page.records.iter().map(Record::position));
        match page.next {
            Some(next) => query.from = next,
            None => return Ok(positions),
        }
    }
}

fn streams(log: &dyn Store, records: &[Record]) -> Result<(), ReadError> {
    let mut expected: BTreeMap<StreamName, Vec<Position>> = BTreeMap::new();
    for record in records {
        expected
            .entry(record.stream_name())
            .or_default()
            .push(record.position());
    }
    let mut listed = Vec::new();
    loop {
        let after = listed.last().cloned();
        let page = block_on(log.streams("", after.as_ref(), 10_000))?;
        if page.is_empty() {
            break;
        }
        listed.extend(page.into_iter().map(|head| head.name));
    }
    if !listed.iter().eq(expected.keys()) {
        let found = format!(
            "{} streams are listed, {} are there",
            listed.len(),
            expected.len()
        );
        violation(Invariant::Derived, found);
    }
    // Of many streams of one record each, some are enough.
    let step = (expected.len() / 200).max(1);
    for (stream, places) in expected.into_iter().step_by(step) {
        let head = block_on(log.head(&stream))?;
        if head != Version(places.len() as u64) {
            let found = format!(
                "the head of {stream} is {head}, it has {} records",
                places.len()
            );
            violation(Invariant::Derived, found);
        }
        if positions(log, Query::stream(stream.clone(), Version(1)))? != places {
            violation(
                Invariant::Derived,
                format!("{stream} is not read as it was written"),
            );
        }
    }
    Ok(())
}

fn types(log: &dyn Store, records: &[Record]) -> Result<(), ReadError> {
    let mut expected: HashMap<&str, Vec<Position>> = HashMap::new();
    for record in records {
        expected
            .entry(record.event_type())
            .or_default()
            .push(record.position());
    }
    for (event_type, places) in expected {
        let query = Query::event_type(event_type, Position(1));
        if positions(log, query)? != places {
            let found = format!("the records of type {event_type} are not those of the log");
            violation(Invariant::Derived, found);
        }
    }
    Ok(())
}

fn batches(log: &dyn Store, records: &[Record]) -> Result<(), ReadError> {
    let mut expected: HashMap<_, (Position, Position)> = HashMap::new();
    for record in records {
        let at = record.position();
        let places = expected.entry(record.batch_id()).or_insert((at, at));
        places.1 = at;
    }
    let count = expected.len() as u64;
    let step = (expected.len() / 300).max(1);
    for (batch, (first, last)) in expected.into_iter().step_by(step) {
        let status = block_on(log.batch(batch, batch.as_bytes()))?;
        let fits = match status {
            // The request of one that came through the facade is another.
            BatchStatus::Known(appended)
            | BatchStatus::Mismatch(appended)
            | BatchStatus::Unverifiable(appended) => {
                (appended.first, appended.last) == (first, last)
            }
            BatchStatus::Unknown => false,
        };
        if !fits {
            let found = format!("the batch {batch} is at {first} to {last}, and: {status:?}");
            violation(Invariant::Derived, found);
        }
    }
    let stats = block_on(log.stats())?;
    if (stats.batches, stats.position.0) != (count, records.len() as u64) {
        let found = format!("{stats:?} of {count} batches and {} records", records.len());
        violation(Invariant::Derived, found);
    }
    Ok(())
}

fn tree(log: &dyn Store, records: &[Record]) -> Result<(), ReadError> {
    let size = records.len() as u64;
    let stored = block_on(tree::root(log, size))?;
    if stored != reading::root(records) {
        let found = format!("the stored tree over {size} records has another root");
        violation(Invariant::Derived, found);
    }
    Ok(())
}
