//! What is appended, and how it is checked and encoded before a store sees it.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use bytes::{Bytes, BytesMut};
use chrono::{DateTime, Utc};
use rayon::prelude::*;

use crate::event::{is_event_type, limits};
use crate::record::{self, Fixed};
use crate::{
    AppendError, BatchId, Blob, BlobReference, Content, Digest, Expectation, Link, NewEvent,
    Position, StreamName, Version,
};

/// One batch: all of it or nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Append {
    /// The idempotency key.
    pub batch: BatchId,
    /// The request's canonical bytes, of which the store keeps a salted digest.
    pub request: Bytes,
    /// The events, in the order in which they get their positions.
    pub events: Vec<NewEvent>,
    /// What must hold of streams, written or only read.
    pub expectations: Vec<Expectation>,
    /// Content that the events refer to by digest.
    pub blobs: Vec<Blob>,
}

impl Append {
    /// Events and bytes up to which an append is encoded where it is called: tens of microseconds, most of them to
    /// hash, and less than another thread takes to be woken and to answer.
    const SMALL: (usize, usize) = (64, 48 * 1024);

    /// The bytes of its events, its request and its blobs.
    pub fn bytes(&self) -> usize {
        let inline = |piece: &Content| match piece {
            Content::Inline { bytes, .. } => bytes.len(),
            _ => 0,
        };
        let events = self.events.iter();
        let events = events
            .map(|event| event.structure.len() + event.content.iter().map(inline).sum::<usize>());
        let blobs = self.blobs.iter().map(|blob| blob.bytes().len());
        events.sum::<usize>() + blobs.sum::<usize>() + self.request.len()
    }

    /// Whether it is so small that a store encodes it where it is called, and has it in its queue when its future
    /// was polled once. A larger one it may encode elsewhere first.
    pub fn is_small(&self) -> bool {
        let (events, bytes) = Append::SMALL;
        self.events.len() <= events && self.bytes() <= bytes
    }
}

/// What an append was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Appended {
    /// The position of the batch's first record.
    pub first: Position,
    /// The position of its last record.
    pub last: Position,
    /// Whether the batch was in the log already. Nothing was appended then, and
    /// this is the answer that the first append was given.
    pub repeated: bool,
}

impl Appended {
    /// The answer to a batch that was just appended.
    pub fn new(first: Position, last: Position) -> Appended {
        Appended {
            first,
            last,
            repeated: false,
        }
    }

    /// The same answer, given to a repeat.
    #[must_use]
    pub fn again(self) -> Appended {
        Appended {
            repeated: true,
            ..self
        }
    }
}

/// What the log knows of a batch id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BatchStatus {
    /// Never used.
    Unknown,
    /// Used for this very request; this is the answer to a repeat.
    Known(Appended),
    /// Used for another request, whose records are at these positions.
    Mismatch(Appended),
    /// Used at these positions, and for which request is not stored any more: content of it
    /// was removed, or it was copied without its request. Whether an append repeats it cannot be shown.
    Unverifiable(Appended),
}

/// An event checked and encoded, except for position, version and recorded_at,
/// which [`EncodedEvent::stamp`] fills in.
#[derive(Debug, Clone)]
pub struct EncodedEvent {
    /// The stream that it goes to.
    pub stream: StreamName,
    /// The name of its type.
    pub event_type: Cow<'static, str>,
    bytes: BytesMut,
}

impl EncodedEvent {
    /// Fills in what only the store knows and gives the record's bytes.
    pub fn stamp(
        &mut self,
        position: Position,
        version: Version,
        recorded_at: DateTime<Utc>,
    ) -> &[u8] {
        record::stamp(&mut self.bytes, position, version, recorded_at);
        &self.bytes
    }

    /// The record's length in bytes, stamped or not.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Never true: a record has a header.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
}

