//! Context snapshots: what an agent saw when a run began (document 002).

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
