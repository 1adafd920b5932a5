//! Plans and tasks that imports brought are those of the intents that they came with,
//! in whichever order they came.

use super::*;
use crate::AnyState;
use crate::intent::{CompleteIntent, SelectPlan};
use crate::plan::{AddStep, CreatePlan, NewStep, SpawnStepTask};

const FIRST: PlanId = PlanId(Uuid::from_u128(21));
const SECOND: PlanId = PlanId(Uuid::from_u128(22));
const SIBLING: PlanId = PlanId(Uuid::from_u128(23));
const OURS: PlanId = PlanId(Uuid::from_u128(24));
const INTENT: IntentId = IntentId(Uuid::from_u128(31));
const STEP_TASK: TaskId = TaskId(Uuid::from_u128(41));
const OTHER_TASK: TaskId = TaskId(Uuid::from_u128(42));

fn adopted_plan(previous: Option<PlanId>, task: Option<TaskId>) -> AnyEvent {
    let step = AdoptedStep {
        step: StoredStep {
            description: Slot(0),
            inputs: None,
            outputs: None,
            checks: None,
            iframes: vec![],
            oframes: vec![],
            task,
        },
        statuses: vec![],
    };
    let adopted = plan::Adopted {
        object: Some(AdoptedPlan {
            header: header(),
            previous,
            pipeline: None,
            fwindow: None,
        }),
        steps: vec![step],
    };
    AnyEvent::Plan(adopted.into())
}

fn adopted_intent(plan: PlanId, status: IntentStatus) -> AnyEvent {
    let adopted = intent::Adopted {
        header: header(),
        prompt: Slot(0),
        content: Some(Slot(1)),
        parent: None,
        commit: None,
        plan: Some(plan),
        statuses: vec![AdoptedStatus {
            status,
            changed_at: Timestamp::EPOCH,
            reason: None,
        }],
    };
    AnyEvent::Intent(adopted.into())
}

fn adopted_task(intent: Option<IntentId>) -> AnyEvent {
    let mut adopted = task(TaskStatus::Draft, &[]);
    if let Some(object) = &mut adopted.object {
        object.intent = intent;
        object.parent = None;
    }
    AnyEvent::Task(adopted.into())
}

/// An intent with a line of two plans; it has the first or the second one. A task is
/// a step of the first.
fn line(status: IntentStatus, has: PlanId) -> Given {
    Given::new()
        .event(SECOND.stream(), adopted_plan(Some(FIRST), None))
        .event(INTENT.stream(), adopted_intent(has, status))
        .event(FIRST.stream(), adopted_plan(None, Some(STEP_TASK)))
        .event(STEP_TASK.stream(), adopted_task(None))
}

fn revision(previous: Option<PlanId>, intent: Option<IntentId>) -> CreatePlan {
    CreatePlan {
        id: Some(OURS),
        previous,
        intent,
        ..CreatePlan::default()
    }
}

#[test]
fn the_commit_of_a_run_goes_to_the_intent_of_its_plan() {
    let free = TaskId(Uuid::from_u128(51));
    let run = RunId(Uuid::from_u128(52));
    let patch_set = PatchSetId(Uuid::from_u128(53));
    let mut given = line(IntentStatus::Active, SECOND).command(CreateTask {
        id: Some(free),
        ..CreateTask::new("of no intent")
    });
    given.execute(CreateRun {
        id: Some(run),
        plan: Some(FIRST),
        ..CreateRun::new(free)
    });
    given.execute(run::StartPatching { run });
    given.execute(run::ProposePatchSet {
        id: Some(patch_set),
        ..run::ProposePatchSet::new(run, DiffFormat::Unified)
    });
    given.execute(run::StartValidation { run });
    let events = given.execute(Decide {
        chosen_patchset_id: Some(patch_set),
        result_commit_sha: Some("0123456789abcdef0123456789abcdef01234567".parse().unwrap()),
        ..Decide::new(run, DecisionType::Commit)
    });
    let of_intent = events.iter().filter(|it| it.stream == INTENT.stream());
    assert_eq!(of_intent.count(), 1, "{events:?}");
}

#[test]
fn no_work_begins_on_an_adopted_plan_of_an_intent_that_is_over() {
    for (has, over, word) in [
        (FIRST, IntentStatus::Cancelled, "is cancelled"),
        (SECOND, IntentStatus::Cancelled, "is cancelled"),
        (SECOND, IntentStatus::Completed, "is completed"),
    ] {
        let free = TaskId(Uuid::from_u128(51));
        let given = line(over, has).command(CreateTask {
            id: Some(free),
            ..CreateTask::new("of no intent")
        });
        for plan in [FIRST, SECOND] {
            let run = CreateRun {
                plan: Some(plan),
                ..CreateRun::new(free)
            };
            let step = AddStep {
                plan,
                index: None,
                step: NewStep::new("more"),
            };
            let progress = SetStepStatus {
                plan,
                step: 0,
                status: StepStatus::Progressing,
                reason: None,
            };
            let commands: [crate::Command; 5] = [
                run.into(),
                step.into(),
                progress.into(),
                revision(Some(plan), None).into(),
                SpawnStepTask::new(plan, 0, "more").into(),
            ];
            for command in commands {
                let asked = command.name();
                let says = given.decide(command).unwrap_err().to_string();
                assert!(says.contains(word), "{asked}: {says}");
            }
        }
        let says = given.decide(CreateRun::new(STEP_TASK)).unwrap_err();
        assert!(says.to_string().contains(word), "{says}");
    }
}

fn previous_of(given: &Given, command: CreatePlan) -> Option<PlanId> {
    let emitted = given.decide(command).unwrap();
    match &emitted[0].event {
        AnyEvent::Plan(plan::Event::Drafted(drafted)) => drafted.previous,
        other => panic!("expected a plan, found {other:?}"),
    }
}

