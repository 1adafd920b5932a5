//! Reading the whole log: chunk after chunk, each copied once and shared by its
//! records. Several threads read a large page, each a part of it.

use annals_event_log::store_support::PAGE_LIMIT;
use annals_event_log::{Direction, Page, Position, Query, ReadError, Record};
use bytes::Bytes;
use rayon::prelude::*;
use rocksdb::DBRawIterator;

use crate::chunk::check_position;
use crate::error::corrupt;
use crate::read::{Filling, SHARED_FROM, View};
use crate::{chunk, keys};

/// From this limit on a page is read by several threads.
const PARALLEL_FROM: usize = 2_000;
/// Records that one thread reads after another, at most: enough that to begin costs little compared to them,
/// and four such parts are the largest page with the record behind it.
const PART: u64 = PAGE_LIMIT as u64 / 4 + 1;

/// Consecutive records of a chunk.
struct Span {
    chunk: Bytes,
    first: u64,
    skip: usize,
    take: usize,
}

impl Span {
    fn decode(&self, forward: bool, out: &mut Vec<Record>) -> Result<(), ReadError> {
        let start = out.len();
        let places = chunk::places(&self.chunk)?
            .zip(self.first..)
            .skip(self.skip);
        for (place, position) in places.take(self.take) {
            let place = place?;
            let record = match self.take < SHARED_FROM {
                true => place.copied(&self.chunk)?,
                false => place.record(&self.chunk)?,
            };
            check_position(&record, position)?;
            out.push(record);
        }
        if let (false, Some(added)) = (forward, out.get_mut(start..)) {
            added.reverse();
        }
        Ok(())
    }
}

/// One page of the whole log. Runs on the pool of readers.
pub(crate) fn page(view: &View<'_>, query: &Query) -> Result<Page, ReadError> {
    if query.limit >= PARALLEL_FROM {
        return large_page(view, query);
    }
    let mut filling = Filling::new(query.limit);
    let iterator = view.db.iterate(view.columns.records, None);
    let records = read(view, query, &mut filling, iterator)?;
    Ok(filling.page(records))
}

/// A page of many records: positions are dense, so that each thread knows which are its own. What a
/// page has no room for was read for nothing, and is no more than each thread's part.
fn large_page(view: &View<'_>, query: &Query) -> Result<Page, ReadError> {
    let mut filling = Filling::new(query.limit);
    let mut records = Vec::with_capacity(filling.room());
    let forward = query.direction == Direction::Forward;
    let mut from = query.from;
    loop {
        let parts = parts(view, query.direction, from, filling.room());
        let Some(last) = parts.last() else {
            return Ok(filling.page(records));
        };
        from = match forward {
            true => last.0.saturating_add(last.1),
            false => last.0.saturating_sub(last.1),
        };
        let read = parts.par_iter().map(|part| read_part(view, query, *part));
        for part in read.collect::<Vec<_>>() {
            let (part, cut) = part?;
            for record in part {
                if !filling.admits(record.position().0, record.encoded_len()) {
                    return Ok(filling.page(records));
                }
                records.push(record);
            }
            // A part that has no room for its own bytes leaves none on the page.
            if let Some(next) = cut {
                filling.end_at(next);
                return Ok(filling.page(records));
            }
        }
    }
}

/// The parts that threads read at the same time: from where on, and how many records. There are none
/// behind the end of the log, and one where there is no room left, to see where the next page begins.
fn parts(view: &View<'_>, direction: Direction, from: u64, room: usize) -> Vec<(u64, u64)> {
    let (mut from, left) = match direction {
        Direction::Forward => {
            let from = from.max(1);
            let behind = view.watermark.0.saturating_add(1);
            (from, behind.saturating_sub(from))
        }
        Direction::Backward => {
            let from = from.min(view.watermark.0);
            (from, from)
        }
    };
    let threads = rayon::current_num_threads();
    let mut left = left.min((room as u64).saturating_add(1));
    let most = left.div_ceil(threads as u64).min(PART);
    let mut parts = Vec::new();
    while left > 0 && parts.len() < threads {
        let count = left.min(most);
        parts.push((from, count));
        left -= count;
        from = match direction {
            Direction::Forward => from.saturating_add(count),
            Direction::Backward => from.saturating_sub(count),
        };
    }
    parts
}

