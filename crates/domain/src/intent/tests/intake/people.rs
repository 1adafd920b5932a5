//! What needs a person, and never the one alone who asked.

use super::ways_around::analyze;
use super::*;
use crate::task::{AddAcceptanceCriterion, AddConstraint, AddDependency, CancelTask, CreateTask};

const OTHERS: [fn(&str) -> ActorRef; 3] = [
    |id| ActorRef::agent(id),
    |id| ActorRef::system(id),
    |id| ActorRef::mcp_client(id),
];

/// Demands that only people give a command: no agent, neither the one who asked nor another one.
pub(super) fn check_a_persons(given: &Given, command: impl Into<Command>) {
    let command = command.into();
    let name = command.name();
    for other in OTHERS {
        for id in ["coder", "reviewer"] {
            let refused = given.clone().by(other(id)).decide(command.clone());
            assert!(
                matches!(&refused, Err(Refusal::NotPermitted { reason }) if reason.contains("by a person")),
                "{name}: {refused:?}"
            );
        }
    }
    let by_a_person = given.clone().by(ActorRef::human("bob")).decide(command);
    assert!(by_a_person.is_ok(), "{name}: {by_a_person:?}");
}

pub(super) fn by_the_coder() -> Given {
    Given::new().by(ActorRef::agent("coder"))
}

/// An executing intent of an agent whose tasks have failed.
fn in_error() -> Given {
    by_the_coder()
        .command(risky(1, Risk::Low))
        .command(task_of(1, 11))
        .command(analyze())
        .command(start(1))
        .command(fail_task(11))
}

#[test]
fn a_question_is_answered_by_a_person() {
    let given = by_the_coder()
        .command(risky(1, Risk::Low))
        .command(ask(1, &["which?"]));
    check_a_persons(&given, answer(1, None));
}

#[test]
fn what_failed_is_decided_on_by_a_person() {
    let given = in_error();
    assert_eq!(status(&given, 1), ApprovalStatus::Error);
    check_a_persons(&given, rerun(1));
    check_a_persons(&given, reject(1));
    check_a_persons(&given, instruct(1, "otherwise"));
    check_a_persons(&given, complete());
    check_a_persons(&given, cancel());
    // So is what failed in part.
    let mut blocked = in_error()
        .command(task_of(1, 12))
        .by(ActorRef::human("ada"));
    finish_task(&mut blocked, 12);
    assert_eq!(status(&blocked, 1), ApprovalStatus::Blocked);
    check_a_persons(&blocked, complete());
    check_a_persons(&blocked, rerun(1));
}

#[test]
fn an_agent_closes_no_question_by_completing_its_intent() {
    let given = by_the_coder()
        .command(risky(1, Risk::Low))
        .command(ask(1, &["which?"]));
    let complete = CompleteIntent {
        abandon_open: true,
        ..CompleteIntent::new(INTENT)
    };
    check_a_persons(&given, complete.clone());
    // What is open otherwise ends with it.
    let given = by_the_coder()
        .command(risky(1, Risk::Low))
        .command(task_of(1, 11));
    assert!(given.decide(complete).is_ok());
}

/// Work that is added to what failed, or was called off, takes no decision from a person.
#[test]
fn what_is_open_hides_nothing_that_failed() {
    let complete = || CompleteIntent {
        abandon_open: true,
        ..CompleteIntent::new(INTENT)
    };
    let given = in_error().command(task_of(1, 12));
    assert_eq!(status(&given, 1), ApprovalStatus::Executing);
    check_a_persons(&given, complete());
    check_a_persons(&given, instruct(1, "otherwise"));
    check_a_persons(&given, cancel());
    // The same where a part was called off, and a level below.
    let part = |number: u128, of: u128| SubmitIntent {
        child_of: Some(intent(of)),
        ..risky(number, Risk::Low)
    };
    let called_off = by_the_coder()
        .command(risky(1, Risk::Low))
        .command(part(2, 1))
        .command(CancelIntent::new(intent(2)))
        .command(task_of(1, 12));
    check_a_persons(&called_off, complete());
    let below = by_the_coder()
        .command(risky(1, Risk::Low))
        .command(part(2, 1))
        .command(task_of(2, 12))
        .command(fail_task(12))
        .command(task_of(2, 13));
    assert_eq!(status(&below, 1), ApprovalStatus::Executing);
    check_a_persons(&below, instruct(1, "otherwise"));
    check_a_persons(&below, cancel());
}

