//! Decisions: the table at the top of `verdict.rs`, row by row.

use super::*;
use crate::intent;
use crate::intent::{
    ActivateIntent, AnalyzeIntent, CancelIntent, CommitRecorded, CompleteIntent, CreateIntent,
};
use crate::settings::{SetSetting, Setting};
use crate::task::{CancelTask, FailTask};
use crate::testing::texts;
use crate::{ActorRef, DecisionId, IntentId};

const INTENT: IntentId = IntentId(Uuid::from_u128(10));
const DECISION: DecisionId = DecisionId(Uuid::from_u128(11));
const RESULT: GitOid = GitOid::Sha1([2; 20]);
/// Patch sets of the run: two are proposed, one is applied, one is rejected.
const OPEN: [PatchSetId; 2] = [patch(21), patch(24)];
const APPLIED: PatchSetId = patch(22);
const REJECTED: PatchSetId = patch(23);

const fn patch(number: u128) -> PatchSetId {
    PatchSetId(Uuid::from_u128(number))
}

fn decision(decision_type: DecisionType) -> Decide {
    Decide {
        id: Some(DECISION),
        ..Decide::new(RUN, decision_type)
    }
}

fn commit(chosen: PatchSetId) -> Decide {
    Decide {
        chosen_patchset_id: Some(chosen),
        ..decision(DecisionType::Commit)
    }
}

fn other() -> DecisionType {
    DecisionType::Other("escalate".into())
}

fn made(decision_type: DecisionType, chosen_patch_set: Option<PatchSetId>) -> AnyEvent {
    run_event(DecisionMade {
        decision: DECISION,
        decision_type,
        chosen_patch_set,
        result_commit: None,
        checkpoint_id: None,
        rationale: None,
    })
}

fn rejected(patch_set: PatchSetId) -> AnyEvent {
    run_event(PatchSetRejected {
        patch_set,
        reason: None,
    })
}

fn task_event(event: impl Into<task::Event>) -> AnyEvent {
    AnyEvent::Task(event.into())
}

fn propose(id: PatchSetId) -> ProposePatchSet {
    ProposePatchSet {
        id: Some(id),
        ..ProposePatchSet::new(RUN, DiffFormat::Unified)
    }
}

/// A Validating run with four patch sets, of a task of an Active intent.
fn given() -> Given {
    let intent = INTENT;
    let mut given = Given::new()
        .command(CreateIntent {
            id: Some(intent),
            prompt: "do".into(),
            parent: None,
        })
        .command(AnalyzeIntent {
            intent,
            content: "it".into(),
        })
        .command(ActivateIntent {
            intent,
            reason: None,
        })
        .command(CreateTask {
            id: Some(TASK),
            intent: Some(intent),
            ..CreateTask::new("work")
        })
        .command(CreateRun {
            id: Some(RUN),
            ..CreateRun::new(TASK)
        })
        .command(StartPatching { run: RUN });
    for patch_set in [OPEN[0], APPLIED, REJECTED, OPEN[1]] {
        given.execute(propose(patch_set));
    }
    given
        .command(StartValidation { run: RUN })
        .command(ApplyPatchSet { patch_set: APPLIED })
        .command(RejectPatchSet {
            patch_set: REJECTED,
            reason: None,
        })
}

fn fail_task() -> Command {
    let (task, reason) = (TASK, None);
    FailTask { task, reason }.into()
}

fn patch_sets(given: &Given) -> Vec<ApplyStatus> {
    state_of(given).patch_sets.values().copied().collect()
}

fn task_status(given: &Given) -> task::Status {
    match given.loaded(stream(StreamKind::Task, 1)).state {
        AnyState::Task(state) => state.status,
        other => panic!("expected a task, found {other:?}"),
    }
}

use ApplyStatus::{Applied, Proposed, Rejected, Reverted};

