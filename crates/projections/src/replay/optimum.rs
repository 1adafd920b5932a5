//! The fewest misses that any choice of what to drop could have had.
//!
//! A dropped frame never comes back, so this is not the caching problem whose
//! optimum is to drop what is used furthest in the future: a frame pays for its
//! place only through the uses it lives to see, and it sees a later one only
//! after all the earlier ones. Every frame is thus a chain of links, one for each
//! time it is used: a link takes one place over the pushes since the use before,
//! is worth the uses at its end, and may be kept only if the link before is.
//!
//! Filling places with links is a flow: each unit is a place that moves forward
//! in time, and either rides along idle or steps into a frame, follows its chain
//! for as long as that frame is kept, and steps out after a use. A flow of least
//! cost, where a link costs minus its worth, keeps the most. It is whole-numbered
//! and exact, and it is found here one cheapest way after another.
//!
//! Before that the problem is cut down. Only where more used frames are alive
//! than may stay is there anything to decide, so all other pushes are left out,
//! neighbouring pushes between which no frame comes or is used become one stretch,
//! and stretches that no frame ties together are solved apart. What is left is
//! linear in the number of uses, however many pushes there were. It is searched
//! once for every different gain that a place can still bring, which is at most
//! once for every place, and far less often where most uses count the same.

mod flow;
#[cfg(test)]
mod tests;

use flow::{Chain, Link, Network, most};

/// One frame that is used at least once.
#[derive(Debug, Clone)]
pub(super) struct Lifetime {
    /// The number of the push that brings the frame, from 1.
    pub(super) arrival: u64,
    /// When it is used, in ascending order: the pushes so far, and how many uses.
    /// A use before the arrival is never a miss.
    pub(super) uses: Vec<(u64, u64)>,
}

impl Lifetime {
    /// The uses that can be missed.
    fn counted(&self) -> impl Iterator<Item = (u64, u64)> {
        let counts = |&(time, _): &(u64, u64)| time >= self.arrival;
        self.uses.iter().copied().filter(counts)
    }

    /// The boundary just before the frame arrives.
    fn before(&self) -> u64 {
        self.arrival.saturating_sub(1)
    }

    /// The last use that can be missed, if there is one.
    fn last(&self) -> Option<u64> {
        self.counted().map(|(time, _)| time).max()
    }
}

/// How many evictable frames may stay after a push.
///
/// Each entry holds from its push to the next entry's; they ascend by push, and
/// of several for one push the last counts. Before the first the number is
/// unlimited.
#[derive(Debug, Clone, Copy)]
pub(super) struct Capacity {
    /// The first push it holds for.
    pub(super) from: u64,
    /// How many frames may stay; `None` is unlimited.
    pub(super) frames: Option<u64>,
}

/// The least number of uses that must miss, over all choices of what to drop.
///
/// `progress` hears now and then how many places of how many are filled; it is
/// not called at all if nothing ever had to be dropped. A number of misses beyond
/// `u64::MAX` is given as `u64::MAX`.
pub(super) fn fewest_misses(
    lifetimes: &[Lifetime],
    capacities: &[Capacity],
    progress: &mut dyn FnMut(u64, u64),
) -> u64 {
    let squeeze = Squeeze::find(lifetimes, capacities);
    let mut chains: Vec<Chain> = lifetimes
        .iter()
        .filter_map(|lifetime| squeeze.chain(lifetime))
        .collect();
    chains.sort_by_key(|chain| chain.start);

    let of = groups(&chains)
        .map(|group| most(squeeze.places_of(group)))
        .fold(0, u64::saturating_add);
    let mut done: u64 = 0;
    let mut misses: u64 = 0;
    for group in groups(&chains) {
        let places = squeeze.places_of(group);
        let mut network = Network::new(group, places);
        network.fill(most(places), &mut |filled| {
            progress(done.saturating_add(filled), of);
        });
        misses = misses.saturating_add(network.missed());
        done = done.saturating_add(most(places));
    }
    misses
}

/// The stretches of pushes that cannot hold all the used frames alive there.
///
/// Nothing is ever dropped for the sake of any other push, so time is counted in
/// these tight stretches alone from here on.
struct Squeeze {
    /// The times at which a used frame comes or is used, ascending: the pushes
    /// between two neighbours are one stretch.
    boundaries: Vec<u64>,
    /// For every boundary, the number of tight stretches before it.
    tight_before: Vec<usize>,
    /// For every tight stretch, the frames that may stay after each of its pushes.
    places: Vec<u64>,
}

