//! What a decision may look at, and what it depended on.
//!
//! A decision often spans aggregates: creating a run looks at its task and
//! plan. It asks the [`World`] for their states. What is not loaded yet stops
//! the decision with [`DecideError::Needs`]; the caller loads it and decides
//! again, which is harmless since a decision has no effects. The world notes
//! what was looked at, so that the append can be guarded on all of it.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use uuid::Uuid;

use crate::naming::{Naming, named_by};
use crate::run::ToolCall;
use crate::second_fold::SecondFold;
use crate::{
    ActorRef, AnyEvent, AnyState, IntentId, Kind, ObservationId, Origin, Pieces, PipelineId,
    PlanId, Refusal, RunId, SessionId, SnapshotId, StreamKind, StreamRef, TaskId, Timestamp,
    ToolInvocationId,
};
use crate::{bucket, intent, observation, pipeline, plan, run, session, snapshot, task};

/// What comes with every command and is not part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Meta {
    /// Who gave the command.
    pub actor: ActorRef,
    /// When it was given, by its author's clock.
    pub at: Timestamp,
    /// When it is decided, by the log's clock: limits of time go by it.
    pub now: Timestamp,
    /// The id for the object that the command creates, unless it names one.
    pub new_id: Uuid,
}

impl Meta {
    /// When an event of this command occurs: what the gate decides occurs when it is decided, regardless of the
    /// time that the caller gave; everything else when the caller says.
    pub fn time_of(&self, event: &AnyEvent) -> Timestamp {
        match event {
            AnyEvent::Session(event) => self.time_of_session(event),
            AnyEvent::Bucket(bucket::Event::Taken(_)) => self.now,
            _ => self.at,
        }
    }

    /// The same for an event of a session.
    pub(crate) fn time_of_session(&self, event: &session::Event) -> Timestamp {
        use session::Event;
        match event {
            Event::ApprovalRequired(_)
            | Event::Approved(_)
            | Event::ApprovalDenied(_)
            | Event::ApprovalExpired(_)
            | Event::Resumed(_)
            | Event::CommandReceived(_)
            | Event::CommandQueued(_)
            | Event::CommandAccepted(_)
            | Event::CommandRejected(_)
            | Event::Throttled(_) => self.now,
            _ => self.at,
        }
    }

    /// Where and when an event of this command occurs, as folds take it.
    pub fn origin_of(&self, event: &AnyEvent) -> Origin<'_> {
        Origin::new(self.time_of(event), &self.actor)
    }
}

/// One event with the stream that it goes to and its content.
#[derive(Debug, Clone, PartialEq)]
pub struct Emitted {
    /// The aggregate that it happened to.
    pub stream: StreamRef,
    /// What happened.
    pub event: AnyEvent,
    /// Its content.
    pub pieces: Pieces,
}

/// What a decision needs before it can be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Need {
    /// The state of this aggregate.
    State(StreamRef),
    /// The kind of the object with this id, and the stream that holds it.
    Place(Uuid),
    /// The objects that name this one in a field, the oldest first.
    Naming {
        /// The field.
        field: Naming,
        /// The object that is named, which need not exist.
        target: Uuid,
    },
    /// The stream that a name is of: the one that has this alias, or that it would get, or that of the bucket
    /// with this name ([`crate::bucket::name_of`]).
    NamedStream {
        /// What the stream is of.
        kind: StreamKind,
        /// The name.
        name: String,
    },
    /// What this run's stream says of a tool call that is in it.
    ToolCall {
        /// The run's stream.
        stream: StreamRef,
        /// The call.
        call: ToolInvocationId,
    },
    /// The second fold of this stream, as the events up to this version left it.
    SecondFold {
        /// The stream.
        stream: StreamRef,
        /// The version of the last event in it.
        version: u64,
    },
}

/// Why there is no decision.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecideError {
    /// These things, at least one, are not loaded yet. A decision restarts once they are, so that
    /// it names all that it can name at once.
    #[error("not loaded yet: {0:?}")]
    Needs(Vec<Need>),
    /// The command is refused.
    #[error(transparent)]
    Refused(#[from] Refusal),
}

