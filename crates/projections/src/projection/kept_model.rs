//! A read model of this library, whose rows follow the log as it is written.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use annals_event_log::{CommitError, Position, Store};

use super::{Lag, Projection, ProjectionError, ReadModel, TableQuery};

/// How many events may come before a writer folds them without a question. A process that cannot write rows folds what
/// they lack in memory.
const BEHIND: u64 = 10_000;
/// Pages that it folds then at most, so that no one of its callers waits for long.
const PAGES: usize = 2;

/// The rows of a projection, with the position up to which they are folded at least.
#[derive(Debug)]
pub(crate) struct KeptModel<P> {
    rows: ReadModel<P>,
    folded: AtomicU64,
    /// Whether the log has refused rows because it is open for reading only: what is folded to be written is then lost.
    is_read_only: AtomicBool,
}

impl<P: Projection> KeptModel<P> {
    /// Nothing is read yet.
    pub(crate) fn new(projection: P) -> KeptModel<P> {
        KeptModel {
            rows: ReadModel::own(projection),
            folded: AtomicU64::new(0),
            is_read_only: AtomicBool::new(false),
        }
    }

    /// The rows.
    pub(crate) fn rows(&self) -> &ReadModel<P> {
        &self.rows
    }

    /// Folds the events that the rows lack.
    ///
    /// # Errors
    /// [`ProjectionError`].
    pub(crate) async fn catch_up(&self, log: &dyn Store) -> Result<(), ProjectionError> {
        self.note(self.rows.catch_up(log).await?);
        Ok(())
    }

    /// Folds a part of the events that the rows lack, if they are many and no other caller does. Writers call it after
    /// an append.
    ///
    /// # Errors
    /// [`ProjectionError`].
    pub(crate) async fn keep_up(&self, log: &dyn Store) -> Result<(), ProjectionError> {
        let folded = self.folded.load(Ordering::Relaxed);
        if log.watermark().0.saturating_sub(folded) < BEHIND {
            return Ok(());
        }
        if let Some(folded) = self.rows.keep_up(log, BEHIND, PAGES).await? {
            self.note(folded);
        }
        Ok(())
    }

    /// How far the stored rows are behind the log.
    ///
    /// # Errors
    /// [`ProjectionError`].
    pub(crate) async fn lag(&self, log: &dyn Store) -> Result<Lag, ProjectionError> {
        self.rows.lag(log).await
    }

    /// Drops the rows: they are folded again as they are needed.
    ///
    /// # Errors
    /// [`ProjectionError`].
    pub(crate) async fn forget(&self, log: &dyn Store) -> Result<(), ProjectionError> {
        self.rows.drop_rows(log).await?;
        self.note(Position::START);
        Ok(())
    }

    /// Answers a question from the rows, which are brought up to date first. If the log is open for reading only, the
    /// events that they lack are folded in memory.
    ///
    /// # Errors
    /// [`ProjectionError`].
    pub(crate) async fn ask<Q: TableQuery>(
        &self,
        log: &dyn Store,
        question: &Q,
    ) -> Result<Q::Answer, ProjectionError> {
        if !self.is_read_only.load(Ordering::Relaxed) {
            match self.catch_up(log).await {
                Ok(()) => {}
                Err(ProjectionError::Commit(CommitError::ReadOnly)) => {
                    self.is_read_only.store(true, Ordering::Relaxed);
                }
                Err(error) => return Err(error),
            }
        }
        self.rows.read_through(log, question).await
    }

    fn note(&self, folded: Position) {
        self.folded.store(folded.0, Ordering::Relaxed);
    }
}
