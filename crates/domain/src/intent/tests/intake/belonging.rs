//! What belongs to an intent without having said so, and what is open of it.

use super::ways_around::{analyze, refused};
use super::*;
use crate::intent::{ActivateIntent, SelectPlan};
use crate::plan::{AddStep, NewStep, SetStepStatus, SpawnStepTask, StepStatus};

const PLAN: PlanId = PlanId(Uuid::from_u128(70));
const SECOND: PlanId = PlanId(Uuid::from_u128(71));

fn free(number: u128) -> CreateTask {
    CreateTask {
        id: Some(task(number)),
        ..CreateTask::new("of no intent")
    }
}

fn part_of(parent: u128, number: u128) -> CreateTask {
    CreateTask {
        parent: Some(task(parent)),
        ..free(number)
    }
}

/// A plan for no intent: its first step has task 11, and task 12 was spawned of its second
/// one. Task 13 is a part of task 12. Intent 1 waits for a person.
fn planned() -> Given {
    let step = NewStep {
        task: Some(task(11)),
        ..NewStep::new("one")
    };
    let spawn = SpawnStepTask {
        id: Some(task(12)),
        ..SpawnStepTask::new(PLAN, 1, "two")
    };
    let activate = ActivateIntent {
        intent: intent(1),
        reason: None,
    };
    Given::new()
        .by(ActorRef::agent("coder"))
        .command(free(11))
        .command(CreatePlan {
            id: Some(PLAN),
            steps: vec![step, NewStep::new("two")],
            ..CreatePlan::default()
        })
        .command(spawn)
        .command(part_of(12, 13))
        .command(risky(1, Risk::High))
        .command(analyze())
        .command(activate)
}

fn select(plan: PlanId) -> SelectPlan {
    let intent = intent(1);
    SelectPlan { intent, plan }
}

/// The three ways in which the plan becomes the intent's.
fn ways_to_have_it() -> [Given; 3] {
    let revision = CreatePlan {
        id: Some(SECOND),
        previous: Some(PLAN),
        ..CreatePlan::default()
    };
    let with_intent = CreatePlan {
        intent: Some(intent(1)),
        ..revision.clone()
    };
    [
        planned().command(select(PLAN)),
        planned().command(with_intent),
        planned().command(revision).command(select(SECOND)),
    ]
}

#[test]
fn selecting_a_plan_brings_the_tasks_of_its_steps_under_the_intent() {
    let emitted = planned().execute(select(PLAN));
    let kinds = names(&emitted);
    assert_eq!(
        kinds,
        [
            "intent.plan_selected",
            "plan.assigned",
            "intent.task_added",
            "intent.task_added"
        ]
    );
    for given in ways_to_have_it() {
        assert_eq!(state(&given, 1).tasks, [task(11), task(12)]);
        for number in [11, 12, 13] {
            let says = refused(&given, CreateRun::new(task(number)));
            assert!(says.contains("approve_intent"), "{number}: {says}");
        }
    }
    // Before that they are free.
    assert!(planned().decide(CreateRun::new(task(12))).is_ok());
}

#[test]
fn a_run_of_a_task_of_a_step_begins_the_intent_and_ends_with_it() {
    for given in ways_to_have_it() {
        let mut given = given.by(ActorRef::human("ada")).command(approve(1));
        let emitted = given.execute(CreateRun::new(task(12)));
        assert!(names(&emitted).contains(&"intent.execution_started"));
        let says = refused(&given, CompleteIntent::new(intent(1)));
        let running = format!("task {} is running", task(12));
        let drafts = [11, 13].map(|it| format!("task {} is draft", task(it)));
        for named in drafts.iter().chain([&running]) {
            assert!(says.contains(named), "{named}: {says}");
        }
        given.execute(CompleteIntent {
            abandon_open: true,
            ..CompleteIntent::new(intent(1))
        });
        for number in [11, 12, 13] {
            let AnyState::Task(state) = given.loaded(task(number).stream()).state else {
                panic!("no task");
            };
            assert_eq!(state.status, crate::task::Status::Cancelled);
        }
    }
}

