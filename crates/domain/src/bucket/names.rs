//! What the buckets that sessions share are called.

use crate::folding::folded;
use crate::session::{CommandKind, PolicyProfile, cap};

/// What a cap's bucket is known by: the kind, and the name and the limits of the profile. All
/// sessions share it whose profiles have the same limits and a name that reads alike.
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

/// What the bucket of an agent's calls is known by: the agent, and the name and the limits of the profile. All sessions
/// of the agent share it whose profiles have the same, so that parallel ones have no more calls together. Names that
/// read alike are one agent's, as for approvals ([`crate::By::is`]).
pub fn calls_name(profile: &PolicyProfile, agent: &str) -> String {
    format!("agent {:?}\n{}", folded(agent), description(profile))
}

/// What makes a profile's buckets its own: its name and its limits.
fn description(profile: &PolicyProfile) -> String {
    let limits = profile.limits.clone().unwrap_or_default();
    let mut caps = limits.per_command_caps.unwrap_or_default().0;
    caps.sort();
    let mut text = format!(
        "{:?}\n{:?}\n{:?}\n",
        folded(&profile.name),
        limits.calls_per_minute,
        limits.burst
    );
    for (kind, cap) in caps {
        text.push_str(&format!("{kind:?}={cap}\n"));
    }
    text
}
