//! What is wrong with an append by itself, on any log, as its limits and the
//! documentation of its fields say.

use std::collections::BTreeMap;

use annals_event_log::{Append, Blob, Content, Digest, NewEvent, Position, Version, limits};

use super::record::ModelRecord;
use super::verdict::Reason;

/// All that is wrong with an append.
pub(super) fn flaws(append: &Append) -> Vec<Reason> {
    let mut flaws = Vec::new();
    if append.events.is_empty() {
        flaws.push(Reason::Invalid);
    }
    let mut within = |limit: usize, actual: usize| {
        if actual > limit {
            let limit = limit as u64;
            flaws.push(Reason::TooLarge { limit });
        }
    };
    within(limits::BATCH_EVENTS, append.events.len());
    within(limits::EXPECTATIONS, append.expectations.len());
    within(limits::REQUEST, append.request.len());
    for blob in &append.blobs {
        within(limits::BLOB, blob.bytes().len());
    }
    within(limits::BATCH_BYTES, record_bytes(append));
    let distinct: BTreeMap<Digest, usize> = append.blobs.iter().map(size_of_blob).collect();
    within(limits::BATCH_BYTES, distinct.values().sum());
    for event in &append.events {
        within(limits::EVENT_TYPE, event.event_type.len());
        within(limits::ACTOR_KIND, event.actor.kind.len());
        within(limits::ACTOR_ID, event.actor.id.len());
        within(limits::STRUCTURE, event.structure.len());
        within(limits::PIECES, event.content.len());
        for piece in &event.content {
            if let Content::Inline { bytes, .. } = piece {
                within(limits::INLINE, bytes.len());
            }
        }
    }
    let senseless = append.events.iter().any(is_senseless);
    if senseless {
        flaws.push(Reason::Invalid);
    }
    flaws
}

fn size_of_blob(blob: &Blob) -> (Digest, usize) {
    (blob.digest(), blob.bytes().len())
}

/// The bytes of a batch's records; their positions do not change their length.
fn record_bytes(append: &Append) -> usize {
    let bytes = |event: &NewEvent| {
        let record = ModelRecord {
            position: Position(1),
            version: Version(1),
            recorded_at: event.occurred_at,
            batch: append.batch,
            event: event.clone(),
        };
        record.bytes().len()
    };
    append.events.iter().map(bytes).sum()
}

fn is_senseless(event: &NewEvent) -> bool {
    let blank = |text: &str| text.trim().is_empty();
    let slots = [event.actor.display_name, event.actor.auth_context];
    let missing = |slot: u16| usize::from(slot) >= event.content.len();
    let removed = |piece: &Content| matches!(piece, Content::Removed { .. });
    event.event_type.is_empty()
        || event.event_type.chars().any(char::is_control)
        || event.schema_version == 0
        || blank(&event.actor.kind)
        || blank(&event.actor.id)
        || slots.into_iter().flatten().any(missing)
        || event.content.iter().any(removed)
}
