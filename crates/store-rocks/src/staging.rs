//! What a group has staged: each batch is checked against the log and against
//! everything staged before it, and then put into the group's one write.

use std::collections::{HashMap, HashSet};

use annals_event_log::store_support::{
    BatchRow, Chains, CopyCheck, RequestDigest, check_references, place_of,
};
use annals_event_log::{
    AppendError, Appended, BatchId, Blob, Digest, EncodedEvent, Expectation, Position, Prepared,
    ReadError, Record, StreamName, Version, check_clock,
};
use chrono::{DateTime, Utc};
use rocksdb::WriteBatch;

use crate::columns::Columns;
use crate::db::Db;
use crate::error::corrupt;
use crate::heads::{self, Heads};
use crate::open_chunk::OpenChunk;
use crate::rows::Counts;
use crate::tree::OpenTree;
use crate::{index, keys, mutants, rows, tree};

/// Bytes that are set aside, at most, for a group that is yet to come.
const MOST_RESERVED: usize = 1024 * 1024;

/// Why a batch was not staged.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The batch's own fault. Nothing of it was staged; others are not affected.
    Batch(AppendError),
    /// The store cannot be read. Something of the batch may have been staged,
    /// so the whole group must be given up.
    Store(ReadError),
}

impl From<AppendError> for Refusal {
    fn from(error: AppendError) -> Refusal {
        Refusal::Batch(error)
    }
}

impl From<ReadError> for Refusal {
    fn from(error: ReadError) -> Refusal {
        Refusal::Store(error)
    }
}

/// The end of the log, staged records included.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tail {
    /// The last record's position.
    pub(crate) last: Position,
    /// When it was recorded; in an empty log the earliest time there is.
    pub(crate) recorded_at: DateTime<Utc>,
    pub(crate) counts: Counts,
}

/// The group that is being staged. It is used again for the next one.
pub(crate) struct Staging<'a> {
    db: &'a Db,
    columns: Columns<'a>,
    heads: Heads,
    tail: Tail,
    now: DateTime<Utc>,
    write: WriteBatch,
    chunk: OpenChunk,
    /// None where the tree is not kept.
    tree: Option<OpenTree>,
    batches: HashMap<BatchId, BatchRow>,
    /// How far chains of appends have come, with what is staged.
    chains: Chains,
    /// Blobs that are staged, with their lengths.
    blobs: HashMap<Digest, u64>,
    scratch: Vec<u8>,
    /// The last position before the group.
    begun_after: Position,
    /// The last position that is in a chunk which was put into a write.
    chunked: Position,
    /// Events that were staged, for one in so many is looked at more closely.
    staged: u64,
    /// Blobs that go when the redaction under way is over; `None` where none is under way. An
    /// append that refers to one of them is answered as if it were not there any more.
    going: Option<HashSet<Digest>>,
}

