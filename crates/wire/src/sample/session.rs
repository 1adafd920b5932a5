//! Examples of the events of a session.

use annals_domain::session::{
    Aborted, Adopted, ApprovalDenied, ApprovalExpired, ApprovalRequired, Approved, Artifact,
    ArtifactAvailable, ArtifactKind, BacklogQueried, CommandAccepted, CommandCompleted,
    CommandFacts, CommandKind, CommandQueued, CommandReceived, CommandRejected, CommandResult,
    Completed, ConflictDetected, Correlation, Created, Event, ForeignRecorded, ItemStatus, Paused,
    PlanNodeLinked, PlanUpdated, RejectionRule, RepoRef, Resumed, RunAttached, SessionStatus,
    StatusRecorded, StoredConfig, StoredLimits, StoredPolicy, StoredRepo, StoredWorkItem,
    Throttled, TokenSource, WorkItemQueried,
};
use annals_domain::{
    AnyEvent, CommandId, Dialect, Emitted, Pieces, RunId, SessionId, StreamKind, TaskId,
};
use serde_json::json;

use super::values::{emitted, id, json, metadata_set, time};

pub(super) fn samples() -> Vec<Emitted> {
    let mut all = Vec::from(life());
    all.extend(commands());
    all.extend(results());
    all.extend([
        sample(|_| RunAttached { run: RunId(id(4)) }),
        sample(|pieces| StatusRecorded {
            status: SessionStatus::NeedsApproval,
            reason: Some(pieces.text("требуется подтверждение")),
            correlation: correlation(),
        }),
        sample(|pieces| ForeignRecorded {
            kind: "SitzungVerlängert".into(),
            raw: json(
                &json!({"kind": "SitzungVerlängert", "um": "00:05:00"}),
                pieces,
            ),
        }),
        sample(|pieces| metadata_set(StreamKind::Session, pieces)),
    ]);
    all
}

fn life() -> [Emitted; 10] {
    let request = command_id();
    [
        sample(|pieces| Created {
            config: config(pieces),
            approval_expiry_seconds: Some(90_000),
            pause_after_failures: 3,
        }),
        sample(|pieces| Adopted {
            dialect: Dialect::Contracts,
            config: Some(config(pieces)),
        }),
        sample(|pieces| Paused {
            reason: Some(pieces.text("обед")),
            failures: Some(3),
        }),
        sample(|pieces| Resumed {
            reason: Some(pieces.text("zurück")),
        }),
        sample(|_| ApprovalRequired {
            request,
            actions: actions(),
            explicit: true,
            expires_at: Some(time()),
        }),
        sample(|pieces| Approved {
            request: Some(request),
            actions: actions(),
            reason: Some(pieces.text("geprüft")),
        }),
        sample(|pieces| ApprovalDenied {
            request: Some(request),
            reason: pieces.text("まだ早い"),
        }),
        sample(|_| ApprovalExpired { request }),
        sample(|pieces| Aborted {
            reason: Some(pieces.text("сервер недоступен")),
        }),
        sample(|pieces| Completed {
            reason: Some(pieces.text("fertig, alles grün")),
        }),
    ]
}

fn commands() -> [Emitted; 6] {
    let (command, correlation) = (command_id(), correlation());
    let of = || correlation.clone();
    [
        sample(command_received),
        sample(|_| CommandQueued {
            command,
            correlation: of(),
        }),
        sample(|_| CommandAccepted {
            command,
            token: TokenSource::Shared,
            correlation: of(),
        }),
        sample(|pieces| CommandRejected {
            command,
            reason: pieces.text("Policy violation"),
            rule: Some(RejectionRule::TransitionNotAllowed),
            correlation: of(),
        }),
        sample(|pieces| Throttled {
            scope: pieces.text("Rate limit exceeded"),
            retry_after: time(),
            correlation: of(),
        }),
        sample(|pieces| CommandCompleted {
            command,
            outcome: CommandResult::Failure,
            message: Some(pieces.text("тесты не прошли")),
            error_code: Some(pieces.text("E0308")),
            correlation: of(),
        }),
    ]
}

/// Every fact has a value here, though no one command has them all.
fn command_received(pieces: &mut Pieces) -> CommandReceived {
    let body = json!({
        "kind": "UploadArtifact",
        "name": "größe.txt",
        "contentType": "text/plain",
        "content": "",
        "pathHint": "out/größe.txt",
    });
    CommandReceived {
        command: command_id(),
        facts: CommandFacts {
            kind: CommandKind::LinkPlanNode,
            repo: Some("/srv/проект".into()),
            branch: Some("refs/heads/größe".into()),
            files: Some(300),
            filtered: true,
            work_item: Some("ANN-7".into()),
            state: Some("In Arbeit".into()),
            actions: actions(),
        },
        correlation: correlation(),
        body: json(&body, pieces),
        files: Some(json(&json!(["größe.txt"]), pieces)),
        file: Some(pieces.attachment("größer als gedacht".as_bytes().to_vec())),
    }
}

