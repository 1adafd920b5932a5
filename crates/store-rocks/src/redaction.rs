//! Removing content: records are rewritten in the write that says so, and then the
//! old bytes are given up.
//!
//! What is left to do stands in `meta`, so that a redaction that was interrupted is
//! completed when the log is opened for writing the next time:
//!
//! ```text
//! redaction = u8 1, the format
//!             u8 1 records are left to be rewritten, 2 old bytes are in the files,
//!                3 the same, and they stay until they are asked for
//!             u64 the position of the last record that said what is removed
//!             after a 1: u32 count, and the digests of the blobs that go with the
//!                last of these records; for each record u64 position, u16 count,
//!                u16 each
//! ```
//!
//! The blobs go last, so that no record names one that is not there; their digests go
//! from the files with everything else.

use std::collections::{HashMap, HashSet, VecDeque};

use annals_event_log::store_support::{BatchRow, RequestDigest};
use annals_event_log::{
    Appended, BatchId, Digest, PiecesOf, Position, Prepared, ReadError, Record, RedactError,
    Redaction,
};
use bytes::Bytes;
use rocksdb::WriteBatch;

use crate::columns::Columns;
use crate::db::Db;
use crate::error::corrupt;
use crate::models::Turns;
use crate::open::synced;
use crate::rows::Counts;
use crate::staging::Refusal;
use crate::writer::Groups;
use crate::{chunk, index, keys, purge, rows};

const FORMAT: u8 = 1;
/// Bytes of one write, about: records beyond it are rewritten in the next one.
const STEP_BYTES: usize = 8 * 1024 * 1024;
/// Above the names of all read models, which are of ASCII.
const BEYOND_MODELS: [u8; 1] = [u8::MAX];

/// What is left to do of redactions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pending {
    /// The position of the last record that said what is removed. It tells this one
    /// from the next.
    pub(crate) said: Position,
    pub(crate) left: Left,
}

/// What is left to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Left {
    /// Records, by ascending positions, and blobs, which go with the last of them.
    Content {
        records: VecDeque<PiecesOf>,
        blobs: Vec<Digest>,
    },
    /// Old bytes are in the files.
    Files,
    /// The same; they stay until somebody asks for it.
    PutOff,
}

impl Pending {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let stage = match &self.left {
            Left::Content { .. } => 1,
            Left::Files => 2,
            Left::PutOff => 3,
        };
        let mut out = vec![FORMAT, stage];
        out.extend_from_slice(&self.said.0.to_be_bytes());
        let Left::Content { records, blobs } = &self.left else {
            return out;
        };
        // A batch that brought more would be over every limit.
        let count = u32::try_from(blobs.len()).unwrap_or(u32::MAX);
        out.extend_from_slice(&count.to_be_bytes());
        blobs.iter().for_each(|blob| out.extend_from_slice(&blob.0));
        for PiecesOf { position, pieces } in records {
            // No record has more pieces than a u16 counts.
            let count = u16::try_from(pieces.len()).unwrap_or(u16::MAX);
            out.extend_from_slice(&position.0.to_be_bytes());
            out.extend_from_slice(&count.to_be_bytes());
            let pieces = pieces.iter().take(usize::from(count));
            pieces.for_each(|piece| out.extend_from_slice(&piece.to_be_bytes()));
        }
        out
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Pending> {
        let [FORMAT, stage, rest @ ..] = bytes else {
            return None;
        };
        let (said, rest) = rest.split_first_chunk()?;
        let left = match stage {
            1 => content(rest)?,
            2 if rest.is_empty() => Left::Files,
            3 if rest.is_empty() => Left::PutOff,
            _ => return None,
        };
        let said = Position(u64::from_be_bytes(*said));
        Some(Pending { said, left })
    }
}

