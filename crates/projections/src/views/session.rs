//! The view of a session (docs/spec/contracts.md).
//!
//! What the session's gate decides by (status, approvals, queue, open commands) is
//! the very fold that decisions are made by; the rest is folded here.

mod commands;
mod config;
mod plan;
mod results;
mod shown;
mod waiting;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use annals_domain::session::{Event, Session, SessionStatus, State, StoredConfig, TaskNode};
use annals_domain::{AnyEvent, CommandId, RunId, Slot, TaskId, session};

use self::commands::Commands;
use self::waiting::Waiting;
use crate::views::Project;
use crate::{Entry, HeaderView, Text, WorkItemView};

pub use self::commands::{CommandCounts, CommandView, OutcomeView};
pub use self::config::{RepoView, SessionConfigView, WorkItemRefView};
pub use self::plan::{PlanNodeView, SessionPlanView};
pub use self::results::{ConflictView, SessionArtifactView};
pub use self::waiting::{OpenCommandView, PendingApprovalView, QueuedCommandView};

/// An agent's work under a policy. It serialises as a JSON object of our own, in
/// which the policy and the plan are Contracts v1.1's.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionView {
    /// The common header.
    pub header: HeaderView,
    /// Why its status is what it is, if a reason was given.
    pub reason: Option<Text>,
    /// How it is set up; none where another system kept that to itself.
    pub config: Option<SessionConfigView>,
    /// Its plan.
    pub plan: SessionPlanView,
    /// What its commands made, oldest first.
    pub artifacts: Vec<SessionArtifactView>,
    /// Conflicts that its commands met, oldest first.
    pub conflicts: Vec<ConflictView>,
    /// The runs that went on in it, by when they were attached last: the last
    /// one goes on.
    pub runs: Vec<RunId>,
    /// Tickets as its commands read them last, by their ids.
    pub work_items: BTreeMap<String, WorkItemView>,
    gate: State,
    commands: Commands,
    waiting: Waiting,
    attached: BTreeSet<RunId>,
}

impl SessionView {
    /// Where it is in its life.
    pub fn status(&self) -> SessionStatus {
        let status = |session: &Session| session.status;
        self.session().map_or(SessionStatus::Unknown, status)
    }

    /// What its gate knows of it, which is what decisions are made by.
    pub fn gate(&self) -> &State {
        &self.gate
    }

    /// After how many seconds an unanswered approval expires; none is
    /// never.
    pub fn approval_expiry_seconds(&self) -> Option<u64> {
        self.session()?.approval_expiry_seconds
    }

    /// After how many failures in a row it pauses; 0 is never.
    pub fn pause_after_failures(&self) -> u32 {
        self.session()
            .map_or(0, |session| session.pause_after_failures)
    }

    /// How many commands failed in a row.
    pub fn failures(&self) -> u32 {
        self.session().map_or(0, |session| session.failures)
    }

    /// Requested approvals without an answer, oldest first.
    pub fn pending_approvals(&self) -> Vec<PendingApprovalView> {
        self.of_session(|session| self.waiting.pending(session))
    }

    /// What was approved, by its words.
    pub fn granted_actions(&self) -> Vec<String> {
        self.of_session(|session| session.granted.iter().cloned().collect())
    }

    /// Commands that wait for an approval, in their order.
    pub fn queue(&self) -> Vec<QueuedCommandView> {
        self.of_session(|session| self.waiting.queue(session))
    }

    /// Commands that were accepted and have not ended, oldest first.
    pub fn open_commands(&self) -> Vec<OpenCommandView> {
        self.of_session(waiting::open)
    }

    /// How many commands there were, and what became of them.
    pub fn counts(&self) -> &CommandCounts {
        &self.commands.counts
    }

    /// The last 20 commands, oldest first.
    pub fn last_commands(&self) -> impl Iterator<Item = &CommandView> {
        self.commands.last.iter()
    }

    /// How many commands there were before the last ones.
    pub fn earlier_commands(&self) -> u64 {
        self.commands.earlier
    }

    /// Nodes of its plan that can be begun, as
    /// [`SessionPlanView::ready_nodes`] says.
    pub fn ready_nodes(&self, done: impl Fn(TaskId) -> bool) -> Vec<&TaskNode> {
        self.plan.ready_nodes(done)
    }

    fn session(&self) -> Option<&Session> {
        match &self.gate {
            State::Known(session) => Some(session),
            State::Absent => None,
        }
    }

    fn of_session<T>(&self, read: impl Fn(&Session) -> Vec<T>) -> Vec<T> {
        self.session().map(read).unwrap_or_default()
    }

    /// Whether its gate knows of a command now.
    fn knows(&self, command: CommandId) -> bool {
        self.session().is_some_and(|session| {
            let mut waiting = session.queue.iter().chain(&session.received);
            session.open.contains_key(&command) || waiting.any(|waiting| waiting.command == command)
        })
    }

