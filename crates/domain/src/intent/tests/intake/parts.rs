//! What an intent is made of: its status is the aggregate of its tasks and
//! children (docs/spec/forge.md), computed and never stored.

use super::*;
use crate::run::ApplyPatchSet;
use crate::task::CancelTask;
use crate::{Dependence, PatchSetId};
use ApprovalStatus::{Approved, Blocked, Done, Error, Executing, Proposed, Rejected};

/// An executing intent.
fn executing() -> Given {
    Given::new().command(risky(1, Risk::Low)).command(start(1))
}

/// The state of a part of an intent.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Part {
    Waits,
    Works,
    Succeeds,
    Fails,
    IsCalledOff,
}

use Part::{Fails, IsCalledOff, Succeeds, Waits, Works};

fn settle(given: &mut Given, number: u128, part: Part) {
    match part {
        Waits => {}
        Works => {
            given.execute(CreateRun::new(task(number)));
        }
        Succeeds => finish_task(given, number),
        Fails => {
            given.execute(fail_task(number));
        }
        IsCalledOff => {
            given.execute(CancelTask {
                task: task(number),
                reason: None,
            });
        }
    }
}

/// An executing intent whose tasks have these states; the first one is task 11.
fn with_tasks(parts: &[Part]) -> Given {
    let mut given = executing();
    for (number, part) in (11..).zip(parts) {
        given.execute(task_of(1, number));
        settle(&mut given, number, *part);
    }
    given
}

#[test]
fn the_status_is_the_aggregate_of_the_tasks() {
    for (parts, expected) in [
        (&[][..], Executing),
        (&[Waits], Executing),
        (&[Works], Executing),
        (&[Succeeds], Done),
        (&[Fails], Error),
        (&[Succeeds, Waits], Executing),
        (&[Fails, Waits], Executing),
        (&[Succeeds, Fails, Works], Executing),
        (&[Succeeds, Succeeds], Done),
        (&[Fails, Fails], Error),
        (&[Succeeds, Fails], Blocked),
        (&[Fails, Succeeds, Succeeds], Blocked),
        // What was called off counts only where nothing else does.
        (&[IsCalledOff], Blocked),
        (&[IsCalledOff, Waits], Executing),
        (&[IsCalledOff, Succeeds], Done),
        (&[IsCalledOff, Fails], Error),
        (&[IsCalledOff, Succeeds, Fails], Blocked),
    ] {
        assert_eq!(status(&with_tasks(parts), 1), expected, "{parts:?}");
    }
}

#[test]
fn a_task_that_another_one_took_the_place_of_does_not_count() {
    let mut given = with_tasks(&[Succeeds, Fails]);
    let emitted = given.execute(rerun(1));
    let AnyEvent::Intent(Event::RerunRequested(asked)) = &emitted[0].event else {
        panic!("{emitted:?}");
    };
    assert_eq!(asked.superseded, [task(12)]);
    let successor = emitted[1].stream.id;
    given.execute(start(1));
    assert_eq!(status(&given, 1), Executing);
    finish_task(&mut given, successor.as_u128());
    assert_eq!(status(&given, 1), Done);
}

#[test]
fn what_is_settled_before_anybody_begins_counts_from_the_approval_on() {
    let given = Given::new()
        .command(risky(1, Risk::High))
        .command(task_of(1, 11))
        .command(fail_task(11));
    assert_eq!(status(&given, 1), Proposed);
    assert_eq!(status(&given.clone().command(approve(1)), 1), Error);
    let more = given.command(approve(1)).command(task_of(1, 12));
    assert_eq!(status(&more, 1), Approved, "one more is open");
}

#[test]
fn what_depends_on_the_status_is_guarded_on_every_part() {
    let given = with_tasks(&[Succeeds, Fails]).command(child(2));
    let mut given = given;
    lead(&mut given, 2, Rejected);
    for command in [Command::from(reject(1)), rerun(1).into()] {
        let asked = command.name();
        let (_, guards) = given.decide_guarded(command).expect("accepted");
        for part in [task(11).stream(), task(12).stream(), intent(2).stream()] {
            let guarded = guards
                .iter()
                .any(|(stream, how, _)| (*stream, *how) == (part, Dependence::State));
            assert!(guarded, "{part:?} may change while {asked} is decided");
        }
    }
}

// Intents that were split.

/// A child of intent 1.
fn child(number: u128) -> SubmitIntent {
    SubmitIntent {
        child_of: Some(intent(1)),
        ..risky(number, Risk::High)
    }
}

