//! What can be asked of a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ChangeType, DecisionType, DiffFormat, EvidenceKind, ToolStatus};
use crate::{
    ArtifactRef, ContentPart, DecisionId, Environment, EvidenceId, GitOid, Json, PatchSetId,
    Payload, PlanId, ProvenanceId, RunId, SnapshotId, TaskId, ToolInvocationId,
};

/// Begins an attempt at a task. A Draft task becomes Running with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateRun {
    /// The new run's id; left out, it gets one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<RunId>,
    /// The task: Draft or Running, or Done if the run reverts.
    pub task: TaskId,
    /// The plan version to execute; never changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanId>,
    /// The baseline commit; left out before a repository's first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<GitOid>,
    /// The context that the run starts with. An open snapshot is finalized with it, and refused
    /// where an item lacks its blob.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<SnapshotId>,
    /// The machine; left out, the service may fill it in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<Environment>,
    /// The applied patch set of this task that the run is there to revert.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reverts: Option<PatchSetId>,
}

impl CreateRun {
    /// A run of a task and nothing else.
    pub fn new(task: TaskId) -> CreateRun {
        CreateRun {
            id: None,
            task,
            plan: None,
            commit: None,
            snapshot: None,
            environment: None,
            reverts: None,
        }
    }
}

/// Attaches the context that a run started with, once. An open snapshot is finalized with it, and
/// refused where an item lacks its blob.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AttachSnapshot {
    /// The run: not Completed, not Failed.
    pub run: RunId,
    /// The snapshot.
    pub snapshot: SnapshotId,
}

/// Created -> Patching.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StartPatching {
    /// The run.
    pub run: RunId,
}

/// Patching -> Validating.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StartValidation {
    /// The run.
    pub run: RunId,
}

/// Files that a tool call read and wrote (docs/spec/git-internal.md, IoFootprint).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IoFootprint {
    /// Files read, relative to the repository.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths_read: Vec<String>,
    /// Files written, relative to the repository.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths_written: Vec<String>,
}

/// Records one tool call of a run that is neither Completed nor Failed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecordToolInvocation {
    /// The run.
    pub run: RunId,
    /// The call's id; left out, it gets one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<ToolInvocationId>,
    /// The tool's registered name; not blank.
    pub tool_name: String,
    /// Files read and written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub io_footprint: Option<IoFootprint>,
    /// Arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Json>,
    /// How it ended.
    pub status: ToolStatus,
    /// How long it took, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Short summary of the output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_summary: Option<String>,
    /// Full output files that are kept elsewhere.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<ArtifactRef>,
    /// The output itself, to be kept in this log; its parts follow the `artifacts`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub output: Vec<ContentPart>,
}

impl RecordToolInvocation {
    /// A call of which no more is known than the tool and how it ended.
    pub fn new(
        run: RunId,
        tool_name: impl Into<String>,
        status: ToolStatus,
    ) -> RecordToolInvocation {
        RecordToolInvocation {
            run,
            id: None,
            tool_name: tool_name.into(),
            io_footprint: None,
            args: None,
            status,
            duration_ms: None,
            result_summary: None,
            artifacts: Vec::new(),
            output: Vec::new(),
        }
    }
}

/// One file of a patch set (docs/spec/git-internal.md, TouchedFile).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TouchedFile {
    /// The path, relative to the repository; not blank.
    pub path: String,
    /// What happened to it.
    pub change_type: ChangeType,
    /// Lines added.
    #[serde(default)]
    pub lines_added: u32,
    /// Lines deleted.
    #[serde(default)]
    pub lines_deleted: u32,
}

/// Proposes a candidate diff in a Patching or Validating run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProposePatchSet {
    /// The run.
    pub run: RunId,
    /// The patch set's id; left out, it gets one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<PatchSetId>,
    /// The commit that the diff applies to; left out, the run's baseline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<GitOid>,
    /// How the diff is written.
    pub format: DiffFormat,
    /// Where the diff is, if it is kept elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact: Option<ArtifactRef>,
    /// The diff itself, to be kept in this log; not together with `artifact`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<Payload>,
    /// The files it touches.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub touched: Vec<TouchedFile>,
    /// What was changed and why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rationale: Option<String>,
}

impl ProposePatchSet {
    /// A patch set of a run with nothing in it yet.
    pub fn new(run: RunId, format: DiffFormat) -> ProposePatchSet {
        ProposePatchSet {
            run,
            id: None,
            commit: None,
            format,
            artifact: None,
            diff: None,
            touched: Vec::new(),
            rationale: None,
        }
    }
}

