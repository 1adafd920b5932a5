//! A projection at work: its rows, its checkpoint, its rebuild.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use annals_event_log::{
    CommitError, ModelCheckpoint, Position, Query, ReadError, Record, Row, Store,
};
use async_trait::async_trait;
use futures::lock::Mutex;
use serde::de::DeserializeOwned;

use super::table::{Changes, value};
use super::unwritten::Unwritten;
use super::{Projection, ProjectionError, Table};
use crate::generation::{Generation, Generations};
use crate::{Entry, EntryError};

/// Records that are folded at once.
const PAGE: usize = 1_000;
/// How often something is tried again because another process was faster, or content was removed.
const ATTEMPTS: u32 = 16;
/// The longest name, so that a version and a generation fit behind it.
const NAME_BYTES: usize = 60;
/// Of how many older versions rows are looked for.
const OLDER: u32 = 32;
/// What is kept under such names already.
const TAKEN: [&str; 5] = [
    "catalogue",
    "costs",
    "directory",
    "sessions",
    "subscriptions",
];

/// How far a read model is behind the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lag {
    /// The last event that is folded.
    pub position: Position,
    /// The last event that there is.
    pub end: Position,
}

impl Lag {
    /// How many events are not folded yet.
    pub fn events(self) -> u64 {
        self.end.0.saturating_sub(self.position.0)
    }
}

/// A question about rows that [`ReadModel::read_through`] asks. It is a trait and no closure, so that its future is
/// known to be `Send`, whatever it borrows.
#[async_trait]
pub trait TableQuery: Sync {
    /// What comes out.
    type Answer: Send;

    /// Answers from a table; with no other effect, as it may be asked again.
    async fn answer(&self, table: &Table<'_>) -> Result<Self::Answer, ProjectionError>;
}

/// Records that [`ReadModel::read_folded`] folds, in the order of the log.
#[async_trait]
pub trait RecordSource: Send {
    /// The next records; `None` at the end.
    async fn next_page(&mut self, log: &dyn Store) -> Result<Option<Vec<Record>>, ReadError>;
}

/// A projection's rows, which are stored with the log.
///
/// Any number of processes may have one of the same name: whoever calls [`ReadModel::catch_up`] folds what the rows
/// lack, and where two do so at once, one commit is refused and that process goes on from the other's. A redaction
/// drops the rows, as they may have what was removed; the next call folds them again.
#[derive(Debug)]
pub struct ReadModel<P> {
    projection: P,
    /// The model that names the current generation, which has the version in its name.
    pointer: String,
    /// One fold at a time in this process.
    folding: Mutex<()>,
    /// What [`ReadModel::read_through`] folded and nobody wrote.
    unwritten: Mutex<Option<Unwritten>>,
    rebuilding: Mutex<()>,
    /// Whether rows of older versions were looked for.
    is_tidy: AtomicBool,
    /// Whether it was looked how far the rows are before something was folded unasked.
    has_looked: AtomicBool,
}

impl<P: Projection> ReadModel<P> {
    /// Nothing is read or written yet.
    ///
    /// # Errors
    /// [`ProjectionError::InvalidName`].
    pub fn new(projection: P) -> Result<ReadModel<P>, ProjectionError> {
        let name = projection.name();
        let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
        let fits = (1..=NAME_BYTES).contains(&name.len()) && name.bytes().all(allowed);
        if !fits || TAKEN.contains(&name) {
            let name = name.chars().take(100).collect();
            return Err(ProjectionError::InvalidName { name });
        }
        Ok(ReadModel::own(projection))
    }

    /// The same of a projection of this library, under a name that is taken.
    pub(crate) fn own(projection: P) -> ReadModel<P> {
        ReadModel {
            pointer: format!("{}.{}", projection.name(), projection.version()),
            projection,
            folding: Mutex::default(),
            unwritten: Mutex::default(),
            rebuilding: Mutex::default(),
            is_tidy: AtomicBool::new(false),
            has_looked: AtomicBool::new(false),
        }
    }

