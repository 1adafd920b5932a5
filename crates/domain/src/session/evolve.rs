//! The state of a session: what its gate needs to know.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{
    CommandAccepted, CommandCompleted, CommandFacts, CommandKind, CommandResult, Correlation,
    Event, ItemStatus, PolicyProfile, SessionStatus, StoredConfig, TokenSource, cap,
};
use crate::bucket::{self, Level, Limit};
use crate::{By, CommandId, Origin, RunId, SessionId, Timestamp, is_removed_name};

/// Whether a session is there, and what its gate knows of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum State {
    /// It does not exist.
    #[default]
    Absent,
    /// It exists.
    Known(Arc<Session>),
}

impl State {
    /// Whether it does not exist.
    pub fn is_absent(&self) -> bool {
        *self == State::Absent
    }
}

/// What a session's gate knows. It grows with what is open or waits, with
/// repositories and actions, and with tickets where the policy looks at their
/// states; not with what has ended, but for the ids of a session that was taken
/// over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// Where it is in its life.
    pub status: SessionStatus,
    /// The session that it was begun by.
    pub parent: Option<SessionId>,
    /// The path of its repository, in its plain form; none where the record does not have it.
    pub repo: Option<String>,
    /// Its agent; none where the record does not have it.
    pub agent: Option<String>,
    /// Whether a person paused it, or may have: an import does not tell who did.
    pub paused_by_person: bool,
    /// What it may do; none where another system knows.
    pub policy: Option<Arc<PolicyProfile>>,
    /// The names of the shared buckets of the kinds that its recorded policy has caps on.
    pub buckets: Arc<[(CommandKind, String)]>,
    /// The name of the bucket of its agent's calls, if its recorded policy limits them and the record has the agent.
    pub calls: Option<Arc<str>>,
    /// After how many seconds a pending approval expires.
    pub approval_expiry_seconds: Option<u64>,
    /// After how many failures in a row it pauses; 0 is never.
    pub pause_after_failures: u32,
    /// What was approved.
    pub granted: BTreeSet<String>,
    /// Requested approvals without an answer, oldest first.
    pub pending: Vec<Pending>,
    /// Commands that wait, first come first.
    pub queue: VecDeque<PendingCommand>,
    /// Commands that were accepted and have not ended.
    pub open: BTreeMap<CommandId, OpenCommand>,
    /// The commands that ended last, at most [`LAST_ENDED`] of them, and what they belong to.
    pub ended: Arc<VecDeque<(CommandId, Correlation)>>,
    /// All commands of a session that was taken over: no batch's key says of them
    /// that they had their verdict elsewhere.
    pub commands: Option<Arc<BTreeSet<CommandId>>>,
    /// What is in the session's own bucket; that of its agent is shared, where the record has the agent.
    pub level: Option<Level>,
    /// The branch that was created last in each repository, by its path.
    pub branches: BTreeMap<String, String>,
    /// How often what would be pushed was changed, in any repository: one may have several paths.
    pub changes: u64,
    /// How often it had been changed when tests were run that passed, by the path of the repository
    /// that they were run in.
    pub tested: BTreeMap<String, u64>,
    /// When what would be pushed was changed last: when a change was accepted or ended.
    pub changed_at: Option<Timestamp>,
    /// When the tests that passed last were accepted, by the path of the repository.
    pub tested_at: BTreeMap<String, Timestamp>,
    /// How many commands failed in a row.
    pub failures: u32,
    /// The state of each ticket that was read, where the policy looks at that.
    pub work_items: Arc<BTreeMap<String, String>>,
    /// The nodes of its plan.
    pub nodes: Arc<BTreeSet<String>>,
    /// The run that goes on.
    pub run: Option<RunId>,
    /// The command that was given last, until it has its verdict.
    pub received: Option<PendingCommand>,
}

/// A requested approval without an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pending {
    /// What asks for it.
    pub request: CommandId,
    /// What it is to allow.
    pub actions: Vec<String>,
    /// Who asks.
    pub by: By,
    /// Whether a RequestApproval asks for it.
    pub explicit: bool,
    /// When it expires.
    pub expires_at: Option<Timestamp>,
}

/// A command that has no verdict yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingCommand {
    /// The command.
    pub command: CommandId,
    /// Who gave it.
    pub by: By,
    /// What the gate looks at.
    pub facts: CommandFacts,
    /// What it belongs to.
    pub correlation: Correlation,
}

/// So many commands are remembered after their end, for what they made that is known only then.
pub const LAST_ENDED: usize = 256;

