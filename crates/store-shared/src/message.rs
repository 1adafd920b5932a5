//! What guests ask of the owner, and what it answers: the ports' own types, as plain data.
//!
//! `docs/sharing.md` describes the bytes.

use std::fmt;
use std::marker::PhantomData;

use annals_event_log::{
    Actor, Append, AppendError, Appended, Blob, CommitError, Content, Digest, Epoch, Expectation,
    Expected, Link, ModelCheckpoint, NewEvent, PiecesOf, Position, ReadError, Record, RedactError,
    Redaction, StreamName, Version,
};
use bytes::Bytes;
use chrono::DateTime;
use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use uuid::Uuid;

use crate::frame::LARGEST;

/// Why bytes are not a message.
#[derive(Debug, thiserror::Error)]
#[error("malformed message: {0}")]
pub(crate) struct Malformed(String);

fn malformed(error: impl fmt::Display) -> Malformed {
    Malformed(error.to_string())
}

/// Encodes a message behind `start`, which the frame's header has.
pub(crate) fn encode<T: Serialize>(message: &T, start: Vec<u8>) -> Result<Vec<u8>, Malformed> {
    let mut bytes = start;
    let config = bincode::config::standard();
    bincode::serde::encode_into_std_write(message, &mut bytes, config).map_err(malformed)?;
    Ok(bytes)
}

/// Reads a message, which has to be all of `bytes`. A length that no message has is refused before memory is
/// taken for it, and so is a list of more than [`MOST`].
pub(crate) fn decode<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, Malformed> {
    let config = bincode::config::standard().with_limit::<LARGEST>();
    let (message, read) =
        bincode::serde::borrow_decode_from_slice(bytes, config).map_err(malformed)?;
    match read == bytes.len() {
        true => Ok(message),
        false => Err(Malformed("more bytes than the message has".into())),
    }
}

/// The most entries of a list. One that has no bytes of its own would take many times in memory what it takes
/// in a message.
const MOST: usize = 1_000_000;

/// Reads a list of at most [`MOST`].
fn few<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Vec<T>, D::Error> {
    struct Few<T>(PhantomData<T>);
    impl<'de, T: Deserialize<'de>> Visitor<'de> for Few<T> {
        type Value = Vec<T>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "a list of at most {MOST}")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<T>, A::Error> {
            let mut few = Vec::new();
            while let Some(entry) = list.next_element()? {
                if few.len() == MOST {
                    return Err(A::Error::invalid_length(MOST + 1, &self));
                }
                few.push(entry);
            }
            Ok(few)
        }
    }
    from.deserialize_seq(Few(PhantomData))
}

/// Bytes, written as such and not number by number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Octets(pub(crate) Bytes);

impl Serialize for Octets {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Octets {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Octets, D::Error> {
        struct Borrowed;
        impl<'de> Visitor<'de> for Borrowed {
            type Value = Octets;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("bytes")
            }

            fn visit_borrowed_bytes<E>(self, bytes: &'de [u8]) -> Result<Octets, E> {
                Ok(Octets(Bytes::copy_from_slice(bytes)))
            }
        }
        deserializer.deserialize_bytes(Borrowed)
    }
}

/// What a guest asks for.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Call {
    Append {
        append: AppendOf,
        link: Option<(Uuid, u64)>,
    },
    Copy {
        #[serde(deserialize_with = "few")]
        records: Vec<Octets>,
        #[serde(deserialize_with = "few")]
        blobs: Vec<Octets>,
    },
    Redact(RedactionOf),
    Checkpoint {
        model: String,
    },
    Commit {
        model: String,
        expected: (u64, u64),
        #[serde(deserialize_with = "few")]
        rows: Vec<(Octets, Option<Octets>)>,
        position: u64,
    },
    Rows {
        model: String,
        #[serde(deserialize_with = "few")]
        keys: Vec<Octets>,
    },
    Scan {
        model: String,
        prefix: Octets,
        beside: Option<Octets>,
        limit: u64,
        backward: bool,
    },
    DropModel {
        model: String,
    },
}

