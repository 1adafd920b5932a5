//! What given/when/then prints, and that it fails where it must.

use std::panic::{AssertUnwindSafe, catch_unwind};

use annals_domain::task::{self, CancelTask, CreateTask};
use annals_domain::{Refusal, RunId, TaskId};
use annals_testkit::given::{Decision, Objects, Scenario, given, happened};
use uuid::Uuid;

const TASK: TaskId = TaskId(Uuid::from_u128(1));

fn created() -> Scenario<Objects> {
    given([]).after(CreateTask::new("mend the parser").with_id(TASK))
}

fn cancel() -> Decision<Objects> {
    created().when(CancelTask::new(TASK))
}

fn message(fails: impl FnOnce()) -> String {
    let panic = catch_unwind(AssertUnwindSafe(fails)).expect_err("it must fail");
    panic.downcast_ref::<String>().expect("a message").clone()
}

#[test]
fn a_difference_is_printed_line_by_line() {
    let message = message(|| {
        cancel().then([happened(
            TASK.stream(),
            task::Event::from(task::Done {
                run: RunId(Uuid::nil()),
            }),
        )]);
    });
    for part in [
        "given\n  CreateTask(",
        "when CancelTask(",
        "(- expected, + found)",
        "-             Done(",
        "+             Cancelled(",
    ] {
        assert!(message.contains(part), "{part:?} is missing in:\n{message}");
    }
}

#[test]
fn a_refusal_that_is_not_expected_and_one_that_is_missing_fail() {
    let cancelled = || created().after(CancelTask::new(TASK));
    let again = || cancelled().when(CancelTask::new(TASK));
    again().then_refused(|refusal| matches!(refusal, Refusal::Transition { .. }));
    assert!(message(|| again().then_nothing()).contains("it was refused"));
    let other = message(|| again().then_refused(|it| matches!(it, Refusal::NotFound { .. })));
    assert!(other.contains("refused for another reason"), "{other}");
    let accepted = message(|| cancel().then_refused(|_| true));
    assert!(accepted.contains("it was accepted"), "{accepted}");
    let before = message(|| {
        let _ = cancelled().after(CancelTask::new(TASK));
    });
    assert!(before.contains("the last of these was refused"), "{before}");
}

#[test]
fn events_can_be_given_instead_of_commands() {
    let title = created().decide(CreateTask::new("x")).unwrap();
    let text = String::from_utf8(title[0].pieces.list()[0].bytes.to_vec());
    assert_eq!(text.unwrap(), "x");
    let task::Event::Created(event) = (match &title[0].event {
        annals_domain::AnyEvent::Task(event) => event.clone(),
        other => panic!("{other:?}"),
    }) else {
        panic!("another event");
    };
    given([happened(TASK.stream(), task::Event::from(event))])
        .when(CancelTask::new(TASK))
        .then([happened(
            TASK.stream(),
            task::Event::from(task::Cancelled::default()),
        )]);
}