fn results() -> [Emitted; 6] {
    [
        sample(|pieces| ConflictDetected {
            repo: repo(pieces),
            details: pieces.text("src/größe.rs: beide Seiten"),
            patch: Some(pieces.text("--- a/größe\n+++ b/größe\n")),
            correlation: correlation(),
        }),
        sample(artifact_available),
        sample(|pieces| PlanUpdated {
            nodes: vec!["анализ".into(), "bau".into()],
            plan: json(&plan(), pieces),
            correlation: correlation(),
        }),
        sample(|_| PlanNodeLinked {
            node: "bau".into(),
            task: TaskId(id(5)),
        }),
        sample(|pieces| BacklogQueried {
            items: vec![item("ANN-7", "Offen"), item("ANN-8", "In Arbeit")],
            rows: json(
                &json!([
                    {"id": "ANN-7", "title": "Größe", "status": "Offen", "assignee": "Zoë"},
                    {"id": "ANN-8", "title": "Farbe", "status": "In Arbeit"},
                ]),
                pieces,
            ),
            more: true,
            correlation: correlation(),
        }),
        sample(|pieces| WorkItemQueried {
            item: item("ANN-7", "Offen"),
            details: json(
                &json!({
                    "id": "ANN-7", "title": "Größe", "description": "zu groß",
                    "status": "Offen", "assignee": "Zoë", "tags": ["équipe"],
                }),
                pieces,
            ),
            correlation: correlation(),
        }),
    ]
}

fn artifact_available(pieces: &mut Pieces) -> ArtifactAvailable {
    let artifact = Artifact::new(ArtifactKind::Conflict, "größe.diff")
        .with_inline_text("-größe\n+länge\n".to_owned())
        .with_path_hint("out/größe.diff".to_owned())
        .with_download_uri("https://example.org/gr%C3%B6%C3%9Fe.diff".to_owned())
        .with_content_type("text/x-diff".to_owned());
    ArtifactAvailable::store(&artifact, correlation(), pieces)
}

fn plan() -> serde_json::Value {
    json!({"nodes": [
        {"id": "анализ", "title": "Verstehen", "dependsOn": [], "tags": []},
        {"id": "bau", "title": "Bauen", "dependsOn": ["анализ"], "tags": ["équipe"]},
    ]})
}

fn config(pieces: &mut Pieces) -> StoredConfig {
    StoredConfig {
        parent: Some(SessionId(id(19))),
        plan_node: Some("анализ".into()),
        policy: policy(),
        repo: repo(pieces),
        repo_path: Some("/srv/проект".into()),
        workspace: pieces.text("/srv/arbeit/größe"),
        work_item: Some(StoredWorkItem {
            id: "ANN-7".into(),
            provider_hint: Some(pieces.text("jira")),
        }),
        agent_profile: pieces.text("кодер"),
        agent: Some("кодер".into()),
    }
}

fn policy() -> StoredPolicy {
    let kinds = |kinds: &[CommandKind]| kinds.iter().map(ToString::to_string).collect();
    StoredPolicy {
        name: "équipe-noire".into(),
        whitelist: Some(kinds(&[CommandKind::Push, CommandKind::RunTests])),
        blacklist: Some(kinds(&[CommandKind::SpawnSession])),
        protected_branches: vec!["main".into(), "ausgabe-größe".into()],
        max_files_per_commit: Some(300),
        require_tests_before_push: true,
        filtered_tests_count: true,
        require_approval_for_push: true,
        transitions: Some(vec!["Offen->In Arbeit".into()]),
        limits: Some(StoredLimits {
            calls_per_minute: Some(60),
            burst: Some(70_000),
            per_command_caps: Some(vec![("Push".into(), 2), ("RunTests".into(), 300)]),
        }),
    }
}

fn repo(pieces: &mut Pieces) -> StoredRepo {
    let repo = RepoRef::new("проект", "/srv/проект");
    StoredRepo::store(&repo, pieces)
}

fn item(id: &str, status: &str) -> ItemStatus {
    ItemStatus {
        id: id.into(),
        status: status.into(),
    }
}

fn actions() -> Vec<String> {
    vec!["Push".into(), "größere Änderung".into()]
}

fn command_id() -> CommandId {
    CommandId(id(21))
}

fn correlation() -> Correlation {
    Correlation {
        command: Some(command_id()),
        parent: Some(CommandId(id(22))),
        plan_node: Some("bau".into()),
    }
}

fn sample<E: Into<Event>>(event: impl FnOnce(&mut Pieces) -> E) -> Emitted {
    emitted(|pieces| AnyEvent::Session(event(pieces).into()))
}
