//! Objects as the batches on their way leave them: what the next batch is decided on.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use annals_domain::run::ToolCall;
use annals_domain::{
    Emitted, Kind, Loaded, Naming, Need, StreamRef, ToolInvocationId, World, named_by,
};
use uuid::Uuid;

use crate::batch::Batch;

/// What the log will have once it has every batch that is on its way, as far as it differs from what
/// the log has now. What is decided on it is appended behind all of these batches, or not at all.
#[derive(Debug, Default)]
pub(crate) struct Ahead {
    states: HashMap<StreamRef, Written>,
    places: HashMap<Uuid, Placed>,
    /// The tool calls that a batch on its way is about, with the number of the last one and all that is known of
    /// them after it.
    calls: HashMap<ToolInvocationId, (u64, ToolCall)>,
    /// Which objects come to name one in a field, each with the number of the batch that says so.
    naming: HashMap<(Naming, Uuid), Vec<(u64, Uuid)>>,
}

/// An aggregate that a batch on its way writes to.
#[derive(Debug)]
struct Written {
    /// The number of the last batch that does.
    by: u64,
    /// Its state after that batch; `None` where the decision did not depend on it, or where a decision has it
    /// that did not give it back.
    state: Option<Loaded>,
}

/// Where an object is that a batch on its way makes or changes.
#[derive(Debug)]
struct Placed {
    by: u64,
    kind: Kind,
    stream: StreamRef,
}

/// Whether the batches on their way supply what a decision needs.
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
    named: Vec<(Naming, Uuid)>,
}

impl Ahead {
    /// Gives a world what it needs.
    pub(crate) fn supply(&mut self, world: &mut World, need: &Need, batch: &Batch) -> Supplied {
        match need {
            Need::State(stream) => self.supply_state(world, *stream, batch),
            Need::Place(id) => self.supply_place(world, *id),
            // These follow from the log's secret alone, or from what the log has.
            Need::NamedStream { .. } => Supplied::NotHere,
            // What the log does not say of it, `naming` does.
            Need::Naming { .. } => Supplied::NotHere,
            Need::ToolCall { call, .. } => match self.calls.get(call) {
                Some((_, known)) => {
                    world.insert_tool_call(*call, known.clone());
                    Supplied::Yes
                }
                // Nothing on its way is about it.
                None => Supplied::NotHere,
            },
            Need::SecondFold { stream, .. } => match self.states.contains_key(stream) {
                true => Supplied::Unsure,
                false => Supplied::NotHere,
            },
        }
    }

    fn supply_state(&mut self, world: &mut World, stream: StreamRef, batch: &Batch) -> Supplied {
        let Some(written) = self.states.get_mut(&stream) else {
            return Supplied::NotHere;
        };
        // The decision that will change it holds the only copy, and changing it copies nothing.
        let state = match batch.locks.contains(&stream.id) {
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
        world.insert_place(id, Some((placed.kind, placed.stream)));
        Supplied::Yes
    }

    /// Whether a batch on its way makes or changes an object.
    pub(super) fn has(&self, object: Uuid) -> bool {
        let mut streams = self.states.keys();
        self.places.contains_key(&object)
            || self.calls.contains_key(&ToolInvocationId(object))
            || streams.any(|stream| stream.id == object)
    }

    /// Adds the objects on their way that name one in a field to those of the log.
    pub(crate) fn add_naming(&self, field: Naming, target: Uuid, naming: &mut Vec<Uuid>) {
        for (_, source) in self.naming.get(&(field, target)).into_iter().flatten() {
            if !naming.contains(source) {
                naming.push(*source);
            }
        }
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
        let calls = world.decided_tool_calls();
        self.calls.extend(calls.map(|(id, call)| (id, (by, call))));
        let mut unchanged = Vec::new();
        for stream in &streams {
            self.states.insert(*stream, Written { by, state: None });
        }
        for (stream, loaded) in world.into_states() {
            match self.states.get_mut(&stream) {
                Some(written) => written.state = Some(loaded),
                None => unchanged.push((stream, loaded)),
            }
        }
        let (mut objects, mut named) = (Vec::new(), Vec::new());
        for emitted in emitted() {
            let stream = emitted.stream;
            for field in named_by(&emitted.event) {
                let naming = self.naming.entry(field).or_default();
                naming.push((by, stream.id));
                named.push(field);
            }
            for (kind, id) in emitted.event.touches(stream.id) {
                self.places.insert(id, Placed { by, kind, stream });
                objects.push(id);
            }
        }
        let streams = streams.into_iter().collect();
        let touched = Touched {
            streams,
            objects,
            named,
        };
        (touched, unchanged)
    }

    /// The log has batch number `by`, which wrote to these; the streams that no later batch writes to, with their
    /// states, as far as those are known.
    pub(crate) fn arrived(
        &mut self,
        by: u64,
        touched: &Touched,
    ) -> Vec<(StreamRef, Option<Loaded>)> {
        let mut states = Vec::new();
        for stream in &touched.streams {
            if self.states.get(stream).is_some_and(|last| last.by == by) {
                let written = self.states.remove(stream);
                states.push((*stream, written.and_then(|written| written.state)));
            }
        }
        for id in &touched.objects {
            let call = ToolInvocationId(*id);
            if self.calls.get(&call).is_some_and(|(last, _)| *last == by) {
                self.calls.remove(&call);
            }
            if self.places.get(id).is_some_and(|last| last.by == by) {
                self.places.remove(id);
            }
        }
        for field in &touched.named {
            if let Entry::Occupied(mut naming) = self.naming.entry(*field) {
                naming.get_mut().retain(|(other, _)| *other != by);
                if naming.get().is_empty() {
                    naming.remove();
                }
            }
        }
        states
    }

    /// Forgets all of it: it will not be so.
    pub(crate) fn forget(&mut self) {
        self.states.clear();
        self.places.clear();
        self.calls.clear();
        self.naming.clear();
    }
}
