//! Examples of the events of an intent.

use annals_domain::intent::{
    Activated, Adopted, AdoptedStatus, Analyzed, Approved, Approver, Cancelled,
    ClarificationAnswered, ClarificationRequested, Classified, CommitRecorded, Completed,
    Decomposed, Event, ExecutionStarted, FlowStep, Instructed, IntentStatus, PlanSelected,
    Rejected, RerunRequested, Risk, RiskBasis, Source, Submitted, TakenIn, TaskAdded, TypeBasis,
    WorkType,
};
use annals_domain::{
    AnyEvent, Emitted, IntentId, Kind, ObservationId, Pieces, PlanId, StreamKind, TaskId,
};

use super::values::{adopted, emitted, id, metadata_set, sealed, sha1, sha256, time};

pub(super) fn samples() -> Vec<Emitted> {
    let mut samples = life();
    samples.extend(intake());
    samples
}

/// Forge's axis.
fn intake() -> Vec<Emitted> {
    vec![
        sample(|pieces| TakenIn {
            source: Source::Reflection,
            child_of: Some(IntentId(id(2))),
            depends_on: vec![IntentId(id(4)), IntentId(id(5))],
            observation: Some(ObservationId(id(30))),
            labels: vec![pieces.text("ログイン"), pieces.text("ui")],
            extra: Some(pieces.text(r#"{"owner":"zoë"}"#)),
        }),
        sample(|pieces| Classified {
            work_type: Some(WorkType::Other("docs".into())),
            type_basis: Some(TypeBasis::Judged),
            type_word: Some(pieces.text("不具合")),
            flow: vec![FlowStep::Analyze, FlowStep::Implement, FlowStep::Review],
            risk: Some(Risk::High),
            risk_basis: Some(RiskBasis::HighWord),
            risk_word: Some(pieces.text("認証")),
            reason: Some(pieces.text("betrifft die Anmeldung")),
        }),
        sample(|pieces| Approved {
            by: Approver::System,
            reason: Some(pieces.text("давно пора")),
        }),
        sample(|pieces| Rejected {
            reason: Some(pieces.text("passt nicht — später")),
        }),
        sample(|pieces| Instructed {
            instruction: pieces.text("Leave the old endpoint as it is — ハンドラも"),
        }),
        sample(|_| ExecutionStarted {}),
        sample(|pieces| ClarificationRequested {
            questions: vec![pieces.text("Which page?"), pieces.text("どの言語で？")],
        }),
        sample(|pieces| ClarificationAnswered {
            question: 1,
            answer: pieces.text("日本語と英語"),
        }),
        sample(|_| Decomposed {
            children: vec![IntentId(id(6)), IntentId(id(7))],
        }),
        sample(|_| TaskAdded {
            task: TaskId(id(8)),
        }),
        sample(|_| RerunRequested {
            superseded: vec![TaskId(id(8)), TaskId(id(9))],
        }),
    ]
}

fn life() -> Vec<Emitted> {
    vec![
        sample(|pieces| Submitted {
            refines: Some(IntentId(id(2))),
            prompt: pieces.text("Ergänze einen Schalter --json (日本語も)"),
        }),
        sample(|pieces| Analyzed {
            content: pieces.text("Goal: every command can print JSON. Non-goals: other formats."),
        }),
        sample(|pieces| Activated {
            reason: Some(pieces.text("analysis accepted ✓")),
        }),
        sample(|_| PlanSelected {
            plan: PlanId(id(3)),
        }),
        sample(|_| CommitRecorded { commit: sha1() }),
        sample(|pieces| Completed {
            reason: Some(pieces.text("released in 1.4 — thank you")),
        }),
        sample(|pieces| Cancelled {
            reason: Some(pieces.text("überholt")),
        }),
        sample(|pieces| metadata_set(StreamKind::Intent, pieces)),
        sample(|pieces| sealed(Kind::Intent, pieces)),
        sample(|pieces| Adopted {
            header: adopted(pieces),
            prompt: pieces.text("Ergänze einen Schalter --json"),
            content: Some(pieces.text("Every command can print JSON — 日本語も")),
            parent: Some(IntentId(id(2))),
            commit: Some(sha256()),
            plan: Some(PlanId(id(3))),
            statuses: vec![AdoptedStatus {
                status: IntentStatus::Completed,
                changed_at: time(),
                reason: Some(pieces.text("выпущено")),
            }],
        }),
    ]
}

fn sample<E: Into<Event>>(event: impl FnOnce(&mut Pieces) -> E) -> Emitted {
    emitted(|pieces| AnyEvent::Intent(event(pieces).into()))
}
