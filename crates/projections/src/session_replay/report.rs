//! What a replay of sessions answers.

use std::collections::BTreeMap;

use annals_domain::session::{CommandKind, CommandResult};
use annals_domain::{CommandId, SessionId, Timestamp};
use annals_event_log::Position;
use serde::{Serialize, Serializer};

use super::Aftermath;

/// What became of a command in the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// It was accepted.
    Accepted,
    /// It was rejected.
    Rejected,
    /// It came too early.
    Throttled,
    /// It waits for an approval that was not given.
    Queued,
}

impl Class {
    /// All of them.
    pub const ALL: [Class; 4] = [
        Class::Accepted,
        Class::Rejected,
        Class::Throttled,
        Class::Queued,
    ];

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Class::Accepted => "accepted",
            Class::Rejected => "rejected",
            Class::Throttled => "throttled",
            Class::Queued => "queued",
        }
    }
}

/// A verdict: what became of a command, and by which rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Said {
    /// What became of it.
    pub verdict: Class,
    /// The rule: the policy's own word for it, the session's status, the rate
    /// limit or the approval; none for what was accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// From when on a throttled command may be given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<Timestamp>,
}

/// How many commands had which verdict.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verdicts(pub(super) BTreeMap<Class, u64>);

impl Verdicts {
    /// How many had this one.
    pub fn of(&self, class: Class) -> u64 {
        self.0.get(&class).copied().unwrap_or(0)
    }

    pub(super) fn add(&mut self, class: Class) {
        *self.0.entry(class).or_default() += 1;
    }
}

impl Serialize for Verdicts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(
            Class::ALL
                .iter()
                .map(|class| (class.word(), self.of(*class))),
        )
    }
}

/// Commands that cannot be judged again, by why.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Unknown {
    /// Another system judged them, and they are not here themselves.
    pub no_command: u64,
    /// Only the rate could decide, and their stream has no times of its own.
    pub no_times: u64,
    /// Names that the gate looks at in them were removed by a redaction.
    pub no_names: u64,
    /// The profile protects branches, limits files or requires tests, and their caller did not say the
    /// branch, the files, or that what is pushed is what is checked out.
    pub unsaid: u64,
}

/// Approvals that were requested, and that would be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Approvals {
    /// Those that were requested, by the record.
    pub recorded: u64,
    /// That the profile would ask for.
    pub under_profile: u64,
    /// That the profile asks for and the record has not.
    pub asked: u64,
    /// That the record has and the profile does not ask for.
    pub saved: u64,
}

/// How many verdicts flip in one way, by one rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FlipCount {
    /// The verdict that was recorded.
    pub from: Class,
    /// The verdict under the profile.
    pub to: Class,
    /// The rule that flips it: the profile's, or, for what it accepts, the one
    /// that was recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// How many.
    pub count: u64,
}

/// A command whose verdict flips.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Flip {
    /// The session.
    pub session: SessionId,
    /// The command.
    pub command: CommandId,
    /// What it is.
    pub kind: CommandKind,
    /// Where the log has its first verdict.
    #[serde(serialize_with = "crate::history::position")]
    pub position: Position,
    /// The verdict that was recorded.
    pub recorded: Said,
    /// The verdict under the profile.
    pub under_profile: Said,
    /// How it ended, if it was accepted and has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<CommandResult>,
    /// What was recorded in the session and its runs after that verdict.
    pub afterwards: Aftermath,
}

/// What became of recorded commands under another profile.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SessionsReplay {
    /// The profile's name.
    pub profile: String,
    /// Up to where the log was read.
    #[serde(serialize_with = "crate::history::position")]
    pub through: Position,
    /// How many sessions there are.
    pub sessions: u64,
    /// How many commands were given in them.
    pub commands: u64,
    /// Of those, how many were judged again and compared.
    pub judged: u64,
    /// How many have no recorded verdict to compare with: another system gave
    /// none, or its answer is not in the record.
    pub without_verdict: u64,
    /// How many cannot be judged again.
    pub unknown: Unknown,
    /// The verdicts that were recorded, of those that were judged again.
    pub recorded: Verdicts,
    /// The verdicts under the profile, of the same ones and of those without a
    /// recorded verdict.
    pub under_profile: Verdicts,
    /// How many verdicts flip, and how.
    pub flips: Vec<FlipCount>,
    /// Approvals.
    pub approvals: Approvals,
    /// Each command whose verdict flips, in the order of the log.
    pub flipped: Vec<Flip>,
}

impl SessionsReplay {
    /// How many verdicts flip.
    pub fn flip_count(&self) -> u64 {
        self.flips.iter().map(|flip| flip.count).sum()
    }
}
