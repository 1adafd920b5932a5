//! Aggregates' names as the log knows them.

use annals_domain::StreamRef;
use annals_event_log::StreamName;

/// The stream of an aggregate.
pub(crate) fn stream_name(stream: StreamRef) -> StreamName {
    match StreamName::new(stream.kind.as_str(), &stream.id.to_string()) {
        Ok(name) => name,
        // Kinds are words of a-z and ids are UUIDs: both are always allowed.
        Err(error) => unreachable!("{error}"),
    }
}
