//! Setting the facts of the common header, and seals in the streams that can have them.

use super::{MetadataSet, Seal, Sealed, SetMetadata};
use crate::pieces::{Pieces, Slot};
use crate::world::{Decided, Emitted, World};
use crate::{AnyEvent, Meta, Ordered, Refusal, StreamKind, StreamRef};
use crate::{intent, pipeline, plan, run, snapshot, task};

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

/// The event as one of the stream's; an alias has none of these.
pub(super) fn in_stream<E>(stream: StreamRef, event: E) -> Result<AnyEvent, Refusal>
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
