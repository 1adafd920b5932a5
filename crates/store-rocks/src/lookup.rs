//! Reading one stream or one event type, through its index.

use annals_event_log::{Direction, Page, Position, Query, ReadError, Record};
use bytes::Bytes;
use rocksdb::{ColumnFamily, DBRawIterator};

use crate::columns::Columns;
use crate::error::corrupt;
use crate::read::{Filling, SHARED_FROM, View, decode_at};
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

    /// The run that an iterator stands at; `None` where it stands nowhere.
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

    fn matches(&self, record: &Record) -> bool {
        match self {
            Index::Stream(name) => record.stream() == *name,
            Index::Type(name) => record.event_type() == *name,
        }
    }

    /// What a query's `from` counts.
    fn key_of(&self, record: &Record) -> u64 {
        match self {
            Index::Stream(_) => record.version().0,
            Index::Type(_) => record.position().0,
        }
    }
}

/// One page of a stream or of an event type.
pub(crate) fn page(view: &View<'_>, query: &Query, index: &Index<'_>) -> Result<Page, ReadError> {
    let mut filling = Filling::new(query.limit);
    let mut taken = Vec::new();
    let forward = query.direction == Direction::Forward;
    let bounds = keys::bounds(index.name());
    let mut iterator = view.db.iterate(index.column(&view.columns), Some(bounds));
    // The run that holds `from` begins at or before it.
    iterator.seek_for_prev(keys::entry(index.name(), query.from));
    if forward && !iterator.valid() {
        view.db.check(&iterator)?;
        iterator.seek_to_first();
    }
    let mut chunks = Chunks::new(view);
    while let Some(run) = index.run(&iterator)? {
        if run.chunk <= view.watermark {
            let mut records = chunks.run(&run, |chunk| run_records(chunk, index, &run))?;
            if !forward {
                records.reverse();
            }
            for record in records {
                let key = index.key_of(&record);
                let before = if forward {
                    key < query.from
                } else {
                    key > query.from
                };
                if before {
                    continue;
                }
                if !filling.admits(key, record.as_bytes().len()) {
                    return Ok(filling.page(taken));
                }
                taken.push(record);
            }
        } else if forward {
            break;
        }
        if forward {
            iterator.next()
        } else {
            iterator.prev()
        }
    }
    view.db.check(&iterator)?;
    Ok(filling.page(taken))
}

/// Chunks that are read one after another.
///
/// A stream that was written by itself has runs in one chunk after the next, and
/// going on to the next one costs less than looking it up.
struct Chunks<'a> {
    view: &'a View<'a>,
    /// It stands at the last run's chunk.
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
        let behind = run.chunk.0 + u64::from(run.index) + u64::from(run.count);
        self.next = Some(Position(behind));
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
        let bytes = match &shared {
            Some(shared) => shared.slice(place),
            None => Bytes::copy_from_slice(stored.get(place).unwrap_or_default()),
        };
        let record = decode_at(bytes, position)?;
        if index.matches(&record) {
            records.push(record);
            if records.len() == wanted {
                return Ok(records);
            }
        }
    }
    Err(missing("more records than there are"))
}
