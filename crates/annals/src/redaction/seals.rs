//! Seals of what loses content. A checksum is made of the content of its object, so that texts can
//! be tried against it: it goes with the content. Those of an older version stay, and are named.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use annals_domain::metadata::Sealed;
use annals_domain::redaction::RemovedPieces;
use annals_domain::{Kind, Slot, StreamRef};
use annals_event_log::{Content, Position, Query, Record};
use annals_wire::stream_name;
use uuid::Uuid;

use super::error::RedactionError;
use super::found::SealOf;
use super::plan::{Lossy, Plan};
use crate::{Annals, LoadError};

/// Records that are looked through at once.
const PAGE: usize = 1_000;

/// The streams that lost content, and the first of the events that did.
pub(super) type Lost = BTreeMap<StreamRef, Position>;

/// Takes in more of them.
pub(super) fn merge(lost: &mut Lost, more: Lost) {
    for (stream, first) in more {
        let known = lost.entry(stream).or_insert(first);
        *known = first.min(*known);
    }
}

impl Plan {
    /// The streams that lose content by this plan, and the first of the events that do.
    pub(super) fn losing(&self) -> Lost {
        let first = |events: &Vec<Lossy>| events.iter().map(|it| it.removed.position).min();
        let streams = self.events.iter();
        streams
            .filter_map(|(stream, events)| Some((*stream, Position(first(events)?))))
            .collect()
    }

    /// Takes in the seals of every stream that loses content, or has lost some before. The view of
    /// an object is folded from its own stream alone, so that no other seal is made of it.
    pub(super) async fn add_seals(
        &mut self,
        annals: &Annals,
        before: &Lost,
    ) -> Result<(), RedactionError> {
        let mut lost = before.clone();
        merge(&mut lost, self.losing());
        let names: HashMap<String, (StreamRef, Position)> = lost
            .into_iter()
            .map(|(stream, first)| (stream_name(stream).to_string(), (stream, first)))
            .collect();
        let kinds: BTreeSet<_> = names.values().map(|(stream, _)| stream.kind).collect();
        for kind in kinds {
            let event_type = format!("{kind}.sealed");
            let mut next = Some(1);
            while let Some(from) = next {
                let query = Query::event_type(event_type.as_str(), Position(from)).limit(PAGE);
                let page = annals.log.read(query).await?;
                next = page.next;
                for record in &page.records {
                    if let Some((stream, first)) = names.get(record.stream()) {
                        self.add_seal(*stream, *first, record)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn add_seal(
        &mut self,
        stream: StreamRef,
        first_lost: Position,
        record: &Record,
    ) -> Result<(), RedactionError> {
        let decoded = annals_wire::decode(record).map_err(LoadError::from)?;
        let Some(sealed) = Sealed::of(&decoded.event) else {
            return Ok(());
        };
        let position = record.position();
        let objects = decoded.event.touches(stream.id).into_vec();
        let seals = objects.iter().map(|(kind, id)| SealOf {
            position,
            kind: *kind,
            id: *id,
        });
        // What it was made of came before it.
        if sealed.old_checksum.is_some() && position > first_lost {
            self.old_seals.extend(seals.clone());
        }
        let Some(Slot(piece)) = sealed.checksum else {
            return Ok(());
        };
        let content = record.content();
        match content.get(usize::from(piece)) {
            None | Some(Content::Removed { .. }) => return Ok(()),
            Some(_) => self.seals.extend(seals),
        }
        self.goes_first(stream, position, piece, objects);
        Ok(())
    }

    /// Puts a seal before everything else that its stream loses: where not all of a plan is done,
    /// the same search finds what is left of the content, and would not find that of a seal.
    pub(super) fn goes_first(
        &mut self,
        stream: StreamRef,
        position: Position,
        piece: u16,
        objects: Vec<(Kind, Uuid)>,
    ) {
        let events = self.events.entry(stream).or_default();
        let known = events
            .iter()
            .position(|it| it.removed.position == position.0);
        let mut lossy = match known {
            Some(index) => events.remove(index),
            None => Lossy {
                removed: RemovedPieces {
                    position: position.0,
                    pieces: Vec::new(),
                },
                objects,
                blobs: Vec::new(),
            },
        };
        if !lossy.removed.pieces.contains(&piece) {
            lossy.removed.pieces.push(piece);
            lossy.removed.pieces.sort_unstable();
        }
        events.insert(0, lossy);
    }
}
