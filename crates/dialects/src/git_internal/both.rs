//! What is known of objects: by the import's own, and by the log.

use annals::{Annals, LoadError};
use annals_domain::Kind;
use annals_projections::Relation;
use uuid::Uuid;

use super::known::Known;

/// Objects of the log that are looked at in one field.
pub(super) const MANY: usize = 1_000;

pub(super) type Asked<T> = Result<T, LoadError>;

/// What is known of objects. What the import has of them counts before what the
/// log has, since it takes its place.
#[derive(Clone, Copy)]
pub(super) struct Both<'a> {
    pub(super) known: &'a Known,
    pub(super) annals: &'a Annals,
}

impl Both<'_> {
    pub(super) async fn kind(&self, id: Uuid) -> Asked<Option<Kind>> {
        match self.known.kind(id) {
            Some(kind) => Ok(Some(kind)),
            None => Ok(self.annals.index().place(id).await?.map(|(kind, _)| kind)),
        }
    }

    /// The run that a patch set is of.
    pub(super) async fn run_of(&self, patch_set: Uuid) -> Asked<Option<Uuid>> {
        if self.known.kind(patch_set).is_some() {
            return Ok(self.known.run_of(patch_set));
        }
        let place = self.annals.index().place(patch_set).await?;
        let holder = place.filter(|(kind, _)| *kind == Kind::PatchSet);
        Ok(holder.map(|(_, run)| run.id))
    }

    /// The first decision of a run. One that is in the log stays there, and was
    /// first.
    pub(super) async fn decision_of(&self, run: Uuid) -> Asked<Option<Uuid>> {
        let first = self
            .annals
            .index()
            .naming(run, Relation::DecisionRun, 1)
            .await?;
        Ok(first.first().copied().or(self.known.decision_of(run)))
    }

    /// The first provenance of a run.
    pub(super) async fn provenance_of(&self, run: Uuid) -> Asked<Option<Uuid>> {
        let first = self
            .annals
            .index()
            .naming(run, Relation::ProvenanceRun, 1)
            .await?;
        Ok(first.first().copied().or(self.known.provenance_of(run)))
    }

    /// Whether there is a task, and a run is not among its own.
    pub(super) async fn lacks_run(&self, task: Uuid, run: Uuid) -> Asked<bool> {
        match self.known.kind(task) {
            Some(kind) => Ok(kind == Kind::Task && !self.known.lists_run(task, run)),
            None => self.lacks(task, Kind::Task, Relation::TaskRuns, run).await,
        }
    }

    /// Whether there is a run, and a patch set is not among its own.
    pub(super) async fn lacks_patch_set(&self, run: Uuid, patch_set: Uuid) -> Asked<bool> {
        match self.known.kind(run) {
            Some(kind) => Ok(kind == Kind::Run && !self.known.lists_patch_set(run, patch_set)),
            None => {
                let relation = Relation::RunPatchSets;
                self.lacks(run, Kind::Run, relation, patch_set).await
            }
        }
    }

    /// Whether the log has an object that does not name another one in a field.
    async fn lacks(&self, id: Uuid, kind: Kind, field: Relation, named: Uuid) -> Asked<bool> {
        if self.annals.index().place(id).await?.map(|(kind, _)| kind) != Some(kind) {
            return Ok(false);
        }
        let naming = self.annals.index().naming(named, field, MANY).await?;
        // Where more name it, that one does not is not to be seen from here.
        Ok(naming.len() < MANY && !naming.contains(&id))
    }
}