fn content(bytes: &[u8]) -> Option<Left> {
    let (count, rest) = bytes.split_first_chunk()?;
    let count = usize::try_from(u32::from_be_bytes(*count)).ok()?;
    let (blobs, mut rest) = rest.split_at_checked(count.checked_mul(size_of::<Digest>())?)?;
    let (blobs, _) = blobs.as_chunks();
    let mut records = VecDeque::new();
    while !rest.is_empty() {
        let (position, more) = rest.split_first_chunk()?;
        let (count, more) = more.split_first_chunk()?;
        let count = usize::from(u16::from_be_bytes(*count));
        let (pieces, more) = more.split_at_checked(count * size_of::<u16>())?;
        let (pieces, _) = pieces.as_chunks();
        records.push_back(PiecesOf {
            position: Position(u64::from_be_bytes(*position)),
            pieces: pieces.iter().copied().map(u16::from_be_bytes).collect(),
        });
        rest = more;
    }
    let blobs = blobs.iter().copied().map(Digest).collect();
    Some(Left::Content { records, blobs })
}

/// What is left to do, if anything is.
pub(crate) fn pending(db: &Db) -> Result<Option<Pending>, ReadError> {
    let columns = db.columns()?;
    let Some(stored) = db.get(columns.meta, keys::META_REDACTION)? else {
        return Ok(None);
    };
    let pending = Pending::decode(&stored);
    let malformed = || corrupt("what is left to do of a redaction cannot be read");
    pending.ok_or_else(malformed).map(Some)
}

/// A chunk, and its key.
fn chunk_of(db: &Db, columns: &Columns<'_>, position: Position) -> Result<Chunk, ReadError> {
    let mut iterator = db.iterate(columns.records, None);
    iterator.seek_for_prev(keys::record(position));
    let Some((key, value)) = iterator.item() else {
        db.check(&iterator)?;
        return Err(corrupt(format!("the record at {position} is not there")));
    };
    let first = keys::number(key).ok_or_else(|| corrupt("a chunk's key is no position"))?;
    let records = chunk::records(&Bytes::copy_from_slice(value))?;
    Ok(Chunk { first, records })
}

struct Chunk {
    first: u64,
    records: Vec<Record>,
}

impl Chunk {
    fn at_mut(&mut self, position: Position) -> Option<&mut Record> {
        let index = usize::try_from(position.0.checked_sub(self.first)?).ok()?;
        self.records.get_mut(index)
    }

    fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        chunk::begin(&mut out);
        for record in &self.records {
            chunk::push(&mut out, record.as_bytes());
        }
        out
    }
}

/// Puts the rewritten forms of the next records into a write; what it did is no
/// longer among them.
fn rewrite(
    db: &Db,
    columns: &Columns<'_>,
    left: &mut VecDeque<PiecesOf>,
    write: &mut WriteBatch,
) -> Result<(), ReadError> {
    let mut rows: HashMap<BatchId, BatchRow> = HashMap::new();
    while write.size_in_bytes() < STEP_BYTES
        && let Some(next) = left.front()
    {
        let mut chunk = chunk_of(db, columns, next.position)?;
        let mut changed = false;
        while let Some(next) = left.front()
            && let Some(record) = chunk.at_mut(next.position)
        {
            *record = record.without(&next.pieces)?;
            // Its request may have held what is removed.
            let batch = record.batch_id();
            if let Some(row) = index::batch_row(db, columns, batch)? {
                let row = BatchRow {
                    request: None,
                    ..row
                };
                rows.insert(batch, row);
            }
            left.pop_front();
            changed = true;
        }
        if !changed {
            let position = left.front().map_or(Position::START, |next| next.position);
            return Err(corrupt(format!("the record at {position} is not there")));
        }
        let key = keys::record(Position(chunk.first));
        write.put_cf(columns.records, key, chunk.encode());
    }
    let mut scratch = Vec::new();
    for (batch, row) in rows {
        rows::write_batch(&mut scratch, batch, &row);
        write.put_cf(columns.batches, batch.as_bytes(), &scratch);
    }
    Ok(())
}

/// A redaction under way.
struct Steps {
    said: Position,
    records: VecDeque<PiecesOf>,
    blobs: Vec<Digest>,
}

