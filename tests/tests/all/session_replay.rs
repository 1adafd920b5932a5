//! Recorded commands judged again: under the same profile nothing flips, and
//! under another one what flips is what a session under that profile would have
//! said to the same commands.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use annals::domain::session::{
    ApplyPatch, ApproveSession, CommandBody, CommandKind, CommandResult, Commit, CompleteCommand,
    CreateBranch, DenySession, GetDiff, PauseSession, PolicyProfile, Push, RateLimits,
    RecordWorkItem, RequestApproval, ResumeSession, RunTests, SubmitCommand, TransitionTicket,
    WorkItemDetails, WorkItemRef,
};
use annals::domain::{ActorRef, Command, CommandId, Ordered, SessionId, Timestamp};
use annals::event_log::memory::MemoryLog;
use annals::projections::session_replay::{Class, SessionReplayOptions, SessionsReplay, Unknown};
use annals::{Annals, Request};
use annals_dialects::contracts;
use annals_dialects::secrets::Secrets;
use annals_event_log::{EventLog, Position, Query, Store};
use chrono::{DateTime, TimeDelta};
use futures::executor::block_on;
use proptest::prelude::*;
use uuid::Uuid;

use crate::gate::{create, repo};

/// What a user or an agent does in a session.
#[derive(Debug, Clone)]
#[allow(clippy::large_enum_variant, reason = "made once and passed on")]
enum Act {
    Submit(CommandBody),
    /// Completes one of the commands that were given.
    Complete(usize, CommandResult),
    /// One of them read a ticket.
    Read(usize, &'static str),
    Approve,
    Deny,
    Pause,
    Resume,
}

/// An act in one of two sessions, so many milliseconds later.
type Step = (bool, i64, Act);

fn body() -> impl Strategy<Value = CommandBody> {
    let branch = || prop_oneof![Just("main".to_owned()), Just("topic".to_owned())];
    prop_oneof![
        // What is checked out, so that any profile can judge it.
        4 => branch().prop_map(|branch| Push::new(repo(), format!("HEAD:{branch}")).into()),
        2 => branch().prop_map(|branch_name| CreateBranch::new(repo(), branch_name).into()),
        2 => (0_usize..4).prop_map(|files| Commit::new(repo(), "m", vec![".".into(); files]).into()),
        2 => Just(RunTests::new(repo()).into()),
        1 => Just(ApplyPatch::new(repo(), "p").into()),
        2 => prop_oneof![Just("Doing"), Just("Done")].prop_map(|state| TransitionTicket::new(WorkItemRef::new("T-1"), state).into()),
    ]
}

fn act(with_requests: bool) -> impl Strategy<Value = Act> {
    let actions = prop_oneof![
        Just(vec!["Push".to_owned()]),
        Just(vec!["Deploy".to_owned()]),
        Just(Vec::new())
    ];
    let request = actions.prop_map(|required_actions| {
        Act::Submit(RequestApproval::new("please", required_actions).into())
    });
    let result = prop_oneof![
        3 => Just(CommandResult::Success),
        1 => Just(CommandResult::Failure),
    ];
    prop_oneof![
        8 => body().prop_map(Act::Submit),
        if with_requests { 1 } else { 0 } => request,
        5 => (0_usize..40, result).prop_map(|(n, result)| Act::Complete(n, result)),
        2 => (0_usize..40, prop_oneof![Just("Open"), Just("Doing")])
            .prop_map(|(n, status)| Act::Read(n, status)),
        2 => Just(Act::Approve),
        1 => Just(Act::Deny),
        1 => Just(Act::Pause),
        2 => Just(Act::Resume),
    ]
}

fn steps(with_requests: bool) -> impl Strategy<Value = Vec<Step>> {
    let step = (any::<bool>(), -2_000_i64..30_000, act(with_requests));
    proptest::collection::vec(step, 1..60)
}

fn profile() -> impl Strategy<Value = PolicyProfile> {
    let kinds = || proptest::sample::subsequence(CommandKind::ALL.to_vec(), 0..4);
    let words = |kinds: Vec<CommandKind>| {
        kinds
            .iter()
            .map(|kind| kind.as_str().to_owned())
            .collect::<Vec<String>>()
    };
    let caps = proptest::option::of(1_u32..4);
    let limits = (
        proptest::option::of(0_u32..6),
        proptest::option::of(0_u32..4),
        caps,
    );
    let limits = limits.prop_map(|(calls_per_minute, burst, push)| {
        RateLimits::new()
            .with_calls_per_minute(calls_per_minute)
            .with_burst(burst)
            .with_per_command_caps(push.map(|cap| Ordered(vec![("Push".to_owned(), cap)])))
    });
    (
        kinds().prop_map(words),
        any::<[bool; 3]>(),
        proptest::option::of(0_u32..3),
        proptest::option::of(limits),
        proptest::option::of(Just(vec![
            "Open->Doing".to_owned(),
            "Doing->Done".to_owned(),
        ])),
        "[ab]",
    )
        .prop_map(
            |(blacklist, [protect, tests, approval], files, limits, steps, name)| {
                PolicyProfile::new(name)
                    .with_command_blacklist((blacklist.len() > 2).then_some(blacklist))
                    .with_protected_branches(if protect {
                        vec!["main".into()]
                    } else {
                        Vec::new()
                    })
                    .with_max_files_per_commit(files)
                    .with_require_tests_before_push(tests)
                    .with_require_approval_for_push(approval)
                    .with_allowed_work_item_transitions(steps)
                    .with_limits(limits)
            },
        )
}

const SESSIONS: [SessionId; 2] = [SessionId(Uuid::from_u128(1)), SessionId(Uuid::from_u128(2))];

/// A log with two sessions, and what was done in them: the acts that were not
/// refused.
struct World {
    log: Arc<MemoryLog>,
    annals: Annals,
    at: DateTime<chrono::Utc>,
    clock: Arc<Mutex<DateTime<chrono::Utc>>>,
    given: Vec<(SessionId, CommandId)>,
    /// The commands and how often each step was accepted.
    done: Vec<bool>,
}

impl World {
    fn new(profiles: [&PolicyProfile; 2]) -> World {
        let log = Arc::new(MemoryLog::new(Uuid::nil()));
        let port: Arc<dyn Store> = log.clone();
        let at = DateTime::from_timestamp(1_800_000_000, 0).expect("a time");
        let clock = Arc::new(Mutex::new(at));
        let now = Arc::clone(&clock);
        let mut world = World {
            log,
            annals: Annals::over(port)
                .with_clock(move || Timestamp::from(*now.lock().expect("no panic"))),
            at,
            clock,
            given: Vec::new(),
            done: Vec::new(),
        };
        for (session, profile) in SESSIONS.into_iter().zip(profiles) {
            let mut create = create(session, profile.clone());
            create.pause_after_failures = Some(0);
            assert!(world.execute(create.into()));
        }
        world
    }

