//! Tasks that wait for others: their order, and what the end of one means for those that wait for it.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::sync::Arc;

use super::tasks::intents_of_task;
use crate::pieces::Pieces;
use crate::task;
use crate::world::{Emitted, World};
use crate::{DecideError, IntentId, Naming, TaskId};

/// Why a task fails without running (docs/spec/forge.md, dependencies).
pub(crate) const DEPENDENCY_FAILED: &str = "dependency failed";
/// Why a task is called off with one that it waited for.
pub(crate) const DEPENDENCY_CANCELLED: &str = "dependency cancelled";

/// A task that is never done, which others may wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lost {
    /// It failed.
    Failed(TaskId),
    /// It was called off.
    Cancelled(TaskId),
}

impl Lost {
    fn task(self) -> TaskId {
        match self {
            Lost::Failed(task) | Lost::Cancelled(task) => task,
        }
    }

    /// The same of another task.
    pub(crate) fn of(self, task: TaskId) -> Lost {
        match self {
            Lost::Failed(_) => Lost::Failed(task),
            Lost::Cancelled(_) => Lost::Cancelled(task),
        }
    }
}

/// The task that is in this one's place now: itself, unless it was superseded.
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

/// What waits for a task of the same intent that failed or was called off ends as that one did,
/// without running, and so on.
pub(crate) fn end_dependents(world: &mut World, how: Lost) -> Result<Vec<Emitted>, DecideError> {
    let mut drafts: HashMap<IntentId, Waiting> = HashMap::new();
    let mut ahead: HashSet<IntentId> = HashSet::new();
    let (mut gone, mut lost, mut events) = (HashSet::new(), vec![how.task()], Vec::new());
    while let Some(cause) = lost.pop() {
        let intents = intents_of_task(world, cause)?;
        let mut waiting = Vec::new();
        for intent in &intents {
            let told = match drafts.entry(*intent) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(place) => place.insert(waiting_in(world, *intent)?),
            };
            if let Some(tasks) = told.get(&cause) {
                if ahead.insert(*intent) {
                    load_ahead(world, told)?;
                }
                waiting.extend(tasks);
            }
        }
        waiting.extend(waiting_unknown(world, cause, &intents)?);
        for task in waiting {
            if gone.insert(task) {
                events.push(end_without(how.of(cause), task));
                lost.push(task);
            }
        }
    }
    Ok(events)
}

/// Tasks that were not begun, by what they wait for.
type Waiting = HashMap<TaskId, Vec<TaskId>>;

/// What the tasks that were added to an intent, and were not begun, wait for.
fn waiting_in(world: &mut World, id: IntentId) -> Result<Waiting, DecideError> {
    let Some(intent) = world.intent_if_any(id)? else {
        return Ok(HashMap::new());
    };
    world.load_all(intent.tasks.iter().map(|task| task.stream()))?;
    let mut drafts = Vec::new();
    for task in &intent.tasks {
        drafts.extend(draft(world, *task)?.map(|state| (*task, state)));
    }
    let needed = drafts.iter().flat_map(|(_, state)| &state.dependencies);
    world.load_all(needed.map(|task| task.stream()))?;
    let mut waiting: Waiting = HashMap::new();
    for (task, state) in drafts {
        for need in needs(world, &state)? {
            waiting.entry(need).or_default().push(task);
        }
    }
    Ok(waiting)
}

/// Loads at once what is needed if one task after the other fails: the tasks that wait for
/// them and were not added to the intent, and the intents of all of them.
fn load_ahead(world: &mut World, waiting: &Waiting) -> Result<(), DecideError> {
    let told = waiting.values().flatten().map(|task| task.0);
    world.load_naming(Naming::TaskDependency, told)?;
    let mut others = Vec::new();
    for task in waiting.values().flatten() {
        others.extend(world.naming(Naming::TaskDependency, task.0)?);
    }
    world.load_naming(Naming::TaskDependency, others.iter().copied())?;
    world.load_naming(Naming::StepTask, others.iter().copied())?;
    world.load_all(others.into_iter().map(|task| TaskId(task).stream()))
}

/// What waits for a task, and is work on one of its intents without being added to it: a part
/// of a task says no intent, and one that an import brought is not added to any.
fn waiting_unknown(
    world: &mut World,
    cause: TaskId,
    intents: &[IntentId],
) -> Result<Vec<TaskId>, DecideError> {
    let (mut named, mut seen, mut next) = (Vec::new(), HashSet::new(), Some(cause));
    // Also what waits for the tasks whose place it took.
    while let Some(task) = next.filter(|task| seen.insert(*task)) {
        named.extend(world.naming(Naming::TaskDependency, task.0)?);
        next = world.task_if_any(task)?.and_then(|state| state.supersedes);
    }
    world.load_all(named.iter().map(|task| TaskId(*task).stream()))?;
    let mut waiting = Vec::new();
    for task in named.into_iter().map(TaskId) {
        let Some(state) = draft(world, task)? else {
            continue;
        };
        let of = intents_of_task(world, task)?;
        if needs(world, &state)?.contains(&cause) && of.iter().any(|it| intents.contains(it)) {
            waiting.push(task);
        }
    }
    Ok(waiting)
}

