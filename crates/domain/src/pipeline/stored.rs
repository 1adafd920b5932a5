//! Policies and numbers as events store them: plain data without variants.

use super::{
    EvictionPolicy, EvictionPolicySet, FrameRanges, FramesDropped, KindQuota, KindQuotas,
    LeastRecentlyUsed, MaxFrames, PolicyRule, RollingSummary, StoredQuota, StoredRange,
    TokenBudget, Unlimited,
};
use crate::FrameId;

impl FramesDropped {
    /// The event that these frames were dropped, of a pipeline whose next frame gets the number
    /// `next`.
    pub fn new(frames: &FrameRanges, next: FrameId) -> FramesDropped {
        let stored = |(first, last): &(FrameId, FrameId)| StoredRange {
            first: *first,
            last: *last,
        };
        FramesDropped {
            frames: frames.as_slice().iter().map(stored).collect(),
            // The last number of all is that of no frame of ours, but may be an adopted one's.
            all: next.0 < u64::MAX && *frames == FrameRanges::below(next),
        }
    }
}

impl EvictionPolicySet {
    /// The event that a policy was set.
    pub fn new(policy: &EvictionPolicy) -> EvictionPolicySet {
        let mut event = EvictionPolicySet {
            rule: policy.rule(),
            max_frames: None,
            max_tokens: None,
            summary_tokens: None,
            quotas: Vec::new(),
            other_kinds: None,
            protected: policy.protected().to_vec(),
        };
        match policy {
            EvictionPolicy::MaxFrames(policy) => event.max_frames = policy.max_frames,
            EvictionPolicy::TokenBudget(policy) => event.max_tokens = Some(policy.max_tokens),
            EvictionPolicy::RollingSummary(policy) => {
                event.max_tokens = Some(policy.max_tokens);
                event.summary_tokens = Some(policy.summary_tokens);
            }
            EvictionPolicy::LeastRecentlyUsed(policy) => {
                event.max_frames = policy.max_frames;
                event.max_tokens = policy.max_tokens;
            }
            EvictionPolicy::KindQuotas(policy) => {
                event.quotas = policy.quotas.iter().map(stored_quota).collect();
                event.other_kinds = policy.others;
            }
            EvictionPolicy::Unlimited(_) => {}
        }
        event
    }

    /// The policy that was set. A limit that is missing, which no event of ours
    /// lacks, is the largest one.
    pub fn policy(&self) -> EvictionPolicy {
        let protected = self.protected.clone();
        let max_tokens = self.max_tokens.unwrap_or(u64::MAX);
        match self.rule {
            PolicyRule::MaxFrames => EvictionPolicy::MaxFrames(MaxFrames {
                max_frames: self.max_frames,
                protected,
            }),
            PolicyRule::TokenBudget => EvictionPolicy::TokenBudget(TokenBudget {
                max_tokens,
                protected,
            }),
            PolicyRule::RollingSummary => EvictionPolicy::RollingSummary(RollingSummary {
                max_tokens,
                summary_tokens: self.summary_tokens.unwrap_or(0),
                protected,
            }),
            PolicyRule::LeastRecentlyUsed => EvictionPolicy::LeastRecentlyUsed(LeastRecentlyUsed {
                max_frames: self.max_frames,
                max_tokens: self.max_tokens,
                protected,
            }),
            PolicyRule::KindQuotas => EvictionPolicy::KindQuotas(KindQuotas {
                quotas: self.quotas.iter().map(quota).collect(),
                others: self.other_kinds,
                protected,
            }),
            PolicyRule::Unlimited => EvictionPolicy::Unlimited(Unlimited {}),
        }
    }
}

fn stored_quota(quota: &KindQuota) -> StoredQuota {
    StoredQuota {
        kind: quota.kind.clone(),
        keep: quota.keep,
    }
}

fn quota(quota: &StoredQuota) -> KindQuota {
    KindQuota {
        kind: quota.kind.clone(),
        keep: quota.keep,
    }
}