#[test]
fn commit_applies_the_chosen_patch_set_and_finishes_the_task() {
    let mut given = given();
    let emitted = given.execute(Decide {
        result_commit_sha: Some(RESULT),
        rationale: Some("it works".into()),
        ..commit(OPEN[1])
    });
    let made = run_event(DecisionMade {
        decision: DECISION,
        decision_type: DecisionType::Commit,
        chosen_patch_set: Some(OPEN[1]),
        result_commit: Some(RESULT),
        checkpoint_id: None,
        rationale: Some(crate::Slot(0)),
    });
    let patch_set = OPEN[1];
    assert_eq!(
        events(&emitted),
        [
            made,
            run_event(PatchSetApplied { patch_set }),
            task_event(task::Done { run: RUN }),
            AnyEvent::Intent(CommitRecorded { commit: RESULT }.into()),
        ]
    );
    assert_eq!(texts(&emitted)[0], ["it works"]);
    let streams: Vec<_> = emitted.iter().map(|one| one.stream).collect();
    let (run, task) = (stream(StreamKind::Run, 2), stream(StreamKind::Task, 1));
    let intent = stream(StreamKind::Intent, 10);
    assert_eq!(streams, [run, run, task, intent]);
    assert_eq!(state_of(&given).status, Status::Completed);
    assert_eq!(task_status(&given), task::Status::Done);
    // The others stay as they were: 21 open, 22 applied, 23 rejected.
    assert_eq!(patch_sets(&given), [Proposed, Applied, Rejected, Applied]);
}

#[test]
fn commit_of_an_applied_patch_set_does_not_apply_it_again() {
    let emitted = given().decide(commit(APPLIED)).expect("accepted");
    assert_eq!(
        events(&emitted),
        [
            made(DecisionType::Commit, Some(APPLIED)),
            task_event(task::Done { run: RUN })
        ]
    );
}

#[test]
fn commit_names_a_patch_set_of_that_very_run() {
    let refusal = given().decide(commit(REJECTED)).expect_err("rejected");
    let object = (Kind::PatchSet, REJECTED.0);
    check_transition(&refusal, object, "rejected", "decide commit");
    assert!(matches!(
        given().decide(decision(DecisionType::Commit)),
        Err(Refusal::Invalid {
            field: "chosen_patchset_id",
            ..
        })
    ));
    // One of another run of the same task, and one that was not proposed.
    let (run, foreign) = (RunId(Uuid::from_u128(30)), patch(31));
    let given = given()
        .command(CreateRun {
            id: Some(run),
            ..CreateRun::new(TASK)
        })
        .command(StartPatching { run })
        .command(ProposePatchSet {
            run,
            ..propose(foreign)
        });
    for patch_set in [foreign, patch(99)] {
        assert_eq!(
            given.decide(commit(patch_set)),
            Err(Refusal::ForeignPatchSet {
                patch_set,
                run: RUN
            })
        );
    }
}

#[test]
fn an_intent_takes_the_commit_only_while_it_is_active() {
    let with_result = Decide {
        result_commit_sha: Some(RESULT),
        ..commit(APPLIED)
    };
    let (intent, reason) = (INTENT, None);
    let given_cancelled = given().command(CancelIntent { intent, reason });
    let refusal = given_cancelled.decide(with_result).unwrap_err().to_string();
    assert!(refusal.contains("is cancelled: decide commit"), "{refusal}");
    // What runs already ends, and says under which intent's state.
    let emitted = given_cancelled
        .decide(decision(DecisionType::Abandon))
        .expect("accepted");
    let status = intent::IntentStatus::Cancelled;
    let ended = run_event(EndedAfterIntent { intent, status });
    assert_eq!(events(&emitted).last(), Some(&ended));
    let without_result = given().decide(commit(APPLIED)).expect("accepted");
    assert_eq!(without_result.len(), 2, "no commit, nothing to record");
}

