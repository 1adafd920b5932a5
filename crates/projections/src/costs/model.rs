//! The read model of costs: its rows kept up to date with the log, and read.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};

use annals_event_log::{CommitError, Position, Store};
use async_trait::async_trait;
use uuid::Uuid;

use super::cell::{self, CELLS, CostCell, CostRows, Quarter};
use crate::projection::{ProjectionError, ReadModel, Table, TableQuery};

/// Rows that are read at once.
const PAGE: usize = 4_096;
/// How many events a writer lets come before it folds them without a question: what the rows lack is folded for each
/// question by those who cannot write them.
const BEHIND: u64 = 10_000;
/// Pages that it folds then at most, so that no one of its callers waits for long.
const PAGES: usize = 2;

/// Which cells to read: all, unless more is said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CostRange {
    /// Only those from this quarter of an hour on.
    pub since: Option<Quarter>,
    /// Only those before this one.
    pub until: Option<Quarter>,
    /// Only those of these runs.
    pub runs: Option<Vec<Uuid>>,
}

impl CostRange {
    /// All of a time.
    pub fn new(since: Option<Quarter>, until: Option<Quarter>) -> CostRange {
        CostRange {
            since,
            until,
            runs: None,
        }
    }

    /// The same of some runs.
    pub fn with_runs(self, runs: Option<Vec<Uuid>>) -> CostRange {
        CostRange { runs, ..self }
    }

    fn has(&self, quarter: Quarter) -> bool {
        self.since.is_none_or(|since| quarter >= since)
            && self.until.is_none_or(|until| quarter < until)
    }
}

/// The read model of costs. It can be shared by any number of threads.
#[derive(Debug)]
pub struct CostModel {
    rows: ReadModel<CostRows>,
    /// Up to where the rows are at least.
    folded: AtomicU64,
}

impl Default for CostModel {
    fn default() -> CostModel {
        CostModel::new()
    }
}

impl CostModel {
    /// Nothing is read yet.
    pub fn new() -> CostModel {
        CostModel {
            rows: ReadModel::own(CostRows),
            folded: AtomicU64::new(0),
        }
    }

    /// Folds what the rows lack.
    ///
    /// # Errors
    /// [`ProjectionError`].
    pub async fn catch_up(&self, log: &dyn Store) -> Result<(), ProjectionError> {
        self.note(self.rows.catch_up(log).await?);
        Ok(())
    }

    /// Gives each cell of a range to `each`, in the order of time or, of some runs, of the runs; what that makes of an
    /// empty `A`. It begins again with another one where rows were written meanwhile.
    ///
    /// The rows are brought up to date first. Where the log is open for reading only, what they lack is folded in
    /// memory.
    ///
    /// # Errors
    /// [`ProjectionError`].
    pub async fn fold<A: Default + Send>(
        &self,
        log: &dyn Store,
        range: &CostRange,
        each: impl Fn(&mut A, CostCell) + Sync,
    ) -> Result<A, ProjectionError> {
        match self.catch_up(log).await {
            Ok(()) | Err(ProjectionError::Commit(CommitError::ReadOnly)) => {}
            Err(error) => return Err(error),
        }
        let cells = Cells {
            range,
            each,
            made: PhantomData::<fn() -> A>,
        };
        self.rows.read_through(log, &cells).await
    }

    /// Folds a part of what the log has by now, if that is much and no other caller does. Writers call it after an
    /// append.
    ///
    /// # Errors
    /// [`ProjectionError`].
    pub async fn keep_up(&self, log: &dyn Store) -> Result<(), ProjectionError> {
        let folded = self.folded.load(Ordering::Relaxed);
        if log.watermark().0.saturating_sub(folded) < BEHIND {
            return Ok(());
        }
        if let Some(folded) = self.rows.keep_up(log, BEHIND, PAGES).await? {
            self.note(folded);
        }
        Ok(())
    }

    /// Drops the rows: they are folded again as they are needed.
    ///
    /// # Errors
    /// [`ProjectionError`].
    pub async fn forget(&self, log: &dyn Store) -> Result<(), ProjectionError> {
        self.rows.drop_rows(log).await?;
        self.note(Position::START);
        Ok(())
    }

    fn note(&self, folded: Position) {
        self.folded.store(folded.0, Ordering::Relaxed);
    }
}

/// The cells of a range, and what takes each of them.
struct Cells<'a, A, F> {
    range: &'a CostRange,
    each: F,
    made: PhantomData<fn() -> A>,
}

#[async_trait]
impl<A: Default + Send, F: Fn(&mut A, CostCell) + Sync> TableQuery for Cells<'_, A, F> {
    type Answer = A;

    async fn answer(&self, table: &Table<'_>) -> Result<A, ProjectionError> {
        let mut made = A::default();
        match &self.range.runs {
            None => of_all(table, self.range, &self.each, &mut made).await?,
            Some(runs) => {
                for run in runs {
                    of_run(table, self.range, *run, &self.each, &mut made).await?;
                }
            }
        }
        Ok(made)
    }
}

async fn of_all<A>(
    table: &Table<'_>,
    range: &CostRange,
    each: &impl Fn(&mut A, CostCell),
    made: &mut A,
) -> Result<(), ProjectionError> {
    let mut after = range.since.map(cell::before);
    loop {
        let (rows, next) = table.page(CELLS, after.as_deref(), PAGE).await?;
        for (key, value) in &rows {
            let cell = CostCell::read(key, value)?;
            if range.until.is_some_and(|until| cell.quarter >= until) {
                return Ok(());
            }
            if range.has(cell.quarter) {
                each(made, cell);
            }
        }
        match next {
            Some(next) => after = Some(next.to_vec()),
            None => return Ok(()),
        }
    }
}

async fn of_run<A>(
    table: &Table<'_>,
    range: &CostRange,
    run: Uuid,
    each: &impl Fn(&mut A, CostCell),
    made: &mut A,
) -> Result<(), ProjectionError> {
    let prefix = cell::of_run(run);
    let mut after = None;
    loop {
        let (rows, next) = table.page(&prefix, after.as_deref(), PAGE).await?;
        for (row, _) in &rows {
            let key = cell::cell_of(row)?;
            if let Some(value) = table.get_bytes(&key).await? {
                let cell = CostCell::read(&key, &value)?;
                if range.has(cell.quarter) {
                    each(made, cell);
                }
            }
        }
        match next {
            Some(next) => after = Some(next),
            None => return Ok(()),
        }
    }
}
