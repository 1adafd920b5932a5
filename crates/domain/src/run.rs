//! Runs: execution attempts of a task, with all that happens in them: tool
//! invocations, patch sets, evidence, provenance and the decision
//! (docs/spec/git-internal.md, Run and the objects with a `run_id`).

mod adopted;
pub(crate) mod command;
pub(crate) mod decide;
mod event;
mod evolve;
mod names;
mod shared;
mod tool_call;
pub(crate) mod tool_command;
pub(crate) mod tool_decide;
mod tool_event;
mod verdict;
mod words;

#[cfg(test)]
mod tests;

pub use adopted::{
    Adopted, AdoptedPatchSet, AdoptedRun, AdoptedTokens, DecisionAdopted, EvidenceAdopted,
    PatchSetAdopted, ProvenanceAdopted, RunStatus, ToolInvocationAdopted,
};
pub use command::*;
pub use event::*;
pub use evolve::{State, Status, evolve};
pub(crate) use names::{each_name, may_have_names};
pub(crate) use shared::intents_of;
pub use tool_call::{KnownDecision, KnownFields, ToolCall};
pub use tool_command::*;
pub use tool_event::*;
pub use words::*;

pub use crate::content::{ContentPart, Payload};
