//! Redaction: what a stream knows of content that was removed from it for good.
//!
//! The content and its salts are gone, so that no guess can be checked
//! against a digest. What stays says which pieces of which events they were, who
//! had them removed (the event's actor), when, and why. No fold of a decider looks
//! at content, so this event changes no state.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::pieces::Slot;
use crate::{
    AnyEvent, Kind, StreamKind, alias, bucket, intent, observation, pipeline, plan, run, session,
    settings, snapshot, task,
};

/// Content of events in this stream was removed for good, by the event's actor. It changes no
/// state; the objects show what is left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Redacted {
    /// The events that lost content.
    pub removed: Vec<RemovedPieces>,
    /// The objects that these events are about, each with its kind's number.
    pub objects: Vec<(u8, Uuid)>,
    /// Why.
    pub reason: Slot,
}

/// The pieces that an event lost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "event")]
pub struct RemovedPieces {
    /// An event's position in the log.
    pub position: u64,
    /// The pieces that it lost, by its numbers for them.
    pub pieces: Vec<u16>,
}

impl AnyEvent {
    /// Pieces that follow from another piece of the event, which comes first: who has only what
    /// follows can try texts against it, so that it is removed with what it follows from.
    ///
    /// ```
    /// use annals_domain::{AnyEvent, Slot, snapshot};
    /// let item = snapshot::ItemAdded {
    ///     index: 0,
    ///     kind: snapshot::ContextItemKind::File,
    ///     path: Slot(0),
    ///     preview: None,
    ///     blob: None,
    ///     content: Some(Slot(2)),
    ///     content_blob: Some(Slot(1)),
    /// };
    /// assert_eq!(AnyEvent::Snapshot(item.into()).follows(), Some((Slot(2), Slot(1))));
    /// ```
    pub fn follows(&self) -> Option<(Slot, Slot)> {
        match self {
            AnyEvent::Snapshot(snapshot::Event::ItemAdded(item)) => {
                item.content.zip(item.content_blob)
            }
            _ => None,
        }
    }
}

impl Redacted {
    /// The objects that lost content.
    pub fn touched(&self) -> Vec<(Kind, Uuid)> {
        let known = |(kind, id): &(u8, Uuid)| Some((Kind::from_number(*kind)?, *id));
        self.objects.iter().filter_map(known).collect()
    }

    /// The event as one of a stream of this kind. Every stream can lose content.
    pub fn in_stream(self, kind: StreamKind) -> AnyEvent {
        match kind {
            StreamKind::Intent => AnyEvent::Intent(intent::Event::from(self)),
            StreamKind::Plan => AnyEvent::Plan(plan::Event::from(self)),
            StreamKind::Task => AnyEvent::Task(task::Event::from(self)),
            StreamKind::Run => AnyEvent::Run(run::Event::from(self)),
            StreamKind::Snapshot => AnyEvent::Snapshot(snapshot::Event::from(self)),
            StreamKind::Pipeline => AnyEvent::Pipeline(pipeline::Event::from(self)),
            StreamKind::Alias => AnyEvent::Alias(alias::Event::from(self)),
            StreamKind::Session => AnyEvent::Session(session::Event::from(self)),
            StreamKind::Bucket => AnyEvent::Bucket(bucket::Event::from(self)),
            StreamKind::Settings => AnyEvent::Settings(settings::Event::from(self)),
            StreamKind::Observation => AnyEvent::Observation(observation::Event::from(self)),
        }
    }

    /// The event, if it is one of these.
    pub fn of(event: &AnyEvent) -> Option<&Redacted> {
        match event {
            AnyEvent::Intent(intent::Event::Redacted(event))
            | AnyEvent::Plan(plan::Event::Redacted(event))
            | AnyEvent::Task(task::Event::Redacted(event))
            | AnyEvent::Run(run::Event::Redacted(event))
            | AnyEvent::Snapshot(snapshot::Event::Redacted(event))
            | AnyEvent::Pipeline(pipeline::Event::Redacted(event))
            | AnyEvent::Alias(alias::Event::Redacted(event))
            | AnyEvent::Session(session::Event::Redacted(event))
            | AnyEvent::Bucket(bucket::Event::Redacted(event))
            | AnyEvent::Settings(settings::Event::Redacted(event))
            | AnyEvent::Observation(observation::Event::Redacted(event)) => Some(event),
            AnyEvent::Intent(_)
            | AnyEvent::Plan(_)
            | AnyEvent::Task(_)
            | AnyEvent::Run(_)
            | AnyEvent::Snapshot(_)
            | AnyEvent::Pipeline(_)
            | AnyEvent::Alias(_)
            | AnyEvent::Session(_)
            | AnyEvent::Bucket(_)
            | AnyEvent::Settings(_)
            | AnyEvent::Observation(_) => None,
        }
    }
}
