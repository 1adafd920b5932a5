//! Reading for the checks: pages, and what their failures mean.

use std::future::Future;

use annals_event_log::{Direction, Page, Position, Query, ReadError, Record, Store};
use futures::executor::block_on;

use super::violation::{Invariant, Violation};

/// Waits for a read. That it fails is a violation: a log can be read.
pub(super) fn must<T>(
    what: impl FnOnce() -> String,
    read: impl Future<Output = Result<T, ReadError>>,
) -> Result<T, Violation> {
    block_on(read).map_err(|error| Violation {
        invariant: Invariant::Readable,
        position: None,
        expected: what(),
        found: error.to_string(),
    })
}

/// One page of the whole log, which ends at `end` and is not empty.
pub(super) fn page(
    log: &dyn Store,
    from: Position,
    end: Position,
) -> Result<Vec<Record>, Violation> {
    let what = || format!("the records from position {from}");
    let page = must(what, log.read(Query::all(from)))?;
    let mut records = page.records;
    records.retain(|record| record.position() <= end);
    if records.is_empty() {
        return Err(Violation {
            invariant: Invariant::DensePositions,
            position: Some(from),
            expected: format!("a record, as the watermark is {end}"),
            found: "an empty page".to_owned(),
        });
    }
    Ok(records)
}

/// All records of a query, page by page.
pub(super) fn each(
    log: &dyn Store,
    query: &Query,
    mut visit: impl FnMut(&Record) -> Result<(), Violation>,
) -> Result<(), Violation> {
    let mut next = Some(query.from);
    while let Some(from) = next {
        let here = query.clone().starting_at(from);
        let what = || format!("a page of {here:?}");
        let page: Page = must(what, log.read(here.clone()))?;
        page.records.iter().try_for_each(&mut visit)?;
        onward(&here, &page)?;
        next = page.next;
    }
    Ok(())
}

/// Demands that the page of a query leads on, where it says that there is another one:
/// going from page to page comes to an end then, as a log does.
pub(crate) fn onward(query: &Query, page: &Page) -> Result<(), Violation> {
    let Some(next) = page.next else { return Ok(()) };
    let onward = match query.direction {
        Direction::Forward => next > query.from,
        Direction::Backward => next < query.from,
    };
    if onward && !page.records.is_empty() {
        return Ok(());
    }
    Err(Violation {
        invariant: Invariant::Readable,
        position: None,
        expected: format!("a page of {query:?} that leads on"),
        found: format!(
            "{} records, and the next page from {next}",
            page.records.len()
        ),
    })
}
