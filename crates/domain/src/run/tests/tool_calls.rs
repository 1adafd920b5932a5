//! A tool call's life: what is told of it in any order, and what is told twice.

use super::*;
use crate::testing::{json, texts};
use crate::{ActorRef, ContentPart, IntegrityHash, ToolInvocationId};

const CALL: ToolInvocationId = ToolInvocationId(Uuid::from_u128(20));

pub(super) fn request() -> RequestToolCall {
    RequestToolCall::new(RUN, "bash").with_id(CALL)
}

pub(super) fn decide(verdict: ToolVerdict, by: ToolDecider) -> DecideToolCall {
    DecideToolCall::new(RUN, CALL, verdict, by).with_tool_name("bash".to_owned())
}

pub(super) fn begin() -> BeginToolCall {
    BeginToolCall::new(RUN, CALL).with_tool_name("bash".to_owned())
}

pub(super) fn end(status: ToolStatus) -> EndToolCall {
    EndToolCall::new(RUN, CALL, status).with_tool_name("bash".to_owned())
}

fn invocation() -> RecordToolInvocation {
    records::tool_invocation().with_id(CALL)
}

/// The types of the events that a command leads to.
fn told(given: &mut Given, command: impl Into<Command>) -> Vec<&'static str> {
    use crate::EventSet;
    let emitted = given.execute(command);
    let of_run = |event: &AnyEvent| match event {
        AnyEvent::Run(event) => event.event_type(),
        other => panic!("expected an event of a run, found {other:?}"),
    };
    events(&emitted).iter().map(of_run).collect()
}

#[test]
fn a_life_is_told_step_by_step() {
    let mut given = created();
    assert_eq!(told(&mut given, request()), ["run.tool_requested"]);
    for (verdict, by) in [
        (ToolVerdict::Ask, ToolDecider::Rule),
        (ToolVerdict::Allow, ToolDecider::Person),
    ] {
        assert_eq!(told(&mut given, decide(verdict, by)), ["run.tool_decided"]);
    }
    assert_eq!(told(&mut given, begin()), ["run.tool_begun"]);
    assert_eq!(told(&mut given, end(ToolStatus::Ok)), ["run.tool_ended"]);
    assert_eq!(told(&mut given, invocation()), ["run.tool_invoked"]);
}

#[test]
fn only_the_first_event_on_a_call_has_its_tools_name() {
    let mut given = created();
    let first = given.execute(decide(ToolVerdict::Ask, ToolDecider::Rule));
    assert_eq!(texts(&first), [["bash"]]);
    assert_eq!(texts(&given.execute(begin())), [[""; 0]]);
    assert_eq!(texts(&given.execute(end(ToolStatus::Ok))), [[""; 0]]);
}

#[test]
fn a_call_that_nothing_is_known_of_needs_its_tools_name() {
    let given = created();
    for command in [
        Command::from(DecideToolCall::new(
            RUN,
            CALL,
            ToolVerdict::Deny,
            ToolDecider::Hook,
        )),
        BeginToolCall::new(RUN, CALL).into(),
        EndToolCall::new(RUN, CALL, ToolStatus::Ok).into(),
    ] {
        let refused = given.decide(command).unwrap_err();
        assert!(
            matches!(
                &refused,
                Refusal::Invalid {
                    field: "tool_name",
                    ..
                }
            ),
            "{refused}"
        );
    }
}

