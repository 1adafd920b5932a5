//! What can be said of a chunk by itself: its records, and their entries in the indexes.

use std::collections::HashMap;

use annals_event_log::tree::leaf;
use annals_event_log::{
    BatchId, Content, Digest, PiecesOf, Position, ReadError, Record, StreamName, removed_pieces,
};
use bytes::Bytes;
use chrono::{DateTime, Utc};
use rocksdb::{ColumnFamily, DBPinnableSlice};

use super::report::{Fault, Finding, MAX_FINDINGS};
use crate::heads::Head;
use crate::open_chunk::OpenChunk;
use crate::read::View;
use crate::rows::Run;
use crate::{chunk, index, keys};

/// How much of a log is verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// All of it.
    All,
    /// What is behind a position. The state of its streams before that is taken from the
    /// index.
    Behind,
}

/// Entries of the indexes.
#[derive(Default)]
pub(super) struct Entries {
    pub(super) streams: u64,
    pub(super) types: u64,
    pub(super) batches: u64,
}

impl Entries {
    pub(super) fn add(&mut self, more: Entries) {
        self.streams += more.streams;
        self.types += more.types;
        self.batches += more.batches;
    }
}

/// What is needed of a record to check it against the others.
pub(super) struct Outline {
    pub(super) position: Position,
    pub(super) stream: StreamName,
    pub(super) recorded_at: DateTime<Utc>,
    pub(super) batch: BatchId,
    /// Its hash in the tree; `None` where its payload was altered and its header has to be made of that.
    pub(super) leaf: Option<Digest>,
    /// The blobs that it refers to, and the lengths that it says.
    pub(super) references: Vec<(Digest, u64)>,
    /// Its removed pieces.
    pub(super) removed: Vec<u16>,
    /// The pieces that it names as removed.
    pub(super) named: Vec<PiecesOf>,
}

/// A chunk that was looked at.
pub(super) struct Checked {
    pub(super) first: Position,
    /// How many records it should have: those that cannot be read are among them.
    pub(super) places: u64,
    pub(super) records: Vec<Outline>,
    /// Entries of the indexes that are there for it.
    pub(super) entries: Entries,
    pub(super) findings: Vec<Finding>,
    /// Findings that are only counted.
    pub(super) more_findings: u64,
}

/// Checks a chunk.
pub(super) fn check(
    view: &View<'_>,
    scope: Scope,
    first: Position,
    content: &Bytes,
) -> Result<Checked, ReadError> {
    let mut check = Check {
        view,
        scope,
        runs: Runs::default(),
        done: Checked {
            first,
            places: 0,
            records: Vec::new(),
            entries: Entries::default(),
            findings: Vec::new(),
            more_findings: 0,
        },
    };
    match chunk::places(content) {
        Ok(places) => {
            for place in places {
                let record = place
                    .map_err(|error| error.to_string())
                    .and_then(|place| place.record(content).map_err(|error| error.to_string()));
                check.place(record);
            }
        }
        Err(error) => check.malformed(first, error.to_string()),
    }
    check.stream_entries()?;
    check.type_entries()?;
    Ok(check.done)
}

/// The index entries that a chunk needs, made of its records.
#[derive(Default)]
pub(crate) struct Runs {
    pub(crate) chunk: OpenChunk,
    heads: HashMap<StreamName, Head>,
}

impl Runs {
    /// Adds a record; the version that was expected, where it has another one than that
    /// behind the one before it.
    pub(crate) fn push(&mut self, position: Position, record: &Record) -> Option<u64> {
        let name = record.stream_name();
        let found = record.version().0;
        let head = self.heads.entry(name.clone()).or_default();
        let expected = match head.version {
            0 => found,
            before => before.saturating_add(1),
        };
        head.version = found;
        let (bytes, event_type) = (record.as_bytes(), record.event_type());
        self.chunk.push(position, bytes, &name, event_type, head);
        (found != expected).then_some(expected)
    }
}

struct Check<'a> {
    view: &'a View<'a>,
    scope: Scope,
    runs: Runs,
    done: Checked,
}

