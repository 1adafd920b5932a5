//! What adapters and planners say of a session: results of commands, plans, runs.

use uuid::Uuid;

use super::check::hint;
use super::draft::Draft;
use super::evolve::changes_code;
use super::stored_results::json;
use super::{
    ArtifactAvailable, AttachRun, BacklogQueried, CommandCompleted, CommandFacts, CommandKind,
    CommandResult, CompleteCommand, ConflictDetected, Correlation, LinkPlanTask, OpenCommand,
    Paused, PlanNodeLinked, PlanUpdated, RecordArtifact, RecordBacklog, RecordConflict,
    RecordWorkItem, RunAttached, SessionStatus, StoredRepo, UpdatePlan, WorkItemQueried,
};
use crate::input::{plain_path, shown};
use crate::is_removed_name;
use crate::pieces::Pieces;
use crate::refusal::not_blank;
use crate::run::{self, EvidenceKind, EvidenceRecorded, ToolInvoked, ToolStatus};
use crate::world::{Decided, World};
use crate::{
    CommandId, DecideError, EvidenceId, Meta, Refusal, RunId, SessionId, StreamKind, Timestamp,
    ToolInvocationId,
};

/// The tool invocation that a command is in its run: a UUID of version 5 over
/// its session and its id.
pub fn invocation_of(session: SessionId, command: CommandId) -> ToolInvocationId {
    ToolInvocationId(Uuid::new_v5(&session.0, command.0.as_bytes()))
}

/// The run that goes on in a session, unless it has ended.
fn current_run(draft: &mut Draft<'_>) -> Result<Option<RunId>, DecideError> {
    let Some(id) = draft.session().run else {
        return Ok(None);
    };
    let status = draft.world().run(id)?.status;
    Ok(unfinished(status).then_some(id))
}

fn unfinished(status: run::Status) -> bool {
    match status {
        run::Status::Created | run::Status::Patching | run::Status::Validating => true,
        run::Status::Absent | run::Status::Completed | run::Status::Failed => false,
    }
}

pub(crate) fn complete_command(
    world: &mut World,
    command: &CompleteCommand,
    meta: &Meta,
) -> Decided {
    let mut draft = Draft::of(world, command.session, meta)?;
    let correlation = draft.open(command.id)?;
    let open = draft.session().open.get(&command.id).cloned();
    if let Some(open) = &open {
        ends_now(&mut draft, open, meta)?;
    }
    let run = current_run(&mut draft)?;
    let mut pieces = Pieces::new();
    let event = CommandCompleted {
        command: command.id,
        outcome: command.outcome,
        message: pieces.optional_text(command.message.as_deref()),
        error_code: pieces.optional_text(command.error_code.as_deref()),
        correlation,
    };
    draft.push(event, pieces);
    pause_after_failures(&mut draft, command.outcome);
    if let (Some(run), Some(open)) = (run, open) {
        invoke(&mut draft, run, command, &open, meta.at)?;
    }
    Ok(draft.done())
}

/// Where several sessions share a repository, a change ends when that is recorded: otherwise one that ended after
/// another's tests could be said to have ended before them.
fn ends_now(draft: &mut Draft<'_>, open: &OpenCommand, meta: &Meta) -> Result<(), DecideError> {
    let is_change = open.facts.as_ref().is_some_and(changes_code);
    if !is_change || meta.at >= meta.now || draft.family()?.is_empty() {
        return Ok(());
    }
    let reason = format!(
        "{} is before the log's clock, {}, and other sessions that began this one, or that it began, work in its \
         repository, so that a change ends when it is recorded: leave it out",
        meta.at, meta.now
    );
    Err(Refusal::invalid("at", reason).into())
}

/// Too many failures in a row pause a session that is open.
fn pause_after_failures(draft: &mut Draft<'_>, outcome: CommandResult) {
    let session = draft.session();
    let most = session.pause_after_failures;
    let failures = match outcome {
        CommandResult::Success => 0,
        CommandResult::Failure => session.failures.saturating_add(1),
    };
    let is_open = match session.status {
        SessionStatus::Unknown | SessionStatus::Running | SessionStatus::NeedsApproval => true,
        SessionStatus::Paused | SessionStatus::Error | SessionStatus::Completed => false,
    };
    if most > 0 && failures >= most && is_open {
        let event = Paused {
            reason: None,
            failures: Some(failures),
        };
        draft.push(event, Pieces::new());
    }
}