/// What a call may be told by, in every state of its run.
fn facts() -> Vec<Command> {
    vec![
        request().into(),
        request().with_args(json(r#"{"command":"ls"}"#)).into(),
        decide(ToolVerdict::Ask, ToolDecider::Rule).into(),
        decide(ToolVerdict::Allow, ToolDecider::Person)
            .with_by_name("ada".to_owned())
            .into(),
        decide(ToolVerdict::Deny, ToolDecider::Hook)
            .with_reason("not here".to_owned())
            .into(),
        begin().into(),
        end(ToolStatus::Ok).with_duration_ms(7_u64).into(),
        end(ToolStatus::Error)
            .with_failure("exit code 1".to_owned())
            .into(),
        invocation().into(),
    ]
}

/// All orders of some commands, by turns.
fn orders(commands: &[Command]) -> Vec<Vec<Command>> {
    let [first, rest @ ..] = commands else {
        return vec![Vec::new()];
    };
    let insert = |order: &Vec<Command>, place: usize| {
        let mut order = order.clone();
        order.insert(place, first.clone());
        order
    };
    let shorter = orders(rest);
    let places = 0..=rest.len();
    places
        .flat_map(|place| shorter.iter().map(move |order| insert(order, place)))
        .collect()
}

#[test]
fn no_fact_is_refused_for_its_order_and_none_is_told_twice() {
    let facts = facts();
    // Any three of them, in all orders, and then the rest.
    for window in facts.windows(3) {
        for order in orders(window) {
            let mut given = created();
            let mut invoked = 0;
            for command in order.iter().chain(&facts) {
                match given.try_execute(command.clone()) {
                    Ok(emitted) => {
                        let all = events(&emitted);
                        let is = |event: &&AnyEvent| {
                            matches!(event, AnyEvent::Run(Event::ToolInvoked(_)))
                        };
                        invoked += all.iter().filter(is).count();
                    }
                    Err(Refusal::Exists { id, .. }) => {
                        assert_eq!((command.name(), id), ("record_tool_invocation", CALL.0));
                    }
                    Err(refusal) => panic!("{command:?}: {refusal}"),
                }
            }
            assert_eq!(invoked, 1);
            for command in &facts {
                match given.try_execute(command.clone()) {
                    Ok(emitted) => assert_eq!(events(&emitted), [], "{command:?} again"),
                    Err(refusal) => assert_eq!(refusal.code(), "exists", "{command:?}"),
                }
            }
        }
    }
}

#[test]
fn what_is_known_of_a_call_is_told_in_runs_that_have_ended() {
    for (status, given) in all_states() {
        let given = given
            .command(begin())
            .command(request())
            .command(invocation());
        assert_eq!(state_of(&given).status, status);
    }
}

#[test]
fn a_request_adds_arguments_and_files_that_were_missing() {
    let mut given = created().command(request());
    let args = json(r#"{"command":"ls"}"#);
    let with_args = request().with_args(args);
    assert_eq!(told(&mut given, with_args.clone()), ["run.tool_requested"]);
    assert_eq!(told(&mut given, with_args), [""; 0]);
    let files = IoFootprint::new().with_paths_read(vec!["a".to_owned()]);
    let with_files = request().with_io_footprint(files);
    assert_eq!(told(&mut given, with_files.clone()), ["run.tool_requested"]);
    assert_eq!(told(&mut given, with_files), [""; 0]);
    // A call that is over was requested: only what it lacks is told.
    let mut over = created().command(invocation());
    assert_eq!(told(&mut over, request()), [""; 0]);
    let with_args = request().with_args(json("{}"));
    assert_eq!(told(&mut over, with_args), ["run.tool_requested"]);
}

#[test]
fn a_decision_that_says_less_is_not_told_again() {
    let says_all = || {
        decide(ToolVerdict::Deny, ToolDecider::Rule)
            .with_by_name("Bash(rm:*)".to_owned())
            .with_source("settings.json".to_owned())
            .with_reason("dangerous".to_owned())
            .with_permission_mode("default".to_owned())
            .with_in_force(vec![])
    };
    let full = created().command(says_all());
    let bare = decide(ToolVerdict::Deny, ToolDecider::Rule);
    for less in [
        says_all(),
        bare.clone(),
        bare.clone().with_inferred(true),
        bare.clone().with_by_name("Bash(rm:*)".to_owned()),
        bare.clone().with_reason("in other words".to_owned()),
        bare.clone().with_scope(GrantScope::Once),
    ] {
        assert_eq!(full.decide(less.clone()), Ok(vec![]), "{less:?}");
    }
    let mut more = vec![
        decide(ToolVerdict::Ask, ToolDecider::Rule),
        decide(ToolVerdict::Deny, ToolDecider::Mode),
        bare.clone().with_scope(GrantScope::Session),
        bare.clone().with_by_name("Bash(mv:*)".to_owned()),
        bare.clone().with_source("other.json".to_owned()),
        bare.clone()
            .with_grant(ToolInvocationId(Uuid::from_u128(21))),
    ];
    for command in more.drain(..) {
        assert_eq!(
            full.decide(command.clone()).unwrap().len(),
            1,
            "{command:?}"
        );
    }
    let mut given = created().command(bare.clone().with_inferred(true));
    for (command, count) in [
        (bare.clone().with_inferred(true), 0),
        (bare.clone(), 1),
        (bare.clone().with_reason("why".to_owned()), 1),
        (bare.clone().with_permission_mode("plan".to_owned()), 1),
        (bare.clone().with_in_force(vec![]), 1),
        (bare.with_in_force(vec![]), 0),
    ] {
        assert_eq!(
            told(&mut given, command.clone()).len(),
            count,
            "{command:?}"
        );
    }
}

/// The last word of a rule, a hook or a person is what it decided last, also where that was decided before.
#[test]
fn only_the_last_decision_of_a_decider_is_repeated() {
    use ToolDecider::{Mode, Person, Rule};
    use ToolVerdict::{Allow, Ask, Deny};
    let rule = |verdict| decide(verdict, Rule).with_by_name("Bash(rm:*)".to_owned());
    let other = decide(Deny, Rule).with_by_name("Bash(mv:*)".to_owned());
    for (given, again, count) in [
        (vec![rule(Allow), rule(Deny)], rule(Allow), 1),
        (vec![rule(Allow), rule(Deny)], rule(Deny), 0),
        (vec![rule(Ask), rule(Allow), rule(Deny)], rule(Ask), 1),
        // Nothing says whose name a decision without one has.
        (vec![decide(Allow, Rule), rule(Deny)], rule(Allow), 1),
        (vec![rule(Allow), rule(Deny)], decide(Allow, Rule), 1),
        // Others decided in between, and its last word is the same.
        (vec![rule(Allow), other], rule(Allow), 0),
        (
            vec![decide(Ask, Mode), decide(Deny, Person)],
            decide(Ask, Mode),
            0,
        ),
        // What says less in between takes nothing back.
        (
            vec![rule(Allow).with_reason("r".to_owned()), decide(Allow, Rule)],
            rule(Allow).with_reason("r".to_owned()),
            0,
        ),
        // Neither does a guess.
        (
            vec![rule(Allow), rule(Deny).with_inferred(true)],
            rule(Allow),
            0,
        ),
        (
            vec![rule(Allow), rule(Allow).with_scope(GrantScope::Session)],
            rule(Allow),
            1,
        ),
    ] {
        let mut before = created();
        for command in &given {
            before = before.command(command.clone());
        }
        let told = told(&mut before, again.clone());
        assert_eq!(told.len(), count, "{again:?} after {given:?}");
    }
}

#[test]
fn an_end_adds_what_was_missing_and_contradictions_are_kept() {
    let mut given = created().command(end(ToolStatus::Ok));
    assert_eq!(told(&mut given, end(ToolStatus::Ok)), [""; 0]);
    let part = || ContentPart::new("stdout", "x");
    for more in [
        end(ToolStatus::Ok).with_duration_ms(7_u64),
        end(ToolStatus::Ok).with_result_summary("fine".to_owned()),
        end(ToolStatus::Ok).with_failure("not so fine".to_owned()),
        end(ToolStatus::Ok).with_output(vec![part()]),
        end(ToolStatus::Error),
    ] {
        assert_eq!(
            told(&mut given, more.clone()),
            ["run.tool_ended"],
            "{more:?}"
        );
        assert_eq!(told(&mut given, more.clone()), [""; 0], "{more:?}");
    }
}

#[test]
fn a_call_belongs_to_one_run() {
    let other = RunId(Uuid::from_u128(50));
    let given = created().command(request()).command(CreateRun {
        id: Some(other),
        ..CreateRun::new(TASK)
    });
    let exists = Err(Refusal::Exists {
        kind: Kind::ToolInvocation,
        id: CALL.0,
    });
    let begin = BeginToolCall::new(other, CALL).with_tool_name("bash".to_owned());
    assert_eq!(given.decide(begin), exists);
    let invocation = RecordToolInvocation {
        run: other,
        ..invocation()
    };
    assert_eq!(given.decide(invocation), exists);
    // Neither is a task a call.
    let end = EndToolCall::new(RUN, TASK.0.into(), ToolStatus::Ok);
    let (kind, id) = (Kind::Task, TASK.0);
    assert_eq!(given.decide(end), Err(Refusal::Exists { kind, id }));
}

#[test]
fn a_file_in_force_has_its_content_or_its_hash() {
    let given = created();
    let decide = |files| decide(ToolVerdict::Allow, ToolDecider::Rule).with_in_force(files);
    let file = || FileInForce::new("settings.json");
    let content = Payload(b"{}".to_vec());
    let hash = IntegrityHash::of(b"{}");
    let refused = |files: Vec<FileInForce>, named: &str| match given.decide(decide(files)) {
        Err(Refusal::Invalid { field, .. }) => assert_eq!(field, named),
        other => panic!("{other:?}"),
    };
    refused(vec![file()], "in_force");
    let both = file().with_content(content.clone()).with_hash(hash);
    refused(vec![both], "in_force");
    let blank = FileInForce::new(" ").with_hash(hash);
    refused(vec![blank], "in_force.path");
    refused(vec![file().with_hash(hash); 101], "in_force");
    let kept = given.decide(decide(vec![
        file().with_content(content),
        FileInForce::new("other.json").with_hash(hash),
    ]));
    let kept = kept.unwrap();
    assert_eq!(
        texts(&kept),
        [["bash", "settings.json", "{}", "other.json"]]
    );
}

#[test]
fn names_of_a_decision_are_content() {
    let given = created();
    let decide = decide(ToolVerdict::Deny, ToolDecider::Rule)
        .with_by_name("Bash(rm:*)".to_owned())
        .with_source("settings.json".to_owned());
    let mut event = events(&given.decide(decide).unwrap())[0].clone();
    assert!(event.may_have_names());
    let mut names = Vec::new();
    event.each_name(&mut |name| names.push(name.clone()));
    assert_eq!(names, ["Bash(rm:*)", "settings.json"]);
}

#[test]
fn a_status_follows_from_what_happened() {
    let status = |commands: Vec<Command>| {
        let mut given = created();
        let mut status = None;
        for command in commands {
            for event in events(&given.execute(command)) {
                let AnyEvent::Run(event) = event else {
                    panic!("expected an event of a run, found {event:?}");
                };
                status = CallStatus::after(status, &event);
            }
        }
        status.unwrap()
    };
    let by = ToolDecider::Rule;
    let ask = || decide(ToolVerdict::Ask, by).into();
    let deny = || decide(ToolVerdict::Deny, by).into();
    // A person lifts a denial, and a rule does not.
    let allow = || decide(ToolVerdict::Allow, ToolDecider::Person).into();
    let reported = |verdict| {
        let decision = decide(verdict, ToolDecider::Person);
        decision.with_source(TELEMETRY.to_owned()).into()
    };
    for (commands, expected) in [
        (vec![request().into()], CallStatus::Requested),
        (vec![request().into(), ask()], CallStatus::Requested),
        (vec![deny()], CallStatus::Denied),
        (vec![deny(), request().into()], CallStatus::Denied),
        (vec![deny(), allow()], CallStatus::Requested),
        (
            vec![deny(), decide(ToolVerdict::Allow, by).into()],
            CallStatus::Denied,
        ),
        // Anybody can report it.
        (
            vec![deny(), reported(ToolVerdict::Allow)],
            CallStatus::Denied,
        ),
        (vec![deny(), reported(ToolVerdict::Ask)], CallStatus::Denied),
        (vec![reported(ToolVerdict::Deny)], CallStatus::Denied),
        (
            vec![deny(), reported(ToolVerdict::Allow), allow()],
            CallStatus::Requested,
        ),
        (vec![deny(), begin().into()], CallStatus::Running),
        (vec![begin().into(), deny()], CallStatus::Running),
        (
            vec![end(ToolStatus::Ok).into(), begin().into(), deny()],
            CallStatus::Ok,
        ),
        (
            vec![end(ToolStatus::Ok).into(), end(ToolStatus::Error).into()],
            CallStatus::Error,
        ),
        (vec![begin().into(), invocation().into()], CallStatus::Ok),
    ] {
        assert_eq!(status(commands.clone()), expected, "{commands:?}");
    }
}

#[test]
fn commands_of_one_batch_see_each_other() {
    use crate::{DecideError, Loaded, Meta, Need, World};
    let given = created();
    let mut world = World::new();
    let meta = Meta { ..given.meta() };
    let mut count = 0;
    for command in [
        Command::from(request()),
        request().into(),
        begin().into(),
        begin().into(),
        decide(ToolVerdict::Allow, ToolDecider::Mode).into(),
        decide(ToolVerdict::Allow, ToolDecider::Mode).into(),
    ] {
        let decided = loop {
            match command.decide(&mut world, &meta) {
                Ok(decided) => break decided,
                Err(DecideError::Refused(refusal)) => panic!("{refusal}"),
                Err(DecideError::Needs(needs)) => {
                    for need in needs {
                        match need {
                            Need::State(stream) => {
                                let loaded: Loaded = given.loaded(stream);
                                world.insert_state(stream, loaded);
                            }
                            Need::Place(id) => world.insert_place(id, None),
                            Need::ToolCall { call, .. } => {
                                world.insert_tool_call(call, ToolCall::default());
                            }
                            other => panic!("{other:?}"),
                        }
                    }
                }
            }
        };
        count += decided.len();
        world.apply(&decided, &meta);
    }
    assert_eq!(count, 3);
}

/// What telemetry reported first does not keep out what is told at first hand later, and the other way round it adds
/// who reported it.
#[test]
fn a_reported_decision_stands_for_no_other_one() {
    let own = || decide(ToolVerdict::Allow, ToolDecider::Person);
    let reported = || own().with_source(TELEMETRY.to_owned());
    for commands in [[reported(), own()], [own(), reported()]] {
        let mut given = created();
        for command in &commands {
            assert_eq!(given.execute(command.clone()).len(), 1, "{commands:?}");
        }
        for command in commands {
            assert!(given.execute(command).is_empty());
        }
    }
}

#[test]
fn a_persons_verdict_is_given_by_a_person() {
    let allow = || decide(ToolVerdict::Allow, ToolDecider::Person).with_by_name("ada".to_owned());
    let by = |actor: ActorRef| created().command(request()).by(actor);
    for actor in [
        ActorRef::agent("coder"),
        ActorRef::system("gate"),
        ActorRef::mcp_client("x"),
    ] {
        let given = by(actor);
        for verdict in [allow(), decide(ToolVerdict::Deny, ToolDecider::Person)] {
            let refused = given.decide(verdict).unwrap_err();
            assert!(
                matches!(refused, Refusal::Invalid { field: "by", .. }),
                "{refused}"
            );
        }
        // These lift no denial.
        assert!(given.decide(allow().with_inferred(true)).is_ok());
        assert!(
            given
                .decide(allow().with_source(TELEMETRY.to_owned()))
                .is_ok()
        );
    }
    assert!(by(ActorRef::human("ada")).decide(allow()).is_ok());
}

#[test]
fn only_a_person_lifts_a_denial() {
    let status = |commands: &[DecideToolCall]| {
        let mut given = created().command(request());
        let mut status = None;
        for command in commands {
            for emitted in given.execute(command.clone()) {
                if let AnyEvent::Run(event) = &emitted.event {
                    status = CallStatus::after(status, event);
                }
            }
        }
        status
    };
    let rule = |verdict| decide(verdict, ToolDecider::Rule).with_by_name("no-push".to_owned());
    let person = || decide(ToolVerdict::Allow, ToolDecider::Person);
    let deny = || rule(ToolVerdict::Deny);
    for (lifts, later) in [
        (false, rule(ToolVerdict::Allow)),
        (false, rule(ToolVerdict::Ask)),
        (false, decide(ToolVerdict::Allow, ToolDecider::Mode)),
        (false, person().with_inferred(true)),
        (false, person().with_source(TELEMETRY.to_owned())),
        (true, person()),
    ] {
        let expected = match lifts {
            true => CallStatus::Requested,
            false => CallStatus::Denied,
        };
        assert_eq!(
            status(&[deny(), later.clone()]),
            Some(expected),
            "{later:?}"
        );
    }
    assert_eq!(
        status(&[rule(ToolVerdict::Ask), person()]),
        Some(CallStatus::Requested)
    );
}
