//! Histories for tests: events in a log in memory, read back as entries.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

pub(crate) mod session;

use std::collections::HashMap;

use annals_domain::redaction::Redacted;
use annals_domain::{ActorRef, AnyEvent, Emitted, Kind, Pieces, StreamKind, StreamRef, Timestamp};
use annals_event_log::memory::MemoryLog;
use annals_event_log::{
    Append, Blobs, Content, EventLog, Expectation, Expected, Position, Query, Record,
};
use annals_wire::{Envelope, encode};
use bytes::Bytes;
use chrono::DateTime;
use futures::executor::block_on;
use uuid::Uuid;

use crate::{Entry, Fold, ObjectView};

/// The id that ends with this number.
pub(crate) fn id(number: u8) -> Uuid {
    Uuid::from_u128(0x0198_c0de_0000_7000_8000_0000_0000_0000 | u128::from(number))
}

/// The aggregate with this id.
pub(crate) fn stream(kind: StreamKind, id: Uuid) -> StreamRef {
    StreamRef { kind, id }
}

/// 2026-01-02T03:04:05Z, and so many seconds.
pub(crate) fn time(seconds: i64) -> Timestamp {
    DateTime::from_timestamp(1_767_323_045 + seconds, 0)
        .unwrap()
        .into()
}

/// Every event of one kind of streams: the wire's examples, or a story in which
/// they follow from each other where an event means little without the ones
/// before.
pub(crate) fn examples(kind: StreamKind) -> Vec<Emitted> {
    match kind {
        StreamKind::Session => session::everything(),
        StreamKind::Bucket => session::bucket(),
        kind => {
            let mut samples = annals_wire::sample::samples();
            samples.retain(|sample| sample.stream.kind == kind);
            samples
        }
    }
}

/// Whether git-internal has nothing of an event but that it happened.
fn is_of_document_004(event: &AnyEvent) -> bool {
    let what = event.event_type();
    let intent = [
        "intent.taken_in",
        "intent.classified",
        "intent.approved",
        "intent.rejected",
        "intent.instructed",
        "intent.execution_started",
        "intent.clarification_requested",
        "intent.clarification_answered",
        "intent.decomposed",
        "intent.task_added",
        "intent.rerun_requested",
    ];
    let task = ["task.planned", "task.review_recorded", "task.superseded"];
    intent.contains(&what) || task.contains(&what)
}

/// A log in memory that is filled event by event, one second apart, from
/// [`time`] 1 on.
pub(crate) struct Story {
    pub(crate) log: MemoryLog,
    pub(crate) actor: ActorRef,
    seconds: i64,
    salts: u128,
}

impl Story {
    pub(crate) fn new() -> Story {
        let actor = ActorRef::agent("coder").with_display_name("The Coder".to_owned());
        Story {
            log: MemoryLog::new(id(0)),
            actor,
            seconds: 0,
            salts: 0,
        }
    }

    /// What the examples tell of objects of our own, one after the other.
    pub(crate) fn of_samples(kind: StreamKind) -> Story {
        Story::of_samples_that(kind, |event| {
            let own = !is_of_document_004(event) && Redacted::of(event).is_none();
            // This one is younger than the golden files, which stay as they are.
            let is_younger = event.event_type() == "pipeline.frames_dropped";
            event.adoption().is_none() && own && !is_younger
        })
    }

    /// The same, with what happened on Forge's axis.
    pub(crate) fn of_all_samples(kind: StreamKind) -> Story {
        Story::of_samples_that(kind, |event| event.adoption().is_none())
    }

    /// What the examples tell of objects that were taken over.
    pub(crate) fn of_adopted(kind: StreamKind) -> Story {
        match kind {
            StreamKind::Session => Story::of(&session::kept_elsewhere()),
            kind => Story::of_samples_that(kind, |event| event.adoption().is_some()),
        }
    }

    fn of_samples_that(kind: StreamKind, wanted: fn(&AnyEvent) -> bool) -> Story {
        let mut examples = examples(kind);
        examples.retain(|example| wanted(&example.event));
        Story::of(&examples)
    }

    /// These events, one after the other.
    pub(crate) fn of(events: &[Emitted]) -> Story {
        let mut story = Story::new();
        for event in events {
            story.append(event);
        }
        story
    }

    /// This happened next.
    pub(crate) fn push<E>(
        &mut self,
        stream: StreamRef,
        event: impl FnOnce(&mut Pieces) -> E,
    ) -> &mut Story
    where
        E: Into<AnyEventFrom>,
    {
        let mut pieces = Pieces::new();
        let AnyEventFrom(event) = event(&mut pieces).into();
        self.append(&Emitted {
            stream,
            event,
            pieces,
        })
    }

    /// This happened next.
    pub(crate) fn append(&mut self, emitted: &Emitted) -> &mut Story {
        self.append_all(&[emitted])
    }

    /// This happened next, in one batch.
    pub(crate) fn append_all(&mut self, emitted: &[&Emitted]) -> &mut Story {
        let append = self.batch(emitted);
        block_on(self.log.append(append)).expect("the events are appended");
        self
    }