#[test]
fn what_waits_for_a_failed_task_of_a_step_fails_with_it() {
    let given = planned().command(crate::task::AddDependency {
        task: task(11),
        dependency: task(12),
    });
    let emitted = given.command(select(PLAN)).execute(fail_task(12));
    let failed: Vec<Uuid> = emitted.iter().map(|one| one.stream.id).collect();
    assert_eq!(failed, [task(12).0, task(11).0]);
    let rerun = rerun(1);
    let given = ways_to_have_it()[0].clone();
    let given = given.by(ActorRef::human("ada")).command(approve(1));
    let mut given = given.command(fail_task(11)).command(fail_task(12));
    given.execute(rerun);
    assert_eq!(state(&given, 1).tasks.len(), 4);
}

#[test]
fn a_step_that_is_added_brings_its_task_too() {
    let mut given = planned().command(select(PLAN)).command(free(14));
    let emitted = given.execute(AddStep {
        plan: PLAN,
        index: None,
        step: NewStep {
            task: Some(task(14)),
            ..NewStep::new("three")
        },
    });
    assert_eq!(names(&emitted), ["plan.step_added", "intent.task_added"]);
    let says = refused(&given, CreateRun::new(task(14)));
    assert!(says.contains("approve_intent"), "{says}");
}

#[test]
fn a_part_of_a_task_is_work_on_its_intent() {
    let given = Given::new()
        .by(ActorRef::agent("coder"))
        .command(risky(1, Risk::High))
        .command(task_of(1, 11))
        .command(part_of(11, 12))
        .command(part_of(12, 13));
    for number in [12, 13] {
        let says = refused(&given, CreateRun::new(task(number)));
        assert!(says.contains("approve_intent"), "{says}");
    }
    let cancel = CancelIntent {
        intent: intent(1),
        reason: None,
    };
    let says = refused(&given.command(cancel), part_of(13, 14));
    assert!(says.contains("is cancelled"), "{says}");
}

/// An active intent with a plan of two steps, the first of which goes on.
fn progressing() -> Given {
    let given = planned().by(ActorRef::human("ada")).command(approve(1));
    let cancel = |number| crate::task::CancelTask {
        task: task(number),
        reason: None,
    };
    let given = given.command(select(PLAN)).command(set(0));
    [11, 12, 13]
        .into_iter()
        .fold(given, |given, number| given.command(cancel(number)))
}

fn set(step: u32) -> SetStepStatus {
    SetStepStatus {
        plan: PLAN,
        step,
        status: StepStatus::Progressing,
        reason: None,
    }
}

#[test]
fn an_intent_is_completed_once_no_step_goes_on_and_no_question_is_open() {
    let mut given = progressing().command(ask(1, &["why?", "how?"]));
    given.execute(answer(1, Some(0)));
    let says = refused(&given, CompleteIntent::new(intent(1)));
    let step = format!("step 0 of plan {PLAN} is progressing");
    for named in [step.as_str(), "question 1 has no answer", "abandon_open"] {
        assert!(says.contains(named), "{named}: {says}");
    }
    let emitted = given.execute(CompleteIntent {
        abandon_open: true,
        ..CompleteIntent::new(intent(1))
    });
    assert_eq!(
        names(&emitted),
        [
            "plan.step_status_changed",
            "intent.clarification_answered",
            "intent.completed"
        ]
    );
    let said = texts(&emitted).concat().join(" ");
    assert!(said.contains("not answered"), "{said}");
    assert!(!state(&given, 1).needs_clarification());
}

#[test]
fn no_step_of_an_intent_that_is_over_begins_and_what_goes_on_may_end() {
    let complete = CompleteIntent {
        abandon_open: true,
        ..CompleteIntent::new(intent(1))
    };
    let says = refused(&progressing().command(complete), set(1));
    assert!(says.contains("is completed"), "{says}");
    let cancelled = progressing().command(CancelIntent {
        intent: intent(1),
        reason: None,
    });
    let says = refused(&cancelled, set(1));
    assert!(says.contains("is cancelled"), "{says}");
    let end = SetStepStatus {
        status: StepStatus::Completed,
        ..set(0)
    };
    assert!(cancelled.decide(end).is_ok());
}

