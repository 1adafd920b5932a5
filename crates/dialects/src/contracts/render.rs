//! From the log to the contracts: what a session's events show.

use annals_domain::session as log;
use annals_domain::session::{SessionStatus, WorkItemSummary};
use annals_domain::{AnyEvent, SessionId};
use annals_event_log::Digest;
use annals_projections::{Entry, PieceValue};

use super::command::ContractCommand;
use super::content::Content;
use super::core_type::Correlation;
use super::event::{
    ArtifactAvailable, BacklogQueried, CommandAccepted, CommandCompleted, CommandRejected,
    ConflictDetected, ContractEvent, EventBody, PlanUpdated, SessionStatusChanged, Throttled,
    WorkItemQueried,
};
use super::object::{Foreign, Object};

/// Which commands are shown in addition to the events. The contracts keep them apart, but
/// what another system recorded comes back as it came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Commands {
    /// Those of sessions that were taken over.
    #[default]
    Adopted,
    /// All.
    All,
}

/// What an event shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Rendered {
    /// The object.
    pub object: Object,
    /// Whether content of it was removed or is not at hand: `[removed]` is in
    /// its place, and a file is empty.
    pub incomplete: bool,
}

/// Shows the events of one session as objects of the contracts. It is given all
/// entries of the session's stream, in their order, from the first one on.
#[derive(Debug, Clone)]
pub struct Renderer {
    commands: Commands,
    /// Whether the session was taken over; none before its first event.
    adopted: Option<bool>,
    /// The status that was shown last.
    status: SessionStatus,
    /// A backlog of which not all parts were given.
    backlog: Option<Backlog>,
}

/// The parts of a backlog so far.
#[derive(Debug, Clone)]
struct Backlog {
    event: ContractEvent,
    items: Vec<WorkItemSummary>,
    incomplete: bool,
}

impl Backlog {
    fn whole(self) -> Rendered {
        let body = BacklogQueried { items: self.items };
        Rendered {
            object: Object::Event(ContractEvent {
                body: body.into(),
                ..self.event
            }),
            incomplete: self.incomplete,
        }
    }
}

impl Renderer {
    /// Begins with a session's first event.
    pub fn new(commands: Commands) -> Renderer {
        Renderer {
            commands,
            adopted: None,
            status: SessionStatus::Unknown,
            backlog: None,
        }
    }

    fn shows_commands(&self) -> bool {
        self.commands == Commands::All || self.adopted == Some(true)
    }

    /// The content of a file that the next entry's object has in it, to be given
    /// with that entry. It is stored by itself and fetched by its digest.
    pub fn wanted(&self, entry: &Entry) -> Option<Digest> {
        let AnyEvent::Session(log::Event::CommandReceived(event)) = &entry.event else {
            return None;
        };
        let slot = event.file.filter(|_| self.shows_commands())?;
        match entry.pieces.get(usize::from(slot.0))? {
            PieceValue::Attachment { digest, .. } => Some(*digest),
            PieceValue::Bytes(_) | PieceValue::Removed => None,
        }
    }

    /// The objects that the next entry shows: mostly one or none. `file` is what
    /// [`Renderer::wanted`] asks for.
    pub fn render(&mut self, entry: &Entry, file: Option<&[u8]>) -> Vec<Rendered> {
        let AnyEvent::Session(event) = &entry.event else {
            return Vec::new();
        };
        if self.adopted.is_none() {
            self.adopted = Some(matches!(event, log::Event::Adopted(_)));
        }
        if let log::Event::BacklogQueried(event) = event {
            return self.backlog(entry, event);
        }
        let mut shown: Vec<Rendered> = self.finish().into_iter().collect();
        let content = Content::of(entry);
        let object = self.object(entry, event, &content, file);
        shown.extend(object.map(|object| Rendered {
            object,
            incomplete: content.is_incomplete(),
        }));
        shown
    }

    /// What is left when no entry follows: a backlog that goes on behind the last
    /// one.
    pub fn finish(&mut self) -> Option<Rendered> {
        self.backlog.take().map(Backlog::whole)
    }

    /// Joins the parts of a backlog. It has the first one's id.
    fn backlog(&mut self, entry: &Entry, event: &log::BacklogQueried) -> Vec<Rendered> {
        let content = Content::of(entry);
        let items = content.backlog(event);
        let correlation = correlation(entry, &event.correlation);
        let continued = self
            .backlog
            .take_if(|begun| begun.event.correlation == correlation);
        let mut shown: Vec<Rendered> = self.finish().into_iter().collect();
        let mut backlog = continued.unwrap_or_else(|| Backlog {
            event: ContractEvent {
                id: entry.event_id,
                correlation,
                body: BacklogQueried { items: Vec::new() }.into(),
            },
            items: Vec::new(),
            incomplete: false,
        });
        backlog.items.extend(items);
        backlog.incomplete |= content.is_incomplete();
        if event.more {
            self.backlog = Some(backlog);
        } else {
            shown.push(backlog.whole());
        }
        shown
    }

    fn object(
        &mut self,
        entry: &Entry,
        event: &log::Event,
        content: &Content<'_>,
        file: Option<&[u8]>,
    ) -> Option<Object> {
        match event {
            log::Event::CommandReceived(event) if self.shows_commands() => {
                return Some(Object::Command(ContractCommand {
                    id: event.command,
                    correlation: correlation(entry, &event.correlation),
                    body: content.command(event, file),
                }));
            }
            log::Event::ForeignRecorded(event) => {
                return Some(Object::Foreign(Foreign {
                    kind: event.kind.clone(),
                    raw: content.foreign(event)?,
                }));
            }
            _ => {}
        }
        let (correlation, body) = match self.status_of(event, content) {
            Some(body) => (
                correlation(entry, &log::Correlation::default()),
                body.into(),
            ),
            None => result(entry, event, content)?,
        };
        if let EventBody::SessionStatusChanged(body) = &body {
            self.status = body.status;
        }
        Some(Object::Event(ContractEvent {
            id: entry.event_id,
            correlation,
            body,
        }))
    }

