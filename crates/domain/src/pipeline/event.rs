//! What happens to a context pipeline.
//!
//! Evictions are not events: the window is a pure function of the frames that
//! were pushed and the limit in force ([`super::Window`]). What a program took out
//! of its model's context by itself follows from no policy, and is one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use smallvec::smallvec;
use uuid::Uuid;

use super::{FrameKind, PolicyRule};
use crate::event::{Touched, events};
use crate::metadata::{MetadataSet, Sealed, subject};
use crate::pieces::{JsonPiece, Slot};
use crate::redaction::Redacted;
use crate::{AdoptedHeader, FrameId, Kind, PlanId, Timestamp};

/// The member of a frame's data that is stored as a piece of its own.
pub const CONTENT: &str = "content";

events! {
    /// An event of a pipeline's stream.
    pub enum Event {
        Created = "pipeline.created" v 1,
        FramePushed = "pipeline.frame_pushed" v 2,
        FramesUsed = "pipeline.frames_used" v 2,
        FramesDropped = "pipeline.frames_dropped" v 1,
        MaxFramesSet = "pipeline.max_frames_set" v 1,
        EvictionPolicySet = "pipeline.eviction_policy_set" v 1,
        GlobalSummarySet = "pipeline.global_summary_set" v 1,
        MetadataSet = "pipeline.metadata_set" v 1,
        Sealed = "pipeline.sealed" v 2,
        Adopted = "pipeline.adopted" v 1,
        Redacted = "pipeline.redacted" v 1,
    }
}

/// The pipeline was created, without frames.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Created {
    /// How many frames the window may hold; 0 is unlimited.
    pub max_frames: u32,
}

/// A frame was appended. Whether it or older ones are evicted follows from the policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FramePushed {
    /// The frame's number.
    pub frame_id: FrameId,
    /// What it captures.
    pub kind: FrameKind,
    /// A few sentences for people.
    pub summary: Slot,
    /// The payload for machines, without `content` where that is stored separately.
    #[schemars(with = "Option<JsonPiece>")]
    pub data: Option<Slot>,
    /// The payload's member `content`: what was captured, as it was. It is a separate piece, so
    /// that equal content over 4 KiB is stored once, even if the rest of the data differs.
    #[schemars(with = "Option<JsonPiece>")]
    pub content: Option<Slot>,
    /// How many tokens it takes in a model's context.
    pub token_estimate: Option<u64>,
}

/// A plan's step consumed frames; policies that look at uses need to know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FramesUsed {
    /// The plan.
    pub plan: PlanId,
    /// The step's number.
    pub step: u32,
    /// The frames, which may have been evicted.
    pub frames: Vec<FrameId>,
    /// Whether it was not stated, but inferred from something else.
    pub inferred: bool,
}

/// The agent's program took frames out of the model's context by itself, as it compacted or
/// condensed it. They leave the window at once, whatever the policy, and those that are
/// protected, too. None of them comes back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FramesDropped {
    /// Their numbers, ascending. Some may have left the window before.
    pub frames: Vec<StoredRange>,
    /// Whether they are all that had been pushed: the window is empty afterwards.
    pub all: bool,
}

/// Consecutive frame numbers, inside an event's structure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "range")]
pub struct StoredRange {
    /// The first of them.
    pub first: FrameId,
    /// The last of them.
    pub last: FrameId,
}

/// The limit was set. It evicts nothing until the next push.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MaxFramesSet {
    /// How many frames the window may hold; 0 is unlimited.
    pub max_frames: u32,
}

/// The eviction policy was set. It evicts nothing until the next push. Fields
/// that the policy has no use for are empty.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EvictionPolicySet {
    /// Which policy it is.
    pub rule: PolicyRule,
    /// How many frames the window may hold.
    pub max_frames: Option<u32>,
    /// How many tokens the window may hold.
    pub max_tokens: Option<u64>,
    /// How many of them a rolling summary takes.
    pub summary_tokens: Option<u64>,
    /// How many frames of which kinds are kept.
    pub quotas: Vec<StoredQuota>,
    /// How many frames of each other kind are kept; absent, all of them.
    pub other_kinds: Option<u32>,
    /// Kinds that are never evicted.
    pub protected: Vec<FrameKind>,
}

/// How many frames of a kind are kept, inside an event's structure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "quota")]
pub struct StoredQuota {
    /// The kind.
    pub kind: FrameKind,
    /// How many of its frames are kept.
    pub keep: u32,
}

/// The summary across all frames was set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GlobalSummarySet {
    /// The summary; absent, it was taken away.
    pub summary: Option<Slot>,
}

/// The pipeline was taken over from another system, as it is; or the frames of the one taken over
/// just before go on. What had been evicted there is not known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Adopted {
    /// The pipeline; absent where its frames go on.
    pub object: Option<AdoptedPipeline>,
    /// Frames in the window, in order.
    pub frames: Vec<AdoptedFrame>,
}

/// What an adopted pipeline has once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "pipeline")]
pub struct AdoptedPipeline {
    /// Its common header.
    pub header: Box<AdoptedHeader>,
    /// The number that the next frame would have got.
    pub next_frame_id: FrameId,
    /// How many frames the window may hold; 0 is unlimited.
    pub max_frames: u32,
    /// The summary across all frames.
    pub global_summary: Option<Slot>,
}

/// A frame of an adopted pipeline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "frame")]
pub struct AdoptedFrame {
    /// Its number.
    pub frame_id: FrameId,
    /// What it captures.
    pub kind: FrameKind,
    /// A few sentences for people.
    pub summary: Slot,
    /// The payload for machines.
    #[schemars(with = "Option<JsonPiece>")]
    pub data: Option<Slot>,
    /// When it was pushed.
    pub created_at: Timestamp,
    /// How many tokens it takes in a model's context.
    pub token_estimate: Option<u64>,
}

fn touches(event: &Event, id: Uuid) -> Touched {
    match event {
        Event::MetadataSet(event) => subject(event.kind, event.object),
        Event::Redacted(event) => event.touched().into(),
        Event::Sealed(event) => subject(event.kind, event.object),
        // The association belongs to the step; the pipeline stays as it was
        // (docs/spec/git-internal.md, Step-Frame Association).
        Event::FramesUsed(_) => Touched::new(),
        Event::Created(_)
        | Event::FramePushed(_)
        | Event::FramesDropped(_)
        | Event::MaxFramesSet(_)
        | Event::EvictionPolicySet(_)
        | Event::GlobalSummarySet(_)
        | Event::Adopted(_) => smallvec![(Kind::ContextPipeline, id)],
    }
}
