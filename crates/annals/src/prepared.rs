//! Events of other systems, ready for one append.
//!
//! What is there already is judged before, so that such an append need not be
//! known again by its batch's id.

use annals_domain::{ActorRef, Emitted, StreamRef, Timestamp};
use annals_event_log::{Append, Blob, Expectation, Expected, NewEvent, Version};
use annals_wire::{EncodeError, Envelope, random_salt, stream_name};
use bytes::Bytes;
use uuid::Uuid;

/// Encoded events with the content that they refer to.
#[derive(Debug, Default)]
pub(crate) struct Prepared {
    pub(crate) events: Vec<NewEvent>,
    blobs: Vec<Blob>,
}

impl Prepared {
    /// Adds an event.
    pub(crate) fn add(
        &mut self,
        emitted: &Emitted,
        event_id: Uuid,
        occurred_at: Timestamp,
        actor: &ActorRef,
    ) -> Result<(), EncodeError> {
        let envelope = Envelope {
            event_id,
            occurred_at,
            actor: actor.clone(),
            correlation: None,
            causation: None,
        };
        let encoded = annals_wire::encode(emitted, &envelope, &mut random_salt)?;
        self.events.push(encoded.event);
        self.blobs.extend(encoded.blobs);
        Ok(())
    }

    /// Adds what was prepared by itself.
    pub(crate) fn extend(&mut self, more: Prepared) {
        self.events.extend(more.events);
        self.blobs.extend(more.blobs);
    }

    pub(crate) fn append(self, expectations: Vec<Expectation>) -> Append {
        let batch = annals_event_log::new_id();
        Append {
            batch,
            request: Bytes::copy_from_slice(batch.as_bytes()),
            events: self.events,
            expectations,
            blobs: self.blobs,
        }
    }
}

/// That a stream is as it was at a version.
pub(crate) fn still_at(stream: StreamRef, version: Version) -> Expectation {
    Expectation {
        stream: stream_name(stream),
        expected: match version {
            Version::NONE => Expected::NoStream,
            version => Expected::Exactly(version),
        },
    }
}
