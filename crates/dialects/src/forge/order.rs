//! In which order tasks can be done (docs/spec/forge.md: an unknown id is refused, the
//! order in the file does not matter, a cycle is refused).

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

use super::error::{ForgeError, Place, shown};
use super::task::{Placed, TaskFile};
use super::words::nearest;

/// The tasks' indices in an order in which each comes after those that it waits
/// for, and otherwise in their own order. Where there is none, everything that is wrong.
pub fn order(tasks: &[Placed]) -> Result<Vec<usize>, Vec<ForgeError>> {
    let (ids, mut errors) = ids(tasks);
    let mut similar = Similar::of(tasks);
    let needs: Vec<Vec<usize>> = (0..)
        .zip(tasks)
        .map(|(index, placed)| needs(index, placed, &ids, &mut similar, &mut errors))
        .collect();
    let done = sorted(&needs);
    if done.len() < tasks.len() {
        errors.extend(cycles(tasks, &rings_left(&needs, &done)));
    }
    if errors.is_empty() {
        Ok(done)
    } else {
        Err(errors)
    }
}

fn ids(tasks: &[Placed]) -> (HashMap<&str, usize>, Vec<ForgeError>) {
    let (mut ids, mut errors) = (HashMap::new(), Vec::new());
    for (index, Placed { at, task }) in tasks.iter().enumerate() {
        let Some(&first) = ids.get(task.id.as_str()) else {
            ids.insert(task.id.as_str(), index);
            continue;
        };
        errors.push(ForgeError::DuplicateId {
            at: inside(at, "id"),
            id: shown(&task.id),
            first: tasks.get(first).and_then(|placed| placed.at.line),
        });
    }
    (ids, errors)
}

fn inside(at: &Place, name: &str) -> Place {
    let path = if at.path.is_empty() {
        name.to_owned()
    } else {
        format!("{}.{name}", at.path)
    };
    Place {
        line: at.line,
        path,
    }
}

/// The indices of the tasks that a task waits for.
fn needs(
    index: usize,
    Placed { at, task }: &Placed,
    ids: &HashMap<&str, usize>,
    similar: &mut Similar<'_>,
    errors: &mut Vec<ForgeError>,
) -> Vec<usize> {
    let mut needs = Vec::new();
    for (place, dependency) in task.depends_on.iter().enumerate() {
        let at = || inside(at, &format!("depends_on[{place}]"));
        match ids.get(dependency.as_str()) {
            // Of two tasks with one id the second does not wait for the first.
            _ if *dependency == task.id => errors.push(ForgeError::SelfDependency {
                at: at(),
                task: shown(&task.id),
            }),
            Some(&other) if other != index => needs.push(other),
            Some(_) => {}
            None => errors.push(ForgeError::UnknownDependency {
                at: at(),
                task: shown(&task.id),
                dependency: shown(dependency),
                nearest: similar.to(dependency).map(str::to_owned),
            }),
        }
    }
    needs.sort_unstable();
    needs.dedup();
    needs
}

/// Ids that were probably meant by others, of which there is none. To compare takes time in
/// proportion to the number of ids and to their lengths, so that it is done a few times alone.
struct Similar<'t> {
    tasks: &'t [Placed],
    left: usize,
}

impl<'t> Similar<'t> {
    /// How many unknown ids are compared, and with how many others.
    const COMPARED: usize = 20;
    const WITH: usize = 1_000;

    fn of(tasks: &'t [Placed]) -> Similar<'t> {
        let left = Similar::COMPARED;
        Similar { tasks, left }
    }

    fn to(&mut self, unknown: &str) -> Option<&'t str> {
        self.left = self.left.checked_sub(1)?;
        let known = self.tasks.iter().take(Similar::WITH);
        nearest(unknown, known.map(|placed| placed.task.id.as_str()))
    }
}

/// For each those that wait for it.
fn waiters(needs: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut waiters = vec![Vec::new(); needs.len()];
    for (index, needed) in needs.iter().enumerate() {
        for &other in needed {
            if let Some(list) = waiters.get_mut(other) {
                list.push(index);
            }
        }
    }
    waiters
}

/// The indices that can be sorted, sorted; of those that can go next the first one
/// goes. Those that are in a cycle or wait for one are left out.
fn sorted(needs: &[Vec<usize>]) -> Vec<usize> {
    let mut waiting: Vec<usize> = needs.iter().map(Vec::len).collect();
    let waiters = waiters(needs);
    let free = waiting.iter().enumerate().filter(|(_, count)| **count == 0);
    let mut ready: BinaryHeap<_> = free.map(|(index, _)| Reverse(index)).collect();
    let mut done = Vec::with_capacity(needs.len());
    while let Some(Reverse(index)) = ready.pop() {
        done.push(index);
        for &waiter in waiters.get(index).into_iter().flatten() {
            if let Some(count) = waiting.get_mut(waiter) {
                *count -= 1;
                if *count == 0 {
                    ready.push(Reverse(waiter));
                }
            }
        }
    }
    done
}

