//! What the intents that one is a part of demand of it: a part waits for their approval and
//! conditions, and ends with them.

use super::ways_around::{analyze, refused};
use super::*;
use crate::intent::ActivateIntent;
use ApprovalStatus::{Approved, Cancelled as CalledOff, Done, Error, Executing, Proposed};

/// A part of an intent, of a low risk.
fn part(number: u128, of: u128) -> SubmitIntent {
    SubmitIntent {
        child_of: Some(intent(of)),
        ..risky(number, Risk::Low)
    }
}

/// What begins or does work on the second intent, whose task is 21.
fn work() -> [Command; 4] {
    let analysis = RecordAnalysis {
        tasks: vec![AnalyzedTask::new("a", "A")],
        ..RecordAnalysis::new(intent(2))
    };
    let commit = RecordCommit {
        intent: intent(2),
        commit: "a".repeat(40).parse().unwrap(),
    };
    [
        CreateRun::new(task(21)).into(),
        start(2).into(),
        analysis.into(),
        commit.into(),
    ]
}

/// An agent's intent of a high risk with a part of a low one, which has a part itself.
fn in_parts() -> Given {
    Given::new()
        .by(ActorRef::agent("coder"))
        .command(risky(1, Risk::High))
        .command(part(2, 1))
        .command(task_of(2, 21))
        .command(part(3, 2))
        .command(task_of(3, 31))
}

#[test]
fn a_part_waits_for_the_approval_of_what_it_is_a_part_of() {
    let given = in_parts();
    assert_eq!(status(&given, 2), Approved);
    for command in work() {
        let says = refused(&given, command);
        let whole = format!("a part of intent {}, which is proposed", intent(1));
        assert!(
            says.contains(&whole) && says.contains("approve_intent"),
            "{says}"
        );
    }
    let says = refused(&given, CreateRun::new(task(31)));
    assert!(says.contains("which is proposed"), "{says}");
    let given = given
        .by(ActorRef::human("ada"))
        .command(approve(1))
        .by(ActorRef::agent("coder"));
    for command in work() {
        assert!(given.decide(command).is_ok());
    }
    assert!(given.decide(CreateRun::new(task(31))).is_ok());
}

#[test]
fn parts_end_with_what_they_are_parts_of() {
    let cancel = CancelIntent {
        intent: intent(1),
        reason: None,
    };
    for down in [Command::from(reject(1)), cancel.into()] {
        let mut given = in_parts().by(ActorRef::human("ada"));
        let emitted = given.execute(down);
        assert!(
            texts(&emitted)
                .concat()
                .iter()
                .any(|it| it.contains("is a part of"))
        );
        for number in [2, 3] {
            assert_eq!(status(&given, number), CalledOff);
        }
        for command in work() {
            assert!(given.decide(command).is_err());
        }
        assert!(given.decide(task_of(3, 32)).is_err());
    }
}

#[test]
fn what_is_done_of_an_intent_that_is_turned_down_stays_done() {
    let mut given = in_parts().command(part(4, 1)).by(ActorRef::human("ada"));
    given.execute(approve(1));
    given.execute(task_of(4, 41));
    finish_task(&mut given, 41);
    given.execute(task_of(2, 22));
    given.execute(fail_task(21));
    given.execute(fail_task(22));
    given.execute(CancelIntent {
        intent: intent(1),
        reason: None,
    });
    assert_eq!(
        [2, 3, 4].map(|it| status(&given, it)),
        [CalledOff, CalledOff, Done]
    );
}

/// An import or an older version may leave parts open of what has ended.
#[test]
fn no_part_begins_or_goes_on_of_what_has_ended() {
    let completed = intent_event(Completed { reason: None });
    let given = in_parts()
        .by(ActorRef::human("ada"))
        .command(approve(1))
        .command(fail_task(31));
    for (end, over) in [
        (intent_event(Rejected::new(None)), "rejected"),
        (intent_event(Cancelled::new(None)), "cancelled"),
        (completed, "completed"),
    ] {
        let given = given.clone().event(intent(1).stream(), end);
        assert_eq!(status(&given, 3), Error);
        let [run, begin, analysis, _] = work();
        for command in [
            run,
            begin,
            analysis,
            rerun(3).into(),
            task_of(3, 32).into(),
            part(5, 3).into(),
        ] {
            let asked = command.name();
            let says = refused(&given, command);
            let whole = format!("a part of intent {}, which is {over}", intent(1));
            assert!(says.contains(&whole), "{asked}: {says}");
        }
    }
}

#[test]
fn a_part_waits_for_the_conditions_of_what_was_not_begun() {
    let after = SubmitIntent {
        depends_on: vec![intent(9)],
        ..risky(1, Risk::Low)
    };
    let mut given = Given::new()
        .command(risky(9, Risk::Low))
        .command(task_of(9, 91))
        .command(after)
        .command(part(2, 1))
        .command(task_of(2, 21));
    assert_eq!([1, 2].map(|it| status(&given, it)), [Approved, Approved]);
    let [run, begin, analysis, _] = work();
    for command in [run.clone(), begin, analysis] {
        let says = refused(&given, command);
        assert!(says.contains("waiting for intent"), "{says}");
    }
    finish_task(&mut given, 91);
    assert!(given.decide(run.clone()).is_ok());
    // What was begun goes on.
    given.execute(run);
    given.execute(ask(1, &["which?"]));
    assert!(given.decide(CreateRun::new(task(21))).is_ok());
    assert_eq!(status(&given, 2), Executing);
}

#[test]
fn parts_close_no_ring_with_what_their_whole_waits_for() {
    let after = |number, other| SubmitIntent {
        depends_on: vec![intent(other)],
        ..risky(number, Risk::Low)
    };
    let given = Given::new()
        .command(risky(9, Risk::Low))
        .command(after(1, 9))
        .command(part(2, 1));
    // 2 waits for what 1 waits for, 9, which would wait for its part, and that for 2.
    let ring = SubmitIntent {
        child_of: Some(intent(9)),
        ..after(3, 2)
    };
    let says = refused(&given, ring);
    assert!(says.contains("wait for each other"), "{says}");
}

#[test]
fn a_part_of_what_is_on_no_axis_waits_for_nothing() {
    let activate = ActivateIntent {
        intent: intent(1),
        reason: None,
    };
    let given = Given::new()
        .command(create())
        .command(analyze())
        .command(activate)
        .command(part(2, 1))
        .command(task_of(2, 21));
    assert_eq!(status(&given, 1), Proposed);
    assert!(given.decide(CreateRun::new(task(21))).is_ok());
}
