//! Given, when, then for plans.

use super::*;
use crate::AnyState;
use crate::intent::{ActivateIntent, AnalyzeIntent, CreateIntent, SelectPlan};
use crate::pipeline::{CreatePipeline, FrameKind, FramesUsed, PushFrame};
use crate::task::{CreateTask, GoalType};
use crate::testing::{Given, events, json, stream, texts};
use crate::world::Emitted;
use crate::{
    AnyEvent, Command, Dependence, FrameId, IntentId, Kind, PipelineId, PlanId, Refusal, Slot,
    StreamKind, TaskId, intent, task,
};

const PLAN: PlanId = PlanId(uuid::Uuid::from_u128(1));
const PIPELINE: PipelineId = PipelineId(uuid::Uuid::from_u128(2));
const INTENT: IntentId = IntentId(uuid::Uuid::from_u128(3));
const TASK: TaskId = TaskId(uuid::Uuid::from_u128(4));

fn create() -> CreatePlan {
    CreatePlan {
        id: Some(PLAN),
        ..CreatePlan::default()
    }
}

/// A pipeline whose window holds at most two of its five frames: 3 and 4.
fn given_pipeline() -> Given {
    let mut given = Given::new().command(CreatePipeline {
        id: Some(PIPELINE),
        max_frames: Some(2),
        policy: None,
    });
    for _ in 0..5 {
        given.execute(PushFrame {
            pipeline: PIPELINE,
            kind: FrameKind::ToolCall,
            summary: "called".into(),
            data: None,
            content: None,
            token_estimate: None,
        });
    }
    given
}

/// A plan on that pipeline with steps that have nothing but a description.
fn given_steps(count: usize) -> Given {
    let steps = (0..count)
        .map(|n| NewStep::new(format!("step {n}")))
        .collect();
    given_pipeline().command(CreatePlan {
        pipeline: Some(PIPELINE),
        steps,
        ..create()
    })
}

fn stored(step: NewStep, description: u16) -> StoredStep {
    StoredStep {
        description: Slot(description),
        inputs: None,
        outputs: None,
        checks: None,
        iframes: step.iframes,
        oframes: step.oframes,
        task: step.task,
    }
}

fn frames(numbers: &[u64]) -> Vec<FrameId> {
    numbers.iter().copied().map(FrameId).collect()
}

fn with_frames(iframes: &[u64], oframes: &[u64]) -> NewStep {
    NewStep {
        iframes: frames(iframes),
        oframes: frames(oframes),
        ..NewStep::new("work")
    }
}

fn used(step: u32, numbers: &[u64]) -> AnyEvent {
    AnyEvent::Pipeline(
        FramesUsed {
            plan: PLAN,
            step,
            frames: frames(numbers),
            inferred: false,
        }
        .into(),
    )
}

fn plan_event(event: impl Into<Event>) -> AnyEvent {
    AnyEvent::Plan(event.into())
}

fn invalid(refusal: Refusal) -> (&'static str, String) {
    match refusal {
        Refusal::Invalid { field, reason } => (field, reason),
        other => panic!("expected an invalid field, found {other}"),
    }
}

#[track_caller]
fn check_invalid(given: &Given, command: impl Into<Command>, field: &str, says: &str) {
    let (found, reason) = invalid(given.decide(command).expect_err("it is not valid"));
    assert_eq!(found, field, "{reason}");
    assert!(reason.contains(says), "{reason:?} does not say {says:?}");
}

// Drafting.

