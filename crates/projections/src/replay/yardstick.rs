//! What each policy is measured by: the fewest misses at its budget.
//!
//! It takes two passes: the first learns which frames are used and when, the
//! second when they came and what room there was. Between them only uses are
//! remembered, so that memory grows with the uses and not with the history.

use std::collections::{BTreeMap, HashMap, HashSet};

use annals_domain::FrameId;
use annals_domain::pipeline::{FrameKind, KindQuotas};

use super::NoYardstick;
use super::budget::{Budget, FrameLimit, InForce};
use super::candidate::{Candidate, CandidateKind};
use super::greedy::{FrameKey, Greedy};
use super::history::{Frame, Step};
use super::optimum::{Capacity, Lifetime, fewest_misses};
use super::report::{PipelineReplay, Yardstick};

/// Where a history is: how often it began, and how many pushes there were.
#[derive(Debug, Clone, Copy, Default)]
struct Now {
    begun: u32,
    pushes: u64,
}

impl Now {
    fn step(&mut self, step: &Step<'_>) {
        match step {
            Step::Begun { .. } => self.begun += 1,
            Step::Pushed(_) => self.pushes += 1,
            Step::Adopted(_)
            | Step::Used { .. }
            | Step::Dropped(_)
            | Step::Limit(_)
            | Step::Policy(_) => {}
        }
    }

    fn key(self, id: FrameId) -> FrameKey {
        FrameKey {
            begun: self.begun,
            id,
        }
    }
}

/// When frames are used: after how many pushes, and how often then.
#[derive(Debug, Default)]
struct Uses {
    by_frame: HashMap<FrameKey, Vec<(u64, u64)>>,
    times: HashSet<u64>,
}

impl Uses {
    fn add(&mut self, frame: FrameKey, time: u64) {
        self.times.insert(time);
        let uses = self.by_frame.entry(frame).or_default();
        match uses.last_mut() {
            Some((last, count)) if *last == time => *count += 1,
            _ => uses.push((time, 1)),
        }
    }
}

/// The measures of what was recorded and of all candidates.
pub(super) struct Yardsticks {
    in_force: InForce,
    candidates: Vec<Result<Budget, NoYardstick>>,
    uses: Uses,
    now: Now,
    meters: Vec<Result<Meter, NoYardstick>>,
}

impl Yardsticks {
    pub(super) fn new(candidates: &[Candidate<'_>]) -> Yardsticks {
        let budget = |candidate: &Candidate<'_>| match &candidate.kind {
            CandidateKind::Policy(policy) => Ok(Budget::of(policy)),
            CandidateKind::Custom(_) => Err(NoYardstick::OwnPolicy),
        };
        Yardsticks {
            in_force: InForce::default(),
            candidates: candidates.iter().map(budget).collect(),
            uses: Uses::default(),
            now: Now::default(),
            meters: Vec::new(),
        }
    }

    /// Takes a step of the first pass.
    pub(super) fn note(&mut self, step: &Step<'_>) {
        self.now.step(step);
        self.in_force.note(step);
        if let Step::Used { frames, .. } = step {
            for frame in *frames {
                self.uses.add(self.now.key(*frame), self.now.pushes);
            }
        }
    }

    /// The first pass is over.
    pub(super) fn measure_from_here(&mut self) {
        self.now = Now::default();
        let budgets = std::iter::once(self.in_force.budget()).chain(self.candidates.drain(..));
        self.meters = budgets.map(|budget| budget.map(Meter::new)).collect();
    }

    /// Takes a step of the second pass.
    pub(super) fn measure(&mut self, step: &Step<'_>) {
        self.now.step(step);
        for meter in self.meters.iter_mut().flatten() {
            meter.step(step, self.now, &self.uses);
        }
    }

    /// Writes the answers into the report.
    pub(super) fn answer(
        self,
        replayed: &mut PipelineReplay,
        progress: &mut Option<&mut (dyn FnMut(u64, u64) + Send)>,
    ) {
        let mut progress = |done, of| {
            if let Some(progress) = progress {
                progress(done, of);
            }
        };
        for (policy, meter) in replayed.policies.iter_mut().zip(self.meters) {
            policy.optimum = Some(match meter {
                Ok(meter) => meter.answer(&mut progress),
                Err(reason) => Yardstick::None { reason },
            });
            policy.measure();
        }
    }
}

