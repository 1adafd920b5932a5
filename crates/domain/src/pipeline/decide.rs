//! What is accepted of a context pipeline, and what happens then.

use super::{
    CreatePipeline, Created, Event, FramePushed, FramesUsed, GlobalSummarySet, MaxFramesSet,
    Occupancy, PushFrame, SetGlobalSummary, SetMaxFrames, State,
};
use crate::pieces::Pieces;
use crate::refusal::not_blank;
use crate::world::{Decided, Emitted, World};
use crate::{
    AnyEvent, DecideError, FrameId, Kind, Meta, PipelineId, PlanId, Refusal, StreamKind, StreamRef,
};

fn stream(id: PipelineId) -> StreamRef {
    StreamRef {
        kind: StreamKind::Pipeline,
        id: id.0,
    }
}

fn emit(id: PipelineId, event: impl Into<Event>, pieces: Pieces) -> Emitted {
    Emitted {
        stream: stream(id),
        event: AnyEvent::Pipeline(event.into()),
        pieces,
    }
}

/// How full the window of a pipeline is.
pub(crate) fn occupancy(world: &mut World, id: PipelineId) -> Result<Occupancy, DecideError> {
    match *world.pipeline(id)? {
        State::Open(occupancy) => Ok(occupancy),
        State::Absent => Err(Refusal::NotFound {
            kind: Kind::ContextPipeline,
            id: id.0,
        }
        .into()),
    }
}

/// A step's use of frames, for the pipeline's own stream.
pub(crate) fn frames_used(
    id: PipelineId,
    plan: PlanId,
    step: u32,
    frames: Vec<FrameId>,
) -> Emitted {
    emit(id, FramesUsed { plan, step, frames }, Pieces::new())
}

pub(crate) fn create(world: &mut World, command: &CreatePipeline, meta: &Meta) -> Decided {
    let id = command.id.unwrap_or(PipelineId(meta.new_id));
    if let Some(asked) = command.id {
        world.unused(asked.0)?;
    }
    world.absent(stream(id))?;
    let event = Created {
        max_frames: command.max_frames.unwrap_or(0),
    };
    Ok(vec![emit(id, event, Pieces::new())])
}

pub(crate) fn push_frame(world: &mut World, command: &PushFrame, _: &Meta) -> Decided {
    not_blank("kind", command.kind.as_str())?;
    let frame_id = occupancy(world, command.pipeline)?.next_frame_id();
    if frame_id.0 == u64::MAX {
        let reason = "it has used up all frame numbers; create another pipeline";
        return Err(Refusal::invalid("pipeline", reason).into());
    }
    let mut pieces = Pieces::new();
    let event = FramePushed {
        frame_id,
        kind: command.kind.clone(),
        summary: pieces.text(command.summary.as_str()),
        data: pieces.optional_json(command.data.as_ref()),
        token_estimate: command.token_estimate,
    };
    Ok(vec![emit(command.pipeline, event, pieces)])
}

pub(crate) fn set_max_frames(world: &mut World, command: &SetMaxFrames, _: &Meta) -> Decided {
    if occupancy(world, command.pipeline)?.max_frames() == command.max_frames {
        return Ok(Vec::new());
    }
    let event = MaxFramesSet {
        max_frames: command.max_frames,
    };
    Ok(vec![emit(command.pipeline, event, Pieces::new())])
}

pub(crate) fn set_global_summary(
    world: &mut World,
    command: &SetGlobalSummary,
    _: &Meta,
) -> Decided {
    world.touch(stream(command.pipeline))?;
    let mut pieces = Pieces::new();
    let event = GlobalSummarySet {
        summary: pieces.optional_text(command.summary.as_deref()),
    };
    Ok(vec![emit(command.pipeline, event, pieces)])
}
