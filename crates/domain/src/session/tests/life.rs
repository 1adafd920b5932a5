//! A session's life: create, pause, resume, abort, complete, and nothing else
//! (dialects, B, Lifecycle).

use super::*;
use crate::Kind;
use crate::testing::{events, texts};

#[test]
fn create_makes_a_session_that_runs() {
    let with_all = CreateSession {
        config: SessionConfig {
            work_item: Some(WorkItemRef {
                id: "A-1".into(),
                provider_hint: Some("jira".into()),
            }),
            plan_node_id: Some("build".into()),
            ..config(SESSION, anything())
        },
        approval_expiry_seconds: Some(60),
        pause_after_failures: Some(7),
    };
    let emitted = Given::new().decide(with_all).unwrap();
    let created = Created {
        config: StoredConfig {
            parent: None,
            plan_node: Some("build".into()),
            policy: StoredPolicy::store(&anything()),
            repo: StoredRepo {
                name: Slot(0),
                path: Slot(1),
            },
            repo_path: Some("/app".into()),
            workspace: Slot(2),
            work_item: Some(StoredWorkItem {
                id: "A-1".into(),
                provider_hint: Some(Slot(3)),
            }),
            agent_profile: Slot(4),
            agent: Some("coder".into()),
        },
        approval_expiry_seconds: Some(60),
        pause_after_failures: 7,
    };
    assert_eq!(events(&emitted), [AnyEvent::Session(created.into())]);
    assert_eq!(
        texts(&emitted),
        [["app", "/app", "/work", "jira", "coder"].map(str::to_owned)]
    );
    assert_eq!(Stage::under(anything()).status(), SessionStatus::Running);
}

#[test]
fn a_duplicate_is_an_error() {
    let stage = Stage::under(anything());
    let again = stage.refusal(create(SESSION, anything()));
    let exists = Refusal::Exists {
        kind: Kind::Session,
        id: SESSION.0,
    };
    assert_eq!(again, exists);
}

#[test]
fn a_parent_session_must_be_there() {
    let child = SessionId(Uuid::from_u128(2));
    let of_parent = |parent: u128| {
        let mut create = create(child, anything());
        create.config.parent_session_id = Some(Uuid::from_u128(parent));
        create
    };
    let stage = Stage::under(anything());
    assert!(stage.given.decide(of_parent(1)).is_ok());
    let missing = Refusal::NotFound {
        kind: Kind::Session,
        id: Uuid::from_u128(77),
    };
    assert_eq!(stage.refusal(of_parent(77)), missing);
}

/// A profile with a rule that would silently allow or forbid nothing.
#[test]
fn a_profile_that_cannot_do_what_it_says_is_refused() {
    let stage = Stage {
        given: Given::new(),
    };
    let check = |policy: PolicyProfile, field: &str, says: &str| {
        stage.check_invalid(create(SESSION, policy), field, says);
    };
    let blank = PolicyProfile {
        name: " ".into(),
        ..anything()
    };
    check(blank, "policy.name", "blank");
    let misspelt = Some(words(&["push"]));
    let whitelist = PolicyProfile {
        command_whitelist: misspelt.clone(),
        ..anything()
    };
    check(whitelist, "policy.commandWhitelist", "push");
    let blacklist = PolicyProfile {
        command_blacklist: misspelt,
        ..anything()
    };
    check(blacklist, "policy.commandBlacklist", "push");
    let caps = PolicyProfile {
        limits: Some(RateLimits {
            per_command_caps: Some([("Pusch".to_owned(), 1)].into_iter().collect()),
            ..RateLimits::default()
        }),
        ..anything()
    };
    check(caps, "policy.limits.perCommandCaps", "Pusch");
    let twice = PolicyProfile {
        limits: Some(RateLimits {
            per_command_caps: Some(crate::Ordered(vec![
                ("Push".into(), 1),
                ("Push".into(), 99),
            ])),
            ..RateLimits::default()
        }),
        ..anything()
    };
    check(twice, "policy.limits.perCommandCaps", "occurs twice");
    for step in ["Open", "->Done", "Open->", "Open-Done"] {
        let transitions = PolicyProfile {
            allowed_work_item_transitions: Some(words(&["Open->Done", step])),
            ..anything()
        };
        check(transitions, "policy.allowedWorkItemTransitions", step);
    }
}

