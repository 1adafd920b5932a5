//! A redaction of what was read, with the events that say so.

use std::collections::{BTreeMap, HashSet};

use annals_domain::redaction::{Redacted, RemovedPieces};
use annals_domain::{ActorRef, Emitted, Pieces, StreamRef, Timestamp};
use annals_event_log::{
    Actor, Append, Blob, Content, Digest, NewEvent, PiecesOf, Position, Record, Redaction,
    StreamName,
};
use annals_wire::{Decoded, EncodeError, Encoded, Envelope, encode};
use bytes::Bytes;
use uuid::Uuid;

use super::original::Original;

/// Pieces that go at once, at most: one event can list them.
const PIECES: usize = 1_000;

/// The id of the batch; those of its events follow.
const BATCH: u128 = 0x7465_7374_6b69_745f_7265_6461_6374_0000;

/// The records that lose content, and the numbers of the pieces.
type Removed = BTreeMap<Position, (Record, Vec<u16>)>;

/// Removes all content of the records that were read, of many that of the newest, and the
/// blobs that only they refer to. `None` where they have none.
pub(super) fn redaction_of(
    read: &[Record],
    original: &Original,
) -> Result<Option<Redaction>, String> {
    let removed = removable(read);
    let Some((last, _)) = removed.last_key_value() else {
        return Ok(None);
    };
    let seen = original.records().last().map(Record::position);
    let seen = seen.unwrap_or(*last);
    let append = said(&removed).map_err(|error| error.to_string())?;
    let blobs = blobs_of(original, &removed);
    let removed = removed.into_iter();
    let removed = removed.map(|(position, (_, pieces))| PiecesOf { position, pieces });
    Ok(Some(Redaction {
        append,
        removed: removed.collect(),
        blobs,
        seen,
    }))
}

fn removable(read: &[Record]) -> Removed {
    let (mut removed, mut count) = (Removed::new(), 0);
    for record in read.iter().rev() {
        let content = record.content();
        let there = (0..).zip(&content);
        let there = there.filter(|(_, piece)| !matches!(piece, Content::Removed { .. }));
        let pieces = there.map(|(number, _)| number).take(PIECES - count);
        let pieces: Vec<u16> = pieces.collect();
        if !pieces.is_empty() && !removed.contains_key(&record.position()) {
            count += pieces.len();
            removed.insert(record.position(), (record.clone(), pieces));
        }
    }
    removed
}

/// The blobs that only these pieces refer to.
fn blobs_of(original: &Original, removed: &Removed) -> Vec<Digest> {
    let (mut go, mut stay) = (HashSet::new(), HashSet::new());
    for record in original.records() {
        let pieces = removed.get(&record.position()).map(|(_, pieces)| pieces);
        for (number, piece) in (0..).zip(record.content()) {
            let goes = pieces.is_some_and(|pieces| pieces.contains(&number));
            let blobs = if goes { &mut go } else { &mut stay };
            blobs.extend(piece.blob());
        }
    }
    let mut blobs: Vec<Digest> = go.difference(&stay).copied().collect();
    blobs.sort_unstable();
    blobs
}

/// The batch that says what goes: of Annals' objects one event in each of their streams, as
/// `annals log redact` has it, and of all else one event in a stream of its own.
fn said(removed: &Removed) -> Result<Append, EncodeError> {
    let mut objects: BTreeMap<StreamRef, Vec<(Decoded, RemovedPieces)>> = BTreeMap::new();
    let (mut last, mut all_are_objects) = (None, true);
    for (position, (record, pieces)) in removed {
        last = Some(record.occurred_at());
        let Ok(decoded) = annals_wire::decode(record) else {
            all_are_objects = false;
            continue;
        };
        let pieces = RemovedPieces {
            position: position.0,
            pieces: pieces.clone(),
        };
        let of_stream = objects.entry(decoded.stream).or_default();
        of_stream.push((decoded, pieces));
    }
    let occurred_at = Timestamp::from(last.unwrap_or_default());
    let (mut events, mut blobs): (Vec<NewEvent>, Vec<Blob>) = (Vec::new(), Vec::new());
    if !all_are_objects {
        events.push(of_others(occurred_at)?);
    }
    for (id, (stream, records)) in (BATCH + 2..).zip(objects) {
        let encoded = of_object(stream, records, Uuid::from_u128(id), occurred_at)?;
        events.push(encoded.event);
        blobs.extend(encoded.blobs);
    }
    Ok(Append {
        batch: Uuid::from_u128(BATCH),
        request: Bytes::from_static(b"redact"),
        events,
        expectations: Vec::new(),
        blobs,
    })
}

fn of_object(
    stream: StreamRef,
    records: Vec<(Decoded, RemovedPieces)>,
    event_id: Uuid,
    occurred_at: Timestamp,
) -> Result<Encoded, EncodeError> {
    let mut pieces = Pieces::new();
    let mut redacted = Redacted {
        removed: Vec::new(),
        objects: Vec::new(),
        reason: pieces.text("to try a projection"),
    };
    for (decoded, removed) in records {
        redacted.removed.push(removed);
        for (kind, id) in decoded.event.touches(stream.id) {
            let object = (kind.number(), id);
            if !redacted.objects.contains(&object) {
                redacted.objects.push(object);
            }
        }
    }
    let emitted = Emitted {
        stream,
        event: redacted.in_stream(stream.kind),
        pieces,
    };
    let envelope = Envelope {
        event_id,
        occurred_at,
        actor: ActorRef::agent("testkit"),
        correlation: None,
        causation: None,
    };
    encode(&emitted, &envelope, &mut || [0; 16])
}

fn of_others(occurred_at: Timestamp) -> Result<NewEvent, EncodeError> {
    Ok(NewEvent {
        stream: StreamName::new("testkit", "redaction")?,
        id: Uuid::from_u128(BATCH + 1),
        event_type: "testkit.redacted".into(),
        schema_version: 1,
        occurred_at: occurred_at.to_utc(),
        actor: Actor {
            kind: "agent".to_owned(),
            id: "testkit".to_owned(),
            display_name: None,
            auth_context: None,
        },
        correlation: None,
        causation: None,
        structure: Bytes::new(),
        content: Vec::new(),
    })
}
