//! Rebuilding the indexes, the counts and the tree from the records.
//!
//! Records and blobs are only read. The log is read twice: first to see that all of its
//! records can be read, while nothing is altered; then to make of them what follows from
//! them. A word in `meta` says that this has begun, and goes in the write that ends it: until
//! then only a rebuild can open the log. So where it is interrupted it is done
//! again from the beginning.

use std::path::Path;

use annals_event_log::store_support::BatchRow;
use annals_event_log::tree::Frontier;
use annals_event_log::{Altered, Appended, BatchId, Digest, Position, ReadError, Record};
use bytes::Bytes;
use rocksdb::{ColumnFamily, WriteBatch};

use crate::checks::Purpose;
use crate::columns::{self, Columns};
use crate::db::{Db, synced};
use crate::error::{RebuildError, corrupt};
use crate::open;
use crate::options::Options;
use crate::read::{Shown, View};
use crate::rows::{self, Counts};
use crate::tree::{self, OpenTree};
use crate::verify::{Records, Runs};
use crate::{chunk, keys};

/// Bytes of one write.
const WRITE_BYTES: usize = 4 * 1024 * 1024;
/// Headers whose hashes are compared with those of the tree at a time.
const COMPARED: usize = 16 * 1024;

/// What was rebuilt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct RebuildReport {
    /// The records that it was made from, which is also the log's last position.
    pub records: u64,
    /// Streams that they are in.
    pub streams: u64,
    /// Batches that they came in.
    pub batches: u64,
    /// Batches whose row was missing, damaged or wrong. Their rows were rebuilt without
    /// the digest of the request, which nothing else has: what comes again under the id of
    /// such a batch is refused.
    pub batches_without_request: u64,
    /// Rows of batches that have no record, which were removed.
    pub batches_removed: u64,
    /// Blobs that were counted.
    pub blobs: u64,
}

/// The log is read twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RebuildStep {
    /// Whether all records can be read. Nothing is altered yet.
    Checking,
    /// Rebuilding everything.
    Making,
}

/// Rebuilds everything that follows from the records of a log.
pub(crate) fn rebuild(
    path: &Path,
    options: &Options,
    progress: &mut dyn FnMut(RebuildStep, Position),
) -> Result<RebuildReport, RebuildError> {
    let (_, db) = open::open_locked(path, options, Purpose::Rebuild)?;
    let file = open::watermark_file(&db)?;
    let (last, headers) = check_records(&db, &mut |position| {
        progress(RebuildStep::Checking, position)
    })?;
    headers.check(last)?;
    open::check_watermark(path, &file, last)?;
    check_tables(&db)?;
    let columns = db.columns()?;
    let mut rebuilding = Rebuilding {
        db: &db,
        columns,
        report: RebuildReport::default(),
        write: WriteBatch::default(),
        tree: OpenTree::default(),
        scratch: Vec::new(),
    };
    rebuilding.begin()?;
    rebuilding.records(&mut |position| progress(RebuildStep::Making, position))?;
    rebuilding.surplus_batches()?;
    rebuilding.end()?;
    let report = rebuilding.report;
    if let Some(durability) = &db.durability {
        durability.opened();
    }
    Ok(report)
}

/// Goes through all chunks, and stops at the first one that is not as it should be.
fn each_chunk(
    db: &Db,
    progress: &mut dyn FnMut(Position),
    mut each: impl FnMut(Position, Vec<Record>) -> Result<(), RebuildError>,
) -> Result<Position, RebuildError> {
    let mut iterator = db.iterate_once(db.columns()?.records);
    iterator.seek_to_first();
    let mut last = Position::START;
    while let Some((key, value)) = iterator.item() {
        let first = last.next();
        if keys::number(key) != Some(first.0) {
            return Err(corrupt(format!("no chunk begins with the record at {first}")).into());
        }
        let content = Bytes::copy_from_slice(value);
        let mut records = Vec::new();
        for (position, place) in (first.0..).zip(chunk::places(&content).map_err(ReadError::from)?)
        {
            let wrong = |reason: String| corrupt(format!("the record at {position}: {reason}"));
            let place = place.map_err(|error| wrong(error.to_string()))?;
            let record = place.record(&content);
            let record = record.map_err(|error| wrong(error.to_string()))?;
            if record.position().0 != position {
                let found = record.position();
                return Err(wrong(format!("it says that it is at {found}")).into());
            }
            last = record.position();
            records.push(record);
        }
        each(first, records)?;
        progress(last);
        iterator.next();
    }
    db.check(&iterator)?;
    Ok(last)
}

/// Reads all records before anything is altered; the last one's position, and what the tree says of them.
fn check_records<'a>(
    db: &'a Db,
    progress: &mut dyn FnMut(Position),
) -> Result<(Position, Headers<'a>), RebuildError> {
    let mut headers = Headers::new(db)?;
    let last = each_chunk(db, progress, |_, records| {
        // What the indexes would be made of must be what was appended.
        for record in &records {
            let leaf = record.leaf();
            let leaf = leaf.map_err(|altered| wrong(record.position(), altered))?;
            headers.push(leaf);
        }
        Ok(())
    })?;
    headers.compare();
    Ok((last, headers))
}

