//! The oldest frame goes first: document 001's policy, token budgets, and
//! token budgets with a rolling summary.

use std::collections::VecDeque;

use super::{Evictor, Excess, FrameFacts, RolledUp, Totals};
use crate::pipeline::{FrameKind, FrameRanges, RollingSummary};

/// The frames that may go, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Queue {
    protected: Vec<FrameKind>,
    places: VecDeque<u64>,
}

impl Queue {
    fn new(protected: &[FrameKind]) -> Queue {
        Queue {
            protected: protected.to_vec(),
            places: VecDeque::new(),
        }
    }

    fn admit(&mut self, frame: &FrameFacts) {
        if !self.protected.contains(&frame.kind) {
            self.places.push_back(frame.place);
        }
    }
}

/// Document 001's policy: so many frames.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OldestByCount {
    queue: Queue,
    /// 0 is unlimited.
    max_frames: u32,
}

impl OldestByCount {
    pub(super) fn new(protected: &[FrameKind], max_frames: u32) -> OldestByCount {
        OldestByCount {
            queue: Queue::new(protected),
            max_frames,
        }
    }
}

impl Evictor for OldestByCount {
    fn admitted(&mut self, frame: &FrameFacts) {
        self.queue.admit(frame);
    }

    fn evicted(&mut self, _: &FrameFacts) {
        self.queue.places.pop_front();
    }

    fn excess(&self, held: Totals) -> Option<Excess> {
        let limit = Some(u64::from(self.max_frames)).filter(|limit| *limit > 0);
        Excess::over(held, limit, None)
    }

    fn next(&self) -> Option<u64> {
        self.queue.places.front().copied()
    }

    fn max_frames_set(&mut self, max_frames: u32) {
        self.max_frames = max_frames;
    }
}

/// So many tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OldestByTokens {
    queue: Queue,
    max_tokens: u64,
}

impl OldestByTokens {
    pub(super) fn new(protected: &[FrameKind], max_tokens: u64) -> OldestByTokens {
        OldestByTokens {
            queue: Queue::new(protected),
            max_tokens,
        }
    }
}

impl Evictor for OldestByTokens {
    fn admitted(&mut self, frame: &FrameFacts) {
        self.queue.admit(frame);
    }

    fn evicted(&mut self, _: &FrameFacts) {
        self.queue.places.pop_front();
    }

    fn excess(&self, held: Totals) -> Option<Excess> {
        Excess::over(held, None, Some(self.max_tokens))
    }

    fn next(&self) -> Option<u64> {
        self.queue.places.front().copied()
    }
}

/// So many tokens, of which a summary takes a fixed part as soon as it stands
/// for a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OldestRolledUp {
    queue: Queue,
    max_tokens: u64,
    rolled_up: RolledUp,
}

impl OldestRolledUp {
    pub(super) fn new(policy: &RollingSummary) -> OldestRolledUp {
        OldestRolledUp {
            queue: Queue::new(&policy.protected),
            max_tokens: policy.max_tokens,
            rolled_up: RolledUp {
                frames: FrameRanges::default(),
                tokens: policy.summary_tokens,
            },
        }
    }

    /// Takes the place of another one, whose summary goes on.
    pub(super) fn succeed(&mut self, before: &OldestRolledUp) {
        self.rolled_up.frames = before.rolled_up.frames.clone();
    }
}

impl Evictor for OldestRolledUp {
    fn admitted(&mut self, frame: &FrameFacts) {
        self.queue.admit(frame);
    }

    fn evicted(&mut self, frame: &FrameFacts) {
        self.queue.places.pop_front();
        self.rolled_up.frames.push(frame.id);
    }

    fn excess(&self, held: Totals) -> Option<Excess> {
        let summary = self.rolled_up().map_or(0, |rolled| rolled.tokens);
        let held = Totals {
            tokens: held.tokens + u128::from(summary),
            ..held
        };
        Excess::over(held, None, Some(self.max_tokens))
    }

    fn next(&self) -> Option<u64> {
        self.queue.places.front().copied()
    }

    fn rolled_up(&self) -> Option<&RolledUp> {
        (!self.rolled_up.frames.is_empty()).then_some(&self.rolled_up)
    }
}
