//! The plan that the runs of a session execute, as the session's plan: its steps
//! and their tasks are nodes. A session with a plan of its own shows that alone.

use std::cell::Cell;
use std::collections::{HashMap, hash_map};

use annals::domain::session::{TaskNode, TaskPlan};
use annals::domain::{AnyEvent, PlanId, RunId, SessionId, StreamRef, TaskId, plan, task};
use annals::event_log::Position;
use annals::projections::{Entry, PlanStepView, PlanView, RunView, TaskView, View};
use annals::{Annals, At, LoadError, ViewError};

use super::core_type::Correlation;
use super::event::{ContractEvent, PlanUpdated};
use super::object::Object;
use super::render::Rendered;

/// The plan of a session's runs, as far as it was shown.
#[derive(Debug, Default)]
pub(super) struct PlanOfRuns {
    /// The session has a plan of its own.
    own: bool,
    plan: Option<PlanId>,
    shown: Option<TaskPlan>,
    /// Nodes of tasks that were looked up.
    tasks: HashMap<TaskId, Option<TaskView>>,
}

impl PlanOfRuns {
    /// The session got a plan of its own.
    pub(super) fn replaced(&mut self) {
        self.own = true;
    }

    /// A run was attached; whether the plan that it executes is to be shown.
    pub(super) async fn attached(
        &mut self,
        annals: &Annals,
        run: RunId,
        at: Position,
    ) -> Result<bool, LoadError> {
        let run: Option<RunView> = found(annals, run, at).await?;
        let plan = run.and_then(|run| run.plan).filter(|_| !self.own);
        self.plan = plan.or(self.plan);
        Ok(plan.is_some())
    }

    /// Whether an entry changes the plan that is shown.
    pub(super) fn is_changed_by(&mut self, entry: &Entry) -> bool {
        let id = entry.stream.id;
        let changes = match &entry.event {
            AnyEvent::Plan(plan::Event::StepAdded(_) | plan::Event::StepTaskSpawned(_)) => {
                self.plan.is_some_and(|plan| plan.0 == id)
            }
            AnyEvent::Task(task::Event::DependencyAdded(_)) => {
                self.tasks.remove(&TaskId(id)).is_some()
            }
            _ => false,
        };
        changes && !self.own
    }

    /// The streams that the plan which is shown comes from.
    pub(super) fn streams(&self) -> Vec<StreamRef> {
        let plan = self.plan.iter().map(|plan| plan.stream());
        plan.chain(self.tasks.keys().map(|task| task.stream()))
            .collect()
    }

    /// The plan as it is at an entry, unless it was shown like this.
    pub(super) async fn show(
        &mut self,
        annals: &Annals,
        session: SessionId,
        entry: &Entry,
    ) -> Result<Option<Rendered>, LoadError> {
        let Some(plan) = self.plan else {
            return Ok(None);
        };
        let Some(view) = found::<PlanView>(annals, plan, entry.position).await? else {
            return Ok(None);
        };
        for task in view.steps.iter().filter_map(|step| step.task) {
            if let hash_map::Entry::Vacant(unknown) = self.tasks.entry(task) {
                unknown.insert(found(annals, task, entry.position).await?);
            }
        }
        let incomplete = Cell::new(false);
        let nodes = view.steps.iter();
        let plan = TaskPlan {
            nodes: nodes
                .map(|step| self.node(&view, step, &incomplete))
                .collect(),
        };
        if self.shown.as_ref() == Some(&plan) {
            return Ok(None);
        }
        self.shown = Some(plan.clone());
        Ok(Some(Rendered {
            object: Object::Event(ContractEvent {
                id: entry.event_id,
                correlation: Correlation {
                    session,
                    command: None,
                    parent: None,
                    plan_node: None,
                },
                body: PlanUpdated { plan }.into(),
            }),
            incomplete: incomplete.get(),
        }))
    }

    /// A step: its task, if it has one, and else the step by its number.
    fn node(&self, plan: &PlanView, step: &PlanStepView, incomplete: &Cell<bool>) -> TaskNode {
        let task = step.task.and_then(|task| self.tasks.get(&task)?.as_ref());
        let title = task.map_or(&step.description, |task| &task.title);
        incomplete.set(incomplete.get() || title.as_str().is_none());
        let planned = |task: &&TaskId| plan.steps.iter().any(|step| step.task == Some(**task));
        let dependencies = task.map_or(&[][..], |task| &task.dependencies);
        TaskNode {
            id: step
                .task
                .map_or_else(|| format!("step-{}", step.index), |task| task.to_string()),
            title: title.to_string(),
            depends_on: dependencies
                .iter()
                .filter(planned)
                .map(TaskId::to_string)
                .collect(),
            work_item: None,
            agent_hint: None,
            suggested_branch: None,
            tags: Vec::new(),
        }
    }
}

/// An object as it was then, if it was there.
async fn found<V: View>(annals: &Annals, id: V::Id, at: Position) -> Result<Option<V>, LoadError> {
    match annals.get_at(id, At::Position(at)).await {
        Ok(view) => Ok(Some(view)),
        Err(ViewError::Load(error)) => Err(error),
        Err(_) => Ok(None),
    }
}
