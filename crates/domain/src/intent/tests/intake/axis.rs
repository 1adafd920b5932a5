//! The whole approval axis (docs/spec/forge.md, last row): every command in every
//! state, what it leads to and why it is refused.

use super::*;
use ApprovalStatus::{Approved, Blocked, Cancelled, Done, Error, Executing, Proposed, Rejected};

/// An intent with two tasks in every status that it can have.
fn all_statuses() -> Vec<(ApprovalStatus, Given)> {
    let proposed = Given::new()
        .command(risky(1, Risk::High))
        .command(task_of(1, 11))
        .command(task_of(1, 12));
    let approved = proposed.clone().command(approve(1));
    let executing = approved.clone().command(start(1));
    let mut one_done = executing.clone();
    finish_task(&mut one_done, 11);
    let mut all_done = one_done.clone();
    finish_task(&mut all_done, 12);
    let blocked = one_done.command(fail_task(12));
    let error = executing.clone().command(fail_task(11));
    vec![
        (Rejected, proposed.clone().command(reject(1))),
        (Cancelled, approved.clone().command(cancel())),
        (Proposed, proposed),
        (Approved, approved),
        (Executing, executing),
        (Done, all_done),
        (Blocked, blocked),
        (Error, error.command(fail_task(12))),
    ]
}

/// Every command of the axis, by its name.
fn all_commands() -> Vec<Command> {
    let child = SubmitIntent {
        child_of: Some(intent(1)),
        ..risky(2, Risk::High)
    };
    vec![
        approve(1).into(),
        reject(1).into(),
        start(1).into(),
        rerun(1).into(),
        judge(1, Risk::Med).into(),
        instruct(1, "with a limit").into(),
        ask(1, &["which?"]).into(),
        child.into(),
    ]
}

/// What leads from one status to another; what is in no row is refused.
const MOVES: &[(&str, ApprovalStatus, ApprovalStatus)] = &[
    ("approve_intent", Proposed, Approved),
    ("start_execution", Approved, Executing),
    ("reject_intent", Proposed, Rejected),
    ("reject_intent", Approved, Rejected),
    ("reject_intent", Blocked, Rejected),
    ("reject_intent", Error, Rejected),
    ("rerun_intent", Blocked, Approved),
    ("rerun_intent", Error, Approved),
    // A new part makes a settled intent go on.
    ("submit_intent", Proposed, Proposed),
    ("submit_intent", Approved, Executing),
    ("submit_intent", Executing, Executing),
    ("submit_intent", Done, Executing),
    ("submit_intent", Blocked, Executing),
    ("submit_intent", Error, Executing),
];

/// What is accepted of every intent that is neither settled nor given up, and
/// moves nothing.
const ALWAYS: &[&str] = &["judge_intent", "instruct_intent", "request_clarification"];

/// What a refusal says is allowed instead.
fn allowed(asked: &str) -> &'static str {
    match asked {
        "approve_intent" => "proposed",
        "reject_intent" => "proposed, approved, blocked or in error",
        "start_execution" => "approved",
        "rerun_intent" => "blocked or in error",
        "request_clarification" => "not done",
        other => panic!("{other} is always accepted"),
    }
}

fn moved(asked: &str, from: ApprovalStatus) -> Option<ApprovalStatus> {
    // Nothing is asked about what is done.
    let is_over = matches!(from, Rejected | Cancelled);
    if is_over || (asked == "request_clarification" && from == Done) {
        return None;
    }
    let row = |(name, before, _): &&(&str, _, _)| *name == asked && *before == from;
    let to = MOVES.iter().find(row).map(|(_, _, after)| *after);
    to.or(ALWAYS.contains(&asked).then_some(from))
}

/// A refusal names the intent, its status, what was asked and what is allowed.
fn check_refused(refusal: &Refusal, state: &str, asked: &str, allowed: &str) {
    assert_eq!(
        refusal.to_string(),
        format!(
            "intent {} is {state}: {} is allowed only when it is {allowed}",
            intent(1),
            match asked {
                "submit_intent" => "submit_intent with it as child_of",
                asked => asked,
            }
        )
    );
}

