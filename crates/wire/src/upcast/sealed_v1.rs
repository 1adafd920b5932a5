//! `<aggregate>.sealed`, version 1 to 2: the checksum was in the structure. It stays there, since a
//! stored event is never rewritten.

use annals_domain::IntegrityHash;
use annals_domain::metadata::Sealed;
use serde::Deserialize;
use uuid::Uuid;

use super::Step;

/// The shape of version 1.
#[derive(Deserialize)]
pub(super) struct SealedV1 {
    kind: u8,
    object: Uuid,
    checksum: IntegrityHash,
}

/// The step of one aggregate's event: all of them have the same shape.
pub(super) const fn step(event_type: &'static str) -> Step<SealedV1, Sealed> {
    Step::new(event_type, 1, |old| Sealed {
        kind: old.kind,
        object: old.object,
        checksum: None,
        old_checksum: Some(old.checksum),
    })
}
