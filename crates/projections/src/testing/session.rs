//! A session in which everything happens that can, and one that another system
//! kept.

use annals_domain::metadata::MetadataSet;
use annals_domain::redaction::{Redacted, RemovedPieces};
use annals_domain::session::{
    Aborted, Adopted, AgentCommand, ApplyPatch, ApprovalDenied, ApprovalExpired, ApprovalRequired,
    Approved, Artifact, ArtifactAvailable, ArtifactKind, BacklogQueried, CommandAccepted,
    CommandBody, CommandCompleted, CommandQueued, CommandRejected, CommandResult, Completed,
    ConflictDetected, Correlation, CreateBranch, Created, Event, ForeignRecorded, ItemStatus,
    Paused, PlanNodeLinked, PlanUpdated, PolicyProfile, Push, QueryBacklog, QueryWorkItem,
    RateLimits, RejectionRule, RepoRef, RequestApproval, Resumed, RunAttached, RunTests,
    SessionConfig, SessionStatus, StatusRecorded, StoredConfig, StoredRepo, TaskNode, TaskPlan,
    Throttled, TokenSource, UploadArtifact, WorkItemDetails, WorkItemQueried, WorkItemRef,
    WorkItemSummary, WorkspaceRef,
};
use annals_domain::{
    AnyEvent, CommandId, Dialect, Emitted, Json, Kind, Pieces, SessionId, StreamKind, StreamRef,
    Visibility, bucket,
};

use super::{id, stream, time};

/// The id of a command.
pub(crate) fn command(number: u8) -> CommandId {
    CommandId(id(number))
}

pub(crate) fn repo() -> RepoRef {
    RepoRef::new("annals", "/srv/annals")
}

/// A configuration in which nothing is left out.
pub(crate) fn config(session: u8, parent: Option<u8>) -> SessionConfig {
    let limits = RateLimits::new()
        .with_calls_per_minute(60)
        .with_burst(10)
        .with_per_command_caps(Some([("Push".to_owned(), 2)].into_iter().collect()));
    SessionConfig::new(
        SessionId(id(session)),
        PolicyProfile::new("strict")
            .with_protected_branches(vec!["main".into()])
            .with_require_approval_for_push(true)
            .with_limits(limits),
        repo(),
        WorkspaceRef::new("/w"),
        "coder\nof the night",
    )
    .with_parent_session_id(parent.map(id))
    .with_plan_node_id("a".to_owned())
    .with_work_item(item("ANN-1"))
}

pub(crate) fn item(id: &str) -> WorkItemRef {
    WorkItemRef::new(id).with_provider_hint("jira".to_owned())
}

pub(crate) fn created(config: &SessionConfig, pieces: &mut Pieces) -> Event {
    Event::from(Created {
        config: StoredConfig::store(config, pieces),
        approval_expiry_seconds: Some(600),
        pause_after_failures: 3,
    })
}

pub(crate) fn received(number: u8, body: CommandBody, pieces: &mut Pieces) -> Event {
    let given = AgentCommand::new(command(number), body).with_plan_node("a".to_owned());
    Event::from(given.received(given.correlation(), pieces).unwrap())
}

pub(crate) fn of(number: u8) -> Correlation {
    Correlation {
        command: Some(command(number)),
        parent: None,
        plan_node: None,
    }
}

pub(crate) fn accepted(number: u8) -> Event {
    Event::from(CommandAccepted {
        command: command(number),
        token: TokenSource::Session,
        correlation: of(number),
    })
}

pub(crate) fn queued(number: u8) -> Event {
    Event::from(CommandQueued {
        command: command(number),
        correlation: of(number),
    })
}

pub(crate) fn rejected(number: u8, rule: Option<RejectionRule>, pieces: &mut Pieces) -> Event {
    Event::from(CommandRejected {
        command: command(number),
        reason: pieces.text("Policy violation"),
        rule,
        correlation: of(number),
    })
}

pub(crate) fn completed(number: u8, outcome: CommandResult, pieces: &mut Pieces) -> Event {
    Event::from(CommandCompleted {
        command: command(number),
        outcome,
        message: Some(pieces.text("that is that")),
        error_code: Some(pieces.text("E7")),
        correlation: of(number),
    })
}

pub(crate) fn required(number: u8, actions: &[&str], explicit: bool) -> Event {
    Event::from(ApprovalRequired {
        request: command(number),
        actions: actions.iter().map(|action| (*action).to_owned()).collect(),
        explicit,
        expires_at: Some(time(1_000)),
    })
}

pub(crate) fn push(branch: &str) -> CommandBody {
    CommandBody::from(Push::new(repo(), branch))
}

pub(crate) fn request_approval() -> CommandBody {
    CommandBody::from(RequestApproval::new("the release", vec!["deploy".into()]))
}

pub(crate) fn summary(id: &str, title: &str) -> WorkItemSummary {
    WorkItemSummary::new(id, title, "Open").with_assignee("zoë".to_owned())
}

