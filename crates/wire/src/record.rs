//! Records of the log as events of the domain.

use std::ops::Range;

use annals_domain::{AnyEvent, StreamRef};
use annals_event_log::{Record, StreamName};

use crate::{DecodeError, decode_structure, names};

/// A record and what it says.
#[derive(Debug, Clone, PartialEq)]
pub struct Decoded {
    /// The aggregate that the event happened to.
    pub stream: StreamRef,
    /// What happened.
    pub event: AnyEvent,
    /// The record: position, times, actor, content.
    pub record: Record,
}

/// The stream of an aggregate, as the log knows it.
pub fn stream_name(stream: StreamRef) -> StreamName {
    match StreamName::new(stream.kind.as_str(), &stream.id.to_string()) {
        Ok(name) => name,
        // Kinds are words of a-z and ids are UUIDs: both are always allowed.
        Err(error) => unreachable!("{error}"),
    }
}

/// Reads a record's structure. Of its content only names are looked at, which the record
/// has in itself; the rest may be in blobs that are not there, and all of it may be removed for good.
///
/// # Errors
/// [`DecodeError`].
pub fn decode(record: &Record) -> Result<Decoded, DecodeError> {
    let (stream, event) = decode_event_of(record)?;
    Ok(Decoded {
        stream,
        event,
        record: record.clone(),
    })
}

/// As [`decode`], for callers that have the record.
///
/// # Errors
/// [`DecodeError`].
pub fn decode_event_of(record: &Record) -> Result<(StreamRef, AnyEvent), DecodeError> {
    let stream: StreamRef = record.stream().parse()?;
    let (event_type, version) = (record.event_type(), record.schema_version());
    let structure = record.structure_bytes();
    let event = match names::part(event_type, structure)? {
        None => decode_structure(stream.kind, event_type, version, structure)?,
        Some(parted) => {
            let mut event = decode_structure(stream.kind, event_type, version, &parted.plain())?;
            names::put(&mut event, record, parted.pieces)?;
            event
        }
    };
    Ok((stream, event))
}

/// The numbers of the pieces that have a record's names; empty where it has no names, or an older
/// version wrote them into the structure, from which no redaction removes them.
///
/// # Errors
/// [`DecodeError`].
pub fn names_of(record: &Record) -> Result<Range<u16>, DecodeError> {
    let parted = names::part(record.event_type(), record.structure_bytes())?;
    Ok(parted.map_or(0..0, |parted| parted.pieces))
}
