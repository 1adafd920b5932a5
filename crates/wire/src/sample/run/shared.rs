//! Examples of a run's objects that are in the events of others, too.

use annals_domain::run::{
    DecisionMade, DecisionType, Event, EvidenceKind, EvidenceRecorded, StoredFootprint,
    ToolInvoked, ToolStatus,
};
use annals_domain::{
    AnyEvent, DecisionId, Emitted, EvidenceId, PatchSetId, Pieces, ToolInvocationId,
};
use serde_json::json;

use crate::sample::values::{artifact, emitted, id, json, sha1};

pub(super) fn tool_invoked(pieces: &mut Pieces) -> ToolInvoked {
    ToolInvoked {
        tool_invocation: ToolInvocationId(id(9)),
        tool_name: pieces.text("shell"),
        io_footprint: Some(StoredFootprint {
            paths_read: vec![pieces.text("src/main.rs"), pieces.text("docs/überblick.md")],
            paths_written: vec![pieces.text("src/json.rs")],
        }),
        args: Some(json(&json!({"command": "cargo test"}), pieces)),
        status: ToolStatus::Error,
        duration_ms: Some(61_250),
        result_summary: Some(pieces.text("2 tests failed ✗")),
        artifacts: vec![artifact("running 40 tests\n", pieces)],
    }
}

pub(super) fn evidence_recorded(pieces: &mut Pieces) -> EvidenceRecorded {
    EvidenceRecorded {
        evidence: EvidenceId(id(12)),
        patch_set: Some(PatchSetId(id(10))),
        kind: EvidenceKind::Test,
        tool: pieces.text("cargo"),
        command: Some(pieces.text("cargo test --workspace")),
        exit_code: Some(-101),
        summary: Some(pieces.text("40 passed — 2 failed")),
        report_artifacts: vec![artifact("<testsuite/>", pieces)],
    }
}

pub(super) fn decision_made(pieces: &mut Pieces) -> DecisionMade {
    DecisionMade {
        decision: DecisionId(id(14)),
        decision_type: DecisionType::Commit,
        chosen_patch_set: Some(PatchSetId(id(10))),
        result_commit: Some(sha1()),
        checkpoint_id: Some(pieces.text("prüfpunkt-7")),
        rationale: Some(pieces.text("All checks pass.")),
    }
}

pub(super) fn sample<E: Into<Event>>(event: impl FnOnce(&mut Pieces) -> E) -> Emitted {
    emitted(|pieces| AnyEvent::Run(event(pieces).into()))
}
