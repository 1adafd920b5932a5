//! One session under the candidate profile: its own state, next to what was
//! recorded.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use annals_domain::session::{
    ApprovalDenied, ApprovalExpired, ApprovalRequired, Approved, CommandAccepted, CommandFacts,
    CommandKind, CommandQueued, CommandRejected, Event, Judgement, PUSH, PendingCommand,
    PolicyProfile, RATE_LIMIT_SCOPE, RejectionRule, Session, SessionStatus, State, Throttled,
    TokenSource, closed, evolve, judge, lacks_names, needs_approval,
};
use annals_domain::{By, CommandId, Origin, SessionId, Slot, Timestamp, bucket, folded};

use super::{Class, Said};

/// The rule that lets a command wait, in the report's words.
pub(super) const APPROVAL_REQUIRED: &str = "Approval required";

/// What was found out about a session before it is judged again.
#[derive(Debug, Default)]
pub(super) struct Known {
    adopted: bool,
    facts: HashMap<CommandId, CommandFacts>,
    /// The last verdict on each command.
    judged: HashMap<CommandId, Class>,
    /// Commands that were dealt with.
    dealt: HashSet<CommandId>,
    /// Its agent, where the record has it.
    agent: Option<String>,
    /// The session that began it.
    parent: Option<SessionId>,
    /// The agents of the sessions above, other than its own: what it does counts as their calls, too.
    above: BTreeSet<String>,
    /// Commands that were rejected for what became of the session that began it, which no profile decides.
    under_closed: HashSet<CommandId>,
}

impl Known {
    /// By the session's first event.
    pub(super) fn new(first: &Event) -> Known {
        Known {
            adopted: !matches!(first, Event::Created(_)),
            agent: agent_of(first),
            parent: parent_of(first),
            ..Known::default()
        }
    }

    /// Whether another system kept it.
    pub(super) fn is_adopted(&self) -> bool {
        self.adopted
    }

    /// Its agent, where the record has it.
    pub(super) fn agent(&self) -> Option<&str> {
        self.agent.as_deref()
    }

    /// The session that began it, where the record has that.
    pub(super) fn parent(&self) -> Option<SessionId> {
        self.parent
    }

    /// Takes in the agent of a session above.
    pub(super) fn add_above(&mut self, agent: &str) {
        if self.agent() != Some(agent) {
            self.above.insert(agent.to_owned());
        }
    }

    /// Whether more must be known of it than its first event.
    pub(super) fn looks_ahead(&self) -> bool {
        self.adopted || self.parent.is_some()
    }

    pub(super) fn note(&mut self, event: &Event) {
        if self.agent.is_none() {
            self.agent = agent_of(event);
        }
        self.parent = self.parent.or(parent_of(event));
        if let Event::CommandRejected(event) = event
            && event.rule == Some(RejectionRule::ParentClosed)
        {
            self.under_closed.insert(event.command);
        }
        if !self.adopted {
            return;
        }
        if let Event::CommandReceived(event) = event {
            self.facts.insert(event.command, event.facts.clone());
        }
        if let Some((command, class)) = verdict_on(event) {
            self.judged.insert(command, class);
        }
    }

    /// Whether a command has a verdict somewhere in the record. A session of
    /// ours gives each command one.
    pub(super) fn is_judged(&self, command: CommandId) -> bool {
        !self.adopted || self.judged.contains_key(&command)
    }

    /// Records that a command is dealt with; whether it was not before. Other
    /// systems may give several verdicts, or the command after its verdict.
    pub(super) fn deal_with(&mut self, command: CommandId) -> bool {
        !self.adopted || self.dealt.insert(command)
    }

    /// Whether the command was accepted in the end.
    pub(super) fn was_accepted(&self, command: CommandId) -> bool {
        self.judged.get(&command) == Some(&Class::Accepted)
    }

    /// Whether an adopted session's event tells of a command that is not here.
    fn is_unknown(&self, command: Option<CommandId>) -> bool {
        self.adopted && command.is_none_or(|command| !self.facts.contains_key(&command))
    }

    fn facts(&self, command: CommandId) -> Option<&CommandFacts> {
        self.facts.get(&command)
    }
}

