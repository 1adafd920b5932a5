//! The exact JSON of all kinds, full and least.

use std::path::PathBuf;

use annals_domain::run::{
    Created, DecisionMade, DecisionType, DiffFormat, EvidenceKind, EvidenceRecorded,
    PatchSetProposed, ProvenanceRecorded, StoredFootprint, ToolInvoked, ToolStatus,
};
use annals_domain::{
    ActorRef, DecisionId, EvidenceId, Kind, PatchSetId, Pieces, ProvenanceId, StreamKind, TaskId,
    ToolInvocationId, intent, pipeline, plan, run, snapshot, task,
};
use serde_json::Value;

use crate::fold::tests::sampled;
use crate::testing::{Story, id, stream};

/// The fields of git-internal's tables, and those of sessions and observations, without
/// the common header.
fn documented_fields(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Intent => &["prompt", "content", "parent", "commit", "plan", "statuses"],
        Kind::Plan => &["previous", "pipeline", "fwindow", "steps"],
        Kind::Task => &[
            "title",
            "description",
            "goal",
            "constraints",
            "acceptance_criteria",
            "requester",
            "parent",
            "intent",
            "runs",
            "dependencies",
            "status",
        ],
        Kind::Run => &[
            "task",
            "plan",
            "commit",
            "status",
            "snapshot",
            "patchsets",
            "metrics",
            "error",
            "environment",
        ],
        Kind::PatchSet => &[
            "run",
            "commit",
            "format",
            "artifact",
            "touched",
            "rationale",
            "apply_status",
        ],
        Kind::Evidence => &[
            "run_id",
            "patchset_id",
            "kind",
            "tool",
            "command",
            "exit_code",
            "summary",
            "report_artifacts",
        ],
        Kind::Decision => &[
            "run_id",
            "decision_type",
            "chosen_patchset_id",
            "result_commit_sha",
            "checkpoint_id",
            "rationale",
        ],
        Kind::Provenance => &[
            "run_id",
            "provider",
            "model",
            "parameters",
            "temperature",
            "max_tokens",
            "token_usage",
        ],
        Kind::ToolInvocation => &[
            "run_id",
            "tool_name",
            "io_footprint",
            "args",
            "status",
            "result_summary",
            "artifacts",
        ],
        Kind::ContextSnapshot => &["selection_strategy", "items", "summary"],
        Kind::ContextPipeline => &["frames", "next_frame_id", "max_frames", "global_summary"],
        Kind::Observation => &[
            "kind",
            "status",
            "text",
            "evidence",
            "about",
            "intent",
            "reason",
            "processed_at",
            "processed_by",
        ],
        Kind::Session => &[
            "status",
            "reason",
            "config",
            "approval_expiry_seconds",
            "pause_after_failures",
            "failures",
            "pending_approvals",
            "granted_actions",
            "queue",
            "open_commands",
            "counts",
            "last_commands",
            "earlier_commands",
            "plan",
            "plan_nodes",
            "artifacts",
            "conflicts",
            "runs",
            "work_items",
        ],
    }
}

const HEADER: &[&str] = &[
    "object_id",
    "object_type",
    "header_version",
    "schema_version",
    "created_at",
    "updated_at",
    "created_by",
    "visibility",
    "tags",
    "external_ids",
    "checksum",
];

/// The fields of git-internal's inner tables: where they are, and their names.
const INNER: &[(Kind, &str, &[&str])] = &[
    (
        Kind::Intent,
        "/statuses/1",
        &["status", "changed_at", "reason"],
    ),
    (
        Kind::Plan,
        "/steps/0",
        &[
            "description",
            "inputs",
            "outputs",
            "checks",
            "iframes",
            "oframes",
            "task",
            "statuses",
        ],
    ),
    (
        Kind::Plan,
        "/steps/2/statuses/1",
        &["status", "changed_at", "reason"],
    ),
    (
        Kind::Task,
        "/requester",
        &["kind", "id", "display_name", "auth_context"],
    ),
    (Kind::Run, "/environment", &["os", "arch", "cwd", "machine"]),
    (
        Kind::PatchSet,
        "/artifact",
        &[
            "store",
            "key",
            "content_type",
            "size_bytes",
            "hash",
            "expires_at",
        ],
    ),
    (
        Kind::PatchSet,
        "/touched/0",
        &["path", "change_type", "lines_added", "lines_deleted"],
    ),
    (
        Kind::Provenance,
        "/token_usage",
        &["input_tokens", "output_tokens", "total_tokens", "cost_usd"],
    ),
    (
        Kind::ToolInvocation,
        "/io_footprint",
        &["paths_read", "paths_written"],
    ),
    (
        Kind::ContextSnapshot,
        "/items/0",
        &["kind", "path", "preview", "blob"],
    ),
    (
        Kind::ContextPipeline,
        "/frames/0",
        &[
            "frame_id",
            "kind",
            "summary",
            "data",
            "created_at",
            "token_estimate",
        ],
    ),
];

