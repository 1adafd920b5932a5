//! One type per kind of id, so that a task's id cannot be passed where a run's
//! id belongs.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{StreamKind, StreamRef};

macro_rules! ids {
    ($($(#[$meta:meta])* $name:ident;)+) => {
        $(
            $(#[$meta])*
            #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
            #[serde(transparent)]
            pub struct $name(pub Uuid);

            impl fmt::Display for $name {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    self.0.fmt(f)
                }
            }

            impl FromStr for $name {
                type Err = uuid::Error;

                fn from_str(text: &str) -> Result<$name, uuid::Error> {
                    Ok($name(Uuid::parse_str(text)?))
                }
            }

            impl From<Uuid> for $name {
                fn from(id: Uuid) -> $name {
                    $name(id)
                }
            }

            impl From<$name> for Uuid {
                fn from(id: $name) -> Uuid {
                    id.0
                }
            }
        )+
    };
}

ids! {
    /// The id of an intent.
    IntentId;
    /// The id of what an agent noticed.
    ObservationId;
    /// The id of a plan.
    PlanId;
    /// The id of a task.
    TaskId;
    /// The id of a run.
    RunId;
    /// The id of a context snapshot.
    SnapshotId;
    /// The id of a context pipeline.
    PipelineId;
    /// The id of a patch set.
    PatchSetId;
    /// The id of a piece of evidence.
    EvidenceId;
    /// The id of a decision.
    DecisionId;
    /// The id of a provenance.
    ProvenanceId;
    /// The id of a tool invocation.
    ToolInvocationId;
    /// The id of a session.
    SessionId;
    /// The id of a command that an agent gives in a session.
    CommandId;
}

macro_rules! streams {
    ($($name:ident => $kind:ident,)+) => {
        $(
            impl $name {
                /// The aggregate that has this id.
                pub fn stream(self) -> StreamRef {
                    StreamRef {
                        kind: StreamKind::$kind,
                        id: self.0,
                    }
                }
            }
        )+
    };
}

streams! {
    IntentId => Intent,
    PlanId => Plan,
    TaskId => Task,
    RunId => Run,
    SnapshotId => Snapshot,
    PipelineId => Pipeline,
    SessionId => Session,
    ObservationId => Observation,
}

/// The number of a frame in its pipeline: monotonic, from 0, never used twice.
/// It survives eviction (docs/spec/git-internal.md).
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(transparent)]
pub struct FrameId(pub u64);

impl fmt::Display for FrameId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
