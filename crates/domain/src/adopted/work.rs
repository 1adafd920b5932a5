//! Work that an importer who is not a person brings: none on what a person turned down here, or has not approved yet.

use std::collections::BTreeSet;

use uuid::Uuid;

use crate::plan::line;
use crate::run::{
    ApplyStatus, DecisionAdopted, DecisionType, Event as RunEvent, RunStatus, intents_of,
};
use crate::task::TaskStatus;
use crate::world::{Meta, Need, World};
use crate::{
    ActorRef, AnyEvent, DecideError, Emitted, IntentId, Kind, Naming, PlanId, Refusal, RunId,
    StreamRef, TaskId, Timestamp, intent, plan, run, task,
};

/// The work, in refusals.
const ASKED: &str = "import work on it";

/// The log without and with the objects of an import.
struct Worlds<'a> {
    before: &'a mut World,
    after: World,
    /// The intents that take work.
    fine: BTreeSet<IntentId>,
}

impl Worlds<'_> {
    fn check_work_on(&mut self, intent: IntentId) -> Result<(), DecideError> {
        if !self.fine.contains(&intent) {
            check_work_on(&mut self.after, intent)?;
            self.fine.insert(intent);
        }
        Ok(())
    }
}

/// The intents that an object is work on.
type Intents = Result<Vec<IntentId>, DecideError>;

/// Finds the objects that an importer who is not a person may not adopt, by their places in the list: work on an intent of
/// this log's own axis that was turned down, or waits for an approval, answers or other intents, and work for a task or plan
/// that does not exist. A run of such an intent may only have failed (docs/spec/forge.md, The end of an intent). Nor does such
/// an importer change the status of a task that a person created.
///
/// Each object is checked against the log with all objects of the list that are not refused.
///
/// # Errors
/// [`DecideError::Needs`] what is not loaded.
pub fn refused_work(
    world: &mut World,
    objects: &[&[Emitted]],
) -> Result<BTreeSet<usize>, DecideError> {
    let streams = objects.iter().flat_map(|events| events.iter());
    world.load_all(streams.map(|emitted| emitted.stream))?;
    let meta = Meta {
        actor: ActorRef::system("import"),
        at: Timestamp::EPOCH,
        now: Timestamp::EPOCH,
        new_id: Uuid::nil(),
    };
    let mut refused = BTreeSet::new();
    loop {
        let mut worlds = Worlds {
            after: world.clone(),
            before: &mut *world,
            fine: BTreeSet::new(),
        };
        let kept = objects.iter().copied().enumerate();
        let kept: Vec<_> = kept.filter(|(at, _)| !refused.contains(at)).collect();
        for (_, events) in &kept {
            worlds.after.apply(events, &meta);
        }
        let (mut found, mut needs) = (BTreeSet::new(), Vec::<Need>::new());
        for (at, events) in kept {
            match check(&mut worlds, events) {
                Ok(()) => {}
                Err(DecideError::Refused(_)) => {
                    found.insert(at);
                }
                Err(DecideError::Needs(more)) => {
                    let new: Vec<Need> =
                        more.into_iter().filter(|it| !needs.contains(it)).collect();
                    needs.extend(new);
                }
            }
        }
        if !needs.is_empty() {
            return Err(DecideError::Needs(needs));
        }
        if found.is_empty() {
            return Ok(refused);
        }
        // What is refused may have been the reason why others were not.
        refused.extend(found);
    }
}

/// Demands that an importer who is not a person may bring work on an intent.
///
/// # Errors
/// [`DecideError::Needs`] what is not loaded, and the refusal that a command would meet with.
pub fn check_work_on(world: &mut World, intent: IntentId) -> Result<(), DecideError> {
    intent::intake::require_work(world, intent, ASKED)
}

