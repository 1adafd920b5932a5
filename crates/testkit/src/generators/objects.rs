//! Histories of Annals' own objects: random commands, valid and invalid, and the
//! events that the deciders make of them.
//!
//! [`history`] is a strategy for a [`History`]: commands about intents, plans, tasks,
//! runs and their records, snapshots, pipelines, sessions, observations, aliases and
//! settings, each with its events or its refusal. Half of the commands take an object a
//! step on in its life, so that histories get somewhere; the others are any command at
//! all, with ids that are mostly right. [`valid`] leaves out what is refused.
//!
//! ```
//! use annals_testkit::generators::objects;
//! use annals_testkit::invariants;
//!
//! // One history without a strategy, the same for the same seed.
//! let history = objects::sample(7, 60);
//! assert_eq!(history.tried.len(), 60);
//! assert!(history.accepted().count() > 10 && history.refused().count() > 0);
//!
//! // The same events in a log, one batch for each accepted command.
//! let log = history.log();
//! let report = invariants::check_all(&log)?;
//! assert_eq!(report.records as usize, history.events().count());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! With `proptest!`, a failing history is shrunk: commands are left out and choices
//! made simpler.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "this is test code that other crates' tests call"
)]

mod actor;
mod commands;
mod dice;
mod log;
pub mod model;

use annals_domain::testing::Given;
use annals_domain::{ActorRef, Command, Emitted, Refusal, Timestamp};
use chrono::DateTime;
use proptest::collection::{SizeRange, vec};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngSeed, TestRunner};

pub use actor::actor;
pub use commands::command;
pub use dice::Dice;

use model::Model;

/// A command that was tried.
#[derive(Debug, Clone)]
pub struct Tried {
    /// What was asked.
    pub command: Command,
    /// By whom.
    pub actor: ActorRef,
    /// When.
    pub at: Timestamp,
    /// The events; none where all was so already. Or why it was refused.
    pub answer: Result<Vec<Emitted>, Refusal>,
}

/// Commands, and what the deciders made of them.
#[derive(Debug, Clone, Default)]
pub struct History {
    /// Each command, in the order in which they were tried.
    pub tried: Vec<Tried>,
}

impl History {
    /// Lets the deciders decide commands, one second apart.
    pub fn of(commands: impl IntoIterator<Item = Command>) -> History {
        let mut given = Given::new();
        let mut tried = Vec::new();
        for (seconds, command) in (1_700_000_001..).zip(commands) {
            let at = DateTime::from_timestamp(seconds, 0).unwrap_or_default();
            let at = Timestamp::from(at);
            let actor = actor(tried.len() as u64, &command);
            given = given.at(at).by(actor.clone());
            let answer = given.try_execute(command.clone());
            tried.push(Tried {
                command,
                actor,
                at,
                answer,
            });
        }
        History { tried }
    }

    /// The commands that led to events, with these.
    pub fn accepted(&self) -> impl Iterator<Item = (&Tried, &[Emitted])> {
        let events = |tried: &Tried| -> Option<usize> {
            let events = tried.answer.as_ref().ok()?;
            Some(events.len()).filter(|count| *count > 0)
        };
        let accepted = self.tried.iter().filter(move |it| events(it).is_some());
        accepted.map(|it| (it, it.answer.as_deref().unwrap_or_default()))
    }

    /// The commands that were refused, with the reasons.
    pub fn refused(&self) -> impl Iterator<Item = (&Tried, &Refusal)> {
        let refusal = |tried: &'_ Tried| tried.answer.is_err();
        let refused = self.tried.iter().filter(move |it| refusal(it));
        refused.filter_map(|it| it.answer.as_ref().err().map(|refusal| (it, refusal)))
    }

    /// All events, in their order.
    pub fn events(&self) -> impl Iterator<Item = &Emitted> {
        self.accepted().flat_map(|(_, events)| events)
    }
}

/// Commands, valid and invalid, about the objects that those before them made.
pub fn commands(length: impl Into<SizeRange>) -> impl Strategy<Value = Vec<Command>> {
    vec(Dice::strategy(), length).prop_map(|all| {
        let mut model = Model::default();
        let mut commands = Vec::with_capacity(all.len());
        for dice in all {
            let command = command(&model, dice);
            model.take(&command);
            commands.push(command);
        }
        commands
    })
}

/// Histories of commands, valid and invalid.
pub fn history(length: impl Into<SizeRange>) -> impl Strategy<Value = History> {
    commands(length).prop_map(History::of)
}

/// One history of so many commands, valid and invalid, the same for the same seed.
pub fn sample(seed: u64, length: usize) -> History {
    let config = Config {
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: None,
        ..Config::default()
    };
    let tree = history(length).new_tree(&mut TestRunner::new(config));
    tree.expect("a strategy without a filter rejects nothing")
        .current()
}

/// Histories in which every command is accepted; shorter than `length`, as others are
/// left out.
pub fn valid(length: impl Into<SizeRange>) -> impl Strategy<Value = History> {
    history(length).prop_map(|mut history| {
        history.tried.retain(|tried| tried.answer.is_ok());
        history
    })
}
