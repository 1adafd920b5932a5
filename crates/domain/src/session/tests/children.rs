//! A session that another one begins: never freer than that.

use super::*;
use crate::Ordered;

const CHILD: SessionId = SessionId(Uuid::from_u128(2));

fn child(policy: PolicyProfile) -> CreateSession {
    let mut create = create(CHILD, policy);
    create.config.parent_session_id = Some(SESSION.0);
    create
}

fn in_child(number: u128, body: CommandBody) -> SubmitCommand {
    SubmitCommand {
        session: CHILD,
        ..submit(number, body)
    }
}

fn strict() -> PolicyProfile {
    PolicyProfile {
        name: "strict".into(),
        command_whitelist: Some(words(&["Commit", "Push", "RunTests", "TransitionTicket"])),
        command_blacklist: Some(words(&["TransitionTicket"])),
        protected_branches: words(&["main", "release/*"]),
        max_files_per_commit: Some(5),
        require_tests_before_push: true,
        require_approval_for_push: true,
        allowed_work_item_transitions: Some(words(&["Open->Done"])),
        limits: Some(RateLimits {
            calls_per_minute: Some(10),
            burst: Some(3),
            per_command_caps: Some(Ordered(vec![("Push".into(), 2)])),
        }),
        ..anything()
    }
}

#[test]
fn a_child_is_as_strict_as_its_parent_or_stricter() {
    let stage = Stage::under(strict());
    for policy in [
        strict(),
        PolicyProfile {
            name: "stricter".into(),
            command_whitelist: Some(words(&["Commit"])),
            command_blacklist: None,
            protected_branches: words(&["*"]),
            max_files_per_commit: Some(1),
            allowed_work_item_transitions: Some(vec![]),
            ..strict()
        },
    ] {
        let decided = stage.given.decide(child(policy));
        assert!(decided.is_ok(), "{decided:?}");
    }
    let freer: [(&str, PolicyProfile); 12] = [
        ("policy.commandWhitelist", anything()),
        (
            "policy.commandWhitelist",
            PolicyProfile {
                command_blacklist: None,
                ..strict()
            },
        ),
        (
            "policy.protectedBranches",
            PolicyProfile {
                protected_branches: words(&["main"]),
                ..strict()
            },
        ),
        (
            "policy.protectedBranches",
            PolicyProfile {
                protected_branches: words(&["main", "release/?"]),
                ..strict()
            },
        ),
        (
            "policy.protectedBranches",
            PolicyProfile {
                protected_branches: vec![],
                ..strict()
            },
        ),
        (
            "policy.maxFilesPerCommit",
            PolicyProfile {
                max_files_per_commit: None,
                ..strict()
            },
        ),
        (
            "policy.maxFilesPerCommit",
            PolicyProfile {
                max_files_per_commit: Some(6),
                ..strict()
            },
        ),
        (
            "policy.requireTestsBeforePush",
            PolicyProfile {
                require_tests_before_push: false,
                ..strict()
            },
        ),
        (
            "policy.filteredTestsCount",
            PolicyProfile {
                filtered_tests_count: true,
                ..strict()
            },
        ),
        (
            "policy.requireApprovalForPush",
            PolicyProfile {
                require_approval_for_push: false,
                ..strict()
            },
        ),
        (
            "policy.allowedWorkItemTransitions",
            PolicyProfile {
                allowed_work_item_transitions: None,
                ..strict()
            },
        ),
        (
            "policy.limits",
            PolicyProfile {
                limits: None,
                ..strict()
            },
        ),
    ];
    for (field, policy) in freer {
        stage.check_invalid(child(policy), field, "never freer than its parent");
    }
    let more = |limits: RateLimits| PolicyProfile {
        limits: Some(limits),
        ..strict()
    };
    let limits = strict().limits.unwrap();
    for limits in [
        RateLimits {
            calls_per_minute: Some(11),
            ..limits.clone()
        },
        RateLimits {
            burst: None,
            ..limits.clone()
        },
        RateLimits {
            per_command_caps: Some(Ordered(vec![("Push".into(), 3)])),
            ..limits.clone()
        },
        RateLimits {
            per_command_caps: Some(Ordered(vec![("Push".into(), 2), ("Commit".into(), 99)])),
            ..limits
        },
    ] {
        stage.check_invalid(child(more(limits)), "policy.limits", "more often");
    }
}

