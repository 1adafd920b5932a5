//! All sessions that are judged again, in the order of the log.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use annals_domain::session::{
    CommandKind, CommandResult, Event, PendingCommand, PolicyProfile, RATE_LIMIT_SCOPE,
};
use annals_domain::{AnyEvent, CommandId, RunId, SessionId, Slot, StreamRef, Timestamp, bucket};
use annals_event_log::{Content, Position, Record};
use annals_wire::Decoded;

use super::simulated::{
    APPROVAL_REQUIRED, Answer, Buckets, Known, SharedBucket, Simulated, verdict_on,
};
use super::{
    Aftermath, Approvals, Class, Flip, FlipCount, Said, SessionsReplay, Unknown, Verdicts,
};

pub use annals_domain::session::IMPORTER;

/// Sessions under a candidate profile.
pub(super) struct Trial {
    candidate: Arc<PolicyProfile>,
    sessions: HashMap<SessionId, Tried>,
    /// The sessions that a run goes on in.
    runs: HashMap<RunId, BTreeSet<SessionId>>,
    buckets: Buckets,
    /// The streams of the buckets that the candidate's sessions share.
    shared: HashMap<StreamRef, SharedBucket>,
    commands: u64,
    unknown: Unknown,
    without_verdict: u64,
    recorded: Verdicts,
    under_profile: Verdicts,
    judged: u64,
    flips: Vec<Flip>,
}

/// One session, and what was recorded of it so far.
struct Tried {
    simulated: Simulated,
    /// Commands whose last verdict may not be known yet, on either side.
    unsettled: HashMap<CommandId, Unsettled>,
    /// Commands that cannot be judged: they go as they went in the record.
    nameless: HashMap<CommandId, PendingCommand>,
    /// Commands that were accepted in the record and have not ended.
    open: HashMap<CommandId, CommandKind>,
    /// How those ended whose verdict flips, or may flip.
    ended: HashMap<CommandId, CommandResult>,
    flipped: HashSet<CommandId>,
    /// The commands that requested an approval in the record.
    asked: BTreeSet<CommandId>,
    so_far: Aftermath,
}

/// A command with its verdict under the profile; the recorded one may be to
/// come, and so may the last one of each.
struct Unsettled {
    kind: CommandKind,
    position: Position,
    /// None yet, or none at all.
    recorded: Option<Said>,
    /// Whether there is a recorded verdict, here or later.
    expected: bool,
    candidate: Said,
    /// What had been recorded by then.
    before: Aftermath,
}

/// When something was recorded, and whether that is when it happened.
#[derive(Debug, Clone, Copy)]
struct Moment {
    position: Position,
    at: Timestamp,
    timed: bool,
}

/// Whether an importer recorded it, at a time of its own.
fn is_imported(record: &Record) -> bool {
    record.actor_kind() == "system" && record.actor_id() == IMPORTER
}

/// A piece of a record's content that is a text in it.
fn text(record: &Record, slot: Slot) -> Option<String> {
    match record.content().get(usize::from(slot.0)) {
        Some(Content::Inline { bytes, .. }) => Some(String::from_utf8_lossy(bytes).into_owned()),
        _ => None,
    }
}

/// The verdict that an event says.
fn said(event: &Event, class: Class, record: &Record) -> Said {
    let (rule, retry_after) = match event {
        Event::CommandRejected(event) => {
            let rule = event.rule.as_ref().map(|rule| rule.as_str().to_owned());
            (rule.or_else(|| text(record, event.reason)), None)
        }
        Event::Throttled(event) => (Some(RATE_LIMIT_SCOPE.to_owned()), Some(event.retry_after)),
        Event::CommandQueued(_) => (Some(APPROVAL_REQUIRED.to_owned()), None),
        _ => (None, None),
    };
    Said {
        verdict: class,
        rule,
        retry_after,
    }
}

