//! Another eviction policy beside the recorded one: what it would have kept of the same frames, and what steps would
//! have missed then. It is the replay of `annals policy replay`.

use std::collections::HashMap;

use annals::Annals;
use annals::domain::pipeline::{
    EvictionPolicy, FrameRanges, KindQuotas, LeastRecentlyUsed, RollingSummary,
};
use annals::domain::{FrameId, PipelineId};
use annals::projections::WindowView;
use annals::projections::replay::{Candidate, PolicyReplay, ReplayOptions, WindowAt};
use schemars::JsonSchema;
use serde::Serialize;

use crate::moment::{Moment, Params};
use crate::problem::Problem;

/// Uses at which something was missed that are shown.
const MISSES: usize = 50;
/// Frames of one use that are named.
const NAMED: usize = 20;

/// The policies that can be tried, each with what the number says.
pub(super) const POLICIES: [(&str, &str); 6] = [
    ("max_frames", "frames"),
    ("token_budget", "tokens"),
    ("rolling_summary", "tokens"),
    ("least_recently_used", "frames"),
    ("kind_quotas", "frames of each kind"),
    ("unlimited", "all"),
];

/// Another policy beside the recorded one.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct OtherPolicy {
    /// What it is called.
    pub(super) policy: String,
    /// How the recorded one did.
    pub(super) recorded: PolicyCounts,
    /// How it would have done.
    pub(super) other: PolicyCounts,
    /// What it would have in the window, in order.
    pub(super) tape: Vec<OtherFrame>,
    /// Frames that are in the recorded window and not in its.
    pub(super) only_recorded: usize,
    /// The uses at which a step would have missed frames, the first 50.
    pub(super) misses: Vec<Missed>,
}

/// How a policy did.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PolicyCounts {
    /// The most frames that were in the window.
    pub(super) peak_frames: u64,
    /// The most tokens.
    pub(super) peak_tokens: u64,
    /// The tokens at the end.
    pub(super) end_tokens: u64,
    /// How many frames went.
    pub(super) evictions: u64,
    /// How many frames steps used.
    pub(super) uses: u64,
    /// How many of those it had dropped.
    pub(super) misses: u64,
}

/// A frame that it would have in the window.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct OtherFrame {
    /// Its number.
    pub(super) frame: u64,
    /// What it captured.
    pub(super) kind: String,
    /// How many tokens it takes.
    pub(super) tokens: u64,
    /// Whether the recorded policy has dropped it.
    pub(super) only_here: bool,
}

/// A use of frames of which it had dropped some.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Missed {
    /// The event that used them.
    pub(super) position: u64,
    /// The step of the plan, from 0.
    pub(super) step: Option<u32>,
    /// The frames that were missed, at most 20 of them.
    pub(super) frames: Vec<u64>,
    /// How many.
    pub(super) total: usize,
}

/// The policy that an address asks for.
pub(super) fn asked_for(params: &Params) -> Result<Option<EvictionPolicy>, Problem> {
    let Some(name) = params.get("beside") else {
        return Ok(None);
    };
    if name == "unlimited" {
        return Ok(Some(EvictionPolicy::Unlimited(Default::default())));
    }
    let keep = params.number("keep")?.filter(|keep| *keep > 0);
    let keep = keep.ok_or_else(|| Problem::invalid("invalid keep: expected a number from 1 on"))?;
    let frames = u32::try_from(keep).unwrap_or(u32::MAX);
    let policy = match name {
        "max_frames" => EvictionPolicy::max_frames(frames),
        "token_budget" => EvictionPolicy::token_budget(keep),
        // The summary has a tenth of it.
        "rolling_summary" => {
            EvictionPolicy::RollingSummary(RollingSummary::new(keep, (keep / 10).max(1)))
        }
        "least_recently_used" => EvictionPolicy::LeastRecentlyUsed(
            LeastRecentlyUsed::new().with_max_frames(Some(frames)),
        ),
        "kind_quotas" => EvictionPolicy::KindQuotas(KindQuotas::new().with_others(Some(frames))),
        _ => {
            let known: Vec<&str> = POLICIES.iter().map(|(name, _)| *name).collect();
            let known = known.join(", ");
            return Err(Problem::invalid(format!(
                "invalid beside: expected one of {known}"
            )));
        }
    };
    let valid = policy.check();
    valid.map_err(|error| Problem::invalid(format!("invalid keep: {error}")))?;
    Ok(Some(policy))
}

