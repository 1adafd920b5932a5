//! A batch of commands: what is the same in every attempt at it, and its events as an append.

use annals_domain::session::Verdict;
use annals_domain::{
    AnyEvent, Dependence, Emitted, FrameId, Meta, StreamRef, Timestamp, World, pipeline,
};
use annals_event_log::{Append, Appended, Expectation, Expected, Position, Version};
use annals_wire::{Envelope, random_salt, stream_name};
use bytes::Bytes;
use uuid::Uuid;

use crate::{Annals, DecidedOutcome, ExecuteError, Outcome, Request};

/// A batch that was decided: the events of each command, and the world after.
pub(crate) struct DecidedBatch {
    pub(crate) world: World,
    pub(crate) events: Vec<Vec<Emitted>>,
}

impl DecidedBatch {
    /// Streams that it writes to without looking at their states. Their cached states are stale then.
    pub(crate) fn written_blindly(&self) -> Vec<StreamRef> {
        let dependences = self.world.dependences();
        let decided_on: Vec<StreamRef> = dependences
            .filter(|(_, dependence, _)| *dependence == Dependence::State)
            .map(|(stream, ..)| stream)
            .collect();
        let written = self.events.iter().flatten().map(|emitted| emitted.stream);
        written.filter(|it| !decided_on.contains(it)).collect()
    }
}

/// A batch of requests with all that must be the same in every attempt.
pub(crate) struct Batch {
    pub(crate) id: Uuid,
    /// Whether its id is a key that was given. Then the events' ids follow from
    /// it, so that the same import makes the same ids.
    pub(crate) is_keyed: bool,
    pub(crate) canonical: Bytes,
    pub(crate) requests: Vec<Request>,
    pub(crate) metas: Vec<Meta>,
    pub(crate) locks: Vec<Uuid>,
    /// Expectations beyond what the decisions depend on.
    pub(crate) guards: Vec<Expectation>,
    /// The answer that its caller already has: it is executed with this outcome or not at all.
    pub(crate) told: Option<Vec<DecidedOutcome>>,
}

impl Batch {
    pub(crate) fn new(
        key: Option<Uuid>,
        canonical: Bytes,
        requests: Vec<Request>,
        guards: Vec<Expectation>,
        now: Timestamp,
    ) -> Batch {
        Batch {
            id: key.unwrap_or_else(annals_event_log::new_id),
            is_keyed: key.is_some(),
            canonical,
            metas: new_metas(&requests, now),
            locks: locks_of(key, &requests),
            requests,
            guards,
            told: None,
        }
    }

    /// The key that was given for it.
    pub(crate) fn key(&self) -> Option<Uuid> {
        self.is_keyed.then_some(self.id)
    }

    /// Whether an id was made for this batch, so that nothing can have it.
    pub(crate) fn is_new(&self, id: Uuid) -> bool {
        self.metas.iter().any(|meta| meta.new_id == id)
    }

    pub(crate) fn encode(
        &self,
        annals: &Annals,
        world: &World,
        decided: &[Vec<Emitted>],
    ) -> Result<Append, ExecuteError> {
        let mut events = Vec::new();
        let mut blobs = Vec::new();
        let asked = self.requests.iter().zip(&self.metas).zip(decided);
        for (index, ((request, meta), emitted)) in asked.enumerate() {
            let actor = annals.commanding_actor(&meta.actor);
            for event in emitted {
                let checked = annals.check_importer(&event.event);
                checked.map_err(|refusal| ExecuteError::Refused {
                    index,
                    command: request.command.name(),
                    refusal,
                })?;
                let envelope = Envelope {
                    event_id: self.event_id(events.len()),
                    occurred_at: meta.time_of(&event.event),
                    actor: actor.clone(),
                    correlation: request.correlation,
                    causation: request.causation,
                };
                let encoded = annals_wire::encode(event, &envelope, &mut random_salt)?;
                events.push(encoded.event);
                blobs.extend(encoded.blobs);
            }
        }
        let expectations = world
            .dependences()
            .map(expectation)
            .chain(self.guards.iter().cloned())
            .collect();
        Ok(Append {
            batch: self.id,
            request: self.canonical.clone(),
            events,
            expectations,
            blobs,
        })
    }

    fn event_id(&self, index: usize) -> Uuid {
        if self.is_keyed {
            Uuid::new_v5(&self.id, &index.to_be_bytes())
        } else {
            annals_event_log::new_id()
        }
    }