/// A command that was accepted and has not ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenCommand {
    /// Who gave it; none where another system accepted it, and the command itself is not here.
    pub by: Option<By>,
    /// What the gate looked at; none where another system accepted it, and the
    /// command itself is not here.
    pub facts: Option<CommandFacts>,
    /// What it belongs to.
    pub correlation: Correlation,
    /// When it was accepted.
    pub at: Timestamp,
    /// How often what would be pushed had been changed by then.
    pub changes: u64,
}

impl Session {
    fn new(status: SessionStatus, config: Option<&StoredConfig>) -> Session {
        let mut session = Session {
            status,
            parent: None,
            repo: None,
            agent: None,
            paused_by_person: false,
            policy: None,
            buckets: Arc::default(),
            calls: None,
            approval_expiry_seconds: None,
            pause_after_failures: 0,
            granted: BTreeSet::new(),
            pending: Vec::new(),
            queue: VecDeque::new(),
            open: BTreeMap::new(),
            ended: Arc::default(),
            commands: None,
            level: None,
            branches: BTreeMap::new(),
            changes: 0,
            tested: BTreeMap::new(),
            changed_at: None,
            tested_at: BTreeMap::new(),
            failures: 0,
            work_items: Arc::default(),
            nodes: Arc::default(),
            run: None,
            received: None,
        };
        if let Some(config) = config {
            session.configure(config);
        }
        session
    }

    /// Its policy, and the buckets that follow from that: they are looked up for
    /// every command.
    fn configure(&mut self, config: &StoredConfig) {
        let policy = config.policy.policy();
        self.buckets = bucket::names_of(&policy).into();
        let limits = policy.limits.as_ref();
        let is_limited = limits.is_some_and(|limits| limits.calls_per_minute.is_some());
        let agent = config.agent.as_ref().filter(|_| is_limited);
        self.calls = agent.map(|agent| bucket::calls_name(&policy, agent).into());
        self.policy = Some(Arc::new(policy));
        self.parent = config.parent;
        self.repo.clone_from(&config.repo_path);
        self.agent.clone_from(&config.agent);
    }

    /// The name of the bucket of a kind of commands, if the session shares one.
    pub(super) fn bucket(&self, kind: CommandKind) -> Option<&str> {
        let found = self.buckets.iter().find(|(capped, _)| *capped == kind);
        found
            .map(|(_, name)| name.as_str())
            .or(self.calls.as_deref())
    }

    /// The limit of a kind of commands: the cap on it, or else that of calls.
    pub(super) fn limit_of(&self, kind: CommandKind) -> Option<Limit> {
        let policy = self.policy.as_deref()?;
        cap(policy, kind).or_else(|| self.limit())
    }

    /// The limit of calls, of the session or of its agent, if there is one.
    pub fn limit(&self) -> Option<Limit> {
        let limits = self.policy.as_ref()?.limits.as_ref()?;
        let per_minute = limits.calls_per_minute?;
        Some(Limit {
            capacity: limits.burst.unwrap_or(per_minute),
            per_minute,
        })
    }

    /// Whether tests have passed in a repository since the last change.
    pub(super) fn is_tested(&self, repo: Option<&str>) -> bool {
        let repo = repo.filter(|repo| !is_removed_name(repo));
        repo.and_then(|repo| self.tested.get(repo)) == Some(&self.changes)
    }

    /// Who gave a command that waits, or is open.
    fn giver(&self, command: CommandId) -> Option<By> {
        let mut waits = self.received.iter().chain(&self.queue);
        let waiting = waits.find(|waiting| waiting.command == command);
        let open = || self.open.get(&command)?.by.clone();
        waiting.map(|waiting| waiting.by.clone()).or_else(open)
    }

    /// Takes a command from where it waited.
    fn take(&mut self, command: CommandId) -> Option<PendingCommand> {
        if let Some(waiting) = self.received.take_if(|waiting| waiting.command == command) {
            return Some(waiting);
        }
        let place = self
            .queue
            .iter()
            .position(|waiting| waiting.command == command)?;
        self.queue.remove(place)
    }

    fn queued(&mut self, command: CommandId) {
        if let Some(waiting) = self.received.take_if(|waiting| waiting.command == command) {
            self.queue.push_back(waiting);
        }
    }

    fn accepted(&mut self, event: &CommandAccepted, at: Timestamp) {
        if event.token == TokenSource::Session
            && let Some(limit) = self.limit()
        {
            self.level = Some(limit.take(self.level, at));
        }
        let (by, facts) = match self.take(event.command) {
            Some(waiting) => (Some(waiting.by), Some(waiting.facts)),
            None => (None, None),
        };
        if facts.as_ref().is_some_and(changes_code) {
            self.change(at);
        }
        let open = OpenCommand {
            by,
            facts,
            correlation: event.correlation.clone(),
            at,
            changes: self.changes,
        };
        self.open.insert(event.command, open);
    }

