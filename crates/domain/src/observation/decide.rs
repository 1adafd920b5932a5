//! What is accepted of an observation, and what happens then.

use super::{
    Event, ObservationKind, ProcessObservation, Processed, RecordObservation, Recorded, State,
    Subject,
};
use crate::intent::Source;
use crate::pieces::Pieces;
use crate::refusal::not_blank;
use crate::world::{Decided, Emitted, World};
use crate::{AnyEvent, DecideError, IntentId, Kind, Meta, ObservationId, Refusal};

/// The state that a refused command needs, and that a processed observation is not in.
const OPEN: &str = "open (record_observation records it again)";

fn emit(id: ObservationId, event: impl Into<Event>, pieces: Pieces) -> Emitted {
    Emitted {
        stream: id.stream(),
        event: AnyEvent::Observation(event.into()),
        pieces,
    }
}

pub(crate) fn record(world: &mut World, command: &RecordObservation, meta: &Meta) -> Decided {
    let id = command.id.unwrap_or(ObservationId(meta.new_id));
    not_blank("text", &command.text)?;
    for evidence in &command.evidence {
        not_blank("evidence", evidence)?;
    }
    if let Some(asked) = command.id {
        world.unused(asked.0)?;
    }
    world.absent(id.stream())?;
    let mut about: Vec<Subject> = Vec::new();
    for object in &command.about {
        let (kind, _) = world.locate(*object)?;
        let subject = Subject {
            kind: kind.number(),
            object: *object,
        };
        if !about.contains(&subject) {
            about.push(subject);
        }
    }
    let mut pieces = Pieces::new();
    let event = Recorded {
        kind: command.kind,
        text: pieces.text(command.text.as_str()),
        evidence: pieces.texts(&command.evidence),
        about,
    };
    Ok(vec![emit(id, event, pieces)])
}

pub(crate) fn process(world: &mut World, command: &ProcessObservation, _: &Meta) -> Decided {
    let id = command.observation;
    open(world, id, "process_observation")?;
    let mut pieces = Pieces::new();
    let event = Processed {
        intent: None,
        reason: pieces.optional_text(command.reason.as_deref()),
    };
    Ok(vec![emit(id, event, pieces)])
}

/// What it means for an observation that an intent names it as its cause: it is
/// processed. It must be open, and the intent must come from what it is. Since its
/// state is depended on, no other intent can come from it meanwhile.
///
/// # Errors
/// [`DecideError::Needs`] it, and why no intent may come from it.
pub(crate) fn led_to(
    world: &mut World,
    id: ObservationId,
    intent: IntentId,
    source: Source,
) -> Result<Emitted, DecideError> {
    let kind = open(world, id, "submit_intent with it as observation")?;
    if source != kind.source() {
        let reason = format!(
            "observation {id} is of the kind {kind}, which is the source of an intent that it \
             leads to; {source} was given: name {kind}, or leave the observation out"
        );
        return Err(Refusal::invalid("source", reason).into());
    }
    let event = Processed {
        intent: Some(intent),
        reason: None,
    };
    Ok(emit(id, event, Pieces::new()))
}

/// The kind of an observation that is not settled.
fn open(
    world: &mut World,
    id: ObservationId,
    asked: &'static str,
) -> Result<ObservationKind, DecideError> {
    let state = match *world.observation(id)? {
        State::Open { kind } => return Ok(kind),
        State::Absent => "absent".to_owned(),
        State::Processed { intent: None } => "processed, with nothing to do".to_owned(),
        State::Processed {
            intent: Some(intent),
        } => format!("processed, as it led to intent {intent}"),
    };
    let refusal = Refusal::Transition {
        kind: Kind::Observation,
        id: id.0,
        state,
        asked,
        allowed: OPEN,
    };
    Err(refusal.into())
}
