//! What decisions ask the world about buckets.

use std::sync::Arc;

use super::State;
use crate::world::not_found;
use crate::{AnyState, DecideError, Dependence, StreamKind, StreamRef, World};

impl World {
    /// The stream of the bucket with a name, whether anything was ever taken from it or not.
    ///
    /// # Errors
    /// [`DecideError::Needs`] it.
    pub fn bucket_stream(&self, name: &str) -> Result<StreamRef, DecideError> {
        self.named_stream(StreamKind::Bucket, name)
    }

    /// What is in a bucket that sessions share, whether anything was ever taken
    /// or not.
    pub fn bucket(&mut self, stream: StreamRef) -> Result<Arc<State>, DecideError> {
        match &self.depend(stream, Dependence::State)?.state {
            AnyState::Bucket(state) => Ok(Arc::clone(state)),
            _ => Err(not_found(stream)),
        }
    }
}