impl Squeeze {
    fn find(lifetimes: &[Lifetime], capacities: &[Capacity]) -> Self {
        let boundaries = boundaries(lifetimes);
        let alive = alive(lifetimes, &boundaries);
        let mut tight_before = Vec::with_capacity(boundaries.len());
        let mut places = Vec::new();
        let ends = boundaries.iter().skip(1);
        for ((&after, &until), alive) in boundaries.iter().zip(ends).zip(alive) {
            tight_before.push(places.len());
            let capacity = least_capacity(capacities, after, until);
            if alive > capacity {
                places.push(capacity);
            }
        }
        tight_before.push(places.len());
        Self {
            boundaries,
            tight_before,
            places,
        }
    }

    /// The number of tight stretches before a time.
    fn tight_before(&self, time: u64) -> usize {
        let boundary = position(&self.boundaries, time);
        let known = self.tight_before.get(boundary).copied();
        known.unwrap_or(self.places.len())
    }

    /// What there is to decide about a frame, or `None` if it can simply stay.
    fn chain(&self, lifetime: &Lifetime) -> Option<Chain> {
        let start = self.tight_before(lifetime.before());
        let mut links: Vec<Link> = Vec::new();
        for (time, worth) in lifetime.counted() {
            let end = self.tight_before(time);
            match links.last_mut() {
                // No tight stretch since the use before: who keeps the frame for
                // that one keeps it for this one too. A worth that saturates is
                // harmless, for to miss it saturates the number of misses.
                Some(link) if end <= link.end => link.worth = link.worth.saturating_add(worth),
                _ if end > start => links.push(Link { end, worth }),
                _ => {}
            }
        }
        let end = links.last()?.end;
        Some(Chain { start, end, links })
    }

    /// The places at the stretches that a group of chains lies in.
    fn places_of(&self, group: &[Chain]) -> &[u64] {
        let start = group.iter().map(|chain| chain.start).min().unwrap_or(0);
        let end = group.iter().map(|chain| chain.end).max().unwrap_or(0);
        self.places.get(start..end).unwrap_or_default()
    }
}

/// The times at which a used frame comes or is used, ascending.
fn boundaries(lifetimes: &[Lifetime]) -> Vec<u64> {
    let mut boundaries = Vec::new();
    for lifetime in lifetimes
        .iter()
        .filter(|lifetime| lifetime.last().is_some())
    {
        boundaries.push(lifetime.before());
        boundaries.extend(lifetime.counted().map(|(time, _)| time));
    }
    boundaries.sort_unstable();
    boundaries.dedup();
    boundaries
}

/// The place of a time among the boundaries.
fn position(boundaries: &[u64], time: u64) -> usize {
    boundaries.partition_point(|&boundary| boundary < time)
}

/// For every stretch that starts at a boundary, how many frames have come and are
/// yet to be used.
fn alive(lifetimes: &[Lifetime], boundaries: &[u64]) -> Vec<u64> {
    let mut come = vec![0_u64; boundaries.len()];
    let mut gone = vec![0_u64; boundaries.len()];
    for lifetime in lifetimes {
        if let Some(last) = lifetime.last() {
            come[position(boundaries, lifetime.before())] += 1;
            gone[position(boundaries, last)] += 1;
        }
    }
    let mut alive = 0;
    for (come, gone) in come.iter_mut().zip(gone) {
        alive = alive + *come - gone;
        *come = alive;
    }
    come
}

/// The least capacity after any push beyond `after` and up to `until`.
fn least_capacity(capacities: &[Capacity], after: u64, until: u64) -> u64 {
    let later = capacities.partition_point(|capacity| capacity.from <= after.saturating_add(1));
    let first = later.saturating_sub(1);
    let following = capacities.iter().skip(first + 1).map(Some);
    capacities
        .iter()
        .skip(first)
        .zip(following.chain([None]))
        .take_while(|(capacity, _)| capacity.from <= until)
        .filter(|(capacity, next)| next.is_none_or(|next| next.from > capacity.from))
        .map(|(capacity, _)| capacity.frames.unwrap_or(u64::MAX))
        .min()
        .unwrap_or(u64::MAX)
}

/// Splits chains, which ascend by their start, where none reaches across.
fn groups(chains: &[Chain]) -> impl Iterator<Item = &[Chain]> {
    let mut reach = 0;
    chains.chunk_by(move |chain, next| {
        reach = reach.max(chain.end);
        next.start < reach
    })
}
