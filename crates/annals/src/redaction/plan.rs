//! What a redaction does: which pieces go, and the events that say so.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use annals_domain::redaction::{Redacted, RemovedPieces};
use annals_domain::{Emitted, Kind, Pieces, StreamRef, Timestamp};
use annals_event_log::{Digest, PiecesOf, Position, Redaction};
use chrono::Utc;
use uuid::Uuid;

use super::search::Search;
use super::{Found, RedactRequest, RedactionError, Stretch, Target};
use crate::Annals;
use crate::prepared::Prepared;

/// Bytes that the lists of one event may have, at most: two thirds of what an event's
/// structure may.
const LIST_BYTES: usize = 40 * 1024;
/// Bytes of a position and of a piece's number, at most, and of an object.
const POSITION_BYTES: usize = 12;
const PIECE_BYTES: usize = 3;
const OBJECT_BYTES: usize = 18;

/// An event that loses content.
#[derive(Debug)]
pub(super) struct Lossy {
    pub(super) removed: RemovedPieces,
    /// The objects that it is about.
    pub(super) objects: Vec<(Kind, Uuid)>,
}

/// What a redaction does, as the log stood at `seen`.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// By stream, in the order of positions.
    pub(super) events: BTreeMap<StreamRef, Vec<Lossy>>,
    pub(super) blobs: BTreeSet<Digest>,
    pub(super) shared: BTreeSet<Digest>,
    pub(super) seen: Position,
}

impl Plan {
    pub(super) async fn make(
        annals: &Annals,
        targets: &[Target],
        stretch: Stretch,
        progress: &mut (dyn FnMut(Position) + Send),
    ) -> Result<Plan, RedactionError> {
        annals.reach().await?;
        let mut search = Search::new(annals, targets);
        let (first, seen) = match stretch {
            Stretch::All => (Position(1), annals.log.watermark()),
            Stretch::Between(first, last) => (first, last),
        };
        let mut plan = Plan {
            seen,
            ..Plan::default()
        };
        let named = search.named(plan.seen).await?;
        if search.needs_all() {
            search.all(&mut plan, first, progress).await?;
        } else {
            for record in &named {
                search.record(record, &mut plan).await?;
            }
        }
        search.settle(&mut plan)?;
        Ok(plan)
    }

    pub(super) fn found(&self) -> Found {
        let events = || self.events.values().flatten();
        let mut removed: Vec<PiecesOf> = events()
            .map(|event| PiecesOf {
                position: Position(event.removed.position),
                pieces: event.removed.pieces.clone(),
            })
            .collect();
        removed.sort_by_key(|of| of.position);
        let mut known = HashSet::new();
        let objects = events().flat_map(|event| event.objects.iter().copied());
        Found {
            removed,
            blobs: self.blobs.iter().copied().collect(),
            shared: self.shared.iter().copied().collect(),
            objects: objects.filter(|object| known.insert(*object)).collect(),
        }
    }

    /// What goes, and the events that say it.
    pub(super) fn redaction(self, request: &RedactRequest) -> Result<Redaction, RedactionError> {
        let at = request.at.unwrap_or_else(|| Timestamp::from(Utc::now()));
        let found = self.found();
        let mut prepared = Prepared::default();
        for (stream, events) in self.events {
            for part in parts(events) {
                let mut pieces = Pieces::new();
                let event = Redacted {
                    reason: pieces.text(request.reason.as_str()),
                    removed: part.removed,
                    objects: part.objects,
                };
                let emitted = Emitted {
                    stream,
                    event: event.in_stream(stream.kind),
                    pieces,
                };
                prepared.add(&emitted, Uuid::now_v7(), at, &request.actor)?;
            }
        }
        Ok(Redaction {
            append: prepared.append(Vec::new()),
            removed: found.removed,
            blobs: found.blobs,
            seen: self.seen,
        })
    }
}

/// What one event says.
#[derive(Default)]
struct Part {
    removed: Vec<RemovedPieces>,
    objects: Vec<(u8, Uuid)>,
    bytes: usize,
}

/// Events of a stream, as many together as an event may list.
fn parts(events: Vec<Lossy>) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for Lossy { removed, objects } in events {
        let bytes =
            POSITION_BYTES + removed.pieces.len() * PIECE_BYTES + objects.len() * OBJECT_BYTES;
        match parts.last_mut() {
            Some(part) if part.bytes + bytes <= LIST_BYTES => part.add(removed, &objects, bytes),
            _ => {
                let mut part = Part::default();
                part.add(removed, &objects, bytes);
                parts.push(part);
            }
        }
    }
    parts
}

impl Part {
    fn add(&mut self, removed: RemovedPieces, objects: &[(Kind, Uuid)], bytes: usize) {
        self.removed.push(removed);
        self.bytes += bytes;
        for (kind, id) in objects {
            let object = (kind.number(), *id);
            if !self.objects.contains(&object) {
                self.objects.push(object);
            }
        }
    }
}
