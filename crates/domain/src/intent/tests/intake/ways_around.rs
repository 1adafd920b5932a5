//! Ways around an approval, and around the end of an intent, that are closed.

use super::*;
use crate::intent::{ActivateIntent, AnalyzeIntent, SelectPlan};
use crate::plan::{NewStep, SetStepStatus, SpawnStepTask, StepStatus};
use crate::run::{self, ApplyPatchSet, Decide, DecisionType, RecordResultCommit};
use crate::{DecisionId, PatchSetId};

const PLAN: PlanId = PlanId(Uuid::from_u128(70));
const SECOND: PlanId = PlanId(Uuid::from_u128(71));
const THIRD: PlanId = PlanId(Uuid::from_u128(72));

pub(super) fn analyze() -> AnalyzeIntent {
    AnalyzeIntent {
        intent: intent(1),
        content: "what it takes".into(),
    }
}

/// An intent that waits for a person, and has a plan of one step.
fn planned() -> Given {
    let activate = ActivateIntent {
        intent: intent(1),
        reason: None,
    };
    let plan = CreatePlan {
        id: Some(PLAN),
        intent: Some(intent(1)),
        steps: vec![NewStep::new("do it")],
        ..CreatePlan::default()
    };
    Given::new()
        .by(ActorRef::agent("coder"))
        .command(risky(1, Risk::High))
        .command(analyze())
        .command(activate)
        .command(plan)
}

pub(super) fn refused(given: &Given, command: impl Into<Command>) -> String {
    given.decide(command).unwrap_err().to_string()
}

#[test]
fn the_task_of_a_step_is_one_of_the_plans_intent() {
    let spawn = SpawnStepTask {
        id: Some(task(11)),
        ..SpawnStepTask::new(PLAN, 0, "do it")
    };
    let given = planned().command(spawn.clone());
    let AnyState::Task(state) = given.loaded(task(11).stream()).state else {
        panic!("no task");
    };
    assert_eq!(state.intent, Some(intent(1)));
    let says = refused(&given, CreateRun::new(task(11)));
    assert!(says.contains("approve_intent"), "{says}");
    let other = SpawnStepTask {
        intent: Some(intent(2)),
        ..spawn
    };
    let given = planned().command(risky(2, Risk::Low));
    assert!(refused(&given, other).contains("plan"));
}

#[test]
fn a_run_with_a_plan_asks_what_the_plans_intent_asks() {
    let free = CreateTask {
        id: Some(task(11)),
        ..CreateTask::new("of no intent")
    };
    let run = CreateRun {
        plan: Some(PLAN),
        ..CreateRun::new(task(11))
    };
    let given = planned().command(free);
    let says = refused(&given, run.clone());
    assert!(says.contains("approve_intent"), "{says}");
    let given = given.by(ActorRef::human("ada")).command(approve(1));
    let kinds: Vec<&str> = given
        .decide(run)
        .unwrap()
        .iter()
        .map(|emitted| emitted.event.event_type())
        .collect();
    assert!(kinds.contains(&"intent.execution_started"), "{kinds:?}");
}

#[test]
fn what_waits_for_an_approval_is_not_completed() {
    for abandon_open in [false, true] {
        let complete = CompleteIntent {
            intent: intent(1),
            abandon_open,
            reason: None,
        };
        let says = refused(&planned(), complete.clone());
        assert!(says.contains("approve_intent"), "{says}");
        let approved = planned().by(ActorRef::human("ada")).command(approve(1));
        assert!(approved.decide(complete).is_ok());
    }
}

#[test]
fn a_risk_is_judged_lower_by_a_person_who_did_not_ask() {
    let ada = ActorRef::human("ada");
    for by in [ActorRef::agent("coder"), ada.clone()] {
        let given = Given::new().by(by.clone()).command(risky(1, Risk::High));
        for lower in [Risk::Low, Risk::Med] {
            let own = refused(&given, judge(1, lower));
            assert!(
                own.contains("approved by a person") || own.contains("own_requests"),
                "{own}"
            );
            let others = refused(
                &given.clone().by(ActorRef::agent("reviewer")),
                judge(1, lower),
            );
            assert!(others.contains("approved by a person"), "{others}");
        }
        let bob = given.clone().by(ActorRef::human("bob"));
        assert!(bob.decide(judge(1, Risk::Low)).is_ok());
        // An unknown one may be judged high by any actor, and low by a person.
        let unknown = CreateIntent {
            id: Some(intent(1)),
            prompt: "p".into(),
            parent: None,
        };
        let given_unknown = Given::new().by(by.clone()).command(unknown);
        assert!(given_unknown.decide(judge(1, Risk::High)).is_ok());
        assert!(given_unknown.decide(judge(1, Risk::Low)).is_err());
        // Judging it higher does not approve it.
        let given = Given::new().by(by).command(risky(1, Risk::Med));
        assert!(given.decide(judge(1, Risk::High)).is_ok());
    }
}

