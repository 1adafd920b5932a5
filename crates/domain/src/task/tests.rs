//! Given, when, then for tasks.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod intake;

use uuid::Uuid;

use super::*;
use crate::intent::{self, CreateIntent};
use crate::run::{
    ApplyPatchSet, CreateRun, Decide, DecisionType, DiffFormat, ProposePatchSet, StartPatching,
    StartValidation,
};
use crate::testing::{Given, events, stream, texts};
use crate::{
    ActorRef, AnyEvent, AnyState, Command, Dependence, IntentId, Kind, PatchSetId, Refusal, RunId,
    StreamKind, TaskId,
};

const TASK: TaskId = TaskId(Uuid::from_u128(1));
const OTHER: TaskId = TaskId(Uuid::from_u128(2));
const RUN: RunId = RunId(Uuid::from_u128(3));
const PATCH: PatchSetId = PatchSetId(Uuid::from_u128(4));
const INTENT: IntentId = IntentId(Uuid::from_u128(5));

fn task(number: u128) -> TaskId {
    TaskId(Uuid::from_u128(number))
}

fn create(id: TaskId) -> CreateTask {
    CreateTask {
        id: Some(id),
        ..CreateTask::new("Paginate GET /users")
    }
}

fn depends(on: (u128, u128)) -> AddDependency {
    AddDependency {
        task: task(on.0),
        dependency: task(on.1),
    }
}

fn fail() -> Command {
    FailTask {
        task: TASK,
        reason: None,
    }
    .into()
}

fn cancel() -> Command {
    CancelTask {
        task: TASK,
        reason: None,
    }
    .into()
}

fn reverting() -> CreateRun {
    CreateRun {
        reverts: Some(PATCH),
        ..CreateRun::new(TASK)
    }
}

fn not_found(kind: Kind, id: impl Into<Uuid>) -> Refusal {
    Refusal::NotFound {
        kind,
        id: id.into(),
    }
}

/// A Running task with a Validating run that has applied a patch set.
fn running() -> Given {
    Given::new()
        .command(create(OTHER))
        .command(create(TASK))
        .command(CreateRun {
            id: Some(RUN),
            ..CreateRun::new(TASK)
        })
        .command(StartPatching { run: RUN })
        .command(ProposePatchSet {
            id: Some(PATCH),
            ..ProposePatchSet::new(RUN, DiffFormat::Unified)
        })
        .command(StartValidation { run: RUN })
        .command(ApplyPatchSet { patch_set: PATCH })
}

/// A task in every state that it can be in, and another one in addition.
fn all_states() -> [(Status, Given); 6] {
    let draft = Given::new().command(create(OTHER)).command(create(TASK));
    let decided = |decision_type, chosen_patchset_id| {
        running().command(Decide {
            chosen_patchset_id,
            ..Decide::new(RUN, decision_type)
        })
    };
    [
        (Status::Draft, draft),
        (Status::Running, running()),
        (Status::Done, decided(DecisionType::Commit, Some(PATCH))),
        (Status::Failed, decided(DecisionType::Abandon, None)),
        (Status::Failed, running().command(fail())),
        (Status::Cancelled, running().command(cancel())),
    ]
}

/// Every command on a task that is there, by a name of its own.
fn all_commands() -> Vec<(&'static str, Command)> {
    let constraint = AddConstraint {
        task: TASK,
        constraint: "no new crates".into(),
    };
    let criterion = AddAcceptanceCriterion {
        task: TASK,
        criterion: "tests pass".into(),
    };
    vec![
        ("add_constraint", constraint.into()),
        ("add_acceptance_criterion", criterion.into()),
        ("add_dependency", depends((1, 2)).into()),
        ("fail_task", fail()),
        ("cancel_task", cancel()),
        ("create_run", CreateRun::new(TASK).into()),
        ("create_run that reverts", reverting().into()),
    ]
}