/// Decisions and reviews have a task tried again as often as the log allows, together.
#[test]
fn a_task_is_tried_again_by_decisions_as_often_as_by_reviews() {
    for (most, allowed) in [("0", 0), ("2", 2)] {
        let mut given = given().command(SetSetting {
            setting: Setting::MaxReviewRetries,
            value: most.to_owned(),
        });
        given.execute(fail());
        let mut run = RUN;
        for _ in 0..allowed {
            given.execute(Decide::new(run, DecisionType::Retry));
            run = RunId(given.execute(CreateRun::new(TASK))[0].stream.id);
            given.execute(StartPatching { run });
            given.execute(StartValidation { run });
        }
        let refusal = given
            .decide(Decide::new(run, DecisionType::Retry))
            .unwrap_err();
        assert!(
            matches!(&refusal, Refusal::Invalid { field: "decision_type", reason }
                if reason.contains("review.max_retries") && reason.contains("abandon")),
            "{refusal}"
        );
        assert!(
            given
                .decide(Decide::new(run, DecisionType::Abandon))
                .is_ok()
        );
    }
}

#[test]
fn retry_rejects_what_is_open_and_leaves_the_task_running() {
    for failed in [false, true] {
        let mut given = given();
        if failed {
            given.execute(fail());
        }
        let emitted = given.execute(decision(DecisionType::Retry));
        let [first, second] = OPEN;
        assert_eq!(
            events(&emitted),
            [
                made(DecisionType::Retry, None),
                rejected(first),
                rejected(second)
            ]
        );
        assert_eq!(task_status(&given), task::Status::Running);
        assert_eq!(patch_sets(&given), [Rejected, Applied, Rejected, Rejected]);
        check_ended(&given, failed);
    }
}

fn check_ended(given: &Given, failed: bool) {
    let state = state_of(given);
    let expected = if failed {
        Status::Failed
    } else {
        Status::Completed
    };
    assert_eq!(
        (state.status, state.decision),
        (expected, Some(DECISION)),
        "a failed run stays failed"
    );
}

#[test]
fn abandon_fails_the_task_and_leaves_the_patch_sets() {
    for failed in [false, true] {
        let mut given = given();
        if failed {
            given.execute(fail());
        }
        let before = patch_sets(&given);
        let emitted = given.execute(Decide {
            rationale: Some("too hard".into()),
            ..decision(DecisionType::Abandon)
        });
        let failure = task::Failed {
            run: Some(RUN),
            reason: Some(crate::Slot(0)),
        };
        assert_eq!(events(&emitted)[1..], [task_event(failure)]);
        assert_eq!(texts(&emitted), [["too hard"], ["too hard"]]);
        assert_eq!(task_status(&given), task::Status::Failed);
        assert_eq!(patch_sets(&given), before);
        check_ended(&given, failed);
    }
}

#[test]
fn checkpoints_and_other_verdicts_change_the_run_alone() {
    for verdict in [DecisionType::Checkpoint, other()] {
        for failed in [false, true] {
            let mut given = given();
            if failed {
                given.execute(fail());
            }
            let before = patch_sets(&given);
            let emitted = given.execute(Decide {
                checkpoint_id: Some("c-1".into()),
                ..decision(verdict.clone())
            });
            assert_eq!(emitted.len(), 1);
            assert_eq!(texts(&emitted), [["c-1"]]);
            assert_eq!(task_status(&given), task::Status::Running);
            assert_eq!(patch_sets(&given), before);
            check_ended(&given, failed);
        }
    }
}

/// A Validating run of the same task that reverts the applied patch set.
fn reverting() -> (Given, RunId) {
    let run = RunId(Uuid::from_u128(40));
    let given = given()
        .command(commit(APPLIED))
        .command(CreateRun {
            id: Some(run),
            reverts: Some(APPLIED),
            ..CreateRun::new(TASK)
        })
        .command(StartPatching { run })
        .command(StartValidation { run });
    (given, run)
}

