//! What happens in a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use smallvec::smallvec;
use uuid::Uuid;

use super::adopted::{
    Adopted, DecisionAdopted, EvidenceAdopted, PatchSetAdopted, ProvenanceAdopted,
    ToolInvocationAdopted,
};
use super::{
    ChangeType, DecisionType, DiffFormat, EvidenceKind, StoredFootprint, ToolBegun, ToolDecided,
    ToolEnded, ToolRequested, ToolStatus,
};
use crate::event::{Touched, events};
use crate::intent::IntentStatus;
use crate::metadata::{MetadataSet, Sealed, subject};
use crate::pieces::{JsonPiece, Slot};
use crate::redaction::Redacted;
use crate::{
    DecisionId, EvidenceId, GitOid, IntentId, Kind, PatchSetId, PlanId, ProvenanceId, RunId,
    SnapshotId, StoredArtifact, StoredEnvironment, TaskId, ToolInvocationId,
};

events! {
    /// An event of a run's stream.
    pub enum Event {
        Created = "run.created" v 1,
        SnapshotAttached = "run.snapshot_attached" v 1,
        PatchingStarted = "run.patching_started" v 1,
        ValidationStarted = "run.validation_started" v 1,
        ToolInvoked = "run.tool_invoked" v 2,
        PatchSetProposed = "run.patch_set_proposed" v 1,
        PatchSetApplied = "run.patch_set_applied" v 1,
        PatchSetRejected = "run.patch_set_rejected" v 1,
        PatchSetReverted = "run.patch_set_reverted" v 1,
        RationaleOverridden = "run.rationale_overridden" v 1,
        EvidenceRecorded = "run.evidence_recorded" v 1,
        ProvenanceRecorded = "run.provenance_recorded" v 1,
        UsageRecorded = "run.usage_recorded" v 3,
        MetricsRecorded = "run.metrics_recorded" v 1,
        DecisionMade = "run.decision_made" v 1,
        Failed = "run.failed" v 1,
        MetadataSet = "run.metadata_set" v 1,
        Sealed = "run.sealed" v 2,
        Adopted = "run.adopted" v 1,
        PatchSetAdopted = "run.patch_set_adopted" v 1,
        EvidenceAdopted = "run.evidence_adopted" v 1,
        DecisionAdopted = "run.decision_adopted" v 1,
        ProvenanceAdopted = "run.provenance_adopted" v 1,
        ToolInvocationAdopted = "run.tool_invocation_adopted" v 1,
        ResultCommitRecorded = "run.result_commit_recorded" v 1,
        EndedAfterIntent = "run.ended_after_intent" v 1,
        ToolRequested = "run.tool_requested" v 1,
        ToolDecided = "run.tool_decided" v 1,
        ToolBegun = "run.tool_begun" v 1,
        ToolEnded = "run.tool_ended" v 1,
        Redacted = "run.redacted" v 1,
    }
}

/// An attempt was begun; the run is Created.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Created {
    /// The task.
    pub task: TaskId,
    /// The plan version that is executed; it never changes.
    pub plan: Option<PlanId>,
    /// The baseline commit; absent before a repository's first one.
    pub commit: Option<GitOid>,
    /// The context that the run starts with.
    pub snapshot: Option<SnapshotId>,
    /// The machine.
    pub environment: Option<StoredEnvironment>,
    /// The applied patch set that this run is there to revert.
    pub reverts: Option<PatchSetId>,
}

/// The context that the run started with was attached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SnapshotAttached {
    /// The snapshot.
    pub snapshot: SnapshotId,
}

/// The agent began to change code; the run is Patching.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PatchingStarted {}

/// The agent began to check its changes; the run is Validating.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ValidationStarted {}

/// A tool was called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "tool invocation")]
pub struct ToolInvoked {
    /// The call's id.
    pub tool_invocation: ToolInvocationId,
    /// The tool's registered name.
    pub tool_name: Slot,
    /// Files read and written.
    pub io_footprint: Option<StoredFootprint>,
    /// The arguments.
    #[schemars(with = "Option<JsonPiece>")]
    pub args: Option<Slot>,
    /// How it ended.
    pub status: ToolStatus,
    /// How long it took, in milliseconds.
    pub duration_ms: Option<u64>,
    /// Short summary of the output.
    pub result_summary: Option<Slot>,
    /// Full output files.
    pub artifacts: Vec<StoredArtifact>,
}

/// One file of a patch set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "file")]
pub struct StoredTouchedFile {
    /// The path, relative to the repository.
    pub path: Slot,
    /// What happened to the file.
    pub change_type: ChangeType,
    /// Lines added.
    pub lines_added: u32,
    /// Lines deleted.
    pub lines_deleted: u32,
}

