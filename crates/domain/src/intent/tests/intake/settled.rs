//! What makes an intent done: not its parts, nor its end, while a question is open or another intent is waited for.

use super::ways_around::{analyze, refused};
use super::*;
use crate::intent::{ActivateIntent, SelectPlan};
use crate::plan::NewStep;
use ApprovalStatus::{Approved, Done, Executing};

fn part(number: u128, of: u128) -> SubmitIntent {
    SubmitIntent {
        child_of: Some(intent(of)),
        ..risky(number, Risk::Low)
    }
}

fn after(number: u128, other: u128) -> SubmitIntent {
    SubmitIntent {
        depends_on: vec![intent(other)],
        ..risky(number, Risk::Med)
    }
}

fn complete(number: u128) -> CompleteIntent {
    CompleteIntent::new(intent(number))
}

fn abandon(number: u128) -> CompleteIntent {
    CompleteIntent {
        abandon_open: true,
        ..complete(number)
    }
}

fn by_the_bot() -> Given {
    Given::new().by(ActorRef::agent("bot"))
}

/// A person's intent that was approved.
fn approved(given: Given, command: SubmitIntent) -> Given {
    let id = command.id.expect("the test gives it");
    given
        .by(ActorRef::human("ada"))
        .command(command)
        .by(ActorRef::human("kei"))
        .command(ApproveIntent::new(id))
        .by(ActorRef::agent("bot"))
}

#[test]
fn no_part_makes_an_intent_done_whose_question_is_open() {
    let asked = approved(Given::new(), risky(1, Risk::Med)).command(ask(1, &["Really?"]));
    let asked = asked.command(part(2, 1));
    // The part was not begun, and does not pass what it is a part of.
    let says = refused(&asked, complete(2));
    assert!(says.contains("waiting for an answer"), "{says}");
    // One that was begun before goes on, and its whole waits.
    let begun = approved(Given::new(), risky(1, Risk::Med))
        .command(part(2, 1))
        .command(start(2))
        .command(ask(1, &["Really?"]))
        .command(complete(2));
    assert_eq!((status(&begun, 2), status(&begun, 1)), (Done, Executing));
    let waits = approved(begun.clone(), after(3, 1)).command(task_of(3, 31));
    assert!(refused(&waits, CreateRun::new(task(31))).contains("which is executing"));
    // A person still says no; with the answer it is done.
    assert!(refused(&begun, abandon(1)).contains("by a person"));
    let answered = begun.by(ActorRef::human("ada")).command(answer(1, None));
    assert_eq!(status(&answered, 1), Done);
}

#[test]
fn no_task_makes_an_intent_done_whose_question_is_open() {
    let mut given = approved(Given::new(), risky(1, Risk::Med))
        .command(task_of(1, 11))
        .by(ActorRef::human("ada"));
    let run = RunId(given.execute(CreateRun::new(task(11)))[0].stream.id);
    given.execute(StartPatching { run });
    given.execute(ProposePatchSet::new(run, DiffFormat::Unified));
    given.execute(StartValidation { run });
    given.execute(ask(1, &["Really?"]));
    let review = RecordReview::new(task(11), ReviewVerdict::Approved);
    given.execute(review);
    assert_eq!(status(&given, 1), Executing);
    given.execute(answer(1, None));
    assert_eq!(status(&given, 1), Done);
}

#[test]
fn an_intent_is_completed_once_what_it_depends_on_is_done() {
    // What it depends on waits for its approval.
    let given = by_the_bot().command(risky(9, Risk::High));
    let given = approved(given, after(1, 9));
    for command in [complete(1), abandon(1)] {
        let says = refused(&given, command);
        assert!(says.contains("which is proposed"), "{says}");
    }
    // A part that the agent made of it does no better, nor does one of that.
    let given = given.command(part(2, 1)).command(part(3, 2));
    for number in [2, 3] {
        let says = refused(&given, complete(number));
        assert!(
            says.contains("which is proposed") || says.contains("is approved"),
            "{says}"
        );
    }
    assert_eq!(status(&given, 1), Approved);
    let given = given
        .by(ActorRef::human("kei"))
        .command(approve(9))
        .command(complete(9))
        .command(complete(3))
        .command(complete(2));
    assert_eq!(status(&given, 1), Done);
}

#[test]
fn no_task_that_was_done_elsewhere_makes_an_intent_done_that_waits() {
    // A task of no intent is done, and comes to the intent as a step of a plan.
    let mut given = Given::new().command(CreateTask {
        id: Some(task(11)),
        ..CreateTask::new("work")
    });
    finish_task(&mut given, 11);
    let given = given.command(risky(9, Risk::High));
    let given = approved(given, after(1, 9));
    let plan = PlanId(Uuid::from_u128(50));
    let given = given.command(
        CreatePlan::new()
            .with_id(plan)
            .with_steps(vec![NewStep::new("do it").with_task(task(11))]),
    );
    let select = SelectPlan {
        intent: intent(1),
        plan,
    };
    assert!(refused(&given, select.clone()).contains("which is proposed"));
    // Where nothing is waited for, it counts.
    let free = approved(given, risky(2, Risk::Med));
    let select = SelectPlan {
        intent: intent(2),
        ..select
    };
    assert_eq!(status(&free.command(select), 2), Done);
}

#[test]
fn what_was_never_taken_in_is_completed_as_before() {
    let given = Given::new()
        .command(CreateIntent::new("do").with_id(intent(1)))
        .command(analyze())
        .command(ActivateIntent::new(intent(1)));
    assert!(given.decide(complete(1)).is_ok());
}
