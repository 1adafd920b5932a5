//! The state of a plan: what its decider needs to know.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{AdoptedStep, Event, StepStatus, StoredStep};
use crate::{FrameId, IntentId, PipelineId, PlanId, TaskId};

/// A plan has no life of its own: its steps have. The default is a plan that
/// does not exist.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// Whether it exists.
    pub exists: bool,
    /// The intent that it is a plan for.
    pub intent: Option<IntentId>,
    /// The plan that it revises.
    pub previous: Option<PlanId>,
    /// The plan that revises it.
    pub revised_by: Option<PlanId>,
    /// The pipeline whose frames the steps name.
    pub pipeline: Option<PipelineId>,
    /// The steps, by their numbers.
    pub steps: Vec<StepState>,
}

impl State {
    /// Whether it does not exist.
    pub fn is_absent(&self) -> bool {
        !self.exists
    }
}

/// What is known of a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepState {
    /// Where it is in its life.
    pub status: StepStatus,
    /// The task that it was handed to.
    pub task: Option<TaskId>,
    /// The frames that it consumed.
    pub iframes: BTreeSet<FrameId>,
    /// The frames that it produced.
    pub oframes: BTreeSet<FrameId>,
}

impl StepState {
    fn new(step: &StoredStep) -> StepState {
        StepState {
            status: StepStatus::Pending,
            task: step.task,
            iframes: step.iframes.iter().copied().collect(),
            oframes: step.oframes.iter().copied().collect(),
        }
    }

    fn adopted(adopted: &AdoptedStep) -> StepState {
        StepState {
            status: adopted.status(),
            ..StepState::new(&adopted.step)
        }
    }
}

/// Folds one event into the state.
pub fn evolve(state: &mut State, event: &Event) {
    match event {
        Event::Drafted(event) => {
            let steps = event.steps.iter().map(StepState::new).collect();
            *state = State {
                exists: true,
                intent: event.intent,
                previous: event.previous,
                revised_by: None,
                pipeline: event.pipeline,
                steps,
            };
        }
        Event::Adopted(event) => {
            if let Some(object) = &event.object {
                *state = State {
                    exists: true,
                    intent: None,
                    previous: object.previous,
                    revised_by: None,
                    pipeline: object.pipeline,
                    steps: Vec::new(),
                };
            }
            state
                .steps
                .extend(event.steps.iter().map(StepState::adopted));
        }
        Event::StepAdded(event) => state.steps.push(StepState::new(&event.step)),
        Event::StepStatusChanged(event) => {
            on_step(state, event.index, |step| step.status = event.status);
        }
        Event::StepFramesLinked(event) => on_step(state, event.index, |step| {
            step.iframes.extend(&event.iframes);
            step.oframes.extend(&event.oframes);
        }),
        Event::StepTaskSpawned(event) => {
            on_step(state, event.index, |step| step.task = Some(event.task));
        }
        Event::Revised(event) => state.revised_by = Some(event.by),
        Event::Assigned(event) => state.intent = Some(event.intent),
        Event::Restored(_)
        | Event::StepOutputRecorded(_)
        | Event::MetadataSet(_)
        | Event::Redacted(_)
        | Event::Sealed(_) => {}
    }
}

fn on_step(state: &mut State, index: u32, change: impl FnOnce(&mut StepState)) {
    if let Some(step) = state.steps.get_mut(index as usize) {
        change(step);
    }
}