fn wrong(at: Position, altered: Altered) -> ReadError {
    corrupt(format!("the record at {at}: {altered}"))
}

/// The hashes of headers, compared with those that are left of the tree.
struct Headers<'a> {
    view: View<'a>,
    frontier: Frontier,
    /// The last ones, which are not compared yet.
    waiting: Vec<Digest>,
    /// The first record whose hash is another one.
    differs: Option<Position>,
}

impl<'a> Headers<'a> {
    fn new(db: &'a Db) -> Result<Headers<'a>, ReadError> {
        let view = View {
            db,
            columns: db.columns()?,
            watermark: Position::START,
            rows: Shown::All,
        };
        Ok(Headers {
            view,
            frontier: Frontier::default(),
            waiting: Vec::new(),
            differs: None,
        })
    }

    fn push(&mut self, leaf: Digest) {
        self.frontier.push(leaf, |_| {});
        self.waiting.push(leaf);
        if self.waiting.len() >= COMPARED {
            self.compare();
        }
    }

    fn compare(&mut self) {
        let leaves = std::mem::take(&mut self.waiting);
        if self.differs.is_some() {
            return;
        }
        let first = self.frontier.size() - leaves.len() as u64;
        // Hashes that cannot be read say nothing.
        let stored = tree::stored(&self.view, 0, first, leaves.len()).unwrap_or_default();
        let mut numbered = (first + 1..).zip(leaves.iter().zip(stored));
        let differs = numbered.find(|(_, (leaf, stored))| stored.is_some_and(|it| it != **leaf));
        self.differs = differs.map(|(position, _)| Position(position));
    }

    /// Whether the headers are what was appended, as far as what is left of the tree says so: it is the only
    /// witness, and would be made of what was altered. Its right edge confirms all of them; where that is lost
    /// or another one, none may differ from its own hash.
    fn check(&self, last: Position) -> Result<(), RebuildError> {
        let edge = tree::frontier(self.view.db, &self.view.columns);
        if edge.is_ok_and(|edge| edge.size() == last.0 && edge.root() == self.frontier.root()) {
            return Ok(());
        }
        match self.differs {
            None => Ok(()),
            Some(at) => {
                let altered = Altered::Header;
                let reason =
                    format!("the record at {at}: {altered}, and one of the two was altered");
                Err(corrupt(reason).into())
            }
        }
    }
}

/// What was found, without what to do about it.
fn found(error: &ReadError) -> String {
    match error {
        ReadError::Corrupt { reason } => reason.clone(),
        error => error.to_string(),
    }
}

/// Reads everything else that is to be read or deleted: a table with a block that is
/// damaged would still be damaged afterwards.
fn check_tables(db: &Db) -> Result<(), RebuildError> {
    let columns = db.columns()?;
    for (name, column) in [
        (columns::STREAMS, columns.streams),
        (columns::TYPES, columns.types),
        (columns::BATCHES, columns.batches),
        (columns::TREE, columns.tree),
        (columns::BLOBS, columns.blobs),
    ] {
        let mut iterator = db.iterate_once(column);
        iterator.seek_to_first();
        while iterator.valid() {
            iterator.next();
        }
        if let Err(error) = db.check(&iterator) {
            let reason = format!(
                "files of {name} are damaged and cannot be rebuilt in place ({}); `annals export annals` may \
                 write the log out, to be imported into a new one",
                found(&error)
            );
            return Err(corrupt(reason).into());
        }
    }
    Ok(())
}

/// A batch while its records are read.
struct OpenBatch {
    id: BatchId,
    first: Position,
    last: Position,
}

struct Rebuilding<'a> {
    db: &'a Db,
    columns: Columns<'a>,
    report: RebuildReport,
    write: WriteBatch,
    tree: OpenTree,
    scratch: Vec<u8>,
}

