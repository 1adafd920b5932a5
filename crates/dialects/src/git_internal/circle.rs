//! Objects whose links lead back to themselves.

use std::collections::{HashMap, HashSet};

use uuid::Uuid;

/// What each object names.
pub(super) type Links = HashMap<Uuid, Vec<Uuid>>;

/// The longest circle that is shown object by object.
const SHOWN: usize = 100;

/// The objects that are in circles, by the circles that are connected.
#[derive(Debug, Default)]
pub(super) struct Circles {
    /// Which of them an object is in.
    of: HashMap<Uuid, usize>,
    /// How many objects each has.
    sizes: Vec<usize>,
}

/// How an object leads back to itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Circle {
    /// By way of these, from the object to itself.
    Through(Vec<Uuid>),
    /// By way of some of so many objects.
    Among(usize),
}

impl Circles {
    /// Finds all of them, in time and memory that grow with the links.
    pub(super) fn of(links: &Links) -> Circles {
        let mut named_by: Links = HashMap::new();
        for (id, targets) in links {
            for target in targets {
                named_by.entry(*target).or_default().push(*id);
            }
        }
        // Kosaraju's way: from the object that is finished last, against the
        // links, everything is reached that also leads to it.
        let mut circles = Circles::default();
        let mut seen = HashSet::new();
        for id in finished(links).into_iter().rev() {
            if !seen.insert(id) {
                continue;
            }
            let mut together = vec![id];
            let mut open = vec![id];
            while let Some(at) = open.pop() {
                for namer in named_by.get(&at).into_iter().flatten() {
                    if seen.insert(*namer) {
                        together.push(*namer);
                        open.push(*namer);
                    }
                }
            }
            if together.len() > 1 || links.get(&id).is_some_and(|targets| targets.contains(&id)) {
                let number = circles.sizes.len();
                circles.sizes.push(together.len());
                circles
                    .of
                    .extend(together.into_iter().map(|id| (id, number)));
            }
        }
        circles
    }

    /// How an object's links lead back to it, if they do.
    pub(super) fn through(&self, id: Uuid, links: &Links) -> Option<Circle> {
        let number = self.of.get(&id)?;
        let size = self.sizes.get(*number).copied()?;
        if size > SHOWN {
            return Some(Circle::Among(size));
        }
        let mut came_from: HashMap<Uuid, Uuid> = HashMap::new();
        let mut open = vec![id];
        while let Some(at) = open.pop() {
            for next in links.get(&at).into_iter().flatten() {
                if *next == id {
                    return Some(Circle::Through(way(id, at, &came_from)));
                }
                if self.of.get(next) == Some(number) && !came_from.contains_key(next) {
                    came_from.insert(*next, at);
                    open.push(*next);
                }
            }
        }
        None
    }
}

/// The way from an object back to it, whose last link is from `at`.
fn way(id: Uuid, at: Uuid, came_from: &HashMap<Uuid, Uuid>) -> Vec<Uuid> {
    let mut path = vec![id];
    let mut before = at;
    while before != id {
        path.push(before);
        let Some(earlier) = came_from.get(&before) else {
            break;
        };
        before = *earlier;
    }
    path.push(id);
    path.reverse();
    path
}

/// Objects in the order in which all that they lead to was looked at.
fn finished(links: &Links) -> Vec<Uuid> {
    let mut seen = HashSet::new();
    let mut order = Vec::with_capacity(links.len());
    for start in links.keys() {
        let mut open = vec![(*start, 0)];
        if !seen.insert(*start) {
            continue;
        }
        while let Some((at, next)) = open.last_mut() {
            let target = links.get(at).and_then(|targets| targets.get(*next));
            *next += 1;
            match target {
                Some(target) if links.contains_key(target) && seen.insert(*target) => {
                    open.push((*target, 0));
                }
                Some(_) => {}
                None => {
                    order.push(*at);
                    open.pop();
                }
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u32) -> Uuid {
        Uuid::from_u128(0x0198 << 112 | u128::from(number))
    }

    /// From each number to some others.
    fn links(all: impl IntoIterator<Item = (u32, Vec<u32>)>) -> Links {
        let ids = |to: Vec<u32>| to.into_iter().map(id).collect();
        all.into_iter()
            .map(|(from, to)| (id(from), ids(to)))
            .collect()
    }

    #[test]
    fn a_short_circle_is_shown_regardless_of_what_else_it_leads_to() {
        // 1 -> 2 -> 3 -> 1, each with a link to a circle of 1,500 as well.
        let long = (100..1_600).map(|n| (n, vec![if n == 1_599 { 100 } else { n + 1 }]));
        let short = [(1, vec![100, 2]), (2, vec![100, 3]), (3, vec![100, 1])];
        let all = links(long.chain(short).chain([(50, vec![1]), (51, vec![51])]));
        let circles = Circles::of(&all);
        let through = |number| circles.through(id(number), &all);
        let way =
            |numbers: &[u32]| Some(Circle::Through(numbers.iter().copied().map(id).collect()));
        assert_eq!(through(1), way(&[1, 2, 3, 1]));
        assert_eq!(through(3), way(&[3, 1, 2, 3]));
        assert_eq!(through(51), way(&[51, 51]));
        assert_eq!(through(50), None, "it leads to one and is in none");
        assert_eq!(through(700), Some(Circle::Among(1_500)));
    }
}
