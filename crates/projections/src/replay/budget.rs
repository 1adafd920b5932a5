//! The budget of a policy: what one who knows the future is held to as well.

use annals_domain::pipeline::{EvictionPolicy, FrameKind, KindQuotas};
use serde::Serialize;

use super::history::Step;

/// What a window may hold.
#[derive(Debug, Clone)]
pub(super) enum Budget {
    /// Everything.
    Free,
    /// So many frames, of which those of these kinds are never dropped.
    Frames {
        limit: FrameLimit,
        protected: Vec<FrameKind>,
    },
    /// So many frames of each kind.
    Kinds(KindQuotas),
    /// So many tokens, and perhaps so many frames.
    Tokens {
        max_tokens: u64,
        max_frames: Option<u32>,
        protected: Vec<FrameKind>,
    },
}

/// Where git-internal's limit of frames comes from, 0 being unlimited; other
/// policies have one that is never 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FrameLimit {
    Fixed(u32),
    /// The limits that were recorded.
    Recorded,
}

/// Why there is no single budget to compare a policy with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NoYardstick {
    /// The policy that was recorded changed on the way.
    PolicyChanged,
    /// It is a policy of the caller's, whose budget is not known.
    OwnPolicy,
}

impl std::fmt::Display for NoYardstick {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            NoYardstick::PolicyChanged => "the policy changed on the way",
            NoYardstick::OwnPolicy => "the budget of a policy of one's own is not known",
        })
    }
}

impl Budget {
    pub(super) fn of(policy: &EvictionPolicy) -> Budget {
        let protected = policy.protected().to_vec();
        match policy {
            EvictionPolicy::MaxFrames(policy) => Budget::Frames {
                limit: match policy.max_frames {
                    Some(limit) => FrameLimit::Fixed(limit),
                    None => FrameLimit::Recorded,
                },
                protected,
            },
            EvictionPolicy::TokenBudget(policy) => Budget::Tokens {
                max_tokens: policy.max_tokens,
                max_frames: None,
                protected,
            },
            EvictionPolicy::RollingSummary(policy) => Budget::Tokens {
                max_tokens: policy.max_tokens.saturating_sub(policy.summary_tokens),
                max_frames: None,
                protected,
            },
            EvictionPolicy::LeastRecentlyUsed(policy) => match policy.max_tokens {
                Some(max_tokens) => Budget::Tokens {
                    max_tokens,
                    max_frames: policy.max_frames,
                    protected,
                },
                None => Budget::Frames {
                    limit: FrameLimit::Fixed(policy.max_frames.unwrap_or(0)),
                    protected,
                },
            },
            EvictionPolicy::KindQuotas(policy) => Budget::Kinds(policy.clone()),
            EvictionPolicy::Unlimited(_) => Budget::Free,
        }
    }
}

/// The policy that was in force at every push, as long as it was always the
/// same. (Its limit of frames may have changed.)
#[derive(Debug, Default)]
pub(super) struct InForce {
    now: EvictionPolicy,
    at_pushes: Option<EvictionPolicy>,
    changed: bool,
}

impl InForce {
    pub(super) fn note(&mut self, step: &Step<'_>) {
        match step {
            Step::Begun { .. } => self.now = EvictionPolicy::default(),
            Step::Policy(policy) => self.now = policy.in_force(),
            Step::Pushed(_) => match &self.at_pushes {
                None => self.at_pushes = Some(self.now.clone()),
                Some(before) => self.changed |= *before != self.now,
            },
            Step::Adopted(_) | Step::Used { .. } | Step::Dropped(_) | Step::Limit(_) => {}
        }
    }

    pub(super) fn budget(&self) -> Result<Budget, NoYardstick> {
        if self.changed {
            return Err(NoYardstick::PolicyChanged);
        }
        let policy = self.at_pushes.as_ref().unwrap_or(&self.now);
        Ok(Budget::of(policy))
    }
}