#[test]
fn an_agent_calls_off_no_task_of_a_person() {
    let given = by_the_coder()
        .command(risky(1, Risk::Low))
        .by(ActorRef::human("ada"))
        .command(task_of(1, 11))
        .by(ActorRef::agent("coder"))
        .command(task_of(1, 12));
    let cancel = |number: u128| CancelTask::new(task(number));
    check_a_persons(&given, cancel(11));
    assert!(given.decide(cancel(12)).is_ok());
    let complete = CompleteIntent {
        abandon_open: true,
        ..CompleteIntent::new(INTENT)
    };
    check_a_persons(&given, complete);
    // It may fail it, which a person looks at.
    let failed = given.command(cancel(12)).command(fail_task(11));
    assert_eq!(status(&failed, 1), ApprovalStatus::Error);
}

#[test]
fn a_task_of_what_was_turned_down_only_fails_or_is_cancelled() {
    let given = by_the_coder()
        .command(risky(1, Risk::Low))
        .command(task_of(1, 11))
        .command(cancel());
    let refused: [Command; 3] = [
        AddConstraint::new(task(11), "c").into(),
        AddAcceptanceCriterion::new(task(11), "c").into(),
        CreateRun::new(task(11)).into(),
    ];
    for command in refused {
        assert!(given.decide(command).is_err());
    }
    assert!(given.decide(fail_task(11)).is_ok());
    assert!(given.decide(CancelTask::new(task(11))).is_ok());
}

/// Where the log does not trust the rules, a judgement that agrees with them is an approval.
#[test]
fn a_risk_by_rule_is_confirmed_by_a_person_or_by_who_asked() {
    let ada = ActorRef::human("ada");
    let trusting = Given::new()
        .by(ada.clone())
        .command(set(Setting::TrustClassifier, "false"))
        .command(submit(1, "Fix a typo"));
    assert_eq!(status(&trusting, 1), ApprovalStatus::Proposed);
    let given = trusting.clone().by(ActorRef::agent("coder"));
    assert!(given.decide(judge(1, Risk::High)).is_ok());
    check_a_persons(&trusting, judge(1, Risk::Low));
    // Who asked may declare it.
    let own = trusting
        .by(ActorRef::agent("coder"))
        .command(submit(2, "Fix a typo"));
    assert!(own.decide(judge(2, Risk::Low)).is_ok());
}

#[test]
fn an_agent_turns_down_what_it_asked_for_and_nothing_else() {
    let persons = Given::new()
        .by(ActorRef::human("ada"))
        .command(risky(1, Risk::High));
    check_a_persons(&persons, reject(1));
    check_a_persons(&persons, cancel());
    let own = by_the_coder().command(risky(1, Risk::High));
    for withdraws in [Command::from(reject(1)), cancel()] {
        assert!(own.decide(withdraws.clone()).is_ok());
        let other = own.clone().by(ActorRef::agent("reviewer"));
        assert!(other.decide(withdraws).is_err());
    }
    // Its parts that others asked for stay theirs.
    let part = SubmitIntent {
        child_of: Some(intent(1)),
        ..risky(2, Risk::High)
    };
    let own = own
        .by(ActorRef::human("ada"))
        .command(part)
        .by(ActorRef::agent("coder"));
    assert!(own.decide(reject(1)).is_err());
    assert!(own.by(ActorRef::human("ada")).decide(reject(1)).is_ok());
}

#[test]
fn an_intent_that_was_never_put_before_a_person_is_cancelled_by_anybody() {
    let given = Given::new().by(ActorRef::human("ada")).command(create());
    assert!(given.by(ActorRef::agent("coder")).decide(cancel()).is_ok());
}

#[test]
fn what_a_person_approved_is_instructed_by_one_who_did_not_ask_for_it() {
    for risk in [Risk::Med, Risk::High] {
        let given = by_the_coder().command(risky(1, risk));
        // The one who approves sees what was said before.
        assert!(given.decide(instruct(1, "with a limit")).is_ok());
        let approved = given.by(ActorRef::human("ada")).command(approve(1));
        check_a_persons(&approved, instruct(1, "without a limit"));
        let executing = approved.command(start(1));
        check_a_persons(&executing, instruct(1, "without a limit"));
    }
    let ada = ActorRef::human("ada");
    let own = Given::new()
        .by(ada.clone())
        .command(risky(1, Risk::High))
        .by(ActorRef::human("bob"))
        .command(approve(1));
    for ada in [ada.clone(), ActorRef::human("Ada ")] {
        let refused = own.clone().by(ada).decide(instruct(1, "without a limit"));
        let refused = refused.unwrap_err().to_string();
        assert!(refused.contains("approval.own_requests"), "{refused}");
    }
    let allowed = own.by(ada).command(set(Setting::OwnRequests, "true"));
    assert!(allowed.decide(instruct(1, "without a limit")).is_ok());
    // What the system approved by itself is instructed as before.
    let low = by_the_coder().command(risky(1, Risk::Low));
    assert!(low.decide(instruct(1, "with a limit")).is_ok());
}

