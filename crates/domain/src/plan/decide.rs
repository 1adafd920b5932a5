//! What is accepted of a plan, and what happens then.

use std::collections::BTreeSet;

use super::line::{intents_of, latest_of, plans_before, require_latest, tasks_before};
pub(crate) use super::shared::emit;
use super::{
    AddStep, Assigned, CreatePlan, Drafted, LinkStepFrames, NewStep, RecordStepOutput, Restored,
    Revised, SetStepStatus, SpawnStepTask, State, StepAdded, StepFramesLinked, StepOutputRecorded,
    StepState, StepStatus, StepStatusChanged, StepTaskSpawned, StoredStep,
};
use crate::folding::is_blank;
use crate::pieces::Pieces;
use crate::pipeline::decide::{frames_used, open};
use crate::world::{Decided, Emitted, World};
use crate::{
    DecideError, FrameId, IntentId, Kind, Meta, PipelineId, PlanId, Refusal, StreamKind, TaskId,
    intent, task,
};

pub(crate) fn create(world: &mut World, command: &CreatePlan, meta: &Meta) -> Decided {
    let id = command.id.unwrap_or(PlanId(meta.new_id));
    if let Some(asked) = command.id {
        world.unused(asked.0)?;
    }
    world.absent(id.stream())?;
    let Line { intent, previous } = line(world, command)?;
    if let Some(restored) = command.restores {
        check_restored(world, restored, previous, command.steps.len())?;
    }
    if let Some(pipeline) = command.pipeline {
        world.require(StreamKind::Pipeline, pipeline)?;
    }
    check_fwindow(world, command)?;
    let (mut pieces, mut steps, mut uses) = (Pieces::new(), Vec::new(), Vec::new());
    for (index, step) in command.steps.iter().enumerate() {
        let index = next_index(index)?;
        let step = store_step(world, command.pipeline, index, step, &mut pieces)?;
        uses.extend(use_of(command.pipeline, id, index, &step.iframes, false));
        steps.push(step);
    }
    let event = Drafted {
        previous,
        intent,
        pipeline: command.pipeline,
        fwindow: command.fwindow,
        steps,
    };
    let mut emitted = vec![emit(id, event, pieces)];
    emitted.extend(
        command
            .restores
            .map(|plan| emit(id, Restored { plan }, Pieces::new())),
    );
    if let Some(plan) = previous
        && world.plan_if_any(plan)?.is_some()
    {
        emitted.push(emit(plan, Revised { by: id }, Pieces::new()));
    }
    if let Some(intent) = intent {
        let selected = intent::PlanSelected { plan: id };
        emitted.push(intent::decide::emit(intent, selected, Pieces::new()));
        let mut tasks: Vec<TaskId> = command.steps.iter().filter_map(|it| it.task).collect();
        require_unbegun(
            world,
            previous,
            intent,
            "create_plan from one with a step in progress",
        )?;
        tasks.extend(tasks_before(world, previous, intent)?);
        emitted.extend(intent::added(world, intent, &tasks, &meta.actor)?);
    }
    emitted.extend(uses);
    Ok(emitted)
}

/// Where a new plan is in the line of revisions.
struct Line {
    intent: Option<IntentId>,
    previous: Option<PlanId>,
}

/// The line of revisions that a new plan goes on: that of its intent, or that of
/// the plan that it revises.
fn line(world: &mut World, command: &CreatePlan) -> Result<Line, DecideError> {
    let inherited = match command.previous {
        Some(previous) => inherited(world, previous, command.intent)?,
        None => None,
    };
    let intent = command.intent.or(inherited);
    let selected = match intent {
        Some(intent) => intent::decide::require_active(world, intent, "create_plan")?.plan,
        None => None,
    };
    let latest = selected.map(|plan| latest_of(world, plan, intent));
    let latest = latest.transpose()?;
    let previous = command.previous.or(latest);
    if let Some(previous) = previous {
        require_latest(world, previous, latest, "previous")?;
    }
    Ok(Line { intent, previous })
}

/// The intent of the plan that is revised.
fn inherited(
    world: &mut World,
    previous: PlanId,
    asked: Option<IntentId>,
) -> Result<Option<IntentId>, DecideError> {
    let intents = check_intent(world, previous, asked, "previous")?;
    match (asked, intents.as_slice()) {
        (Some(_), _) | (None, []) => Ok(asked),
        (None, [intent]) => Ok(Some(*intent)),
        // Imports bring such lines.
        (None, [first, second, ..]) => {
            let reason = format!(
                "plan {previous} is in the line of intent {first}, of {second} and perhaps of \
                 others; say for which one the new plan is"
            );
            Err(Refusal::invalid("intent", reason).into())
        }
    }
}

