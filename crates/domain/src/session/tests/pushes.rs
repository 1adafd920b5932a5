//! Tests before a push: they count as passed only if a RunTests completed with
//! Success after the last ApplyPatch or Commit (dialects, B).

use super::*;
use crate::Pieces;
use crate::testing::stream;

const REQUIRED: &str = "Policy violation: Tests required before push";
const FINE: &str = "CommandAccepted";

fn stage() -> Stage {
    Stage::under(PolicyProfile {
        require_tests_before_push: true,
        ..anything()
    })
}

/// Demands what a push meets with after these steps: `T1` and `P1` are given,
/// `+1` ends with Success and `-1` with Failure.
#[track_caller]
fn check(steps: &str, verdict: &str) {
    let mut stage = stage();
    for step in steps.split_whitespace() {
        let (sign, number) = step.split_at(1);
        let number: u128 = number.parse().unwrap();
        stage = match sign {
            "T" => stage.after(submit(number, run_tests())),
            "P" => stage.after(submit(number, apply_patch())),
            "C" => stage.after(submit(number, commit(1))),
            "D" => stage.after(submit(number, get_diff())),
            "B" => stage.after(submit(number, create_branch("b"))),
            "+" => stage.after(succeeds(number)),
            "-" => stage.after(fails(number)),
            other => panic!("unknown step {other}"),
        };
    }
    assert_eq!(stage.verdict(push("HEAD:b")), verdict, "{steps}");
}

#[test]
fn a_push_without_tests_is_rejected() {
    check("", REQUIRED);
    check("T1", REQUIRED);
    check("T1 -1", REQUIRED);
    check("D1 +1", REQUIRED);
}

#[test]
fn a_push_after_tests_that_passed_is_accepted() {
    check("T1 +1", FINE);
    check("P1 +1 T2 +2", FINE);
    check("P1 +1 C2 +2 T3 +3", FINE);
    check("P1 -1 T2 +2", FINE);
}

#[test]
fn tests_before_the_last_change_do_not_count() {
    for change in ["P", "C"] {
        check(&format!("T1 +1 {change}2"), REQUIRED);
        check(&format!("T1 +1 {change}2 +2"), REQUIRED);
        // What failed may have changed something.
        check(&format!("T1 +1 {change}2 -2"), REQUIRED);
        check(&format!("T1 +1 {change}2 +2 T3 +3"), FINE);
    }
}

#[test]
fn tests_that_began_before_a_change_do_not_count() {
    for change in ["P", "C"] {
        check(&format!("T1 {change}2 +1"), REQUIRED);
        check(&format!("T1 {change}2 +1 +2"), REQUIRED);
        check(&format!("T1 {change}2 +2 +1"), REQUIRED);
        check(&format!("T1 {change}2 +2 +1 T3 +3"), FINE);
    }
}

/// Tests that began while a change went on may have seen half of it.
#[test]
fn tests_that_began_before_a_change_ended_do_not_count() {
    check("P1 T2 +1 +2", REQUIRED);
    check("P1 T2 -1 +2", REQUIRED);
    check("P1 T2 +2 +1", REQUIRED);
    check("P1 +1 T2 +2", FINE);
}

#[test]
fn of_two_tests_one_that_passed_is_enough() {
    check("T1 T2 +1 -2", FINE);
    check("T1 T2 -1 +2", FINE);
    check("T1 -1 T2 +2", FINE);
    check("T1 P2 +2 T3 +3 +1", FINE);
    check("T1 P2 +2 T3 +3 -1", FINE);
}

#[test]
fn what_changes_no_code_needs_no_new_tests() {
    check("T1 +1 D2 +2 B3 +3", FINE);
    check("T1 +1 T2 -2", FINE);
}

#[test]
fn a_change_that_is_rejected_is_none() {
    let mut stage = Stage::under(PolicyProfile {
        require_tests_before_push: true,
        max_files_per_commit: Some(1),
        ..anything()
    })
    .after(submit(1, run_tests()))
    .after(succeeds(1));
    assert_eq!(
        stage.when(submit(2, commit(2))),
        [
            "2 Commit",
            "2 rejected: Policy violation, Too many files in commit"
        ]
    );
    assert_eq!(stage.verdict(push("HEAD:b")), FINE);
}

#[test]
fn a_policy_that_requires_no_tests_looks_at_none() {
    assert_eq!(Stage::under(anything()).verdict(push("b")), FINE);
}

#[test]
fn tests_are_required_of_pushes_alone() {
    for body in [commit(1), create_branch("b"), apply_patch(), get_diff()] {
        assert_eq!(stage().verdict(body), FINE);
    }
}

/// The session's tests ran on a branch, and passed.
fn tested_on(branch: &str) -> Stage {
    stage()
        .after(submit(1, create_branch(branch)))
        .after(succeeds(1))
        .after(submit(2, run_tests()))
        .after(succeeds(2))
}

