//! The pieces that the redactions of a log name.

use annals_domain::redaction::{Redacted, RemovedPieces};
use annals_event_log::{PiecesOf, Position, Record};

/// How the types of all redactions end.
const ENDING: &str = ".redacted";

/// Returns the pieces that a record names as removed: none, if it is not a redaction.
pub fn named_removals(record: &Record) -> Vec<PiecesOf> {
    if !record.event_type().ends_with(ENDING) {
        return Vec::new();
    }
    let decoded = annals_wire::decode(record).ok();
    let redacted = decoded.as_ref().and_then(|it| Redacted::of(&it.event));
    redacted.map_or_else(Vec::new, |it| it.removed.iter().map(pieces_of).collect())
}

pub(super) fn pieces_of(removed: &RemovedPieces) -> PiecesOf {
    PiecesOf {
        position: Position(removed.position),
        pieces: removed.pieces.clone(),
    }
}