/// Leads a proposed child to a status, with tasks of its own.
fn lead(given: &mut Given, number: u128, to: ApprovalStatus) {
    let parts = match to {
        Proposed => return,
        Rejected => {
            given.execute(reject(number));
            return;
        }
        ApprovalStatus::Cancelled => {
            let (intent, reason) = (intent(number), None);
            given.execute(CancelIntent { intent, reason });
            return;
        }
        Approved => &[][..],
        Executing => &[Works],
        Done => &[Succeeds],
        Blocked => &[Succeeds, Fails],
        Error => &[Fails],
    };
    given.execute(approve(number));
    if to != Approved {
        given.execute(start(number));
    }
    for (task, part) in (number * 10..).zip(parts) {
        given.execute(task_of(number, task));
        settle(given, task, *part);
    }
    assert_eq!(status(given, number), to);
}

fn with_children(children: &[ApprovalStatus]) -> Given {
    let mut given = executing();
    for (number, to) in (2..).zip(children) {
        given.execute(child(number));
        lead(&mut given, number, *to);
    }
    given
}

#[test]
fn a_child_is_an_intent_of_its_own_that_its_parent_knows() {
    let mut given = executing();
    let emitted = given.execute(child(2));
    let decomposed = Decomposed {
        children: vec![intent(2)],
    };
    let last = emitted.last().expect("some events");
    assert_eq!(last.event, intent_event(decomposed));
    assert_eq!(last.stream, intent(1).stream());
    assert_eq!(state(&given, 2).child_of, Some(intent(1)));
    assert_eq!(state(&given, 1).children, [intent(2)]);
    assert_eq!(status(&given, 2), Proposed);
}

#[test]
fn the_parent_is_executing_until_its_children_settle_and_then_their_aggregate() {
    let cancelled = ApprovalStatus::Cancelled;
    for (children, expected) in [
        (&[Proposed][..], Executing),
        (&[Approved], Executing),
        (&[Executing], Executing),
        (&[Done, Proposed], Executing),
        (&[Error, Executing], Executing),
        (&[Blocked, Done, Approved], Executing),
        (&[Done, Done], Done),
        (&[Error, Error], Error),
        (&[Blocked], Blocked),
        (&[Blocked, Blocked], Blocked),
        (&[Done, Error], Blocked),
        (&[Done, Blocked], Blocked),
        (&[Error, Blocked], Blocked),
        // Those that were turned down or given up are left out.
        (&[Rejected, Done], Done),
        (&[Rejected, Error], Error),
        (&[Rejected, Blocked], Blocked),
        (&[Rejected, Proposed], Executing),
        (&[cancelled, Done], Done),
        // It does not go on by itself once nothing of it is wanted.
        (&[Rejected], Blocked),
        (&[Rejected, cancelled], Blocked),
    ] {
        let given = with_children(children);
        assert_eq!(status(&given, 1), expected, "{children:?}");
    }
}

#[test]
fn children_and_tasks_count_together_and_over_generations() {
    let mut given = with_children(&[Approved, Done]);
    given.execute(start(2));
    given.execute(SubmitIntent {
        child_of: Some(intent(2)),
        ..risky(5, Risk::High)
    });
    given.execute(task_of(1, 11));
    finish_task(&mut given, 11);
    assert_eq!(status(&given, 1), Executing);
    lead(&mut given, 5, Error);
    assert_eq!(status(&given, 2), Error);
    assert_eq!(status(&given, 1), Blocked);
}

#[test]
fn a_child_among_its_own_ancestors_counts_as_open_and_no_command_makes_one() {
    let given = with_children(&[Done]);
    assert_eq!(status(&given, 1), Done);
    let ring = Decomposed {
        children: vec![intent(1)],
    };
    let ringed = given.clone().event(intent(2).stream(), intent_event(ring));
    assert_eq!(status(&ringed, 1), Executing);
    assert_eq!(status(&ringed, 2), Executing);
    // A child is new, and its parent is there.
    let part_of = |number, parent| SubmitIntent {
        child_of: Some(intent(parent)),
        ..risky(number, Risk::High)
    };
    let (kind, id) = (Kind::Intent, intent(1).0);
    assert_eq!(
        given.decide(part_of(1, 2)),
        Err(Refusal::Exists { kind, id })
    );
    let id = intent(3).0;
    assert_eq!(
        given.decide(part_of(3, 3)),
        Err(Refusal::NotFound { kind, id })
    );
}

#[test]
fn an_intent_whose_children_failed_has_nothing_of_its_own_to_try_anew() {
    let given = with_children(&[Error]);
    assert_eq!(status(&given, 1), Error);
    let refusal = given.decide(rerun(1)).unwrap_err();
    assert!(
        refusal.to_string().contains("look at its children"),
        "{refusal}"
    );
    // The child can be tried again, and its parent goes on with it.
    let given = given.command(rerun(2));
    assert_eq!(status(&given, 2), Approved);
    assert_eq!(status(&given, 1), Executing);
}

