//! What an event of a session, or of a bucket that sessions share, changed.

use annals_domain::session::{
    Adopted, ApprovalRequired, Approved, CommandCompleted, CommandRejected, ConflictDetected,
    Created, Event, Paused, Throttled,
};
use annals_domain::{CommandId, bucket};

use super::words::{because, count, excerpt, metadata, quoted, redacted, short};
use crate::{Entry, Status, Text};

/// A word that another system may have chosen, in a form that fits into a line.
fn word(text: &str) -> String {
    excerpt(&Text::from(text))
}

pub(super) fn session(event: &Event, entry: &Entry) -> String {
    match event {
        Event::Created(event) => created(event, entry),
        Event::Adopted(event) => adopted(event, entry),
        Event::Paused(event) => paused(event, entry),
        Event::Resumed(event) => format!("resumed{}", because(entry, event.reason)),
        Event::ApprovalRequired(event) => approval_required(event),
        Event::Approved(event) => approved(event, entry),
        Event::ApprovalDenied(event) => {
            let reason = quoted(entry, event.reason);
            format!("approval denied{}: {reason}", asked_by(event.request))
        }
        Event::ApprovalExpired(event) => {
            format!("approval expired{}", asked_by(Some(event.request)))
        }
        Event::Aborted(event) => format!("aborted{}", because(entry, event.reason)),
        Event::Completed(event) => format!("completed{}", because(entry, event.reason)),
        Event::CommandReceived(event) => {
            let kind = event.facts.kind;
            format!("command {} {kind} received", short(event.command))
        }
        Event::CommandQueued(event) => format!("queued {}", short(event.command)),
        Event::CommandAccepted(event) => format!("accepted {}", short(event.command)),
        Event::CommandRejected(event) => rejected(event, entry),
        Event::Throttled(event) => throttled(event, entry),
        Event::CommandCompleted(event) => completed(event, entry),
        Event::ConflictDetected(event) => conflict(event, entry),
        Event::ArtifactAvailable(event) => {
            let (name, by) = (quoted(entry, event.name), by(event.correlation.command));
            format!("{} {name} available{by}", event.kind)
        }
        Event::PlanUpdated(event) => {
            let nodes = count(event.nodes.len(), "node", "nodes");
            format!("plan replaced, {nodes}")
        }
        Event::PlanNodeLinked(event) => {
            let task = short(event.task);
            format!("node {} became task {task}", word(&event.node))
        }
        Event::BacklogQueried(event) => {
            let tickets = count(event.items.len(), "ticket", "tickets");
            let more = if event.more { ", and more" } else { "" };
            format!("backlog read, {tickets}{more}")
        }
        Event::WorkItemQueried(event) => {
            let (id, status) = (word(&event.item.id), word(&event.item.status));
            format!("ticket {id} read: {status}")
        }
        Event::RunAttached(event) => format!("run {} attached", short(event.run)),
        Event::StatusRecorded(event) => {
            let status = Status::from(event.status).word();
            format!("status -> {status}{}", because(entry, event.reason))
        }
        Event::ForeignRecorded(event) => format!("{} kept as it came", word(&event.kind)),
        Event::MetadataSet(event) => metadata(event),
        Event::Redacted(event) => redacted(event, entry),
    }
}

pub(super) fn bucket(event: &bucket::Event, entry: &Entry) -> String {
    match event {
        bucket::Event::Taken(event) => {
            let profile = quoted(entry, event.profile);
            format!(
                "token taken by command {} {} of session {} under {profile}",
                short(event.command),
                event.kind,
                short(event.session)
            )
        }
        bucket::Event::Redacted(event) => redacted(event, entry),
    }
}

fn created(event: &Created, entry: &Entry) -> String {
    let config = &event.config;
    let parent = config.parent.map(|id| format!(", begun by {}", short(id)));
    format!(
        "created for {} under {}{}",
        quoted(entry, config.agent_profile),
        word(&config.policy.name),
        parent.unwrap_or_default()
    )
}

fn adopted(event: &Adopted, entry: &Entry) -> String {
    let under = event.config.as_ref().map(|config| {
        let agent = quoted(entry, config.agent_profile);
        format!(", {agent} under {}", word(&config.policy.name))
    });
    format!(
        "session {} adopted from {}{}",
        short(entry.stream.id),
        event.dialect.name(),
        under.unwrap_or_default()
    )
}

fn paused(event: &Paused, entry: &Entry) -> String {
    let after = event.failures.map(|failures| {
        let failures = usize::try_from(failures).unwrap_or(usize::MAX);
        format!(" after {}", count(failures, "failure", "failures"))
    });
    format!(
        "paused{}{}",
        after.unwrap_or_default(),
        because(entry, event.reason)
    )
}

fn approval_required(event: &ApprovalRequired) -> String {
    let until = event.expires_at.map(|time| format!(", until {time}"));
    format!(
        "approval of {} required{}{}",
        list(&event.actions),
        by(Some(event.request)),
        until.unwrap_or_default()
    )
}

fn approved(event: &Approved, entry: &Entry) -> String {
    let (actions, to) = (list(&event.actions), asked_by(event.request));
    format!("approved {actions}{to}{}", because(entry, event.reason))
}

fn throttled(event: &Throttled, entry: &Entry) -> String {
    let command = event.correlation.command;
    let command = command.map(|command| format!(" {}", short(command)));
    format!(
        "throttled{} until {}: {}",
        command.unwrap_or_default(),
        event.retry_after,
        quoted(entry, event.scope)
    )
}

fn conflict(event: &ConflictDetected, entry: &Entry) -> String {
    let (repo, details) = (quoted(entry, event.repo.name), quoted(entry, event.details));
    let by = by(event.correlation.command);
    format!("conflict in {repo}{by}: {details}")
}

fn rejected(event: &CommandRejected, entry: &Entry) -> String {
    let rule = event.rule.as_ref();
    let rule = rule.map(|rule| format!(" by {}", word(rule.as_str())));
    format!(
        "rejected {}{}: {}",
        short(event.command),
        rule.unwrap_or_default(),
        quoted(entry, event.reason)
    )
}

fn completed(event: &CommandCompleted, entry: &Entry) -> String {
    let code = entry.optional_text(event.error_code);
    let code = code.map(|code| format!(", code {}", excerpt(&code)));
    format!(
        "completed {} with {}{}{}",
        short(event.command),
        event.outcome,
        code.unwrap_or_default(),
        because(entry, event.message)
    )
}

fn by(command: Option<CommandId>) -> String {
    command.map_or(String::new(), |command| format!(" by {}", short(command)))
}

fn asked_by(request: Option<CommandId>) -> String {
    request.map_or(String::new(), |request| format!(" to {}", short(request)))
}

fn list(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|text| word(text)).collect();
    match words.as_slice() {
        [] => "nothing".to_owned(),
        words => words.join(", "),
    }
}