    /// What would be pushed is another tree from then on.
    fn change(&mut self, at: Timestamp) {
        self.changes = self.changes.saturating_add(1);
        self.changed_at = self.changed_at.max(Some(at));
    }

    fn completed(&mut self, event: &CommandCompleted, at: Timestamp) {
        let open = self.open.remove(&event.command);
        if let Some(open) = &open {
            self.remember(event.command, open.correlation.clone());
        }
        self.failures = match event.outcome {
            CommandResult::Success => 0,
            CommandResult::Failure => self.failures.saturating_add(1),
        };
        let Some((open, facts)) = open.and_then(|mut open| {
            let facts = open.facts.take()?;
            Some((open, facts))
        }) else {
            return;
        };
        if changes_code(&facts) {
            // Tests that ran meanwhile may not have seen what it did.
            self.change(at);
        }
        if event.outcome == CommandResult::Success {
            self.succeeded(facts, open.changes, open.at);
        }
    }

    fn remember(&mut self, command: CommandId, correlation: Correlation) {
        let ended = Arc::make_mut(&mut self.ended);
        if ended.len() >= LAST_ENDED {
            ended.pop_front();
        }
        ended.push_back((command, correlation));
    }

    /// What a command belongs to that ended not long ago.
    pub(super) fn ended_command(&self, command: CommandId) -> Option<&Correlation> {
        let mut latest = self.ended.iter().rev();
        let found = latest.find(|(ended, _)| *ended == command)?;
        Some(&found.1)
    }

    /// A command was done that was accepted at a time, after so many changes.
    fn succeeded(&mut self, facts: CommandFacts, changes: u64, at: Timestamp) {
        match (facts.kind, facts.repo, facts.branch) {
            (CommandKind::CreateBranch, Some(repo), Some(branch)) => {
                if is_removed_name(&repo) {
                    // It was any of those that are known.
                    self.branches.clear();
                }
                self.branches.insert(repo, branch);
            }
            (CommandKind::RunTests, Some(repo), _) if self.counts(facts.filtered) => {
                let tested = self.tested.entry(repo.clone()).or_default();
                if changes >= *tested {
                    *tested = changes;
                    let tested_at = self.tested_at.entry(repo).or_insert(at);
                    *tested_at = at.max(*tested_at);
                }
            }
            (CommandKind::TransitionTicket, ..) => {
                if let (Some(id), Some(status)) = (facts.work_item, facts.state) {
                    self.seen(&[ItemStatus { id, status }]);
                }
            }
            _ => {}
        }
    }

    /// Whether tests count that may have left some out.
    fn counts(&self, filtered: bool) -> bool {
        !filtered
            || self
                .policy
                .as_ref()
                .is_some_and(|it| it.filtered_tests_count)
    }

    /// Whether the policy looks at the states of tickets. Others keep none.
    fn looks_at_work_items(&self) -> bool {
        self.policy
            .as_ref()
            .is_none_or(|policy| policy.allowed_work_item_transitions.is_some())
    }

    fn seen(&mut self, items: &[ItemStatus]) {
        if !self.looks_at_work_items() {
            return;
        }
        let known = Arc::make_mut(&mut self.work_items);
        for item in items {
            if is_removed_name(&item.id) {
                // It was any of those that are known.
                known.clear();
            }
            known.insert(item.id.clone(), item.status.clone());
        }
    }

    fn required(&mut self, pending: Pending) {
        // A paused session is only resumed by a command.
        if self.status != SessionStatus::Paused {
            self.status = SessionStatus::NeedsApproval;
        }
        if self
            .pending
            .iter()
            .all(|known| known.request != pending.request)
        {
            self.pending.push(pending);
        }
    }

    /// An approval was given, denied or expired.
    fn answered(&mut self, request: Option<CommandId>) {
        if self.status != SessionStatus::Paused {
            self.status = SessionStatus::Running;
        }
        let granted = &self.granted;
        self.pending.retain(|pending| {
            // A push that may be made now, or that is rejected, asks no more.
            let asks = pending.explicit || !pending.actions.iter().all(|a| granted.contains(a));
            asks && Some(pending.request) != request
        });
    }

    fn rejected_by_approval(&mut self, request: Option<CommandId>) {
        self.pending.retain(|pending| pending.explicit);
        self.answered(request);
    }

    fn ended(&mut self, status: SessionStatus) {
        self.status = status;
        self.pending.clear();
        self.queue.clear();
    }

