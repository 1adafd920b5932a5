//! Reading the whole log: chunk after chunk, each copied once and shared by its
//! records. On a large page the records are decoded beside the reading.

use annals_event_log::{Direction, Page, Position, Query, ReadError, Record};
use bytes::Bytes;
use rayon::Scope;

use crate::error::corrupt;
use crate::read::{Filling, SHARED_FROM, View, decode_at};
use crate::{chunk, keys};

/// From this limit on a page is decoded by several threads.
const PARALLEL_FROM: usize = 2_000;
/// Chunks that are decoded at a time: about a thousand records, so that handing
/// them to another thread costs little beside it.
const CHUNKS_AT_A_TIME: usize = 64;

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
            let bytes = self.chunk.slice(place?);
            let bytes = if self.take < SHARED_FROM {
                Bytes::copy_from_slice(&bytes)
            } else {
                bytes
            };
            out.push(decode_at(bytes, position)?);
        }
        if let (false, Some(added)) = (forward, out.get_mut(start..)) {
            added.reverse();
        }
        Ok(())
    }
}

fn decode_all(spans: &[Span], forward: bool) -> Result<Vec<Record>, ReadError> {
    let mut records = Vec::with_capacity(spans.iter().map(|span| span.take).sum());
    for span in spans {
        span.decode(forward, &mut records)?;
    }
    Ok(records)
}

/// One page of the whole log. Runs on the pool of readers.
pub(crate) fn page(view: &View<'_>, query: &Query) -> Result<Page, ReadError> {
    let mut filling = Filling::new(query.limit);
    let forward = query.direction == Direction::Forward;
    if query.limit < PARALLEL_FROM {
        let mut records = Vec::new();
        gather(view, query, &mut filling, |span| {
            span.decode(forward, &mut records)
        })?;
        return Ok(filling.page(records));
    }
    // Each part goes to a place of its own, which keeps the order.
    let (sender, decoded) = std::sync::mpsc::channel();
    rayon::in_place_scope(|scope| -> Result<(), ReadError> {
        let mut parts = 0_usize;
        let mut spans = Vec::with_capacity(CHUNKS_AT_A_TIME);
        let mut hand_over = |spans: Vec<Span>, scope: &Scope<'_>| {
            let (sender, part) = (sender.clone(), parts);
            parts += 1;
            scope.spawn(move |_| {
                let _ = sender.send((part, decode_all(&spans, forward)));
            });
        };
        gather(view, query, &mut filling, |span| {
            spans.push(span);
            if spans.len() == CHUNKS_AT_A_TIME {
                hand_over(std::mem::take(&mut spans), scope);
            }
            Ok(())
        })?;
        hand_over(spans, scope);
        Ok(())
    })?;
    drop(sender);
    let mut parts: Vec<_> = decoded.into_iter().collect();
    parts.sort_unstable_by_key(|(part, _)| *part);
    let mut records = Vec::with_capacity(filling.records());
    for (_, part) in parts {
        records.append(&mut part?);
    }
    Ok(filling.page(records))
}

/// Gives the chunks that a page wants to `take`, in the order of the query.
fn gather(
    view: &View<'_>,
    query: &Query,
    filling: &mut Filling,
    mut take: impl FnMut(Span) -> Result<(), ReadError>,
) -> Result<(), ReadError> {
    let (from, forward) = match query.direction {
        Direction::Forward => (query.from.max(1), true),
        Direction::Backward => (query.from.min(view.watermark.0), false),
    };
    if from == 0 || from > view.watermark.0 {
        return Ok(());
    }
    let mut iterator = view.db.iterate(view.columns.records, None);
    iterator.seek_for_prev(keys::record(Position(from)));
    while let Some((key, value)) = iterator.item() {
        let first = keys::number(key).ok_or_else(|| corrupt("a chunk's key is no position"))?;
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
        let len = place?.len();
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
        if !filling.admits(*position, place.len()) {
            return Ok((left + 1, numbered.len() - left - 1, false));
        }
    }
    Ok((0, numbered.len(), true))
}
