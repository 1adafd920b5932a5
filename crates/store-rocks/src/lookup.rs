//! Reading one stream or one event type, through its index.

use annals_event_log::{Direction, Page, Position, Query, ReadError, Record};
use bytes::Bytes;
use rayon::prelude::*;
use rocksdb::{ColumnFamily, DBRawIterator};

use crate::chunk::{Place, check_position};
use crate::columns::Columns;
use crate::error::corrupt;
use crate::read::{Filling, SHARED_FROM, View};
use crate::rows::Run;
use crate::{chunk, keys};

/// An index, and the name that is looked up in it.
pub(crate) enum Index<'a> {
    Stream(&'a str),
    Type(&'a str),
}

impl Index<'_> {
    fn name(&self) -> &str {
        match self {
            Index::Stream(name) | Index::Type(name) => name,
        }
    }

    fn column<'a>(&self, columns: &Columns<'a>) -> &'a ColumnFamily {
        match self {
            Index::Stream(_) => columns.streams,
            Index::Type(_) => columns.types,
        }
    }

    /// The run that an iterator is at; `None` where the iterator has no entry.
    fn run(&self, iterator: &DBRawIterator<'_>) -> Result<Option<Run>, ReadError> {
        let Some((key, value)) = iterator.item() else {
            return Ok(None);
        };
        let run = match self {
            Index::Stream(_) => Run::decode_stream(value),
            Index::Type(_) => keys::split_entry(key)
                .and_then(|(_, chunk)| Run::decode_type(Position(chunk), value)),
        };
        match run {
            Some(run) => Ok(Some(run)),
            None => Err(corrupt(format!(
                "an index entry of {} is malformed",
                self.name()
            ))),
        }
    }

    /// Whether a record of a chunk may belong to this index. Bytes that are not a record may: decoding them says why
    /// they are not.
    fn may_match(&self, place: &Place, chunk: &[u8]) -> bool {
        let names = place.names(chunk);
        names.is_none_or(|(event_type, stream)| match self {
            Index::Stream(name) => stream == *name,
            Index::Type(name) => event_type == *name,
        })
    }

    /// What a query's `from` counts.
    fn key_of(&self, record: &Record) -> u64 {
        match self {
            Index::Stream(_) => record.version().0,
            Index::Type(_) => record.position().0,
        }
    }
}

/// Runs that are looked up in the index before the first of their chunks is read: enough that
/// several threads have work, and few enough that a page that ends early read little for nothing.
const RUNS_AT_A_TIME: usize = 128;
/// Runs that one thread reads after another. From two such parts on, several threads do.
const RUNS_OF_A_THREAD: usize = 16;

/// One page of a stream or of an event type. Runs on the pool of readers.
pub(crate) fn page(view: &View<'_>, query: &Query, index: &Index<'_>) -> Result<Page, ReadError> {
    let mut filling = Filling::new(query.limit);
    let mut taken = Vec::new();
    let forward = query.direction == Direction::Forward;
    let mut runs = Runs::seek(view, query, index)?;
    loop {
        let part = runs.next_part(filling.room())?;
        if part.is_empty() {
            return Ok(filling.page(taken));
        }
        for record in records_of(view, index, &part, forward)? {
            let key = index.key_of(&record);
            let before = if forward {
                key < query.from
            } else {
                key > query.from
            };
            if before {
                continue;
            }
            if !filling.admits(key, record.encoded_len()) {
                return Ok(filling.page(taken));
            }
            taken.push(record);
        }
    }
}

/// The runs of an index that a query is about, in its order.
struct Runs<'a> {
    view: &'a View<'a>,
    index: &'a Index<'a>,
    iterator: DBRawIterator<'a>,
    forward: bool,
}

impl<'a> Runs<'a> {
    fn seek(
        view: &'a View<'a>,
        query: &Query,
        index: &'a Index<'a>,
    ) -> Result<Runs<'a>, ReadError> {
        let forward = query.direction == Direction::Forward;
        let bounds = keys::bounds(index.name());
        let mut iterator = view.db.iterate(index.column(&view.columns), Some(bounds));
        // The run that holds `from` begins at or before it.
        iterator.seek_for_prev(keys::entry(index.name(), query.from));
        if forward && !iterator.valid() {
            view.db.check(&iterator)?;
            iterator.seek_to_first();
        }
        Ok(Runs {
            view,
            index,
            iterator,
            forward,
        })
    }

    /// The next ones, with about as many records as a page has room for; empty at the end.
    fn next_part(&mut self, room: usize) -> Result<Vec<Run>, ReadError> {
        let (mut part, mut records) = (Vec::new(), 0);
        while part.len() < RUNS_AT_A_TIME && records <= room {
            let Some(run) = self.index.run(&self.iterator)? else {
                self.view.db.check(&self.iterator)?;
                break;
            };
            let is_visible = run.chunk <= self.view.watermark;
            if self.forward && !is_visible {
                break;
            }
            if is_visible {
                records = records.saturating_add(run.count as usize);
                part.push(run);
            }
            if self.forward {
                self.iterator.next();
            } else {
                self.iterator.prev();
            }
        }
        Ok(part)
    }
}

