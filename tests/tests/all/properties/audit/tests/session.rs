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
    RepoRef::new("app", "/app")
}

fn push(number: u128) -> Command {
    SubmitCommand::new(SESSION, Push::new(repo(), "work"))
        .with_id(id(number))
        .into()
}

/// A session with a run: two pushes wait, are approved, one of them is
/// throttled; another is denied; what the first one made, a plan and a pause.
pub(super) fn story() -> Vec<Command> {
    let session = SESSION;
    let limits = RateLimits::default()
        .with_per_command_caps(Some([("Push".to_owned(), 1)].into_iter().collect()));
    let mut story = vec![created(limits)];
    let [task, _] = TASKS.map(Into::into);
    let node = TaskNode::new("a", "work");
    let plan = TaskPlan::new(vec![node]);
    story.extend([
        UpdatePlan::new(session, plan).into(),
        LinkPlanTask::new(session, "a", task).into(),
        push(1),
        push(2),
        ApproveSession::new(session).into(),
    ]);
    story.extend(results());
    story.extend([
        PauseSession::new(session).into(),
        push(3),
        ResumeSession::new(session).into(),
        AbortSession::new(session).into(),
        push(4),
    ]);
    story
}

fn created(limits: RateLimits) -> Command {
    CreateSession::new(SessionConfig::new(
        SESSION,
        PolicyProfile::new("p")
            .with_require_approval_for_push(true)
            .with_limits(limits),
        repo(),
        WorkspaceRef::new("/work"),
        "coder",
    ))
    .into()
}

fn results() -> [Command; 2] {
    let session = SESSION;
    [
        RecordConflict::new(session, id(1), repo(), "both").into(),
        CompleteCommand::new(session, id(1), CommandResult::Success).into(),
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
        failures: Some(3),
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