/// A plan as older versions drew it up: for no intent, with or without a plan that it revises.
fn drafted(previous: Option<PlanId>) -> AnyEvent {
    let drafted = crate::plan::Drafted {
        previous,
        intent: None,
        pipeline: None,
        fwindow: None,
        steps: Vec::new(),
    };
    AnyEvent::Plan(drafted.into())
}

/// Older versions revised a plan of an intent without selecting the revision, and plans that were
/// selected did not become the intent's.
#[test]
fn a_line_of_plans_of_an_older_log_goes_on_from_its_end() {
    let revised = |by| AnyEvent::Plan(crate::plan::Revised { by }.into());
    let given = Given::new()
        .command(risky(1, Risk::Low))
        .command(analyze())
        .event(PLAN.stream(), drafted(None))
        .event(
            intent(1).stream(),
            AnyEvent::Intent(PlanSelected { plan: PLAN }.into()),
        )
        .event(SECOND.stream(), drafted(Some(PLAN)))
        .event(PLAN.stream(), revised(SECOND))
        .event(THIRD.stream(), drafted(Some(SECOND)))
        .event(SECOND.stream(), revised(THIRD));
    let select = |plan| SelectPlan {
        intent: intent(1),
        plan,
    };
    let earlier = refused(&given, select(SECOND));
    assert!(earlier.contains(&THIRD.to_string()), "{earlier}");
    let kinds: Vec<&str> = given
        .decide(select(THIRD))
        .unwrap()
        .iter()
        .map(|emitted| emitted.event.event_type())
        .collect();
    assert_eq!(kinds, ["intent.plan_selected", "plan.assigned"]);
    // So does a new plan of the intent.
    let next = CreatePlan {
        id: Some(PlanId(Uuid::from_u128(73))),
        intent: Some(intent(1)),
        ..CreatePlan::default()
    };
    let AnyEvent::Plan(crate::plan::Event::Drafted(drafted)) =
        given.decide(next).unwrap().remove(0).event
    else {
        panic!("no plan");
    };
    assert_eq!(drafted.previous, Some(THIRD));
}

#[test]
fn no_step_begins_and_no_commit_is_recorded_before_the_approval() {
    let set = |status| SetStepStatus {
        plan: PLAN,
        step: 0,
        status,
        reason: None,
    };
    let commit: Command = RecordCommit {
        intent: intent(1),
        commit: "a".repeat(40).parse().unwrap(),
    }
    .into();
    let given = planned();
    for work in [set(StepStatus::Progressing).into(), commit.clone()] {
        let says = refused(&given, work);
        assert!(says.contains("approve_intent"), "{says}");
    }
    // What is not to be done is planning.
    assert!(given.decide(set(StepStatus::Skipped)).is_ok());
    let given = given.by(ActorRef::human("ada")).command(approve(1));
    for work in [set(StepStatus::Progressing).into(), commit] {
        assert!(given.decide(work).is_ok());
    }
}

/// A run that began while its task belonged to no intent, up to its decision.
fn begun_for_no_intent() -> Given {
    let run = RunId(Uuid::from_u128(21));
    let patch_set = PatchSetId(Uuid::from_u128(31));
    let free = CreatePlan {
        id: Some(PLAN),
        steps: vec![NewStep::new("do it")],
        ..CreatePlan::default()
    };
    let spawn = SpawnStepTask {
        id: Some(task(11)),
        ..SpawnStepTask::new(PLAN, 0, "do it")
    };
    let activate = ActivateIntent {
        intent: intent(1),
        reason: None,
    };
    Given::new()
        .by(ActorRef::agent("coder"))
        .command(risky(1, Risk::High))
        .command(analyze())
        .command(activate)
        .command(free)
        .command(spawn)
        .command(CreateRun {
            id: Some(run),
            ..CreateRun::new(task(11))
        })
        .command(StartPatching { run })
        .command(ProposePatchSet {
            id: Some(patch_set),
            ..ProposePatchSet::new(run, DiffFormat::Unified)
        })
        .command(StartValidation { run })
}

