//! What a person rejected of the work on intents, and what else may be committed until that is settled
//! (docs/spec/forge.md, Who decides): the same work would otherwise pass as another task.
//!
//! A rejection is settled once the task is done, a person cancelled it, had it tried again or turned its intent down.

use std::collections::HashSet;
use std::sync::Arc;

use super::tasks::{family_of, intents_of_task, tasks_of};
use super::{Stage, State};
use crate::origin::is_human;
use crate::task::{self, Status};
use crate::world::World;
use crate::{ActorRef, DecideError, IntentId, Naming, Refusal, RunId, TaskId, run};

/// A task of which a person rejected the work, and that is not settled.
struct Rejected {
    id: TaskId,
    task: Arc<task::State>,
    /// Whether it failed, is work on what the other work is a part of, and a rerun of that tries it again.
    waits_for_rerun: bool,
}

/// Whether a person rejected the work on a task: by a review, or by turning down what a run of it proposed.
pub(crate) fn is_rejected_by_a_person(
    world: &mut World,
    task: &task::State,
) -> Result<bool, DecideError> {
    if task.is_rejected_by_a_person {
        return Ok(true);
    }
    any_run(world, task, |run| run.is_turned_down_by_a_person)
}

/// Whether an actor worked on an attempt at a task, or may have, where an import brought the attempt, or a rejection
/// without one.
pub(crate) fn worked_on(
    world: &mut World,
    task: &task::State,
    actor: &ActorRef,
) -> Result<bool, DecideError> {
    if task.is_rejected_without_a_run {
        return Ok(true);
    }
    any_run(world, task, |run| {
        run.workers.is_empty() || run.workers.iter().any(|by| by.is(actor))
    })
}

