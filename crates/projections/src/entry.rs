//! One record decoded, with its content at hand.

use std::collections::HashMap;

use annals_domain::{
    ActorKind, ActorRef, AnyEvent, Json, Origin, REMOVED, Slot, StoredActor, StreamRef, Timestamp,
    Touched,
};
use annals_event_log::{
    Classification, Classified, Content, Digest, Position, ReadError, Record, Store, Version,
};
use annals_wire::{DecodeError, Decoded};
use bytes::Bytes;
use serde::de::DeserializeOwned;
use uuid::Uuid;

use crate::{JsonText, Removable, Text};

/// The content of a piece as a reader has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PieceValue {
    /// The content.
    Bytes(Bytes),
    /// Content that is fetched only when it is requested by its digest.
    Attachment {
        /// The content's SHA-256.
        digest: Digest,
        /// The content's length in bytes.
        size: u64,
    },
    /// Removed for good.
    Removed,
}

impl PieceValue {
    /// The content's SHA-256 and its length in bytes, unless it was removed.
    pub fn digest_and_size(&self) -> Option<(Digest, u64)> {
        match self {
            PieceValue::Bytes(bytes) => Some((Digest::of(bytes), bytes.len() as u64)),
            PieceValue::Attachment { digest, size } => Some((*digest, *size)),
            PieceValue::Removed => None,
        }
    }
}

/// One record decoded, with its content at hand.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Its place in the log.
    pub position: Position,
    /// Its place in its stream.
    pub version: Version,
    /// The event's own id.
    pub event_id: Uuid,
    /// The batch that it was appended with.
    pub batch_id: Uuid,
    /// When it happened, by its author's clock.
    pub occurred_at: Timestamp,
    /// When the log took it.
    pub recorded_at: Timestamp,
    /// Who caused it. A display name or auth context that was removed is
    /// `[removed]`.
    pub actor: ActorRef,
    /// What it belongs to, beyond its batch.
    pub correlation: Option<Uuid>,
    /// The event that led to it.
    pub causation: Option<Uuid>,
    /// The aggregate that it happened to.
    pub stream: StreamRef,
    /// What happened.
    pub event: AnyEvent,
    /// Its content, by the numbers that the event has.
    pub pieces: Vec<PieceValue>,
}

/// Why a record cannot be read as an entry.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EntryError {
    /// The structure cannot be decoded.
    #[error("record {position} cannot be decoded: {source}")]
    Decode {
        /// The record's position.
        position: Position,
        /// What is wrong with it.
        source: DecodeError,
    },
    /// Content that the record refers to was not given.
    #[error("record {position} refers to the blob {digest}, which is not there")]
    MissingBlob {
        /// The record's position.
        position: Position,
        /// The blob's digest.
        digest: Digest,
    },
}

impl Classified for EntryError {
    fn classify(&self) -> Classification {
        match self {
            EntryError::Decode { source, .. } => source.classify(),
            EntryError::MissingBlob { .. } => Classification::CORRUPT,
        }
    }
}

/// When a record's event occurred and who caused it, as folds take it.
pub fn origin_of(record: &Record) -> Origin<'_> {
    let context = record.auth_context_piece();
    let context = context.and_then(|piece| record.content().into_iter().nth(piece.into()));
    let context = context.as_ref().map(|content| match content {
        Content::Inline { bytes, .. } => std::str::from_utf8(bytes).unwrap_or_default(),
        // What is not at hand may name a person, as what was removed. Longer contexts are of earlier versions.
        Content::Blob { .. } | Content::Attachment { .. } | Content::Removed { .. } => REMOVED,
    });
    let at = record.occurred_at().into();
    Origin::recorded(at, record.actor_kind(), record.actor_id(), context)
}

impl Entry {
    /// The time by the agent's clock. `None` if the recording that it comes from has no times: importers record the
    /// epoch for it.
    pub(crate) fn agents_time(&self) -> Option<Timestamp> {
        (self.occurred_at != Timestamp::EPOCH).then_some(self.occurred_at)
    }

