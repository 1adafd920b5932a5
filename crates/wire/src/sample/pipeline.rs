//! Examples of the events of a context pipeline.

use annals_domain::pipeline::{
    Adopted, AdoptedFrame, AdoptedPipeline, Created, Event, EvictionPolicySet, FrameKind,
    FramePushed, FramesDropped, FramesUsed, GlobalSummarySet, MaxFramesSet, PolicyRule,
    StoredQuota, StoredRange,
};
use annals_domain::{AnyEvent, Emitted, FrameId, Kind, Pieces, PlanId, StreamKind};
use serde_json::json;

use super::values::{adopted, emitted, id, json, metadata_set, sealed, time};

pub(super) fn samples() -> Vec<Emitted> {
    vec![
        sample(|_| Created { max_frames: 128 }),
        sample(|pieces| FramePushed {
            frame_id: FrameId(70_000),
            kind: FrameKind::StepSummary,
            summary: pieces.text("Étape 1: rows are serialised"),
            data: Some(json(&json!({"files": ["src/json.rs"]}), pieces)),
            content: Some(json(&json!({"stdout": "2 passed"}), pieces)),
            token_estimate: Some(120),
        }),
        sample(|_| FramesUsed {
            plan: PlanId(id(3)),
            step: 2,
            frames: vec![FrameId(0), FrameId(70_000)],
            inferred: true,
        }),
        sample(|_| MaxFramesSet { max_frames: 0 }),
        sample(|_| EvictionPolicySet {
            rule: PolicyRule::MaxFrames,
            max_frames: Some(64),
            max_tokens: Some(200_000),
            summary_tokens: Some(300),
            quotas: vec![StoredQuota {
                kind: FrameKind::ToolCall,
                keep: 40,
            }],
            other_kinds: Some(70_000),
            protected: vec![FrameKind::Checkpoint, FrameKind::ToolCall],
        }),
        sample(|pieces| GlobalSummarySet {
            summary: Some(pieces.text("JSON выводится")),
        }),
        sample(|pieces| metadata_set(StreamKind::Pipeline, pieces)),
        sample(|pieces| sealed(Kind::ContextPipeline, pieces)),
        sample(|pieces| Adopted {
            object: Some(AdoptedPipeline {
                header: adopted(pieces),
                next_frame_id: FrameId(70_001),
                max_frames: 128,
                global_summary: Some(pieces.text("bisher: drei Schritte — JSON выводится")),
            }),
            frames: vec![AdoptedFrame {
                frame_id: FrameId(70_000),
                kind: FrameKind::Checkpoint,
                summary: pieces.text("Sicherungspunkt №1"),
                data: Some(json(&json!({"key": "value"}), pieces)),
                created_at: time(),
                token_estimate: Some(120),
            }],
        }),
        sample(|_| FramesDropped {
            frames: vec![
                StoredRange {
                    first: FrameId(0),
                    last: FrameId(41),
                },
                StoredRange {
                    first: FrameId(69_999),
                    last: FrameId(69_999),
                },
            ],
            all: false,
        }),
    ]
}

fn sample<E: Into<Event>>(event: impl FnOnce(&mut Pieces) -> E) -> Emitted {
    emitted(|pieces| AnyEvent::Pipeline(event(pieces).into()))
}