#[test]
fn a_child_begins_in_its_parents_repository_while_that_is_open() {
    let stage = Stage::under(anything());
    let mut elsewhere = child(anything());
    elsewhere.config.repo = repo("/other");
    stage.check_invalid(elsewhere, "config.repo.path", "another repository");
    let closed: [Command; 3] = [abort().into(), complete().into(), pause().into()];
    for closed in closed {
        let stage = stage.clone().after(closed);
        stage.check_invalid(
            child(anything()),
            "config.parentSessionId",
            "begins no session now",
        );
    }
}

#[test]
fn a_child_does_nothing_while_its_parent_is_paused_or_over() {
    let stage = Stage::under(anything()).after(child(anything()));
    let verdict = |stage: &Stage| {
        said(&stage.given.decide(in_child(9, get_diff())).unwrap())
            .pop()
            .unwrap()
    };
    assert_eq!(verdict(&stage), "9 accepted");
    let paused = stage.clone().after(pause());
    assert_eq!(
        verdict(&paused),
        "9 rejected: Parent: Session is paused, Parent session closed"
    );
    assert_eq!(verdict(&paused.after(resume())), "9 accepted");
    assert_eq!(
        verdict(&stage.clone().after(abort())),
        "9 rejected: Parent: Session is in terminal state: Error, Parent session closed"
    );
    // And so does a child of a child.
    let third = SessionId(Uuid::from_u128(3));
    let mut grandchild = child(anything());
    grandchild.config.session_id = third;
    grandchild.config.parent_session_id = Some(CHILD.0);
    let stage = stage.after(grandchild).after(complete());
    let command = SubmitCommand {
        session: third,
        ..submit(9, get_diff())
    };
    let said = said(&stage.given.decide(command).unwrap()).pop().unwrap();
    assert!(said.contains("Parent session closed"), "{said}");
}

#[test]
fn what_waits_in_a_child_is_not_accepted_under_a_closed_parent() {
    let policy = PolicyProfile {
        require_approval_for_push: true,
        ..anything()
    };
    let mut stage = Stage::under(anything())
        .after(child(policy))
        .after(in_child(1, push("a")))
        .after(abort());
    let approve = ApproveSession {
        session: CHILD,
        ..approve()
    };
    assert_eq!(
        stage.when(approve),
        [
            r#"approved ["Push"]"#,
            "1 rejected: Parent: Session is in terminal state: Error, Parent session closed"
        ]
    );
}

/// A policy of one call a minute and one push.
fn slow(name: &str) -> PolicyProfile {
    PolicyProfile {
        name: name.into(),
        limits: Some(RateLimits {
            calls_per_minute: Some(1),
            burst: Some(1),
            per_command_caps: Some(Ordered(vec![("Push".into(), 1)])),
        }),
        ..anything()
    }
}

#[test]
fn what_a_child_does_counts_as_its_parents() {
    let mut begun = child(slow("of the child"));
    begun.config.agent_profile = "another".into();
    let stage = Stage::under(slow("of the parent")).after(begun);
    let verdict = |stage: &Stage, command: SubmitCommand| {
        let emitted = stage.given.decide(command).unwrap();
        matches!(Verdict::among(&emitted), Some((_, _, Verdict::Accepted)))
    };
    for body in [get_diff(), push("a")] {
        // The parent's token is gone, and so is the child's.
        let used = stage.clone().after(submit(1, body.clone()));
        assert!(!verdict(&used, in_child(2, body.clone())));
        // The child's is gone, and so is the parent's.
        let used = stage.clone().after(in_child(1, body.clone()));
        assert!(!verdict(&used, submit(2, body.clone())));
        assert!(!verdict(&used, in_child(2, body)));
    }
    // Of the two a token was taken once each.
    let mut used = stage.clone();
    let taken = used.given.execute(in_child(1, get_diff()));
    let taken = taken
        .iter()
        .filter(|one| matches!(one.event, AnyEvent::Bucket(_)));
    assert_eq!(taken.count(), 2);
    // Where the child shares its parent's bucket, it is one.
    let mut same = Stage::under(slow("p")).after(child(slow("p")));
    let taken = same.given.execute(in_child(1, get_diff()));
    let taken = taken
        .iter()
        .filter(|one| matches!(one.event, AnyEvent::Bucket(_)));
    assert_eq!(taken.count(), 1);
}

