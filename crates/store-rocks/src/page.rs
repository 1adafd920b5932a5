//! One page of records, and that none is missing in it.

use annals_event_log::{Direction, Page, Query, ReadError, Record, Source};

use crate::error::corrupt;
use crate::lookup::{self, Index};
use crate::read::View;
use crate::scan;

/// One page.
pub(crate) fn page(view: &View<'_>, query: &Query) -> Result<Page, ReadError> {
    match &query.source {
        Source::All => {
            let page = scan::page(view, query)?;
            let end = match query.direction {
                Direction::Forward => view.watermark.0,
                Direction::Backward => 1,
            };
            check_dense(query, &page, |record| record.position().0, end)?;
            Ok(page)
        }
        Source::Stream(stream) => {
            let page = lookup::page(view, query, &Index::Stream(stream.as_str()))?;
            let end = match (query.direction, page.records.last()) {
                (Direction::Forward, Some(last)) => last.version().0,
                _ => 1,
            };
            check_dense(query, &page, |record| record.version().0, end)?;
            Ok(page)
        }
        Source::EventType(event_type) => {
            // Such a name could reach into another one's keys, and no event has it.
            if event_type.chars().any(char::is_control) {
                return Ok(Page::default());
            }
            lookup::page(view, query, &Index::Type(event_type))
        }
    }
}

/// Positions in the log and versions in a stream are dense. A page that leaves
/// one out was read from a damaged store: RocksDB opens a secondary even where
/// it cannot read a table file, and shows what is in the others.
fn check_dense(
    query: &Query,
    page: &Page,
    number: impl Fn(&Record) -> u64,
    end: u64,
) -> Result<(), ReadError> {
    let forward = query.direction == Direction::Forward;
    let gap = |missing: u64| {
        let what = match &query.source {
            Source::Stream(stream) => format!("version {missing} of {stream}"),
            Source::All | Source::EventType(_) => format!("the record at {missing}"),
        };
        corrupt(format!("{what} is not there"))
    };
    let Some(first) = page.records.first().map(&number) else {
        let from = query.from.max(1);
        let expected = matches!(query.source, Source::All) && forward && from <= end;
        return if expected { Err(gap(from)) } else { Ok(()) };
    };
    let mut expected = if forward { query.from.max(1) } else { first };
    for found in page.records.iter().map(&number) {
        if found != expected {
            return Err(gap(expected));
        }
        expected = if forward {
            found.saturating_add(1)
        } else {
            found.saturating_sub(1)
        };
    }
    let last = if forward {
        expected.saturating_sub(1)
    } else {
        expected.saturating_add(1)
    };
    if page.next.is_none() && last != end {
        return Err(gap(expected));
    }
    Ok(())
}
