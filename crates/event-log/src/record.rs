//! The record: its bytes, and the reader that checks them.
//!
//! The layout, all integers big-endian (`docs/storage-format.md` says the same
//! for strangers, and `tests/golden` pins it):
//!
//! ```text
//! record    = u16 header length, header, u32 structure length, structure,
//!             u16 number of pieces, pieces
//! header    =   0  u8       1, the header's format
//!               1  u64      position
//!               9  u64      version
//!              17  i64 u32  recorded_at: seconds since 1970, nanoseconds
//!              29  i64 u32  occurred_at
//!              41  16       event id
//!              57  16       batch id
//!              73  16       correlation id, all 0 = none
//!              89  16       causation id, all 0 = none
//!             105  u16      schema version of the event's type
//!             107  u16      piece with the actor's display name + 1, 0 = none
//!             109  u16      piece with the actor's auth context + 1, 0 = none
//!             111  32       SHA-256 of the structure
//!             143  32       SHA-256 over the pieces' salted digests
//!             175  u8 text  actor kind
//!                  u16 text actor id
//!                  u8 text  event type
//!                  u8 text  stream
//! piece     = 1, salt (16), u32 length, bytes          inline
//!           | 2, salt (16), SHA-256 (32), u64 size     blob
//!           | 3, salt (16), SHA-256 (32), u64 size     attachment
//!           | 4, salted digest (32)                    removed
//! ```
//!
//! What only the store knows (position, version, recorded_at) is at fixed
//! offsets, so that a record can be encoded and hashed before the store's
//! single writer sees it.

use std::ops::Range;
use std::sync::OnceLock;

use bytes::{BufMut, Bytes, BytesMut};
use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::event::{self, NewEvent, limits};
use crate::piece::{self, Content};
use crate::{Actor, BatchId, Digest, EventId, Position, StreamName, Version};

mod borrowed;
mod digests;
mod form;
mod header;
mod layout;

pub use borrowed::PieceRef;
pub use digests::{Altered, RecordDigests};
pub use form::Form;
use form::Whole;
pub(crate) use form::shorten;
pub use header::Header;
use layout::{
    AT_AUTH_PIECE, AT_BATCH, AT_CAUSATION, AT_CORRELATION, AT_EVENT, AT_NAME_PIECE, AT_OCCURRED,
    AT_POSITION, AT_RECORDED, AT_SCHEMA, AT_TEXTS, AT_VERSION, ATTACHMENT, BLOB, HEADER_FORMAT,
    HEADER_START, INLINE, REMOVED,
};

/// Bytes that are not a valid record.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("malformed record: {reason} (at byte {at} of {len})")]
pub struct MalformedRecord {
    /// What is wrong.
    pub reason: &'static str,
    /// Where it was noticed, from the record's first byte.
    pub at: usize,
    /// How many bytes there were.
    pub len: usize,
}

/// Seconds since 1970 and nanoseconds as a header holds them: i64 and u32,
/// big-endian.
pub fn encode_timestamp(time: DateTime<Utc>) -> [u8; 12] {
    let mut bytes = [0; 12];
    bytes[..8].copy_from_slice(&time.timestamp().to_be_bytes());
    bytes[8..].copy_from_slice(&time.timestamp_subsec_nanos().to_be_bytes());
    bytes
}

/// An event and the batch that it is in: all of a header that does not depend
/// on the store.
pub(crate) struct Fixed<'a> {
    pub(crate) batch: BatchId,
    pub(crate) event: &'a NewEvent,
}