#[test]
fn no_agent_judges_a_risk_lower_after_the_approval() {
    let given = by_the_coder()
        .command(risky(1, Risk::High))
        .by(ActorRef::human("ada"))
        .command(approve(1));
    for lower in [Risk::Low, Risk::Med] {
        let coder = given.clone().by(ActorRef::agent("coder"));
        assert!(coder.decide(judge(1, lower)).is_err());
    }
    assert!(
        given
            .by(ActorRef::human("ada"))
            .decide(judge(1, Risk::Low))
            .is_ok()
    );
}

#[test]
fn who_asked_in_other_letters_does_not_approve() {
    for (asks, approves) in [
        ("ada", "Ada"),
        ("Ada Lovelace", "ada  lovelace"),
        ("ada", "ada "),
    ] {
        let given = Given::new()
            .by(ActorRef::human(asks))
            .command(risky(1, Risk::High))
            .by(ActorRef::human(approves));
        let refused = given.decide(approve(1)).unwrap_err().to_string();
        assert!(refused.contains("approval.own_requests"), "{refused}");
    }
}

/// What a person approves is what was requested: others add nothing to it while it waits.
#[test]
fn what_waits_for_its_approval_is_instructed_by_people_and_by_who_asked() {
    let by_ada = Given::new()
        .by(ActorRef::human("ada"))
        .command(risky(1, Risk::Med));
    check_a_persons(&by_ada, instruct(1, "Also drop the database"));
    assert!(by_ada.decide(instruct(1, "In French, too")).is_ok());
    let by_the_coder = by_the_coder().command(risky(1, Risk::Med));
    assert!(by_the_coder.decide(instruct(1, "In French, too")).is_ok());
    let other = by_the_coder.clone().by(ActorRef::agent("other"));
    assert!(other.decide(instruct(1, "In French, too")).is_err());
    let bob = by_the_coder.by(ActorRef::human("bob"));
    assert!(bob.decide(instruct(1, "In French, too")).is_ok());
}

#[test]
fn an_agent_changes_no_task_of_a_person() {
    let given = by_the_coder()
        .command(task_of_none(12))
        .by(ActorRef::human("ada"))
        .command(task_of_none(11));
    check_a_persons(&given, AddConstraint::new(task(11), "only French"));
    check_a_persons(
        &given,
        AddAcceptanceCriterion::new(task(11), "it is French"),
    );
    check_a_persons(&given, AddDependency::new(task(11), task(12)));
    // Its own it changes.
    let own = given.by(ActorRef::agent("coder"));
    assert!(own.decide(AddConstraint::new(task(12), "c")).is_ok());
    assert!(own.decide(AddDependency::new(task(12), task(11))).is_ok());
}

#[test]
fn an_agent_calls_off_no_task_of_a_person_by_one_that_it_waits_for() {
    let of_the_intent = |number: u128| CreateTask {
        intent: Some(INTENT),
        ..task_of_none(number)
    };
    let given = by_the_coder()
        .command(risky(1, Risk::Low))
        .command(of_the_intent(12))
        .command(of_the_intent(13))
        .by(ActorRef::human("ada"))
        .command(CreateTask {
            dependencies: vec![task(12)],
            ..of_the_intent(11)
        });
    check_a_persons(&given, CancelTask::new(task(12)));
    // Nor by a dependency that was called off.
    let gone = given
        .by(ActorRef::agent("coder"))
        .command(CancelTask::new(task(13)));
    check_a_persons(&gone, AddDependency::new(task(12), task(13)));
}

fn task_of_none(number: u128) -> CreateTask {
    CreateTask {
        id: Some(task(number)),
        ..CreateTask::new("work")
    }
}

