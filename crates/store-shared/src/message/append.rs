//! Appends and redactions as plain data.

use annals_event_log::{
    Actor, Append, Blob, Content, Digest, Expectation, Expected, Link, NewEvent, PiecesOf,
    Position, Record, Redaction, StreamName, Version,
};
use chrono::DateTime;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::codec::{Malformed, Octets, few, malformed};

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

pub(super) fn stream(name: &str) -> Result<StreamName, Malformed> {
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
