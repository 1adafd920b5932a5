//! What the events of a session of our own show.

use annals_dialects::contracts::{Commands, Object, Style};
use annals_domain::metadata::MetadataSet;
use annals_domain::redaction::Redacted;
use annals_domain::session::{
    Aborted, ApprovalDenied, ApprovalExpired, ApprovalRequired, Approved, ArtifactAvailable,
    ArtifactKind, CommandAccepted, CommandCompleted, CommandQueued, CommandRejected, CommandResult,
    Completed, Correlation, Created, Event, ForeignRecorded, Paused, PlanNodeLinked, PolicyProfile,
    RejectionRule, RepoRef, Resumed, RunAttached, SessionConfig, SessionStatus, StatusRecorded,
    StoredConfig, Throttled, TokenSource, WorkspaceRef,
};
use annals_domain::{
    AnyEvent, CommandId, Kind, Pieces, RunId, SessionId, TaskId, Timestamp, Visibility, pipeline,
};
use chrono::DateTime;
use uuid::Uuid;

use super::recording::Stream;
use super::{COMMAND, SESSION};

/// A session's stream that begins with its creation.
struct Story(Stream);

impl Story {
    fn new() -> Story {
        let mut story = Story(Stream::of(SESSION.parse().unwrap()));
        story.push(|pieces| Created {
            config: StoredConfig::store(&config(), pieces),
            approval_expiry_seconds: None,
            pause_after_failures: 3,
        });
        story
    }

    fn push<E: Into<Event>>(&mut self, event: impl FnOnce(&mut Pieces) -> E) -> &mut Story {
        let mut pieces = Pieces::new();
        let event = event(&mut pieces).into();
        let id = Uuid::from_u128(self.0.entries.len() as u128 + 1);
        self.0.push(id, AnyEvent::Session(event), pieces);
        self
    }

