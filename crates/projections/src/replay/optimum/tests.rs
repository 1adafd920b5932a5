//! The optimum compared with an exhaustive search.

use std::collections::HashMap;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::*;

/// One frame a push, whether used or not.
#[derive(Debug, Clone)]
struct History {
    /// For every push the uses of the frame it brings, by ascending time.
    uses: Vec<Vec<(u64, u64)>>,
    capacities: Vec<Capacity>,
}

impl History {
    fn pushes(&self) -> u64 {
        self.uses.len() as u64
    }

    fn lifetimes(&self) -> Vec<Lifetime> {
        (1..)
            .zip(&self.uses)
            .filter(|(_, uses)| !uses.is_empty())
            .map(|(arrival, uses)| lifetime(arrival, uses))
            .collect()
    }

    fn capacity(&self, push: u64) -> u64 {
        self.capacities
            .iter()
            .rfind(|capacity| capacity.from <= push)
            .and_then(|capacity| capacity.frames)
            .unwrap_or(u64::MAX)
    }

    /// The frames used between a push and the next, with the number of uses.
    fn due(&self, push: u64) -> Vec<(u64, u64)> {
        let frames = (1..=push).zip(&self.uses);
        let uses = frames.flat_map(|(frame, uses)| uses.iter().map(move |&used| (frame, used)));
        uses.filter(|&(_, (time, _))| time == push)
            .map(|(frame, (_, count))| (frame, count))
            .collect()
    }

    fn fewest_misses(&self) -> u64 {
        fewest_misses(&self.lifetimes(), &self.capacities, &mut |_, _| {})
    }

    /// The same by trying everything. Bit n of `kept` says that the frame of
    /// push n is still there when this push comes.
    fn try_all(&self, push: u64, kept: u32, known: &mut HashMap<(u64, u32), u64>) -> u64 {
        if push > self.pushes() {
            return 0;
        }
        if let Some(&fewest) = known.get(&(push, kept)) {
            return fewest;
        }
        let all = kept | 1 << push;
        let due = self.due(push);
        let mut fewest = u64::MAX;
        for stay in subsets(all) {
            if u64::from(stay.count_ones()) <= self.capacity(push) {
                let now = missed(&due, |frame| stay & 1 << frame != 0);
                fewest = fewest.min(now + self.try_all(push + 1, stay, known));
            }
        }
        known.insert((push, kept), fewest);
        fewest
    }

    /// The misses of dropping what is used furthest in the future, or never.
    fn belady(&self) -> u64 {
        let mut kept: Vec<u64> = Vec::new();
        let mut misses = 0;
        for push in 1..=self.pushes() {
            kept.push(push);
            kept.sort_by_key(|&frame| self.next_use(frame, push));
            while kept.len() as u64 > self.capacity(push) {
                kept.pop();
            }
            misses += missed(&self.due(push), |frame| kept.contains(&frame));
        }
        misses
    }

    fn next_use(&self, frame: u64, push: u64) -> u64 {
        self.uses[frame as usize - 1]
            .iter()
            .map(|&(time, _)| time)
            .find(|&time| time >= push)
            .unwrap_or(u64::MAX)
    }
}

/// How many of the uses miss if these frames are there.
fn missed(due: &[(u64, u64)], there: impl Fn(u64) -> bool) -> u64 {
    due.iter()
        .filter(|&&(frame, _)| !there(frame))
        .map(|&(_, count)| count)
        .sum()
}

fn subsets(all: u32) -> impl Iterator<Item = u32> {
    std::iter::successors(Some(all), move |&subset| {
        (subset != 0).then(|| (subset - 1) & all)
    })
}

fn lifetime(arrival: u64, uses: &[(u64, u64)]) -> Lifetime {
    Lifetime {
        arrival,
        uses: uses.to_vec(),
    }
}

fn always(frames: u64) -> Vec<Capacity> {
    vec![Capacity {
        from: 1,
        frames: Some(frames),
    }]
}

fn misses(lifetimes: &[Lifetime], capacities: &[Capacity]) -> u64 {
    fewest_misses(lifetimes, capacities, &mut |_, _| {})
}