#[test]
fn an_intent_is_completed_after_the_intents_that_it_was_split_into() {
    let split = |risk| {
        let child = SubmitIntent {
            child_of: Some(intent(1)),
            ..risky(2, risk)
        };
        let given = Given::new().by(ActorRef::human("bob"));
        given.command(risky(1, Risk::Low)).command(child)
    };
    for (risk, word) in [(Risk::High, "proposed"), (Risk::Low, "approved")] {
        for abandon_open in [false, true] {
            let complete = CompleteIntent {
                abandon_open,
                ..CompleteIntent::new(intent(1))
            };
            let given = split(risk);
            let says = refused(&given, complete.clone());
            for named in [
                format!("intent {} is {word}", intent(2)),
                "reject_intent".into(),
            ] {
                assert!(says.contains(&named), "{named}: {says}");
            }
            assert!(given.command(reject(2)).decide(complete).is_ok());
        }
    }
    let done = split(Risk::Low).command(CompleteIntent::new(intent(2)));
    assert!(done.decide(CompleteIntent::new(intent(1))).is_ok());
}

#[test]
fn what_failed_of_the_parts_of_a_task_is_tried_anew_with_it() {
    let depend = crate::task::AddDependency {
        task: task(11),
        dependency: task(12),
    };
    let mut given = Given::new()
        .command(risky(1, Risk::Low))
        .command(task_of(1, 11))
        .command(part_of(11, 12))
        .command(depend)
        .command(fail_task(12));
    assert_eq!(state(&given, 1).tasks, [task(11)], "it knows no part");
    given.execute(rerun(1));
    let again: Vec<u128> = state(&given, 1).tasks[1..]
        .iter()
        .map(|it| it.0.as_u128())
        .collect();
    assert_eq!(again.len(), 2);
    // What waited for the part that failed does not wait for ever.
    let ready = |number: &&u128| given.decide(CreateRun::new(task(**number))).is_ok();
    let part = again.iter().copied().find(|it| ready(&it)).unwrap();
    let whole = again.iter().copied().find(|it| *it != part).unwrap();
    let says = refused(&given, CreateRun::new(task(whole)));
    assert!(says.contains(&task(part).to_string()), "{says}");
    finish_task(&mut given, part);
    finish_task(&mut given, whole);
    assert_eq!(status(&given, 1), ApprovalStatus::Done);
}

#[test]
fn a_run_of_a_plan_is_open_work_of_its_intent_whatever_its_task_is() {
    use crate::task::Status;
    let task_state = |given: &Given, number| match given.loaded(task(number).stream()).state {
        AnyState::Task(state) => state.status,
        _ => panic!("no task"),
    };
    let run = |number, id| CreateRun {
        id: Some(RunId(Uuid::from_u128(id))),
        plan: Some(SECOND),
        ..CreateRun::new(task(number))
    };
    let given = Given::new()
        .command(risky(1, Risk::Low))
        .command(CreatePlan {
            id: Some(SECOND),
            intent: Some(intent(1)),
            steps: vec![NewStep::new("one")],
            ..CreatePlan::default()
        })
        .command(risky(2, Risk::Low))
        .command(free(11))
        .command(task_of(2, 12))
        .command(run(11, 51))
        .command(run(12, 52));
    let complete = CompleteIntent::new(intent(1));
    let says = refused(&given, complete.clone());
    for number in [51, 52] {
        let named = format!("run {} is created", RunId(Uuid::from_u128(number)));
        assert!(says.contains(&named), "{named}: {says}");
    }
    assert!(
        says.contains(&format!("task {} is running", task(11))),
        "{says}"
    );
    assert!(!says.contains(&task(12).to_string()), "{says}");
    let mut ended = given.clone();
    let emitted = ended.execute(CompleteIntent {
        abandon_open: true,
        ..complete.clone()
    });
    assert_eq!(
        names(&emitted),
        [
            "run.failed",
            "run.failed",
            "task.cancelled",
            "intent.completed"
        ]
    );
    assert_eq!(task_state(&ended, 11), Status::Cancelled);
    // It is another intent's, which goes on with it.
    assert_eq!(task_state(&ended, 12), Status::Running);
    // Once the runs ended, nothing is in the way.
    let fail = |number| crate::run::FailRun {
        run: RunId(Uuid::from_u128(number)),
        error: "it broke".into(),
    };
    let given = given.command(fail(51)).command(fail(52));
    assert!(given.decide(complete).is_ok());
}
