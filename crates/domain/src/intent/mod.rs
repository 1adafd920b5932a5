//! Intents: the entry point of every workflow (document 000, Intent).

mod classification;
pub(crate) mod command;
pub(crate) mod decide;
mod event;
mod evolve;

#[cfg(test)]
mod tests;

pub use classification::*;
pub use command::*;
pub use event::*;
pub use evolve::{State, evolve};
