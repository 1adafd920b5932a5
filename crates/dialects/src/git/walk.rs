//! The commits that HEAD reaches, parents before children.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

use gix::ObjectId;

use super::commit::Raw;
use super::error::Trouble;
use super::head::Head;
use super::objects::{Fault, Objects};

/// Whether a commit's first parent can be looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Baseline {
    /// There is none: a root commit.
    Root,
    /// It is there.
    Present(ObjectId),
    /// The commit names it, but the repository does not have it, or says that
    /// history is cut off here.
    CutOff(ObjectId),
}

/// One commit of the walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) commit: ObjectId,
    pub(super) baseline: Baseline,
}

/// The commits that were found, oldest first.
#[derive(Debug, Default)]
pub(super) struct History {
    pub(super) steps: Vec<Step>,
    /// Commits that are there and cannot be imported.
    pub(super) broken: Vec<LeftOut>,
    /// Whether the repository says that its history is cut off.
    pub(super) shallow: bool,
}

/// A commit that is there and cannot be imported.
#[derive(Debug)]
pub(super) struct LeftOut {
    pub(super) commit: ObjectId,
    pub(super) fault: Fault,
    /// Whether its parents are not known, so that the history before it is left out, too.
    pub(super) is_end: bool,
}

struct Found {
    /// Whether it only leads to its parents.
    is_left_out: bool,
    time: i64,
    parents: Vec<ObjectId>,
    baseline: Baseline,
}

/// The most parents of all commits together: they are in memory at once.
const PARENTS: usize = 5_000_000;

/// Walks from HEAD. With a limit, only the newest commits, as `git log -n`
/// chooses them. A repository without commits has an empty history.
pub(super) fn history(
    objects: &Objects,
    head: &Head,
    limit: Option<usize>,
) -> Result<History, Trouble> {
    let mut walk = Walk {
        objects,
        boundary: &head.shallow,
        broken: Vec::new(),
        absent: HashSet::new(),
        parents: 0,
    };
    let steps = match head.commit {
        None => Vec::new(),
        Some(commit) => order(walk.collect(commit, limit.unwrap_or(usize::MAX))?),
    };
    Ok(History {
        steps,
        broken: walk.broken,
        shallow: !head.shallow.is_empty(),
    })
}

struct Walk<'a> {
    objects: &'a Objects,
    boundary: &'a HashSet<ObjectId>,
    broken: Vec<LeftOut>,
    absent: HashSet<ObjectId>,
    parents: usize,
}

