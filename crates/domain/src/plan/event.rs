//! What happens to a plan.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use smallvec::smallvec;
use uuid::Uuid;

use crate::codes::coded_enum;
use crate::event::{Touched, events};
use crate::metadata::{MetadataSet, Sealed, subject};
use crate::pieces::{JsonPiece, Slot};
use crate::redaction::Redacted;
use crate::{AdoptedHeader, FrameId, IntentId, Kind, PipelineId, PlanId, TaskId, Timestamp};

coded_enum! {
    /// Where a step is in its life (docs/spec/git-internal.md, Step status transitions).
    pub enum StepStatus {
        /// Not begun; every step starts here.
        Pending = 1 => "pending",
        /// Being executed.
        Progressing = 2 => "progressing",
        /// Done.
        Completed = 3 => "completed",
        /// It did not succeed.
        Failed = 4 => "failed",
        /// Left out.
        Skipped = 5 => "skipped",
    }
}

impl StepStatus {
    /// Whether a step in this status may go to that one.
    pub fn may_become(self, to: StepStatus) -> bool {
        match self {
            StepStatus::Pending => {
                matches!(
                    to,
                    StepStatus::Progressing | StepStatus::Failed | StepStatus::Skipped
                )
            }
            StepStatus::Progressing => matches!(to, StepStatus::Completed | StepStatus::Failed),
            StepStatus::Completed | StepStatus::Failed | StepStatus::Skipped => false,
        }
    }
}

events! {
    /// An event of a plan's stream.
    pub enum Event {
        Drafted = "plan.drafted" v 1,
        StepAdded = "plan.step_added" v 1,
        StepStatusChanged = "plan.step_status_changed" v 1,
        StepFramesLinked = "plan.step_frames_linked" v 2,
        StepTaskSpawned = "plan.step_task_spawned" v 1,
        StepOutputRecorded = "plan.step_output_recorded" v 1,
        MetadataSet = "plan.metadata_set" v 1,
        Sealed = "plan.sealed" v 2,
        Adopted = "plan.adopted" v 1,
        Revised = "plan.revised" v 1,
        Assigned = "plan.assigned" v 1,
        Restored = "plan.restored" v 1,
        Redacted = "plan.redacted" v 1,
    }
}

/// The plan was drawn up. A revision takes nothing over from the plan before
/// it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Drafted {
    /// The plan that this one revises.
    pub previous: Option<PlanId>,
    /// The intent that it is for.
    pub intent: Option<IntentId>,
    /// The pipeline that it takes its context from.
    pub pipeline: Option<PipelineId>,
    /// The visible part of the pipeline's window as it was then: a half-open
    /// range of indices.
    pub fwindow: Option<(u32, u32)>,
    /// The first steps, all of them pending.
    pub steps: Vec<StoredStep>,
}

/// Another plan took this one's place; a plan is revised at most once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Revised {
    /// The revision.
    pub by: PlanId,
}

/// A plan that was drawn up for no intent became the plan of one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Assigned {
    /// The intent.
    pub intent: IntentId,
}

/// The plan goes back to an earlier revision of its line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Restored {
    /// The earlier revision.
    pub plan: PlanId,
}

/// A step inside an event's structure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "step")]
pub struct StoredStep {
    /// What the step should accomplish.
    pub description: Slot,
    /// The expected inputs.
    #[schemars(with = "Option<JsonPiece>")]
    pub inputs: Option<Slot>,
    /// The outputs.
    #[schemars(with = "Option<JsonPiece>")]
    pub outputs: Option<Slot>,
    /// How it is checked.
    #[schemars(with = "Option<JsonPiece>")]
    pub checks: Option<Slot>,
    /// The frames that it consumes, without duplicates.
    pub iframes: Vec<FrameId>,
    /// The frames that it produces, without duplicates.
    pub oframes: Vec<FrameId>,
    /// The task that it is handed to.
    pub task: Option<TaskId>,
}

/// A step was appended; it is pending.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StepAdded {
    /// The step's number, from 0.
    pub index: u32,
    /// The step.
    pub step: StoredStep,
}

/// A step's status changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StepStatusChanged {
    /// The step's number.
    pub index: u32,
    /// Its status from now on.
    pub status: StepStatus,
    /// Why.
    pub reason: Option<Slot>,
}

/// A step consumed or produced frames. They are appended to the step's lists
/// and were not in them before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StepFramesLinked {
    /// The step's number.
    pub index: u32,
    /// The frames that it consumed.
    pub iframes: Vec<FrameId>,
    /// The frames that it produced.
    pub oframes: Vec<FrameId>,
    /// Whether it was not stated, but inferred from something else.
    pub inferred: bool,
}

/// A step was given to a separate task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StepTaskSpawned {
    /// The step's number.
    pub index: u32,
    /// The task.
    pub task: TaskId,
}

/// A step's outputs were recorded; the last ones win.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StepOutputRecorded {
    /// The step's number.
    pub index: u32,
    /// The outputs.
    #[schemars(with = "JsonPiece")]
    pub outputs: Slot,
}

/// The plan was taken over from another system, as it is; or the steps of the one taken over just
/// before go on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Adopted {
    /// The plan; absent where its steps go on.
    pub object: Option<AdoptedPlan>,
    /// Steps, in order.
    pub steps: Vec<AdoptedStep>,
}

/// What an adopted plan has once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "plan")]
pub struct AdoptedPlan {
    /// Its common header.
    pub header: Box<AdoptedHeader>,
    /// The plan that it revises.
    pub previous: Option<PlanId>,
    /// The pipeline that it takes its context from.
    pub pipeline: Option<PipelineId>,
    /// The visible part of the pipeline's window, as the other system had it.
    pub fwindow: Option<(u32, u32)>,
}

/// A step of an adopted plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "step")]
pub struct AdoptedStep {
    /// The step.
    pub step: StoredStep,
    /// Every status that it had, oldest first.
    pub statuses: Vec<AdoptedStepStatus>,
}

impl AdoptedStep {
    /// The status that it had last; one without any is Pending.
    pub fn status(&self) -> StepStatus {
        let last = self.statuses.last();
        last.map_or(StepStatus::Pending, |last| last.status)
    }
}

/// One status of an adopted step's history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "status")]
pub struct AdoptedStepStatus {
    /// The status.
    pub status: StepStatus,
    /// Since when.
    pub changed_at: Timestamp,
    /// Why.
    pub reason: Option<Slot>,
}

fn touches(event: &Event, id: Uuid) -> Touched {
    match event {
        Event::MetadataSet(event) => subject(event.kind, event.object),
        Event::Redacted(event) => event.touched().into(),
        Event::Sealed(event) => subject(event.kind, event.object),
        // A plan itself says nothing of these.
        Event::Revised(_) | Event::Assigned(_) | Event::Restored(_) => Touched::new(),
        Event::Drafted(_)
        | Event::StepAdded(_)
        | Event::StepStatusChanged(_)
        | Event::StepFramesLinked(_)
        | Event::StepTaskSpawned(_)
        | Event::StepOutputRecorded(_)
        | Event::Adopted(_) => smallvec![(Kind::Plan, id)],
    }
}
