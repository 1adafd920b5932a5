//! The decision of a run: one verdict, and all that it changes at once.
//!
//! | Verdict | Run | Patch sets | Task |
//! | --- | --- | --- | --- |
//! | Commit | Completed | the chosen one Applied | Done |
//! | Retry | Completed | the open ones Rejected | stays Running |
//! | Abandon | Completed | left | Failed |
//! | Checkpoint | Completed | left | stays Running |
//! | other | Completed | left | stays |
//! | Rollback | Completed | the named one Reverted, in its own run | stays |
//!
//! Commit, Retry and Checkpoint need a task that is Running: where another run
//! has settled it, nothing is left to be done or tried again. Abandon then ends
//! the run alone. A Failed run may have a decision too, but for Commit and
//! Rollback, and stays Failed. No decision of a run that reverts changes the task.

use super::shared::{
    emit, fresh_id, intents_of, owning_run, refuse, require_let_go,
    require_let_go_unless_reverting, require_patch_set,
};
use super::{
    ApplyStatus, Decide, DecisionMade, DecisionType, EndedAfterIntent, PatchSetApplied,
    PatchSetRejected, PatchSetReverted, RecordResultCommit, ResultCommitRecorded, State, Status,
};
use crate::input::check_word;
use crate::origin::is_human;
use crate::pieces::Pieces;
use crate::world::{Decided, Emitted, World};
use crate::{
    ActorRef, DecideError, GitOid, IntentId, Kind, Meta, PatchSetId, Refusal, RunId, TaskId,
    intent, task,
};

pub(crate) fn decide(world: &mut World, command: &Decide, meta: &Meta) -> Decided {
    if command.decision_type == DecisionType::Commit {
        require_reviewer(world, command.run, &meta.actor)?;
    }
    reviewed(world, command, meta)
}

/// Demands of who commits a run, or applies a patch set of it, after a review rejected the work on its task
/// that it is a person, or none who worked on the task: otherwise the next attempt would pass without a review.
pub(super) fn require_reviewer(
    world: &mut World,
    run: RunId,
    actor: &ActorRef,
) -> Result<(), DecideError> {
    let state = world.run(run)?;
    // A run that reverts takes back at any time; what it commits or applies is work like any other's.
    let Some(id) = state.task.filter(|_| !is_human(actor)) else {
        return Ok(());
    };
    // An adopted run may be of a task that does not exist.
    let Some(of) = world.task_if_any(id)? else {
        return Ok(());
    };
    let is_rejected = of.rejections > 0 || intent::is_rejected_by_a_person(world, &of)?;
    let has_worked = state.workers.iter().any(|by| by.is(actor));
    if is_rejected && (has_worked || intent::worked_on(world, &of, actor)?) {
        let reason = format!(
            "a review rejected the work on task {id}, and {} {:?} worked on it, so must neither commit run {run} nor \
             apply a patch set of it; let a person or another agent review it (record_review)",
            actor.kind, actor.id
        );
        return Err(Refusal::NotPermitted { reason }.into());
    }
    Ok(())
}

/// Demands of an agent that commits or applies a run that no work which a person rejected would pass by it.
pub(super) fn require_settled(
    world: &mut World,
    state: &State,
    actor: &ActorRef,
) -> Result<(), DecideError> {
    let intents = work_on(world, state)?;
    intent::require_settled(world, state.task, &intents, actor)
}

