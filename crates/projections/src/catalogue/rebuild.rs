//! Rebuilding the rows from the whole log, in a generation of their own.
//!
//! Three things go on at once, a page or a batch behind each other: records are
//! read and decoded, events are folded, rows are written. Questions are answered
//! from the current generation until the new one has everything and takes its
//! place in one commit. Where that is interrupted, one of the two is current and
//! whole; what is left of the other is dropped the next time.

use std::pin::Pin;
use std::sync::Arc;

use annals_domain::redaction::Redacted;
use annals_event_log::{CommitError, ModelCheckpoint, Position, Query, Record, Store};
use futures::future::join;
use futures::stream::{self, Stream, StreamExt};

use super::changes::Changed;
use super::generation::{self, ROWS};
use super::layer::{self, Layer};
use super::load::Source;
use super::step::{self, Step};
use super::taken::Taken;
use super::{Catalogue, CatalogueError};
use crate::aside::{aside, drop_aside, give_way};
use crate::generation::Generation;

/// Records that are folded at once.
const PAGE: usize = 2_000;
/// Pages that are decoded while another one is folded.
const AHEAD: usize = 3;
/// How often it is begun again because content was removed meanwhile.
const ATTEMPTS: u32 = 16;
/// Bytes in memory after which rows are written. Few large batches are cheaper
/// than many small ones: an object that changes often is written once in each.
const BATCH_BYTES: usize = 64 * 1024 * 1024;

/// What was rebuilt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rebuilt {
    /// How many events were folded. It is also the position of the log whose state
    /// the rows show.
    pub events: u64,
    /// How many rows were written, counting each time that one was.
    pub rows: u64,
}

/// Rows that were folded and are not written yet.
struct Batch {
    changed: Changed,
    /// The objects' rows, and what folds look at.
    layer: Arc<Layer>,
    from: Position,
    to: Position,
}

/// What was folded before, and where.
struct Before<'a> {
    log: &'a dyn Store,
    model: &'a str,
    folded: Position,
    since: Position,
    taken: &'a Taken,
    /// The newest of it, which may not be written yet.
    writing: Option<&'a Arc<Layer>>,
    batch_bytes: usize,
}

/// Decoded pages, one after the other.
type Pages<'a> = Pin<Box<dyn Stream<Item = Result<Vec<Step>, CatalogueError>> + Send + 'a>>;

/// The rows of a new generation as they come into being.
pub(super) struct Building<'a> {
    log: &'a dyn Store,
    model: String,
    /// Bytes in memory after which rows are written.
    batch_bytes: usize,
    /// Where the model was when this began, before anything was read.
    start: ModelCheckpoint,
    folded: Position,
    /// The end of the log when it was begun.
    since: Position,
    rows: u64,
    taken: Taken,
    progress: &'a mut (dyn FnMut(Position) + Send),
}

impl Catalogue {
    /// Rebuilds all rows from the log and puts them in the place of the
    /// current ones. Others can read, append and ask meanwhile. `progress` is
    /// told each position up to which events were folded; it begins again where
    /// content was removed from the log meanwhile.
    ///
    /// # Errors
    /// [`CatalogueError`]; the current rows stay then. On a log that is open
    /// for reading only it is [`CommitError::ReadOnly`].
    #[allow(clippy::await_holding_invalid_type, reason = "docs/adr/0039")]
    pub async fn rebuild(
        &self,
        log: &dyn Store,
        progress: &mut (dyn FnMut(Position) + Send),
    ) -> Result<Rebuilt, CatalogueError> {
        let _rebuilding = self.rebuilding.lock().await;
        let mut attempt = 1;
        loop {
            let made = self.rebuild_once(log, &mut *progress).await;
            let is_outdated = matches!(
                made,
                Err(CatalogueError::Commit(CommitError::Epoch { .. })
                    | CatalogueError::Moving { .. })
            );
            if !is_outdated || attempt == ATTEMPTS {
                return made;
            }
            attempt += 1;
        }
    }

    /// Rebuilds them once. The caller holds `rebuilding`.
    #[allow(clippy::await_holding_invalid_type, reason = "docs/adr/0039")]
    async fn rebuild_once(
        &self,
        log: &dyn Store,
        progress: &mut (dyn FnMut(Position) + Send),
    ) -> Result<Rebuilt, CatalogueError> {
        let since = log.watermark();
        let current = ROWS.current(log).await?;
        ROWS.drop_leftovers(log, current).await?;
        let new = current.next();
        let mut building = Building::begin(log, ROWS.model(new), BATCH_BYTES, progress).await?;
        building.build_to(log.watermark()).await?;
        // What came meanwhile, while no other task folds or writes.
        let _folding = self.folding.lock().await;
        building.build_to(log.watermark()).await?;
        let (folded, rows) = (building.folded, building.rows);
        self.put_in_place(log, current, new, (building.rows_at(), since))
            .await?;
        Ok(Rebuilt {
            events: folded.0,
            rows,
        })
    }

