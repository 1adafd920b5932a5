//! What a person rejected passes under no other name.

use super::people::{attempt, by_the_coder, check_a_persons, go_on};
use super::ways_around::analyze;
use super::*;
use crate::intent::RecordCommit;
use crate::plan::NewStep;
use crate::run::{self, Decide, DecisionType, RejectPatchSet};
use crate::task::{CancelTask, CreateTask};

const PLAN: PlanId = PlanId(Uuid::from_u128(70));

fn coder() -> ActorRef {
    ActorRef::agent("coder")
}

fn ada() -> ActorRef {
    ActorRef::human("ada")
}

fn part(number: u128, of: u128) -> SubmitIntent {
    SubmitIntent {
        child_of: Some(intent(of)),
        ..risky(number, Risk::Low)
    }
}

fn subtask(number: u128, of: u128) -> CreateTask {
    CreateTask {
        id: Some(task(number)),
        parent: Some(task(of)),
        ..CreateTask::new("work")
    }
}

/// An attempt of the coder at a task, and what a person does about it.
fn turned_down(given: Given, number: u128, by: impl FnOnce(&Decide) -> Command) -> Given {
    let mut given = given.by(coder());
    let commit = attempt(&mut given, number);
    given.by(ada()).command(by(&commit)).by(coder())
}

fn review(number: u128) -> impl FnOnce(&Decide) -> Command {
    move |_| RecordReview::new(task(number), ReviewVerdict::Rejected).into()
}

/// Demands of work on a task that the coder neither commits nor applies it, and others do.
fn check_needs_another(given: &Given, number: u128) {
    let mut given = given.clone().by(coder());
    let commit = attempt(&mut given, number);
    let apply = run::ApplyPatchSet::new(commit.chosen_patchset_id.unwrap());
    let commands: [Command; 2] = [commit.into(), apply.into()];
    for command in commands {
        let refused = given.decide(command.clone());
        assert!(
            matches!(&refused, Err(Refusal::NotPermitted { reason }) if reason.contains("rejected")),
            "{refused:?}"
        );
        for other in [ActorRef::agent("reviewer"), ada()] {
            let done = given.clone().by(other).decide(command.clone());
            assert!(done.is_ok(), "{done:?}");
        }
    }
}

#[test]
fn what_a_person_turned_down_is_not_proposed_anew() {
    let begun = || {
        by_the_coder()
            .command(risky(1, Risk::Low))
            .command(task_of(1, 11))
    };
    let reject =
        |commit: &Decide| Command::from(RejectPatchSet::new(commit.chosen_patchset_id.unwrap()));
    check_needs_another(&turned_down(begun(), 11, reject), 11);
    let retry = |commit: &Decide| Command::from(Decide::new(commit.run, DecisionType::Retry));
    check_needs_another(&turned_down(begun(), 11, retry), 11);
    // What an agent turns down of its own is its own affair.
    let mut own = begun();
    let commit = attempt(&mut own, 11);
    let mut own = own.command(Decide::new(commit.run, DecisionType::Retry));
    let commit = attempt(&mut own, 11);
    assert!(own.decide(commit).is_ok());
}

#[test]
fn what_a_person_rejected_passes_under_no_other_name() {
    let begun = by_the_coder()
        .command(risky(1, Risk::Low))
        .command(task_of(1, 11))
        .command(part(2, 1))
        .command(task_of(2, 21))
        .command(risky(9, Risk::Low))
        .command(task_of(9, 91));
    let given = turned_down(begun, 11, review(11));
    // Another task, a part of the task, a part of the intent, and a part of that.
    check_needs_another(&given.clone().command(task_of(1, 12)), 12);
    check_needs_another(&given.clone().command(subtask(12, 11)), 12);
    check_needs_another(&given, 21);
    let deeper = given.clone().command(part(3, 2)).command(task_of(3, 31));
    check_needs_another(&deeper, 31);
    // A part of the task that says another intent.
    let elsewhere = CreateTask {
        intent: Some(intent(9)),
        ..subtask(92, 11)
    };
    check_needs_another(&given.clone().command(elsewhere), 92);
    // Another agent's work on something else, and work on another intent, go on.
    let mut others = given
        .clone()
        .command(task_of(1, 12))
        .by(ActorRef::agent("other"));
    let commit = attempt(&mut others, 12);
    assert!(others.decide(commit).is_ok());
    let mut elsewhere = given.clone();
    let commit = attempt(&mut elsewhere, 91);
    assert!(elsewhere.decide(commit).is_ok());
    // Once it is settled, all goes on.
    let mut again = given.clone();
    attempt(&mut again, 11);
    let approved = RecordReview::new(task(11), ReviewVerdict::Approved);
    let mut settled = again.by(ada()).command(approved).by(coder());
    let commit = attempt(&mut settled, 21);
    assert!(settled.decide(commit).is_ok());
}

#[test]
fn what_a_person_rejected_in_a_part_does_not_pass_in_another_part() {
    let begun = by_the_coder()
        .command(risky(1, Risk::Low))
        .command(part(2, 1))
        .command(task_of(2, 21));
    let given = turned_down(begun, 21, review(21));
    check_needs_another(
        &given.clone().command(part(3, 1)).command(task_of(3, 31)),
        31,
    );
    check_needs_another(&given.command(task_of(1, 11)), 11);
}

