//! Given, when, then for runs and the objects inside them. The decisions have
//! a file of their own: `verdicts.rs`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod records;
mod tool_calls;
mod touched;
mod verdicts;

use uuid::Uuid;

use super::*;
use crate::plan::CreatePlan;
use crate::snapshot::{self, ContextItemKind, NewItem, OpenSnapshot, SelectionStrategy};
use crate::task::CreateTask;
use crate::testing::{Given, events, stream};
use crate::{
    AnyEvent, AnyState, Command, GitOid, Kind, PatchSetId, PlanId, Refusal, RunId, SnapshotId,
    StreamKind, TaskId, task,
};

const TASK: TaskId = TaskId(Uuid::from_u128(1));
const RUN: RunId = RunId(Uuid::from_u128(2));
const PATCH: PatchSetId = PatchSetId(Uuid::from_u128(3));
const PLAN: PlanId = PlanId(Uuid::from_u128(4));
const SNAPSHOT: SnapshotId = SnapshotId(Uuid::from_u128(5));
const BASE: GitOid = GitOid::Sha1([1; 20]);

fn run_event(event: impl Into<Event>) -> AnyEvent {
    AnyEvent::Run(event.into())
}

fn not_found(kind: Kind, id: impl Into<Uuid>) -> Refusal {
    Refusal::NotFound {
        kind,
        id: id.into(),
    }
}

fn create() -> CreateRun {
    CreateRun {
        id: Some(RUN),
        plan: Some(PLAN),
        commit: Some(BASE),
        ..CreateRun::new(TASK)
    }
}

fn fail() -> Command {
    FailRun {
        run: RUN,
        error: "it does not compile".into(),
    }
    .into()
}

/// A Created run of a task, with a plan and a snapshot.
fn created() -> Given {
    Given::new()
        .command(CreateTask {
            id: Some(TASK),
            ..CreateTask::new("work")
        })
        .command(CreatePlan {
            id: Some(PLAN),
            ..CreatePlan::default()
        })
        .command(OpenSnapshot {
            id: Some(SNAPSHOT),
            selection_strategy: SelectionStrategy::Explicit,
            items: vec![],
            summary: None,
        })
        .command(create())
}

fn patching() -> Given {
    created().command(StartPatching { run: RUN })
}

fn validating() -> Given {
    patching().command(StartValidation { run: RUN })
}

/// The run in every state that it can be in.
fn all_states() -> [(Status, Given); 7] {
    let decided = |given: Given| given.command(Decide::new(RUN, DecisionType::Checkpoint));
    [
        (Status::Created, created()),
        (Status::Patching, patching()),
        (Status::Validating, validating()),
        (Status::Completed, decided(validating())),
        (Status::Failed, created().command(fail())),
        (Status::Failed, validating().command(fail())),
        (Status::Failed, decided(patching().command(fail()))),
    ]
}

/// A patch set in a state that it can be in, in any state of the run.
fn with_patch_set(given: Given, status: ApplyStatus) -> Given {
    let run = stream(StreamKind::Run, 2);
    let patch_set = PATCH;
    let given = given.event(
        run,
        run_event(PatchSetProposed {
            patch_set,
            commit: None,
            format: DiffFormat::Unified,
            artifact: None,
            touched: vec![],
            rationale: None,
        }),
    );
    let reverted_by = RunId(Uuid::from_u128(99));
    match status {
        ApplyStatus::Proposed => given,
        ApplyStatus::Applied => given.event(run, run_event(PatchSetApplied { patch_set })),
        ApplyStatus::Rejected => given.event(
            run,
            run_event(PatchSetRejected {
                patch_set,
                reason: None,
            }),
        ),
        ApplyStatus::Reverted => given
            .event(run, run_event(PatchSetApplied { patch_set }))
            .event(
                run,
                run_event(PatchSetReverted {
                    patch_set,
                    reverted_by,
                }),
            ),
    }
}

