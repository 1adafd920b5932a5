//! The vocabulary and the aggregates: commands, events, decide and evolve.
//!
//! Everything here is a pure function of its arguments: no clock, no
//! randomness, no I/O, no async. Time, actor and new ids arrive with the
//! command ([`Meta`]).
//!
//! - A [`Command`] is decided against a [`World`] of loaded states and leads to
//!   events ([`Emitted`]), or is refused with a [`Refusal`].
//! - Each aggregate ([`intent`], [`plan`], [`task`], [`run`], [`snapshot`],
//!   [`pipeline`], [`session`], [`bucket`], [`alias`], [`settings`],
//!   [`observation`]) has its events, its state with `evolve`, its commands and its
//!   decider, in files of those names.
//! - An event is structure and content apart: [`Pieces`].
//!
//! A decision can be tried without a log, against the events that are given:
//!
//! ```
//! use annals_domain::intent::{ActivateIntent, CreateIntent};
//! use annals_domain::testing::Given;
//! use annals_domain::{IntentId, Refusal};
//! use uuid::Uuid;
//!
//! let id = IntentId(Uuid::from_u128(1));
//! let mut given = Given::new();
//! let events = given.try_execute(CreateIntent::new("Add a cache").with_id(id))?;
//! assert_eq!(events[0].event.event_type(), "intent.submitted");
//! // It was not analyzed yet, so that work cannot begin.
//! assert!(given.decide(ActivateIntent::new(id)).is_err());
//! # Ok::<(), Refusal>(())
//! ```
//!
//! What the deciders need of a log, and what becomes of their events, is the business of the crate `annals`.

#![cfg_attr(test, allow(clippy::too_many_lines, reason = "tests may be long"))]

mod actor;
mod adopted;
mod aggregate;
pub mod alias;
mod approval;
mod artifact;
mod auth_context;
pub mod bucket;
mod codes;
mod command;
mod content;
mod created;
mod cut;
mod environment;
mod event;
mod folding;
mod git_oid;
mod hash;
mod ids;
mod input;
pub mod intent;
mod kind;
pub mod metadata;
mod names;
mod naming;
mod object;
pub mod observation;
mod ordered;
mod origin;
mod pieces;
pub mod pipeline;
pub mod plan;
pub mod redaction;
mod refusal;
pub mod run;
mod second_fold;
pub mod session;
pub mod settings;
pub mod snapshot;
pub mod task;
pub mod testing;
mod time;
mod world;

pub use actor::{ActorKind, ActorRef, StoredActor};
pub use adopted::{
    AdoptedHeader, Adoption, Dialect, check_copy, check_extension, check_import, check_work_on,
    refused_work,
};
pub use aggregate::{AnyEvent, AnyState, STATES_VERSION};
pub use artifact::{ArtifactRef, Integrity, StoredArtifact};
pub use auth_context::REMOVED;
pub use codes::UnknownWord;
pub use command::{Command, CommandError, OwnKey};
pub use content::{ContentPart, Payload, part_name};
pub use cut::cut;
pub use environment::{Environment, StoredEnvironment};
pub use event::{EventSet, Touched};
pub use folding::folded;
pub use git_oid::{GitOid, InvalidGitOid, Sha1Attack};
pub use hash::{IntegrityHash, InvalidHash};
pub use ids::*;
pub use kind::{Kind, NotAPackType, StreamKind, StreamRef, UnknownStream};
pub use metadata::Visibility;
pub use names::{is_removed_name, removed_name};
pub use naming::{Naming, named_by};
pub use object::Object;
pub use ordered::{Ordered, Pairs};
pub use origin::{By, Origin};
pub use pieces::{Json, NewPiece, Pieces, Slot};
pub use refusal::Refusal;
pub use second_fold::SecondFold;
pub use time::Timestamp;
pub use world::{DecideError, Decided, Dependence, Emitted, Loaded, Meta, Need, World};