#[test]
fn rollback_reverts_in_the_stream_of_the_run_that_owns_the_patch_set() {
    let (given, run) = reverting();
    for chosen in [None, Some(APPLIED)] {
        let mut given = given.clone();
        let emitted = given.execute(Decide {
            chosen_patchset_id: chosen,
            result_commit_sha: Some(RESULT),
            ..Decide::new(run, DecisionType::Rollback)
        });
        assert!(
            matches!(&emitted[0].event, AnyEvent::Run(Event::DecisionMade(made))
                if made.chosen_patch_set == Some(APPLIED) && made.result_commit == Some(RESULT)),
            "the decision names it either way: {emitted:?}"
        );
        let reverted = PatchSetReverted {
            patch_set: APPLIED,
            reverted_by: run,
        };
        assert_eq!(events(&emitted)[1..], [run_event(reverted)]);
        let streams: Vec<_> = emitted.iter().map(|one| one.stream).collect();
        let (own, owner) = (stream(StreamKind::Run, 40), stream(StreamKind::Run, 2));
        assert_eq!(streams, [own, owner]);
        assert_eq!(patch_sets(&given), [Proposed, Reverted, Rejected, Proposed]);
        assert_eq!(task_status(&given), task::Status::Done);
    }
}

#[test]
fn rollback_needs_a_run_of_its_own_and_that_very_patch_set() {
    let invalid = |result, named: &str| match result {
        Err(Refusal::Invalid { field, .. }) => assert_eq!(field, named),
        other => panic!("{other:?}"),
    };
    let rollback = |run, chosen_patchset_id| Decide {
        chosen_patchset_id,
        ..Decide::new(run, DecisionType::Rollback)
    };
    invalid(given().decide(rollback(RUN, None)), "decision_type");
    invalid(
        given().decide(rollback(RUN, Some(APPLIED))),
        "decision_type",
    );
    let (given, run) = reverting();
    let other = rollback(run, Some(OPEN[0]));
    invalid(given.decide(other), "chosen_patchset_id");
}

#[test]
fn a_patch_set_is_reverted_once() {
    let (mut given, run) = reverting();
    let second = RunId(Uuid::from_u128(41));
    given.execute(CreateRun {
        id: Some(second),
        reverts: Some(APPLIED),
        ..CreateRun::new(TASK)
    });
    given.execute(StartPatching { run: second });
    given.execute(StartValidation { run: second });
    given.execute(Decide::new(run, DecisionType::Rollback));
    let refusal = given
        .decide(Decide::new(second, DecisionType::Rollback))
        .expect_err("it is reverted already");
    let object = (Kind::PatchSet, APPLIED.0);
    check_transition(&refusal, object, "reverted", "decide rollback");
}

#[test]
fn no_decision_of_a_run_that_reverts_changes_the_task() {
    let (given, run) = reverting();
    let own = patch(41);
    let given = given.command(ProposePatchSet {
        run,
        ..propose(own)
    });
    for verdict in DecisionType::LISTED {
        let chosen = (*verdict == DecisionType::Commit).then_some(own);
        let mut given = given.clone();
        let emitted = given.execute(Decide {
            chosen_patchset_id: chosen,
            ..Decide::new(run, verdict.clone())
        });
        let kinds: Vec<_> = emitted.iter().map(|one| one.stream.kind).collect();
        assert!(!kinds.contains(&StreamKind::Task), "{verdict}: {kinds:?}");
        assert_eq!(task_status(&given), task::Status::Done);
    }
}

#[test]
fn each_verdict_may_have_its_rationale() {
    let verdicts = DecisionType::LISTED.iter().cloned().chain([other()]);
    for verdict in verdicts {
        let (given, run) = match verdict {
            DecisionType::Rollback => reverting(),
            _ => (given(), RUN),
        };
        let chosen = (verdict == DecisionType::Commit).then_some(APPLIED);
        let emitted = given
            .decide(Decide {
                chosen_patchset_id: chosen,
                rationale: Some("why".into()),
                ..Decide::new(run, verdict.clone())
            })
            .expect("accepted");
        assert!(
            matches!(&emitted[0].event, AnyEvent::Run(Event::DecisionMade(made))
                if made.rationale == Some(crate::Slot(0))),
            "{verdict}: {emitted:?}"
        );
        assert_eq!(texts(&emitted)[0], ["why"], "{verdict}");
    }
}

