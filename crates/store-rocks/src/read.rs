//! What a read sees, and how a page of records is filled.

use annals_event_log::store_support::{PAGE_BYTES, clamp_limit};
use annals_event_log::{Page, Position, Record};

use crate::columns::Columns;
use crate::db::Db;

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
