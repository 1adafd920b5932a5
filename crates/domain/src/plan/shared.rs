//! What the decisions on plans share.

use super::Event;
use crate::pieces::Pieces;
use crate::world::Emitted;
use crate::{AnyEvent, PlanId};

pub(crate) fn emit(id: PlanId, event: impl Into<Event>, pieces: Pieces) -> Emitted {
    Emitted {
        stream: id.stream(),
        event: AnyEvent::Plan(event.into()),
        pieces,
    }
}
