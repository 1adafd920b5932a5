//! The answers of a replay.

use annals_domain::pipeline::{EvictionPolicy, FrameRanges};
use annals_domain::{FrameId, PipelineId, PlanId};
use annals_event_log::Position;
use serde::Serialize;

use super::NoYardstick;

/// A pipeline's history under several policies.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PipelineReplay {
    /// The pipeline.
    pub pipeline: PipelineId,
    /// The position of the first event that was replayed.
    #[serde(serialize_with = "crate::history::position")]
    pub first_position: Position,
    /// The position of the last one.
    #[serde(serialize_with = "crate::history::position")]
    pub last_position: Position,
    /// Frames that were pushed.
    pub pushes: u64,
    /// Uses of frames by plans' steps.
    pub uses: u64,
    /// Those of them that were inferred from something else.
    pub inferred_uses: u64,
    /// Uses, not counted above, of frames that were evicted before the pipeline
    /// was adopted from another system.
    pub unknown_uses: u64,
    /// Frames without a token estimate, which count for no token.
    pub frames_without_estimate: u64,
    /// What was recorded, and the candidates in their order.
    pub policies: Vec<PolicyReplay>,
}

/// A history under one policy.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PolicyReplay {
    /// The candidate's name; `recorded` for what was in force.
    pub name: String,
    /// The policy; absent where it is what was recorded, or no data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<EvictionPolicy>,
    /// Frames in the window.
    pub frames: Held,
    /// Tokens in the window, with those of a rolling summary.
    pub tokens: Held,
    /// Frames that were evicted.
    pub evictions: u64,
    /// Pushes after which the window was still over its limit, as all that was
    /// left was protected.
    pub pushes_over_limit: u64,
    /// Uses of frames by plans' steps.
    pub uses: u64,
    /// Uses of frames that this policy had dropped by then.
    pub misses: u64,
    /// Misses of uses that were inferred.
    pub inferred_misses: u64,
    /// The least that could have been missed, where that was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub optimum: Option<Yardstick>,
    /// How many more this policy missed; a guess for tokens may be beaten.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub above_optimum: Option<i64>,
}

/// How much a window held: after each push, and at the end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Held {
    /// The most.
    pub peak: u64,
    /// The mean over all pushes.
    pub mean: f64,
    /// At the end.
    pub end: u64,
}

/// How few misses were possible at the same budget by one who knows the future.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Yardstick {
    /// The least possible, exactly: no policy with this budget misses less.
    Exact {
        /// Uses missed.
        misses: u64,
    },
    /// What a good guess that knows the future misses: it drops what has the
    /// fewest uses left per token. The least possible may be less.
    Heuristic {
        /// Uses missed.
        misses: u64,
    },
    /// There is no single budget to compare with.
    None {
        /// Why.
        reason: NoYardstick,
    },
}

impl Yardstick {
    /// Uses missed, where there is a number.
    pub fn misses(&self) -> Option<u64> {
        match self {
            Yardstick::Exact { misses } | Yardstick::Heuristic { misses } => Some(*misses),
            Yardstick::None { .. } => None,
        }
    }
}

/// A policy's window at one moment.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WindowAt<'a> {
    /// The pipeline.
    pub pipeline: PipelineId,
    /// The policy's name.
    pub policy: &'a str,
    /// The position of the use, or of the last event.
    #[serde(serialize_with = "crate::history::position")]
    pub position: Position,
    /// The plan and the step that used frames; none at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<(PlanId, u32)>,
    /// The frames in the window.
    pub frames: FrameRanges,
    /// The frames that a rolling summary stands for.
    #[serde(skip_serializing_if = "FrameRanges::is_empty")]
    pub summarised: FrameRanges,
    /// Frames that the step used and that the policy had dropped.
    pub missed: Vec<FrameId>,
}

impl PipelineReplay {
    /// The answers for several pipelines as one: the sums of what was evicted,
    /// used and missed, the largest windows, and the means over all pushes;
    /// `None` for none. The policies must be the same.
    pub fn total(replayed: &[PipelineReplay]) -> Option<Vec<PolicyReplay>> {
        let (first, rest) = replayed.split_first()?;
        let mut total = first.policies.clone();
        let mut pushes = first.pushes;
        for other in rest {
            for (sum, policy) in total.iter_mut().zip(&other.policies) {
                sum.add(policy, pushes, other.pushes);
            }
            pushes += other.pushes;
        }
        Some(total)
    }
}

impl PolicyReplay {
    fn add(&mut self, other: &PolicyReplay, pushes: u64, more: u64) {
        self.frames.add(&other.frames, pushes, more);
        self.tokens.add(&other.tokens, pushes, more);
        self.evictions += other.evictions;
        self.pushes_over_limit += other.pushes_over_limit;
        self.uses += other.uses;
        self.misses += other.misses;
        self.inferred_misses += other.inferred_misses;
        self.optimum = match (self.optimum.take(), &other.optimum) {
            (Some(sum), Some(other)) => Some(sum.plus(other)),
            _ => None,
        };
        self.measure();
    }

    /// Takes the distance from the optimum.
    pub(super) fn measure(&mut self) {
        let fewest = self.optimum.as_ref().and_then(Yardstick::misses);
        let signed = |misses: u64| i64::try_from(misses).unwrap_or(i64::MAX);
        self.above_optimum = fewest.map(|fewest| signed(self.misses) - signed(fewest));
    }
}

impl Held {
    /// Peaks and ends are those of the largest window.
    fn add(&mut self, other: &Held, pushes: u64, more: u64) {
        let all = (pushes + more) as f64;
        if all > 0.0 {
            self.mean = (self.mean * pushes as f64 + other.mean * more as f64) / all;
        }
        self.peak = self.peak.max(other.peak);
        self.end = self.end.max(other.end);
    }
}

impl Yardstick {
    /// A sum is as exact as its least exact part.
    fn plus(&self, other: &Yardstick) -> Yardstick {
        match (self, other) {
            (Yardstick::None { reason }, _) | (_, Yardstick::None { reason }) => {
                Yardstick::None { reason: *reason }
            }
            (Yardstick::Exact { misses: one }, Yardstick::Exact { misses: two }) => {
                Yardstick::Exact {
                    misses: one.saturating_add(*two),
                }
            }
            (
                Yardstick::Exact { misses: one } | Yardstick::Heuristic { misses: one },
                Yardstick::Exact { misses: two } | Yardstick::Heuristic { misses: two },
            ) => Yardstick::Heuristic {
                misses: one.saturating_add(*two),
            },
        }
    }
}
