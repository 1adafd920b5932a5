//! The state of a run: what its decider needs to know.
//!
//! Tool invocations and evidence are not in it, so that the hundred-thousandth
//! tool call of a run costs what the first did.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{ApplyStatus, DecisionMade, DecisionType, Event, RunStatus};
use crate::{
    ActorKind, AdoptedHeader, By, DecisionId, GitOid, Origin, PatchSetId, PlanId, ProvenanceId,
    TaskId,
};

/// Where a run is in its life (docs/spec/git-internal.md, Run status transitions).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Status {
    /// It does not exist.
    #[default]
    Absent,
    /// Begun, nothing done yet.
    Created,
    /// The agent changes code.
    Patching,
    /// The agent checks its changes.
    Validating,
    /// A decision was made.
    Completed,
    /// It could not go on.
    Failed,
}

impl Status {
    /// The status as git-internal writes it.
    pub fn name(self) -> &'static str {
        match self {
            Status::Absent => "absent",
            Status::Created => "created",
            Status::Patching => "patching",
            Status::Validating => "validating",
            Status::Completed => "completed",
            Status::Failed => "failed",
        }
    }

    /// Whether a run that has it goes on.
    pub fn is_unfinished(self) -> bool {
        matches!(
            self,
            Status::Created | Status::Patching | Status::Validating
        )
    }
}

/// What the decider knows of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// Where it is in its life.
    pub status: Status,
    /// The task that it is an attempt at; `None` only while absent.
    pub task: Option<TaskId>,
    /// The plan that it carries out.
    pub plan: Option<PlanId>,
    /// The baseline commit.
    pub commit: Option<GitOid>,
    /// Whether it has a snapshot.
    pub has_snapshot: bool,
    /// The patch set that it is there to revert.
    pub reverts: Option<PatchSetId>,
    /// Its patch sets and what became of them.
    pub patch_sets: BTreeMap<PatchSetId, ApplyStatus>,
    /// Its provenance.
    pub provenance: Option<ProvenanceId>,
    /// Its decision.
    pub decision: Option<DecisionId>,
    /// Whether its decision was Commit.
    pub is_commit: bool,
    /// Whether its decision was Retry.
    pub is_retry: bool,
    /// Whether a person turned its work down: rejected a patch set, or decided to try again or to give up.
    pub is_turned_down_by_a_person: bool,
    /// Who worked on it: began it, patched, proposed or validated.
    pub workers: Vec<By>,
    /// The commit that its decision led to.
    pub result_commit: Option<GitOid>,
    /// The tokens that it is known to have used.
    pub tokens: u64,
}

impl State {
    /// Whether it does not exist. Objects of it may.
    pub fn is_absent(&self) -> bool {
        self.status == Status::Absent
    }

    /// Whether it exists and has not ended.
    pub fn is_unfinished(&self) -> bool {
        self.status.is_unfinished()
    }

    /// The run's tokens with so many more; `None` beyond 2^64 - 1, where no sum
    /// would be right any more.
    pub fn tokens_with(&self, more: &[u64]) -> Option<u64> {
        more.iter()
            .try_fold(self.tokens, |sum, more| sum.checked_add(*more))
    }
}