pub(crate) fn details(id: &str, title: &str) -> WorkItemDetails {
    WorkItemDetails::new(id, title, format!("what {id} is about"), "Doing")
        .with_assignee("zoë".to_owned())
        .with_tags(vec!["urgent".into()])
}

pub(crate) fn backlog(items: &[WorkItemSummary]) -> (Event, Pieces) {
    let mut parts = BacklogQueried::store(items, &Correlation::default()).unwrap();
    assert_eq!(parts.len(), 1, "it is short");
    let (event, pieces) = parts.remove(0);
    (Event::from(event), pieces)
}

pub(crate) fn work_item(read: &WorkItemDetails, pieces: &mut Pieces) -> Event {
    Event::from(WorkItemQueried {
        item: ItemStatus {
            id: read.id.clone(),
            status: read.status.clone(),
        },
        details: pieces.json(&Json::from_value(read).unwrap()),
        correlation: Correlation::default(),
    })
}

pub(crate) fn node(id: &str, depends_on: &[&str]) -> TaskNode {
    TaskNode::new(id, format!("do {id}")).with_depends_on(
        depends_on
            .iter()
            .map(|id| (*id).to_owned())
            .collect::<Vec<_>>(),
    )
}

pub(crate) fn plan(nodes: Vec<TaskNode>, pieces: &mut Pieces) -> Event {
    let plan = TaskPlan::new(nodes);
    Event::from(PlanUpdated {
        nodes: plan.nodes.iter().map(|node| node.id.clone()).collect(),
        plan: pieces.json(&Json::from_value(&plan).unwrap()),
        correlation: Correlation::default(),
    })
}

pub(crate) fn linked(node: &str, task: u8) -> Event {
    Event::from(PlanNodeLinked {
        node: node.into(),
        task: id(task).into(),
    })
}

pub(crate) fn attached(run: u8) -> Event {
    Event::from(RunAttached {
        run: id(run).into(),
    })
}

pub(crate) fn status(status: SessionStatus, pieces: &mut Pieces) -> Event {
    Event::from(StatusRecorded {
        status,
        reason: Some(pieces.text("it says so")),
        correlation: Correlation::default(),
    })
}

/// Events of one session, one after the other.
pub(crate) struct Telling {
    own: StreamRef,
    pub(crate) events: Vec<Emitted>,
}

impl Telling {
    pub(crate) fn of(session: u8) -> Telling {
        Telling {
            own: stream(StreamKind::Session, id(session)),
            events: Vec::new(),
        }
    }

    /// This happened next.
    pub(crate) fn tell<E: Into<Event>>(&mut self, event: impl FnOnce(&mut Pieces) -> E) {
        let mut pieces = Pieces::new();
        let event = event(&mut pieces).into();
        self.tell_with(event, pieces);
    }

    pub(crate) fn tell_with(&mut self, event: Event, pieces: Pieces) {
        self.events.push(Emitted {
            stream: self.own,
            event: AnyEvent::Session(event),
            pieces,
        });
    }

    /// A command that was given and accepted.
    pub(crate) fn accept(&mut self, number: u8, body: impl Into<CommandBody>) {
        self.tell(|pieces| received(number, body.into(), pieces));
        self.tell(|_| accepted(number));
    }

    pub(crate) fn complete(&mut self, number: u8, outcome: CommandResult) {
        self.tell(|pieces| completed(number, outcome, pieces));
    }
}

/// A session with every event that a session can have.
pub(crate) fn everything() -> Vec<Emitted> {
    let mut story = Telling::of(1);
    story.tell(|pieces| created(&config(1, Some(2)), pieces));
    story.tell(|_| attached(30));
    story.tell(|pieces| plan(vec![node("a", &[]), node("b", &["a"])], pieces));
    story.tell(|_| linked("a", 40));
    queries(&mut story);
    changes(&mut story);
    approvals(&mut story);
    its_end(&mut story);
    story.events
}

fn queries(story: &mut Telling) {
    story.accept(100, QueryBacklog::new());
    let (read, pieces) = backlog(&[summary("ANN-1", "one"), summary("ANN-2", "two")]);
    story.tell_with(read, pieces);
    story.complete(100, CommandResult::Success);
    story.accept(101, QueryWorkItem::new(item("ANN-1")));
    story.tell(|pieces| work_item(&details("ANN-1", "one in detail"), pieces));
    story.complete(101, CommandResult::Success);
}

