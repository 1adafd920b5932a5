//! Sessions taken over from another system: what it said stays, and our rules
//! apply from there on.

use super::*;
use crate::testing::stream;
use crate::{Dialect, Pieces};

fn adopted(policy: Option<PolicyProfile>) -> Adopted {
    let store = |policy| StoredConfig::store(&config(SESSION, policy), &mut Pieces::new());
    Adopted {
        dialect: Dialect::Contracts,
        config: policy.map(store),
    }
}

fn then(mut stage: Stage, event: impl Into<Event>) -> Stage {
    let event = AnyEvent::Session(event.into());
    stage.given = stage.given.event(stream(StreamKind::Session, 1), event);
    stage
}

fn taken_over(policy: Option<PolicyProfile>) -> Stage {
    let nothing = Stage {
        given: Given::new(),
    };
    then(nothing, adopted(policy))
}

fn status(status: SessionStatus) -> StatusRecorded {
    StatusRecorded {
        status,
        reason: None,
        correlation: Correlation::default(),
    }
}

fn correlation(number: u128) -> Correlation {
    Correlation {
        command: Some(id(number)),
        ..Correlation::default()
    }
}

fn accepted(number: u128) -> CommandAccepted {
    CommandAccepted {
        command: id(number),
        token: TokenSource::None,
        correlation: correlation(number),
    }
}

#[test]
fn its_status_is_unknown_until_something_is_said_of_it() {
    let stage = taken_over(None);
    assert_eq!(stage.status(), SessionStatus::Unknown);
    for said in SessionStatus::ALL {
        assert_eq!(then(stage.clone(), status(*said)).status(), *said);
    }
}

#[test]
fn without_its_policy_nothing_can_be_judged_in_it() {
    let stage = then(taken_over(None), status(SessionStatus::Running));
    let says = "taken over from another system without its configuration";
    stage.check_invalid(submit(1, get_diff()), "session", says);
    // What its status alone decides can be said.
    let paused = then(stage.clone(), status(SessionStatus::Paused));
    assert_eq!(paused.verdict(get_diff()), "Session is paused");
    let over = then(stage, status(SessionStatus::Error));
    let verdict = over.verdict(get_diff());
    assert_eq!(verdict, "Session is in terminal state: Error");
}

#[test]
fn with_its_policy_our_gate_goes_on() {
    let policy = PolicyProfile {
        command_blacklist: Some(words(&["Push"])),
        ..anything()
    };
    let later = then(taken_over(None), adopted(Some(policy.clone())));
    for stage in [taken_over(Some(policy)), later] {
        assert_eq!(
            stage.verdict(push("a")),
            "Policy violation: Command in blacklist"
        );
        assert_eq!(stage.verdict(get_diff()), "CommandAccepted");
    }
}

/// A stream may name commands that it does not contain.
#[test]
fn a_command_that_another_system_accepted_can_end() {
    let mut stage = then(taken_over(Some(anything())), accepted(1));
    assert_eq!(stage.session().open[&id(1)].facts, None);
    assert_eq!(stage.when(succeeds(1)), ["1 Success"]);
    // It is not known whether these were tests.
    assert!(stage.session().tested.is_empty());
}

#[test]
fn its_verdicts_are_not_judged_again() {
    let policy = PolicyProfile {
        command_whitelist: Some(vec![]),
        limits: Some(RateLimits {
            calls_per_minute: Some(1),
            ..RateLimits::default()
        }),
        ..anything()
    };
    let stage = then(taken_over(Some(policy)), accepted(1));
    let session = stage.session();
    assert!(session.open.contains_key(&id(1)));
    assert_eq!(session.level, None, "it took no token of ours");
}

#[test]
fn an_approval_that_another_system_asks_for_can_be_given() {
    let stage = then(
        taken_over(Some(anything())),
        status(SessionStatus::NeedsApproval),
    );
    let mut approved = stage.clone();
    assert_eq!(approved.when(approve()), ["approved [\"Push\"]"]);
    assert_eq!(approved.status(), SessionStatus::Running);
    // Who asked there is not known, so that a person denies.
    assert!(matches!(
        stage.refusal(deny("no")),
        Refusal::NotPermitted { .. }
    ));
    let mut denied = stage;
    denied.given = denied.given.by(ActorRef::human("ada"));
    assert_eq!(denied.when(deny("no")), ["denied: no"]);
    assert_eq!(denied.status(), SessionStatus::Running);
}

/// The other system did not say after how many failures it should.
#[test]
fn it_never_pauses_by_itself() {
    let mut stage = taken_over(Some(anything()));
    stage = then(stage, status(SessionStatus::Running));
    for number in 1..=9 {
        stage = then(stage, accepted(number));
        assert_eq!(stage.when(fails(number)).len(), 1);
    }
    assert_eq!(stage.status(), SessionStatus::Running);
}

