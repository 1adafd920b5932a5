//! What can be asked of a plan.

use derive_new::new;
use derive_setters::Setters;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::StepStatus;
use crate::task::GoalType;
use crate::{ActorRef, FrameId, IntentId, Json, PipelineId, PlanId, TaskId};

/// Draws up a plan, or a revision of one. A revision takes nothing over from
/// the plan before it but the link and the intent. The revisions of a plan, and
/// all plans of an intent, form one line: each revises the latest one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema, new, Setters)]
#[setters(prefix = "with_", into)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct CreatePlan {
    /// The new plan's id; left out, it gets one.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<PlanId>,
    /// The Active intent that it is for; it becomes that intent's current plan.
    /// Left out, it is the intent of `previous`.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intent: Option<IntentId>,
    /// The plan that this one revises: the latest revision. Left out, it is the
    /// intent's current plan.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous: Option<PlanId>,
    /// The earlier revision that this one goes back to. Its steps are given
    /// again, all of them.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restores: Option<PlanId>,
    /// The pipeline that it takes its context from.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pipeline: Option<PipelineId>,
    /// The visible part of the pipeline's window as it is now: a half-open
    /// range of indices, `[start, end]` with start <= end <= the window's length.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fwindow: Option<(u32, u32)>,
    /// The first steps, numbered from 0.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<NewStep>,
}

/// One unit of work within a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, new, Setters)]
#[setters(prefix = "with_", into)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct NewStep {
    /// What it should accomplish; not blank.
    #[new(into)]
    #[setters(skip)]
    pub description: String,
    /// The expected inputs.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inputs: Option<Json>,
    /// The outputs, if they are known already.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outputs: Option<Json>,
    /// How it is checked.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checks: Option<Json>,
    /// The frames of the plan's pipeline that it consumes; they may have been
    /// evicted.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub iframes: Vec<FrameId>,
    /// The frames of the plan's pipeline that it produces.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub oframes: Vec<FrameId>,
    /// The task that it is handed to.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
}

/// Appends a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, new, Setters)]
#[setters(prefix = "with_", into)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct AddStep {
    /// The plan.
    #[setters(skip)]
    pub plan: PlanId,
    /// The step; it gets the next number.
    #[setters(skip)]
    pub step: NewStep,
    /// The number that it must get. A caller that refers to this step in other commands
    /// of the same batch says it here: if another step came first, the batch is
    /// refused, and nothing is done to the other step.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<u32>,
}

/// Moves a step on: from pending to progressing, failed or skipped, from
/// progressing to completed or failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new, Setters)]
#[setters(prefix = "with_", into)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct SetStepStatus {
    /// The plan.
    #[setters(skip)]
    pub plan: PlanId,
    /// The step's number, from 0.
    #[setters(skip)]
    pub step: u32,
    /// The status that it gets.
    #[setters(skip)]
    pub status: StepStatus,
    /// Why.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Records which frames a step consumed and produced. Frames that are linked
/// already change nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new, Setters)]
#[setters(prefix = "with_", into)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct LinkStepFrames {
    /// The plan.
    #[setters(skip)]
    pub plan: PlanId,
    /// The step's number, from 0.
    #[setters(skip)]
    pub step: u32,
    /// The frames of the plan's pipeline that it consumed; they may have been
    /// evicted.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub iframes: Vec<FrameId>,
    /// The frames of the plan's pipeline that it produced.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub oframes: Vec<FrameId>,
    /// Whether this is inferred from something else, as an importer does, and
    /// was not stated.
    #[new(default)]
    #[setters(into = false)]
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub inferred: bool,
}

/// Defines a task and hands a step to it. A step has at most one task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new, Setters)]
#[setters(prefix = "with_", into)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct SpawnStepTask {
    /// The plan.
    #[setters(skip)]
    pub plan: PlanId,
    /// The step's number, from 0.
    #[setters(skip)]
    pub step: u32,
    /// The new task's id; left out, it gets one.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<TaskId>,
    /// Short summary: not blank, under 100 characters.
    #[new(into)]
    #[setters(skip)]
    pub title: String,
    /// Extended context.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Work classification.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<GoalType>,
    /// Hard rules that the solution must satisfy.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub constraints: Vec<String>,
    /// Testable success conditions.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub acceptance_criteria: Vec<String>,
    /// The task that the new one is a part of.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<TaskId>,
    /// The intent that it comes from.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intent: Option<IntentId>,
    /// Who requested the work.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requester: Option<ActorRef>,
}

/// Records what a step brought about; the last outputs win.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, new)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct RecordStepOutput {
    /// The plan.
    pub plan: PlanId,
    /// The step's number, from 0.
    pub step: u32,
    /// The outputs.
    pub outputs: Json,
}