/// A command that ended is one tool invocation of the session's run.
fn invoke(
    draft: &mut Draft<'_>,
    run: RunId,
    command: &CompleteCommand,
    open: &OpenCommand,
    at: Timestamp,
) -> Result<(), DecideError> {
    let mut pieces = Pieces::new();
    let summary = match (&command.error_code, &command.message) {
        (Some(code), Some(message)) => Some(format!("{code}: {message}")),
        (code, message) => code.as_ref().or(message.as_ref()).cloned(),
    };
    // In the order of their names, which every build of serde_json keeps.
    let args = serde_json::json!({ "command": command.id, "session": command.session });
    let took = (at.to_utc() - open.at.to_utc()).num_milliseconds();
    let event = ToolInvoked {
        tool_invocation: invocation_of(command.session, command.id),
        tool_name: pieces.text(tool(open)),
        io_footprint: None,
        args: Some(pieces.json(&json("args", &args)?)),
        status: match command.outcome {
            CommandResult::Success => ToolStatus::Ok,
            CommandResult::Failure => ToolStatus::Error,
        },
        duration_ms: u64::try_from(took).ok(),
        result_summary: pieces.optional_text(summary.as_deref()),
        artifacts: Vec::new(),
    };
    draft.push_other(run::decide::emit(run, event, pieces));
    Ok(())
}

/// The name of a command as a tool.
fn tool(open: &OpenCommand) -> &'static str {
    open.facts
        .as_ref()
        .map_or("unknown", |facts| facts.kind.as_str())
}

/// Kinds of commands that can meet a conflict: those that change a repository or what is in it.
const CONFLICTING: &[CommandKind] = &[
    CommandKind::CreateBranch,
    CommandKind::ApplyPatch,
    CommandKind::Commit,
    CommandKind::Push,
];

/// What the gate looked at in an open command, which must be of one of some kinds: results answer what was asked.
/// Commands that another system accepted may be of any kind, where it is not known.
fn of_kind<'d>(
    draft: &'d Draft<'_>,
    command: CommandId,
    result: &str,
    kinds: &[CommandKind],
) -> Result<Option<&'d CommandFacts>, Refusal> {
    let open = draft.session().open.get(&command);
    let Some(facts) = open.and_then(|open| open.facts.as_ref()) else {
        return Ok(None);
    };
    if kinds.contains(&facts.kind) {
        return Ok(Some(facts));
    }
    let expected: Vec<&str> = kinds.iter().map(|kind| kind.as_str()).collect();
    let reason = format!(
        "{command} is a {}, and {result} is the result of {}",
        facts.kind,
        expected.join(", ")
    );
    Err(Refusal::invalid("id", reason))
}

pub(crate) fn record_conflict(world: &mut World, command: &RecordConflict, meta: &Meta) -> Decided {
    let mut draft = Draft::of(world, command.session, meta)?;
    let correlation = draft.open(command.id)?;
    let facts = of_kind(&draft, command.id, "a conflict", CONFLICTING)?;
    let repo = facts.and_then(|facts| facts.repo.clone());
    if repo.is_some_and(|repo| plain_path(&repo) != plain_path(&command.repo.path)) {
        let reason = "the command is about another repository: expected the path that it names";
        return Err(Refusal::invalid("repo.path", reason).into());
    }
    let name = draft
        .session()
        .open
        .get(&command.id)
        .map_or("unknown", tool);
    let run = current_run(&mut draft)?;
    let mut pieces = Pieces::new();
    let event = ConflictDetected {
        repo: StoredRepo::store(&command.repo, &mut pieces),
        details: pieces.text(command.details.as_str()),
        patch: pieces.optional_text(command.patch_content.as_deref()),
        correlation,
    };
    draft.push(event, pieces);
    if let Some(run) = run {
        let mut pieces = Pieces::new();
        let evidence = EvidenceRecorded {
            evidence: EvidenceId(meta.new_id),
            patch_set: None,
            kind: EvidenceKind::Other("rebase".to_owned()),
            tool: pieces.text(name),
            command: None,
            exit_code: None,
            summary: Some(pieces.text(command.details.as_str())),
            report_artifacts: Vec::new(),
        };
        draft.push_other(run::decide::emit(run, evidence, pieces));
    }
    Ok(draft.done())
}

