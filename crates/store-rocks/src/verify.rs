//! Reading a whole log and checking that everything in it agrees.
//!
//! Memory is bounded but for one number per stream, which is what makes the
//! check of the versions possible.

use std::collections::{HashMap, HashSet};

use annals_event_log::{BatchId, Content, Digest, Position, ReadError, Record, StreamName};
use bytes::Bytes;
use chrono::{DateTime, Utc};
use rocksdb::{ColumnFamily, DBPinnableSlice};

use crate::heads::Head;
use crate::open_chunk::OpenChunk;
use crate::read::View;
use crate::rows::{self, Run};
use crate::{chunk, index, keys};

mod tree;

use tree::TreeCheck;

/// Findings that a report holds; the rest are only counted.
const MAX_FINDINGS: usize = 100;
/// Blobs that are remembered as checked; a blob named again much later is
/// checked again.
const REMEMBERED_BLOBS: usize = 100_000;

/// What a verification read, and what it found wrong.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct VerifyReport {
    /// Up to where the log was checked.
    pub watermark: Position,
    /// Records that were read.
    pub records: u64,
    /// Chunks that hold them.
    pub chunks: u64,
    /// Streams that they are in.
    pub streams: u64,
    /// Batches that they came in.
    pub batches: u64,
    /// Blobs that they refer to, as often as they were checked.
    pub blobs: u64,
    /// The root of the Merkle tree over the records' headers, worked out anew; none,
    /// where they could not all be read.
    pub root: Option<Digest>,
    /// How many of the records have their hashes in the stored tree. A log that an
    /// older program wrote gets the others when it is opened for writing.
    pub tree: u64,
    /// What is wrong: the first hundred findings.
    pub findings: Vec<Finding>,
    /// How many findings there are in all.
    pub total_findings: u64,
}

impl VerifyReport {
    /// Whether nothing is wrong.
    pub fn is_sound(&self) -> bool {
        self.total_findings == 0
    }
}

/// Something that is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The record, or the first one of the chunk; `None` for the log as a whole.
    pub position: Option<Position>,
    /// The stream, where it is known.
    pub stream: Option<String>,
    /// What is wrong.
    pub fault: Fault,
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (&self.position, &self.stream) {
            (Some(position), Some(stream)) => {
                write!(f, "record {position} of {stream}: {}", self.fault)
            }
            (Some(position), None) => write!(f, "at position {position}: {}", self.fault),
            (None, _) => write!(f, "{}", self.fault),
        }
    }
}

/// Ways in which a log can be wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// RocksDB cannot read on from here.
    #[error("the store cannot be read any further: {reason}")]
    Unreadable {
        /// RocksDB's own words.
        reason: String,
    },
    /// Positions are missing or stand twice.
    #[error("position {expected} was expected here")]
    Gap {
        /// The position that should come next.
        expected: Position,
    },
    /// A chunk or a record cannot be decoded.
    #[error("{reason}")]
    Malformed {
        /// What is wrong with it.
        reason: String,
    },
    /// A record says that it is elsewhere.
    #[error("the record says that it is at {found}")]
    Position {
        /// What it says.
        found: Position,
    },
    /// A stream's versions are not dense.
    #[error("its version is {found}, {expected} was expected")]
    Version {
        /// The version that should come next.
        expected: u64,
        /// What the record says.
        found: u64,
    },
    /// Times run backward.
    #[error("it was recorded before the record before it")]
    RecordedAt,
    /// A record's structure or content is not what its header says.
    #[error("its payload is not what its header says")]
    Digest,
    /// The stream index does not say where the record is.
    #[error("the stream index does not agree")]
    StreamIndex,
    /// The index of event types does not say where the record is.
    #[error("the index of event types does not agree on {event_type}")]
    TypeIndex {
        /// The event type.
        event_type: String,
    },
    /// A batch's row is missing, or names other records.
    #[error("the row of batch {batch} does not agree")]
    Batch {
        /// The batch.
        batch: BatchId,
    },
    /// A hash of the Merkle tree is missing, or is not that of the headers.
    #[error("hash {index} of level {level} of the tree does not agree")]
    Tree {
        /// The level.
        level: u8,
        /// The number within the level.
        index: u64,
    },
    /// The tree's right edge is not what its hashes come to.
    #[error("the frontier of the tree does not agree")]
    Frontier,
    /// An index has entries that fit no record.
    #[error("the column family {name} has {surplus} entries that fit no record")]
    Surplus {
        /// The column family.
        name: &'static str,
        /// How many.
        surplus: u64,
    },
    /// A blob that a record refers to is not there.
    #[error("the blob {digest} is missing")]
    MissingBlob {
        /// Its digest.
        digest: Digest,
    },
    /// A blob's content has another digest.
    #[error("the content of blob {digest} was changed")]
    ChangedBlob {
        /// Its digest.
        digest: Digest,
    },
    /// The stored counts are wrong.
    #[error("the log counts {counted} {what}, but has {found}")]
    Counts {
        /// What was counted.
        what: &'static str,
        /// The stored count.
        counted: u64,
        /// The count of this verification.
        found: u64,
    },
    /// The log ends before its watermark.
    #[error("the log ends at {last}, before its watermark")]
    Watermark {
        /// The last record's position.
        last: Position,
    },
}