/// Encodes a record into `out`, which must be empty, with zeros for what the
/// store fills in later.
pub(crate) fn encode(fixed: &Fixed<'_>, out: &mut BytesMut) {
    let event = fixed.event;
    out.extend_from_slice(&[0; HEADER_START]);
    out.put_u8(HEADER_FORMAT);
    out.extend_from_slice(&[0; AT_OCCURRED - AT_POSITION]);
    out.extend_from_slice(&encode_timestamp(event.occurred_at));
    out.extend_from_slice(event.id.as_bytes());
    out.extend_from_slice(fixed.batch.as_bytes());
    out.extend_from_slice(event.correlation.unwrap_or(Uuid::nil()).as_bytes());
    out.extend_from_slice(event.causation.unwrap_or(Uuid::nil()).as_bytes());
    out.extend_from_slice(&event.schema_version.to_be_bytes());
    out.extend_from_slice(&slot_plus_one(event.actor.display_name));
    out.extend_from_slice(&slot_plus_one(event.actor.auth_context));
    out.extend_from_slice(&Digest::of(&event.structure).0);
    out.extend_from_slice(&piece::content_digest(event.content.iter()).0);
    put_text_u8(out, &event.actor.kind);
    put_u16(out, event.actor.id.len());
    out.extend_from_slice(event.actor.id.as_bytes());
    put_text_u8(out, &event.event_type);
    put_text_u8(out, event.stream.as_str());
    let header_len = u16::try_from(out.len() - HEADER_START).unwrap_or(u16::MAX);
    out[..HEADER_START].copy_from_slice(&header_len.to_be_bytes());
    put_u32(out, event.structure.len());
    out.extend_from_slice(&event.structure);
    put_u16(out, event.content.len());
    for piece in &event.content {
        put_piece(out, piece);
    }
}

/// Fills in what only the store knows.
pub(crate) fn stamp(
    bytes: &mut [u8],
    position: Position,
    version: Version,
    recorded_at: DateTime<Utc>,
) {
    let header = &mut bytes[HEADER_START..];
    header[AT_POSITION..AT_VERSION].copy_from_slice(&position.0.to_be_bytes());
    header[AT_VERSION..AT_RECORDED].copy_from_slice(&version.0.to_be_bytes());
    header[AT_RECORDED..AT_OCCURRED].copy_from_slice(&encode_timestamp(recorded_at));
}

/// The position and the version in the header of an encoded record; nothing of what is too
/// short to be one.
pub(crate) fn place(bytes: &[u8]) -> Option<(Position, Version)> {
    let header = bytes.get(HEADER_START..)?;
    let number = |at: Range<usize>| {
        let number = header.get(at)?.try_into().ok()?;
        Some(u64::from_be_bytes(number))
    };
    let position = number(AT_POSITION..AT_VERSION)?;
    let version = number(AT_VERSION..AT_RECORDED)?;
    Some((Position(position), Version(version)))
}

/// The event type and the stream that an encoded record names; nothing of what cannot be one.
pub(crate) fn names(bytes: &[u8], form: Form) -> Option<(&str, &str)> {
    let mut cursor = Cursor {
        bytes,
        at: HEADER_START + AT_TEXTS - form.left_out(),
    };
    let _ = (cursor.text_u8().ok()?, cursor.text_u16().ok()?);
    let (_, event_type) = cursor.text_u8().ok()?;
    let (_, stream) = cursor.text_u8().ok()?;
    Some((event_type, stream))
}

// The casts below cannot lose anything: `append::check_event` refuses what
// is longer, before encoding.
fn put_u16(out: &mut BytesMut, n: usize) {
    out.extend_from_slice(&u16::try_from(n).unwrap_or(u16::MAX).to_be_bytes());
}

fn put_u32(out: &mut BytesMut, n: usize) {
    out.extend_from_slice(&u32::try_from(n).unwrap_or(u32::MAX).to_be_bytes());
}

fn put_text_u8(out: &mut BytesMut, text: &str) {
    out.put_u8(u8::try_from(text.len()).unwrap_or(u8::MAX));
    out.extend_from_slice(text.as_bytes());
}

fn slot_plus_one(slot: Option<u16>) -> [u8; 2] {
    slot.map_or(0, |slot| slot.saturating_add(1)).to_be_bytes()
}

/// The length of an event's record.
pub(crate) fn encoded_len(event: &NewEvent) -> usize {
    let actor = 1 + event.actor.kind.len() + 2 + event.actor.id.len();
    let names = 1 + event.event_type.len() + 1 + event.stream.as_str().len();
    let pieces: usize = event.content.iter().map(encoded_piece_len).sum();
    HEADER_START + AT_TEXTS + actor + names + 4 + event.structure.len() + 2 + pieces
}

