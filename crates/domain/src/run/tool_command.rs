//! What can be told of a tool call's life.
//!
//! Hooks, telemetry and transcripts tell of the same calls, each a part and in any order. So these commands
//! accept what is a fact, say nothing twice, and refuse no fact for its order.

use derive_new::new;
use derive_setters::Setters;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{GrantScope, IoFootprint, ToolDecider, ToolStatus, ToolVerdict};
use crate::{ArtifactRef, ContentPart, IntegrityHash, Json, Payload, RunId, ToolInvocationId};

/// Records that an agent asked for a tool call, in a run that is neither Completed nor Failed. Of a call
/// that is known already only what it adds is recorded, in any run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, new, Setters)]
#[setters(prefix = "with_", into)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct RequestToolCall {
    /// The run.
    #[setters(skip)]
    pub run: RunId,
    /// The call's id; left out, it gets one.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<ToolInvocationId>,
    /// The tool's registered name; not blank.
    #[new(into)]
    #[setters(skip)]
    pub tool_name: String,
    /// Files that the call is going to read and write.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub io_footprint: Option<IoFootprint>,
    /// Arguments.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Json>,
}

/// A settings or policy file that was in force. It has its content, or the hash of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new, Setters)]
#[setters(prefix = "with_", into)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct FileInForce {
    /// Where it is; not blank.
    #[new(into)]
    #[setters(skip)]
    pub path: String,
    /// Its content, to be kept in this log.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Payload>,
    /// The SHA-256 of its content, where that is not to be kept. It stays when content is removed.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<IntegrityHash>,
}

/// Records a decision on a tool call, in any run. One that adds nothing to an earlier one is not
/// recorded again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new, Setters)]
#[setters(prefix = "with_", into)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct DecideToolCall {
    /// The run.
    #[setters(skip)]
    pub run: RunId,
    /// The call.
    #[setters(skip)]
    pub tool_invocation: ToolInvocationId,
    /// What was decided.
    #[setters(skip)]
    pub verdict: ToolVerdict,
    /// What decided.
    #[setters(skip)]
    pub by: ToolDecider,
    /// The tool's registered name; needed where nothing of the call may be known yet.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// The rule, the hook's command, the person's id, the classifier's model or the mode.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_name: Option<String>,
    /// The path of the file that has the rule or names the hook.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// How long the decision holds; left out, for this call alone.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<GrantScope>,
    /// The call with which the permission was given that this decision rests on.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant: Option<ToolInvocationId>,
    /// Whether it was not stated by the agent, but inferred.
    #[new(default)]
    #[setters(into = false)]
    #[serde(default)]
    pub inferred: bool,
    /// Why.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The mode of permissions that the agent was in.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<String>,
    /// The settings and policy files that were in force, at most 100; left out where that is not stated.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_force: Option<Vec<FileInForce>>,
}

/// Records that a tool call began, in any run, also where it was denied. Of a call that is known to have
/// begun, or to be over, nothing is recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new, Setters)]
#[setters(prefix = "with_", into)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct BeginToolCall {
    /// The run.
    #[setters(skip)]
    pub run: RunId,
    /// The call.
    #[setters(skip)]
    pub tool_invocation: ToolInvocationId,
    /// The tool's registered name; needed where nothing of the call may be known yet.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
}

/// Records that a tool call ended, in any run, also where it is not known to have begun. Of a call that is
/// known to have ended so, only what it adds is recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new, Setters)]
#[setters(prefix = "with_", into)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct EndToolCall {
    /// The run.
    #[setters(skip)]
    pub run: RunId,
    /// The call.
    #[setters(skip)]
    pub tool_invocation: ToolInvocationId,
    /// How it ended.
    #[setters(skip)]
    pub status: ToolStatus,
    /// The tool's registered name; needed where nothing of the call may be known yet.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// How long it took, in milliseconds.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Short summary of the output.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_summary: Option<String>,
    /// What failed, if it did.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Full output files that are kept elsewhere.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<ArtifactRef>,
    /// The output itself, to be kept in this log; its parts follow the `artifacts`.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub output: Vec<ContentPart>,
}
