//! What an import must not overrule in a session: what this log itself recorded of it.

use std::collections::BTreeSet;

use super::{Event, SessionStatus};
use crate::folding::folded;
use crate::origin::is_human;
use crate::{ActorKind, ActorRef, CommandId, SessionId};

/// The id of the actor, of the kind system, in whose name events of other systems' sessions are recorded. No command is
/// given in its name.
pub const IMPORTER: &str = "contracts";

/// Returns `true` if this actor is the one in whose name events of other systems are recorded.
pub(crate) fn is_importer(actor: &ActorRef) -> bool {
    actor.kind == ActorKind::System && actor.id == IMPORTER
}

/// Returns `true` if an actor's id reads like that of the importer.
pub(crate) fn reads_like_importer(actor: &ActorRef) -> bool {
    actor.kind == ActorKind::System && folded(&actor.id) == IMPORTER
}

/// What this log itself recorded of a session, as far as an import must not overrule it (docs/contracts.md, Import).
///
/// Fold all events of the session by [`OwnWork::note`], with their actors, before [`OwnWork::refusal`] is asked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OwnWork {
    /// Whether commands of this log were about the session.
    has_events: bool,
    /// Whether this log's gate judged one of its commands.
    has_judged: bool,
    /// Whether its plan is this log's own.
    has_plan: bool,
    /// Commands whose ends this log recorded.
    ended: BTreeSet<CommandId>,
    /// Whether a person imported something of the session, or may have, or set metadata of it.
    has_persons: bool,
    /// Whether a person imported a status of the session, or may have.
    has_persons_status: bool,
    /// The status that only a person undoes.
    held: Option<Held>,
}

/// A status that only a person's import undoes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Held {
    /// A person imported it, or may have.
    ByPerson(SessionStatus),
    /// An end that another importer brought after a person's status.
    EndAfterPerson(SessionStatus),
}

/// Why an import must not record something of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Overruling {
    /// The status of a session that this log works in.
    #[error(
        "this log has events of its own about the session, so that no import changes its status; change it by a \
         command (pause_session, resume_session, complete_session, abort_session), or import into another log"
    )]
    Status,
    /// A status that undoes what a person imported.
    #[error(
        "the session is {0} by a person's import, which only a person undoes; let a person run the import, with \
         --actor human:NAME"
    )]
    PersonsStatus(SessionStatus),
    /// A status that lets a session run again which ended after a person imported its status.
    #[error(
        "an import ended the session ({0}) after a person had imported its status, and only a person's import lets it \
         run again; let a person run the import, with --actor human:NAME"
    )]
    EndAfterPerson(SessionStatus),
    /// A verdict or a result, where this log's gate judges.
    #[error(
        "this log's gate judged a command of the session, so that no import brings verdicts or results for it; give \
         commands by submit_command and results by complete_command, or import into another log"
    )]
    Verdict,
    /// A result of a command whose end this log recorded.
    #[error("this log recorded the end of the command {0} itself; import into another log")]
    Ended(CommandId),
    /// A plan, where this log has its own.
    #[error(
        "the session's plan is this log's own; change it by update_plan, or import into another log"
    )]
    Plan,
    /// A configuration of a session that this log works in.
    #[error(
        "this log has events of its own about the session, so that no import configures it; create a session, or \
         import into another log"
    )]
    Configuration,
    /// A configuration by an importer that is not a person, of a session of which a person imported something.
    #[error(
        "a person imported something of the session, so that only a person's import configures it; let a person run \
         the import, with --actor human:NAME"
    )]
    PersonsSession,
    /// The configuration of a child of a session that this log works in, or that a person imported.
    #[error(
        "it is a child of session {0}, about which this log has events of its own or something that a person imported, \
         so that only a person's import configures it; create it by a command (create_session), or let a person run the \
         import, with --actor human:NAME"
    )]
    Child(SessionId),
}

/// Whether an import is a person's; without an importer it is.
fn is_a_persons(importer: Option<&ActorRef>) -> bool {
    importer.is_none_or(is_human)
}