impl Trial {
    pub(super) fn new(candidate: Arc<PolicyProfile>) -> Trial {
        Trial {
            candidate,
            sessions: HashMap::new(),
            runs: HashMap::new(),
            buckets: Buckets::new(),
            shared: HashMap::new(),
            commands: 0,
            unknown: Unknown::default(),
            without_verdict: 0,
            recorded: Verdicts::default(),
            under_profile: Verdicts::default(),
            judged: 0,
            flips: Vec::new(),
        }
    }

    /// Takes in what others take from a bucket of the candidate's.
    pub(super) fn add_bucket(&mut self, stream: StreamRef, bucket: SharedBucket) {
        self.shared.insert(stream, bucket);
    }

    pub(super) fn add(&mut self, session: SessionId, known: Known) {
        let tried = Tried {
            simulated: Simulated::new(known, Arc::clone(&self.candidate)),
            unsettled: HashMap::new(),
            nameless: HashMap::new(),
            open: HashMap::new(),
            ended: HashMap::new(),
            flipped: HashSet::new(),
            asked: BTreeSet::new(),
            so_far: Aftermath::default(),
        };
        self.sessions.insert(session, tried);
    }

    /// Takes the next record of the log in.
    pub(super) fn fold(&mut self, record: &Record, decoded: &Decoded) {
        let at = Timestamp::from(record.occurred_at());
        match &decoded.event {
            AnyEvent::Session(event) => {
                self.session_event(SessionId(decoded.stream.id), event, record, at);
            }
            AnyEvent::Run(event) => {
                let sessions = self.runs.get(&RunId(decoded.stream.id));
                for session in sessions.into_iter().flatten() {
                    if let Some(tried) = self.sessions.get_mut(session) {
                        tried.so_far.run(event);
                    }
                }
            }
            AnyEvent::Bucket(bucket::Event::Taken(taken)) => {
                // What the sessions here take is judged; others just take it.
                if !self.sessions.contains_key(&taken.session)
                    && let Some(bucket) = self.shared.get(&decoded.stream)
                {
                    let limit = bucket::Limit {
                        capacity: taken.capacity,
                        per_minute: taken.per_minute,
                    };
                    let level = limit.take(self.buckets.get(bucket).copied(), at);
                    self.buckets.insert(bucket.clone(), level);
                }
            }
            _ => {}
        }
    }

    fn session_event(&mut self, id: SessionId, event: &Event, record: &Record, at: Timestamp) {
        let Some(tried) = self.sessions.get_mut(&id) else {
            return;
        };
        match event {
            Event::RunAttached(event) => {
                self.runs.entry(event.run).or_default().insert(id);
            }
            Event::ApprovalRequired(event) => {
                tried.asked.insert(event.request);
            }
            Event::CommandCompleted(event) => tried.completed(event.command, event.outcome),
            _ => {}
        }
        tried.simulated.record(event, at, &mut self.buckets);
        let moment = Moment {
            position: record.position(),
            at,
            timed: !(tried.simulated.known.is_adopted() && is_imported(record)),
        };
        if let Event::CommandReceived(event) = event {
            self.commands += 1;
            self.judge(id, event.command, moment);
        }
        let judged = verdict_on(event);
        if let Some((command, class)) = judged {
            let said = said(event, class, record);
            self.verdict(id, command, said, moment);
        }
        self.settle(id, judged.map(|(command, _)| command));
    }

