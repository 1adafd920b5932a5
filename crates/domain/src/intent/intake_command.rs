//! What can be asked of an intent on its second axis (docs/spec/forge.md).

use derive_new::new;
use derive_setters::Setters;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Risk, Source, WorkType};
use crate::{IntentId, Json, ObservationId};

/// Proposes an intent. Its type and initial risk follow by rule from the text,
/// unless they are given; a risk that is given and low enough for the log's
/// settings lets it go on at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new, Setters)]
#[setters(prefix = "with_", into)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct SubmitIntent {
    /// The new intent's id; left out, it gets one.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<IntentId>,
    /// The request: a title, and behind the first blank line the rest.
    #[new(into)]
    #[setters(skip)]
    pub prompt: String,
    /// Where it comes from.
    #[setters(skip)]
    pub source: Source,
    /// What kind of work it is.
    #[new(default)]
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub work_type: Option<WorkType>,
    /// How risky it is, as its author judges.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk: Option<Risk>,
    /// Labels.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    /// The intent that it refines (git-internal's `parent`).
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refines: Option<IntentId>,
    /// The intent that it is a part of (Forge's `parent`).
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub child_of: Option<IntentId>,
    /// Intents that must be done first.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<IntentId>,
    /// What was noticed that led to it: an open observation, whose kind is the source;
    /// it is processed then.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observation: Option<ObservationId>,
    /// What else another system knows of it.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra: Option<Json>,
}

/// Judges an intent's type or risk; it counts more than what the rules said. A
/// proposed intent whose risk is low enough goes on at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new, Setters)]
#[setters(prefix = "with_", into)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct JudgeIntent {
    /// The intent.
    #[setters(skip)]
    pub intent: IntentId,
    /// What kind of work it is.
    #[new(default)]
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub work_type: Option<WorkType>,
    /// How risky it is.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk: Option<Risk>,
    /// Why.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Lets a proposed intent go on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new, Setters)]
#[setters(prefix = "with_", into)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ApproveIntent {
    /// The intent.
    #[setters(skip)]
    pub intent: IntentId,
    /// Why.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Turns an intent down that is proposed, approved, blocked or in error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new, Setters)]
#[setters(prefix = "with_", into)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct RejectIntent {
    /// The intent.
    #[setters(skip)]
    pub intent: IntentId,
    /// Why.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Says more about what to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct InstructIntent {
    /// The intent.
    pub intent: IntentId,
    /// What is said; not blank.
    #[new(into)]
    pub instruction: String,
}

/// Begins work on an approved intent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct StartExecution {
    /// The intent.
    pub intent: IntentId,
}

/// Asks questions about an intent, which must be answered before it goes on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct RequestClarification {
    /// The intent.
    pub intent: IntentId,
    /// What is asked, at least one question; none of them blank.
    pub questions: Vec<String>,
}

/// Answers a question about an intent, once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new, Setters)]
#[setters(prefix = "with_", into)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct AnswerClarification {
    /// The intent.
    #[setters(skip)]
    pub intent: IntentId,
    /// The number of the question, from 0; left out, the first one without an
    /// answer.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<u32>,
    /// The answer; not blank.
    #[new(into)]
    #[setters(skip)]
    pub answer: String,
}

/// Has the failed tasks of a blocked intent, or one in error, tried again: each
/// gets another task in its place. What was done stays.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new, Setters)]
#[setters(prefix = "with_", into)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct RerunIntent {
    /// The intent.
    #[setters(skip)]
    pub intent: IntentId,
    /// What to do otherwise this time.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instruction: Option<String>,
}