/// All that is accepted: the command, the status before and the status after.
const ACCEPTED: &[(&str, Status, Status)] = &[
    ("add_constraint", Status::Draft, Status::Draft),
    ("add_constraint", Status::Running, Status::Running),
    ("add_acceptance_criterion", Status::Draft, Status::Draft),
    ("add_acceptance_criterion", Status::Running, Status::Running),
    ("add_dependency", Status::Draft, Status::Draft),
    ("add_dependency", Status::Running, Status::Running),
    ("fail_task", Status::Draft, Status::Failed),
    ("fail_task", Status::Running, Status::Failed),
    ("cancel_task", Status::Draft, Status::Cancelled),
    ("cancel_task", Status::Running, Status::Cancelled),
    ("create_run", Status::Draft, Status::Running),
    ("create_run", Status::Running, Status::Running),
    ("create_run that reverts", Status::Running, Status::Running),
    ("create_run that reverts", Status::Done, Status::Done),
];

fn status_of(given: &Given) -> Status {
    match given.loaded(stream(StreamKind::Task, 1)).state {
        AnyState::Task(state) => state.status,
        other => panic!("expected a task, found {other:?}"),
    }
}

#[test]
fn transitions_are_accepted_along_the_matrix_and_refused_elsewhere() {
    let mut accepted = 0;
    for (before, given) in all_states() {
        assert_eq!(status_of(&given), before);
        for (name, command) in all_commands() {
            let asked = command.name();
            let row = ACCEPTED
                .iter()
                .find(|(row, from, _)| *row == name && *from == before);
            let mut given = given.clone();
            match (row, given.try_execute(command)) {
                (Some((_, _, after)), Ok(_)) => {
                    accepted += 1;
                    assert_eq!(status_of(&given), *after, "{name} on {before:?}");
                }
                // A Draft has no run, so the patch set is not known.
                (None, Err(Refusal::NotFound { kind, .. })) if before == Status::Draft => {
                    assert_eq!((kind, name), (Kind::PatchSet, "create_run that reverts"));
                }
                (None, Err(refusal)) => check_transition(&refusal, before, asked),
                (_, result) => panic!("{name} on {before:?}: {result:?}"),
            }
        }
    }
    assert_eq!(accepted, ACCEPTED.len());
}

fn check_transition(refusal: &Refusal, in_status: Status, was_asked: &str) {
    let Refusal::Transition {
        kind: Kind::Task,
        id,
        state,
        asked,
        ..
    } = refusal
    else {
        panic!("{was_asked} on {in_status:?}: {refusal}");
    };
    assert_eq!(
        (*id, state.as_str(), *asked),
        (TASK.0, in_status.name(), was_asked)
    );
    let message = refusal.to_string();
    for part in [&TASK.to_string(), in_status.name(), was_asked] {
        assert!(message.contains(part), "{message:?} lacks {part:?}");
    }
}

#[test]
fn the_first_run_starts_a_task_and_later_ones_join_it() {
    let task_events = |given: &Given| -> Vec<AnyEvent> {
        let run = RunId(Uuid::from_u128(9));
        let emitted = given
            .decide(CreateRun {
                id: Some(run),
                ..CreateRun::new(TASK)
            })
            .expect("accepted");
        assert_eq!(emitted[0].stream, stream(StreamKind::Run, 9));
        events(&emitted)[1..].to_vec()
    };
    let added = AnyEvent::Task(
        RunAdded {
            run: RunId(Uuid::from_u128(9)),
        }
        .into(),
    );
    let [(_, draft), (_, running), ..] = all_states();
    assert_eq!(
        task_events(&draft),
        [added.clone(), AnyEvent::Task(Started {}.into())]
    );
    assert_eq!(task_events(&running), [added]);
}

#[test]
fn a_title_has_1_to_99_characters() {
    let title = |title: String| {
        Given::new().decide(CreateTask {
            title,
            ..create(TASK)
        })
    };
    for letter in ["a", "é", "界", "🦀"] {
        assert!(title(letter.into()).is_ok());
        assert!(title(letter.repeat(99)).is_ok(), "99 of {letter}");
        for length in [100, 101, 1_000] {
            let refusal = title(letter.repeat(length)).expect_err("it is too long");
            assert!(
                matches!(&refusal, Refusal::Invalid { field: "title", reason }
                    if reason.contains(&length.to_string())),
                "{refusal}"
            );
        }
    }
    for blank in ["", "   ", "\n"] {
        assert!(matches!(
            title(blank.into()),
            Err(Refusal::Invalid { field: "title", .. })
        ));
    }
}