/// The agent of the session that an event sets up, as its bucket is named.
fn agent_of(event: &Event) -> Option<String> {
    let config = match event {
        Event::Created(event) => &event.config,
        Event::Adopted(event) => event.config.as_ref()?,
        _ => return None,
    };
    config.agent.as_deref().map(folded)
}

/// The session that began the one that an event sets up.
pub(super) fn parent_of(event: &Event) -> Option<SessionId> {
    match event {
        Event::Created(event) => event.config.parent,
        Event::Adopted(event) => event.config.as_ref()?.parent,
        _ => None,
    }
}

/// The verdict that an event says, and on which command.
pub(super) fn verdict_on(event: &Event) -> Option<(CommandId, Class)> {
    match event {
        Event::CommandQueued(event) => Some((event.command, Class::Queued)),
        Event::CommandAccepted(event) => Some((event.command, Class::Accepted)),
        Event::CommandRejected(event) => Some((event.command, Class::Rejected)),
        Event::Throttled(event) => Some((event.correlation.command?, Class::Throttled)),
        _ => None,
    }
}

/// What the candidate says of a command.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Answer {
    Said(Said),
    /// Only the rate could say, and there are no times.
    NoTimes,
    /// Names that the gate looks at were removed by a redaction.
    NoNames,
    /// The profile asks for something of a commit that its caller did not say.
    Unsaid,
}

/// A session under the candidate profile.
#[derive(Debug)]
pub(super) struct Simulated {
    pub(super) known: Known,
    candidate: Arc<PolicyProfile>,
    state: State,
    /// Verdicts of commands that waited, which came later.
    pub(super) settled: Vec<(CommandId, Answer)>,
    /// The commands that requested an approval.
    pub(super) asked: BTreeSet<CommandId>,
    /// Whether the recorded queue was rejected since an approval was requested.
    denied: Option<RejectionRule>,
    /// What asked in the record as a command, and not as a push that waited.
    explicit: HashSet<CommandId>,
    /// The status that another system said last, and how often it requested an
    /// approval; by which command it does not say.
    recorded: SessionStatus,
    pub(super) asked_elsewhere: u64,
}

/// A bucket that sessions share, under the candidate.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum SharedBucket {
    /// Of a kind that it has a cap on.
    Cap(CommandKind),
    /// Of an agent's calls.
    Calls(String),
}

/// What is in the buckets that sessions share.
pub(super) type Buckets = HashMap<SharedBucket, bucket::Level>;

impl Simulated {
    pub(super) fn new(known: Known, candidate: Arc<PolicyProfile>) -> Simulated {
        Simulated {
            known,
            candidate,
            state: State::Absent,
            settled: Vec::new(),
            asked: BTreeSet::new(),
            denied: None,
            explicit: HashSet::new(),
            recorded: SessionStatus::Unknown,
            asked_elsewhere: 0,
        }
    }

    fn session(&self) -> Option<&Session> {
        match &self.state {
            State::Known(session) => Some(session),
            State::Absent => None,
        }
    }

    fn status(&self) -> SessionStatus {
        self.session()
            .map_or(SessionStatus::Unknown, |session| session.status)
    }

    fn happens(&mut self, event: impl Into<Event>, at: Timestamp) {
        // Who gave a command has no say in how it is judged.
        let origin = Origin::recorded(at, "", "", None);
        evolve(&mut self.state, &event.into(), &origin);
    }

    /// The session's own profile has no say here.
    fn under_candidate(&mut self) {
        if let State::Known(session) = &mut self.state {
            Arc::make_mut(session).policy = Some(Arc::clone(&self.candidate));
        }
    }

    /// What the gate looks at in a command that has its verdict now.
    pub(super) fn waiting(&self, command: CommandId) -> Option<PendingCommand> {
        let received = self.session().and_then(|session| session.received.as_ref());
        if let Some(waiting) = received.filter(|waiting| waiting.command == command) {
            return Some(waiting.clone());
        }
        self.known.facts(command).map(|facts| PendingCommand {
            command,
            by: By::default(),
            facts: facts.clone(),
            correlation: annals_domain::session::Correlation {
                command: Some(command),
                ..Default::default()
            },
        })
    }

