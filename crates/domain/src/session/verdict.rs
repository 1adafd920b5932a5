//! What the gate answers.

use serde::{Serialize, Serializer};

use super::{CommandKind, Event, RejectionRule};
use crate::{AnyEvent, CommandId, Emitted, Slot, Timestamp};

/// What became of a command when it was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It may be done.
    Accepted,
    /// It may not be done.
    Rejected {
        /// Why.
        reason: String,
        /// By which rule of the policy.
        rule: Option<RejectionRule>,
    },
    /// It came too early.
    Throttled {
        /// What is limited.
        scope: String,
        /// From when on it may be given again, under another id: this one is throttled for ever.
        retry_after: Timestamp,
    },
    /// It waits for an approval. Given again under this id it is answered with this verdict, also when the approval was
    /// answered; what became of it is in the session's view: in its queue while it waits, then among the open commands
    /// or, if it was rejected, the last ones.
    Queued,
}

impl Verdict {
    /// The verdict on a command that an event says. `text` reads a piece of the
    /// event's content.
    pub fn of(
        event: &AnyEvent,
        command: CommandId,
        text: impl Fn(Slot) -> String,
    ) -> Option<Verdict> {
        let AnyEvent::Session(event) = event else {
            return None;
        };
        match event {
            Event::CommandAccepted(event) if event.command == command => Some(Verdict::Accepted),
            Event::CommandQueued(event) if event.command == command => Some(Verdict::Queued),
            Event::CommandRejected(event) if event.command == command => Some(Verdict::Rejected {
                reason: text(event.reason),
                rule: event.rule.clone(),
            }),
            Event::Throttled(event) if event.correlation.command == Some(command) => {
                Some(Verdict::Throttled {
                    scope: text(event.scope),
                    retry_after: event.retry_after,
                })
            }
            _ => None,
        }
    }

    /// The command that was given, by what was decided, and its verdict.
    pub fn among(emitted: &[Emitted]) -> Option<(CommandId, CommandKind, Verdict)> {
        let received = emitted.iter().find_map(|one| match &one.event {
            AnyEvent::Session(Event::CommandReceived(event)) => Some(event),
            _ => None,
        })?;
        let command = received.command;
        let verdict = emitted.iter().find_map(|one| {
            let text = |slot: Slot| {
                let piece = one.pieces.list().get(usize::from(slot.0));
                piece.map_or_else(String::new, |piece| {
                    String::from_utf8_lossy(&piece.bytes).into_owned()
                })
            };
            Verdict::of(&one.event, command, text)
        })?;
        Some((command, received.facts.kind, verdict))
    }

    /// The word for it, as Contracts v1.1 calls the event; Queued is our own.
    pub fn word(&self) -> &'static str {
        match self {
            Verdict::Accepted => "CommandAccepted",
            Verdict::Rejected { .. } => "CommandRejected",
            Verdict::Throttled { .. } => "Throttled",
            Verdict::Queued => "Queued",
        }
    }

    /// Whether the command may be done.
    pub fn is_accepted(&self) -> bool {
        *self == Verdict::Accepted
    }
}

impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("kind", self.word())?;
        match self {
            Verdict::Accepted | Verdict::Queued => {}
            Verdict::Rejected { reason, rule } => {
                map.serialize_entry("reason", reason)?;
                if let Some(rule) = rule {
                    map.serialize_entry("policy_rule", rule)?;
                }
            }
            Verdict::Throttled { scope, retry_after } => {
                map.serialize_entry("scope", scope)?;
                map.serialize_entry("retry_after", retry_after)?;
            }
        }
        map.end()
    }
}
