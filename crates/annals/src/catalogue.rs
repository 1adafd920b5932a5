//! The catalogue of objects, kept up to date with the log: reads see at least what was asked for.

use std::time::Duration;

use annals_domain::{Kind, Naming, StreamRef};
use annals_event_log::Position;
use annals_projections::{CatalogueRow, Relation, bucket_stream};
use uuid::Uuid;

use crate::deadline::within;
use crate::{Annals, LoadError};

/// How long a read waits for the position that it was asked to see.
const PATIENCE: Duration = Duration::from_secs(10);

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

    pub(crate) async fn row_if_any(&self, id: Uuid) -> Result<Option<CatalogueRow>, LoadError> {
        self.catch_up().await?;
        Ok(self.catalogue.row(self.log.as_ref(), id).await?)
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
            Naming::SessionParent => Relation::SessionParent,
        };
        self.index().naming(target, relation, usize::MAX).await
    }

    /// Lets the catalogue's rows follow what is appended. An append that was
    /// acknowledged does not fail because of its rows: the next caller that
    /// reads them gets the error.
    pub(crate) async fn keep_up(&self) {
        if let Err(error) = self.catalogue.keep_up(self.log.as_ref()).await {
            tracing::debug!(%error, "the catalogue does not keep up");
        }
        self.keep_up_costs().await;
        self.keep_up_sessions().await;
    }
}