    fn execute(&mut self, command: Command) -> bool {
        let actor = match command {
            Command::ApproveSession(_) => ActorRef::human("bob"),
            _ => ActorRef::human("ada"),
        };
        let request = Request::new(actor, command);
        let at = Timestamp::from(self.at);
        block_on(self.annals.execute(request.at(at))).is_ok()
    }

    /// Does one step; `allowed` says whether what people and adapters do may be
    /// done at all.
    fn step(&mut self, step: &Step, allowed: bool) {
        let (second, later, act) = step;
        let session = SESSIONS[usize::from(*second)];
        self.at += TimeDelta::milliseconds(*later);
        *self.clock.lock().expect("no panic") = self.at;
        let command: Command = match act {
            Act::Submit(body) => {
                let id = CommandId(Uuid::from_u128(1_000 + self.given.len() as u128));
                self.given.push((session, id));
                // What a caller says of every commit, so that any profile can judge it.
                let names = |paths: &[String]| (0..paths.len()).map(|it| it.to_string()).collect();
                let files: Option<Vec<String>> = match body {
                    CommandBody::Commit(commit) => Some(names(&commit.include_paths)),
                    _ => None,
                };
                let submit = SubmitCommand::new(session, body.clone())
                    .with_id(id)
                    .with_branch(files.as_ref().map(|_| "work".to_owned()))
                    .with_files(files);
                assert!(self.execute(submit.into()), "a verdict is not a refusal");
                self.done.push(true);
                return;
            }
            Act::Complete(number, outcome) => {
                let count = self.given.len().max(1);
                let Some((session, id)) = self.given.get(number % count).copied() else {
                    self.done.push(false);
                    return;
                };
                CompleteCommand::new(session, id, *outcome).into()
            }
            Act::Read(number, status) => {
                let count = self.given.len().max(1);
                let Some((session, id)) = self.given.get(number % count).copied() else {
                    self.done.push(false);
                    return;
                };
                RecordWorkItem::new(session, id, WorkItemDetails::new("T-1", "t", "", *status))
                    .into()
            }
            Act::Approve => ApproveSession::new(session).into(),
            Act::Deny => DenySession::new(session, "no").into(),
            Act::Pause => PauseSession::new(session).into(),
            Act::Resume => ResumeSession::new(session).into(),
        };
        let done = allowed && self.execute(command);
        self.done.push(done);
    }