fn encoded_piece_len(piece: &Content) -> usize {
    match piece {
        Content::Inline { bytes, .. } => 1 + 16 + 4 + bytes.len(),
        Content::Blob { .. } | Content::Attachment { .. } => 1 + 16 + 32 + 8,
        Content::Removed { .. } => 1 + 32,
    }
}

fn put_piece(out: &mut BytesMut, piece: &Content) {
    match piece {
        Content::Inline { salt, bytes } => {
            out.put_u8(INLINE);
            out.extend_from_slice(salt);
            put_u32(out, bytes.len());
            out.extend_from_slice(bytes);
        }
        Content::Blob { salt, digest, size } => put_reference(out, BLOB, salt, digest, *size),
        Content::Attachment { salt, digest, size } => {
            put_reference(out, ATTACHMENT, salt, digest, *size);
        }
        Content::Removed { salted } => {
            out.put_u8(REMOVED);
            out.extend_from_slice(&salted.0);
        }
    }
}

fn put_reference(out: &mut BytesMut, code: u8, salt: &[u8; 16], digest: &Digest, size: u64) {
    out.put_u8(code);
    out.extend_from_slice(salt);
    out.extend_from_slice(&digest.0);
    out.extend_from_slice(&size.to_be_bytes());
}

/// One immutable event as it is stored.
///
/// It is a view into the bytes that the store read: cloning and passing it on
/// copies nothing. [`Record::decode`] checks every length, code and text once,
/// so that the accessors cannot fail.
#[derive(Clone)]
pub struct Record {
    bytes: Bytes,
    form: Form,
    /// The whole form of a short one, once a caller has asked for it.
    whole: OnceLock<Whole>,
    texts: Texts,
    header_end: u32,
    structure_end: u32,
}

impl PartialEq for Record {
    fn eq(&self, other: &Record) -> bool {
        match self.form == other.form {
            true => self.bytes == other.bytes,
            false => self.as_bytes() == other.as_bytes(),
        }
    }
}

impl Eq for Record {}

/// Where the header's texts are, from the record's first byte.
#[derive(Debug, Clone)]
struct Texts {
    actor_kind: Range<u16>,
    actor_id: Range<u16>,
    event_type: Range<u16>,
    stream: Range<u16>,
}

impl Record {
    /// Reads a record; all of `bytes` must be that one record.
    ///
    /// # Errors
    /// [`MalformedRecord`], for any bytes that [`Record::as_bytes`] of this
    /// version could not have given.
    pub fn decode(bytes: Bytes) -> Result<Record, MalformedRecord> {
        Record::decode_form(bytes, Form::Whole)
    }

    /// The same of bytes that are kept in some form.
    pub(crate) fn decode_form(bytes: Bytes, form: Form) -> Result<Record, MalformedRecord> {
        let mut cursor = Cursor {
            bytes: &bytes,
            at: 0,
        };
        let header_len = usize::from(cursor.u16()?);
        let header_end = (HEADER_START + header_len).saturating_sub(form.left_out());
        if cursor.u8()? != HEADER_FORMAT {
            return Err(cursor.fail("the header's format is unknown"));
        }
        cursor.skip(AT_TEXTS - 1 - form.left_out())?;
        let (actor_kind, kind) = cursor.text_u8()?;
        let (actor_id, id) = cursor.text_u16()?;
        let (event_type, type_name) = cursor.text_u8()?;
        let (stream, stream_name) = cursor.text_u8()?;
        // Checked here and not by the accessors, which would read them as UTF-8 again.
        check_actor(kind, id).map_err(|reason| cursor.fail(reason))?;
        if !event::is_event_type(type_name) {
            return Err(cursor.fail("the event's type is not allowed"));
        }
        if !StreamName::is_valid(stream_name) {
            return Err(cursor.fail("the stream's name is not allowed"));
        }
        let texts = Texts {
            actor_kind,
            actor_id,
            event_type,
            stream,
        };
        if cursor.at != header_end {
            return Err(cursor.fail("the header's length does not fit its fields"));
        }
        let structure_len = cursor.u32()? as usize;
        if structure_len > limits::STRUCTURE {
            return Err(cursor.fail("the structure is too long"));
        }
        cursor.skip(structure_len)?;
        let structure_end = cursor.at;
        let pieces = cursor.u16()?;
        if usize::from(pieces) > limits::PIECES {
            return Err(cursor.fail("there are too many pieces"));
        }
        for _ in 0..pieces {
            cursor.piece()?;
        }
        if cursor.at != bytes.len() {
            return Err(cursor.fail("bytes are left over"));
        }
        let end = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let (header_end, structure_end) = (end(header_end), end(structure_end));
        let record = Record {
            texts,
            header_end,
            structure_end,
            bytes,
            form,
            whole: OnceLock::new(),
        };
        record.check(pieces)?;
        Ok(record)
    }

