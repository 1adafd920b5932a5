//! Objects as the batches on their way leave them: what the next batch is decided on.

use std::collections::{HashMap, HashSet};

use annals_domain::{Emitted, Kind, Loaded, Need, StreamRef, World};
use annals_event_log::{Expectation, Version};
use uuid::Uuid;

use crate::batch::Batch;
use crate::prepared::still_at;

/// What the log will have once it has every batch that is on its way, as far as it differs from what
/// the log has now.
#[derive(Debug, Default)]
pub(crate) struct Ahead {
    states: HashMap<StreamRef, Written>,
    places: HashMap<Uuid, Placed>,
    /// What a decision under way was told of that no state of its world says.
    relied_on: Vec<Expectation>,
}

/// An aggregate that a batch on its way writes to.
#[derive(Debug)]
struct Written {
    /// The number of the last batch that does.
    by: u64,
    /// Its version after that batch; none where the decisions did not depend on it.
    version: Option<u64>,
    /// Its state at that version; none where a decision has it that did not give it back.
    state: Option<Loaded>,
}

/// Where an object is that a batch on its way makes or changes.
#[derive(Debug)]
struct Placed {
    by: u64,
    kind: Kind,
    stream: StreamRef,
}

/// Whether something is known that a decision needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Supplied {
    /// It was given to the world.
    Yes,
    /// What is on its way has nothing to do with it: the log says it.
    NotHere,
    /// What is on its way may have to do with it, and how cannot be said before it has arrived.
    Unsure,
}

/// What a batch on its way writes to.
#[derive(Debug, Default)]
pub(crate) struct Touched {
    streams: Vec<StreamRef>,
    objects: Vec<Uuid>,
}

impl Ahead {
    /// Begins a decision.
    pub(crate) fn begin(&mut self) {
        self.relied_on.clear();
    }

    /// Gives a world what it needs.
    pub(crate) fn supply(&mut self, world: &mut World, need: &Need, batch: &Batch) -> Supplied {
        match need {
            Need::State(stream) => self.supply_state(world, *stream, batch),
            Need::Place(id) => self.supply_place(world, *id),
            // These follow from the log's secret alone, or from what the log has.
            Need::AliasStream(_) | Need::BucketStream(_) => Supplied::NotHere,
            Need::Naming { .. } | Need::Window { .. } | Need::TaskText { .. } => {
                match self.states.is_empty() {
                    true => Supplied::NotHere,
                    false => Supplied::Unsure,
                }
            }
        }
    }

    fn supply_state(&mut self, world: &mut World, stream: StreamRef, batch: &Batch) -> Supplied {
        let Some(written) = self.states.get_mut(&stream) else {
            return Supplied::NotHere;
        };
        // Who will change it holds the only copy, and changing it copies nothing.
        let state = match batch.lanes.contains(&stream.id) {
            true => written.state.take(),
            false => written.state.clone(),
        };
        match state {
            Some(loaded) => {
                world.insert_state(stream, loaded);
                Supplied::Yes
            }
            None => Supplied::Unsure,
        }
    }

    fn supply_place(&mut self, world: &mut World, id: Uuid) -> Supplied {
        let Some(placed) = self.places.get(&id) else {
            return Supplied::NotHere;
        };
        // An object in the log stays there, and nobody guards on it. This one is there only if
        // its batch is.
        let written = self.states.get(&placed.stream);
        let Some(version) = written.and_then(|written| written.version) else {
            return Supplied::Unsure;
        };
        let expected = still_at(placed.stream, Version(version));
        self.relied_on.push(expected);
        world.insert_place(id, Some((placed.kind, placed.stream)));
        Supplied::Yes
    }

    /// What must hold besides of what the world's states say, if the decision is to hold.
    pub(crate) fn relied_on(&mut self) -> impl Iterator<Item = Expectation> + '_ {
        self.relied_on.drain(..)
    }

    /// Takes in what batch number `by` leaves; the states that it only looked at and that are the log's.
    pub(crate) fn advance(
        &mut self,
        by: u64,
        world: World,
        events: &[Vec<Emitted>],
    ) -> (Touched, Vec<(StreamRef, Loaded)>) {
        let emitted = || events.iter().flatten();
        let streams: HashSet<StreamRef> = emitted().map(|emitted| emitted.stream).collect();
        let mut unchanged = Vec::new();
        for stream in &streams {
            let (version, state) = (None, None);
            self.states.insert(*stream, Written { by, version, state });
        }
        for (stream, loaded) in world.into_states() {
            match self.states.get_mut(&stream) {
                Some(written) => {
                    written.version = Some(loaded.version);
                    written.state = Some(loaded);
                }
                None => unchanged.push((stream, loaded)),
            }
        }
        let mut objects = Vec::new();
        for emitted in emitted() {
            let stream = emitted.stream;
            for (kind, id) in emitted.event.touches(stream.id) {
                self.places.insert(id, Placed { by, kind, stream });
                objects.push(id);
            }
        }
        let streams = streams.into_iter().collect();
        (Touched { streams, objects }, unchanged)
    }

    /// The log has batch number `by`, which wrote to these; their states, where no later batch did.
    pub(crate) fn arrived(&mut self, by: u64, touched: &Touched) -> Vec<(StreamRef, Loaded)> {
        let mut states = Vec::new();
        for stream in &touched.streams {
            if self.states.get(stream).is_some_and(|last| last.by == by)
                && let Some(Written {
                    state: Some(loaded),
                    ..
                }) = self.states.remove(stream)
            {
                states.push((*stream, loaded));
            }
        }
        for id in &touched.objects {
            if self.places.get(id).is_some_and(|last| last.by == by) {
                self.places.remove(id);
            }
        }
        states
    }

    /// Forgets all of it: it will not be so.
    pub(crate) fn forget(&mut self) {
        self.states.clear();
        self.places.clear();
    }
}
