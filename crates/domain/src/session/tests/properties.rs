//! Random histories: each verdict is the plain reference's, a replay flips
//! nothing, and what must hold of every record holds.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::reference::{Lines, PlainBucket, Reference, Refused};
use super::script::{Asked, Script, Step, Told, scripts};
use super::*;

const SESSIONS: [SessionId; 2] = [SESSION, SessionId(Uuid::from_u128(2))];
/// A command or request that is nowhere.
const NOWHERE: u128 = 9_999;

/// A history as it was made.
pub(super) struct Play {
    given: Given,
    reference: Reference,
    now: i64,
    /// What was recorded, and when.
    pub(super) record: Vec<(i64, Emitted)>,
    /// How often each kind of line was said.
    said: BTreeMap<String, usize>,
}

impl Play {
    /// Plays a script; each step must lead to what the reference says.
    pub(super) fn of(script: &Script) -> Play {
        let mut given = Given::new();
        let mut record = Vec::new();
        for (session, policy) in SESSIONS.into_iter().zip(&script.policies) {
            let created = given.execute(CreateSession {
                approval_expiry_seconds: script.expiry_seconds,
                pause_after_failures: Some(script.pause_after),
                ..create(session, policy.clone())
            });
            record.extend(created.into_iter().map(|one| (0, one)));
        }
        let mut play = Play {
            given,
            reference: Reference::new(&script.policies, script.expiry_seconds, script.pause_after),
            now: 1_000_000,
            record,
            said: BTreeMap::new(),
        };
        for (place, step) in script.steps.iter().enumerate() {
            play.step(100 + place as u128, step);
        }
        play
    }

    fn step(&mut self, new: u128, step: &Step) {
        self.now += step.millis;
        self.given = self.given.clone().at(at_millis(self.now));
        let (command, expected) = self.asked(new, step);
        let asked = format!("{command:?} at {}", self.now);
        let lines = match self.given.try_execute(command) {
            Ok(emitted) => {
                let lines = said(&emitted);
                let now = self.now;
                self.record
                    .extend(emitted.into_iter().map(|one| (now, one)));
                Ok(lines)
            }
            Err(_) => Err(Refused),
        };
        assert_eq!(lines, expected, "{asked}");
        let session = self.session(step.session);
        let status = self.reference.status(step.session);
        assert_eq!(session.status.as_str(), status, "{asked}");
        let queue: Vec<u128> = session.queue.iter().map(|w| number(w.command)).collect();
        assert_eq!(queue, self.reference.queue(step.session), "{asked}");
        for line in lines.unwrap_or_else(|_| vec!["0 refused".to_owned()]) {
            let rest = line.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ');
            let kind = rest.split(": 19").next().unwrap_or_default();
            let kind = kind.split(" for ").next().unwrap_or_default();
            *self.said.entry(kind.to_owned()).or_default() += 1;
        }
    }

    /// The command of a step, and what the reference says to it.
    fn asked(&mut self, new: u128, step: &Step) -> (Command, Lines) {
        let (at, now) = (step.session, self.now);
        let session = SESSIONS[at];
        let open = self.reference.open(at);
        let requests = self.reference.requests(at);
        let pick = |from: &[u128], which: usize| match which {
            7 => NOWHERE,
            _ => from
                .get(which % from.len().max(1))
                .copied()
                .unwrap_or(NOWHERE),
        };
        let reference = &mut self.reference;
        match &step.asked {
            Asked::Give(body, told) => {
                let expected = reference.submit(at, new, body, *told, now);
                (give(session, new, body, *told), expected)
            }
            Asked::GiveAgain(which, body, told) => {
                let known = [reference.queue(at), open].concat();
                let number = known.get(*which).copied().unwrap_or(new);
                let expected = reference.submit(at, number, body, *told, now);
                (give(session, number, body, *told), expected)
            }
            Asked::Ends(which, outcome) => {
                let number = pick(&open, *which);
                let command = CompleteCommand {
                    session,
                    ..ended(number, *outcome)
                };
                let expected = reference.complete_command(at, number, *outcome);
                (command.into(), expected)
            }
            Asked::Reads(which, item, state) => {
                let number = pick(&open, *which);
                let expected = reference.read(at, number, item, state);
                (read(session, number, item, state), expected)
            }
            Asked::Approve(which) => {
                let request = which.map(|which| pick(&requests, which));
                let command = ApproveSession {
                    session,
                    request: request.map(id),
                    reason: None,
                };
                (command.into(), reference.approve(at, request, now))
            }
            Asked::Deny(which) => {
                let request = which.map(|which| pick(&requests, which));
                let command = DenySession {
                    session,
                    request: request.map(id),
                    reason: "no".into(),
                };
                (command.into(), reference.deny(at, request, "no", now))
            }
            other => self.asked_of_life(at, other),
        }
    }