fn state_of(given: &Given) -> State {
    match given.loaded(stream(StreamKind::Run, 2)).state {
        AnyState::Run(state) => (*state).clone(),
        other => panic!("expected a run, found {other:?}"),
    }
}

#[track_caller]
fn check_transition(
    refusal: &Refusal,
    object: (Kind, Uuid),
    in_state: &str,
    was_asked: &'static str,
) {
    let Refusal::Transition {
        kind,
        id,
        state,
        asked,
        ..
    } = refusal
    else {
        panic!("{was_asked} on {in_state}: {refusal}");
    };
    assert_eq!(((*kind, *id), state.as_str()), (object, in_state));
    assert_eq!(*asked, was_asked, "{in_state}");
    let message = refusal.to_string();
    for part in [&object.1.to_string(), in_state, was_asked] {
        assert!(message.contains(part), "{message:?} lacks {part:?}");
    }
}

/// Commands on a run whose acceptance depends on its status alone.
fn all_commands() -> Vec<Command> {
    vec![
        StartPatching { run: RUN }.into(),
        StartValidation { run: RUN }.into(),
        fail(),
        AttachSnapshot {
            run: RUN,
            snapshot: SNAPSHOT,
        }
        .into(),
        records::tool_invocation().into(),
        records::evidence().into(),
        ProposePatchSet::new(RUN, DiffFormat::Unified).into(),
        records::usage().into(),
        records::metrics().into(),
        records::provenance().into(),
        tool_calls::request().into(),
        tool_calls::decide(ToolVerdict::Deny, ToolDecider::Person).into(),
        tool_calls::begin().into(),
        tool_calls::end(ToolStatus::Ok).into(),
    ]
}

const CREATED: Status = Status::Created;
const PATCHING: Status = Status::Patching;
const VALIDATING: Status = Status::Validating;

/// What is accepted while a run goes on: the command, the status before and
/// the status after. Provenance, usage, metrics and what becomes of a tool call are taken in every state.
const ACCEPTED: &[(&str, Status, Status)] = &[
    ("start_patching", CREATED, PATCHING),
    ("start_validation", PATCHING, VALIDATING),
    ("fail_run", CREATED, Status::Failed),
    ("fail_run", PATCHING, Status::Failed),
    ("fail_run", VALIDATING, Status::Failed),
    ("attach_snapshot", CREATED, CREATED),
    ("attach_snapshot", PATCHING, PATCHING),
    ("attach_snapshot", VALIDATING, VALIDATING),
    ("record_tool_invocation", CREATED, CREATED),
    ("record_tool_invocation", PATCHING, PATCHING),
    ("record_tool_invocation", VALIDATING, VALIDATING),
    ("request_tool_call", CREATED, CREATED),
    ("request_tool_call", PATCHING, PATCHING),
    ("request_tool_call", VALIDATING, VALIDATING),
    ("record_evidence", CREATED, CREATED),
    ("record_evidence", PATCHING, PATCHING),
    ("record_evidence", VALIDATING, VALIDATING),
    ("propose_patch_set", PATCHING, PATCHING),
    ("propose_patch_set", VALIDATING, VALIDATING),
];
const ALWAYS: &[&str] = &[
    "record_usage",
    "record_metrics",
    "record_provenance",
    "decide_tool_call",
    "begin_tool_call",
    "end_tool_call",
];

#[test]
fn transitions_are_accepted_along_the_matrix_and_refused_elsewhere() {
    let mut accepted = 0;
    for (before, given) in all_states() {
        assert_eq!(state_of(&given).status, before);
        for command in all_commands() {
            let asked = command.name();
            let row = ACCEPTED
                .iter()
                .find(|(name, from, _)| *name == asked && *from == before);
            let always = ALWAYS.contains(&asked).then_some(before);
            let mut given = given.clone();
            match (always.or(row.map(|row| row.2)), given.try_execute(command)) {
                (Some(after), Ok(_)) => {
                    accepted += usize::from(row.is_some());
                    assert_eq!(state_of(&given).status, after, "{asked} on {before:?}");
                }
                (None, Err(refusal)) => {
                    check_transition(&refusal, (Kind::Run, RUN.0), before.name(), asked);
                }
                (_, result) => panic!("{asked} on {before:?}: {result:?}"),
            }
        }
    }
    assert_eq!(accepted, ACCEPTED.len());
}