impl<'a> Staging<'a> {
    pub(crate) fn new(
        db: &'a Db,
        columns: Columns<'a>,
        tail: Tail,
        tree: Option<OpenTree>,
    ) -> Staging<'a> {
        Staging {
            db,
            columns,
            heads: Heads::default(),
            tail,
            now: tail.recorded_at,
            write: WriteBatch::default(),
            chunk: OpenChunk::default(),
            tree,
            batches: HashMap::new(),
            chains: Chains::default(),
            blobs: HashMap::new(),
            scratch: Vec::new(),
            begun_after: tail.last,
            chunked: tail.last,
            staged: 0,
            going: None,
        }
    }

    /// Forgets what was staged since a tail, which only a seeded bug does.
    pub(crate) fn rewind(&mut self, tail: Tail) {
        self.tail = tail;
        self.heads = Heads::default();
        self.tree = tree::open(self.db, tail.last).ok();
    }

    /// The end of the log, with what is staged.
    pub(crate) fn tail(&self) -> Tail {
        self.tail
    }

    /// Begins a group at the time `now`.
    pub(crate) fn begin(&mut self, now: DateTime<Utc>) {
        self.now = now;
        self.begun_after = self.tail.last;
        self.batches.clear();
        self.blobs.clear();
        self.heads.age();
    }

    /// The last position, with what is staged.
    pub(crate) fn last(&self) -> Position {
        self.tail.last
    }

    /// What is counted, to be changed by who deletes blobs.
    pub(crate) fn counts_mut(&mut self) -> &mut Counts {
        &mut self.tail.counts
    }

    /// Bytes staged so far.
    pub(crate) fn bytes(&self) -> usize {
        let tree = self.tree.as_ref().map_or(0, OpenTree::bytes);
        self.write.size_in_bytes() + self.chunk.bytes() + tree
    }

    /// Ends the group: its one write, and the log's last position after it.
    /// `None` where nothing was staged.
    ///
    /// # Errors
    /// [`ReadError::Corrupt`] where what is staged cannot be what should be.
    pub(crate) fn finish(&mut self) -> Result<Option<(WriteBatch, Position)>, ReadError> {
        self.end_chunk()?;
        if self.write.is_empty() {
            return Ok(None);
        }
        if let Some(tree) = &mut self.tree {
            tree.write(&self.columns, &mut self.write);
        }
        self.tail.counts.position = self.tail.last.0;
        self.write.put_cf(
            self.columns.meta,
            keys::META_COUNTS,
            self.tail.counts.encode(),
        );
        // The next group is likely to be as large as this one.
        let capacity = self.write.size_in_bytes().min(MOST_RESERVED);
        let next = WriteBatch::with_capacity_bytes(capacity);
        Ok(Some((
            std::mem::replace(&mut self.write, next),
            self.tail.last,
        )))
    }

    /// What was answered to the same append before, if it was made.
    pub(crate) fn known(&self, prepared: &Prepared) -> Result<Option<Appended>, Refusal> {
        let batch = prepared.batch;
        let Some(row) = self.batch_row(batch)? else {
            return Ok(None);
        };
        Ok(Some(row.answer(batch, &prepared.request)?))
    }

    /// Stages one append.
    pub(crate) fn append(
        &mut self,
        prepared: &mut Prepared,
        request: RequestDigest,
    ) -> Result<Appended, Refusal> {
        if let Some(appended) = self.known(prepared)? {
            return Ok(appended);
        }
        check_clock(self.now, self.tail.recorded_at)?;
        if let Some(link) = &prepared.link {
            self.chains.check(**link)?;
        }
        let batch = prepared.batch;
        for reference in &prepared.required_blobs {
            reference.check(self.blob_size(reference.digest)?)?;
        }
        self.check_expectations(&prepared.expectations)?;
        let first = self.tail.last.next();
        self.stage_blobs(&prepared.blobs)?;
        for event in &mut prepared.events {
            self.stage_event(event)?;
        }
        let appended = Appended::new(first, self.tail.last);
        self.stage_batch(
            batch,
            BatchRow {
                appended,
                request: Some(request),
            },
            true,
        )?;
        if let Some(link) = &prepared.link {
            self.chains.advance(**link);
        }
        Ok(appended)
    }

    /// Stages a verbatim copy.
    pub(crate) fn copy(&mut self, records: &[Record], blobs: &[Blob]) -> Result<Appended, Refusal> {
        let (Some(first), Some(last)) = (records.first(), records.last()) else {
            return Err(AppendError::Invalid {
                reason: "it has no records".into(),
            }
            .into());
        };
        let appended = Appended::new(first.position(), last.position());
        let rows = self.check_copy(records)?;
        check_references(records, blobs, |digest| -> Result<_, Refusal> {
            Ok(self.blob_size(digest)?)
        })?;
        self.stage_blobs(blobs)?;
        for record in records {
            self.stage_record(record)?;
        }
        for (batch, row) in rows {
            // A batch that came in parts was counted with its first part.
            let is_new = row.appended.first >= appended.first;
            self.stage_batch(batch, row, is_new)?;
        }
        Ok(appended)
    }

    fn check_copy(&mut self, records: &[Record]) -> Result<HashMap<BatchId, BatchRow>, Refusal> {
        let mut check = CopyCheck::new(self.tail.last, self.tail.recorded_at);
        let mut heads: HashMap<StreamName, Version> = HashMap::new();
        let mut rows: HashMap<BatchId, BatchRow> = HashMap::new();
        for record in records {
            let stream = record.stream_name();
            let head = match heads.get(&stream) {
                Some(head) => *head,
                None => self.version(&stream)?,
            };
            check.record(record, head)?;
            heads.insert(stream, record.version());
            let id = record.batch_id();
            let known = match rows.get(&id) {
                Some(row) => Some(*row),
                None => self.batch_row(id)?,
            };
            rows.insert(id, BatchRow::copied(known, record)?);
        }
        Ok(rows)
    }

    fn check_expectations(&mut self, expectations: &[Expectation]) -> Result<(), Refusal> {
        for Expectation { stream, expected } in expectations {
            let actual = self.version(stream)?;
            if !expected.holds(actual) {
                if mutants::is(mutants::HEAD_FORGOTTEN) {
                    self.heads = Heads::default();
                }
                let (stream, expected) = (stream.clone(), *expected);
                return Err(AppendError::Conflict {
                    stream,
                    expected,
                    actual,
                }
                .into());
            }
        }
        Ok(())
    }

    fn version(&mut self, stream: &StreamName) -> Result<Version, ReadError> {
        let (db, columns) = (self.db, self.columns);
        let head = self
            .heads
            .get(stream, |stream| index::last_version(db, &columns, stream))?;
        Ok(Version(head.version))
    }

    fn batch_row(&self, batch: BatchId) -> Result<Option<BatchRow>, ReadError> {
        match self.batches.get(&batch) {
            Some(row) => Ok(Some(*row)),
            None => index::batch_row(self.db, &self.columns, batch),
        }
    }

    /// The length of a blob that is stored or staged. RocksDB says it only together with
    /// the content, which it would have to find for us anyhow.
    fn blob_size(&self, digest: Digest) -> Result<Option<u64>, ReadError> {
        if let Some(size) = self.blobs.get(&digest) {
            return Ok(Some(*size));
        }
        if self.going().is_some_and(|going| going.contains(&digest)) {
            return Ok(None);
        }
        self.stored_blob_size(digest)
    }

    fn stored_blob_size(&self, digest: Digest) -> Result<Option<u64>, ReadError> {
        let stored = self.db.get(self.columns.blobs, &digest.0)?;
        Ok(stored.map(|content| content.len() as u64))
    }

    /// The blobs of the redaction that is under way, except for those that were brought along
    /// again since.
    pub(crate) fn going(&self) -> Option<&HashSet<Digest>> {
        self.going.as_ref()
    }

    /// A redaction is under way that ends with the deletion of these blobs.
    pub(crate) fn begin_removal(&mut self, blobs: &[Digest]) {
        self.going = Some(blobs.iter().copied().collect());
    }

    /// It is over.
    pub(crate) fn end_removal(&mut self) {
        self.going = None;
    }

    fn stage_blobs(&mut self, blobs: &[Blob]) -> Result<(), ReadError> {
        for blob in blobs {
            let (digest, size) = (blob.digest(), blob.bytes().len() as u64);
            if self.blob_size(digest)?.is_some() {
                continue;
            }
            let came_back = self
                .going
                .as_mut()
                .is_some_and(|going| going.remove(&digest));
            if came_back && self.stored_blob_size(digest)?.is_some() {
                continue;
            }
            self.write
                .put_cf(self.columns.blobs, digest.0, blob.bytes());
            self.blobs.insert(digest, size);
            self.tail.counts.blobs += 1;
            self.tail.counts.blob_bytes += size;
        }
        Ok(())
    }

    fn stage_event(&mut self, event: &mut EncodedEvent) -> Result<(), ReadError> {
        if mutants::is(mutants::HEAD_AGED) {
            self.heads = Heads::default();
        }
        self.make_room(event.len())?;
        let (db, columns) = (self.db, self.columns);
        let load = |stream: &StreamName| index::last_version(db, &columns, stream);
        let head = self.heads.get(&event.stream, load)?;
        self.staged += 1;
        let is_staged = head.chunk > self.begun_after.0;
        if self.staged.is_multiple_of(heads::SAMPLE) && !is_staged {
            heads::check(&event.stream, *head, load(&event.stream)?)?;
        }
        head.version += 1;
        let position = self.tail.last.next();
        // A clock that was set back must not turn the order of times around.
        self.tail.recorded_at = self.tail.recorded_at.max(self.now);
        let stream = event.stream.clone();
        let event_type = std::mem::take(&mut event.event_type);
        let version = Version(head.version);
        let bytes = event.stamp(position, version, self.tail.recorded_at);
        check_place(bytes, position, version)?;
        if let Some(tree) = &mut self.tree {
            tree.push(tree::header_of(bytes));
        }
        self.chunk.push(position, bytes, &stream, &event_type, head);
        self.tail.counts.streams += u64::from(head.version == 1);
        self.tail.last = position;
        Ok(())
    }

    fn stage_record(&mut self, record: &Record) -> Result<(), ReadError> {
        self.make_room(record.encoded_len())?;
        let (db, columns) = (self.db, self.columns);
        let stream = record.stream_name();
        let head = self
            .heads
            .get(&stream, |stream| index::last_version(db, &columns, stream))?;
        head.version += 1;
        let position = self.tail.last.next();
        check_place(record.as_bytes(), position, Version(head.version))?;
        if let Some(tree) = &mut self.tree {
            tree.push(record.header_bytes());
        }
        self.chunk.push(
            position,
            record.as_bytes(),
            &stream,
            record.event_type(),
            head,
        );
        self.tail.counts.streams += u64::from(head.version == 1);
        self.tail.last = position;
        self.tail.recorded_at = record.recorded_at();
        Ok(())
    }

    fn stage_batch(
        &mut self,
        batch: BatchId,
        row: BatchRow,
        is_new: bool,
    ) -> Result<(), ReadError> {
        if mutants::is(mutants::BATCH_ROW_LEFT_OUT) {
            return Ok(());
        }
        let Appended { first, last, .. } = row.appended;
        let in_group = last > self.begun_after && last <= self.tail.last;
        // A batch that is copied in parts began before.
        if !in_group || first > last || (is_new && first <= self.begun_after) {
            let (after, end) = (self.begun_after, self.tail.last);
            return Err(corrupt(format!(
                "batch {batch} would be from {first} to {last}, in a group after {after} and up to {end}"
            )));
        }
        rows::write_batch(&mut self.scratch, batch, &row);
        self.write
            .put_cf(self.columns.batches, batch.as_bytes(), &self.scratch);
        self.batches.insert(batch, row);
        self.tail.counts.batches += u64::from(is_new);
        Ok(())
    }

    fn make_room(&mut self, record_len: usize) -> Result<(), ReadError> {
        match self.chunk.has_room(record_len) {
            true => Ok(()),
            false => self.end_chunk(),
        }
    }

    /// Puts the chunk and its index entries into the group's write.
    fn end_chunk(&mut self) -> Result<(), ReadError> {
        let Some(first) = self.chunk.first() else {
            return Ok(());
        };
        let (last, end) = (self.chunk.last(), self.tail.last);
        if first != self.chunked.next() || last != end || !self.chunk.is_bounded() {
            let (after, bytes) = (self.chunked, self.chunk.bytes());
            return Err(corrupt(format!(
                "a chunk of {bytes} bytes would be from {first} to {last}, behind {after} and up to {end}"
            )));
        }
        self.chunked = last;
        self.write.put_cf(
            self.columns.records,
            keys::record(first),
            self.chunk.content(),
        );
        self.chunk
            .put_entries(&self.columns, &mut self.write, &mut self.scratch);
        self.chunk.clear();
        Ok(())
    }
}