    fn check(&self, pieces: u16) -> Result<(), MalformedRecord> {
        let fail = |reason, at| MalformedRecord {
            reason,
            at,
            len: self.bytes.len(),
        };
        for at in [AT_RECORDED, AT_OCCURRED] {
            if !self.is_timestamp(at) {
                return Err(fail("a time is out of range", HEADER_START + at));
            }
        }
        let actor_pieces = [self.display_name_piece(), self.auth_context_piece()];
        if actor_pieces
            .into_iter()
            .flatten()
            .any(|piece| piece >= pieces)
        {
            return Err(fail(
                "a piece of the actor is not there",
                HEADER_START + AT_NAME_PIECE,
            ));
        }
        if self.position().0 == 0 || self.version().0 == 0 || self.schema_version() == 0 {
            return Err(fail(
                "a position or a version is 0",
                HEADER_START + AT_POSITION,
            ));
        }
        Ok(())
    }

    /// Its place in the log.
    pub fn position(&self) -> Position {
        Position(self.u64_at(AT_POSITION))
    }

    /// Its place in its stream.
    pub fn version(&self) -> Version {
        Version(self.u64_at(AT_VERSION))
    }

    /// The stream's name as text.
    pub fn stream(&self) -> &str {
        self.text(&self.texts.stream)
    }

    /// The stream's name.
    pub fn stream_name(&self) -> StreamName {
        StreamName::trusted(self.stream())
    }

    /// The event's id.
    pub fn event_id(&self) -> EventId {
        self.uuid_at(AT_EVENT)
    }

    /// The batch that it was appended with.
    pub fn batch_id(&self) -> BatchId {
        self.uuid_at(AT_BATCH)
    }

    /// The name of the event's type.
    pub fn event_type(&self) -> &str {
        self.text(&self.texts.event_type)
    }

    /// The version of that type's shape.
    pub fn schema_version(&self) -> u16 {
        self.u16_at(AT_SCHEMA)
    }

    /// When it happened, by its author's clock.
    pub fn occurred_at(&self) -> DateTime<Utc> {
        self.timestamp(AT_OCCURRED).unwrap_or_default()
    }

    /// When the store took it; never before the record before it.
    pub fn recorded_at(&self) -> DateTime<Utc> {
        self.timestamp(AT_RECORDED).unwrap_or_default()
    }

    /// What it belongs to, beyond its batch.
    pub fn correlation(&self) -> Option<Uuid> {
        Some(self.uuid_at(AT_CORRELATION)).filter(|id| !id.is_nil())
    }

    /// The event that led to it.
    pub fn causation(&self) -> Option<EventId> {
        Some(self.uuid_at(AT_CAUSATION)).filter(|id| !id.is_nil())
    }

    /// The actor's kind.
    pub fn actor_kind(&self) -> &str {
        self.text(&self.texts.actor_kind)
    }

    /// The actor's id.
    pub fn actor_id(&self) -> &str {
        self.text(&self.texts.actor_id)
    }