    /// Judges a command when it was given, or, where the record has it later,
    /// when it had its verdict.
    fn judge(&mut self, id: SessionId, command: CommandId, moment: Moment) {
        let Some(tried) = self.sessions.get_mut(&id) else {
            return;
        };
        if !tried.simulated.known.deal_with(command) {
            return;
        }
        let Some(waiting) = tried.simulated.waiting(command) else {
            self.commands += 1;
            self.unknown.no_command += 1;
            return;
        };
        let expected = tried.simulated.known.is_judged(command);
        let Moment { at, timed, .. } = moment;
        match tried
            .simulated
            .judge(&waiting, at, timed, &mut self.buckets)
        {
            Some(Answer::Said(candidate)) => {
                let unsettled = Unsettled {
                    kind: waiting.facts.kind,
                    position: moment.position,
                    recorded: None,
                    expected,
                    candidate,
                    before: tried.so_far,
                };
                tried.unsettled.insert(command, unsettled);
            }
            Some(Answer::NoTimes) => {
                self.unknown.no_times += 1;
                if !expected || tried.simulated.known.was_accepted(command) {
                    tried.simulated.accept_unjudged(&waiting, at);
                    tried.open.insert(command, waiting.facts.kind);
                }
            }
            Some(answer @ (Answer::NoNames | Answer::Unsaid)) => {
                match answer {
                    Answer::Unsaid => self.unknown.unsaid += 1,
                    _ => self.unknown.no_names += 1,
                }
                tried.nameless.insert(command, waiting);
            }
            None => self.unknown.no_command += 1,
        }
        if !expected {
            self.settle(id, Some(command));
        }
    }

    /// Compares a recorded verdict.
    fn verdict(&mut self, id: SessionId, command: CommandId, recorded: Said, moment: Moment) {
        let adopted = |tried: &Tried| tried.simulated.known.is_adopted();
        if self.sessions.get(&id).is_some_and(adopted) {
            self.judge(id, command, moment);
        }
        let Some(tried) = self.sessions.get_mut(&id) else {
            return;
        };
        if recorded.verdict == Class::Accepted
            && let Some(waiting) = tried.nameless.remove(&command)
        {
            tried.simulated.accept_unjudged(&waiting, moment.at);
            tried.open.insert(command, waiting.facts.kind);
        }
        if let Some(unsettled) = tried.unsettled.get_mut(&command) {
            if unsettled.recorded.is_none() {
                unsettled.position = moment.position;
            }
            unsettled.recorded = Some(recorded);
            tried.note_accepted(command);
        }
    }

    /// Takes the verdicts that may be final on both sides now: of the command that
    /// an event judged, and of those that waited under the profile.
    fn settle(&mut self, id: SessionId, judged: Option<CommandId>) {
        let Some(tried) = self.sessions.get_mut(&id) else {
            return;
        };
        let mut touched: Vec<CommandId> = judged.into_iter().collect();
        for (command, answer) in std::mem::take(&mut tried.simulated.settled) {
            match answer {
                Answer::Said(said) => {
                    if let Some(unsettled) = tried.unsettled.get_mut(&command) {
                        unsettled.candidate = said;
                        touched.push(command);
                    }
                }
                Answer::NoNames => {
                    if tried.unsettled.remove(&command).is_some() {
                        self.unknown.no_names += 1;
                    }
                }
                Answer::Unsaid => {
                    if tried.unsettled.remove(&command).is_some() {
                        self.unknown.unsaid += 1;
                    }
                }
                Answer::NoTimes => {
                    if tried.unsettled.remove(&command).is_some() {
                        self.unknown.no_times += 1;
                    }
                }
            }
        }
        let is_final = |unsettled: &Unsettled| {
            let recorded = unsettled.recorded.as_ref().map(|said| said.verdict);
            let settled = recorded.map_or(!unsettled.expected, |class| class != Class::Queued);
            settled && unsettled.candidate.verdict != Class::Queued
        };
        touched.retain(|command| tried.unsettled.get(command).is_some_and(is_final));
        for command in touched {
            self.finish(id, command);
        }
    }

