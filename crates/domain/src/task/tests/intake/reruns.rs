//! Failed tasks that are tried again: each gets another one in its place that
//! says the same, and what was done stays.

use super::*;
use crate::testing::json;

fn successor(given: &Given, of: TaskId) -> TaskId {
    state(given, of)
        .superseded_by
        .expect("another task took its place")
}

fn text(given: &Given, of: TaskId) -> TaskText {
    given.ask(|world| world.task_text(of)).expect("it is there")
}

/// A task with everything that can be said of one.
fn detailed(number: u128, dependencies: &[u128]) -> CreateTask {
    CreateTask {
        title: "一覧をページ分けする".into(),
        description: Some("offset and limit".into()),
        goal: Some(GoalType::Feature),
        constraints: vec!["no new crates".into()],
        acceptance_criteria: vec!["tests pass".into()],
        parent: Some(task(1)),
        plan: Some(TaskPlan {
            alias: Some("paginate".into()),
            complexity: Some(Complexity::Med),
            plan: Some("query first".into()),
            relevant_files: vec!["src/list.rs".into(), "src/query.rs".into()],
            implementation_steps: vec!["query".into(), "view".into()],
            context: Some("it is slow".into()),
            extra: Some(json(r#"{"b":1.50,"a":2}"#)),
        }),
        ..waiting(number, dependencies)
    }
}

#[test]
fn each_failed_task_gets_another_one_in_its_place_that_says_the_same() {
    let mut given = executing()
        .command(create(task(1)))
        .command(detailed(11, &[]))
        .command(AddConstraint {
            task: task(11),
            constraint: "in a day".into(),
        })
        .command(AddAcceptanceCriterion {
            task: task(11),
            criterion: "it is fast".into(),
        })
        .command(fail_task(11));
    given.execute(rerun());
    let new = successor(&given, task(11));
    assert_eq!(text(&given, new), text(&given, task(11)));
    let said = text(&given, new);
    assert_eq!(said.title, "一覧をページ分けする");
    assert_eq!(said.description.as_deref(), Some("offset and limit"));
    assert_eq!(said.constraints, ["no new crates", "in a day"]);
    assert_eq!(said.acceptance_criteria, ["tests pass", "it is fast"]);
    assert_eq!(said.plan, detailed(11, &[]).plan);
    let state = state(&given, new);
    assert_eq!(state.status, Status::Draft);
    assert_eq!((state.intent, state.parent), (Some(INTENT), Some(task(1))));
    assert_eq!(state.goal, Some(GoalType::Feature));
    assert_eq!(state.rejections, 0, "it has all its attempts");
}

#[test]
fn what_happened_names_both_tasks() {
    let mut given = with_tasks(&[(11, &[])]).command(fail_task(11));
    let emitted = given.execute(rerun());
    let new = successor(&given, task(11));
    let requested = intent::RerunRequested {
        superseded: vec![task(11)],
    };
    assert_eq!(emitted[0].event, AnyEvent::Intent(requested.into()));
    let supersedes = emitted.iter().find_map(|one| match &one.event {
        AnyEvent::Task(Event::Planned(planned)) => Some((one.stream, planned.supersedes)),
        _ => None,
    });
    assert_eq!(supersedes, Some((new.stream(), Some(task(11)))));
    let added = AnyEvent::Intent(intent::TaskAdded { task: new }.into());
    assert!(events(&emitted).contains(&added), "its intent knows it");
}

#[test]
fn dependencies_go_over_to_the_tasks_in_their_place_and_done_tasks_stay() {
    let mut given = with_tasks(&[(11, &[]), (12, &[]), (13, &[11, 12]), (14, &[13, 11])]);
    finish(&mut given, task(11));
    let before = given.loaded(task(11).stream()).version;
    given.execute(fail_task(12));
    assert_eq!(intent_status(&given), ApprovalStatus::Blocked);
    given.execute(rerun());
    let [new12, new13, new14] = [12, 13, 14].map(|old| successor(&given, task(old)));
    assert!(state(&given, new12).dependencies.is_empty());
    assert_eq!(state(&given, new13).dependencies, [task(11), new12]);
    assert_eq!(state(&given, new14).dependencies, [new13, task(11)]);
    assert_eq!(
        given.loaded(task(11).stream()).version,
        before,
        "it is as it was"
    );
    assert_eq!(statuses(&given, &[11, 12]), ["done", "failed"]);
    // And so it runs, one after the other.
    for new in [new12, new13, new14] {
        assert_ne!(intent_status(&given), ApprovalStatus::Done);
        finish(&mut given, new);
    }
    assert_eq!(intent_status(&given), ApprovalStatus::Done);
}

#[test]
fn a_rerun_returns_the_intent_to_approved_and_its_next_run_starts_it_again() {
    let mut given = with_tasks(&[(11, &[])]).command(fail_task(11));
    given.execute(rerun());
    assert_eq!(intent_status(&given), ApprovalStatus::Approved);
    let emitted = given.execute(CreateRun::new(successor(&given, task(11))));
    let started = AnyEvent::Intent(intent::ExecutionStarted {}.into());
    assert!(events(&emitted).contains(&started));
    assert_eq!(intent_status(&given), ApprovalStatus::Executing);
}

#[test]
fn what_is_to_be_done_otherwise_is_recorded() {
    let given = with_tasks(&[(11, &[])]).command(fail_task(11));
    let instructed = |instruction: &str| RerunIntent {
        instruction: Some(instruction.into()),
        ..rerun()
    };
    let emitted = given.decide(instructed("with a cursor")).expect("accepted");
    assert_eq!(emitted[1].event.event_type(), "intent.instructed");
    assert_eq!(texts(&emitted)[1], ["with a cursor"]);
    let refusal = given.decide(instructed(" ")).unwrap_err();
    assert!(
        matches!(
            refusal,
            Refusal::Invalid {
                field: "instruction",
                ..
            }
        ),
        "{refusal}"
    );
}

#[test]
fn a_task_that_was_called_off_is_not_tried_anew() {
    let mut given = with_tasks(&[(11, &[]), (12, &[])]).command(CancelTask {
        task: task(12),
        reason: None,
    });
    given.execute(fail_task(11));
    given.execute(rerun());
    assert_eq!(state(&given, task(12)).superseded_by, None);
}

#[test]
fn a_rerun_is_refused_unless_the_intent_is_blocked_or_in_error() {
    let mut given = with_tasks(&[(11, &[]), (12, &[])]);
    let refused = |given: &Given, status: &str| {
        let refusal = given.decide(rerun()).unwrap_err();
        assert_eq!(
            refusal.to_string(),
            format!(
                "intent {INTENT} is {status}: rerun_intent is allowed only when it is blocked or in error"
            )
        );
    };
    refused(&given, "executing");
    given.execute(fail_task(11));
    // What is open hides no failure.
    assert!(given.decide(rerun()).is_ok());
    finish(&mut given, task(12));
    given.execute(rerun());
    refused(&given, "approved");
    let new = successor(&given, task(11));
    finish(&mut given, new);
    refused(&given, "done");
}

#[test]
fn what_failed_again_is_tried_anew_again() {
    let mut given = with_tasks(&[(11, &[]), (12, &[11]), (13, &[])]);
    finish(&mut given, task(13));
    given.execute(fail_task(11));
    let (mut first, mut second) = (task(11), task(12));
    for _ in 0..3 {
        given.execute(rerun());
        (first, second) = (successor(&given, first), successor(&given, second));
        assert_eq!(state(&given, second).dependencies, [first]);
        assert_eq!(text(&given, second).title, text(&given, task(12)).title);
        given.execute(StartExecution { intent: INTENT });
        assert_eq!(intent_status(&given), ApprovalStatus::Executing);
        let emitted = given.execute(FailTask {
            task: first,
            reason: None,
        });
        assert_eq!(lost(&emitted), [second.0.as_u128()]);
        assert_eq!(intent_status(&given), ApprovalStatus::Blocked);
    }
}
