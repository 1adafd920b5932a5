//! Examples of the events of a run.

mod adopted;
mod shared;
mod tool_call;

use annals_domain::intent::IntentStatus;
use annals_domain::run::{
    ChangeType, Created, DiffFormat, EndedAfterIntent, Failed, MetricsRecorded, PatchSetApplied,
    PatchSetProposed, PatchSetRejected, PatchSetReverted, PatchingStarted, ProvenanceRecorded,
    RationaleOverridden, ResultCommitRecorded, SnapshotAttached, StoredTokens, StoredTouchedFile,
    UsageRecorded, ValidationStarted,
};
use annals_domain::{
    DecisionId, Emitted, IntentId, Kind, PatchSetId, Pieces, PlanId, ProvenanceId, RunId,
    SnapshotId, StreamKind, TaskId,
};
use serde_json::json;

use super::values::{artifact, environment, id, json, metadata_set, sealed, sha1, sha256};
use shared::{decision_made, evidence_recorded, sample, tool_invoked};

pub(super) fn samples() -> Vec<Emitted> {
    let mut all = vec![
        sample(created),
        sample(|_| SnapshotAttached {
            snapshot: SnapshotId(id(8)),
        }),
        sample(|_| PatchingStarted {}),
        sample(|_| ValidationStarted {}),
        sample(tool_invoked),
    ];
    all.extend(patch_sets());
    all.extend([
        sample(evidence_recorded),
        sample(provenance_recorded),
        sample(usage_recorded),
        sample(|pieces| MetricsRecorded {
            metrics: json(&json!({"coverage": 0.875}), pieces),
        }),
        sample(decision_made),
        sample(|pieces| Failed {
            error: pieces.text("плохой токен: limit exceeded"),
        }),
        sample(|pieces| metadata_set(StreamKind::Run, pieces)),
        sample(|pieces| sealed(Kind::Run, pieces)),
    ]);
    all.extend(adopted::samples());
    all.extend([
        sample(|_| ResultCommitRecorded {
            decision: DecisionId(id(77)),
            commit: sha256(),
        }),
        sample(|_| EndedAfterIntent {
            intent: IntentId(id(2)),
            status: IntentStatus::Cancelled,
        }),
    ]);
    all.extend(tool_call::samples());
    all
}

fn patch_sets() -> [Emitted; 5] {
    let patch_set = PatchSetId(id(10));
    [
        sample(patch_set_proposed),
        sample(|_| PatchSetApplied { patch_set }),
        sample(|pieces| PatchSetRejected {
            patch_set,
            reason: Some(pieces.text("テストが通らない")),
        }),
        sample(|_| PatchSetReverted {
            patch_set,
            reverted_by: RunId(id(11)),
        }),
        sample(|pieces| RationaleOverridden {
            patch_set,
            rationale: Some(pieces.text("Reviewer: the naïve loop is fast enough.")),
        }),
    ]
}

fn created(pieces: &mut Pieces) -> Created {
    Created {
        task: TaskId(id(5)),
        plan: Some(PlanId(id(3))),
        commit: Some(sha1()),
        snapshot: Some(SnapshotId(id(8))),
        environment: Some(environment(pieces)),
        reverts: Some(PatchSetId(id(10))),
    }
}

fn patch_set_proposed(pieces: &mut Pieces) -> PatchSetProposed {
    PatchSetProposed {
        patch_set: PatchSetId(id(10)),
        commit: Some(sha256()),
        format: DiffFormat::GitDiff,
        artifact: Some(artifact("diff --git a/src/main.rs b/src/main.rs\n", pieces)),
        touched: vec![
            StoredTouchedFile {
                path: pieces.text("src/main.rs"),
                change_type: ChangeType::Modify,
                lines_added: 12,
                lines_deleted: 3,
            },
            StoredTouchedFile {
                path: pieces.text("src/größe.rs"),
                change_type: ChangeType::Copy,
                lines_added: 70_000,
                lines_deleted: 300,
            },
        ],
        rationale: Some(pieces.text("Serialise rows once, print them in either form.")),
    }
}

fn provenance_recorded(pieces: &mut Pieces) -> ProvenanceRecorded {
    ProvenanceRecorded {
        provenance: ProvenanceId(id(13)),
        provider: pieces.text("örtlich"),
        model: pieces.text("example-model-1"),
        parameters: Some(json(&json!({"top_p": 0.9}), pieces)),
        temperature: Some(0.25),
        max_tokens: Some(4_096),
        token_usage: Some(StoredTokens {
            input_tokens: 1_000_000,
            output_tokens: 250,
            cost_usd: Some(0.0625),
        }),
    }
}

fn usage_recorded(pieces: &mut Pieces) -> UsageRecorded {
    UsageRecorded {
        model: Some(pieces.text("example-model-1 (édition)")),
        uncached_input_tokens: 251,
        cache_read_tokens: 65_536,
        cache_write_tokens: 4_294_967_296,
        cache_write_1h_tokens: 65_537,
        output_tokens: 250,
        reasoning_tokens: 249,
        web_searches: 252,
        cost_usd: Some(1.5),
    }
}