/// What is gone back to is an earlier revision of the same line, and its steps
/// are given again.
fn check_restored(
    world: &mut World,
    restored: PlanId,
    previous: Option<PlanId>,
    steps: usize,
) -> Result<(), DecideError> {
    let (mut next, mut seen) = (previous, BTreeSet::new());
    while let Some(plan) = next.filter(|plan| *plan != restored && seen.insert(*plan)) {
        next = world.plan_if_any(plan)?.and_then(|state| state.previous);
    }
    let is_earlier = next == Some(restored) && previous != Some(restored);
    if !is_earlier {
        let reason = format!("plan {restored} is not an earlier revision of the revised plan");
        return Err(Refusal::invalid("restores", reason).into());
    }
    let expected = world.plan(restored)?.steps.len();
    if steps != expected {
        let reason = format!("plan {restored} has {expected} steps; give them again, not {steps}");
        return Err(Refusal::invalid("steps", reason).into());
    }
    Ok(())
}

/// What selecting a plan changes, if it may be selected: from then on it belongs to
/// the intent, with the tasks of its steps.
pub(crate) fn selected(
    world: &mut World,
    plan: PlanId,
    intent: IntentId,
    current: Option<PlanId>,
    meta: &Meta,
) -> Decided {
    check_intent(world, plan, Some(intent), "plan")?;
    let state = world.plan(plan)?;
    // Revisions of the current one may have been drawn up for no intent.
    let latest = current.map(|plan| latest_of(world, plan, Some(intent)));
    let latest = latest.transpose()?;
    require_latest(world, plan, latest, "plan")?;
    let assigned = Assigned { intent };
    let is_new = state.intent.is_none();
    let mut events = Vec::from_iter(is_new.then(|| emit(plan, assigned, Pieces::new())));
    let asked = "select_plan of one with a step in progress";
    require_unbegun(world, Some(plan), intent, asked)?;
    let tasks = tasks_before(world, Some(plan), intent)?;
    events.extend(intent::added(world, intent, &tasks, &meta.actor)?);
    Ok(events)
}

/// Demands that work on the intents of a plan, if it has any, has not ended.
fn require_open_intents(
    world: &mut World,
    plan: PlanId,
    asked: &'static str,
) -> Result<Vec<IntentId>, DecideError> {
    let intents = intents_of(world, plan)?;
    for intent in &intents {
        intent::intake::require_open_if_any(world, *intent, asked)?;
    }
    Ok(intents)
}

/// A plan that was made for one intent cannot serve another. Returns those that it
/// was made for.
fn check_intent(
    world: &mut World,
    plan: PlanId,
    intent: Option<IntentId>,
    field: &'static str,
) -> Result<Vec<IntentId>, DecideError> {
    let made_for = intents_of(world, plan)?;
    match (made_for.first(), intent) {
        (Some(first), Some(intent)) if !made_for.contains(&intent) => {
            let reason = format!("plan {plan} was made for intent {first}");
            Err(Refusal::invalid(field, reason).into())
        }
        _ => Ok(made_for),
    }
}

/// `fwindow` is a half-open range of indices into the pipeline's window as it
/// is now.
fn check_fwindow(world: &mut World, command: &CreatePlan) -> Result<(), DecideError> {
    let Some((start, end)) = command.fwindow else {
        return Ok(());
    };
    let Some(pipeline) = command.pipeline else {
        let reason = "it is a range of a pipeline's window, and the plan names no pipeline";
        return Err(Refusal::invalid("fwindow", reason).into());
    };
    let len = world.window_len(pipeline)?;
    if start > end || u64::from(end) > len {
        let reason = format!(
            "invalid range [{start}, {end}]: expected start <= end <= {len}, the number of frames \
             that the window holds now"
        );
        return Err(Refusal::invalid("fwindow", reason).into());
    }
    Ok(())
}

/// The number of the step that comes after `count` others.
fn next_index(count: usize) -> Result<u32, Refusal> {
    u32::try_from(count).map_err(|_| Refusal::invalid("step", "the plan has too many steps"))
}

