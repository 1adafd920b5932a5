//! What the decisions on runs share.

use std::sync::Arc;

use uuid::Uuid;

use super::{ApplyStatus, Event, State, Status};
use crate::pieces::Pieces;
use crate::world::{Emitted, World};
use crate::{
    AnyEvent, DecideError, IntentId, Kind, Meta, PatchSetId, PlanId, Refusal, RunId, TaskId,
    intent, plan, task,
};

pub(crate) fn emit(id: RunId, event: impl Into<Event>, pieces: Pieces) -> Emitted {
    Emitted {
        stream: id.stream(),
        event: AnyEvent::Run(event.into()),
        pieces,
    }
}

pub(crate) fn refuse(
    id: RunId,
    status: Status,
    asked: &'static str,
    allowed: &'static str,
) -> Refusal {
    Refusal::Transition {
        kind: Kind::Run,
        id: id.0,
        state: status.name().into(),
        asked,
        allowed,
    }
}

pub(super) fn refuse_patch_set(
    id: PatchSetId,
    status: ApplyStatus,
    asked: &'static str,
    allowed: &'static str,
) -> Refusal {
    let state = status.as_str().into();
    Refusal::Transition {
        kind: Kind::PatchSet,
        id: id.0,
        state,
        asked,
        allowed,
    }
}

/// The id for a new object inside a run: the requested one, if it is free.
pub(crate) fn fresh_id<T: From<Uuid> + Into<Uuid> + Copy>(
    world: &mut World,
    asked: Option<T>,
    meta: &Meta,
) -> Result<T, DecideError> {
    match asked {
        None => Ok(T::from(meta.new_id)),
        Some(id) => {
            world.unused(id.into())?;
            Ok(id)
        }
    }
}

/// The intents that a run is work on: those of its task, and of its plan.
pub(crate) fn intents_of(
    world: &mut World,
    task: TaskId,
    plan: Option<PlanId>,
) -> Result<Vec<IntentId>, DecideError> {
    let mut intents = intent::intents_of_task(world, task)?;
    // An adopted run may name a plan that does not exist.
    if let Some(plan) = plan
        && world.has(plan.stream())?
    {
        for intent in plan::line::intents_of(world, plan)? {
            if !intents.contains(&intent) {
                intents.push(intent);
            }
        }
    }
    Ok(intents)
}

/// The run that proposed a patch set.
pub(crate) fn owning_run(
    world: &mut World,
    patch_set: PatchSetId,
) -> Result<(RunId, Arc<State>), DecideError> {
    let stream = world.locate_kind(patch_set.0, Kind::PatchSet)?;
    let run = RunId(stream.id);
    Ok((run, world.run(run)?))
}

/// Demands that the task of a run has not failed and was not cancelled, and that no intent that the run is
/// work on was turned down or waits for an approval, nor one that it is a part of. A run asked that when it
/// began; since then a person may have turned the task or the intent down, and the task may have been added
/// to another intent.
pub(super) fn require_let_go(
    world: &mut World,
    run: &State,
    asked: &'static str,
) -> Result<(), DecideError> {
    let Some(task) = run.task else {
        return Ok(());
    };
    // An adopted run may be of a task that does not exist.
    let status = world.task_if_any(task)?.map(|it| it.status);
    if let Some(status @ (task::Status::Failed | task::Status::Cancelled)) = status {
        let allowed =
            "running; a run of it may only fail (fail_run) or be abandoned (decide abandon)";
        return Err(task::decide::refuse(task, status, asked, allowed).into());
    }
    for intent in intents_of(world, task, run.plan)? {
        intent::intake::require_let_go_if_any(world, intent, asked)?;
    }
    Ok(())
}

/// The same, but for a run that reverts: what was applied may be taken back at any time.
pub(super) fn require_let_go_unless_reverting(
    world: &mut World,
    run: &State,
    asked: &'static str,
) -> Result<(), DecideError> {
    match run.reverts {
        Some(_) => Ok(()),
        None => require_let_go(world, run, asked),
    }
}

pub(crate) fn require_patch_set(
    state: &State,
    run: RunId,
    patch_set: PatchSetId,
    needed: ApplyStatus,
    asked: &'static str,
    allowed: &'static str,
) -> Result<(), DecideError> {
    match state.patch_sets.get(&patch_set) {
        None => Err(Refusal::ForeignPatchSet { patch_set, run }.into()),
        Some(status) if *status == needed => Ok(()),
        Some(status) => Err(refuse_patch_set(patch_set, *status, asked, allowed).into()),
    }
}
