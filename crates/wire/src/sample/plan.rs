//! Examples of the events of a plan.

use annals_domain::plan::{
    Adopted, AdoptedPlan, AdoptedStep, AdoptedStepStatus, Assigned, Drafted, Event, Restored,
    Revised, StepAdded, StepFramesLinked, StepOutputRecorded, StepStatus, StepStatusChanged,
    StepTaskSpawned, StoredStep,
};
use annals_domain::{
    AnyEvent, Emitted, FrameId, IntentId, Kind, Pieces, PipelineId, PlanId, StreamKind, TaskId,
};
use serde_json::json;

use super::values::{adopted, emitted, id, json, metadata_set, sealed, time};

pub(super) fn samples() -> Vec<Emitted> {
    vec![
        sample(|pieces| Drafted {
            previous: Some(PlanId(id(15))),
            intent: Some(IntentId(id(2))),
            pipeline: Some(PipelineId(id(6))),
            fwindow: Some((1, 300)),
            steps: vec![step(pieces), step(pieces)],
        }),
        sample(|pieces| StepAdded {
            index: 2,
            step: step(pieces),
        }),
        sample(|pieces| StepStatusChanged {
            index: 2,
            status: StepStatus::Failed,
            reason: Some(pieces.text("zu groß")),
        }),
        sample(|_| StepFramesLinked {
            index: 0,
            iframes: vec![FrameId(0), FrameId(3)],
            oframes: vec![FrameId(70_000)],
            inferred: true,
        }),
        sample(|_| StepTaskSpawned {
            index: 1,
            task: TaskId(id(5)),
        }),
        sample(|pieces| StepOutputRecorded {
            index: 1,
            outputs: json(&json!({"files": ["src/größe.rs"]}), pieces),
        }),
        sample(|pieces| metadata_set(StreamKind::Plan, pieces)),
        sample(|pieces| sealed(Kind::Plan, pieces)),
        sample(|pieces| Adopted {
            object: Some(AdoptedPlan {
                header: adopted(pieces),
                previous: Some(PlanId(id(15))),
                pipeline: Some(PipelineId(id(6))),
                fwindow: Some((3, 1)),
            }),
            steps: vec![AdoptedStep {
                step: step(pieces),
                statuses: vec![AdoptedStepStatus {
                    status: StepStatus::Skipped,
                    changed_at: time(),
                    reason: Some(pieces.text("nicht nötig")),
                }],
            }],
        }),
        sample(|_| Revised { by: PlanId(id(16)) }),
        sample(|_| Assigned {
            intent: IntentId(id(2)),
        }),
        sample(|_| Restored {
            plan: PlanId(id(14)),
        }),
    ]
}

fn step(pieces: &mut Pieces) -> StoredStep {
    StoredStep {
        description: pieces.text("Serialise the rows — einmal"),
        inputs: Some(json(&json!(["src/list.rs"]), pieces)),
        outputs: Some(json(&json!(["src/json.rs"]), pieces)),
        checks: Some(json(&json!(["cargo test"]), pieces)),
        iframes: vec![FrameId(0)],
        oframes: vec![FrameId(1), FrameId(2)],
        task: Some(TaskId(id(5))),
    }
}

fn sample<E: Into<Event>>(event: impl FnOnce(&mut Pieces) -> E) -> Emitted {
    emitted(|pieces| AnyEvent::Plan(event(pieces).into()))
}