/// A session under a policy that asks for tests, with a child.
fn tested_family() -> (Stage, CreateSession) {
    let policy = PolicyProfile {
        require_tests_before_push: true,
        max_files_per_commit: Some(2),
        ..anything()
    };
    (Stage::under(policy.clone()), child(policy))
}

fn ends_in(session: SessionId, number: u128) -> CompleteCommand {
    CompleteCommand {
        session,
        ..succeeds(number)
    }
}

#[test]
fn a_change_by_a_child_voids_the_tests_of_its_parent_and_the_other_way_round() {
    const UNTESTED: &str = "Policy violation: Tests required before push";
    let (stage, begun) = tested_family();
    let verdict_in = |stage: &Stage, session: SessionId| {
        let command = SubmitCommand {
            session,
            ..submit(99, push("HEAD:t"))
        };
        said(&stage.given.decide(command).unwrap()).pop().unwrap()
    };
    let mut begun = stage.after(begun);
    let third = SessionId(Uuid::from_u128(3));
    let mut sibling = child(begun.session().policy.as_deref().unwrap().clone());
    sibling.config.session_id = third;
    begun.given.execute(sibling);
    for (tester, other) in [(SESSION, CHILD), (CHILD, SESSION), (CHILD, third)] {
        let given_in = |session: SessionId, number: u128, body: CommandBody| SubmitCommand {
            session,
            ..submit(number, body)
        };
        let mut stage = begun.clone();
        stage.at(1);
        // A change that goes on while the tests run.
        let mut slow = stage.clone().after(given_in(other, 3, apply_patch()));
        for stage in [&mut stage, &mut slow] {
            stage.at(2);
            stage.given.execute(given_in(tester, 1, run_tests()));
            stage.at(3);
            stage.given.execute(ends_in(tester, 1));
            assert_eq!(verdict_in(stage, tester), "99 accepted");
        }
        slow.at(4);
        slow.given.execute(ends_in(other, 3));
        assert!(verdict_in(&slow, tester).contains(UNTESTED.split_once(": ").unwrap().1));
        stage.at(4);
        // What changes nothing voids nothing.
        stage.given.execute(given_in(other, 2, get_diff()));
        assert_eq!(verdict_in(&stage, tester), "99 accepted");
        stage.given.execute(given_in(other, 3, apply_patch()));
        assert!(verdict_in(&stage, tester).contains("Tests required before push"));
        // Tests that begin after it count again.
        stage.at(5);
        stage.given.execute(ends_in(other, 3));
        stage.at(6);
        stage.given.execute(given_in(tester, 4, run_tests()));
        stage.given.execute(ends_in(tester, 4));
        assert_eq!(verdict_in(&stage, tester), "99 accepted");
    }
}

#[test]
fn a_change_of_a_family_ends_when_that_is_recorded() {
    let (stage, begun) = tested_family();
    let mut stage = stage.after(begun);
    stage.at(10);
    stage.given.execute(in_child(1, apply_patch()));
    stage.given.execute(in_child(2, get_diff()));
    stage.given = stage
        .given
        .clone()
        .at(at_millis(5_000))
        .decided_at(at_millis(20_000));
    stage.check_invalid(ends_in(CHILD, 1), "at", "before the log's clock");
    assert!(stage.given.decide(ends_in(CHILD, 2)).is_ok());
    // A session that shares its repository with none says when its changes ended.
    let mut alone = Stage::under(anything());
    alone.at(10);
    alone.given.execute(submit(1, apply_patch()));
    alone.given = alone
        .given
        .clone()
        .at(at_millis(5_000))
        .decided_at(at_millis(20_000));
    assert!(alone.given.decide(succeeds(1)).is_ok());
}