// Runs of the tasks.

#[test]
fn a_run_of_a_task_of_a_proposed_intent_is_refused() {
    let mut given = Given::new()
        .command(risky(1, Risk::High))
        .command(task_of(1, 11));
    let refusal = given.decide(CreateRun::new(task(11))).unwrap_err();
    let asked = "create_run of a task of it";
    check_transition(&refusal, "proposed", asked);
    assert!(
        refusal
            .to_string()
            .ends_with("approved or executing (approve_intent)")
    );
    given.execute(reject(1));
    let refusal = given.decide(CreateRun::new(task(11))).unwrap_err();
    check_transition(&refusal, "rejected", asked);
}

#[test]
fn a_run_of_a_task_of_an_approved_intent_starts_its_execution_once() {
    let mut given = Given::new()
        .command(risky(1, Risk::Low))
        .command(task_of(1, 11))
        .command(task_of(1, 12));
    let starts = "intent.execution_started";
    let emitted = given.execute(CreateRun::new(task(11)));
    assert_eq!(
        names(&emitted).iter().filter(|it| **it == starts).count(),
        1
    );
    assert_eq!(status(&given, 1), Executing);
    for number in [11, 12] {
        let emitted = given.execute(CreateRun::new(task(number)));
        assert!(!names(&emitted).contains(&starts), "{number}");
    }
}

#[test]
fn a_run_of_a_task_of_an_intent_that_was_never_taken_in_moves_nothing() {
    let mut given = Given::new().command(create()).command(task_of(1, 11));
    let emitted = given.execute(CreateRun::new(task(11)));
    assert_eq!(
        names(&emitted),
        ["run.created", "task.run_added", "task.started"]
    );
    assert_eq!(status(&given, 1), Proposed);
}

#[test]
fn a_run_waits_for_answers_and_for_what_its_intent_depends_on() {
    let asked = Given::new()
        .command(risky(1, Risk::Low))
        .command(task_of(1, 11))
        .command(ask(1, &["which?"]));
    let refusal = asked.decide(CreateRun::new(task(11))).unwrap_err();
    check_transition(
        &refusal,
        "waiting for an answer",
        "create_run of a task of it",
    );
    let answered = asked.command(answer(1, None));
    assert!(answered.decide(CreateRun::new(task(11))).is_ok());

    let after = SubmitIntent {
        depends_on: vec![intent(2)],
        ..risky(1, Risk::Low)
    };
    let waiting = Given::new()
        .command(risky(2, Risk::Low))
        .command(after)
        .command(task_of(1, 11));
    let refusal = waiting.decide(CreateRun::new(task(11))).unwrap_err();
    assert!(
        refusal.to_string().contains("waiting for intent"),
        "{refusal}"
    );
}

#[test]
fn no_run_begins_an_intent_that_was_cancelled() {
    let given = Given::new()
        .command(risky(1, Risk::Low))
        .command(task_of(1, 11))
        .command(cancel());
    let refusal = given.decide(CreateRun::new(task(11))).unwrap_err();
    check_transition(&refusal, "cancelled", "create_run of a task of it");
}

#[test]
fn an_intent_cannot_wait_for_what_it_is_a_part_of() {
    let child = |number, parent, after| SubmitIntent {
        child_of: Some(intent(parent)),
        depends_on: vec![intent(after)],
        ..risky(number, Risk::Low)
    };
    let given = Given::new()
        .command(risky(1, Risk::Low))
        .command(risky(9, Risk::Low))
        .command(child(2, 1, 9));
    for above in [1, 2] {
        let refusal = given.decide(child(3, 2, above)).unwrap_err();
        assert!(
            matches!(
                refusal,
                Refusal::Invalid {
                    field: "depends_on",
                    ..
                }
            ),
            "{refusal}"
        );
    }
}

#[test]
fn intents_cannot_wait_for_each_other_through_parts_and_dependencies() {
    let after = |number, others: &[u128]| SubmitIntent {
        depends_on: others.iter().copied().map(intent).collect(),
        ..risky(number, Risk::Low)
    };
    let part = |number, of, others: &[u128]| SubmitIntent {
        child_of: Some(intent(of)),
        ..after(number, others)
    };
    // 4 waits for 3, which waits for 2, which waits for its part 5, which waits for 1.
    let given = Given::new()
        .command(risky(1, Risk::Low))
        .command(risky(2, Risk::Low))
        .command(part(5, 2, &[1]))
        .command(after(3, &[2]))
        .command(after(4, &[3]));
    let ring = [1, 9, 4, 3, 2, 5, 1];
    let names = ring.map(|number| match number {
        9 => "this one".to_owned(),
        number => intent(number).to_string(),
    });
    let says = given.decide(part(9, 1, &[4])).unwrap_err().to_string();
    assert!(says.contains(&names.join(" -> ")), "{says}");
    assert!(says.contains("wait for each other"), "{says}");
    // An intent that waits and that no other one waits for closes no ring.
    for fine in [part(9, 4, &[1]), part(9, 2, &[1]), after(9, &[1, 4])] {
        assert!(given.decide(fine).is_ok());
    }
    // Nor does what waits for nothing any more.
    let settled = given.command(reject(3));
    assert!(settled.decide(part(9, 1, &[4])).is_ok());
}

