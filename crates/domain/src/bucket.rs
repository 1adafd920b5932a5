//! Token buckets: how often commands may be given.
//!
//! A bucket starts full, holds `capacity` tokens and is refilled continuously
//! at `per_minute`. Its content is a fold of the times at which tokens were
//! taken, so that a replay comes to the same verdicts. All arithmetic is in
//! whole numbers. A clock that goes backwards refills nothing.
//!
//! A session's own bucket is part of its state. A cap on one kind of commands is
//! shared by sessions, and that bucket is an aggregate: one stream, with an
//! event for each token.

mod event;
mod evolve;
mod level;

pub use event::{Event, Taken};
pub use evolve::{State, evolve};
pub use level::{Level, Limit, latest};

use std::sync::Arc;

use uuid::Uuid;

use crate::session::{CommandKind, PolicyProfile, cap};
use crate::world::not_found;
use crate::{AnyState, DecideError, Dependence, StreamKind, StreamRef, World};

/// What a cap's bucket is known by: the kind, and the name and the limits of the profile. All
/// sessions share it whose profiles have the same.
pub fn name_of(profile: &PolicyProfile, kind: CommandKind) -> String {
    format!("{kind}\n{}", description(profile))
}

/// The names of the buckets of all kinds that a profile has a cap on.
pub fn names_of(profile: &PolicyProfile) -> Vec<(CommandKind, String)> {
    let capped = CommandKind::ALL
        .iter()
        .filter(|kind| cap(profile, **kind).is_some());
    capped
        .map(|kind| (*kind, name_of(profile, *kind)))
        .collect()
}

/// The stream of a bucket where the log has no secret of its own: its id is a UUID of version 5
/// over the name. Elsewhere it follows from that secret ([`crate::Need::NamedStream`]), so that a
/// profile's name cannot be found by trying.
pub fn stream_of(name: &str) -> StreamRef {
    let namespace = Uuid::new_v5(&Uuid::NAMESPACE_DNS, b"bucket.annals");
    StreamRef {
        kind: StreamKind::Bucket,
        id: Uuid::new_v5(&namespace, name.as_bytes()),
    }
}

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

/// What makes a profile's buckets its own: its name and its limits.
fn description(profile: &PolicyProfile) -> String {
    let limits = profile.limits.clone().unwrap_or_default();
    let mut caps = limits.per_command_caps.unwrap_or_default().0;
    caps.sort();
    let mut text = format!(
        "{:?}\n{:?}\n{:?}\n",
        profile.name, limits.calls_per_minute, limits.burst
    );
    for (kind, cap) in caps {
        text.push_str(&format!("{kind:?}={cap}\n"));
    }
    text
}

#[cfg(test)]
mod tests;