impl OwnWork {
    /// Takes in an event of the session, which this actor caused.
    pub fn note(&mut self, event: &Event, actor: &ActorRef) {
        if is_importer(actor) {
            let is_persons = actor.may_be_imported_by_a_person();
            self.has_persons |= is_persons;
            if let Event::StatusRecorded(event) = event {
                self.note_status(event.status, is_persons);
            }
            return;
        }
        match event {
            // Removed content says nothing of the session's life.
            Event::Redacted(_) => return,
            // Nor does metadata: an agent that sets some keeps no person's import from pausing the session.
            Event::MetadataSet(_) => {
                self.has_persons |= is_human(actor);
                return;
            }
            Event::CommandReceived(_)
            | Event::CommandQueued(_)
            | Event::CommandAccepted(_)
            | Event::CommandRejected(_)
            | Event::Throttled(_) => self.has_judged = true,
            Event::CommandCompleted(event) => {
                self.ended.insert(event.command);
            }
            Event::PlanUpdated(_) => self.has_plan = true,
            _ => {}
        }
        self.has_events = true;
    }

    /// Takes in a status that an import recorded. What a person imported stays remembered under any later status of
    /// another importer.
    fn note_status(&mut self, status: SessionStatus, is_persons: bool) {
        self.has_persons_status |= is_persons;
        let is_held = !matches!(status, SessionStatus::Unknown | SessionStatus::Running);
        match is_persons {
            true => self.held = is_held.then_some(Held::ByPerson(status)),
            false if self.has_persons_status && status.is_terminal() => {
                self.held = Some(Held::EndAfterPerson(status));
            }
            false => {}
        }
    }

    /// Why an import by this importer must not record an event; `None` if it may. Without an importer it is a person's.
    pub fn refusal(&self, event: &Event, importer: Option<&ActorRef>) -> Option<Overruling> {
        match event {
            Event::StatusRecorded(event) => self.of_status(event.status, importer),
            Event::PlanUpdated(_) => self.has_plan.then_some(Overruling::Plan),
            Event::CommandAccepted(_) | Event::CommandRejected(_) | Event::Throttled(_) => {
                self.has_judged.then_some(Overruling::Verdict)
            }
            Event::CommandCompleted(event) => self.of_result(Some(event.command)),
            Event::ConflictDetected(event) => self.of_result(event.correlation.command),
            Event::ArtifactAvailable(event) => self.of_result(event.correlation.command),
            Event::BacklogQueried(event) => self.of_result(event.correlation.command),
            Event::WorkItemQueried(event) => self.of_result(event.correlation.command),
            Event::Adopted(event) if event.config.is_some() => self.of_configuration(importer),
            _ => None,
        }
    }

    /// Why an import by this importer must not configure a child of this session; `None` if it may. Nothing holds an
    /// imported configuration to the policy of the session that began it.
    pub fn refusal_of_child(
        &self,
        parent: SessionId,
        importer: Option<&ActorRef>,
    ) -> Option<Overruling> {
        let is_bound = self.has_events || self.has_persons;
        (is_bound && !is_a_persons(importer)).then_some(Overruling::Child(parent))
    }

    fn of_configuration(&self, importer: Option<&ActorRef>) -> Option<Overruling> {
        if self.has_events {
            return Some(Overruling::Configuration);
        }
        let is_refused = self.has_persons && !is_a_persons(importer);
        is_refused.then_some(Overruling::PersonsSession)
    }

    fn of_status(&self, to: SessionStatus, importer: Option<&ActorRef>) -> Option<Overruling> {
        if self.has_events {
            return Some(Overruling::Status);
        }
        match self.held.filter(|_| !is_a_persons(importer))? {
            Held::ByPerson(from) => {
                let holds = from.is_terminal() || !to.is_terminal();
                (holds && to != from).then_some(Overruling::PersonsStatus(from))
            }
            Held::EndAfterPerson(end) => {
                (!to.is_terminal()).then_some(Overruling::EndAfterPerson(end))
            }
        }
    }

    fn of_result(&self, command: Option<CommandId>) -> Option<Overruling> {
        if self.has_judged {
            return Some(Overruling::Verdict);
        }
        let ended = command.filter(|command| self.ended.contains(command));
        ended.map(Overruling::Ended)
    }
}

#[cfg(test)]
mod tests;
