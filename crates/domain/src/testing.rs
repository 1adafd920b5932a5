//! Given events, when a command, then events: how the deciders are tested.
//!
//! [`Given`] folds events into states and plays the caller of a decision: what
//! the decision needs is loaded from the given events, or is absent.
//!
//! It is part of the crate because services test with it, too, by way of
//! `annals-testkit`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "this is test code that other crates' tests call; what must be accepted panics"
)]

use std::cell::Cell;
use std::collections::HashMap;

use uuid::Uuid;

use crate::naming::{Naming, named_by};
use crate::pipeline::{Window, evolve_window};
use crate::run::ToolCall;
use crate::session::Commits;
use crate::task::TaskText;
use crate::{
    ActorRef, AnyEvent, Command, DecideError, Dependence, Emitted, Kind, Loaded, Meta, Need,
    Refusal, SecondFold, StreamKind, StreamRef, Timestamp, ToolInvocationId, World,
};

/// The stream of the aggregate with this number for an id.
pub fn stream(kind: StreamKind, number: u128) -> StreamRef {
    StreamRef {
        kind,
        id: Uuid::from_u128(number),
    }
}

/// Free JSON from its text.
///
/// # Panics
/// When it is not JSON.
pub fn json(text: &str) -> crate::Json {
    crate::Json::parse(text).expect("the test's JSON is valid")
}

/// A decision with the streams that it depended on.
pub type Guarded = (Vec<Emitted>, Vec<(StreamRef, Dependence, u64)>);

/// What has happened so far.
#[derive(Debug, Clone)]
pub struct Given {
    states: HashMap<StreamRef, Loaded>,
    places: HashMap<Uuid, (Kind, StreamRef)>,
    naming: HashMap<(Naming, Uuid), Vec<Uuid>>,
    windows: HashMap<StreamRef, Window<()>>,
    texts: HashMap<StreamRef, TaskText>,
    commits: HashMap<StreamRef, Commits>,
    calls: HashMap<ToolInvocationId, ToolCall>,
    commands: u128,
    at: Timestamp,
    /// The log's clock, where it is not the author's.
    now: Option<Timestamp>,
    actor: Option<ActorRef>,
}

impl Default for Given {
    fn default() -> Given {
        Given::new()
    }
}

impl Given {
    /// Nothing has happened.
    pub fn new() -> Given {
        Given {
            states: HashMap::new(),
            places: HashMap::new(),
            naming: HashMap::new(),
            windows: HashMap::new(),
            texts: HashMap::new(),
            commits: HashMap::new(),
            calls: HashMap::new(),
            commands: 0,
            at: Timestamp::EPOCH,
            now: None,
            actor: None,
        }
    }

    /// What comes now is caused by this actor. Otherwise it is the agent `tester`, and the
    /// person `approver` for what only people may do.
    pub fn by(mut self, actor: ActorRef) -> Given {
        self.actor = Some(actor);
        self
    }

    fn actor(&self, command: Option<&Command>) -> ActorRef {
        let by_a_person = matches!(
            command,
            Some(
                Command::ApproveIntent(_)
                    | Command::JudgeIntent(_)
                    | Command::AnswerClarification(_)
                    | Command::RejectIntent(_)
                    | Command::CancelIntent(_)
                    | Command::CompleteIntent(_)
                    | Command::InstructIntent(_)
                    | Command::RerunIntent(_)
                    | Command::RecordReview(_)
                    | Command::ApproveSession(_)
                    | Command::SetSetting(_)
                    | Command::SetBudget(_)
                    | Command::RemoveBudget(_)
            )
        ) || matches!(
            command,
            Some(Command::DecideToolCall(it)) if it.by == crate::run::ToolDecider::Person
        );
        self.actor.clone().unwrap_or_else(|| match by_a_person {
            true => ActorRef::human("approver"),
            false => ActorRef::agent("tester"),
        })
    }

    /// What comes now comes at this time.
    pub fn at(mut self, at: Timestamp) -> Given {
        self.at = at;
        self
    }

    /// What comes now is decided at this time by the log's clock, regardless of when it was given. Without it, both are
    /// the same.
    pub fn decided_at(mut self, now: Timestamp) -> Given {
        self.now = Some(now);
        self
    }

    /// This has happened, next in its stream.
    pub fn event(mut self, stream: StreamRef, event: AnyEvent) -> Given {
        self.record(stream, &event);
        self
    }

    /// This command was accepted, and its events happened. Panics when it is
    /// refused.
    pub fn command(mut self, command: impl Into<Command>) -> Given {
        self.execute(command);
        self
    }

    /// Decides a command, lets its events happen and returns them. Panics when
    /// it is refused.
    pub fn execute(&mut self, command: impl Into<Command>) -> Vec<Emitted> {
        let command = command.into();
        match self.try_execute(command.clone()) {
            Ok(emitted) => emitted,
            Err(refusal) => panic!("{} is refused: {refusal}", command.name()),
        }
    }

    /// Decides a command and, where it is accepted, lets its events happen.
    pub fn try_execute(&mut self, command: impl Into<Command>) -> Result<Vec<Emitted>, Refusal> {
        let command = command.into();
        let actor = self.actor(Some(&command));
        let emitted = self.decide(command)?;
        self.commands += 1;
        let now = self.meta().now;
        for one in &emitted {
            if let AnyEvent::Task(event) = &one.event {
                let text = self.texts.entry(one.stream).or_default();
                text.apply_decided(event, &one.pieces);
            }
            if let AnyEvent::Session(event) = &one.event {
                let commits = self.commits.entry(one.stream).or_default();
                commits.apply_decided(event, now, &one.pieces);
            }
            self.record_by(one.stream, &one.event, &actor);
        }
        Ok(emitted)
    }

