//! What is accepted of a context pipeline, and what happens then.

use super::{
    CONTENT, CreatePipeline, Created, DropFrames, Event, EvictionPolicy, EvictionPolicySet,
    FramePushed, FrameRanges, FramesDropped, FramesUsed, GlobalSummarySet, MaxFramesSet, Open,
    PushFrame, SetEvictionPolicy, SetGlobalSummary, SetMaxFrames, State,
};
use crate::pieces::Pieces;
use crate::refusal::not_blank;
use crate::world::{Decided, Emitted, World};
use crate::{AnyEvent, DecideError, FrameId, Json, Kind, Meta, PipelineId, PlanId, Refusal};

fn emit(id: PipelineId, event: impl Into<Event>, pieces: Pieces) -> Emitted {
    Emitted {
        stream: id.stream(),
        event: AnyEvent::Pipeline(event.into()),
        pieces,
    }
}

/// A pipeline that takes frames.
pub(crate) fn open(world: &mut World, id: PipelineId) -> Result<Open, DecideError> {
    match &*world.pipeline(id)? {
        State::Open(open) => Ok(open.clone()),
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
    inferred: bool,
) -> Emitted {
    let event = FramesUsed {
        plan,
        step,
        frames,
        inferred,
    };
    emit(id, event, Pieces::new())
}

/// A policy makes sense, and fits the limit that is given with it.
fn check_policy(policy: &EvictionPolicy, max_frames: Option<u32>) -> Result<(), Refusal> {
    policy
        .check()
        .map_err(|error| Refusal::invalid("policy", error.to_string()))?;
    let Some(max_frames) = max_frames else {
        return Ok(());
    };
    let reason = match (policy, policy.own_max_frames()) {
        (EvictionPolicy::MaxFrames(_), own) if own.is_none_or(|own| own == max_frames) => {
            return Ok(());
        }
        (EvictionPolicy::MaxFrames(_), own) => format!(
            "the policy says {}, and max_frames {max_frames}; give one of them",
            own.unwrap_or(0)
        ),
        _ => format!(
            "the policy {} does not look at max_frames; give one of them",
            policy.name()
        ),
    };
    Err(Refusal::invalid("policy", reason))
}

pub(crate) fn create(world: &mut World, command: &CreatePipeline, meta: &Meta) -> Decided {
    let id = command.id.unwrap_or(PipelineId(meta.new_id));
    if let Some(asked) = command.id {
        world.unused(asked.0)?;
    }
    world.absent(id.stream())?;
    let default = EvictionPolicy::default();
    let policy = command.policy.as_ref().unwrap_or(&default);
    check_policy(policy, command.max_frames)?;
    let max_frames = command.max_frames.or(policy.own_max_frames()).unwrap_or(0);
    let mut emitted = vec![emit(id, Created { max_frames }, Pieces::new())];
    if policy.in_force() != default {
        emitted.push(emit(id, EvictionPolicySet::new(policy), Pieces::new()));
    }
    Ok(emitted)
}

pub(crate) fn push_frame(world: &mut World, command: &PushFrame, _: &Meta) -> Decided {
    not_blank("kind", command.kind.as_str())?;
    let frame_id = open(world, command.pipeline)?.next_frame_id;
    if frame_id.0 == u64::MAX {
        let reason = "it has used up all frame numbers; create another pipeline";
        return Err(Refusal::invalid("pipeline", reason).into());
    }
    if let (Some(data), Some(_)) = (&command.data, &command.content) {
        takes_content(data)?;
    }
    let mut pieces = Pieces::new();
    let event = FramePushed {
        frame_id,
        kind: command.kind.clone(),
        summary: pieces.text(command.summary.as_str()),
        data: pieces.optional_json(command.data.as_ref()),
        content: pieces.optional_json(command.content.as_ref()),
        token_estimate: command.token_estimate,
    };
    Ok(vec![emit(command.pipeline, event, pieces)])
}

/// Content becomes a member of the data.
fn takes_content(data: &Json) -> Result<(), Refusal> {
    let reason = match data.members() {
        Some(members) if members.get(CONTENT).is_none() => return Ok(()),
        Some(_) => "it has a member `content` already; give the content once",
        None => "content becomes a member of it, so it must be an object that can be read",
    };
    Err(Refusal::invalid("data", reason))
}

pub(crate) fn drop_frames(world: &mut World, command: &DropFrames, _: &Meta) -> Decided {
    let next = open(world, command.pipeline)?.next_frame_id;
    let frames = match &command.frames {
        None => FrameRanges::below(next),
        Some(frames) => pushed(frames, next)?,
    };
    if frames.is_empty() {
        return Ok(Vec::new());
    }
    let event = FramesDropped::new(&frames, next);
    Ok(vec![emit(command.pipeline, event, Pieces::new())])
}

/// Frames that were pushed, in ascending order.
fn pushed(frames: &[FrameId], next: FrameId) -> Result<FrameRanges, Refusal> {
    let mut frames = frames.to_vec();
    frames.sort_unstable();
    frames.dedup();
    match frames.last() {
        Some(last) if *last >= next => {
            let reason = format!(
                "frame {last} was not pushed; expected numbers below {next}, which the next frame gets"
            );
            Err(Refusal::invalid("frames", reason))
        }
        _ => Ok(frames.into_iter().collect()),
    }
}

pub(crate) fn set_max_frames(world: &mut World, command: &SetMaxFrames, _: &Meta) -> Decided {
    if open(world, command.pipeline)?.tally.max_frames() == command.max_frames {
        return Ok(Vec::new());
    }
    let event = MaxFramesSet {
        max_frames: command.max_frames,
    };
    Ok(vec![emit(command.pipeline, event, Pieces::new())])
}

pub(crate) fn set_eviction_policy(
    world: &mut World,
    command: &SetEvictionPolicy,
    _: &Meta,
) -> Decided {
    let open = open(world, command.pipeline)?;
    let policy = &command.policy;
    check_policy(policy, None)?;
    let limit = open.tally.max_frames();
    let same_limit = policy.own_max_frames().is_none_or(|own| own == limit);
    if same_limit && policy.in_force() == open.policy.in_force() {
        return Ok(Vec::new());
    }
    let event = EvictionPolicySet::new(policy);
    Ok(vec![emit(command.pipeline, event, Pieces::new())])
}

pub(crate) fn set_global_summary(
    world: &mut World,
    command: &SetGlobalSummary,
    _: &Meta,
) -> Decided {
    world.touch(command.pipeline.stream())?;
    let mut pieces = Pieces::new();
    let event = GlobalSummarySet {
        summary: pieces.optional_text(command.summary.as_deref()),
    };
    Ok(vec![emit(command.pipeline, event, pieces)])
}