fn changes(story: &mut Telling) {
    story.accept(102, ApplyPatch::new(repo(), "--- a"));
    story.tell(|pieces| ConflictDetected {
        repo: StoredRepo::store(&repo(), pieces),
        details: pieces.text("both changed it"),
        patch: Some(pieces.text("--- b")),
        correlation: of(102),
    });
    story.complete(102, CommandResult::Failure);
    story.accept(103, RunTests::new(repo()));
    story.tell(|pieces| ArtifactAvailable::store(&artifact(), of(103), pieces));
    story.complete(103, CommandResult::Success);
    let branch = CreateBranch::new(repo(), "main");
    story.tell(|pieces| received(104, branch.into(), pieces));
    story.tell(|pieces| rejected(104, Some(RejectionRule::ProtectedBranch), pieces));
    let upload = UploadArtifact::new(
        "log",
        "text/plain",
        annals_domain::session::Base64Bytes(b"all of it".to_vec()),
    );
    story.tell(|pieces| received(105, upload.into(), pieces));
    story.tell(|pieces| Throttled {
        scope: pieces.text("Rate limit exceeded"),
        retry_after: time(2_000),
        correlation: of(105),
    });
}

fn artifact() -> Artifact {
    Artifact::new(ArtifactKind::TestResults, "results")
        .with_inline_text("7 passed".to_owned())
        .with_path_hint("out/results".to_owned())
        .with_download_uri("https://example.org/results".to_owned())
        .with_content_type("text/plain".to_owned())
}

fn approvals(story: &mut Telling) {
    story.tell(|pieces| received(106, push("feature"), pieces));
    story.tell(|_| queued(106));
    story.tell(|_| required(106, &["Push"], false));
    story.tell(|pieces| Approved {
        request: Some(command(106)),
        actions: vec!["Push".into()],
        reason: Some(pieces.text("looks good")),
    });
    story.tell(|_| accepted(106));
    story.complete(106, CommandResult::Success);
    story.accept(107, request_approval());
    story.tell(|_| required(107, &["deploy"], true));
    story.tell(|pieces| ApprovalDenied {
        request: Some(command(107)),
        reason: pieces.text("not today"),
    });
    story.accept(108, request_approval());
    story.tell(|_| required(108, &["deploy"], true));
    story.tell(|_| ApprovalExpired {
        request: command(108),
    });
}

fn its_end(story: &mut Telling) {
    story.tell(|pieces| Paused {
        reason: Some(pieces.text("lunch")),
        failures: None,
    });
    story.tell(|pieces| Resumed {
        reason: Some(pieces.text("it is two")),
    });
    story.tell(|pieces| status(SessionStatus::NeedsApproval, pieces));
    story.tell(|pieces| ForeignRecorded {
        kind: "Heartbeat".into(),
        raw: pieces.text(r#"{"kind":"Heartbeat"}"#),
    });
    story.tell(|pieces| MetadataSet {
        kind: Kind::Session.number(),
        object: id(1),
        visibility: Some(Visibility::Public),
        tags: Some(vec![(pieces.text("team"), pieces.text("a"))]),
        external_ids: Some(vec![(pieces.text("jira"), pieces.text("ANN-7"))]),
    });
    story.tell(|pieces| Adopted {
        dialect: Dialect::Contracts,
        config: Some(StoredConfig::store(&config(1, None), pieces)),
    });
    story.tell(|pieces| Completed {
        reason: Some(pieces.text("all done")),
    });
    story.tell(|pieces| Aborted {
        reason: Some(pieces.text("after all")),
    });
    story.tell(|pieces| redacted(Kind::Session, pieces));
}

/// That content of the first event was removed.
fn redacted(kind: Kind, pieces: &mut Pieces) -> Redacted {
    Redacted {
        removed: vec![RemovedPieces {
            position: 1,
            pieces: vec![0],
        }],
        objects: vec![(kind.number(), id(1))],
        reason: pieces.text("a name"),
    }
}

/// A session that another system kept: its verdicts, and no commands.
pub(crate) fn kept_elsewhere() -> Vec<Emitted> {
    let mut story = Telling::of(1);
    story.tell(|_| Adopted {
        dialect: Dialect::Contracts,
        config: None,
    });
    story.tell(|pieces| status(SessionStatus::Running, pieces));
    story.tell(|_| accepted(100));
    story.complete(100, CommandResult::Failure);
    story.tell(|pieces| rejected(101, None, pieces));
    story.tell(|pieces| status(SessionStatus::Paused, pieces));
    story.events
}

/// A bucket that sessions share.
pub(crate) fn bucket() -> Vec<Emitted> {
    let mut pieces = Pieces::new();
    let taken = bucket::Taken {
        session: SessionId(id(1)),
        command: command(106),
        kind: annals_domain::session::CommandKind::Push,
        profile: pieces.text("strict"),
        capacity: 2,
        per_minute: 2,
    };
    let emitted = |event: bucket::Event, pieces| Emitted {
        stream: stream(StreamKind::Bucket, id(1)),
        event: AnyEvent::Bucket(event),
        pieces,
    };
    let mut why = Pieces::new();
    let removed = redacted(Kind::Session, &mut why);
    vec![emitted(taken.into(), pieces), emitted(removed.into(), why)]
}
