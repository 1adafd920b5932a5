//! What can be asked of an observation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::ObservationKind;
use crate::ObservationId;

/// Records what an agent noticed. What should be done about it is an intent that
/// names it (`submit_intent`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecordObservation {
    /// The new observation's id; left out, it gets one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<ObservationId>,
    /// How it was noticed.
    pub kind: ObservationKind,
    /// What was noticed, the first line for short; not blank.
    pub text: String,
    /// What it rests on: paths, quotes, URLs; none of them blank.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
    /// Objects of this log that it is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub about: Vec<Uuid>,
}

impl RecordObservation {
    /// An observation with a text and nothing else.
    pub fn new(kind: ObservationKind, text: impl Into<String>) -> RecordObservation {
        RecordObservation {
            id: None,
            kind,
            text: text.into(),
            evidence: Vec::new(),
            about: Vec::new(),
        }
    }
}

/// Marks an open observation as processed: an actor looked at it, and there is nothing to
/// do. What should be done is an intent that names it (`submit_intent`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProcessObservation {
    /// The observation.
    pub observation: ObservationId,
    /// Why there is nothing to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}