/// The events that a command leads to, the principal one first; none at all
/// when it changes nothing.
pub type Decided = Result<Vec<Emitted>, DecideError>;

/// How a decision depended on a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Dependence {
    /// Only on its being there.
    Exists,
    /// On its state.
    State,
}

/// An aggregate's state and the version that it is folded from; version 0 is
/// an aggregate that does not exist.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The version of the last event in the state.
    pub version: u64,
    /// The state.
    pub state: AnyState,
}

impl Loaded {
    /// An aggregate that does not exist.
    pub fn absent(kind: StreamKind) -> Loaded {
        Loaded {
            version: 0,
            state: AnyState::new(kind),
        }
    }
}

/// A state in the world: as it was loaded, and what was decided since.
#[derive(Debug, Clone)]
struct Held {
    loaded: Loaded,
    /// Events decided since, in the same batch.
    decided: u64,
}

impl Held {
    fn version(&self) -> u64 {
        self.loaded.version.saturating_add(self.decided)
    }
}

/// The states that were loaded for one decision.
#[derive(Debug, Clone, Default)]
pub struct World {
    states: HashMap<StreamRef, Held>,
    places: HashMap<Uuid, Option<(Kind, StreamRef)>>,
    naming: HashMap<(Naming, Uuid), Vec<Uuid>>,
    /// Who came to name what by what was decided.
    named: HashMap<(Naming, Uuid), Vec<Uuid>>,
    named_streams: HashMap<StreamKind, HashMap<String, StreamRef>>,
    dependences: BTreeMap<StreamRef, Dependence>,
    /// Those that a decision needed; few do.
    second_folds: HashMap<StreamRef, SecondFold>,
    /// Tool calls that a decision needed, as the log has them.
    calls: HashMap<ToolInvocationId, ToolCall>,
    /// What was decided since of tool calls, whether they were needed or not.
    decided_calls: HashMap<ToolInvocationId, ToolCall>,
    /// What was decided of streams whose second folds are not here.
    unfolded: Vec<Emitted>,
}

