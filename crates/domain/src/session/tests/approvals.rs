//! Approvals: the queue, what an approval grants, and how one is denied or
//! expires (dialects, B).

use super::*;
use crate::testing::texts;

fn guarded() -> PolicyProfile {
    PolicyProfile {
        require_approval_for_push: true,
        ..anything()
    }
}

/// An unanswered approval expires after a minute.
fn hurried(policy: PolicyProfile) -> Stage {
    Stage::of(CreateSession {
        approval_expiry_seconds: Some(60),
        ..create(SESSION, policy)
    })
}

// Asking.

#[test]
fn a_push_that_needs_an_approval_is_queued_and_asks_once() {
    let mut stage = Stage::under(guarded());
    assert_eq!(
        stage.when(submit(1, push("a"))),
        ["1 Push", "1 queued", r#"1 asks for ["Push"]"#]
    );
    assert_eq!(stage.status(), SessionStatus::NeedsApproval);
    assert_eq!(stage.when(submit(2, push("b"))), ["2 Push", "2 queued"]);
    assert_eq!(stage.session().pending.len(), 1);
}

#[test]
fn other_commands_run_while_approval_is_pending() {
    let mut stage = Stage::under(guarded()).after(submit(1, push("a")));
    assert_eq!(
        stage.when(submit(2, get_diff())),
        ["2 GetDiff", "2 accepted"]
    );
    assert_eq!(stage.status(), SessionStatus::NeedsApproval);
    let queue: Vec<CommandId> = stage.session().queue.iter().map(|w| w.command).collect();
    assert_eq!(queue, [id(1)]);
}

#[test]
fn only_pushes_need_an_approval() {
    let stage = Stage::under(guarded());
    for body in [commit(1), create_branch("a"), apply_patch(), run_tests()] {
        assert_eq!(stage.verdict(body), "CommandAccepted");
    }
    assert_eq!(stage.verdict(push("a")), "Queued");
}

#[test]
fn request_approval_makes_the_session_need_approval_too() {
    let mut stage = Stage::under(anything());
    assert_eq!(
        stage.when(submit(1, request_approval(&["deploy", "Push"]))),
        [
            "1 RequestApproval",
            "1 accepted",
            r#"1 asks for ["deploy", "Push"]"#
        ]
    );
    assert_eq!(stage.status(), SessionStatus::NeedsApproval);
    // It is a command like others: it was accepted, and has yet to end.
    assert_eq!(stage.when(succeeds(1)), ["1 Success"]);
}

#[test]
fn a_request_that_is_rejected_asks_for_nothing() {
    let mut stage = Stage::under(PolicyProfile {
        command_blacklist: Some(words(&["RequestApproval"])),
        ..anything()
    });
    stage.when(submit(1, request_approval(&["deploy"])));
    assert_eq!(stage.status(), SessionStatus::Running);
    assert!(stage.session().pending.is_empty());
}

#[test]
fn no_more_than_a_thousand_commands_wait_or_ask() {
    let mut waiting = Stage::under(guarded());
    for number in 1..=1_000 {
        waiting.when(submit(number, push("a")));
    }
    let mut asking = Stage::under(guarded());
    for number in 1..=1_000 {
        asking.when(submit(number, request_approval(&["deploy"])));
    }
    for mut stage in [waiting, asking] {
        for more in [push("a"), request_approval(&["deploy"])] {
            let says = "1000 commands of it wait for an approval";
            stage.check_invalid(submit(1_001, more), "session", says);
        }
        // What adds to neither is judged.
        assert_eq!(
            stage.when(submit(1_001, get_diff())),
            ["1001 GetDiff", "1001 accepted"]
        );
    }
}

// Approving.

#[test]
fn approving_returns_the_session_to_running_and_drains_the_queue_in_order() {
    let mut stage = Stage::under(guarded())
        .after(submit(3, push("c")))
        .after(submit(1, push("a")))
        .after(submit(2, push("b")));
    let reason = Some("looks fine".into());
    let given = ApproveSession {
        reason,
        ..approve()
    };
    assert_eq!(
        stage.when(given),
        [
            r#"approved ["Push"]: looks fine"#,
            "3 accepted",
            "1 accepted",
            "2 accepted"
        ]
    );
    assert_eq!(stage.status(), SessionStatus::Running);
}

#[test]
fn an_approval_is_sticky() {
    let mut stage = Stage::under(guarded())
        .after(submit(1, push("a")))
        .after(approve());
    assert_eq!(stage.when(submit(2, push("b"))), ["2 Push", "2 accepted"]);
    // Neither a pause nor an approval of something else takes it back.
    let later = stage
        .after(pause())
        .after(resume())
        .after(submit(3, request_approval(&["deploy"])))
        .after(approve());
    assert_eq!(later.verdict(push("c")), "CommandAccepted");
}

#[test]
fn policy_is_checked_again_when_the_queue_drains() {
    let mut stage = Stage::under(PolicyProfile {
        require_tests_before_push: true,
        ..guarded()
    })
    .after(submit(1, run_tests()))
    .after(succeeds(1))
    .after(submit(2, push("HEAD:a")))
    .after(submit(3, apply_patch()));
    assert_eq!(
        stage.when(approve()),
        [
            r#"approved ["Push"]"#,
            "2 rejected: Policy violation, Tests required before push"
        ]
    );
}

#[test]
fn rate_is_checked_again_when_the_queue_drains() {
    let limits = Some(RateLimits {
        calls_per_minute: Some(1),
        burst: Some(2),
        ..RateLimits::default()
    });
    let mut stage = Stage::under(PolicyProfile {
        limits,
        ..guarded()
    });
    for number in 1..=3 {
        stage.when(submit(number, push("a")));
    }
    assert_eq!(
        stage.at(5).when(approve()),
        [
            r#"approved ["Push"]"#,
            "1 accepted (shared)",
            "a token of Push for 1",
            "2 accepted (shared)",
            "a token of Push for 2",
            "3 throttled: Rate limit exceeded: 1970-01-01T00:01:05Z"
        ]
    );
    // A throttled command has its verdict: it does not wait any longer.
    assert!(stage.session().queue.is_empty());
}

#[test]
fn an_approval_grants_the_required_actions_that_it_names_and_no_others() {
    let mut stage = Stage::under(guarded())
        .after(submit(1, request_approval(&["deploy"])))
        .after(submit(2, push("a")));
    // The older one is answered; the push goes on waiting, and asking.
    assert_eq!(
        stage.when(approve()),
        [r#"approved ["deploy"]"#, r#"2 asks for ["Push"]"#]
    );
    assert_eq!(stage.status(), SessionStatus::NeedsApproval);
    assert_eq!(
        stage.when(approve()),
        [r#"approved ["Push"]"#, "2 accepted"]
    );
    assert_eq!(stage.status(), SessionStatus::Running);
}

/// Its tests may be run again before its own approval comes.
#[test]
fn a_push_that_goes_on_waiting_is_not_judged_by_another_approval() {
    let mut stage = Stage::under(PolicyProfile {
        require_tests_before_push: true,
        ..guarded()
    })
    .after(submit(1, run_tests()))
    .after(succeeds(1))
    .after(submit(2, request_approval(&["deploy"])))
    .after(submit(3, push("HEAD:a")))
    .after(submit(4, apply_patch()))
    .after(succeeds(4));
    assert_eq!(
        stage.when(approve()),
        [r#"approved ["deploy"]"#, r#"3 asks for ["Push"]"#]
    );
    let mut stage = stage.after(submit(5, run_tests())).after(succeeds(5));
    assert_eq!(
        stage.when(approve()),
        [r#"approved ["Push"]"#, "3 accepted"]
    );
}

#[test]
fn a_request_that_names_push_grants_it() {
    let mut stage = Stage::under(guarded())
        .after(submit(1, push("a")))
        .after(submit(2, request_approval(&["Push"])));
    // The push asks no more once another approval allows it.
    let of_request = ApproveSession {
        request: Some(id(2)),
        ..approve()
    };
    assert_eq!(
        stage.when(of_request),
        [r#"approved ["Push"]"#, "1 accepted"]
    );
    assert_eq!(stage.status(), SessionStatus::Running);
    assert_eq!(stage.verdict(push("b")), "CommandAccepted");
}

#[test]
fn the_approver_is_whoever_gives_the_command_and_may_name_the_request() {
    let stage = Stage::under(anything())
        .after(submit(1, request_approval(&["x"])))
        .after(submit(2, request_approval(&["y"])));
    let named = |number| ApproveSession {
        request: Some(id(number)),
        ..approve()
    };
    stage.check_invalid(named(3), "request", "asks for no approval");
    let mut stage = stage;
    assert_eq!(
        stage.when(named(2)),
        [r#"approved ["y"]"#, r#"1 asks for ["x"]"#]
    );
    stage.check_invalid(named(2), "request", "asks for no approval");
}

#[test]
fn nothing_is_approved_or_denied_where_nobody_asks() {
    let running = Stage::under(guarded());
    let paused = running.clone().after(pause());
    let over = running.clone().after(complete());
    for stage in [running, paused, over] {
        let state = stage.status().to_string();
        assert_eq!(
            stage.allowed_when(approve()),
            (state.clone(), "NeedsApproval")
        );
        assert_eq!(stage.allowed_when(deny("no")), (state, "NeedsApproval"));
    }
}

// Denying.

#[test]
fn a_denied_approval_rejects_the_queue_with_the_approvers_reason() {
    let mut stage = Stage::under(guarded())
        .after(submit(1, push("a")))
        .after(submit(2, push("b")));
    assert_eq!(
        stage.when(deny("not on a Friday")),
        [
            "1 rejected: not on a Friday, Approval denied",
            "2 rejected: not on a Friday, Approval denied",
            "denied: not on a Friday"
        ]
    );
    assert_eq!(stage.status(), SessionStatus::Running);
    // Nothing was granted: the next push asks again.
    assert_eq!(
        stage.when(submit(3, push("c"))),
        ["3 Push", "3 queued", r#"3 asks for ["Push"]"#]
    );
}

#[test]
fn a_denial_needs_a_reason() {
    let stage = Stage::under(guarded()).after(submit(1, push("a")));
    stage.check_invalid(deny(" "), "reason", "blank");
}

#[test]
fn other_explicit_requests_go_on_asking_after_a_denial() {
    let mut stage = Stage::under(guarded())
        .after(submit(1, push("a")))
        .after(submit(2, request_approval(&["deploy"])));
    assert_eq!(
        stage.when(deny("no")),
        [
            "1 rejected: no, Approval denied",
            "denied: no",
            r#"2 asks for ["deploy"]"#
        ]
    );
    assert_eq!(stage.status(), SessionStatus::NeedsApproval);
    assert_eq!(stage.when(approve()), [r#"approved ["deploy"]"#]);
}

#[test]
fn denying_a_request_rejects_the_pushes_that_wait_too() {
    let mut stage = Stage::under(guarded())
        .after(submit(1, request_approval(&["deploy"])))
        .after(submit(2, push("a")));
    assert_eq!(
        stage.when(deny("no")),
        ["2 rejected: no, Approval denied", "denied: no"]
    );
    assert_eq!(stage.status(), SessionStatus::Running);
    assert!(stage.session().pending.is_empty());
}

// Expiring.

#[test]
fn an_approval_expires_by_the_next_command() {
    let mut stage = hurried(guarded());
    stage.at(10).when(submit(1, push("a")));
    stage.at(20).when(submit(2, push("b")));
    assert_eq!(
        stage.at(70).when(submit(3, get_diff())),
        [
            "1 rejected: Approval expired, Approval expired",
            "2 rejected: Approval expired, Approval expired",
            "1 expired",
            "3 GetDiff",
            "3 accepted"
        ]
    );
    assert_eq!(stage.status(), SessionStatus::Running);
}

#[test]
fn the_command_that_finds_an_expired_approval_is_judged_after_it() {
    let mut stage = hurried(guarded());
    stage.when(submit(1, push("a")));
    assert_eq!(
        stage.at(60).when(submit(2, push("b"))),
        [
            "1 rejected: Approval expired, Approval expired",
            "1 expired",
            "2 Push",
            "2 queued",
            r#"2 asks for ["Push"]"#
        ]
    );
    // The new one has a minute of its own.
    let expires = stage.session().pending[0].expires_at;
    assert_eq!(expires, Some(at_millis(120_000)));
}

#[test]
fn an_approval_expires_by_expire_approvals() {
    let mut stage = hurried(guarded());
    stage.when(submit(1, push("a")));
    assert!(stage.at_millis(59_999).when(expire()).is_empty());
    assert_eq!(
        stage.at(60).when(expire()),
        [
            "1 rejected: Approval expired, Approval expired",
            "1 expired"
        ]
    );
    assert!(stage.when(expire()).is_empty());
}

#[test]
fn without_the_setting_nothing_expires() {
    let mut stage = Stage::under(guarded()).after(submit(1, push("a")));
    assert_eq!(stage.session().pending[0].expires_at, None);
    assert!(stage.at(1_000_000_000).when(expire()).is_empty());
    assert_eq!(
        stage.when(approve()),
        [r#"approved ["Push"]"#, "1 accepted"]
    );
}

#[test]
fn an_expired_approval_can_be_neither_approved_nor_denied() {
    let mut stage = hurried(guarded());
    stage.when(submit(1, push("a")));
    stage.at_millis(59_999);
    assert!(stage.given.decide(approve()).is_ok());
    stage.at(60);
    stage.check_invalid(approve(), "request", "expired");
    stage.check_invalid(deny("no"), "request", "expired");
}

#[test]
fn other_explicit_requests_go_on_asking_after_an_expiry() {
    let mut stage = hurried(guarded());
    stage.when(submit(1, request_approval(&["x"])));
    stage.at(30).when(submit(2, push("a")));
    stage.when(submit(3, request_approval(&["y"])));
    assert_eq!(
        stage.at(60).when(expire()),
        [
            "2 rejected: Approval expired, Approval expired",
            "1 expired",
            r#"3 asks for ["y"]"#
        ]
    );
    assert_eq!(stage.status(), SessionStatus::NeedsApproval);
    // It asks until the time that it had from the beginning.
    assert_eq!(stage.at(90).when(expire()), ["3 expired"]);
    assert_eq!(stage.status(), SessionStatus::Running);
}

#[test]
fn an_expiry_beyond_all_time_is_the_latest_time() {
    let mut stage = Stage::of(CreateSession {
        approval_expiry_seconds: Some(u64::MAX),
        ..create(SESSION, guarded())
    });
    stage.when(submit(1, push("a")));
    assert_eq!(
        stage.session().pending[0].expires_at,
        Some(bucket::latest())
    );
}

/// A clock that goes back does not bring an answer's time back either.
#[test]
fn an_expiry_is_by_the_times_of_the_commands() {
    let mut stage = hurried(guarded());
    stage.at(100).when(submit(1, push("a")));
    assert!(stage.at(50).when(expire()).is_empty());
    assert!(stage.given.decide(approve()).is_ok());
    assert_eq!(stage.at(160).when(expire()).len(), 2);
}

#[test]
fn the_reasons_are_content() {
    let stage = Stage::under(guarded()).after(submit(1, push("a")));
    let emitted = stage.given.decide(deny("not now")).unwrap();
    assert_eq!(texts(&emitted), [["not now"], ["not now"]]);
}
