//! docs/spec/forge.md, Task: what waits for what, reviews, and failed tasks that are
//! tried again. Each test has the name of its row or sentence (docs/spec/forge.md).

mod reruns;
mod reviews;

use super::*;
use crate::intent::status_in;
use crate::intent::{ApprovalStatus, RerunIntent, Risk, Source, StartExecution, SubmitIntent};
use crate::{Emitted, Meta, run};

/// An executing intent without tasks.
fn executing() -> Given {
    Given::new()
        .command(SubmitIntent {
            id: Some(INTENT),
            risk: Some(Risk::Low),
            ..SubmitIntent::new("Paginate the list", Source::Human)
        })
        .command(StartExecution { intent: INTENT })
}

/// A task of the intent that waits for others.
fn waiting(number: u128, dependencies: &[u128]) -> CreateTask {
    CreateTask {
        intent: Some(INTENT),
        dependencies: dependencies.iter().copied().map(task).collect(),
        ..create(task(number))
    }
}

/// An executing intent with tasks, each with those that it waits for.
fn with_tasks(tasks: &[(u128, &[u128])]) -> Given {
    let mut given = executing();
    for (number, dependencies) in tasks {
        given.execute(waiting(*number, dependencies));
    }
    given
}

fn fail_task(number: u128) -> FailTask {
    FailTask {
        task: task(number),
        reason: Some("no way".into()),
    }
}

fn rerun() -> RerunIntent {
    RerunIntent {
        intent: INTENT,
        instruction: None,
    }
}

fn state(given: &Given, id: TaskId) -> State {
    match given.loaded(id.stream()).state {
        AnyState::Task(state) => (*state).clone(),
        other => panic!("expected a task, found {other:?}"),
    }
}

fn statuses(given: &Given, numbers: &[u128]) -> Vec<&'static str> {
    let status = |number: &u128| state(given, task(*number)).status.name();
    numbers.iter().map(status).collect()
}

/// The next run of a task, with so many patch sets, ready to be reviewed.
fn validate(given: &mut Given, id: TaskId, patch_sets: usize) -> (RunId, Vec<PatchSetId>) {
    let run = RunId(given.execute(CreateRun::new(id))[0].stream.id);
    given.execute(StartPatching { run });
    let mut proposed = Vec::new();
    for _ in 0..patch_sets {
        let emitted = given.execute(ProposePatchSet::new(run, DiffFormat::Unified));
        match &emitted[0].event {
            AnyEvent::Run(run::Event::PatchSetProposed(event)) => proposed.push(event.patch_set),
            other => panic!("{other:?}"),
        }
    }
    given.execute(StartValidation { run });
    (run, proposed)
}

fn review(id: TaskId, verdict: ReviewVerdict) -> RecordReview {
    RecordReview {
        task: id,
        verdict,
        issues: vec![],
        suggestions: vec![],
        chosen_patchset_id: None,
        result_commit_sha: None,
    }
}

fn finish(given: &mut Given, id: TaskId) {
    validate(given, id, 1);
    given.execute(review(id, ReviewVerdict::Approved));
}

fn intent_status(given: &Given) -> ApprovalStatus {
    given
        .ask(|world| status_in(world, INTENT))
        .expect("it is there")
}

/// The tasks that fail because of what they wait for, in the order of the events.
fn lost(emitted: &[Emitted]) -> Vec<u128> {
    let mut lost = Vec::new();
    for (one, texts) in emitted.iter().zip(texts(emitted)) {
        if let AnyEvent::Task(Event::Failed(failed)) = &one.event
            && texts == ["dependency failed"]
        {
            assert_eq!(failed.run, None, "it never ran");
            lost.push(one.stream.id.as_u128());
        }
    }
    lost
}

// A failed dependency.

#[test]
fn a_failed_dependency_fails_the_task_without_running() {
    let mut given = with_tasks(&[(11, &[]), (12, &[11]), (13, &[])]);
    let emitted = given.execute(fail_task(11));
    assert_eq!(texts(&emitted), [["no way"], ["dependency failed"]]);
    assert_eq!(lost(&emitted), [12]);
    assert_eq!(
        statuses(&given, &[11, 12, 13]),
        ["failed", "failed", "draft"]
    );
    assert_eq!(state(&given, task(12)).last_run(), None);
    let refusal = given.decide(CreateRun::new(task(12))).unwrap_err();
    assert!(
        refusal.to_string().contains("is failed: create_run"),
        "{refusal}"
    );
}

