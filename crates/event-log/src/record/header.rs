//! A record's header where the record itself is not at hand.

use bytes::{BufMut, BytesMut};
use chrono::{DateTime, Utc};

use super::{AT_AUTH_PIECE, AT_NAME_PIECE, MalformedRecord, Record, put_piece};
use crate::{Actor, BatchId, Content, Digest, EventId, Position, RecordDigests, Version, limits};

/// A record's header alone: what a proof holds of a record whose content is not
/// shown. All that it says was checked as [`Record::decode`] checks it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// The header with neither structure nor content.
    bare: Record,
}

impl Header {
    /// Reads a header: the bytes that [`Record::header_bytes`] gives, and no others.
    ///
    /// # Errors
    /// [`MalformedRecord`].
    pub fn decode(header: &[u8]) -> Result<Header, MalformedRecord> {
        let malformed = |reason| MalformedRecord {
            reason,
            at: 0,
            len: header.len(),
        };
        let len = u16::try_from(header.len()).map_err(|_| malformed("the header is too long"))?;
        // The actor's name and context are pieces, so there must be so many.
        let slot = |at: usize| {
            let bytes = header.get(at..).and_then(<[u8]>::first_chunk::<2>);
            bytes.map_or(0, |bytes| u16::from_be_bytes(*bytes))
        };
        let pieces = slot(AT_NAME_PIECE).max(slot(AT_AUTH_PIECE));
        if usize::from(pieces) > limits::PIECES {
            return Err(malformed("a piece of the actor cannot be there"));
        }
        let mut bytes = BytesMut::new();
        bytes.put_u16(len);
        bytes.extend_from_slice(header);
        bytes.put_u32(0);
        bytes.put_u16(pieces);
        let removed = Content::Removed {
            salted: Digest([0; 32]),
        };
        (0..pieces).for_each(|_| put_piece(&mut bytes, &removed));
        let bare = Record::decode(bytes.freeze())?;
        Ok(Header { bare })
    }

    /// The record's place in the log.
    pub fn position(&self) -> Position {
        self.bare.position()
    }

    /// Its place in its stream.
    pub fn version(&self) -> Version {
        self.bare.version()
    }

    /// The stream's name as text.
    pub fn stream(&self) -> &str {
        self.bare.stream()
    }

    /// The event's id.
    pub fn event_id(&self) -> EventId {
        self.bare.event_id()
    }

    /// The batch that it was appended with.
    pub fn batch_id(&self) -> BatchId {
        self.bare.batch_id()
    }

    /// The name of the event's type.
    pub fn event_type(&self) -> &str {
        self.bare.event_type()
    }

    /// When it happened, by its author's clock.
    pub fn occurred_at(&self) -> DateTime<Utc> {
        self.bare.occurred_at()
    }

    /// When the store took it.
    pub fn recorded_at(&self) -> DateTime<Utc> {
        self.bare.recorded_at()
    }

    /// The actor, as an append takes it.
    pub fn actor(&self) -> Actor {
        self.bare.actor()
    }

    /// What it says of structure and content.
    pub fn digests(&self) -> RecordDigests {
        self.bare.digests()
    }
}