    /// Which piece holds the actor's display name.
    pub fn display_name_piece(&self) -> Option<u16> {
        self.u16_at(AT_NAME_PIECE).checked_sub(1)
    }

    /// Which piece holds the actor's authentication context.
    pub fn auth_context_piece(&self) -> Option<u16> {
        self.u16_at(AT_AUTH_PIECE).checked_sub(1)
    }

    /// The actor, as an append takes it.
    pub fn actor(&self) -> Actor {
        Actor {
            kind: self.actor_kind().to_owned(),
            id: self.actor_id().to_owned(),
            display_name: self.display_name_piece(),
            auth_context: self.auth_context_piece(),
        }
    }

    /// What a fold needs.
    pub fn structure(&self) -> Bytes {
        self.bytes
            .slice(self.header_end as usize + 4..self.structure_end as usize)
    }

    /// The pieces of content, in order.
    pub fn content(&self) -> Vec<Content> {
        let mut cursor = Cursor {
            bytes: &self.bytes,
            at: self.structure_end as usize,
        };
        let count = cursor.u16().unwrap_or(0);
        let mut pieces = Vec::with_capacity(usize::from(count));
        for _ in 0..count {
            // `decode` walked over the same bytes without an error.
            pieces.extend(cursor.piece().ok().map(|piece| piece.read(&self.bytes)));
        }
        pieces
    }

    /// The same record without some of its pieces: their salted digests stay, and so
    /// does every byte of the header. A number that it has no piece for means nothing.
    ///
    /// # Errors
    /// [`MalformedRecord`]: never, as its own pieces made a record before.
    pub fn without(&self, pieces: &[u16]) -> Result<Record, MalformedRecord> {
        let content = self.content();
        let end = self.structure_end as usize;
        let mut bytes = BytesMut::with_capacity(self.bytes.len());
        bytes.extend_from_slice(self.bytes.get(..end).unwrap_or_default());
        put_u16(&mut bytes, content.len());
        for (number, piece) in (0_u16..).zip(&content) {
            match pieces.contains(&number) {
                true => put_piece(
                    &mut bytes,
                    &Content::Removed {
                        salted: piece.salted_digest(),
                    },
                ),
                false => put_piece(&mut bytes, piece),
            }
        }
        Record::decode_form(bytes.freeze(), self.form)
    }

    fn text(&self, range: &Range<u16>) -> &str {
        let bytes = &self.bytes[usize::from(range.start)..usize::from(range.end)];
        std::str::from_utf8(bytes).unwrap_or("")
    }

    fn field<const N: usize>(&self, at: usize) -> [u8; N] {
        let mut field = [0; N];
        field.copy_from_slice(&self.bytes[HEADER_START + at..HEADER_START + at + N]);
        field
    }

    fn u16_at(&self, at: usize) -> u16 {
        u16::from_be_bytes(self.field(at))
    }

    fn u64_at(&self, at: usize) -> u64 {
        u64::from_be_bytes(self.field(at))
    }

    fn uuid_at(&self, at: usize) -> Uuid {
        Uuid::from_bytes(self.field(at))
    }

    /// Whether the field is a time; quick for those of our era.
    fn is_timestamp(&self, at: usize) -> bool {
        const YEAR_10_000: i64 = 253_402_300_800;
        let seconds = i64::from_be_bytes(self.field(at));
        let nanos = u32::from_be_bytes(self.field(at + 8));
        let usual = (0..YEAR_10_000).contains(&seconds) && nanos < 1_000_000_000;
        usual || self.timestamp(at).is_some()
    }

    fn timestamp(&self, at: usize) -> Option<DateTime<Utc>> {
        let seconds = i64::from_be_bytes(self.field(at));
        DateTime::from_timestamp(seconds, u32::from_be_bytes(self.field(at + 8)))
    }
}

impl std::fmt::Debug for Record {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Record")
            .field("position", &self.position().0)
            .field("stream", &self.stream())
            .field("version", &self.version().0)
            .field("event_type", &self.event_type())
            .finish_non_exhaustive()
    }
}

