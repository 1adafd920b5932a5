//! Given events, when a command, then events: tests of deciders.
//!
//! # Annals' own objects
//!
//! [`given`] tells what has happened. What the decision needs is loaded from it, for
//! all objects that it looks at; what is not told is not there.
//!
//! ```
//! use annals_domain::task::{self, CancelTask, CreateTask};
//! use annals_domain::{Refusal, TaskId};
//! use annals_testkit::given::{given, happened};
//! use uuid::Uuid;
//!
//! let task = TaskId(Uuid::from_u128(1));
//! let create = CreateTask::new("mend the parser").with_id(task);
//! let cancel = CancelTask::new(task);
//!
//! given([])
//!     .after(create.clone())
//!     .when(cancel.clone())
//!     .then([happened(task.stream(), task::Event::from(task::Cancelled::default()))]);
//!
//! given([])
//!     .when(cancel)
//!     .then_refused(|refusal| matches!(refusal, Refusal::NotFound { .. }));
//! ```
//!
//! # A decider of your own
//!
//! A service that keeps its own streams implements [`Decider`], or makes one of two
//! functions with [`decider`]:
//!
//! ```
//! use annals_testkit::given::{Scenario, decider};
//!
//! #[derive(Debug, Clone, PartialEq)]
//! enum Event { Opened, Paid(u32) }
//!
//! #[derive(Default)]
//! struct Account { open: bool, balance: u32 }
//!
//! fn evolve(account: &mut Account, event: &Event) {
//!     match event {
//!         Event::Opened => account.open = true,
//!         Event::Paid(amount) => account.balance += amount,
//!     }
//! }
//!
//! fn pay(account: &Account, amount: u32) -> Result<Vec<Event>, &'static str> {
//!     match account.open {
//!         true => Ok(vec![Event::Paid(amount)]),
//!         false => Err("there is no account"),
//!     }
//! }
//!
//! let account = || Scenario::of(decider(pay, evolve));
//! account().given([Event::Opened]).when(5_u32).then([Event::Paid(5)]);
//! account().when(5_u32).then_refused(|refusal| refusal.contains("no account"));
//! ```
//!
//! What fails prints what was given and asked, and the difference line by line:
//!
//! ```should_panic
//! # use annals_testkit::given::{Scenario, decider};
//! # let account = Scenario::of(decider(
//! #     |_: &u32, amount: u32| Ok::<_, String>(vec![amount]),
//! #     |balance: &mut u32, amount: &u32| *balance += amount,
//! # ));
//! account.given([1, 2]).when(3_u32).then([4]);
//! // given
//! //   1
//! //   2
//! // when 3
//! // the events differ (- expected, + found):
//! //   [
//! // -     4,
//! // +     3,
//! //   ]
//! ```

#![allow(
    clippy::panic,
    reason = "this is test code that other crates' tests call; a failed expectation panics"
)]

use std::fmt::Debug;
use std::marker::PhantomData;

use annals_domain::testing::Given;
use annals_domain::{AnyEvent, Command, Emitted, Refusal, StreamRef, Timestamp};

use crate::diff;

/// What decides: a state folded from events, and events or a refusal for a command.
pub trait Decider {
    /// What a decision looks at.
    type State;
    /// What is asked.
    type Command: Debug;
    /// What happens.
    type Event: Debug + PartialEq;
    /// Why nothing does.
    type Refusal: Debug;

    /// The state before the first event.
    fn initial(&self) -> Self::State;

    /// Folds one event into the state.
    fn evolve(&self, state: &mut Self::State, event: &Self::Event);

    /// Decides a command.
    ///
    /// # Errors
    /// Why it is refused.
    fn decide(
        &self,
        state: &Self::State,
        command: Self::Command,
    ) -> Result<Vec<Self::Event>, Self::Refusal>;
}

/// A decider of two functions; see [`decider`].
pub struct Functions<S, C, E, R, D, F> {
    decide: D,
    evolve: F,
    types: PhantomData<fn(S, C, E, R)>,
}

