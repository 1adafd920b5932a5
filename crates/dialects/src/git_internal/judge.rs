//! Which rules an object violates, by all that is known: the import's own objects and
//! what the log has already. The result does not depend on the pieces in which objects
//! come.

use std::collections::HashSet;

use annals::{Annals, LoadError};
use annals_domain::Kind;
use annals_projections::Relation;
use uuid::Uuid;

use super::known::Known;
use super::object::Object;
use super::violations::{Reference, references, violations};

/// What is said against one object at most; the rest is counted.
const SAID: usize = 100;
/// Objects of the log that are looked at in one field.
const MANY: usize = 1_000;
/// How far links of the log are followed in search of cycles.
const DEEP: usize = 1_000;
/// Links of the log that are followed for it.
const LINKS: usize = 65_536;

pub(super) type Asked<T> = Result<T, LoadError>;

/// What is known of objects. What the import has of them counts before what the
/// log has, since it takes its place.
#[derive(Clone, Copy)]
pub(super) struct Both<'a> {
    pub(super) known: &'a Known,
    pub(super) annals: &'a Annals,
}

/// What is to be said against an object, a sentence each.
pub(super) async fn judge(object: &Object, both: Both<'_>) -> Asked<Vec<String>> {
    let mut said = violations(object, both).await?;
    for Reference { field, kind, id } in references(object) {
        match both.kind(id).await? {
            Some(found) if found == kind => {}
            Some(found) => said.push(format!("{field}: {id} is of the kind {found}, not {kind}")),
            None => said.push(format!("{field}: there is no {kind} {id}")),
        }
    }
    if said.len() > SAID {
        let more = said.len() - SAID;
        said.truncate(SAID);
        said.push(format!("and {more} more"));
    }
    Ok(said)
}

impl Both<'_> {
    async fn kind(&self, id: Uuid) -> Asked<Option<Kind>> {
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

/// Follows parents and dependencies from the import's objects on through the
/// log. `false` if there were more than could be followed.
pub(super) async fn lead_on(known: &mut Known, annals: &Annals) -> Asked<bool> {
    let mut left = LINKS;
    let mut seen = HashSet::new();
    let mut ends = known.ends();
    for _ in 0..DEEP {
        let mut next = Vec::new();
        for (relation, id) in ends {
            if known.kind(id).is_some() || !seen.insert((relation, id)) {
                continue;
            }
            if left == 0 {
                return Ok(false);
            }
            let named = annals.index().named(id, relation, MANY.min(left)).await?;
            left = left.saturating_sub(1 + named.len());
            next.extend(named.iter().map(|id| (relation, *id)));
            known.lead_on(relation, id, named);
        }
        if next.is_empty() {
            return Ok(true);
        }
        ends = next;
    }
    Ok(false)
}
