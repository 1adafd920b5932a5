//! Batches that are decided again after their callers were given an outcome.

use annals_event_log::{Position, Query};

use crate::batch::{Batch, principal};
use crate::keyed_locks::Turn;
use crate::{Annals, BatchOutcome, ExecuteError, LoadError};

impl Annals {
    /// Executes a batch that was on its way and did not arrive as it was decided, if the outcome that its
    /// caller has still holds.
    pub(super) async fn execute_as_told(
        &self,
        batch: &mut Batch,
        turn: Turn<'_>,
    ) -> Result<BatchOutcome, ExecuteError> {
        let outcome = self.attempts(batch, turn).await?;
        match outcome.repeated && !self.is_as_told(batch, outcome.position).await? {
            true => Err(ExecuteError::Contended { attempts: 1 }),
            false => Ok(outcome),
        }
    }

    /// Whether a batch that the log has, up to a position, has the outcome that its caller was given.
    async fn is_as_told(&self, batch: &Batch, last: Position) -> Result<bool, LoadError> {
        let told = batch.told.as_deref().unwrap_or_default();
        let count: usize = told.iter().map(|told| told.events).sum();
        let mut first = Position((last.0 + 1).saturating_sub(count as u64));
        for told in told.iter().filter(|told| told.events > 0) {
            let page = self.log.read(Query::all(first).limit(1)).await?;
            let record = page.records.first().filter(|it| it.batch_id() == batch.id);
            let Some(record) = record else {
                return Ok(false);
            };
            let decoded = annals_wire::decode(record)?;
            if principal(decoded.stream, &decoded.event) != (told.id, told.frame_id) {
                return Ok(false);
            }
            first = Position(first.0 + told.events as u64);
        }
        Ok(true)
    }
}