/// The same for what a review decided.
pub(crate) fn reviewed(world: &mut World, command: &Decide, meta: &Meta) -> Decided {
    let run = command.run;
    let state = world.run(run)?;
    check_state(command, &state)?;
    if let Some(existing) = state.decision {
        return Err(Refusal::OnlyOne {
            kind: Kind::Decision,
            run,
            existing: existing.0,
        }
        .into());
    }
    check_fields(command, &state)?;
    let consequences = match &command.decision_type {
        DecisionType::Commit => {
            let asked = "decide commit of a run of it";
            require_let_go(world, &state, asked)?;
            require_settled(world, &state, &meta.actor)?;
            for intent in work_on(world, &state)? {
                intent::intake::require_may_be_done_if_any(world, intent, asked)?;
            }
            commit(world, command, &state)?
        }
        DecisionType::Retry => {
            require_work(world, &state, &command.decision_type)?;
            require_running_task(world, &state, &command.decision_type)?;
            require_retry_left(world, &state)?;
            reject_open(run, &state)
        }
        DecisionType::Abandon => abandon(world, command, &state)?,
        DecisionType::Rollback => roll_back(world, run, &state)?,
        DecisionType::Checkpoint => {
            require_work(world, &state, &command.decision_type)?;
            require_running_task(world, &state, &command.decision_type)?;
            Vec::new()
        }
        DecisionType::Other(_) => {
            require_work(world, &state, &command.decision_type)?;
            Vec::new()
        }
    };
    let decision = fresh_id(world, command.id, meta)?;
    let chosen = match command.decision_type {
        DecisionType::Rollback => state.reverts,
        _ => command.chosen_patchset_id,
    };
    let mut pieces = Pieces::new();
    let made = DecisionMade {
        decision,
        decision_type: command.decision_type.clone(),
        chosen_patch_set: chosen,
        result_commit: command.result_commit_sha,
        checkpoint_id: pieces.optional_text(command.checkpoint_id.as_deref()),
        rationale: pieces.optional_text(command.rationale.as_deref()),
    };
    let mut events = vec![emit(run, made, pieces)];
    events.extend(consequences);
    if state.is_unfinished() {
        events.extend(ended_after_intent(world, run, &state)?);
    }
    Ok(events)
}

/// Demands that work on the intents of a run goes on: otherwise it is abandoned, or what it applied
/// is taken back.
fn require_work(
    world: &mut World,
    state: &State,
    verdict: &DecisionType,
) -> Result<(), DecideError> {
    let asked = match verdict {
        DecisionType::Retry => "decide retry of a run of it",
        DecisionType::Checkpoint => "decide checkpoint of a run of it",
        _ => "decide (but abandon) of a run of it",
    };
    require_let_go_unless_reverting(world, state, asked)
}

/// Demands that the task of a run may be tried again, as reviews may have it tried again.
fn require_retry_left(world: &mut World, state: &State) -> Result<(), DecideError> {
    let Some(id) = changed_task(state) else {
        return Ok(());
    };
    // An adopted run may be of a task that does not exist.
    let Some(of) = world.task_if_any(id)? else {
        return Ok(());
    };
    let (most, used) = (world.settings()?.max_review_retries, retries(world, &of)?);
    if used < most {
        return Ok(());
    }
    let reason = format!(
        "task {id} was tried again {used} times, and review.max_retries is {most}: decide abandon, \
         and let a person rerun the intent (rerun_intent)"
    );
    Err(Refusal::invalid("decision_type", reason).into())
}

/// How often a task was tried again: by decisions on its runs, or by reviews that an import brought.
pub(crate) fn retries(world: &mut World, task: &task::State) -> Result<u32, DecideError> {
    world.load_all(task.runs.iter().map(|run| run.stream()))?;
    let mut decided = 0;
    for run in &task.runs {
        let state = world.run_if_any(*run)?;
        decided += u32::from(state.is_some_and(|it| it.is_retry && it.reverts.is_none()));
    }
    Ok(decided.max(task.rejections))
}

/// That a run ends although its intent was completed or cancelled before.
pub(super) fn ended_after_intent(
    world: &mut World,
    run: RunId,
    state: &State,
) -> Result<Option<Emitted>, DecideError> {
    for id in work_on(world, state)? {
        let status = match world.intent_if_any(id)?.map(|intent| intent.life) {
            Some(intent::Life::Completed) => intent::IntentStatus::Completed,
            Some(intent::Life::Cancelled) => intent::IntentStatus::Cancelled,
            _ => continue,
        };
        let ended = EndedAfterIntent { intent: id, status };
        return Ok(Some(emit(run, ended, Pieces::new())));
    }
    Ok(None)
}

/// The intents that a run is work on.
fn work_on(world: &mut World, state: &State) -> Result<Vec<IntentId>, DecideError> {
    match state.task {
        Some(task) => intents_of(world, task, state.plan),
        None => Ok(Vec::new()),
    }
}