fn check(worlds: &mut Worlds<'_>, events: &[Emitted]) -> Result<(), DecideError> {
    let Some(Emitted { stream, event, .. }) = events.first() else {
        return Ok(());
    };
    match event {
        AnyEvent::Task(task::Event::Adopted(event)) => check_task(worlds, TaskId(stream.id), event),
        AnyEvent::Plan(plan::Event::Adopted(_)) => check_plan(worlds, PlanId(stream.id), events),
        AnyEvent::Run(event) => check_run(worlds, *stream, event),
        _ => Ok(()),
    }
}

/// A task goes on with its intents, and does not leave one that waits. One that a person created is a person's to change.
fn check_task(
    worlds: &mut Worlds<'_>,
    id: TaskId,
    event: &task::Adopted,
) -> Result<(), DecideError> {
    let Some(object) = &event.object else {
        return Ok(());
    };
    let before = worlds.before.task_if_any(id)?;
    if before.is_some_and(|it| it.is_a_persons && it.status != object.status.into()) {
        let reason = "the status of a task that a person created is changed by a person".to_owned();
        return Err(Refusal::NotPermitted { reason }.into());
    }
    if !matches!(object.status, TaskStatus::Draft | TaskStatus::Cancelled) {
        require_task(&mut worlds.after, id)?;
        check_all(worlds, |world| intents_of(world, id, None))?;
    }
    let has_work = is_named(worlds, id.0, &[Naming::RunTask, Naming::TaskParent])?;
    check_moved(worlds, has_work, |world| intents_of(world, id, None))
}

/// A plan brings its steps, their tasks, its runs and its revisions.
fn check_plan(worlds: &mut Worlds<'_>, id: PlanId, events: &[Emitted]) -> Result<(), DecideError> {
    let adopted = events.iter().filter_map(|emitted| match &emitted.event {
        AnyEvent::Plan(plan::Event::Adopted(event)) => Some(event),
        _ => None,
    });
    let steps: Vec<_> = adopted.flat_map(|event| &event.steps).collect();
    let statuses = steps.iter().flat_map(|step| &step.statuses);
    let mut statuses = statuses.map(|it| it.status);
    let is_begun = |it: plan::StepStatus| {
        matches!(
            it,
            plan::StepStatus::Progressing | plan::StepStatus::Completed
        )
    };
    if statuses.any(is_begun) {
        require_plan(&mut worlds.after, id)?;
        check_all(worlds, |world| intents_of_plan(world, id))?;
    }
    let has_work = is_named(worlds, id.0, &[Naming::RunPlan, Naming::PlanPrevious])?;
    check_moved(worlds, has_work, |world| intents_of_plan(world, id))?;
    let tasks: Vec<TaskId> = steps.iter().filter_map(|step| step.step.task).collect();
    worlds
        .after
        .load_all(tasks.iter().map(|task| task.stream()))?;
    for field in [Naming::RunTask, Naming::TaskParent, Naming::StepTask] {
        worlds
            .before
            .load_naming(field, tasks.iter().map(|task| task.0))?;
    }
    for task in tasks {
        let state = worlds.after.task_if_any(task)?;
        let is_begun = state
            .is_some_and(|it| !matches!(it.status, task::Status::Draft | task::Status::Cancelled));
        let has_work =
            is_begun || is_named(worlds, task.0, &[Naming::RunTask, Naming::TaskParent])?;
        check_moved(worlds, has_work, |world| intents_of(world, task, None))?;
    }
    Ok(())
}

/// A run that did not fail is work, and so is what goes on in one; what is only recorded is not. A run does not move to
/// another intent that waits.
fn check_run(
    worlds: &mut Worlds<'_>,
    stream: StreamRef,
    event: &RunEvent,
) -> Result<(), DecideError> {
    let goes_on = match event {
        RunEvent::Adopted(event) => {
            let object = event.object.as_ref();
            object.is_some_and(|run| run.status != RunStatus::Failed)
        }
        RunEvent::PatchSetAdopted(event) => {
            let object = event.object.as_ref();
            object.is_some_and(|it| it.apply_status == ApplyStatus::Applied)
        }
        RunEvent::DecisionAdopted(event) => event.decision.decision_type != DecisionType::Abandon,
        _ => false,
    };
    let id = RunId(stream.id);
    if let RunEvent::DecisionAdopted(event) = event {
        require_undecided(worlds.before, id, event)?;
    }
    if goes_on {
        let run = worlds.after.run(id)?;
        if let Some(task) = run.task {
            require_task(&mut worlds.after, task)?;
        }
        if let Some(plan) = run.plan {
            require_plan(&mut worlds.after, plan)?;
        }
        check_all(worlds, |world| intents_of_run(world, id))?;
    }
    let is_there = worlds.before.run_if_any(id)?.is_some();
    check_moved(worlds, is_there, |world| intents_of_run(world, id))
}

