//! The views of the objects, one file each. The fields of git-internal's eleven
//! are named and ordered as it writes them; what is not part of its JSON is
//! skipped there and says so. The JSON of sessions and observations is our own.
//!
//! What an object says is a field. Where it is in its life is `status()` of each view that has a
//! life, whether its JSON has that, its history or neither.

mod context_pipeline;
mod context_snapshot;
mod decision;
mod evidence;
mod forge;
mod intent;
mod observation;
mod patch_set;
mod plan;
mod provenance;
mod run;
mod session;
mod task;
mod tool_invocation;

/// How one kind of object is folded. Whether an entry is about the object, and
/// its header, are the caller's business.
pub(crate) trait Project: Sized {
    /// The object, if the entry is the one that creates it.
    fn create(header: HeaderView, entry: &Entry) -> Option<Self>;

    /// Folds a later entry in.
    fn evolve(&mut self, entry: &Entry);
}

#[cfg(test)]
mod tests;

pub use context_pipeline::{
    ContextFrame, ContextPipelineView, EvictedFrame, FrameUse, HeldFrame, OverLimit,
    RollingSummaryView, SeenFrame, Why, WindowView,
};
pub use context_snapshot::{ContextItem, ContextSnapshotView};
pub use decision::DecisionView;
pub use evidence::EvidenceView;
pub use forge::{
    Clarification, ForgeChildView, ForgeIntentView, ForgeTaskView, ForgeView, ReviewView,
    forge_status,
};
pub use intent::{IntentStatus, IntentStatusEntry, IntentView};
pub use observation::{ObservationView, ProcessedView, SubjectView};
pub use patch_set::{PatchSetView, TouchedFileView};
pub use plan::{PlanStepView, PlanView, StepStatusEntry};
pub use provenance::{ProvenanceView, TokenUsageView};
pub use run::RunView;
pub use session::{
    CommandCounts, CommandView, ConflictView, OpenCommandView, OutcomeView, PendingApprovalView,
    PlanNodeView, QueuedCommandView, RepoView, SessionArtifactView, SessionConfigView,
    SessionPlanView, SessionView, WorkItemRefView,
};
pub use task::TaskView;
pub use tool_invocation::{
    CallLifeView, CallMoment, FileInForceView, IoFootprintView, JudgedCall, ToolDecisionView,
    ToolInvocationView,
};

use crate::{Entry, HeaderView};
