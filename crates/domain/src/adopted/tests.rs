//! Given adopted objects, when a command, then our deciders apply.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod lines;

use uuid::Uuid;

use super::*;
use crate::intent::{
    ActivateIntent, AdoptedStatus, ApproveIntent, CancelIntent, IntentStatus, Risk, Source,
    SubmitIntent,
};
use crate::pipeline::{AdoptedFrame, AdoptedPipeline, FrameKind, PushFrame};
use crate::plan::{
    AdoptedPlan, AdoptedStep, AdoptedStepStatus, SetStepStatus, StepStatus, StoredStep,
};
use crate::run::{
    self, AdoptedPatchSet, AdoptedRun, ApplyPatchSet, ApplyStatus, CreateRun, Decide, DecisionType,
    DiffFormat, PatchSetAdopted, RecordMetrics, RunStatus,
};
use crate::task::{AddDependency, AdoptedTask, CreateTask, FailTask, TaskStatus};
use crate::testing::{Given, json, stream};
use crate::{
    ActorKind, AnyEvent, DecisionId, Dependence, FrameId, IntentId, PatchSetId, PipelineId, PlanId,
    Refusal, RunId, StreamKind, TaskId, intent, pipeline, plan, task,
};

const OWN: Uuid = Uuid::from_u128(1);
const NOBODY: Uuid = Uuid::from_u128(99);

fn header() -> Box<AdoptedHeader> {
    Box::new(AdoptedHeader {
        dialect: Dialect::GitInternal,
        header_version: 1,
        schema_version: 1,
        created_at: Timestamp::EPOCH,
        updated_at: Timestamp::EPOCH,
        created_by: StoredActor {
            kind: ActorKind::Agent,
            id: "a".into(),
            display_name: None,
            auth_context: None,
        },
        visibility: Visibility::Private,
        tags: vec![],
        external_ids: vec![],
        checksum: None,
        digest: IntegrityHash([0; 32]),
        violations: vec![],
    })
}

fn given(kind: StreamKind, events: impl IntoIterator<Item = AnyEvent>) -> Given {
    let own = stream(kind, 1);
    let given = Given::new();
    events
        .into_iter()
        .fold(given, |given, event| given.event(own, event))
}

fn intent(statuses: &[IntentStatus], content: bool) -> Given {
    let statuses = statuses.iter().map(|status| AdoptedStatus {
        status: *status,
        changed_at: Timestamp::EPOCH,
        reason: None,
    });
    let adopted = intent::Adopted {
        header: header(),
        prompt: Slot(0),
        content: content.then_some(Slot(1)),
        parent: Some(IntentId(NOBODY)),
        commit: None,
        plan: None,
        statuses: statuses.collect(),
    };
    given(StreamKind::Intent, [AnyEvent::Intent(adopted.into())])
}

#[test]
fn the_last_status_of_an_intent_counts_however_it_came_there() {
    use IntentStatus::{Active, Cancelled, Completed, Draft};
    let cancel = CancelIntent {
        intent: IntentId(OWN),
        reason: None,
    };
    for (statuses, may_cancel) in [
        (vec![], true),
        (vec![Completed, Draft], true),
        (vec![Draft, Active], true),
        (vec![Draft, Completed], false),
        (vec![Active, Cancelled], false),
    ] {
        let accepted = intent(&statuses, false).decide(cancel.clone()).is_ok();
        assert_eq!(accepted, may_cancel, "{statuses:?}");
    }
    let activate = ActivateIntent {
        intent: IntentId(OWN),
        reason: None,
    };
    assert!(intent(&[Draft], true).decide(activate.clone()).is_ok());
    assert!(intent(&[Draft], false).decide(activate).is_err());
}

fn task(status: TaskStatus, dependencies: &[Uuid]) -> task::Adopted {
    task::Adopted {
        object: Some(AdoptedTask {
            header: header(),
            title: Slot(0),
            description: None,
            goal: None,
            requester: None,
            parent: Some(TaskId(OWN)),
            intent: None,
            status,
        }),
        constraints: vec![],
        acceptance_criteria: vec![],
        runs: vec![],
        dependencies: dependencies.iter().copied().map(TaskId).collect(),
    }
}

