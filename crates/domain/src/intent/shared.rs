//! What the decisions on intents share.

use std::sync::Arc;

use super::{Event, Life, State};
use crate::pieces::Pieces;
use crate::world::{Emitted, World};
use crate::{AnyEvent, DecideError, IntentId, Kind, Refusal};

pub(crate) fn emit(id: IntentId, event: impl Into<Event>, pieces: Pieces) -> Emitted {
    Emitted {
        stream: id.stream(),
        event: AnyEvent::Intent(event.into()),
        pieces,
    }
}

pub(super) fn refuse(
    id: IntentId,
    state: Life,
    asked: &'static str,
    allowed: &'static str,
) -> Refusal {
    Refusal::Transition {
        kind: Kind::Intent,
        id: id.0,
        state: state.name().into(),
        asked,
        allowed,
    }
}

/// The same of a state in words.
pub(super) fn refuse_as(
    id: IntentId,
    state: impl Into<String>,
    asked: &'static str,
    allowed: &'static str,
) -> DecideError {
    let refusal = Refusal::Transition {
        kind: Kind::Intent,
        id: id.0,
        state: state.into(),
        asked,
        allowed,
    };
    refusal.into()
}

/// Demands that an intent is Active.
pub(crate) fn require_active(
    world: &mut World,
    intent: IntentId,
    asked: &'static str,
) -> Result<Arc<State>, DecideError> {
    let state = world.intent(intent)?;
    match state.life {
        Life::Active => Ok(state),
        life => Err(refuse(intent, life, asked, "active").into()),
    }
}
