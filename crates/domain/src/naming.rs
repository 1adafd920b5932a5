//! Which objects name which: what the stream of the named one does not say.
//!
//! A plan knows the plan that it revises, and an adopted one does not know its
//! revisions; a task does not know the step that it became the task of. Decisions
//! that need the way back ask the world for it, and then look at the objects that
//! it leads to: these say whether it holds still, and the append is guarded on them.

use uuid::Uuid;

use crate::{AnyEvent, IntentId, PlanId, StreamKind, TaskId, intent, plan, run, session, task};

/// A field by which objects name another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Naming {
    /// The current plan of intents.
    IntentPlan,
    /// The intent of plans.
    PlanIntent,
    /// The plan that plans revise.
    PlanPrevious,
    /// The task of plans' steps.
    StepTask,
    /// The intent of tasks.
    TaskIntent,
    /// The task that tasks are a part of.
    TaskParent,
    /// The tasks that tasks depend on.
    TaskDependency,
    /// The task that runs are attempts at.
    RunTask,
    /// The plan that runs carry out.
    RunPlan,
    /// The session that sessions were begun by.
    SessionParent,
}

impl Naming {
    /// The kind of the objects that the field names.
    pub fn named_kind(self) -> StreamKind {
        match self {
            Naming::IntentPlan | Naming::PlanPrevious | Naming::RunPlan => StreamKind::Plan,
            Naming::PlanIntent | Naming::TaskIntent => StreamKind::Intent,
            Naming::StepTask | Naming::TaskParent | Naming::TaskDependency | Naming::RunTask => {
                StreamKind::Task
            }
            Naming::SessionParent => StreamKind::Session,
        }
    }
}

/// What an event makes the object of its stream name.
pub fn named_by(event: &AnyEvent) -> Vec<(Naming, Uuid)> {
    match event {
        AnyEvent::Intent(intent::Event::PlanSelected(event)) => {
            vec![(Naming::IntentPlan, event.plan.0)]
        }
        AnyEvent::Intent(intent::Event::Adopted(event)) => plans(Naming::IntentPlan, event.plan),
        AnyEvent::Plan(event) => named_by_plan(event),
        AnyEvent::Task(event) => named_by_task(event),
        AnyEvent::Run(run::Event::Created(event)) => of_run(event.task, event.plan),
        AnyEvent::Run(run::Event::Adopted(event)) => {
            let object = event.object.iter();
            object.flat_map(|run| of_run(run.task, run.plan)).collect()
        }
        AnyEvent::Session(session::Event::Created(event)) => of_session(Some(&event.config)),
        AnyEvent::Session(session::Event::Adopted(event)) => of_session(event.config.as_ref()),
        AnyEvent::Session(_)
        | AnyEvent::Intent(_)
        | AnyEvent::Run(_)
        | AnyEvent::Snapshot(_)
        | AnyEvent::Pipeline(_)
        | AnyEvent::Alias(_)
        | AnyEvent::Bucket(_)
        | AnyEvent::Settings(_)
        | AnyEvent::Observation(_) => Vec::new(),
    }
}

fn named_by_plan(event: &plan::Event) -> Vec<(Naming, Uuid)> {
    match event {
        plan::Event::Drafted(event) => {
            let mut named = plans(Naming::PlanPrevious, event.previous);
            named.extend(event.intent.map(|intent| (Naming::PlanIntent, intent.0)));
            named.extend(event.steps.iter().filter_map(|step| of_step(step.task)));
            named
        }
        plan::Event::Adopted(event) => {
            let previous = event.object.as_ref().and_then(|object| object.previous);
            let mut named = plans(Naming::PlanPrevious, previous);
            let steps = event.steps.iter();
            named.extend(steps.filter_map(|adopted| of_step(adopted.step.task)));
            named
        }
        plan::Event::Assigned(event) => vec![(Naming::PlanIntent, event.intent.0)],
        plan::Event::StepAdded(event) => of_step(event.step.task).into_iter().collect(),
        plan::Event::StepTaskSpawned(event) => of_step(Some(event.task)).into_iter().collect(),
        plan::Event::StepStatusChanged(_)
        | plan::Event::StepFramesLinked(_)
        | plan::Event::StepOutputRecorded(_)
        | plan::Event::Revised(_)
        | plan::Event::Restored(_)
        | plan::Event::MetadataSet(_)
        | plan::Event::Redacted(_)
        | plan::Event::Sealed(_) => Vec::new(),
    }
}

fn plans(field: Naming, plan: Option<PlanId>) -> Vec<(Naming, Uuid)> {
    plan.map(|plan| (field, plan.0)).into_iter().collect()
}

fn of_step(task: Option<TaskId>) -> Option<(Naming, Uuid)> {
    task.map(|task| (Naming::StepTask, task.0))
}

fn named_by_task(event: &task::Event) -> Vec<(Naming, Uuid)> {
    let needs = |task: &TaskId| (Naming::TaskDependency, task.0);
    match event {
        task::Event::Created(event) => {
            let mut named = of_task(event.intent, event.parent);
            named.extend(event.dependencies.iter().map(needs));
            named
        }
        task::Event::DependencyAdded(event) => vec![needs(&event.dependency)],
        task::Event::Adopted(event) => {
            let object = event.object.iter();
            let of_it = object.flat_map(|task| of_task(task.intent, task.parent));
            of_it.chain(event.dependencies.iter().map(needs)).collect()
        }
        task::Event::Started(_)
        | task::Event::Done(_)
        | task::Event::Failed(_)
        | task::Event::Cancelled(_)
        | task::Event::RunAdded(_)
        | task::Event::ReviewRecorded(_)
        | task::Event::Superseded(_)
        | task::Event::ConstraintAdded(_)
        | task::Event::CriterionAdded(_)
        | task::Event::Planned(_)
        | task::Event::MetadataSet(_)
        | task::Event::Redacted(_)
        | task::Event::Sealed(_) => Vec::new(),
    }
}

fn of_task(intent: Option<IntentId>, parent: Option<TaskId>) -> Vec<(Naming, Uuid)> {
    let intent = intent.map(|intent| (Naming::TaskIntent, intent.0));
    let parent = parent.map(|parent| (Naming::TaskParent, parent.0));
    intent.into_iter().chain(parent).collect()
}

fn of_run(task: TaskId, plan: Option<PlanId>) -> Vec<(Naming, Uuid)> {
    let mut named = plans(Naming::RunPlan, plan);
    named.push((Naming::RunTask, task.0));
    named
}

fn of_session(config: Option<&session::StoredConfig>) -> Vec<(Naming, Uuid)> {
    let parent = config.and_then(|config| config.parent);
    let named = parent.map(|parent| (Naming::SessionParent, parent.0));
    named.into_iter().collect()
}