/// One error for each cycle.
fn cycles(tasks: &[Placed], rings: &[Vec<usize>]) -> Vec<ForgeError> {
    rings.iter().filter_map(|ring| cycle(tasks, ring)).collect()
}

/// Everything that is in a cycle, cycles that share something together: a list
/// says of each which others it waits for. Each tangle begins with a way around,
/// and so many of its members are on it.
pub(super) fn tangles(needs: &[Vec<usize>]) -> Vec<(Vec<usize>, usize)> {
    let mut groups = components(needs);
    let mut group_of = vec![None; needs.len()];
    for (number, group) in groups.iter().enumerate() {
        for &member in group {
            if let Some(place) = group_of.get_mut(member) {
                *place = Some(number);
            }
        }
    }
    let group = |index: usize| group_of.get(index).copied().flatten();
    let inside = |(index, needed): (usize, &Vec<usize>)| {
        let own = group(index);
        let needed = needed.iter().copied();
        needed
            .filter(|it| own.is_some() && group(*it) == own)
            .collect()
    };
    let inside: Vec<Vec<usize>> = needs.iter().enumerate().map(inside).collect();
    let mut tangles = Vec::new();
    for mut ring in rings_left(&inside, &sorted(&inside)) {
        let number = ring.first().and_then(|first| group(*first));
        let members = number.and_then(|number| groups.get_mut(number));
        // One way around is enough for each.
        let mut members = members.map(std::mem::take).unwrap_or_default();
        if members.is_empty() {
            continue;
        }
        let around = ring.len();
        let on_it: HashSet<usize> = ring.iter().copied().collect();
        members.retain(|member| !on_it.contains(member));
        members.sort_unstable();
        ring.append(&mut members);
        tangles.push((ring, around));
    }
    tangles
}

/// The groups in which each waits for each, directly or through others, of more than one or of
/// one that waits for itself (strongly connected components, after Kosaraju).
fn components(needs: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let waiters = waiters(needs);
    let mut seen = vec![false; needs.len()];
    let mut ended = Vec::with_capacity(needs.len());
    for start in 0..needs.len() {
        visit(needs, start, &mut seen, &mut ended);
    }
    seen.fill(false);
    let mut groups = Vec::new();
    for start in ended.into_iter().rev() {
        let mut group = Vec::new();
        visit(&waiters, start, &mut seen, &mut group);
        let needed = needs.get(start).into_iter().flatten();
        if group.len() > 1 || (!group.is_empty() && needed.into_iter().any(|it| *it == start)) {
            groups.push(group);
        }
    }
    groups
}

/// Goes from one to all that it leads to and that were not seen before; each is put behind
/// those that it leads to. It keeps its own stack: a chain may be long.
fn visit(edges: &[Vec<usize>], start: usize, seen: &mut [bool], ended: &mut Vec<usize>) {
    let mut stack = vec![(start, 0)];
    while let Some((here, next)) = stack.pop() {
        if next == 0 {
            match seen.get_mut(here) {
                Some(seen) if !*seen => *seen = true,
                _ => continue,
            }
        }
        match edges.get(here).and_then(|list| list.get(next)) {
            Some(&other) => stack.extend([(here, next + 1), (other, 0)]),
            None => ended.push(here),
        }
    }
}

/// The cycles that are found by going from one to the next, along the first that
/// each waits for among those that could not be sorted.
fn rings_left(needs: &[Vec<usize>], done: &[usize]) -> Vec<Vec<usize>> {
    const UNSEEN: usize = 0;
    let mut sorted = vec![false; needs.len()];
    for &index in done {
        if let Some(sorted) = sorted.get_mut(index) {
            *sorted = true;
        }
    }
    let is_left = |index: &usize| sorted.get(*index) == Some(&false);
    // The walk that has come by each, by its number.
    let mut seen = vec![UNSEEN; needs.len()];
    let mut rings = Vec::new();
    for (walk, start) in (1..).zip((0..needs.len()).filter(is_left)) {
        let mut path = Vec::new();
        let mut here = start;
        while seen.get(here) == Some(&UNSEEN) {
            if let Some(mark) = seen.get_mut(here) {
                *mark = walk;
            }
            path.push(here);
            let next = needs
                .get(here)
                .and_then(|needed| needed.iter().find(|it| is_left(it)));
            let Some(&next) = next else { break };
            here = next;
        }
        // A walk that ends in an older one has found nothing new.
        if seen.get(here) == Some(&walk)
            && let Some(begin) = path.iter().position(|&index| index == here)
        {
            rings.push(path.split_off(begin));
        }
    }
    rings
}

