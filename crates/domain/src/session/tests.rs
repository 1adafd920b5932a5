//! Given, when, then for sessions: a stage to play on, and what was decided in
//! a line an event.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod adopted;
mod amends;
mod approvals;
mod approvers;
mod children;
mod clock;
mod gate;
mod input;
mod life;
mod names;
mod plans;
mod properties;
mod pushes;
mod rates;
mod reference;
mod results;
mod said;
mod script;

use chrono::{DateTime, TimeDelta};
use uuid::Uuid;

use super::*;
use crate::testing::Given;
use crate::{
    ActorRef, AnyEvent, AnyState, Command, CommandId, Emitted, Origin, Refusal, SessionId, Slot,
    StreamKind, StreamRef, Timestamp, bucket, run,
};

const SESSION: SessionId = SessionId(Uuid::from_u128(1));

const fn id(number: u128) -> CommandId {
    CommandId(Uuid::from_u128(number))
}

fn at_millis(millis: i64) -> Timestamp {
    (DateTime::UNIX_EPOCH + TimeDelta::milliseconds(millis)).into()
}

fn repo(path: &str) -> RepoRef {
    RepoRef {
        name: "app".into(),
        path: path.into(),
    }
}

fn config(session: SessionId, policy: PolicyProfile) -> SessionConfig {
    SessionConfig {
        session_id: session,
        parent_session_id: None,
        plan_node_id: None,
        policy,
        repo: repo("/app"),
        workspace: WorkspaceRef {
            path: "/work".into(),
        },
        work_item: None,
        agent_profile: "coder".into(),
    }
}

fn create(session: SessionId, policy: PolicyProfile) -> CreateSession {
    CreateSession {
        config: config(session, policy),
        approval_expiry_seconds: None,
        pause_after_failures: None,
    }
}