fn any_run(
    world: &mut World,
    task: &task::State,
    is_it: impl Fn(&run::State) -> bool,
) -> Result<bool, DecideError> {
    world.load_all(task.runs.iter().map(|run| run.stream()))?;
    for run in &task.runs {
        if world.run_if_any(*run)?.is_some_and(|run| is_it(&run)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Demands of an agent that commits or applies work on these intents, or on a task, that nothing which a person rejected is
/// in the way:
/// - no task failed after a person rejected it that is to be tried again with what the work is a part of;
/// - the agent did not work itself on any other task of the whole that a person rejected.
pub(crate) fn require_settled(
    world: &mut World,
    task: Option<TaskId>,
    intents: &[IntentId],
    actor: &ActorRef,
) -> Result<(), DecideError> {
    if is_human(actor) {
        return Ok(());
    }
    let (kind, by) = (&actor.kind, &actor.id);
    for rejected in rejected_in(world, task, intents)? {
        let id = rejected.id;
        if rejected.waits_for_rerun {
            let reason = format!(
                "a person rejected task {id} for good, so that work on what it belongs to is committed or applied by a \
                 person, not by {kind} {by:?}, until a person has it tried again (rerun_intent)"
            );
            return Err(Refusal::NotPermitted { reason }.into());
        }
        // An open task goes on by its reviews.
        let is_itself = Some(id) == task && rejected.task.status != Status::Failed;
        if !is_itself && worked_on(world, &rejected.task, actor)? {
            let reason = format!(
                "a person rejected the work on task {id}, and {kind} {by:?} worked on it, so must not commit or apply \
                 other work on what it belongs to before it is settled; let a person or another agent review this \
                 work (record_review)"
            );
            return Err(Refusal::NotPermitted { reason }.into());
        }
    }
    Ok(())
}

/// Demands of what is not judged when it is made, such as work that an agent imports, that no person rejected a task of the
/// whole which is not settled.
pub(crate) fn require_none(world: &mut World, intent: IntentId) -> Result<(), DecideError> {
    let Some(rejected) = rejected_in(world, None, &[intent])?.pop() else {
        return Ok(());
    };
    let reason = format!(
        "a person rejected task {}, and until that is settled other work on what it belongs to is brought by a person",
        rejected.id
    );
    Err(Refusal::NotPermitted { reason }.into())
}

/// Whether a person rejected a task of an intent that is not settled.
pub(super) fn has_rejected(
    world: &mut World,
    id: IntentId,
    intent: &State,
) -> Result<bool, DecideError> {
    let tasks = tasks_of(world, id, intent)?.0;
    world.load_all(tasks.iter().map(|task| task.stream()))?;
    for task in tasks {
        if rejected(world, task)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The rejected tasks of intents and of the whole that they are parts of; and of those above and below a task.
fn rejected_in(
    world: &mut World,
    task: Option<TaskId>,
    intents: &[IntentId],
) -> Result<Vec<Rejected>, DecideError> {
    let (mut found, mut seen) = (Vec::new(), HashSet::new());
    for (id, is_above) in related(world, intents)? {
        let intent = world.intent_if_any(id)?;
        let Some(intent) = intent.filter(|it| is_open(it)) else {
            continue;
        };
        let (tasks, plans) = tasks_of(world, id, &intent)?;
        world.load_all(tasks.iter().map(|task| task.stream()))?;
        for other in tasks {
            if seen.insert(other)
                && let Some(task) = rejected(world, other)?
            {
                let waits_for_rerun =
                    is_above && intent.is_taken_in && task.status == Status::Failed;
                found.push(Rejected {
                    id: other,
                    task,
                    waits_for_rerun,
                });
            }
        }
        for plan in plans {
            for run in world.naming(Naming::RunPlan, plan.0)? {
                let run = world.run_if_any(RunId(run))?;
                let of = run
                    .filter(|it| it.plan == Some(plan))
                    .and_then(|it| it.task);
                found.extend(of_another(world, of, &mut seen)?);
            }
        }
    }
    let family = task.map(|task| family_of(world, task)).transpose()?;
    for other in family.into_iter().flatten() {
        found.extend(of_another(world, Some(other), &mut seen)?);
    }
    Ok(found)
}

/// A rejected task that no rerun of these intents tries again.
fn of_another(
    world: &mut World,
    id: Option<TaskId>,
    seen: &mut HashSet<TaskId>,
) -> Result<Option<Rejected>, DecideError> {
    let Some(id) = id.filter(|id| seen.insert(*id)) else {
        return Ok(None);
    };
    let Some(task) = rejected(world, id)? else {
        return Ok(None);
    };
    let intents = intents_of_task(world, id)?;
    let mut goes_on = intents.is_empty();
    for intent in intents {
        goes_on |= world.intent_if_any(intent)?.is_none_or(|it| is_open(&it));
    }
    Ok(goes_on.then_some(Rejected {
        id,
        task,
        waits_for_rerun: false,
    }))
}

/// A task that is open or failed, in whose place no other one is, if a person rejected it.
fn rejected(world: &mut World, id: TaskId) -> Result<Option<Arc<task::State>>, DecideError> {
    let is_unsettled = |it: &Arc<task::State>| {
        it.superseded_by.is_none() && !matches!(it.status, Status::Done | Status::Cancelled)
    };
    let Some(task) = world.task_if_any(id)?.filter(is_unsettled) else {
        return Ok(None);
    };
    Ok(is_rejected_by_a_person(world, &task)?.then_some(task))
}

/// Whether an intent has neither ended nor was turned down.
fn is_open(intent: &State) -> bool {
    intent.life.is_open() && intent.stage != Stage::Rejected
}

/// Intents, those that they are parts of (`true`), and all other parts of these (`false`).
fn related(world: &mut World, intents: &[IntentId]) -> Result<Vec<(IntentId, bool)>, DecideError> {
    let (mut found, mut seen, mut roots) = (Vec::new(), HashSet::new(), Vec::new());
    for intent in intents {
        let mut next = Some(*intent);
        while let Some(id) = next.filter(|id| seen.insert(*id)) {
            found.push((id, true));
            let state = world.intent_if_any(id)?;
            next = state.and_then(|it| it.child_of);
            if next.is_none() {
                roots.push(id);
            }
        }
    }
    let mut told = HashSet::new();
    let mut open = roots;
    while let Some(id) = open.pop() {
        if !told.insert(id) {
            continue;
        }
        if seen.insert(id) {
            found.push((id, false));
        }
        let Some(state) = world.intent_if_any(id)? else {
            continue;
        };
        world.load_all(state.children.iter().map(|child| child.stream()))?;
        open.extend(&state.children);
    }
    Ok(found)
}
