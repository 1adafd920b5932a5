//! The steps of a redaction: records are rewritten, some in each write, and blobs go with
//! the last of them.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use annals_event_log::store_support::{BatchRow, Form};
use annals_event_log::{BatchId, Digest, PiecesOf, Position, ReadError, Record, SUBSCRIPTIONS};
use bytes::Bytes;
use rocksdb::WriteBatch;

use super::pending::{self, Left, Part, Pending, load_parts};
use super::unfinished::unnamed;
use crate::blobs::delete_blobs;
use crate::columns::Columns;
use crate::db::{Db, synced};
use crate::error::corrupt;
use crate::models::Turns;
use crate::rows::Counts;
use crate::{chunk, collect, index, keys, mutants, purge, rows, secret};

/// A chunk, and its key.
pub(super) fn chunk_of(
    db: &Db,
    columns: &Columns<'_>,
    position: Position,
) -> Result<Chunk, ReadError> {
    let mut iterator = db.iterate(columns.records, None);
    iterator.seek_for_prev(keys::record(position));
    let Some((key, value)) = iterator.item() else {
        db.check(&iterator)?;
        return Err(corrupt(format!("the record at {position} is not there")));
    };
    let first = keys::number(key).ok_or_else(|| corrupt("a chunk's key is not a position"))?;
    // It is written again: what is wrong with it must not be.
    let records = chunk::records_from(first, &Bytes::copy_from_slice(value))?;
    let form = chunk::form(value)?;
    Ok(Chunk {
        first,
        form,
        records,
    })
}

pub(super) struct Chunk {
    pub(super) first: u64,
    form: Form,
    pub(super) records: Vec<Record>,
}

impl Chunk {
    pub(super) fn at_mut(&mut self, position: Position) -> Option<&mut Record> {
        let index = usize::try_from(position.0.checked_sub(self.first)?).ok()?;
        self.records.get_mut(index)
    }

    fn encode(&self) -> Vec<u8> {
        chunk::rewrite(self.form, &self.records)
    }
}

/// A redaction under way.
pub(crate) struct Steps {
    said: Position,
    /// Left to be rewritten, by ascending positions.
    records: VecDeque<PiecesOf>,
    /// Where the list of them is stored, if it is.
    parts: VecDeque<Part>,
    /// They go with the last of the records.
    blobs: Vec<Digest>,
}

impl Steps {
    /// Nothing is stored of it yet.
    pub(super) fn new(said: Position, records: Vec<PiecesOf>, blobs: Vec<Digest>) -> Steps {
        Steps {
            said,
            records: records.into(),
            parts: VecDeque::new(),
            blobs,
        }
    }

    /// What was interrupted, if anything was.
    fn load(db: &Db) -> Result<Option<Steps>, ReadError> {
        let Some(Pending {
            said,
            left: Left::Content { blobs, listed },
        }) = pending::pending(db)?
        else {
            return Ok(None);
        };
        let (parts, records) = match listed {
            Some(listed) => (VecDeque::new(), listed),
            None => load_parts(db)?,
        };
        Ok(Some(Steps {
            said,
            records,
            parts,
            blobs,
        }))
    }

    /// Whether all records are rewritten.
    pub(super) fn is_over(&self) -> bool {
        self.records.is_empty()
    }

    /// The blobs that go with the last record.
    pub(super) fn blobs(&self) -> &[Digest] {
        &self.blobs
    }

    /// Puts into a write what is left, so that it can be completed if this is interrupted.
    pub(super) fn store(&mut self, columns: &Columns<'_>, write: &mut WriteBatch) {
        if mutants::is(mutants::REDACTION_FORGOTTEN) {
            return;
        }
        self.parts = pending::store_parts(columns, &self.records, write);
        let pending = Pending {
            said: self.said,
            left: Left::Content {
                blobs: self.blobs.clone(),
                listed: None,
            },
        };
        write.put_cf(columns.meta, keys::META_REDACTION, pending.encode());
    }