    /// Folds what the rows lack, and says up to which position they are then.
    ///
    /// # Errors
    /// [`ProjectionError`]. What was folded before stays.
    #[allow(clippy::await_holding_invalid_type, reason = "docs/adr/0039")]
    pub async fn catch_up(&self, log: &dyn Store) -> Result<Position, ProjectionError> {
        let _folding = self.folding.lock().await;
        let mut attempt = 0;
        loop {
            let (generation, start) = self.begin(log).await?;
            let model = self.generations().model(generation);
            match self.fold_page(log, &model, start).await {
                Ok(Some(_)) => attempt = 0,
                Ok(None) => {
                    self.tidy(log).await?;
                    return Ok(start.position);
                }
                Err(error) => {
                    attempt += 1;
                    self.retries(log, &model, start, error, attempt).await?;
                }
            }
        }
    }

    /// Folds whatever comes, until the log is closed or `each` says `false`. It is told each position up to which the
    /// rows are.
    ///
    /// # Errors
    /// [`ProjectionError`].
    pub async fn follow(
        &self,
        log: &dyn Store,
        each: &mut (dyn FnMut(Position) -> bool + Send),
    ) -> Result<(), ProjectionError> {
        loop {
            let position = self.catch_up(log).await?;
            if !each(position) {
                return Ok(());
            }
            log.wait_above(position).await?;
        }
    }

    /// Folds the whole log into new rows, and puts them in the place of the current ones in one write. Others read,
    /// append and ask meanwhile, and are answered from the current rows until then. `progress` is told each position up
    /// to which the new ones are; it begins again where content was removed meanwhile.
    ///
    /// # Errors
    /// [`ProjectionError`]; the current rows stay then.
    #[allow(clippy::await_holding_invalid_type, reason = "docs/adr/0039")]
    pub async fn rebuild(
        &self,
        log: &dyn Store,
        progress: &mut (dyn FnMut(Position) + Send),
    ) -> Result<Position, ProjectionError> {
        let _rebuilding = self.rebuilding.lock().await;
        let mut attempt = 0;
        loop {
            match self.rebuild_once(log, progress).await {
                Err(error) if error.is_outdated() => {
                    attempt += 1;
                    if attempt == ATTEMPTS {
                        return Err(self.moving());
                    }
                }
                done => return done,
            }
        }
    }

    /// How far the rows are behind the log.
    ///
    /// # Errors
    /// [`ProjectionError`].
    pub async fn lag(&self, log: &dyn Store) -> Result<Lag, ProjectionError> {
        let (_, checkpoint) = self.begin(log).await?;
        Ok(Lag {
            position: checkpoint.position,
            end: log.watermark(),
        })
    }

    /// A row's value, as of the last [`ReadModel::catch_up`] of any process.
    ///
    /// # Errors
    /// [`ProjectionError`].
    pub async fn get<T: DeserializeOwned>(
        &self,
        log: &dyn Store,
        key: &[u8],
    ) -> Result<Option<T>, ProjectionError> {
        let row = self.ask(log, |model| async move { log.get(&model, key).await });
        let (model, row) = row.await?;
        row.map(|row| value(&model, key, &row)).transpose()
    }

    /// Rows whose keys begin with `prefix`, in the order of their keys, from the one behind `after`, at most `limit`;
    /// with their bytes.
    ///
    /// # Errors
    /// [`ProjectionError`].
    pub async fn scan(
        &self,
        log: &dyn Store,
        prefix: &[u8],
        after: Option<&[u8]>,
        limit: usize,
    ) -> Result<Vec<Row>, ProjectionError> {
        let rows = self.ask(log, |model| async move {
            log.scan(&model, prefix, after, limit).await
        });
        Ok(rows.await?.1)
    }