impl Steps {
    /// Puts the next step into a write, with what is left after it. The last one deletes
    /// the blobs, and keeps the counts of them.
    fn step(
        &mut self,
        db: &Db,
        columns: &Columns<'_>,
        counts: &mut Counts,
        write: &mut WriteBatch,
    ) -> Result<(), ReadError> {
        rewrite(db, columns, &mut self.records, write)?;
        let left = match self.records.is_empty() {
            true => {
                delete_blobs(db, columns, &std::mem::take(&mut self.blobs), counts, write)?;
                Left::Files
            }
            false => Left::Content {
                records: self.records.clone(),
                blobs: self.blobs.clone(),
            },
        };
        let said = self.said;
        let pending = Pending { said, left };
        write.put_cf(columns.meta, keys::META_REDACTION, pending.encode());
        Ok(())
    }
}

/// Puts into a write what becomes of everything that was folded: all of it goes, and what is
/// still being folded from content that goes is refused from then on.
fn forget_derived(columns: &Columns<'_>, said: Position, write: &mut WriteBatch) {
    write.delete_range_cf(columns.models, [].as_slice(), BEYOND_MODELS.as_slice());
    write.put_cf(columns.meta, keys::META_EPOCH, said.0.to_be_bytes());
}

/// Puts the deletion of blobs into a write, with the counts after it.
pub(crate) fn delete_blobs(
    db: &Db,
    columns: &Columns<'_>,
    digests: &[Digest],
    counts: &mut Counts,
    write: &mut WriteBatch,
) -> Result<(), ReadError> {
    for digest in digests {
        let Some(blob) = db.get(columns.blobs, &digest.0)? else {
            continue;
        };
        counts.blobs = counts.blobs.saturating_sub(1);
        counts.blob_bytes = counts.blob_bytes.saturating_sub(blob.len() as u64);
        write.delete_cf(columns.blobs, digest.0);
    }
    if !digests.is_empty() {
        write.put_cf(columns.meta, keys::META_COUNTS, counts.encode());
    }
    Ok(())
}

/// Why an interrupted redaction was not completed.
pub(crate) enum Failure {
    Read(ReadError),
    Write(rocksdb::Error),
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Failure {
        Failure::Read(error)
    }
}

/// Completes what was interrupted, on a log that nobody else writes to yet and that has
/// these counts; whether files were rewritten.
pub(crate) fn resume(db: &Db, counts: &mut Counts) -> Result<bool, Failure> {
    let columns = db.columns()?;
    if let Some(Pending {
        said,
        left: Left::Content { records, blobs },
    }) = pending(db)?
    {
        tracing::info!(records = records.len(), "completing a redaction");
        let mut steps = Steps {
            said,
            records,
            blobs,
        };
        loop {
            let mut write = WriteBatch::default();
            steps.step(db, &columns, counts, &mut write)?;
            let written = db.rocks.write_opt(write, &synced(true));
            written.map_err(Failure::Write)?;
            if steps.records.is_empty() {
                break;
            }
        }
    }
    let left = pending(db)?.map(|pending| pending.left);
    if left == Some(Left::Files) {
        tracing::info!("giving up the bytes that a redaction left");
        // Content is out of reach already; where its bytes cannot be given up now,
        // for example on a full disk, that is tried again.
        let purged = purge::purge(db, &Turns::default());
        if let Err(failure) = &purged {
            tracing::warn!(error = %failure, "the bytes of removed content are still in the files");
        }
        return Ok(purged.is_ok());
    }
    Ok(false)
}

/// What the writer makes of a redaction that was checked and encoded.
pub(crate) struct Removal {
    pub(crate) removed: Vec<PiecesOf>,
    pub(crate) blobs: Vec<Digest>,
    pub(crate) seen: Position,
}

impl From<&Redaction> for Removal {
    fn from(redaction: &Redaction) -> Removal {
        Removal {
            removed: redaction.removed.clone(),
            blobs: redaction.blobs.clone(),
            seen: redaction.seen,
        }
    }
}

