//! The gate as services use it: one verdict a command, at any number of callers.

use std::sync::{Arc, Barrier, Mutex};
use std::thread;

use annals::domain::session::{
    AgentCommand, ApproveSession, CommandBody, CommandResult, CompleteCommand, CreateSession,
    DenySession, GetDiff, PauseSession, PolicyProfile, Push, RateLimits, RejectionRule, RepoRef,
    RequestApproval, SessionConfig, SubmitCommand, TaskNode, TaskPlan, UpdatePlan, Verdict,
    WorkspaceRef,
};
use annals::domain::{ActorRef, Command, CommandId, Ordered, SessionId, Timestamp};
use annals::event_log::memory::MemoryLog;
use annals::{Annals, ExecuteError, Outcome, Request};
use annals_event_log::Classified;
use annals_event_log::{Position, Query, Store};
use chrono::{DateTime, TimeDelta, Utc};
use futures::executor::block_on;
use futures::{StreamExt, pin_mut};
use uuid::Uuid;

pub fn repo() -> RepoRef {
    RepoRef::new("app", "/src/app")
}

/// A session under a policy.
pub fn create(session: SessionId, policy: PolicyProfile) -> CreateSession {
    CreateSession::new(SessionConfig::new(
        session,
        policy,
        repo(),
        WorkspaceRef::new("/work"),
        "coder",
    ))
}

pub fn command(body: impl Into<CommandBody>) -> AgentCommand {
    AgentCommand::new(CommandId(Uuid::now_v7()), body)
}

fn diff() -> AgentCommand {
    command(GetDiff::new(repo()))
}

fn push() -> AgentCommand {
    command(Push::new(repo(), "topic"))
}

fn request(command: impl Into<Command>) -> Request {
    Request::new(ActorRef::agent("test"), command)
}

fn on_disk() -> (tempfile::TempDir, Arc<Annals>) {
    let home = tempfile::tempdir().expect("a temporary directory");
    let url = home.path().join("log").display().to_string();
    let annals = block_on(Annals::open(&url)).expect("a new log");
    (home, Arc::new(annals))
}

fn in_memory() -> (Arc<MemoryLog>, Annals) {
    let log = Arc::new(MemoryLog::new(Uuid::nil()));
    let port: Arc<dyn Store> = log.clone();
    (log, Annals::over(port))
}

fn session(annals: &Annals, policy: PolicyProfile) -> SessionId {
    let session = SessionId(Uuid::now_v7());
    block_on(annals.execute(request(create(session, policy)))).expect("a session");
    session
}

fn limited(per_minute: Option<u32>, caps: &[(&str, u32)]) -> PolicyProfile {
    let cap = |(kind, cap): &(&str, u32)| ((*kind).to_owned(), *cap);
    PolicyProfile::new("limited").with_limits(
        RateLimits::new()
            .with_calls_per_minute(per_minute)
            .with_per_command_caps(caps.iter().map(cap).collect::<Ordered<u32>>()),
    )
}

/// Sixteen callers at once on a log on a disk. Without the lanes and the guards
/// of the append some would take the same token.
#[test]
fn sixteen_callers_get_one_verdict_each_and_no_limit_is_exceeded() {
    const CALLERS: usize = 16;
    const EACH: usize = 8;
    const LIMIT: u32 = 20;
    let (_home, annals) = on_disk();
    // All in one moment, so that nothing is refilled meanwhile.
    let at = Timestamp::from(Utc::now());
    let annals = Arc::new(Annals::clone(&annals).with_clock(move || at));
    for shared in [false, true] {
        let policy = match shared {
            false => limited(Some(LIMIT), &[]),
            true => limited(None, &[("GetDiff", LIMIT)]),
        };
        // A cap is shared by sessions: each caller has its own.
        let sessions: Vec<SessionId> = match shared {
            false => vec![session(&annals, policy); CALLERS],
            true => (0..CALLERS)
                .map(|_| session(&annals, policy.clone()))
                .collect(),
        };
        let start = Arc::new(Barrier::new(CALLERS));
        let callers: Vec<_> = sessions
            .into_iter()
            .map(|session| {
                let (annals, start) = (Arc::clone(&annals), Arc::clone(&start));
                thread::spawn(move || {
                    start.wait();
                    let mut verdicts = Vec::new();
                    for _ in 0..EACH {
                        let AgentCommand { id, body, .. } = diff();
                        let submit = SubmitCommand::new(session, body).with_id(id);
                        let outcome = block_on(annals.execute(request(submit).at(at)));
                        verdicts.push(outcome.expect("a verdict").verdict.expect("a verdict"));
                    }
                    verdicts
                })
            })
            .collect();
        let verdicts: Vec<(CommandId, Verdict)> = callers
            .into_iter()
            .flat_map(|caller| caller.join().expect("no panic"))
            .collect();
        for (id, verdict) in &verdicts {
            assert_eq!(recorded(&annals, *id), [verdict.word()], "shared: {shared}");
        }
        let accepted = verdicts.iter().filter(|(_, verdict)| verdict.is_accepted());
        assert_eq!(accepted.count(), LIMIT as usize, "shared: {shared}");
        let throttled = |verdict: &Verdict| matches!(verdict, Verdict::Throttled { .. });
        assert!(
            verdicts
                .iter()
                .all(|(_, verdict)| verdict.is_accepted() || throttled(verdict)),
            "shared: {shared}"
        );
    }
}