    fn replay(&self, sessions: &[SessionId], profile: &PolicyProfile) -> SessionsReplay {
        let options = SessionReplayOptions::default();
        block_on(self.annals.sessions().replay(sessions, profile, options)).expect("a replay")
    }

    /// The session's stream with its commands, one object a line.
    fn exported(&self, session: SessionId) -> String {
        let mut text = String::new();
        let each = |shown: contracts::Rendered| {
            let line = shown.object.write(contracts::Style::Compact).expect("JSON");
            text.push_str(&line);
            text.push('\n');
            Ok::<(), annals::LoadError>(())
        };
        let commands = contracts::Commands::All;
        let end = self.annals.position();
        block_on(contracts::export(
            &self.annals,
            session,
            commands,
            end,
            each,
        ))
        .expect("written");
        text
    }

    fn records(&self) -> Vec<Vec<u8>> {
        let page = block_on(self.log.read(Query::all(Position(1)).limit(10_000))).expect("read");
        page.records
            .iter()
            .map(|record| record.as_bytes().to_vec())
            .collect()
    }

    /// The last verdict on each command.
    fn verdicts(&self) -> BTreeMap<CommandId, Class> {
        use annals::domain::AnyEvent;
        use annals::domain::session::Event;
        let mut verdicts = BTreeMap::new();
        let page = block_on(self.log.read(Query::all(Position(1)).limit(10_000))).expect("read");
        for record in &page.records {
            let AnyEvent::Session(event) = annals::wire::decode(record).expect("ours").event else {
                continue;
            };
            let (id, class) = match event {
                Event::CommandQueued(event) => (event.command, Class::Queued),
                Event::CommandAccepted(event) => (event.command, Class::Accepted),
                Event::CommandRejected(event) => (event.command, Class::Rejected),
                Event::Throttled(event) => {
                    (event.correlation.command.expect("ours"), Class::Throttled)
                }
                _ => continue,
            };
            verdicts.insert(id, class);
        }
        verdicts
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, ..ProptestConfig::default() })]

    #[test]
    fn under_the_same_profile_nothing_flips(
        profile in profile(),
        steps in steps(true),
    ) {
        let mut world = World::new([&profile, &profile]);
        for step in &steps {
            world.step(step, true);
        }
        let before = world.records();
        let all = world.replay(&[], &profile);
        prop_assert_eq!(&all.flipped, &[]);
        prop_assert_eq!(all.judged, world.given.len() as u64);
        prop_assert_eq!(all.commands, all.judged);
        prop_assert_eq!((all.approvals.asked, all.approvals.saved), (0, 0));
        // One session alone: what the other one took from a shared bucket counts.
        for session in SESSIONS {
            prop_assert_eq!(&world.replay(&[session], &profile).flipped, &[]);
        }
        prop_assert_eq!(world.records(), before, "nothing was written");
    }

    /// What was exported with its commands and imported elsewhere is judged the
    /// same there; but for rates, as the stream has no times.
    #[test]
    fn an_imported_history_flips_nothing_under_its_own_profile(
        profile in profile(),
        steps in steps(false),
    ) {
        let profile = profile.with_limits(None);
        let mut world = World::new([&profile, &profile]);
        for step in &steps {
            world.step(step, true);
        }
        let elsewhere = Annals::over(Arc::new(MemoryLog::new(Uuid::nil())));
        let home = tempfile::tempdir().expect("a temporary directory");
        for session in SESSIONS {
            let file = home.path().join("session.jsonl");
            std::fs::write(&file, world.exported(session)).expect("written");
            let report = block_on(contracts::import(&elsewhere, &file, &Secrets::standard(), &mut |_| {}));
            prop_assert_eq!(report.expect("an import").broken, vec![]);
        }
        let options = SessionReplayOptions::default();
        let replayed = block_on(elsewhere.sessions().replay(&[], &profile, options));
        let replayed = replayed.expect("a replay");
        prop_assert_eq!(&replayed.flipped, &[]);
        // The contracts have no field for the branch that a commit's repository is on.
        let unsaid = replayed.unknown.unsaid;
        prop_assert_eq!(replayed.unknown, Unknown { unsaid, ..Unknown::default() });
        let all = replayed.judged + replayed.without_verdict + unsaid;
        prop_assert_eq!(all, world.given.len() as u64);
    }

    /// Compared with a log in which the same was done under the other profile.
    #[test]
    fn what_flips_is_what_a_session_under_the_other_profile_says(
        profile in profile(),
        other in profile(),
        steps in steps(false),
    ) {
        let mut world = World::new([&profile, &profile]);
        let mut compared = World::new([&other, &other]);
        for (number, step) in steps.iter().enumerate() {
            world.step(step, true);
            compared.step(step, world.done[number]);
        }
        let replayed = world.replay(&[], &other);
        let (was, is) = (world.verdicts(), compared.verdicts());
        let flips: BTreeMap<CommandId, (Class, Class)> = was
            .iter()
            .map(|(id, was)| (*id, (*was, is[id])))
            .filter(|(_, (was, is))| was != is)
            .collect();
        let found: BTreeMap<CommandId, (Class, Class)> = replayed
            .flipped
            .iter()
            .map(|flip| (flip.command, (flip.recorded.verdict, flip.under_profile.verdict)))
            .collect();
        prop_assert_eq!(found, flips);
        prop_assert_eq!(replayed.flip_count(), replayed.flipped.len() as u64);
        for class in Class::ALL {
            let count = |of: &BTreeMap<CommandId, Class>| {
                of.values().filter(|one| **one == class).count() as u64
            };
            prop_assert_eq!(replayed.recorded.of(class), count(&was));
            prop_assert_eq!(replayed.under_profile.of(class), count(&is));
        }
    }
}

