//! What is accepted of a task, and what happens then.

use std::collections::HashMap;
use std::sync::Arc;

use uuid::Uuid;

pub(crate) use super::shared::{emit, refuse};
use super::{
    AddAcceptanceCriterion, AddConstraint, AddDependency, CancelTask, Cancelled, ConstraintAdded,
    CreateTask, Created, CriterionAdded, DependencyAdded, Event, FailTask, Failed, Planned, State,
    Status, TaskPlan,
};
use crate::intent::Lost;
use crate::origin::is_human;
use crate::pieces::Pieces;
use crate::refusal::not_blank;
use crate::world::{Decided, Emitted, World};
use crate::{
    ActorRef, AnyEvent, DecideError, Kind, Meta, Refusal, StoredActor, StreamKind, TaskId,
    approval, intent,
};

/// A title has fewer characters than this (docs/spec/git-internal.md, Task.title).
pub(crate) const TITLE_LIMIT: usize = 100;

pub(crate) fn check_title(title: &str) -> Result<(), Refusal> {
    not_blank("title", title)?;
    let length = title.chars().count();
    if length >= TITLE_LIMIT {
        let reason = format!("it has {length} characters, fewer than {TITLE_LIMIT} are allowed");
        return Err(Refusal::invalid("title", reason));
    }
    Ok(())
}

pub(crate) fn create(world: &mut World, command: &CreateTask, meta: &Meta) -> Decided {
    let id = command.id.unwrap_or(TaskId(meta.new_id));
    check_title(&command.title)?;
    if let Some(requester) = &command.requester {
        requester.check()?;
    }
    if let Some(asked) = command.id {
        world.unused(asked.0)?;
    }
    world.absent(id.stream())?;
    if let Some(parent) = command.parent {
        world.require(StreamKind::Task, parent)?;
    }
    require_open_intents(world, command)?;
    let mut dependencies = Vec::new();
    let mut lost = None;
    for dependency in &command.dependencies {
        world.task(*dependency)?;
        lost = worse(lost, loss_of(world, *dependency)?);
        if !dependencies.contains(dependency) {
            dependencies.push(*dependency);
        }
    }
    let command = CreateTask {
        dependencies,
        ..command.clone()
    };
    let mut events = created(&command, id, None);
    events.extend(lost.map(|lost| intent::end_without(lost, id)));
    Ok(events)
}

/// Demands that work on the intent of a new task has not ended, or else on those of
/// the task that it is a part of.
fn require_open_intents(world: &mut World, command: &CreateTask) -> Result<(), DecideError> {
    let asked = "create_task";
    match (command.intent, command.parent) {
        (Some(intent), _) => intent::intake::require_open_work(world, intent, asked),
        (None, Some(parent)) => {
            for intent in intent::intents_of_task(world, parent)? {
                intent::intake::require_open_if_any(world, intent, asked)?;
            }
            Ok(())
        }
        (None, None) => Ok(()),
    }
}

/// A new task; what it names was looked at.
pub(crate) fn created(
    command: &CreateTask,
    id: TaskId,
    supersedes: Option<TaskId>,
) -> Vec<Emitted> {
    let mut pieces = Pieces::new();
    let event = Created {
        title: pieces.text(command.title.as_str()),
        description: pieces.optional_text(command.description.as_deref()),
        goal: command.goal.clone(),
        constraints: pieces.texts(&command.constraints),
        acceptance_criteria: pieces.texts(&command.acceptance_criteria),
        requester: command
            .requester
            .as_ref()
            .map(|actor| StoredActor::store(actor, &mut pieces)),
        parent: command.parent,
        intent: command.intent,
        dependencies: command.dependencies.clone(),
    };
    let mut events = vec![emit(id, event, pieces)];
    if command.plan.is_some() || supersedes.is_some() {
        let plan = command.plan.clone().unwrap_or_default();
        events.push(planned(&plan, id, supersedes));
    }
    if let Some(intent) = command.intent {
        let added = intent::TaskAdded { task: id };
        events.push(intent::decide::emit(intent, added, Pieces::new()));
    }
    events
}