#[test]
fn dependencies_on_tasks_that_nobody_has_are_no_obstacle() {
    let other = TaskId(Uuid::from_u128(2));
    let given = given(
        StreamKind::Task,
        [AnyEvent::Task(task(TaskStatus::Running, &[NOBODY]).into())],
    )
    .command(CreateTask {
        id: Some(other),
        ..CreateTask::new("t")
    });
    let depend = |task, dependency| AddDependency { task, dependency };
    let decided = given.decide_guarded(depend(other, TaskId(OWN))).unwrap();
    // The decision looked at its absence, so the append depends on it.
    let absent = (stream(StreamKind::Task, 99), Dependence::State, 0);
    assert!(decided.1.contains(&absent), "{:?}", decided.1);
    let given = given.command(depend(other, TaskId(OWN)));
    let cycle = given.decide(depend(TaskId(OWN), other));
    assert!(matches!(cycle, Err(Refusal::Cycle { .. })), "{cycle:?}");
}

#[test]
fn a_dependency_that_nobody_has_is_not_done() {
    let adopted = task(TaskStatus::Draft, &[NOBODY]);
    let given = given(StreamKind::Task, [AnyEvent::Task(adopted.into())]);
    let refusal = given.decide(CreateRun::new(TaskId(OWN))).unwrap_err();
    let said = format!("is waiting for task {NOBODY}");
    assert!(refusal.to_string().contains(&said), "{refusal}");
}

#[test]
fn what_was_adopted_again_replaces_what_was_there() {
    let adopt = |status, dependencies: &[Uuid]| AnyEvent::Task(task(status, dependencies).into());
    let mut more = task(TaskStatus::Draft, &[Uuid::from_u128(8)]);
    more.object = None;
    let given = given(
        StreamKind::Task,
        [
            adopt(TaskStatus::Done, &[NOBODY]),
            adopt(TaskStatus::Running, &[Uuid::from_u128(7)]),
            AnyEvent::Task(more.into()),
        ],
    );
    let crate::AnyState::Task(state) = given.loaded(stream(StreamKind::Task, 1)).state else {
        panic!("a task");
    };
    let expected = [7, 8].map(|id| TaskId(Uuid::from_u128(id)));
    assert_eq!(state.dependencies, expected);
    let fail = FailTask {
        task: TaskId(OWN),
        reason: None,
    };
    assert!(given.decide(fail).is_ok());
}

fn patch_set(apply_status: ApplyStatus) -> AnyEvent {
    let adopted = PatchSetAdopted {
        patch_set: PatchSetId(Uuid::from_u128(11)),
        object: Some(AdoptedPatchSet {
            header: header(),
            commit: None,
            format: DiffFormat::Unified,
            artifact: None,
            rationale: None,
            apply_status,
        }),
        touched: vec![],
    };
    AnyEvent::Run(adopted.into())
}

fn run(status: RunStatus) -> AnyEvent {
    let adopted = run::Adopted {
        object: Some(AdoptedRun {
            header: header(),
            task: TaskId(NOBODY),
            plan: None,
            commit: None,
            status,
            snapshot: None,
            metrics: None,
            error: None,
            environment: None,
        }),
        patchsets: vec![],
    };
    AnyEvent::Run(adopted.into())
}

#[test]
fn a_run_that_only_its_objects_tell_of_is_not_there() {
    let given = given(StreamKind::Run, [patch_set(ApplyStatus::Proposed)]);
    let metrics = RecordMetrics {
        run: RunId(OWN),
        metrics: json("{}"),
    };
    let refused = given.decide(metrics.clone());
    assert!(
        matches!(refused, Err(Refusal::NotFound { .. })),
        "{refused:?}"
    );
    // So it can be begun; its stream goes on from where it is.
    let task = TaskId(Uuid::from_u128(2));
    let given = given.command(CreateTask {
        id: Some(task),
        ..CreateTask::new("t")
    });
    let create = CreateRun {
        id: Some(RunId(OWN)),
        ..CreateRun::new(task)
    };
    let (_, dependences) = given.decide_guarded(create.clone()).unwrap();
    let own = (stream(StreamKind::Run, 1), Dependence::State, 1);
    assert!(dependences.contains(&own), "{dependences:?}");
    assert!(given.command(create).decide(metrics).is_ok());
}

#[test]
fn objects_of_a_run_may_come_before_it() {
    let given = given(
        StreamKind::Run,
        [patch_set(ApplyStatus::Proposed), run(RunStatus::Validating)],
    );
    let apply = ApplyPatchSet {
        patch_set: PatchSetId(Uuid::from_u128(11)),
    };
    assert!(given.decide(apply).is_ok());
    let checkpoint = Decide::new(RunId(OWN), DecisionType::Checkpoint);
    assert!(given.decide(checkpoint).is_ok());
}

