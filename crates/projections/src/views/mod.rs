//! The views of the eleven objects, one file each. Their fields are named and
//! ordered as document 000 writes them; what is not part of its JSON is
//! skipped there and says so.

mod context_pipeline;
mod context_snapshot;
mod decision;
mod evidence;
mod intent;
mod patch_set;
mod plan;
mod provenance;
mod run;
mod task;
mod tool_invocation;

#[cfg(test)]
mod tests;

pub use context_pipeline::{
    ContextFrame, ContextPipelineView, EvictedFrame, FrameUse, HeldFrame, OverLimit,
    RollingSummaryView, SeenFrame, Why, WindowView,
};
pub use context_snapshot::{ContextItem, ContextSnapshotView};
pub use decision::DecisionView;
pub use evidence::EvidenceView;
pub use intent::{IntentStatus, IntentStatusEntry, IntentView};
pub use patch_set::{PatchSetView, TouchedFileView};
pub use plan::{PlanStepView, PlanView, StepStatusEntry};
pub use provenance::{ProvenanceView, TokenUsageView};
pub use run::RunView;
pub use task::TaskView;
pub use tool_invocation::{IoFootprintView, ToolInvocationView};
