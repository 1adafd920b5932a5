//! The frame goes first that was pushed or used longest ago.

use std::collections::BTreeMap;

use super::{Evictor, Excess, FrameFacts, Totals};
use crate::pipeline::LeastRecentlyUsed;

/// Frames by when they came or were used last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ByUse {
    policy: LeastRecentlyUsed,
    /// The places of the frames that may go.
    by_touch: BTreeMap<u64, u64>,
}

impl ByUse {
    pub(super) fn new(policy: &LeastRecentlyUsed) -> ByUse {
        ByUse {
            policy: policy.clone(),
            by_touch: BTreeMap::new(),
        }
    }
}

impl Evictor for ByUse {
    fn admitted(&mut self, frame: &FrameFacts) {
        if !self.policy.protected.contains(&frame.kind) {
            self.by_touch.insert(frame.touched, frame.place);
        }
    }

    fn used(&mut self, frame: &FrameFacts, now: u64) {
        if let Some(place) = self.by_touch.remove(&frame.touched) {
            self.by_touch.insert(now, place);
        }
    }

    fn evicted(&mut self, frame: &FrameFacts) {
        self.by_touch.remove(&frame.touched);
    }

    fn excess(&self, held: Totals) -> Option<Excess> {
        let frames = self.policy.max_frames.map(u64::from);
        Excess::over(held, frames, self.policy.max_tokens)
    }

    fn next(&self) -> Option<u64> {
        self.by_touch.first_key_value().map(|(_, place)| *place)
    }
}
