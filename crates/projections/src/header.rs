//! The common header: whose object it is, when it changed, its labels, its
//! seal (docs/spec/git-internal.md, Common Header).

use annals_domain::metadata::{MetadataSet, Sealed};
use annals_domain::{
    ActorRef, AdoptedHeader, Adoption, AnyEvent, Dialect, IntegrityHash, Kind, Slot, Timestamp,
    Visibility, intent, observation, pipeline, plan, run, session, snapshot, task,
};
use annals_event_log::Position;
use serde::{Serialize, Serializer};
use uuid::Uuid;

use crate::{Entry, Labels, Text};

/// The version of the header's format.
const HEADER_VERSION: u32 = 1;
/// The version of every object type's format.
const SCHEMA_VERSION: u32 = 1;

/// What all objects have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HeaderView {
    /// The object's id.
    pub object_id: Uuid,
    /// What it is.
    #[serde(serialize_with = "object_type")]
    pub object_type: Kind,
    /// The version of the header's format.
    pub header_version: u32,
    /// The version of the object type's format.
    pub schema_version: u32,
    /// When the first event on the object happened.
    pub created_at: Timestamp,
    /// When the latest event on the object happened. One that is dated before what came before it
    /// does not move it back: see [`HeaderView::skew`].
    pub updated_at: Timestamp,
    /// Who caused the first event.
    pub created_by: ActorRef,
    /// Who may see it.
    pub visibility: Visibility,
    /// Search tags, in the order given.
    pub tags: Labels,
    /// Ids in other systems, in the order given.
    pub external_ids: Labels,
    /// The seal, unless there was an event on the object after it.
    pub checksum: Option<IntegrityHash>,
    /// Whether there is a seal that nothing came after, and its checksum was removed together with
    /// content; not part of the JSON.
    #[serde(skip)]
    pub seal_removed: bool,
    /// What is known of an object that was taken over; not part of the JSON.
    #[serde(skip)]
    pub adopted: Option<AdoptedView>,
    /// Events on the object that are dated before what came before them, if there are any; not part
    /// of the JSON.
    #[serde(skip)]
    pub skew: Option<ClockSkew>,
    /// When it was sealed, in the time that the sealing event says; not part of the JSON.
    #[serde(skip)]
    pub(crate) sealed_at: Option<Timestamp>,
}

/// Events of an object that are dated before what came before them. Who records an event says when it
/// happened, and the log keeps both the order and what was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ClockSkew {
    /// How many there are.
    pub events: u64,
    /// The position of the first of them.
    #[serde(serialize_with = "crate::history::position")]
    pub position: Position,
    /// When that one is said to have happened.
    pub occurred_at: Timestamp,
    /// When what came before it is said to have happened.
    pub before: Timestamp,
}

/// What is known of an object that was taken over from another system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdoptedView {
    /// The format that it came in.
    pub dialect: Dialect,
    /// The SHA-256 of its JSON as it came.
    pub digest: IntegrityHash,
    /// What our rules say against it as it came, a sentence each.
    pub violations: Vec<Text>,
    /// Whether it still is as it came: no event of ours changed it.
    pub untouched: bool,
}

fn object_type<S: Serializer>(kind: &Kind, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(kind.object_type())
}

impl HeaderView {
    /// The header of an object that an entry creates.
    pub(crate) fn new(kind: Kind, id: Uuid, entry: &Entry) -> HeaderView {
        if let Some(Adoption::Begun(header)) = entry.event.adoption() {
            return HeaderView::adopt(kind, id, header, entry);
        }
        HeaderView {
            object_id: id,
            object_type: kind,
            header_version: HEADER_VERSION,
            schema_version: SCHEMA_VERSION,
            created_at: entry.occurred_at,
            updated_at: entry.occurred_at,
            created_by: entry.actor.clone(),
            visibility: Visibility::Private,
            tags: Labels::default(),
            external_ids: Labels::default(),
            checksum: None,
            seal_removed: false,
            adopted: None,
            skew: None,
            sealed_at: None,
        }
    }