/// A decider of two functions, over a state that begins with its default.
pub fn decider<S, C, E, R, D, F>(decide: D, evolve: F) -> Functions<S, C, E, R, D, F>
where
    S: Default,
    D: Fn(&S, C) -> Result<Vec<E>, R>,
    F: Fn(&mut S, &E),
{
    Functions {
        decide,
        evolve,
        types: PhantomData,
    }
}

impl<S, C, E, R, D, F> Decider for Functions<S, C, E, R, D, F>
where
    S: Default,
    C: Debug,
    E: Debug + PartialEq,
    R: Debug,
    D: Fn(&S, C) -> Result<Vec<E>, R>,
    F: Fn(&mut S, &E),
{
    type State = S;
    type Command = C;
    type Event = E;
    type Refusal = R;

    fn initial(&self) -> S {
        S::default()
    }

    fn evolve(&self, state: &mut S, event: &E) {
        (self.evolve)(state, event);
    }

    fn decide(&self, state: &S, command: C) -> Result<Vec<E>, R> {
        (self.decide)(state, command)
    }
}

/// An event of one of Annals' objects, in its stream. Its content is left out; ask
/// [`Scenario::decide`] for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Happened {
    /// The object's stream.
    pub stream: StreamRef,
    /// What happened.
    pub event: AnyEvent,
}

impl From<&Emitted> for Happened {
    fn from(emitted: &Emitted) -> Happened {
        Happened {
            stream: emitted.stream,
            event: emitted.event.clone(),
        }
    }
}

/// An event of an object's stream; takes the `Event` of an object as well as an
/// [`AnyEvent`].
pub fn happened(stream: StreamRef, event: impl IntoAnyEvent) -> Happened {
    Happened {
        stream,
        event: event.into_any_event(),
    }
}

/// What is an event of one of Annals' objects.
pub trait IntoAnyEvent {
    /// The event as one of any object.
    fn into_any_event(self) -> AnyEvent;
}

impl IntoAnyEvent for AnyEvent {
    fn into_any_event(self) -> AnyEvent {
        self
    }
}

/// All of Annals' objects as one decider.
#[derive(Debug, Clone, Copy)]
pub struct Objects;

impl Decider for Objects {
    type State = Given;
    type Command = Command;
    type Event = Happened;
    type Refusal = Refusal;

    fn initial(&self) -> Given {
        Given::new()
    }

    fn evolve(&self, state: &mut Given, happened: &Happened) {
        state.record(happened.stream, &happened.event);
    }

    fn decide(&self, state: &Given, command: Command) -> Result<Vec<Happened>, Refusal> {
        let emitted = state.decide(command)?;
        Ok(emitted.iter().map(Happened::from).collect())
    }
}

/// Begins a scenario of Annals' own objects with what has happened.
pub fn given(events: impl IntoIterator<Item = Happened>) -> Scenario<Objects> {
    Scenario::of(Objects).given(events)
}

/// What has happened so far. [`Scenario::when`] asks for a decision.
#[must_use = "nothing is decided yet: ask with `when`"]
pub struct Scenario<D: Decider> {
    decider: D,
    state: D::State,
    told: Vec<String>,
}

impl<D: Decider> Scenario<D> {
    /// Nothing has happened.
    pub fn of(decider: D) -> Scenario<D> {
        Scenario {
            state: decider.initial(),
            decider,
            told: Vec::new(),
        }
    }

    /// These events have happened, in this order.
    pub fn given(mut self, events: impl IntoIterator<Item = D::Event>) -> Scenario<D> {
        for event in events {
            self.decider.evolve(&mut self.state, &event);
            self.told.push(format!("{event:?}"));
        }
        self
    }

    /// Decides a command.
    pub fn when(self, command: impl Into<D::Command>) -> Decision<D> {
        let command = command.into();
        let asked = format!("{command:?}");
        Decision {
            answer: self.decider.decide(&self.state, command),
            told: self.told,
            asked,
        }
    }
}

impl Scenario<Objects> {
    /// What comes now comes at this time.
    pub fn at(mut self, time: Timestamp) -> Scenario<Objects> {
        self.state = self.state.at(time);
        self
    }