    /// What may happen next, in one batch.
    pub(crate) fn batch(&mut self, emitted: &[&Emitted]) -> Append {
        let (mut events, mut blobs) = (Vec::new(), Vec::new());
        for one in emitted {
            self.seconds += 1;
            let envelope = Envelope {
                event_id: Uuid::from_u128(self.seconds.unsigned_abs().into()),
                occurred_at: time(self.seconds),
                actor: self.actor.clone(),
                correlation: Some(id(200)),
                causation: None,
            };
            let mut salt = || {
                self.salts += 1;
                self.salts.to_be_bytes()
            };
            let encoded = encode(one, &envelope, &mut salt).expect("the event is encoded");
            events.push(encoded.event);
            blobs.extend(encoded.blobs);
        }
        let any = |stream| Expectation {
            stream,
            expected: Expected::Any,
        };
        Append {
            batch: Uuid::from_u128((1 << 64) + self.seconds.unsigned_abs() as u128),
            request: Bytes::new(),
            expectations: events
                .iter()
                .map(|event| any(event.stream.clone()))
                .collect(),
            events,
            blobs,
        }
    }

    /// Everything that happened.
    pub(crate) fn records(&self) -> Vec<Record> {
        let (mut records, mut next) = (Vec::new(), Some(1));
        while let Some(from) = next {
            let page = block_on(self.log.read(Query::all(Position(from)))).unwrap();
            records.extend(page.records);
            next = page.next;
        }
        records
    }

    /// Everything that happened, decoded.
    pub(crate) fn entries(&self) -> Vec<Entry> {
        self.records()
            .iter()
            .map(|record| self.entry(record))
            .collect()
    }

    pub(crate) fn entry(&self, record: &Record) -> Entry {
        let blob = |digest| (digest, block_on(self.log.blob(digest)).unwrap().unwrap());
        let blobs: HashMap<_, _> = Entry::wanted(record).into_iter().map(blob).collect();
        Entry::new(record, &blobs).expect("the record is decoded")
    }

    /// An object as it is now.
    pub(crate) fn view(&self, kind: Kind, id: Uuid) -> Option<ObjectView> {
        fold(kind, id, &self.entries())
    }
}

/// Folds entries into the view of an object.
pub(crate) fn fold(kind: Kind, id: Uuid, entries: &[Entry]) -> Option<ObjectView> {
    let mut fold = Fold::new(kind, id);
    entries.iter().for_each(|entry| fold.apply(entry));
    fold.view()
}

/// An event of any aggregate, from an event of one.
pub(crate) struct AnyEventFrom(AnyEvent);

macro_rules! from_events {
    ($($variant:ident => $module:ident,)+) => {
        $(
            impl From<annals_domain::$module::Event> for AnyEventFrom {
                fn from(event: annals_domain::$module::Event) -> AnyEventFrom {
                    AnyEventFrom(AnyEvent::$variant(event))
                }
            }
        )+
    };
}

from_events! {
    Intent => intent,
    Plan => plan,
    Task => task,
    Run => run,
    Snapshot => snapshot,
    Pipeline => pipeline,
    Session => session,
    Observation => observation,
}

/// A record without the pieces that `removes` names, as a redaction leaves it.
pub(crate) fn redacted(record: &Record, removes: impl Fn(usize) -> bool) -> Record {
    let kept = 2 + record.header_bytes().len() + 4 + record.structure().len();
    let mut bytes = record.as_bytes()[..kept].to_vec();
    let pieces = record.content();
    bytes.extend_from_slice(&u16::try_from(pieces.len()).unwrap().to_be_bytes());
    for (number, piece) in pieces.iter().enumerate() {
        match piece {
            piece if removes(number) => {
                bytes.push(4);
                bytes.extend_from_slice(&piece.salted_digest().0);
            }
            Content::Inline {
                salt,
                bytes: content,
            } => {
                bytes.push(1);
                bytes.extend_from_slice(salt);
                bytes.extend_from_slice(&u32::try_from(content.len()).unwrap().to_be_bytes());
                bytes.extend_from_slice(content);
            }
            Content::Blob { salt, digest, size } => {
                reference(&mut bytes, 2, salt, &digest.0, *size)
            }
            Content::Attachment { salt, digest, size } => {
                reference(&mut bytes, 3, salt, &digest.0, *size);
            }
            Content::Removed { .. } => panic!("it was removed before"),
        }
    }
    let redacted = Record::decode(bytes.into()).expect("a redacted record is a record");
    assert_eq!(
        redacted.verify(),
        Ok(()),
        "a redaction keeps the header true"
    );
    redacted
}

fn reference(out: &mut Vec<u8>, code: u8, salt: &[u8], digest: &[u8], size: u64) {
    out.push(code);
    out.extend_from_slice(salt);
    out.extend_from_slice(digest);
    out.extend_from_slice(&size.to_be_bytes());
}