/// What the owner answers; each call has its kind.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Answer {
    Appended(Result<AppendedOf, AppendFailure>),
    Redacted(Result<AppendedOf, RedactFailure>),
    Checkpoint(Result<(u64, u64), ReadFailure>),
    Committed(Result<(), CommitFailure>),
    Rows(Result<Vec<Option<Octets>>, ReadFailure>),
    Scanned(Result<Vec<(Octets, Octets)>, ReadFailure>),
    /// The call could not be read.
    Malformed(String),
}

/// The first bytes of the two calls whose answers may be large.
pub(crate) const ROWS: u8 = 5;
pub(crate) const SCAN: u8 = 6;

impl From<tokio::task::JoinError> for Malformed {
    fn from(error: tokio::task::JoinError) -> Malformed {
        malformed(error)
    }
}

impl Answer {
    /// Whether the owner's store has failed.
    pub(crate) fn is_failure(&self) -> bool {
        match self {
            Answer::Appended(done) => matches!(done, Err(AppendFailure::Unavailable(_))),
            Answer::Redacted(done) => {
                let append = done.as_ref().err();
                matches!(
                    append,
                    Some(RedactFailure::Append(AppendFailure::Unavailable(_)))
                )
            }
            _ => false,
        }
    }

    /// Whether the owner has closed the log.
    pub(crate) fn is_closed(&self) -> bool {
        use {AppendFailure as Append, CommitFailure as Commit, ReadFailure as Read};
        match self {
            Answer::Appended(done) => matches!(done, Err(Append::Closed)),
            Answer::Redacted(done) => matches!(done, Err(RedactFailure::Append(Append::Closed))),
            Answer::Checkpoint(found) => matches!(found, Err(Read::Closed)),
            Answer::Committed(done) => matches!(done, Err(Commit::Closed)),
            Answer::Rows(found) => matches!(found, Err(Read::Closed)),
            Answer::Scanned(found) => matches!(found, Err(Read::Closed)),
            Answer::Malformed(_) => false,
        }
    }
}

/// Positions of the first and the last record, and whether it was a repeat.
pub(crate) type AppendedOf = (u64, u64, bool);

pub(crate) fn appended_of(appended: Appended) -> AppendedOf {
    (appended.first.0, appended.last.0, appended.repeated)
}

pub(crate) fn appended((first, last, repeated): AppendedOf) -> Appended {
    let appended = Appended::new(Position(first), Position(last));
    match repeated {
        true => appended.again(),
        false => appended,
    }
}

/// [`Append`].
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct AppendOf {
    batch: Uuid,
    request: Octets,
    #[serde(deserialize_with = "few")]
    events: Vec<EventOf>,
    #[serde(deserialize_with = "few")]
    expectations: Vec<(String, ExpectedOf)>,
    #[serde(deserialize_with = "few")]
    blobs: Vec<Octets>,
}

#[derive(Debug, Serialize, Deserialize)]
struct EventOf {
    stream: String,
    id: Uuid,
    event_type: String,
    schema_version: u16,
    occurred_at: (i64, u32),
    actor: ActorOf,
    correlation: Option<Uuid>,
    causation: Option<Uuid>,
    structure: Octets,
    #[serde(deserialize_with = "few")]
    content: Vec<ContentOf>,
}

#[derive(Debug, Serialize, Deserialize)]
struct ActorOf {
    kind: String,
    id: String,
    display_name: Option<u16>,
    auth_context: Option<u16>,
}