    /// What became of each command, except for its position.
    pub(crate) fn decided(&self, events: &[Vec<Emitted>]) -> Vec<DecidedOutcome> {
        let outcome = |(request, emitted): (&Request, &Vec<Emitted>)| {
            let (id, frame_id) = match emitted.first() {
                Some(first) => principal(first.stream, &first.event),
                None => (request.command.lock_id(), None),
            };
            DecidedOutcome {
                id,
                frame_id,
                events: emitted.len(),
            }
        };
        self.requests.iter().zip(events).map(outcome).collect()
    }

    /// What became of each command.
    pub(crate) fn outcomes(&self, events: &[Vec<Emitted>], appended: Appended) -> Vec<Outcome> {
        let outcomes = located(self.decided(events), appended);
        let verdict = |emitted: &Vec<Emitted>| {
            Verdict::among(emitted).map(|(command, _, verdict)| (command, verdict))
        };
        let with_verdict = |(outcome, emitted): (Outcome, &Vec<Emitted>)| Outcome {
            verdict: verdict(emitted),
            ..outcome
        };
        outcomes.zip(events).map(with_verdict).collect()
    }
}

/// What was decided, with the positions that it got; without verdicts.
pub(crate) fn located(
    decided: Vec<DecidedOutcome>,
    appended: Appended,
) -> impl Iterator<Item = Outcome> {
    let mut position = appended.first.0.saturating_sub(1);
    decided.into_iter().map(move |decided| {
        position += decided.events as u64;
        Outcome {
            id: decided.id,
            frame_id: decided.frame_id,
            verdict: None,
            position: Position(position),
            events: decided.events,
        }
    })
}

/// The objects that a batch waits for its turn on. A key has a lock too: a repeat waits for the first
/// one and then finds it. So has an id that a command requests: of two commands only one finds it free.
pub(crate) fn locks_of(key: Option<Uuid>, requests: &[Request]) -> Vec<Uuid> {
    let of_request = |request: &Request| [request.command.lock_id(), request.command.asked_id()];
    let locks = requests.iter().flat_map(of_request).flatten();
    locks.chain(key).collect()
}

fn new_metas(requests: &[Request], now: Timestamp) -> Vec<Meta> {
    let meta = |request: &Request| Meta {
        actor: request.actor.clone(),
        at: request.at.unwrap_or(now),
        now,
        new_id: annals_event_log::new_id(),
    };
    requests.iter().map(meta).collect()
}

fn expectation((stream, dependence, version): (StreamRef, Dependence, u64)) -> Expectation {
    let expected = match (dependence, version) {
        (_, 0) => Expected::NoStream,
        (Dependence::Exists, _) => Expected::Exists,
        (Dependence::State, version) => Expected::Exactly(Version(version)),
    };
    Expectation {
        stream: stream_name(stream),
        expected,
    }
}

/// The request that the idempotency key identifies: everything but the time.
pub(crate) fn canonical_request(requests: &[Request]) -> Result<Bytes, ExecuteError> {
    #[derive(serde::Serialize)]
    struct Canonical<'a> {
        command: &'static str,
        actor: Option<&'a annals_domain::ActorRef>,
        correlation: Option<Uuid>,
        causation: Option<Uuid>,
        fields: &'a annals_domain::Command,
    }
    let canonical: Vec<Canonical<'_>> = requests
        .iter()
        .map(|request| {
            // What has a key of its own is the same by that, not by who repeats it.
            let who = request.command.own_key().is_none();
            Canonical {
                command: request.command.name(),
                actor: who.then_some(&request.actor),
                correlation: request.correlation.filter(|_| who),
                causation: request.causation.filter(|_| who),
                fields: &request.command,
            }
        })
        .collect();
    serde_json::to_vec(&canonical)
        .map(Bytes::from)
        .map_err(ExecuteError::Request)
}

/// The object that an event is mostly about, and the frame that it pushed.
pub(crate) fn principal(stream: StreamRef, event: &AnyEvent) -> (Option<Uuid>, Option<FrameId>) {
    let frame_id = match event {
        AnyEvent::Pipeline(pipeline::Event::FramePushed(pushed)) => Some(pushed.frame_id),
        _ => None,
    };
    (
        event.touches(stream.id).first().map(|(_, id)| *id),
        frame_id,
    )
}
