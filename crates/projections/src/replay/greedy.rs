//! A good guess for token budgets by one who knows the future: keep what has the
//! most uses left per token.
//!
//! The exact optimum is a knapsack over time, which no fast method solves; this
//! is a yardstick with a label, and one that a real policy can hardly beat.

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap};

use annals_domain::FrameId;

/// A frame of a history. An adopted pipeline can be adopted again in its place,
/// and numbers its frames from the start then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct FrameKey {
    pub(super) begun: u32,
    pub(super) id: FrameId,
}

/// Frames that will be used, and the room that they have.
#[derive(Debug)]
pub(super) struct Greedy {
    max_tokens: u64,
    max_frames: Option<u32>,
    /// Tokens and frames that are never dropped.
    protected: (u128, u64),
    held: HashMap<FrameKey, Worth>,
    order: BTreeSet<(Worth, FrameKey)>,
    tokens: u128,
    misses: u64,
}

/// What a frame is worth: its uses to come, per token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Worth {
    uses: u64,
    tokens: u64,
}

impl Ord for Worth {
    fn cmp(&self, other: &Worth) -> Ordering {
        let share =
            |one: &Worth, other: &Worth| u128::from(one.uses) * u128::from(other.tokens.max(1));
        share(self, other)
            .cmp(&share(other, self))
            .then(other.tokens.cmp(&self.tokens))
            .then(self.uses.cmp(&other.uses))
    }
}

impl PartialOrd for Worth {
    fn partial_cmp(&self, other: &Worth) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Greedy {
    pub(super) fn new(max_tokens: u64, max_frames: Option<u32>) -> Greedy {
        Greedy {
            max_tokens,
            max_frames,
            protected: (0, 0),
            held: HashMap::new(),
            order: BTreeSet::new(),
            tokens: 0,
            misses: 0,
        }
    }

    /// What was held is gone, and will not be used any more.
    pub(super) fn begin(&mut self) {
        self.protected = (0, 0);
        self.held.clear();
        self.order.clear();
        self.tokens = 0;
    }

    /// A frame came that is never dropped.
    pub(super) fn protect(&mut self, tokens: u64) {
        self.protected.0 += u128::from(tokens);
        self.protected.1 += 1;
    }

    /// A frame came that will be used so many times. Frames that are never used
    /// need not be reported: they are dropped at once.
    pub(super) fn hold(&mut self, frame: FrameKey, tokens: u64, uses: u64) {
        if self.held.contains_key(&frame) {
            // Another adopted frame has its number: one of them is enough.
            return;
        }
        let worth = Worth { uses, tokens };
        self.tokens += u128::from(tokens);
        self.held.insert(frame, worth);
        self.order.insert((worth, frame));
    }

    /// A frame was pushed, of any kind: what does not fit is evicted.
    pub(super) fn make_room(&mut self) {
        while self.is_over()
            && let Some((worth, frame)) = self.order.pop_first()
        {
            self.held.remove(&frame);
            self.tokens -= u128::from(worth.tokens);
            self.misses = self.misses.saturating_add(worth.uses);
        }
    }

    fn is_over(&self) -> bool {
        let tokens = self.protected.0 + self.tokens;
        let frames = self.protected.1 + self.held.len() as u64;
        tokens > u128::from(self.max_tokens)
            || self.max_frames.is_some_and(|max| frames > u64::from(max))
    }

    /// A frame is used; once it is used no more, it goes.
    pub(super) fn touch(&mut self, frame: FrameKey) {
        let Some(worth) = self.held.get_mut(&frame) else {
            return;
        };
        self.order.remove(&(*worth, frame));
        worth.uses = worth.uses.saturating_sub(1);
        if worth.uses > 0 {
            self.order.insert((*worth, frame));
            return;
        }
        self.tokens -= u128::from(worth.tokens);
        self.held.remove(&frame);
    }

    pub(super) fn misses(&self) -> u64 {
        self.misses
    }
}
