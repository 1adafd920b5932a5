//! The gate's questions in their order, its rules and its words (dialects, B,
//! The gate). Tests before pushes have `pushes.rs`, approvals and rates files of
//! their own.

use super::*;
use crate::testing::{events, texts};
use crate::{Kind, Ordered};

/// Few a minute, which have been used up.
fn used_up() -> Option<RateLimits> {
    Some(RateLimits {
        calls_per_minute: Some(0),
        ..RateLimits::default()
    })
}

#[test]
fn first_an_unknown_session_is_an_error() {
    let missing = Refusal::NotFound {
        kind: Kind::Session,
        id: SESSION.0,
    };
    assert_eq!(Given::new().decide(submit(1, get_diff())), Err(missing));
}

/// A policy that refuses every command.
fn nothing() -> PolicyProfile {
    PolicyProfile {
        command_whitelist: Some(vec![]),
        require_approval_for_push: true,
        limits: used_up(),
        ..anything()
    }
}

#[test]
fn then_a_paused_session_rejects() {
    let stage = Stage::under(nothing()).after(pause());
    assert_eq!(stage.verdict(push("a")), "Session is paused");
    let mut stage = stage;
    assert_eq!(
        stage.when(submit(1, push("a"))),
        ["1 Push", "1 rejected: Session is paused"]
    );
    assert_eq!(stage.status(), SessionStatus::Paused);
}

#[test]
fn then_a_session_that_is_over_rejects() {
    let running = Stage::under(nothing());
    let aborted = running.clone().after(abort());
    assert_eq!(
        aborted.verdict(push("a")),
        "Session is in terminal state: Error"
    );
    let completed = running.after(complete());
    assert_eq!(
        completed.verdict(push("a")),
        "Session is in terminal state: Completed"
    );
}

#[test]
fn then_the_policy_rejects_before_an_approval_is_asked_for() {
    let mut stage = Stage::under(nothing());
    assert_eq!(
        stage.when(submit(1, push("a"))),
        [
            "1 Push",
            "1 rejected: Policy violation, Command not in whitelist"
        ]
    );
    assert_eq!(stage.status(), SessionStatus::Running);
}

