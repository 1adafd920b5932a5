//! What can be asked of an intent on its second axis (docs/spec/forge.md).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Risk, Source, WorkType};
use crate::{IntentId, Json, ObservationId};

/// Proposes an intent. Its type and initial risk follow by rule from the text,
/// unless they are given; a risk that is given and low enough for the log's
/// settings lets it go on at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SubmitIntent {
    /// The new intent's id; left out, it gets one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<IntentId>,
    /// The request: a title, and behind the first blank line the rest.
    pub prompt: String,
    /// Where it comes from.
    pub source: Source,
    /// What kind of work it is.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub work_type: Option<WorkType>,
    /// How risky it is, as its author judges.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk: Option<Risk>,
    /// Labels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    /// The intent that it refines (git-internal's `parent`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refines: Option<IntentId>,
    /// The intent that it is a part of (Forge's `parent`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub child_of: Option<IntentId>,
    /// Intents that must be done first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<IntentId>,
    /// What was noticed that led to it: an open observation, whose kind is the source;
    /// it is processed then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observation: Option<ObservationId>,
    /// What else another system knows of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra: Option<Json>,
}

impl SubmitIntent {
    /// An intent with a text and nothing else.
    pub fn new(source: Source, prompt: impl Into<String>) -> SubmitIntent {
        SubmitIntent {
            id: None,
            prompt: prompt.into(),
            source,
            work_type: None,
            risk: None,
            labels: Vec::new(),
            refines: None,
            child_of: None,
            depends_on: Vec::new(),
            observation: None,
            extra: None,
        }
    }
}

/// Judges an intent's type or risk; it counts more than what the rules said. A
/// proposed intent whose risk is low enough goes on at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JudgeIntent {
    /// The intent.
    pub intent: IntentId,
    /// What kind of work it is.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub work_type: Option<WorkType>,
    /// How risky it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk: Option<Risk>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Lets a proposed intent go on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApproveIntent {
    /// The intent.
    pub intent: IntentId,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Turns an intent down that is proposed, approved, blocked or in error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RejectIntent {
    /// The intent.
    pub intent: IntentId,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Says more about what to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InstructIntent {
    /// The intent.
    pub intent: IntentId,
    /// What is said; not blank.
    pub instruction: String,
}

/// Begins work on an approved intent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StartExecution {
    /// The intent.
    pub intent: IntentId,
}

/// Asks questions about an intent, which must be answered before it goes on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestClarification {
    /// The intent.
    pub intent: IntentId,
    /// What is asked, at least one question; none of them blank.
    pub questions: Vec<String>,
}

/// Answers a question about an intent, once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswerClarification {
    /// The intent.
    pub intent: IntentId,
    /// The number of the question, from 0; left out, the first one without an
    /// answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<u32>,
    /// The answer; not blank.
    pub answer: String,
}

/// Has the failed tasks of a blocked intent, or one in error, tried again: each
/// gets another task in its place. What was done stays.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RerunIntent {
    /// The intent.
    pub intent: IntentId,
    /// What to do otherwise this time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instruction: Option<String>,
}
