//! Intents, plans and tasks.

use annals_domain::intent::{self, AdoptedStatus, IntentStatus};
use annals_domain::plan::{
    self, AdoptedPlan, AdoptedStep, AdoptedStepStatus, StepStatus, StoredStep,
};
use annals_domain::task::{self, AdoptedTask, GoalType, TaskStatus};
use annals_domain::{
    ActorRef, AnyEvent, FrameId, GitOid, IntentId, Json, Pieces, PipelineId, PlanId, RunId,
    StoredActor, TaskId, Timestamp,
};

use super::fields::{Fields, Read};
use super::header::{Part, StoreHeader, actor};
use super::parts::{Longest, cut};

/// A status in a history.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct StatusEntry<S> {
    pub(super) status: S,
    pub(super) changed_at: Timestamp,
    reason: Option<String>,
}

fn statuses<S: serde::de::DeserializeOwned>(fields: &mut Fields<'_>) -> Read<Vec<StatusEntry<S>>> {
    fields.list(&["statuses"], |entry| {
        Ok(StatusEntry {
            status: entry.required(&["status"])?,
            changed_at: entry.required(&["changed_at"])?,
            reason: entry.optional(&["reason"])?,
        })
    })
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Intent {
    pub(super) prompt: String,
    pub(super) content: Option<String>,
    pub(super) parent: Option<IntentId>,
    pub(super) commit: Option<GitOid>,
    pub(super) plan: Option<PlanId>,
    pub(super) statuses: Vec<StatusEntry<IntentStatus>>,
}

impl Intent {
    pub(super) fn read(fields: &mut Fields<'_>) -> Read<Intent> {
        Ok(Intent {
            prompt: fields.required(&["prompt"])?,
            content: fields.optional(&["content"])?,
            parent: fields.optional(&["parent"])?,
            commit: fields.optional(&["commit"])?,
            plan: fields.optional(&["plan"])?,
            statuses: statuses(fields)?,
        })
    }

    pub(super) fn lists(&self, longest: &mut Longest) {
        longest.see(&self.statuses, || "statuses".to_owned());
    }

    pub(super) fn parts(&self, header: StoreHeader<'_>) -> Vec<Part> {
        let mut pieces = Pieces::new();
        let event = intent::Adopted {
            header: header(&mut pieces),
            prompt: pieces.text(self.prompt.as_str()),
            content: pieces.optional_text(self.content.as_deref()),
            parent: self.parent,
            commit: self.commit,
            plan: self.plan,
            statuses: self
                .statuses
                .iter()
                .map(|entry| AdoptedStatus {
                    status: entry.status,
                    changed_at: entry.changed_at,
                    reason: pieces.optional_text(entry.reason.as_deref()),
                })
                .collect(),
        };
        vec![(AnyEvent::Intent(event.into()), pieces)]
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Step {
    pub(super) description: String,
    inputs: Option<Json>,
    outputs: Option<Json>,
    checks: Option<Json>,
    pub(super) iframes: Vec<FrameId>,
    pub(super) oframes: Vec<FrameId>,
    pub(super) task: Option<TaskId>,
    pub(super) statuses: Vec<StatusEntry<StepStatus>>,
}

impl Step {
    fn read(fields: &mut Fields<'_>) -> Read<Step> {
        Ok(Step {
            description: fields.required(&["description", "intent"])?,
            inputs: fields.json(&["inputs"])?,
            outputs: fields.json(&["outputs"])?,
            checks: fields.json(&["checks"])?,
            iframes: fields.or_default(&["iframes"])?,
            oframes: fields.or_default(&["oframes"])?,
            task: fields.optional(&["task"])?,
            statuses: statuses(fields)?,
        })
    }

    /// Bytes in the structure, at most.
    fn cost(&self) -> usize {
        48 + 9 * (self.iframes.len() + self.oframes.len()) + 24 * self.statuses.len()
    }

    fn store(&self, pieces: &mut Pieces) -> AdoptedStep {
        AdoptedStep {
            step: StoredStep {
                description: pieces.text(self.description.as_str()),
                inputs: pieces.optional_json(self.inputs.as_ref()),
                outputs: pieces.optional_json(self.outputs.as_ref()),
                checks: pieces.optional_json(self.checks.as_ref()),
                iframes: self.iframes.clone(),
                oframes: self.oframes.clone(),
                task: self.task,
            },
            statuses: self
                .statuses
                .iter()
                .map(|entry| AdoptedStepStatus {
                    status: entry.status,
                    changed_at: entry.changed_at,
                    reason: pieces.optional_text(entry.reason.as_deref()),
                })
                .collect(),
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Plan {
    pub(super) previous: Option<PlanId>,
    pub(super) pipeline: Option<PipelineId>,
    pub(super) fwindow: Option<(u32, u32)>,
    pub(super) steps: Vec<Step>,
}

impl Plan {
    pub(super) fn read(fields: &mut Fields<'_>) -> Read<Plan> {
        Ok(Plan {
            previous: fields.optional(&["previous"])?,
            pipeline: fields.optional(&["pipeline"])?,
            fwindow: fields.optional(&["fwindow"])?,
            steps: fields.list(&["steps"], Step::read)?,
        })
    }

    /// A step is in one event.
    pub(super) fn lists(&self, longest: &mut Longest) {
        for (index, step) in self.steps.iter().enumerate() {
            longest.see(&step.statuses, || format!("steps[{index}].statuses"));
            longest.see(&step.iframes, || format!("steps[{index}].iframes"));
            longest.see(&step.oframes, || format!("steps[{index}].oframes"));
        }
    }

    pub(super) fn parts(&self, header: StoreHeader<'_>) -> Vec<Part> {
        let steps = cut(self.steps.iter().collect(), |step| step.cost());
        let parts = steps.into_iter().enumerate().map(|(part, steps)| {
            let mut pieces = Pieces::new();
            let object = (part == 0).then(|| AdoptedPlan {
                header: header(&mut pieces),
                previous: self.previous,
                pipeline: self.pipeline,
                fwindow: self.fwindow,
            });
            let steps = steps.iter().map(|step| step.store(&mut pieces)).collect();
            (
                AnyEvent::Plan(plan::Adopted { object, steps }.into()),
                pieces,
            )
        });
        parts.collect()
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Task {
    pub(super) title: String,
    description: Option<String>,
    goal: Option<GoalType>,
    constraints: Vec<String>,
    acceptance_criteria: Vec<String>,
    requester: Option<ActorRef>,
    pub(super) parent: Option<TaskId>,
    pub(super) intent: Option<IntentId>,
    pub(super) runs: Vec<RunId>,
    pub(super) dependencies: Vec<TaskId>,
    pub(super) status: TaskStatus,
}

/// Bytes of an id, counted so that two lists of them fit next to each other.
const ID_COST: usize = 2 * 17;
/// Bytes of a text's number.
const TEXT_COST: usize = 3;

impl Task {
    pub(super) fn read(fields: &mut Fields<'_>) -> Read<Task> {
        Ok(Task {
            title: fields.required(&["title"])?,
            description: fields.optional(&["description"])?,
            goal: fields.optional(&["goal"])?,
            constraints: fields.or_default(&["constraints"])?,
            acceptance_criteria: fields.or_default(&["acceptance_criteria"])?,
            requester: fields.object(&["requester"], actor)?,
            parent: fields.optional(&["parent"])?,
            intent: fields.optional(&["intent"])?,
            runs: fields.or_default(&["runs"])?,
            dependencies: fields.or_default(&["dependencies"])?,
            status: fields.required(&["status"])?,
        })
    }

    pub(super) fn parts(&self, header: StoreHeader<'_>) -> Vec<Part> {
        let mut constraints = cut(self.constraints.clone(), |_| TEXT_COST).into_iter();
        let mut criteria = cut(self.acceptance_criteria.clone(), |_| TEXT_COST).into_iter();
        let mut runs = cut(self.runs.clone(), |_| ID_COST).into_iter();
        let mut dependencies = cut(self.dependencies.clone(), |_| ID_COST).into_iter();
        let lengths = [
            constraints.len(),
            criteria.len(),
            runs.len(),
            dependencies.len(),
        ];
        let parts = lengths.into_iter().max().unwrap_or(1);
        (0..parts)
            .map(|part| {
                let mut pieces = Pieces::new();
                let event = task::Adopted {
                    object: (part == 0).then(|| self.object(header, &mut pieces)),
                    constraints: pieces.texts(&constraints.next().unwrap_or_default()),
                    acceptance_criteria: pieces.texts(&criteria.next().unwrap_or_default()),
                    runs: runs.next().unwrap_or_default(),
                    dependencies: dependencies.next().unwrap_or_default(),
                };
                (AnyEvent::Task(event.into()), pieces)
            })
            .collect()
    }

    fn object(&self, header: StoreHeader<'_>, pieces: &mut Pieces) -> AdoptedTask {
        AdoptedTask {
            header: header(pieces),
            title: pieces.text(self.title.as_str()),
            description: pieces.optional_text(self.description.as_deref()),
            goal: self.goal.clone(),
            requester: self
                .requester
                .as_ref()
                .map(|actor| StoredActor::store(actor, pieces)),
            parent: self.parent,
            intent: self.intent,
            status: self.status,
        }
    }
}
