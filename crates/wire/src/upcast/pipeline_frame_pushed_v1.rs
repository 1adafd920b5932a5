//! `pipeline.frame_pushed`, version 1 to 2: version 1 had no content separate from the data.

use annals_domain::pipeline::{FrameKind, FramePushed};
use annals_domain::{FrameId, Slot};
use serde::Deserialize;

use super::Step;

/// The shape of version 1.
#[derive(Deserialize)]
pub(super) struct FramePushedV1 {
    frame_id: FrameId,
    kind: FrameKind,
    summary: Slot,
    data: Option<Slot>,
    token_estimate: Option<u64>,
}

pub(super) const STEP: Step<FramePushedV1, FramePushed> =
    Step::new("pipeline.frame_pushed", 1, |old| FramePushed {
        frame_id: old.frame_id,
        kind: old.kind,
        summary: old.summary,
        data: old.data,
        content: None,
        token_estimate: old.token_estimate,
    });