/// The records of a part, and where it was cut off, if it has more bytes than a page may have.
fn read_part(
    view: &View<'_>,
    query: &Query,
    (from, count): (u64, u64),
) -> Result<(Vec<Record>, Option<u64>), ReadError> {
    let limit = usize::try_from(count).unwrap_or(usize::MAX);
    let part = query.clone().starting_at(from).limit(limit);
    let iterator = view.db.iterate_part(view.columns.records);
    let mut filling = Filling::new(limit);
    let records = read(view, &part, &mut filling, iterator)?;
    let cut = filling.next().filter(|_| records.len() < limit);
    Ok((records, cut))
}

fn read(
    view: &View<'_>,
    query: &Query,
    filling: &mut Filling,
    iterator: DBRawIterator<'_>,
) -> Result<Vec<Record>, ReadError> {
    let (forward, mut records) = (query.direction == Direction::Forward, Vec::new());
    gather(view, query, filling, iterator, |span| {
        span.decode(forward, &mut records)
    })?;
    Ok(records)
}

/// Gives the chunks that a page wants to `take`, in the order of the query.
fn gather(
    view: &View<'_>,
    query: &Query,
    filling: &mut Filling,
    mut iterator: DBRawIterator<'_>,
    mut take: impl FnMut(Span) -> Result<(), ReadError>,
) -> Result<(), ReadError> {
    let (from, forward) = match query.direction {
        Direction::Forward => (query.from.max(1), true),
        Direction::Backward => (query.from.min(view.watermark.0), false),
    };
    if from == 0 || from > view.watermark.0 {
        return Ok(());
    }
    iterator.seek_for_prev(keys::record(Position(from)));
    while let Some((key, value)) = iterator.item() {
        let first = keys::number(key).ok_or_else(|| corrupt("a chunk's key is not a position"))?;
        if first > view.watermark.0 {
            break;
        }
        let span = if forward {
            forward_span(filling, value, first, from)?
        } else {
            backward_span(filling, value, first, from)?
        };
        let (skip, wanted, more) = span;
        if wanted > 0 {
            take(Span {
                chunk: Bytes::copy_from_slice(value),
                first,
                skip,
                take: wanted,
            })?;
        }
        if !more {
            return Ok(());
        }
        if forward {
            iterator.next()
        } else {
            iterator.prev()
        }
    }
    view.db.check(&iterator)
}

/// What a page takes of a chunk, from `from` on: how many records are skipped,
/// how many taken, and whether the page has room for more.
fn forward_span(
    filling: &mut Filling,
    chunk: &[u8],
    first: u64,
    from: u64,
) -> Result<(usize, usize, bool), ReadError> {
    let (mut skip, mut take) = (0, 0);
    for (place, position) in chunk::places(chunk)?.zip(first..) {
        let len = place?.record_len();
        if position < from {
            skip += 1;
        } else if filling.admits(position, len) {
            take += 1;
        } else {
            return Ok((skip, take, false));
        }
    }
    Ok((skip, take, true))
}

/// The same, from `from` back.
fn backward_span(
    filling: &mut Filling,
    chunk: &[u8],
    first: u64,
    from: u64,
) -> Result<(usize, usize, bool), ReadError> {
    let places: Vec<_> = chunk::places(chunk)?.collect::<Result<_, _>>()?;
    let numbered: Vec<_> = places.iter().zip(first..=from).collect();
    for (left, (place, position)) in numbered.iter().enumerate().rev() {
        if !filling.admits(*position, place.record_len()) {
            return Ok((left + 1, numbered.len() - left - 1, false));
        }
    }
    Ok((0, numbered.len(), true))
}
