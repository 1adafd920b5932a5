//! What a decider emitted, as the log takes it: structure, salted pieces,
//! blobs.

use annals_domain::{ActorRef, Emitted, NewPiece, Timestamp};
use annals_event_log::{Actor, Blob, Content, NewEvent, Salt, StreamName, limits};
use bytes::Bytes;
use uuid::Uuid;

use crate::{EncodeError, encode_structure, names};

/// What an event needs beyond what its decider emitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Envelope {
    /// The event's own id.
    pub event_id: Uuid,
    /// When it happened, by its author's clock.
    pub occurred_at: Timestamp,
    /// Who caused it.
    pub actor: ActorRef,
    /// What it belongs to, beyond its batch.
    pub correlation: Option<Uuid>,
    /// The event that led to it.
    pub causation: Option<Uuid>,
}

/// An event ready to be appended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Encoded {
    /// The event; its pieces are in the order of their numbers, the actor's
    /// texts after them.
    pub event: NewEvent,
    /// The content that the event refers to by digest.
    pub blobs: Vec<Blob>,
}

/// Encodes an event.
///
/// Every piece gets its own salt. Attachments, and pieces larger than
/// [`limits::INLINE`], become blobs. The event's names ([`AnyEvent::each_name`](annals_domain::AnyEvent::each_name)),
/// and the actor's display name and auth context,
/// are content and follow the event's own pieces; the event says where.
///
/// # Errors
/// [`EncodeError`].
pub fn encode(
    emitted: &Emitted,
    envelope: &Envelope,
    salts: &mut dyn FnMut() -> Salt,
) -> Result<Encoded, EncodeError> {
    let event_type = emitted.event.event_type();
    let own = emitted.pieces.list();
    let mut content = Collected::new(own.len(), salts);
    for piece in own {
        content.add(piece);
    }
    let structure = match names::take(&emitted.event)? {
        None => encode_structure(&emitted.event)?,
        Some(apart) => {
            for list in &apart.pieces {
                content.add_text(Some(list));
            }
            apart.structure(own.len())?
        }
    };
    let display_name = content.add_text(envelope.actor.display_name.as_deref());
    let auth_context = content.add_text(envelope.actor.auth_context.as_deref());
    let Collected { pieces, blobs, .. } = content;
    if pieces.len() > limits::PIECES {
        return Err(EncodeError::TooManyPieces {
            event_type: event_type.to_owned(),
            actual: pieces.len(),
            limit: limits::PIECES,
        });
    }
    let event = NewEvent {
        stream: stream_name(emitted)?,
        id: envelope.event_id,
        event_type: event_type.into(),
        schema_version: emitted.event.schema_version(),
        occurred_at: envelope.occurred_at.to_utc(),
        actor: Actor {
            kind: envelope.actor.kind.as_str().to_owned(),
            id: envelope.actor.id.clone(),
            display_name,
            auth_context,
        },
        correlation: envelope.correlation,
        causation: envelope.causation,
        structure,
        content: pieces,
    };
    Ok(Encoded { event, blobs })
}

fn stream_name(emitted: &Emitted) -> Result<StreamName, EncodeError> {
    Ok(emitted.stream.to_string().parse()?)
}

/// The pieces so far, and the blobs that they refer to.
struct Collected<'a> {
    pieces: Vec<Content>,
    blobs: Vec<Blob>,
    salts: &'a mut dyn FnMut() -> Salt,
}

impl<'a> Collected<'a> {
    fn new(expected: usize, salts: &'a mut dyn FnMut() -> Salt) -> Collected<'a> {
        Collected {
            pieces: Vec::with_capacity(expected),
            blobs: Vec::new(),
            salts,
        }
    }

    fn add(&mut self, piece: &NewPiece) {
        let salt = (self.salts)();
        let bytes = Bytes::copy_from_slice(&piece.bytes);
        if !piece.attachment && bytes.len() <= limits::INLINE {
            self.pieces.push(Content::Inline { salt, bytes });
            return;
        }
        let blob = Blob::new(bytes);
        let (digest, size) = (blob.digest(), blob.bytes().len() as u64);
        self.pieces.push(if piece.attachment {
            Content::Attachment { salt, digest, size }
        } else {
            Content::Blob { salt, digest, size }
        });
        self.blobs.push(blob);
    }

    /// Adds a text and says which piece it is. A number beyond u16 is never
    /// used: so many pieces are refused.
    fn add_text(&mut self, text: Option<&str>) -> Option<u16> {
        let text = text?;
        let number = u16::try_from(self.pieces.len()).unwrap_or(u16::MAX);
        self.add(&NewPiece {
            bytes: text.as_bytes().to_vec(),
            attachment: false,
        });
        Some(number)
    }
}