/// A run has at most one decision (docs/spec/git-internal.md, Decision). Which of two counts is for a person to say.
fn require_undecided(
    world: &mut World,
    run: RunId,
    adopted: &DecisionAdopted,
) -> Result<(), DecideError> {
    let decided = world.run_if_any(run)?.and_then(|it| it.decision);
    match decided.filter(|existing| *existing != adopted.decision.decision) {
        Some(existing) => Err(Refusal::OnlyOne {
            kind: Kind::Decision,
            run,
            existing: existing.0,
        }
        .into()),
        None => Ok(()),
    }
}

fn intents_of_run(world: &mut World, id: RunId) -> Intents {
    let run = world.run_if_any(id)?;
    match run.as_deref() {
        Some(run::State {
            task: Some(task),
            plan,
            ..
        }) => intents_of(world, *task, *plan),
        _ => Ok(Vec::new()),
    }
}

/// The intents of a plan and of the one that it revises: another intent may have the plan, and give it up.
fn intents_of_plan(world: &mut World, id: PlanId) -> Intents {
    let Some(state) = world.plan_if_any(id)? else {
        return Ok(Vec::new());
    };
    let mut found = line::intents_of(world, id)?;
    if let Some(previous) = state.previous
        && world.plan_if_any(previous)?.is_some()
    {
        found.extend(line::intents_of(world, previous)?);
    }
    Ok(found)
}

/// Demands that all intents that an object is work on take work.
fn check_all(
    worlds: &mut Worlds<'_>,
    of: impl Fn(&mut World) -> Intents,
) -> Result<(), DecideError> {
    for intent in of(&mut worlds.after)? {
        worlds.check_work_on(intent)?;
    }
    Ok(())
}

/// Demands that an object leaves no intent that takes no work. One that has work also comes under none.
fn check_moved(
    worlds: &mut Worlds<'_>,
    has_work: bool,
    of: impl Fn(&mut World) -> Intents,
) -> Result<(), DecideError> {
    let (before, after) = (of(worlds.before)?, of(&mut worlds.after)?);
    let left = before.iter().filter(|it| !after.contains(it));
    let joined = after.iter().filter(|it| has_work && !before.contains(it));
    for intent in left.chain(joined) {
        worlds.check_work_on(*intent)?;
    }
    Ok(())
}

/// Whether objects of the log name one.
fn is_named(worlds: &mut Worlds<'_>, id: Uuid, fields: &[Naming]) -> Result<bool, DecideError> {
    for field in fields {
        if !worlds.before.naming(*field, id)?.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Demands that a task exists, and all that it is a part of, up to one that says its intent: what does not exist may be
/// created for any intent.
fn require_task(world: &mut World, id: TaskId) -> Result<(), DecideError> {
    let (mut next, mut seen) = (Some(id), BTreeSet::new());
    while let Some(id) = next.filter(|id| seen.insert(*id)) {
        let state = world.task(id)?;
        next = state.parent.filter(|_| state.intent.is_none());
    }
    Ok(())
}

/// Demands that a plan exists, and all that it revises.
fn require_plan(world: &mut World, id: PlanId) -> Result<(), DecideError> {
    let (mut next, mut seen) = (Some(id), BTreeSet::new());
    while let Some(id) = next.filter(|id| seen.insert(*id)) {
        let state = world.plan(id)?;
        next = state.previous.filter(|_| state.intent.is_none());
    }
    Ok(())
}