    /// What was recorded, but for verdicts, where it can happen here too.
    pub(super) fn record(&mut self, event: &Event, at: Timestamp, buckets: &mut Buckets) {
        let status = self.status();
        match event {
            Event::Created(_) | Event::Adopted(_) => {
                self.happens(event.clone(), at);
                self.under_candidate();
            }
            Event::Paused(paused) if !status.is_terminal() => {
                if self.has_cause(paused.failures) {
                    self.happens(event.clone(), at);
                }
            }
            Event::Resumed(_) if status == SessionStatus::Paused => {
                self.happens(event.clone(), at);
                self.drain(at, buckets);
                self.ask_on(at);
            }
            Event::Approved(event) => self.approved(event, at, buckets),
            Event::ApprovalDenied(event) => {
                let rule = RejectionRule::ApprovalDenied;
                self.denied(event.request, &rule, at);
            }
            Event::ApprovalExpired(event) => {
                let rule = RejectionRule::ApprovalExpired;
                self.denied(Some(event.request), &rule, at);
            }
            Event::Aborted(_) => self.ended(event, SessionStatus::Error, at),
            Event::Completed(_) => self.ended(event, SessionStatus::Completed, at),
            Event::StatusRecorded(recorded) => self.status_recorded(recorded.status, at, buckets),
            Event::CommandRejected(event) => {
                let by_approval = |rule: &&RejectionRule| {
                    matches!(
                        rule,
                        RejectionRule::ApprovalDenied | RejectionRule::ApprovalExpired
                    )
                };
                if let Some(rule) = event.rule.as_ref().filter(by_approval) {
                    self.denied = Some(rule.clone());
                }
            }
            Event::CommandCompleted(ended) => self.result(Some(ended.command), event, at),
            Event::BacklogQueried(read) => self.result(read.correlation.command, event, at),
            Event::WorkItemQueried(read) => self.result(read.correlation.command, event, at),
            Event::ApprovalRequired(required) => {
                if required.explicit {
                    self.explicit.insert(required.request);
                }
            }
            Event::CommandReceived(_) | Event::PlanUpdated(_) | Event::RunAttached(_) => {
                self.happens(event.clone(), at);
            }
            Event::Paused(_)
            | Event::Resumed(_)
            | Event::CommandQueued(_)
            | Event::CommandAccepted(_)
            | Event::Throttled(_)
            | Event::ConflictDetected(_)
            | Event::ArtifactAvailable(_)
            | Event::PlanNodeLinked(_)
            | Event::ForeignRecorded(_)
            | Event::MetadataSet(_)
            | Event::Redacted(_) => {}
        }
    }

    /// A result happens where its command was accepted here too, or where it is not
    /// known what it was.
    fn result(&mut self, command: Option<CommandId>, event: &Event, at: Timestamp) {
        let open =
            |session: &Session| command.is_some_and(|command| session.open.contains_key(&command));
        if self.session().is_some_and(open) || self.known.is_unknown(command) {
            self.happens(event.clone(), at);
        }
    }

    /// Whether a pause has its cause here: a person's always, and one after
    /// failures if these commands failed here too.
    fn has_cause(&self, failures: Option<u32>) -> bool {
        failures.is_none_or(|failures| {
            self.session()
                .is_some_and(|session| session.failures >= failures)
        })
    }

    /// Judges a command, and lets its verdict happen. `timed` says whether the
    /// record knows when it was given.
    pub(super) fn judge(
        &mut self,
        waiting: &PendingCommand,
        at: Timestamp,
        timed: bool,
        buckets: &mut Buckets,
    ) -> Option<Answer> {
        let bucket = self.bucket(waiting.facts.kind);
        let level = bucket.and_then(|bucket| buckets.get(&bucket).copied());
        let session = self.session()?;
        let is_open = closed(session.status).is_none();
        if is_open && self.known.under_closed.contains(&waiting.command) {
            let rule = RejectionRule::ParentClosed;
            let word = rule.as_str().to_owned();
            self.reject(waiting.command, Some(rule), at);
            return Some(Answer::Said(said(Class::Rejected, Some(word))));
        }
        if is_open && lacks_names(session, &waiting.facts) {
            return Some(Answer::NoNames);
        }
        let judged = judge(session, &waiting.facts, at, level).ok()?;
        let judged = self.within_above(waiting.facts.kind, judged, at, buckets);
        // What a bucket says is a matter of times.
        let by_rate = matches!(
            judged,
            Judgement::Throttled { .. }
                | Judgement::Accepted {
                    token: TokenSource::Session | TokenSource::Shared
                }
        );
        if !timed && by_rate {
            return Some(Answer::NoTimes);
        }
        Some(self.let_happen(waiting, judged, at, buckets))
    }

