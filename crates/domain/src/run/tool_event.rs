//! The life of a tool call, event by event: requested, decided, begun, ended.
//!
//! Sources miss things and come in any order, so each of these may be the first that is known of a call.
//! [`super::ToolInvoked`] stands beside them: it tells of a call that is over, as transcripts do.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{GrantScope, ToolDecider, ToolStatus, ToolVerdict};
use crate::pieces::{BytesPiece, JsonPiece, Slot};
use crate::{IntegrityHash, StoredArtifact, ToolInvocationId};

/// Files that a tool call read and wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "footprint")]
pub struct StoredFootprint {
    /// Files read, relative to the repository.
    pub paths_read: Vec<Slot>,
    /// Files written, relative to the repository.
    pub paths_written: Vec<Slot>,
}

/// An agent asked for a tool call. It may be denied, and then it never begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolRequested {
    /// The call's id.
    pub tool_invocation: ToolInvocationId,
    /// The tool's registered name.
    pub tool_name: Slot,
    /// Files that the call is going to read and write, as far as its arguments say.
    pub io_footprint: Option<StoredFootprint>,
    /// The arguments.
    #[schemars(with = "Option<JsonPiece>")]
    pub args: Option<Slot>,
}

/// A settings or policy file that was in force when a tool call was decided on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "file in force")]
pub struct StoredFileInForce {
    /// Where it is.
    pub path: Slot,
    /// The SHA-256 of its content, where the content is not kept here.
    pub hash: Option<IntegrityHash>,
    /// Its content.
    #[schemars(with = "Option<BytesPiece>")]
    pub content: Option<Slot>,
}

/// Something decided on a tool call. There may be several decisions on one call, such as a rule that
/// asks, and then a person who allows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolDecided {
    /// The call's id.
    pub tool_invocation: ToolInvocationId,
    /// The tool's registered name, where this is the first that is known of the call.
    pub tool_name: Option<Slot>,
    /// What was decided.
    pub verdict: ToolVerdict,
    /// What decided.
    pub by: ToolDecider,
    /// The rule, the hook's command, the person's id, the classifier's model or the mode.
    pub by_name: Option<String>,
    /// The path of the file that has the rule or names the hook.
    pub source: Option<String>,
    /// How long the decision holds.
    pub scope: GrantScope,
    /// The call with which the permission was given that this decision rests on.
    pub grant: Option<ToolInvocationId>,
    /// Whether it was not stated by the agent, but inferred from its settings or from what it did.
    pub inferred: bool,
    /// Why.
    pub reason: Option<Slot>,
    /// The mode of permissions that the agent was in.
    pub permission_mode: Option<Slot>,
    /// The settings and policy files that were in force; absent where that is not stated.
    pub in_force: Option<Vec<StoredFileInForce>>,
}

/// The source of decisions that were reported by telemetry: nothing but the agent's exporter stands for them, and any
/// program that reaches the receiver can send the same.
pub const TELEMETRY: &str = "telemetry (OTLP)";

impl ToolDecided {
    /// Returns `true` if the decision was reported by telemetry, so that it counts only where the log has no other one.
    pub fn is_reported(&self) -> bool {
        is_telemetry(self.source.as_deref())
    }

    /// Returns `true` if the decision lifts a denial: a person allowed the call, and that was neither inferred nor
    /// reported by telemetry. Whatever else decides otherwise afterwards, a denied call stays denied.
    pub fn lifts_denials(&self) -> bool {
        self.verdict == ToolVerdict::Allow && self.is_persons()
    }

    /// Returns `true` if the decision is stated as a person's: neither inferred nor reported by telemetry.
    pub fn is_persons(&self) -> bool {
        self.by == ToolDecider::Person && !self.inferred && !self.is_reported()
    }
}

/// Returns `true` if a decision's source is telemetry.
pub(super) fn is_telemetry(source: Option<&str>) -> bool {
    source == Some(TELEMETRY)
}

/// A tool call began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolBegun {
    /// The call's id.
    pub tool_invocation: ToolInvocationId,
    /// The tool's registered name, where this is the first that is known of the call.
    pub tool_name: Option<Slot>,
}

/// A tool call ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolEnded {
    /// The call's id.
    pub tool_invocation: ToolInvocationId,
    /// The tool's registered name, where this is the first that is known of the call.
    pub tool_name: Option<Slot>,
    /// How it ended.
    pub status: ToolStatus,
    /// How long it took, in milliseconds.
    pub duration_ms: Option<u64>,
    /// Short summary of the output.
    pub result_summary: Option<Slot>,
    /// What failed, if it did.
    pub failure: Option<Slot>,
    /// Full output files.
    pub artifacts: Vec<StoredArtifact>,
}