pub(crate) fn record_artifact(world: &mut World, command: &RecordArtifact, meta: &Meta) -> Decided {
    let mut draft = Draft::of(world, command.session, meta)?;
    let correlation = match command.id {
        Some(id) => draft.accepted(id)?,
        None => Correlation::default(),
    };
    let artifact = &command.artifact;
    let mut hints = artifact.path_hint.iter();
    hints.try_for_each(|path| hint("artifact.pathHint", path))?;
    let mut pieces = Pieces::new();
    let event = ArtifactAvailable::store(artifact, correlation, &mut pieces);
    draft.push(event, pieces);
    Ok(draft.done())
}

pub(crate) fn record_backlog(world: &mut World, command: &RecordBacklog, meta: &Meta) -> Decided {
    let mut draft = Draft::of(world, command.session, meta)?;
    let correlation = draft.open(command.id)?;
    of_kind(
        &draft,
        command.id,
        "a backlog",
        &[CommandKind::QueryBacklog],
    )?;
    for item in &command.items {
        not_blank("items.id", &item.id)?;
    }
    for (event, pieces) in BacklogQueried::store(&command.items, &correlation)? {
        draft.push(event, pieces);
    }
    Ok(draft.done())
}

pub(crate) fn record_work_item(
    world: &mut World,
    command: &RecordWorkItem,
    meta: &Meta,
) -> Decided {
    let mut draft = Draft::of(world, command.session, meta)?;
    let correlation = draft.open(command.id)?;
    not_blank("details.id", &command.details.id)?;
    let facts = of_kind(
        &draft,
        command.id,
        "a ticket",
        &[CommandKind::QueryWorkItem],
    )?;
    let asked = facts.and_then(|facts| facts.work_item.as_deref());
    if let Some(asked) =
        asked.filter(|asked| *asked != command.details.id && !is_removed_name(asked))
    {
        let reason = format!(
            "the command asked for another ticket: expected {}, found {}",
            shown(asked),
            shown(&command.details.id)
        );
        return Err(Refusal::invalid("details.id", reason).into());
    }
    let mut pieces = Pieces::new();
    let event = WorkItemQueried::store(&command.details, correlation, &mut pieces)?;
    draft.push(event, pieces);
    Ok(draft.done())
}

/// Plans, nodes and runs are for sessions that are not over.
fn unended<'a>(
    world: &'a mut World,
    session: SessionId,
    asked: &'static str,
    meta: &'a Meta,
) -> Result<Draft<'a>, DecideError> {
    let draft = Draft::of(world, session, meta)?;
    if draft.session().status.is_terminal() {
        return Err(draft.refuse(asked, "not yet Completed or Error"));
    }
    Ok(draft)
}

pub(crate) fn update_plan(world: &mut World, command: &UpdatePlan, meta: &Meta) -> Decided {
    command
        .plan
        .check()
        .and_then(|()| command.plan.check_room())
        .map_err(|error| Refusal::invalid("plan", error.to_string()))?;
    let mut draft = unended(world, command.session, "update_plan", meta)?;
    let mut pieces = Pieces::new();
    let event = PlanUpdated::store(&command.plan, Correlation::default(), &mut pieces)?;
    draft.push(event, pieces);
    Ok(draft.done())
}

pub(crate) fn link_plan_task(world: &mut World, command: &LinkPlanTask, meta: &Meta) -> Decided {
    not_blank("node", &command.node)?;
    let mut draft = unended(world, command.session, "link_plan_task", meta)?;
    if is_removed_name(&command.node) || !draft.session().nodes.contains(&command.node) {
        let reason = format!("{:?} is not a node of the session's plan", command.node);
        return Err(Refusal::invalid("node", reason).into());
    }
    draft.world().require(StreamKind::Task, command.task)?;
    let event = PlanNodeLinked {
        node: command.node.clone(),
        task: command.task,
    };
    draft.push(event, Pieces::new());
    Ok(draft.done())
}

pub(crate) fn attach_run(world: &mut World, command: &AttachRun, meta: &Meta) -> Decided {
    let mut draft = unended(world, command.session, "attach_run", meta)?;
    if draft.session().run == Some(command.run) {
        return Ok(Vec::new());
    }
    let status = draft.world().run(command.run)?.status;
    if !unfinished(status) {
        let allowed = "created, patching or validating";
        return Err(run::decide::refuse(command.run, status, "attach_run", allowed).into());
    }
    draft.push(RunAttached { run: command.run }, Pieces::new());
    Ok(draft.done())
}