    /// Lets a command be accepted whose rate cannot be judged.
    pub(super) fn accept_unjudged(&mut self, waiting: &PendingCommand, at: Timestamp) {
        let token = TokenSource::None;
        self.accept(waiting, token, at);
    }

    fn accept(&mut self, waiting: &PendingCommand, token: TokenSource, at: Timestamp) {
        let waits = |queued: &PendingCommand| queued.command == waiting.command;
        if !self
            .session()
            .is_some_and(|session| session.queue.iter().any(waits))
        {
            self.remember(waiting);
        }
        let accepted = CommandAccepted {
            command: waiting.command,
            token,
            correlation: waiting.correlation.clone(),
        };
        self.happens(accepted, at);
        if waiting.facts.kind == CommandKind::RequestApproval {
            self.require(waiting.command, waiting.facts.actions.clone(), true, at);
        }
    }

    fn let_happen(
        &mut self,
        waiting: &PendingCommand,
        judged: Judgement,
        at: Timestamp,
        buckets: &mut Buckets,
    ) -> Answer {
        Answer::Said(match judged {
            Judgement::Unsaid(_) => return Answer::Unsaid,
            Judgement::Accepted { token } => {
                if token == TokenSource::Shared {
                    self.take(waiting.facts.kind, at, buckets);
                }
                self.accept(waiting, token, at);
                said(Class::Accepted, None)
            }
            Judgement::Rejected { reason, rule } => {
                let word = rule
                    .as_ref()
                    .map_or(reason, |rule| rule.as_str().to_owned());
                self.reject(waiting.command, rule, at);
                said(Class::Rejected, Some(word))
            }
            Judgement::Throttled { retry_after } => {
                let throttled = Throttled {
                    scope: Slot(0),
                    retry_after,
                    correlation: waiting.correlation.clone(),
                };
                self.happens(throttled, at);
                Said {
                    retry_after: Some(retry_after),
                    ..said(Class::Throttled, Some(RATE_LIMIT_SCOPE.to_owned()))
                }
            }
            Judgement::Queued => {
                let queued = CommandQueued {
                    command: waiting.command,
                    correlation: waiting.correlation.clone(),
                };
                self.remember(waiting);
                self.happens(queued, at);
                let asks = self
                    .session()
                    .is_some_and(|session| session.pending.iter().all(|pending| pending.explicit));
                if asks {
                    self.require(waiting.command, vec![PUSH.to_owned()], false, at);
                }
                said(Class::Queued, Some(APPROVAL_REQUIRED.to_owned()))
            }
        })
    }

    /// A command whose verdict comes after those of others is received again.
    fn remember(&mut self, waiting: &PendingCommand) {
        if let State::Known(session) = &mut self.state {
            Arc::make_mut(session).received = Some(waiting.clone());
        }
    }

    fn take(&self, kind: CommandKind, at: Timestamp, buckets: &mut Buckets) {
        let calls = self.session().and_then(Session::limit);
        let limit = annals_domain::session::cap(&self.candidate, kind).or(calls);
        if let (Some(limit), Some(bucket)) = (limit, self.bucket(kind)) {
            let above = self.above(kind);
            for bucket in above.into_iter().chain([bucket]) {
                let level = limit.take(buckets.get(&bucket).copied(), at);
                buckets.insert(bucket, level);
            }
        }
    }