    /// What `question` is answered from the rows with all that they lack laid over them, which is folded in memory and
    /// written nowhere: up to date also where the log is open for reading only. It is asked again where the rows were
    /// written meanwhile, so it must have no effect but its answer. What is folded stays in memory for the next question
    /// until somebody writes it with [`ReadModel::catch_up`], so that each event is folded once.
    ///
    /// # Errors
    /// [`ProjectionError`].
    pub async fn read_through<Q: TableQuery>(
        &self,
        log: &dyn Store,
        question: &Q,
    ) -> Result<Q::Answer, ProjectionError> {
        for _ in 0..ATTEMPTS {
            let begun = self.begin(log).await?;
            let answer = self.answer(log, begun, question).await;
            // Also where a blob was missing because it was removed meanwhile.
            if self.begin(log).await? == begun {
                return answer;
            }
        }
        Err(self.moving())
    }

    async fn answer<Q: TableQuery>(
        &self,
        log: &dyn Store,
        (generation, start): (Generation, ModelCheckpoint),
        question: &Q,
    ) -> Result<Q::Answer, ProjectionError> {
        let model = self.generations().model(generation);
        let unwritten = self.fold_unwritten(log, &model, generation, start).await?;
        question.answer(&Table::over(log, &model, unwritten)).await
    }

    /// Folds in memory what the stored rows lack, and returns it. Callers that come meanwhile wait for it.
    #[allow(clippy::await_holding_invalid_type, reason = "docs/adr/0039")]
    async fn fold_unwritten(
        &self,
        log: &dyn Store,
        model: &str,
        generation: Generation,
        start: ModelCheckpoint,
    ) -> Result<Arc<Changes>, ProjectionError> {
        let mut kept = self.unwritten.lock().await;
        drop(kept.take_if(|it| !it.is_over(generation, start)));
        let unwritten = kept.get_or_insert_with(|| Unwritten::new(generation, start));
        loop {
            let mut table = Table::over(log, model, unwritten.changes());
            let Some(end) = self.fold_into(log, &mut table, unwritten.end()).await? else {
                return Ok(unwritten.changes());
            };
            unwritten.add(table.into_changes(), end);
        }
    }

    /// Folds some of what the rows lack, at most `pages` pages, where that is `behind` events or more, and unless
    /// another call folds or another process leads ([`ReadModels::leads`](annals_event_log::ReadModels::leads)); for
    /// a process that writes anyway, now and then. The position up to which the rows are then, if it is known.
    ///
    /// # Errors
    /// [`ProjectionError`]. What was folded before stays.
    #[allow(clippy::await_holding_invalid_type, reason = "docs/adr/0039")]
    pub async fn keep_up(
        &self,
        log: &dyn Store,
        behind: u64,
        pages: usize,
    ) -> Result<Option<Position>, ProjectionError> {
        let Some(_folding) = self.folding.try_lock() else {
            return Ok(None);
        };
        let lag = |at: Position| log.watermark().0.saturating_sub(at.0);
        if !self.has_looked.swap(true, Ordering::Relaxed) {
            // Before the lead is asked for: a process that is about to end is not to take it for rows that are current.
            let at = self.begin(log).await?.1.position;
            if lag(at) < behind {
                return Ok(Some(at));
            }
        }
        if !log.leads(&self.pointer).await {
            return Ok(None);
        }
        let (generation, mut at) = self.begin(log).await?;
        if lag(at.position) < behind {
            return Ok(Some(at.position));
        }
        let model = self.generations().model(generation);
        for _ in 0..pages {
            match self.fold_page(log, &model, at).await? {
                Some(next) => at = next,
                None => break,
            }
        }
        Ok(Some(at.position))
    }

    /// Drops the rows of this version.
    ///
    /// # Errors
    /// [`ProjectionError`].
    #[allow(clippy::await_holding_invalid_type, reason = "docs/adr/0039")]
    pub async fn drop_rows(&self, log: &dyn Store) -> Result<(), ProjectionError> {
        let _folding = self.folding.lock().await;
        let dropped = self.generations().drop_all(log).await;
        dropped.map_err(|error| ProjectionError::of(&self.pointer, error))
    }

