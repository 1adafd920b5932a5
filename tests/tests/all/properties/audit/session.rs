//! What an event of a session or of a shared bucket may be, given all events
//! before it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use annals::domain::session::{Correlation, Event};
use annals::domain::{CommandId, StreamRef, Timestamp, bucket};
use annals::projections::{Entry, RunView, TaskView};
use uuid::Uuid;

use super::Audit;

/// A session, by its events alone.
#[derive(Default)]
pub(super) struct Seen {
    /// Running, Paused, Error or Completed.
    life: &'static str,
    /// Whether a person paused it.
    by_person: bool,
    /// The approvals that are requested, and whether a RequestApproval asks.
    asks: BTreeMap<CommandId, bool>,
    /// Every command that was ever given.
    given: BTreeSet<CommandId>,
    /// The one that has no verdict yet, and those that wait for an approval.
    received: Option<CommandId>,
    waiting: VecDeque<CommandId>,
    /// Those that were accepted and have not ended.
    open: BTreeSet<CommandId>,
    /// Those that ended.
    ended: BTreeSet<CommandId>,
    nodes: BTreeSet<String>,
}

/// A shared bucket: when tokens were taken.
type Taken = Vec<Timestamp>;

#[derive(Default)]
pub(super) struct Governance {
    sessions: BTreeMap<Uuid, Seen>,
    buckets: BTreeMap<StreamRef, Taken>,
}

impl Seen {
    /// A command gets its verdict: the one that was just given, or of those that
    /// wait the one that came first.
    fn verdict(&mut self, command: CommandId) {
        if self.received.take_if(|found| *found == command).is_none() {
            assert_eq!(self.waiting.pop_front(), Some(command), "out of turn");
        }
    }

    fn is_of_open(&self, correlation: &Correlation) {
        let command = correlation.command.expect("a command");
        assert!(self.open.contains(&command), "of no open command");
    }

    fn runs(&self) {
        assert_eq!(self.life, "Running", "it does not run");
    }

    /// An approval that was requested is answered, also while the session is paused. With `all` no push asks any more.
    fn answered(&mut self, request: Option<CommandId>, all: bool) {
        let asked = request.and_then(|request| self.asks.remove(&request));
        assert!(asked.is_some(), "no approval is requested");
        self.asks.retain(|_, explicit| *explicit || !all);
        assert!(matches!(self.life, "Running" | "Paused"), "it is over");
    }

    fn ends(&mut self, life: &'static str) {
        assert!(matches!(self.life, "Running" | "Paused"), "a second end");
        assert!(self.waiting.is_empty(), "a command waits for ever");
        self.life = life;
        self.asks.clear();
    }

    /// Events of a session's life.
    fn life(&mut self, event: &Event, is_person: bool) {
        match event {
            Event::Created(_) => self.life = "Running",
            Event::Paused(event) => {
                let by_person = is_person && event.failures.is_none();
                let takes_over = self.life == "Paused" && by_person && !self.by_person;
                assert!(self.life == "Running" || takes_over, "it does not run");
                (self.life, self.by_person) = ("Paused", by_person);
            }
            Event::Resumed(_) => {
                assert_eq!(self.life, "Paused");
                assert!(is_person || !self.by_person, "a person's pause");
                (self.life, self.by_person) = ("Running", false);
            }
            Event::ApprovalRequired(event) => {
                self.runs();
                assert!(self.given.contains(&event.request));
                self.asks.insert(event.request, event.explicit);
            }
            Event::Approved(event) => {
                let pushes = event.actions.iter().any(|action| action == "Push");
                self.answered(event.request, pushes);
            }
            Event::ApprovalDenied(event) => {
                self.answered(event.request, true);
                assert!(self.waiting.is_empty(), "what waited is rejected before");
            }
            Event::ApprovalExpired(event) => {
                self.answered(Some(event.request), true);
                assert!(self.waiting.is_empty(), "what waited is rejected before");
            }
            Event::Aborted(_) => self.ends("Error"),
            Event::Completed(_) => self.ends("Completed"),
            other => self.command(other),
        }
    }

