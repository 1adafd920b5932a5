//! Review results: a rejected one retries the task until no retry is left, an
//! approved one commits.

use super::*;
use crate::GitOid;
use crate::run::{ApplyStatus, EvidenceKind, FailRun};
use crate::settings::{SetSetting, Setting};

const WORK: TaskId = TaskId(Uuid::from_u128(11));

fn names(emitted: &[Emitted]) -> Vec<&'static str> {
    emitted.iter().map(|one| one.event.event_type()).collect()
}

/// The verdict that the run got.
fn decision(emitted: &[Emitted]) -> DecisionType {
    for one in emitted {
        if let AnyEvent::Run(run::Event::DecisionMade(made)) = &one.event {
            return made.decision_type.clone();
        }
    }
    panic!("nothing is decided by {emitted:?}");
}

fn run_state(given: &Given, run: RunId) -> run::State {
    match given.loaded(run.stream()).state {
        AnyState::Run(state) => (*state).clone(),
        other => panic!("expected a run, found {other:?}"),
    }
}

/// One attempt that its review rejects.
fn reject(given: &mut Given) -> Vec<Emitted> {
    validate(given, WORK, 1);
    given.execute(review(WORK, ReviewVerdict::Rejected))
}

#[test]
fn a_rejected_review_retries_the_task() {
    let mut given = with_tasks(&[(11, &[])]);
    let (run, patch_sets) = validate(&mut given, WORK, 2);
    let emitted = given.execute(review(WORK, ReviewVerdict::Rejected));
    assert_eq!(decision(&emitted), DecisionType::Retry);
    assert_eq!(state(&given, WORK).status, Status::Running);
    let run = run_state(&given, run);
    assert_eq!(run.status, run::Status::Completed);
    for patch_set in patch_sets {
        assert_eq!(run.patch_sets[&patch_set], ApplyStatus::Rejected);
    }
    assert_eq!(intent_status(&given), ApprovalStatus::Executing);
}

#[test]
fn two_retries_are_three_attempts_and_then_the_task_fails() {
    let mut given = with_tasks(&[(11, &[]), (12, &[11]), (13, &[12]), (14, &[])]);
    for attempt in 1..=2 {
        assert_eq!(
            decision(&reject(&mut given)),
            DecisionType::Retry,
            "attempt {attempt}"
        );
        assert_eq!(state(&given, WORK).status, Status::Running);
    }
    let emitted = reject(&mut given);
    assert_eq!(decision(&emitted), DecisionType::Abandon);
    let run = state(&given, WORK).last_run();
    let failed = emitted
        .iter()
        .zip(texts(&emitted))
        .find_map(|(one, texts)| {
            let AnyEvent::Task(Event::Failed(failed)) = &one.event else {
                return None;
            };
            (one.stream == WORK.stream()).then_some((failed.run, texts))
        });
    let reason = vec!["review rejected after max retries".to_owned()];
    assert_eq!(failed, Some((run, reason)));
    assert_eq!(lost(&emitted), [12, 13], "what waits for it fails with it");
    assert_eq!(
        statuses(&given, &[11, 12, 13, 14]),
        ["failed", "failed", "failed", "draft"]
    );
}

#[test]
fn the_log_says_how_often_a_rejected_review_retries() {
    for retries in [0_usize, 1, 5] {
        let mut given = with_tasks(&[(11, &[])]).command(SetSetting {
            setting: Setting::MaxReviewRetries,
            value: retries.to_string(),
        });
        for _ in 0..retries {
            assert_eq!(
                decision(&reject(&mut given)),
                DecisionType::Retry,
                "{retries}"
            );
        }
        assert_eq!(
            decision(&reject(&mut given)),
            DecisionType::Abandon,
            "{retries}"
        );
        assert_eq!(intent_status(&given), ApprovalStatus::Error);
    }
}

#[test]
fn reviews_and_retry_decisions_use_up_retries_and_failed_runs_do_not() {
    let mut given = with_tasks(&[(11, &[])]);
    for _ in 0..3 {
        let (run, _) = validate(&mut given, WORK, 1);
        given.execute(FailRun {
            run,
            error: "no space".into(),
        });
    }
    let (run, _) = validate(&mut given, WORK, 1);
    given.execute(Decide::new(run, DecisionType::Retry));
    for expected in [DecisionType::Retry, DecisionType::Abandon] {
        assert_eq!(decision(&reject(&mut given)), expected);
    }
}