    /// What `read` answers from the current rows, and the model that has them: it is asked again where they were
    /// replaced meanwhile.
    async fn ask<T, F: Future<Output = Result<T, ReadError>>>(
        &self,
        log: &dyn Store,
        read: impl Fn(String) -> F,
    ) -> Result<(String, T), ProjectionError> {
        for _ in 0..ATTEMPTS {
            let (generation, model) = self.current(log).await?;
            let answer = read(model.clone()).await?;
            if self.current(log).await?.0 == generation {
                return Ok((model, answer));
            }
        }
        Err(self.moving())
    }

    fn generations(&self) -> Generations<'_> {
        Generations {
            pointer: &self.pointer,
        }
    }

    fn moving(&self) -> ProjectionError {
        ProjectionError::Moving {
            model: self.pointer.clone(),
            attempts: ATTEMPTS,
        }
    }

    async fn begin(
        &self,
        log: &dyn Store,
    ) -> Result<(Generation, ModelCheckpoint), ProjectionError> {
        let begun = self.generations().begin(log).await;
        begun.map_err(|error| ProjectionError::of(&self.pointer, error))
    }

    async fn current(&self, log: &dyn Store) -> Result<(Generation, String), ProjectionError> {
        let current = self.generations().current(log).await;
        let current = current.map_err(|error| ProjectionError::of(&self.pointer, error))?;
        Ok((current, self.generations().model(current)))
    }

    /// Passes an error on, unless what was folded is outdated and it is to be folded again.
    async fn retries(
        &self,
        log: &dyn Store,
        model: &str,
        start: ModelCheckpoint,
        error: ProjectionError,
        attempt: u32,
    ) -> Result<(), ProjectionError> {
        let is_gone = matches!(
            &error,
            ProjectionError::Entry(EntryError::MissingBlob { .. })
        );
        let is_outdated = match is_gone {
            // It was removed since the record was read.
            true => log.checkpoint(model).await?.epoch != start.epoch,
            false => error.is_outdated(),
        };
        match is_outdated {
            true if attempt < ATTEMPTS => Ok(()),
            true => Err(self.moving()),
            false => Err(error),
        }
    }

    /// Folds the next page and writes its rows; the position up to which it went, and `None` at the log's end.
    async fn fold_page(
        &self,
        log: &dyn Store,
        model: &str,
        start: ModelCheckpoint,
    ) -> Result<Option<ModelCheckpoint>, ProjectionError> {
        let mut table = Table::new(log, model);
        let Some(end) = self.fold_into(log, &mut table, start.position).await? else {
            return Ok(None);
        };
        let rows = table.into_changes().into_iter().collect();
        log.commit(model, start, rows, end).await?;
        Ok(Some(start.at(end)))
    }

    /// Folds the page behind a position into a table; up to where it went, and `None` at the log's end.
    async fn fold_into(
        &self,
        log: &dyn Store,
        table: &mut Table<'_>,
        start: Position,
    ) -> Result<Option<Position>, ProjectionError> {
        let (records, end) = match self.projection.types() {
            [] => page_of_all(log, start).await?,
            types => page_of_types(log, types, start).await?,
        };
        for record in &records {
            self.fold_record(log, table, record).await?;
        }
        self.projection.finish_page(table).await?;
        Ok((end > start).then_some(end))
    }

    async fn fold_record(
        &self,
        log: &dyn Store,
        table: &mut Table<'_>,
        record: &Record,
    ) -> Result<(), ProjectionError> {
        if !self.projection.wants(record.event_type()) {
            return Ok(());
        }
        let entry = match self.projection.reads_blobs(record.event_type()) {
            true => Entry::new(record, &Entry::fetch(log, record).await?)?,
            false => Entry::without_blobs(record)?,
        };
        self.projection.apply(&entry, table).await
    }