#[test]
fn a_patch_set_is_applied_while_validating_and_rejected_at_any_time() {
    let apply = ApplyPatchSet { patch_set: PATCH };
    let reject = RejectPatchSet {
        patch_set: PATCH,
        reason: None,
    };
    for (run_status, given) in all_states() {
        for status in ApplyStatus::ALL {
            let given = with_patch_set(given.clone(), *status);
            let open = *status == ApplyStatus::Proposed;
            let patch_set = (Kind::PatchSet, PATCH.0);
            match given.decide(apply.clone()) {
                Ok(emitted) => {
                    assert!(open && run_status == VALIDATING, "{run_status:?} {status}");
                    let applied = PatchSetApplied { patch_set: PATCH };
                    assert_eq!(events(&emitted), [run_event(applied)]);
                }
                Err(refusal) if run_status == VALIDATING => {
                    assert!(!open);
                    check_transition(&refusal, patch_set, status.as_str(), "apply_patch_set");
                }
                Err(refusal) => {
                    let run = (Kind::Run, RUN.0);
                    check_transition(&refusal, run, run_status.name(), "apply_patch_set");
                }
            }
            match given.decide(reject.clone()) {
                Ok(emitted) => {
                    assert!(open, "{run_status:?} {status}");
                    let rejected = PatchSetRejected {
                        patch_set: PATCH,
                        reason: None,
                    };
                    assert_eq!(events(&emitted), [run_event(rejected)]);
                }
                Err(refusal) => {
                    assert!(!open, "{run_status:?} {status}");
                    check_transition(&refusal, patch_set, status.as_str(), "reject_patch_set");
                }
            }
        }
    }
}

#[test]
fn a_rationale_is_overridden_in_every_state() {
    for (_, given) in all_states() {
        for status in ApplyStatus::ALL {
            let given = with_patch_set(given.clone(), *status);
            let emitted = given.decide(OverrideRationale {
                patch_set: PATCH,
                rationale: None,
            });
            let overridden = RationaleOverridden {
                patch_set: PATCH,
                rationale: None,
            };
            assert_eq!(events(&emitted.expect("accepted")), [run_event(overridden)]);
        }
    }
}

#[test]
fn no_command_changes_plan_commit_or_task_of_a_run() {
    // Created is the only event with them, and the first of its stream.
    for (status, given) in all_states() {
        let mut commands = all_commands();
        commands.extend(
            DecisionType::LISTED
                .iter()
                .map(|verdict| Decide::new(RUN, verdict.clone()).into()),
        );
        for command in commands {
            let decided = given.decide(command).unwrap_or_default();
            let again = events(&decided)
                .iter()
                .any(|event| matches!(event, AnyEvent::Run(Event::Created(_))));
            assert!(!again, "created again while {status:?}");
        }
        let (kind, id) = (Kind::Run, RUN.0);
        assert_eq!(given.decide(create()), Err(Refusal::Exists { kind, id }));
    }
}