#[test]
fn a_session_that_is_there_is_not_created_again() {
    let stage = taken_over(None);
    let again = stage.refusal(create(SESSION, anything()));
    assert!(matches!(again, Refusal::Exists { .. }), "{again}");
}

/// What a log holds that no session began is nothing, and panics nowhere.
#[test]
fn events_without_a_session_are_nothing() {
    let nothing = Stage {
        given: Given::new(),
    };
    let stage = then(then(nothing, accepted(1)), status(SessionStatus::Running));
    assert!(matches!(
        stage.refusal(submit(1, get_diff())),
        Refusal::NotFound { .. }
    ));
}

/// Its verdict was given elsewhere; no batch here knows that.
#[test]
fn no_command_of_another_system_is_judged_again_under_its_id() {
    let received = |number| CommandReceived {
        command: id(number),
        facts: push("a").facts(),
        correlation: correlation(number),
        body: Pieces::new().text("{}"),
        files: None,
        file: None,
    };
    let rejected = |number| CommandRejected {
        command: id(number),
        reason: Pieces::new().text("no"),
        rule: None,
        correlation: correlation(number),
    };
    let mut stage = then(taken_over(Some(anything())), accepted(1));
    stage = then(stage, rejected(2));
    // One that never had a verdict, and is followed by another.
    stage = then(then(stage, received(3)), received(4));
    stage.when(succeeds(1));
    for number in 1..=4 {
        let again = submit(number, get_diff());
        stage.check_invalid(again, "id", "is a command of this session already");
    }
    assert_eq!(stage.verdict(get_diff()), "CommandAccepted");
}

#[test]
fn what_is_unknown_can_be_aborted_and_completed() {
    for stage in [taken_over(None), taken_over(Some(anything()))] {
        assert_eq!(stage.status(), SessionStatus::Unknown);
        let mut aborted = stage.clone();
        assert_eq!(aborted.when(abort()), ["aborted"]);
        assert_eq!(aborted.status(), SessionStatus::Error);
        let mut completed = stage;
        assert_eq!(completed.when(complete()), ["completed"]);
        assert_eq!(completed.status(), SessionStatus::Completed);
    }
}

#[test]
fn a_terminal_status_that_is_said_ends_the_queue_and_all_that_is_asked_for() {
    let policy = PolicyProfile {
        require_approval_for_push: true,
        ..anything()
    };
    let waiting = taken_over(Some(policy))
        .after(submit(1, push("a")))
        .after(submit(2, request_approval(&["deploy"])));
    let left = |stage: &Stage| {
        let session = stage.session();
        (session.queue.len(), session.pending.len())
    };
    assert_eq!(left(&waiting), (1, 2));
    for over in [SessionStatus::Error, SessionStatus::Completed] {
        let ended = then(waiting.clone(), status(over));
        assert_eq!((ended.status(), left(&ended)), (over, (0, 0)));
    }
    let paused = then(waiting, status(SessionStatus::Paused));
    assert_eq!(left(&paused), (1, 2), "no other status does");
}

/// What is recorded in that name another system said; no import may overrule what was decided here.
#[test]
fn no_command_is_given_in_the_importers_name() {
    let mut stage = taken_over(Some(anything()));
    stage.given = stage.given.by(ActorRef::system(IMPORTER));
    let refused = stage.refusal(submit(1, get_diff()));
    assert!(matches!(refused, Refusal::NotPermitted { .. }), "{refused}");
    let refused = stage.refusal(complete());
    assert!(matches!(refused, Refusal::NotPermitted { .. }), "{refused}");
    let another = create(SessionId(Uuid::from_u128(2)), anything());
    for alike in ["contracts ", "Contracts", "contr\u{200b}acts", "ｃontracts"] {
        stage.given = stage.given.by(ActorRef::system(alike));
        for command in [Command::from(submit(1, get_diff())), another.clone().into()] {
            let refused = stage.refusal(command);
            assert!(
                matches!(refused, Refusal::NotPermitted { .. }),
                "{alike:?}: {refused}"
            );
        }
    }
}

#[test]
fn a_pause_that_was_imported_is_resumed_by_a_person() {
    let paused = then(taken_over(Some(anything())), status(SessionStatus::Paused));
    for other in [ActorRef::agent("coder"), ActorRef::system("ci")] {
        let stage = Stage {
            given: paused.given.clone().by(other),
        };
        let refused = stage.refusal(resume());
        assert!(matches!(refused, Refusal::NotPermitted { .. }), "{refused}");
    }
    let ada = Stage {
        given: paused.given.clone().by(ActorRef::human("ada")),
    };
    assert_eq!(ada.after(resume()).status(), SessionStatus::Running);
    let running = then(paused, status(SessionStatus::Running));
    assert_eq!(
        running.clone().after(pause()).after(resume()).status(),
        SessionStatus::Running
    );
}
