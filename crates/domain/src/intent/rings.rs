//! Rings of waiting: an intent waits for those that it depends on, and for those
//! that it was split into. What waits for itself, through any number of others,
//! would wait for ever without a visible reason.

use std::collections::HashSet;

use super::Stage;
use super::above::above;
use crate::world::World;
use crate::{DecideError, IntentId, Refusal};

/// Refuses a new part of an intent that depends on what waits for that intent. A new
/// intent closes no other ring: nothing but the one that it is a part of waits for it.
pub(super) fn refuse_rings(
    world: &mut World,
    parent: IntentId,
    field: &'static str,
    depends_on: &[IntentId],
) -> Result<(), DecideError> {
    if depends_on.is_empty() {
        return Ok(());
    }
    refuse_ancestors(world, parent, field, depends_on)?;
    let Some(way) = way_of_waiting(world, depends_on, parent)? else {
        return Ok(());
    };
    let names: Vec<String> = way.iter().map(IntentId::to_string).collect();
    let reason = format!(
        "it would be a part of {parent}, which waits for its parts, and intents would wait for \
         each other: {parent} -> this one -> {}",
        names.join(" -> ")
    );
    Err(Refusal::invalid(field, reason).into())
}

/// An intent that waits for one that it is a part of would wait for ever.
fn refuse_ancestors(
    world: &mut World,
    parent: IntentId,
    field: &'static str,
    depends_on: &[IntentId],
) -> Result<(), DecideError> {
    let (mut next, mut seen) = (Some(parent), HashSet::new());
    while let Some(id) = next.filter(|id| seen.insert(*id)) {
        if depends_on.contains(&id) {
            let reason = format!("it would be a part of {id}, which waits for its parts");
            return Err(Refusal::invalid(field, reason).into());
        }
        next = world.intent_if_any(id)?.and_then(|state| state.child_of);
    }
    Ok(())
}

/// The shortest way of waiting from one of some intents to another, both included.
/// Every intent on the search is read, so the append is guarded on all of them.
fn way_of_waiting(
    world: &mut World,
    from: &[IntentId],
    to: IntentId,
) -> Result<Option<Vec<IntentId>>, DecideError> {
    // Each with the place of the one that waits for it.
    let mut reached: Vec<(IntentId, Option<usize>)> = from.iter().map(|id| (*id, None)).collect();
    let mut seen: HashSet<IntentId> = from.iter().copied().collect();
    let mut at = 0;
    while let Some((id, _)) = reached.get(at).copied() {
        if id == to {
            return Ok(Some(way_back(&reached, at)));
        }
        let open = reached.iter().skip(at);
        world.load_all(open.map(|(id, _)| id.stream()))?;
        for next in waited_for(world, id)? {
            if seen.insert(next) {
                reached.push((next, Some(at)));
            }
        }
        at += 1;
    }
    Ok(None)
}

/// What was gone along to get there, in the order of going.
fn way_back(reached: &[(IntentId, Option<usize>)], last: usize) -> Vec<IntentId> {
    let (mut way, mut at) = (Vec::new(), Some(last));
    while let Some((id, before)) = at.and_then(|at| reached.get(at)) {
        way.push(*id);
        at = *before;
    }
    way.reverse();
    way
}

/// The intents that one waits for: those that it depends on, its parts, and what those depend on
/// that it is a part of and that were not begun. What is over waits for nothing.
fn waited_for(world: &mut World, id: IntentId) -> Result<Vec<IntentId>, DecideError> {
    let state = world.intent_if_any(id)?;
    let Some(state) = state.filter(|it| it.life.is_open() && it.stage != Stage::Rejected) else {
        return Ok(Vec::new());
    };
    let mut all = state.depends_on.clone();
    all.extend(&state.children);
    for (_, whole) in above(world, &state)? {
        if matches!(whole.stage, Stage::Proposed | Stage::Approved) {
            all.extend(&whole.depends_on);
        }
    }
    Ok(all)
}