    async fn put_in_place(
        &self,
        log: &dyn Store,
        current: Generation,
        new: Generation,
        (rows_at, since): (ModelCheckpoint, Position),
    ) -> Result<(), CatalogueError> {
        ROWS.make_current(log, new, rows_at).await?;
        self.state().start(new, rows_at, since);
        ROWS.drop_rows(log, current).await?;
        generation::drop_older_formats(log).await
    }
}

impl<'a> Building<'a> {
    /// Nothing is folded yet, and the model has no rows.
    pub(super) async fn begin(
        log: &'a dyn Store,
        model: String,
        batch_bytes: usize,
        progress: &'a mut (dyn FnMut(Position) + Send),
    ) -> Result<Building<'a>, CatalogueError> {
        let start = log.checkpoint(&model).await?;
        Ok(Building {
            log,
            model,
            batch_bytes,
            start,
            folded: start.position,
            since: log.watermark(),
            rows: 0,
            taken: Taken::new(),
            progress,
        })
    }

    /// Where the rows are, once all that is folded is written.
    pub(super) fn rows_at(&self) -> ModelCheckpoint {
        self.start.at(self.folded)
    }

    /// Up to where the log is folded.
    pub(super) fn folded(&self) -> Position {
        self.folded
    }

    /// Folds and writes up to a position.
    pub(super) async fn build_to(&mut self, target: Position) -> Result<(), CatalogueError> {
        let mut pages = pages(self.log, self.folded, target);
        let mut writing: Option<Batch> = None;
        loop {
            let layer = writing.as_ref().map(|batch| Arc::clone(&batch.layer));
            let before = Before {
                log: self.log,
                model: &self.model,
                folded: self.folded,
                since: self.since,
                taken: &self.taken,
                writing: layer.as_ref(),
                batch_bytes: self.batch_bytes,
            };
            let write = write(self.log, &self.model, self.start, writing.take());
            let fold = fold(&before, &mut pages, &mut *self.progress);
            let (written, batch) = join(write, fold).await;
            self.rows += written?;
            drop_aside(layer);
            let Some(batch) = batch? else {
                return Ok(());
            };
            self.folded = batch.to;
            let changed = batch.layer.changed_ids();
            changed.for_each(|id| self.taken.insert(id));
            writing = Some(batch);
        }
    }
}

/// Folds pages until there are many rows or no more pages; `None` if there was
/// nothing to fold.
async fn fold(
    before: &Before<'_>,
    pages: &mut Pages<'_>,
    progress: &mut (dyn FnMut(Position) + Send),
) -> Result<Option<Batch>, CatalogueError> {
    let from = before.folded;
    let mut to = from;
    let mut layer = Layer::to_be_written();
    while layer.bytes() < before.batch_bytes
        && let Some(steps) = pages.next().await
    {
        let mut steps = steps?;
        // What is folded already may have what was removed meanwhile.
        let removed = |step: &Step| Redacted::of(&step.decoded.event).is_some();
        if let Some(step) = steps.iter().rev().find(|step| removed(step))
            && Position(step.position()) > before.since
        {
            return Err(CatalogueError::Moving { attempts: 1 });
        }
        let source = Source {
            log: before.log,
            model: before.model,
            newest: &layer,
            writing: before.writing,
            taken: Some(before.taken),
        };
        let loaded = source.load(&steps).await?;
        layer.fold(&mut steps, loaded);
        to = steps.last().map_or(to, |step| Position(step.position()));
        drop_aside(steps);
        progress(to);
        // To those who decode and write.
        give_way().await;
    }
    Ok((to > from).then(|| Batch {
        changed: layer.take_changes(),
        layer: Arc::new(layer),
        from,
        to,
    }))
}

/// Writes a batch, if there is one; how many rows it had.
async fn write(
    log: &dyn Store,
    model: &str,
    start: ModelCheckpoint,
    batch: Option<Batch>,
) -> Result<u64, CatalogueError> {
    let Some(batch) = batch else {
        return Ok(0);
    };
    let Batch { changed, layer, .. } = batch;
    let rows = aside(move || layer::in_order(&layer, changed)).await??;
    let count = rows.len() as u64;
    log.commit(model, start.at(batch.from), rows, batch.to)
        .await?;
    Ok(count)
}

/// Everything behind one position and up to another.
fn pages(log: &dyn Store, after: Position, end: Position) -> Pages<'_> {
    let records = stream::try_unfold(after, move |after| async move {
        let records = read(log, after, end).await?;
        let last = records.last().map(Record::position);
        Ok::<_, CatalogueError>(last.map(|last| (records, last)))
    });
    let decoded = records.map(move |records| async move {
        let records = records?;
        let mut steps = aside(move || step::decode_in_turn(records)).await??;
        step::complete(log, &mut steps).await?;
        Ok(steps)
    });
    Box::pin(decoded.buffered(AHEAD))
}

/// The next records behind a position and not behind `end`.
async fn read(
    log: &dyn Store,
    after: Position,
    end: Position,
) -> Result<Vec<Record>, CatalogueError> {
    let left = usize::try_from(end.0.saturating_sub(after.0)).unwrap_or(usize::MAX);
    if left == 0 {
        return Ok(Vec::new());
    }
    let query = Query::all(after.next()).limit(left.min(PAGE));
    Ok(log.read(query).await?.records)
}
