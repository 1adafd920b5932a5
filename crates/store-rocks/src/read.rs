//! Reading pages of records: what a read sees, and how a page is filled.

use annals_event_log::store_support::{PAGE_BYTES, clamp_limit};
use annals_event_log::{Direction, Page, Position, Query, ReadError, Record, Source};

use crate::columns::Columns;
use crate::db::Db;
use crate::error::corrupt;
use crate::lookup::{self, Index};
use crate::scan;

/// From this many wanted records on, a chunk is taken out whole and shared by
/// them; below, each is copied by itself, so that a few small records do not
/// keep 4 KiB in memory.
pub(crate) const SHARED_FROM: usize = 4;

/// What a read sees: a database, and how far.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) db: &'a Db,
    pub(crate) columns: Columns<'a>,
    pub(crate) watermark: Position,
    pub(crate) rows: Shown,
}

/// Which rows of read models a read is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    All,
    /// Those of models that were folded up to the watermark and no further: others may be
    /// folded from records that are not durable.
    UpToWatermark,
    /// None: an older program wrote them, which lost some in a power cut and kept others.
    None,
}

/// How much of a page is taken.
pub(crate) struct Filling {
    records: usize,
    bytes: usize,
    limit: usize,
    next: Option<u64>,
}

impl Filling {
    pub(crate) fn new(limit: usize) -> Filling {
        Filling {
            records: 0,
            bytes: 0,
            limit: clamp_limit(limit),
            next: None,
        }
    }

    /// Takes a record in, if it still fits. If not, the next page begins at `key`.
    pub(crate) fn admits(&mut self, key: u64, len: usize) -> bool {
        let bytes = self.bytes.saturating_add(len);
        if self.records >= self.limit || (bytes > PAGE_BYTES && self.records > 0) {
            self.next = Some(key);
            return false;
        }
        self.records += 1;
        self.bytes = bytes;
        true
    }

    /// Where the next page begins, once there was no more room.
    pub(crate) fn next(&self) -> Option<u64> {
        self.next
    }

    /// Ends the page: the next one begins at `key`.
    pub(crate) fn end_at(&mut self, key: u64) {
        self.next = Some(key);
    }

    /// How many records still fit, by their number.
    pub(crate) fn room(&self) -> usize {
        self.limit.saturating_sub(self.records)
    }

    /// The page with the records that were taken in.
    pub(crate) fn page(self, records: Vec<Record>) -> Page {
        Page {
            records,
            next: self.next,
        }
    }
}

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