#[test]
fn nothing_can_be_asked_of_a_run_that_is_not_there() {
    let given = Given::new().command(OpenSnapshot {
        id: Some(SNAPSHOT),
        selection_strategy: SelectionStrategy::Explicit,
        items: vec![],
        summary: None,
    });
    let mut commands = all_commands();
    commands.push(Decide::new(RUN, DecisionType::Retry).into());
    for command in commands {
        let asked = command.name();
        assert_eq!(
            given.decide(command),
            Err(not_found(Kind::Run, RUN)),
            "{asked}"
        );
    }
    let patch_set = PATCH;
    for command in [
        Command::from(ApplyPatchSet { patch_set }),
        RejectPatchSet {
            patch_set,
            reason: None,
        }
        .into(),
        OverrideRationale {
            patch_set,
            rationale: None,
        }
        .into(),
    ] {
        assert_eq!(
            given.decide(command),
            Err(not_found(Kind::PatchSet, PATCH)),
            "a patch set that was not proposed"
        );
    }
}

#[test]
fn what_a_run_names_must_be_there() {
    let given = created();
    let missing = Uuid::from_u128(99);
    let new = || CreateRun::new(TASK);
    for (command, kind) in [
        (CreateRun::new(missing.into()), Kind::Task),
        (
            CreateRun {
                plan: Some(missing.into()),
                ..new()
            },
            Kind::Plan,
        ),
        (
            CreateRun {
                snapshot: Some(missing.into()),
                ..new()
            },
            Kind::ContextSnapshot,
        ),
        (
            CreateRun {
                reverts: Some(missing.into()),
                ..new()
            },
            Kind::PatchSet,
        ),
    ] {
        assert_eq!(given.decide(command), Err(not_found(kind, missing)));
    }
    let attach = AttachSnapshot {
        run: RUN,
        snapshot: missing.into(),
    };
    assert_eq!(
        given.decide(attach),
        Err(not_found(Kind::ContextSnapshot, missing))
    );
    // The id of a task is not that of a patch set.
    let reverts_a_task = CreateRun {
        reverts: Some(TASK.0.into()),
        ..new()
    };
    assert_eq!(
        given.decide(reverts_a_task),
        Err(not_found(Kind::PatchSet, TASK))
    );
}

#[test]
fn an_id_is_taken_by_whatever_has_it() {
    let given = with_patch_set(patching(), ApplyStatus::Proposed);
    for (taken, kind) in [
        (TASK.0, Kind::Task),
        (PLAN.0, Kind::Plan),
        (RUN.0, Kind::Run),
        (PATCH.0, Kind::PatchSet),
    ] {
        let exists = Err(Refusal::Exists { kind, id: taken });
        let run = CreateRun {
            id: Some(taken.into()),
            ..CreateRun::new(TASK)
        };
        assert_eq!(given.decide(run), exists);
        let patch_set = ProposePatchSet {
            id: Some(taken.into()),
            ..ProposePatchSet::new(RUN, DiffFormat::Unified)
        };
        assert_eq!(given.decide(patch_set), exists);
        let evidence = RecordEvidence {
            id: Some(taken.into()),
            ..records::evidence()
        };
        assert_eq!(given.decide(evidence), exists);
        let tool_invocation = RecordToolInvocation {
            id: Some(taken.into()),
            ..records::tool_invocation()
        };
        assert_eq!(given.decide(tool_invocation), exists);
        let provenance = RecordProvenance {
            id: Some(taken.into()),
            ..records::provenance()
        };
        assert_eq!(given.decide(provenance), exists);
        let decision = Decide {
            id: Some(taken.into()),
            ..Decide::new(RUN, DecisionType::Retry)
        };
        let failed = given.clone().command(fail());
        assert_eq!(failed.decide(decision), exists);
    }
}

#[test]
fn a_run_has_at_most_one_snapshot() {
    let attach = AttachSnapshot {
        run: RUN,
        snapshot: SNAPSHOT,
    };
    let given = created().command(attach.clone());
    let taken = |given: &Given| {
        matches!(
            given.decide(attach.clone()),
            Err(Refusal::Invalid {
                field: "snapshot",
                ..
            })
        )
    };
    assert!(taken(&given));
    let given = created().command(fail());
    let mut from_the_start = given;
    from_the_start.execute(CreateRun {
        id: Some(RunId(Uuid::from_u128(9))),
        snapshot: Some(SNAPSHOT),
        ..CreateRun::new(TASK)
    });
    let attach = AttachSnapshot {
        run: RunId(Uuid::from_u128(9)),
        snapshot: SNAPSHOT,
    };
    assert!(matches!(
        from_the_start.decide(attach),
        Err(Refusal::Invalid { .. })
    ));
}