/// Of one command only the verdict is here, of one only its rate could say, and one lost a name.
#[test]
fn what_cannot_be_judged_again_is_counted_as_unknown() {
    let object = |id: u128, kind: &str, of: u128, fields: &str| {
        let [id, of] = [id, of].map(Uuid::from_u128);
        let correlation = format!(r#"{{"sessionId":"{}","commandId":"{of}"}}"#, SESSIONS[0].0);
        format!(r#"{{{fields},"id":"{id}","correlation":{correlation},"kind":"{kind}"}}"#)
    };
    let accepted = |id: u128, of: u128| {
        let fields = format!(r#""commandId":"{}""#, Uuid::from_u128(of));
        object(id, "CommandAccepted", of, &fields)
    };
    let repo = r#""repo":{"name":"app","path":"/src/app"}"#;
    let diff = format!(r#"{repo},"ref":"HEAD""#);
    let push = format!(r#"{repo},"branchName":"[removed a7a7a7a7a7a7a7a7.2]""#);
    let lines = [
        accepted(21, 11),
        object(12, "GetDiff", 12, &diff),
        accepted(22, 12),
        object(13, "Push", 13, &push),
        accepted(23, 13),
    ];
    let annals = Annals::over(Arc::new(MemoryLog::new(Uuid::nil())));
    let home = tempfile::tempdir().expect("a temporary directory");
    let file = home.path().join("session.jsonl");
    std::fs::write(&file, lines.join("\n")).expect("written");
    let secrets = Secrets::standard();
    let report = block_on(contracts::import(&annals, &file, &secrets, &mut |_| {}));
    assert_eq!(report.expect("an import").broken, vec![]);
    let profile =
        PolicyProfile::new("slow").with_limits(RateLimits::default().with_calls_per_minute(5));
    let options = SessionReplayOptions::default();
    let replayed = block_on(annals.sessions().replay(&[], &profile, options)).expect("a replay");
    let unknown = Unknown {
        no_command: 1,
        no_times: 1,
        no_names: 1,
        unsaid: 0,
    };
    assert_eq!(replayed.unknown, unknown);
    assert_eq!((replayed.commands, replayed.judged), (3, 0));
    assert_eq!(&replayed.flipped, &[]);
}

/// What a child does counts as its parent's calls, also where it is judged again.
#[test]
fn a_child_flips_nothing_under_its_own_profile() {
    let limits = RateLimits::new()
        .with_calls_per_minute(2_u32)
        .with_burst(2_u32);
    let profile = PolicyProfile::new("slow").with_limits(limits);
    let mut world = World::new([&profile, &profile]);
    let child = SessionId(Uuid::from_u128(77));
    let mut begun = create(child, profile.clone());
    begun.config.parent_session_id = Some(SESSIONS[0].0);
    begun.config.agent_profile = "another".into();
    assert!(world.execute(begun.into()));
    for number in 0..24 {
        world.at += TimeDelta::seconds(7);
        *world.clock.lock().expect("no panic") = world.at;
        let session = if number % 3 == 0 { SESSIONS[0] } else { child };
        let submit = SubmitCommand::new(session, GetDiff::new(repo()))
            .with_id(CommandId(Uuid::from_u128(1_000 + number)));
        assert!(world.execute(submit.into()));
    }
    let verdicts = world.verdicts();
    let of = |class: Class| verdicts.values().filter(|it| **it == class).count();
    // Two at once and two a minute for nearly three minutes, of both together.
    assert_eq!((of(Class::Accepted), of(Class::Throttled)), (7, 17));
    for sessions in [&[SESSIONS[0], child][..], &[child], &SESSIONS[..1]] {
        let replay = world.replay(sessions, &profile);
        assert!(replay.flips.is_empty(), "{sessions:?}: {replay:?}");
    }
}
