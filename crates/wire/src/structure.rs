//! An event's structure as bytes: one byte for the format, then the encoding.
//!
//! Which struct the bytes are is not among them. The record's header says it:
//! the event's type and the version of its shape.

use std::borrow::Cow;
use std::marker::PhantomData;

use annals_domain::{AnyEvent, EventSet, StreamKind};
use annals_event_log::limits;
use bytes::Bytes;
use serde::de::DeserializeSeed;
use serde::{Deserializer, Serialize, Serializer};

use crate::upcast::Upcasters;
use crate::value::{read, write};
use crate::{DecodeError, EncodeError};

/// The structure of an event, in the current version of its shape.
///
/// # Errors
/// [`EncodeError::TooLarge`] and [`EncodeError::Unencodable`].
pub fn encode_structure(event: &AnyEvent) -> Result<Bytes, EncodeError> {
    match event {
        AnyEvent::Intent(event) => encode_event(event),
        AnyEvent::Plan(event) => encode_event(event),
        AnyEvent::Task(event) => encode_event(event),
        AnyEvent::Run(event) => encode_event(event),
        AnyEvent::Snapshot(event) => encode_event(event),
        AnyEvent::Pipeline(event) => encode_event(event),
        AnyEvent::Alias(event) => encode_event(event),
        AnyEvent::Session(event) => encode_event(event),
        AnyEvent::Bucket(event) => encode_event(event),
        AnyEvent::Settings(event) => encode_event(event),
        AnyEvent::Observation(event) => encode_event(event),
    }
}

/// The event that a structure holds, in any version of its shape that
/// Annals ever wrote: older ones go through [`Upcasters::standard`].
///
/// # Errors
/// [`DecodeError`], for any bytes that [`encode_structure`] of this or an
/// earlier version could not have given.
pub fn decode_structure(
    kind: StreamKind,
    event_type: &str,
    schema_version: u16,
    bytes: &[u8],
) -> Result<AnyEvent, DecodeError> {
    let (all, name, version) = (Upcasters::standard(), event_type, schema_version);
    match kind {
        StreamKind::Intent => decode_event(all, name, version, bytes).map(AnyEvent::Intent),
        StreamKind::Plan => decode_event(all, name, version, bytes).map(AnyEvent::Plan),
        StreamKind::Task => decode_event(all, name, version, bytes).map(AnyEvent::Task),
        StreamKind::Run => decode_event(all, name, version, bytes).map(AnyEvent::Run),
        StreamKind::Snapshot => decode_event(all, name, version, bytes).map(AnyEvent::Snapshot),
        StreamKind::Pipeline => decode_event(all, name, version, bytes).map(AnyEvent::Pipeline),
        StreamKind::Alias => decode_event(all, name, version, bytes).map(AnyEvent::Alias),
        StreamKind::Session => decode_event(all, name, version, bytes).map(AnyEvent::Session),
        StreamKind::Bucket => decode_event(all, name, version, bytes).map(AnyEvent::Bucket),
        StreamKind::Settings => decode_event(all, name, version, bytes).map(AnyEvent::Settings),
        StreamKind::Observation => {
            decode_event(all, name, version, bytes).map(AnyEvent::Observation)
        }
    }
}

/// The structure of an event of any set, in the current version of its shape.
///
/// # Errors
/// [`EncodeError::TooLarge`] and [`EncodeError::Unencodable`].
pub fn encode_event<E: EventSet>(event: &E) -> Result<Bytes, EncodeError> {
    let bytes = write(&OneEvent(event)).map_err(|source| EncodeError::Unencodable {
        event_type: event.event_type().to_owned(),
        source,
    })?;
    if bytes.len() > limits::STRUCTURE {
        return Err(EncodeError::TooLarge {
            event_type: event.event_type().to_owned(),
            actual: bytes.len(),
            limit: limits::STRUCTURE,
        });
    }
    Ok(bytes.into())
}

/// The event of any set that a structure holds; shapes older than the set's
/// current one go through `upcasters`.
///
/// # Errors
/// [`DecodeError`], for any bytes that are not exactly one structure of the
/// type and version named.
pub fn decode_event<E: EventSet>(
    upcasters: &Upcasters,
    event_type: &str,
    schema_version: u16,
    bytes: &[u8],
) -> Result<E, DecodeError> {
    let unknown = || DecodeError::UnknownType {
        event_type: event_type.to_owned(),
    };
    let known = E::TYPES
        .iter()
        .find(|(name, _)| *name == event_type)
        .map(|(_, version)| *version);
    let known = known.ok_or_else(unknown)?;
    if schema_version > known {
        return Err(DecodeError::NewerVersion {
            event_type: event_type.to_owned(),
            found: schema_version,
            known,
        });
    }
    check_size(event_type, bytes)?;
    let current = if schema_version == known {
        Cow::Borrowed(bytes)
    } else {
        upcasters.upcast(event_type, schema_version, known, bytes)?
    };
    let seed = EventSeed::<E> {
        event_type,
        set: PhantomData,
    };
    read(seed, event_type, &current)?.ok_or_else(unknown)
}

fn check_size(event_type: &str, bytes: &[u8]) -> Result<(), DecodeError> {
    if bytes.len() <= limits::STRUCTURE {
        return Ok(());
    }
    Err(DecodeError::TooLarge {
        event_type: event_type.to_owned(),
        actual: bytes.len(),
        limit: limits::STRUCTURE,
    })
}

/// An event as serde sees it: the struct inside, without its type's name.
struct OneEvent<'a, E>(&'a E);

impl<E: EventSet> Serialize for OneEvent<'_, E> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize_structure(serializer)
    }
}

/// Picks the struct by the name of its type; nothing in the bytes says it.
struct EventSeed<'a, E> {
    event_type: &'a str,
    set: PhantomData<E>,
}

impl<'de, E: EventSet> DeserializeSeed<'de> for EventSeed<'_, E> {
    type Value = Option<E>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<E>, D::Error> {
        E::deserialize_structure(self.event_type, deserializer).transpose()
    }
}

/// A structure for people: serialise it with serde_json. Enums are words, ids
/// and hashes are texts, content is the number of its piece.
///
/// ```
/// use annals_domain::{AnyEvent, Slot, intent};
/// use annals_wire::StructureJson;
/// let event = AnyEvent::Intent(intent::Analyzed { content: Slot(0) }.into());
/// assert_eq!(serde_json::to_string(&StructureJson(&event))?, r#"{"content":0}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct StructureJson<'a>(
    /// The event.
    pub &'a AnyEvent,
);

impl Serialize for StructureJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize_structure(serializer)
    }
}