#[test]
fn the_last_status_of_a_step_counts() {
    let step = |statuses: &[StepStatus]| AdoptedStep {
        step: StoredStep {
            description: Slot(0),
            inputs: None,
            outputs: None,
            checks: None,
            iframes: vec![],
            oframes: vec![],
            task: None,
        },
        statuses: statuses
            .iter()
            .map(|status| AdoptedStepStatus {
                status: *status,
                changed_at: Timestamp::EPOCH,
                reason: None,
            })
            .collect(),
    };
    let first = plan::Adopted {
        object: Some(AdoptedPlan {
            header: header(),
            previous: None,
            pipeline: None,
            fwindow: Some((5, 2)),
        }),
        steps: vec![step(&[StepStatus::Completed, StepStatus::Progressing])],
    };
    let more = plan::Adopted {
        object: None,
        steps: vec![step(&[])],
    };
    let given = given(
        StreamKind::Plan,
        [first, more].map(|event| AnyEvent::Plan(event.into())),
    );
    let set = |step, status| SetStepStatus {
        plan: PlanId(OWN),
        step,
        status,
        reason: None,
    };
    assert!(given.decide(set(0, StepStatus::Completed)).is_ok());
    assert!(given.decide(set(0, StepStatus::Skipped)).is_err());
    assert!(given.decide(set(1, StepStatus::Skipped)).is_ok());
    assert!(given.decide(set(2, StepStatus::Skipped)).is_err());
}

#[test]
fn no_number_of_an_adopted_frame_is_given_away_again() {
    let frame = |id| AdoptedFrame {
        frame_id: FrameId(id),
        kind: FrameKind::ToolCall,
        summary: Slot(0),
        data: None,
        created_at: Timestamp::EPOCH,
        token_estimate: None,
    };
    let pipeline = |next, frames: &[u64]| pipeline::Adopted {
        object: Some(AdoptedPipeline {
            header: header(),
            next_frame_id: FrameId(next),
            max_frames: 2,
            global_summary: None,
        }),
        frames: frames.iter().map(|id| frame(*id)).collect(),
    };
    for (next, frames, expected) in [(9, vec![3, 5], 9), (4, vec![3, 5], 6), (0, vec![], 0)] {
        let adopted = AnyEvent::Pipeline(pipeline(next, &frames).into());
        let mut given = given(StreamKind::Pipeline, [adopted]);
        let push = PushFrame {
            pipeline: PipelineId(OWN),
            kind: FrameKind::ToolCall,
            summary: "s".into(),
            data: None,
            content: None,
            token_estimate: None,
        };
        let pushed = given.execute(push);
        let AnyEvent::Pipeline(pipeline::Event::FramePushed(pushed)) = &pushed[0].event else {
            panic!("a frame");
        };
        assert_eq!(pushed.frame_id, FrameId(expected), "{next} {frames:?}");
    }
}

#[test]
fn work_by_an_adopted_run_waits_for_the_approval_of_an_intent_of_ours() {
    let (of, by) = (TaskId(Uuid::from_u128(2)), IntentId(Uuid::from_u128(3)));
    let mut begun = run(RunStatus::Created);
    if let AnyEvent::Run(run::Event::Adopted(adopted)) = &mut begun
        && let Some(object) = &mut adopted.object
    {
        object.task = of;
    }
    let given = Given::new()
        .command(SubmitIntent {
            id: Some(by),
            risk: Some(Risk::High),
            ..SubmitIntent::new("another way to log in", Source::Audit)
        })
        .command(CreateTask {
            id: Some(of),
            intent: Some(by),
            ..CreateTask::new("work")
        })
        .event(stream(StreamKind::Run, 1), begun);
    let run = RunId(OWN);
    let work = |number: usize| -> crate::Command {
        match number {
            0 => run::StartPatching { run }.into(),
            1 => run::ProposePatchSet::new(run, DiffFormat::Unified).into(),
            _ => run::StartValidation { run }.into(),
        }
    };
    let patching = || AnyEvent::Run(run::PatchingStarted {}.into());
    let patched = given.clone().event(run.stream(), patching());
    for (given, number) in [(&given, 0), (&patched, 1), (&patched, 2)] {
        let says = given.decide(work(number)).unwrap_err().to_string();
        assert!(says.contains("approve_intent"), "{says}");
    }
    // It may end, and begin once a person approved it.
    let fail = run::FailRun {
        run,
        error: "not requested".into(),
    };
    assert!(given.decide(fail).is_ok());
    let mut given = given.command(ApproveIntent {
        intent: by,
        reason: None,
    });
    for number in 0..3 {
        given.execute(work(number));
    }
}

