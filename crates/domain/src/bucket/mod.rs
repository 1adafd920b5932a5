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

use uuid::Uuid;

use crate::session::{CommandKind, PolicyProfile, cap};
use crate::{StreamKind, StreamRef};

/// The bucket of a cap: the one that all sessions share whose profiles have the
/// same name and the same limits. Its id is a UUID of version 5 over both.
pub fn stream_of(profile: &PolicyProfile, kind: CommandKind) -> StreamRef {
    named(&description(profile), kind)
}

/// The buckets of all kinds that a profile has a cap on.
pub fn streams_of(profile: &PolicyProfile) -> Vec<(CommandKind, StreamRef)> {
    let capped = CommandKind::ALL
        .iter()
        .filter(|kind| cap(profile, **kind).is_some());
    let description = description(profile);
    capped
        .map(|kind| (*kind, named(&description, *kind)))
        .collect()
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

fn named(description: &str, kind: CommandKind) -> StreamRef {
    let namespace = Uuid::new_v5(&Uuid::NAMESPACE_DNS, b"bucket.annals");
    let name = format!("{kind}\n{description}");
    StreamRef {
        kind: StreamKind::Bucket,
        id: Uuid::new_v5(&namespace, name.as_bytes()),
    }
}

#[cfg(test)]
mod tests;
