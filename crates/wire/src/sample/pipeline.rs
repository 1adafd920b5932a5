//! Examples of the events of a context pipeline.

use annals_domain::pipeline::{
    Created, Event, FrameKind, FramePushed, FramesUsed, GlobalSummarySet, MaxFramesSet,
};
use annals_domain::{AnyEvent, Emitted, FrameId, Kind, Pieces, PlanId, StreamKind};
use serde_json::json;

use super::{emitted, id, json, metadata_set, sealed};

pub(super) fn samples() -> Vec<Emitted> {
    vec![
        sample(|_| Created { max_frames: 128 }),
        sample(|pieces| FramePushed {
            frame_id: FrameId(70_000),
            kind: FrameKind::StepSummary,
            summary: pieces.text("Étape 1: rows are serialised"),
            data: Some(json(&json!({"files": ["src/json.rs"]}), pieces)),
            token_estimate: Some(120),
        }),
        sample(|_| FramesUsed {
            plan: PlanId(id(3)),
            step: 2,
            frames: vec![FrameId(0), FrameId(70_000)],
        }),
        sample(|_| MaxFramesSet { max_frames: 0 }),
        sample(|pieces| GlobalSummarySet {
            summary: Some(pieces.text("JSON выводится")),
        }),
        sample(|pieces| metadata_set(StreamKind::Pipeline, pieces)),
        sample(|_| sealed(Kind::ContextPipeline)),
    ]
}

fn sample<E: Into<Event>>(event: impl FnOnce(&mut Pieces) -> E) -> Emitted {
    emitted(|pieces| AnyEvent::Pipeline(event(pieces).into()))
}