impl Groups<'_> {
    /// Appends the batch and removes the content. Nothing is staged when it begins.
    pub(crate) fn redact(
        &mut self,
        prepared: &mut Prepared,
        request: RequestDigest,
        removal: Removal,
    ) -> Result<Appended, RedactError> {
        let columns = self.db.columns()?;
        match self.staging.known(prepared) {
            Ok(None) => {}
            Ok(Some(appended)) => return Ok(appended),
            Err(Refusal::Batch(error)) => return Err(error.into()),
            // Nothing is staged yet.
            Err(Refusal::Store(error)) => return Err(error.into()),
        }
        check(self.db, &columns, &removal, self.staging.last())?;
        let appended = match self.staging.append(prepared, request) {
            Ok(appended) => appended,
            Err(Refusal::Batch(error)) => return Err(error.into()),
            Err(Refusal::Store(error)) => return Err(self.give_up(&error).into()),
        };
        let Some((mut write, last)) = self.staging.finish() else {
            return Ok(appended);
        };
        forget_derived(&columns, last, &mut write);
        let mut steps = Steps {
            said: last,
            records: removal.removed.into(),
            blobs: removal.blobs,
        };
        loop {
            let counts = self.staging.counts_mut();
            let stepped = steps.step(self.db, &columns, counts, &mut write);
            stepped.map_err(|error| self.give_up(&error))?;
            self.write_alone(std::mem::take(&mut write))?;
            if steps.records.is_empty() {
                break;
            }
        }
        self.publish(last);
        Ok(appended)
    }
}

/// Checks what is to be removed against the records, up to the last.
fn check(
    db: &Db,
    columns: &Columns<'_>,
    removal: &Removal,
    last: Position,
) -> Result<(), RedactError> {
    let blobs: HashSet<Digest> = removal.blobs.iter().copied().collect();
    let mut chunk: Option<Chunk> = None;
    for PiecesOf { position, pieces } in &removal.removed {
        if *position == Position::START || *position > last {
            return Err(RedactError::NoPiece {
                position: *position,
                piece: pieces.first().copied().unwrap_or_default(),
            });
        }
        if chunk
            .as_mut()
            .and_then(|chunk| chunk.at_mut(*position))
            .is_none()
        {
            chunk = Some(chunk_of(db, columns, *position)?);
        }
        if let Some(record) = chunk.as_mut().and_then(|chunk| chunk.at_mut(*position)) {
            Redaction::check_record(record, pieces, &blobs)?;
        }
    }
    if blobs.is_empty() {
        return Ok(());
    }
    let of: HashMap<Position, &[u16]> = removal
        .removed
        .iter()
        .map(|from| (from.position, from.pieces.as_slice()))
        .collect();
    let mut next = removal.seen.next();
    while next <= last {
        let chunk = chunk_of(db, columns, next)?;
        for record in chunk
            .records
            .iter()
            .filter(|record| record.position() >= next)
        {
            let pieces = of.get(&record.position()).copied().unwrap_or_default();
            Redaction::check_record(record, pieces, &blobs)?;
        }
        next = Position(chunk.first + chunk.records.len() as u64);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_read_as_written_and_nothing_else_is() {
        let of = |position, pieces: &[u16]| PiecesOf {
            position: Position(position),
            pieces: pieces.to_vec(),
        };
        let content = Left::Content {
            records: VecDeque::from([of(1, &[]), of(u64::MAX, &[0, 7, u16::MAX])]),
            blobs: vec![Digest([7; 32]), Digest([8; 32])],
        };
        for left in [content, Left::Files, Left::PutOff] {
            let said = Position(9);
            let pending = Pending { said, left };
            let bytes = pending.encode();
            assert_eq!(Pending::decode(&bytes), Some(pending.clone()));
            let longer = [bytes.as_slice(), &[0]].concat();
            assert_eq!(Pending::decode(&longer), None, "{pending:?}");
            assert_eq!(Pending::decode(&bytes[..1]), None);
            assert_eq!(Pending::decode(&[2, 1]), None, "a format that is unknown");
        }
    }
}