#[test]
fn the_approval_axis_accepts_its_moves_and_refuses_every_other() {
    for (before, given) in all_statuses() {
        assert_eq!(status(&given, 1), before);
        for command in all_commands() {
            let asked = command.name();
            let mut given = given.clone();
            let decided = given.try_execute(command);
            match (moved(asked, before), decided) {
                (Some(after), Ok(_)) => {
                    assert_eq!(status(&given, 1), after, "{asked} on {before}");
                }
                (None, Err(refusal)) if matches!(before, Rejected | Cancelled) => {
                    check_refused(&refusal, before.as_str(), asked, "not yet settled");
                }
                (None, Err(refusal)) => {
                    check_refused(&refusal, before.as_str(), asked, allowed(asked));
                }
                (_, decided) => panic!("{asked} on {before}: {decided:?}"),
            }
        }
    }
}

#[test]
fn the_last_answer_moves_what_is_executing_and_nothing_else() {
    for (before, given) in all_statuses() {
        if before == Done {
            continue;
        }
        if matches!(before, Rejected | Cancelled) {
            let refusal = given.decide(answer(1, None)).unwrap_err();
            let asked = "answer_clarification";
            check_refused(&refusal, before.as_str(), asked, "not yet settled");
            continue;
        }
        let given = given.command(ask(1, &["a"])).command(answer(1, None));
        let after = match before {
            Executing => Approved,
            // What failed stays failed: an answer does not take it out of the inbox.
            before => before,
        };
        assert_eq!(status(&given, 1), after, "after {before}");
    }
}

#[test]
fn nobody_answers_what_nobody_asked() {
    let given = Given::new().command(risky(1, Risk::High));
    let refusal = given.decide(answer(1, None)).unwrap_err();
    let (state, allowed) = ("without an open question", "waiting for an answer");
    check_refused(&refusal, state, "answer_clarification", allowed);
}

#[test]
fn what_document_000_finished_takes_nothing_any_more() {
    let given = Given::new()
        .command(risky(1, Risk::Low))
        .command(start(1))
        .command(analyze())
        .command(complete());
    assert_eq!(status(&given, 1), Done);
    for command in all_commands() {
        let asked = command.name();
        let refusal = given.decide(command).unwrap_err();
        check_refused(&refusal, "completed", asked, "not yet settled");
    }
}

#[test]
fn an_intent_that_was_never_taken_in_has_a_place_on_the_axis_too() {
    let given = Given::new().command(create());
    assert_eq!(status(&given, 1), Proposed);
    let given = given.command(approve(1));
    assert_eq!(status(&given, 1), Approved);
    assert_eq!(status(&given.command(start(1)), 1), Executing);
}

#[test]
fn approval_never_happens_twice() {
    let statuses = all_statuses().into_iter();
    for (before, given) in statuses.filter(|(before, _)| *before != Proposed) {
        assert!(given.decide(approve(1)).is_err(), "{before}");
        let judged = given.decide(judge(1, Risk::Low));
        let approves = judged.is_ok_and(|emitted| names(&emitted).contains(&"intent.approved"));
        assert!(!approves, "{before}");
    }
}

#[test]
fn nothing_can_be_asked_of_an_intent_that_is_not_there() {
    for command in all_commands() {
        let (asked, kind, id) = (command.name(), Kind::Intent, intent(1).0);
        let refused = Err(Refusal::NotFound { kind, id });
        assert_eq!(Given::new().decide(command), refused, "{asked}");
    }
}

// Who approves.

/// What an actor's approval of the first intent is refused with, if it is.
fn approval_by(given: &Given, actor: ActorRef) -> Option<String> {
    let decided = given.clone().by(actor).decide(approve(1));
    decided.err().map(|refusal| refusal.to_string())
}

#[test]
fn a_medium_or_high_risk_is_approved_by_a_person() {
    for risk in [Risk::Med, Risk::High] {
        let given = Given::new()
            .by(ActorRef::agent("coder"))
            .command(risky(1, risk));
        for other in [
            ActorRef::agent("coder"),
            ActorRef::agent("reviewer"),
            ActorRef::system("ci"),
            ActorRef::mcp_client("desk"),
        ] {
            let refused = approval_by(&given, other).unwrap();
            assert!(refused.contains("approved by a person"), "{refused}");
        }
        assert_eq!(approval_by(&given, ActorRef::human("ada")), None);
    }
}

#[test]
fn who_asked_for_an_intent_does_not_approve_it() {
    let ada = ActorRef::human("ada");
    let given = Given::new().by(ada.clone()).command(risky(1, Risk::High));
    let refused = approval_by(&given, ada.clone()).unwrap();
    assert!(refused.contains("approval.own_requests"), "{refused}");
    assert_eq!(approval_by(&given, ActorRef::human("bob")), None);

    let allow = SetSetting {
        setting: Setting::OwnRequests,
        value: "true".into(),
    };
    assert_eq!(approval_by(&given.command(allow), ada), None);
}

