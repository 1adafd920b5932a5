//! The view of a plan (docs/spec/git-internal.md, Plan and PlanStep).

use annals_domain::plan::{Adopted, AdoptedStep, Event, StepStatus, StoredStep};
use annals_domain::{AnyEvent, FrameId, IntentId, PipelineId, PlanId, TaskId, Timestamp};
use serde::Serialize;

use crate::views::Project;
use crate::{Entry, HeaderView, JsonText, Text};

/// One status of a step's history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StepStatusEntry {
    /// The status.
    pub status: StepStatus,
    /// Since when.
    pub changed_at: Timestamp,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Text>,
}

/// One step of a plan.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlanStepView {
    /// The step's number; not part of the JSON, where its place says it.
    #[serde(skip)]
    pub index: u32,
    /// What it should accomplish.
    pub description: Text,
    /// The expected inputs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inputs: Option<JsonText>,
    /// The outputs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outputs: Option<JsonText>,
    /// How it is checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checks: Option<JsonText>,
    /// The frames that it consumed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub iframes: Vec<FrameId>,
    /// The frames that it produced.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub oframes: Vec<FrameId>,
    /// The task that it was handed to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
    /// Every status that it had, oldest first.
    pub statuses: Vec<StepStatusEntry>,
}

impl PlanStepView {
    fn new(index: u32, step: &StoredStep, entry: &Entry) -> PlanStepView {
        let pending = StepStatusEntry {
            status: StepStatus::Pending,
            changed_at: entry.occurred_at,
            reason: None,
        };
        PlanStepView {
            index,
            description: entry.text(step.description),
            inputs: entry.optional_json(step.inputs),
            outputs: entry.optional_json(step.outputs),
            checks: entry.optional_json(step.checks),
            iframes: step.iframes.clone(),
            oframes: step.oframes.clone(),
            task: step.task,
            statuses: vec![pending],
        }
    }

    fn adopted(index: u32, adopted: &AdoptedStep, entry: &Entry) -> PlanStepView {
        let statuses = adopted.statuses.iter().map(|status| StepStatusEntry {
            status: status.status,
            changed_at: status.changed_at,
            reason: entry.optional_text(status.reason),
        });
        PlanStepView {
            statuses: statuses.collect(),
            ..PlanStepView::new(index, &adopted.step, entry)
        }
    }

    /// Its status now.
    pub fn status(&self) -> StepStatus {
        self.statuses
            .last()
            .map_or(StepStatus::Pending, |entry| entry.status)
    }
}

/// A sequence of steps derived from an intent.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlanView {
    /// The common header.
    #[serde(flatten)]
    pub header: HeaderView,
    /// The plan that it revises.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous: Option<PlanId>,
    /// The pipeline that it takes its context from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pipeline: Option<PipelineId>,
    /// The visible part of the pipeline's window when it was drafted, as a
    /// half-open range of indices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fwindow: Option<(u32, u32)>,
    /// The steps, in order.
    pub steps: Vec<PlanStepView>,
    /// The intent that it is for; not part of the JSON.
    #[serde(skip)]
    pub intent: Option<IntentId>,
    /// The plan that revises it; not part of the JSON.
    #[serde(skip)]
    pub revised_by: Option<PlanId>,
    /// The earlier revision that it goes back to; not part of the JSON.
    #[serde(skip)]
    pub restores: Option<PlanId>,
}

impl PlanView {
    /// The step with this number, from 0.
    pub fn step(&self, index: u32) -> Option<&PlanStepView> {
        let place = self
            .steps
            .binary_search_by_key(&index, |step| step.index)
            .ok()?;
        self.steps.get(place)
    }

    fn change(&mut self, index: u32, change: impl FnOnce(&mut PlanStepView)) {
        let found = self.steps.binary_search_by_key(&index, |step| step.index);
        if let Some(step) = found.ok().and_then(|place| self.steps.get_mut(place)) {
            change(step);
        }
    }
}

impl PlanView {
    fn adopt(header: HeaderView, event: &Adopted, entry: &Entry) -> Option<PlanView> {
        let object = event.object.as_ref()?;
        let mut view = PlanView {
            header,
            previous: object.previous,
            pipeline: object.pipeline,
            fwindow: object.fwindow,
            steps: Vec::new(),
            intent: None,
            revised_by: None,
            restores: None,
        };
        view.adopt_steps(&event.steps, entry);
        Some(view)
    }

    fn adopt_steps(&mut self, steps: &[AdoptedStep], entry: &Entry) {
        let next = self.steps.last().map_or(0, |last| last.index + 1);
        let steps = (next..).zip(steps);
        self.steps
            .extend(steps.map(|(index, step)| PlanStepView::adopted(index, step, entry)));
    }
}

impl Project for PlanView {
    fn create(header: HeaderView, entry: &Entry) -> Option<PlanView> {
        let event = match &entry.event {
            AnyEvent::Plan(Event::Drafted(event)) => event,
            AnyEvent::Plan(Event::Adopted(event)) => return PlanView::adopt(header, event, entry),
            _ => return None,
        };
        let steps = (0..).zip(&event.steps);
        Some(PlanView {
            header,
            previous: event.previous,
            pipeline: event.pipeline,
            fwindow: event.fwindow,
            steps: steps
                .map(|(index, step)| PlanStepView::new(index, step, entry))
                .collect(),
            intent: event.intent,
            revised_by: None,
            restores: None,
        })
    }

    fn evolve(&mut self, entry: &Entry) {
        let AnyEvent::Plan(event) = &entry.event else {
            return;
        };
        match event {
            Event::StepAdded(event) => {
                // Steps are numbered as they come; one that is there already
                // or came too late is not a new step.
                if self
                    .steps
                    .last()
                    .is_none_or(|last| last.index < event.index)
                {
                    self.steps
                        .push(PlanStepView::new(event.index, &event.step, entry));
                }
            }
            Event::StepStatusChanged(event) => {
                let status = StepStatusEntry {
                    status: event.status,
                    changed_at: entry.occurred_at,
                    reason: entry.optional_text(event.reason),
                };
                self.change(event.index, |step| step.statuses.push(status));
            }
            Event::StepFramesLinked(event) => self.change(event.index, |step| {
                step.iframes.extend(&event.iframes);
                step.oframes.extend(&event.oframes);
            }),
            Event::StepTaskSpawned(event) => {
                self.change(event.index, |step| step.task = Some(event.task));
            }
            Event::StepOutputRecorded(event) => {
                let outputs = entry.json(event.outputs);
                self.change(event.index, |step| step.outputs = Some(outputs));
            }
            Event::Adopted(event) => self.adopt_steps(&event.steps, entry),
            Event::Revised(event) => self.revised_by = Some(event.by),
            Event::Assigned(event) => self.intent = Some(event.intent),
            Event::Restored(event) => self.restores = Some(event.plan),
            Event::Drafted(_) | Event::MetadataSet(_) | Event::Redacted(_) | Event::Sealed(_) => {}
        }
    }
}