fn sampled_json(kind: Kind) -> String {
    let view = Story::of_samples(kind.stream_kind()).view(kind, sampled(kind));
    view.unwrap_or_else(|| panic!("there is a {kind}"))
        .to_json()
        .unwrap()
}

fn names(value: &Value) -> Vec<&str> {
    value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}

#[test]
fn every_documented_field_is_in_the_json_and_no_other() {
    for kind in Kind::ALL {
        let object: Value = serde_json::from_str(&sampled_json(*kind)).unwrap();
        let mut expected = [HEADER, documented_fields(*kind)].concat();
        expected.sort_unstable();
        let mut found = names(&object);
        found.sort_unstable();
        assert_eq!(found, expected, "{kind}");
    }
}

#[test]
fn every_documented_field_of_the_inner_tables_is_in_the_json() {
    for (kind, place, expected) in INNER {
        let object: Value = serde_json::from_str(&sampled_json(*kind)).unwrap();
        let mut expected = expected.to_vec();
        expected.sort_unstable();
        let inner = object
            .pointer(place)
            .unwrap_or_else(|| panic!("{kind} {place}"));
        let mut found = names(inner);
        found.sort_unstable();
        assert_eq!(found, expected, "{kind} {place}");
    }
}

/// A golden file is never changed: another shape is another file.
/// `UPDATE_GOLDENS=1` writes those that are missing.
fn check_golden(name: &str, json: &str) {
    let name = format!("tests/golden/{name}.v1.json");
    let path = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).join(&name);
    let json = json.to_owned() + "\n";
    if !path.exists() && std::env::var_os("UPDATE_GOLDENS").is_some() {
        std::fs::write(&path, &json).unwrap();
    }
    let golden = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{name}: {error}; UPDATE_GOLDENS=1 writes it"));
    assert_eq!(json, golden, "{name}");
}

#[test]
fn the_full_json_is_the_golden_one() {
    for kind in Kind::ALL {
        check_golden(kind.object_type(), &sampled_json(*kind));
    }
}

/// git-internal shows nothing of the other axis but when something happened, and
/// that what was rejected is cancelled (docs/events.md).
#[test]
fn what_document_004_adds_changes_no_field_of_document_000() {
    for kind in [Kind::Intent, Kind::Task] {
        let json = |story: &Story| {
            let view = story.view(kind, sampled(kind)).unwrap();
            let mut json: Value = serde_json::from_str(&view.to_json().unwrap()).unwrap();
            for set_by_any_event in ["updated_at", "checksum"] {
                json[set_by_any_event] = Value::Null;
            }
            json
        };
        let without = json(&Story::of_samples(kind.stream_kind()));
        let mut with = json(&Story::of_all_samples(kind.stream_kind()));
        if kind == Kind::Intent {
            let statuses = with["statuses"].as_array_mut().unwrap();
            let last = statuses.pop().unwrap();
            assert_eq!(last["status"], "cancelled");
            assert_eq!(last["reason"], "passt nicht — später");
        }
        assert_eq!(with, without, "{kind}");
    }
}

#[test]
fn the_json_of_what_was_adopted_is_the_golden_one() {
    // No other system has observations.
    let adopted = Kind::ALL.iter().filter(|kind| **kind != Kind::Observation);
    for kind in adopted {
        let story = Story::of_adopted(kind.stream_kind());
        let json = story
            .view(*kind, sampled(*kind))
            .unwrap()
            .to_json()
            .unwrap();
        check_golden(&format!("adopted_{}", kind.object_type()), &json);
    }
}

/// The JSON after the header of the least object of each kind.
fn least(kind: Kind, own: u8) -> String {
    let mut story = Story::new();
    story.actor = ActorRef::agent("coder");
    let place = stream(kind.stream_kind(), id(1));
    match kind.stream_kind() {
        StreamKind::Intent => story.push(place, |pieces| {
            intent::Event::from(intent::Submitted {
                refines: None,
                prompt: pieces.text("p"),
            })
        }),
        StreamKind::Plan => story.push(place, |pieces| plan::Event::from(drafted(pieces))),
        StreamKind::Task => story.push(place, |pieces| task::Event::from(task_created(pieces))),
        StreamKind::Run => story.push(place, |pieces| run_event(kind, pieces)),
        StreamKind::Snapshot => story.push(place, |_| {
            let strategy = snapshot::SelectionStrategy::Explicit;
            snapshot::Event::from(snapshot::Opened {
                strategy,
                summary: None,
            })
        }),
        StreamKind::Pipeline => story.push(place, |_| {
            pipeline::Event::from(pipeline::Created { max_frames: 0 })
        }),
        kind => panic!("git-internal has no {kind}"),
    };
    let json = story.view(kind, id(own)).unwrap().to_json().unwrap();
    let header = format!(
        "{{\"object_id\":\"{}\",\"object_type\":\"{}\",\"header_version\":1,\"schema_version\":1,\
         \"created_at\":\"2026-01-02T03:04:06Z\",\"updated_at\":\"2026-01-02T03:04:06Z\",\
         \"created_by\":{{\"kind\":\"agent\",\"id\":\"coder\",\"display_name\":null,\
         \"auth_context\":null}},\"visibility\":\"private\",\"tags\":{{}},\"external_ids\":{{}},\
         \"checksum\":null,",
        id(own),
        kind.object_type(),
    );
    json.strip_prefix(&header)
        .unwrap_or_else(|| panic!("{json}"))
        .to_owned()
}