#[test]
fn an_adopted_run_that_validates_changes_nothing_before_the_approval() {
    let (of, by) = (TaskId(Uuid::from_u128(2)), IntentId(Uuid::from_u128(3)));
    let mut validating = run(RunStatus::Validating);
    if let AnyEvent::Run(run::Event::Adopted(adopted)) = &mut validating
        && let Some(object) = &mut adopted.object
    {
        object.task = of;
    }
    let given = Given::new()
        .command(SubmitIntent {
            id: Some(by),
            risk: Some(Risk::High),
            ..SubmitIntent::new("another way to log in", Source::Audit)
        })
        .command(CreateTask {
            id: Some(of),
            intent: Some(by),
            ..CreateTask::new("work")
        })
        .event(of.stream(), AnyEvent::Task(task::Started {}.into()))
        .event(stream(StreamKind::Run, 1), validating)
        .event(stream(StreamKind::Run, 1), patch_set(ApplyStatus::Proposed));
    let chosen = PatchSetId(Uuid::from_u128(11));
    let apply = ApplyPatchSet { patch_set: chosen };
    let decide = Decide {
        chosen_patchset_id: Some(chosen),
        ..Decide::new(RunId(OWN), DecisionType::Commit)
    };
    let commands: [crate::Command; 2] = [apply.into(), decide.into()];
    for command in commands.clone() {
        let says = given.decide(command).unwrap_err().to_string();
        assert!(says.contains("approve_intent"), "{says}");
    }
    // Giving it up does not count as work.
    let abandon = Decide::new(RunId(OWN), DecisionType::Abandon);
    assert!(given.decide(abandon).is_ok());
    let mut given = given.command(ApproveIntent {
        intent: by,
        reason: None,
    });
    for command in commands {
        given.execute(command);
    }
}

#[test]
fn no_commit_of_an_adopted_decision_is_recorded_before_the_approval() {
    let (of, by) = (TaskId(Uuid::from_u128(2)), IntentId(Uuid::from_u128(3)));
    let mut completed = run(RunStatus::Completed);
    if let AnyEvent::Run(run::Event::Adopted(adopted)) = &mut completed
        && let Some(object) = &mut adopted.object
    {
        object.task = of;
    }
    let decision = DecisionId(Uuid::from_u128(12));
    let made = run::DecisionMade {
        decision,
        decision_type: DecisionType::Commit,
        chosen_patch_set: None,
        result_commit: None,
        checkpoint_id: None,
        rationale: None,
    };
    let decided = run::DecisionAdopted {
        header: header(),
        decision: made,
    };
    let own = stream(StreamKind::Run, 1);
    let given = Given::new()
        .command(SubmitIntent {
            id: Some(by),
            risk: Some(Risk::High),
            ..SubmitIntent::new("another way to log in", Source::Audit)
        })
        .command(CreateTask {
            id: Some(of),
            intent: Some(by),
            ..CreateTask::new("work")
        })
        .event(own, completed)
        .event(own, AnyEvent::Run(decided.into()));
    let record = run::RecordResultCommit {
        decision,
        commit: "0123456789abcdef0123456789abcdef01234567".parse().unwrap(),
    };
    let says = given.decide(record.clone()).unwrap_err().to_string();
    assert!(says.contains("approve_intent"), "{says}");
    let mut given = given.command(ApproveIntent {
        intent: by,
        reason: None,
    });
    assert_eq!(given.execute(record).len(), 2);
}

#[test]
fn a_person_approves_an_intent_of_which_nobody_knows_who_asked() {
    let own = stream(StreamKind::Intent, 1);
    let classified = intent::Classified {
        work_type: None,
        type_basis: None,
        type_word: None,
        flow: vec![],
        risk: Some(Risk::Low),
        risk_basis: Some(intent::RiskBasis::Declared),
        risk_word: None,
        reason: None,
    };
    let given = intent(&[], false).event(own, AnyEvent::Intent(classified.into()));
    let approve = ApproveIntent {
        intent: IntentId(OWN),
        reason: None,
    };
    let mut by_an_agent = given
        .clone()
        .by(crate::ActorRef::new(ActorKind::Agent, "importer"));
    let says = by_an_agent.decide(approve.clone()).unwrap_err().to_string();
    assert!(says.contains("approved by a person"), "{says}");
    assert!(
        given
            .by(crate::ActorRef::new(ActorKind::Human, "p"))
            .decide(approve.clone())
            .is_ok()
    );
    by_an_agent = by_an_agent
        .by(crate::ActorRef::new(ActorKind::Human, "p"))
        .command(crate::settings::SetSetting {
            setting: crate::settings::Setting::OwnRequests,
            value: "true".into(),
        });
    let by_an_agent = by_an_agent.by(crate::ActorRef::new(ActorKind::Agent, "importer"));
    assert!(by_an_agent.decide(approve).is_ok());
}
