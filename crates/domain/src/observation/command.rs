//! What can be asked of an observation.

use derive_new::new;
use derive_setters::Setters;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::ObservationKind;
use crate::ObservationId;

/// Records what an agent noticed. What should be done about it is an intent that
/// names it (`submit_intent`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new, Setters)]
#[setters(prefix = "with_", into)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct RecordObservation {
    /// The new observation's id; left out, it gets one.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<ObservationId>,
    /// How it was noticed.
    #[setters(skip)]
    pub kind: ObservationKind,
    /// What was noticed, the first line for short; not blank.
    #[new(into)]
    #[setters(skip)]
    pub text: String,
    /// What it rests on: paths, quotes, URLs; none of them blank.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
    /// Objects of this log that it is about.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub about: Vec<Uuid>,
}

/// Marks an open observation as processed: an actor looked at it, and there is nothing to
/// do. What should be done is an intent that names it (`submit_intent`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new, Setters)]
#[setters(prefix = "with_", into)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ProcessObservation {
    /// The observation.
    #[setters(skip)]
    pub observation: ObservationId,
    /// Why there is nothing to do.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}
