//! Examples of a run and its objects that were taken over.

use annals_domain::run::{
    Adopted, AdoptedPatchSet, AdoptedRun, AdoptedTokens, ApplyStatus, ChangeType, DecisionAdopted,
    DiffFormat, EvidenceAdopted, PatchSetAdopted, ProvenanceAdopted, RunStatus, StoredTouchedFile,
    ToolInvocationAdopted,
};
use annals_domain::{Emitted, PatchSetId, Pieces, PlanId, ProvenanceId, SnapshotId, TaskId};
use serde_json::json;

use super::shared::{decision_made, evidence_recorded, sample, tool_invoked};
use crate::sample::values::{adopted, artifact, environment, id, json, sha1, sha256};

pub(super) fn samples() -> [Emitted; 6] {
    [
        sample(run),
        sample(patch_set),
        sample(|pieces| EvidenceAdopted {
            header: adopted(pieces),
            evidence: evidence_recorded(pieces),
        }),
        sample(|pieces| DecisionAdopted {
            header: adopted(pieces),
            decision: decision_made(pieces),
        }),
        sample(provenance),
        sample(|pieces| ToolInvocationAdopted {
            header: adopted(pieces),
            invocation: tool_invoked(pieces),
        }),
    ]
}

fn run(pieces: &mut Pieces) -> Adopted {
    Adopted {
        object: Some(AdoptedRun {
            header: adopted(pieces),
            task: TaskId(id(5)),
            plan: Some(PlanId(id(3))),
            commit: Some(sha256()),
            status: RunStatus::Validating,
            snapshot: Some(SnapshotId(id(8))),
            metrics: Some(json(&json!({"coverage": 0.875}), pieces)),
            error: Some(pieces.text("слишком долго")),
            environment: Some(environment(pieces)),
        }),
        patchsets: vec![PatchSetId(id(10)), PatchSetId(id(11))],
    }
}

fn patch_set(pieces: &mut Pieces) -> PatchSetAdopted {
    PatchSetAdopted {
        patch_set: PatchSetId(id(10)),
        object: Some(AdoptedPatchSet {
            commit: Some(sha1()),
            header: adopted(pieces),
            format: DiffFormat::Unified,
            artifact: Some(artifact("--- a/x\n+++ b/x\n", pieces)),
            rationale: Some(pieces.text("Zeilen nur einmal — für beide Formen.")),
            apply_status: ApplyStatus::Applied,
        }),
        touched: vec![StoredTouchedFile {
            path: pieces.text("src/größe.rs"),
            change_type: ChangeType::Rename,
            lines_added: 1,
            lines_deleted: 70_000,
        }],
    }
}

fn provenance(pieces: &mut Pieces) -> ProvenanceAdopted {
    ProvenanceAdopted {
        header: adopted(pieces),
        provenance: ProvenanceId(id(13)),
        provider: pieces.text("örtlich"),
        model: pieces.text("example-model-1"),
        parameters: Some(json(&json!({"top_p": 0.9}), pieces)),
        temperature: Some(0.25),
        max_tokens: Some(4_096),
        token_usage: Some(AdoptedTokens {
            input_tokens: 1_000_000,
            output_tokens: 250,
            total_tokens: 7,
            cost_usd: Some(0.0625),
        }),
    }
}