/// What waits although the settings let its risk go may be let go by another agent.
#[test]
fn a_low_risk_that_waits_is_approved_by_anybody_but_who_asked() {
    let coder = ActorRef::agent("coder");
    let mut given = Given::new()
        .command(set(Setting::AutonomyThreshold, "none"))
        .by(coder.clone())
        .command(risky(1, Risk::Low))
        .by(ActorRef::human("ada"));
    given.execute(set(Setting::AutonomyThreshold, "low"));
    assert!(approval_by(&given, coder).is_some());
    assert_eq!(approval_by(&given, ActorRef::agent("reviewer")), None);
}

#[test]
fn what_the_settings_have_a_person_see_is_approved_by_a_person() {
    let declared = risky(1, Risk::Low);
    let by_rule = SubmitIntent {
        risk: None,
        work_type: Some(WorkType::Fix),
        ..risky(1, Risk::Low)
    };
    for (setting, value, submit) in [
        (Setting::AutonomyThreshold, "none", declared),
        (Setting::AutonomyThreshold, "none", by_rule.clone()),
        (Setting::TrustClassifier, "false", by_rule),
    ] {
        let given = Given::new()
            .command(set(setting, value))
            .by(ActorRef::agent("coder"))
            .command(submit);
        for other in [
            ActorRef::agent("reviewer"),
            ActorRef::system("ci"),
            ActorRef::mcp_client("desk"),
        ] {
            let refused = approval_by(&given, other).unwrap();
            assert!(refused.contains("approved by a person"), "{refused}");
            assert!(refused.contains(&setting.to_string()), "{refused}");
        }
        assert_eq!(approval_by(&given, ActorRef::human("ada")), None);
    }
}

#[test]
fn agents_do_not_set_how_approvals_are_given() {
    for (setting, value) in [
        (Setting::AutonomyThreshold, "high"),
        (Setting::TrustClassifier, "false"),
        (Setting::OwnRequests, "true"),
        (Setting::UnknownType, "audit"),
    ] {
        let set = SetSetting {
            setting,
            value: value.into(),
        };
        let by = |actor| Given::new().by(actor).decide(set.clone());
        for other in [ActorRef::agent("coder"), ActorRef::mcp_client("desk")] {
            let refused = by(other).unwrap_err().to_string();
            assert!(refused.contains("human or system"), "{refused}");
        }
        assert_eq!(by(ActorRef::human("ada")).unwrap().len(), 1);
    }
}

/// The infrastructure may have more checked, and people less.
#[test]
fn a_setting_that_weakens_a_check_is_a_persons() {
    let weaker = [
        set(Setting::AutonomyThreshold, "med"),
        set(Setting::OwnRequests, "true"),
        set(Setting::UnknownType, "fix"),
        set(Setting::MaxReviewRetries, "100"),
        set(Setting::MaxReviewRetries, "3"),
    ];
    for set in weaker {
        for other in [
            ActorRef::agent("coder"),
            ActorRef::mcp_client("desk"),
            ActorRef::system("ci"),
        ] {
            let refused = Given::new().by(other).decide(set.clone());
            assert!(
                matches!(refused, Err(Refusal::NotPermitted { .. })),
                "{set:?}"
            );
        }
        let by_a_person = Given::new().by(ActorRef::human("ada")).decide(set);
        assert_eq!(by_a_person.unwrap().len(), 1);
    }
    let stricter = [
        set(Setting::AutonomyThreshold, "none"),
        set(Setting::TrustClassifier, "false"),
        set(Setting::UnknownType, "audit"),
        set(Setting::MaxReviewRetries, "1"),
    ];
    for set in stricter {
        let by = Given::new().by(ActorRef::system("ci"));
        assert_eq!(by.decide(set).unwrap().len(), 1);
    }
    // What was made stricter is made weaker again by a person, too.
    let strict = Given::new().command(set(Setting::TrustClassifier, "false"));
    let back = set(Setting::TrustClassifier, "true");
    assert!(
        strict
            .clone()
            .by(ActorRef::system("ci"))
            .decide(back.clone())
            .is_err()
    );
    assert!(strict.by(ActorRef::human("ada")).decide(back).is_ok());
}