/// The verdicts on a command in the log, by their words.
fn recorded(annals: &Annals, command: CommandId) -> Vec<&'static str> {
    let page = block_on(annals.log().read(Query::all(Position(1)).limit(100_000)));
    let mut found = Vec::new();
    for record in &page.expect("read").records {
        let event = annals::wire::decode(record).expect("ours").event;
        found.extend(Verdict::of(&event, command, |_| String::new()).map(|one| one.word()));
    }
    found
}

/// The same command from sixteen callers at once, by every way in: one is judged,
/// the others get the same answer.
#[test]
fn one_command_from_sixteen_callers_is_judged_once() {
    const CALLERS: usize = 16;
    let (_home, annals) = on_disk();
    let session = session(&annals, limited(Some(2), &[]));
    for _ in 0..20 {
        let command = diff();
        let start = Arc::new(Barrier::new(CALLERS));
        let callers: Vec<_> = (0..CALLERS)
            .map(|number| {
                let (annals, start) = (Arc::clone(&annals), Arc::clone(&start));
                let command = command.clone();
                thread::spawn(move || {
                    let actor = ActorRef::agent(format!("caller-{number}"));
                    let submit =
                        SubmitCommand::new(session, command.body.clone()).with_id(command.id);
                    let one = vec![Request::new(actor.clone(), submit)];
                    start.wait();
                    match number % 3 {
                        0 => {
                            block_on(annals.sessions().gate(session, &command))
                                .expect("a verdict")
                                .verdict
                        }
                        1 => {
                            let by = annals.by(&actor);
                            block_on(by.gate(session, &command))
                                .expect("a verdict")
                                .verdict
                        }
                        _ => {
                            let done = block_on(annals.execute_batch(None, one)).expect("done");
                            let outcome = done.outcomes.into_iter().next().expect("one");
                            outcome.verdict.expect("a verdict").1
                        }
                    }
                })
            })
            .collect();
        let verdicts: Vec<Verdict> = callers
            .into_iter()
            .map(|caller| caller.join().expect("no panic"))
            .collect();
        assert!(
            verdicts.iter().all(|verdict| *verdict == verdicts[0]),
            "{verdicts:?}"
        );
        assert_eq!(recorded(&annals, command.id), [verdicts[0].word()]);
    }
}

#[test]
fn a_command_that_got_its_id_here_is_known_by_it() {
    let (_, annals) = in_memory();
    let session = session(&annals, limited(Some(1), &[]));
    let submit = |id| SubmitCommand::new(session, diff().body).with_id(id);
    let key = Uuid::now_v7();
    let first = block_on(annals.execute(request(submit(None)).key(key))).expect("a verdict");
    let (id, verdict) = first.verdict.expect("a verdict");
    let position = annals.position();
    for again in [request(submit(Some(id))), request(submit(None)).key(key)] {
        let again = block_on(annals.execute(again)).expect("the same");
        assert_eq!(again.verdict, Some((id, verdict.clone())));
    }
    let other = SubmitCommand::new(session, push().body);
    let refused = block_on(annals.execute(request(other).key(key)));
    assert!(
        matches!(refused, Err(ExecuteError::KeyReused { key: named }) if named == key),
        "{refused:?}"
    );
    assert_eq!(annals.position(), position);
}

