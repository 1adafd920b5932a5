//! The index rebuilt from the log, and compared with it.

use annals_event_log::{EventLog, Position, ReadError, Store};
use annals_projections::{CatalogueError, CatalogueReport, Going, Lag, Rebuilt};
use annals_store_rocks::{Options, RocksLog, Unfinished};

use crate::with_rows::WithRows;
use crate::{Index, LoadError, state_snapshots};

/// How rows are kept that are only compared with others.
fn row_options() -> Options {
    Options::default()
        .with_sync(false)
        .with_cache_bytes(8 * 1024 * 1024)
        .with_max_open_files(128)
        .with_queue_bytes(1024 * 1024)
        .with_tree(false)
}

impl Index<'_> {
    /// How many events the stored rows are behind the log: the most of the rows of objects, costs and sessions. Rows of
    /// an older form, which another release of this library wrote, do not count.
    ///
    /// # Errors
    /// [`LoadError`].
    pub async fn lag(self) -> Result<u64, LoadError> {
        let log = self.annals.log.as_ref();
        let objects = self.annals.catalogue.lag(log).await?;
        let costs = self.annals.costs.lag(log).await?;
        let sessions = self.annals.session_rows.lag(log).await?;
        let lags = [objects, costs, sessions].map(Lag::events);
        Ok(lags.into_iter().max().unwrap_or_default())
    }

    /// Folds what the rows of objects, costs and sessions lack, and stores it. Appends and questions do so too; this is
    /// for a program that is about to ask much through handles that only read, right after an upgrade.
    ///
    /// # Errors
    /// [`LoadError`]; on a log that is open for reading only, [`annals_event_log::CommitError::ReadOnly`] is in it. What
    /// was folded before stays.
    pub async fn catch_up(self) -> Result<(), LoadError> {
        let log = self.annals.log.as_ref();
        self.annals.catalogue.catch_up(log).await?;
        self.annals.costs.catch_up(log).await?;
        self.annals.session_rows.catch_up(log).await?;
        Ok(())
    }

    /// Rebuilds the catalogue from the whole log, and puts it in the place
    /// of the current one when it is whole. Snapshots of states and the rows of costs and sessions are dropped; they are made again
    /// as they are needed. Appending and reading go on meanwhile. `progress` is called with each position
    /// that was reached.
    ///
    /// # Errors
    /// [`LoadError`]; the catalogue stays as it was then.
    pub async fn rebuild(
        self,
        progress: &mut (dyn FnMut(Position) + Send),
    ) -> Result<Rebuilt, LoadError> {
        let rebuilt = self
            .annals
            .catalogue
            .rebuild(self.annals.log.as_ref(), progress)
            .await?;
        let dropped = state_snapshots::drop_all(self.annals.log.as_ref()).await;
        dropped.map_err(CatalogueError::from)?;
        self.annals.costs.forget(self.annals.log.as_ref()).await?;
        let sessions = &self.annals.session_rows;
        sessions.forget(self.annals.log.as_ref()).await?;
        // What was folded from them goes with them.
        self.annals.states.forget_all();
        Ok(rebuilt)
    }

    /// Folds the whole log again, without storing it, and compares the catalogue's rows
    /// with what that gives, byte for byte, as of the position up to which the rows are
    /// folded. The log may be open for reading only; on such a one
    /// [`annals_store_rocks::RocksLog::stand_still`] keeps its writer from moving the rows
    /// meanwhile. The new rows are in a temporary folder as long as it takes. Rows that have
    /// content which a redaction is just removing are counted, and are not findings.
    ///
    /// # Errors
    /// [`LoadError`]. What is wrong with the catalogue is a finding of the
    /// report, not an error.
    pub async fn verify(
        self,
        progress: &mut (dyn FnMut(Position) + Send),
    ) -> Result<CatalogueReport, LoadError> {
        let log = self.annals.log.as_ref();
        if let Some(rocks) = self.annals.rocks() {
            let hidden = rocks.hidden_models()?;
            if let Some(report) = CatalogueReport::of_hidden(&hidden, log.watermark()) {
                return Ok(report);
            }
        }
        let scratch = match self.annals.rocks() {
            Some(rocks) => rocks.temporary_beside(&row_options()),
            None => RocksLog::temporary(&row_options()),
        };
        let scratch = scratch.map_err(|error| ReadError::Unavailable {
            source: Box::new(error),
        })?;
        let fresh = WithRows {
            log,
            rows: &scratch,
        };
        let report = self.verify_with_redaction(log, &fresh, progress).await;
        scratch.close().await;
        report
    }

    async fn verify_with_redaction(
        self,
        log: &dyn Store,
        fresh: &dyn Store,
        progress: &mut (dyn FnMut(Position) + Send),
    ) -> Result<CatalogueReport, LoadError> {
        let unfinished = self.annals.contents().unfinished_redaction()?;
        let events = unfinished.as_ref().map(|it| it.events.as_slice());
        let going = Going::of(events.unwrap_or_default())?;
        let report = self
            .annals
            .catalogue
            .verify(log, fresh, &going, progress)
            .await?;
        // One that began meanwhile may have changed what was compared.
        let said = |unfinished: Option<Unfinished>| unfinished.map(|it| it.said);
        match said(self.annals.contents().unfinished_redaction()?) == said(unfinished) {
            true => Ok(report),
            false => Err(CatalogueError::Moving { attempts: 1 }.into()),
        }
    }
}