/// Compares what a record says of itself with where it is staged: the last thing before it is
/// written.
fn check_place(record: &[u8], position: Position, version: Version) -> Result<(), ReadError> {
    match place_of(record) {
        Some(place) if place == (position, version) => Ok(()),
        place => {
            let (at, of) = place.unwrap_or_default();
            Err(corrupt(format!(
                "the record at {position}, version {version}, says that it is at {at}, version {of}"
            )))
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::checks::Purpose;
    use crate::fixtures::append;
    use crate::open;
    use crate::{Options, RocksLog};

    fn prepared(stream: &str) -> (Prepared, RequestDigest) {
        let prepared = Prepared::new(append(stream)).unwrap();
        (prepared, RequestDigest::new([0; 16], b""))
    }

    /// What is wrong when one event is staged after `spoil`.
    fn found_after(spoil: impl FnOnce(&mut Staging<'_>)) -> Option<String> {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("log");
        let options = Options::default();
        drop(RocksLog::create(&path, &options).unwrap());
        let (_, db) = open::open_locked(&path, &options, Purpose::Use).unwrap();
        let tail = Tail {
            last: Position::START,
            recorded_at: DateTime::UNIX_EPOCH,
            counts: Counts::default(),
        };
        let mut staging = Staging::new(&db, db.columns().unwrap(), tail, None);
        staging.begin(DateTime::UNIX_EPOCH);
        spoil(&mut staging);
        let (mut prepared, request) = prepared("run-1");
        let staged = match staging.append(&mut prepared, request) {
            Ok(_) => staging.finish().map(drop),
            Err(Refusal::Store(error)) => Err(error),
            Err(Refusal::Batch(error)) => return Some(format!("refused: {error}")),
        };
        staged.err().map(|error| error.to_string())
    }

    #[test]
    fn what_cannot_be_right_is_not_written() {
        assert_eq!(found_after(|_| {}), None, "the control");
        let says = |found: Option<String>, what: &str| {
            let found = found.unwrap_or_default();
            assert!(found.contains(what), "{found}");
        };
        // A position is left out between two chunks.
        says(
            found_after(|staging| staging.tail.last = Position(1)),
            "a chunk of",
        );
        // The group is thought to begin later than it does.
        says(
            found_after(|staging| staging.begun_after = Position(9)),
            "batch ",
        );
        // A head is not what the index says.
        let forgotten = found_after(|staging| {
            staging.staged = heads::SAMPLE - 1;
            let stream = "run-1".parse().unwrap();
            staging.heads.get(&stream, |_| Ok(3)).unwrap();
        });
        says(forgotten, "run-1 is at version 0 in the index, and at 3");
        let (mut prepared, _) = prepared("run-1");
        let event = prepared.events.first_mut().unwrap();
        let bytes = event.stamp(Position(2), Version(1), DateTime::UNIX_EPOCH);
        assert!(check_place(bytes, Position(2), Version(1)).is_ok());
        for (position, version) in [(1, 1), (3, 1), (2, 2)] {
            assert!(check_place(bytes, Position(position), Version(version)).is_err());
        }
        assert!(
            check_place(&[0; 8], Position(0), Version(0)).is_err(),
            "no record"
        );
    }
}
