//! The intents that one is a part of: a part waits for their approval and for their conditions,
//! takes no work once one of them has ended, and ends with them.

use std::collections::HashSet;
use std::sync::Arc;

use super::conditions::{
    require_conditions, require_dependencies, turned_down, waits_for_approval,
};
use super::shared::{emit, refuse_as as refuse};
use super::status::{status_in, status_without_open};
use super::who::turned_down_by;
use super::{ApprovalStatus, Cancelled, Life, Stage, State};
use crate::pieces::Pieces;
use crate::world::{Emitted, World};
use crate::{ActorRef, DecideError, IntentId};

/// The work that a part is to its whole, in refusals.
const PART: &str = "work on a part of it";

/// The intents that one is a part of, the nearest first, up to one that is executing: what that is a
/// part of let it begin, and ends it with itself. All of them are read, so that the append is guarded
/// on them.
pub(super) fn above(
    world: &mut World,
    state: &State,
) -> Result<Vec<(IntentId, Arc<State>)>, DecideError> {
    let (mut found, mut seen, mut next) = (Vec::new(), HashSet::new(), state.child_of);
    while let Some(id) = next.filter(|id| seen.insert(*id)) {
        // An import may name a whole that does not exist.
        let Some(whole) = world.intent_if_any(id)? else {
            break;
        };
        next = whole.child_of.filter(|_| whole.stage != Stage::Executing);
        found.push((id, whole));
    }
    Ok(found)
}

/// Demands that no whole was turned down or waits for an approval: a part of it goes no further.
pub(super) fn require_let_go(
    world: &mut World,
    id: IntentId,
    state: &State,
    asked: &'static str,
) -> Result<(), DecideError> {
    for (whole, it) in above(world, state)? {
        if let Some(how) = turned_down(&it) {
            return Err(ended(id, whole, how, asked));
        }
        if waits_for_approval(&it) {
            let state = format!("a part of intent {whole}, which is proposed");
            let allowed = "a part of what is approved (approve_intent of that intent)";
            return Err(refuse(id, state, asked, allowed));
        }
    }
    Ok(())
}

/// Demands that no whole has ended.
pub(super) fn require_open(
    world: &mut World,
    id: IntentId,
    state: &State,
    asked: &'static str,
) -> Result<(), DecideError> {
    for (whole, it) in above(world, state)? {
        if let Some(how) = turned_down(&it) {
            return Err(ended(id, whole, how, asked));
        }
        if it.life == Life::Completed {
            return Err(ended(id, whole, it.life.name(), asked));
        }
    }
    Ok(())
}

/// Demands that work on a part may begin: each whole is let go, has not ended, and if no work on it
/// has begun, its own conditions are met.
pub(super) fn require_ready(
    world: &mut World,
    id: IntentId,
    state: &State,
    asked: &'static str,
) -> Result<(), DecideError> {
    require_open(world, id, state, asked)?;
    require_let_go(world, id, state, asked)?;
    require_wholes_ready(world, state)
}

/// Demands of what a part is a part of that its conditions are met, if no work on it has begun. Once the
/// part is executing, this is not asked again.
pub(super) fn require_wholes_ready(world: &mut World, state: &State) -> Result<(), DecideError> {
    if state.stage == Stage::Executing {
        return Ok(());
    }
    for (whole, it) in above(world, state)? {
        if it.stage == Stage::Approved {
            require_conditions(world, whole, &it, PART)?;
        }
    }
    Ok(())
}

/// Demands that an intent may be done by its parts: before work on it begins, what it depends on is
/// done, and so is what its wholes depend on. Questions need not be asked about: while one is open, no
/// part makes an intent done.
pub(super) fn require_may_be_done(
    world: &mut World,
    id: IntentId,
    state: &State,
    asked: &'static str,
) -> Result<(), DecideError> {
    if state.stage == Stage::Executing {
        return Ok(());
    }
    require_dependencies(world, id, state, asked)?;
    for (whole, it) in above(world, state)? {
        if it.stage != Stage::Executing {
            require_dependencies(world, whole, &it, PART)?;
        }
    }
    Ok(())
}

fn ended(id: IntentId, whole: IntentId, how: &str, asked: &'static str) -> DecideError {
    let state = format!("a part of intent {whole}, which is {how}");
    refuse(id, state, asked, "a part of no intent that has ended")
}

/// What the end of an intent that is turned down means for its parts: those that are not done are
/// cancelled, and so on. `how` says what became of the intent.
pub(super) fn parts_end(
    world: &mut World,
    id: IntentId,
    state: &State,
    how: &str,
    actor: &ActorRef,
) -> Result<Vec<Emitted>, DecideError> {
    let (mut events, mut seen) = (Vec::new(), HashSet::from([id]));
    let mut open = state.children.clone();
    while let Some(part) = open.pop() {
        if !seen.insert(part) {
            continue;
        }
        let Some(it) = world.intent_if_any(part)? else {
            continue;
        };
        open.extend(&it.children);
        if !it.life.is_open() || it.stage == Stage::Rejected {
            continue;
        }
        let status = status_in(world, part)?;
        if status == ApprovalStatus::Done {
            continue;
        }
        let status = status_without_open(world, part)?;
        turned_down_by(world, part, &it, (status, how), actor)?;
        let mut pieces = Pieces::new();
        let reason = format!("intent {id}, which it is a part of, was {how}");
        let reason = Some(pieces.text(reason));
        events.push(emit(part, Cancelled::new(reason), pieces));
    }
    Ok(events)
}