#[test]
fn a_part_that_waits_fails_though_it_says_no_intent_itself() {
    let mut given = with_tasks(&[(11, &[]), (12, &[])]);
    given.execute(CreateTask {
        intent: None,
        parent: Some(task(12)),
        ..waiting(21, &[11])
    });
    given.execute(CreateTask {
        intent: None,
        parent: Some(task(21)),
        ..waiting(22, &[21])
    });
    assert_eq!(lost(&given.execute(fail_task(11))), [21, 22]);
    assert_eq!(statuses(&given, &[12, 22]), ["draft", "failed"]);
}

/// A decision restarts with each round: to load one state a round takes a time that grows with the
/// square of an intent's tasks.
#[test]
fn however_many_tasks_an_intent_has_they_are_loaded_in_a_few_rounds() {
    let mut given = executing();
    given.execute(waiting(1_000, &[]));
    for number in 1_001..1_300 {
        given.execute(waiting(number, &[number - 1]));
    }
    // Parts of them that say no intent, each waiting for another's part.
    for number in 1_000..1_300 {
        given.execute(CreateTask {
            intent: None,
            parent: Some(task(number)),
            ..waiting(number + 1_000, &[number])
        });
    }
    let status = given.rounds(|world| status_in(world, INTENT));
    let meta = given.meta();
    let all_fail = Command::from(fail_task(1_000));
    let failed = given.rounds(|world| all_fail.decide(world, &meta));
    let rerun = Command::from(RerunIntent {
        intent: INTENT,
        instruction: None,
    });
    let mut over = given.clone();
    assert_eq!(over.execute(fail_task(1_000)).len(), 600);
    let meta = Meta {
        actor: ActorRef::human("ada"),
        ..meta
    };
    let rerun = over.rounds(|world| rerun.decide(world, &meta));
    let rounds = [status, failed, rerun].map(Result::unwrap);
    assert!(rounds.iter().all(|rounds| *rounds < 16), "{rounds:?}");
}

#[test]
fn a_dependency_fails_through_several_levels_and_each_task_once() {
    let mut given = with_tasks(&[
        (11, &[]),
        (12, &[11]),
        (13, &[11]),
        (14, &[12, 13]),
        (15, &[14, 11]),
        (16, &[]),
    ]);
    let mut all = lost(&given.execute(fail_task(11)));
    all.sort_unstable();
    assert_eq!(all, [12, 13, 14, 15]);
    assert_eq!(statuses(&given, &[16]), ["draft"]);
}

#[test]
fn the_order_in_which_tasks_were_made_does_not_matter() {
    // 11 waits for 12, which waits for 13, which waits for 14.
    let pairs = [(11, 12), (12, 13), (13, 14)];
    for order in [[11, 12, 13, 14], [14, 13, 12, 11], [12, 14, 11, 13]] {
        let mut given = executing();
        for number in order {
            given.execute(waiting(number, &[]));
        }
        for pair in pairs {
            given.execute(depends(pair));
        }
        assert_eq!(
            lost(&given.execute(fail_task(14))),
            [13, 12, 11],
            "{order:?}"
        );
    }
}

#[test]
fn a_task_that_runs_already_is_not_failed_with_its_dependency() {
    let mut given = with_tasks(&[(11, &[]), (12, &[]), (13, &[12])]);
    given.execute(CreateRun::new(task(12)));
    given.execute(depends((12, 11)));
    assert!(lost(&given.execute(fail_task(11))).is_empty());
    assert_eq!(statuses(&given, &[12, 13]), ["running", "draft"]);
}

#[test]
fn a_task_that_was_called_off_does_not_fail_with_its_dependency() {
    let mut given = with_tasks(&[(11, &[]), (12, &[11])]);
    given.execute(CancelTask {
        task: task(12),
        reason: None,
    });
    assert!(lost(&given.execute(fail_task(11))).is_empty());
    assert_eq!(statuses(&given, &[12]), ["cancelled"]);
}