#[test]
fn a_command_has_one_verdict_however_often_it_is_given() {
    let (_, annals) = in_memory();
    let session = session(&annals, limited(Some(1), &[]));
    let (first, second) = (diff(), diff());
    let given = block_on(annals.sessions().gate(session, &first)).expect("a verdict");
    assert_eq!(given.verdict, Verdict::Accepted);
    let throttled = block_on(annals.sessions().gate(session, &second)).expect("a verdict");
    assert!(matches!(throttled.verdict, Verdict::Throttled { .. }));
    let position = annals.position();
    for (command, gated) in [(&first, &given), (&second, &throttled)] {
        let again = block_on(annals.sessions().gate(session, command)).expect("the same");
        assert_eq!(again, *gated);
    }
    assert_eq!(annals.position(), position, "nothing was judged again");
    // Also after it has ended.
    let actor = ActorRef::agent("runner");
    let by = annals.by(&actor);
    let ended = by.complete_command(session, first.id, CommandResult::Success, None, None);
    block_on(ended).expect("it was accepted");
    let again = block_on(annals.sessions().gate(session, &first)).expect("the same");
    assert_eq!(again.verdict, Verdict::Accepted);
    // Another command under its id is refused, in words about the command.
    let other = AgentCommand::new(first.id, push().body);
    let refused = block_on(annals.sessions().gate(session, &other)).expect_err("another command");
    assert!(
        refused.to_string().contains("was given before"),
        "{refused}"
    );
    assert!(!refused.is_retryable());
}

#[test]
fn the_same_fields_with_another_parent_or_plan_node_are_another_command() {
    let (_, annals) = in_memory();
    let session = session(&annals, limited(None, &[]));
    let given = diff()
        .with_parent(CommandId(Uuid::now_v7()))
        .with_plan_node("build".to_owned());
    let first = block_on(annals.sessions().gate(session, &given)).expect("a verdict");
    let position = annals.position();
    let others = [
        given.clone().with_parent(None),
        given.clone().with_plan_node("ship".to_owned()),
    ];
    for other in others {
        let refused =
            block_on(annals.sessions().gate(session, &other)).expect_err("another command");
        assert!(
            refused.to_string().contains("was given before"),
            "{refused}"
        );
    }
    let again = block_on(annals.sessions().gate(session, &given)).expect("the same");
    assert_eq!(again, first);
    assert_eq!(annals.position(), position);
}

#[test]
fn a_command_for_an_unknown_session_is_an_error_and_stores_nothing() {
    let (_, annals) = in_memory();
    let refused = block_on(annals.sessions().gate(SessionId(Uuid::now_v7()), &diff()));
    let refused = refused.expect_err("there is no session");
    assert!(matches!(refused, ExecuteError::Refused { .. }), "{refused}");
    assert!(
        refused.to_string().contains("there is no session"),
        "{refused}"
    );
    assert_eq!(annals.position().0, 0);
}

#[test]
fn commands_are_not_given_in_batches_with_others() {
    let (_, annals) = in_memory();
    let session = session(&annals, PolicyProfile::new("open"));
    let submit = |id| SubmitCommand::new(session, diff().body).with_id(id);
    let pause = PauseSession::new(session);
    let batch = vec![request(pause), request(submit(None))];
    let refused = block_on(annals.execute_batch(None, batch)).expect_err("a command in it");
    assert!(
        matches!(refused, ExecuteError::Refused { index: 1, .. }),
        "{refused}"
    );
}

#[test]
fn a_rejected_command_names_its_rule_also_when_it_is_given_again() {
    let (_, annals) = in_memory();
    let policy = PolicyProfile::new("careful").with_protected_branches(vec!["topic".into()]);
    let session = session(&annals, policy);
    let push = push();
    for _ in 0..2 {
        let gated = block_on(annals.sessions().gate(session, &push)).expect("a verdict");
        let expected = Verdict::Rejected {
            reason: "Policy violation".into(),
            rule: Some(RejectionRule::ProtectedBranch),
        };
        assert_eq!(gated.verdict, expected);
    }
}

