//! Work that an importer who is not a person brings: none on what a person turned down here, or has not approved yet.

use crate::run::{ApplyStatus, DecisionType, Event as RunEvent, RunStatus, intents_of};
use crate::task::TaskStatus;
use crate::world::World;
use crate::{
    AnyEvent, DecideError, IntentId, PlanId, Refusal, RunId, StreamRef, TaskId, intent, task,
};

/// The work, in refusals.
const ASKED: &str = "import work on it";

/// Demands of an object that an importer who is not a person adopts into a stream that it is no work on an intent of this
/// log's own axis that was turned down, or waits for an approval, answers or other intents: a run of it may only have failed
/// (docs/spec/forge.md, The end of an intent). Nor does it change the status of a task that a person created.
///
/// # Errors
/// [`DecideError::Needs`] what is not loaded, and the refusal that a command would meet with.
pub fn check_work(
    world: &mut World,
    stream: StreamRef,
    event: &AnyEvent,
) -> Result<(), DecideError> {
    if let AnyEvent::Task(task::Event::Adopted(event)) = event {
        return check_task(world, TaskId(stream.id), event);
    }
    let Some((task, plan)) = worked_on(world, stream, event)? else {
        return Ok(());
    };
    for id in intents_of(world, task, plan)? {
        check_work_on(world, id)?;
    }
    Ok(())
}

/// Demands that an importer who is not a person may bring work on an intent.
///
/// # Errors
/// [`DecideError::Needs`] what is not loaded, and the refusal that a command would meet with.
pub fn check_work_on(world: &mut World, intent: IntentId) -> Result<(), DecideError> {
    intent::intake::require_work(world, intent, ASKED)
}

/// A task goes on with its intent, and does not leave one that waits. One that a person created is a person's to change.
fn check_task(world: &mut World, id: TaskId, event: &task::Adopted) -> Result<(), DecideError> {
    let Some(object) = &event.object else {
        return Ok(());
    };
    let before = world.task_if_any(id)?;
    if let Some(before) = &before
        && before.is_a_persons
        && before.status != object.status.into()
    {
        let reason = "the status of a task that a person created is changed by a person".to_owned();
        return Err(Refusal::NotPermitted { reason }.into());
    }
    let left = before.and_then(|before| before.intent);
    if let Some(left) = left.filter(|left| Some(*left) != object.intent) {
        check_work_on(world, left)?;
    }
    match (object.intent, object.status) {
        (None, _) | (_, TaskStatus::Draft | TaskStatus::Cancelled) => Ok(()),
        (Some(intent), _) => check_work_on(world, intent),
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