#[test]
fn tests_count_for_the_branch_that_they_ran_on() {
    for created in ["topic", "refs/heads/topic"] {
        let stage = tested_on(created);
        for pushed in [
            "topic",
            "+topic",
            "refs/heads/topic",
            "heads/topic",
            "+heads/topic:elsewhere",
            "topic:elsewhere",
            "HEAD",
            "HEAD:elsewhere",
            "@:elsewhere",
            ":gone",
        ] {
            assert_eq!(stage.verdict(push(pushed)), FINE, "{created}: {pushed}");
        }
        for pushed in [
            "x:topic",
            "heads/x",
            "refs/heads/heads/topic",
            "+x:topic",
            "x",
            "refs/tags/topic:topic",
            "HEAD~1:topic",
            "topic^:topic",
            "0123456789012345678901234567890123456789:topic",
            ":",
        ] {
            assert_eq!(stage.verdict(push(pushed)), REQUIRED, "{created}: {pushed}");
        }
    }
    // The branch that was created last is the one that is checked out.
    let stage = tested_on("topic")
        .after(submit(3, create_branch("next")))
        .after(succeeds(3));
    assert_eq!(stage.verdict(push("topic")), REQUIRED);
    assert_eq!(stage.verdict(push("next")), FINE);
}

#[test]
fn what_is_checked_out_is_said_where_the_session_does_not_know_it() {
    let stage = stage().after(submit(1, run_tests())).after(succeeds(1));
    for pushed in ["topic", "x:topic", "HEAD~1:topic"] {
        stage.check_invalid(submit(2, push(pushed)), "branchName", "as HEAD:BRANCH");
    }
    assert_eq!(stage.verdict(push("HEAD:topic")), FINE);
    // Where no tests passed, no word helps; and where none are required, none is needed.
    let untested = stage.after(submit(3, apply_patch()));
    assert_eq!(untested.verdict(push("topic")), REQUIRED);
    assert_eq!(Stage::under(anything()).verdict(push("x:topic")), FINE);
}

/// It was let wait by a version that did not look at what it pushes.
#[test]
fn a_push_that_waits_and_of_which_too_little_is_known_is_rejected() {
    let policy = PolicyProfile {
        require_tests_before_push: true,
        require_approval_for_push: true,
        ..anything()
    };
    let mut stage = Stage::under(policy)
        .after(submit(1, run_tests()))
        .after(succeeds(1));
    let correlation = Correlation {
        command: Some(id(2)),
        ..Correlation::default()
    };
    let received = CommandReceived {
        command: id(2),
        facts: push("topic").facts(),
        correlation: correlation.clone(),
        body: Pieces::new().text("{}"),
        files: None,
        file: None,
    };
    let queued = CommandQueued {
        command: id(2),
        correlation,
    };
    let asked = ApprovalRequired {
        request: id(2),
        actions: words(&["Push"]),
        explicit: false,
        expires_at: None,
    };
    for event in [received.into(), queued.into(), Event::from(asked)] {
        let event = AnyEvent::Session(event);
        stage.given = stage.given.event(stream(StreamKind::Session, 1), event);
    }
    assert_eq!(
        stage.when(approve()),
        [
            r#"approved ["Push"]"#,
            "2 rejected: Policy violation, Tests required before push"
        ]
    );
}

#[test]
fn tests_do_not_count_for_a_branch_that_starts_elsewhere() {
    let from = |from_ref: Option<&str>| CreateBranch {
        repo: repo("/app"),
        branch_name: "b".into(),
        from_ref: from_ref.map(str::to_owned),
    };
    let policy = PolicyProfile {
        require_tests_before_push: true,
        ..anything()
    };
    let tested = Stage::under(policy)
        .after(submit(1, run_tests()))
        .after(succeeds(1));
    for (start, counts) in [
        (None, true),
        (Some("HEAD"), true),
        (Some("@"), true),
        (Some("origin/untested"), false),
        (Some("HEAD~1"), false),
        (Some("head"), false),
    ] {
        let begun = tested.clone().after(submit(2, from(start)));
        let branched = begun.clone().after(succeeds(2));
        for text in ["b", "HEAD", "HEAD:t"] {
            let verdict = branched.verdict(push(text));
            assert_eq!(verdict == FINE, counts, "{start:?}, {text}: {verdict}");
        }
        // Tests that ran while it was created may have run on either.
        let meanwhile = begun
            .after(submit(3, run_tests()))
            .after(succeeds(3))
            .after(succeeds(2));
        assert_eq!(meanwhile.verdict(push("b")) == FINE, counts);
        let again = meanwhile.after(submit(4, run_tests())).after(succeeds(4));
        assert_eq!(again.verdict(push("b")), FINE);
    }
}