#[test]
fn an_agent_does_not_review_what_it_worked_on() {
    let (coder, reviewer) = (ActorRef::agent("coder"), ActorRef::agent("reviewer"));
    let mut given = with_tasks(&[(11, &[])]).by(coder.clone());
    validate(&mut given, WORK, 1);
    for verdict in [ReviewVerdict::Approved, ReviewVerdict::Rejected] {
        for worker in [coder.clone(), ActorRef::agent("Coder ")] {
            let refusal = given.clone().by(worker).decide(review(WORK, verdict));
            assert!(
                matches!(&refusal, Err(Refusal::NotPermitted { reason }) if reason.contains("worked on run")),
                "{refusal:?}"
            );
        }
        for other in [reviewer.clone(), ActorRef::human("coder")] {
            assert!(
                given
                    .clone()
                    .by(other)
                    .decide(review(WORK, verdict))
                    .is_ok()
            );
        }
    }
    // Who only proposed a part of it worked on it, too; a person may look at their own work.
    let run = given
        .ask(|world| world.task(WORK))
        .unwrap()
        .last_run()
        .unwrap();
    let given = given
        .by(reviewer.clone())
        .command(ProposePatchSet::new(run, DiffFormat::Unified));
    assert!(given.decide(review(WORK, ReviewVerdict::Rejected)).is_err());
    let ada = ActorRef::human("ada");
    let mut given = with_tasks(&[(11, &[])]).by(ada);
    validate(&mut given, WORK, 1);
    assert!(given.decide(review(WORK, ReviewVerdict::Approved)).is_ok());
}

#[test]
fn a_run_that_reverts_a_patch_set_is_not_reviewed() {
    let mut given = with_tasks(&[(11, &[])]);
    let (_, patch_sets) = validate(&mut given, WORK, 1);
    let patch_set = patch_sets[0];
    given.execute(ApplyPatchSet { patch_set });
    let reverting = CreateRun {
        reverts: Some(patch_set),
        ..CreateRun::new(WORK)
    };
    let run = RunId(given.execute(reverting)[0].stream.id);
    given.execute(StartPatching { run });
    given.execute(StartValidation { run });
    for verdict in [ReviewVerdict::Approved, ReviewVerdict::Rejected] {
        let refusal = given.decide(review(WORK, verdict)).unwrap_err();
        assert!(
            matches!(&refusal, Refusal::Invalid { field: "task", reason }
                if reason.contains("reverts what was applied")),
            "{refusal}"
        );
    }
}

#[test]
fn the_last_attempt_may_still_be_approved() {
    let mut given = with_tasks(&[(11, &[])]);
    reject(&mut given);
    reject(&mut given);
    finish(&mut given, WORK);
    assert_eq!(state(&given, WORK).status, Status::Done);
    assert_eq!(intent_status(&given), ApprovalStatus::Done);
}

#[test]
fn an_approved_review_commits_the_only_patch_set() {
    let mut given = with_tasks(&[(11, &[])]);
    let (run, patch_sets) = validate(&mut given, WORK, 2);
    given.execute(run::RejectPatchSet {
        patch_set: patch_sets[0],
        reason: None,
    });
    let commit = GitOid::Sha1([7; 20]);
    let emitted = given.execute(RecordReview {
        result_commit_sha: Some(commit),
        ..review(WORK, ReviewVerdict::Approved)
    });
    let made = emitted.iter().find_map(|one| match &one.event {
        AnyEvent::Run(run::Event::DecisionMade(made)) => Some(made),
        _ => None,
    });
    let made = made.expect("a decision");
    assert_eq!(made.decision_type, DecisionType::Commit);
    assert_eq!(
        made.chosen_patch_set,
        Some(patch_sets[1]),
        "the other one was rejected"
    );
    assert_eq!(made.result_commit, Some(commit));
    assert_eq!(
        run_state(&given, run).patch_sets[&patch_sets[1]],
        ApplyStatus::Applied
    );
    assert_eq!(state(&given, WORK).status, Status::Done);
}

#[test]
fn an_applied_patch_set_is_the_only_one_too() {
    let mut given = with_tasks(&[(11, &[])]);
    let (_, patch_sets) = validate(&mut given, WORK, 1);
    given.execute(ApplyPatchSet {
        patch_set: patch_sets[0],
    });
    let emitted = given.execute(review(WORK, ReviewVerdict::Approved));
    assert!(!names(&emitted).contains(&"run.patch_set_applied"));
    assert_eq!(state(&given, WORK).status, Status::Done);
}

#[test]
fn of_several_patch_sets_the_committed_one_must_be_named() {
    let mut given = with_tasks(&[(11, &[])]);
    let (run, patch_sets) = validate(&mut given, WORK, 2);
    let refusal = given
        .decide(review(WORK, ReviewVerdict::Approved))
        .unwrap_err();
    assert_eq!(
        refusal.to_string(),
        format!(
            "chosen_patchset_id is not valid: run {run} has several; say which one is committed"
        )
    );
    given.execute(RecordReview {
        chosen_patchset_id: Some(patch_sets[0]),
        ..review(WORK, ReviewVerdict::Approved)
    });
    let applied = run_state(&given, run).patch_sets;
    assert_eq!(applied[&patch_sets[0]], ApplyStatus::Applied);
    assert_eq!(applied[&patch_sets[1]], ApplyStatus::Proposed);
}