/// The tasks of a file that can be taken, by their indices in the file, and what
/// is wrong with the others: a duplicate id, an unknown dependency, a
/// cycle, or a dependency on one of these.
pub fn sound(file: &TaskFile) -> (Vec<usize>, Vec<ForgeError>) {
    let tasks = file.tasks.as_slice();
    let (ids, mut errors) = ids(tasks);
    let is_first = |index: usize, placed: &Placed| ids.get(placed.task.id.as_str()) == Some(&index);
    let mut similar = Similar::of(tasks);
    let mut good: Vec<bool> = Vec::with_capacity(tasks.len());
    let mut all_needs = Vec::with_capacity(tasks.len());
    for (index, placed) in tasks.iter().enumerate() {
        let before = errors.len();
        all_needs.push(needs(index, placed, &ids, &mut similar, &mut errors));
        good.push(is_first(index, placed) && errors.len() == before);
    }
    let done = sorted(&all_needs);
    let rings = rings_left(&all_needs, &done);
    errors.extend(cycles(tasks, &rings));
    // A task that is in a cycle or waits for one could not be sorted. In the sorted
    // order each comes after all that it waits for.
    let mut taken = vec![false; tasks.len()];
    for index in done {
        let needed = all_needs.get(index).map_or(&[][..], Vec::as_slice);
        let stuck = needed.iter().find(|it| taken.get(**it) != Some(&true));
        if good.get(index) == Some(&true)
            && stuck.is_none()
            && let Some(taken) = taken.get_mut(index)
        {
            *taken = true;
        }
    }
    let in_ring = rings.into_iter().flatten().collect();
    errors.extend(waiting(tasks, &all_needs, &in_ring, &good, &taken));
    let bad: HashSet<String> = file.bad_ids.iter().map(|id| shown(id)).collect();
    errors.iter_mut().for_each(|error| blame(error, &bad));
    let taken = taken.iter().enumerate();
    (
        taken
            .filter(|(_, it)| **it)
            .map(|(index, _)| index)
            .collect(),
        errors,
    )
}

/// What depends on a task that is there and bad does not depend on an unknown one.
fn blame(error: &mut ForgeError, bad_ids: &HashSet<String>) {
    if let ForgeError::UnknownDependency {
        at,
        task,
        dependency,
        ..
    } = error
        && bad_ids.contains(dependency.as_str())
    {
        *error = ForgeError::WaitsForWrong {
            at: at.clone(),
            task: std::mem::take(task),
            dependency: std::mem::take(dependency),
        };
    }
}

/// One error for each task with nothing wrong but that it waits for another that
/// is not taken.
fn waiting(
    tasks: &[Placed],
    needs: &[Vec<usize>],
    in_ring: &HashSet<usize>,
    good: &[bool],
    taken: &[bool],
) -> Vec<ForgeError> {
    let mut errors = Vec::new();
    for (index, Placed { at, task }) in tasks.iter().enumerate() {
        let is_stuck = good.get(index) == Some(&true) && taken.get(index) == Some(&false);
        let needed = needs.get(index).into_iter().flatten();
        let mut stuck = needed.filter(|it| taken.get(**it) == Some(&false));
        if is_stuck
            && !in_ring.contains(&index)
            && let Some(other) = stuck.next().and_then(|other| tasks.get(*other))
        {
            errors.push(ForgeError::WaitsForWrong {
                at: inside(at, "depends_on"),
                task: shown(&task.id),
                dependency: shown(&other.task.id),
            });
        }
    }
    errors
}

fn cycle(tasks: &[Placed], path: &[usize]) -> Option<ForgeError> {
    // It begins with the one that comes first in the file.
    let (turn, _) = path.iter().enumerate().min_by_key(|(_, index)| **index)?;
    let around = path.iter().cycle().skip(turn).take(path.len() + 1);
    let placed: Vec<&Placed> = around.filter_map(|&index| tasks.get(index)).collect();
    Some(ForgeError::Cycle {
        at: inside(&placed.first()?.at, "depends_on"),
        path: placed.iter().map(|placed| shown(&placed.task.id)).collect(),
    })
}

#[cfg(test)]
mod tests;
