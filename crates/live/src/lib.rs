//! Recording agents as they work: their hooks, a spool for when no log can be reached, telemetry, and their growing
//! transcripts.
//!
//! An agent runs `annals hook claude`, or of another agent, at each event and waits for it. So a hook never fails and
//! is never late: what cannot be recorded in time lies synced in the [`Spool`] beside the log, and the next process
//! that opens the log for writing takes it in, once ([`take_in`]).

#![cfg_attr(test, allow(clippy::too_many_lines, reason = "tests may be long"))]

mod bell;
pub mod expiry;
#[doc(hidden)]
pub mod fuzzing;
mod gate;
mod grants;
pub mod hook;
mod input;
pub mod install;
pub mod ledger;
pub mod otlp;
mod run;
mod settings;
mod spool;
mod take;

pub use bell::{Bell, Listener};
pub use gate::{PolicyFile, Ruling};
pub use input::Input;
pub use run::{Became, HookRun, deliver};
pub use settings::{Inferred, Settings};
pub use spool::forget::{Forgotten, Unwanted, forget};
pub use spool::{Spool, SpoolError, SpoolState, Spooled};
pub use take::{TakeError, Taken, take_in};