    /// The status that an event of the session's own life brings, and why: what happened, and the
    /// words of who did it.
    fn status_of(&self, event: &log::Event, content: &Content<'_>) -> Option<SessionStatusChanged> {
        // An answer does not resume a paused session.
        let answered = match self.status {
            SessionStatus::Paused => SessionStatus::Paused,
            _ => SessionStatus::Running,
        };
        let (status, what, words) = match event {
            log::Event::Created(_) => (SessionStatus::Running, "Session created", None),
            log::Event::Resumed(event) => (SessionStatus::Running, "Session resumed", event.reason),
            log::Event::Approved(event) => (answered, "Session approved", event.reason),
            log::Event::ApprovalDenied(event) => (answered, "Approval denied", Some(event.reason)),
            log::Event::ApprovalExpired(_) => (answered, "Approval expired", None),
            // A person's pause of a paused session changes no status.
            log::Event::Paused(_) if self.status == SessionStatus::Paused => return None,
            // One who is asked already is not asked again.
            log::Event::ApprovalRequired(_) if self.status == SessionStatus::NeedsApproval => {
                return None;
            }
            log::Event::ApprovalRequired(_) => (
                SessionStatus::NeedsApproval,
                "Session requires approval",
                None,
            ),
            log::Event::Aborted(event) => (SessionStatus::Error, "Session aborted", event.reason),
            log::Event::Completed(event) => {
                (SessionStatus::Completed, "Session completed", event.reason)
            }
            log::Event::Paused(log::Paused {
                failures: Some(failures),
                ..
            }) => {
                let reason = format!("Session paused after {failures} consecutive failures");
                return Some(SessionStatusChanged {
                    status: SessionStatus::Paused,
                    reason: Some(reason),
                });
            }
            log::Event::Paused(event) => (SessionStatus::Paused, "Session paused", event.reason),
            log::Event::Adopted(_)
            | log::Event::CommandReceived(_)
            | log::Event::CommandQueued(_)
            | log::Event::CommandAccepted(_)
            | log::Event::CommandRejected(_)
            | log::Event::Throttled(_)
            | log::Event::CommandCompleted(_)
            | log::Event::ConflictDetected(_)
            | log::Event::ArtifactAvailable(_)
            | log::Event::PlanUpdated(_)
            | log::Event::PlanNodeLinked(_)
            | log::Event::BacklogQueried(_)
            | log::Event::WorkItemQueried(_)
            | log::Event::RunAttached(_)
            | log::Event::StatusRecorded(_)
            | log::Event::ForeignRecorded(_)
            | log::Event::MetadataSet(_)
            | log::Event::Redacted(_) => return None,
        };
        let reason = match content.optional_text(words) {
            Some(words) => format!("{what}: {words}"),
            None => what.to_owned(),
        };
        Some(SessionStatusChanged {
            status,
            reason: Some(reason),
        })
    }
}

/// What an event belongs to, with its session.
fn correlation(entry: &Entry, stored: &log::Correlation) -> Correlation {
    Correlation {
        session: SessionId(entry.stream.id),
        command: stored.command,
        parent: stored.parent,
        plan_node: stored.plan_node.clone(),
    }
}

/// The result of a command, or what was reported of the session, under its own name.
fn result(
    entry: &Entry,
    event: &log::Event,
    content: &Content<'_>,
) -> Option<(Correlation, EventBody)> {
    let (stored, body): (_, EventBody) = match event {
        log::Event::CommandAccepted(event) => {
            let command_id = event.command;
            (&event.correlation, CommandAccepted { command_id }.into())
        }
        log::Event::CommandRejected(event) => {
            let body = CommandRejected {
                command_id: event.command,
                reason: content.text(event.reason),
                policy_rule: event.rule.as_ref().map(|rule| rule.as_str().to_owned()),
            };
            (&event.correlation, body.into())
        }
        log::Event::CommandCompleted(event) => {
            let body = CommandCompleted {
                command_id: event.command,
                outcome: event.outcome,
                message: content.optional_text(event.message),
                error_code: content.optional_text(event.error_code),
            };
            (&event.correlation, body.into())
        }
        log::Event::Throttled(event) => {
            let body = Throttled {
                scope: content.text(event.scope),
                retry_after: event.retry_after,
            };
            (&event.correlation, body.into())
        }
        log::Event::ConflictDetected(event) => {
            let body = ConflictDetected {
                repo: content.repo(event.repo),
                details: content.text(event.details),
                patch_content: content.optional_text(event.patch),
            };
            (&event.correlation, body.into())
        }
        log::Event::ArtifactAvailable(event) => {
            let artifact = content.artifact(event);
            (&event.correlation, ArtifactAvailable { artifact }.into())
        }
        log::Event::PlanUpdated(event) => {
            let plan = content.plan(event);
            (&event.correlation, PlanUpdated { plan }.into())
        }
        log::Event::WorkItemQueried(event) => {
            let details = content.work_item(event);
            (&event.correlation, WorkItemQueried { details }.into())
        }
        log::Event::StatusRecorded(event) => {
            let body = SessionStatusChanged {
                status: event.status,
                reason: content.optional_text(event.reason),
            };
            (&event.correlation, body.into())
        }
        _ => return None,
    };
    Some((correlation(entry, stored), body))
}
