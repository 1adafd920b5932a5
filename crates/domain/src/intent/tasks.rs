//! Which tasks are work on an intent, and which intents a task is work on.
//!
//! A task says its intent, or it is a part of a task that does, or the task of a
//! step of a plan that an intent has. The last two hold without any word of the
//! task itself: a plan may be selected after its steps became tasks, and imports
//! bring tasks that were not added to any intent.

use std::collections::{BTreeSet, HashSet};

use super::above::require_may_be_done;
use super::rejections::require_none;
use super::{State, TaskAdded};
use crate::origin::is_human;
use crate::pieces::Pieces;
use crate::plan::line;
use crate::task::Status;
use crate::world::{Emitted, World};
use crate::{ActorRef, DecideError, IntentId, Naming, PlanId, TaskId};

/// The intents that a task is work on: its own, or else those of the plans that it
/// is a step of, and of the task that it is a part of.
///
/// # Errors
/// [`DecideError::Needs`], until the world has all that is looked at.
pub fn intents_of_task(world: &mut World, task: TaskId) -> Result<Vec<IntentId>, DecideError> {
    let (mut found, mut seen) = (Vec::new(), BTreeSet::new());
    let mut next = Some(task);
    while let Some(task) = next.filter(|task| seen.insert(*task)) {
        let Some(state) = world.task_if_any(task)? else {
            break;
        };
        if let Some(intent) = state.intent {
            add(&mut found, [intent]);
            break;
        }
        for plan in steps_of(world, task)? {
            add(&mut found, line::intents_of(world, plan)?);
        }
        next = state.parent;
    }
    Ok(found)
}

fn add(found: &mut Vec<IntentId>, more: impl IntoIterator<Item = IntentId>) {
    for intent in more {
        if !found.contains(&intent) {
            found.push(intent);
        }
    }
}

/// The plans of which a task is a step.
fn steps_of(world: &mut World, task: TaskId) -> Result<Vec<PlanId>, DecideError> {
    let mut plans = Vec::new();
    for id in world.naming(Naming::StepTask, task.0)? {
        let plan = PlanId(id);
        let state = world.plan_if_any(plan)?;
        if state.is_some_and(|state| line::tasks_in(&state).any(|it| it == task)) {
            plans.push(plan);
        }
    }
    Ok(plans)
}

/// All tasks that are work on an intent, first those that were added to it, and its
/// plans.
pub(super) fn tasks_of(
    world: &mut World,
    id: IntentId,
    intent: &State,
) -> Result<(Vec<TaskId>, Vec<PlanId>), DecideError> {
    let plans = line::plans_of(world, id, intent)?;
    let (mut tasks, mut seen) = (intent.tasks.clone(), HashSet::new());
    tasks.retain(|task| seen.insert(*task));
    let mut others = ids(world.naming(Naming::TaskIntent, id.0)?);
    for plan in &plans {
        let state = world.plan(*plan)?;
        others.extend(line::tasks_in(&state));
    }
    let mut told = 0;
    loop {
        world.load_all(others.iter().map(|task| task.stream()))?;
        for task in others {
            let state = world.task_if_any(task)?;
            let is_work = state.is_some_and(|it| it.intent.is_none_or(|intent| intent == id));
            if is_work && seen.insert(task) {
                tasks.push(task);
            }
        }
        // The parts of each that is new, one after the other.
        let new = tasks.get(told..).unwrap_or_default();
        if new.is_empty() {
            return Ok((tasks, plans));
        }
        others = parts_of(world, new)?;
        told = tasks.len();
    }
}

/// A task, those that it is a part of, and all parts of these.
pub(super) fn family_of(world: &mut World, task: TaskId) -> Result<Vec<TaskId>, DecideError> {
    let (mut topmost, mut above) = (task, HashSet::from([task]));
    while let Some(parent) = world.task_if_any(topmost)?.and_then(|state| state.parent)
        && above.insert(parent)
    {
        topmost = parent;
    }
    let (mut family, mut seen) = (vec![topmost], HashSet::from([topmost]));
    let mut told = 0;
    while told < family.len() {
        let new = family.get(told..).unwrap_or_default().to_vec();
        told = family.len();
        let parts = parts_of(world, &new)?;
        family.extend(parts.into_iter().filter(|part| seen.insert(*part)));
    }
    Ok(family)
}

/// The tasks that are a part of one of these.
fn parts_of(world: &mut World, tasks: &[TaskId]) -> Result<Vec<TaskId>, DecideError> {
    world.load_naming(Naming::TaskParent, tasks.iter().map(|task| task.0))?;
    let mut named = Vec::new();
    for task in tasks {
        let parts = ids(world.naming(Naming::TaskParent, task.0)?);
        named.extend(parts.into_iter().map(|part| (*task, part)));
    }
    world.load_all(named.iter().map(|(_, part)| part.stream()))?;
    let mut parts = Vec::new();
    for (task, part) in named {
        let state = world.task_if_any(part)?;
        if state.is_some_and(|state| state.parent == Some(task)) {
            parts.push(part);
        }
    }
    Ok(parts)
}

fn ids(naming: Vec<uuid::Uuid>) -> Vec<TaskId> {
    naming.into_iter().map(TaskId).collect()
}

/// That tasks belong to an intent: those that belong to no intent and were not
/// added to it yet.
pub(crate) fn added(
    world: &mut World,
    id: IntentId,
    tasks: &[TaskId],
    actor: &ActorRef,
) -> Result<Vec<Emitted>, DecideError> {
    let Some(intent) = world.intent_if_any(id)? else {
        return Ok(Vec::new());
    };
    let (mut seen, mut events) = (HashSet::new(), Vec::new());
    for task in tasks {
        let state = world.task_if_any(*task)?;
        let is_done = state.as_ref().is_some_and(|it| it.status == Status::Done);
        let is_free = state.is_some_and(|state| state.intent.is_none());
        if is_free && !intent.tasks.contains(task) && seen.insert(*task) {
            if is_done {
                // Otherwise an intent would be done that may not begin.
                require_may_be_done(world, id, &intent, "a plan with a task that is done")?;
                if !is_human(actor) {
                    // Or work would pass that a person rejected.
                    require_none(world, id)?;
                }
            }
            let added = TaskAdded { task: *task };
            events.push(super::decide::emit(id, added, Pieces::new()));
        }
    }
    Ok(events)
}

/// An intent, if it is there: what was adopted may name intents that do not exist.
pub(crate) fn if_any(world: &mut World, id: IntentId) -> Result<Option<IntentId>, DecideError> {
    Ok(world.intent_if_any(id)?.map(|_| id))
}
