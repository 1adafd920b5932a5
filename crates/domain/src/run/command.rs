//! What can be asked of a run.

use derive_new::new;
use derive_setters::Setters;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ChangeType, DecisionType, DiffFormat, EvidenceKind, ToolStatus};
use crate::{
    ArtifactRef, ContentPart, DecisionId, Environment, EvidenceId, GitOid, Json, PatchSetId,
    Payload, PlanId, ProvenanceId, RunId, SnapshotId, TaskId, ToolInvocationId,
};

/// Begins an attempt at a task. A Draft task becomes Running with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, new, Setters)]
#[setters(prefix = "with_", into)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct CreateRun {
    /// The new run's id; left out, it gets one.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<RunId>,
    /// The task: Draft or Running, or Done if the run reverts.
    #[setters(skip)]
    pub task: TaskId,
    /// The plan version to execute; never changes.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanId>,
    /// The baseline commit; left out before a repository's first one.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<GitOid>,
    /// The context that the run starts with. An open snapshot is finalized with it, and refused
    /// where an item lacks its blob.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<SnapshotId>,
    /// The machine; left out, the service may fill it in.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<Environment>,
    /// The applied patch set of this task that the run is there to revert.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reverts: Option<PatchSetId>,
}

/// Attaches the context that a run started with, once. An open snapshot is finalized with it, and
/// refused where an item lacks its blob.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct AttachSnapshot {
    /// The run: not Completed, not Failed.
    pub run: RunId,
    /// The snapshot.
    pub snapshot: SnapshotId,
}

/// Created -> Patching.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct StartPatching {
    /// The run.
    pub run: RunId,
}

/// Patching -> Validating.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct StartValidation {
    /// The run.
    pub run: RunId,
}

/// Files that a tool call read and wrote (docs/spec/git-internal.md, IoFootprint).
#[derive(
    Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new, Setters,
)]
#[setters(prefix = "with_", into)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct IoFootprint {
    /// Files read, relative to the repository.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths_read: Vec<String>,
    /// Files written, relative to the repository.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths_written: Vec<String>,
}

/// Records one tool call that is over, once, of a run that is neither Completed nor Failed; of any run
/// where something of the call's life is known already.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, new, Setters)]
#[setters(prefix = "with_", into)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct RecordToolInvocation {
    /// The run.
    #[setters(skip)]
    pub run: RunId,
    /// The call's id; left out, it gets one.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<ToolInvocationId>,
    /// The tool's registered name; not blank.
    #[new(into)]
    #[setters(skip)]
    pub tool_name: String,
    /// Files read and written.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub io_footprint: Option<IoFootprint>,
    /// Arguments.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Json>,
    /// How it ended.
    #[setters(skip)]
    pub status: ToolStatus,
    /// How long it took, in milliseconds.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Short summary of the output.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_summary: Option<String>,
    /// Full output files that are kept elsewhere.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<ArtifactRef>,
    /// The output itself, to be kept in this log; its parts follow the `artifacts`.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub output: Vec<ContentPart>,
}

/// One file of a patch set (docs/spec/git-internal.md, TouchedFile).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new, Setters)]
#[setters(prefix = "with_", into)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct TouchedFile {
    /// The path, relative to the repository; not blank.
    #[new(into)]
    #[setters(skip)]
    pub path: String,
    /// What happened to it.
    #[setters(skip)]
    pub change_type: ChangeType,
    /// Lines added.
    #[new(default)]
    #[setters(into = false)]
    #[serde(default)]
    pub lines_added: u32,
    /// Lines deleted.
    #[new(default)]
    #[setters(into = false)]
    #[serde(default)]
    pub lines_deleted: u32,
}

/// Proposes a candidate diff in a Patching or Validating run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new, Setters)]
#[setters(prefix = "with_", into)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ProposePatchSet {
    /// The run.
    #[setters(skip)]
    pub run: RunId,
    /// The patch set's id; left out, it gets one.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<PatchSetId>,
    /// The commit that the diff applies to; left out, the run's baseline.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<GitOid>,
    /// How the diff is written.
    #[setters(skip)]
    pub format: DiffFormat,
    /// Where the diff is, if it is kept elsewhere.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact: Option<ArtifactRef>,
    /// The diff itself, to be kept in this log; not together with `artifact`.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<Payload>,
    /// The files it touches.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub touched: Vec<TouchedFile>,
    /// What was changed and why.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rationale: Option<String>,
    /// Whether an importer found it in a recording: what an agent did is recorded, outside of the repository, too. A
    /// caller proposes changes of files in it.
    #[new(default)]
    #[setters(into = false)]
    #[serde(skip)]
    pub observed: bool,
}

/// Applies a Proposed patch set of a Validating run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ApplyPatchSet {
    /// The patch set.
    pub patch_set: PatchSetId,
}

/// Turns a Proposed patch set down.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new, Setters)]
#[setters(prefix = "with_", into)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct RejectPatchSet {
    /// The patch set.
    #[setters(skip)]
    pub patch_set: PatchSetId,
    /// Why.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Replaces a patch set's rationale, for example by a reviewer's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new, Setters)]