/// A candidate diff was proposed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PatchSetProposed {
    /// The patch set's id.
    pub patch_set: PatchSetId,
    /// The commit that the diff applies to.
    pub commit: Option<GitOid>,
    /// How the diff is written.
    pub format: DiffFormat,
    /// Where the diff is.
    pub artifact: Option<StoredArtifact>,
    /// The files that it touches.
    pub touched: Vec<StoredTouchedFile>,
    /// What was changed and why.
    pub rationale: Option<Slot>,
}

/// A patch set was applied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PatchSetApplied {
    /// The patch set.
    pub patch_set: PatchSetId,
}

/// A patch set was turned down.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PatchSetRejected {
    /// The patch set.
    pub patch_set: PatchSetId,
    /// Why.
    pub reason: Option<Slot>,
}

/// An applied patch set was taken back by a separate run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PatchSetReverted {
    /// The patch set.
    pub patch_set: PatchSetId,
    /// The run whose Rollback decision took it back.
    pub reverted_by: RunId,
}

/// A patch set's rationale was replaced, for example by a reviewer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RationaleOverridden {
    /// The patch set.
    pub patch_set: PatchSetId,
    /// The new rationale; absent removes it.
    pub rationale: Option<Slot>,
}

/// A validation step was recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "evidence")]
pub struct EvidenceRecorded {
    /// The evidence's id.
    pub evidence: EvidenceId,
    /// The patch set that was validated; absent for the whole run.
    pub patch_set: Option<PatchSetId>,
    /// What kind of step it was.
    pub kind: EvidenceKind,
    /// The tool's name.
    pub tool: Slot,
    /// The full command line.
    pub command: Option<Slot>,
    /// The process's exit code.
    pub exit_code: Option<i32>,
    /// Short summary of the result.
    pub summary: Option<Slot>,
    /// Full report files.
    pub report_artifacts: Vec<StoredArtifact>,
}

/// Tokens in and out. The total is always their sum and therefore not stored.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "tokens")]
pub struct StoredTokens {
    /// Tokens in the prompt.
    pub input_tokens: u64,
    /// Tokens in the completion.
    pub output_tokens: u64,
    /// Estimated cost in USD.
    pub cost_usd: Option<f64>,
}

/// Provider, model and parameters were recorded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProvenanceRecorded {
    /// The provenance's id.
    pub provenance: ProvenanceId,
    /// The provider.
    pub provider: Slot,
    /// The model.
    pub model: Slot,
    /// The provider's own parameters.
    #[schemars(with = "Option<JsonPiece>")]
    pub parameters: Option<Slot>,
    /// Sampling temperature.
    pub temperature: Option<f64>,
    /// Maximum generation length in tokens.
    pub max_tokens: Option<u64>,
    /// Tokens used so far; the total is their sum.
    pub token_usage: Option<StoredTokens>,
}

/// Tokens were used, on top of what was recorded before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UsageRecorded {
    /// The model.
    pub model: Option<Slot>,
    /// Prompt tokens that came neither from a cache nor went into one.
    pub uncached_input_tokens: u64,
    /// Prompt tokens read from a cache.
    pub cache_read_tokens: u64,
    /// Prompt tokens written to a cache.
    pub cache_write_tokens: u64,
    /// How many of the prompt tokens written to a cache stay there for an hour, which costs more; those of a message
    /// may come with a later event than the others of it.
    pub cache_write_1h_tokens: u64,
    /// Completion tokens, with those that the model thought with.
    pub output_tokens: u64,
    /// How many of the completion tokens the model thought with; those of a message may come with a later event than
    /// the others of it.
    pub reasoning_tokens: u64,
    /// How many searches of the web the vendor made for the model; each has a price of its own.
    pub web_searches: u64,
    /// The cost in USD, as the program that made the call says or estimates.
    pub cost_usd: Option<f64>,
}

impl UsageRecorded {
    /// Its counts of tokens, of every sort. Those with a price of their own within a sort are a part of it.
    pub fn tokens(&self) -> [u64; 4] {
        [
            self.uncached_input_tokens,
            self.cache_read_tokens,
            self.cache_write_tokens,
            self.output_tokens,
        ]
    }
}

/// Metrics were recorded; they replace earlier ones.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MetricsRecorded {
    /// The metrics.
    #[schemars(with = "JsonPiece")]
    pub metrics: Slot,
}

/// The verdict was given. On a run that had not failed it completes the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "decision")]
pub struct DecisionMade {
    /// The decision's id.
    pub decision: DecisionId,
    /// The verdict.
    pub decision_type: DecisionType,
    /// The patch set that was chosen (commit) or reverted (rollback).
    pub chosen_patch_set: Option<PatchSetId>,
    /// The git commit that it led to.
    pub result_commit: Option<GitOid>,
    /// The id of the saved state.
    pub checkpoint_id: Option<Slot>,
    /// Why this decision was made.
    pub rationale: Option<Slot>,
}

