//! Lists, look-ups and trees: what the catalogue answers.

use std::collections::HashSet;
use std::time::Duration;

use annals_domain::{IntentId, Kind, Naming, StreamRef};
use annals_event_log::{EventLog, Position, ReadError, Store};
use annals_projections::{
    CatalogueError, CatalogueReport, CatalogueRow, Going, Links, LinksQuery, ListQuery, Listed,
    Rebuilt, Relation, Tree, TreeQuery, WorkItems, WorkItemsQuery, bucket_stream, new_alias_stream,
};
use annals_store_rocks::{Options, RocksLog, Unfinished};
use uuid::Uuid;

use crate::deadline::within;
use crate::with_rows::WithRows;
use crate::{Annals, LoadError, ViewError, state_snapshots};

/// How long a read waits for the position that it was asked to see.
const PATIENCE: Duration = Duration::from_secs(10);

/// How rows are kept that are only compared with others.
fn row_options() -> Options {
    Options::default()
        .with_sync(false)
        .with_cache_bytes(8 * 1024 * 1024)
        .with_max_open_files(128)
        .with_queue_bytes(1024 * 1024)
        .with_tree(false)
}

/// Refinements of one intent that are looked at for the newest.
const REFINEMENTS: usize = 10_000;

/// What reads through a handle must have seen at least.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Floor {
    position: Position,
    patience: Duration,
}

impl Annals {
    /// A handle of the same log whose reads are of this position or a later
    /// one: every view, history, list and look-up waits until the log has it,
    /// at most ten seconds. An answer of [`Annals::execute`] has the position;
    /// with that position, another process can read what was written.
    pub fn at_least(&self, position: Position) -> Annals {
        self.at_least_within(position, PATIENCE)
    }

    /// The same, with another limit to the waiting.
    pub fn at_least_within(&self, position: Position, patience: Duration) -> Annals {
        let mut handle = self.clone();
        handle.floor = Floor { position, patience };
        handle
    }

    /// Waits until the log has what this handle must see.
    ///
    /// # Errors
    /// [`LoadError::Behind`] after the time that the handle allows.
    pub async fn reach(&self) -> Result<(), LoadError> {
        let Floor { position, patience } = self.floor;
        if self.log.watermark() >= position {
            return Ok(());
        }
        match within(patience, self.wait_for(position)).await {
            Some(reached) => Ok(reached?),
            None => Err(LoadError::Behind {
                wanted: position,
                reached: self.log.watermark(),
                waited_ms: u64::try_from(patience.as_millis()).unwrap_or(u64::MAX),
            }),
        }
    }

    /// Brings the catalogue up to everything that was acknowledged.
    pub(crate) async fn catch_up(&self) -> Result<(), LoadError> {
        self.reach().await?;
        self.catalogue.catch_up(self.log.as_ref()).await?;
        Ok(())
    }

    /// What an object is and which stream holds it; `None` if there is no such
    /// object.
    ///
    /// # Errors
    /// [`LoadError`].
    pub async fn place(&self, id: impl Into<Uuid>) -> Result<Option<(Kind, StreamRef)>, LoadError> {
        self.catch_up().await?;
        Ok(self.catalogue.find(self.log.as_ref(), id.into()).await?)
    }

    /// The stream that has an alias, or the one that it would get: its id follows from a secret of the
    /// log, which is another one after each redaction, so that an alias that was removed cannot be
    /// found out by trying which text leads to the stream that is left.
    ///
    /// # Errors
    /// [`LoadError`].
    pub async fn alias_stream(&self, alias: &str) -> Result<StreamRef, LoadError> {
        self.catch_up().await?;
        let log = self.log.as_ref();
        if let Some(stream) = self.catalogue.alias_stream(log, alias).await? {
            return Ok(stream);
        }
        let secret = log.id_secret().await?;
        Ok(new_alias_stream(secret.as_ref(), alias))
    }

    /// The stream of the bucket with a name. Its id follows from the log's secret, as an alias's
    /// does: after a redaction, sessions share another bucket, which is full.
    pub(crate) async fn bucket_stream(&self, name: &str) -> Result<StreamRef, LoadError> {
        let secret = self.log.id_secret().await?;
        Ok(bucket_stream(secret.as_ref(), name))
    }

    /// Objects whose ids end with these hex digits, at most `limit`.
    pub(crate) async fn ending(
        &self,
        digits: &str,
        limit: usize,
    ) -> Result<Vec<(Kind, Uuid)>, LoadError> {
        self.catch_up().await?;
        let log = self.log.as_ref();
        Ok(self.catalogue.by_suffix(log, digits, limit).await?)
    }