/// Subscribers read the whole prefix and then the tail, in order, while others
/// write; one that does not read at all does not block the others.
#[test]
fn subscribers_get_the_whole_stream_in_order_each_at_its_own_pace() {
    const COMMANDS: usize = 300;
    let (_home, annals) = on_disk();
    let session_id = session(&annals, PolicyProfile::new("open"));
    let other = session(&annals, PolicyProfile::new("open"));
    for _ in 0..COMMANDS / 2 {
        block_on(annals.sessions().gate(session_id, &diff())).expect("a verdict");
    }
    let idle = annals.sessions().events(session_id);
    pin_mut!(idle);
    block_on(idle.next()).expect("one").expect("read");
    let expected = 1 + COMMANDS * 2;
    let readers: Vec<_> = (0..4_u64)
        .map(|pace| {
            let annals = Arc::clone(&annals);
            thread::spawn(move || {
                let events = annals.sessions().events(session_id).take(expected);
                pin_mut!(events);
                let mut seen = Vec::new();
                while let Some(record) = block_on(events.next()) {
                    let record = record.expect("read");
                    seen.push((record.version().0, record.position().0));
                    if pace > 0 && (seen.len() as u64).is_multiple_of(20 * pace) {
                        thread::sleep(std::time::Duration::from_millis(pace));
                    }
                }
                seen
            })
        })
        .collect();
    for _ in 0..COMMANDS - COMMANDS / 2 {
        block_on(annals.sessions().gate(session_id, &diff())).expect("a verdict");
        block_on(annals.sessions().gate(other, &diff())).expect("a verdict");
    }
    for reader in readers {
        let seen = reader.join().expect("no panic");
        let versions: Vec<u64> = seen.iter().map(|(version, _)| *version).collect();
        assert_eq!(versions, (1..=expected as u64).collect::<Vec<_>>());
        assert!(
            seen.is_sorted_by_key(|(_, position)| *position),
            "the log's order"
        );
    }
    // The idle one goes on where it was.
    let next = block_on(idle.next()).expect("one").expect("read");
    assert_eq!(next.version().0, 2);
}

#[test]
fn verdicts_go_by_the_clock_of_the_log_and_not_by_the_times_of_callers() {
    let start = DateTime::from_timestamp(1_800_000_000, 0).expect("a time");
    let clock = Arc::new(Mutex::new(start));
    let now = Arc::clone(&clock);
    let (_, annals) = in_memory();
    let annals = annals.with_clock(move || Timestamp::from(*now.lock().expect("no panic")));
    let session = session(&annals, limited(Some(6), &[]));
    let give_at = |seconds: i64, at: DateTime<Utc>| {
        *clock.lock().expect("no panic") = start + TimeDelta::seconds(seconds);
        let submit = SubmitCommand::new(session, diff().body);
        let outcome = block_on(annals.execute(request(submit).at(at.into())))?;
        Ok::<Verdict, ExecuteError>(outcome.verdict.expect("a verdict").1)
    };
    // Whatever the caller's clock, as long as it is not far away.
    let give = |seconds: i64| {
        let away = TimeDelta::seconds([240, -240, 0][usize::from(seconds % 3 == 0)]);
        give_at(seconds, start + TimeDelta::seconds(seconds) + away).expect("a verdict")
    };
    for _ in 0..6 {
        assert_eq!(give(0), Verdict::Accepted);
    }
    let expected = |seconds: i64| Verdict::Throttled {
        scope: "Rate limit exceeded".into(),
        retry_after: (start + TimeDelta::seconds(seconds)).into(),
    };
    assert_eq!(give(0), expected(10));
    assert_eq!(give(9), expected(10));
    // A clock that goes backwards refills nothing.
    assert_eq!(give(-3_600), expected(10));
    assert_eq!(give(10), Verdict::Accepted);
    let before = annals.position();
    for year in [1970, 2026, 2099] {
        let at = DateTime::from_timestamp((year - 1970) * 31_556_952, 0).expect("a time");
        let error = give_at(20, at).expect_err("far away");
        assert!(error.to_string().contains("gate.clock_skew"), "{error}");
    }
    assert_eq!(annals.position(), before, "nothing was recorded");
}

