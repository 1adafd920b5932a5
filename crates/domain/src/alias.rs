//! Aliases: names for people, each of one object for ever.
//!
//! An alias has a stream of its own, whose id follows from the alias and a secret of the log.
//! Reserving it expects that stream to be empty, so that no two objects can have one.

mod command;
pub(crate) mod decide;
mod event;
mod evolve;
#[cfg(test)]
mod tests;

pub use command::ReserveAlias;
pub use decide::{MAX_LENGTH, check, stream_of};
pub use event::{Event, Reserved};
pub use evolve::{State, evolve};
