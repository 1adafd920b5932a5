//! What can be asked of a context pipeline.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::FrameKind;
use crate::{Json, PipelineId};

/// Creates a pipeline without frames. Its first frame is usually the
/// interpretation of an intent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CreatePipeline {
    /// The new pipeline's id; left out, it gets one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<PipelineId>,
    /// How many frames the window may hold; 0, the default, is unlimited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_frames: Option<u32>,
}

/// Appends a frame. It gets the next number, which no eviction takes away; if
/// the window is over its limit then, the oldest evictable frames go.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PushFrame {
    /// The pipeline.
    pub pipeline: PipelineId,
    /// What the frame captures.
    pub kind: FrameKind,
    /// A few sentences for people.
    pub summary: String,
    /// The payload for machines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Json>,
    /// How many tokens it takes in a model's context.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_estimate: Option<u64>,
}

/// Sets how many frames the window may hold. It evicts nothing until the next
/// push.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SetMaxFrames {
    /// The pipeline.
    pub pipeline: PipelineId,
    /// The limit; 0 is unlimited.
    pub max_frames: u32,
}

/// Sets the summary across all frames.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SetGlobalSummary {
    /// The pipeline.
    pub pipeline: PipelineId,
    /// The summary; null or left out, there is none any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
}
