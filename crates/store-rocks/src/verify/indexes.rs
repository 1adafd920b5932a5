//! Whether the indexes have what the records ask for, and nothing else.
//!
//! Every chunk has found its own entries by now. So it is enough to count all entries, and
//! to look for those that fit nothing only where there are more.

use annals_event_log::{Position, ReadError};
use bytes::Bytes;
use rocksdb::ColumnFamily;
use uuid::Uuid;

use super::chunks::Runs;
use super::report::{Fault, MAX_FINDINGS};
use super::verifier::Verifier;
use crate::columns;
use crate::read::View;
use crate::rows::{self, Run};
use crate::{chunk, keys};

/// An index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Index {
    Streams,
    Types,
    Batches,
}

impl Index {
    fn name(self) -> &'static str {
        match self {
            Index::Streams => columns::STREAMS,
            Index::Types => columns::TYPES,
            Index::Batches => columns::BATCHES,
        }
    }

    fn column<'a>(self, view: &View<'a>) -> &'a ColumnFamily {
        match self {
            Index::Streams => view.columns.streams,
            Index::Types => view.columns.types,
            Index::Batches => view.columns.batches,
        }
    }

    /// Whether an entry is of records behind a position.
    fn is_behind(self, key: &[u8], value: &[u8], position: Position) -> bool {
        match self {
            Index::Streams => Run::decode_stream(value).is_some_and(|run| run.chunk > position),
            Index::Types => keys::split_entry(key).is_some_and(|(_, chunk)| chunk > position.0),
            Index::Batches => batch(key, value).is_some_and(|(_, first, _)| first > position),
        }
    }

    /// The name of an entry.
    fn words(self, key: &[u8]) -> String {
        let named = keys::split_entry(key).map(|(name, number)| match self {
            Index::Types => format!("{name} in the chunk at {number}"),
            Index::Streams | Index::Batches => format!("{name} from version {number} on"),
        });
        let id = Uuid::from_slice(key).ok().map(|id| id.to_string());
        match self {
            Index::Batches => id.unwrap_or_else(|| hex::encode(key)),
            Index::Streams | Index::Types => named.unwrap_or_else(|| hex::encode(key)),
        }
    }
}

/// A batch and where its row says that it is.
fn batch(key: &[u8], value: &[u8]) -> Option<(Uuid, Position, Position)> {
    let id = Uuid::from_slice(key).ok()?;
    let row = rows::read_batch(id, value)?;
    Some((id, row.appended.first, row.appended.last))
}

/// The runs of a stream, one behind the other.
#[derive(Default)]
struct Dense {
    name: String,
    /// The version that comes next.
    next: u64,
    chunk: Position,
    /// How many streams have records up to the watermark.
    streams: u64,
}

impl Verifier<'_> {
    /// Counts the entries of all indexes.
    pub(super) fn indexes(&mut self) -> Result<(), ReadError> {
        for index in [Index::Streams, Index::Types, Index::Batches] {
            self.index(index)?;
        }
        Ok(())
    }

    fn index(&mut self, index: Index) -> Result<(), ReadError> {
        let mut iterator = self.view.db.iterate_once(index.column(self.view));
        iterator.seek_to_first();
        let (mut all, mut within) = (0_u64, 0_u64);
        let mut dense = Dense::default();
        while let Some((key, value)) = iterator.item() {
            all += 1;
            within += u64::from(!index.is_behind(key, value, self.view.watermark));
            if index == Index::Streams {
                self.run(key, value, &mut dense);
            }
            iterator.next();
        }
        if let Err(error) = self.view.db.check(&iterator) {
            return self.unreadable(error);
        }
        let (there, fitting) = match index {
            Index::Streams => (&mut self.report.streams, self.entries.streams),
            Index::Types => (&mut 0, self.entries.types),
            Index::Batches => (&mut 0, self.entries.batches),
        };
        *there = dense.streams;
        // In this order: the log has not grown by now, so it had not when they were counted.
        let is_at_end = self.is_at_end()?;
        let there = if is_at_end { all } else { within };
        match there.checked_sub(fitting) {
            None | Some(0) => Ok(()),
            Some(surplus) => self.surplus(index, surplus, is_at_end),
        }
    }

    /// Whether an entry of the stream index follows the one before it.
    fn run(&mut self, key: &[u8], value: &[u8], dense: &mut Dense) {
        let entry = keys::split_entry(key).zip(Run::decode_stream(value));
        // What is not a valid entry fits no record, and is found as that.
        let Some(((name, found), run)) = entry else {
            return;
        };
        if dense.name != name {
            dense.name.clear();
            dense.name.push_str(name);
            (dense.next, dense.chunk) = (1, Position::START);
            // A stream that begins behind the watermark has no record that is shown.
            dense.streams += u64::from(run.chunk <= self.view.watermark);
        }
        let at = Position(run.chunk.0.saturating_add(u64::from(run.index)));
        let expected = dense.next;
        if found != expected {
            let fault = Fault::Version { expected, found };
            self.find(Some(at), Some(name), fault);
        } else if run.chunk <= dense.chunk {
            self.find(Some(at), Some(name), Fault::StreamIndex);
        }
        dense.next = found.saturating_add(u64::from(run.count));
        dense.chunk = run.chunk;
    }

    /// Names entries that belong to no record: so many there must be.
    fn surplus(&mut self, index: Index, surplus: u64, is_at_end: bool) -> Result<(), ReadError> {
        let name = index.name();
        let mut iterator = self.view.db.iterate_once(index.column(self.view));
        iterator.seek_to_first();
        let mut found = 0;
        let mut records = Records::new(self.view);
        while let Some((key, value)) = iterator.item() {
            let counts = is_at_end || !index.is_behind(key, value, self.view.watermark);
            if counts && !records.ask_for(index, key, value)? {
                let entry = index.words(key);
                self.find(None, None, Fault::Surplus { name, entry });
                found += 1;
            }
            if found == surplus || found >= MAX_FINDINGS as u64 {
                break;
            }
            iterator.next();
        }
        let more = surplus.saturating_sub(found);
        self.report.total_findings += more;
        self.report.of_indexes += more;
        Ok(())
    }
}