/// What the windows of a replay say.
#[derive(Default)]
struct Watched {
    end: Option<FrameRanges>,
    misses: Vec<Missed>,
}

impl Watched {
    fn see(&mut self, name: &str, window: &WindowAt<'_>) {
        if window.policy != name {
            return;
        }
        let Some((_, step)) = window.step else {
            self.end = Some(window.frames.clone());
            return;
        };
        if !window.missed.is_empty() && self.misses.len() < MISSES {
            let frames = window.missed.iter().take(NAMED).map(|frame| frame.0);
            self.misses.push(Missed {
                position: window.position.0,
                step: Some(step),
                frames: frames.collect(),
                total: window.missed.len(),
            });
        }
    }
}

/// Replays a pipeline's history under another policy.
pub(super) async fn beside(
    annals: &Annals,
    seen: &WindowView,
    policy: EvictionPolicy,
    moment: Moment,
) -> Result<OtherPolicy, Problem> {
    let name = policy.to_string();
    let candidates = [Candidate::policy(name.as_str(), policy)];
    let mut watched = Watched::default();
    let mut see = |window: WindowAt<'_>| watched.see(&name, &window);
    let options = ReplayOptions::default()
        .with_through(moment.position)
        .with_windows(&mut see);
    let pipelines = annals.pipelines();
    let replay = pipelines
        .replay(PipelineId(seen.pipeline.0), &candidates, options)
        .await?;
    let counts = |at: usize| {
        let counts = replay.policies.get(at).map(PolicyCounts::of);
        let missing = || Problem::invalid("there is nothing to replay");
        counts.ok_or_else(missing)
    };
    let tape = tape(seen, watched.end.unwrap_or_default());
    let kept: usize = tape.iter().filter(|frame| !frame.only_here).count();
    Ok(OtherPolicy {
        recorded: counts(0)?,
        other: counts(1)?,
        policy: name,
        only_recorded: seen.frames.len().saturating_sub(kept),
        tape,
        misses: watched.misses,
    })
}

impl PolicyCounts {
    fn of(policy: &PolicyReplay) -> PolicyCounts {
        PolicyCounts {
            peak_frames: policy.frames.peak,
            peak_tokens: policy.tokens.peak,
            end_tokens: policy.tokens.end,
            evictions: policy.evictions,
            uses: policy.uses,
            misses: policy.misses,
        }
    }
}

/// The frames of a window, with what the recorded history knows of each.
fn tape(seen: &WindowView, frames: FrameRanges) -> Vec<OtherFrame> {
    let mut known: HashMap<FrameId, (String, Option<u64>, bool)> = HashMap::new();
    for gone in &seen.evicted {
        known.insert(gone.frame, (gone.kind.label(), gone.token_estimate, true));
    }
    for held in &seen.frames {
        let frame = &held.frame;
        known.insert(
            frame.frame_id,
            (frame.kind.label(), frame.token_estimate, false),
        );
    }
    let ranges = frames.as_slice().iter();
    let all = ranges.flat_map(|(first, last)| first.0..=last.0);
    let frame = |number: u64| {
        let (kind, tokens, only_here) = known.remove(&FrameId(number))?;
        Some(OtherFrame {
            frame: number,
            kind,
            tokens: tokens.unwrap_or(0),
            only_here,
        })
    };
    all.filter_map(frame).collect()
}
