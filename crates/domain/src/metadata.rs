//! The common header's facts: visibility, tags, external ids, seals.
//!
//! These two events occur in every stream and name the object that they are
//! about, since a run's stream holds many objects.

use derive_new::new;
use derive_setters::Setters;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::codes::coded_enum;
use crate::event::Touched;
use crate::pieces::{Pieces, Slot};
use crate::world::{Decided, Emitted, World};
use crate::{AnyEvent, IntegrityHash, Kind, Meta, Ordered, Refusal, StreamKind, StreamRef};
use crate::{intent, pipeline, plan, run, snapshot, task};

coded_enum! {
    /// Who may see an object (git-internal, common header).
    pub enum Visibility {
        /// Only its owner; the default.
        Private = 1 => "private",
        /// Every user.
        Public = 2 => "public",
    }
}

/// Event: visibility, tags or external ids of an object were set. What is
/// `None` stays as it was; tags and external ids replace all earlier ones.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MetadataSet {
    /// The object's kind, by its number.
    pub kind: u8,
    /// The object.
    pub object: Uuid,
    /// Who may see it.
    pub visibility: Option<Visibility>,
    /// Search tags: keys and values, in the order given.
    pub tags: Option<Vec<(Slot, Slot)>>,
    /// Ids in other systems: names and values, in the order given.
    pub external_ids: Option<Vec<(Slot, Slot)>>,
}

/// Event: an object was sealed. Any later event on it breaks the seal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sealed {
    /// The object's kind, by its number.
    pub kind: u8,
    /// The object.
    pub object: Uuid,
    /// The canonical hash of the object as it was at this event, in hex. It is content: texts
    /// that the object had can be tried against it, so a redaction of them removes it, too.
    pub checksum: Option<Slot>,
    /// The same, where an older version of the event has it: it is structure, and stays.
    pub old_checksum: Option<IntegrityHash>,
}

impl Sealed {
    /// The event, if it is one of these.
    pub fn of(event: &AnyEvent) -> Option<&Sealed> {
        match event {
            AnyEvent::Intent(intent::Event::Sealed(event))
            | AnyEvent::Plan(plan::Event::Sealed(event))
            | AnyEvent::Task(task::Event::Sealed(event))
            | AnyEvent::Run(run::Event::Sealed(event))
            | AnyEvent::Snapshot(snapshot::Event::Sealed(event))
            | AnyEvent::Pipeline(pipeline::Event::Sealed(event)) => Some(event),
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

/// Command: sets visibility, tags or external ids of any object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new, Setters)]
#[setters(prefix = "with_", into)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct SetMetadata {
    /// The object.
    #[setters(skip)]
    pub object: Uuid,
    /// Who may see it.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub visibility: Option<Visibility>,
    /// Search tags; replaces all earlier ones.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<Ordered<String>>,
    /// Ids in other systems; replaces all earlier ones.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_ids: Option<Ordered<String>>,
}

/// Command: seals an object. The caller computes the checksum over the object
/// as it will be after this event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new, Setters)]
#[setters(prefix = "with_", into)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Seal {
    /// The object.
    #[setters(skip)]
    pub object: Uuid,
    /// Its canonical hash; left out, the service that executes the command
    /// computes it.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checksum: Option<IntegrityHash>,
}

/// The event as one of the stream's; an alias has none of these.
fn in_stream<E>(stream: StreamRef, event: E) -> Result<AnyEvent, Refusal>
where
    intent::Event: From<E>,
    plan::Event: From<E>,
    task::Event: From<E>,
    run::Event: From<E>,
    snapshot::Event: From<E>,
    pipeline::Event: From<E>,
{
    Ok(match stream.kind {
        StreamKind::Intent => AnyEvent::Intent(event.into()),
        StreamKind::Plan => AnyEvent::Plan(event.into()),
        StreamKind::Task => AnyEvent::Task(event.into()),
        StreamKind::Run => AnyEvent::Run(event.into()),
        StreamKind::Snapshot => AnyEvent::Snapshot(event.into()),
        StreamKind::Pipeline => AnyEvent::Pipeline(event.into()),
        StreamKind::Session => {
            let reason = "a session is not a git-internal object and cannot be sealed";
            return Err(Refusal::invalid("object", reason));
        }
        StreamKind::Observation => {
            let reason = "an observation is not a git-internal object and cannot be sealed";
            return Err(Refusal::invalid("object", reason));
        }
        StreamKind::Alias | StreamKind::Bucket | StreamKind::Settings => {
            return Err(Refusal::Unknown { id: stream.id });
        }
    })
}

fn store_pairs(pairs: &Ordered<String>, pieces: &mut Pieces) -> Vec<(Slot, Slot)> {
    pairs
        .0
        .iter()
        .map(|(k, v)| (pieces.text(k.as_str()), pieces.text(v.as_str())))
        .collect()
}

pub(crate) fn set_metadata(world: &mut World, command: &SetMetadata, _: &Meta) -> Decided {
    if command.visibility.is_none() && command.tags.is_none() && command.external_ids.is_none() {
        return Err(Refusal::invalid(
            "visibility, tags, external_ids",
            "at least one must be given",
        )
        .into());
    }
    let (kind, stream) = world.locate(command.object)?;
    world.pin(stream)?;
    let mut pieces = Pieces::new();
    let event = MetadataSet {
        kind: kind.number(),
        object: command.object,
        visibility: command.visibility,
        tags: command
            .tags
            .as_ref()
            .map(|tags| store_pairs(tags, &mut pieces)),
        external_ids: command
            .external_ids
            .as_ref()
            .map(|ids| store_pairs(ids, &mut pieces)),
    };
    let event = match stream.kind {
        StreamKind::Session => AnyEvent::Session(event.into()),
        StreamKind::Observation => AnyEvent::Observation(event.into()),
        _ => in_stream(stream, event)?,
    };
    Ok(vec![Emitted {
        stream,
        event,
        pieces,
    }])
}

pub(crate) fn seal(world: &mut World, command: &Seal, _: &Meta) -> Decided {
    let (kind, stream) = world.locate(command.object)?;
    // The checksum is that of the object as it is now: no event may be appended in between.
    world.pin(stream)?;
    let checksum = command
        .checksum
        .ok_or_else(|| Refusal::invalid("checksum", "it is needed to seal an object"))?;
    let mut pieces = Pieces::new();
    let event = Sealed {
        kind: kind.number(),
        object: command.object,
        checksum: Some(pieces.text(checksum.to_string())),
        old_checksum: None,
    };
    Ok(vec![Emitted {
        stream,
        event: in_stream(stream, event)?,
        pieces,
    }])
}

/// The object that a common event is about.
pub(crate) fn subject(kind: u8, object: Uuid) -> Touched {
    Kind::from_number(kind)
        .map(|kind| (kind, object))
        .into_iter()
        .collect()
}

#[cfg(test)]
mod tests;
