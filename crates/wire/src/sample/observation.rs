//! Examples of the events of observations.

use annals_domain::observation::{Event, ObservationKind, Processed, Recorded, Subject};
use annals_domain::{AnyEvent, Emitted, IntentId, Kind, Pieces, StreamKind};

use super::values::{emitted, id, metadata_set};

pub(super) fn samples() -> Vec<Emitted> {
    vec![
        sample(|pieces| Recorded {
            kind: ObservationKind::Reflection,
            text: pieces.text("テストが同じ準備を繰り返している\n共通化できる"),
            evidence: vec![
                pieces.text("tests/login.rs:12-48"),
                pieces.text("« trois fois la même chose »"),
            ],
            about: vec![Subject {
                kind: Kind::Run.number(),
                object: id(4),
            }],
        }),
        sample(|pieces| Processed {
            intent: Some(IntentId(id(31))),
            reason: Some(pieces.text("準備を関数にまとめる")),
        }),
        sample(|pieces| metadata_set(StreamKind::Observation, pieces)),
    ]
}

fn sample<E: Into<Event>>(event: impl FnOnce(&mut Pieces) -> E) -> Emitted {
    emitted(|pieces| AnyEvent::Observation(event(pieces).into()))
}