/// A policy that allows everything.
fn anything() -> PolicyProfile {
    PolicyProfile {
        name: "p".into(),
        ..PolicyProfile::default()
    }
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

// Commands of agents.

fn create_branch(branch: &str) -> CommandBody {
    CreateBranch {
        repo: repo("/app"),
        branch_name: branch.into(),
        from_ref: None,
    }
    .into()
}

fn apply_patch() -> CommandBody {
    ApplyPatch {
        repo: repo("/app"),
        patch_content: "-a\n+b\n".into(),
    }
    .into()
}

fn run_tests() -> CommandBody {
    RunTests {
        repo: repo("/app"),
        filter: None,
        timeout: None,
    }
    .into()
}

fn commit(files: usize) -> CommandBody {
    Commit {
        repo: repo("/app"),
        message: "work".into(),
        include_paths: (0..files).map(|file| file.to_string()).collect(),
        amend: false,
    }
    .into()
}

fn push(branch: &str) -> CommandBody {
    Push {
        repo: repo("/app"),
        branch_name: branch.into(),
    }
    .into()
}

fn get_diff() -> CommandBody {
    GetDiff {
        repo: repo("/app"),
        reference: "HEAD".into(),
    }
    .into()
}

fn transition(item: &str, state: &str) -> CommandBody {
    TransitionTicket {
        item: ticket(item),
        state: state.into(),
    }
    .into()
}

fn ticket(id: &str) -> WorkItemRef {
    WorkItemRef {
        id: id.into(),
        provider_hint: None,
    }
}

fn request_approval(actions: &[&str]) -> CommandBody {
    RequestApproval {
        reason: "it is risky".into(),
        required_actions: words(actions),
    }
    .into()
}

fn query_backlog() -> CommandBody {
    QueryBacklog { filter: None }.into()
}

/// Who gives a command says of a commit that its paths are its files.
fn submit(number: u128, body: impl Into<CommandBody>) -> SubmitCommand {
    let submit = body.into();
    let files = match &submit {
        CommandBody::Commit(commit) => Some(commit.include_paths.clone()),
        _ => None,
    };
    SubmitCommand {
        session: SESSION,
        id: Some(id(number)),
        parent: None,
        plan_node: None,
        branch: None,
        files,
        submit,
    }
}

// Commands about the session.

fn approve() -> ApproveSession {
    ApproveSession {
        session: SESSION,
        request: None,
        reason: None,
    }
}

fn deny(reason: &str) -> DenySession {
    DenySession {
        session: SESSION,
        request: None,
        reason: reason.into(),
    }
}

fn pause() -> PauseSession {
    PauseSession {
        session: SESSION,
        reason: None,
    }
}

fn resume() -> ResumeSession {
    ResumeSession {
        session: SESSION,
        reason: None,
    }
}

fn abort() -> AbortSession {
    AbortSession {
        session: SESSION,
        reason: None,
    }
}

fn complete() -> CompleteSession {
    CompleteSession {
        session: SESSION,
        reason: None,
    }
}

fn expire() -> ExpireApprovals {
    ExpireApprovals { session: SESSION }
}

fn ended(number: u128, outcome: CommandResult) -> CompleteCommand {
    CompleteCommand {
        session: SESSION,
        id: id(number),
        outcome,
        message: None,
        error_code: None,
    }
}

fn succeeds(number: u128) -> CompleteCommand {
    ended(number, CommandResult::Success)
}

fn fails(number: u128) -> CompleteCommand {
    ended(number, CommandResult::Failure)
}

/// A session and everything else that exists, at a time.
#[derive(Debug, Clone)]
struct Stage {
    given: Given,
}

impl Stage {
    /// A session under a policy runs.
    fn under(policy: PolicyProfile) -> Stage {
        Stage::of(create(SESSION, policy))
    }

    /// A session that a version before this created: of which neither the repository nor the agent is known.
    fn before(policy: PolicyProfile) -> Stage {
        let stored = StoredConfig {
            repo_path: None,
            agent: None,
            ..StoredConfig::store(&config(SESSION, policy), &mut crate::Pieces::new())
        };
        let created = Created {
            config: stored,
            approval_expiry_seconds: None,
            pause_after_failures: PAUSE_AFTER_FAILURES,
        };
        let created = AnyEvent::Session(created.into());
        Stage {
            given: Given::new().event(SESSION.stream(), created),
        }
    }

    fn of(create: CreateSession) -> Stage {
        Stage {
            given: Given::new().command(create),
        }
    }

    /// It is so many seconds after the beginning now.
    fn at(&mut self, seconds: i64) -> &mut Stage {
        self.at_millis(seconds * 1_000)
    }

    fn at_millis(&mut self, millis: i64) -> &mut Stage {
        self.given = self.given.clone().at(at_millis(millis));
        self
    }

    /// Executes a command, which must not be refused, and says what happened.
    #[track_caller]
    fn when(&mut self, command: impl Into<Command>) -> Vec<String> {
        said(&self.given.execute(command))
    }

    /// Executes a command whose events do not matter.
    #[track_caller]
    fn after(mut self, command: impl Into<Command>) -> Stage {
        self.given.execute(command);
        self
    }

    /// What a command of an agent meets with.
    #[track_caller]
    fn verdict(&self, body: impl Into<CommandBody>) -> String {
        let emitted = self.given.decide(submit(999, body)).expect("a verdict");
        let (command, _, verdict) = Verdict::among(&emitted).expect("a verdict");
        assert_eq!(command, id(999));
        match verdict {
            Verdict::Accepted | Verdict::Queued => verdict.word().to_owned(),
            Verdict::Rejected { reason, rule: None } => reason,
            Verdict::Rejected {
                reason,
                rule: Some(rule),
            } => format!("{reason}: {}", rule.as_str()),
            Verdict::Throttled { scope, retry_after } => format!("{scope}: {retry_after}"),
        }
    }

    #[track_caller]
    fn refusal(&self, command: impl Into<Command>) -> Refusal {
        self.given.decide(command).expect_err("it is refused")
    }

    /// Demands that a field is refused, and that the reason says something.
    #[track_caller]
    fn check_invalid(&self, command: impl Into<Command>, field: &str, says: &str) {
        match self.refusal(command) {
            Refusal::Invalid {
                field: found,
                reason,
            } => {
                assert_eq!(found, field, "{reason}");
                assert!(reason.contains(says), "{reason:?} does not say {says:?}");
            }
            other => panic!("expected an invalid field, found {other}"),
        }
    }

    /// The states in which a command is said to be allowed that is refused now.
    #[track_caller]
    fn allowed_when(&self, command: impl Into<Command>) -> (String, &'static str) {
        match self.refusal(command) {
            Refusal::Transition { state, allowed, .. } => (state, allowed),
            other => panic!("expected a refused transition, found {other}"),
        }
    }

    fn session(&self) -> Session {
        self.session_of(SESSION)
    }

    fn session_of(&self, session: SessionId) -> Session {
        let stream = StreamRef {
            kind: StreamKind::Session,
            id: session.0,
        };
        match self.given.loaded(stream).state {
            AnyState::Session(state) => match &*state {
                State::Known(session) => (**session).clone(),
                State::Absent => panic!("there is no session"),
            },
            other => panic!("expected a session, found {other:?}"),
        }
    }

    fn status(&self) -> SessionStatus {
        self.session().status
    }
}

/// What was decided, a line an event.
fn said(emitted: &[Emitted]) -> Vec<String> {
    emitted.iter().map(line).collect()
}

fn line(one: &Emitted) -> String {
    let text = |slot: Slot| {
        let bytes = &one.pieces.list()[usize::from(slot.0)].bytes;
        String::from_utf8(bytes.clone()).unwrap()
    };
    match &one.event {
        AnyEvent::Bucket(bucket::Event::Taken(event)) => {
            format!("a token of {} for {}", event.kind, number(event.command))
        }
        AnyEvent::Run(run::Event::ToolInvoked(event)) => {
            format!("tool {}: {}", text(event.tool_name), event.status)
        }
        AnyEvent::Run(run::Event::EvidenceRecorded(event)) => format!(
            "evidence {} by {}: {}",
            event.kind.as_str(),
            text(event.tool),
            event.summary.map_or_else(String::new, text)
        ),
        AnyEvent::Session(event) => session_line(event, &text),
        other => panic!("{other:?} is not of a session"),
    }
}

fn number(command: CommandId) -> u128 {
    command.0.as_u128()
}

fn session_line(event: &Event, text: &dyn Fn(Slot) -> String) -> String {
    let because =
        |reason: Option<Slot>| reason.map_or_else(String::new, |slot| format!(": {}", text(slot)));
    match event {
        Event::Paused(event) => match event.failures {
            Some(failures) => format!("paused after {failures}"),
            None => format!("paused{}", because(event.reason)),
        },
        Event::Resumed(event) => format!("resumed{}", because(event.reason)),
        Event::ApprovalRequired(event) => {
            format!("{} asks for {:?}", number(event.request), event.actions)
        }
        Event::Approved(event) => {
            format!("approved {:?}{}", event.actions, because(event.reason))
        }
        Event::ApprovalDenied(event) => format!("denied: {}", text(event.reason)),
        Event::ApprovalExpired(event) => format!("{} expired", number(event.request)),
        Event::Aborted(event) => format!("aborted{}", because(event.reason)),
        Event::Completed(event) => format!("completed{}", because(event.reason)),
        Event::CommandReceived(event) => format!("{} {}", number(event.command), event.facts.kind),
        Event::CommandQueued(event) => format!("{} queued", number(event.command)),
        Event::CommandAccepted(event) => match event.token {
            TokenSource::None => format!("{} accepted", number(event.command)),
            token => format!("{} accepted ({token})", number(event.command)),
        },
        Event::CommandRejected(event) => {
            let rule = event
                .rule
                .as_ref()
                .map(|rule| format!(", {}", rule.as_str()));
            let (number, reason) = (number(event.command), text(event.reason));
            format!("{number} rejected: {reason}{}", rule.unwrap_or_default())
        }
        Event::Throttled(event) => {
            let number = number(event.correlation.command.unwrap());
            format!(
                "{number} throttled: {}: {}",
                text(event.scope),
                event.retry_after
            )
        }
        Event::CommandCompleted(event) => format!("{} {}", number(event.command), event.outcome),
        Event::ConflictDetected(event) => format!("conflict: {}", text(event.details)),
        Event::ArtifactAvailable(event) => format!("{} {}", event.kind, text(event.name)),
        Event::PlanUpdated(event) => format!("plan {:?}", event.nodes),
        Event::PlanNodeLinked(event) => format!("{:?} is a task", event.node),
        Event::BacklogQueried(event) => {
            format!("{} tickets, more: {}", event.items.len(), event.more)
        }
        Event::WorkItemQueried(event) => format!("{} is {}", event.item.id, event.item.status),
        Event::RunAttached(_) => "run attached".to_owned(),
        other => panic!("no command leads to {other:?}"),
    }
}
