//! What is accepted of a run and its objects, and what happens then. The
//! decision, which spans aggregates, has a file of its own: `verdict.rs`; so have tool calls:
//! `tool_decide.rs`.

use std::sync::Arc;

pub(crate) use super::shared::{emit, refuse};
use super::shared::{
    fresh_id, intents_of, owning_run, require_let_go, require_let_go_unless_reverting,
    require_patch_set,
};
pub(crate) use super::verdict::{decide, record_result_commit, retries, reviewed};
use super::verdict::{ended_after_intent, require_reviewer, require_settled};
use super::{
    ApplyPatchSet, ApplyStatus, AttachSnapshot, CreateRun, Created, EvidenceKind, EvidenceRecorded,
    FailRun, Failed, IoFootprint, MetricsRecorded, OverrideRationale, PatchSetApplied,
    PatchSetProposed, PatchSetRejected, PatchingStarted, ProposePatchSet, ProvenanceRecorded,
    RationaleOverridden, RecordEvidence, RecordMetrics, RecordProvenance, RecordUsage,
    RejectPatchSet, SnapshotAttached, StartPatching, StartValidation, State, Status,
    StoredFootprint, StoredTokens, StoredTouchedFile, TokenUsage, UsageRecorded, ValidationStarted,
};
use crate::content::check_parts;
use crate::input::{check_word, path_in_repository};
use crate::pieces::Pieces;
use crate::refusal::not_blank;
use crate::world::{Decided, World};
use crate::{
    ArtifactRef, DecideError, Kind, Meta, PatchSetId, Refusal, RunId, StoredArtifact,
    StoredEnvironment, StreamKind, TaskId, intent, snapshot, task,
};

pub(crate) fn create(world: &mut World, command: &CreateRun, meta: &Meta) -> Decided {
    let id = fresh_id(world, command.id, meta)?;
    world.absent(id.stream())?;
    let of = world.task(command.task)?;
    let status = of.status;
    match (status, command.reverts) {
        (task::Status::Draft | task::Status::Running, _) | (task::Status::Done, Some(_)) => {}
        (status, _) => {
            let allowed = "draft or running, or done and the run reverts one of its patch sets";
            return Err(task::decide::refuse(command.task, status, "create_run", allowed).into());
        }
    }
    if status == task::Status::Draft {
        task::decide::require_dependencies(world, command.task, &of)?;
    }
    if let Some(plan) = command.plan {
        world.require(StreamKind::Plan, plan)?;
    }
    let mut begun = Vec::new();
    if command.reverts.is_none() {
        for intent in intents_of(world, command.task, command.plan)? {
            begun.extend(intent::intake::run_begins(world, intent)?);
        }
    }
    let finalized = match command.snapshot {
        Some(id) => snapshot::decide::finalize_for_run(world, id)?,
        None => None,
    };
    if let Some(patch_set) = command.reverts {
        check_revertible(world, command.task, patch_set)?;
    }
    let mut pieces = Pieces::new();
    let created = Created {
        task: command.task,
        plan: command.plan,
        commit: command.commit,
        snapshot: command.snapshot,
        environment: command
            .environment
            .as_ref()
            .map(|environment| StoredEnvironment::store(environment, &mut pieces)),
        reverts: command.reverts,
    };
    let mut events = vec![
        emit(id, created, pieces),
        task::decide::emit(command.task, task::RunAdded { run: id }, Pieces::new()),
    ];
    if status == task::Status::Draft {
        events.push(task::decide::emit(
            command.task,
            task::Started {},
            Pieces::new(),
        ));
    }
    events.extend(begun);
    events.extend(finalized);
    Ok(events)
}

/// A run may revert a patch set that is applied and that a run of the same
/// task proposed.
fn check_revertible(
    world: &mut World,
    task: TaskId,
    patch_set: PatchSetId,
) -> Result<(), DecideError> {
    let (owner, state) = owning_run(world, patch_set)?;
    if state.task != Some(task) {
        let reason =
            format!("patch set {patch_set} belongs to run {owner}, which is of another task");
        return Err(Refusal::invalid("reverts", reason).into());
    }
    require_patch_set(
        &state,
        owner,
        patch_set,
        ApplyStatus::Applied,
        "create_run that reverts it",
        "applied",
    )
}

