//! The audit of sessions, on their events made wrong.

use annals::domain::session::*;
use annals::domain::{AnyEvent, Command, CommandId, SessionId, bucket, session};
use uuid::Uuid;

use super::{RUNS, TASKS, check_noticed};

const SESSION: SessionId = SessionId(Uuid::from_u128(20));

const fn id(number: u128) -> CommandId {
    CommandId(Uuid::from_u128(30 + number))
}

fn repo() -> RepoRef {
    RepoRef {
        name: "app".into(),
        path: "/app".into(),
    }
}

fn push(number: u128) -> Command {
    let branch_name = "work".into();
    let repo = repo();
    SubmitCommand {
        session: SESSION,
        id: Some(id(number)),
        parent: None,
        plan_node: None,
        branch: None,
        files: None,
        submit: Push { repo, branch_name }.into(),
    }
    .into()
}

/// A session with a run: two pushes wait, are approved, one of them is
/// throttled; another is denied; what the first one made, a plan and a pause.
pub(super) fn story() -> Vec<Command> {
    let session = SESSION;
    let limits = RateLimits {
        per_command_caps: Some([("Push".to_owned(), 1)].into_iter().collect()),
        ..RateLimits::default()
    };
    let mut story = vec![created(limits)];
    let [task, _] = TASKS.map(Into::into);
    let node = TaskNode {
        id: "a".into(),
        title: "work".into(),
        depends_on: vec![],
        work_item: None,
        agent_hint: None,
        suggested_branch: None,
        tags: vec![],
    };
    let plan = TaskPlan { nodes: vec![node] };
    story.extend([
        UpdatePlan { session, plan }.into(),
        LinkPlanTask {
            session,
            node: "a".into(),
            task,
        }
        .into(),
        push(1),
        push(2),
        ApproveSession {
            session,
            request: None,
            reason: None,
        }
        .into(),
    ]);
    story.extend(results());
    story.extend([
        PauseSession {
            session,
            reason: None,
        }
        .into(),
        push(3),
        ResumeSession {
            session,
            reason: None,
        }
        .into(),
        AbortSession {
            session,
            reason: None,
        }
        .into(),
        push(4),
    ]);
    story
}

fn created(limits: RateLimits) -> Command {
    CreateSession {
        config: SessionConfig {
            session_id: SESSION,
            parent_session_id: None,
            plan_node_id: None,
            policy: PolicyProfile {
                name: "p".into(),
                require_approval_for_push: true,
                limits: Some(limits),
                ..PolicyProfile::default()
            },
            repo: repo(),
            workspace: WorkspaceRef {
                path: "/work".into(),
            },
            work_item: None,
            agent_profile: "coder".into(),
        },
        approval_expiry_seconds: None,
        pause_after_failures: None,
    }
    .into()
}

fn results() -> [Command; 2] {
    let session = SESSION;
    [
        RecordConflict {
            session,
            id: id(1),
            repo: repo(),
            details: "both".into(),
            patch_content: None,
        }
        .into(),
        CompleteCommand {
            session,
            id: id(1),
            outcome: CommandResult::Success,
            message: None,
            error_code: None,
        }
        .into(),
    ]
}

/// Changes events of one type of a session's.
macro_rules! wrong {
    ($what:literal, $event:ident, |$found:ident| $change:expr) => {
        check_noticed($what, |entry| match &mut entry.event {
            AnyEvent::Session(session::Event::$event($found)) => {
                $change;
                true
            }
            _ => false,
        });
    };
}

/// Puts another event in the place of one of a session's.
macro_rules! instead {
    ($what:literal, $event:ident, |$found:ident| $other:expr) => {
        check_noticed($what, |entry| match &entry.event {
            AnyEvent::Session(session::Event::$event($found)) => {
                entry.event = AnyEvent::Session($other.into());
                true
            }
            _ => false,
        });
    };
}

#[test]
fn wrong_verdicts_are_noticed() {
    let nothing = id(99);
    wrong!("another command's verdict", CommandAccepted, |event| {
        event.command = nothing
    });
    wrong!("one that waits instead", CommandQueued, |event| event
        .command =
        nothing);
    wrong!("a rejection of nothing", CommandRejected, |event| event
        .command =
        nothing);
    wrong!("a command given twice", CommandReceived, |event| event
        .command =
        id(1));
    wrong!("the last that waits first", CommandAccepted, |event| {
        event.command = id(2)
    });
    instead!("a command without a verdict", CommandQueued, |event| {
        ApprovalExpired {
            request: event.command,
        }
    });
    instead!(
        "accepted while it is paused or over",
        CommandRejected,
        |event| {
            CommandAccepted {
                command: event.command,
                token: TokenSource::None,
                correlation: event.correlation.clone(),
            }
        }
    );
    check_noticed("a token for nothing", |entry| match &mut entry.event {
        AnyEvent::Bucket(bucket::Event::Taken(event)) => {
            event.command = nothing;
            true
        }
        _ => false,
    });
    check_noticed("a token that is not there", |entry| {
        match &mut entry.event {
            AnyEvent::Bucket(bucket::Event::Taken(event)) => {
                event.capacity = 0;
                true
            }
            _ => false,
        }
    });
}

#[test]
fn wrong_results_are_noticed() {
    let nothing = id(99);
    wrong!("an end of nothing", CommandCompleted, |event| event
        .command =
        nothing);
    wrong!("an end of what was throttled", CommandCompleted, |event| {
        event.command = id(2);
    });
    wrong!("a conflict of nothing", ConflictDetected, |event| {
        event.correlation.command = Some(nothing);
    });
    wrong!("a task that is not there", PlanNodeLinked, |event| event
        .task =
        Uuid::from_u128(99).into());
    wrong!("a node that is not there", PlanNodeLinked, |event| event
        .node =
        "b".into());
    instead!("a run that has ended", PlanUpdated, |_event| RunAttached {
        run: RUNS[0].into()
    });
}

#[test]
fn a_wrong_life_is_noticed() {
    instead!("paused twice", Resumed, |event| Paused {
        reason: event.reason,
        failures: None,
    });
    instead!("resumed while it runs", Paused, |event| Resumed {
        reason: event.reason,
    });
    instead!("ended twice", Resumed, |event| Completed {
        reason: event.reason,
    });
    instead!("approved without a request", Resumed, |event| Approved {
        request: None,
        actions: vec![],
        reason: event.reason,
    });
    instead!("denied while a command waits", Approved, |_event| {
        ApprovalExpired { request: id(1) }
    });
}