/// The intents that a run is work on which take its commit, while they are in such a life.
fn committed(
    world: &mut World,
    state: &State,
    commit: GitOid,
    takes: fn(intent::Life) -> bool,
) -> Result<Vec<Emitted>, DecideError> {
    let mut events = Vec::new();
    for id in work_on(world, state)? {
        if world.intent_if_any(id)?.is_some_and(|it| takes(it.life)) {
            let recorded = intent::CommitRecorded { commit };
            events.push(intent::decide::emit(id, recorded, Pieces::new()));
        }
    }
    Ok(events)
}

/// A commit that was made after the decision which led to it. The intent takes it
/// too.
pub(crate) fn record_result_commit(
    world: &mut World,
    command: &RecordResultCommit,
    _: &Meta,
) -> Decided {
    let (decision, commit) = (command.decision, command.commit);
    let run = RunId(world.locate_kind(decision.0, Kind::Decision)?.id);
    let state = world.run(run)?;
    if !state.is_commit || state.decision != Some(decision) {
        let reason = "only a decision of the type commit leads to a commit";
        return Err(Refusal::invalid("decision", reason).into());
    }
    match state.result_commit {
        Some(existing) if existing == commit => return Ok(Vec::new()),
        Some(existing) => {
            let reason = format!("the decision led to {existing}, which never changes");
            return Err(Refusal::invalid("commit", reason).into());
        }
        None => {}
    }
    require_let_go(world, &state, "record_result_commit of a run of it")?;
    let recorded = ResultCommitRecorded { decision, commit };
    let mut events = vec![emit(run, recorded, Pieces::new())];
    let takes = |life| matches!(life, intent::Life::Active | intent::Life::Completed);
    events.extend(committed(world, &state, commit, takes)?);
    Ok(events)
}

fn check_state(command: &Decide, state: &State) -> Result<(), Refusal> {
    let needs_success = matches!(
        command.decision_type,
        DecisionType::Commit | DecisionType::Rollback
    );
    let asked = asked(&command.decision_type);
    match state.status {
        // A second decision is refused by name, not as a transition.
        _ if state.decision.is_some() => Ok(()),
        Status::Validating => Ok(()),
        Status::Failed if !needs_success => Ok(()),
        status if needs_success => Err(refuse(command.run, status, asked, "validating")),
        status => Err(refuse(command.run, status, asked, "validating or failed")),
    }
}

/// What a refusal calls a decision.
fn asked(verdict: &DecisionType) -> &'static str {
    match verdict {
        DecisionType::Commit => "decide commit",
        DecisionType::Checkpoint => "decide checkpoint",
        DecisionType::Abandon => "decide abandon",
        DecisionType::Retry => "decide retry",
        DecisionType::Rollback => "decide rollback",
        DecisionType::Other(_) => "decide",
    }
}

/// Fields that belong to other verdicts are refused rather than ignored.
fn check_fields(command: &Decide, state: &State) -> Result<(), Refusal> {
    let verdict = &command.decision_type;
    check_word("decision_type", verdict.as_str(), DecisionType::LISTED)?;
    if command.chosen_patchset_id.is_some()
        && !matches!(verdict, DecisionType::Commit | DecisionType::Rollback)
    {
        return Err(Refusal::invalid(
            "chosen_patchset_id",
            "only commit and rollback name a patch set",
        ));
    }
    if command.result_commit_sha.is_some()
        && !matches!(verdict, DecisionType::Commit | DecisionType::Rollback)
    {
        return Err(Refusal::invalid(
            "result_commit_sha",
            "only commit and rollback lead to a commit",
        ));
    }
    if command.checkpoint_id.is_some()
        && !matches!(verdict, DecisionType::Checkpoint | DecisionType::Other(_))
    {
        return Err(Refusal::invalid(
            "checkpoint_id",
            "only checkpoint names a saved state",
        ));
    }
    if *verdict == DecisionType::Rollback {
        check_rollback(command, state)?;
    }
    Ok(())
}

fn check_rollback(command: &Decide, state: &State) -> Result<(), Refusal> {
    let Some(reverts) = state.reverts else {
        let reason = "a rollback is a run of its own: create one with `reverts`, and decide there";
        return Err(Refusal::invalid("decision_type", reason));
    };
    if command
        .chosen_patchset_id
        .is_some_and(|chosen| chosen != reverts)
    {
        let reason =
            format!("the run reverts patch set {reverts}; leave this out or name that one");
        return Err(Refusal::invalid("chosen_patchset_id", reason));
    }
    Ok(())
}

