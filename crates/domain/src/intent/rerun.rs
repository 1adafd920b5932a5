//! Trying failed tasks again: each gets another task in its place.

use std::collections::BTreeMap;

use uuid::Uuid;

use super::above;
use super::decide::emit;
use super::dependents::{in_order, newest};
use super::intake::{instructed, open_intent, started};
use super::status::{has_failed, status_in, status_without_open};
use super::tasks::tasks_of;
use super::{ApprovalStatus, RerunIntent, RerunRequested, Stage, Standing, State};
use crate::pieces::Pieces;
use crate::task::{self, CreateTask};
use crate::world::{Decided, World};
use crate::{DecideError, IntentId, Kind, Meta, Refusal, TaskId, approval};

pub(crate) fn rerun(world: &mut World, command: &RerunIntent, meta: &Meta) -> Decided {
    let id = command.intent;
    let state = open_intent(world, id, "rerun_intent")?;
    above::require_open(world, id, &state, "rerun_intent")?;
    // What is open of it does not hide what failed.
    if !has_failed(status_without_open(world, id)?) {
        return Err(Refusal::Transition {
            kind: Kind::Intent,
            id: id.0,
            state: status_in(world, id)?.to_string(),
            asked: "rerun_intent",
            allowed: "blocked or in error",
        }
        .into());
    }
    approval::done_by_a_person("what failed is tried again", &meta.actor)?;
    let failed = failed_tasks(world, id, &state)?;
    let of = |old: TaskId| TaskId(Uuid::new_v5(&meta.new_id, old.0.as_bytes()));
    let successors: BTreeMap<TaskId, TaskId> = failed.iter().map(|old| (*old, of(*old))).collect();
    let superseded = failed.clone();
    let mut events = vec![emit(id, RerunRequested { superseded }, Pieces::new())];
    if state.stage == Stage::Executing && status_in(world, id)? == ApprovalStatus::Executing {
        // What is open of it goes on.
        events.push(started(id));
    }
    if let Some(instruction) = &command.instruction {
        events.push(instructed(id, instruction)?);
    }
    let mut again = Vec::new();
    for failed in &failed {
        let needs = world.task(*failed)?.dependencies.clone();
        again.push((*failed, needs));
    }
    world.load_all(failed.iter().map(|old| of(*old).stream()))?;
    world.load_second_folds(failed.iter().map(|task| task.stream()))?;
    for (failed, _) in in_order(again, |(id, _)| *id, |(_, needs)| needs.clone()) {
        let failed = &failed;
        let (old, new) = (world.task(*failed)?, of(*failed));
        let text = world.task_text(*failed)?;
        world.absent(new.stream())?;
        let create = CreateTask {
            id: Some(new),
            title: text.title,
            description: text.description,
            goal: old.goal.clone(),
            constraints: text.constraints,
            acceptance_criteria: text.acceptance_criteria,
            requester: None,
            parent: old.parent,
            intent: Some(id),
            dependencies: dependencies_again(world, &old, &successors)?,
            plan: text.plan,
        };
        events.extend(task::decide::created(&create, new, Some(*failed)));
        let superseded = task::Superseded { by: new };
        events.push(task::decide::emit(*failed, superseded, Pieces::new()));
    }
    Ok(events)
}

/// What a new task waits for: the tasks that take the places of those which failed, and the others
/// that the old one waited for but those that were called off, which are never done.
fn dependencies_again(
    world: &mut World,
    old: &task::State,
    successors: &BTreeMap<TaskId, TaskId>,
) -> Result<Vec<TaskId>, DecideError> {
    let mut dependencies = Vec::new();
    for dependency in &old.dependencies {
        if let Some(successor) = successors.get(dependency) {
            dependencies.push(*successor);
            continue;
        }
        let newest = newest(world, *dependency)?;
        let state = world.task_if_any(newest)?;
        let is_over = state.is_some_and(|it| it.status == task::Status::Cancelled);
        if !is_over || successors.contains_key(&newest) {
            dependencies.push(*dependency);
        }
    }
    Ok(dependencies)
}

/// The tasks of an intent that failed, or were called off with what they waited for, and that no
/// other one superseded: those that were added to it, in the order in which they were added, and all else that is work
/// on it. The new tasks would wait for these for ever.
fn failed_tasks(
    world: &mut World,
    id: IntentId,
    intent: &State,
) -> Result<Vec<TaskId>, DecideError> {
    let mut failed = Vec::new();
    for task in tasks_of(world, id, intent)?.0 {
        let state = world.task_if_any(task)?;
        let standing = state.and_then(|it| it.standing());
        if matches!(standing, Some(Standing::Failed | Standing::Blocked)) {
            failed.push(task);
        }
    }
    if failed.is_empty() {
        let reason = "no task of its own failed; look at its children, add a task \
                      (create_task), or reject it";
        return Err(Refusal::invalid("intent", reason).into());
    }
    Ok(failed)
}