    /// This command was accepted, and its events have happened.
    ///
    /// # Panics
    /// When it is refused.
    #[track_caller]
    pub fn after(mut self, command: impl Into<Command>) -> Scenario<Objects> {
        let command = command.into();
        self.told.push(format!("{command:?}"));
        match self.state.try_execute(command) {
            Ok(_) => self,
            Err(refusal) => {
                let told = told(&self.told);
                panic!("{told}the last of these was refused: {refusal}")
            }
        }
    }

    /// What a command leads to, with its content; nothing happens yet.
    ///
    /// # Errors
    /// Why it is refused.
    pub fn decide(&self, command: impl Into<Command>) -> Result<Vec<Emitted>, Refusal> {
        self.state.decide(command)
    }
}

fn told(events: &[String]) -> String {
    let mut out = "given\n".to_owned();
    for event in events {
        out.push_str("  ");
        out.push_str(event);
        out.push('\n');
    }
    out
}

/// What became of a command. By itself it demands nothing; a test that does not say what is
/// expected is warned of, and does not compile where warnings are denied:
///
/// ```compile_fail
/// #![deny(unused_must_use)]
/// # use annals_testkit::given::{Scenario, decider};
/// # let account = Scenario::of(decider(
/// #     |_: &u32, amount: u32| Ok::<_, String>(vec![amount]),
/// #     |balance: &mut u32, amount: &u32| *balance += amount,
/// # ));
/// account.when(3_u32);
/// ```
///
/// ```
/// #![deny(unused_must_use)]
/// # use annals_testkit::given::{Scenario, decider};
/// # let account = Scenario::of(decider(
/// #     |_: &u32, amount: u32| Ok::<_, String>(vec![amount]),
/// #     |balance: &mut u32, amount: &u32| *balance += amount,
/// # ));
/// account.when(3_u32).then([3]);
/// ```
#[must_use = "say what is expected: `then`, `then_nothing` or `then_refused`"]
pub struct Decision<D: Decider> {
    told: Vec<String>,
    asked: String,
    answer: Result<Vec<D::Event>, D::Refusal>,
}

impl<D: Decider> Decision<D> {
    /// It led to exactly these events, in this order.
    ///
    /// # Panics
    /// When it did not.
    #[track_caller]
    pub fn then(self, expected: impl IntoIterator<Item = D::Event>) {
        let expected: Vec<D::Event> = expected.into_iter().collect();
        let before = format!("{}when {}\n", told(&self.told), self.asked);
        match self.answer {
            Ok(found) if found == expected => {}
            Ok(found) => {
                let (expected, found) = (format!("{expected:#?}"), format!("{found:#?}"));
                let diff = diff::lines(&expected, &found);
                panic!("{before}the events differ (- expected, + found):\n{diff}")
            }
            Err(refusal) => panic!("{before}it was refused: {refusal:?}\nexpected: {expected:#?}"),
        }
    }

    /// It was accepted and led to nothing, as all is so already.
    ///
    /// # Panics
    /// When it was refused or something happened.
    #[track_caller]
    pub fn then_nothing(self) {
        self.then([]);
    }

    /// It was refused, for a reason that is as expected.
    ///
    /// # Panics
    /// When it was accepted, or refused for another reason.
    #[track_caller]
    pub fn then_refused(self, expected: impl FnOnce(&D::Refusal) -> bool) {
        let before = format!("{}when {}\n", told(&self.told), self.asked);
        match self.answer {
            Err(refusal) if expected(&refusal) => {}
            Err(refusal) => panic!("{before}it was refused for another reason: {refusal:?}"),
            Ok(found) => panic!("{before}it was accepted: {found:#?}"),
        }
    }
}

macro_rules! into_any_event {
    ($($variant:ident => $module:ident,)+) => {
        $(
            impl IntoAnyEvent for annals_domain::$module::Event {
                fn into_any_event(self) -> AnyEvent {
                    AnyEvent::$variant(self)
                }
            }
        )+
    };
}

into_any_event! {
    Intent => intent,
    Plan => plan,
    Task => task,
    Run => run,
    Snapshot => snapshot,
    Pipeline => pipeline,
    Alias => alias,
    Session => session,
    Bucket => bucket,
    Settings => settings,
    Observation => observation,
}