#[test]
fn a_task_without_an_intent_passes_as_no_part_of_itself() {
    let alone = CreateTask {
        id: Some(task(11)),
        ..CreateTask::new("work")
    };
    let given = turned_down(by_the_coder().command(alone), 11, review(11));
    check_needs_another(&given.clone().command(subtask(12, 11)), 12);
}

/// Work by a plan alone is work on the plan's intent.
#[test]
fn a_task_that_carries_out_a_plan_passes_as_no_other_one() {
    let plan = CreatePlan {
        id: Some(PLAN),
        intent: Some(intent(1)),
        ..CreatePlan::default()
    };
    let alone = |number: u128| CreateTask {
        id: Some(task(number)),
        ..CreateTask::new("work")
    };
    let by_plan = |given: &mut Given, number: u128| {
        let run = CreateRun {
            plan: Some(PLAN),
            ..CreateRun::new(task(number))
        };
        let run = RunId(given.execute(run)[0].stream.id);
        go_on(given, run)
    };
    let mut given = by_the_coder()
        .command(risky(1, Risk::Low))
        .command(analyze())
        .command(plan)
        .command(alone(11));
    by_plan(&mut given, 11);
    let rejected = RecordReview::new(task(11), ReviewVerdict::Rejected);
    let mut given = given
        .by(ada())
        .command(rejected)
        .by(coder())
        .command(alone(12));
    check_needs_another(&given.clone().command(task_of(1, 13)), 13);
    let commit = by_plan(&mut given, 12);
    assert!(matches!(
        given.decide(commit.clone()),
        Err(Refusal::NotPermitted { .. })
    ));
    assert!(given.by(ActorRef::agent("reviewer")).decide(commit).is_ok());
}

/// Only a rerun of what a task is work on tries it again, so nobody else waits where there is none.
#[test]
fn who_did_not_work_on_what_failed_goes_on_where_no_rerun_is() {
    let fail = FailTask {
        task: task(12),
        reason: None,
    };
    let alone = CreateTask {
        id: Some(task(11)),
        ..CreateTask::new("work")
    };
    let mut given = by_the_coder().command(alone).command(subtask(12, 11));
    attempt(&mut given, 12);
    let mut given = given.by(ada()).command(fail).by(ActorRef::agent("other"));
    let commit = attempt(&mut given, 11);
    assert!(given.decide(commit).is_ok());
}

#[test]
fn a_rejection_is_settled_when_a_person_turns_the_intent_down() {
    let begun = by_the_coder()
        .command(risky(1, Risk::Low))
        .command(part(2, 1))
        .command(task_of(2, 21))
        .command(task_of(1, 11));
    let given = turned_down(begun, 21, review(21));
    check_needs_another(&given, 11);
    // The coder does not turn it down itself, though it asked for it.
    check_a_persons(&given, CancelIntent::new(intent(2)));
    let mut given = given
        .by(ada())
        .command(CancelIntent::new(intent(2)))
        .by(coder());
    let commit = attempt(&mut given, 11);
    assert!(given.decide(commit).is_ok());
}

#[test]
fn what_a_person_rejected_is_neither_done_nor_committed_around_the_rule() {
    let begun = by_the_coder()
        .command(risky(1, Risk::Low))
        .command(analyze())
        .command(task_of(1, 11));
    let given = turned_down(begun, 11, review(11));
    let commit = RecordCommit {
        intent: intent(1),
        commit: "a".repeat(40).parse().unwrap(),
    };
    let refused = given.decide(commit);
    assert!(
        matches!(refused, Err(Refusal::NotPermitted { .. })),
        "{refused:?}"
    );
    // A task of no intent is done, and then a step of a plan of it.
    let alone = CreateTask {
        id: Some(task(12)),
        ..CreateTask::new("work")
    };
    let mut given = given.command(alone);
    let commit = attempt(&mut given, 12);
    let given = given.command(commit);
    let step = NewStep {
        task: Some(task(12)),
        ..NewStep::new("do it")
    };
    let plan = CreatePlan {
        id: Some(PLAN),
        intent: Some(intent(1)),
        steps: vec![step],
        ..CreatePlan::default()
    };
    let refused = given.decide(plan.clone());
    assert!(
        matches!(refused, Err(Refusal::NotPermitted { .. })),
        "{refused:?}"
    );
    assert!(given.by(ada()).decide(plan).is_ok());
}

#[test]
fn an_agent_cancels_no_task_that_a_person_rejected() {
    let begun = by_the_coder()
        .command(risky(1, Risk::Low))
        .command(task_of(1, 11));
    let given = turned_down(begun, 11, review(11));
    check_a_persons(&given, CancelTask::new(task(11)));
    let complete = CompleteIntent {
        abandon_open: true,
        ..CompleteIntent::new(intent(1))
    };
    check_a_persons(&given, complete);
}

#[test]
fn what_failed_is_tried_again_or_rejected_while_other_tasks_are_open() {
    let idle = by_the_coder()
        .command(risky(1, Risk::Low))
        .command(task_of(1, 11))
        .command(start(1))
        .command(fail_task(11))
        .command(task_of(1, 12));
    assert_eq!(status(&idle, 1), ApprovalStatus::Executing);
    check_a_persons(&idle, rerun(1));
    check_a_persons(&idle, reject(1));
    // What is open goes on.
    let again = idle.by(ada()).command(rerun(1));
    assert_eq!(status(&again, 1), ApprovalStatus::Executing);
}