#[test]
fn a_task_created_on_a_failed_dependency_fails_at_once() {
    let mut given = with_tasks(&[(11, &[]), (12, &[])]).command(fail_task(11));
    let emitted = given.execute(waiting(13, &[12, 11]));
    assert_eq!(lost(&emitted), [13]);
    assert_eq!(statuses(&given, &[12, 13]), ["draft", "failed"]);
}

#[test]
fn a_failed_dependency_added_later_fails_the_task_and_what_waits_for_it() {
    let mut given = with_tasks(&[(11, &[]), (12, &[]), (13, &[12])]).command(fail_task(11));
    let emitted = given.execute(depends((12, 11)));
    assert_eq!(lost(&emitted), [12, 13]);
    // Another time changes nothing.
    let mut given = with_tasks(&[(11, &[]), (12, &[])]);
    given.execute(CreateRun::new(task(12)));
    given.execute(fail_task(11));
    let emitted = given.execute(depends((12, 11)));
    assert_eq!(events(&emitted).len(), 1, "a running task goes on");
}

#[test]
fn the_failure_of_a_task_is_guarded_on_all_tasks_of_its_intent() {
    let given = with_tasks(&[(11, &[]), (12, &[11]), (13, &[])]);
    let (_, guards) = given.decide_guarded(fail_task(11)).expect("accepted");
    let streams = [INTENT.stream(), task(12).stream(), task(13).stream()];
    for looked_at in streams {
        let guarded = guards
            .iter()
            .any(|(stream, how, _)| (*stream, *how) == (looked_at, Dependence::State));
        assert!(guarded, "{looked_at:?} may get a dependency meanwhile");
    }
}

// A dependency that is not done.

#[test]
fn a_run_of_a_task_whose_dependency_is_not_done_is_refused_by_name() {
    let mut given = with_tasks(&[(11, &[]), (12, &[]), (13, &[11, 12])]);
    let refused = |given: &Given, on: u128, status: &str| {
        let refusal = given.decide(CreateRun::new(task(13))).unwrap_err();
        let (id, on) = (task(13), task(on));
        assert_eq!(
            refusal.to_string(),
            format!(
                "task {id} is waiting for task {on}, which is {status}: create_run is allowed \
                 only when it is not waiting for any task"
            )
        );
    };
    refused(&given, 11, "draft");
    validate(&mut given, task(11), 1);
    refused(&given, 11, "running");
    given.execute(review(task(11), ReviewVerdict::Approved));
    refused(&given, 12, "draft");
    finish(&mut given, task(12));
    assert!(given.decide(CreateRun::new(task(13))).is_ok());
}

#[test]
fn what_waits_for_a_task_that_was_called_off_is_called_off_with_it() {
    let cancel = |number| CancelTask {
        task: task(number),
        reason: None,
    };
    let mut given = with_tasks(&[(11, &[]), (12, &[11]), (13, &[12]), (14, &[])]);
    let emitted = given.execute(cancel(11));
    let with = |emitted: &[Emitted]| -> Vec<(TaskId, Option<TaskId>)> {
        let of = |one: &Emitted| match &one.event {
            AnyEvent::Task(Event::Cancelled(event)) => {
                Some((TaskId(one.stream.id), event.dependency))
            }
            _ => None,
        };
        emitted.iter().filter_map(of).collect()
    };
    assert_eq!(
        with(&emitted),
        [
            (task(11), None),
            (task(12), Some(task(11))),
            (task(13), Some(task(12)))
        ]
    );
    assert_eq!(texts(&emitted)[1], ["dependency cancelled"]);
    assert_eq!(
        statuses(&given, &[12, 13, 14]),
        ["cancelled", "cancelled", "draft"]
    );
    // So is one that comes to wait for it afterwards.
    let late = given.execute(waiting(15, &[14, 11]));
    assert_eq!(with(&late), [(task(15), Some(task(11)))]);
    let late = given.execute(AddDependency {
        task: task(14),
        dependency: task(11),
    });
    assert_eq!(with(&late), [(task(14), Some(task(11)))]);
}