    fn finish(&mut self, id: SessionId, command: CommandId) {
        let Some(tried) = self.sessions.get_mut(&id) else {
            return;
        };
        let Some(unsettled) = tried.unsettled.remove(&command) else {
            return;
        };
        let Unsettled {
            kind,
            position,
            recorded,
            candidate,
            before,
            expected: _,
        } = unsettled;
        self.under_profile.add(candidate.verdict);
        let Some(recorded) = recorded else {
            self.without_verdict += 1;
            return;
        };
        self.judged += 1;
        self.recorded.add(recorded.verdict);
        if recorded.verdict == candidate.verdict {
            tried.ended.remove(&command);
        } else {
            tried.flipped.insert(command);
            self.flips.push(Flip {
                session: id,
                command,
                kind,
                position,
                recorded,
                under_profile: candidate,
                // How it ended, and what had been recorded before it, until the end is known.
                outcome: None,
                afterwards: before,
            });
        }
    }

    /// The end of the record: what waits still, waits.
    fn finish_all(&mut self) {
        let ids: Vec<SessionId> = self.sessions.keys().copied().collect();
        for id in ids {
            let waiting: Vec<CommandId> = self
                .sessions
                .get(&id)
                .map(|tried| tried.unsettled.keys().copied().collect())
                .unwrap_or_default();
            for command in waiting {
                self.finish(id, command);
            }
        }
    }

    pub(super) fn report(mut self, through: Position) -> SessionsReplay {
        self.finish_all();
        let mut flips: BTreeMap<(Class, Class, Option<String>), u64> = BTreeMap::new();
        for flip in &mut self.flips {
            if let Some(tried) = self.sessions.get(&flip.session) {
                flip.afterwards = tried.so_far.since(&flip.afterwards);
                flip.outcome = tried.ended.get(&flip.command).copied();
            }
            let (from, to) = (flip.recorded.verdict, flip.under_profile.verdict);
            let rule = match to {
                Class::Accepted => flip.recorded.rule.clone(),
                _ => flip.under_profile.rule.clone(),
            };
            *flips.entry((from, to, rule)).or_default() += 1;
        }
        self.flips.sort_by_key(|flip| flip.position);
        let flips = flips
            .into_iter()
            .map(|((from, to, rule), count)| FlipCount {
                from,
                to,
                rule,
                count,
            });
        SessionsReplay {
            profile: self.candidate.name.clone(),
            through,
            sessions: self.sessions.len() as u64,
            commands: self.commands,
            judged: self.judged,
            without_verdict: self.without_verdict,
            unknown: self.unknown,
            recorded: self.recorded,
            under_profile: self.under_profile,
            flips: flips.collect(),
            approvals: approvals(self.sessions.values()),
            flipped: self.flips,
        }
    }
}

impl Tried {
    fn note_accepted(&mut self, command: CommandId) {
        if let Some(unsettled) = self.unsettled.get(&command)
            && unsettled
                .recorded
                .as_ref()
                .is_some_and(|said| said.verdict == Class::Accepted)
        {
            self.open.insert(command, unsettled.kind);
        }
    }

    fn completed(&mut self, command: CommandId, outcome: CommandResult) {
        let kind = self.open.remove(&command);
        if kind == Some(CommandKind::Commit) && outcome == CommandResult::Success {
            self.so_far.commits += 1;
        }
        if self.flipped.contains(&command) || self.unsettled.contains_key(&command) {
            self.ended.insert(command, outcome);
        }
    }
}

fn approvals<'a>(sessions: impl Iterator<Item = &'a Tried>) -> Approvals {
    let mut sum = Approvals::default();
    for tried in sessions {
        let (recorded, candidate) = (&tried.asked, &tried.simulated.asked);
        let elsewhere = tried.simulated.asked_elsewhere;
        sum.recorded += recorded.len() as u64 + elsewhere;
        sum.under_profile += candidate.len() as u64;
        let asked = candidate.difference(recorded).count() as u64;
        let saved = recorded.difference(candidate).count() as u64 + elsewhere;
        // What another system requested has no name: it is what is requested here.
        let same = asked.min(elsewhere);
        sum.asked += asked - same;
        sum.saved += saved - same;
    }
    sum
}