/// Where each verdict is accepted; everywhere else it is refused.
#[test]
fn decisions_are_accepted_while_validating_or_on_a_failed_run() {
    let verdicts = DecisionType::LISTED.iter().cloned().chain([other()]);
    for verdict in verdicts {
        let needs_success = matches!(verdict, DecisionType::Commit | DecisionType::Rollback);
        for (status, given) in all_states() {
            let decided = state_of(&given).decision;
            let (given, command) = match verdict {
                DecisionType::Commit => (with_patch_set(given, Proposed), commit(PATCH)),
                _ => (given, decision(verdict.clone())),
            };
            let asked = match verdict {
                DecisionType::Commit => "decide commit",
                DecisionType::Checkpoint => "decide checkpoint",
                DecisionType::Abandon => "decide abandon",
                DecisionType::Retry => "decide retry",
                DecisionType::Rollback => "decide rollback",
                DecisionType::Other(_) => "decide",
            };
            let result = given.decide(command);
            match (status, decided) {
                // A run that reverts nothing has no rollback even here.
                (Status::Validating, _) if verdict == DecisionType::Rollback => {
                    assert!(matches!(result, Err(Refusal::Invalid { .. })));
                }
                (Status::Validating, _) => assert!(result.is_ok(), "{verdict}: {result:?}"),
                (Status::Failed, None) if !needs_success => {
                    assert!(result.is_ok(), "{verdict}: {result:?}");
                }
                (Status::Failed | Status::Completed, Some(existing)) => {
                    check_only_one(result.unwrap_err(), existing);
                }
                _ => {
                    let refusal = result.expect_err(asked);
                    check_transition(&refusal, (Kind::Run, RUN.0), status.name(), asked);
                }
            }
        }
    }
}

fn check_only_one(refusal: Refusal, existing: DecisionId) {
    let (kind, run, existing) = (Kind::Decision, RUN, existing.0);
    assert_eq!(
        refusal,
        Refusal::OnlyOne {
            kind,
            run,
            existing
        }
    );
}

#[test]
fn a_run_of_a_task_that_is_over_only_fails_or_is_abandoned() {
    let (task, reason) = (TASK, None);
    let cancel = Command::from(CancelTask { task, reason });
    let abandoned = Command::from(decision(DecisionType::Abandon));
    for (end, state) in [(cancel, "cancelled"), (fail_task(), "failed")] {
        let mut given = given();
        // A run that was not begun, and one that patches.
        let created = RunId(given.execute(CreateRun::new(TASK))[0].stream.id);
        let patching = RunId(given.execute(CreateRun::new(TASK))[0].stream.id);
        let given = given
            .command(StartPatching { run: patching })
            .command(end.clone());
        let work: [(Command, &str); 9] = [
            (StartPatching { run: created }.into(), "start_patching"),
            (StartValidation { run: patching }.into(), "start_validation"),
            (
                ProposePatchSet::new(patching, DiffFormat::Unified).into(),
                "propose_patch_set",
            ),
            (propose(patch(99)).into(), "propose_patch_set"),
            (
                ApplyPatchSet { patch_set: OPEN[0] }.into(),
                "apply_patch_set",
            ),
            (commit(APPLIED).into(), "decide commit"),
            (decision(DecisionType::Retry).into(), "decide retry"),
            (
                decision(DecisionType::Checkpoint).into(),
                "decide checkpoint",
            ),
            (decision(other()).into(), "decide (but abandon)"),
        ];
        for (command, asked) in work {
            for actor in [ActorRef::agent("tester"), ActorRef::human("ada")] {
                let refused = given.clone().by(actor).decide(command.clone());
                let says = refused.expect_err(asked).to_string();
                assert!(says.contains(&format!("is {state}: {asked}")), "{says}");
                assert!(says.contains("abandon"), "{says}");
            }
        }
        for command in [abandoned.clone(), fail()] {
            let mut given = given.clone();
            given.execute(command);
            assert_eq!(task_status(&given).name(), state);
        }
    }
}