#[test]
fn without_a_patch_set_nothing_is_committed() {
    let mut given = with_tasks(&[(11, &[])]);
    validate(&mut given, WORK, 0);
    let refusal = given
        .decide(review(WORK, ReviewVerdict::Approved))
        .unwrap_err();
    assert!(
        matches!(&refusal, Refusal::Invalid { field: "chosen_patchset_id", reason }
            if reason.contains("none to commit")),
        "{refusal}"
    );
    assert!(given.decide(review(WORK, ReviewVerdict::Rejected)).is_ok());
}

#[test]
fn a_review_is_a_fact_of_the_task_and_evidence_of_the_run_with_its_issues() {
    for (verdict, exit_code) in [(ReviewVerdict::Approved, 0), (ReviewVerdict::Rejected, 1)] {
        let mut given = with_tasks(&[(11, &[])]);
        let (run, _) = validate(&mut given, WORK, 1);
        let emitted = given.execute(RecordReview {
            issues: vec!["no tests".into(), "境界が違う".into()],
            suggestions: vec!["a shorter name".into()],
            ..review(WORK, verdict)
        });
        let (AnyEvent::Task(Event::ReviewRecorded(fact)), AnyEvent::Run(evidence)) =
            (&emitted[0].event, &emitted[1].event)
        else {
            panic!("{emitted:?}");
        };
        let run::Event::EvidenceRecorded(evidence) = evidence else {
            panic!("{emitted:?}");
        };
        assert_eq!((fact.run, fact.verdict), (Some(run), verdict));
        assert_eq!((fact.issues.len(), fact.suggestions.len()), (2, 1));
        assert_eq!(fact.evidence, Some(evidence.evidence));
        assert_eq!(emitted[1].stream, run.stream());
        assert_eq!(evidence.kind, EvidenceKind::Review);
        assert_eq!(evidence.exit_code, Some(exit_code));
        let texts = texts(&emitted);
        assert_eq!(texts[0], ["no tests", "境界が違う", "a shorter name"]);
        assert_eq!(texts[1], ["review", "no tests\n境界が違う\na shorter name"]);
    }
}

#[test]
fn an_attempt_is_reviewed_while_it_is_validated_and_once() {
    let both = [ReviewVerdict::Approved, ReviewVerdict::Rejected];
    let refused = |given: &Given, kind: Kind, state: &str| {
        for verdict in both {
            let refusal = given.decide(review(WORK, verdict)).unwrap_err();
            assert!(
                matches!(&refusal, Refusal::Transition { kind: of, state: is, .. }
                    if (*of, is.as_str()) == (kind, state)),
                "{verdict} while {state}: {refusal}"
            );
        }
    };
    let mut given = with_tasks(&[(11, &[])]);
    refused(&given, Kind::Task, "draft");
    let run = RunId(given.execute(CreateRun::new(WORK))[0].stream.id);
    given.execute(StartPatching { run });
    given.execute(ProposePatchSet::new(run, DiffFormat::Unified));
    refused(&given, Kind::Run, "patching");
    given.execute(StartValidation { run });
    let failed = given.clone().command(FailRun {
        run,
        error: "no space".into(),
    });
    let rejected = failed
        .decide(review(WORK, ReviewVerdict::Rejected))
        .unwrap_err();
    assert!(rejected.to_string().contains("is failed"), "{rejected}");
    given.execute(review(WORK, ReviewVerdict::Rejected));
    let again = given
        .decide(review(WORK, ReviewVerdict::Rejected))
        .unwrap_err();
    assert!(again.to_string().contains("is completed"), "{again}");
    finish(&mut given, WORK);
    refused(&given, Kind::Task, "done");
}

#[test]
fn what_a_review_cannot_mean_is_refused() {
    let mut given = with_tasks(&[(11, &[])]);
    let (_, patch_sets) = validate(&mut given, WORK, 1);
    let rejected = || review(WORK, ReviewVerdict::Rejected);
    for (command, named) in [
        (
            RecordReview {
                issues: vec!["".into()],
                ..rejected()
            },
            "issues",
        ),
        (
            RecordReview {
                suggestions: vec![" ".into()],
                ..rejected()
            },
            "suggestions",
        ),
        (
            RecordReview {
                chosen_patchset_id: Some(patch_sets[0]),
                ..rejected()
            },
            "chosen_patchset_id, result_commit_sha",
        ),
        (
            RecordReview {
                result_commit_sha: Some(GitOid::Sha1([7; 20])),
                ..rejected()
            },
            "chosen_patchset_id, result_commit_sha",
        ),
    ] {
        let refusal = given.decide(command).unwrap_err();
        assert!(
            matches!(&refusal, Refusal::Invalid { field, .. } if *field == named),
            "{refusal}"
        );
    }
    let foreign = RecordReview {
        chosen_patchset_id: Some(PATCH),
        ..review(WORK, ReviewVerdict::Approved)
    };
    let refusal = given.decide(foreign).unwrap_err();
    assert!(
        matches!(refusal, Refusal::ForeignPatchSet { .. }),
        "{refusal}"
    );
    assert_eq!(
        given.decide(review(OTHER, ReviewVerdict::Approved)),
        Err(not_found(Kind::Task, OTHER))
    );
}
