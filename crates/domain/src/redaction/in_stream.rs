//! The event in the streams of all kinds, and what of their events follows from what.

use super::Redacted;
use crate::pieces::Slot;
use crate::{
    AnyEvent, StreamKind, alias, bucket, intent, observation, pipeline, plan, run, session,
    settings, snapshot, task,
};

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