/// A stage with the session in each of the states that commands lead to.
fn in_each_state() -> Vec<(SessionStatus, Stage)> {
    let running = Stage::under(anything());
    let states = [
        running.clone(),
        running.clone().after(pause()),
        running.clone().after(submit(1, request_approval(&["x"]))),
        running.clone().after(abort()),
        running.after(complete()),
    ];
    let states: Vec<(SessionStatus, Stage)> = states.map(|stage| (stage.status(), stage)).into();
    let found: Vec<SessionStatus> = states.iter().map(|(status, _)| *status).collect();
    assert_eq!(
        found,
        [
            SessionStatus::Running,
            SessionStatus::Paused,
            SessionStatus::NeedsApproval,
            SessionStatus::Error,
            SessionStatus::Completed,
        ]
    );
    states
}

/// Demands that a command leads from some states to another, and is refused,
/// naming the state and those where it is allowed, in all others.
#[track_caller]
fn check_leads(
    command: impl Into<Command>,
    from: &[SessionStatus],
    to: SessionStatus,
    allowed: &str,
) {
    let command = command.into();
    for (status, stage) in in_each_state() {
        if from.contains(&status) {
            assert_eq!(stage.after(command.clone()).status(), to);
        } else {
            let refused = stage.allowed_when(command.clone());
            assert_eq!(refused, (status.to_string(), allowed));
        }
    }
}

#[test]
fn pause_leads_from_every_open_status_to_paused() {
    let mut stage = Stage::under(anything());
    let reason = Some("lunch".into());
    let lunch = PauseSession { reason, ..pause() };
    assert_eq!(stage.when(lunch), ["paused: lunch"]);
    use SessionStatus::{NeedsApproval, Paused, Running};
    let allowed = "Running or NeedsApproval";
    check_leads(pause(), &[Running, NeedsApproval], Paused, allowed);
}

fn by(stage: &Stage, actor: ActorRef) -> Stage {
    Stage {
        given: stage.given.clone().by(actor),
    }
}

#[test]
fn only_a_person_undoes_a_persons_pause() {
    let (ada, bob) = (ActorRef::human("ada"), ActorRef::human("bob"));
    let paused = by(&Stage::under(anything()), ada.clone()).after(pause());
    for other in [
        ActorRef::agent("tester"),
        ActorRef::system("ci"),
        ActorRef::mcp_client("desk"),
    ] {
        let refusal = by(&paused, other.clone()).refusal(resume());
        let reason = refusal.to_string();
        assert!(matches!(refusal, Refusal::NotPermitted { .. }), "{reason}");
        assert!(reason.contains("a person resumes it"), "{reason}");
        for ends in [Command::from(abort()), complete().into()] {
            let refusal = by(&paused, other.clone()).refusal(ends);
            assert!(matches!(refusal, Refusal::NotPermitted { .. }), "{refusal}");
        }
    }
    assert_eq!(by(&paused, bob.clone()).when(abort()), ["aborted"]);
    let mut resumed = by(&paused, bob);
    assert_eq!(resumed.when(resume()), ["resumed"]);
    // What an agent paused, agents resume, unless a person paused it, too.
    let paused = Stage::under(anything()).after(pause());
    assert_eq!(
        paused.clone().after(resume()).status(),
        SessionStatus::Running
    );
    let paused = by(&paused, ada).after(pause());
    assert!(
        by(&paused, ActorRef::agent("tester"))
            .given
            .decide(resume())
            .is_err()
    );
    let again = paused.allowed_when(pause());
    assert_eq!(again, ("Paused".to_owned(), "Running or NeedsApproval"));
}