pub(super) fn require_unfinished(
    world: &mut World,
    run: RunId,
    asked: &'static str,
) -> Result<Arc<State>, DecideError> {
    let state = world.run(run)?;
    if state.is_unfinished() {
        return Ok(state);
    }
    Err(refuse(run, state.status, asked, "created, patching or validating").into())
}

pub(crate) fn attach_snapshot(world: &mut World, command: &AttachSnapshot, _: &Meta) -> Decided {
    let state = require_unfinished(world, command.run, "attach_snapshot")?;
    require_let_go_unless_reverting(world, &state, "attach_snapshot to a run of it")?;
    if state.has_snapshot {
        return Err(
            Refusal::invalid("snapshot", "the run has one already, which never changes").into(),
        );
    }
    let finalized = snapshot::decide::finalize_for_run(world, command.snapshot)?;
    let attached = SnapshotAttached {
        snapshot: command.snapshot,
    };
    let mut events = vec![emit(command.run, attached, Pieces::new())];
    events.extend(finalized);
    Ok(events)
}

pub(crate) fn start_patching(world: &mut World, command: &StartPatching, _: &Meta) -> Decided {
    let state = world.run(command.run)?;
    require_let_go_unless_reverting(world, &state, "start_patching of a run of it")?;
    match state.status {
        Status::Created => Ok(vec![emit(command.run, PatchingStarted {}, Pieces::new())]),
        status => Err(refuse(command.run, status, "start_patching", "created").into()),
    }
}

pub(crate) fn start_validation(world: &mut World, command: &StartValidation, _: &Meta) -> Decided {
    let state = world.run(command.run)?;
    require_let_go_unless_reverting(world, &state, "start_validation of a run of it")?;
    match state.status {
        Status::Patching => Ok(vec![emit(command.run, ValidationStarted {}, Pieces::new())]),
        status => Err(refuse(command.run, status, "start_validation", "patching").into()),
    }
}

pub(crate) fn fail(world: &mut World, command: &FailRun, _: &Meta) -> Decided {
    not_blank("error", &command.error)?;
    let state = require_unfinished(world, command.run, "fail_run")?;
    let mut pieces = Pieces::new();
    let event = Failed {
        error: pieces.text(command.error.as_str()),
    };
    let mut events = vec![emit(command.run, event, pieces)];
    events.extend(ended_after_intent(world, command.run, &state)?);
    Ok(events)
}

pub(super) fn check_artifacts(artifacts: &[ArtifactRef]) -> Result<(), Refusal> {
    artifacts.iter().try_for_each(ArtifactRef::check)
}

pub(super) fn store_footprint(footprint: &IoFootprint, pieces: &mut Pieces) -> StoredFootprint {
    StoredFootprint {
        paths_read: pieces.texts(&footprint.paths_read),
        paths_written: pieces.texts(&footprint.paths_written),
    }
}

pub(crate) fn propose_patch_set(
    world: &mut World,
    command: &ProposePatchSet,
    meta: &Meta,
) -> Decided {
    if let Some(artifact) = &command.artifact {
        artifact.check()?;
        if command.diff.is_some() {
            return Err(
                Refusal::invalid("diff", "it cannot be given together with artifact").into(),
            );
        }
    }
    for file in &command.touched {
        match command.observed {
            true => not_blank("touched.path", &file.path)?,
            false => path_in_repository("touched.path", &file.path)?,
        }
    }
    let state = world.run(command.run)?;
    match state.status {
        Status::Patching | Status::Validating => {}
        status => {
            let asked = "propose_patch_set";
            return Err(refuse(command.run, status, asked, "patching or validating").into());
        }
    }
    require_let_go_unless_reverting(world, &state, "propose_patch_set of a run of it")?;
    let patch_set = fresh_id(world, command.id, meta)?;
    let mut pieces = Pieces::new();
    let event = PatchSetProposed {
        patch_set,
        commit: command.commit.or(state.commit),
        format: command.format,
        artifact: store_diff(command, &mut pieces),
        touched: store_touched(command, &mut pieces),
        rationale: pieces.optional_text(command.rationale.as_deref()),
    };
    Ok(vec![emit(command.run, event, pieces)])
}