#[test]
fn a_task_is_created_with_its_content_apart() {
    let requester = ActorRef {
        display_name: Some("Alice".into()),
        ..ActorRef::human("alice")
    };
    let mut given = Given::new().command(CreateIntent {
        id: Some(INTENT),
        prompt: "do".into(),
        parent: None,
    });
    given.execute(create(OTHER));
    let emitted = given
        .decide(CreateTask {
            description: Some("more".into()),
            goal: Some(GoalType::Feature),
            constraints: vec!["c1".into(), "c2".into()],
            acceptance_criteria: vec!["a1".into()],
            requester: Some(requester),
            parent: Some(OTHER),
            intent: Some(INTENT),
            dependencies: vec![OTHER, OTHER],
            ..create(TASK)
        })
        .expect("accepted");
    assert_eq!(
        texts(&emitted)[0],
        ["Paginate GET /users", "more", "c1", "c2", "a1", "Alice"]
    );
    // Its intent knows it.
    let added = intent::TaskAdded { task: TASK };
    assert_eq!(events(&emitted)[1], AnyEvent::Intent(added.into()));
    let AnyEvent::Task(Event::Created(created)) = &emitted[0].event else {
        panic!("{emitted:?}");
    };
    assert_eq!(
        (created.parent, created.intent),
        (Some(OTHER), Some(INTENT))
    );
    assert_eq!(created.dependencies, [OTHER], "each dependency once");
}

#[test]
fn what_a_task_names_must_be_there() {
    let given = Given::new();
    let missing = task(9);
    assert_eq!(
        given.decide(CreateTask {
            parent: Some(missing),
            ..create(TASK)
        }),
        Err(not_found(Kind::Task, missing))
    );
    assert_eq!(
        given.decide(CreateTask {
            parent: Some(TASK),
            ..create(TASK)
        }),
        Err(not_found(Kind::Task, TASK)),
        "a task is not a part of itself"
    );
    assert_eq!(
        given.decide(CreateTask {
            dependencies: vec![TASK],
            ..create(TASK)
        }),
        Err(not_found(Kind::Task, TASK)),
        "a task does not wait for itself"
    );
    assert_eq!(
        given.decide(CreateTask {
            intent: Some(INTENT),
            ..create(TASK)
        }),
        Err(not_found(Kind::Intent, INTENT))
    );
    let given = given.command(create(TASK));
    assert_eq!(
        given.decide(depends((1, 9))),
        Err(not_found(Kind::Task, missing))
    );
    let blank = CreateTask {
        requester: Some(ActorRef::human(" ")),
        ..create(OTHER)
    };
    assert!(matches!(
        given.decide(blank),
        Err(Refusal::Invalid {
            field: "actor.id",
            ..
        })
    ));
}

#[test]
fn an_id_is_taken_by_whatever_has_it() {
    let exists = |kind, id| Err(Refusal::Exists { kind, id });
    assert_eq!(running().decide(create(TASK)), exists(Kind::Task, TASK.0));
    // The ids of a run and of a patch set inside it.
    assert_eq!(
        running().decide(create(TaskId(RUN.0))),
        exists(Kind::Run, RUN.0)
    );
    assert_eq!(
        running().decide(create(TaskId(PATCH.0))),
        exists(Kind::PatchSet, PATCH.0)
    );
}

#[test]
fn nothing_can_be_asked_of_a_task_that_is_not_there() {
    for (name, command) in all_commands() {
        assert_eq!(
            Given::new().command(create(OTHER)).decide(command),
            Err(not_found(Kind::Task, TASK)),
            "{name}"
        );
    }
}

#[test]
fn blank_constraints_and_criteria_are_refused() {
    let given = Given::new().command(create(TASK));
    let constraint = AddConstraint {
        task: TASK,
        constraint: " ".into(),
    };
    let criterion = AddAcceptanceCriterion {
        task: TASK,
        criterion: String::new(),
    };
    for (command, named) in [
        (Command::from(constraint), "constraint"),
        (criterion.into(), "criterion"),
    ] {
        assert!(
            matches!(given.decide(command), Err(Refusal::Invalid { field, .. }) if field == named)
        );
    }
}