#[test]
fn what_was_begun_for_nobody_changes_nothing_of_an_intent_before_its_approval() {
    let run = RunId(Uuid::from_u128(21));
    let patch_set = PatchSetId(Uuid::from_u128(31));
    let select = SelectPlan {
        intent: intent(1),
        plan: PLAN,
    };
    let commit = Decide {
        id: Some(DecisionId(Uuid::from_u128(41))),
        chosen_patchset_id: Some(patch_set),
        ..Decide::new(run, DecisionType::Commit)
    };
    let given = begun_for_no_intent().command(select.clone());
    for command in [
        Command::from(ApplyPatchSet { patch_set }),
        commit.clone().into(),
    ] {
        let says = refused(&given, command);
        assert!(says.contains("approve_intent"), "{says}");
    }
    let mut approved = given.by(ActorRef::human("ada")).command(approve(1));
    approved.execute(commit.clone());
    // Nor by a commit that is recorded afterwards.
    let given = begun_for_no_intent().command(commit).command(select);
    let record = RecordResultCommit {
        decision: DecisionId(Uuid::from_u128(41)),
        commit: "0123456789abcdef0123456789abcdef01234567".parse().unwrap(),
    };
    let says = refused(&given, record);
    assert!(says.contains("approve_intent"), "{says}");
}

#[test]
fn no_step_in_progress_comes_to_an_intent_before_its_approval() {
    let progress = SetStepStatus {
        plan: PLAN,
        step: 0,
        status: StepStatus::Progressing,
        reason: None,
    };
    let given = begun_for_no_intent().command(progress);
    let select = SelectPlan {
        intent: intent(1),
        plan: PLAN,
    };
    let revision = CreatePlan {
        id: Some(SECOND),
        intent: Some(intent(1)),
        previous: Some(PLAN),
        ..CreatePlan::default()
    };
    for command in [Command::from(select.clone()), revision.into()] {
        let says = refused(&given, command);
        assert!(says.contains("approve_intent"), "{says}");
    }
    let approved = given.by(ActorRef::human("ada")).command(approve(1));
    assert!(approved.decide(select).is_ok());
}

#[test]
fn a_run_that_reverts_applies_and_commits_nothing_else_before_the_approval() {
    let (work, revert) = (RunId(Uuid::from_u128(21)), RunId(Uuid::from_u128(22)));
    let (applied, new) = (
        PatchSetId(Uuid::from_u128(31)),
        PatchSetId(Uuid::from_u128(32)),
    );
    let propose = |run, id| ProposePatchSet {
        id: Some(id),
        ..ProposePatchSet::new(run, DiffFormat::Unified)
    };
    let select = SelectPlan {
        intent: intent(1),
        plan: PLAN,
    };
    let given = begun_for_no_intent()
        .command(ApplyPatchSet { patch_set: applied })
        .command(select)
        .command(CreateRun {
            id: Some(revert),
            reverts: Some(applied),
            ..CreateRun::new(task(11))
        })
        .command(StartPatching { run: revert })
        .command(propose(revert, new))
        .command(StartValidation { run: revert });
    let commit = Decide {
        chosen_patchset_id: Some(new),
        ..Decide::new(revert, DecisionType::Commit)
    };
    for command in [
        Command::from(ApplyPatchSet { patch_set: new }),
        commit.into(),
    ] {
        let says = refused(&given, command);
        assert!(says.contains("approve_intent"), "{says}");
    }
    // What is taken back takes nothing on.
    let back = Decide::new(revert, DecisionType::Rollback);
    assert!(given.decide(back).is_ok());
    assert!(
        given
            .decide(Decide::new(work, DecisionType::Abandon))
            .is_ok()
    );
}