fn drafted(pieces: &mut Pieces) -> plan::Drafted {
    let step = plan::StoredStep {
        description: pieces.text("d"),
        inputs: None,
        outputs: None,
        checks: None,
        iframes: Vec::new(),
        oframes: Vec::new(),
        task: None,
    };
    plan::Drafted {
        previous: None,
        intent: None,
        pipeline: None,
        fwindow: None,
        steps: vec![step],
    }
}

fn task_created(pieces: &mut Pieces) -> task::Created {
    task::Created {
        title: pieces.text("t"),
        description: None,
        goal: None,
        constraints: Vec::new(),
        acceptance_criteria: Vec::new(),
        requester: None,
        parent: None,
        intent: None,
        dependencies: Vec::new(),
    }
}

fn run_event(kind: Kind, pieces: &mut Pieces) -> run::Event {
    match kind {
        Kind::PatchSet => run::Event::from(PatchSetProposed {
            patch_set: PatchSetId(id(2)),
            commit: None,
            format: DiffFormat::Unified,
            artifact: None,
            touched: Vec::new(),
            rationale: None,
        }),
        Kind::Evidence => run::Event::from(EvidenceRecorded {
            evidence: EvidenceId(id(2)),
            patch_set: None,
            kind: EvidenceKind::Other("review".to_owned()),
            tool: pieces.text("t"),
            command: None,
            exit_code: None,
            summary: None,
            report_artifacts: Vec::new(),
        }),
        Kind::Decision => run::Event::from(DecisionMade {
            decision: DecisionId(id(2)),
            decision_type: DecisionType::Retry,
            chosen_patch_set: None,
            result_commit: None,
            checkpoint_id: None,
            rationale: None,
        }),
        Kind::Provenance => run::Event::from(ProvenanceRecorded {
            provenance: ProvenanceId(id(2)),
            provider: pieces.text("p"),
            model: pieces.text("m"),
            parameters: None,
            temperature: None,
            max_tokens: None,
            token_usage: None,
        }),
        Kind::ToolInvocation => run::Event::from(ToolInvoked {
            tool_invocation: ToolInvocationId(id(2)),
            tool_name: pieces.text("t"),
            io_footprint: Some(StoredFootprint {
                paths_read: vec![],
                paths_written: vec![],
            }),
            args: None,
            status: ToolStatus::Ok,
            duration_ms: None,
            result_summary: None,
            artifacts: Vec::new(),
        }),
        _ => run::Event::from(Created {
            task: TaskId(id(5)),
            plan: None,
            commit: None,
            snapshot: None,
            environment: None,
            reverts: None,
        }),
    }
}

#[test]
fn the_least_json_leaves_out_what_is_optional_and_nothing_else() {
    let run = "\"run_id\":\"0198c0de-0000-7000-8000-000000000001\"";
    let check = |kind, own, expected: &str| assert_eq!(least(kind, own), expected, "{kind}");
    check(
        Kind::Intent,
        1,
        r#""prompt":"p","statuses":[{"status":"draft","changed_at":"2026-01-02T03:04:06Z"}]}"#,
    );
    check(
        Kind::Plan,
        1,
        r#""steps":[{"description":"d","statuses":[{"status":"pending","changed_at":"2026-01-02T03:04:06Z"}]}]}"#,
    );
    check(Kind::Task, 1, r#""title":"t","status":"draft"}"#);
    check(
        Kind::Run,
        1,
        r#""task":"0198c0de-0000-7000-8000-000000000005","commit":null,"status":"created"}"#,
    );
    check(
        Kind::PatchSet,
        2,
        r#""run":"0198c0de-0000-7000-8000-000000000001","commit":null,"format":"unified_diff","artifact":null,"touched":[],"rationale":null,"apply_status":"proposed"}"#,
    );
    check(
        Kind::Evidence,
        2,
        &format!(r#"{run},"kind":"review","tool":"t"}}"#),
    );
    check(
        Kind::Decision,
        2,
        &format!(r#"{run},"decision_type":"retry"}}"#),
    );
    check(
        Kind::Provenance,
        2,
        &format!(r#"{run},"provider":"p","model":"m"}}"#),
    );
    check(
        Kind::ToolInvocation,
        2,
        &format!(r#"{run},"tool_name":"t","io_footprint":{{}},"args":null,"status":"ok"}}"#),
    );
    check(
        Kind::ContextSnapshot,
        1,
        r#""selection_strategy":"explicit"}"#,
    );
    check(
        Kind::ContextPipeline,
        1,
        r#""frames":[],"next_frame_id":0,"max_frames":0}"#,
    );
}