macro_rules! state_of {
    ($($(#[$meta:meta])* $name:ident($id:ty) $(or $if_any:ident)? -> $variant:ident, $state:ty;)+) => {
        $(
            $(#[$meta])*
            pub fn $name(&mut self, id: $id) -> Result<Arc<$state>, DecideError> {
                let stream = id.stream();
                match &self.existing(stream, Dependence::State)?.state {
                    AnyState::$variant(state) => Ok(Arc::clone(state)),
                    _ => Err(not_found(stream)),
                }
            }

            $(
                /// The same, or `None` where there is no such object: what was adopted may name objects
                /// that do not exist.
                pub fn $if_any(&mut self, id: $id) -> Result<Option<Arc<$state>>, DecideError> {
                    if_any(self.$name(id))
                }
            )?
        )+
    };
}

/// What was looked for, or `None` where it is not there.
fn if_any<T>(found: Result<T, DecideError>) -> Result<Option<T>, DecideError> {
    match found {
        Err(DecideError::Refused(Refusal::NotFound { .. })) => Ok(None),
        found => found.map(Some),
    }
}

/// All that is missing, if anything is.
fn all_of(missing: Vec<Need>) -> Result<(), DecideError> {
    match missing.is_empty() {
        true => Ok(()),
        false => Err(DecideError::Needs(missing)),
    }
}

pub(crate) fn not_found(stream: StreamRef) -> DecideError {
    let id = stream.id;
    let refusal = match stream.kind.kind() {
        Some(kind) => Refusal::NotFound { kind, id },
        None => Refusal::Unknown { id },
    };
    refusal.into()
}

impl World {
    /// Nothing is loaded yet.
    pub fn new() -> World {
        World::default()
    }

    /// Adds the state of an aggregate.
    pub fn insert_state(&mut self, stream: StreamRef, loaded: Loaded) {
        self.states.insert(stream, Held { loaded, decided: 0 });
    }

    /// Takes decided events in, so that the next command of the same batch is
    /// decided as if they had happened. `meta` came with the command.
    pub fn apply(&mut self, events: &[Emitted], meta: &Meta) {
        for emitted in events {
            if let Some(held) = self.states.get_mut(&emitted.stream) {
                let origin = meta.origin_of(&emitted.event);
                held.loaded.state.evolve(&emitted.event, &origin);
                held.decided = held.decided.saturating_add(1);
            }
            match self.second_folds.get_mut(&emitted.stream) {
                Some(fold) => fold.apply(emitted),
                None => self.unfolded.extend(SecondFold::part_of(emitted)),
            }
            if let AnyEvent::Run(event) = &emitted.event
                && let Some(call) = run::call_of(event)
            {
                self.decided_calls.entry(call).or_default().evolve(event);
            }
            for named in named_by(&emitted.event) {
                let naming = self.named.entry(named).or_default();
                naming.push(emitted.stream.id);
            }
            for (kind, id) in emitted.event.touches(emitted.stream.id) {
                self.places
                    .entry(id)
                    .or_insert(None)
                    .get_or_insert((kind, emitted.stream));
            }
        }
    }

    /// Adds the second fold of a stream, as the log has it.
    pub fn insert_second_fold(&mut self, stream: StreamRef, mut fold: SecondFold) {
        self.unfolded.retain(|emitted| {
            let is_of_it = emitted.stream == stream;
            if is_of_it {
                fold.apply(emitted);
            }
            !is_of_it
        });
        self.second_folds.insert(stream, fold);
    }

    /// The states that the decisions depended on, as they are after all that
    /// was applied. They are those of the log once it has taken the events, as
    /// it then had the versions that were loaded.
    pub fn into_states(self) -> Vec<(StreamRef, Loaded)> {
        let depended =
            |stream: &StreamRef| self.dependences.get(stream) == Some(&Dependence::State);
        let mut states = Vec::new();
        for (stream, held) in self.states {
            if depended(&stream) {
                let version = held.version();
                let state = held.loaded.state;
                states.push((stream, Loaded { version, state }));
            }
        }
        states
    }

    /// The states that were loaded and that nothing was applied to.
    pub fn into_unchanged(self) -> Vec<(StreamRef, Loaded)> {
        let unchanged = self
            .states
            .into_iter()
            .filter(|(_, held)| held.decided == 0);
        unchanged
            .map(|(stream, held)| (stream, held.loaded))
            .collect()
    }

    /// Adds where an object is, or that it is nowhere.
    pub fn insert_place(&mut self, id: Uuid, place: Option<(Kind, StreamRef)>) {
        self.places.insert(id, place);
    }

    /// Adds what the log says of a tool call.
    pub fn insert_tool_call(&mut self, id: ToolInvocationId, call: ToolCall) {
        self.calls.insert(id, call);
    }

    /// The tool calls that something was decided of, each with all that is known of it then: what was known of
    /// it before was needed to decide, unless nothing was.
    pub fn decided_tool_calls(&self) -> impl Iterator<Item = (ToolInvocationId, ToolCall)> + '_ {
        self.decided_calls.iter().map(|(id, decided)| {
            let mut whole = self.calls.get(id).cloned().unwrap_or_default();
            whole.merge(decided);
            (*id, whole)
        })
    }

    /// Adds the objects that name one in a field, as the log has them.
    pub fn insert_naming(&mut self, field: Naming, target: Uuid, naming: Vec<Uuid>) {
        self.naming.insert((field, target), naming);
    }

    /// Adds the stream that a name is of.
    pub fn insert_named_stream(&mut self, kind: StreamKind, name: String, stream: StreamRef) {
        let of_kind = self.named_streams.entry(kind).or_default();
        of_kind.insert(name, stream);
    }

    /// What the decisions looked at, with the version that was loaded.
    pub fn dependences(&self) -> impl Iterator<Item = (StreamRef, Dependence, u64)> + '_ {
        self.dependences.iter().map(|(stream, dependence)| {
            (
                *stream,
                *dependence,
                self.states
                    .get(stream)
                    .map_or(0, |held| held.loaded.version),
            )
        })
    }

    /// Asks for the states of all these aggregates that are not loaded yet, at once.
    pub(crate) fn load_all(
        &self,
        streams: impl IntoIterator<Item = StreamRef>,
    ) -> Result<(), DecideError> {
        let missing = streams.into_iter();
        let missing: BTreeSet<StreamRef> =
            missing.filter(|it| !self.states.contains_key(it)).collect();
        all_of(missing.into_iter().map(Need::State).collect())
    }

    /// Asks for the second folds of these streams, as far as they are not loaded yet, at once. Their
    /// states are.
    pub(crate) fn load_second_folds(
        &self,
        streams: impl IntoIterator<Item = StreamRef>,
    ) -> Result<(), DecideError> {
        let missing = streams.into_iter();
        let missing = missing.filter(|stream| !self.second_folds.contains_key(stream));
        let need = |stream| {
            let version = self.states.get(&stream)?.loaded.version;
            Some(Need::SecondFold { stream, version })
        };
        all_of(missing.filter_map(need).collect())
    }

    /// Asks who names each of these in a field, as far as that is not loaded yet, at once.
    pub(crate) fn load_naming(
        &self,
        field: Naming,
        targets: impl IntoIterator<Item = Uuid>,
    ) -> Result<(), DecideError> {
        let is_missing = |target: &Uuid| !self.naming.contains_key(&(field, *target));
        let missing: BTreeSet<Uuid> = targets.into_iter().filter(is_missing).collect();
        let need = |target| Need::Naming { field, target };
        all_of(missing.into_iter().map(need).collect())
    }

    /// An aggregate, whether it exists or not.
    pub(crate) fn depend(
        &mut self,
        stream: StreamRef,
        dependence: Dependence,
    ) -> Result<&Loaded, DecideError> {
        let Some(held) = self.states.get(&stream) else {
            return Err(DecideError::Needs(vec![Need::State(stream)]));
        };
        let noted = self.dependences.entry(stream).or_insert(dependence);
        *noted = (*noted).max(dependence);
        Ok(&held.loaded)
    }

    /// An aggregate that exists.
    pub(crate) fn existing(
        &mut self,
        stream: StreamRef,
        dependence: Dependence,
    ) -> Result<&Loaded, DecideError> {
        if self.depend(stream, dependence)?.state.is_absent() {
            // Its stream may hold events of others: that it is not there is
            // known of this very version.
            self.depend(stream, Dependence::State)?;
            return Err(not_found(stream));
        }
        self.depend(stream, dependence)
    }

    state_of! {
        /// The state of an intent that exists.
        intent(IntentId) or intent_if_any -> Intent, intent::State;
        /// The state of a plan that exists.
        plan(PlanId) or plan_if_any -> Plan, plan::State;
        /// The state of a task that exists.
        task(TaskId) or task_if_any -> Task, task::State;
        /// The state of a run that exists.
        run(RunId) or run_if_any -> Run, run::State;
        /// The state of a snapshot that exists.
        snapshot(SnapshotId) -> Snapshot, snapshot::State;
        /// The state of a pipeline that exists.
        pipeline(PipelineId) -> Pipeline, pipeline::State;
        /// The state of a session that exists.
        session(SessionId) or session_if_any -> Session, session::State;
        /// The state of an observation that exists.
        observation(ObservationId) -> Observation, observation::State;
    }

    /// The second fold of an aggregate that exists, if it has one.
    ///
    /// # Errors
    /// [`DecideError::Needs`] it, and [`Refusal::NotFound`].
    pub(crate) fn second_fold(&mut self, stream: StreamRef) -> Result<&SecondFold, DecideError> {
        if SecondFold::empty(stream.kind).is_none() {
            return Err(not_found(stream));
        }
        let version = self.existing(stream, Dependence::State)?.version;
        let fold = self.second_folds.get(&stream);
        fold.ok_or_else(|| DecideError::Needs(vec![Need::SecondFold { stream, version }]))
    }

    /// The stream that a name is of, whether anything happened in it or not.
    ///
    /// # Errors
    /// [`DecideError::Needs`] it.
    pub(crate) fn named_stream(
        &self,
        kind: StreamKind,
        name: &str,
    ) -> Result<StreamRef, DecideError> {
        let of_kind = self.named_streams.get(&kind);
        let known = of_kind.and_then(|streams| streams.get(name));
        known.copied().ok_or_else(|| {
            let name = name.to_owned();
            DecideError::Needs(vec![Need::NamedStream { kind, name }])
        })
    }

    /// What is known of a tool call that is in a run's stream, and depends on the stream's version.
    ///
    /// # Errors
    /// [`DecideError::Needs`] it, and [`Refusal::NotFound`] where there is no such run.
    pub(crate) fn tool_call(
        &mut self,
        stream: StreamRef,
        call: ToolInvocationId,
    ) -> Result<ToolCall, DecideError> {
        self.existing(stream, Dependence::State)?;
        let Some(known) = self.calls.get(&call) else {
            return Err(DecideError::Needs(vec![Need::ToolCall { stream, call }]));
        };
        let mut known = known.clone();
        if let Some(decided) = self.decided_calls.get(&call) {
            known.merge(decided);
        }
        Ok(known)
    }

    /// Demands that an aggregate exists, and depends on its state.
    pub fn pin(&mut self, stream: StreamRef) -> Result<(), DecideError> {
        self.existing(stream, Dependence::State).map(|_| ())
    }

    /// Whether an aggregate exists, in any state.
    ///
    /// # Errors
    /// [`DecideError::Needs`] it.
    pub fn has(&mut self, stream: StreamRef) -> Result<bool, DecideError> {
        Ok(if_any(self.touch(stream))?.is_some())
    }

    /// Demands that an aggregate exists, in any state.
    pub fn touch(&mut self, stream: StreamRef) -> Result<(), DecideError> {
        self.existing(stream, Dependence::Exists).map(|_| ())
    }

    /// Demands that an aggregate of this kind exists, in any state.
    pub fn require(&mut self, kind: StreamKind, id: impl Into<Uuid>) -> Result<(), DecideError> {
        self.touch(StreamRef {
            kind,
            id: id.into(),
        })
    }

    /// Demands that no aggregate has this id, so that one can be created.
    pub fn absent(&mut self, stream: StreamRef) -> Result<(), DecideError> {
        let absent = self.depend(stream, Dependence::State)?.state.is_absent();
        match stream.kind.kind() {
            Some(kind) if !absent => {
                let id = stream.id;
                Err(Refusal::Exists { kind, id }.into())
            }
            _ => Ok(()),
        }
    }

    /// Demands that no object at all has this id. Ids that the caller made
    /// need not be checked: they are new.
    pub fn unused(&mut self, id: Uuid) -> Result<(), DecideError> {
        match self.places.get(&id) {
            None => Err(DecideError::Needs(vec![Need::Place(id)])),
            Some(None) => Ok(()),
            Some(Some((kind, _))) => Err(Refusal::Exists { kind: *kind, id }.into()),
        }
    }

    /// The objects that name one in a field, the oldest first, each once. One of them
    /// may name another by now: its state says so. That there are no others is not
    /// guarded by the append.
    ///
    /// # Errors
    /// [`DecideError::Needs`] them.
    pub fn naming(&mut self, field: Naming, target: Uuid) -> Result<Vec<Uuid>, DecideError> {
        let Some(known) = self.naming.get(&(field, target)) else {
            return Err(DecideError::Needs(vec![Need::Naming { field, target }]));
        };
        let decided = self.named.get(&(field, target)).into_iter().flatten();
        let mut seen = HashSet::new();
        let naming = known.iter().chain(decided).copied();
        Ok(naming.filter(|id| seen.insert(*id)).collect())
    }

    /// Where an object of any kind is.
    pub fn locate(&mut self, id: Uuid) -> Result<(Kind, StreamRef), DecideError> {
        match self.places.get(&id) {
            None => Err(DecideError::Needs(vec![Need::Place(id)])),
            Some(None) => Err(Refusal::Unknown { id }.into()),
            Some(Some(place)) => Ok(*place),
        }
    }

    /// Where an object of this kind is.
    pub fn locate_kind(&mut self, id: Uuid, kind: Kind) -> Result<StreamRef, DecideError> {
        match self.places.get(&id) {
            None => Err(DecideError::Needs(vec![Need::Place(id)])),
            Some(Some((found, stream))) if *found == kind => Ok(*stream),
            Some(_) => Err(Refusal::NotFound { kind, id }.into()),
        }
    }
}
