//! The oldest frame goes first: git-internal's policy, token budgets, and
//! token budgets with a rolling summary.

use std::collections::VecDeque;

use super::{Evictor, Excess, FrameFacts, RolledUp, Totals};
use crate::pipeline::{FrameKind, FrameRanges, RollingSummary};

/// The frames that may go, oldest first, and how much may stay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Oldest {
    protected: Vec<FrameKind>,
    places: VecDeque<u64>,
    limit: Limit,
    /// What stands for the frames that went, where something does.
    rolled_up: Option<RolledUp>,
}

/// How much may stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Limit {
    /// So many frames; 0 is unlimited.
    Frames(u32),
    /// So many tokens, of which a summary takes a fixed part as soon as it
    /// stands for a frame.
    Tokens(u64),
}

impl Oldest {
    fn new(protected: &[FrameKind], limit: Limit) -> Oldest {
        Oldest {
            protected: protected.to_vec(),
            places: VecDeque::new(),
            limit,
            rolled_up: None,
        }
    }

    /// git-internal's policy: so many frames.
    pub(super) fn by_count(protected: &[FrameKind], max_frames: u32) -> Oldest {
        Oldest::new(protected, Limit::Frames(max_frames))
    }

    pub(super) fn by_tokens(protected: &[FrameKind], max_tokens: u64) -> Oldest {
        Oldest::new(protected, Limit::Tokens(max_tokens))
    }

    pub(super) fn rolling_up(policy: &RollingSummary) -> Oldest {
        Oldest {
            rolled_up: Some(RolledUp {
                frames: FrameRanges::default(),
                tokens: policy.summary_tokens,
            }),
            ..Oldest::by_tokens(&policy.protected, policy.max_tokens)
        }
    }

    /// Takes the place of another one. Where both have a summary it goes on.
    pub(super) fn succeed(&mut self, before: &Oldest) {
        if let (Some(now), Some(before)) = (&mut self.rolled_up, &before.rolled_up) {
            now.frames = before.frames.clone();
        }
    }
}

impl Evictor for Oldest {
    fn admitted(&mut self, frame: &FrameFacts) {
        if !self.protected.contains(&frame.kind) {
            self.places.push_back(frame.place);
        }
    }

    fn evicted(&mut self, frame: &FrameFacts) {
        self.places.pop_front();
        if let Some(rolled_up) = &mut self.rolled_up {
            rolled_up.frames.push(frame.id);
        }
    }

    /// Nothing stands for it.
    fn dropped(&mut self, frame: &FrameFacts) {
        // Places ascend.
        if let Ok(index) = self.places.binary_search(&frame.place) {
            self.places.remove(index);
        }
    }

    fn excess(&self, held: Totals) -> Option<Excess> {
        match self.limit {
            Limit::Frames(0) => None,
            Limit::Frames(limit) => Excess::over(held, Some(u64::from(limit)), None),
            Limit::Tokens(limit) => {
                let summary = self.rolled_up().map_or(0, |rolled| rolled.tokens);
                let tokens = held.tokens + u128::from(summary);
                Excess::over(Totals { tokens, ..held }, None, Some(limit))
            }
        }
    }

    fn next(&self) -> Option<u64> {
        self.places.front().copied()
    }

    fn max_frames_set(&mut self, max_frames: u32) {
        if let Limit::Frames(limit) = &mut self.limit {
            *limit = max_frames;
        }
    }

    fn rolled_up(&self) -> Option<&RolledUp> {
        self.rolled_up
            .as_ref()
            .filter(|rolled_up| !rolled_up.frames.is_empty())
    }
}
