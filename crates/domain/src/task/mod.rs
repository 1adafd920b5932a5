//! Tasks: units of work, stable across retries (document 000, Task).

pub(crate) mod command;
pub(crate) mod decide;
mod event;
mod evolve;

#[cfg(test)]
mod tests;

pub use command::*;
pub use event::*;
pub use evolve::{State, Status, evolve};
