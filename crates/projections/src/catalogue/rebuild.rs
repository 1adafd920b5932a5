//! Making the rows anew from the whole log, in a generation of their own.
//!
//! While some rows are being written, the next events are folded. Questions are
//! answered from the current generation until the new one has everything and
//! takes its place in one commit. Where that is interrupted, one of the two is
//! current and whole; what is left of the other is dropped the next time.

use std::ops::Range;
use std::sync::Arc;

use annals_event_log::{EventLog, Position, Query, Record, Rows};
use futures::future::join;

use super::generation::{self, Generation};
use super::layer::Layer;
use super::load::Source;
use super::taken::Taken;
use super::{Catalogue, CatalogueError, step};

/// Records that are folded at once.
const PAGE: usize = 4_000;
/// Records, and bytes in memory, after which rows are written.
const BATCH_RECORDS: u64 = 20_000;
const BATCH_BYTES: usize = 64 * 1024 * 1024;

/// What was made anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rebuilt {
    /// How many events were folded. It is also the position that the rows
    /// stand for.
    pub events: u64,
    /// How many rows were written, counting each time that one was.
    pub rows: u64,
}

/// Rows that were folded and are not written yet.
struct Batch {
    rows: Rows,
    /// What the rows were made from, for folds that look at it.
    layer: Arc<Layer>,
    from: Position,
    to: Position,
}

/// What was folded before.
struct Before<'a> {
    writing: Option<Arc<Layer>>,
    taken: &'a Taken,
}

/// The rows of a new generation as they come into being.
struct Building<'a> {
    log: &'a dyn EventLog,
    model: String,
    folded: Position,
    rows: u64,
    taken: Taken,
    progress: &'a mut (dyn FnMut(Position) + Send),
}

impl Catalogue {
    /// Makes all rows anew from the log and puts them in the place of the
    /// current ones. Others can read, append and ask meanwhile. `progress` is
    /// told each position up to which events were folded.
    ///
    /// # Errors
    /// [`CatalogueError`]; the current rows stay then. On a log that is open
    /// for reading only it is [`annals_event_log::CommitError::ReadOnly`].
    pub async fn rebuild(
        &self,
        log: &dyn EventLog,
        progress: &mut (dyn FnMut(Position) + Send),
    ) -> Result<Rebuilt, CatalogueError> {
        let _rebuilding = self.rebuilding.lock().await;
        let current = generation::current(log).await?;
        generation::drop_leftovers(log, current).await?;
        let new = current.next();
        let mut building = Building {
            log,
            model: new.model(),
            folded: Position::START,
            rows: 0,
            taken: Taken::new(),
            progress,
        };
        building.build_to(log.watermark()).await?;
        // What came meanwhile, while nobody else folds or writes.
        let _folding = self.folding.lock().await;
        building.build_to(log.watermark()).await?;
        let Building { folded, rows, .. } = building;
        self.put_in_place(log, current, new, folded).await?;
        Ok(Rebuilt {
            events: folded.0,
            rows,
        })
    }

    async fn put_in_place(
        &self,
        log: &dyn EventLog,
        current: Generation,
        new: Generation,
        position: Position,
    ) -> Result<(), CatalogueError> {
        generation::make_current(log, new, position).await?;
        self.state().start(new, position);
        generation::drop_rows(log, current).await?;
        generation::drop_older_formats(log).await
    }
}

impl Building<'_> {
    /// Folds and writes up to a position.
    async fn build_to(&mut self, target: Position) -> Result<(), CatalogueError> {
        let mut writing: Option<Batch> = None;
        loop {
            let batch = {
                let before = writing.as_ref().map(|batch| Arc::clone(&batch.layer));
                let write = write(self.log, &self.model, writing.take());
                let before = Before {
                    writing: before,
                    taken: &self.taken,
                };
                let fold = fold(
                    self.log,
                    &self.model,
                    self.folded..target,
                    before,
                    &mut *self.progress,
                );
                // The write begins on a thread of the store's, and folding goes
                // on here.
                let (written, batch) = join(write, fold).await;
                self.rows += written?;
                batch?
            };
            if batch.to == batch.from {
                return Ok(());
            }
            self.folded = batch.to;
            batch
                .layer
                .changed_ids()
                .for_each(|id| self.taken.insert(id));
            writing = Some(batch);
        }
    }
}

/// Writes a batch, if there is one; how many rows it had.
async fn write(
    log: &dyn EventLog,
    model: &str,
    batch: Option<Batch>,
) -> Result<u64, CatalogueError> {
    let Some(batch) = batch else {
        return Ok(0);
    };
    let count = batch.rows.len() as u64;
    log.commit(model, batch.from, batch.rows, batch.to).await?;
    Ok(count)
}

/// Folds records behind the range's start, until there are many or its end is
/// reached.
async fn fold(
    log: &dyn EventLog,
    model: &str,
    range: Range<Position>,
    before: Before<'_>,
    progress: &mut (dyn FnMut(Position) + Send),
) -> Result<Batch, CatalogueError> {
    let mut layer = Layer::to_be_written();
    let Range {
        start: from,
        end: target,
    } = range;
    let mut folded = from;
    while folded < target && folded.0 - from.0 < BATCH_RECORDS && layer.bytes() < BATCH_BYTES {
        let page = log.read(Query::all(folded.next()).limit(PAGE)).await?;
        let Some(last) = page.records.last().map(Record::position) else {
            break;
        };
        let mut steps = step::steps(log, &page.records).await?;
        let source = Source {
            log,
            model,
            newest: &layer,
            writing: before.writing.as_ref(),
            taken: Some(before.taken),
        };
        let loaded = source.load(&steps).await?;
        layer.fold(&mut steps, loaded);
        folded = last;
        progress(folded);
    }
    Ok(Batch {
        rows: layer.take_rows()?,
        layer: Arc::new(layer),
        from,
        to: folded,
    })
}