/// A budget and what is known of it.
enum Meter {
    Free,
    Frames(FrameMeter),
    Kinds {
        quotas: KindQuotas,
        used: BTreeMap<FrameKind, Used>,
        /// Several adopted frames have one number and different kinds: keeping
        /// either is enough, which no number of places a kind can say.
        is_exact: bool,
    },
    Tokens {
        protected: Vec<FrameKind>,
        greedy: Greedy,
    },
}

impl Meter {
    fn new(budget: Budget) -> Meter {
        match budget {
            Budget::Free => Meter::Free,
            Budget::Frames { limit, protected } => Meter::Frames(FrameMeter::new(limit, protected)),
            Budget::Kinds(quotas) => Meter::Kinds {
                quotas,
                used: BTreeMap::new(),
                is_exact: true,
            },
            Budget::Tokens {
                max_tokens,
                max_frames,
                protected,
            } => Meter::Tokens {
                protected,
                greedy: Greedy::new(max_tokens, max_frames),
            },
        }
    }

    fn step(&mut self, step: &Step<'_>, now: Now, uses: &Uses) {
        match self {
            Meter::Free => {}
            Meter::Frames(meter) => meter.step(step, now, uses),
            Meter::Kinds {
                quotas,
                used,
                is_exact,
            } => {
                if let Some((frame, lifetime)) = lifetime(step, now, uses) {
                    let key = now.key(frame.id);
                    let of_other = |(kind, used): (_, &Used)| {
                        kind != frame.kind && used.adopted.contains_key(&key)
                    };
                    *is_exact &= !used.iter().any(of_other);
                    let used = used.entry(frame.kind.clone()).or_default();
                    let is_free = quotas.quota_of(frame.kind).is_none();
                    used.add(step, key, lifetime, is_free);
                }
            }
            Meter::Tokens { protected, greedy } => {
                greedy_step(greedy, protected, step, now, uses);
            }
        }
    }

    fn answer(self, progress: &mut dyn FnMut(u64, u64)) -> Yardstick {
        match self {
            Meter::Free => Yardstick::Exact { misses: 0 },
            Meter::Frames(meter) => Yardstick::Exact {
                misses: meter.answer(progress),
            },
            // Each kind has places of its own.
            Meter::Kinds {
                quotas,
                used,
                is_exact,
            } => {
                let fewest = |(kind, used): (FrameKind, Used)| {
                    let frames = quotas.quota_of(&kind).map(u64::from);
                    let capacity = Capacity { from: 1, frames };
                    fewest_misses(&used.lifetimes(), &[capacity], progress)
                };
                let misses = used.into_iter().map(fewest);
                let misses = misses.fold(0, u64::saturating_add);
                match is_exact {
                    true => Yardstick::Exact { misses },
                    false => Yardstick::Heuristic { misses },
                }
            }
            Meter::Tokens { greedy, .. } => Yardstick::Heuristic {
                misses: greedy.misses(),
            },
        }
    }
}

/// The life of the frame that a step brings, if it is ever used. A frame that was
/// adopted can first be dropped at the next push.
fn lifetime<'a>(step: &Step<'a>, now: Now, uses: &Uses) -> Option<(Frame<'a>, Lifetime)> {
    let (frame, arrival) = match step {
        Step::Pushed(frame) => (*frame, now.pushes),
        Step::Adopted(frame) => (*frame, now.pushes + 1),
        Step::Begun { .. }
        | Step::Used { .. }
        | Step::Dropped(_)
        | Step::Limit(_)
        | Step::Policy(_) => return None,
    };
    let uses = uses.by_frame.get(&now.key(frame.id))?.clone();
    Some((frame, Lifetime { arrival, uses }))
}

fn greedy_step(
    greedy: &mut Greedy,
    protected: &[FrameKind],
    step: &Step<'_>,
    now: Now,
    uses: &Uses,
) {
    match step {
        Step::Begun { .. } => greedy.begin(),
        Step::Adopted(frame) | Step::Pushed(frame) => {
            let tokens = frame.tokens.unwrap_or(0);
            let key = now.key(frame.id);
            if protected.contains(frame.kind) {
                greedy.protect(tokens);
            } else if let Some(uses) = uses.by_frame.get(&key) {
                greedy.hold(key, tokens, uses.iter().map(|(_, count)| count).sum());
            }
            if let Step::Pushed(_) = step {
                greedy.make_room();
            }
        }
        Step::Used { frames, .. } => {
            for frame in *frames {
                greedy.touch(now.key(*frame));
            }
        }
        Step::Dropped(_) | Step::Limit(_) | Step::Policy(_) => {}
    }
}

