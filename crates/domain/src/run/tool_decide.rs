//! What is accepted of a tool call's life.
//!
//! Facts are not refused for their order: a call that was denied may begin, and one may end that is not
//! known to have begun. What adds nothing to what is known of the call is no event.

use super::decide::{check_artifacts, emit, require_unfinished, store_footprint};
use super::shared::fresh_id;
use super::tool_event::is_telemetry;
use super::{
    BeginToolCall, DecideToolCall, EndToolCall, FileInForce, GrantScope, KnownDecision,
    RecordToolInvocation, RequestToolCall, StoredFileInForce, ToolBegun, ToolCall, ToolDecided,
    ToolDecider, ToolEnded, ToolInvoked, ToolRequested,
};
use crate::content::check_parts;
use crate::origin::is_human;
use crate::pieces::{Pieces, Slot};
use crate::refusal::not_blank;
use crate::world::{Decided, World};
use crate::{ActorRef, DecideError, Kind, Meta, Refusal, RunId, StoredArtifact, ToolInvocationId};

/// Files that can be said to be in force for one decision.
const MOST_FILES: usize = 100;

/// What is known of a call of a run; `None` where no object has its id.
fn known_call(
    world: &mut World,
    run: RunId,
    id: ToolInvocationId,
) -> Result<Option<ToolCall>, DecideError> {
    match world.locate(id.0) {
        Err(DecideError::Refused(Refusal::Unknown { .. })) => Ok(None),
        Ok((Kind::ToolInvocation, stream)) if stream == run.stream() => {
            world.tool_call(stream, id).map(Some)
        }
        Ok((kind, _)) => Err(Refusal::Exists { kind, id: id.0 }.into()),
        Err(needs) => Err(needs),
    }
}

/// The tool's name for the first event on a call; later ones do not repeat it.
fn first_name(
    call: Option<&ToolCall>,
    id: ToolInvocationId,
    name: Option<&str>,
    pieces: &mut Pieces,
) -> Result<Option<Slot>, Refusal> {
    match (call, name) {
        (Some(_), _) => Ok(None),
        (None, Some(name)) => Ok(Some(pieces.text(name))),
        (None, None) => Err(Refusal::invalid(
            "tool_name",
            format!(
                "nothing is known of the call {id} yet: the first that is told of it needs the tool's name"
            ),
        )),
    }
}

fn not_blank_if_any(field: &'static str, text: Option<&str>) -> Result<(), Refusal> {
    text.map_or(Ok(()), |text| not_blank(field, text))
}

pub(crate) fn record_tool_invocation(
    world: &mut World,
    command: &RecordToolInvocation,
    meta: &Meta,
) -> Decided {
    let asked = "record_tool_invocation";
    not_blank("tool_name", &command.tool_name)?;
    check_artifacts(&command.artifacts)?;
    check_parts("output", &command.output)?;
    world.run(command.run)?;
    let call = match command.id {
        Some(id) => known_call(world, command.run, id),
        None => Ok(None),
    };
    match &call {
        // What a hook told of, a transcript may tell of after the run has ended.
        Ok(Some(call)) if !call.is_invoked => {}
        Err(DecideError::Needs(_)) => {}
        Ok(_) | Err(DecideError::Refused(_)) => {
            require_unfinished(world, command.run, asked)?;
        }
    }
    let tool_invocation = match call? {
        Some(call) if call.is_invoked => fresh_id(world, command.id, meta)?,
        Some(_) | None => command.id.unwrap_or(ToolInvocationId(meta.new_id)),
    };
    let mut pieces = Pieces::new();
    let event = ToolInvoked {
        tool_invocation,
        tool_name: pieces.text(command.tool_name.as_str()),
        io_footprint: command
            .io_footprint
            .as_ref()
            .map(|io| store_footprint(io, &mut pieces)),
        args: pieces.optional_json(command.args.as_ref()),
        status: command.status,
        duration_ms: command.duration_ms,
        result_summary: pieces.optional_text(command.result_summary.as_deref()),
        artifacts: StoredArtifact::store_with_parts(
            &command.artifacts,
            &command.output,
            &mut pieces,
        ),
    };
    Ok(vec![emit(command.run, event, pieces)])
}

pub(crate) fn request_tool_call(
    world: &mut World,
    command: &RequestToolCall,
    meta: &Meta,
) -> Decided {
    not_blank("tool_name", &command.tool_name)?;
    world.run(command.run)?;
    let call = match command.id {
        Some(id) => known_call(world, command.run, id)?,
        None => None,
    };
    match &call {
        None => {
            require_unfinished(world, command.run, "request_tool_call")?;
        }
        Some(call) => {
            let is_first = !call.is_requested && !call.is_invoked;
            let adds = is_first
                || (command.args.is_some() && !call.known.args)
                || (command.io_footprint.is_some() && !call.known.io_footprint);
            if !adds {
                return Ok(Vec::new());
            }
        }
    }
    let mut pieces = Pieces::new();
    let event = ToolRequested {
        tool_invocation: command.id.unwrap_or(ToolInvocationId(meta.new_id)),
        tool_name: pieces.text(command.tool_name.as_str()),
        io_footprint: command
            .io_footprint
            .as_ref()
            .map(|io| store_footprint(io, &mut pieces)),
        args: pieces.optional_json(command.args.as_ref()),
    };
    Ok(vec![emit(command.run, event, pieces)])
}