/// Verifies what a view sees.
pub(crate) fn verify(
    view: &View<'_>,
    progress: &mut dyn FnMut(Position),
) -> Result<VerifyReport, ReadError> {
    let mut verifier = Verifier::new(view);
    verifier.tree_begin()?;
    if verifier.chunks(progress)? {
        verifier.end_batch()?;
        verifier.surplus()?;
        verifier.tree_end()?;
        verifier.models()?;
        verifier.counts()?;
    }
    verifier.report.streams = verifier.heads.len() as u64;
    Ok(verifier.report)
}

/// Batches are consecutive records: the one that is being read.
struct OpenBatch {
    id: BatchId,
    first: Position,
    last: Position,
}

/// What an index has under a key.
type Entry<'a> = Option<DBPinnableSlice<'a>>;

struct Verifier<'a> {
    view: &'a View<'a>,
    report: VerifyReport,
    last: Position,
    recorded_at: DateTime<Utc>,
    heads: HashMap<StreamName, Head>,
    chunk: OpenChunk,
    batch: Option<OpenBatch>,
    checked_blobs: HashSet<Digest>,
    /// Entries of the indexes that were found where they should be.
    stream_entries: u64,
    type_entries: u64,
    batch_entries: u64,
    tree: TreeCheck,
}

impl<'a> Verifier<'a> {
    fn new(view: &'a View<'a>) -> Verifier<'a> {
        Verifier {
            view,
            report: VerifyReport {
                watermark: view.watermark,
                ..VerifyReport::default()
            },
            last: Position::START,
            recorded_at: DateTime::<Utc>::MIN_UTC,
            heads: HashMap::new(),
            chunk: OpenChunk::default(),
            batch: None,
            checked_blobs: HashSet::new(),
            stream_entries: 0,
            type_entries: 0,
            batch_entries: 0,
            tree: TreeCheck::default(),
        }
    }

    fn find(&mut self, position: Option<Position>, stream: Option<&str>, fault: Fault) {
        self.report.total_findings += 1;
        if self.report.findings.len() < MAX_FINDINGS {
            let stream = stream.map(str::to_owned);
            self.report.findings.push(Finding {
                position,
                stream,
                fault,
            });
        }
    }

    /// An unreadable store is a finding; one that cannot be reached is an error.
    fn unreadable(&mut self, error: ReadError) -> Result<(), ReadError> {
        match error {
            ReadError::Corrupt { reason } => {
                let at = self.last.next();
                self.find(Some(at), None, Fault::Unreadable { reason });
                Ok(())
            }
            error => Err(error),
        }
    }

    /// Reads all chunks; whether it came to the end.
    fn chunks(&mut self, progress: &mut dyn FnMut(Position)) -> Result<bool, ReadError> {
        let mut iterator = self.view.db.iterate_once(self.view.columns.records);
        iterator.seek_to_first();
        while let Some((key, value)) = iterator.item() {
            let Some(first) = keys::number(key).map(Position) else {
                let reason = "a chunk's key is no position".to_owned();
                self.find(None, None, Fault::Malformed { reason });
                iterator.next();
                continue;
            };
            if first > self.view.watermark {
                break;
            }
            if first != self.last.next() {
                self.find(
                    Some(first),
                    None,
                    Fault::Gap {
                        expected: self.last.next(),
                    },
                );
                self.last = Position(first.0.saturating_sub(1));
            }
            self.report.chunks += 1;
            self.one_chunk(first, &Bytes::copy_from_slice(value))?;
            progress(self.last);
            iterator.next();
        }
        if let Err(error) = self.view.db.check(&iterator) {
            self.unreadable(error)?;
            return Ok(false);
        }
        if self.last < self.view.watermark {
            self.find(None, None, Fault::Watermark { last: self.last });
        }
        Ok(true)
    }

    fn one_chunk(&mut self, first: Position, content: &Bytes) -> Result<(), ReadError> {
        self.chunk.clear();
        let places = match chunk::places(content) {
            Ok(places) => places,
            Err(error) => {
                self.find(
                    Some(first),
                    None,
                    Fault::Malformed {
                        reason: error.to_string(),
                    },
                );
                return Ok(());
            }
        };
        for place in places {
            let position = self.last.next();
            let decoded = place
                .map_err(|error| error.to_string())
                .and_then(|place| Record::decode(content.slice(place)).map_err(|e| e.to_string()));
            match decoded {
                Ok(record) => self.record(position, &record)?,
                Err(reason) => self.find(Some(position), None, Fault::Malformed { reason }),
            }
            self.last = position;
        }
        self.tree_hashes()?;
        self.chunk_entries(first)
    }

    fn record(&mut self, position: Position, record: &Record) -> Result<(), ReadError> {
        self.report.records += 1;
        self.tree.push(position, record);
        let stream = record.stream();
        if record.position() != position {
            let found = record.position();
            self.find(Some(position), Some(stream), Fault::Position { found });
        }
        if record.recorded_at() < self.recorded_at {
            self.find(Some(position), Some(stream), Fault::RecordedAt);
        }
        self.recorded_at = record.recorded_at();
        if record.verify().is_err() {
            self.find(Some(position), Some(stream), Fault::Digest);
        }
        self.version(position, record);
        for digest in record.content().iter().filter_map(Content::blob) {
            self.blob(position, stream, digest)?;
        }
        self.batch_of(position, record)
    }

    fn version(&mut self, position: Position, record: &Record) {
        let name = record.stream_name();
        let found = record.version().0;
        let head = self.heads.entry(name.clone()).or_default();
        let expected = head.version + 1;
        head.version = found;
        self.chunk.push(
            position,
            record.as_bytes(),
            &name,
            record.event_type(),
            head,
        );
        if found != expected {
            self.find(
                Some(position),
                Some(name.as_str()),
                Fault::Version { expected, found },
            );
        }
    }

    fn blob(&mut self, position: Position, stream: &str, digest: Digest) -> Result<(), ReadError> {
        if self.checked_blobs.len() >= REMEMBERED_BLOBS {
            self.checked_blobs.clear();
        }
        if !self.checked_blobs.insert(digest) {
            return Ok(());
        }
        self.report.blobs += 1;
        let fault = match self.view.db.get(self.view.columns.blobs, &digest.0) {
            Ok(None) => Fault::MissingBlob { digest },
            Ok(Some(content)) if Digest::of(&content) == digest => return Ok(()),
            Ok(Some(_)) => Fault::ChangedBlob { digest },
            Err(ReadError::Corrupt { reason }) => Fault::Unreadable { reason },
            Err(error) => return Err(error),
        };
        self.find(Some(position), Some(stream), fault);
        Ok(())
    }

    fn batch_of(&mut self, position: Position, record: &Record) -> Result<(), ReadError> {
        let id = record.batch_id();
        if let Some(batch) = self.batch.as_mut().filter(|batch| batch.id == id) {
            batch.last = position;
            return Ok(());
        }
        self.end_batch()?;
        self.batch = Some(OpenBatch {
            id,
            first: position,
            last: position,
        });
        Ok(())
    }

    fn end_batch(&mut self) -> Result<(), ReadError> {
        let Some(OpenBatch { id, first, last }) = self.batch.take() else {
            return Ok(());
        };
        self.report.batches += 1;
        let row = match index::batch_row(self.view.db, &self.view.columns, id) {
            Err(ReadError::Corrupt { .. }) => None,
            row => row?,
        };
        // A copy may stop within a batch; its row then ends with its records.
        match row {
            Some(row) if row.appended.first == first && row.appended.last == last => {
                self.batch_entries += 1;
            }
            row => {
                self.batch_entries += u64::from(row.is_some());
                self.find(Some(first), None, Fault::Batch { batch: id });
            }
        }
        Ok(())
    }

    /// Compares the indexes with the chunk that was just read.
    fn chunk_entries(&mut self, first: Position) -> Result<(), ReadError> {
        let chunk = std::mem::take(&mut self.chunk);
        for (stream, version, run) in chunk.streams() {
            let key = keys::entry(stream.as_str(), version.0);
            let at = Position(first.0.saturating_add(u64::from(run.index)));
            let Some(entry) = self.entry(self.view.columns.streams, &key, at)? else {
                continue;
            };
            self.stream_entries += u64::from(entry.is_some());
            if entry.and_then(|value| Run::decode_stream(&value)) != Some(*run) {
                self.find(Some(at), Some(stream.as_str()), Fault::StreamIndex);
            }
        }
        for (event_type, run) in chunk.types() {
            let key = keys::entry(event_type, first.0);
            let Some(entry) = self.entry(self.view.columns.types, &key, first)? else {
                continue;
            };
            self.type_entries += u64::from(entry.is_some());
            if entry.and_then(|value| Run::decode_type(first, &value)) != Some(*run) {
                let event_type = event_type.to_owned();
                self.find(Some(first), None, Fault::TypeIndex { event_type });
            }
        }
        self.chunk = chunk;
        Ok(())
    }

    /// An entry of an index; `None` where it cannot be read, which is a finding.
    fn entry(
        &mut self,
        column: &ColumnFamily,
        key: &[u8],
        position: Position,
    ) -> Result<Option<Entry<'a>>, ReadError> {
        match self.view.db.get(column, key) {
            Ok(entry) => Ok(Some(entry)),
            Err(ReadError::Corrupt { reason }) => {
                self.find(Some(position), None, Fault::Unreadable { reason });
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Reads what was folded from the records. It can be folded again, but what
    /// cannot be read must be known.
    fn models(&mut self) -> Result<(), ReadError> {
        self.count(self.view.columns.models, |_, _| true).map(drop)
    }

    /// Looks for entries that no record asked for. An entry that cannot be read
    /// fits none.
    fn surplus(&mut self) -> Result<(), ReadError> {
        let (watermark, columns) = (self.view.watermark, self.view.columns);
        let streams = |_: &[u8], value: &[u8]| {
            Run::decode_stream(value).is_none_or(|run| run.chunk <= watermark)
        };
        let types = |key: &[u8], _: &[u8]| {
            keys::split_entry(key).is_none_or(|(_, chunk)| chunk <= watermark.0)
        };
        let batches = |_: &[u8], value: &[u8]| {
            rows::read_batch(value).is_none_or(|row| row.appended.last <= watermark)
        };
        let entries = [
            (
                "streams",
                self.count(columns.streams, streams)?,
                self.stream_entries,
            ),
            (
                "types",
                self.count(columns.types, types)?,
                self.type_entries,
            ),
            (
                "batches",
                self.count(columns.batches, batches)?,
                self.batch_entries,
            ),
        ];
        for (name, there, fitting) in entries {
            if there > fitting {
                self.find(
                    None,
                    None,
                    Fault::Surplus {
                        name,
                        surplus: there - fitting,
                    },
                );
            }
        }
        Ok(())
    }

    fn count(
        &mut self,
        column: &ColumnFamily,
        within: impl Fn(&[u8], &[u8]) -> bool,
    ) -> Result<u64, ReadError> {
        let mut iterator = self.view.db.iterate_once(column);
        iterator.seek_to_first();
        let mut count = 0;
        while let Some((key, value)) = iterator.item() {
            count += u64::from(within(key, value));
            iterator.next();
        }
        if let Err(error) = self.view.db.check(&iterator) {
            self.unreadable(error)?;
        }
        Ok(count)
    }

    fn counts(&mut self) -> Result<(), ReadError> {
        let counts = match index::counts(self.view.db, &self.view.columns) {
            Ok(counts) => counts,
            Err(error) => return self.unreadable(error),
        };
        // Where the writer has moved on they count more than was read here.
        if counts.position != self.view.watermark.0 {
            return Ok(());
        }
        let streams = self.heads.len() as u64;
        for (what, counted, found) in [
            ("streams", counts.streams, streams),
            ("batches", counts.batches, self.report.batches),
        ] {
            if counted != found {
                self.find(
                    None,
                    None,
                    Fault::Counts {
                        what,
                        counted,
                        found,
                    },
                );
            }
        }
        Ok(())
    }
}
