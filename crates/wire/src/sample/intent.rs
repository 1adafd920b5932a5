//! Examples of the events of an intent.

use annals_domain::intent::{
    Activated, Adopted, AdoptedStatus, Analyzed, Cancelled, CommitRecorded, Completed, Event,
    IntentStatus, PlanSelected, Submitted,
};
use annals_domain::{AnyEvent, Emitted, IntentId, Kind, Pieces, PlanId, StreamKind};

use super::{adopted, emitted, id, metadata_set, sealed, sha1, sha256, time};

pub(super) fn samples() -> Vec<Emitted> {
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
        sample(|_| sealed(Kind::Intent)),
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
