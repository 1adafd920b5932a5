//! What can be asked of a context pipeline.

use derive_new::new;
use derive_setters::Setters;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{EvictionPolicy, FrameKind};
use crate::{FrameId, Json, PipelineId};

/// Creates a pipeline without frames. Its first frame is usually the
/// interpretation of an intent.
#[derive(
    Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new, Setters,
)]
#[setters(prefix = "with_", into)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct CreatePipeline {
    /// The new pipeline's id; left out, it gets one.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<PipelineId>,
    /// How many frames the window may hold; 0, the default, is unlimited. Only
    /// the policy `max_frames` goes with it.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_frames: Option<u32>,
    /// How the window is kept within a limit; left out, by `max_frames` as
    /// git-internal says.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<EvictionPolicy>,
}

/// Appends a frame. It gets the next number, which no eviction takes away; if
/// the window is over its limit then, the frames go that its policy names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, new, Setters)]
#[setters(prefix = "with_", into)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct PushFrame {
    /// The pipeline.
    #[setters(skip)]
    pub pipeline: PipelineId,
    /// What the frame captures.
    #[setters(skip)]
    pub kind: FrameKind,
    /// A few sentences for people.
    #[new(into)]
    #[setters(skip)]
    pub summary: String,
    /// The payload for machines.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Json>,
    /// What was captured, as it was, such as a tool's output: a text or other
    /// JSON. Readers find it in `data`, as its member `content`; it is stored
    /// apart, so that the same content in many frames is stored once. `data`
    /// must then be an object without that member, or be left out.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Json>,
    /// How many tokens it takes in a model's context.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_estimate: Option<u64>,
}

/// Takes frames out of the window at once, as an agent's program does that compacts or condenses its
/// model's context by itself. They go whatever the policy, also those of protected kinds, and do not
/// come back. What takes their place, such as a summary, is pushed as a frame afterwards.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new, Setters)]
#[setters(prefix = "with_", into)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct DropFrames {
    /// The pipeline.
    #[setters(skip)]
    pub pipeline: PipelineId,
    /// The frames, in any order, which may have left the window before; left out, all that were
    /// pushed so far.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frames: Option<Vec<FrameId>>,
}

/// Sets how many frames the window may hold. It evicts nothing until the next
/// push, and has no effect while a policy is in force that does not look at it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct SetMaxFrames {
    /// The pipeline.
    pub pipeline: PipelineId,
    /// The limit; 0 is unlimited.
    pub max_frames: u32,
}

/// Sets the eviction policy. It evicts nothing until the next push; from then
/// on it alone decides which frames go.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct SetEvictionPolicy {
    /// The pipeline.
    pub pipeline: PipelineId,
    /// The policy.
    pub policy: EvictionPolicy,
}

/// Sets the summary across all frames.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new, Setters)]
#[setters(prefix = "with_", into)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct SetGlobalSummary {
    /// The pipeline.
    #[setters(skip)]
    pub pipeline: PipelineId,
    /// The summary; null or left out, there is none any more.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
}