fn planned(plan: &TaskPlan, id: TaskId, supersedes: Option<TaskId>) -> Emitted {
    let mut pieces = Pieces::new();
    let event = Planned {
        alias: pieces.optional_text(plan.alias.as_deref()),
        complexity: plan.complexity,
        plan: pieces.optional_text(plan.plan.as_deref()),
        relevant_files: pieces.texts(&plan.relevant_files),
        implementation_steps: pieces.texts(&plan.implementation_steps),
        context: pieces.optional_text(plan.context.as_deref()),
        supersedes,
        extra: pieces.optional_json(plan.extra.as_ref()),
    };
    emit(id, event, pieces)
}

/// Demands that a task is Draft or Running.
fn require_open(
    world: &mut World,
    task: TaskId,
    asked: &'static str,
) -> Result<Arc<State>, DecideError> {
    let state = world.task(task)?;
    match state.status {
        Status::Draft | Status::Running => Ok(state),
        status => Err(refuse(task, status, asked, "draft or running").into()),
    }
}

/// Demands that a task is open and that the work that it is a part of has not ended: of what was turned down, a task
/// may only fail or be cancelled.
fn require_open_work(
    world: &mut World,
    task: TaskId,
    asked: &'static str,
) -> Result<Arc<State>, DecideError> {
    let state = require_open(world, task, asked)?;
    for intent in intent::intents_of_task(world, task)? {
        intent::intake::require_open_if_any(world, intent, asked)?;
    }
    Ok(state)
}

/// Demands of who changes a task that a person created that it is a person. `how` says what happens to it.
fn changed_by(
    task: TaskId,
    state: &State,
    how: &'static str,
    actor: &ActorRef,
) -> Result<(), Refusal> {
    if !state.is_a_persons {
        return Ok(());
    }
    let what = format!("task {task}, which a person created, {how}");
    approval::done_by_a_person(&what, actor)
}

/// Demands the same of each task that is called off by these events.
fn called_off_by(
    world: &mut World,
    events: &[Emitted],
    actor: &ActorRef,
) -> Result<(), DecideError> {
    for emitted in events {
        if let AnyEvent::Task(Event::Cancelled(_)) = &emitted.event {
            let task = TaskId(emitted.stream.id);
            let state = world.task(task)?;
            // An intent would be done without what a person asked of it.
            changed_by(task, &state, "is cancelled", actor)?;
            // Or by work that a person rejected, as another task.
            if !is_human(actor) && intent::is_rejected_by_a_person(world, &state)? {
                let what =
                    format!("task {task}, the work on which a person rejected, is cancelled");
                approval::done_by_a_person(&what, actor)?;
            }
        }
    }
    Ok(())
}

pub(crate) fn add_constraint(world: &mut World, command: &AddConstraint, meta: &Meta) -> Decided {
    not_blank("constraint", &command.constraint)?;
    let state = require_open_work(world, command.task, "add_constraint")?;
    changed_by(command.task, &state, "gets a constraint", &meta.actor)?;
    let mut pieces = Pieces::new();
    let event = ConstraintAdded {
        constraint: pieces.text(command.constraint.as_str()),
    };
    Ok(vec![emit(command.task, event, pieces)])
}

pub(crate) fn add_acceptance_criterion(
    world: &mut World,
    command: &AddAcceptanceCriterion,
    meta: &Meta,
) -> Decided {
    not_blank("criterion", &command.criterion)?;
    let state = require_open_work(world, command.task, "add_acceptance_criterion")?;
    changed_by(
        command.task,
        &state,
        "gets an acceptance criterion",
        &meta.actor,
    )?;
    let mut pieces = Pieces::new();
    let event = CriterionAdded {
        criterion: pieces.text(command.criterion.as_str()),
    };
    Ok(vec![emit(command.task, event, pieces)])
}