/// The lives of used frames. Several adopted ones may have one number, by which
/// the first that is left is found: keeping any of them is enough.
#[derive(Debug, Default)]
struct Used {
    lifetimes: Vec<Option<Lifetime>>,
    /// The frames that were adopted, and where their lives are.
    adopted: HashMap<FrameKey, usize>,
}

impl Used {
    /// A frame came that is used. One that is never dropped needs no place, and
    /// nor does another one with its number.
    fn add(&mut self, step: &Step<'_>, key: FrameKey, lifetime: Lifetime, is_free: bool) {
        let known = self.adopted.get(&key).copied();
        let index = known.unwrap_or(self.lifetimes.len());
        if known.is_none() && (!is_free || matches!(step, Step::Adopted(_))) {
            self.lifetimes.push(Some(lifetime));
        }
        if is_free && let Some(kept) = self.lifetimes.get_mut(index) {
            *kept = None;
        }
        if let Step::Adopted(_) = step {
            self.adopted.insert(key, index);
        }
    }

    fn lifetimes(self) -> Vec<Lifetime> {
        self.lifetimes.into_iter().flatten().collect()
    }
}

/// The room for frames over time. Only between moments at which a used frame
/// comes or is used does it matter how little there was.
struct FrameMeter {
    limit: FrameLimit,
    protected: Vec<FrameKind>,
    /// The pipeline's own limit as it was recorded; 0 is unlimited.
    recorded: u32,
    /// Frames that are never dropped.
    held: u64,
    used: Used,
    capacities: Vec<Capacity>,
    /// The first push of the stretch that goes on, and the least room in it.
    stretch: (u64, Option<u64>),
}

impl FrameMeter {
    fn new(limit: FrameLimit, protected: Vec<FrameKind>) -> FrameMeter {
        FrameMeter {
            limit,
            protected,
            recorded: 0,
            held: 0,
            used: Used::default(),
            capacities: Vec::new(),
            stretch: (1, None),
        }
    }

    fn step(&mut self, step: &Step<'_>, now: Now, uses: &Uses) {
        match step {
            Step::Begun { max_frames, .. } => (self.recorded, self.held) = (*max_frames, 0),
            Step::Limit(max_frames) => self.recorded = *max_frames,
            Step::Policy(policy) => {
                self.recorded = policy.own_max_frames().unwrap_or(self.recorded);
            }
            Step::Used { .. } | Step::Dropped(_) => {}
            Step::Adopted(frame) | Step::Pushed(frame) => {
                let is_protected = self.protected.contains(frame.kind);
                self.held += u64::from(is_protected);
                if let Some((_, lifetime)) = lifetime(step, now, uses) {
                    self.end_stretch(lifetime.arrival);
                    self.used
                        .add(step, now.key(frame.id), lifetime, is_protected);
                }
                if let Step::Pushed(_) = step {
                    self.push(now, uses);
                }
            }
        }
    }

    fn push(&mut self, now: Now, uses: &Uses) {
        let limit = match self.limit {
            FrameLimit::Fixed(limit) => limit,
            FrameLimit::Recorded => self.recorded,
        };
        if limit > 0 {
            let room = u64::from(limit).saturating_sub(self.held);
            let least = self.stretch.1.map_or(room, |least| least.min(room));
            self.stretch.1 = Some(least);
        }
        if uses.times.contains(&now.pushes) {
            self.end_stretch(now.pushes + 1);
        }
    }

    /// The stretch ends before this push.
    fn end_stretch(&mut self, next: u64) {
        let (from, frames) = self.stretch;
        if from < next {
            self.capacities.push(Capacity { from, frames });
            self.stretch = (next, None);
        }
    }

    fn answer(mut self, progress: &mut dyn FnMut(u64, u64)) -> u64 {
        let (from, frames) = self.stretch;
        self.capacities.push(Capacity { from, frames });
        fewest_misses(&self.used.lifetimes(), &self.capacities, progress)
    }
}