    fn asked_of_life(&mut self, at: usize, asked: &Asked) -> (Command, Lines) {
        let (now, session) = (self.now, SESSIONS[at]);
        let reference = &mut self.reference;
        match asked {
            Asked::Expire => (
                ExpireApprovals { session }.into(),
                reference.expire(at, now),
            ),
            Asked::Pause => {
                let command = PauseSession { session, ..pause() };
                (command.into(), reference.pause(at))
            }
            Asked::Resume => {
                let command = ResumeSession {
                    session,
                    ..resume()
                };
                (command.into(), reference.resume(at, now))
            }
            Asked::Abort => {
                let command = AbortSession { session, ..abort() };
                (command.into(), reference.end(at, true))
            }
            Asked::Complete => {
                let command = CompleteSession {
                    session,
                    ..complete()
                };
                (command.into(), reference.end(at, false))
            }
            other => panic!("{other:?} is asked of a command"),
        }
    }

    fn session(&self, session: usize) -> Session {
        let stage = Stage {
            given: self.given.clone(),
        };
        stage.session_of(SESSIONS[session])
    }

    /// What was recorded in a session, and when.
    fn of_session(&self, session: SessionId) -> impl Iterator<Item = (i64, &Event)> {
        self.record
            .iter()
            .filter_map(move |(at, one)| match &one.event {
                AnyEvent::Session(event) if one.stream.id == session.0 => Some((*at, event)),
                _ => None,
            })
    }
}

fn give(session: SessionId, number: u128, body: &CommandBody, told: Told) -> Command {
    let is_commit = matches!(body, CommandBody::Commit(_));
    let names = |files: u32| (0..files).map(|file| format!("{file}.rs")).collect();
    SubmitCommand {
        session,
        branch: told.branch.filter(|_| is_commit).map(str::to_owned),
        files: told.files.filter(|_| is_commit).map(names),
        ..submit(number, body.clone())
    }
    .into()
}

fn read(session: SessionId, number: u128, item: &str, state: &str) -> Command {
    let items = vec![WorkItemSummary {
        id: item.into(),
        title: "work".into(),
        status: state.into(),
        assignee: None,
    }];
    RecordBacklog {
        session,
        id: id(number),
        items,
    }
    .into()
}

/// What an event says that a command met with.
fn verdict(event: &Event) -> Option<CommandId> {
    match event {
        Event::CommandAccepted(event) => Some(event.command),
        Event::CommandRejected(event) => Some(event.command),
        Event::Throttled(event) => event.correlation.command,
        _ => None,
    }
}

/// Judges what was recorded again, from the events alone and under the same
/// profile; how many verdicts were looked at.
fn check_replay(play: &Play) -> usize {
    let mut states: BTreeMap<StreamRef, AnyState> = BTreeMap::new();
    let mut facts: BTreeMap<CommandId, CommandFacts> = BTreeMap::new();
    let mut judged = 0;
    for (at, one) in &play.record {
        let at = at_millis(*at);
        if let AnyEvent::Session(event) = &one.event {
            if let Event::CommandReceived(event) = event {
                facts.insert(event.command, event.facts.clone());
            }
            judged += usize::from(check_verdict(&states, one, event, &facts, at));
        }
        let kind = one.stream.kind;
        let state = states.entry(one.stream);
        let tester = ActorRef::agent("tester");
        state
            .or_insert_with(|| AnyState::new(kind))
            .evolve(&one.event, &Origin::new(at, &tester));
    }
    judged
}