    /// Everything that is shown, in one line each, without what all have alike.
    fn shown(&self) -> Vec<String> {
        let session = format!(r#""correlation":{{"sessionId":"{SESSION}""#);
        let line = |object: &Object| {
            let text = object.write(Style::Compact).unwrap();
            text.replace(&session, "~").replace(COMMAND, "COMMAND")
        };
        let shown = self.0.show(Commands::Adopted);
        assert!(shown.iter().all(|one| !one.incomplete));
        shown.iter().map(|one| line(&one.object)).collect()
    }

    /// The statuses that are shown after the first one, and why.
    fn statuses(&self) -> Vec<String> {
        let shown = self.shown();
        let status = |line: &String| {
            let value: serde_json::Value =
                serde_json::from_str(&line.replace('~', "\"c\":{\"x\":1")).unwrap();
            assert_eq!(value["kind"], "SessionStatusChanged");
            let text = |name: &str| value[name].as_str().unwrap_or("-").to_owned();
            format!("{}: {}", text("status"), text("reason"))
        };
        shown.iter().skip(1).map(status).collect()
    }
}

fn config() -> SessionConfig {
    SessionConfig::new(
        SessionId(SESSION.parse().unwrap()),
        PolicyProfile::default(),
        RepoRef::new("annals", "/srv/annals"),
        WorkspaceRef::new("/w"),
        "coder",
    )
}

fn command() -> CommandId {
    COMMAND.parse().unwrap()
}

fn of_command() -> Correlation {
    Correlation {
        command: Some(command()),
        parent: None,
        plan_node: Some("node-1".into()),
    }
}

fn required(explicit: bool) -> ApprovalRequired {
    ApprovalRequired {
        request: command(),
        actions: vec!["Push".into()],
        explicit,
        expires_at: None,
    }
}

#[test]
fn a_status_is_an_object_with_the_events_id() {
    assert_eq!(
        Story::new().shown(),
        [
            r#"{"status":"Running","reason":"Session created","id":"00000000-0000-0000-0000-000000000001",~},"kind":"SessionStatusChanged"}"#
        ]
    );
}

#[test]
fn a_sessions_life_is_a_row_of_statuses() {
    let mut story = Story::new();
    story
        .push(|pieces| Paused {
            reason: Some(pieces.text("lunch")),
            failures: None,
        })
        .push(|_| Resumed { reason: None })
        .push(|_| Paused {
            reason: None,
            failures: Some(3),
        })
        .push(|_| Resumed { reason: None })
        .push(|_| required(false))
        .push(|_| Approved {
            request: Some(command()),
            actions: vec!["Push".into()],
            reason: None,
        })
        .push(|_| required(true))
        .push(|pieces| ApprovalDenied {
            request: Some(command()),
            reason: pieces.text("no"),
        })
        .push(|_| required(true))
        .push(|_| ApprovalExpired { request: command() })
        .push(|_| Completed { reason: None });
    assert_eq!(
        story.statuses(),
        [
            "Paused: Session paused: lunch",
            "Running: Session resumed",
            "Paused: Session paused after 3 consecutive failures",
            "Running: Session resumed",
            "NeedsApproval: Session requires approval",
            "Running: Session approved",
            "NeedsApproval: Session requires approval",
            "Running: Approval denied: no",
            "NeedsApproval: Session requires approval",
            "Running: Approval expired",
            "Completed: Session completed",
        ]
    );
    let mut story = Story::new();
    story.push(|_| Aborted { reason: None });
    assert_eq!(story.statuses(), ["Error: Session aborted"]);
}

#[test]
fn a_persons_words_are_in_the_reason_of_a_status() {
    let mut story = Story::new();
    story
        .push(|pieces| Resumed {
            reason: Some(pieces.text("back")),
        })
        .push(|_| required(true))
        .push(|pieces| Approved {
            request: Some(command()),
            actions: vec!["Push".into()],
            reason: Some(pieces.text("looks good")),
        })
        .push(|pieces| Completed {
            reason: Some(pieces.text("all done")),
        })
        .push(|pieces| Aborted {
            reason: Some(pieces.text("not again")),
        });
    assert_eq!(
        story.statuses(),
        [
            "Running: Session resumed: back",
            "NeedsApproval: Session requires approval",
            "Running: Session approved: looks good",
            "Completed: Session completed: all done",
            "Error: Session aborted: not again",
        ]
    );
}

#[test]
fn whoever_is_asked_already_is_not_asked_again() {
    let mut story = Story::new();
    story.push(|_| required(true)).push(|_| required(false));
    assert_eq!(
        story.statuses(),
        ["NeedsApproval: Session requires approval"]
    );
    // Once it was answered, the others are requested.
    story
        .push(|_| Approved {
            request: None,
            actions: Vec::new(),
            reason: None,
        })
        .push(|_| required(false));
    assert_eq!(
        story.statuses()[1..],
        [
            "Running: Session approved",
            "NeedsApproval: Session requires approval"
        ]
    );
}

/// A status that another system recorded counts as much as one of ours.
#[test]
fn a_recorded_status_is_shown_as_it_was() {
    let mut story = Story::new();
    story
        .push(|pieces| StatusRecorded {
            status: SessionStatus::NeedsApproval,
            reason: Some(pieces.text("Waiting")),
            correlation: Correlation::default(),
        })
        .push(|_| required(true))
        .push(|_| StatusRecorded {
            status: SessionStatus::Unknown,
            reason: None,
            correlation: of_command(),
        });
    assert_eq!(story.statuses(), ["NeedsApproval: Waiting", "Unknown: -"]);
    let last = story.shown().pop().unwrap();
    let correlation = r#"~,"commandId":"COMMAND","planNodeId":"node-1"}"#;
    assert!(last.contains(correlation), "{last}");
}

#[test]
fn verdicts_are_shown_under_their_names() {
    let mut story = Story::new();
    story
        .push(|_| CommandAccepted {
            command: command(),
            token: TokenSource::Session,
            correlation: of_command(),
        })
        .push(|pieces| CommandRejected {
            command: command(),
            reason: pieces.text("Policy violation"),
            rule: Some(RejectionRule::TooManyFiles),
            correlation: Correlation::default(),
        })
        .push(|pieces| Throttled {
            scope: pieces.text("Rate limit exceeded"),
            retry_after: Timestamp::from(
                DateTime::from_timestamp(1_764_158_400, 250_000_000).unwrap(),
            ),
            correlation: Correlation::default(),
        })
        .push(|pieces| CommandCompleted {
            command: command(),
            outcome: CommandResult::Failure,
            message: None,
            error_code: Some(pieces.text("E1")),
            correlation: Correlation::default(),
        });
    let id = |number: u8| format!(r#""id":"00000000-0000-0000-0000-00000000000{number}""#);
    assert_eq!(
        story.shown()[1..],
        [
            format!(
                r#"{{"commandId":"COMMAND",{},~,"commandId":"COMMAND","planNodeId":"node-1"}},"kind":"CommandAccepted"}}"#,
                id(2)
            ),
            format!(
                r#"{{"commandId":"COMMAND","reason":"Policy violation","policyRule":"Too many files in commit",{},~}},"kind":"CommandRejected"}}"#,
                id(3)
            ),
            format!(
                r#"{{"scope":"Rate limit exceeded","retryAfter":"2025-11-26T12:00:00.25+00:00",{},~}},"kind":"Throttled"}}"#,
                id(4)
            ),
            format!(
                r#"{{"commandId":"COMMAND","outcome":"Failure","errorCode":"E1",{},~}},"kind":"CommandCompleted"}}"#,
                id(5)
            ),
        ]
    );
}

#[test]
fn an_unknown_object_stands_in_its_place() {
    let mut story = Story::new();
    let raw = r#"{"kind":"Moved" ,"n":1.50}"#;
    story
        .push(|pieces| ForeignRecorded {
            kind: "Moved".into(),
            raw: pieces.text(raw),
        })
        .push(|pieces| ArtifactAvailable {
            kind: ArtifactKind::Log,
            name: pieces.text("build.log"),
            inline_text: None,
            path_hint: None,
            download_uri: None,
            content_type: None,
            correlation: Correlation::default(),
        });
    let shown = story.shown();
    assert_eq!(shown[1], raw);
    assert!(shown[2].starts_with(r#"{"artifact":{"kind":"Log","name":"build.log"},"id""#));
}

#[test]
fn what_the_contracts_do_not_know_shows_nothing() {
    let mut story = Story::new();
    story
        .push(|_| CommandQueued {
            command: command(),
            correlation: of_command(),
        })
        .push(|_| RunAttached {
            run: RunId(Uuid::nil()),
        })
        .push(|_| PlanNodeLinked {
            node: "node-1".into(),
            task: TaskId(Uuid::nil()),
        })
        .push(|_| MetadataSet {
            kind: Kind::Session.number(),
            object: SESSION.parse().unwrap(),
            visibility: Some(Visibility::Public),
            tags: None,
            external_ids: None,
        })
        .push(|pieces| Redacted {
            removed: Vec::new(),
            objects: Vec::new(),
            reason: pieces.text("why"),
        });
    assert_eq!(story.shown().len(), 1);
    let other = AnyEvent::Pipeline(pipeline::Event::MaxFramesSet(pipeline::MaxFramesSet {
        max_frames: 3,
    }));
    story.0.push(Uuid::nil(), other, Pieces::new());
    assert_eq!(story.shown().len(), 1);
}