fn store_diff(command: &ProposePatchSet, pieces: &mut Pieces) -> Option<StoredArtifact> {
    if let Some(diff) = &command.diff {
        return Some(StoredArtifact::store_content(
            diff.0.clone(),
            "text/x-diff",
            pieces,
        ));
    }
    command
        .artifact
        .as_ref()
        .map(|artifact| StoredArtifact::store(artifact, pieces))
}

fn store_touched(command: &ProposePatchSet, pieces: &mut Pieces) -> Vec<StoredTouchedFile> {
    let store = |file: &super::TouchedFile| StoredTouchedFile {
        path: pieces.text(file.path.as_str()),
        change_type: file.change_type,
        lines_added: file.lines_added,
        lines_deleted: file.lines_deleted,
    };
    command.touched.iter().map(store).collect()
}

pub(crate) fn apply_patch_set(world: &mut World, command: &ApplyPatchSet, meta: &Meta) -> Decided {
    let (run, state) = owning_run(world, command.patch_set)?;
    if state.status != Status::Validating {
        return Err(refuse(run, state.status, "apply_patch_set", "validating").into());
    }
    require_let_go(world, &state, "apply_patch_set of a run of it")?;
    require_reviewer(world, run, &meta.actor)?;
    require_settled(world, &state, &meta.actor)?;
    let asked = "apply_patch_set";
    require_patch_set(
        &state,
        run,
        command.patch_set,
        ApplyStatus::Proposed,
        asked,
        "proposed",
    )?;
    Ok(vec![emit(
        run,
        PatchSetApplied {
            patch_set: command.patch_set,
        },
        Pieces::new(),
    )])
}

pub(crate) fn reject_patch_set(world: &mut World, command: &RejectPatchSet, _: &Meta) -> Decided {
    let (run, state) = owning_run(world, command.patch_set)?;
    let asked = "reject_patch_set";
    require_patch_set(
        &state,
        run,
        command.patch_set,
        ApplyStatus::Proposed,
        asked,
        "proposed",
    )?;
    let mut pieces = Pieces::new();
    let reason = pieces.optional_text(command.reason.as_deref());
    Ok(vec![emit(
        run,
        PatchSetRejected {
            patch_set: command.patch_set,
            reason,
        },
        pieces,
    )])
}

pub(crate) fn override_rationale(
    world: &mut World,
    command: &OverrideRationale,
    _: &Meta,
) -> Decided {
    let (run, _) = owning_run(world, command.patch_set)?;
    let mut pieces = Pieces::new();
    let rationale = pieces.optional_text(command.rationale.as_deref());
    Ok(vec![emit(
        run,
        RationaleOverridden {
            patch_set: command.patch_set,
            rationale,
        },
        pieces,
    )])
}

pub(crate) fn record_evidence(world: &mut World, command: &RecordEvidence, meta: &Meta) -> Decided {
    not_blank("tool", &command.tool)?;
    check_word("kind", command.kind.as_str(), EvidenceKind::LISTED)?;
    check_artifacts(&command.report_artifacts)?;
    check_parts("report", &command.report)?;
    let state = require_unfinished(world, command.run, "record_evidence")?;
    if let Some(patch_set) = command.patchset_id
        && !state.patch_sets.contains_key(&patch_set)
    {
        return Err(Refusal::ForeignPatchSet {
            patch_set,
            run: command.run,
        }
        .into());
    }
    let evidence = fresh_id(world, command.id, meta)?;
    let mut pieces = Pieces::new();
    let event = EvidenceRecorded {
        evidence,
        patch_set: command.patchset_id,
        kind: command.kind.clone(),
        tool: pieces.text(command.tool.as_str()),
        command: pieces.optional_text(command.command_line.as_deref()),
        exit_code: command.exit_code,
        summary: pieces.optional_text(command.summary.as_deref()),
        report_artifacts: StoredArtifact::store_with_parts(
            &command.report_artifacts,
            &command.report,
            &mut pieces,
        ),
    };
    Ok(vec![emit(command.run, event, pieces)])
}

