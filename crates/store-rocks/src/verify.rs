//! Reading a whole log and checking that everything in it agrees.
//!
//! ```text
//! blobs ──▶ chunks, each by itself ──▶ in their order ──▶ indexes, tree's end, models, meta
//!           (on all processors)        (positions, batches, the tree)
//! ```
//!
//! What can be said of a chunk alone, and that is nearly everything, is worked out for
//! several chunks at a time. Memory does not grow with the log: versions are dense where
//! every chunk has its entries in the stream index, and that index is dense.

use annals_event_log::{Position, ReadError};
use bytes::Bytes;
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use uuid::Uuid;

use crate::keys;
use crate::read::View;

mod batches;
mod blobs;
mod chunks;
mod indexes;
mod meta;
mod models;
mod removals;
mod report;
mod tree;
mod verifier;

use chunks::{Checked, Outline, Scope};
use verifier::{OpenBatch, Verifier};

pub(crate) use chunks::Runs;
pub(crate) use indexes::Records;

pub use report::{Fault, Finding, VerifyReport};

/// Bytes of chunks that are checked at a time.
const BYTES_AT_A_TIME: usize = 2 * 1024 * 1024;

/// Verifies what a view sees of a log.
pub(crate) fn verify(
    view: &View<'_>,
    log_id: Uuid,
    progress: &mut dyn FnMut(Position),
) -> Result<VerifyReport, ReadError> {
    let mut verifier = Verifier::new(view, Scope::All);
    verifier.stored_blobs()?;
    verifier.tree_begin()?;
    if verifier.chunks(progress)? {
        verifier.end_batch()?;
        verifier.references_behind()?;
        verifier.removals()?;
        verifier.indexes()?;
        verifier.tree_end()?;
        verifier.models()?;
        verifier.meta(log_id)?;
    }
    Ok(verifier.end())
}

/// Verifies the records behind a position, and what is stored of them. The chunk that the
/// first of them is in is checked whole.
pub(crate) fn verify_from(
    view: &View<'_>,
    after: Position,
    progress: &mut dyn FnMut(Position),
) -> Result<VerifyReport, ReadError> {
    let mut verifier = Verifier::new(view, Scope::Behind);
    verifier.begin_behind(after)?;
    verifier.tree_begin()?;
    if verifier.chunks(progress)? {
        verifier.end_batch()?;
        verifier.removals()?;
        verifier.tree_end()?;
    }
    Ok(verifier.end())
}

impl Verifier<'_> {
    /// Goes to the chunk that holds the record behind `after`.
    fn begin_behind(&mut self, after: Position) -> Result<(), ReadError> {
        let mut iterator = self.view.db.iterate(self.view.columns.records, None);
        iterator.seek_for_prev(keys::record(after.next()));
        let first = iterator.key().and_then(keys::number).unwrap_or(1);
        self.view.db.check(&iterator)?;
        self.last = Position(first.saturating_sub(1));
        self.report.after = self.last;
        if let Some(record) = self.view.db.record_before(Position(first))? {
            self.recorded_at = record.recorded_at();
            self.batch = Some(OpenBatch::unseen(&record));
        }
        Ok(())
    }

    fn end(mut self) -> VerifyReport {
        if self.scope == Scope::All {
            self.report.unreferenced_blobs = self.blobs.unreferenced();
        }
        self.report
    }

    /// Reads all chunks; whether it came to the end.
    fn chunks(&mut self, progress: &mut dyn FnMut(Position)) -> Result<bool, ReadError> {
        let mut iterator = self.view.db.iterate_once(self.view.columns.records);
        iterator.seek(keys::record(self.last.next()));
        let mut at_a_time = Vec::new();
        let mut bytes = 0;
        while let Some((key, value)) = iterator.item() {
            match keys::number(key).map(Position) {
                Some(first) if first > self.view.watermark => break,
                Some(first) => {
                    bytes += value.len();
                    at_a_time.push((first, Bytes::copy_from_slice(value)));
                }
                None => {
                    let reason = "a chunk's key is not a position".to_owned();
                    self.find(None, None, Fault::Malformed { reason });
                }
            }
            if bytes >= BYTES_AT_A_TIME {
                self.at_a_time(std::mem::take(&mut at_a_time), progress)?;
                bytes = 0;
            }
            iterator.next();
        }
        self.at_a_time(at_a_time, progress)?;
        if let Err(error) = self.view.db.check(&iterator) {
            self.unreadable(error)?;
            return Ok(false);
        }
        if self.last < self.view.watermark {
            self.find(None, None, Fault::Watermark { last: self.last });
        }
        Ok(true)
    }

    fn at_a_time(
        &mut self,
        chunks: Vec<(Position, Bytes)>,
        progress: &mut dyn FnMut(Position),
    ) -> Result<(), ReadError> {
        let (view, scope) = (self.view, self.scope);
        let checked: Vec<Result<Checked, ReadError>> = chunks
            .into_par_iter()
            .map(|(first, content)| chunks::check(view, scope, first, &content))
            .collect();
        for chunk in checked {
            self.one_chunk(chunk?)?;
            progress(self.last);
        }
        Ok(())
    }

    /// Checks a chunk against the ones before it.
    fn one_chunk(&mut self, chunk: Checked) -> Result<(), ReadError> {
        let first = chunk.first;
        if first != self.last.next() {
            let expected = self.last.next();
            self.find(Some(first), None, Fault::Gap { expected });
        }
        self.report.chunks += 1;
        self.report.records += chunk.records.len() as u64;
        self.entries.add(chunk.entries);
        self.report.total_findings += chunk.more_findings;
        for finding in chunk.findings {
            self.found(finding);
        }
        for record in &chunk.records {
            self.record(record)?;
        }
        self.last = Position(first.0.saturating_add(chunk.places).saturating_sub(1));
        self.tree_hashes()
    }

    fn record(&mut self, record: &Outline) -> Result<(), ReadError> {
        self.tree_leaf(record)?;
        if record.recorded_at < self.recorded_at {
            let stream = Some(record.stream.as_str());
            self.find(Some(record.position), stream, Fault::RecordedAt);
        }
        self.recorded_at = record.recorded_at;
        self.removals.strike_out(&record.named);
        if self.view.db.named_removals.is_some() {
            self.removals.add(record.position, &record.removed);
        }
        self.references(record)?;
        self.batch_of(record)
    }
}