/// The records of consecutive runs, in the order of the query.
fn records_of(
    view: &View<'_>,
    index: &Index<'_>,
    runs: &[Run],
    forward: bool,
) -> Result<Vec<Record>, ReadError> {
    let read = |runs: &[Run]| -> Result<Vec<Record>, ReadError> {
        let mut records = Vec::new();
        let mut take = |run: &Run, chunk: Option<&[u8]>| -> Result<(), ReadError> {
            let mut found = run_records(chunk, index, run)?;
            if !forward {
                found.reverse();
            }
            records.append(&mut found);
            Ok(())
        };
        if forward && are_scattered(runs) {
            let keys: Vec<_> = runs.iter().map(|run| keys::record(run.chunk)).collect();
            let chunks = view.db.get_sorted(view.columns.records, &keys);
            for (run, chunk) in runs.iter().zip(chunks) {
                take(run, chunk?.as_deref())?;
            }
        } else {
            let mut chunks = Chunks::new(view);
            for run in runs {
                chunks.run(run, |chunk| take(run, chunk))?;
            }
        }
        Ok(records)
    };
    if runs.len() <= RUNS_OF_A_THREAD {
        return read(runs);
    }
    let parts = runs.par_chunks(RUNS_OF_A_THREAD).map(read);
    let parts: Vec<Vec<Record>> = parts.collect::<Result<_, _>>()?;
    Ok(parts.into_iter().flatten().collect())
}

/// Whether no run's chunk is the one behind the chunk of the run before it.
fn are_scattered(runs: &[Run]) -> bool {
    let follows = |pair: &[Run]| match pair {
        [run, next] => next.chunk == run.behind(),
        _ => false,
    };
    !runs.windows(2).any(follows)
}

/// Chunks that are read one after another.
///
/// A stream that was written by itself has runs in one chunk after the next, and
/// going on to the next one costs less than looking it up.
struct Chunks<'a> {
    view: &'a View<'a>,
    /// It is at the last run's chunk.
    iterator: Option<DBRawIterator<'a>>,
    /// Where the chunk behind the last run begins, if that run ends its chunk.
    next: Option<Position>,
    /// How many chunks followed each other so far. One that follows by chance
    /// is looked up like the others.
    following: u32,
}

impl<'a> Chunks<'a> {
    fn new(view: &'a View<'a>) -> Chunks<'a> {
        Chunks {
            view,
            iterator: None,
            next: None,
            following: 0,
        }
    }

    /// Gives the chunk that a run is in to `take`; `None` where there is no such
    /// chunk.
    fn run<T>(
        &mut self,
        run: &Run,
        take: impl FnOnce(Option<&[u8]>) -> Result<T, ReadError>,
    ) -> Result<T, ReadError> {
        let follows = self.next == Some(run.chunk);
        self.next = Some(run.behind());
        let (db, key) = (self.view.db, keys::record(run.chunk));
        let records = self.view.columns.records;
        self.following = if follows {
            self.following.saturating_add(1)
        } else {
            0
        };
        if self.following < 2 {
            self.iterator = None;
            return match db.get(records, &key)? {
                Some(chunk) => take(Some(&chunk)),
                None => take(None),
            };
        }
        let iterator = match &mut self.iterator {
            Some(iterator) => {
                iterator.next();
                iterator
            }
            none => {
                let iterator = none.insert(db.iterate(records, None));
                iterator.seek(key);
                iterator
            }
        };
        db.check(iterator)?;
        let found = iterator.item().filter(|(found, _)| *found == key);
        take(found.map(|(_, chunk)| chunk))
    }
}

/// A run's records out of its chunk, in order.
fn run_records(
    stored: Option<&[u8]>,
    index: &Index<'_>,
    run: &Run,
) -> Result<Vec<Record>, ReadError> {
    let missing = |what: &str| {
        corrupt(format!(
            "the index of {} names {what} at {}",
            index.name(),
            run.chunk
        ))
    };
    let Some(stored) = stored else {
        return Err(missing("a chunk that is not there,"));
    };
    let shared = (run.count as usize >= SHARED_FROM).then(|| Bytes::copy_from_slice(stored));
    let wanted = run.count as usize;
    let mut records = Vec::with_capacity(wanted.min(chunk::TARGET_BYTES));
    let numbered = chunk::places(stored)?.zip(run.chunk.0..);
    for (place, position) in numbered.skip(run.index as usize) {
        let place = place?;
        if !index.may_match(&place, stored) {
            continue;
        }
        let record = match &shared {
            Some(shared) => place.record(shared)?,
            None => place.copied(stored)?,
        };
        check_position(&record, position)?;
        records.push(record);
        if records.len() == wanted {
            return Ok(records);
        }
    }
    Err(missing("more records than there are"))
}
