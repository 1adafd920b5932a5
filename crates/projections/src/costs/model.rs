//! The read model of costs: its rows kept up to date with the log, and read.

use std::marker::PhantomData;

use annals_event_log::Store;
use async_trait::async_trait;
use uuid::Uuid;

use super::cell::{self, CELLS, CostCell, CostRows, Quarter};
use crate::projection::{KeptModel, Lag, ProjectionError, Table, TableQuery};

/// Rows that are read at once.
const PAGE: usize = 4_096;
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
    rows: KeptModel<CostRows>,
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
            rows: KeptModel::new(CostRows),
        }
    }

    /// Folds what the rows lack.
    ///
    /// # Errors
    /// [`ProjectionError`].
    pub async fn catch_up(&self, log: &dyn Store) -> Result<(), ProjectionError> {
        self.rows.catch_up(log).await
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
        let cells = Cells {
            range,
            each,
            made: PhantomData::<fn() -> A>,
        };
        self.rows.ask(log, &cells).await
    }

    /// Folds a part of what the log has by now, if that is much and no other caller does. Writers call it after an
    /// append.
    ///
    /// # Errors
    /// [`ProjectionError`].
    pub async fn keep_up(&self, log: &dyn Store) -> Result<(), ProjectionError> {
        self.rows.keep_up(log).await
    }

    /// How far the stored rows are behind the log.
    ///
    /// # Errors
    /// [`ProjectionError`].
    pub async fn lag(&self, log: &dyn Store) -> Result<Lag, ProjectionError> {
        self.rows.lag(log).await
    }

    /// Drops the rows: they are folded again as they are needed.
    ///
    /// # Errors
    /// [`ProjectionError`].
    pub async fn forget(&self, log: &dyn Store) -> Result<(), ProjectionError> {
        self.rows.forget(log).await
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
