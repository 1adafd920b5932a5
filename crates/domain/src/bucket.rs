//! Token buckets: how often commands may be given.
//!
//! A bucket starts full, holds `capacity` tokens and is refilled continuously
//! at `per_minute`. Its content is a fold of the times at which tokens were
//! taken, so that a replay comes to the same verdicts. All arithmetic is in
//! whole numbers. A clock that goes backwards refills nothing.
//!
//! A cap on one kind of commands, and the calls of an agent, are shared by sessions, and such a
//! bucket is an aggregate: one stream, with an event for each token. A session of which the log
//! does not know the agent has a bucket of its own, in its state.

mod event;
mod evolve;
mod in_world;
mod level;
mod names;

pub use event::{Event, Taken};
pub use evolve::{State, evolve};
pub use level::{Level, Limit, latest};
pub use names::{calls_name, name_of, names_of};

use uuid::Uuid;

use crate::{StreamKind, StreamRef};

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

#[cfg(test)]
mod tests;