/// The task that a decision changes: none for a run that reverts.
fn changed_task(state: &State) -> Option<TaskId> {
    if state.reverts.is_some() {
        None
    } else {
        state.task
    }
}

fn require_running(
    world: &mut World,
    task: TaskId,
    verdict: &DecisionType,
) -> Result<(), DecideError> {
    match world.task(task)?.status {
        task::Status::Running => Ok(()),
        status => Err(task::decide::refuse(task, status, asked(verdict), "running").into()),
    }
}

fn require_running_task(
    world: &mut World,
    state: &State,
    verdict: &DecisionType,
) -> Result<(), DecideError> {
    match changed_task(state) {
        // An adopted run may be of a task that does not exist.
        Some(task) if world.task_if_any(task)?.is_some() => require_running(world, task, verdict),
        _ => Ok(()),
    }
}

fn commit(world: &mut World, command: &Decide, state: &State) -> Result<Vec<Emitted>, DecideError> {
    let run = command.run;
    let Some(chosen) = command.chosen_patchset_id else {
        return Err(Refusal::invalid(
            "chosen_patchset_id",
            "a commit names the patch set to apply",
        )
        .into());
    };
    let mut events = apply_chosen(run, state, chosen)?;
    if let Some(task) = changed_task(state) {
        require_running(world, task, &command.decision_type)?;
        events.push(task::decide::emit(task, task::Done { run }, Pieces::new()));
    }
    // The intent takes the commit while it is Active; a later run of an intent
    // that is finished changes the task alone.
    if let Some(commit) = command.result_commit_sha {
        let takes = |life| life == intent::Life::Active;
        events.extend(committed(world, state, commit, takes)?);
    }
    Ok(events)
}

fn apply_chosen(
    run: RunId,
    state: &State,
    chosen: PatchSetId,
) -> Result<Vec<Emitted>, DecideError> {
    if state.patch_sets.get(&chosen) == Some(&ApplyStatus::Applied) {
        return Ok(Vec::new());
    }
    let asked = asked(&DecisionType::Commit);
    require_patch_set(
        state,
        run,
        chosen,
        ApplyStatus::Proposed,
        asked,
        "proposed or applied",
    )?;
    Ok(vec![emit(
        run,
        PatchSetApplied { patch_set: chosen },
        Pieces::new(),
    )])
}

fn reject_open(run: RunId, state: &State) -> Vec<Emitted> {
    let open = state
        .patch_sets
        .iter()
        .filter(|(_, status)| **status == ApplyStatus::Proposed);
    open.map(|(patch_set, _)| {
        let rejected = PatchSetRejected {
            patch_set: *patch_set,
            reason: None,
        };
        emit(run, rejected, Pieces::new())
    })
    .collect()
}

fn abandon(
    world: &mut World,
    command: &Decide,
    state: &State,
) -> Result<Vec<Emitted>, DecideError> {
    let Some(task) = changed_task(state) else {
        return Ok(Vec::new());
    };
    if world.task(task)?.status != task::Status::Running {
        // Another run, or a user, has settled it.
        return Ok(Vec::new());
    }
    let mut pieces = Pieces::new();
    let reason = pieces.optional_text(command.rationale.as_deref());
    let failed = task::Failed {
        run: Some(command.run),
        reason,
    };
    let mut events = vec![task::decide::emit(task, failed, pieces)];
    events.extend(intent::end_dependents(world, intent::Lost::Failed(task))?);
    Ok(events)
}

fn roll_back(world: &mut World, run: RunId, state: &State) -> Result<Vec<Emitted>, DecideError> {
    let Some(patch_set) = state.reverts else {
        return Ok(Vec::new());
    };
    let (owner, owner_state) = owning_run(world, patch_set)?;
    let asked = asked(&DecisionType::Rollback);
    require_patch_set(
        &owner_state,
        owner,
        patch_set,
        ApplyStatus::Applied,
        asked,
        "applied",
    )?;
    let reverted = PatchSetReverted {
        patch_set,
        reverted_by: run,
    };
    Ok(vec![emit(owner, reverted, Pieces::new())])
}