/// A task, if it was not begun.
fn draft(world: &mut World, id: TaskId) -> Result<Option<Arc<task::State>>, DecideError> {
    let state = world.task_if_any(id)?;
    Ok(state.filter(|state| state.status == task::Status::Draft))
}

/// What a task waits for: its dependencies, and the tasks that took their places.
fn needs(world: &mut World, state: &task::State) -> Result<Vec<TaskId>, DecideError> {
    let mut needs = state.dependencies.clone();
    for dependency in &state.dependencies {
        needs.push(newest(world, *dependency)?);
    }
    Ok(needs)
}

/// Things that need each other, so that each is behind what it needs, and
/// otherwise in the given order. What needs itself, which the deciders refuse, comes last.
///
/// It is the order of someone who goes over the list again and again and takes each
/// time what needs nothing that is left: a thing is taken with what it needs, or in the
/// next turn where that is behind it.
pub(super) fn in_order<T, K: Copy + Eq + Hash>(
    things: Vec<T>,
    key: impl Fn(&T) -> K,
    needs: impl Fn(&T) -> Vec<K>,
) -> Vec<T> {
    let places: HashMap<K, usize> = things.iter().map(&key).zip(0..).collect();
    let (mut needed_by, mut left) = (vec![Vec::new(); things.len()], vec![0; things.len()]);
    for (place, (thing, left)) in things.iter().zip(&mut left).enumerate() {
        for need in needs(thing) {
            if let Some(others) = places.get(&need).and_then(|at| needed_by.get_mut(*at)) {
                others.push(place);
                *left += 1;
            }
        }
    }
    let free = left.iter().enumerate().filter(|(_, left)| **left == 0);
    let mut free: Vec<usize> = free.map(|(place, _)| place).collect();
    let mut turns = vec![0; things.len()];
    while let Some(place) = free.pop() {
        let turn = turns.get(place).copied().unwrap_or_default();
        for other in needed_by.get(place).into_iter().flatten().copied() {
            let (Some(left), Some(others)) = (left.get_mut(other), turns.get_mut(other)) else {
                continue;
            };
            *others = (*others).max(turn + usize::from(place > other));
            *left -= 1;
            if *left == 0 {
                free.push(other);
            }
        }
    }
    let turn = |place: usize| match left.get(place) {
        Some(0) => turns.get(place).copied().unwrap_or_default(),
        _ => usize::MAX,
    };
    let mut ordered: Vec<(usize, T)> = (0..).map(turn).zip(things).collect();
    ordered.sort_by_key(|(turn, _)| *turn);
    ordered.into_iter().map(|(_, thing)| thing).collect()
}

/// A task fails or is called off because of one that it depends on.
pub(crate) fn end_without(lost: Lost, task: TaskId) -> Emitted {
    let mut pieces = Pieces::new();
    match lost {
        Lost::Failed(_) => {
            let failed = task::Failed {
                run: None,
                reason: Some(pieces.text(DEPENDENCY_FAILED)),
            };
            task::decide::emit(task, failed, pieces)
        }
        Lost::Cancelled(dependency) => {
            let cancelled = task::Cancelled {
                reason: Some(pieces.text(DEPENDENCY_CANCELLED)),
                dependency: Some(dependency),
            };
            task::decide::emit(task, cancelled, pieces)
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::in_order;

    /// The order by its own words: turn after turn, what needs nothing that is left.
    fn turn_by_turn(mut waiting: Vec<(usize, Vec<usize>)>) -> Vec<usize> {
        let mut ordered = Vec::new();
        loop {
            let (before, mut place) = (ordered.len(), 0);
            while let Some((thing, needs)) = waiting.get(place) {
                if waiting.iter().any(|(other, _)| needs.contains(other)) {
                    place += 1;
                } else {
                    ordered.push(*thing);
                    waiting.remove(place);
                }
            }
            if ordered.len() == before {
                ordered.extend(waiting.into_iter().map(|(thing, _)| thing));
                return ordered;
            }
        }
    }

    proptest! {
        #[test]
        fn what_is_needed_is_before_what_needs_it(needs in vec(vec(0..9_usize, 0..3), 1..8)) {
            let things: Vec<(usize, Vec<usize>)> = (0..).zip(needs).collect();
            let ordered = in_order(things.clone(), |it| it.0, |it| it.1.clone());
            let ordered: Vec<usize> = ordered.into_iter().map(|it| it.0).collect();
            prop_assert_eq!(ordered, turn_by_turn(things));
        }
    }

    #[test]
    fn a_long_line_takes_no_square_of_its_length() {
        let line: Vec<usize> = (0..200_000).collect();
        let ordered = in_order(line, |it| *it, |it| vec![it + 1]);
        assert!(ordered.into_iter().eq((0..200_000).rev()));
    }
}