/// The git commit that the decision led to, which was made after it; once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ResultCommitRecorded {
    /// The decision.
    pub decision: DecisionId,
    /// The commit.
    pub commit: GitOid,
}

/// The run ended although its intent had been completed or cancelled before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EndedAfterIntent {
    /// The intent of the run's task.
    pub intent: IntentId,
    /// The status that it had then.
    pub status: IntentStatus,
}

/// The run could not go on; it is Failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Failed {
    /// What went wrong.
    pub error: Slot,
}

/// The tool call that an event of a run is about, if it is about one.
pub fn call_of(event: &Event) -> Option<ToolInvocationId> {
    match event {
        Event::ToolRequested(event) => Some(event.tool_invocation),
        Event::ToolDecided(event) => Some(event.tool_invocation),
        Event::ToolBegun(event) => Some(event.tool_invocation),
        Event::ToolEnded(event) => Some(event.tool_invocation),
        Event::ToolInvoked(event) => Some(event.tool_invocation),
        Event::ToolInvocationAdopted(event) => Some(event.invocation.tool_invocation),
        Event::Created(_)
        | Event::SnapshotAttached(_)
        | Event::PatchingStarted(_)
        | Event::ValidationStarted(_)
        | Event::PatchSetProposed(_)
        | Event::PatchSetApplied(_)
        | Event::PatchSetRejected(_)
        | Event::PatchSetReverted(_)
        | Event::RationaleOverridden(_)
        | Event::EvidenceRecorded(_)
        | Event::ProvenanceRecorded(_)
        | Event::UsageRecorded(_)
        | Event::MetricsRecorded(_)
        | Event::DecisionMade(_)
        | Event::Failed(_)
        | Event::MetadataSet(_)
        | Event::Sealed(_)
        | Event::Adopted(_)
        | Event::PatchSetAdopted(_)
        | Event::EvidenceAdopted(_)
        | Event::DecisionAdopted(_)
        | Event::ProvenanceAdopted(_)
        | Event::ResultCommitRecorded(_)
        | Event::EndedAfterIntent(_)
        | Event::Redacted(_) => None,
    }
}

fn touches(event: &Event, id: Uuid) -> Touched {
    let run = (Kind::Run, id);
    let patch_set = |id: PatchSetId| (Kind::PatchSet, id.0);
    match event {
        Event::Created(_)
        | Event::SnapshotAttached(_)
        | Event::PatchingStarted(_)
        | Event::ValidationStarted(_)
        | Event::MetricsRecorded(_)
        | Event::Failed(_)
        | Event::Adopted(_) => smallvec![run],
        // It comes with the run's end, which touches it.
        Event::EndedAfterIntent(_) => Touched::new(),
        Event::PatchSetAdopted(event) => smallvec![patch_set(event.patch_set)],
        Event::EvidenceAdopted(event) => smallvec![(Kind::Evidence, event.evidence.evidence.0)],
        Event::DecisionAdopted(event) => smallvec![(Kind::Decision, event.decision.decision.0)],
        Event::ProvenanceAdopted(event) => smallvec![(Kind::Provenance, event.provenance.0)],
        Event::ToolInvoked(event) => smallvec![(Kind::ToolInvocation, event.tool_invocation.0)],
        Event::ToolInvocationAdopted(_)
        | Event::ToolRequested(_)
        | Event::ToolDecided(_)
        | Event::ToolBegun(_)
        | Event::ToolEnded(_) => {
            let call = call_of(event).map(|call| (Kind::ToolInvocation, call.0));
            call.into_iter().collect()
        }
        Event::PatchSetProposed(event) => smallvec![patch_set(event.patch_set), run],
        Event::PatchSetApplied(event) => smallvec![patch_set(event.patch_set)],
        Event::PatchSetRejected(event) => smallvec![patch_set(event.patch_set)],
        Event::PatchSetReverted(event) => smallvec![patch_set(event.patch_set)],
        Event::RationaleOverridden(event) => smallvec![patch_set(event.patch_set)],
        Event::EvidenceRecorded(event) => smallvec![(Kind::Evidence, event.evidence.0)],
        Event::ProvenanceRecorded(event) => smallvec![(Kind::Provenance, event.provenance.0)],
        // The provenance that it adds to is the run's only one; which one that
        // is, the fold knows.
        Event::UsageRecorded(_) => smallvec![run],
        Event::DecisionMade(event) => smallvec![(Kind::Decision, event.decision.0), run],
        Event::ResultCommitRecorded(event) => smallvec![(Kind::Decision, event.decision.0)],
        Event::MetadataSet(event) => subject(event.kind, event.object),
        Event::Redacted(event) => event.touched().into(),
        Event::Sealed(event) => subject(event.kind, event.object),
    }
}