#[test]
fn then_an_approval_is_asked_for_before_the_rate() {
    let policy = PolicyProfile {
        command_whitelist: None,
        ..nothing()
    };
    let mut stage = Stage::under(policy);
    assert_eq!(
        stage.when(submit(1, push("a"))),
        ["1 Push", "1 queued", r#"1 asks for ["Push"]"#]
    );
    assert_eq!(stage.status(), SessionStatus::NeedsApproval);
}

#[test]
fn then_the_rate_throttles() {
    let policy = PolicyProfile {
        limits: used_up(),
        ..anything()
    };
    let mut stage = Stage::under(policy);
    assert_eq!(
        stage.when(submit(1, push("a"))),
        [
            "1 Push",
            "1 throttled: Rate limit exceeded: 9999-12-31T23:59:59.999999900Z"
        ]
    );
}

#[test]
fn then_it_is_accepted() {
    let mut stage = Stage::under(anything());
    assert_eq!(stage.when(submit(1, push("a"))), ["1 Push", "1 accepted"]);
}

// The policy's rules.

#[test]
fn an_empty_whitelist_denies_all() {
    let stage = Stage::under(PolicyProfile {
        command_whitelist: Some(vec![]),
        ..anything()
    });
    for body in every_kind() {
        assert_eq!(
            stage.verdict(body),
            "Policy violation: Command not in whitelist"
        );
    }
}

#[test]
fn a_whitelist_allows_what_it_names() {
    for body in every_kind() {
        let kind = body.kind();
        let stage = Stage::under(PolicyProfile {
            command_whitelist: Some(vec![kind.to_string()]),
            ..anything()
        });
        for other in every_kind_under(stage.session().policy.as_deref().unwrap()) {
            let verdict = match other.kind() == kind {
                true => "CommandAccepted",
                false => "Policy violation: Command not in whitelist",
            };
            assert_eq!(stage.verdict(other), verdict);
        }
    }
}

#[test]
fn a_blacklist_denies_what_it_names() {
    for body in every_kind() {
        let stage = Stage::under(PolicyProfile {
            command_blacklist: Some(vec![body.kind().to_string()]),
            ..anything()
        });
        for other in every_kind_under(stage.session().policy.as_deref().unwrap()) {
            let verdict = match other.kind() == body.kind() {
                true => "Policy violation: Command in blacklist",
                false => "CommandAccepted",
            };
            assert_eq!(stage.verdict(other), verdict);
        }
    }
}

fn every_kind() -> Vec<CommandBody> {
    every_kind_under(&anything())
}

/// A session that is spawned is under this policy.
fn every_kind_under(policy: &PolicyProfile) -> Vec<CommandBody> {
    let all = vec![
        create_branch("a"),
        apply_patch(),
        run_tests(),
        commit(1),
        push("a"),
        get_diff(),
        transition("A-1", "Done"),
        Comment {
            item: ticket("A-1"),
            body: "fine".into(),
        }
        .into(),
        SetAssignee {
            item: ticket("A-1"),
            assignee: "zoe".into(),
        }
        .into(),
        upload().into(),
        request_approval(&["deploy"]),
        query_backlog(),
        QueryWorkItem {
            item: ticket("A-1"),
        }
        .into(),
        SpawnSession {
            config: config(SessionId(Uuid::from_u128(2)), policy.clone()),
        }
        .into(),
        LinkPlanNode {
            plan_node_id: "build".into(),
        }
        .into(),
    ];
    let kinds: Vec<CommandKind> = all.iter().map(CommandBody::kind).collect();
    assert_eq!(kinds, CommandKind::ALL);
    all
}

fn upload() -> UploadArtifact {
    UploadArtifact {
        name: "log".into(),
        content_type: "text/plain".into(),
        content: Base64Bytes(b"long".to_vec()),
        path_hint: None,
    }
}

/// Each rule that a command breaks is named until the policy drops it; then
/// the next one is.
#[track_caller]
fn check_rules(mut stage: impl FnMut(usize) -> Stage, body: &CommandBody, rules: &[&str]) {
    for (dropped, rule) in rules.iter().enumerate() {
        let verdict = stage(dropped).verdict(body.clone());
        assert_eq!(verdict, format!("Policy violation: {rule}"));
    }
    let verdict = stage(rules.len()).verdict(body.clone());
    assert_eq!(verdict, "CommandAccepted");
}

fn strict(kind: &str, dropped: usize) -> PolicyProfile {
    PolicyProfile {
        command_whitelist: (dropped < 1).then(Vec::new),
        command_blacklist: (dropped < 2).then(|| words(&[kind])),
        ..anything()
    }
}

#[test]
fn the_first_rule_that_matches_is_named() {
    let of_push = |dropped| {
        Stage::under(PolicyProfile {
            protected_branches: words(if dropped < 3 { &["main"] } else { &[] }),
            require_tests_before_push: dropped < 4,
            ..strict("Push", dropped)
        })
    };
    let (white, black) = ("Command not in whitelist", "Command in blacklist");
    let branch = "Protected branch";
    let tests = "Tests required before push";
    check_rules(of_push, &push("main"), &[white, black, branch, tests]);

    let of_commit = |dropped| {
        let policy = |dropped| PolicyProfile {
            protected_branches: words(if dropped < 3 { &["main"] } else { &[] }),
            max_files_per_commit: (dropped < 4).then_some(1),
            ..strict("Commit", dropped)
        };
        on_branch("main", policy(dropped))
    };
    let files = "Too many files in commit";
    check_rules(of_commit, &commit(2), &[white, black, branch, files]);

    let of_ticket = |dropped| {
        Stage::under(PolicyProfile {
            allowed_work_item_transitions: (dropped < 3).then(Vec::new),
            ..strict("TransitionTicket", dropped)
        })
    };
    let step = "Work item transition not allowed";
    check_rules(of_ticket, &transition("A-1", "Done"), &[white, black, step]);
}

/// A session under a policy in which a branch was created, even if the policy
/// forbids that: another system's.
fn on_branch(branch: &str, policy: PolicyProfile) -> Stage {
    let mut stage = Stage::under(anything())
        .after(submit(1, create_branch(branch)))
        .after(succeeds(1));
    let stream = StreamRef {
        kind: StreamKind::Session,
        id: SESSION.0,
    };
    let adopted = Adopted {
        dialect: crate::Dialect::Contracts,
        config: Some(StoredConfig::store(
            &config(SESSION, policy),
            &mut crate::Pieces::new(),
        )),
    };
    stage.given = stage.given.event(stream, AnyEvent::Session(adopted.into()));
    stage
}

// Branches.

fn protects(branches: &[&str]) -> PolicyProfile {
    PolicyProfile {
        protected_branches: words(branches),
        ..anything()
    }
}

const PROTECTED: &str = "Policy violation: Protected branch";

#[test]
fn a_protected_branch_is_neither_created_nor_pushed() {
    let stage = Stage::under(protects(&["main", "release"]));
    for branch in ["main", "release"] {
        assert_eq!(stage.verdict(create_branch(branch)), PROTECTED);
        assert_eq!(stage.verdict(push(branch)), PROTECTED);
    }
    for branch in ["Main", "main2", "feature/main"] {
        assert_eq!(stage.verdict(create_branch(branch)), "CommandAccepted");
        assert_eq!(stage.verdict(push(branch)), "CommandAccepted");
    }
}

#[test]
fn a_branch_is_protected_by_its_short_and_its_full_name() {
    for protected in ["main", "refs/heads/main"] {
        let stage = Stage::under(protects(&[protected]));
        for branch in ["main", "refs/heads/main"] {
            assert_eq!(stage.verdict(push(branch)), PROTECTED);
            assert_eq!(stage.verdict(create_branch(branch)), PROTECTED);
        }
        assert_eq!(stage.verdict(push("refs/tags/main")), "CommandAccepted");
        assert_eq!(
            stage.verdict(push("refs/heads/refs/heads/main")),
            "CommandAccepted"
        );
    }
}

#[test]
fn a_commit_to_a_protected_branch_is_rejected_where_the_branch_is_known() {
    // No branch was created here, so that it must be said.
    let unknown = Stage::under(protects(&["main"]));
    unknown.check_invalid(submit(1, commit(1)), "branch", "say which branch");
    assert_eq!(
        on_branch("main", protects(&["main"])).verdict(commit(1)),
        PROTECTED
    );
    assert_eq!(
        on_branch("refs/heads/main", protects(&["main"])).verdict(commit(1)),
        PROTECTED
    );
    assert_eq!(
        on_branch("feature", protects(&["main"])).verdict(commit(1)),
        "CommandAccepted"
    );
}

#[test]
fn the_branch_is_known_once_its_creation_succeeded_in_that_repository() {
    let branch = |number, branch: &str| submit(number, create_branch(branch));
    let base = Stage::under(anything());
    // Only begun, failed, not the last one: none of these counts.
    let begun = base.clone().after(branch(1, "main"));
    let failed = base.clone().after(branch(1, "main")).after(fails(1));
    let not_last = base
        .clone()
        .after(branch(1, "main"))
        .after(branch(2, "feature"))
        .after(succeeds(1))
        .after(succeeds(2));
    let last = base
        .after(branch(1, "main"))
        .after(branch(2, "feature"))
        .after(succeeds(2))
        .after(succeeds(1));
    let known = |stage: Stage| stage.session().branches.get("/app").cloned();
    for stage in [begun, failed] {
        assert_eq!(known(stage), None);
    }
    assert_eq!(known(not_last).as_deref(), Some("feature"));
    assert_eq!(known(last).as_deref(), Some("main"));
}

#[test]
fn a_session_works_on_its_own_repository() {
    let elsewhere = "Policy violation: Another repository";
    let stage = Stage::under(anything());
    let push_of = |path: &str| Push {
        repo: repo(path),
        branch_name: "work".into(),
    };
    for path in ["/other", "/app/sub", "/", "app", "/apps", ""] {
        assert_eq!(stage.verdict(push_of(path)), elsewhere, "{path}");
    }
    for path in ["/app", "/app/", "//app", "/app/."] {
        assert_eq!(stage.verdict(push_of(path)), "CommandAccepted", "{path}");
    }
    // Behind a link they lead elsewhere than their text says.
    for path in [
        "/app/../other",
        "/x/../app",
        "/app/link/..",
        "..",
        "/app\\..\\app",
        "/x/ .. /app",
    ] {
        stage.check_invalid(submit(1, push_of(path)), "repo.path", "goes up");
        let mut create = create(SessionId(Uuid::from_u128(2)), anything());
        create.config.repo = repo(path);
        stage.check_invalid(create, "config.repo.path", "goes up");
    }
    let there = repo("/other");
    let all: [CommandBody; 6] = [
        CreateBranch::new(there.clone(), "work").into(),
        ApplyPatch::new(there.clone(), "-a").into(),
        RunTests::new(there.clone()).into(),
        Commit::new(there.clone(), "m", vec![]).into(),
        Push::new(there.clone(), "work").into(),
        GetDiff::new(there).into(),
    ];
    for body in all {
        assert_eq!(stage.verdict(body), elsewhere);
    }
}

#[test]
fn protected_branches_are_patterns() {
    let stage = Stage::under(protects(&["release/*", "v?.x"]));
    for branch in ["release/1.2", "release/1/2", "refs/heads/release/1", "v1.x"] {
        assert_eq!(stage.verdict(push(branch)), PROTECTED, "{branch}");
        assert_eq!(stage.verdict(create_branch(branch)), PROTECTED, "{branch}");
    }
    for branch in ["release", "prerelease/1", "v10.x", "main"] {
        assert_eq!(stage.verdict(push(branch)), "CommandAccepted", "{branch}");
    }
    let all = Stage::under(protects(&["*"]));
    for branch in ["main", "a/b", "HEAD:topic"] {
        assert_eq!(all.verdict(push(branch)), PROTECTED, "{branch}");
    }
    // A name with letters of another script that look like those of a protected one.
    for branch in ["HEAD:rеlеаsе/1.2", "v1.х", "ｖ1.x"] {
        assert_eq!(stage.verdict(push(branch)), PROTECTED, "{branch}");
    }
    for pattern in [
        "mаin",
        "main ",
        "origin/main",
        "",
        "--all",
        "HEAD",
        "a b",
        "main:main",
    ] {
        let create = create(SESSION, protects(&["dev", pattern]));
        let given = Stage {
            given: Given::new(),
        };
        given.check_invalid(create, "policy.protectedBranches", "");
    }
}

// Files and tickets.

#[test]
fn too_many_files_are_more_than_the_limit() {
    let limited = |most| {
        Stage::under(PolicyProfile {
            max_files_per_commit: Some(most),
            ..anything()
        })
    };
    let too_many = "Policy violation: Too many files in commit";
    assert_eq!(limited(2).verdict(commit(2)), "CommandAccepted");
    assert_eq!(limited(2).verdict(commit(3)), too_many);
    assert_eq!(limited(0).verdict(commit(0)), "CommandAccepted");
    assert_eq!(limited(0).verdict(commit(1)), too_many);
}

fn moves(steps: &[&str]) -> Stage {
    Stage::under(PolicyProfile {
        allowed_work_item_transitions: Some(words(steps)),
        ..anything()
    })
}

fn listed(item: &str, status: &str) -> WorkItemSummary {
    WorkItemSummary {
        id: item.into(),
        title: "work".into(),
        status: status.into(),
        assignee: None,
    }
}

fn seen(stage: Stage, number: u128, item: &str, status: &str) -> Stage {
    let read = RecordBacklog {
        session: SESSION,
        id: id(number),
        items: vec![listed(item, status)],
    };
    stage
        .after(submit(number, query_backlog()))
        .after(read)
        .after(succeeds(number))
}

const NOT_ALLOWED: &str = "Policy violation: Work item transition not allowed";

#[test]
fn transitions_are_from_to_to_the_letter() {
    let stage = seen(moves(&["Open->In Work", "In Work->Done"]), 1, "A-1", "Open");
    assert_eq!(
        stage.verdict(transition("A-1", "In Work")),
        "CommandAccepted"
    );
    for state in ["Done", "in work", "In Work ", "Open", ""] {
        assert_eq!(stage.verdict(transition("A-1", state)), NOT_ALLOWED);
    }
}

#[test]
fn from_a_state_that_nobody_read_no_transition_is_allowed() {
    let stage = seen(moves(&["Open->Done"]), 1, "A-1", "Open");
    assert_eq!(stage.verdict(transition("A-1", "Done")), "CommandAccepted");
    assert_eq!(stage.verdict(transition("A-2", "Done")), NOT_ALLOWED);
    // An empty list allows none; a list that is left out, all.
    let none = seen(moves(&[]), 1, "A-1", "Open");
    assert_eq!(none.verdict(transition("A-1", "Done")), NOT_ALLOWED);
    let all = Stage::under(anything());
    assert_eq!(all.verdict(transition("A-2", "Done")), "CommandAccepted");
}

#[test]
fn a_transition_that_succeeded_is_the_state_from_then_on() {
    let stage = seen(moves(&["Open->Done", "Done->Open"]), 1, "A-1", "Open");
    let asked = stage.after(submit(2, transition("A-1", "Done")));
    let failed = asked.clone().after(fails(2));
    assert_eq!(failed.verdict(transition("A-1", "Open")), NOT_ALLOWED);
    let done = asked.after(succeeds(2));
    assert_eq!(done.verdict(transition("A-1", "Open")), "CommandAccepted");
    assert_eq!(done.verdict(transition("A-1", "Done")), NOT_ALLOWED);
    // A ticket that is read again is in the state that was read.
    let details = WorkItemDetails {
        id: "A-1".into(),
        title: "work".into(),
        description: "all of it".into(),
        status: "Open".into(),
        assignee: None,
        tags: vec![],
    };
    let query = QueryWorkItem {
        item: ticket("A-1"),
    };
    let read = done.after(submit(3, query)).after(RecordWorkItem {
        session: SESSION,
        id: id(3),
        details,
    });
    assert_eq!(read.verdict(transition("A-1", "Done")), "CommandAccepted");
}

#[test]
fn a_state_that_another_session_read_does_not_count() {
    let other = SessionId(Uuid::from_u128(2));
    let policy = PolicyProfile {
        allowed_work_item_transitions: Some(words(&["Open->Done"])),
        ..anything()
    };
    let query = SubmitCommand {
        session: other,
        ..submit(1, query_backlog())
    };
    let read = RecordBacklog {
        session: other,
        id: id(1),
        items: vec![listed("A-1", "Open")],
    };
    let stage = Stage::under(policy.clone())
        .after(create(other, policy))
        .after(query)
        .after(read);
    assert_eq!(stage.session_of(other).work_items["A-1"], "Open");
    assert_eq!(stage.verdict(transition("A-1", "Done")), NOT_ALLOWED);
    let read_here = seen(stage, 2, "A-1", "Open");
    assert_eq!(
        read_here.verdict(transition("A-1", "Done")),
        "CommandAccepted"
    );
}

#[test]
fn tickets_are_told_apart_by_their_ids_alone() {
    let to_done = |id: &str, hint: &str| TransitionTicket {
        item: WorkItemRef {
            id: id.into(),
            provider_hint: Some(hint.into()),
        },
        state: "Done".into(),
    };
    // The ticket that was read has no hint.
    let stage = seen(moves(&["Open->Done"]), 1, "A-1", "Open");
    for hint in ["jira", "linear"] {
        assert_eq!(stage.verdict(to_done("A-1", hint)), "CommandAccepted");
        assert_eq!(stage.verdict(to_done("A-2", hint)), NOT_ALLOWED);
    }
    let done = stage
        .after(submit(2, to_done("A-1", "jira")))
        .after(succeeds(2));
    assert_eq!(done.verdict(to_done("A-1", "linear")), NOT_ALLOWED);
    assert_eq!(done.verdict(transition("A-1", "Done")), NOT_ALLOWED);
}

// Kinds that are reserved.

#[test]
fn a_reserved_kind_that_is_accepted_creates_no_session_and_links_no_node() {
    let other = SessionId(Uuid::from_u128(2));
    let spawn = SpawnSession {
        config: config(other, anything()),
    };
    let link = LinkPlanNode {
        plan_node_id: "build".into(),
    };
    let mut stage = Stage::under(anything());
    assert_eq!(
        stage.when(submit(1, spawn)),
        ["1 SpawnSession", "1 accepted"]
    );
    assert_eq!(
        stage.when(submit(2, link)),
        ["2 LinkPlanNode", "2 accepted"]
    );
    assert_eq!(stage.when(succeeds(1)), ["1 Success"]);
    assert_eq!(stage.when(succeeds(2)), ["2 Success"]);
    let of_other = SubmitCommand {
        session: other,
        ..submit(3, get_diff())
    };
    let missing = Refusal::NotFound {
        kind: Kind::Session,
        id: other.0,
    };
    assert_eq!(stage.refusal(of_other), missing);
    assert!(stage.session().nodes.is_empty());
}

#[test]
fn an_agent_spawns_no_session_that_is_freer_than_its_own() {
    let policy = protects(&["main"]);
    let stage = Stage::under(policy.clone());
    let spawn = |config: SessionConfig| submit(1, SpawnSession { config });
    let other = SessionId(Uuid::from_u128(2));
    assert!(
        stage
            .given
            .decide(spawn(config(other, policy.clone())))
            .is_ok()
    );
    stage.check_invalid(
        spawn(config(other, anything())),
        "policy.protectedBranches",
        "never freer",
    );
    let mut elsewhere = config(other, policy.clone());
    elsewhere.repo = repo("/other");
    stage.check_invalid(spawn(elsewhere), "config.repo.path", "another repository");
    let mut of_another = config(other, policy);
    of_another.parent_session_id = Some(Uuid::from_u128(7));
    stage.check_invalid(spawn(of_another), "config.parentSessionId", "of its own");
    // What is there already is begun by nothing.
    for policy in [protects(&["main"]), anything()] {
        let own = stage.refusal(spawn(config(SESSION, policy)));
        assert!(matches!(own, Refusal::Exists { .. }), "{own}");
    }
}

// What is recorded.

#[test]
fn a_command_and_its_verdict_are_two_events_that_name_what_it_belongs_to() {
    let command = SubmitCommand {
        parent: Some(id(3)),
        plan_node: Some("build".into()),
        ..submit(7, upload())
    };
    let emitted = Stage::under(anything()).given.decide(command).unwrap();
    let correlation = Correlation {
        command: Some(id(7)),
        parent: Some(id(3)),
        plan_node: Some("build".into()),
    };
    let received = CommandReceived {
        command: id(7),
        facts: CommandBody::from(upload()).facts(),
        correlation: correlation.clone(),
        body: Slot(0),
        files: None,
        file: Some(Slot(1)),
    };
    let accepted = CommandAccepted {
        command: id(7),
        token: TokenSource::None,
        correlation,
    };
    assert_eq!(
        events(&emitted),
        [
            AnyEvent::Session(received.into()),
            AnyEvent::Session(accepted.into())
        ]
    );
    // The file is stored by itself, and not once more in the command.
    let body = r#"{"kind":"UploadArtifact","name":"log","contentType":"text/plain","content":""}"#;
    assert_eq!(
        texts(&emitted),
        [vec![body.to_owned(), "long".to_owned()], vec![]]
    );
}

#[test]
fn a_command_without_an_id_gets_one() {
    let stage = Stage::under(anything());
    let command = SubmitCommand {
        id: None,
        ..submit(1, get_diff())
    };
    let new_id = stage.given.meta().new_id;
    let emitted = stage.given.decide(command).unwrap();
    let (found, kind, verdict) = Verdict::among(&emitted).unwrap();
    assert_eq!((found.0, kind), (new_id, CommandKind::GetDiff));
    assert!(verdict.is_accepted());
}

#[test]
fn a_command_that_is_open_or_waits_is_not_given_twice() {
    let policy = PolicyProfile {
        require_approval_for_push: true,
        ..anything()
    };
    let stage = Stage::under(policy)
        .after(submit(1, get_diff()))
        .after(submit(2, push("a")));
    for number in [1, 2] {
        stage.check_invalid(submit(number, get_diff()), "id", "already");
    }
}

#[test]
fn a_policy_comes_back_as_it_was_given() {
    let caps: Ordered<u32> = [("Push".to_owned(), 2), ("Commit".to_owned(), 1)]
        .into_iter()
        .collect();
    let policy = PolicyProfile {
        name: "p".into(),
        command_whitelist: Some(words(&["Push", "Commit"])),
        command_blacklist: Some(words(&["GetDiff"])),
        protected_branches: words(&["main"]),
        max_files_per_commit: Some(3),
        require_tests_before_push: true,
        filtered_tests_count: true,
        require_approval_for_push: true,
        allowed_work_item_transitions: Some(words(&["A->B"])),
        limits: Some(RateLimits {
            calls_per_minute: Some(5),
            burst: Some(7),
            per_command_caps: Some(caps),
        }),
    };
    let stage = Stage::under(policy.clone());
    assert_eq!(stage.session().policy.as_deref(), Some(&policy));
}

#[test]
fn the_files_of_a_commit_are_files_and_those_that_it_includes_count() {
    let profile = PolicyProfile {
        max_files_per_commit: Some(1),
        ..anything()
    };
    let commit = |include: &[&str], files: &[&str]| SubmitCommand {
        files: Some(words(files)),
        ..submit(
            1,
            Commit {
                repo: repo("/app"),
                message: "m".into(),
                include_paths: words(include),
                amend: false,
            },
        )
    };
    for bad in [".", "", "src/", "src/*", "./", ":/", "a?"] {
        let says = "is a folder or a pattern";
        Stage::under(profile.clone()).check_invalid(commit(&["."], &[bad]), "files", says);
    }
    let verdict = |include: &[&str], files: &[&str]| {
        let mut stage = Stage::under(profile.clone());
        stage.when(commit(include, files)).concat()
    };
    for (include, files, passes) in [
        (&["."][..], &["a"][..], true),
        (&["src"], &["src/a"], true),
        (&["src"], &["src/a", "src/b"], false),
        (&["a", "b"], &["a"], false),
        (&["a"], &["a"], true),
        (&["a"], &["./a"], true),
        (&["./a"], &["a"], true),
    ] {
        let said = verdict(include, files);
        assert_eq!(
            !said.contains("Too many files"),
            passes,
            "{include:?} {files:?}: {said}"
        );
    }
}
