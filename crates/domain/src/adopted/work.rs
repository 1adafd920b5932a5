//! Work that an importer who is not a person brings: none on what a person turned down here, or has not approved yet.

use crate::run::{ApplyStatus, DecisionType, Event as RunEvent, RunStatus, intents_of};
use crate::task::TaskStatus;
use crate::world::World;
use crate::{AnyEvent, DecideError, PlanId, Refusal, RunId, StreamRef, TaskId, intent, task};

/// The work, in refusals.
const ASKED: &str = "import work on it";

/// Demands of an object that an importer who is not a person adopts into a stream that it is no work on an intent of this
/// log's own axis that was turned down or waits for an approval: a run of it may only have failed
/// (docs/spec/forge.md, The end of an intent). Nor does it call off a task that a person created.
///
/// # Errors
/// [`DecideError::Needs`] what is not loaded, and the refusal that a command would meet with.
pub fn check_work(
    world: &mut World,
    stream: StreamRef,
    event: &AnyEvent,
) -> Result<(), DecideError> {
    refuse_calling_off(world, stream, event)?;
    let Some((task, plan)) = worked_on(world, stream, event)? else {
        return Ok(());
    };
    for id in intents_of(world, task, plan)? {
        if let Some(state) = world.intent_if_any(id)?
            && state.is_taken_in
        {
            intent::intake::require_let_go_if_any(world, id, ASKED)?;
        }
    }
    Ok(())
}

/// A task that a person created is called off by a person.
fn refuse_calling_off(
    world: &mut World,
    stream: StreamRef,
    event: &AnyEvent,
) -> Result<(), DecideError> {
    let AnyEvent::Task(task::Event::Adopted(event)) = event else {
        return Ok(());
    };
    let status = event.object.as_ref().map(|task| task.status);
    if status != Some(TaskStatus::Cancelled) {
        return Ok(());
    }
    let state = world.task_if_any(TaskId(stream.id))?;
    match state.is_some_and(|state| state.is_a_persons) {
        false => Ok(()),
        true => {
            let reason = "a task that a person created is cancelled by a person".to_owned();
            Err(Refusal::NotPermitted { reason }.into())
        }
    }
}

/// The task and the plan that an object is work on; nothing, of what is only recorded.
fn worked_on(
    world: &mut World,
    stream: StreamRef,
    event: &AnyEvent,
) -> Result<Option<(TaskId, Option<PlanId>)>, DecideError> {
    let goes_on = match event {
        AnyEvent::Run(RunEvent::Adopted(event)) => {
            let run = event.object.as_ref();
            let run = run.filter(|run| run.status != RunStatus::Failed);
            return Ok(run.map(|run| (run.task, run.plan)));
        }
        AnyEvent::Run(RunEvent::PatchSetAdopted(event)) => {
            let object = event.object.as_ref();
            object.is_some_and(|it| it.apply_status == ApplyStatus::Applied)
        }
        AnyEvent::Run(RunEvent::DecisionAdopted(event)) => {
            event.decision.decision_type != DecisionType::Abandon
        }
        _ => false,
    };
    if !goes_on {
        return Ok(None);
    }
    let run = world.run_if_any(RunId(stream.id))?;
    Ok(run.and_then(|run| Some((run.task?, run.plan))))
}