#[test]
fn a_child_amends_no_commit_of_its_parent_to_one_of_more_files_than_the_limit() {
    let commits = |session: SessionId, number: u128, files: &[&str], amend: bool| SubmitCommand {
        files: Some(words(files)),
        session,
        ..submit(
            number,
            Commit {
                repo: repo("/app"),
                message: "m".into(),
                include_paths: words(files),
                amend,
            },
        )
    };
    let amends = |stage: &Stage, session: SessionId, files: &[&str]| {
        let emitted = stage
            .given
            .decide(commits(session, 99, files, true))
            .unwrap();
        !said(&emitted).concat().contains("Too many files")
    };
    let (stage, begun) = tested_family();
    let mut stage = stage.after(begun);
    stage.at(1);
    stage.given.execute(commits(SESSION, 1, &["a", "b"], false));
    stage.at(2);
    assert!(!amends(&stage, CHILD, &["c"]));
    assert!(amends(&stage, CHILD, &["b"]));
    // While it goes on, either may be the last one.
    let overlap = stage.clone().after(commits(CHILD, 2, &["c"], false));
    for session in [SESSION, CHILD] {
        assert!(!amends(&overlap, session, &["d"]));
    }
    stage.given.execute(ends_in(SESSION, 1));
    stage.at(3);
    // The last commit counts, whichever session made it.
    stage.given.execute(commits(CHILD, 2, &["c"], false));
    stage.at(4);
    for session in [SESSION, CHILD] {
        assert!(amends(&stage, session, &["d"]));
        assert!(!amends(&stage, session, &["d", "e"]));
    }
    // A branch from elsewhere that another session creates may lead to any of them.
    let create = CreateBranch {
        repo: repo("/app"),
        branch_name: "topic".into(),
        from_ref: Some("main".into()),
    };
    for session in [SESSION, CHILD] {
        let create = SubmitCommand {
            session,
            ..submit(5, create.clone())
        };
        let elsewhere = stage.clone().after(create);
        for session in [SESSION, CHILD] {
            assert!(!amends(&elsewhere, session, &["d"]));
        }
    }
    stage.given.execute(commits(SESSION, 3, &["d"], true));
    stage.at(5);
    assert!(!amends(&stage, CHILD, &["e"]));
}

#[test]
fn a_child_pauses_and_its_approvals_expire_no_later_than_its_parents() {
    let strict = CreateSession {
        approval_expiry_seconds: Some(60),
        pause_after_failures: Some(1),
        ..create(SESSION, anything())
    };
    let stage = Stage::of(strict);
    let with = |expiry: Option<u64>, pause: Option<u32>| CreateSession {
        approval_expiry_seconds: expiry,
        pause_after_failures: pause,
        ..child(anything())
    };
    stage.check_invalid(
        with(Some(61), None),
        "approval_expiry_seconds",
        "at most 60",
    );
    for pause in [0, 2] {
        stage.check_invalid(with(None, Some(pause)), "pause_after_failures", "1 to 1");
    }
    // Left out, they are the parent's.
    for given in [with(None, None), with(Some(60), Some(1))] {
        let begun = stage.clone().after(given).session_of(CHILD);
        assert_eq!(
            (begun.approval_expiry_seconds, begun.pause_after_failures),
            (Some(60), 1)
        );
    }
    // A parent without them bounds nothing.
    let free = Stage::of(CreateSession {
        pause_after_failures: Some(0),
        ..create(SESSION, anything())
    });
    let begun = free.after(with(Some(1), Some(0))).session_of(CHILD);
    assert_eq!(
        (begun.approval_expiry_seconds, begun.pause_after_failures),
        (Some(1), 0)
    );
}
