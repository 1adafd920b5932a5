//! What an intent is made of: how its tasks and children stand, and what the
//! failure of one means for the others.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use super::tasks::intents_of_task;
use super::{ApprovalStatus, Life, PartsTally, Stage, State};
use crate::pieces::Pieces;
use crate::task;
use crate::world::{Emitted, World};
use crate::{DecideError, IntentId, TaskId};

/// Why a task fails without running (docs/spec/forge.md, dependencies).
pub(crate) const DEPENDENCY_FAILED: &str = "dependency failed";

/// The status that Forge shows of an intent: its own place, and while it
/// is worked on that of its parts.
pub fn approval_status(life: Life, stage: Stage, parts: &PartsTally) -> ApprovalStatus {
    match (stage, life) {
        (Stage::Rejected, _) => ApprovalStatus::Rejected,
        (_, Life::Completed) => ApprovalStatus::Done,
        (_, Life::Cancelled) => ApprovalStatus::Cancelled,
        (Stage::Proposed, _) => ApprovalStatus::Proposed,
        // What all is settled of does not wait for somebody who begins it.
        (Stage::Approved, _) => match parts.status() {
            ApprovalStatus::Executing => ApprovalStatus::Approved,
            settled => settled,
        },
        (Stage::Executing, _) => parts.status(),
    }
}

/// The same, of an intent in the world. All that it is made of is read, so that
/// the append is guarded on all of it.
///
/// # Errors
/// [`DecideError::Needs`] what is not loaded, and [`crate::Refusal::NotFound`].
pub fn status_in(world: &mut World, id: IntentId) -> Result<ApprovalStatus, DecideError> {
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
        if missing.is_empty() {
            let parts = tally(world, &state, &known)?;
            known.insert(next, approval_status(state.life, state.stage, &parts));
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
    for task in &state.tasks {
        if let Some(task) = world.task_if_any(*task)? {
            parts.add(task.standing());
        }
    }
    Ok(parts)
}

/// The task that stands where this one stood: itself, unless it was superseded.
pub(crate) fn newest(world: &mut World, id: TaskId) -> Result<TaskId, DecideError> {
    let (mut newest, mut seen) = (id, HashSet::new());
    while seen.insert(newest) {
        match world.task_if_any(newest)?.and_then(|it| it.superseded_by) {
            Some(next) => newest = next,
            None => break,
        }
    }
    Ok(newest)
}

/// What waits for a failed task of the same intent fails with it, without running,
/// and so on.
pub(crate) fn fail_dependents(
    world: &mut World,
    failed: TaskId,
) -> Result<Vec<Emitted>, DecideError> {
    let mut drafts: HashMap<IntentId, Vec<(TaskId, Vec<TaskId>)>> = HashMap::new();
    let (mut gone, mut lost, mut events) = (HashSet::new(), vec![failed], Vec::new());
    while let Some(cause) = lost.pop() {
        for intent in intents_of_task(world, cause)? {
            let waiting = match drafts.entry(intent) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(place) => place.insert(waiting_in(world, intent)?),
            };
            for (task, needs) in waiting {
                if needs.contains(&cause) && gone.insert(*task) {
                    events.push(without_running(*task));
                    lost.push(*task);
                }
            }
        }
    }
    Ok(events)
}

/// The tasks of an intent that were not begun, and what each waits for.
fn waiting_in(world: &mut World, id: IntentId) -> Result<Vec<(TaskId, Vec<TaskId>)>, DecideError> {
    let Some(intent) = world.intent_if_any(id)? else {
        return Ok(Vec::new());
    };
    let mut waiting = Vec::new();
    for task in &intent.tasks {
        match world.task_if_any(*task)? {
            Some(state) if state.status == task::Status::Draft => {
                waiting.push((*task, needs(world, &state)?));
            }
            _ => {}
        }
    }
    Ok(waiting)
}

/// What a task waits for: its dependencies, and the tasks that took their places.
fn needs(world: &mut World, state: &task::State) -> Result<Vec<TaskId>, DecideError> {
    let mut needs = state.dependencies.clone();
    for dependency in &state.dependencies {
        needs.push(newest(world, *dependency)?);
    }
    Ok(needs)
}

/// Things that need each other, so that each stands behind what it needs, and
/// otherwise as they stood. What needs itself, which nobody lets happen, comes last.
pub(super) fn in_order<T, K: Copy + Eq + Hash>(
    things: Vec<T>,
    key: impl Fn(&T) -> K,
    needs: impl Fn(&T) -> Vec<K>,
) -> Vec<T> {
    let mut left: HashSet<K> = things.iter().map(&key).collect();
    let (mut waiting, mut ordered) = (things, Vec::new());
    loop {
        let before = ordered.len();
        let mut still = Vec::new();
        for thing in waiting {
            if needs(&thing).iter().any(|need| left.contains(need)) {
                still.push(thing);
            } else {
                left.remove(&key(&thing));
                ordered.push(thing);
            }
        }
        if ordered.len() == before {
            ordered.extend(still);
            return ordered;
        }
        waiting = still;
    }
}

/// A task fails because of what it depends on.
pub(crate) fn without_running(task: TaskId) -> Emitted {
    let mut pieces = Pieces::new();
    let failed = task::Failed {
        run: None,
        reason: Some(pieces.text(DEPENDENCY_FAILED)),
    };
    task::decide::emit(task, failed, pieces)
}