/// An append that is well formed and within the limits, encoded: all the work
/// that can be done outside a store's writer.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// The idempotency key.
    pub batch: BatchId,
    /// The request's canonical bytes.
    pub request: Bytes,
    /// The encoded events, in order.
    pub events: Vec<EncodedEvent>,
    /// What must hold of streams.
    pub expectations: Vec<Expectation>,
    /// Content that comes with the batch, each digest once.
    pub blobs: Vec<Blob>,
    /// Blobs that events refer to and that do not come with the batch: the store must
    /// have them, of that length. One digest comes again where events differ on it.
    pub required_blobs: Vec<BlobReference>,
    /// The append's place in a chain, if it is in one.
    pub link: Option<Box<Link>>,
}

pub(crate) fn within(
    what: impl FnOnce() -> String,
    limit: usize,
    actual: usize,
) -> Result<(), AppendError> {
    if actual <= limit {
        return Ok(());
    }
    Err(AppendError::TooLarge {
        what: what(),
        limit: limit as u64,
        actual: actual as u64,
    })
}

fn invalid(reason: impl Into<String>) -> AppendError {
    AppendError::Invalid {
        reason: reason.into(),
    }
}

/// So many events are checked and encoded one after the other, into one buffer.
/// Of more, several threads take so many each.
const TOGETHER: usize = 32;

/// A batch or a part of it: the encoded events, and the blobs that they refer
/// to and that do not come with the batch.
type Part = (Vec<EncodedEvent>, Vec<BlobReference>);

impl Prepared {
    /// Checks an append against [`limits`] and encodes its events. A large
    /// batch is worked on by the threads of the rayon pool that it is called on.
    ///
    /// # Errors
    /// [`AppendError::TooLarge`] and [`AppendError::Invalid`].
    pub fn new(append: Append) -> Result<Prepared, AppendError> {
        check_whole(&append)?;
        let (batch, count) = (append.batch, append.events.len());
        let blobs = distinct_blobs(append.blobs)?;
        let sizes = blobs
            .iter()
            .map(|blob| (blob.digest(), blob.bytes().len() as u64));
        let supplied: HashMap<Digest, u64> = sizes.collect();
        let part = |(part, events): (usize, Vec<NewEvent>)| {
            let required = check_events(part * TOGETHER, &events, &supplied)?;
            Ok((encode(batch, events), required))
        };
        let parts: Vec<Result<Part, AppendError>> = if count <= TOGETHER {
            vec![part((0, append.events))]
        } else {
            let parts = append.events.into_par_iter().chunks(TOGETHER);
            parts.enumerate().with_max_len(1).map(part).collect()
        };
        let mut events = Vec::with_capacity(count);
        let mut required_blobs = HashSet::new();
        for part in parts {
            let (encoded, required) = part?;
            events.extend(encoded);
            required_blobs.extend(required);
        }
        Ok(Prepared {
            batch,
            request: append.request,
            events,
            expectations: append.expectations,
            blobs,
            required_blobs: required_blobs.into_iter().collect(),
            link: None,
        })
    }
}

/// Checks what an append is as a whole, before anything is encoded.
fn check_whole(append: &Append) -> Result<(), AppendError> {
    if append.events.is_empty() {
        return Err(invalid("it has no events"));
    }
    within(
        || "the number of events".into(),
        limits::BATCH_EVENTS,
        append.events.len(),
    )?;
    within(
        || "the request, in bytes,".into(),
        limits::REQUEST,
        append.request.len(),
    )?;
    within(
        || "the number of expectations".into(),
        limits::EXPECTATIONS,
        append.expectations.len(),
    )?;
    let lengths = append.events.iter().map(record::encoded_len);
    within(
        || "the batch's records, in bytes,".into(),
        limits::BATCH_BYTES,
        lengths.fold(0, usize::saturating_add),
    )
}

/// Checks events, the first of which is number `first` of its batch; the blobs
/// that they refer to and that are not among the `supplied` ones.
fn check_events(
    first: usize,
    events: &[NewEvent],
    supplied: &HashMap<Digest, u64>,
) -> Result<Vec<BlobReference>, AppendError> {
    let mut required = Vec::new();
    for (index, event) in (first..).zip(events) {
        check_event(index, event)?;
        for reference in event.content.iter().filter_map(Content::reference) {
            match supplied.get(&reference.digest) {
                None => required.push(reference),
                Some(actual) => reference.check(Some(*actual))?,
            }
        }
    }
    Ok(required)
}

