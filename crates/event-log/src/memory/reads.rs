//! Reading the in-memory log: pages, streams, counts.

use std::ops::Bound;

use super::state::State;
use crate::Version;
use crate::store_support::{PAGE_BYTES, clamp_limit};
use crate::{Direction, Page, Position, Query, Record, Source, Stats, StreamHead, StreamName};

/// The records that a query passes through: what its `from` counts, and each
/// record's position.
type Path<'a> = Box<dyn Iterator<Item = (u64, Position)> + 'a>;

impl State {
    pub(super) fn read(&self, query: &Query) -> Page {
        let limit = clamp_limit(query.limit);
        let mut page = Page::default();
        let mut bytes = 0_usize;
        for (key, position) in self.path(query) {
            let Some(record) = self.record(position) else {
                break;
            };
            bytes = bytes.saturating_add(record.encoded_len());
            let full = page.records.len() >= limit || bytes > PAGE_BYTES;
            if full && !page.records.is_empty() {
                page.next = Some(key);
                break;
            }
            page.records.push(record.clone());
        }
        page
    }

    fn record(&self, position: Position) -> Option<&Record> {
        let index = usize::try_from(position.0.checked_sub(1)?).ok()?;
        self.records.get(index)
    }

    fn path(&self, query: &Query) -> Path<'_> {
        match &query.source {
            Source::All => {
                let keys = keys(query, self.records.len());
                Box::new(keys.map(|position| (position, Position(position))))
            }
            Source::Stream(stream) => {
                let positions = self.streams.get(stream).map_or(&[][..], Vec::as_slice);
                let nth =
                    |version: u64| positions.get(usize::try_from(version).ok()?.checked_sub(1)?);
                let keys = keys(query, positions.len());
                Box::new(keys.filter_map(move |version| Some((version, Position(*nth(version)?)))))
            }
            Source::EventType(event_type) => {
                let positions = self.types.get(event_type).map_or(&[][..], Vec::as_slice);
                let keyed = |position: &u64| (*position, Position(*position));
                match query.direction {
                    Direction::Forward => {
                        let before = positions.partition_point(|position| *position < query.from);
                        Box::new(positions.iter().skip(before).map(keyed))
                    }
                    Direction::Backward => {
                        let within = positions.partition_point(|position| *position <= query.from);
                        Box::new(positions.iter().take(within).rev().map(keyed))
                    }
                }
            }
        }
    }

    pub(super) fn streams(
        &self,
        prefix: &str,
        after: Option<&StreamName>,
        limit: usize,
    ) -> Vec<StreamHead> {
        // Names with one prefix are adjacent: the first one that is not below
        // it begins them, the first one without it ends them.
        let start = match after {
            Some(after) if after.as_str() >= prefix => Bound::Excluded(after.as_str()),
            _ => Bound::Included(prefix),
        };
        self.streams
            .range::<str, _>((start, Bound::Unbounded))
            .take_while(|(name, _)| name.as_str().starts_with(prefix))
            .take(clamp_limit(limit))
            .map(|(name, positions)| StreamHead {
                name: name.clone(),
                version: Version(positions.len() as u64),
            })
            .collect()
    }

    pub(super) fn stats(&self) -> Stats {
        Stats {
            position: self.watermark(),
            streams: self.streams.len() as u64,
            batches: self.batches.len() as u64,
            blobs: self.blobs.len() as u64,
            blob_bytes: self.blobs.values().map(|bytes| bytes.len() as u64).sum(),
            bytes: 0,
        }
    }
}

/// The numbers from 1 to `end` that a query passes through.
fn keys(query: &Query, end: usize) -> Box<dyn Iterator<Item = u64>> {
    let end = end as u64;
    match query.direction {
        Direction::Forward => Box::new(query.from.max(1)..=end),
        Direction::Backward => Box::new((1..=query.from.min(end)).rev()),
    }
}