fn check_cost(cost_usd: Option<f64>) -> Result<(), Refusal> {
    match cost_usd {
        Some(cost) if !cost.is_finite() || cost < 0.0 => Err(Refusal::invalid(
            "cost_usd",
            "it must be a number that is not negative",
        )),
        _ => Ok(()),
    }
}

fn check_tokens(state: &State, field: &'static str, more: &[u64]) -> Result<(), Refusal> {
    if state.tokens_with(more).is_some() {
        return Ok(());
    }
    let reason = "the sum of the run's tokens would be over 2^64 - 1";
    Err(Refusal::invalid(field, reason))
}

fn check_usage(usage: &TokenUsage) -> Result<StoredTokens, Refusal> {
    check_cost(usage.cost_usd)?;
    let Some(sum) = usage.input_tokens.checked_add(usage.output_tokens) else {
        return Err(Refusal::invalid(
            "token_usage",
            "the sum of its tokens is over 2^64 - 1",
        ));
    };
    if usage.total_tokens.is_some_and(|total| total != sum) {
        let reason = format!("it must be input_tokens + output_tokens, which is {sum}");
        return Err(Refusal::invalid("token_usage.total_tokens", reason));
    }
    Ok(StoredTokens {
        input_tokens: usage.input_tokens,
        output_tokens: usage.output_tokens,
        cost_usd: usage.cost_usd,
    })
}

pub(crate) fn record_provenance(
    world: &mut World,
    command: &RecordProvenance,
    meta: &Meta,
) -> Decided {
    not_blank("provider", &command.provider)?;
    not_blank("model", &command.model)?;
    if command
        .temperature
        .is_some_and(|temperature| !temperature.is_finite())
    {
        return Err(Refusal::invalid("temperature", "it must be a finite number").into());
    }
    let token_usage = command.token_usage.as_ref().map(check_usage).transpose()?;
    let state = world.run(command.run)?;
    if let Some(existing) = state.provenance {
        let (kind, existing) = (Kind::Provenance, existing.0);
        return Err(Refusal::OnlyOne {
            kind,
            run: command.run,
            existing,
        }
        .into());
    }
    if let Some(used) = &token_usage {
        check_tokens(
            &state,
            "token_usage",
            &[used.input_tokens, used.output_tokens],
        )?;
    }
    let provenance = fresh_id(world, command.id, meta)?;
    let mut pieces = Pieces::new();
    let event = ProvenanceRecorded {
        provenance,
        provider: pieces.text(command.provider.as_str()),
        model: pieces.text(command.model.as_str()),
        parameters: pieces.optional_json(command.parameters.as_ref()),
        temperature: command.temperature,
        max_tokens: command.max_tokens,
        token_usage,
    };
    Ok(vec![emit(command.run, event, pieces)])
}

pub(crate) fn record_usage(world: &mut World, command: &RecordUsage, _: &Meta) -> Decided {
    check_cost(command.cost_usd)?;
    let state = world.run(command.run)?;
    let mut pieces = Pieces::new();
    let event = UsageRecorded {
        model: pieces.optional_text(command.model.as_deref()),
        uncached_input_tokens: command.uncached_input_tokens,
        cache_read_tokens: command.cache_read_tokens,
        cache_write_tokens: command.cache_write_tokens,
        cache_write_1h_tokens: command.cache_write_1h_tokens,
        output_tokens: command.output_tokens,
        reasoning_tokens: command.reasoning_tokens,
        web_searches: command.web_searches,
        cost_usd: command.cost_usd,
    };
    check_tokens(&state, "output_tokens", &event.tokens())?;
    Ok(vec![emit(command.run, event, pieces)])
}

pub(crate) fn record_metrics(world: &mut World, command: &RecordMetrics, _: &Meta) -> Decided {
    world.run(command.run)?;
    let mut pieces = Pieces::new();
    let event = MetricsRecorded {
        metrics: pieces.json(&command.metrics),
    };
    Ok(vec![emit(command.run, event, pieces)])
}