fn check_in_force(files: &[FileInForce]) -> Result<(), Refusal> {
    if files.len() > MOST_FILES {
        let reason = format!(
            "at most {MOST_FILES} files fit, and {} were given",
            files.len()
        );
        return Err(Refusal::invalid("in_force", reason));
    }
    for file in files {
        not_blank("in_force.path", &file.path)?;
        if file.content.is_some() == file.hash.is_some() {
            let reason = "a file has either its content or the hash of it";
            return Err(Refusal::invalid("in_force", reason));
        }
    }
    Ok(())
}

fn store_in_force(files: &[FileInForce], pieces: &mut Pieces) -> Vec<StoredFileInForce> {
    let store = |file: &FileInForce| StoredFileInForce {
        path: pieces.text(file.path.as_str()),
        hash: file.hash,
        content: file
            .content
            .as_ref()
            .map(|content| pieces.attachment(content.0.clone())),
    };
    files.iter().map(store).collect()
}

/// Refuses a person's verdict from an actor that is not a person. What was inferred, or reported by telemetry, is
/// taken: it lifts no denial.
fn check_decider(command: &DecideToolCall, actor: &ActorRef) -> Result<(), Refusal> {
    let is_stated = !command.inferred && !is_telemetry(command.source.as_deref());
    if command.by != ToolDecider::Person || !is_stated || is_human(actor) {
        return Ok(());
    }
    let reason = format!(
        "a person's verdict is given by a person, and {}:{} is none: give the command as human:ID, or set inferred",
        actor.kind, actor.id
    );
    Err(Refusal::invalid("by", reason))
}

pub(crate) fn decide_tool_call(
    world: &mut World,
    command: &DecideToolCall,
    meta: &Meta,
) -> Decided {
    not_blank_if_any("tool_name", command.tool_name.as_deref())?;
    not_blank_if_any("by_name", command.by_name.as_deref())?;
    not_blank_if_any("source", command.source.as_deref())?;
    check_in_force(command.in_force.as_deref().unwrap_or_default())?;
    check_decider(command, &meta.actor)?;
    world.run(command.run)?;
    let id = command.tool_invocation;
    let call = known_call(world, command.run, id)?;
    let mut pieces = Pieces::new();
    let event = ToolDecided {
        tool_invocation: id,
        tool_name: first_name(call.as_ref(), id, command.tool_name.as_deref(), &mut pieces)?,
        verdict: command.verdict,
        by: command.by,
        by_name: command.by_name.clone(),
        source: command.source.clone(),
        scope: command.scope.unwrap_or(GrantScope::Once),
        grant: command.grant,
        inferred: command.inferred,
        reason: pieces.optional_text(command.reason.as_deref()),
        permission_mode: pieces.optional_text(command.permission_mode.as_deref()),
        in_force: command
            .in_force
            .as_ref()
            .map(|files| store_in_force(files, &mut pieces)),
    };
    let decision = KnownDecision::of(&event);
    if call.is_some_and(|call| call.has_decided(&decision)) {
        return Ok(Vec::new());
    }
    Ok(vec![emit(command.run, event, pieces)])
}

pub(crate) fn begin_tool_call(world: &mut World, command: &BeginToolCall, _: &Meta) -> Decided {
    not_blank_if_any("tool_name", command.tool_name.as_deref())?;
    world.run(command.run)?;
    let id = command.tool_invocation;
    let call = known_call(world, command.run, id)?;
    if call.as_ref().is_some_and(|it| it.is_begun || it.is_invoked) {
        return Ok(Vec::new());
    }
    let mut pieces = Pieces::new();
    let event = ToolBegun {
        tool_invocation: id,
        tool_name: first_name(call.as_ref(), id, command.tool_name.as_deref(), &mut pieces)?,
    };
    Ok(vec![emit(command.run, event, pieces)])
}

/// Whether an end tells what is not known of the call. One that contradicts another does.
fn end_adds(command: &EndToolCall, call: &ToolCall) -> bool {
    let has_output = !command.artifacts.is_empty() || !command.output.is_empty();
    !call.ended_so(command.status)
        || (command.duration_ms.is_some() && !call.known.duration)
        || (command.result_summary.is_some() && !call.known.result_summary)
        || (command.failure.is_some() && !call.known.failure)
        || (has_output && !call.known.artifacts)
}

pub(crate) fn end_tool_call(world: &mut World, command: &EndToolCall, _: &Meta) -> Decided {
    not_blank_if_any("tool_name", command.tool_name.as_deref())?;
    check_artifacts(&command.artifacts)?;
    check_parts("output", &command.output)?;
    world.run(command.run)?;
    let id = command.tool_invocation;
    let call = known_call(world, command.run, id)?;
    if call.as_ref().is_some_and(|call| !end_adds(command, call)) {
        return Ok(Vec::new());
    }
    let mut pieces = Pieces::new();
    let event = ToolEnded {
        tool_invocation: id,
        tool_name: first_name(call.as_ref(), id, command.tool_name.as_deref(), &mut pieces)?,
        status: command.status,
        duration_ms: command.duration_ms,
        result_summary: pieces.optional_text(command.result_summary.as_deref()),
        failure: pieces.optional_text(command.failure.as_deref()),
        artifacts: StoredArtifact::store_with_parts(
            &command.artifacts,
            &command.output,
            &mut pieces,
        ),
    };
    Ok(vec![emit(command.run, event, pieces)])
}
