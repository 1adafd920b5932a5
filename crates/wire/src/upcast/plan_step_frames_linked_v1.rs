//! `plan.step_frames_linked`, version 1 to 2: every link was said, none inferred.

use annals_domain::FrameId;
use annals_domain::plan::StepFramesLinked;
use serde::Deserialize;

use super::Step;

/// The shape of version 1.
#[derive(Deserialize)]
pub(super) struct StepFramesLinkedV1 {
    index: u32,
    iframes: Vec<FrameId>,
    oframes: Vec<FrameId>,
}

pub(super) const STEP: Step<StepFramesLinkedV1, StepFramesLinked> =
    Step::new("plan.step_frames_linked", 1, |old| StepFramesLinked {
        index: old.index,
        iframes: old.iframes,
        oframes: old.oframes,
        inferred: false,
    });