/// Up to so many pushes, with uses that may also lie before the arrival.
fn histories(pushes: u64, most_frames: u64) -> impl Strategy<Value = History> {
    (1..=pushes).prop_flat_map(move |pushes| {
        let uses = prop::collection::vec((0..=pushes, 0_u64..=3), 0..=4);
        let frames = prop_oneof![1 => Just(None), 7 => (0..=most_frames).prop_map(Some)];
        let capacity = (1..=pushes, frames).prop_map(|(from, frames)| Capacity { from, frames });
        (
            prop::collection::vec(uses, pushes as usize),
            prop_oneof![0_u64..=2, Just(most_frames)],
            prop::collection::vec(capacity, 0..=6),
        )
            .prop_map(|(mut uses, first, changes)| {
                for uses in &mut uses {
                    uses.sort();
                }
                let mut capacities = always(first);
                capacities.extend(changes);
                capacities.sort_by_key(|capacity| capacity.from);
                History { uses, capacities }
            })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, rng_seed: RngSeed::Fixed(20_260_102), ..ProptestConfig::default() })]

    #[test]
    fn nothing_else_that_can_be_dropped_misses_less(history in histories(12, 5)) {
        let fewest = history.try_all(1, 0, &mut HashMap::new());
        prop_assert_eq!(history.fewest_misses(), fewest);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, rng_seed: RngSeed::Fixed(20_260_102), ..ProptestConfig::default() })]

    #[test]
    fn no_rule_misses_less(history in histories(100, 20)) {
        prop_assert!(history.fewest_misses() <= history.belady());
    }

    #[test]
    fn progress_rises_to_the_end(history in histories(30, 5)) {
        let mut calls = Vec::new();
        fewest_misses(&history.lifetimes(), &history.capacities, &mut |done, of| {
            calls.push((done, of));
        });
        prop_assert!(calls.is_sorted());
        if let Some(&(done, of)) = calls.last() {
            prop_assert!(calls.iter().all(|call| call.1 == of));
            prop_assert_eq!(done, of);
        }
    }
}

#[test]
fn dropping_what_is_used_furthest_in_the_future_is_not_best() {
    // The second frame is used first, but once; a policy that makes room for it by
    // dropping the first never sees that one again.
    let history = History {
        uses: vec![
            vec![(4, 1), (5, 1), (6, 1)],
            vec![(3, 1)],
            vec![],
            vec![],
            vec![],
            vec![],
        ],
        capacities: always(1),
    };
    assert_eq!(history.belady(), 3);
    assert_eq!(history.fewest_misses(), 1);
}

#[test]
fn a_later_use_needs_the_place_since_the_arrival() {
    // Were a dropped frame to come back, one place would do for both.
    let frames = [lifetime(1, &[(1, 1), (4, 5)]), lifetime(2, &[(3, 7)])];
    assert_eq!(misses(&frames, &always(1)), 5);
    assert_eq!(misses(&frames, &always(2)), 0);
}

#[test]
fn a_fall_in_capacity_counts_from_its_push() {
    let frames = [
        lifetime(1, &[(3, 4), (5, 1)]),
        lifetime(2, &[(3, 2), (5, 2)]),
    ];
    let fall = |from| {
        let frames = Some(1);
        [always(2), vec![Capacity { from, frames }]].concat()
    };
    assert_eq!(misses(&frames, &fall(3)), 4);
    assert_eq!(misses(&frames, &fall(4)), 1);
    assert_eq!(misses(&frames, &fall(6)), 0);
}

#[test]
fn without_places_every_use_since_the_arrival_misses() {
    let frames = [
        lifetime(2, &[(0, 9), (1, 9), (2, 1), (4, 2)]),
        lifetime(3, &[(3, 4)]),
    ];
    assert_eq!(misses(&frames, &always(0)), 7);
}

#[test]
fn without_a_limit_nothing_misses() {
    let frames: Vec<_> = (1..100).map(|push| lifetime(push, &[(100, 1)])).collect();
    let unlimited = Capacity {
        from: 1,
        frames: None,
    };
    assert_eq!(misses(&frames, &[]), 0);
    assert_eq!(misses(&frames, &[unlimited]), 0);
    assert_eq!(misses(&frames, &always(u64::MAX)), 0);
}

#[test]
fn without_uses_nothing_misses() {
    assert_eq!(misses(&[], &always(0)), 0);
    assert_eq!(misses(&[lifetime(1, &[])], &always(0)), 0);
    assert_eq!(misses(&[lifetime(3, &[(2, 1)])], &always(0)), 0);
}

#[test]
fn a_frame_used_a_thousand_times() {
    let often: Vec<_> = (1..=1_000).map(|time| (time, 1)).collect();
    let mut frames = vec![lifetime(1, &often)];
    assert_eq!(misses(&frames, &always(1)), 0);
    assert_eq!(misses(&frames, &always(0)), 1_000);
    frames.push(lifetime(990, &[(1_000, 10)]));
    assert_eq!(misses(&frames, &always(1)), 10);
    frames.push(lifetime(990, &[(990, 1), (1_000, 11)]));
    assert_eq!(misses(&frames, &always(1)), 21);
    frames.push(lifetime(991, &[(999, u64::MAX)]));
    assert_eq!(misses(&frames, &always(1)), 10 + 12 + 10);
}

#[test]
fn sums_do_not_overflow() {
    let all = u64::MAX;
    let frames = [
        lifetime(1, &[(1, all), (3, all), (5, all)]),
        lifetime(2, &[(4, all - 1)]),
        lifetime(all, &[(all, 1)]),
    ];
    assert_eq!(misses(&frames, &always(1)), all - 1);
    assert_eq!(misses(&frames, &always(0)), all);
}