/// A snapshot of one item, open.
fn snapshot_of(n: u128, blob: Option<GitOid>) -> OpenSnapshot {
    let item = NewItem {
        kind: ContextItemKind::File,
        path: "a".into(),
        preview: None,
        blob,
        content: None,
    };
    OpenSnapshot {
        id: Some(SnapshotId(Uuid::from_u128(n))),
        selection_strategy: SelectionStrategy::Explicit,
        items: vec![item],
        summary: None,
    }
}

#[test]
fn an_open_snapshot_is_finalized_with_the_run_that_gets_it_or_refused() {
    let lacking = SnapshotId(Uuid::from_u128(20));
    let complete = SnapshotId(Uuid::from_u128(21));
    let given = created()
        .command(snapshot_of(20, None))
        .command(snapshot_of(21, Some(BASE)));
    let attach = |snapshot| Command::from(AttachSnapshot { run: RUN, snapshot });
    let create = |snapshot| {
        Command::from(CreateRun {
            id: Some(RunId(Uuid::from_u128(9))),
            snapshot: Some(snapshot),
            ..CreateRun::new(TASK)
        })
    };
    let finalized = AnyEvent::Snapshot(snapshot::Finalized { summary: None }.into());
    for command in [&attach as &dyn Fn(SnapshotId) -> Command, &create] {
        match given.decide(command(lacking)) {
            Err(Refusal::Invalid { field, reason }) => {
                assert_eq!(field, "snapshot");
                assert!(
                    reason.starts_with("1 of 1 items have no blob yet: 0;"),
                    "{reason}"
                );
            }
            other => panic!("{other:?}"),
        }
        let emitted = given.decide(command(complete)).expect("accepted");
        let last = emitted.last().expect("events");
        assert_eq!((&last.event, last.stream), (&finalized, complete.stream()));
        // Nothing is added afterwards, and nothing happens to it again.
        let after = given.clone().command(command(complete));
        let add = snapshot::AddItem {
            snapshot: complete,
            item: snapshot_of(0, None).items.remove(0),
        };
        assert!(matches!(after.decide(add), Err(Refusal::Transition { .. })));
        let other = CreateRun {
            snapshot: Some(complete),
            ..CreateRun::new(TASK)
        };
        let emitted = after.decide(other).expect("accepted");
        assert!(emitted.iter().all(|one| one.stream != complete.stream()));
    }
}

#[test]
fn a_run_may_revert_only_what_is_applied_and_of_its_task() {
    let reverting = |task| CreateRun {
        reverts: Some(PATCH),
        ..CreateRun::new(task)
    };
    for status in ApplyStatus::ALL {
        let given = with_patch_set(validating(), *status);
        match given.decide(reverting(TASK)) {
            Ok(_) => assert_eq!(*status, ApplyStatus::Applied),
            Err(refusal) => {
                assert_ne!(*status, ApplyStatus::Applied);
                let patch_set = (Kind::PatchSet, PATCH.0);
                let asked = "create_run that reverts it";
                check_transition(&refusal, patch_set, status.as_str(), asked);
            }
        }
    }
    let other = TaskId(Uuid::from_u128(9));
    let given = with_patch_set(validating(), ApplyStatus::Applied).command(CreateTask {
        id: Some(other),
        ..CreateTask::new("other work")
    });
    assert!(matches!(
        given.decide(reverting(other)),
        Err(Refusal::Invalid {
            field: "reverts",
            ..
        })
    ));
}
