//! What is accepted of an intent, and what happens then.

use super::{
    ActivateIntent, Activated, AnalyzeIntent, Analyzed, CancelIntent, Cancelled, CommitRecorded,
    CompleteIntent, Completed, CreateIntent, Event, Life, PlanSelected, RecordCommit, SelectPlan,
    Submitted,
};
use crate::pieces::Pieces;
use crate::refusal::not_blank;
use crate::world::{Decided, Emitted, World};
use crate::{AnyEvent, IntentId, Kind, Meta, Refusal, StreamKind, plan};

pub(crate) fn emit(id: IntentId, event: impl Into<Event>, pieces: Pieces) -> Emitted {
    Emitted {
        stream: id.stream(),
        event: AnyEvent::Intent(event.into()),
        pieces,
    }
}

fn refuse(id: IntentId, state: Life, asked: &'static str, allowed: &'static str) -> Refusal {
    Refusal::Transition {
        kind: Kind::Intent,
        id: id.0,
        state: state.name().into(),
        asked,
        allowed,
    }
}

pub(crate) fn create(world: &mut World, command: &CreateIntent, meta: &Meta) -> Decided {
    let id = command.id.unwrap_or(IntentId(meta.new_id));
    not_blank("prompt", &command.prompt)?;
    if let Some(asked) = command.id {
        world.unused(asked.0)?;
    }
    world.absent(id.stream())?;
    if let Some(parent) = command.parent {
        world.require(StreamKind::Intent, parent)?;
    }
    let mut pieces = Pieces::new();
    let event = Submitted {
        refines: command.parent,
        prompt: pieces.text(command.prompt.as_str()),
    };
    Ok(vec![emit(id, event, pieces)])
}

pub(crate) fn analyze(world: &mut World, command: &AnalyzeIntent, _: &Meta) -> Decided {
    not_blank("content", &command.content)?;
    match world.intent(command.intent)?.life {
        Life::Draft { .. } | Life::Active => {}
        state => {
            return Err(refuse(command.intent, state, "analyze_intent", "draft or active").into());
        }
    }
    let mut pieces = Pieces::new();
    let event = Analyzed {
        content: pieces.text(command.content.as_str()),
    };
    Ok(vec![emit(command.intent, event, pieces)])
}

pub(crate) fn activate(world: &mut World, command: &ActivateIntent, _: &Meta) -> Decided {
    match world.intent(command.intent)?.life {
        Life::Draft { analyzed: true } => {}
        state => {
            let allowed = "draft and has its content (analyze_intent)";
            return Err(refuse(command.intent, state, "activate_intent", allowed).into());
        }
    }
    let mut pieces = Pieces::new();
    let event = Activated {
        reason: pieces.optional_text(command.reason.as_deref()),
    };
    Ok(vec![emit(command.intent, event, pieces)])
}

/// Demands that an intent is Active.
pub(crate) fn require_active(
    world: &mut World,
    intent: IntentId,
    asked: &'static str,
) -> Result<(), crate::DecideError> {
    match world.intent(intent)?.life {
        Life::Active => Ok(()),
        state => Err(refuse(intent, state, asked, "active").into()),
    }
}

pub(crate) fn select_plan(world: &mut World, command: &SelectPlan, _: &Meta) -> Decided {
    require_active(world, command.intent, "select_plan")?;
    plan::decide::check_intent(world, command.plan, Some(command.intent), "plan")?;
    Ok(vec![emit(
        command.intent,
        PlanSelected { plan: command.plan },
        Pieces::new(),
    )])
}

pub(crate) fn record_commit(world: &mut World, command: &RecordCommit, _: &Meta) -> Decided {
    require_active(world, command.intent, "record_commit")?;
    Ok(vec![emit(
        command.intent,
        CommitRecorded {
            commit: command.commit,
        },
        Pieces::new(),
    )])
}

pub(crate) fn complete(world: &mut World, command: &CompleteIntent, _: &Meta) -> Decided {
    require_active(world, command.intent, "complete_intent")?;
    let mut pieces = Pieces::new();
    let event = Completed {
        reason: pieces.optional_text(command.reason.as_deref()),
    };
    Ok(vec![emit(command.intent, event, pieces)])
}

pub(crate) fn cancel(world: &mut World, command: &CancelIntent, _: &Meta) -> Decided {
    match world.intent(command.intent)?.life {
        Life::Draft { .. } | Life::Active => {}
        state => {
            return Err(refuse(command.intent, state, "cancel_intent", "draft or active").into());
        }
    }
    let mut pieces = Pieces::new();
    let event = Cancelled {
        reason: pieces.optional_text(command.reason.as_deref()),
    };
    Ok(vec![emit(command.intent, event, pieces)])
}