#[test]
fn an_adopted_line_goes_on_from_its_end_and_does_not_fork() {
    for has in [FIRST, SECOND] {
        let given = line(IntentStatus::Active, has);
        assert_eq!(
            previous_of(&given, revision(None, Some(INTENT))),
            Some(SECOND)
        );
        // It is the intent's, whether the command says so or not.
        let mut given = given;
        let emitted = given.execute(revision(Some(SECOND), None));
        let kinds: Vec<&str> = emitted.iter().map(|it| it.event.event_type()).collect();
        assert_eq!(
            kinds,
            [
                "plan.drafted",
                "plan.revised",
                "intent.plan_selected",
                "intent.task_added"
            ]
        );
        for earlier in [FIRST, SECOND] {
            let again = CreatePlan {
                id: None,
                ..revision(Some(earlier), None)
            };
            let says = given.decide(again).unwrap_err().to_string();
            assert!(says.contains(&OURS.to_string()), "{says}");
        }
    }
    let says = line(IntentStatus::Active, FIRST)
        .decide(revision(Some(FIRST), None))
        .unwrap_err()
        .to_string();
    assert!(says.contains(&SECOND.to_string()), "{says}");
}

#[test]
fn a_revision_that_is_adopted_beside_another_is_not_the_end_of_the_line() {
    // Of an intent, and of none.
    let of_intent = line(IntentStatus::Active, SECOND).command(revision(Some(SECOND), None));
    let of_none = Given::new()
        .event(SECOND.stream(), adopted_plan(None, None))
        .command(revision(Some(SECOND), None));
    for given in [of_intent, of_none] {
        let mut given = given.event(SIBLING.stream(), adopted_plan(Some(SECOND), None));
        let next = CreatePlan {
            id: None,
            ..revision(Some(SIBLING), None)
        };
        let says = given.decide(next.clone()).unwrap_err().to_string();
        assert!(says.contains(&OURS.to_string()), "{says}");
        // The line is not locked by it either.
        let previous = Some(OURS);
        given.execute(CreatePlan { previous, ..next });
    }
    let given = line(IntentStatus::Active, SECOND)
        .command(revision(Some(SECOND), None))
        .event(SIBLING.stream(), adopted_plan(Some(SECOND), None));
    let select = SelectPlan {
        intent: INTENT,
        plan: SIBLING,
    };
    let says = given.decide(select).unwrap_err().to_string();
    assert!(says.contains(&OURS.to_string()), "{says}");
}

#[test]
fn an_adopted_plan_serves_no_other_intent_than_its_own() {
    let other = IntentId(Uuid::from_u128(32));
    let active = adopted_intent(PlanId(NOBODY), IntentStatus::Active);
    let given = line(IntentStatus::Cancelled, SECOND).event(other.stream(), active);
    for plan in [FIRST, SECOND] {
        let intent = other;
        for says in [
            given.decide(SelectPlan { intent, plan }).unwrap_err(),
            given.decide(revision(Some(plan), Some(other))).unwrap_err(),
        ] {
            assert!(says.to_string().contains(&INTENT.to_string()), "{says}");
        }
    }
}

#[test]
fn a_line_of_several_adopted_intents_is_that_of_each_that_is_named() {
    let other = IntentId(Uuid::from_u128(32));
    let active = adopted_intent(SIBLING, IntentStatus::Active);
    let given = line(IntentStatus::Active, SECOND)
        .event(SIBLING.stream(), adopted_plan(Some(FIRST), None))
        .event(other.stream(), active);
    assert_eq!(
        previous_of(&given, revision(None, Some(INTENT))),
        Some(SECOND)
    );
    assert_eq!(
        previous_of(&given, revision(None, Some(other))),
        Some(SIBLING)
    );
    // The task of a step of the first plan is work on both.
    let cancel = CancelIntent {
        intent: other,
        reason: None,
    };
    assert!(given.decide(CreateRun::new(STEP_TASK)).is_ok());
    let given = given.command(cancel);
    assert!(given.decide(CreateRun::new(STEP_TASK)).is_err());
}

#[test]
fn adopted_tasks_and_steps_are_open_work_of_their_intent() {
    // A run that came with them, and that its task does not name.
    let run = RunId(Uuid::from_u128(52));
    let mut patching = super::run(RunStatus::Patching);
    if let AnyEvent::Run(run::Event::Adopted(adopted)) = &mut patching
        && let Some(object) = &mut adopted.object
    {
        object.task = OTHER_TASK;
    }
    let given = line(IntentStatus::Active, SECOND)
        .event(OTHER_TASK.stream(), adopted_task(Some(INTENT)))
        .event(run.stream(), patching)
        .command(SetStepStatus {
            plan: FIRST,
            step: 0,
            status: StepStatus::Progressing,
            reason: None,
        });
    let complete = CompleteIntent::new(INTENT);
    let says = given.decide(complete.clone()).unwrap_err().to_string();
    for named in [
        format!("task {STEP_TASK} is draft"),
        format!("task {OTHER_TASK} is draft"),
        format!("run {run} is patching"),
        format!("step 0 of plan {FIRST} is progressing"),
    ] {
        assert!(says.contains(&named), "{named}: {says}");
    }
    let given = given.command(CompleteIntent {
        abandon_open: true,
        ..complete
    });
    for id in [STEP_TASK, OTHER_TASK] {
        let AnyState::Task(state) = given.loaded(id.stream()).state else {
            panic!("no task");
        };
        assert_eq!(state.status, task::Status::Cancelled);
    }
    let says = given.decide(CreateRun::new(OTHER_TASK)).unwrap_err();
    assert!(says.to_string().contains("cancelled"), "{says}");
}