fn store_step(
    world: &mut World,
    pipeline: Option<PipelineId>,
    index: u32,
    step: &NewStep,
    pieces: &mut Pieces,
) -> Result<StoredStep, DecideError> {
    if is_blank(&step.description) {
        let reason = format!("it must not be blank, which it is in step {index}");
        return Err(Refusal::invalid("description", reason).into());
    }
    if let Some(task) = step.task {
        world.require(StreamKind::Task, task)?;
    }
    let none = BTreeSet::new();
    let iframes = new_frames(world, pipeline, "iframes", &step.iframes, &none)?;
    let oframes = new_frames(world, pipeline, "oframes", &step.oframes, &none)?;
    Ok(StoredStep {
        description: pieces.text(step.description.as_str()),
        inputs: pieces.optional_json(step.inputs.as_ref()),
        outputs: pieces.optional_json(step.outputs.as_ref()),
        checks: pieces.optional_json(step.checks.as_ref()),
        iframes,
        oframes,
        task: step.task,
    })
}

/// Checks that the frames were pushed into the plan's pipeline, evicted or not,
/// and returns those that the step does not have yet, each once.
fn new_frames(
    world: &mut World,
    pipeline: Option<PipelineId>,
    field: &'static str,
    frames: &[FrameId],
    known: &BTreeSet<FrameId>,
) -> Result<Vec<FrameId>, DecideError> {
    if frames.is_empty() {
        return Ok(Vec::new());
    }
    let Some(pipeline) = pipeline else {
        let reason = "they are frames of the plan's pipeline, and the plan has none";
        return Err(Refusal::invalid(field, reason).into());
    };
    let next = open(world, pipeline)?.next_frame_id;
    let (mut seen, mut new) = (BTreeSet::new(), Vec::new());
    for frame in frames {
        if *frame >= next {
            let reason = format!(
                "frame {frame} was never pushed into pipeline {pipeline}, \
                 whose next frame is {next}"
            );
            return Err(Refusal::invalid(field, reason).into());
        }
        if !known.contains(frame) && seen.insert(*frame) {
            new.push(*frame);
        }
    }
    Ok(new)
}

/// The consumed frames as the pipeline's stream records them.
fn use_of(
    pipeline: Option<PipelineId>,
    plan: PlanId,
    step: u32,
    iframes: &[FrameId],
    inferred: bool,
) -> Option<Emitted> {
    let pipeline = pipeline.filter(|_| !iframes.is_empty())?;
    let frames = iframes.to_vec();
    Some(frames_used(pipeline, plan, step, frames, inferred))
}

/// The step with this number.
fn require_step(state: &State, index: u32) -> Result<&StepState, Refusal> {
    state.steps.get(index as usize).ok_or_else(|| {
        let count = state.steps.len();
        let reason =
            format!("there is no step {index}; the plan has {count} steps, numbered from 0");
        Refusal::invalid("step", reason)
    })
}

pub(crate) fn add_step(world: &mut World, command: &AddStep, meta: &Meta) -> Decided {
    let state = world.plan(command.plan)?;
    let intents = require_open_intents(world, command.plan, "add_step to a plan of it")?;
    let index = next_index(state.steps.len())?;
    if let Some(expected) = command.index.filter(|expected| *expected != index) {
        let reason = format!("the next step is {index}, not {expected}");
        return Err(Refusal::invalid("index", reason).into());
    }
    let mut pieces = Pieces::new();
    let step = store_step(world, state.pipeline, index, &command.step, &mut pieces)?;
    let used = use_of(state.pipeline, command.plan, index, &step.iframes, false);
    let mut emitted = vec![emit(command.plan, StepAdded { index, step }, pieces)];
    emitted.extend(used);
    for intent in intents {
        let tasks = Vec::from_iter(command.step.task);
        emitted.extend(intent::added(world, intent, &tasks, &meta.actor)?);
    }
    Ok(emitted)
}

pub(crate) fn set_step_status(world: &mut World, command: &SetStepStatus, _: &Meta) -> Decided {
    let state = world.plan(command.plan)?;
    let current = require_step(&state, command.step)?.status;
    // What goes on already may end.
    if command.status == StepStatus::Progressing {
        let asked = "set_step_status progressing in a plan of it";
        for intent in require_open_intents(world, command.plan, asked)? {
            intent::intake::require_begun_or_ready(world, intent, asked)?;
        }
    }
    if !current.may_become(command.status) {
        let (asked, allowed) = allowed_before(command.status);
        return Err(Refusal::Transition {
            kind: Kind::Plan,
            id: command.plan.0,
            state: format!("at step {}, which is {current}", command.step),
            asked,
            allowed,
        }
        .into());
    }
    let mut pieces = Pieces::new();
    let event = StepStatusChanged {
        index: command.step,
        status: command.status,
        reason: pieces.optional_text(command.reason.as_deref()),
    };
    Ok(vec![emit(command.plan, event, pieces)])
}