#[test]
fn an_analysis_closes_no_ring_of_waiting() {
    let after = SubmitIntent {
        depends_on: vec![intent(1)],
        ..risky(2, Risk::Low)
    };
    let given = Given::new().command(risky(1, Risk::Low)).command(after);
    let split = |others: &[u128]| RecordAnalysis {
        child_intents: vec![ChildIntent {
            depends_on: others.iter().map(|it| intent(*it).to_string()).collect(),
            ..ChildIntent::new("a part")
        }],
        ..RecordAnalysis::new(intent(1))
    };
    let says = given.decide(split(&[2])).unwrap_err().to_string();
    let ring = format!("{0} -> this one -> {1} -> {0}", intent(1), intent(2));
    assert!(says.contains(&ring), "{says}");
    let given = given.command(risky(3, Risk::Low));
    assert!(given.decide(split(&[3])).is_ok());
}

#[test]
fn an_open_question_stops_no_run_of_what_is_executing() {
    let given = executing()
        .command(task_of(1, 11))
        .command(ask(1, &["which?"]));
    assert!(state(&given, 1).needs_clarification());
    let emitted = given.decide(CreateRun::new(task(11))).expect("accepted");
    assert_eq!(
        names(&emitted),
        ["run.created", "task.run_added", "task.started"]
    );
}

#[test]
fn what_is_executing_takes_no_run_once_it_is_cancelled_or_completed() {
    let given = executing().command(task_of(1, 11));
    assert!(given.decide(CreateRun::new(task(11))).is_ok());
    let cancelled = given.clone().command(cancel());
    let refusal = cancelled.decide(CreateRun::new(task(11))).unwrap_err();
    check_transition(&refusal, "cancelled", "create_run of a task of it");
    // Its tasks end with one that is completed.
    let completed = given.command(CompleteIntent {
        abandon_open: true,
        ..CompleteIntent::new(INTENT)
    });
    let refusal = completed.decide(CreateRun::new(task(11))).unwrap_err();
    let of_task = format!("task {} is cancelled: create_run", task(11));
    assert!(refusal.to_string().starts_with(&of_task), "{refusal}");
}

#[test]
fn a_run_that_reverts_a_patch_set_asks_nothing_of_the_intent() {
    let patch_set = PatchSetId(Uuid::from_u128(71));
    let mut given = executing().command(task_of(1, 11));
    let run = RunId(given.execute(CreateRun::new(task(11)))[0].stream.id);
    given.execute(StartPatching { run });
    given.execute(ProposePatchSet {
        id: Some(patch_set),
        ..ProposePatchSet::new(run, DiffFormat::Unified)
    });
    given.execute(StartValidation { run });
    given.execute(ApplyPatchSet { patch_set });
    given.execute(cancel());
    assert!(given.decide(CreateRun::new(task(11))).is_err());
    let reverting = CreateRun {
        reverts: Some(patch_set),
        ..CreateRun::new(task(11))
    };
    let emitted = given.decide(reverting).expect("accepted");
    assert_eq!(names(&emitted), ["run.created", "task.run_added"]);
}

#[test]
fn a_part_begins_work_on_no_parent_that_waits_for_answers_or_others() {
    let after = SubmitIntent {
        depends_on: vec![intent(9)],
        ..risky(1, Risk::Low)
    };
    let asked = Given::new()
        .command(risky(1, Risk::Low))
        .command(ask(1, &["which?"]));
    let waiting = Given::new().command(risky(9, Risk::High)).command(after);
    for given in [asked, waiting] {
        let mut given = given.command(task_of(1, 11));
        let before = given.decide(CreateRun::new(task(11))).unwrap_err();
        let emitted = given.execute(child(2));
        assert!(!names(&emitted).contains(&"intent.execution_started"));
        assert_eq!(status(&given, 1), Approved);
        assert_eq!(given.decide(CreateRun::new(task(11))), Err(before));
    }
    // One that is ready is begun by it.
    let mut ready = Given::new().command(risky(1, Risk::Low));
    let emitted = ready.execute(child(2));
    assert!(names(&emitted).contains(&"intent.execution_started"));
}
