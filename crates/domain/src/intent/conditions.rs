//! What must be so of an intent itself before work on it begins or goes on.

use super::shared::refuse_as as refuse;
use super::status::status_in;
use super::{ApprovalStatus, Life, Stage, State};
use crate::world::World;
use crate::{DecideError, IntentId};

/// Whether an intent waits for an approval.
pub(super) fn waits_for_approval(state: &State) -> bool {
    state.is_taken_in && state.stage == Stage::Proposed
}

/// How an intent was turned down, if it was.
pub(super) fn turned_down(state: &State) -> Option<&'static str> {
    match (state.stage, state.life) {
        (Stage::Rejected, _) => Some("rejected"),
        (_, Life::Cancelled) => Some("cancelled"),
        _ => None,
    }
}

/// Demands that nothing is left to be answered, and that what the intent depends
/// on is done.
pub(super) fn require_conditions(
    world: &mut World,
    id: IntentId,
    state: &State,
    asked: &'static str,
) -> Result<(), DecideError> {
    if state.needs_clarification() {
        let allowed = "approved, and its questions have answers (answer_clarification)";
        return Err(refuse(id, "waiting for an answer", asked, allowed));
    }
    require_dependencies(world, id, state, asked)
}

/// Demands that what the intent depends on is done.
pub(super) fn require_dependencies(
    world: &mut World,
    id: IntentId,
    state: &State,
    asked: &'static str,
) -> Result<(), DecideError> {
    for other in &state.depends_on {
        let status = status_in(world, *other)?;
        if status != ApprovalStatus::Done {
            let waits = format!("waiting for intent {other}, which is {status}");
            let allowed = "approved, and what it depends on is done";
            return Err(refuse(id, waits, asked, allowed));
        }
    }
    Ok(())
}
