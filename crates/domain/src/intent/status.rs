//! The status of an intent, computed from its own place, its tasks and its children.

use std::collections::{HashMap, HashSet};

use super::{ApprovalStatus, Life, PartsTally, Stage, State};
use crate::world::World;
use crate::{DecideError, IntentId};

/// The status that Forge shows of an intent: its own place, and while it
/// is worked on that of its parts. While a question has no answer (`asks`), its parts make it not done.
pub fn approval_status(life: Life, stage: Stage, parts: &PartsTally, asks: bool) -> ApprovalStatus {
    let settled = match parts.status() {
        ApprovalStatus::Done if asks => ApprovalStatus::Executing,
        status => status,
    };
    match (stage, life) {
        (Stage::Rejected, _) => ApprovalStatus::Rejected,
        (_, Life::Completed) => ApprovalStatus::Done,
        (_, Life::Cancelled) => ApprovalStatus::Cancelled,
        (Stage::Proposed, _) => ApprovalStatus::Proposed,
        // If all its parts are settled, it does not wait to be begun.
        (Stage::Approved, _) => match settled {
            ApprovalStatus::Executing => ApprovalStatus::Approved,
            settled => settled,
        },
        (Stage::Executing, _) => settled,
    }
}

/// Returns the status of an intent in the world. All its parts are read, so that the append is guarded on all of them.
///
/// # Errors
/// [`DecideError::Needs`] what is not loaded, and [`crate::Refusal::NotFound`].
pub fn status_in(world: &mut World, id: IntentId) -> Result<ApprovalStatus, DecideError> {
    status_of(world, id, |parts| parts)
}

/// The status that an intent has without what is open of it, over all generations: what failed needs a person, however
/// much was added since.
pub(super) fn status_without_open(
    world: &mut World,
    id: IntentId,
) -> Result<ApprovalStatus, DecideError> {
    status_of(world, id, PartsTally::without_open)
}

/// Whether something of an intent with such a status failed or was called off, so that a person decides how it goes on.
pub(super) fn has_failed(status: ApprovalStatus) -> bool {
    matches!(status, ApprovalStatus::Blocked | ApprovalStatus::Error)
}

fn status_of(
    world: &mut World,
    id: IntentId,
    counted: fn(PartsTally) -> PartsTally,
) -> Result<ApprovalStatus, DecideError> {
    let mut known: HashMap<IntentId, ApprovalStatus> = HashMap::new();
    let mut begun: HashSet<IntentId> = HashSet::new();
    let mut open = vec![id];
    while let Some(next) = open.last().copied() {
        let Some(state) = world.intent_if_any(next)? else {
            known.insert(next, ApprovalStatus::Proposed);
            open.pop();
            continue;
        };
        // A child that is among its own ancestors counts as open.
        let waiting = |child: &&IntentId| !known.contains_key(child) && !begun.contains(child);
        let missing: Vec<IntentId> = state.children.iter().filter(waiting).copied().collect();
        begun.insert(next);
        world.load_all(missing.iter().map(|child| child.stream()))?;
        if missing.is_empty() {
            let parts = counted(tally(world, &state, &known)?);
            let asks = state.needs_clarification();
            let status = approval_status(state.life, state.stage, &parts, asks);
            known.insert(next, status);
            open.pop();
        } else {
            open.extend(missing);
        }
    }
    Ok(known.get(&id).copied().unwrap_or(ApprovalStatus::Proposed))
}

fn tally(
    world: &mut World,
    state: &State,
    known: &HashMap<IntentId, ApprovalStatus>,
) -> Result<PartsTally, DecideError> {
    let mut parts = PartsTally {
        is_decomposed: !state.children.is_empty(),
        ..PartsTally::default()
    };
    for child in &state.children {
        let status = known.get(child).copied();
        parts.add(status.unwrap_or(ApprovalStatus::Executing).standing());
    }
    world.load_all(state.tasks.iter().map(|task| task.stream()))?;
    for task in &state.tasks {
        if let Some(task) = world.task_if_any(*task)? {
            parts.add(task.standing());
        }
    }
    Ok(parts)
}