/// Whether it is a verdict that the gate gave; it must give it again.
fn check_verdict(
    states: &BTreeMap<StreamRef, AnyState>,
    one: &Emitted,
    event: &Event,
    facts: &BTreeMap<CommandId, CommandFacts>,
    at: Timestamp,
) -> bool {
    let command = match event {
        Event::CommandQueued(event) => event.command,
        event => match verdict(event) {
            Some(command) => command,
            None => return false,
        },
    };
    let Some(AnyState::Session(state)) = states.get(&one.stream) else {
        panic!("a verdict without a session");
    };
    let State::Known(session) = &**state else {
        panic!("a verdict without a session");
    };
    let facts = &facts[&command];
    let policy = session.policy.as_ref().unwrap();
    let name = match cap(policy, facts.kind) {
        Some(_) => bucket::name_of(policy, facts.kind),
        None => bucket::calls_name(policy, "coder"),
    };
    let bucket = states.get(&bucket::stream_of(&name));
    let level = match bucket {
        Some(AnyState::Bucket(state)) => state.level,
        _ => None,
    };
    let again = match judge(session, facts, at, level).unwrap() {
        Judgement::Rejected { reason, rule } => {
            let rule = rule.map(|rule| format!(", {}", rule.as_str()));
            format!("rejected: {reason}{}", rule.unwrap_or_default())
        }
        Judgement::Unsaid(unsaid) => panic!("{unsaid:?} was said before"),
        Judgement::Queued => "queued".to_owned(),
        Judgement::Throttled { retry_after } => {
            format!("throttled: {RATE_LIMIT_SCOPE}: {retry_after}")
        }
        Judgement::Accepted {
            token: TokenSource::None,
        } => "accepted".to_owned(),
        Judgement::Accepted { token } => format!("accepted ({token})"),
    };
    let said = line(one);
    let ends = |why: &str| said.ends_with(why);
    if session.received.is_none()
        && (said.contains(" rejected: ") && !said.contains(POLICY_VIOLATION))
    {
        // It was not judged: its approval was denied or expired, or the session ended.
        assert!(
            ends(", Approval denied") || ends(", Approval expired") || said.contains("terminal"),
            "{said}"
        );
        return false;
    }
    assert_eq!(said, format!("{} {again}", number(command)));
    true
}

/// Each command has one verdict or waits, and those that waited get theirs in
/// the order in which they began to.
fn check_verdicts(play: &Play) {
    for (at, session) in SESSIONS.into_iter().enumerate() {
        let mut received = Vec::new();
        let mut queued = Vec::new();
        let mut verdicts: Vec<CommandId> = Vec::new();
        for (_, event) in play.of_session(session) {
            match event {
                Event::CommandReceived(event) => received.push(event.command),
                Event::CommandQueued(event) => queued.push(event.command),
                event => verdicts.extend(verdict(event)),
            }
        }
        let waits = play.session(at).queue;
        let waits: Vec<CommandId> = waits.iter().map(|waiting| waiting.command).collect();
        let mut all = [verdicts.clone(), waits].concat();
        all.sort();
        received.sort();
        assert_eq!(all, received, "one verdict each, or it waits");
        // First in, first out.
        let drained: Vec<CommandId> = verdicts
            .into_iter()
            .filter(|command| queued.contains(command))
            .collect();
        assert!(queued.starts_with(&drained), "{queued:?}: {drained:?}");
    }
}

/// No history has two terminal statuses, and none is left again.
fn check_ends(play: &Play) {
    for session in SESSIONS {
        let mut over = false;
        for (_, event) in play.of_session(session) {
            let ends = matches!(event, Event::Aborted(_) | Event::Completed(_));
            let goes_on = matches!(
                event,
                Event::CommandAccepted(_)
                    | Event::CommandQueued(_)
                    | Event::Throttled(_)
                    | Event::Paused(_)
                    | Event::Resumed(_)
                    | Event::Approved(_)
                    | Event::ApprovalRequired(_)
                    | Event::ApprovalDenied(_)
                    | Event::ApprovalExpired(_)
            );
            assert!(!(over && (ends || goes_on)), "{event:?} after the end");
            over |= ends;
        }
    }
}