/// What is compared stays in the structure of events, which have little room:
/// everything that passes the checks can be stored, and what does not names its place.
#[test]
fn the_largest_plan_and_the_longest_names_fit_and_larger_ones_are_refused_by_name() {
    let (_, annals) = in_memory();
    let session = session(&annals, limited(None, &[]));
    let plan =
        |nodes: usize| UpdatePlan::new(session, TaskPlan::new((0..nodes).map(node).collect()));
    block_on(annals.execute(request(plan(4_615)))).expect("it fits");
    let error = block_on(annals.execute(request(plan(4_616)))).expect_err("too large");
    assert!(
        error.to_string().contains("4616 nodes have 60008 bytes"),
        "{error}"
    );
    let asking = |actions: usize, bytes: usize| {
        command(RequestApproval::new(
            "it is time",
            (0..actions).map(|_| "x".repeat(bytes)).collect(),
        ))
    };
    for (actions, bytes) in [(1, 32_765), (512, 61), (2_520, 1)] {
        let gated =
            block_on(annals.sessions().gate(session, &asking(actions, bytes))).expect("it fits");
        assert_eq!(gated.verdict, Verdict::Accepted);
        let more = asking(actions + 1, bytes);
        let error = block_on(annals.sessions().gate(session, &more)).expect_err("too long");
        assert!(error.to_string().contains("and may have 32768"), "{error}");
    }
}

fn node(number: usize) -> TaskNode {
    TaskNode::new(format!("n{number:06}"), String::new())
}

/// A process that did not see a keyed command learns from the append, or
/// from the refusal, that it was made.
#[test]
fn a_repeat_is_known_where_nobody_remembers_it() {
    let (log, annals) = in_memory();
    let session = session(&annals, limited(None, &[("GetDiff", 1)]));
    let ended = diff();
    let submit =
        |given: &AgentCommand| SubmitCommand::new(session, given.body.clone()).with_id(given.id);
    let complete = CompleteCommand::new(session, ended.id, CommandResult::Success);
    let pause = PauseSession::new(session);
    let requests = [
        request(submit(&ended)),
        request(complete).key(Uuid::now_v7()),
        request(submit(&push())),
        request(submit(&diff())),
        request(pause).key(Uuid::now_v7()),
    ];
    let first: Vec<Outcome> = requests
        .iter()
        .map(|one| block_on(annals.execute(one.clone())).expect("it is done"))
        .collect();
    let position = annals.position();
    let elsewhere = Annals::over(log);
    for (one, first) in requests.iter().zip(&first) {
        let again = block_on(elsewhere.execute(one.clone())).expect("it was done");
        assert_eq!(again.verdict, first.verdict, "{:?}", one.command);
        assert_eq!((again.id, again.events), (first.id, first.events));
    }
    assert_eq!(elsewhere.position(), position);
}

/// The gate repeats its first verdict; the present one is what became of a command since.
#[test]
fn the_present_verdict_of_a_queued_command_is_that_of_its_approval() {
    let (_, annals) = in_memory();
    let policy = PolicyProfile::new("asking").with_require_approval_for_push(true);
    let ada = ActorRef::human("ada");
    for approves in [true, false] {
        let session = session(&annals, policy.clone());
        let push = push();
        let present = |command| block_on(annals.sessions().verdict(session, command));
        assert_eq!(present(push.id).expect("no error"), None);
        let gate = || block_on(annals.sessions().gate(session, &push)).expect("a verdict");
        assert_eq!(gate().verdict, Verdict::Queued);
        assert_eq!(present(push.id).expect("no error"), Some(Verdict::Queued));
        let answer: Command = match approves {
            true => ApproveSession::new(session).into(),
            false => DenySession::new(session, "not today").into(),
        };
        block_on(annals.execute(Request::new(ada.clone(), answer))).expect("an answer");
        let now = present(push.id).expect("no error").expect("a verdict");
        assert_eq!(now.is_accepted(), approves, "{now:?}");
        assert_eq!(gate().verdict, Verdict::Queued, "the first one is repeated");
        let other = diff();
        let gated = block_on(annals.sessions().gate(session, &other)).expect("a verdict");
        assert_eq!(present(other.id).expect("no error"), Some(gated.verdict));
    }
}