/// A second run of the same task, which is being validated.
fn second_run(given: &mut Given) -> RunId {
    let run = RunId(given.execute(CreateRun::new(TASK))[0].stream.id);
    given.execute(StartPatching { run });
    given.execute(StartValidation { run });
    run
}

#[test]
fn nothing_is_tried_again_once_another_run_has_settled_the_task() {
    let mut given = given();
    let other = second_run(&mut given);
    given.execute(decision(DecisionType::Abandon));
    assert_eq!(task_status(&given), task::Status::Failed);
    for (verdict, asked) in [
        (DecisionType::Retry, "decide retry of a run of it"),
        (DecisionType::Checkpoint, "decide checkpoint of a run of it"),
    ] {
        let refusal = given.decide(Decide::new(other, verdict)).expect_err(asked);
        check_transition(&refusal, (Kind::Task, TASK.0), "failed", asked);
    }
    // It ends all the same, and the task stays as it is.
    let emitted = given.execute(Decide::new(other, DecisionType::Abandon));
    assert_eq!(emitted.len(), 1);
    assert_eq!(task_status(&given), task::Status::Failed);
}

#[test]
fn a_commit_is_recorded_after_its_decision_and_once() {
    let mut given = given();
    let decided = given.execute(commit(APPLIED));
    let AnyEvent::Run(Event::DecisionMade(made)) = &decided[0].event else {
        panic!("{decided:?}");
    };
    let record = |commit| RecordResultCommit {
        decision: made.decision,
        commit,
    };
    let emitted = given.execute(record(RESULT));
    assert_eq!(
        events(&emitted),
        [
            run_event(ResultCommitRecorded {
                decision: made.decision,
                commit: RESULT
            }),
            AnyEvent::Intent(CommitRecorded { commit: RESULT }.into()),
        ]
    );
    assert_eq!(given.decide(record(RESULT)), Ok(Vec::new()), "it is known");
    let refusal = given.decide(record(BASE)).expect_err("it has one");
    assert!(refusal.to_string().contains("never changes"), "{refusal}");
    let mut given = self::given();
    let decided = given.execute(decision(DecisionType::Retry));
    let AnyEvent::Run(Event::DecisionMade(made)) = &decided[0].event else {
        panic!("{decided:?}");
    };
    let record = RecordResultCommit {
        decision: made.decision,
        commit: RESULT,
    };
    let refusal = given.decide(record).expect_err("no commit follows");
    assert!(
        refusal.to_string().contains("of the type commit"),
        "{refusal}"
    );
}

#[test]
fn an_intent_is_completed_once_nothing_of_it_is_open() {
    let given = given();
    let refusal = given
        .decide(CompleteIntent::new(INTENT))
        .expect_err("work is going on")
        .to_string();
    for named in [
        format!("task {TASK} is running"),
        format!("run {RUN} is validating"),
    ] {
        assert!(refusal.contains(&named), "{refusal}");
    }
    assert!(refusal.contains("abandon_open"), "{refusal}");
    let mut given = given;
    let emitted = given.execute(CompleteIntent {
        abandon_open: true,
        ..CompleteIntent::new(INTENT)
    });
    let names: Vec<&str> = emitted.iter().map(|it| it.event.event_type()).collect();
    assert_eq!(names, ["run.failed", "task.cancelled", "intent.completed"]);
    assert_eq!(task_status(&given), task::Status::Cancelled);
    // Nothing begins under it any more.
    for refused in [
        given.decide(CreateRun::new(TASK)).is_err(),
        given
            .decide(CreateTask {
                intent: Some(INTENT),
                ..CreateTask::new("more")
            })
            .is_err(),
    ] {
        assert!(refused);
    }
}