    /// Puts the rewritten forms of the next records into a write. Parts of the list that are
    /// done go.
    pub(super) fn rewrite(
        &mut self,
        db: &Db,
        columns: &Columns<'_>,
        write: &mut WriteBatch,
    ) -> Result<(), ReadError> {
        let before = self.records.len();
        // What is read counts: where content dominates, little of it is written again.
        let mut looked_at = 0;
        let mut rows: HashMap<BatchId, BatchRow> = HashMap::new();
        while looked_at < db.redaction_step_bytes.max(1)
            && let Some(next) = self.records.front()
        {
            let mut chunk = chunk_of(db, columns, next.position)?;
            let sizes = chunk.records.iter().map(|record| record.encoded_len());
            looked_at += sizes.sum::<usize>();
            let mut changed = false;
            while let Some(next) = self.records.front()
                && let Some(record) = chunk.at_mut(next.position)
            {
                *record = record.without(&next.pieces)?;
                // Its request may have held what is removed.
                let batch = record.batch_id();
                if !rows.contains_key(&batch)
                    && let Some(row) = index::batch_row(db, columns, batch)?
                {
                    let request = None;
                    rows.insert(batch, BatchRow { request, ..row });
                }
                self.records.pop_front();
                changed = true;
            }
            if !changed {
                let position = self.records.front().map(|next| next.position);
                let position = position.unwrap_or(Position::START);
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
        self.count_off(before - self.records.len(), columns, write);
        Ok(())
    }

    /// Takes out the parts of the list that are done.
    fn count_off(&mut self, mut done: usize, columns: &Columns<'_>, write: &mut WriteBatch) {
        while let Some(part) = self.parts.front_mut().filter(|_| done > 0) {
            let of_part = done.min(part.left);
            part.left -= of_part;
            done -= of_part;
            if part.left > 0 {
                return;
            }
            write.delete_cf(columns.meta, keys::redaction_part(part.number));
            self.parts.pop_front();
        }
    }

    /// Puts into a write what comes with the last record: the blobs go, except for those that
    /// `stays` says are referred to by now, and everything that was folded.
    pub(super) fn end(
        &mut self,
        db: &Db,
        columns: &Columns<'_>,
        counts: &mut Counts,
        stays: impl Fn(&Digest) -> bool,
        write: &mut WriteBatch,
    ) -> Result<(), ReadError> {
        self.blobs.retain(|digest| !stays(digest));
        delete_blobs(db, columns, &self.blobs, counts, write)?;
        // What is still being folded from content that is gone now is refused from here on.
        let (kept, behind_kept) = keys::bounds(SUBSCRIPTIONS);
        let beyond = keys::BEYOND_MODELS.as_slice();
        write.delete_range_cf(columns.models, [].as_slice(), &kept);
        write.delete_range_cf(columns.models, behind_kept.as_slice(), beyond);
        write.put_cf(columns.meta, keys::META_EPOCH, self.said.0.to_be_bytes());
        // Ids that were made of what is removed lead back to it no more.
        secret::renew(columns, write);
        let (said, left) = (self.said, Left::Files);
        let pending = Pending { said, left };
        write.put_cf(columns.meta, keys::META_REDACTION, pending.encode());
        Ok(())
    }

    /// Which of the blobs records refer to that came while this was under way: they were
    /// brought along again.
    fn came_back(&self, db: &Db) -> Result<HashSet<Digest>, ReadError> {
        let last = db.last_position()?;
        let mut left: BTreeMap<Digest, u64> = self.blobs.iter().map(|blob| (*blob, 0)).collect();
        collect::mark(db, &mut left, (self.said, last), &mut |_| {})?;
        let blobs = self.blobs.iter().copied();
        Ok(blobs.filter(|blob| !left.contains_key(blob)).collect())
    }
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

/// Completes what was interrupted, on a log that nothing else writes to yet and that has
/// these counts; whether files were rewritten. Nothing is removed that the redaction's records do not name.
pub(crate) fn resume(db: &Db, counts: &mut Counts) -> Result<bool, Failure> {
    let columns = db.columns()?;
    if let Some(said) = unnamed(db)? {
        let reason = format!(
            "content is to be removed as of event {said}, and that is not a redaction of it"
        );
        return Err(corrupt(reason).into());
    }
    if let Some(mut steps) = Steps::load(db)? {
        tracing::info!(records = steps.records.len(), "completing a redaction");
        let stays = steps.came_back(db)?;
        loop {
            let mut write = WriteBatch::default();
            steps.rewrite(db, &columns, &mut write)?;
            let is_over = steps.is_over();
            if is_over {
                let stays = |digest: &Digest| stays.contains(digest);
                steps.end(db, &columns, counts, stays, &mut write)?;
            }
            let written = db.rocks.write_opt(write, &synced(true));
            written.map_err(Failure::Write)?;
            if is_over {
                break;
            }
        }
    }
    let left = pending::pending(db)?.map(|pending| pending.left);
    if left == Some(Left::Files) {
        // The process that removed it may have been killed before it did this.
        db.renew_readers().map_err(ReadError::from)?;
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