    /// Events of commands.
    fn command(&mut self, event: &Event) {
        match event {
            Event::CommandReceived(event) => {
                assert!(self.given.insert(event.command), "given twice");
                self.received = Some(event.command);
            }
            Event::CommandQueued(event) => {
                self.runs();
                assert_eq!(self.received.take(), Some(event.command));
                self.waiting.push_back(event.command);
            }
            Event::CommandAccepted(event) => {
                self.runs();
                self.verdict(event.command);
                self.open.insert(event.command);
            }
            Event::CommandRejected(event) => self.verdict(event.command),
            Event::Throttled(event) => {
                self.runs();
                self.verdict(event.correlation.command.expect("a command"));
            }
            Event::CommandCompleted(event) => {
                assert!(self.open.remove(&event.command), "of no open command");
                self.ended.insert(event.command);
            }
            Event::ConflictDetected(event) => self.is_of_open(&event.correlation),
            Event::ArtifactAvailable(event) => {
                // It may be the session's own, and known only after its command's end.
                let command = event.correlation.command;
                let is_ended = command.is_none_or(|command| self.ended.contains(&command));
                if !is_ended {
                    self.is_of_open(&event.correlation);
                }
            }
            Event::BacklogQueried(event) => self.is_of_open(&event.correlation),
            Event::WorkItemQueried(event) => self.is_of_open(&event.correlation),
            Event::PlanUpdated(event) => {
                self.nodes = event.nodes.iter().cloned().collect();
                assert_eq!(self.nodes.len(), event.nodes.len(), "a node twice");
            }
            Event::PlanNodeLinked(event) => {
                assert!(self.nodes.contains(&event.node), "no node of the plan");
            }
            Event::RunAttached(_) | Event::MetadataSet(_) | Event::Redacted(_) => {}
            other => panic!("no command leads to {other:?}"),
        }
    }
}

impl Audit {
    pub(super) fn check_session(&mut self, entry: &Entry, event: &Event) {
        match event {
            Event::Created(event) => {
                assert_eq!(entry.version.0, 1, "a session is created once");
                let parent = event.config.parent;
                assert!(parent.is_none_or(|id| self.governance.sessions.contains_key(&id.0)));
            }
            Event::PlanNodeLinked(event) => drop(self.the::<TaskView>(event.task)),
            Event::RunAttached(event) => {
                let run: RunView = self.the(event.run);
                assert!(!matches!(run.status().name(), "completed" | "failed"));
            }
            _ => {}
        }
        let session = self.governance.sessions.entry(entry.stream.id).or_default();
        assert!(
            session.received.is_none() || is_verdict(event),
            "a command without its verdict"
        );
        session.life(event, entry.actor.kind.as_str() == "human");
    }

    pub(super) fn check_bucket(&mut self, entry: &Entry, event: &bucket::Event) {
        let bucket::Event::Taken(event) = event else {
            return;
        };
        let session = self.governance.sessions.get(&event.session.0);
        let open = session.is_some_and(|session| session.open.contains(&event.command));
        assert!(open, "a token for no accepted command");
        let taken = self.governance.buckets.entry(entry.stream).or_default();
        taken.push(entry.occurred_at);
        let elapsed = entry.occurred_at.to_utc() - taken[0].to_utc();
        let refilled = elapsed.num_seconds() * i64::from(event.per_minute) / 60;
        let most = i64::from(event.capacity) + refilled;
        assert!(taken.len() as i64 <= most, "more tokens than there are");
    }
}

fn is_verdict(event: &Event) -> bool {
    matches!(
        event,
        Event::CommandQueued(_)
            | Event::CommandAccepted(_)
            | Event::CommandRejected(_)
            | Event::Throttled(_)
    )
}
