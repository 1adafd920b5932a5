//! What the decisions on tasks share.

use super::{Event, Status};
use crate::pieces::Pieces;
use crate::world::Emitted;
use crate::{AnyEvent, Kind, Refusal, TaskId};

pub(crate) fn emit(id: TaskId, event: impl Into<Event>, pieces: Pieces) -> Emitted {
    Emitted {
        stream: id.stream(),
        event: AnyEvent::Task(event.into()),
        pieces,
    }
}

pub(crate) fn refuse(
    id: TaskId,
    status: Status,
    asked: &'static str,
    allowed: &'static str,
) -> Refusal {
    Refusal::Transition {
        kind: Kind::Task,
        id: id.0,
        state: status.name().into(),
        asked,
        allowed,
    }
}