#[test]
fn no_work_begins_on_an_intent_that_is_over() {
    for (over, word) in [
        (
            Command::from(CancelIntent {
                intent: INTENT,
                reason: None,
            }),
            "cancelled",
        ),
        (
            CompleteIntent {
                abandon_open: true,
                ..CompleteIntent::new(INTENT)
            }
            .into(),
            "completed",
        ),
    ] {
        let mut given = given();
        let task = TaskId(Uuid::from_u128(77));
        given.execute(CreateTask {
            id: Some(task),
            ..CreateTask::new("of no intent")
        });
        given.execute(over);
        let create = CreateTask {
            intent: Some(INTENT),
            ..CreateTask::new("more")
        };
        let refusal = given.decide(create).expect_err(word).to_string();
        assert!(refusal.contains(&format!("is {word}")), "{refusal}");
        // The task of a completed intent is over, too.
        let refusal = given.decide(CreateRun::new(TASK)).expect_err(word);
        let Refusal::Transition { kind, .. } = refusal else {
            panic!("{refusal}");
        };
        let of = match word {
            "cancelled" => Kind::Intent,
            _ => Kind::Task,
        };
        assert_eq!(kind, of);
        // What has no intent has nothing to do with it.
        given.execute(CreateRun::new(task));
    }
}

#[test]
fn a_verdict_takes_only_its_own_fields() {
    let invalid = |command: Decide, named: &str| match given().decide(command) {
        Err(Refusal::Invalid { field, .. }) => assert_eq!(field, named),
        other => panic!("{named}: {other:?}"),
    };
    let fields = |decision_type: DecisionType| Decide {
        chosen_patchset_id: Some(APPLIED),
        ..decision(decision_type)
    };
    for verdict in [
        DecisionType::Retry,
        DecisionType::Abandon,
        DecisionType::Checkpoint,
        other(),
    ] {
        invalid(fields(verdict.clone()), "chosen_patchset_id");
        let result = Decide {
            result_commit_sha: Some(RESULT),
            ..decision(verdict)
        };
        invalid(result, "result_commit_sha");
    }
    for verdict in [
        DecisionType::Commit,
        DecisionType::Retry,
        DecisionType::Abandon,
    ] {
        let chosen = (verdict == DecisionType::Commit).then_some(APPLIED);
        let saved = Decide {
            checkpoint_id: Some("c-1".into()),
            chosen_patchset_id: chosen,
            ..decision(verdict)
        };
        invalid(saved, "checkpoint_id");
    }
    let blank = decision(DecisionType::Other(" ".into()));
    invalid(blank, "decision_type");
}

/// A word that reads like a listed one would be shown as it, and do nothing of what it does.
#[test]
fn a_verdict_that_reads_like_a_listed_one_is_refused_with_the_word() {
    let given = validating();
    let decided = |word: &str| given.decide(Decide::new(RUN, DecisionType::from_word(word)));
    for (word, listed) in [
        ("commit ", "commit"),
        ("Commit", "commit"),
        ("\u{ff43}ommit", "commit"),
        ("comm\u{200b}it", "commit"),
        ("retry\t", "retry"),
        ("rollback ", "rollback"),
    ] {
        match decided(word) {
            Err(Refusal::Invalid { field, reason }) => {
                assert_eq!(field, "decision_type");
                assert!(reason.contains(&format!("write {listed:?}")), "{reason}");
            }
            other => panic!("{word:?}: {other:?}"),
        }
    }
    for word in [" merge", "merge\u{200b}", "\u{ff4d}erge"] {
        let refused = decided(word);
        assert!(
            matches!(&refused, Err(Refusal::Invalid { reason, .. }) if reason.contains("write \"merge\"")),
            "{word:?}: {refused:?}"
        );
    }
    for word in ["merge", "hold back", "\u{4fdd}\u{7559}"] {
        assert!(decided(word).is_ok(), "{word}");
    }
}