    /// The buckets of the sessions above from which a command of a kind takes a token, too. A cap's is its own.
    fn above(&self, kind: CommandKind) -> Vec<SharedBucket> {
        let is_capped = annals_domain::session::cap(&self.candidate, kind).is_some();
        let above = self.known.above.iter().filter(|_| !is_capped);
        above.cloned().map(SharedBucket::Calls).collect()
    }

    /// A judgement, where the buckets of the sessions above have a say, too.
    fn within_above(
        &self,
        kind: CommandKind,
        judged: Judgement,
        at: Timestamp,
        buckets: &Buckets,
    ) -> Judgement {
        let limit = self.session().and_then(Session::limit);
        let (Some(limit), Judgement::Accepted { .. }) = (limit, &judged) else {
            return judged;
        };
        let above = self.above(kind);
        let retry = |bucket: &SharedBucket| limit.check(buckets.get(bucket).copied(), at).err();
        match above.iter().filter_map(retry).max() {
            Some(retry_after) => Judgement::Throttled { retry_after },
            None => judged,
        }
    }

    /// The bucket that a command of a kind takes a token from, if sessions share it.
    fn bucket(&self, kind: CommandKind) -> Option<SharedBucket> {
        if annals_domain::session::cap(&self.candidate, kind).is_some() {
            return Some(SharedBucket::Cap(kind));
        }
        let agent = self.session()?.agent.as_deref().map(folded);
        agent.map(SharedBucket::Calls)
    }

    fn reject(&mut self, command: CommandId, rule: Option<RejectionRule>, at: Timestamp) {
        let rejected = CommandRejected {
            command,
            reason: Slot(0),
            rule,
            correlation: Default::default(),
        };
        self.happens(rejected, at);
    }

    fn require(&mut self, request: CommandId, actions: Vec<String>, explicit: bool, at: Timestamp) {
        self.asked.insert(request);
        let required = ApprovalRequired {
            request,
            actions,
            explicit,
            expires_at: None,
        };
        self.happens(required, at);
    }

    /// The request that is open here and was answered in the record: the same, or the
    /// push that waits here for the one that waited there.
    /// `push` says whether the answer was one on pushes.
    fn answered(&self, request: Option<CommandId>, push: bool) -> Option<(CommandId, Vec<String>)> {
        let session = self.session()?;
        if !matches!(
            session.status,
            SessionStatus::NeedsApproval | SessionStatus::Paused
        ) {
            return None;
        }
        let same = session
            .pending
            .iter()
            .find(|pending| Some(pending.request) == request);
        let mut others = session.pending.iter().filter(|_| push);
        let found = same.or_else(|| others.find(|pending| !pending.explicit))?;
        Some((found.request, found.actions.clone()))
    }

    fn approved(&mut self, event: &Approved, at: Timestamp, buckets: &mut Buckets) {
        let push = event.actions.iter().any(|action| action == PUSH);
        let Some((request, actions)) = self.answered(event.request, push) else {
            return;
        };
        let approved = Approved {
            request: Some(request),
            actions,
            reason: None,
        };
        self.happens(approved, at);
        self.drain(at, buckets);
        self.ask_on(at);
    }

    /// Whether the first command that waits needs another approval.
    fn waits_on(&self, session: &Session) -> bool {
        let kind = session.queue.front().map(|waiting| waiting.facts.kind);
        kind.is_some_and(|kind| needs_approval(session, &self.candidate, kind))
    }

    fn drain(&mut self, at: Timestamp, buckets: &mut Buckets) {
        if self.status() == SessionStatus::Paused {
            return;
        }
        while let Some(waiting) = self
            .session()
            .filter(|session| !self.waits_on(session))
            .and_then(|session| session.queue.front().cloned())
        {
            // A command that waits in a session that another system kept was imported.
            let timed = !self.known.is_adopted();
            match self.judge(&waiting, at, timed, buckets) {
                Some(Answer::Said(said)) if said.verdict == Class::Queued => return,
                // What cannot be judged does not wait for ever.
                Some(answer @ (Answer::NoTimes | Answer::NoNames | Answer::Unsaid)) => {
                    self.accept_unjudged(&waiting, at);
                    self.settled.push((waiting.command, answer));
                }
                Some(answer) => self.settled.push((waiting.command, answer)),
                None => return,
            }
        }
    }

