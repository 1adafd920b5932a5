//! What a redaction does: which pieces go, and the events that say so.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use annals_domain::redaction::{Redacted, RemovedPieces};
use annals_domain::{Emitted, Kind, Pieces, StreamRef, Timestamp};
use annals_event_log::{Digest, PiecesOf, Position, Redaction};
use uuid::Uuid;

use super::error::RedactionError;
use super::found::{Found, RedactRequest, SealOf};
use super::named::pieces_of;
use super::stays::Stays;
use crate::prepared::Prepared;

/// Bytes that the lists of one event may have, at most: two thirds of what an event's
/// structure may.
const LIST_BYTES: usize = 40 * 1024;
/// Events that say what goes, and bytes of their lists, of one redaction at most. What is more goes
/// with the next one: a batch has limits, and others append between two redactions.
const STEP_EVENTS: usize = 2_000;
const STEP_BYTES: usize = 8 * 1024 * 1024;
/// Texts that stay and are named.
const STAYS_NAMED: usize = 1_000;
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
    /// The blobs that it loses a reference to.
    pub(super) blobs: Vec<Digest>,
}

/// What a redaction does, with the log as it was at `seen`.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// By stream: its seals, and what else loses content in the order of positions.
    pub(super) events: BTreeMap<StreamRef, Vec<Lossy>>,
    pub(super) blobs: BTreeSet<Digest>,
    pub(super) shared: BTreeSet<Digest>,
    /// What a pattern finds and no redaction removes: the first of them, and how many there are.
    pub(super) stays: Vec<Stays>,
    pub(super) stays_count: u64,
    /// The seals whose checksums go with it.
    pub(super) seals: Vec<SealOf>,
    /// Those of an older version, whose checksums stay.
    pub(super) old_seals: Vec<SealOf>,
    pub(super) seen: Position,
    /// The first event that loses content and that a person recorded.
    pub(super) of_a_person: Option<Position>,
}

impl Plan {
    pub(super) fn found(&self) -> Found {
        let events = || self.events.values().flatten();
        let removed = events().map(|event| pieces_of(&event.removed));
        let mut removed: Vec<PiecesOf> = removed.collect();
        removed.sort_by_key(|of| of.position);
        let mut known = HashSet::new();
        let objects = events().flat_map(|event| event.objects.iter().copied());
        Found {
            removed,
            blobs: self.blobs.iter().copied().collect(),
            shared: self.shared.iter().copied().collect(),
            objects: objects.filter(|object| known.insert(*object)).collect(),
            stays: self.stays.clone(),
            stays_count: self.stays_count,
            seals: self.seals.clone(),
            old_seals: self.old_seals.clone(),
        }
    }

    /// Takes in what stays of an event.
    pub(super) fn add_stays(&mut self, stays: Vec<Stays>) {
        self.stays_count += stays.len() as u64;
        let room = STAYS_NAMED.saturating_sub(self.stays.len());
        self.stays.extend(stays.into_iter().take(room));
    }

    /// What goes, and the events that say it, in as many redactions as are needed, one after the
    /// other. A blob goes with the last of its references, so that what was done is complete after
    /// each redaction: the same search finds the rest.
    pub(super) fn steps(self, request: &RedactRequest) -> Result<Vec<Step>, RedactionError> {
        let at = request
            .at
            .unwrap_or_else(|| Timestamp::from(annals_event_log::now()));
        let events = self.events.into_iter();
        let units = events.flat_map(|(stream, events)| {
            let parts = parts(events).into_iter();
            parts.map(move |part| (stream, part))
        });
        let mut steps = Vec::new();
        let mut blobs = self.blobs;
        // A blob's last reference is the first one from behind.
        for units in chunked(units).into_iter().rev() {
            let named = units.iter().flat_map(|(_, part)| &part.blobs);
            let named: BTreeSet<Digest> = named.copied().collect();
            let going = blobs.intersection(&named).copied().collect();
            blobs.retain(|digest| !named.contains(digest));
            steps.push(step(units, going, self.seen, request, at)?);
        }
        steps.reverse();
        if let Some(last) = steps.last_mut() {
            last.redaction.blobs.extend(blobs);
        }
        Ok(steps)
    }
}

/// One of the redactions that a plan takes.
pub(super) struct Step {
    pub(super) redaction: Redaction,
    /// The objects that its events are about.
    pub(super) objects: Vec<(Kind, Uuid)>,
}

/// Parts, as many together as have room in a batch.
fn chunked(units: impl Iterator<Item = (StreamRef, Part)>) -> Vec<Vec<(StreamRef, Part)>> {
    let mut steps: Vec<Vec<(StreamRef, Part)>> = Vec::new();
    let mut bytes = 0;
    for unit in units {
        bytes += unit.1.bytes;
        match steps.last_mut() {
            Some(step) if step.len() < STEP_EVENTS && bytes <= STEP_BYTES => step.push(unit),
            _ => {
                bytes = unit.1.bytes;
                steps.push(vec![unit]);
            }
        }
    }
    steps
}

fn step(
    units: Vec<(StreamRef, Part)>,
    blobs: Vec<Digest>,
    seen: Position,
    request: &RedactRequest,
    at: Timestamp,
) -> Result<Step, RedactionError> {
    let (mut removed, mut objects) = (Vec::new(), Vec::new());
    let mut prepared = Prepared::default();
    for (stream, mut part) in units {
        part.removed.sort_by_key(|of| of.position);
        removed.extend(part.removed.iter().map(pieces_of));
        objects.extend(part.objects.iter().copied());
        let mut pieces = Pieces::new();
        let event = Redacted {
            reason: pieces.text(request.reason.as_str()),
            removed: part.removed,
            objects: part
                .objects
                .into_iter()
                .map(|(kind, id)| (kind.number(), id))
                .collect(),
        };
        let emitted = Emitted {
            stream,
            event: event.in_stream(stream.kind),
            pieces,
        };
        prepared.add(&emitted, annals_event_log::new_id(), at, &request.actor)?;
    }
    removed.sort_by_key(|of: &PiecesOf| of.position);
    let redaction = Redaction {
        append: prepared.append(Vec::new()),
        removed,
        blobs,
        seen,
    };
    Ok(Step { redaction, objects })
}

/// What one event says.
#[derive(Default)]
struct Part {
    removed: Vec<RemovedPieces>,
    objects: Vec<(Kind, Uuid)>,
    blobs: Vec<Digest>,
    bytes: usize,
}

/// Events of a stream, as many together as an event may list.
fn parts(events: Vec<Lossy>) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for lossy in events {
        let (pieces, objects) = (lossy.removed.pieces.len(), lossy.objects.len());
        let bytes = POSITION_BYTES + pieces * PIECE_BYTES + objects * OBJECT_BYTES;
        match parts.last_mut() {
            Some(part) if part.bytes + bytes <= LIST_BYTES => part.add(lossy, bytes),
            _ => {
                let mut part = Part::default();
                part.add(lossy, bytes);
                parts.push(part);
            }
        }
    }
    parts
}

impl Part {
    fn add(&mut self, lossy: Lossy, bytes: usize) {
        self.removed.push(lossy.removed);
        self.blobs.extend(lossy.blobs);
        self.bytes += bytes;
        for object in lossy.objects {
            if !self.objects.contains(&object) {
                self.objects.push(object);
            }
        }
    }
}