#[test]
fn a_plan_is_drafted_with_its_content_apart() {
    let step = NewStep {
        inputs: Some(json("[1]")),
        outputs: Some(json("{}")),
        checks: Some(json(r#"{"ci": true}"#)),
        ..NewStep::new("refactor")
    };
    let steps = vec![step, NewStep::new("test")];
    let (emitted, guards) = Given::new()
        .decide_guarded(CreatePlan { steps, ..create() })
        .expect("accepted");
    let first = StoredStep {
        inputs: Some(Slot(1)),
        outputs: Some(Slot(2)),
        checks: Some(Slot(3)),
        ..stored(NewStep::new(""), 0)
    };
    let drafted = Drafted {
        previous: None,
        intent: None,
        pipeline: None,
        fwindow: None,
        steps: vec![first, stored(NewStep::new(""), 4)],
    };
    assert_eq!(events(&emitted), [plan_event(drafted)]);
    assert_eq!(
        texts(&emitted),
        [vec!["refactor", "[1]", "{}", r#"{"ci":true}"#, "test"]]
    );
    assert_eq!(
        guards,
        [(stream(StreamKind::Plan, 1), Dependence::State, 0)]
    );
}

#[test]
fn a_revision_takes_over_nothing_but_the_link() {
    let given = given_steps(2);
    let previous = Some(PLAN);
    let emitted = given
        .decide(CreatePlan {
            id: None,
            previous,
            ..CreatePlan::default()
        })
        .expect("accepted");
    let drafted = Drafted {
        previous,
        intent: None,
        pipeline: None,
        fwindow: None,
        steps: Vec::new(),
    };
    let revised = Revised {
        by: id_of(&emitted),
    };
    assert_eq!(events(&emitted), [plan_event(drafted), plan_event(revised)]);
    assert_eq!(emitted[1].stream, PLAN.stream());
}

fn id_of(emitted: &[Emitted]) -> PlanId {
    PlanId(emitted[0].stream.id)
}

/// An active intent, and a plan for it.
fn given_line() -> Given {
    let mut given = Given::new().command(CreateIntent {
        id: Some(INTENT),
        prompt: "do".into(),
        parent: None,
    });
    let content = "it".into();
    given.execute(AnalyzeIntent {
        intent: INTENT,
        content,
    });
    given.execute(ActivateIntent {
        intent: INTENT,
        reason: None,
    });
    given.command(CreatePlan {
        intent: Some(INTENT),
        ..create()
    })
}

fn selected(given: &Given) -> Option<PlanId> {
    match given.loaded(INTENT.stream()).state {
        AnyState::Intent(state) => state.plan,
        other => panic!("expected an intent, found {other:?}"),
    }
}

fn revision(previous: Option<PlanId>, intent: Option<IntentId>) -> CreatePlan {
    CreatePlan {
        previous,
        intent,
        ..CreatePlan::default()
    }
}

#[test]
fn a_revision_belongs_to_the_intent_of_the_plan_that_it_revises() {
    let mut given = given_line();
    let second = id_of(&given.execute(revision(Some(PLAN), None)));
    assert_eq!(selected(&given), Some(second));
    // What names the intent alone revises its latest plan.
    let emitted = given.execute(revision(None, Some(INTENT)));
    let AnyEvent::Plan(Event::Drafted(drafted)) = &emitted[0].event else {
        panic!("{emitted:?}");
    };
    assert_eq!(drafted.previous, Some(second));
    assert_eq!(selected(&given), Some(id_of(&emitted)));
}

#[test]
fn an_intent_has_one_line_of_revisions() {
    let mut given = given_line();
    let second = id_of(&given.execute(revision(Some(PLAN), None)));
    let refused = |result: Result<Vec<Emitted>, Refusal>| {
        let refusal = result.expect_err("it is not the latest").to_string();
        assert!(refusal.contains(&second.to_string()), "{refusal}");
        assert!(refusal.contains("restores"), "{refusal}");
    };
    refused(given.decide(revision(Some(PLAN), None)));
    refused(given.decide(revision(Some(PLAN), Some(INTENT))));
    refused(given.decide(SelectPlan {
        intent: INTENT,
        plan: PLAN,
    }));
    let again = SelectPlan {
        intent: INTENT,
        plan: second,
    };
    assert_eq!(given.decide(again), Ok(Vec::new()));
}

#[test]
fn a_plan_without_an_intent_is_revised_once() {
    let mut given = Given::new().command(create());
    let second = id_of(&given.execute(revision(Some(PLAN), None)));
    let refusal = given.decide(revision(Some(PLAN), None)).expect_err("twice");
    assert!(refusal.to_string().contains(&second.to_string()));
    given.execute(revision(Some(second), None));
}

#[test]
fn going_back_is_a_revision_that_names_what_it_restores() {
    let mut given = given_line();
    given.execute(AddStep {
        plan: PLAN,
        index: None,
        step: NewStep::new("one"),
    });
    let second = id_of(&given.execute(revision(Some(PLAN), None)));
    let back = |restores, steps: Vec<NewStep>| CreatePlan {
        restores: Some(restores),
        steps,
        ..revision(None, Some(INTENT))
    };
    let steps = || vec![NewStep::new("one")];
    let emitted = given.decide(back(PLAN, steps())).expect("accepted");
    assert_eq!(events(&emitted)[1], plan_event(Restored { plan: PLAN }));
    for (wrong, named) in [
        (back(second, Vec::new()), "not an earlier revision"),
        (
            back(PlanId(uuid::Uuid::from_u128(99)), steps()),
            "not an earlier revision",
        ),
        (back(PLAN, Vec::new()), "has 1 steps"),
    ] {
        let refusal = given.decide(wrong).expect_err(named).to_string();
        assert!(refusal.contains(named), "{refusal}");
    }
}

#[test]
fn a_selected_plan_belongs_to_the_intent_from_then_on() {
    let mut given = given_line();
    let free = PlanId(uuid::Uuid::from_u128(71));
    let other = IntentId(uuid::Uuid::from_u128(72));
    given.execute(CreatePlan {
        id: Some(free),
        ..CreatePlan::default()
    });
    given.execute(CreateIntent {
        id: Some(other),
        prompt: "do".into(),
        parent: None,
    });
    let content = "it".into();
    given.execute(AnalyzeIntent {
        intent: other,
        content,
    });
    given.execute(ActivateIntent {
        intent: other,
        reason: None,
    });
    let emitted = given.execute(SelectPlan {
        intent: other,
        plan: free,
    });
    assert_eq!(events(&emitted)[1], plan_event(Assigned { intent: other }));
    // Its revisions are the intent's, too.
    let emitted = given.execute(revision(Some(free), None));
    assert_eq!(
        events(&emitted).last(),
        Some(&AnyEvent::Intent(
            intent::PlanSelected {
                plan: id_of(&emitted)
            }
            .into()
        ))
    );
}

#[test]
fn a_plan_of_an_intent_that_is_over_gets_no_more_work() {
    let given = given_line().command(intent::CancelIntent {
        intent: INTENT,
        reason: None,
    });
    let step = AddStep {
        plan: PLAN,
        index: None,
        step: NewStep::new("one"),
    };
    for refused in [
        given.decide(step).expect_err("it is over"),
        given
            .decide(revision(Some(PLAN), None))
            .expect_err("it is over"),
    ] {
        assert!(refused.to_string().contains("is cancelled"), "{refused}");
    }
}

#[test]
fn a_plan_for_an_intent_becomes_its_current_one() {
    let plan = || CreatePlan {
        intent: Some(INTENT),
        ..create()
    };
    let mut given = Given::new().command(CreateIntent {
        id: Some(INTENT),
        prompt: "do".into(),
        parent: None,
    });
    given.execute(AnalyzeIntent {
        intent: INTENT,
        content: "it".into(),
    });
    let refusal = given.decide(plan()).expect_err("the intent is a draft");
    assert!(
        matches!(
            &refusal,
            Refusal::Transition {
                kind: Kind::Intent,
                asked: "create_plan",
                ..
            }
        ),
        "{refusal}"
    );
    given.execute(ActivateIntent {
        intent: INTENT,
        reason: None,
    });
    let emitted = given.decide(plan()).expect("accepted");
    let drafted = Drafted {
        previous: None,
        intent: Some(INTENT),
        pipeline: None,
        fwindow: None,
        steps: Vec::new(),
    };
    let selected = intent::PlanSelected { plan: PLAN };
    assert_eq!(
        events(&emitted),
        [plan_event(drafted), AnyEvent::Intent(selected.into())]
    );
    assert_eq!(emitted[1].stream, stream(StreamKind::Intent, 3));
}

#[test]
fn a_plan_made_for_one_intent_serves_no_other() {
    let other = IntentId(uuid::Uuid::from_u128(77));
    let mut given = Given::new();
    for intent in [INTENT, other] {
        given.execute(CreateIntent {
            id: Some(intent),
            prompt: "do".into(),
            parent: None,
        });
        let content = "it".into();
        given.execute(AnalyzeIntent { intent, content });
        let reason = None;
        given.execute(ActivateIntent { intent, reason });
    }
    given.execute(CreatePlan {
        intent: Some(INTENT),
        ..create()
    });
    let select = |intent| SelectPlan { intent, plan: PLAN };
    let revise = |intent| CreatePlan {
        id: None,
        previous: Some(PLAN),
        intent,
        ..create()
    };
    let refused = |result: Result<Vec<Emitted>, Refusal>, field: &str| {
        let refusal = result.expect_err("it is another intent's").to_string();
        assert!(refusal.contains(field), "{refusal}");
        assert!(refusal.contains(&INTENT.to_string()), "{refusal}");
    };
    refused(given.decide(select(other)), "plan");
    refused(given.decide(revise(Some(other))), "previous");
    assert!(given.decide(select(INTENT)).is_ok());
    assert!(given.decide(revise(Some(INTENT))).is_ok());
    assert!(given.decide(revise(None)).is_ok());
}

#[test]
fn what_a_plan_names_must_be_there() {
    let missing = |kind, id| Err(Refusal::NotFound { kind, id });
    let given = Given::new();
    let previous = Some(PlanId(uuid::Uuid::from_u128(9)));
    let number_9 = uuid::Uuid::from_u128(9);
    assert_eq!(
        given.decide(CreatePlan {
            previous,
            ..create()
        }),
        missing(Kind::Plan, number_9),
    );
    assert_eq!(
        given.decide(CreatePlan {
            previous: Some(PLAN),
            ..create()
        }),
        missing(Kind::Plan, PLAN.0),
        "a plan does not revise itself"
    );
    assert_eq!(
        given.decide(CreatePlan {
            pipeline: Some(PIPELINE),
            ..create()
        }),
        missing(Kind::ContextPipeline, PIPELINE.0),
    );
    assert_eq!(
        given.decide(CreatePlan {
            intent: Some(INTENT),
            ..create()
        }),
        missing(Kind::Intent, INTENT.0),
    );
    let steps = vec![NewStep {
        task: Some(TASK),
        ..NewStep::new("hand over")
    }];
    assert_eq!(
        given.decide(CreatePlan { steps, ..create() }),
        missing(Kind::Task, TASK.0)
    );
    let given = Given::new().command(create());
    assert_eq!(
        given.decide(create()),
        Err(Refusal::Exists {
            kind: Kind::Plan,
            id: PLAN.0
        })
    );
}

#[test]
fn a_step_has_a_description() {
    let steps = vec![NewStep::new("a"), NewStep::new(" ")];
    check_invalid(
        &Given::new(),
        CreatePlan { steps, ..create() },
        "description",
        "step 1",
    );
    let add = AddStep::new(PLAN, NewStep::new(""));
    check_invalid(&given_steps(3), add, "description", "step 3");
}

#[test]
fn a_step_that_must_get_a_number_gets_that_one_or_is_refused() {
    let given = given_steps(3);
    let add = |index| AddStep {
        index: Some(index),
        ..AddStep::new(PLAN, NewStep::new("a"))
    };
    for index in [0, 2, 4] {
        check_invalid(&given, add(index), "index", "the next step is 3");
    }
    let emitted = given.decide(add(3)).expect("accepted");
    let step = stored(NewStep::new("a"), 0);
    assert_eq!(events(&emitted), [plan_event(StepAdded { index: 3, step })]);
}

#[test]
fn fwindow_is_a_range_of_the_window_as_it_stands() {
    let given = given_pipeline();
    let plan = |range| CreatePlan {
        pipeline: Some(PIPELINE),
        fwindow: Some(range),
        ..create()
    };
    for range in [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)] {
        assert!(given.decide(plan(range)).is_ok(), "{range:?}");
    }
    // Five frames were pushed, but only two are in the window.
    for range in [
        (0, 3),
        (1, 0),
        (2, 1),
        (3, 3),
        (0, 5),
        (0, u32::MAX),
        (u32::MAX, 0),
    ] {
        check_invalid(
            &given,
            plan(range),
            "fwindow",
            "start <= end <= 2, the number of frames",
        );
    }
    let without_pipeline = CreatePlan {
        fwindow: Some((0, 0)),
        ..create()
    };
    check_invalid(&given, without_pipeline, "fwindow", "names no pipeline");
}

#[test]
fn a_plan_depends_on_a_pipelines_window_only_where_it_names_frames() {
    let given = given_pipeline();
    let pipeline = stream(StreamKind::Pipeline, 2);
    let dependence = |plan| {
        let (_, guards) = given.decide_guarded(plan).expect("accepted");
        guards
            .into_iter()
            .find(|(stream, _, _)| *stream == pipeline)
    };
    let plain = CreatePlan {
        pipeline: Some(PIPELINE),
        ..create()
    };
    assert_eq!(
        dependence(plain.clone()),
        Some((pipeline, Dependence::Exists, 6))
    );
    let ranged = CreatePlan {
        fwindow: Some((0, 2)),
        ..plain
    };
    assert_eq!(dependence(ranged), Some((pipeline, Dependence::State, 6)));
}

// Frames of steps.

#[test]
fn a_new_steps_frames_were_pushed_and_may_be_evicted() {
    let given = given_steps(1);
    let add = |step| AddStep::new(PLAN, step);
    let emitted = given
        .decide(add(with_frames(&[0, 4, 0], &[3, 3])))
        .expect("accepted");
    let step = stored(with_frames(&[0, 4], &[3]), 0);
    assert_eq!(
        events(&emitted),
        [plan_event(StepAdded { index: 1, step }), used(1, &[0, 4])]
    );
    check_invalid(
        &given,
        add(with_frames(&[5], &[])),
        "iframes",
        "whose next frame is 5",
    );
    check_invalid(
        &given,
        add(with_frames(&[], &[0, 7])),
        "oframes",
        "frame 7 was never pushed",
    );
    let given = Given::new().command(create());
    check_invalid(
        &given,
        add(with_frames(&[0], &[])),
        "iframes",
        "the plan has none",
    );
}

#[test]
fn drafted_steps_record_their_uses() {
    let steps = vec![
        with_frames(&[0], &[]),
        with_frames(&[], &[4]),
        with_frames(&[3, 4], &[]),
    ];
    let plan = CreatePlan {
        pipeline: Some(PIPELINE),
        steps,
        ..create()
    };
    let emitted = given_pipeline().decide(plan).expect("accepted");
    assert_eq!(events(&emitted)[1..], [used(0, &[0]), used(2, &[3, 4])]);
    assert_eq!(emitted[1].stream, stream(StreamKind::Pipeline, 2));
}

fn link(step: u32, iframes: &[u64], oframes: &[u64]) -> LinkStepFrames {
    LinkStepFrames {
        plan: PLAN,
        step,
        iframes: frames(iframes),
        oframes: frames(oframes),
        inferred: false,
    }
}

fn linked(index: u32, iframes: &[u64], oframes: &[u64]) -> AnyEvent {
    plan_event(StepFramesLinked {
        index,
        iframes: frames(iframes),
        oframes: frames(oframes),
        inferred: false,
    })
}

#[test]
fn linking_appends_what_is_new_and_records_the_use() {
    let mut given = given_steps(2);
    let emitted = given.execute(link(1, &[0, 4, 0], &[2]));
    assert_eq!(
        events(&emitted),
        [linked(1, &[0, 4], &[2]), used(1, &[0, 4])]
    );
    assert_eq!(
        given.decide(link(1, &[4, 0], &[2])),
        Ok(Vec::new()),
        "a repeat"
    );
    assert_eq!(
        given.decide(link(1, &[], &[])),
        Ok(Vec::new()),
        "nothing at all"
    );
    let emitted = given.decide(link(1, &[0, 1], &[2, 3])).expect("accepted");
    assert_eq!(events(&emitted), [linked(1, &[1], &[3]), used(1, &[1])]);
    let emitted = given.decide(link(1, &[0], &[4])).expect("accepted");
    assert_eq!(
        events(&emitted),
        [linked(1, &[], &[4])],
        "no new frame was consumed"
    );
    let emitted = given.decide(link(0, &[0], &[])).expect("accepted");
    assert_eq!(
        events(&emitted),
        [linked(0, &[0], &[]), used(0, &[0])],
        "another step"
    );
}

#[test]
fn frames_of_a_drafted_step_count_as_linked() {
    let steps = vec![with_frames(&[0], &[1])];
    let plan = CreatePlan {
        pipeline: Some(PIPELINE),
        steps,
        ..create()
    };
    let given = given_pipeline().command(plan);
    assert_eq!(given.decide(link(0, &[0], &[1])), Ok(Vec::new()));
}

#[test]
fn only_pushed_frames_are_linked() {
    let given = given_steps(1);
    check_invalid(
        &given,
        link(0, &[5], &[]),
        "iframes",
        "frame 5 was never pushed",
    );
    check_invalid(
        &given,
        link(0, &[], &[u64::MAX]),
        "oframes",
        "was never pushed",
    );
    check_invalid(
        &given,
        link(1, &[0], &[]),
        "step",
        "the plan has 1 steps, numbered from 0",
    );
    let given = Given::new().command(CreatePlan {
        steps: vec![NewStep::new("a")],
        ..create()
    });
    check_invalid(&given, link(0, &[], &[0]), "oframes", "the plan has none");
}

// Statuses.

fn set(step: u32, status: StepStatus) -> SetStepStatus {
    SetStepStatus {
        plan: PLAN,
        step,
        status,
        reason: Some("so".into()),
    }
}

/// The commands that bring a new step to a status.
fn way_to(status: StepStatus) -> &'static [StepStatus] {
    use StepStatus::{Completed, Failed, Pending, Progressing, Skipped};
    match status {
        Pending => &[],
        Progressing => &[Progressing],
        Completed => &[Progressing, Completed],
        Failed => &[Failed],
        Skipped => &[Skipped],
    }
}

#[test]
fn a_steps_status_goes_only_along_the_table() {
    use StepStatus::{Completed, Failed, Pending, Progressing, Skipped};
    let table = [
        (Pending, Progressing),
        (Pending, Failed),
        (Pending, Skipped),
        (Progressing, Completed),
        (Progressing, Failed),
    ];
    let mut accepted = 0;
    for from in StepStatus::ALL {
        let mut given = given_steps(2);
        for status in way_to(*from) {
            given.execute(set(1, *status));
        }
        for to in StepStatus::ALL {
            let decided = given.decide(set(1, *to));
            if table.contains(&(*from, *to)) {
                accepted += 1;
                let emitted = decided.expect("the table allows it");
                let reason = Some(Slot(0));
                let expected = StepStatusChanged {
                    index: 1,
                    status: *to,
                    reason,
                };
                assert_eq!(events(&emitted), [plan_event(expected)], "{from} -> {to}");
                continue;
            }
            let refusal = decided.expect_err("the table does not allow it");
            let Refusal::Transition {
                kind: Kind::Plan,
                id,
                state,
                asked,
                ..
            } = &refusal
            else {
                panic!("{from} -> {to}: {refusal}");
            };
            assert_eq!(*id, PLAN.0);
            assert_eq!(*state, format!("at step 1, which is {from}"));
            assert_eq!(*asked, format!("set_step_status {to}"));
        }
        // The other step is untouched by all of it.
        assert!(given.decide(set(0, Skipped)).is_ok());
    }
    assert_eq!(accepted, table.len());
}

#[test]
fn a_step_must_be_there() {
    let says = "there is no step 2; the plan has 2 steps, numbered from 0";
    let given = given_steps(2);
    check_invalid(&given, set(2, StepStatus::Progressing), "step", says);
    check_invalid(&given, spawn(2), "step", says);
    let output = RecordStepOutput {
        plan: PLAN,
        step: 2,
        outputs: json("1"),
    };
    check_invalid(&given, output, "step", says);
}

#[test]
fn a_plan_must_be_there() {
    let commands: [Command; 5] = [
        AddStep::new(PLAN, NewStep::new("a")).into(),
        set(0, StepStatus::Progressing).into(),
        link(0, &[], &[]).into(),
        spawn(0).into(),
        RecordStepOutput {
            plan: PLAN,
            step: 0,
            outputs: json("1"),
        }
        .into(),
    ];
    for command in commands {
        let missing = Refusal::NotFound {
            kind: Kind::Plan,
            id: PLAN.0,
        };
        assert_eq!(Given::new().decide(command), Err(missing));
    }
}

// Tasks and outputs of steps.

fn spawn(step: u32) -> SpawnStepTask {
    SpawnStepTask {
        plan: PLAN,
        step,
        id: Some(TASK),
        title: "sub-task".into(),
        description: Some("more".into()),
        goal: Some(GoalType::Test),
        constraints: vec!["no new dependency".into()],
        acceptance_criteria: vec!["tests pass".into()],
        parent: None,
        intent: None,
        requester: None,
    }
}

#[test]
fn a_spawned_task_is_created_first() {
    let mut given = given_steps(1);
    let emitted = given.execute(spawn(0));
    let created = task::Created {
        title: Slot(0),
        description: Some(Slot(1)),
        goal: Some(GoalType::Test),
        constraints: vec![Slot(2)],
        acceptance_criteria: vec![Slot(3)],
        requester: None,
        parent: None,
        intent: None,
        dependencies: Vec::new(),
    };
    let spawned = StepTaskSpawned {
        index: 0,
        task: TASK,
    };
    assert_eq!(
        events(&emitted),
        [AnyEvent::Task(created.into()), plan_event(spawned)]
    );
    assert_eq!(
        texts(&emitted),
        [
            vec!["sub-task", "more", "no new dependency", "tests pass"],
            vec![]
        ]
    );
    assert_eq!(emitted[0].stream, stream(StreamKind::Task, 4));
    check_invalid(&given, spawn(0), "step", "step 0 has task 00000000");
}

#[test]
fn a_spawned_task_gets_an_id() {
    let given = given_steps(1);
    let emitted = given
        .decide(SpawnStepTask {
            id: None,
            ..spawn(0)
        })
        .expect("accepted");
    let id = given.meta().new_id;
    assert_eq!(emitted[0].stream.id, id);
    let spawned = StepTaskSpawned {
        index: 0,
        task: TaskId(id),
    };
    assert_eq!(emitted[1].event, plan_event(spawned));
}

#[test]
fn a_step_with_a_task_spawns_no_other() {
    let step = NewStep {
        task: Some(TASK),
        ..NewStep::new("hand over")
    };
    let given = Given::new()
        .command(CreateTask {
            id: Some(TASK),
            ..CreateTask::new("existing")
        })
        .command(CreatePlan {
            steps: vec![step],
            ..create()
        });
    check_invalid(
        &given,
        SpawnStepTask {
            id: None,
            ..spawn(0)
        },
        "step",
        "at most one",
    );
}

#[test]
fn a_task_that_is_refused_is_not_spawned() {
    let untitled = SpawnStepTask {
        title: " ".into(),
        ..spawn(0)
    };
    check_invalid(&given_steps(1), untitled, "title", "blank");
}

#[test]
fn outputs_are_recorded_as_they_came() {
    let output = RecordStepOutput {
        plan: PLAN,
        step: 0,
        outputs: json(r#"{"n": 1.50}"#),
    };
    let emitted = given_steps(1).decide(output).expect("accepted");
    let expected = StepOutputRecorded {
        index: 0,
        outputs: Slot(0),
    };
    assert_eq!(events(&emitted), [plan_event(expected)]);
    assert_eq!(texts(&emitted), [vec![r#"{"n":1.50}"#]]);
}

#[test]
fn commands_read_from_json() {
    let fields = format!(
        r#"{{"pipeline": "{}", "fwindow": [0, 2],
            "steps": [{{"description": "a", "iframes": [1], "inputs": {{"x":1}}}}]}}"#,
        PIPELINE.0
    );
    let read = Command::from_json("create_plan", &fields).expect("it is a command");
    let step = NewStep {
        iframes: frames(&[1]),
        inputs: Some(json(r#"{"x":1}"#)),
        ..NewStep::new("a")
    };
    let expected = CreatePlan {
        pipeline: Some(PIPELINE),
        fwindow: Some((0, 2)),
        steps: vec![step],
        ..CreatePlan::default()
    };
    assert_eq!(read, expected.into());
}