/// A piece's place in the record; reading it out is left to who needs it.
enum PieceAt {
    Inline {
        salt: [u8; 16],
        content: Range<usize>,
    },
    Reference {
        code: u8,
        salt: [u8; 16],
        digest: Digest,
        size: u64,
    },
    Removed {
        salted: Digest,
    },
}

impl PieceAt {
    fn read(self, record: &Bytes) -> Content {
        match self {
            PieceAt::Inline { salt, content } => Content::Inline {
                salt,
                bytes: record.slice(content),
            },
            PieceAt::Reference {
                code: ATTACHMENT,
                salt,
                digest,
                size,
            } => Content::Attachment { salt, digest, size },
            PieceAt::Reference {
                salt, digest, size, ..
            } => Content::Blob { salt, digest, size },
            PieceAt::Removed { salted } => Content::Removed { salted },
        }
    }
}

struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// What an append demands of an actor.
fn check_actor(kind: &str, id: &str) -> Result<(), &'static str> {
    let too_long = kind.len() > limits::ACTOR_KIND || id.len() > limits::ACTOR_ID;
    if too_long || kind.trim().is_empty() || id.trim().is_empty() {
        return Err("the actor is blank or too long");
    }
    Ok(())
}

impl<'a> Cursor<'a> {
    fn fail(&self, reason: &'static str) -> MalformedRecord {
        MalformedRecord {
            reason,
            at: self.at,
            len: self.bytes.len(),
        }
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], MalformedRecord> {
        let start = self.at;
        self.skip(N)?;
        let mut out = [0; N];
        out.copy_from_slice(&self.bytes[start..self.at]);
        Ok(out)
    }

    fn skip(&mut self, n: usize) -> Result<(), MalformedRecord> {
        match self
            .at
            .checked_add(n)
            .filter(|end| *end <= self.bytes.len())
        {
            Some(end) => {
                self.at = end;
                Ok(())
            }
            None => Err(self.fail("it ends too early")),
        }
    }

    fn u8(&mut self) -> Result<u8, MalformedRecord> {
        Ok(self.take::<1>()?[0])
    }

    fn u16(&mut self) -> Result<u16, MalformedRecord> {
        Ok(u16::from_be_bytes(self.take()?))
    }

    fn u32(&mut self) -> Result<u32, MalformedRecord> {
        Ok(u32::from_be_bytes(self.take()?))
    }

    fn text_u8(&mut self) -> Result<(Range<u16>, &'a str), MalformedRecord> {
        let len = usize::from(self.u8()?);
        self.text(len)
    }

    fn text_u16(&mut self) -> Result<(Range<u16>, &'a str), MalformedRecord> {
        let len = usize::from(self.u16()?);
        self.text(len)
    }

    fn text(&mut self, len: usize) -> Result<(Range<u16>, &'a str), MalformedRecord> {
        let start = self.at;
        self.skip(len)?;
        let Ok(text) = std::str::from_utf8(&self.bytes[start..self.at]) else {
            return Err(self.fail("a text is not UTF-8"));
        };
        let place = |at| u16::try_from(at).map_err(|_| self.fail("the header is too long"));
        Ok((place(start)?..place(self.at)?, text))
    }

    fn piece(&mut self) -> Result<PieceAt, MalformedRecord> {
        match self.u8()? {
            INLINE => {
                let salt = self.take()?;
                let len = self.u32()? as usize;
                if len > limits::INLINE {
                    return Err(self.fail("an inline piece is too long"));
                }
                let start = self.at;
                self.skip(len)?;
                Ok(PieceAt::Inline {
                    salt,
                    content: start..self.at,
                })
            }
            code @ (BLOB | ATTACHMENT) => Ok(PieceAt::Reference {
                code,
                salt: self.take()?,
                digest: Digest(self.take()?),
                size: u64::from_be_bytes(self.take()?),
            }),
            REMOVED => Ok(PieceAt::Removed {
                salted: Digest(self.take()?),
            }),
            _ => Err(self.fail("a piece has an unknown code")),
        }
    }
}

#[cfg(test)]
mod tests;