    /// What the catalogue knows of an object: its title, status, counts,
    /// tokens. It costs the same however large the object is.
    ///
    /// # Errors
    /// [`ViewError::NotFound`] and [`ViewError::Load`].
    pub async fn row(&self, id: impl Into<Uuid>) -> Result<CatalogueRow, ViewError> {
        let id = id.into();
        let row = self.row_if_any(id).await?;
        row.ok_or_else(|| ViewError::NotFound { id: id.to_string() })
    }

    pub(crate) async fn row_if_any(&self, id: Uuid) -> Result<Option<CatalogueRow>, LoadError> {
        self.catch_up().await?;
        Ok(self.catalogue.row(self.log.as_ref(), id).await?)
    }

    /// Objects of one kind.
    ///
    /// # Errors
    /// [`LoadError`].
    pub async fn list(&self, query: &ListQuery) -> Result<Listed, LoadError> {
        self.catch_up().await?;
        Ok(self.catalogue.list(self.log.as_ref(), query).await?)
    }

    /// Tickets of other systems as sessions read them last, the newest first.
    /// What commands did to a ticket counts only once it was read again.
    ///
    /// # Errors
    /// [`LoadError`].
    pub async fn work_items(&self, query: &WorkItemsQuery) -> Result<WorkItems, LoadError> {
        self.catch_up().await?;
        Ok(self.catalogue.work_items(self.log.as_ref(), query).await?)
    }

    /// What an object names, and what names it, at most `limit` of each.
    ///
    /// # Errors
    /// [`ViewError::NotFound`] and [`ViewError::Load`].
    pub async fn refs(&self, id: impl Into<Uuid>, limit: usize) -> Result<Links, ViewError> {
        let query = LinksQuery::new(id.into()).with_limit(limit);
        self.catch_up().await?;
        let links = self.catalogue.links(self.log.as_ref(), &query).await;
        let id = query.id.to_string();
        let links = links.map_err(LoadError::from)?;
        links.ok_or(ViewError::NotFound { id })
    }

    /// What an object names in one field, in the order given, at most `limit`;
    /// nothing, if there is no such object.
    ///
    /// # Errors
    /// [`LoadError`].
    pub async fn named(
        &self,
        source: impl Into<Uuid>,
        relation: Relation,
        limit: usize,
    ) -> Result<Vec<Uuid>, LoadError> {
        self.catch_up().await?;
        let (log, source) = (self.log.as_ref(), source.into());
        Ok(self.catalogue.named(log, source, relation, limit).await?)
    }

    /// The objects that name one in a field, the oldest first, at most `limit`.
    /// The one that is named need not exist.
    ///
    /// # Errors
    /// [`LoadError`].
    pub async fn naming(
        &self,
        target: impl Into<Uuid>,
        relation: Relation,
        limit: usize,
    ) -> Result<Vec<Uuid>, LoadError> {
        self.catch_up().await?;
        let (log, target) = (self.log.as_ref(), target.into());
        Ok(self.catalogue.naming(log, target, relation, limit).await?)
    }

    /// All objects that name one in a field that deciders ask for.
    pub(crate) async fn all_naming(
        &self,
        field: Naming,
        target: Uuid,
    ) -> Result<Vec<Uuid>, LoadError> {
        let relation = match field {
            Naming::IntentPlan => Relation::IntentPlan,
            Naming::PlanIntent => Relation::PlanIntent,
            Naming::PlanPrevious => Relation::PlanPrevious,
            Naming::StepTask => Relation::StepTask,
            Naming::TaskIntent => Relation::TaskIntent,
            Naming::TaskParent => Relation::TaskParent,
            Naming::TaskDependency => Relation::TaskDependencies,
            Naming::RunTask => Relation::RunTask,
            Naming::RunPlan => Relation::RunPlan,
        };
        self.naming(target, relation, usize::MAX).await
    }

    /// An object with what belongs to it, and what belongs to that.
    ///
    /// # Errors
    /// [`ViewError::NotFound`] and [`ViewError::Load`].
    pub async fn tree(&self, query: &TreeQuery) -> Result<Tree, ViewError> {
        self.catch_up().await?;
        let tree = self.catalogue.tree(self.log.as_ref(), query).await;
        let id = query.id.to_string();
        let tree = tree.map_err(LoadError::from)?;
        tree.ok_or(ViewError::NotFound { id })
    }

