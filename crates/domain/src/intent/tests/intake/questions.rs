//! What is asked and answered about an intent, what else is said, and what its
//! work waits for (docs/spec/forge.md).

use super::*;

#[test]
fn questions_are_numbered_in_the_order_in_which_they_are_asked() {
    let mut given = Given::new().command(risky(1, Risk::High));
    let emitted = given.execute(ask(1, &["which list?", "how many?"]));
    assert_eq!(texts(&emitted), [["which list?", "how many?"]]);
    given.execute(ask(1, &["since when?"]));
    assert_eq!(state(&given, 1).questions, 3);
    assert!(state(&given, 1).needs_clarification());
    // Any of them may be answered first; without a number it is the next one.
    for (question, answered) in [(Some(1), 1), (None, 0), (None, 2)] {
        let emitted = given.execute(answer(1, question));
        let expected = ClarificationAnswered {
            question: answered,
            answer: crate::Slot(0),
        };
        assert_eq!(events(&emitted), [intent_event(expected)]);
        assert_eq!(texts(&emitted), [["both"]]);
    }
    assert!(!state(&given, 1).needs_clarification());
}

#[test]
fn an_unknown_or_answered_question_is_refused() {
    let mut given = Given::new()
        .command(risky(1, Risk::High))
        .command(ask(1, &["a", "b"]))
        .command(answer(1, Some(0)));
    let message = |given: &Given, question| {
        let refusal = given.decide(answer(1, Some(question))).unwrap_err();
        assert!(
            matches!(
                &refusal,
                Refusal::Invalid {
                    field: "question",
                    ..
                }
            ),
            "{refusal}"
        );
        refusal.to_string()
    };
    assert!(message(&given, 2).contains("there is no question 2; the last one is 1"));
    assert!(message(&given, 0).contains("question 0 has its answer; the next without one is 1"));
    given.execute(answer(1, None));
    for question in [None, Some(0), Some(1)] {
        let refusal = given.decide(answer(1, question)).unwrap_err();
        assert!(
            matches!(&refusal, Refusal::Transition { state, .. } if state == "without an open question"),
            "{refusal}"
        );
    }
}

#[test]
fn one_to_a_hundred_questions_are_asked_at_once() {
    let given = Given::new().command(risky(1, Risk::High));
    assert!(given.decide(ask(1, &["?"; 100])).is_ok());
    for count in [0, 101] {
        check_blank(given.decide(ask(1, &vec!["?"; count])), "questions");
    }
}

#[test]
fn the_last_answer_returns_an_executing_intent_to_approved() {
    let mut given = Given::new()
        .command(risky(1, Risk::Low))
        .command(start(1))
        .command(ask(1, &["a", "b"]));
    assert_eq!(status(&given, 1), ApprovalStatus::Executing);
    given.execute(answer(1, None));
    assert_eq!(status(&given, 1), ApprovalStatus::Executing);
    given.execute(answer(1, None));
    assert_eq!(status(&given, 1), ApprovalStatus::Approved);
    assert!(given.decide(start(1)).is_ok());
}

#[test]
fn the_last_answer_leaves_a_proposed_intent_proposed() {
    let given = Given::new()
        .command(risky(1, Risk::High))
        .command(ask(1, &["a"]))
        .command(answer(1, None));
    assert_eq!(status(&given, 1), ApprovalStatus::Proposed);
}

// What turns it down, and what else is said.

#[test]
fn a_rejected_intent_is_cancelled_for_document_000_with_the_reason() {
    let mut given = Given::new().command(risky(1, Risk::High));
    let emitted = given.execute(RejectIntent {
        reason: Some("not now".into()),
        ..reject(1)
    });
    assert_eq!(names(&emitted), ["intent.rejected"]);
    assert_eq!(texts(&emitted), [["not now"]]);
    assert_eq!(state(&given, 1).life, Life::Cancelled);
    assert_eq!(status(&given, 1), ApprovalStatus::Rejected);
    let refusal = given.decide(analyze()).unwrap_err();
    check_transition(&refusal, "cancelled", "analyze_intent");
}

#[test]
fn instructions_are_kept_and_change_nothing_else() {
    let mut given = Given::new().command(risky(1, Risk::High));
    let before = state(&given, 1);
    let emitted = given.execute(instruct(1, "with a limit"));
    assert_eq!(names(&emitted), ["intent.instructed"]);
    assert_eq!(texts(&emitted), [["with a limit"]]);
    assert_eq!(state(&given, 1), before);
}

// When work begins.

#[test]
fn work_waits_for_answers() {
    let mut given = Given::new()
        .command(risky(1, Risk::Low))
        .command(ask(1, &["a"]));
    let refusal = given.decide(start(1)).unwrap_err();
    check_transition(&refusal, "waiting for an answer", "start_execution");
    given.execute(answer(1, None));
    let emitted = given.execute(start(1));
    assert_eq!(events(&emitted), [intent_event(ExecutionStarted {})]);
}

#[test]
fn a_commit_is_recorded_once_work_may_begin() {
    let commit = RecordCommit {
        intent: intent(1),
        commit: "a".repeat(40).parse().unwrap(),
    };
    let submitted = |depends_on: &[IntentId], child_of| SubmitIntent {
        depends_on: depends_on.to_vec(),
        child_of,
        ..risky(1, Risk::Low)
    };
    let after_another = SubmitIntent {
        depends_on: vec![intent(2)],
        ..risky(3, Risk::Low)
    };
    let others = Given::new()
        .command(risky(2, Risk::Low))
        .command(after_another);
    let asked = others.clone().command(submitted(&[], None));
    let waits = [
        (asked.clone().command(ask(1, &["a"])), "an answer"),
        (
            others.clone().command(submitted(&[intent(2)], None)),
            "intent",
        ),
        (others.command(submitted(&[], Some(intent(3)))), "intent"),
    ];
    for (given, what) in waits {
        let says = given.decide(commit.clone()).unwrap_err().to_string();
        assert!(says.contains(&format!("waiting for {what}")), "{says}");
    }
    assert!(asked.decide(commit.clone()).is_ok());
    // A question stops nothing of what is executing.
    let executing = asked.command(start(1)).command(ask(1, &["a"]));
    assert!(executing.decide(commit).is_ok());
}

#[test]
fn work_waits_for_the_intents_that_it_depends_on() {
    let mut given = Given::new().command(risky(2, Risk::Low));
    given.execute(SubmitIntent {
        depends_on: vec![intent(2)],
        ..risky(1, Risk::Low)
    });
    let waits = |given: &Given, status: &str| {
        let refusal = given.decide(start(1)).unwrap_err();
        let state = format!("waiting for intent {}, which is {status}", intent(2));
        check_transition(&refusal, &state, "start_execution");
    };
    waits(&given, "approved");
    given.execute(task_of(2, 21));
    given.execute(start(2));
    waits(&given, "executing");
    let failed = given.clone().command(fail_task(21));
    waits(&failed, "error");
    finish_task(&mut given, 21);
    assert!(given.decide(start(1)).is_ok());
}
