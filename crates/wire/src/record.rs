//! Records of the log as events of the domain.

use annals_domain::{AnyEvent, StreamRef};
use annals_event_log::{Record, StreamName};

use crate::{DecodeError, decode_structure};

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

/// Reads a record's structure. Its content is not looked at, so it may be in
/// blobs that are not there or removed for good.
///
/// # Errors
/// [`DecodeError`].
pub fn decode(record: &Record) -> Result<Decoded, DecodeError> {
    let stream: StreamRef = record.stream().parse()?;
    let event = decode_structure(
        stream.kind,
        record.event_type(),
        record.schema_version(),
        &record.structure(),
    )?;
    Ok(Decoded {
        stream,
        event,
        record: record.clone(),
    })
}