/// Results are recorded between a command's acceptance and its end.
fn check_results(play: &Play) {
    for session in SESSIONS {
        let mut open = Vec::new();
        for (_, event) in play.of_session(session) {
            match event {
                Event::CommandAccepted(event) => open.push(event.command),
                Event::CommandCompleted(event) => {
                    assert!(open.contains(&event.command));
                    open.retain(|command| *command != event.command);
                }
                Event::BacklogQueried(event) => {
                    assert!(open.contains(&event.correlation.command.unwrap()));
                }
                _ => {}
            }
        }
    }
}

/// However often tokens are taken, a bucket never holds more than it can or
/// less than nothing. It is filled again by hand from the times in the record.
fn check_tokens(play: &Play) {
    let mut shared: BTreeMap<StreamRef, (PlainBucket, Vec<i64>)> = BTreeMap::new();
    for (at, one) in &play.record {
        match &one.event {
            AnyEvent::Session(Event::CommandAccepted(event)) => {
                assert_ne!(event.token, TokenSource::Session, "an agent is known here");
            }
            AnyEvent::Bucket(bucket::Event::Taken(event)) => {
                let plain = PlainBucket {
                    capacity: event.capacity,
                    per_minute: event.per_minute,
                };
                let found = shared.entry(one.stream).or_insert((plain, Vec::new()));
                found.1.push(*at);
            }
            _ => {}
        }
    }
    for (bucket, taken) in shared.values() {
        check_bucket(bucket, taken);
    }
}

fn check_bucket(bucket: &PlainBucket, taken: &[i64]) {
    let full = i128::from(bucket.capacity) * 60_000;
    for (place, at) in taken.iter().enumerate() {
        let (content, _) = bucket.content(&taken[..=place], *at);
        assert!((0..=full).contains(&content), "{content} of {bucket:?}");
    }
}

proptest! {
    #[test]
    fn every_verdict_is_the_plain_references_and_the_invariants_hold(script in scripts()) {
        let play = Play::of(&script);
        check_verdicts(&play);
        check_ends(&play);
        check_results(&play);
        check_tokens(&play);
    }

    #[test]
    fn replaying_the_same_history_under_the_same_profile_flips_nothing(script in scripts()) {
        check_replay(&Play::of(&script));
    }
}

/// A property of what hardly ever happens says nothing.
#[test]
fn the_random_histories_go_everywhere() {
    let mut runner = TestRunner::deterministic();
    let mut total: BTreeMap<String, usize> = BTreeMap::new();
    let mut judged = 0;
    for _ in 0..512 {
        let script = scripts().new_tree(&mut runner).unwrap().current();
        let play = Play::of(&script);
        judged += check_replay(&play);
        for (kind, count) in play.said {
            *total.entry(kind).or_default() += count;
        }
    }
    println!("{total:#?}");
    for kind in [
        "accepted",
        "accepted (shared)",
        "queued",
        "throttled: Rate limit exceeded",
        "throttled: Rate limit exceeded: 9999-12-31T23:59:59.999999900Z",
        "rejected: Session is paused",
        "rejected: Session is in terminal state: Error",
        "rejected: Session is in terminal state: Completed",
        "rejected: Policy violation, Command not in whitelist",
        "rejected: Policy violation, Command in blacklist",
        "rejected: Policy violation, Protected branch",
        "rejected: Policy violation, Too many files in commit",
        "rejected: Policy violation, Tests required before push",
        "rejected: Policy violation, Work item transition not allowed",
        "rejected: no, Approval denied",
        "rejected: Approval expired, Approval expired",
        r#"approved ["Push"]"#,
        r#"approved ["deploy"]"#,
        "denied: no",
        "expired",
        "paused",
        "paused after 1",
        "paused after 2",
        "paused after 3",
        "resumed",
        "aborted",
        "completed",
        "Success",
        "Failure",
        "refused",
    ] {
        let count = total.get(kind).copied().unwrap_or_default();
        assert!(count >= 5, "{kind} happened {count} times");
    }
    assert!(judged > 2_000, "only {judged} verdicts were judged again");
}
