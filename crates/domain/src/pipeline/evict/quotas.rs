//! So many frames of each kind, the oldest of a kind first.

use std::collections::{BTreeMap, VecDeque};

use super::{Evictor, Excess, FrameFacts, Totals};
use crate::pipeline::{FrameKind, KindQuotas};

/// The frames of each kind that has a quota.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ByKind {
    policy: KindQuotas,
    /// Their places, oldest first. No queue is empty.
    queues: BTreeMap<FrameKind, VecDeque<u64>>,
    /// The kinds that are over their quota, by the place of their oldest frame.
    over: BTreeMap<u64, FrameKind>,
    /// By how many frames all of them are over.
    excess: u64,
}

impl ByKind {
    pub(super) fn new(policy: &KindQuotas) -> ByKind {
        ByKind {
            policy: policy.clone(),
            queues: BTreeMap::new(),
            over: BTreeMap::new(),
            excess: 0,
        }
    }
}

impl Evictor for ByKind {
    fn admitted(&mut self, frame: &FrameFacts) {
        let Some(keep) = self.policy.quota_of(&frame.kind) else {
            return;
        };
        let queue = self
            .queues
            .entry(FrameKind::clone(&frame.kind))
            .or_default();
        queue.push_back(frame.place);
        if queue.len() as u64 > u64::from(keep) {
            self.excess += 1;
            let oldest = queue.front().copied().unwrap_or(frame.place);
            self.over.insert(oldest, FrameKind::clone(&frame.kind));
        }
    }

    fn evicted(&mut self, frame: &FrameFacts) {
        self.over.remove(&frame.place);
        self.excess = self.excess.saturating_sub(1);
        let Some(queue) = self.queues.get_mut(&frame.kind) else {
            return;
        };
        queue.pop_front();
        let keep = self.policy.quota_of(&frame.kind).unwrap_or(u32::MAX);
        match queue.front() {
            None => drop(self.queues.remove(&frame.kind)),
            Some(oldest) if queue.len() as u64 > u64::from(keep) => {
                self.over.insert(*oldest, FrameKind::clone(&frame.kind));
            }
            Some(_) => {}
        }
    }

    fn dropped(&mut self, frame: &FrameFacts) {
        let Some(queue) = self.queues.get_mut(&frame.kind) else {
            return;
        };
        // Places ascend.
        let Ok(index) = queue.binary_search(&frame.place) else {
            return;
        };
        let keep = u64::from(self.policy.quota_of(&frame.kind).unwrap_or(u32::MAX));
        if let Some(oldest) = queue.front()
            && self.over.remove(oldest).is_some()
        {
            self.excess = self.excess.saturating_sub(1);
        }
        queue.remove(index);
        match queue.front() {
            None => drop(self.queues.remove(&frame.kind)),
            Some(oldest) if queue.len() as u64 > keep => {
                self.over.insert(*oldest, FrameKind::clone(&frame.kind));
            }
            Some(_) => {}
        }
    }

    fn excess(&self, _: Totals) -> Option<Excess> {
        (self.excess > 0).then_some(Excess {
            frames: self.excess,
            tokens: 0,
        })
    }

    fn next(&self) -> Option<u64> {
        self.over.first_key_value().map(|(place, _)| *place)
    }
}