/// What a refusal calls the change to a status, and from which ones it goes.
fn allowed_before(status: StepStatus) -> (&'static str, &'static str) {
    match status {
        StepStatus::Pending => ("set_step_status pending", "new, and only by being added"),
        StepStatus::Progressing => ("set_step_status progressing", "pending"),
        StepStatus::Completed => ("set_step_status completed", "progressing"),
        StepStatus::Failed => ("set_step_status failed", "pending or progressing"),
        StepStatus::Skipped => ("set_step_status skipped", "pending"),
    }
}

pub(crate) fn link_step_frames(world: &mut World, command: &LinkStepFrames, _: &Meta) -> Decided {
    let (plan, index) = (command.plan, command.step);
    let state = world.plan(plan)?;
    let step = require_step(&state, index)?;
    let iframes = new_frames(
        world,
        state.pipeline,
        "iframes",
        &command.iframes,
        &step.iframes,
    )?;
    let oframes = new_frames(
        world,
        state.pipeline,
        "oframes",
        &command.oframes,
        &step.oframes,
    )?;
    if iframes.is_empty() && oframes.is_empty() {
        return Ok(Vec::new());
    }
    let used = use_of(state.pipeline, plan, index, &iframes, command.inferred);
    let mut emitted = vec![emit(
        plan,
        StepFramesLinked {
            index,
            iframes,
            oframes,
            inferred: command.inferred,
        },
        Pieces::new(),
    )];
    emitted.extend(used);
    Ok(emitted)
}

pub(crate) fn spawn_step_task(world: &mut World, command: &SpawnStepTask, meta: &Meta) -> Decided {
    let state = world.plan(command.plan)?;
    require_open_intents(world, command.plan, "spawn_step_task of a plan of it")?;
    let intents = check_intent(world, command.plan, command.intent, "plan")?;
    let of_plan = match intents.as_slice() {
        [intent] => intent::if_any(world, *intent)?,
        _ => None,
    };
    if let Some(existing) = require_step(&state, command.step)?.task {
        let reason = format!(
            "step {} has task {existing} already; a step has at most one",
            command.step
        );
        return Err(Refusal::invalid("step", reason).into());
    }
    // The same rule by which the task gets its id.
    let task = command.id.unwrap_or(TaskId(meta.new_id));
    let create = task::CreateTask {
        id: command.id,
        title: command.title.clone(),
        description: command.description.clone(),
        goal: command.goal.clone(),
        constraints: command.constraints.clone(),
        acceptance_criteria: command.acceptance_criteria.clone(),
        requester: command.requester.clone(),
        parent: command.parent,
        // Work on a plan is work on its intent, whether the command says so or not.
        intent: command.intent.or(of_plan),
        dependencies: Vec::new(),
        plan: None,
    };
    let mut emitted = task::decide::create(world, &create, meta)?;
    let event = StepTaskSpawned {
        index: command.step,
        task,
    };
    emitted.push(emit(command.plan, event, Pieces::new()));
    Ok(emitted)
}

pub(crate) fn record_step_output(
    world: &mut World,
    command: &RecordStepOutput,
    _: &Meta,
) -> Decided {
    let state = world.plan(command.plan)?;
    require_step(&state, command.step)?;
    let mut pieces = Pieces::new();
    let event = StepOutputRecorded {
        index: command.step,
        outputs: pieces.json(&command.outputs),
    };
    Ok(vec![emit(command.plan, event, pieces)])
}

/// Demands that no step is progressing that an intent gets with a plan, while it waits for an
/// approval.
fn require_unbegun(
    world: &mut World,
    plan: Option<PlanId>,
    of: IntentId,
    asked: &'static str,
) -> Result<(), DecideError> {
    let plans = plans_before(world, plan, of)?;
    // Those that are the intent's already were brought when it did not wait.
    let new = plans.iter().filter(|plan| plan.intent.is_none());
    let mut steps = new.flat_map(|plan| &plan.steps);
    match steps.any(|step| step.status == StepStatus::Progressing) {
        true => intent::intake::require_let_go_if_any(world, of, asked),
        false => Ok(()),
    }
}
