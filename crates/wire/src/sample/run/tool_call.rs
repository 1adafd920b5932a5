//! Examples of a tool call's life.

use annals_domain::run::{
    GrantScope, StoredFileInForce, StoredFootprint, ToolBegun, ToolDecided, ToolDecider, ToolEnded,
    ToolRequested, ToolStatus, ToolVerdict,
};
use annals_domain::{Emitted, IntegrityHash, Pieces, ToolInvocationId};
use serde_json::json;

use super::shared::sample;
use crate::sample::values::{artifact, id, json};

/// A call that was told of as one that is over has its example in `shared.rs`; this is another one.
const CALL: u8 = 90;

pub(super) fn samples() -> [Emitted; 4] {
    let tool_invocation = ToolInvocationId(id(CALL));
    [
        sample(requested),
        sample(decided),
        sample(|pieces| ToolBegun {
            tool_invocation,
            tool_name: Some(pieces.text("shell")),
        }),
        sample(ended),
    ]
}

fn requested(pieces: &mut Pieces) -> ToolRequested {
    ToolRequested {
        tool_invocation: ToolInvocationId(id(CALL)),
        tool_name: pieces.text("shell"),
        io_footprint: Some(StoredFootprint {
            paths_read: vec![pieces.text("src/größe.rs")],
            paths_written: vec![pieces.text("target/debug")],
        }),
        args: Some(json(&json!({"command": "cargo build"}), pieces)),
    }
}

fn decided(pieces: &mut Pieces) -> ToolDecided {
    ToolDecided {
        tool_invocation: ToolInvocationId(id(CALL)),
        tool_name: Some(pieces.text("shell")),
        verdict: ToolVerdict::Allow,
        by: ToolDecider::Rule,
        by_name: Some("shell(cargo build:*)".into()),
        source: Some(".agent/paramètres.json".into()),
        scope: GrantScope::Session,
        grant: Some(ToolInvocationId(id(91))),
        inferred: true,
        reason: Some(pieces.text("Builds are allowed — always.")),
        permission_mode: Some(pieces.text("acceptEdits")),
        in_force: Some(vec![StoredFileInForce {
            path: pieces.text(".agent/paramètres.json"),
            hash: Some(IntegrityHash([0x3b; 32])),
            content: Some(pieces.attachment(b"{\"allow\":[\"shell(cargo build:*)\"]}".to_vec())),
        }]),
    }
}

fn ended(pieces: &mut Pieces) -> ToolEnded {
    ToolEnded {
        tool_invocation: ToolInvocationId(id(CALL)),
        tool_name: Some(pieces.text("shell")),
        status: ToolStatus::Error,
        duration_ms: Some(70_250),
        result_summary: Some(pieces.text("error[E0432] ✗")),
        failure: Some(pieces.text("exit code 101")),
        artifacts: vec![artifact("error: could not compile\n", pieces)],
    }
}
