//! Context snapshots: what an agent saw when a run began (docs/spec/git-internal.md).

pub(crate) mod command;
pub(crate) mod decide;
mod event;
mod evolve;
mod names;

#[cfg(test)]
mod tests;

pub use command::*;
pub use event::*;
pub use evolve::{ItemState, State, evolve};
pub(crate) use names::{each_name, may_have_names};
