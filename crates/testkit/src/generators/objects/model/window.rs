//! A pipeline's window in its plainest form: a list that is searched.

use annals_domain::pipeline::{EvictionPolicy, FrameKind};

/// A frame in the window.
#[derive(Debug, Clone)]
pub struct Frame {
    /// Its number.
    pub id: u64,
    kind: FrameKind,
    tokens: u128,
    /// When it was pushed or used last.
    touched: u64,
}

/// A pipeline with its window as it is.
#[derive(Debug, Clone, Default)]
pub struct Pipeline {
    /// The policy in force.
    pub policy: EvictionPolicy,
    /// The most frames; 0 for any number.
    pub max_frames: u32,
    /// How many frames were pushed.
    pub pushed: u64,
    /// The frames in the window, in their order.
    pub window: Vec<Frame>,
    clock: u64,
    /// Whether a frame went since the policy was set.
    rolled_up: bool,
}

/// What the generator makes wrong is a limit of nothing.
pub fn makes_sense(policy: &EvictionPolicy) -> bool {
    match policy {
        EvictionPolicy::TokenBudget(policy) => policy.max_tokens > 0,
        EvictionPolicy::RollingSummary(policy) => {
            policy.summary_tokens > 0 && policy.summary_tokens < policy.max_tokens
        }
        EvictionPolicy::LeastRecentlyUsed(policy) => policy.max_frames.is_some_and(|max| max > 0),
        EvictionPolicy::MaxFrames(_)
        | EvictionPolicy::KindQuotas(_)
        | EvictionPolicy::Unlimited(_) => true,
    }
}

/// Whether a limit of frames may be set together with the policy.
pub fn go_together(policy: &EvictionPolicy, max_frames: Option<u32>) -> bool {
    match (policy, max_frames) {
        (_, None) => true,
        (EvictionPolicy::MaxFrames(policy), Some(max)) => {
            policy.max_frames.is_none_or(|own| own == max)
        }
        _ => false,
    }
}

impl Pipeline {
    /// Whether that changes anything.
    pub fn set_policy(&mut self, policy: &EvictionPolicy) -> bool {
        let own = match policy {
            EvictionPolicy::MaxFrames(policy) => policy.max_frames.unwrap_or(self.max_frames),
            _ => self.max_frames,
        };
        let mut policy = policy.clone();
        if let EvictionPolicy::MaxFrames(policy) = &mut policy {
            policy.max_frames = None;
        }
        let changes = own != self.max_frames || policy != self.policy;
        if changes {
            self.rolled_up = false;
        }
        (self.policy, self.max_frames) = (policy, own);
        changes
    }

    /// Pushes a frame, which may evict others or itself.
    pub fn push(&mut self, kind: &FrameKind, tokens: u64) {
        self.clock += 1;
        self.window.push(Frame {
            id: self.pushed,
            kind: kind.clone(),
            tokens: u128::from(tokens),
            touched: self.clock,
        });
        self.pushed += 1;
        while let Some(index) = self.next_to_go() {
            self.window.remove(index);
            self.rolled_up = true;
        }
    }

    /// A frame was used.
    pub fn touch(&mut self, id: u64) {
        if let Some(frame) = self.window.iter_mut().find(|frame| frame.id == id) {
            self.clock += 1;
            frame.touched = self.clock;
        }
    }

    fn next_to_go(&self) -> Option<usize> {
        let may_go = |frame: &Frame| {
            !matches!(
                frame.kind,
                FrameKind::IntentAnalysis | FrameKind::Checkpoint
            )
        };
        let oldest = || self.window.iter().position(may_go);
        let frames = self.window.len() as u64;
        let tokens: u128 = self.window.iter().map(|frame| frame.tokens).sum();
        match &self.policy {
            EvictionPolicy::MaxFrames(_) => {
                let max = u64::from(self.max_frames);
                (max > 0 && frames > max).then(oldest)?
            }
            EvictionPolicy::TokenBudget(policy) => {
                (tokens > u128::from(policy.max_tokens)).then(oldest)?
            }
            EvictionPolicy::RollingSummary(policy) => {
                let summary = u128::from(policy.summary_tokens) * u128::from(self.rolled_up);
                (tokens + summary > u128::from(policy.max_tokens)).then(oldest)?
            }
            EvictionPolicy::LeastRecentlyUsed(policy) => {
                let max = u64::from(policy.max_frames?);
                let candidates = self.window.iter().enumerate();
                let candidates = candidates.filter(|(_, frame)| may_go(frame));
                let first = candidates.min_by_key(|(_, frame)| frame.touched);
                (frames > max).then_some(first?.0)
            }
            EvictionPolicy::KindQuotas(policy) => self.window.iter().position(|frame| {
                let alike = self.window.iter().filter(|it| it.kind == frame.kind);
                let keep = policy.quotas.iter().find(|quota| quota.kind == frame.kind);
                let keep = keep.map(|quota| quota.keep).or(policy.others);
                may_go(frame) && keep.is_some_and(|keep| alike.count() > keep as usize)
            }),
            EvictionPolicy::Unlimited(_) => None,
        }
    }
}
