//! Plans: sequences of steps derived from an intent (docs/spec/git-internal.md, Plan).

pub(crate) mod command;
pub(crate) mod decide;
mod event;
mod evolve;
pub(crate) mod line;
mod shared;

#[cfg(test)]
mod tests;

pub use command::*;
pub use event::*;
pub use evolve::{State, StepState, evolve};