impl Rebuilding<'_> {
    /// Says that it has begun, and removes what can be made without looking at it.
    fn begin(&mut self) -> Result<(), RebuildError> {
        let Columns {
            streams,
            types,
            tree,
            meta,
            ..
        } = self.columns;
        // A reader that comes upon this has, or had, indexes in view that are not whole.
        let before = self.db.get(meta, keys::META_REBUILT)?;
        let before = before.and_then(|value| keys::number(&value)).unwrap_or(0);
        let begun = before.saturating_add(1);
        self.write
            .put_cf(meta, keys::META_REBUILT, begun.to_be_bytes());
        self.write.put_cf(meta, keys::META_REBUILDING, []);
        self.flush()?;
        for column in [streams, types, tree] {
            self.clear(column)?;
        }
        self.write.delete_cf(meta, keys::META_TREE);
        self.write.delete_cf(meta, keys::META_COUNTS);
        self.flush()
    }

    /// Removes everything of a column family.
    fn clear(&mut self, column: &ColumnFamily) -> Result<(), RebuildError> {
        let mut iterator = self.db.iterate(column, None);
        iterator.seek_to_last();
        // Where it cannot be read, everything that keys can be goes.
        let mut beyond = iterator.key().map(<[u8]>::to_vec).unwrap_or_default();
        if self.db.check(&iterator).is_err() {
            beyond = vec![u8::MAX; 1_024];
        }
        beyond.push(0);
        self.write.delete_range_cf(column, [].as_slice(), &beyond);
        Ok(())
    }

    /// Rebuilds everything that is stored in addition to a record.
    fn records(&mut self, progress: &mut dyn FnMut(Position)) -> Result<(), RebuildError> {
        let mut batch: Option<OpenBatch> = None;
        let db = self.db;
        each_chunk(db, progress, |_, records| {
            let mut runs = Runs::default();
            for record in &records {
                let position = record.position();
                runs.push(position, record);
                self.tree.push(record.header_bytes());
                self.report.streams += u64::from(record.version().0 == 1);
                let id = record.batch_id();
                match batch.as_mut().filter(|batch| batch.id == id) {
                    Some(batch) => batch.last = position,
                    None => {
                        let next = OpenBatch {
                            id,
                            first: position,
                            last: position,
                        };
                        if let Some(batch) = batch.replace(next) {
                            self.end_batch(&batch)?;
                        }
                    }
                }
            }
            self.report.records += records.len() as u64;
            runs.chunk
                .put_entries(&self.columns, &mut self.write, &mut self.scratch);
            if self.write.size_in_bytes() + self.tree.bytes() >= WRITE_BYTES {
                self.tree.write(&self.columns, &mut self.write);
                self.flush()?;
            }
            Ok(())
        })?;
        if let Some(batch) = batch {
            self.end_batch(&batch)?;
        }
        self.tree.write(&self.columns, &mut self.write);
        self.flush()
    }

    /// Keeps the row of a batch, or rebuilds it.
    fn end_batch(&mut self, batch: &OpenBatch) -> Result<(), RebuildError> {
        self.report.batches += 1;
        let stored = match self.db.get(self.columns.batches, batch.id.as_bytes()) {
            Ok(stored) => stored.and_then(|value| rows::read_batch(batch.id, &value)),
            Err(ReadError::Corrupt { .. }) => None,
            Err(error) => return Err(error.into()),
        };
        let appended = Appended::new(batch.first, batch.last);
        if stored.is_some_and(|row| row.appended == appended) {
            return Ok(());
        }
        self.report.batches_without_request += 1;
        let request = None;
        rows::write_batch(&mut self.scratch, batch.id, &BatchRow { appended, request });
        self.write
            .put_cf(self.columns.batches, batch.id.as_bytes(), &self.scratch);
        Ok(())
    }

    /// Removes rows of batches that have no records.
    fn surplus_batches(&mut self) -> Result<(), RebuildError> {
        let view = View {
            db: self.db,
            columns: self.columns,
            watermark: Position(self.report.records),
            rows: Shown::All,
        };
        let records = Records::new(&view);
        let mut iterator = self.db.iterate_once(self.columns.batches);
        iterator.seek_to_first();
        let mut rows = 0_u64;
        while iterator.valid() {
            rows += 1;
            iterator.next();
        }
        self.db.check(&iterator)?;
        // Every batch has its row by now. Where there are no more, there is nothing to look for.
        if rows == self.report.batches {
            return Ok(());
        }
        iterator.seek_to_first();
        while let Some((key, value)) = iterator.item() {
            let id = BatchId::from_slice(key).ok();
            let row = id.and_then(|id| Some((id, rows::read_batch(id, value)?)));
            let is_known = match row {
                Some((id, row)) => records.has_batch(id, row.appended.first)?,
                None => false,
            };
            if !is_known {
                self.report.batches_removed += 1;
                self.write.delete_cf(self.columns.batches, key);
            }
            if self.write.size_in_bytes() >= WRITE_BYTES {
                self.flush()?;
            }
            iterator.next();
        }
        self.db.check(&iterator)?;
        self.flush()
    }

    /// Counts everything, and says that it is done.
    fn end(&mut self) -> Result<(), RebuildError> {
        let mut counts = Counts {
            position: self.report.records,
            streams: self.report.streams,
            batches: self.report.batches,
            ..Counts::default()
        };
        let mut iterator = self.db.iterate_once(self.columns.blobs);
        iterator.seek_to_first();
        while let Some(value) = iterator.value() {
            counts.blobs += 1;
            counts.blob_bytes += value.len() as u64;
            iterator.next();
        }
        self.db.check(&iterator)?;
        self.report.blobs = counts.blobs;
        let meta = self.columns.meta;
        if counts.position > 0 {
            self.write.put_cf(meta, keys::META_COUNTS, counts.encode());
        }
        self.write.delete_cf(meta, keys::META_REBUILDING);
        self.flush()
    }

    /// Writes what waits, synced: nothing may be lost from the middle.
    fn flush(&mut self) -> Result<(), RebuildError> {
        let write = std::mem::take(&mut self.write);
        let written = self.db.rocks.write_opt(write, &synced(true));
        written.map_err(|error| self.db.write_failure(&error).into())
    }
}