/// Applies a Proposed patch set of a Validating run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApplyPatchSet {
    /// The patch set.
    pub patch_set: PatchSetId,
}

/// Turns a Proposed patch set down.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RejectPatchSet {
    /// The patch set.
    pub patch_set: PatchSetId,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Replaces a patch set's rationale, for example by a reviewer's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OverrideRationale {
    /// The patch set.
    pub patch_set: PatchSetId,
    /// The new rationale; none removes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rationale: Option<String>,
}

/// Records one validation step of a run that is neither Completed nor Failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecordEvidence {
    /// The run (git-internal calls it `run_id`).
    pub run: RunId,
    /// The evidence's id; left out, it gets one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<EvidenceId>,
    /// The patch set that was validated, one of this run; left out for a
    /// check of the whole run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patchset_id: Option<PatchSetId>,
    /// What kind of step it was.
    pub kind: EvidenceKind,
    /// The tool's name; not blank.
    pub tool: String,
    /// The full command line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command_line: Option<String>,
    /// The process's exit code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Short summary of the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// Full report files that are kept elsewhere.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub report_artifacts: Vec<ArtifactRef>,
    /// The report itself, to be kept in this log; its parts follow the `report_artifacts`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub report: Vec<ContentPart>,
}

/// Tokens in and out (docs/spec/git-internal.md, TokenUsage).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TokenUsage {
    /// Tokens in the prompt.
    pub input_tokens: u64,
    /// Tokens in the completion.
    pub output_tokens: u64,
    /// Their sum; left out, it is computed; given, it must be right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_tokens: Option<u64>,
    /// Estimated cost in USD; not negative.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

/// Records how a run is executed, once per run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecordProvenance {
    /// The run.
    pub run: RunId,
    /// The provenance's id; left out, it gets one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<ProvenanceId>,
    /// The provider; not blank.
    pub provider: String,
    /// The model; not blank.
    pub model: String,
    /// The provider's own parameters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameters: Option<Json>,
    /// Sampling temperature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Maximum generation length in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// Tokens used so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_usage: Option<TokenUsage>,
}

/// Records tokens that were used, on top of what was recorded before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecordUsage {
    /// The run.
    pub run: RunId,
    /// The model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Prompt tokens that came neither from a cache nor went into one.
    pub uncached_input_tokens: u64,
    /// Prompt tokens read from a cache.
    #[serde(default)]
    pub cache_read_tokens: u64,
    /// Prompt tokens written to a cache.
    #[serde(default)]
    pub cache_write_tokens: u64,
    /// Completion tokens.
    pub output_tokens: u64,
    /// Estimated cost in USD; not negative.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

/// Records execution metrics; they replace earlier ones.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecordMetrics {
    /// The run.
    pub run: RunId,
    /// Free JSON.
    pub metrics: Json,
}

/// Gives the verdict of a run, once. In a Validating run it completes the run;
/// on a Failed run (not Commit, not Rollback) the run stays Failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Decide {
    /// The run.
    pub run: RunId,
    /// The decision's id; left out, it gets one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<DecisionId>,
    /// The verdict.
    pub decision_type: DecisionType,
    /// The patch set to apply (Commit, needed) or to revert (Rollback, the
    /// run's own `reverts`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chosen_patchset_id: Option<PatchSetId>,
    /// The git commit that it led to (Commit, Rollback).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_commit_sha: Option<GitOid>,
    /// The id of the saved state (Checkpoint).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint_id: Option<String>,
    /// Why this decision was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rationale: Option<String>,
}

impl Decide {
    /// A verdict and nothing else.
    pub fn new(run: RunId, decision_type: DecisionType) -> Decide {
        Decide {
            run,
            id: None,
            decision_type,
            chosen_patchset_id: None,
            result_commit_sha: None,
            checkpoint_id: None,
            rationale: None,
        }
    }
}

/// Records the git commit that a decision of the type commit led to, where it was
/// made after the decision. It is recorded once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecordResultCommit {
    /// The decision.
    pub decision: DecisionId,
    /// The commit.
    pub commit: GitOid,
}

/// Ends a run that could not go on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FailRun {
    /// The run: Created, Patching or Validating.
    pub run: RunId,
    /// What went wrong; not blank.
    pub error: String,
}
