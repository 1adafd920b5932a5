//! Sessions: an agent's work under a policy (docs/spec/contracts.md).
//!
//! Every command that an agent gives goes through the session's gate
//! ([`judge`]), and what the gate says is an event, with the rule that it says
//! it by. A command and its verdict are two events of one append; a command
//! that waits for an approval gets its verdict later.

mod actions;
mod agent_command;
mod base64_bytes;
mod check;
mod command;
mod command_kind;
mod commits;
pub(crate) mod decide;
mod draft;
mod event;
mod evolve;
mod gate;
mod names;
mod own_key;
mod own_work;
mod plan;
mod policy;
mod refspec;
mod results;
mod stored;
mod stored_results;
mod strictness;
#[cfg(test)]
mod tests;
mod time_span;
mod types;
mod verdict;

pub use agent_command::*;
pub use base64_bytes::{Base64Bytes, InvalidBase64};
pub use command::*;
pub use command_kind::CommandKind;
pub use commits::{Commits, CommittedFiles};
pub use decide::PAUSE_AFTER_FAILURES;
pub use event::*;
pub use evolve::{LAST_ENDED, OpenCommand, Pending, PendingCommand, Session, State, evolve};
pub use gate::{
    Judgement, POLICY_VIOLATION, PUSH, RATE_LIMIT_SCOPE, Unsaid, Violation, closed, judge,
    lacks_names, needs_approval, violated,
};
pub(crate) use names::each_name;
pub use own_work::{IMPORTER, Overruling, OwnWork};
pub use plan::{InvalidPlan, TaskNode, TaskPlan};
pub use policy::{PolicyProfile, RateLimits, SessionConfig, cap};
pub use results::invocation_of;
pub use time_span::{InvalidTimeSpan, TimeSpan};
pub use types::*;
pub use verdict::Verdict;
