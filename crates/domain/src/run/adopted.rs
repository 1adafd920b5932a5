//! A run and its objects as they are taken over from another system.
//!
//! Each object goes into its run's stream, whether or not that run exists.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    ApplyStatus, DecisionMade, DiffFormat, EvidenceRecorded, StoredTouchedFile, ToolInvoked,
};
use crate::codes::coded_enum;
use crate::pieces::{JsonPiece, Slot};
use crate::{
    AdoptedHeader, GitOid, PatchSetId, PlanId, ProvenanceId, SnapshotId, StoredArtifact,
    StoredEnvironment, TaskId,
};

coded_enum! {
    /// The status that an adopted run had.
    pub enum RunStatus {
        /// Begun, nothing done yet.
        Created = 1 => "created",
        /// The agent changed code.
        Patching = 2 => "patching",
        /// The agent checked its changes.
        Validating = 3 => "validating",
        /// A decision was made.
        Completed = 4 => "completed",
        /// It could not go on.
        Failed = 5 => "failed",
    }
}

/// The run was taken over from another system, as it is; or the patch sets of the one taken over
/// just before go on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Adopted {
    /// The run; absent where its patch sets go on.
    pub object: Option<AdoptedRun>,
    /// Its patch sets, oldest first, whether or not they exist.
    pub patchsets: Vec<PatchSetId>,
}

/// What an adopted run has once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "run")]
pub struct AdoptedRun {
    /// Its common header.
    pub header: Box<AdoptedHeader>,
    /// The task that it is an attempt at.
    pub task: TaskId,
    /// The plan version that was executed.
    pub plan: Option<PlanId>,
    /// The baseline commit.
    pub commit: Option<GitOid>,
    /// Its status.
    pub status: RunStatus,
    /// The context that it started with.
    pub snapshot: Option<SnapshotId>,
    /// Execution metrics.
    #[schemars(with = "Option<JsonPiece>")]
    pub metrics: Option<Slot>,
    /// What went wrong.
    pub error: Option<Slot>,
    /// The machine.
    pub environment: Option<StoredEnvironment>,
}

/// A patch set was taken over from another system, as it is; or the files of the one taken over
/// just before go on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PatchSetAdopted {
    /// The patch set's id.
    pub patch_set: PatchSetId,
    /// The patch set; absent where its files go on.
    pub object: Option<AdoptedPatchSet>,
    /// The files that it touches.
    pub touched: Vec<StoredTouchedFile>,
}

/// What an adopted patch set has once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "patch set")]
pub struct AdoptedPatchSet {
    /// Its common header.
    pub header: Box<AdoptedHeader>,
    /// The commit that the diff applies to.
    pub commit: Option<GitOid>,
    /// How the diff is written.
    pub format: DiffFormat,
    /// Where the diff is.
    pub artifact: Option<StoredArtifact>,
    /// What was changed and why.
    pub rationale: Option<Slot>,
    /// What became of it.
    pub apply_status: ApplyStatus,
}

/// Evidence was taken over from another system, as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EvidenceAdopted {
    /// Its common header.
    pub header: Box<AdoptedHeader>,
    /// The evidence.
    pub evidence: EvidenceRecorded,
}

/// A decision was taken over from another system, as it is. It changes nothing
/// but itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DecisionAdopted {
    /// Its common header.
    pub header: Box<AdoptedHeader>,
    /// The decision.
    pub decision: DecisionMade,
}

/// A provenance was taken over from another system, as it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProvenanceAdopted {
    /// Its common header.
    pub header: Box<AdoptedHeader>,
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
    /// Tokens used.
    pub token_usage: Option<AdoptedTokens>,
}

/// Tokens in and out, and their total as the other system had it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "tokens")]
pub struct AdoptedTokens {
    /// Tokens in the prompt.
    pub input_tokens: u64,
    /// Tokens in the completion.
    pub output_tokens: u64,
    /// The total as the other system had it, which need not be their sum.
    pub total_tokens: u64,
    /// Estimated cost in USD.
    pub cost_usd: Option<f64>,
}

/// A tool invocation was taken over from another system, as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolInvocationAdopted {
    /// Its common header.
    pub header: Box<AdoptedHeader>,
    /// The tool invocation.
    pub invocation: ToolInvoked,
}