    fn ask_on(&mut self, at: Timestamp) {
        let open = |session: &&Session| session.status != SessionStatus::Paused;
        let Some(session) = self.session().filter(open) else {
            return;
        };
        if let Some(pending) = session.pending.first().cloned() {
            self.require(pending.request, pending.actions, pending.explicit, at);
        } else if let Some(waiting) = session.queue.front().cloned() {
            self.require(waiting.command, vec![PUSH.to_owned()], false, at);
        }
    }

    fn reject_queue(&mut self, word: &str, rule: Option<&RejectionRule>, at: Timestamp) {
        let queue = self
            .session()
            .map(|session| session.queue.clone())
            .unwrap_or_default();
        for waiting in queue {
            self.reject(waiting.command, rule.cloned(), at);
            let answer = Answer::Said(said(Class::Rejected, Some(word.to_owned())));
            self.settled.push((waiting.command, answer));
        }
    }

    fn denied(&mut self, request: Option<CommandId>, rule: &RejectionRule, at: Timestamp) {
        let push = request.is_none_or(|request| !self.explicit.contains(&request));
        let Some((request, _)) = self.answered(request, push) else {
            return;
        };
        self.reject_queue(rule.as_str(), Some(rule), at);
        if *rule == RejectionRule::ApprovalExpired {
            self.happens(ApprovalExpired { request }, at);
        } else {
            let denied = ApprovalDenied {
                request: Some(request),
                reason: Slot(0),
            };
            self.happens(denied, at);
        }
        self.ask_on(at);
    }

    fn ended(&mut self, event: &Event, status: SessionStatus, at: Timestamp) {
        let reason = closed(status).unwrap_or_default();
        self.reject_queue(&reason, None, at);
        self.happens(event.clone(), at);
    }

    /// Another system's session says which status it is in. That it needs an
    /// approval is for the candidate to say; that it runs again is an answer.
    fn status_recorded(&mut self, status: SessionStatus, at: Timestamp, buckets: &mut Buckets) {
        let before = std::mem::replace(&mut self.recorded, status);
        let denied = self.denied.take();
        if status == SessionStatus::NeedsApproval && before != status {
            self.asked_elsewhere += 1;
        }
        match (before, status) {
            (_, SessionStatus::NeedsApproval) => {}
            (SessionStatus::NeedsApproval, SessionStatus::Running)
            | (SessionStatus::Paused, SessionStatus::Paused) => match denied {
                Some(rule) => self.denied(self.oldest(), &rule, at),
                None => self.approved_by_status(at, buckets),
            },
            (_, SessionStatus::Paused) => self.set_status(status, at),
            (SessionStatus::Paused, SessionStatus::Running) => {
                self.set_status(status, at);
                self.drain(at, buckets);
                self.ask_on(at);
            }
            (_, SessionStatus::Error | SessionStatus::Completed) => {
                let reason = closed(status).unwrap_or_default();
                self.reject_queue(&reason, None, at);
                self.set_status(status, at);
            }
            _ if self.status() != SessionStatus::NeedsApproval => self.set_status(status, at),
            _ => {}
        }
    }

    /// The oldest request that is open here.
    fn oldest(&self) -> Option<CommandId> {
        Some(self.session()?.pending.first()?.request)
    }

    /// Another system's session runs again: its request was approved.
    /// Where no request is open here, it was a push that is judged later.
    fn approved_by_status(&mut self, at: Timestamp, buckets: &mut Buckets) {
        if let Some(request) = self.oldest() {
            let approved = Approved {
                request: Some(request),
                actions: Vec::new(),
                reason: None,
            };
            self.approved(&approved, at, buckets);
        } else if let State::Known(session) = &mut self.state {
            Arc::make_mut(session).granted.insert(PUSH.to_owned());
        }
    }

    fn set_status(&mut self, status: SessionStatus, at: Timestamp) {
        let recorded = annals_domain::session::StatusRecorded {
            status,
            reason: None,
            correlation: Default::default(),
        };
        self.happens(recorded, at);
    }
}

fn said(verdict: Class, rule: Option<String>) -> Said {
    Said {
        verdict,
        rule,
        retry_after: None,
    }
}