    /// A chain of refinements (docs/spec/git-internal.md, Intent, `parent`), the newest first:
    /// the intent, what refines it, and what it refines. Where several refine one,
    /// the newest of them goes on.
    ///
    /// # Errors
    /// [`ViewError::NotFound`] and [`ViewError::Load`].
    pub async fn refinements(&self, intent: IntentId) -> Result<Vec<CatalogueRow>, ViewError> {
        let mut seen = HashSet::from([intent.0]);
        let mut newest = intent.0;
        loop {
            let refining = self
                .naming(newest, Relation::IntentParent, REFINEMENTS)
                .await?;
            match refining.last().filter(|next| seen.insert(**next)) {
                Some(next) => newest = *next,
                None => break,
            }
        }
        let (mut chain, mut next, mut shown) = (Vec::new(), Some(newest), HashSet::new());
        while let Some(id) = next.filter(|id| shown.insert(*id)) {
            let row = match self.row(id).await {
                Ok(row) => row,
                // What was adopted may refine an intent that this log does not have.
                Err(ViewError::NotFound { .. }) if !chain.is_empty() => break,
                Err(error) => return Err(error),
            };
            let mut links = row.links.iter();
            let refined = links.find(|(relation, _)| *relation == Relation::IntentParent);
            next = refined.map(|(_, target)| *target);
            chain.push(row);
        }
        Ok(chain)
    }

    /// Rebuilds the catalogue from the whole log, and puts it in the place
    /// of the current one when it is whole. Snapshots of states are dropped; they are taken again
    /// as they are needed. Appending and reading go on meanwhile. `progress` is called with each position
    /// that was reached.
    ///
    /// # Errors
    /// [`LoadError`]; the catalogue stays as it was then.
    pub async fn rebuild(
        &self,
        progress: &mut (dyn FnMut(Position) + Send),
    ) -> Result<Rebuilt, LoadError> {
        let rebuilt = self.catalogue.rebuild(self.log.as_ref(), progress).await?;
        let dropped = state_snapshots::drop_all(self.log.as_ref()).await;
        dropped.map_err(CatalogueError::from)?;
        // What was folded from them goes with them.
        self.states.forget_all();
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
    pub async fn verify_catalogue(
        &self,
        progress: &mut (dyn FnMut(Position) + Send),
    ) -> Result<CatalogueReport, LoadError> {
        let scratch =
            RocksLog::temporary(&row_options()).map_err(|error| ReadError::Unavailable {
                source: Box::new(error),
            })?;
        let log = self.log.as_ref();
        let fresh = WithRows {
            log,
            rows: &scratch,
        };
        let report = self.verify_with_redaction(log, &fresh, progress).await;
        scratch.close().await;
        report
    }

    async fn verify_with_redaction(
        &self,
        log: &dyn Store,
        fresh: &dyn Store,
        progress: &mut (dyn FnMut(Position) + Send),
    ) -> Result<CatalogueReport, LoadError> {
        let unfinished = self.unfinished_redaction()?;
        let events = unfinished.as_ref().map(|it| it.events.as_slice());
        let going = Going::of(events.unwrap_or_default())?;
        let report = self.catalogue.verify(log, fresh, &going, progress).await?;
        // One that began meanwhile may have changed what was compared.
        let said = |unfinished: Option<Unfinished>| unfinished.map(|it| it.said);
        match said(self.unfinished_redaction()?) == said(unfinished) {
            true => Ok(report),
            false => Err(CatalogueError::Moving { attempts: 1 }.into()),
        }
    }

    /// A redaction that is not finished, in an embedded store. `None` also where what is left of it to
    /// do cannot be read: [`RocksLog::verify`] names that.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn unfinished_redaction(&self) -> Result<Option<Unfinished>, ReadError> {
        let Some(rocks) = self.rocks() else {
            return Ok(None);
        };
        match rocks.unfinished_redaction() {
            Err(ReadError::Corrupt { .. }) => Ok(None),
            unfinished => unfinished,
        }
    }

    /// Lets the catalogue's rows follow what is appended. An append that was
    /// acknowledged does not fail because of its rows: the next caller that
    /// reads them gets the error.
    pub(crate) async fn keep_up(&self) {
        if let Err(error) = self.catalogue.keep_up(self.log.as_ref()).await {
            tracing::debug!(%error, "the catalogue does not keep up");
        }
    }
}