#[derive(Debug, Serialize, Deserialize)]
enum ContentOf {
    Inline([u8; 16], Octets),
    Blob([u8; 16], [u8; 32], u64),
    Attachment([u8; 16], [u8; 32], u64),
    Removed([u8; 32]),
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum ExpectedOf {
    Any,
    NoStream,
    Exists,
    Exactly(u64),
}

impl From<Expected> for ExpectedOf {
    fn from(expected: Expected) -> ExpectedOf {
        match expected {
            Expected::Any => ExpectedOf::Any,
            Expected::NoStream => ExpectedOf::NoStream,
            Expected::Exists => ExpectedOf::Exists,
            Expected::Exactly(version) => ExpectedOf::Exactly(version.0),
        }
    }
}

impl From<ExpectedOf> for Expected {
    fn from(expected: ExpectedOf) -> Expected {
        match expected {
            ExpectedOf::Any => Expected::Any,
            ExpectedOf::NoStream => Expected::NoStream,
            ExpectedOf::Exists => Expected::Exists,
            ExpectedOf::Exactly(version) => Expected::Exactly(Version(version)),
        }
    }
}

impl From<&Content> for ContentOf {
    fn from(content: &Content) -> ContentOf {
        match content {
            Content::Inline { salt, bytes } => ContentOf::Inline(*salt, Octets(bytes.clone())),
            Content::Blob { salt, digest, size } => ContentOf::Blob(*salt, digest.0, *size),
            Content::Attachment { salt, digest, size } => {
                ContentOf::Attachment(*salt, digest.0, *size)
            }
            Content::Removed { salted } => ContentOf::Removed(salted.0),
        }
    }
}

impl From<ContentOf> for Content {
    fn from(content: ContentOf) -> Content {
        match content {
            ContentOf::Inline(salt, bytes) => Content::Inline {
                salt,
                bytes: bytes.0,
            },
            ContentOf::Blob(salt, digest, size) => Content::Blob {
                salt,
                digest: Digest(digest),
                size,
            },
            ContentOf::Attachment(salt, digest, size) => Content::Attachment {
                salt,
                digest: Digest(digest),
                size,
            },
            ContentOf::Removed(salted) => Content::Removed {
                salted: Digest(salted),
            },
        }
    }
}

impl From<&NewEvent> for EventOf {
    fn from(event: &NewEvent) -> EventOf {
        let at = event.occurred_at;
        EventOf {
            stream: event.stream.as_str().to_owned(),
            id: event.id,
            event_type: event.event_type.clone().into_owned(),
            schema_version: event.schema_version,
            occurred_at: (at.timestamp(), at.timestamp_subsec_nanos()),
            actor: ActorOf {
                kind: event.actor.kind.clone(),
                id: event.actor.id.clone(),
                display_name: event.actor.display_name,
                auth_context: event.actor.auth_context,
            },
            correlation: event.correlation,
            causation: event.causation,
            structure: Octets(event.structure.clone()),
            content: event.content.iter().map(ContentOf::from).collect(),
        }
    }
}

fn stream(name: &str) -> Result<StreamName, Malformed> {
    name.parse().map_err(malformed)
}

impl EventOf {
    fn into_event(self) -> Result<NewEvent, Malformed> {
        let (seconds, nanos) = self.occurred_at;
        let occurred_at = DateTime::from_timestamp(seconds, nanos)
            .ok_or_else(|| Malformed("an event's time is out of range".into()))?;
        Ok(NewEvent {
            stream: stream(&self.stream)?,
            id: self.id,
            event_type: self.event_type.into(),
            schema_version: self.schema_version,
            occurred_at,
            actor: Actor {
                kind: self.actor.kind,
                id: self.actor.id,
                display_name: self.actor.display_name,
                auth_context: self.actor.auth_context,
            },
            correlation: self.correlation,
            causation: self.causation,
            structure: self.structure.0,
            content: self.content.into_iter().map(Content::from).collect(),
        })
    }
}

impl From<&Append> for AppendOf {
    fn from(append: &Append) -> AppendOf {
        let expectations = append.expectations.iter();
        AppendOf {
            batch: append.batch,
            request: Octets(append.request.clone()),
            events: append.events.iter().map(EventOf::from).collect(),
            expectations: expectations
                .map(|it| (it.stream.as_str().to_owned(), it.expected.into()))
                .collect(),
            blobs: octets(&append.blobs),
        }
    }
}

impl AppendOf {
    /// The append; its blobs' digests are made here, of what came.
    pub(crate) fn into_append(self) -> Result<Append, Malformed> {
        let expectations = self.expectations.into_iter().map(|(name, expected)| {
            Ok(Expectation {
                stream: stream(&name)?,
                expected: expected.into(),
            })
        });
        Ok(Append {
            batch: self.batch,
            request: self.request.0,
            expectations: expectations.collect::<Result<_, Malformed>>()?,
            events: self
                .events
                .into_iter()
                .map(EventOf::into_event)
                .collect::<Result<_, _>>()?,
            blobs: blobs(self.blobs),
        })
    }
}

pub(crate) fn link_of(link: Link) -> (Uuid, u64) {
    (link.chain, link.number)
}

pub(crate) fn octets(blobs: &[Blob]) -> Vec<Octets> {
    blobs.iter().map(|it| Octets(it.bytes().clone())).collect()
}

pub(crate) fn blobs(blobs: Vec<Octets>) -> Vec<Blob> {
    blobs.into_iter().map(|it| Blob::new(it.0)).collect()
}

pub(crate) fn records(records: Vec<Octets>) -> Result<Vec<Record>, Malformed> {
    let records = records.into_iter();
    records
        .map(|it| Record::decode(it.0).map_err(malformed))
        .collect()
}

/// [`Redaction`].
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct RedactionOf {
    append: AppendOf,
    #[serde(deserialize_with = "few")]
    removed: Vec<(u64, Vec<u16>)>,
    #[serde(deserialize_with = "few")]
    blobs: Vec<[u8; 32]>,
    seen: u64,
}

impl From<&Redaction> for RedactionOf {
    fn from(redaction: &Redaction) -> RedactionOf {
        let removed = redaction.removed.iter();
        RedactionOf {
            append: AppendOf::from(&redaction.append),
            removed: removed
                .map(|it| (it.position.0, it.pieces.clone()))
                .collect(),
            blobs: redaction.blobs.iter().map(|digest| digest.0).collect(),
            seen: redaction.seen.0,
        }
    }
}

impl RedactionOf {
    pub(crate) fn into_redaction(self) -> Result<Redaction, Malformed> {
        let removed = self.removed.into_iter().map(|(position, pieces)| PiecesOf {
            position: Position(position),
            pieces,
        });
        Ok(Redaction {
            append: self.append.into_append()?,
            removed: removed.collect(),
            blobs: self.blobs.into_iter().map(Digest).collect(),
            seen: Position(self.seen),
        })
    }
}

pub(crate) fn checkpoint_of(checkpoint: ModelCheckpoint) -> (u64, u64) {
    (checkpoint.position.0, checkpoint.epoch.0)
}

pub(crate) fn checkpoint((position, epoch): (u64, u64)) -> ModelCheckpoint {
    ModelCheckpoint {
        position: Position(position),
        epoch: Epoch(epoch),
    }
}

/// A store's own error, of which its text came over.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Told(pub(crate) String);

/// [`AppendError`].
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum AppendFailure {
    Conflict {
        stream: String,
        expected: ExpectedOf,
        actual: u64,
    },
    BrokenChain(Uuid, u64),
    IdempotencyMismatch(Uuid),
    RequestUnverifiable(Uuid, u64, u64),
    TooLarge {
        what: String,
        limit: u64,
        actual: u64,
    },
    Invalid(String),
    UnknownBlob([u8; 32]),
    BlobSize {
        digest: [u8; 32],
        said: u64,
        actual: u64,
    },
    NotContiguous {
        offered: u64,
        reason: String,
    },
    ReadOnly,
    Closed,
    Unavailable(String),
    Corrupt(String),
}

impl From<AppendError> for AppendFailure {
    fn from(error: AppendError) -> AppendFailure {
        match error {
            AppendError::Conflict {
                stream,
                expected,
                actual,
            } => AppendFailure::Conflict {
                stream: stream.as_str().to_owned(),
                expected: expected.into(),
                actual: actual.0,
            },
            AppendError::BrokenChain { link } => {
                AppendFailure::BrokenChain(link.chain, link.number)
            }
            AppendError::IdempotencyMismatch { batch } => AppendFailure::IdempotencyMismatch(batch),
            AppendError::RequestUnverifiable { batch, first, last } => {
                AppendFailure::RequestUnverifiable(batch, first.0, last.0)
            }
            AppendError::TooLarge {
                what,
                limit,
                actual,
            } => AppendFailure::TooLarge {
                what,
                limit,
                actual,
            },
            AppendError::Invalid { reason } => AppendFailure::Invalid(reason),
            AppendError::UnknownBlob { digest } => AppendFailure::UnknownBlob(digest.0),
            AppendError::BlobSize {
                digest,
                said,
                actual,
            } => AppendFailure::BlobSize {
                digest: digest.0,
                said,
                actual,
            },
            AppendError::NotContiguous { offered, reason } => AppendFailure::NotContiguous {
                offered: offered.0,
                reason,
            },
            AppendError::ReadOnly => AppendFailure::ReadOnly,
            AppendError::Closed => AppendFailure::Closed,
            AppendError::Corrupt { reason } => AppendFailure::Corrupt(reason),
            AppendError::Unavailable { source } => AppendFailure::Unavailable(source.to_string()),
            // One that was added since says so by its text.
            other => AppendFailure::Unavailable(other.to_string()),
        }
    }
}

impl AppendFailure {
    pub(crate) fn into_error(self) -> AppendError {
        let position = Position;
        match self {
            AppendFailure::Conflict {
                stream: name,
                expected,
                actual,
            } => match stream(&name) {
                Ok(stream) => AppendError::Conflict {
                    stream,
                    expected: expected.into(),
                    actual: Version(actual),
                },
                Err(error) => unavailable(error),
            },
            AppendFailure::BrokenChain(chain, number) => AppendError::BrokenChain {
                link: Link { chain, number },
            },
            AppendFailure::IdempotencyMismatch(batch) => AppendError::IdempotencyMismatch { batch },
            AppendFailure::RequestUnverifiable(batch, first, last) => {
                AppendError::RequestUnverifiable {
                    batch,
                    first: position(first),
                    last: position(last),
                }
            }
            AppendFailure::TooLarge {
                what,
                limit,
                actual,
            } => AppendError::TooLarge {
                what,
                limit,
                actual,
            },
            AppendFailure::Invalid(reason) => AppendError::Invalid { reason },
            AppendFailure::UnknownBlob(digest) => AppendError::UnknownBlob {
                digest: Digest(digest),
            },
            AppendFailure::BlobSize {
                digest,
                said,
                actual,
            } => AppendError::BlobSize {
                digest: Digest(digest),
                said,
                actual,
            },
            AppendFailure::NotContiguous { offered, reason } => AppendError::NotContiguous {
                offered: position(offered),
                reason,
            },
            AppendFailure::ReadOnly => AppendError::ReadOnly,
            AppendFailure::Closed => AppendError::Closed,
            AppendFailure::Unavailable(reason) => unavailable(Told(reason)),
            AppendFailure::Corrupt(reason) => AppendError::Corrupt { reason },
        }
    }
}

fn unavailable(error: impl std::error::Error + Send + Sync + 'static) -> AppendError {
    AppendError::Unavailable {
        source: Box::new(error),
    }
}

/// [`RedactError`].
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum RedactFailure {
    Append(AppendFailure),
    NoPiece(u64, u16),
    StillNamed([u8; 32], u64),
}

impl From<RedactError> for RedactFailure {
    fn from(error: RedactError) -> RedactFailure {
        match error {
            RedactError::Append(error) => RedactFailure::Append(error.into()),
            RedactError::NoPiece { position, piece } => RedactFailure::NoPiece(position.0, piece),
            RedactError::StillNamed { digest, position } => {
                RedactFailure::StillNamed(digest.0, position.0)
            }
            other => RedactFailure::Append(AppendFailure::Unavailable(other.to_string())),
        }
    }
}

impl RedactFailure {
    pub(crate) fn into_error(self) -> RedactError {
        match self {
            RedactFailure::Append(error) => error.into_error().into(),
            RedactFailure::NoPiece(position, piece) => RedactError::NoPiece {
                position: Position(position),
                piece,
            },
            RedactFailure::StillNamed(digest, position) => RedactError::StillNamed {
                digest: Digest(digest),
                position: Position(position),
            },
        }
    }
}

/// [`ReadError`].
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum ReadFailure {
    Closed,
    Unavailable(String),
    Moved(String),
    Corrupt(String),
}

impl From<ReadError> for ReadFailure {
    fn from(error: ReadError) -> ReadFailure {
        match error {
            ReadError::Closed => ReadFailure::Closed,
            ReadError::Moved { place } => ReadFailure::Moved(place),
            ReadError::Corrupt { reason } => ReadFailure::Corrupt(reason),
            ReadError::Unavailable { source } => ReadFailure::Unavailable(source.to_string()),
            other => ReadFailure::Unavailable(other.to_string()),
        }
    }
}

impl ReadFailure {
    pub(crate) fn into_error(self) -> ReadError {
        match self {
            ReadFailure::Closed => ReadError::Closed,
            ReadFailure::Moved(place) => ReadError::Moved { place },
            ReadFailure::Corrupt(reason) => ReadError::Corrupt { reason },
            ReadFailure::Unavailable(reason) => ReadError::Unavailable {
                source: Box::new(Told(reason)),
            },
        }
    }
}

/// [`CommitError`].
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum CommitFailure {
    Checkpoint {
        model: String,
        expected: u64,
        actual: u64,
    },
    Epoch {
        model: String,
        expected: u64,
        actual: u64,
    },
    BeyondWatermark(u64, u64),
    InvalidName(String),
    ReadOnly,
    Closed,
    Unavailable(String),
    Corrupt(String),
}

impl From<CommitError> for CommitFailure {
    fn from(error: CommitError) -> CommitFailure {
        match error {
            CommitError::Checkpoint {
                model,
                expected,
                actual,
            } => CommitFailure::Checkpoint {
                model,
                expected: expected.0,
                actual: actual.0,
            },
            CommitError::Epoch {
                model,
                expected,
                actual,
            } => CommitFailure::Epoch {
                model,
                expected: expected.0,
                actual: actual.0,
            },
            CommitError::BeyondWatermark {
                checkpoint,
                watermark,
            } => CommitFailure::BeyondWatermark(checkpoint.0, watermark.0),
            CommitError::InvalidName { model } => CommitFailure::InvalidName(model),
            CommitError::ReadOnly => CommitFailure::ReadOnly,
            CommitError::Closed => CommitFailure::Closed,
            CommitError::Corrupt { reason } => CommitFailure::Corrupt(reason),
            CommitError::Unavailable { source } => CommitFailure::Unavailable(source.to_string()),
            other => CommitFailure::Unavailable(other.to_string()),
        }
    }
}

impl CommitFailure {
    pub(crate) fn into_error(self) -> CommitError {
        match self {
            CommitFailure::Checkpoint {
                model,
                expected,
                actual,
            } => CommitError::Checkpoint {
                model,
                expected: Position(expected),
                actual: Position(actual),
            },
            CommitFailure::Epoch {
                model,
                expected,
                actual,
            } => CommitError::Epoch {
                model,
                expected: Epoch(expected),
                actual: Epoch(actual),
            },
            CommitFailure::BeyondWatermark(checkpoint, watermark) => CommitError::BeyondWatermark {
                checkpoint: Position(checkpoint),
                watermark: Position(watermark),
            },
            CommitFailure::InvalidName(model) => CommitError::InvalidName { model },
            CommitFailure::ReadOnly => CommitError::ReadOnly,
            CommitFailure::Closed => CommitError::Closed,
            CommitFailure::Corrupt(reason) => CommitError::Corrupt { reason },
            CommitFailure::Unavailable(reason) => CommitError::Unavailable {
                source: Box::new(Told(reason)),
            },
        }
    }
}
