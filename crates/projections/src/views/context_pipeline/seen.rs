//! The window as a model saw it: each frame with why it is in, and what went.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use annals_domain::PipelineId;
use annals_domain::pipeline::{EvictionPolicy, Excess, FrameFacts, FrameKind, FrameRanges};
use annals_event_log::Position;
use serde::Serialize;

use super::{ContextFrame, ContextPipelineView, EvictedFrame, FrameUse};

/// Why a frame is in the window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// The policy never evicts its kind.
    Protected,
    /// Nothing limits the window, or its kind.
    Unlimited,
    /// The limit leaves room for it: so many frames would go before it.
    Room {
        /// Frames that would go before it.
        before_it: u64,
    },
    /// The limit leaves room for it: so many frames were neither pushed nor
    /// used since, and would go before it.
    Recent {
        /// Frames that would go before it.
        before_it: u64,
        /// Its last use, if that came after its push.
        used: Option<FrameUse>,
    },
    /// The quota of its kind leaves room for it.
    Quota {
        /// Frames of its kind that are kept.
        keep: u32,
        /// Frames of its kind that would go before it.
        before_it: u64,
    },
}

/// A frame in the window, and why it is in.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SeenFrame {
    /// The frame.
    #[serde(flatten)]
    pub frame: ContextFrame,
    /// The position of its push in the log.
    #[serde(serialize_with = "crate::history::position")]
    pub position: Position,
    /// Why it is in.
    pub why: Why,
}

/// By how much a window is over its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct OverLimit {
    /// So many frames too many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frames: Option<u64>,
    /// So many tokens too many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Whether the next push evicts frames; if it does not, all that are left
    /// are protected, and the policy cannot be met.
    pub until_next_push: bool,
}

/// The text that stands for evicted frames.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RollingSummaryView {
    /// What it says.
    pub text: String,
    /// The numbers of the frames that it stands for, in the order in which they
    /// went.
    pub stands_for: FrameRanges,
    /// The tokens that it takes of the budget.
    pub token_estimate: u64,
}

/// A window as it was then, and why.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WindowView {
    /// The pipeline.
    pub pipeline: PipelineId,
    /// The policy in force.
    pub policy: EvictionPolicy,
    /// The pipeline's own limit of frames, which the policy `max_frames` heeds;
    /// 0 is unlimited.
    pub max_frames: u32,
    /// The sum of the token estimates of the frames, without those of a rolling
    /// summary.
    pub total_token_estimate: u64,
    /// By how much it is over its limit, if it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over_limit: Option<OverLimit>,
    /// What stands for evicted frames, where the policy has that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rolling_summary: Option<RollingSummaryView>,
    /// The frames in the window, in chronological order.
    pub frames: Vec<SeenFrame>,
    /// The frames that were evicted by then, in the order in which they went.
    pub evicted: Vec<EvictedFrame>,
}

impl ContextPipelineView {
    /// The window with why each frame is in, and what went.
    pub fn seen(&self) -> WindowView {
        let whys = self.whys();
        let seen = |(facts, (_, held)): (FrameFacts, (_, &super::HeldFrame))| SeenFrame {
            frame: held.frame.clone(),
            position: held.position,
            why: whys.get(&facts.place).cloned().unwrap_or(Why::Unlimited),
        };
        WindowView {
            pipeline: PipelineId(self.header.object_id),
            policy: self.policy().clone(),
            max_frames: self.max_frames(),
            total_token_estimate: self.total_token_estimate(),
            over_limit: self.over_limit(),
            rolling_summary: self.rolling_summary(),
            frames: self
                .window
                .facts()
                .zip(self.window.iter())
                .map(seen)
                .collect(),
            evicted: self.evicted.clone(),
        }
    }

    /// By how much the window is over its limit, if it is.
    pub fn over_limit(&self) -> Option<OverLimit> {
        let Excess { frames, tokens } = self.window.excess()?;
        let tokens = u64::try_from(tokens).unwrap_or(u64::MAX);
        Some(OverLimit {
            frames: Some(frames).filter(|frames| *frames > 0),
            tokens: Some(tokens).filter(|tokens| *tokens > 0),
            until_next_push: self.window.goes_next().is_some(),
        })
    }

    /// What stands for evicted frames, where the policy has that and any went.
    pub fn rolling_summary(&self) -> Option<RollingSummaryView> {
        let rolled_up = self.window.rolled_up()?;
        Some(RollingSummaryView {
            text: self.newest_rolled_up.text(&rolled_up.frames),
            stands_for: rolled_up.frames.clone(),
            token_estimate: rolled_up.tokens,
        })
    }

    /// Why each frame is in, by its place.
    fn whys(&self) -> HashMap<u64, Why> {
        let protected = self.policy().protected();
        let (kept, mut left): (Vec<FrameFacts>, Vec<FrameFacts>) = self
            .window
            .facts()
            .partition(|facts| protected.contains(&facts.kind));
        let mut whys: HashMap<u64, Why> = HashMap::new();
        whys.extend(kept.iter().map(|facts| (facts.place, Why::Protected)));
        let unlimited = match self.policy() {
            EvictionPolicy::MaxFrames(_) => self.max_frames() == 0,
            EvictionPolicy::Unlimited(_) => true,
            EvictionPolicy::LeastRecentlyUsed(_) => {
                left.sort_by_key(|facts| facts.touched);
                false
            }
            EvictionPolicy::TokenBudget(_)
            | EvictionPolicy::RollingSummary(_)
            | EvictionPolicy::KindQuotas(_) => false,
        };
        if unlimited {
            return whys;
        }
        let mut of_kind: BTreeMap<Arc<FrameKind>, u64> = BTreeMap::new();
        for (before_it, facts) in (0_u64..).zip(left) {
            let why = match self.policy() {
                EvictionPolicy::KindQuotas(policy) => {
                    let before = of_kind.entry(Arc::clone(&facts.kind)).or_default();
                    let before_it = *before;
                    *before += 1;
                    match policy.quota_of(&facts.kind) {
                        Some(keep) => Why::Quota { keep, before_it },
                        None => Why::Unlimited,
                    }
                }
                EvictionPolicy::LeastRecentlyUsed(_) => {
                    let held = self.window.frame_by_id(facts.id);
                    let used = held.and_then(|held| held.last_use);
                    Why::Recent { before_it, used }
                }
                EvictionPolicy::MaxFrames(_)
                | EvictionPolicy::TokenBudget(_)
                | EvictionPolicy::RollingSummary(_)
                | EvictionPolicy::Unlimited(_) => Why::Room { before_it },
            };
            whys.insert(facts.place, why);
        }
        whys
    }
}