pub(crate) fn add_dependency(world: &mut World, command: &AddDependency, meta: &Meta) -> Decided {
    let state = require_open_work(world, command.task, "add_dependency")?;
    world.task(command.dependency)?;
    let lost = loss_of(world, command.dependency)?;
    if state.dependencies.contains(&command.dependency) {
        return Ok(Vec::new());
    }
    if let Some(path) = dependency_path(world, command.dependency, command.task)? {
        let kind = Kind::Task;
        let mut cycle = vec![command.task.0];
        cycle.extend(path);
        return Err(Refusal::Cycle {
            kind,
            id: command.task.0,
            asked: "this dependency",
            path: cycle,
        }
        .into());
    }
    changed_by(command.task, &state, "gets a dependency", &meta.actor)?;
    let event = DependencyAdded {
        dependency: command.dependency,
    };
    let mut events = vec![emit(command.task, event, Pieces::new())];
    if let Some(lost) = lost.filter(|_| state.status == Status::Draft) {
        events.push(intent::end_without(lost, command.task));
        events.extend(intent::end_dependents(world, lost.of(command.task))?);
    }
    called_off_by(world, &events, &meta.actor)?;
    Ok(events)
}

/// A way along dependencies from one task to another, both included. Every
/// task on the search is read, so the append is guarded on all of them.
fn dependency_path(
    world: &mut World,
    from: TaskId,
    to: TaskId,
) -> Result<Option<Vec<Uuid>>, DecideError> {
    let mut came_from: HashMap<TaskId, Option<TaskId>> = HashMap::from([(from, None)]);
    let mut open = vec![from];
    while let Some(task) = open.pop() {
        if task == to {
            let mut path = vec![task.0];
            let mut at = task;
            while let Some(Some(before)) = came_from.get(&at) {
                path.push(before.0);
                at = *before;
            }
            path.reverse();
            return Ok(Some(path));
        }
        let Some(state) = world.task_if_any(task)? else {
            continue;
        };
        // What waits for a task waits for the one that took its place.
        for dependency in state.dependencies.iter().chain(&state.superseded_by) {
            if !came_from.contains_key(dependency) {
                came_from.insert(*dependency, Some(task));
                open.push(*dependency);
            }
        }
    }
    Ok(None)
}

pub(crate) fn fail(world: &mut World, command: &FailTask, _: &Meta) -> Decided {
    require_open(world, command.task, "fail_task")?;
    let mut pieces = Pieces::new();
    let event = Failed {
        run: None,
        reason: pieces.optional_text(command.reason.as_deref()),
    };
    let mut events = vec![emit(command.task, event, pieces)];
    events.extend(intent::end_dependents(world, Lost::Failed(command.task))?);
    Ok(events)
}

/// What became of a task that is never done, or of the one that took its place.
fn loss_of(world: &mut World, task: TaskId) -> Result<Option<Lost>, DecideError> {
    let newest = intent::newest(world, task)?;
    Ok(match world.task_if_any(newest)?.map(|state| state.status) {
        Some(Status::Failed) => Some(Lost::Failed(newest)),
        Some(Status::Cancelled) => Some(Lost::Cancelled(newest)),
        _ => None,
    })
}

/// Of two losses the failure counts.
fn worse(one: Option<Lost>, other: Option<Lost>) -> Option<Lost> {
    match (one, other) {
        (Some(Lost::Failed(_)), _) | (Some(_), None) => one,
        (None, _) | (Some(Lost::Cancelled(_)), Some(_)) => other,
    }
}

/// Demands that what a task depends on is done, so that it can run.
pub(crate) fn require_dependencies(
    world: &mut World,
    task: TaskId,
    state: &State,
) -> Result<(), DecideError> {
    for dependency in &state.dependencies {
        let newest = intent::newest(world, *dependency)?;
        let status = match world.task_if_any(newest)? {
            Some(other) if other.status == Status::Done => continue,
            Some(other) => other.status.name(),
            None => Status::Absent.name(),
        };
        return Err(Refusal::Transition {
            kind: Kind::Task,
            id: task.0,
            state: format!("waiting for task {newest}, which is {status}"),
            asked: "create_run",
            allowed: "not waiting for any task",
        }
        .into());
    }
    Ok(())
}

pub(crate) fn cancel(world: &mut World, command: &CancelTask, meta: &Meta) -> Decided {
    require_open(world, command.task, "cancel_task")?;
    let mut pieces = Pieces::new();
    let event = Cancelled::new(pieces.optional_text(command.reason.as_deref()));
    let mut events = vec![emit(command.task, event, pieces)];
    events.extend(intent::end_dependents(
        world,
        Lost::Cancelled(command.task),
    )?);
    called_off_by(world, &events, &meta.actor)?;
    Ok(events)
}