/// After a review rejected the work on a task, who worked on it commits no attempt at it.
#[test]
fn a_rejected_review_is_not_passed_by_a_decision() {
    let (coder, other) = (ActorRef::agent("coder"), ActorRef::agent("other"));
    let attempt = |given: &mut Given| attempt(given, 11);
    let mut given = by_the_coder().command(task_of_none(11));
    let earlier = attempt(&mut given);
    assert!(given.decide(earlier.clone()).is_ok());
    attempt(&mut given);
    let given = given
        .by(other.clone())
        .command(RecordReview::new(task(11), ReviewVerdict::Rejected));
    // Neither the next attempt nor one that was open.
    let mut next = given.by(coder.clone());
    let later = attempt(&mut next);
    let chosen = |commit: &crate::run::Decide| commit.chosen_patchset_id.unwrap();
    let apply = |commit| crate::run::ApplyPatchSet::new(chosen(commit)).into();
    for command in [
        earlier.clone().into(),
        later.clone().into(),
        apply(&earlier),
        apply(&later),
    ] {
        let command: Command = command;
        let refused = next.decide(command.clone());
        assert!(
            matches!(&refused, Err(Refusal::NotPermitted { reason }) if reason.contains("record_review")),
            "{refused:?}"
        );
        for by in [other.clone(), ActorRef::human("ada")] {
            assert!(next.clone().by(by).decide(command.clone()).is_ok());
        }
    }
    // Nor an attempt of another agent's.
    let mut others = next.by(other.clone());
    let of_the_other = attempt(&mut others);
    assert!(
        others
            .clone()
            .by(coder)
            .decide(of_the_other.clone())
            .is_err()
    );
    // A review does.
    let approved = RecordReview::new(task(11), ReviewVerdict::Approved);
    let third = others.by(ActorRef::agent("third"));
    assert!(third.decide(approved).is_ok());
}

/// A run of a task up to its validation, and the decision to commit it.
pub(super) fn attempt(given: &mut Given, number: u128) -> crate::run::Decide {
    let run = RunId(given.execute(CreateRun::new(task(number)))[0].stream.id);
    go_on(given, run)
}

/// The same of a run that began.
pub(super) fn go_on(given: &mut Given, run: RunId) -> crate::run::Decide {
    given.execute(StartPatching { run });
    let proposed = given.execute(ProposePatchSet::new(run, DiffFormat::Unified));
    given.execute(StartValidation { run });
    let AnyEvent::Run(crate::run::Event::PatchSetProposed(event)) = &proposed[0].event else {
        panic!("{proposed:?}");
    };
    crate::run::Decide::new(run, crate::run::DecisionType::Commit)
        .with_chosen_patchset_id(event.patch_set)
}

#[test]
fn what_a_person_rejected_for_good_is_committed_as_no_other_task_before_a_rerun() {
    let (coder, ada) = (ActorRef::agent("coder"), ActorRef::human("ada"));
    let no_retries = SetSetting {
        setting: Setting::MaxReviewRetries,
        value: "0".into(),
    };
    let begun = || {
        let given = Given::new().command(no_retries.clone()).by(coder.clone());
        let mut given = given.command(risky(1, Risk::Low)).command(task_of(1, 11));
        attempt(&mut given, 11);
        given
    };
    let rejected = RecordReview::new(task(11), ReviewVerdict::Rejected);
    let given = begun().by(ada.clone()).command(rejected.clone());
    assert_eq!(status(&given, 1), ApprovalStatus::Error);
    let mut again = given.by(coder.clone()).command(task_of(1, 12));
    let commit = attempt(&mut again, 12);
    let approved = RecordReview::new(task(12), ReviewVerdict::Approved);
    let apply = crate::run::ApplyPatchSet::new(commit.chosen_patchset_id.unwrap());
    for command in [commit.clone().into(), apply.into(), approved.into()] {
        let command: Command = command;
        for other in [ActorRef::agent("reviewer"), ActorRef::system("ci")] {
            let says = refused_by(&again, other, command.clone());
            assert!(
                says.contains("rejected") && says.contains("rerun_intent"),
                "{says}"
            );
        }
        assert!(again.clone().by(ada.clone()).decide(command).is_ok());
    }
    // Once a person has it tried again, what takes its place is committed like all work.
    let abandon = crate::run::Decide::new(commit.run, crate::run::DecisionType::Abandon);
    let mut rerun = again
        .command(abandon)
        .by(ada)
        .command(rerun(1))
        .by(coder.clone());
    rerun.execute(task_of(1, 13));
    let commit = attempt(&mut rerun, 13);
    assert!(rerun.decide(commit).is_ok());
    // What another agent rejected needs no person.
    let mut given = begun()
        .by(ActorRef::agent("reviewer"))
        .command(rejected)
        .by(coder)
        .command(task_of(1, 12));
    let commit = attempt(&mut given, 12);
    assert!(given.decide(commit).is_ok());
}

fn refused_by(given: &Given, actor: ActorRef, command: Command) -> String {
    let refused = given.clone().by(actor).decide(command);
    refused.unwrap_err().to_string()
}