#[test]
fn an_intent_whose_tasks_were_all_called_off_is_blocked() {
    let cancel = |number| CancelTask {
        task: task(number),
        reason: None,
    };
    let mut given = with_tasks(&[(11, &[])]).command(cancel(11));
    assert_eq!(intent_status(&given), ApprovalStatus::Blocked);
    let refusal = given.decide(rerun()).unwrap_err().to_string();
    assert!(refusal.contains("add a task"), "{refusal}");
    given.execute(waiting(12, &[]));
    assert_eq!(intent_status(&given), ApprovalStatus::Executing);
    finish(&mut given, task(12));
    assert_eq!(intent_status(&given), ApprovalStatus::Done);
}

#[test]
fn what_was_called_off_with_its_dependency_is_blocked_and_tried_again_without_it() {
    let cancel = |number| CancelTask {
        task: task(number),
        reason: None,
    };
    let mut given = with_tasks(&[(11, &[]), (12, &[]), (13, &[11, 12])]);
    finish(&mut given, task(11));
    given.execute(cancel(12));
    assert_eq!(intent_status(&given), ApprovalStatus::Blocked);
    given.execute(rerun());
    let again = state(&given, task(13)).superseded_by.expect("another one");
    assert_eq!(state(&given, again).dependencies, [task(11)]);
    finish(&mut given, again);
    assert_eq!(intent_status(&given), ApprovalStatus::Done);
}

#[test]
fn a_dependency_is_done_once_the_task_in_its_place_is() {
    // Task 21 has no intent, so that it waits on while task 11 fails.
    let mut given = with_tasks(&[(11, &[])]).command(CreateTask {
        dependencies: vec![task(11)],
        ..create(task(21))
    });
    given.execute(fail_task(11));
    let mut successor = task(11);
    for _ in 0..2 {
        given.execute(RerunIntent {
            intent: INTENT,
            instruction: None,
        });
        successor = state(&given, successor).superseded_by.expect("a successor");
        let refusal = given.decide(CreateRun::new(task(21))).unwrap_err();
        let waits = format!("waiting for task {successor}, which is draft");
        assert!(refusal.to_string().contains(&waits), "{refusal}");
        given.execute(FailTask {
            task: successor,
            reason: None,
        });
        given.execute(StartExecution { intent: INTENT });
    }
    given.execute(RerunIntent {
        intent: INTENT,
        instruction: None,
    });
    successor = state(&given, successor).superseded_by.expect("a successor");
    finish(&mut given, successor);
    assert!(given.decide(CreateRun::new(task(21))).is_ok());
}

// What a dependency may be.

#[test]
fn a_task_may_depend_on_tasks_of_any_intent() {
    let other = IntentId(Uuid::from_u128(6));
    let mut given = with_tasks(&[(11, &[])])
        .command(SubmitIntent {
            id: Some(other),
            ..SubmitIntent::new("Another", Source::Human)
        })
        .command(create(task(21)));
    given.execute(CreateTask {
        intent: Some(other),
        dependencies: vec![task(11), task(21)],
        ..create(task(31))
    });
    let dependencies = |given: &Given, number| state(given, task(number)).dependencies;
    assert_eq!(dependencies(&given, 31), [task(11), task(21)]);
    given.execute(depends((21, 11)));
    assert_eq!(dependencies(&given, 21), [task(11)]);
}

#[test]
fn a_way_through_a_superseded_task_counts_for_a_cycle() {
    let mut given = with_tasks(&[(11, &[])]).command(CreateTask {
        dependencies: vec![task(11)],
        ..create(task(21))
    });
    given.execute(fail_task(11));
    given.execute(RerunIntent {
        intent: INTENT,
        instruction: None,
    });
    let successor = state(&given, task(11)).superseded_by.expect("a successor");
    let back = AddDependency {
        task: successor,
        dependency: task(21),
    };
    let around = [successor, task(21), task(11), successor].map(|it| it.0);
    match given.decide(back) {
        Err(Refusal::Cycle { path, .. }) => assert_eq!(path, around),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_task_that_runs_may_run_again_with_a_dependency_that_is_not_done() {
    let mut given = with_tasks(&[(11, &[]), (12, &[])]);
    given.execute(CreateRun::new(task(12)));
    given.execute(depends((12, 11)));
    assert_eq!(statuses(&given, &[11, 12]), ["draft", "running"]);
    assert!(given.decide(CreateRun::new(task(12))).is_ok());
}