    /// What `question` is answered from rows of records that are given one after the other and are folded in memory: of
    /// the past, or of a part of the log. `next` gives the next record. Nothing is read of the stored rows.
    ///
    /// # Errors
    /// [`ProjectionError`].
    pub async fn read_folded<Q: TableQuery, R: RecordSource>(
        &self,
        log: &dyn Store,
        records: &mut R,
        question: &Q,
    ) -> Result<Q::Answer, ProjectionError> {
        // No generation has this name, so that no row is read.
        let model = format!("{}.none", self.pointer);
        let mut table = Table::new(log, &model);
        while let Some(page) = records.next_page(log).await? {
            for record in &page {
                self.fold_record(log, &mut table, record).await?;
            }
            self.projection.finish_page(&mut table).await?;
        }
        question.answer(&table).await
    }

    #[allow(clippy::await_holding_invalid_type, reason = "docs/adr/0039")]
    async fn rebuild_once(
        &self,
        log: &dyn Store,
        progress: &mut (dyn FnMut(Position) + Send),
    ) -> Result<Position, ProjectionError> {
        let generations = self.generations();
        let (current, _) = self.current(log).await?;
        generations.drop_leftovers(log, current).await?;
        let new = current.next();
        let model = generations.model(new);
        let mut at = log.checkpoint(&model).await?;
        if at.position > Position::START {
            // Another process rebuilds it, too.
            return Err(CommitError::Checkpoint {
                model,
                expected: Position::START,
                actual: at.position,
            }
            .into());
        }
        while let Some(next) = self.fold_page(log, &model, at).await? {
            at = next;
            progress(at.position);
        }
        // What came meanwhile: nobody is answered from fewer events than before.
        let _folding = self.folding.lock().await;
        while let Some(next) = self.fold_page(log, &model, at).await? {
            at = next;
        }
        let placed = generations.make_current(log, new, at).await;
        placed.map_err(|error| ProjectionError::of(&self.pointer, error))?;
        generations.drop_rows(log, current).await?;
        Ok(at.position)
    }

    /// Drops the rows of older versions, once.
    async fn tidy(&self, log: &dyn Store) -> Result<(), ProjectionError> {
        if self.is_tidy.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        let version = self.projection.version();
        for version in version.saturating_sub(OLDER).max(1)..version {
            let pointer = format!("{}.{version}", self.projection.name());
            let older = Generations { pointer: &pointer };
            match older.drop_all(log).await {
                Err(crate::generation::GenerationError::Commit(CommitError::ReadOnly)) => {}
                dropped => dropped.map_err(|error| ProjectionError::of(&pointer, error))?,
            }
        }
        Ok(())
    }
}

/// The next records of any type behind a position, and up to where they are.
async fn page_of_all(
    log: &dyn Store,
    start: Position,
) -> Result<(Vec<Record>, Position), ReadError> {
    let page = log.read(Query::all(start.next()).limit(PAGE)).await?;
    let end = page.records.last().map_or(start, Record::position);
    Ok((page.records, end))
}

/// The next records of some types behind a position, in the log's order, and up to where no other one of them is.
async fn page_of_types(
    log: &dyn Store,
    types: &[&str],
    start: Position,
) -> Result<(Vec<Record>, Position), ReadError> {
    let mut end = log.watermark().max(start);
    let mut records = Vec::new();
    for event_type in types {
        let query = Query::event_type(*event_type, start.next()).limit(PAGE);
        let page = log.read(query).await?;
        if let Some(last) = page.records.last().filter(|_| page.next.is_some()) {
            end = end.min(last.position());
        }
        records.extend(page.records);
    }
    records.retain(|record| record.position() <= end);
    records.sort_unstable_by_key(Record::position);
    Ok((records, end))
}