/// Looks at the records that entries are of. The chunk that was looked at last is kept.
pub(crate) struct Records<'a> {
    view: &'a View<'a>,
    chunk: Position,
    runs: Runs,
}

impl<'a> Records<'a> {
    pub(crate) fn new(view: &'a View<'a>) -> Records<'a> {
        Records {
            view,
            chunk: Position::START,
            runs: Runs::default(),
        }
    }

    fn ask_for(&mut self, index: Index, key: &[u8], value: &[u8]) -> Result<bool, ReadError> {
        match index {
            Index::Streams => {
                let Some(run) = Run::decode_stream(value) else {
                    return Ok(false);
                };
                let Some((name, version)) = keys::split_entry(key) else {
                    return Ok(false);
                };
                let runs = self.of_chunk(run.chunk)?;
                let mut streams = runs.chunk.streams();
                let same = |stream: &str, first: u64, of: &Run| {
                    stream == name && first == version && *of == run
                };
                Ok(streams.any(|(stream, first, of)| same(stream.as_str(), first.0, of)))
            }
            Index::Types => {
                let Some((name, chunk)) = keys::split_entry(key) else {
                    return Ok(false);
                };
                let run = Run::decode_type(Position(chunk), value);
                let runs = self.of_chunk(Position(chunk))?;
                let mut types = runs.chunk.types();
                Ok(types.any(|(event_type, of)| event_type == name && Some(*of) == run))
            }
            Index::Batches => match batch(key, value) {
                Some((id, first, _)) => self.has_batch(id, first),
                None => Ok(false),
            },
        }
    }

    /// Whether a batch has the record at a position.
    pub(crate) fn has_batch(&self, batch: Uuid, first: Position) -> Result<bool, ReadError> {
        let found = self.view.db.record_at(first);
        match found {
            Ok(record) => Ok(record.is_some_and(|record| record.batch_id() == batch)),
            Err(ReadError::Corrupt { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn of_chunk(&mut self, first: Position) -> Result<&Runs, ReadError> {
        if first == self.chunk {
            return Ok(&self.runs);
        }
        (self.chunk, self.runs) = (first, Runs::default());
        let stored = self
            .view
            .db
            .get(self.view.columns.records, &keys::record(first))?;
        let content = stored.map(|chunk| Bytes::copy_from_slice(&chunk));
        let content = content.unwrap_or_default();
        // What cannot be read has no records here; that is a finding of the chunk.
        let places = chunk::places(&content).into_iter().flatten();
        let positions = (first.0..).map(Position);
        for (position, place) in positions.zip(places) {
            let record = place.ok().map(|place| place.record(&content));
            if let Some(Ok(record)) = record {
                self.runs.push(position, &record);
            }
        }
        Ok(&self.runs)
    }
}
