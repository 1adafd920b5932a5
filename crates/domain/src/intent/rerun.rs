//! Trying failed tasks again: each gets another task in its place.

use std::collections::BTreeMap;

use uuid::Uuid;

use super::decide::emit;
use super::intake::{instructed, open_intent};
use super::parts::{in_order, status_in};
use super::tasks::tasks_of;
use super::{ApprovalStatus, RerunIntent, RerunRequested, Standing, State};
use crate::pieces::Pieces;
use crate::task::{self, CreateTask};
use crate::world::{Decided, World};
use crate::{DecideError, IntentId, Kind, Meta, Refusal, TaskId};

pub(crate) fn rerun(world: &mut World, command: &RerunIntent, meta: &Meta) -> Decided {
    let id = command.intent;
    let state = open_intent(world, id, "rerun_intent")?;
    let status = status_in(world, id)?;
    if !matches!(status, ApprovalStatus::Blocked | ApprovalStatus::Error) {
        return Err(Refusal::Transition {
            kind: Kind::Intent,
            id: id.0,
            state: status.to_string(),
            asked: "rerun_intent",
            allowed: "blocked or in error",
        }
        .into());
    }
    let failed = failed_tasks(world, id, &state)?;
    let of = |old: TaskId| TaskId(Uuid::new_v5(&meta.new_id, old.0.as_bytes()));
    let successors: BTreeMap<TaskId, TaskId> = failed.iter().map(|old| (*old, of(*old))).collect();
    let superseded = failed.clone();
    let mut events = vec![emit(id, RerunRequested { superseded }, Pieces::new())];
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
        let newer = |task: &TaskId| successors.get(task).copied().unwrap_or(*task);
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
            dependencies: old.dependencies.iter().map(newer).collect(),
            plan: text.plan,
        };
        events.extend(task::decide::created(&create, new, Some(*failed)));
        let superseded = task::Superseded { by: new };
        events.push(task::decide::emit(*failed, superseded, Pieces::new()));
    }
    Ok(events)
}

/// The tasks of an intent that failed and that no other one superseded: those that
/// were added to it, in the order in which they were added, and all else that is work
/// on it. The new tasks would wait for these for ever.
fn failed_tasks(
    world: &mut World,
    id: IntentId,
    intent: &State,
) -> Result<Vec<TaskId>, DecideError> {
    let mut failed = Vec::new();
    for task in tasks_of(world, id, intent)?.0 {
        let state = world.task_if_any(task)?;
        if state.and_then(|it| it.standing()) == Some(Standing::Failed) {
            failed.push(task);
        }
    }
    if failed.is_empty() {
        let reason = "no task of its own failed; look at its children, or reject it";
        return Err(Refusal::invalid("intent", reason).into());
    }
    Ok(failed)
}