impl Walk<'_> {
    /// The newest commits first, by the committer's clock.
    fn collect(&mut self, head: ObjectId, limit: usize) -> Result<Vec<(ObjectId, Found)>, Trouble> {
        let mut found = Vec::new();
        let mut seen = HashSet::from([head]);
        let mut queue = BinaryHeap::new();
        // The number makes the order of equally old commits that of discovery.
        let mut number = 0_u64;
        let first = self.read(head).map_err(Trouble::Head)?;
        let first = first.ok_or(Trouble::Head(Fault::Missing(head)))?;
        queue.push((first.time, Reverse(number), head));
        let mut waiting = HashMap::from([(head, first)]);
        while let Some((_, _, id)) = queue.pop() {
            let Some(mut commit) = waiting.remove(&id) else {
                continue;
            };
            if found.len() == limit {
                break;
            }
            for (place, parent) in commit.parents.clone().into_iter().enumerate() {
                if self.boundary.contains(&id) || seen.contains(&parent) {
                    continue;
                }
                match self.present(parent) {
                    Some(next) => {
                        self.parents += next.parents.len();
                        if self.parents > PARENTS {
                            return Err(Trouble::TooMany(
                                "its commits have more than 5,000,000 parents; import fewer with --limit",
                            ));
                        }
                        seen.insert(parent);
                        number += 1;
                        queue.push((next.time, Reverse(number), parent));
                        waiting.insert(parent, next);
                    }
                    None if place == 0 => commit.baseline = Baseline::CutOff(parent),
                    None => {}
                }
            }
            found.push((id, commit));
        }
        Ok(found)
    }

    /// A commit that can be read; one that cannot, though it is there, is named once.
    fn present(&mut self, id: ObjectId) -> Option<Found> {
        if self.absent.contains(&id) {
            return None;
        }
        let found = self.read(id);
        if !matches!(found, Ok(Some(_))) {
            self.absent.insert(id);
        }
        match found {
            Ok(found) => found,
            Err(fault) => {
                self.broken.push(LeftOut {
                    commit: id,
                    fault,
                    is_end: true,
                });
                None
            }
        }
    }

    /// A commit's parents and time, or nothing where the repository lacks it. One that is too large to be imported is named,
    /// and leads to its parents.
    fn read(&mut self, id: ObjectId) -> Result<Option<Found>, Fault> {
        let (raw, is_left_out) = match Raw::of(self.objects, id) {
            Err(fault @ Fault::TooLarge { .. }) => {
                let Ok(Some(raw)) = Raw::beginning(self.objects, id) else {
                    return Err(fault);
                };
                self.broken.push(LeftOut {
                    commit: id,
                    fault,
                    is_end: false,
                });
                (raw, true)
            }
            read => match read? {
                Some(raw) => (raw, false),
                None => return Ok(None),
            },
        };
        let expected = "a commit";
        let decoded = raw.commit();
        let decoded = decoded.map_err(|_| Fault::Malformed { id, expected })?;
        let parents: Vec<ObjectId> = decoded.parents().collect();
        let baseline = match parents.first() {
            None => Baseline::Root,
            Some(parent) if self.boundary.contains(&id) => Baseline::CutOff(*parent),
            Some(parent) => Baseline::Present(*parent),
        };
        // Only the order depends on it; a time that cannot be read counts as 1970.
        let time = decoded
            .committer()
            .map_or(0, |committer| committer.seconds());
        Ok(Some(Found {
            is_left_out,
            time,
            parents,
            baseline,
        }))
    }
}

/// Oldest first, and parents before children regardless of the clocks.
fn order(newest_first: Vec<(ObjectId, Found)>) -> Vec<Step> {
    let index: HashMap<ObjectId, usize> = newest_first
        .iter()
        .enumerate()
        .map(|(index, (id, _))| (*id, index))
        .collect();
    let mut open_parents = vec![0_usize; newest_first.len()];
    let mut children = vec![Vec::new(); newest_first.len()];
    for (child, (_, commit)) in newest_first.iter().enumerate() {
        let parents: HashSet<&ObjectId> = commit.parents.iter().collect();
        for parent in parents.into_iter().filter_map(|id| index.get(id)) {
            if let (Some(open), Some(list)) =
                (open_parents.get_mut(child), children.get_mut(*parent))
            {
                *open += 1;
                list.push(child);
            }
        }
    }
    // The oldest ready commit first; of equally old ones, the one found last.
    let key = |place: usize| {
        newest_first
            .get(place)
            .map(|(_, c)| Reverse((c.time, Reverse(place))))
    };
    let ready = open_parents
        .iter()
        .enumerate()
        .filter(|(_, open)| **open == 0);
    let mut queue: BinaryHeap<_> = ready.filter_map(|(place, _)| key(place)).collect();
    let mut steps = Vec::with_capacity(newest_first.len());
    while let Some(Reverse((_, Reverse(place)))) = queue.pop() {
        let Some((commit, found)) = newest_first.get(place) else {
            continue;
        };
        if !found.is_left_out {
            steps.push(Step {
                commit: *commit,
                baseline: found.baseline,
            });
        }
        for child in children.get(place).into_iter().flatten() {
            if let Some(open) = open_parents.get_mut(*child) {
                *open -= 1;
                if *open == 0 {
                    queue.extend(key(*child));
                }
            }
        }
    }
    steps
}