// Dependencies.

/// Tasks 1 to `count`, the pairs depending on each other in order.
fn given_tasks(count: u128, pairs: &[(u128, u128)]) -> Given {
    let mut given = Given::new();
    for number in 1..=count {
        given.execute(create(task(number)));
    }
    for pair in pairs {
        assert_eq!(given.execute(depends(*pair)).len(), 1, "{pair:?}");
    }
    given
}

fn cycle(given: &Given, pair: (u128, u128)) -> Vec<u128> {
    match given.decide(depends(pair)) {
        Err(Refusal::Cycle { kind, id, path, .. }) => {
            assert_eq!((kind, id), (Kind::Task, task(pair.0).0));
            path.iter().map(Uuid::as_u128).collect()
        }
        other => panic!("{pair:?}: {other:?}"),
    }
}

#[test]
fn a_cycle_of_dependencies_is_refused_and_named() {
    assert_eq!(cycle(&given_tasks(1, &[]), (1, 1)), [1, 1]);
    assert_eq!(cycle(&given_tasks(2, &[(1, 2)]), (2, 1)), [2, 1, 2]);
    let chain = given_tasks(4, &[(1, 2), (2, 3), (3, 4)]);
    assert_eq!(cycle(&chain, (4, 1)), [4, 1, 2, 3, 4]);
    assert_eq!(cycle(&chain, (3, 2)), [3, 2, 3]);
    let message = chain.decide(depends((3, 2))).unwrap_err().to_string();
    let named = format!("{} -> {} -> {}", task(3), task(2), task(3));
    assert!(message.ends_with(&named), "{message}");
}

#[test]
fn a_cycle_through_dependencies_given_at_creation_is_found() {
    let given = given_tasks(1, &[]).command(CreateTask {
        dependencies: vec![task(1)],
        ..create(task(2))
    });
    assert_eq!(cycle(&given, (1, 2)), [1, 2, 1]);
}

#[test]
fn dependencies_that_meet_again_are_no_cycle() {
    let diamond = given_tasks(4, &[(1, 2), (1, 3), (2, 4), (3, 4)]);
    assert!(diamond.decide(depends((1, 4))).is_ok());
    assert!(diamond.decide(depends((2, 3))).is_ok());
    assert_eq!(cycle(&diamond, (4, 1)).len(), 4);
}

#[test]
fn the_search_for_a_cycle_is_guarded_on_all_that_it_saw() {
    let chain = given_tasks(4, &[(2, 3), (3, 4)]);
    let (_, guards) = chain.decide_guarded(depends((1, 2))).expect("accepted");
    for number in 1..=4 {
        let looked_at = (stream(StreamKind::Task, number), Dependence::State);
        let guarded = guards.iter().any(|(s, d, _)| (*s, *d) == looked_at);
        assert!(guarded, "task {number} may get a dependency meanwhile");
    }
}

#[test]
fn a_dependency_added_twice_changes_nothing() {
    let given = given_tasks(2, &[(1, 2)]);
    assert_eq!(given.decide(depends((1, 2))), Ok(vec![]));
}

// What a run's decisions leave of a task is tested with the runs.

#[test]
fn a_done_task_takes_a_reverting_run_once_for_each_applied_patch_set() {
    let [_, _, (_, mut done), ..] = all_states();
    let run = RunId(Uuid::from_u128(9));
    let emitted = done.execute(CreateRun {
        id: Some(run),
        ..reverting()
    });
    let added = AnyEvent::Task(RunAdded { run }.into());
    assert_eq!(events(&emitted)[1..], [added], "it is not started again");
    done.execute(StartPatching { run });
    done.execute(StartValidation { run });
    done.execute(Decide::new(run, DecisionType::Rollback));
    let refusal = done.decide(reverting()).expect_err("it is reverted");
    assert!(
        matches!(&refusal, Refusal::Transition { kind: Kind::PatchSet, state, .. }
            if state == "reverted"),
        "{refusal}"
    );
    assert_eq!(status_of(&done), Status::Done);
}
