//! The plan that the runs of a session execute, as the session's plan: its steps
//! and their tasks are nodes. A session with a plan of its own shows that alone.

use std::collections::{HashMap, HashSet};

use annals::domain::session::{TaskNode, TaskPlan};
use annals::domain::{AnyEvent, PlanId, RunId, SessionId, StreamRef, TaskId, plan, task};
use annals::event_log::Position;
use annals::projections::{Entry, PlanView, RunView, TaskView, Text, View};
use annals::{Annals, At, LoadError, ViewError};

use super::core_type::Correlation;
use super::event::{ContractEvent, PlanUpdated};
use super::object::Object;
use super::render::Rendered;

/// The plan of a session's runs, as far as the stream has come.
#[derive(Debug, Default)]
pub(super) struct PlanOfRuns {
    /// The session has a plan of its own.
    own: bool,
    plan: Option<PlanId>,
    steps: Vec<Step>,
    /// What is shown of the steps' tasks.
    tasks: HashMap<TaskId, Planned>,
    /// What was added to the plan, and is not followed yet.
    unfollowed: Vec<StreamRef>,
    shown: Option<TaskPlan>,
}

#[derive(Debug)]
struct Step {
    index: u32,
    description: Text,
    task: Option<TaskId>,
}

#[derive(Debug)]
struct Planned {
    title: Text,
    dependencies: Vec<TaskId>,
}

impl PlanOfRuns {
    /// The session got a plan of its own.
    pub(super) fn replaced(&mut self) {
        *self = PlanOfRuns {
            own: true,
            ..PlanOfRuns::default()
        };
    }

    /// A run was attached; whether the plan that it executes is to be shown.
    pub(super) async fn attached(
        &mut self,
        annals: &Annals,
        run: RunId,
        at: Position,
    ) -> Result<bool, LoadError> {
        if self.own {
            return Ok(false);
        }
        let run: Option<RunView> = found(annals, run, at).await?;
        match run.and_then(|run| run.plan) {
            Some(plan) => self.read(annals, plan, at).await,
            None => Ok(false),
        }
    }

    /// Takes a plan as it is at a moment; whether it is there.
    async fn read(
        &mut self,
        annals: &Annals,
        plan: PlanId,
        at: Position,
    ) -> Result<bool, LoadError> {
        let Some(view) = found::<PlanView>(annals, plan, at).await? else {
            return Ok(false);
        };
        self.plan = Some(plan);
        self.unfollowed.push(plan.stream());
        self.steps.clear();
        for step in view.steps {
            self.read_task(annals, step.task, at).await?;
            self.steps.push(Step {
                index: step.index,
                description: step.description,
                task: step.task,
            });
        }
        Ok(true)
    }

    /// Looks a task up that is not known yet.
    async fn read_task(
        &mut self,
        annals: &Annals,
        task: Option<TaskId>,
        at: Position,
    ) -> Result<(), LoadError> {
        let Some(task) = task.filter(|task| !self.tasks.contains_key(task)) else {
            return Ok(());
        };
        let Some(view) = found::<TaskView>(annals, task, at).await? else {
            return Ok(());
        };
        let planned = Planned {
            title: view.title,
            dependencies: view.dependencies,
        };
        self.tasks.insert(task, planned);
        self.unfollowed.push(task.stream());
        Ok(())
    }

    /// Takes the next entry in; whether it changes the plan that is shown.
    pub(super) async fn fold(&mut self, annals: &Annals, entry: &Entry) -> Result<bool, LoadError> {
        let (id, at) = (entry.stream.id, entry.position);
        match (&entry.event, self.plan) {
            (AnyEvent::Task(task::Event::DependencyAdded(event)), _) => {
                let Some(planned) = self.tasks.get_mut(&TaskId(id)) else {
                    return Ok(false);
                };
                planned.dependencies.push(event.dependency);
            }
            (AnyEvent::Plan(event), Some(plan)) if plan.0 == id => match event {
                plan::Event::StepAdded(event) => {
                    self.read_task(annals, event.step.task, at).await?;
                    self.steps.push(Step {
                        index: event.index,
                        description: entry.text(event.step.description),
                        task: event.step.task,
                    });
                }
                plan::Event::StepTaskSpawned(event) => {
                    self.read_task(annals, Some(event.task), at).await?;
                    let mut steps = self.steps.iter_mut();
                    if let Some(step) = steps.find(|step| step.index == event.index) {
                        step.task = Some(event.task);
                    }
                }
                // What another system has of it replaces it.
                plan::Event::Adopted(_) => return self.read(annals, plan, at).await,
                _ => return Ok(false),
            },
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The streams that the plan goes on in and that are not followed yet.
    pub(super) fn unfollowed(&mut self) -> Vec<StreamRef> {
        std::mem::take(&mut self.unfollowed)
    }

    /// The plan as it is at an entry, unless it was shown like this.
    pub(super) fn show(&mut self, session: SessionId, entry: &Entry) -> Option<Rendered> {
        let (plan, incomplete) = self.nodes();
        if self.shown.as_ref() == Some(&plan) {
            return None;
        }
        self.shown = Some(plan.clone());
        Some(Rendered {
            object: Object::Event(ContractEvent {
                id: entry.event_id,
                correlation: Correlation::of_session(session),
                body: PlanUpdated { plan }.into(),
            }),
            incomplete,
        })
    }

    /// A node for each step: its task, if it has one that no step before it has,
    /// and else the step by its number. And whether a title was removed.
    fn nodes(&self) -> (TaskPlan, bool) {
        let mut unseen: HashSet<TaskId> = self.steps.iter().filter_map(|step| step.task).collect();
        let planned = unseen.clone();
        let mut incomplete = false;
        let mut nodes = Vec::with_capacity(self.steps.len());
        for step in &self.steps {
            let own = step.task.filter(|task| unseen.remove(task));
            let task = own.and_then(|task| self.tasks.get(&task));
            let title = task.map_or(&step.description, |task| &task.title);
            incomplete |= title.as_str().is_none();
            let dependencies = task.map_or(&[][..], |task| &task.dependencies);
            let dependencies = dependencies.iter().filter(|task| planned.contains(task));
            nodes.push(
                TaskNode::new(
                    own.map_or_else(|| format!("step-{}", step.index), |task| task.to_string()),
                    title.to_string(),
                )
                .with_depends_on(dependencies.map(TaskId::to_string).collect::<Vec<_>>()),
            );
        }
        (TaskPlan::new(nodes), incomplete)
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
