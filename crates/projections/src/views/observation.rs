//! The view of an observation: what an agent noticed, and what came of it.

use annals_domain::observation::{Event, ObservationKind, Processed};
use annals_domain::{ActorRef, AnyEvent, IntentId, Kind, Timestamp};
use serde::{Serialize, Serializer};
use uuid::Uuid;

use crate::views::Project;
use crate::{Entry, HeaderView, Status, Text};

/// What an agent noticed. Its JSON is our own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObservationView {
    /// The common header: who noticed it, and when.
    pub header: HeaderView,
    /// How it was noticed.
    pub kind: ObservationKind,
    /// What was noticed.
    pub text: Text,
    /// What it rests on: paths, quotes, URLs.
    pub evidence: Vec<Text>,
    /// The objects of this log that it is about.
    pub about: Vec<SubjectView>,
    /// How it was settled; none while it is open.
    pub processed: Option<ProcessedView>,
}

/// An object that an observation is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct SubjectView {
    /// What it is.
    #[serde(serialize_with = "object_type")]
    pub kind: Kind,
    /// Its id.
    pub id: Uuid,
}

fn object_type<S: Serializer>(kind: &Kind, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(kind.object_type())
}

/// How an observation was settled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessedView {
    /// The intent that it led to; none where there was nothing to do.
    pub intent: Option<IntentId>,
    /// Why.
    pub reason: Option<Text>,
    /// When.
    pub at: Timestamp,
    /// Who settled it.
    pub by: ActorRef,
}

impl ObservationView {
    /// Where it is in its life: open or processed.
    pub fn status(&self) -> Status {
        match self.processed {
            None => Status::Open,
            Some(_) => Status::Processed,
        }
    }

    /// The intent that it led to.
    pub fn intent(&self) -> Option<IntentId> {
        self.processed.as_ref()?.intent
    }
}

/// The fields of the JSON, in their order.
#[derive(Serialize)]
struct Shown<'a> {
    #[serde(flatten)]
    header: &'a HeaderView,
    kind: ObservationKind,
    status: &'static str,
    text: &'a Text,
    evidence: &'a [Text],
    about: &'a [SubjectView],
    #[serde(skip_serializing_if = "Option::is_none")]
    intent: Option<IntentId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a Text>,
    #[serde(skip_serializing_if = "Option::is_none")]
    processed_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    processed_by: Option<&'a ActorRef>,
}

impl Serialize for ObservationView {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let processed = self.processed.as_ref();
        let shown = Shown {
            header: &self.header,
            kind: self.kind,
            status: self.status().word(),
            text: &self.text,
            evidence: &self.evidence,
            about: &self.about,
            intent: self.intent(),
            reason: processed.and_then(|it| it.reason.as_ref()),
            processed_at: processed.map(|it| it.at),
            processed_by: processed.map(|it| &it.by),
        };
        shown.serialize(serializer)
    }
}

impl Project for ObservationView {
    fn create(header: HeaderView, entry: &Entry) -> Option<ObservationView> {
        let AnyEvent::Observation(Event::Recorded(event)) = &entry.event else {
            return None;
        };
        let about = event.about.iter().filter_map(|subject| {
            Some(SubjectView {
                kind: Kind::from_number(subject.kind)?,
                id: subject.object,
            })
        });
        Some(ObservationView {
            header,
            kind: event.kind,
            text: entry.text(event.text),
            evidence: entry.texts(&event.evidence),
            about: about.collect(),
            processed: None,
        })
    }

    fn evolve(&mut self, entry: &Entry) {
        let AnyEvent::Observation(event) = &entry.event else {
            return;
        };
        match event {
            Event::Processed(event) => self.processed = Some(processed(event, entry)),
            Event::Recorded(_) | Event::MetadataSet(_) | Event::Redacted(_) => {}
        }
    }
}

fn processed(event: &Processed, entry: &Entry) -> ProcessedView {
    ProcessedView {
        intent: event.intent,
        reason: entry.optional_text(event.reason),
        at: entry.occurred_at,
        by: entry.actor.clone(),
    }
}
