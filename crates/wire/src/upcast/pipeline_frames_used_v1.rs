//! `pipeline.frames_used`, version 1 to 2: every use was said, none inferred.

use annals_domain::pipeline::FramesUsed;
use annals_domain::{FrameId, PlanId};
use serde::Deserialize;

use super::Step;

/// The shape of version 1.
#[derive(Deserialize)]
pub(super) struct FramesUsedV1 {
    plan: PlanId,
    step: u32,
    frames: Vec<FrameId>,
}

pub(super) const STEP: Step<FramesUsedV1, FramesUsed> =
    Step::new("pipeline.frames_used", 1, |old| FramesUsed {
        plan: old.plan,
        step: old.step,
        frames: old.frames,
        inferred: false,
    });
