//! The commands of a session: how many there were, and the last ones.

use std::collections::{BTreeMap, VecDeque};

use annals_domain::session::{
    CommandCompleted, CommandKind, CommandReceived, CommandRejected, CommandResult, Verdict,
};
use annals_domain::{CommandId, Timestamp};
use serde::Serialize;

use crate::{Entry, Text};

/// Commands that are shown one by one. More would make the view as large as the
/// history.
pub(super) const SHOWN: usize = 20;

/// How many commands there were, and what became of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct CommandCounts {
    /// Commands that were given. In a session that another system kept they need
    /// not have been recorded.
    pub commands: u64,
    /// Those that were accepted.
    pub accepted: u64,
    /// Those that were rejected.
    pub rejected: u64,
    /// Of these, how many by which rule of the policy (docs/spec/contracts.md,
    /// PolicyRule). Those that came while no command was accepted broke none.
    pub rejected_by_rule: BTreeMap<String, u64>,
    /// Those that came too early.
    pub throttled: u64,
    /// Those that ended with success.
    pub completed: u64,
    /// Those that ended with failure.
    pub failed: u64,
}

/// One command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CommandView {
    /// The command.
    pub id: CommandId,
    /// What it is; none where another system recorded its verdict alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<CommandKind>,
    /// When the first event on it happened.
    pub given_at: Timestamp,
    /// What the gate answered last. A reason that was removed is `[removed]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// How it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<OutcomeView>,
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OutcomeView {
    /// Whether it did what it was to do.
    pub result: CommandResult,
    /// What is to be said of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<Text>,
    /// The number or word of what went wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_code: Option<Text>,
    /// When it ended.
    pub ended_at: Timestamp,
}

/// All that is kept of commands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Commands {
    pub(super) counts: CommandCounts,
    pub(super) last: VecDeque<CommandView>,
    /// How many there were before the last ones.
    pub(super) earlier: u64,
}

impl Commands {
    pub(super) fn received(&mut self, event: &CommandReceived, entry: &Entry) {
        self.counts.commands += 1;
        self.add(event.command, Some(event.facts.kind), entry.occurred_at);
    }

    pub(super) fn rejected(&mut self, event: &CommandRejected) {
        self.counts.rejected += 1;
        if let Some(rule) = &event.rule {
            let rules = &mut self.counts.rejected_by_rule;
            *rules.entry(rule.as_str().to_owned()).or_default() += 1;
        }
    }

    /// Records the verdict on a command that an entry gives. `is_known` says
    /// whether the session knew of the command before.
    pub(super) fn judged(&mut self, id: CommandId, entry: &Entry, is_known: bool) {
        let verdict = Verdict::of(&entry.event, id, |slot| entry.text(slot).to_string());
        if let Some(command) = self.find(id, entry, is_known) {
            command.verdict = verdict;
        }
    }

    pub(super) fn completed(&mut self, event: &CommandCompleted, entry: &Entry, is_known: bool) {
        match event.outcome {
            CommandResult::Success => self.counts.completed += 1,
            CommandResult::Failure => self.counts.failed += 1,
        }
        if let Some(command) = self.find(event.command, entry, is_known) {
            command.outcome = Some(OutcomeView::read(event, entry));
        }
    }

    fn add(&mut self, id: CommandId, kind: Option<CommandKind>, given_at: Timestamp) {
        if self.last.len() >= SHOWN {
            self.last.pop_front();
            self.earlier += 1;
        }
        self.last.push_back(CommandView {
            id,
            kind,
            given_at,
            verdict: None,
            outcome: None,
        });
    }

    /// A command among the last ones. One that was not known is a new one; one
    /// that was given too long ago is not shown again.
    fn find(&mut self, id: CommandId, entry: &Entry, is_known: bool) -> Option<&mut CommandView> {
        let place = self.last.iter().rposition(|command| command.id == id);
        match place {
            Some(place) => self.last.get_mut(place),
            None if is_known => None,
            None => {
                self.add(id, None, entry.occurred_at);
                self.last.back_mut()
            }
        }
    }
}

impl OutcomeView {
    fn read(event: &CommandCompleted, entry: &Entry) -> OutcomeView {
        OutcomeView {
            result: event.outcome,
            message: entry.optional_text(event.message),
            error_code: entry.optional_text(event.error_code),
            ended_at: entry.occurred_at,
        }
    }
}
