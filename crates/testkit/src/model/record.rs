//! A record as the model has it, and its bytes as the layout in the documentation
//! of [`annals_event_log::Record`] says.

use annals_event_log::{BatchId, Content, Digest, NewEvent, Position, Version, encode_timestamp};
use chrono::{DateTime, Utc};

/// One event in its place.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelRecord {
    /// Its place in the log.
    pub position: Position,
    /// Its place in its stream.
    pub version: Version,
    /// When the store took it, as the store said.
    pub recorded_at: DateTime<Utc>,
    /// The batch that it came with.
    pub batch: BatchId,
    /// The event; pieces that were removed since are [`Content::Removed`].
    pub event: NewEvent,
}

fn length(bytes: &[u8]) -> [u8; 4] {
    u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_be_bytes()
}

fn short(count: usize) -> [u8; 2] {
    u16::try_from(count).unwrap_or(u16::MAX).to_be_bytes()
}

fn text_u8(out: &mut Vec<u8>, text: &str) {
    out.push(u8::try_from(text.len()).unwrap_or(u8::MAX));
    out.extend_from_slice(text.as_bytes());
}

impl ModelRecord {
    /// The header's bytes: what the Merkle tree's leaf is made of.
    pub fn header(&self) -> Vec<u8> {
        let event = &self.event;
        let slot = |slot: Option<u16>| slot.map_or(0, |slot| slot + 1).to_be_bytes();
        let optional = |id: Option<uuid::Uuid>| id.unwrap_or_default().into_bytes();
        let salted: Vec<u8> = event
            .content
            .iter()
            .flat_map(|piece| piece.salted_digest().0)
            .collect();
        let mut out = vec![1];
        out.extend_from_slice(&self.position.0.to_be_bytes());
        out.extend_from_slice(&self.version.0.to_be_bytes());
        out.extend_from_slice(&encode_timestamp(self.recorded_at));
        out.extend_from_slice(&encode_timestamp(event.occurred_at));
        out.extend_from_slice(event.id.as_bytes());
        out.extend_from_slice(self.batch.as_bytes());
        out.extend_from_slice(&optional(event.correlation));
        out.extend_from_slice(&optional(event.causation));
        out.extend_from_slice(&event.schema_version.to_be_bytes());
        out.extend_from_slice(&slot(event.actor.display_name));
        out.extend_from_slice(&slot(event.actor.auth_context));
        out.extend_from_slice(&Digest::of(&event.structure).0);
        out.extend_from_slice(&Digest::of(&salted).0);
        text_u8(&mut out, &event.actor.kind);
        out.extend_from_slice(&short(event.actor.id.len()));
        out.extend_from_slice(event.actor.id.as_bytes());
        text_u8(&mut out, &event.event_type);
        text_u8(&mut out, event.stream.as_str());
        out
    }

    /// The whole record's bytes.
    pub fn bytes(&self) -> Vec<u8> {
        let header = self.header();
        let event = &self.event;
        let mut out = short(header.len()).to_vec();
        out.extend_from_slice(&header);
        out.extend_from_slice(&length(&event.structure));
        out.extend_from_slice(&event.structure);
        out.extend_from_slice(&short(event.content.len()));
        for piece in &event.content {
            let mut reference = |code: u8, salt: &[u8; 16], digest: &Digest, size: u64| {
                out.push(code);
                out.extend_from_slice(salt);
                out.extend_from_slice(&digest.0);
                out.extend_from_slice(&size.to_be_bytes());
            };
            match piece {
                Content::Blob { salt, digest, size } => reference(2, salt, digest, *size),
                Content::Attachment { salt, digest, size } => reference(3, salt, digest, *size),
                Content::Inline { salt, bytes } => {
                    out.push(1);
                    out.extend_from_slice(salt);
                    out.extend_from_slice(&length(bytes));
                    out.extend_from_slice(bytes);
                }
                Content::Removed { salted } => {
                    out.push(4);
                    out.extend_from_slice(&salted.0);
                }
            }
        }
        out
    }
}
