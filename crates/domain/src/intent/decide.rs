//! What is accepted of an intent, and what happens then.

use super::above::{parts_end, require_wholes_ready};
use super::conditions::require_dependencies;
use super::open_work::open_work;
use super::shared::refuse;
pub(crate) use super::shared::{emit, require_active};
use super::status::status_without_open;
use super::who::{completed_by, turned_down_by};
use super::{
    ActivateIntent, Activated, AnalyzeIntent, Analyzed, CancelIntent, Cancelled, CommitRecorded,
    CompleteIntent, Completed, CreateIntent, Life, PlanSelected, RecordCommit, SelectPlan,
    Submitted,
};
use crate::pieces::Pieces;
use crate::refusal::not_blank;
use crate::world::{Decided, World};
use crate::{IntentId, Kind, Meta, Refusal, StreamKind, plan};

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

pub(crate) fn select_plan(world: &mut World, command: &SelectPlan, meta: &Meta) -> Decided {
    let (intent, plan) = (command.intent, command.plan);
    let current = require_active(world, intent, "select_plan")?.plan;
    let assigned = plan::decide::selected(world, plan, intent, current, meta)?;
    if current == Some(plan) {
        return Ok(assigned);
    }
    let mut events = vec![emit(intent, PlanSelected { plan }, Pieces::new())];
    events.extend(assigned);
    Ok(events)
}

pub(crate) fn record_commit(world: &mut World, command: &RecordCommit, meta: &Meta) -> Decided {
    require_active(world, command.intent, "record_commit")?;
    super::intake::require_begun_or_ready(world, command.intent, "record_commit")?;
    super::require_settled(world, None, &[command.intent], &meta.actor)?;
    Ok(vec![emit(
        command.intent,
        CommitRecorded {
            commit: command.commit,
        },
        Pieces::new(),
    )])
}

pub(crate) fn complete(world: &mut World, command: &CompleteIntent, meta: &Meta) -> Decided {
    let state = require_active(world, command.intent, "complete_intent")?;
    // Otherwise an intent that was not approved would become done.
    super::intake::require_let_go(world, command.intent, &state, "complete_intent")?;
    // What waits for others, or is a part of what waits, is no more done than it is begun.
    require_dependencies(world, command.intent, &state, "complete_intent")?;
    require_wholes_ready(world, &state)?;
    let open = open_work(world, command.intent, &state)?;
    if let Some(allowed) = open.in_the_way(command.abandon_open) {
        return Err(Refusal::Transition {
            kind: Kind::Intent,
            id: command.intent.0,
            state: format!("active, and {}", open.named()),
            asked: "complete_intent",
            allowed,
        }
        .into());
    }
    let status = status_without_open(world, command.intent)?;
    completed_by(&state, status, open.has_a_persons_task(), &meta.actor)?;
    let mut events = open.abandoned(command.intent, command.reason.as_deref());
    let mut pieces = Pieces::new();
    let event = Completed {
        reason: pieces.optional_text(command.reason.as_deref()),
    };
    events.push(emit(command.intent, event, pieces));
    Ok(events)
}

pub(crate) fn cancel(world: &mut World, command: &CancelIntent, meta: &Meta) -> Decided {
    let id = command.intent;
    let state = world.intent(id)?;
    match state.life {
        Life::Draft { .. } | Life::Active => {}
        life => {
            return Err(refuse(id, life, "cancel_intent", "draft or active").into());
        }
    }
    // Of what was never put before a person no person is asked.
    if state.is_taken_in {
        let status = status_without_open(world, id)?;
        turned_down_by(world, id, &state, (status, "cancelled"), &meta.actor)?;
    }
    let mut pieces = Pieces::new();
    let event = Cancelled {
        reason: pieces.optional_text(command.reason.as_deref()),
    };
    let mut events = vec![emit(id, event, pieces)];
    events.extend(parts_end(world, id, &state, "cancelled", &meta.actor)?);
    Ok(events)
}