    /// When it happened and who caused it, as folds take it.
    pub fn origin(&self) -> Origin<'_> {
        Origin::new(self.occurred_at, &self.actor)
    }

    /// The blobs that must be fetched before [`Entry::new`]. Attachments are
    /// not among them.
    pub fn wanted(record: &Record) -> Vec<Digest> {
        let blob = |piece: &Content| match piece {
            Content::Blob { digest, .. } => Some(*digest),
            Content::Inline { .. } | Content::Attachment { .. } | Content::Removed { .. } => None,
        };
        record.content().iter().filter_map(blob).collect()
    }

    /// Fetches what [`Entry::wanted`] names. What is not there is left out: [`Entry::new`] says so.
    ///
    /// # Errors
    /// [`ReadError`].
    pub async fn fetch(
        log: &dyn Store,
        record: &Record,
    ) -> Result<HashMap<Digest, Bytes>, ReadError> {
        let mut blobs = HashMap::new();
        for digest in Entry::wanted(record) {
            if let Some(blob) = log.blob(digest).await? {
                blobs.insert(digest, blob);
            }
        }
        Ok(blobs)
    }

    /// Decodes a record.
    ///
    /// # Errors
    /// [`EntryError`].
    pub fn new(record: &Record, blobs: &HashMap<Digest, Bytes>) -> Result<Entry, EntryError> {
        let position = record.position();
        let decoded = annals_wire::decode(record)
            .map_err(|source| EntryError::Decode { position, source })?;
        Entry::of(decoded, blobs)
    }

    /// Decodes a record without its blobs, which are attachments of the entry.
    ///
    /// # Errors
    /// [`EntryError::Decode`].
    pub fn without_blobs(record: &Record) -> Result<Entry, EntryError> {
        let position = record.position();
        let decoded = annals_wire::decode(record)
            .map_err(|source| EntryError::Decode { position, source })?;
        Entry::with_pieces(decoded, &|piece| match piece {
            Content::Blob { digest, size, .. } => Ok(PieceValue::Attachment { digest, size }),
            other => at_hand(other, position, &HashMap::new()),
        })
    }

    /// The same for a record that is decoded already.
    ///
    /// # Errors
    /// [`EntryError::MissingBlob`].
    pub fn of(decoded: Decoded, blobs: &HashMap<Digest, Bytes>) -> Result<Entry, EntryError> {
        let position = decoded.record.position();
        Entry::with_pieces(decoded, &|piece| at_hand(piece, position, blobs))
    }

    fn with_pieces(
        decoded: Decoded,
        at_hand: &dyn Fn(Content) -> Result<PieceValue, EntryError>,
    ) -> Result<Entry, EntryError> {
        let Decoded {
            stream,
            event,
            record,
        } = decoded;
        let position = record.position();
        let pieces: Vec<PieceValue> = record
            .content()
            .into_iter()
            .map(at_hand)
            .collect::<Result<_, _>>()?;
        let named =
            |piece: Option<u16>| piece.map(|piece| text_of(&pieces, Slot(piece)).to_string());
        let actor = ActorRef::new(
            ActorKind::from_word(record.actor_kind()),
            record.actor_id().to_owned(),
        )
        .with_display_name(named(record.display_name_piece()))
        .with_auth_context(named(record.auth_context_piece()));
        Ok(Entry {
            position,
            version: record.version(),
            event_id: record.event_id(),
            batch_id: record.batch_id(),
            occurred_at: record.occurred_at().into(),
            recorded_at: record.recorded_at().into(),
            actor,
            correlation: record.correlation(),
            causation: record.causation(),
            stream,
            event,
            pieces,
        })
    }

    /// A piece as text. A piece that is not at hand counts as removed; bytes
    /// that are not UTF-8 are shown as U+FFFD.
    pub fn text(&self, slot: Slot) -> Text {
        text_of(&self.pieces, slot)
    }

    /// A piece as free JSON. A piece that is not at hand counts as removed;
    /// bytes that are not JSON, or not readable JSON, are shown as one JSON text.
    pub fn json(&self, slot: Slot) -> JsonText {
        let Text::Present(text) = self.text(slot) else {
            return JsonText::Removed;
        };
        let json = Json::readable(&text).or_else(|_| Json::from_value(&text));
        json.map_or(JsonText::Removed, JsonText::Present)
    }

    /// A piece as JSON of a known shape. One that is not at hand, or of another
    /// shape, counts as removed.
    pub(crate) fn shaped<T: DeserializeOwned>(&self, slot: Slot) -> Removable<T> {
        let Text::Present(text) = self.text(slot) else {
            return Removable::Removed;
        };
        serde_json::from_str(&text).map_or(Removable::Removed, Removable::Present)
    }

    /// The objects that the event creates or changes, the principal one first.
    pub fn touches(&self) -> Touched {
        self.event.touches(self.stream.id)
    }

    pub(crate) fn optional_text(&self, slot: Option<Slot>) -> Option<Text> {
        slot.map(|slot| self.text(slot))
    }

    pub(crate) fn optional_json(&self, slot: Option<Slot>) -> Option<JsonText> {
        slot.map(|slot| self.json(slot))
    }

    pub(crate) fn texts(&self, slots: &[Slot]) -> Vec<Text> {
        slots.iter().map(|slot| self.text(*slot)).collect()
    }

    /// A piece as it is.
    pub(crate) fn piece(&self, slot: Slot) -> PieceValue {
        self.pieces
            .get(usize::from(slot.0))
            .cloned()
            .unwrap_or(PieceValue::Removed)
    }

    /// An actor of the event's structure.
    pub(crate) fn stored_actor(&self, actor: &StoredActor) -> ActorRef {
        let named = |slot: Option<Slot>| slot.map(|slot| self.text(slot).to_string());
        ActorRef::new(actor.kind.clone(), actor.id.clone())
            .with_display_name(named(actor.display_name))
            .with_auth_context(named(actor.auth_context))
    }
}

fn at_hand(
    piece: Content,
    position: Position,
    blobs: &HashMap<Digest, Bytes>,
) -> Result<PieceValue, EntryError> {
    match piece {
        Content::Inline { bytes, .. } => Ok(PieceValue::Bytes(bytes)),
        Content::Blob { digest, .. } => match blobs.get(&digest) {
            Some(bytes) => Ok(PieceValue::Bytes(bytes.clone())),
            None => Err(EntryError::MissingBlob { position, digest }),
        },
        Content::Attachment { digest, size, .. } => Ok(PieceValue::Attachment { digest, size }),
        Content::Removed { .. } => Ok(PieceValue::Removed),
    }
}

fn text_of(pieces: &[PieceValue], slot: Slot) -> Text {
    match pieces.get(usize::from(slot.0)) {
        Some(PieceValue::Bytes(bytes)) => {
            Text::Present(String::from_utf8_lossy(bytes).into_owned())
        }
        Some(PieceValue::Attachment { .. } | PieceValue::Removed) | None => Text::Removed,
    }
}

#[cfg(test)]
mod tests;
