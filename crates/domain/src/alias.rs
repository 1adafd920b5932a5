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
pub use decide::{MAX_LENGTH, check, plain, stream_of};
pub use event::{Event, Reserved};
pub use evolve::{State, evolve};

use std::sync::Arc;

use crate::world::not_found;
use crate::{AnyState, DecideError, Dependence, StreamKind, StreamRef, World};

impl World {
    /// The stream that has an alias, or the one that it would get, and its state, whether it is
    /// in use or not.
    ///
    /// # Errors
    /// [`DecideError::Needs`] one of them.
    pub fn alias(&mut self, alias: &str) -> Result<(StreamRef, Arc<State>), DecideError> {
        let stream = self.named_stream(StreamKind::Alias, alias)?;
        match &self.depend(stream, Dependence::State)?.state {
            AnyState::Alias(state) => Ok((stream, Arc::clone(state))),
            _ => Err(not_found(stream)),
        }
    }
}