/// How a person turns an intent down.
fn turn_down(number: u128) -> [Command; 2] {
    let cancel = CancelIntent {
        intent: intent(number),
        reason: None,
    };
    [reject(number).into(), cancel.into()]
}

/// A run of an approved intent, up to a status, with a proposed patch set.
fn begun(status: run::Status) -> Given {
    let (run, patch_set) = (RunId(Uuid::from_u128(21)), PatchSetId(Uuid::from_u128(31)));
    let mut given = Given::new()
        .by(ActorRef::agent("coder"))
        .command(risky(1, Risk::High))
        .command(task_of(1, 11))
        .by(ActorRef::human("ada"))
        .command(approve(1))
        .by(ActorRef::agent("coder"))
        .command(CreateRun {
            id: Some(run),
            ..CreateRun::new(task(11))
        });
    if status != run::Status::Created {
        given.execute(StartPatching { run });
        given.execute(ProposePatchSet {
            id: Some(patch_set),
            ..ProposePatchSet::new(run, DiffFormat::Unified)
        });
    }
    if status == run::Status::Validating {
        given.execute(StartValidation { run });
    }
    given
}

#[test]
fn a_run_of_an_intent_that_was_turned_down_only_fails_or_is_abandoned() {
    let run = RunId(Uuid::from_u128(21));
    let patch_set = PatchSetId(Uuid::from_u128(31));
    let propose = ProposePatchSet::new(run, DiffFormat::Unified);
    let review = |verdict| RecordReview {
        chosen_patchset_id: (verdict == ReviewVerdict::Approved).then_some(patch_set),
        ..RecordReview::new(task(11), verdict)
    };
    let commit = Decide {
        chosen_patchset_id: Some(patch_set),
        ..Decide::new(run, DecisionType::Commit)
    };
    let decide = |verdict| Command::from(Decide::new(run, verdict));
    let work: [(run::Status, Vec<Command>); 3] = [
        (run::Status::Created, vec![StartPatching { run }.into()]),
        (
            run::Status::Patching,
            vec![propose.clone().into(), StartValidation { run }.into()],
        ),
        (
            run::Status::Validating,
            vec![
                propose.into(),
                ApplyPatchSet { patch_set }.into(),
                commit.into(),
                decide(DecisionType::Retry),
                decide(DecisionType::Checkpoint),
                decide(DecisionType::Other("escalate".into())),
                review(ReviewVerdict::Approved).into(),
                review(ReviewVerdict::Rejected).into(),
            ],
        ),
    ];
    for (status, commands) in work {
        let given = begun(status);
        for down in turn_down(1) {
            // What is executing is cancelled; before, it may be rejected, too.
            let event = match down {
                Command::RejectIntent(_) => intent_event(Rejected::new(None)),
                _ => intent_event(Cancelled::new(None)),
            };
            let over = given.clone().event(intent(1).stream(), event);
            for command in &commands {
                assert!(
                    given
                        .clone()
                        .by(ActorRef::human("bob"))
                        .decide(command.clone())
                        .is_ok(),
                    "{} before",
                    command.name()
                );
                let over = over.clone().by(ActorRef::human("bob"));
                let says = refused(&over, command.clone());
                assert!(says.contains("ed: ") && says.contains("abandon"), "{says}");
            }
            let fail = run::FailRun {
                run,
                error: "not wanted".into(),
            };
            assert!(over.decide(fail).is_ok());
            if status == run::Status::Validating {
                assert!(over.decide(decide(DecisionType::Abandon)).is_ok());
            }
        }
    }
}

#[test]
fn what_was_done_is_recorded_after_an_intent_was_turned_down() {
    let run = RunId(Uuid::from_u128(21));
    let over = begun(run::Status::Validating)
        .event(intent(1).stream(), intent_event(Cancelled::new(None)));
    let tool = run::RecordToolInvocation::new(run, "bash", run::ToolStatus::Ok);
    let evidence = run::RecordEvidence::new(run, run::EvidenceKind::Test, "cargo");
    for fact in [
        Command::from(tool),
        evidence.into(),
        run::RecordUsage::new(run, 1, 1).into(),
        run::RejectPatchSet::new(PatchSetId(Uuid::from_u128(31))).into(),
    ] {
        assert!(over.decide(fact).is_ok());
    }
}