#[test]
fn a_session_that_asks_is_paused_and_asks_again_when_it_is_resumed() {
    let policy = PolicyProfile {
        require_approval_for_push: true,
        ..anything()
    };
    let asking = Stage::under(policy)
        .after(submit(1, push("a")))
        .after(pause());
    let mut stage = asking.clone();
    assert_eq!(stage.when(resume()), ["resumed", r#"1 asks for ["Push"]"#]);
    assert_eq!(stage.status(), SessionStatus::NeedsApproval);
    // An approval meanwhile does not resume it; what it freed is judged then.
    let mut stage = asking.clone();
    assert_eq!(stage.when(approve()), [r#"approved ["Push"]"#]);
    assert_eq!(stage.status(), SessionStatus::Paused);
    assert_eq!(stage.verdict(push("b")), "Session is paused");
    assert_eq!(stage.when(resume()), ["resumed", "1 accepted"]);
    assert_eq!(stage.status(), SessionStatus::Running);
    // Neither does a denial.
    let mut stage = asking;
    assert_eq!(
        stage.when(deny("no")),
        ["1 rejected: no, Approval denied", "denied: no"]
    );
    assert_eq!(stage.status(), SessionStatus::Paused);
    assert_eq!(stage.when(resume()), ["resumed"]);
}

#[test]
fn resume_leads_from_paused_to_running() {
    let mut stage = Stage::under(anything()).after(pause());
    let reason = Some("back".into());
    let back = ResumeSession { reason, ..resume() };
    assert_eq!(stage.when(back), ["resumed: back"]);
    use SessionStatus::{Paused, Running};
    check_leads(resume(), &[Paused], Running, "Paused");
}

const NOT_OVER: [SessionStatus; 3] = [
    SessionStatus::Running,
    SessionStatus::Paused,
    SessionStatus::NeedsApproval,
];

#[test]
fn abort_leads_from_any_status_that_is_not_terminal_to_error() {
    let mut stage = Stage::under(anything());
    let reason = Some("no disk".into());
    let no_disk = AbortSession { reason, ..abort() };
    assert_eq!(stage.when(no_disk), ["aborted: no disk"]);
    let allowed = "not yet Completed or Error";
    check_leads(abort(), &NOT_OVER, SessionStatus::Error, allowed);
}

#[test]
fn complete_leads_from_any_status_that_is_not_terminal_to_completed() {
    let mut stage = Stage::under(anything());
    let reason = Some("done".into());
    let done = CompleteSession {
        reason,
        ..complete()
    };
    assert_eq!(stage.when(done), ["completed: done"]);
    let allowed = "not yet Completed or Error";
    check_leads(complete(), &NOT_OVER, SessionStatus::Completed, allowed);
}

#[test]
fn commands_still_queued_at_abort_or_completion_are_rejected() {
    let policy = PolicyProfile {
        require_approval_for_push: true,
        ..anything()
    };
    let waiting = Stage::under(policy)
        .after(submit(1, push("a")))
        .after(submit(2, push("b")));
    assert_eq!(
        waiting.clone().when(abort()),
        [
            "1 rejected: Session is in terminal state: Error",
            "2 rejected: Session is in terminal state: Error",
            "aborted",
        ]
    );
    let mut completed = waiting;
    assert_eq!(
        completed.when(complete()),
        [
            "1 rejected: Session is in terminal state: Completed",
            "2 rejected: Session is in terminal state: Completed",
            "completed",
        ]
    );
    let session = completed.session();
    assert!(session.queue.is_empty() && session.pending.is_empty());
}

#[test]
fn whatever_is_asked_of_an_unknown_session_is_an_error() {
    let nothing = Given::new();
    let commands: [Command; 12] = [
        approve().into(),
        deny("no").into(),
        expire().into(),
        pause().into(),
        resume().into(),
        abort().into(),
        complete().into(),
        succeeds(1).into(),
        submit(1, get_diff()).into(),
        UpdatePlan {
            session: SESSION,
            plan: TaskPlan::default(),
        }
        .into(),
        LinkPlanTask {
            session: SESSION,
            node: "a".into(),
            task: Uuid::from_u128(9).into(),
        }
        .into(),
        AttachRun {
            session: SESSION,
            run: Uuid::from_u128(9).into(),
        }
        .into(),
    ];
    for command in commands {
        let missing = Refusal::NotFound {
            kind: Kind::Session,
            id: SESSION.0,
        };
        assert_eq!(nothing.decide(command), Err(missing));
    }
}