    /// The header of an object as another system left it.
    fn adopt(kind: Kind, id: Uuid, header: &AdoptedHeader, entry: &Entry) -> HeaderView {
        HeaderView {
            object_id: id,
            object_type: kind,
            header_version: header.header_version,
            schema_version: header.schema_version,
            created_at: header.created_at,
            updated_at: header.updated_at,
            created_by: entry.stored_actor(&header.created_by),
            visibility: header.visibility,
            tags: Labels::read(&header.tags, entry),
            external_ids: Labels::read(&header.external_ids, entry),
            checksum: header.checksum,
            seal_removed: false,
            adopted: Some(AdoptedView {
                dialect: header.dialect,
                digest: header.digest,
                violations: entry.texts(&header.violations),
                untouched: true,
            }),
            skew: None,
            sealed_at: None,
        }
    }

    /// Records an entry on the object.
    pub(crate) fn touch(&mut self, entry: &Entry) {
        self.advance(entry);
        self.checksum = None;
        self.sealed_at = None;
        self.seal_removed = false;
        self.header_version = HEADER_VERSION;
        self.schema_version = SCHEMA_VERSION;
        if let Some(adopted) = &mut self.adopted {
            adopted.untouched = false;
        }
        match common(&entry.event) {
            Some(Common::MetadataSet(event)) => self.set_metadata(event, entry),
            Some(Common::Sealed(event)) => {
                self.checksum = recorded_checksum(event, entry);
                self.seal_removed = self.checksum.is_none();
                self.sealed_at = Some(entry.occurred_at);
            }
            None => {}
        }
    }

    /// Moves `updated_at` on, or records that the entry is dated before it.
    fn advance(&mut self, entry: &Entry) {
        if entry.occurred_at >= self.updated_at {
            self.updated_at = entry.occurred_at;
            return;
        }
        let first = ClockSkew {
            events: 0,
            position: entry.position,
            occurred_at: entry.occurred_at,
            before: self.updated_at,
        };
        self.skew.get_or_insert(first).events += 1;
    }

    fn set_metadata(&mut self, event: &MetadataSet, entry: &Entry) {
        let labels = |pairs: &Vec<(Slot, Slot)>| Labels::read(pairs, entry);
        if let Some(visibility) = event.visibility {
            self.visibility = visibility;
        }
        if let Some(tags) = &event.tags {
            self.tags = labels(tags);
        }
        if let Some(external_ids) = &event.external_ids {
            self.external_ids = labels(external_ids);
        }
    }
}

/// An event that any object may have.
pub(crate) enum Common<'a> {
    /// Visibility, tags or external ids were set.
    MetadataSet(&'a MetadataSet),
    /// The object was sealed.
    Sealed(&'a Sealed),
}

/// The event as one that any object may have, if it is one.
pub(crate) fn common(event: &AnyEvent) -> Option<Common<'_>> {
    match event {
        AnyEvent::Intent(intent::Event::MetadataSet(event))
        | AnyEvent::Plan(plan::Event::MetadataSet(event))
        | AnyEvent::Task(task::Event::MetadataSet(event))
        | AnyEvent::Run(run::Event::MetadataSet(event))
        | AnyEvent::Snapshot(snapshot::Event::MetadataSet(event))
        | AnyEvent::Pipeline(pipeline::Event::MetadataSet(event))
        | AnyEvent::Session(session::Event::MetadataSet(event))
        | AnyEvent::Observation(observation::Event::MetadataSet(event)) => {
            Some(Common::MetadataSet(event))
        }
        event => Sealed::of(event).map(Common::Sealed),
    }
}

/// The checksum that an event recorded; nothing, if it was removed.
pub(crate) fn recorded_checksum(event: &Sealed, entry: &Entry) -> Option<IntegrityHash> {
    let text = event.checksum.map(|slot| entry.text(slot));
    let is_content = text.is_some();
    let read = text.and_then(|text| text.as_str()?.parse().ok());
    read.or(event.old_checksum.filter(|_| !is_content))
}