    fn configure(&mut self, config: Option<&StoredConfig>, entry: &Entry) {
        if let Some(config) = config {
            self.config = Some(SessionConfigView::read(config, entry));
        }
    }

    fn because(&mut self, reason: Option<Slot>, entry: &Entry) {
        self.reason = entry.optional_text(reason);
    }

    /// A verdict on a command, before the gate's fold takes it from where it
    /// waited.
    fn judged(&mut self, command: CommandId, entry: &Entry) {
        let is_known = self.knows(command);
        self.commands.judged(command, entry, is_known);
        self.waiting.judged(command);
    }

    fn attach(&mut self, run: RunId) {
        if !self.attached.insert(run) {
            self.runs.retain(|known| *known != run);
        }
        self.runs.push(run);
    }

    fn read_work_items(&mut self, entry: &Entry) {
        for mut item in WorkItemView::read(entry) {
            if let Some(known) = self.work_items.get_mut(&item.id) {
                item.details = item.details.or_else(|| known.details.take());
            }
            self.work_items.insert(item.id.clone(), item);
        }
    }

    fn note(&mut self, event: &Event, entry: &Entry) {
        match event {
            Event::Created(event) => {
                self.reason = None;
                self.configure(Some(&event.config), entry);
            }
            Event::Adopted(event) => self.configure(event.config.as_ref(), entry),
            Event::Paused(event) => {
                self.because(event.reason, entry);
                if let (None, Some(failures)) = (&self.reason, event.failures) {
                    self.reason = Some(Text::Present(format!("{failures} failures in a row")));
                }
            }
            Event::Resumed(event) => self.because(event.reason, entry),
            Event::ApprovalRequired(event) => {
                self.reason = None;
                self.waiting.asked(event.request, entry.occurred_at);
            }
            Event::Approved(event) => self.because(event.reason, entry),
            Event::ApprovalDenied(event) => self.because(Some(event.reason), entry),
            Event::ApprovalExpired(_) => self.reason = None,
            Event::Aborted(event) => self.because(event.reason, entry),
            Event::Completed(event) => self.because(event.reason, entry),
            Event::CommandReceived(event) => {
                self.commands.received(event, entry);
                self.waiting.received(event, entry);
            }
            Event::CommandQueued(event) => {
                self.judged(event.command, entry);
                self.waiting.queued(event.command, entry.occurred_at);
            }
            Event::CommandAccepted(event) => {
                self.commands.counts.accepted += 1;
                self.judged(event.command, entry);
            }
            Event::CommandRejected(event) => {
                self.commands.rejected(event);
                self.judged(event.command, entry);
            }
            Event::Throttled(event) => {
                self.commands.counts.throttled += 1;
                if let Some(command) = event.correlation.command {
                    self.judged(command, entry);
                }
            }
            Event::CommandCompleted(event) => {
                let is_known = self.knows(event.command);
                self.commands.completed(event, entry, is_known);
            }
            Event::ConflictDetected(event) => {
                self.conflicts.push(ConflictView::read(event, entry));
            }
            Event::ArtifactAvailable(event) => {
                self.artifacts.push(SessionArtifactView::read(event, entry));
            }
            Event::PlanUpdated(event) => self.plan.replace(event, entry),
            Event::PlanNodeLinked(event) => self.plan.link(event),
            Event::BacklogQueried(_) | Event::WorkItemQueried(_) => self.read_work_items(entry),
            Event::RunAttached(event) => self.attach(event.run),
            Event::StatusRecorded(event) => self.because(event.reason, entry),
            Event::ForeignRecorded(_) | Event::MetadataSet(_) | Event::Redacted(_) => {}
        }
    }

    /// What was waited for may be over now.
    fn settle(&mut self, event: &Event) {
        let may_answer = matches!(
            event,
            Event::Created(_)
                | Event::Approved(_)
                | Event::ApprovalDenied(_)
                | Event::ApprovalExpired(_)
                | Event::Aborted(_)
                | Event::Completed(_)
                | Event::StatusRecorded(_)
        );
        if let (true, State::Known(session)) = (may_answer, &self.gate) {
            self.waiting.answered(session);
        }
    }
}

impl Project for SessionView {
    fn create(header: HeaderView, entry: &Entry) -> Option<SessionView> {
        let AnyEvent::Session(Event::Created(_) | Event::Adopted(_)) = &entry.event else {
            return None;
        };
        let mut view = SessionView {
            header,
            reason: None,
            config: None,
            plan: SessionPlanView::default(),
            artifacts: Vec::new(),
            conflicts: Vec::new(),
            runs: Vec::new(),
            work_items: BTreeMap::new(),
            gate: State::Absent,
            commands: Commands::default(),
            waiting: Waiting::default(),
            attached: BTreeSet::new(),
        };
        view.evolve(entry);
        Some(view)
    }

    fn evolve(&mut self, entry: &Entry) {
        let AnyEvent::Session(event) = &entry.event else {
            return;
        };
        self.note(event, entry);
        session::evolve(&mut self.gate, event, &entry.origin());
        self.settle(event);
    }
}