    /// Decides a command; nothing happens yet.
    pub fn decide(&self, command: impl Into<Command>) -> Result<Vec<Emitted>, Refusal> {
        self.decide_guarded(command).map(|(emitted, _)| emitted)
    }

    /// Decides a command and tells which streams the decision depended on.
    pub fn decide_guarded(&self, command: impl Into<Command>) -> Result<Guarded, Refusal> {
        let command = command.into();
        let meta = Meta {
            actor: self.actor(Some(&command)),
            ..self.meta()
        };
        let mut world = World::new();
        let emitted = self.look(&mut world, |world| command.decide(world, &meta))?;
        Ok((emitted, world.dependences().collect()))
    }

    /// Asks the world what is not a command: what the answer needs is loaded as
    /// for a decision.
    pub fn ask<T>(
        &self,
        question: impl Fn(&mut World) -> Result<T, DecideError>,
    ) -> Result<T, Refusal> {
        self.look(&mut World::new(), question)
    }

    /// In how many rounds what a question needs is loaded. Each round starts the decision again.
    pub fn rounds<T>(
        &self,
        question: impl Fn(&mut World) -> Result<T, DecideError>,
    ) -> Result<usize, Refusal> {
        let rounds = Cell::new(0);
        self.ask(|world| {
            rounds.set(rounds.get() + 1);
            question(world)
        })?;
        Ok(rounds.get())
    }

    fn look<T>(
        &self,
        world: &mut World,
        question: impl Fn(&mut World) -> Result<T, DecideError>,
    ) -> Result<T, Refusal> {
        // Each round loads one more thing; no decision looks at this many.
        for _ in 0..10_000 {
            match question(world) {
                Ok(answer) => return Ok(answer),
                Err(DecideError::Refused(refusal)) => return Err(refusal),
                Err(DecideError::Needs(needs)) => {
                    for need in needs {
                        self.load(world, need);
                    }
                }
            }
        }
        panic!("the decision needs the same things over and over");
    }

    fn load(&self, world: &mut World, need: Need) {
        match need {
            Need::State(stream) => world.insert_state(stream, self.loaded(stream)),
            Need::NamedStream { kind, name } => {
                let stream = match kind {
                    StreamKind::Alias => crate::alias::stream_of(&name),
                    _ => crate::bucket::stream_of(&name),
                };
                world.insert_named_stream(kind, name, stream);
            }
            Need::Place(id) => world.insert_place(id, self.places.get(&id).copied()),
            Need::Naming { field, target } => {
                let naming = self.naming.get(&(field, target));
                world.insert_naming(field, target, naming.cloned().unwrap_or_default());
            }
            Need::ToolCall { call, .. } => {
                let known = self.calls.get(&call).cloned();
                world.insert_tool_call(call, known.unwrap_or_default());
            }
            Need::SecondFold { stream, version } => {
                assert_eq!(version, self.loaded(stream).version);
                let fold = match stream.kind {
                    StreamKind::Pipeline => SecondFold::Window(self.windows.get(&stream).cloned()),
                    StreamKind::Session => {
                        let commits = self.commits.get(&stream).cloned();
                        SecondFold::Commits(commits.unwrap_or_default())
                    }
                    _ => {
                        let text = self.texts.get(&stream).cloned();
                        SecondFold::TaskText(text.unwrap_or_default())
                    }
                };
                world.insert_second_fold(stream, fold);
            }
        }
    }

    /// What comes with the next command: each gets another new id, far from
    /// the small numbers that tests use.
    pub fn meta(&self) -> Meta {
        Meta {
            actor: self.actor(None),
            at: self.at,
            now: self.now.unwrap_or(self.at),
            new_id: Uuid::from_u128((1 << 64) + self.commands),
        }
    }

    /// An aggregate as the events left it.
    pub fn loaded(&self, stream: StreamRef) -> Loaded {
        let absent = || Loaded::absent(stream.kind);
        self.states.get(&stream).cloned().unwrap_or_else(absent)
    }

    /// Lets an event happen, next in its stream.
    pub fn record(&mut self, stream: StreamRef, event: &AnyEvent) {
        self.record_by(stream, event, &self.actor(None));
    }

    fn record_by(&mut self, stream: StreamRef, event: &AnyEvent, actor: &ActorRef) {
        let meta = Meta {
            actor: actor.clone(),
            ..self.meta()
        };
        let origin = meta.origin_of(event);
        let absent = || Loaded::absent(stream.kind);
        let loaded = self.states.entry(stream).or_insert_with(absent);
        loaded.state.evolve(event, &origin);
        loaded.version += 1;
        if let AnyEvent::Pipeline(event) = event {
            let mut window = self.windows.remove(&stream);
            evolve_window(&mut window, event);
            self.windows.extend(window.map(|window| (stream, window)));
        }
        if let AnyEvent::Run(event) = event
            && let Some(call) = crate::run::call_of(event)
        {
            self.calls.entry(call).or_default().evolve(event);
        }
        for named in named_by(event) {
            self.naming.entry(named).or_default().push(stream.id);
        }
        for (kind, id) in event.touches(stream.id) {
            // The event that creates an object comes first, and its stream
            // is where the object is.
            self.places.entry(id).or_insert((kind, stream));
        }
    }
}

/// The events alone, without their streams and pieces.
pub fn events(emitted: &[Emitted]) -> Vec<AnyEvent> {
    emitted.iter().map(|one| one.event.clone()).collect()
}

/// The pieces of each event, as texts.
pub fn texts(emitted: &[Emitted]) -> Vec<Vec<String>> {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    emitted
        .iter()
        .map(|one| {
            one.pieces
                .list()
                .iter()
                .map(|piece| text(&piece.bytes))
                .collect()
        })
        .collect()
}