impl Check<'_> {
    fn find(&mut self, position: Position, stream: Option<&str>, fault: Fault) {
        if self.done.findings.len() >= MAX_FINDINGS {
            self.done.more_findings += 1;
            return;
        }
        self.done.findings.push(Finding {
            position: Some(position),
            stream: stream.map(str::to_owned),
            fault,
        });
    }

    fn malformed(&mut self, position: Position, reason: String) {
        self.find(position, None, Fault::Malformed { reason });
    }

    /// One record, or why it cannot be read.
    fn place(&mut self, record: Result<Record, String>) {
        let position = Position(self.done.first.0.saturating_add(self.done.places));
        self.done.places += 1;
        match record {
            Ok(record) => self.record(position, &record),
            Err(reason) => self.malformed(position, reason),
        }
    }

    fn record(&mut self, position: Position, record: &Record) {
        let stream = record.stream();
        let found = record.position();
        if found != position {
            self.find(position, Some(stream), Fault::Position { found });
        }
        if record.verify().is_err() {
            self.find(position, Some(stream), Fault::Digest);
        }
        if let Some(expected) = self.runs.push(position, record) {
            let found = record.version().0;
            let fault = Fault::Version { expected, found };
            self.find(position, Some(stream), fault);
        }
        let content = record.content();
        let named = self.view.db.named_removals.map(|named| named(record));
        self.done.records.push(Outline {
            position,
            stream: record.stream_name(),
            recorded_at: record.recorded_at(),
            batch: record.batch_id(),
            leaf: record.has_header().then(|| leaf(record.header_bytes())),
            references: content.iter().filter_map(reference).collect(),
            removed: removed_pieces(&content),
            named: named.unwrap_or_default(),
        });
    }

    fn stream_entries(&mut self) -> Result<(), ReadError> {
        let (view, runs) = (self.view, std::mem::take(&mut self.runs));
        let wanted: Vec<_> = runs.chunk.streams().collect();
        let keys = wanted
            .iter()
            .map(|(stream, version, _)| keys::entry(stream.as_str(), version.0));
        let found = entries(view, view.columns.streams, keys.collect());
        for ((stream, version, run), found) in wanted.into_iter().zip(found) {
            let at = Position(run.chunk.0.saturating_add(u64::from(run.index)));
            let name = Some(stream.as_str());
            let Some(found) = self.entry(at, name, found)? else {
                continue;
            };
            self.done.entries.streams += u64::from(found.is_some());
            if found.and_then(|value| Run::decode_stream(&value)) != Some(*run) {
                self.find(at, name, Fault::StreamIndex);
            } else if self.scope == Scope::Behind {
                let (columns, chunk) = (&view.columns, run.chunk);
                let expected = index::version_after(view.db, columns, stream.as_str(), chunk)?;
                if expected != version.0 {
                    let found = version.0;
                    self.find(at, name, Fault::Version { expected, found });
                }
            }
        }
        self.runs = runs;
        Ok(())
    }

    fn type_entries(&mut self) -> Result<(), ReadError> {
        let (view, runs) = (self.view, std::mem::take(&mut self.runs));
        let first = self.done.first;
        let wanted: Vec<_> = runs.chunk.types().collect();
        let keys = wanted.iter().map(|(name, _)| keys::entry(name, first.0));
        let found = entries(view, view.columns.types, keys.collect());
        for ((event_type, run), found) in wanted.into_iter().zip(found) {
            let Some(found) = self.entry(first, None, found)? else {
                continue;
            };
            self.done.entries.types += u64::from(found.is_some());
            if found.and_then(|value| Run::decode_type(first, &value)) != Some(*run) {
                let event_type = event_type.to_owned();
                self.find(first, None, Fault::TypeIndex { event_type });
            }
        }
        Ok(())
    }

    /// An entry of an index; `None` where it cannot be read, which is a finding.
    fn entry<'a>(
        &mut self,
        position: Position,
        stream: Option<&str>,
        found: Result<Entry<'a>, ReadError>,
    ) -> Result<Option<Entry<'a>>, ReadError> {
        match found {
            Ok(found) => Ok(Some(found)),
            Err(ReadError::Corrupt { reason }) => {
                self.find(position, stream, Fault::Unreadable { reason });
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}

/// What an index has under a key.
type Entry<'a> = Option<DBPinnableSlice<'a>>;

fn entries<'a>(
    view: &View<'a>,
    column: &ColumnFamily,
    keys: Vec<Vec<u8>>,
) -> Vec<Result<Entry<'a>, ReadError>> {
    let found = view.db.rocks.batched_multi_get_cf(column, &keys, false);
    let found = found.into_iter();
    found
        .map(|found| found.map_err(|error| view.db.read_error(&error)))
        .collect()
}

/// The blob that a piece refers to, and the length that it says.
fn reference(piece: &Content) -> Option<(Digest, u64)> {
    match piece {
        Content::Blob { digest, size, .. } | Content::Attachment { digest, size, .. } => {
            Some((*digest, *size))
        }
        Content::Inline { .. } | Content::Removed { .. } => None,
    }
}