/// Checks the blobs of an append or a copy, and drops repeated ones.
pub(crate) fn distinct_blobs(blobs: Vec<Blob>) -> Result<Vec<Blob>, AppendError> {
    let mut total = 0_usize;
    let mut seen = HashSet::new();
    let mut distinct = Vec::with_capacity(blobs.len());
    for blob in blobs {
        let what = || format!("the blob {}, in bytes,", blob.digest());
        within(what, limits::BLOB, blob.bytes().len())?;
        if seen.insert(blob.digest()) {
            total += blob.bytes().len();
            distinct.push(blob);
        }
    }
    within(
        || "the batch's blobs, in bytes,".into(),
        limits::BATCH_BYTES,
        total,
    )?;
    Ok(distinct)
}

fn is_blank(text: &str) -> bool {
    text.chars().all(char::is_whitespace)
}

fn check_event(index: usize, event: &NewEvent) -> Result<(), AppendError> {
    let at = |what: &str| format!("{what} of event {index} ({})", event.event_type);
    within(
        || format!("the type of event {index}, in bytes,"),
        limits::EVENT_TYPE,
        event.event_type.len(),
    )?;
    if !is_event_type(&event.event_type) {
        let reason = format!("the type of event {index} is empty or has control characters");
        return Err(invalid(reason));
    }
    if event.schema_version == 0 {
        return Err(invalid(at("the schema version 0")));
    }
    if is_blank(&event.actor.kind) || is_blank(&event.actor.id) {
        return Err(invalid(at("the blank actor")));
    }
    within(
        || at("the actor's kind"),
        limits::ACTOR_KIND,
        event.actor.kind.len(),
    )?;
    within(
        || at("the actor's id"),
        limits::ACTOR_ID,
        event.actor.id.len(),
    )?;
    within(
        || at("the structure"),
        limits::STRUCTURE,
        event.structure.len(),
    )?;
    within(
        || at("the number of pieces"),
        limits::PIECES,
        event.content.len(),
    )?;
    for slot in [event.actor.display_name, event.actor.auth_context]
        .into_iter()
        .flatten()
    {
        if usize::from(slot) >= event.content.len() {
            return Err(invalid(at(
                "a piece that is not there is named as the actor's",
            )));
        }
    }
    for piece in &event.content {
        match piece {
            Content::Inline { bytes, .. } => {
                within(|| at("an inline piece"), limits::INLINE, bytes.len())?;
            }
            Content::Removed { .. } => return Err(invalid(at("a removed piece"))),
            Content::Blob { .. } | Content::Attachment { .. } => {}
        }
    }
    Ok(())
}

fn encode(batch: BatchId, events: Vec<NewEvent>) -> Vec<EncodedEvent> {
    let mut buffer = BytesMut::with_capacity(events.iter().map(record::encoded_len).sum());
    let encode = |event: NewEvent| {
        let fixed = Fixed {
            batch,
            event: &event,
        };
        record::encode(&fixed, &mut buffer);
        EncodedEvent {
            stream: event.stream,
            event_type: event.event_type,
            bytes: buffer.split(),
        }
    };
    events.into_iter().map(encode).collect()
}

impl BlobReference {
    /// Compares what the piece says with the length of the blob that there is, if one is.
    ///
    /// # Errors
    /// [`AppendError::UnknownBlob`] and [`AppendError::BlobSize`].
    pub fn check(&self, actual: Option<u64>) -> Result<(), AppendError> {
        let BlobReference { digest, size } = *self;
        match actual {
            None => Err(AppendError::UnknownBlob { digest }),
            Some(actual) if actual == size => Ok(()),
            Some(actual) => Err(AppendError::BlobSize {
                digest,
                said: size,
                actual,
            }),
        }
    }
}
