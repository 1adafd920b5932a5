//! What a review means: evidence of the run, a fact of the task, and the verdict
//! that drives the run's decision (docs/spec/forge.md, Review Result).

use uuid::Uuid;

use super::decide::{emit, refuse};
use super::{RecordReview, ReviewRecorded, ReviewVerdict, State, Status};
use crate::origin::is_human;
use crate::pieces::Pieces;
use crate::refusal::not_blank;
use crate::run::{self, ApplyStatus, Decide, DecisionType, EvidenceKind, RecordEvidence};
use crate::world::{Decided, World};
use crate::{ActorRef, DecideError, EvidenceId, Meta, PatchSetId, Refusal, RunId};

/// Why a task fails whose work was rejected once too often (docs/spec/forge.md).
const NO_MORE_RETRIES: &str = "review rejected after max retries";

pub(crate) fn record(world: &mut World, command: &RecordReview, meta: &Meta) -> Decided {
    check(command)?;
    let state = world.task(command.task)?;
    let run = match (state.status, state.last_run()) {
        (Status::Running, Some(run)) => run,
        (status, _) => {
            let allowed = "running, and its last run is validating";
            return Err(refuse(command.task, status, "record_review", allowed).into());
        }
    };
    check_reviewer(world, run, &meta.actor)?;
    if world.run(run)?.reverts.is_some() {
        let reason = format!("its last run, {run}, reverts what was applied; decide that run");
        return Err(Refusal::invalid("task", reason).into());
    }
    let verdict = match command.verdict {
        ReviewVerdict::Approved => commit(world, command, run)?,
        ReviewVerdict::Rejected => again_or_never(world, &state, run)?,
    };
    let evidence_meta = Meta {
        new_id: Uuid::new_v5(&meta.new_id, b"evidence"),
        ..meta.clone()
    };
    let mut pieces = Pieces::new();
    let reviewed = ReviewRecorded {
        run: Some(run),
        evidence: Some(EvidenceId(evidence_meta.new_id)),
        verdict: command.verdict,
        issues: pieces.texts(&command.issues),
        suggestions: pieces.texts(&command.suggestions),
        extra: None,
    };
    let mut events = vec![emit(command.task, reviewed, pieces)];
    let evidence = evidence(command, run, verdict.chosen_patchset_id);
    events.extend(run::decide::record_evidence(
        world,
        &evidence,
        &evidence_meta,
    )?);
    events.extend(run::decide::reviewed(world, &verdict, meta)?);
    Ok(events)
}

/// An agent does not review what it did itself.
fn check_reviewer(world: &mut World, run: RunId, actor: &ActorRef) -> Result<(), DecideError> {
    let state = world.run(run)?;
    if is_human(actor) || !state.workers.iter().any(|by| by.is(actor)) {
        return Ok(());
    }
    let reason = format!(
        "{} {:?} worked on run {run} and must not review it; let a person or another agent do so",
        actor.kind, actor.id
    );
    Err(Refusal::NotPermitted { reason }.into())
}

fn check(command: &RecordReview) -> Result<(), Refusal> {
    for issue in &command.issues {
        not_blank("issues", issue)?;
    }
    for suggestion in &command.suggestions {
        not_blank("suggestions", suggestion)?;
    }
    let names_a_commit =
        command.chosen_patchset_id.is_some() || command.result_commit_sha.is_some();
    if command.verdict == ReviewVerdict::Rejected && names_a_commit {
        let reason = "only an approved review leads to a commit";
        return Err(Refusal::invalid(
            "chosen_patchset_id, result_commit_sha",
            reason,
        ));
    }
    Ok(())
}

/// The review as the run's evidence.
fn evidence(command: &RecordReview, run: RunId, patch_set: Option<PatchSetId>) -> RecordEvidence {
    let said = command.issues.iter().chain(&command.suggestions);
    let said: Vec<&str> = said.map(String::as_str).collect();
    RecordEvidence::new(run, EvidenceKind::Review, "review")
        .with_patchset_id(patch_set)
        .with_exit_code(i32::from(command.verdict == ReviewVerdict::Rejected))
        .with_summary((!said.is_empty()).then(|| said.join("\n")))
}

fn commit(world: &mut World, command: &RecordReview, run: RunId) -> Result<Decide, DecideError> {
    let chosen = match command.chosen_patchset_id {
        Some(chosen) => chosen,
        None => only_patch_set(world, run)?,
    };
    Ok(Decide::new(run, DecisionType::Commit)
        .with_chosen_patchset_id(chosen)
        .with_result_commit_sha(command.result_commit_sha))
}

fn only_patch_set(world: &mut World, run: RunId) -> Result<PatchSetId, DecideError> {
    let state = world.run(run)?;
    let fits =
        |status: &ApplyStatus| matches!(status, ApplyStatus::Proposed | ApplyStatus::Applied);
    let mut fitting = state.patch_sets.iter().filter(|(_, status)| fits(status));
    match (fitting.next(), fitting.next()) {
        (Some((only, _)), None) => Ok(*only),
        (None, _) => {
            let reason = format!("run {run} has none to commit; propose_patch_set first");
            Err(Refusal::invalid("chosen_patchset_id", reason).into())
        }
        (Some(_), Some(_)) => {
            let reason = format!("run {run} has several; say which one is committed");
            Err(Refusal::invalid("chosen_patchset_id", reason).into())
        }
    }
}

fn again_or_never(world: &mut World, state: &State, run: RunId) -> Result<Decide, DecideError> {
    if run::decide::retries(world, state)? < world.settings()?.max_review_retries {
        return Ok(Decide::new(run, DecisionType::Retry));
    }
    Ok(Decide::new(run, DecisionType::Abandon).with_rationale(NO_MORE_RETRIES.to_owned()))
}