#[setters(prefix = "with_", into)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct OverrideRationale {
    /// The patch set.
    #[setters(skip)]
    pub patch_set: PatchSetId,
    /// The new rationale; none removes it.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rationale: Option<String>,
}

/// Records one validation step of a run that is neither Completed nor Failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new, Setters)]
#[setters(prefix = "with_", into)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct RecordEvidence {
    /// The run (git-internal calls it `run_id`).
    #[setters(skip)]
    pub run: RunId,
    /// The evidence's id; left out, it gets one.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<EvidenceId>,
    /// The patch set that was validated, one of this run; left out for a
    /// check of the whole run.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patchset_id: Option<PatchSetId>,
    /// What kind of step it was.
    #[setters(skip)]
    pub kind: EvidenceKind,
    /// The tool's name; not blank.
    #[new(into)]
    #[setters(skip)]
    pub tool: String,
    /// The full command line.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command_line: Option<String>,
    /// The process's exit code.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Short summary of the result.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// Full report files that are kept elsewhere.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub report_artifacts: Vec<ArtifactRef>,
    /// The report itself, to be kept in this log; its parts follow the `report_artifacts`.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub report: Vec<ContentPart>,
}

/// Tokens in and out (docs/spec/git-internal.md, TokenUsage).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema, new, Setters)]
#[setters(prefix = "with_", into)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct TokenUsage {
    /// Tokens in the prompt.
    #[setters(skip)]
    pub input_tokens: u64,
    /// Tokens in the completion.
    #[setters(skip)]
    pub output_tokens: u64,
    /// Their sum; left out, it is computed; given, it must be right.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_tokens: Option<u64>,
    /// Estimated cost in USD; not negative.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

/// Records how a run is executed, once per run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, new, Setters)]
#[setters(prefix = "with_", into)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct RecordProvenance {
    /// The run.
    #[setters(skip)]
    pub run: RunId,
    /// The provenance's id; left out, it gets one.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<ProvenanceId>,
    /// The provider; not blank.
    #[new(into)]
    #[setters(skip)]
    pub provider: String,
    /// The model; not blank.
    #[new(into)]
    #[setters(skip)]
    pub model: String,
    /// The provider's own parameters.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameters: Option<Json>,
    /// Sampling temperature.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Maximum generation length in tokens.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// Tokens used so far.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_usage: Option<TokenUsage>,
}

/// Records tokens that were used, on top of what was recorded before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, new, Setters)]
#[setters(prefix = "with_", into)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct RecordUsage {
    /// The run.
    #[setters(skip)]
    pub run: RunId,
    /// The model.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Prompt tokens that came neither from a cache nor went into one.
    #[setters(skip)]
    pub uncached_input_tokens: u64,
    /// Prompt tokens read from a cache.
    #[new(default)]
    #[setters(into = false)]
    #[serde(default)]
    pub cache_read_tokens: u64,
    /// Prompt tokens written to a cache.
    #[new(default)]
    #[setters(into = false)]
    #[serde(default)]
    pub cache_write_tokens: u64,
    /// How many of the tokens written to a cache, here or before, stay there for an hour.
    #[new(default)]
    #[setters(into = false)]
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_write_1h_tokens: u64,
    /// Completion tokens, with those that the model thought with.
    #[setters(skip)]
    pub output_tokens: u64,
    /// How many of the completion tokens, here or before, the model thought with.
    #[new(default)]
    #[setters(into = false)]
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reasoning_tokens: u64,
    /// How many searches of the web the vendor made for the model.
    #[new(default)]
    #[setters(into = false)]
    #[serde(default, skip_serializing_if = "is_zero")]
    pub web_searches: u64,
    /// The cost in USD, as the program that made the call says or estimates; not negative.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

/// Records execution metrics; they replace earlier ones.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, new)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct RecordMetrics {
    /// The run.
    pub run: RunId,
    /// Free JSON.
    pub metrics: Json,
}

/// Gives the verdict of a run, once. In a Validating run it completes the run;
/// on a Failed run (not Commit, not Rollback) the run stays Failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new, Setters)]
#[setters(prefix = "with_", into)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Decide {
    /// The run.
    #[setters(skip)]
    pub run: RunId,
    /// The decision's id; left out, it gets one.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<DecisionId>,
    /// The verdict.
    #[setters(skip)]
    pub decision_type: DecisionType,
    /// The patch set to apply (Commit, needed) or to revert (Rollback, the
    /// run's own `reverts`).
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chosen_patchset_id: Option<PatchSetId>,
    /// The git commit that it led to (Commit, Rollback).
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_commit_sha: Option<GitOid>,
    /// The id of the saved state (Checkpoint).
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint_id: Option<String>,
    /// Why this decision was made.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rationale: Option<String>,
}

/// Records the git commit that a decision of the type commit led to, where it was
/// made after the decision. It is recorded once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct RecordResultCommit {
    /// The decision.
    pub decision: DecisionId,
    /// The commit.
    pub commit: GitOid,
}

/// Ends a run that could not go on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct FailRun {
    /// The run: Created, Patching or Validating.
    pub run: RunId,
    /// What went wrong; not blank.
    #[new(into)]
    pub error: String,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}