/// Folds one event into the state.
pub fn evolve(state: &mut State, event: &Event, origin: &Origin<'_>) {
    note_worker(state, event, origin);
    state.is_turned_down_by_a_person |= origin.is_persons && turns_down(event);
    match event {
        Event::Created(created) => {
            state.status = Status::Created;
            state.task = Some(created.task);
            state.plan = created.plan;
            state.commit = created.commit;
            state.has_snapshot = created.snapshot.is_some();
            state.reverts = created.reverts;
        }
        Event::Adopted(event) => {
            if let Some(object) = &event.object {
                state.status = object.status.into();
                state.task = Some(object.task);
                state.plan = object.plan;
                state.commit = object.commit;
                state.has_snapshot = object.snapshot.is_some();
                state.reverts = None;
            }
        }
        Event::PatchSetAdopted(event) => {
            if let Some(object) = &event.object {
                patch_set(state, event.patch_set, object.apply_status);
            }
        }
        Event::ProvenanceAdopted(event) => {
            state.provenance = Some(event.provenance);
            if let Some(used) = &event.token_usage {
                add_tokens(state, &[used.input_tokens, used.output_tokens]);
            }
        }
        // The run's own status was adopted with the run.
        Event::DecisionAdopted(event) => decided(state, &event.decision),
        Event::SnapshotAttached(_) => state.has_snapshot = true,
        Event::PatchingStarted(_) => state.status = Status::Patching,
        Event::ValidationStarted(_) => state.status = Status::Validating,
        Event::PatchSetProposed(event) => patch_set(state, event.patch_set, ApplyStatus::Proposed),
        Event::PatchSetApplied(event) => patch_set(state, event.patch_set, ApplyStatus::Applied),
        Event::PatchSetRejected(event) => patch_set(state, event.patch_set, ApplyStatus::Rejected),
        Event::PatchSetReverted(event) => patch_set(state, event.patch_set, ApplyStatus::Reverted),
        Event::ProvenanceRecorded(event) => {
            state.provenance = Some(event.provenance);
            if let Some(used) = &event.token_usage {
                add_tokens(state, &[used.input_tokens, used.output_tokens]);
            }
        }
        Event::UsageRecorded(event) => add_tokens(state, &event.tokens()),
        Event::DecisionMade(event) => {
            decided(state, event);
            if state.status != Status::Failed {
                state.status = Status::Completed;
            }
        }
        Event::Failed(_) => state.status = Status::Failed,
        Event::ResultCommitRecorded(event) => state.result_commit = Some(event.commit),
        Event::ToolInvoked(_)
        | Event::EndedAfterIntent(_)
        | Event::ToolInvocationAdopted(_)
        | Event::ToolRequested(_)
        | Event::ToolDecided(_)
        | Event::ToolBegun(_)
        | Event::ToolEnded(_)
        | Event::EvidenceAdopted(_)
        | Event::RationaleOverridden(_)
        | Event::EvidenceRecorded(_)
        | Event::MetricsRecorded(_)
        | Event::MetadataSet(_)
        | Event::Redacted(_)
        | Event::Sealed(_) => {}
    }
}

/// Notes who does what the run is for.
fn note_worker(state: &mut State, event: &Event, origin: &Origin<'_>) {
    if !is_work(event) {
        return;
    }
    let by = origin.by();
    if !state.workers.contains(&by) {
        state.workers.push(by);
    }
}

/// Whether the actor of an event is one of those who do what the run is for.
fn is_work(event: &Event) -> bool {
    matches!(
        event,
        Event::Created(_)
            | Event::PatchingStarted(_)
            | Event::PatchSetProposed(_)
            | Event::ValidationStarted(_)
    )
}

/// Whether an event says that the work of a run is not good enough. An object that is adopted says so for its author, who is
/// a person.
fn turns_down(event: &Event) -> bool {
    let is_no = |it: &DecisionType| matches!(it, DecisionType::Retry | DecisionType::Abandon);
    let is_persons = |header: &AdoptedHeader| header.created_by.kind == ActorKind::Human;
    match event {
        Event::PatchSetRejected(_) => true,
        Event::DecisionMade(event) => is_no(&event.decision_type),
        Event::PatchSetAdopted(event) => event
            .object
            .as_ref()
            .is_some_and(|it| it.apply_status == ApplyStatus::Rejected && is_persons(&it.header)),
        Event::DecisionAdopted(event) => {
            is_no(&event.decision.decision_type) && is_persons(&event.header)
        }
        _ => false,
    }
}

fn patch_set(state: &mut State, patch_set: PatchSetId, status: ApplyStatus) {
    state.patch_sets.insert(patch_set, status);
}

fn decided(state: &mut State, made: &DecisionMade) {
    state.decision = Some(made.decision);
    state.is_commit = made.decision_type == DecisionType::Commit;
    state.is_retry = made.decision_type == DecisionType::Retry;
    state.result_commit = made.result_commit;
}

/// The decider lets no sum become too large; records from elsewhere may.
fn add_tokens(state: &mut State, more: &[u64]) {
    state.tokens = state.tokens_with(more).unwrap_or(u64::MAX);
}

impl From<RunStatus> for Status {
    fn from(status: RunStatus) -> Status {
        match status {
            RunStatus::Created => Status::Created,
            RunStatus::Patching => Status::Patching,
            RunStatus::Validating => Status::Validating,
            RunStatus::Completed => Status::Completed,
            RunStatus::Failed => Status::Failed,
        }
    }
}