    pub(super) fn evolve(&mut self, event: &Event, origin: &Origin<'_>) {
        if let (Some(commands), Some(command)) = (&mut self.commands, named(event)) {
            Arc::make_mut(commands).insert(command);
        }
        match event {
            Event::Paused(event) => {
                self.status = SessionStatus::Paused;
                self.paused_by_person = event.failures.is_none() && origin.is_persons;
            }
            Event::Resumed(_) => {
                self.status = SessionStatus::Running;
                self.paused_by_person = false;
                self.failures = 0;
            }
            Event::ApprovalRequired(event) => self.required(Pending {
                request: event.request,
                by: self.giver(event.request).unwrap_or_else(|| origin.by()),
                actions: event.actions.clone(),
                explicit: event.explicit,
                expires_at: event.expires_at,
            }),
            Event::Approved(event) => {
                self.granted.extend(event.actions.iter().cloned());
                self.answered(event.request);
            }
            Event::ApprovalDenied(event) => self.rejected_by_approval(event.request),
            Event::ApprovalExpired(event) => self.rejected_by_approval(Some(event.request)),
            Event::Aborted(_) => self.ended(SessionStatus::Error),
            Event::Completed(_) => self.ended(SessionStatus::Completed),
            Event::CommandReceived(event) => {
                self.received = Some(PendingCommand {
                    command: event.command,
                    by: origin.by(),
                    facts: event.facts.clone(),
                    correlation: event.correlation.clone(),
                });
            }
            Event::CommandQueued(event) => self.queued(event.command),
            Event::CommandAccepted(event) => self.accepted(event, origin.at),
            Event::CommandRejected(event) => {
                self.take(event.command);
            }
            Event::Throttled(event) => {
                if let Some(command) = event.correlation.command {
                    self.take(command);
                }
            }
            Event::CommandCompleted(event) => self.completed(event, origin.at),
            Event::PlanUpdated(event) => {
                self.nodes = Arc::new(event.nodes.iter().cloned().collect());
            }
            Event::BacklogQueried(event) => self.seen(&event.items),
            Event::WorkItemQueried(event) => self.seen(std::slice::from_ref(&event.item)),
            Event::RunAttached(event) => self.run = Some(event.run),
            Event::StatusRecorded(event) => {
                if event.status.is_terminal() {
                    self.ended(event.status);
                }
                self.status = event.status;
                // Who imports decides for the one who paused it elsewhere: it may have been a person.
                self.paused_by_person = event.status == SessionStatus::Paused;
            }
            Event::Created(_)
            | Event::Adopted(_)
            | Event::ConflictDetected(_)
            | Event::ArtifactAvailable(_)
            | Event::PlanNodeLinked(_)
            | Event::ForeignRecorded(_)
            | Event::MetadataSet(_)
            | Event::Redacted(_) => {}
        }
    }
}

/// The command that an event of a session is about.
fn named(event: &Event) -> Option<CommandId> {
    match event {
        Event::CommandReceived(event) => Some(event.command),
        Event::CommandAccepted(event) => Some(event.command),
        Event::CommandRejected(event) => Some(event.command),
        Event::CommandCompleted(event) => Some(event.command),
        Event::Throttled(event) => event.correlation.command,
        Event::ConflictDetected(event) => event.correlation.command,
        Event::ArtifactAvailable(event) => event.correlation.command,
        Event::BacklogQueried(event) => event.correlation.command,
        Event::WorkItemQueried(event) => event.correlation.command,
        _ => None,
    }
}

/// Whether tests say nothing any more after such a command: it changes what is checked out, or checks out another tree.
pub(super) fn changes_code(facts: &CommandFacts) -> bool {
    match facts.kind {
        CommandKind::ApplyPatch | CommandKind::Commit => true,
        CommandKind::CreateBranch => facts.filtered,
        _ => false,
    }
}

/// Folds one event into the state.
pub fn evolve(state: &mut State, event: &Event, origin: &Origin<'_>) {
    match (event, &mut *state) {
        (Event::Created(event), _) => {
            *state = State::Known(Arc::new(Session {
                approval_expiry_seconds: event.approval_expiry_seconds,
                pause_after_failures: event.pause_after_failures,
                ..Session::new(SessionStatus::Running, Some(&event.config))
            }));
        }
        // More of a session that was taken over may come later.
        (Event::Adopted(event), State::Known(session)) => {
            let session = Arc::make_mut(session);
            session.commands.get_or_insert_default();
            if let Some(config) = &event.config {
                session.configure(config);
            }
        }
        (Event::Adopted(event), State::Absent) => {
            let mut session = Session::new(SessionStatus::Unknown, event.config.as_ref());
            session.commands = Some(Arc::default());
            *state = State::Known(Arc::new(session));
        }
        (event, State::Known(session)) => Arc::make_mut(session).evolve(event, origin),
        (_, State::Absent) => {}
    }
}
