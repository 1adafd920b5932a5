//! From the contracts to the log: an object as the events that record it.
//!
//! It is recorded as it was: nothing of it is judged.

use annals_domain::session as log;
use annals_domain::session::{
    AgentCommand, CommandBody, RejectionRule, StoredRepo, TokenSource, WorkItemSummary,
};
use annals_domain::{AnyEvent, Pieces, Refusal};

use super::command::ContractCommand;
use super::core_type::Correlation;
use super::event::{ContractEvent, EventBody};
use super::object::{Foreign, Object};

/// An object as events of its session's stream, with their content: one, or
/// several for a long backlog, of which the first one carries the object's id.
///
/// # Errors
/// [`Refusal::Invalid`], if a part of it cannot be written as JSON.
pub fn record(object: &Object) -> Result<Vec<(AnyEvent, Pieces)>, Refusal> {
    let events = match object {
        Object::Command(command) => vec![record_command(command)?],
        Object::Event(event) => record_event(event)?,
        Object::Foreign(foreign) => vec![record_foreign(foreign)],
    };
    let any = |(event, pieces)| (AnyEvent::Session(event), pieces);
    Ok(events.into_iter().map(any).collect())
}

type Recorded = (log::Event, Pieces);

impl Correlation {
    /// The same, as an event of the session's own stream has it.
    fn stored(&self) -> log::Correlation {
        log::Correlation {
            command: self.command,
            parent: self.parent,
            plan_node: self.plan_node.clone(),
        }
    }
}

fn record_command(command: &ContractCommand) -> Result<Recorded, Refusal> {
    let correlation = command.correlation.stored();
    let given = AgentCommand::new(command.id, command.body.clone())
        .with_parent(correlation.parent)
        .with_plan_node(correlation.plan_node.clone());
    let mut pieces = Pieces::new();
    let mut event = given.received(correlation, &mut pieces)?;
    if let CommandBody::Commit(commit) = &given.body {
        // What the other system's own gate took for files.
        event.facts.files = u32::try_from(commit.include_paths.len()).ok();
    }
    Ok((event.into(), pieces))
}

fn record_foreign(foreign: &Foreign) -> Recorded {
    let mut pieces = Pieces::new();
    let event = log::ForeignRecorded {
        kind: foreign.kind.clone(),
        // It goes out as it came, to the byte.
        raw: pieces.text(foreign.raw.text()),
    };
    (event.into(), pieces)
}

fn record_event(event: &ContractEvent) -> Result<Vec<Recorded>, Refusal> {
    let correlation = event.correlation.stored();
    let mut pieces = Pieces::new();
    let event: log::Event = match &event.body {
        EventBody::CommandAccepted(body) => log::CommandAccepted {
            command: body.command_id,
            token: TokenSource::None,
            correlation,
        }
        .into(),
        EventBody::CommandRejected(body) => log::CommandRejected {
            command: body.command_id,
            reason: pieces.text(body.reason.as_str()),
            rule: body.policy_rule.as_deref().map(RejectionRule::from_word),
            correlation,
        }
        .into(),
        EventBody::CommandCompleted(body) => log::CommandCompleted {
            command: body.command_id,
            outcome: body.outcome,
            message: pieces.optional_text(body.message.as_deref()),
            error_code: pieces.optional_text(body.error_code.as_deref()),
            correlation,
        }
        .into(),
        EventBody::ArtifactAvailable(body) => {
            log::ArtifactAvailable::store(&body.artifact, correlation, &mut pieces).into()
        }
        EventBody::Throttled(body) => log::Throttled {
            scope: pieces.text(body.scope.as_str()),
            retry_after: body.retry_after,
            correlation,
        }
        .into(),
        EventBody::ConflictDetected(body) => log::ConflictDetected {
            repo: StoredRepo::store(&body.repo, &mut pieces),
            details: pieces.text(body.details.as_str()),
            patch: pieces.optional_text(body.patch_content.as_deref()),
            correlation,
        }
        .into(),
        EventBody::SessionStatusChanged(body) => log::StatusRecorded {
            status: body.status,
            reason: pieces.optional_text(body.reason.as_deref()),
            correlation,
        }
        .into(),
        EventBody::PlanUpdated(body) => {
            log::PlanUpdated::store(&body.plan, correlation, &mut pieces)?.into()
        }
        EventBody::BacklogQueried(body) => return backlog(&body.items, &correlation),
        EventBody::WorkItemQueried(body) => {
            log::WorkItemQueried::store(&body.details, correlation, &mut pieces)?.into()
        }
    };
    Ok(vec![(event, pieces)])
}

fn backlog(
    items: &[WorkItemSummary],
    correlation: &log::Correlation,
) -> Result<Vec<Recorded>, Refusal> {
    let parts = log::BacklogQueried::store(items, correlation)?;
    let recorded = |(event, pieces): (log::BacklogQueried, Pieces)| (event.into(), pieces);
    Ok(parts.into_iter().map(recorded).collect())
}
