//! `run.tool_invoked`, version 1 to 2: how long a call took was not recorded.

use annals_domain::run::{StoredFootprint, ToolInvoked, ToolStatus};
use annals_domain::{Slot, StoredArtifact, ToolInvocationId};
use serde::Deserialize;

use super::Step;

/// The shape of version 1.
#[derive(Deserialize)]
pub(super) struct ToolInvokedV1 {
    tool_invocation: ToolInvocationId,
    tool_name: Slot,
    io_footprint: Option<StoredFootprint>,
    args: Option<Slot>,
    status: ToolStatus,
    result_summary: Option<Slot>,
    artifacts: Vec<StoredArtifact>,
}

pub(super) const STEP: Step<ToolInvokedV1, ToolInvoked> =
    Step::new("run.tool_invoked", 1, |old| ToolInvoked {
        tool_invocation: old.tool_invocation,
        tool_name: old.tool_name,
        io_footprint: old.io_footprint,
        args: old.args,
        status: old.status,
        duration_ms: None,
        result_summary: old.result_summary,
        artifacts: old.artifacts,
    });
