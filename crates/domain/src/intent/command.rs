//! What can be asked of an intent.

use derive_new::new;
use derive_setters::Setters;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{GitOid, IntentId, PlanId};

/// Records a user's request as a Draft intent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new, Setters)]
#[setters(prefix = "with_", into)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct CreateIntent {
    /// The new intent's id; left out, it gets one.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<IntentId>,
    /// The request, verbatim; not blank.
    #[new(into)]
    #[setters(skip)]
    pub prompt: String,
    /// The intent that this one refines.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<IntentId>,
}

/// Records the interpretation of an intent's prompt. It may be refined while
/// the intent is Draft or Active.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct AnalyzeIntent {
    /// The intent.
    pub intent: IntentId,
    /// The structured interpretation; not blank.
    #[new(into)]
    pub content: String,
}

/// Lets work on an analysed Draft begin: it becomes Active.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new, Setters)]
#[setters(prefix = "with_", into)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ActivateIntent {
    /// The intent.
    #[setters(skip)]
    pub intent: IntentId,
    /// Why.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Makes a plan revision the current one of an Active intent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct SelectPlan {
    /// The intent.
    pub intent: IntentId,
    /// The plan.
    pub plan: PlanId,
}

/// Records the git commit that an Active intent led to; the last one wins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct RecordCommit {
    /// The intent.
    pub intent: IntentId,
    /// The commit.
    pub commit: GitOid,
}

/// Finishes an Active intent. Its tasks, runs and steps have ended, its questions have
/// answers, and the intents that it was split into are settled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new, Setters)]
#[setters(prefix = "with_", into)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct CompleteIntent {
    /// The intent.
    #[setters(skip)]
    pub intent: IntentId,
    /// Why.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whether what is still open ends with it: its runs and steps fail, its tasks are
    /// cancelled, and its questions are closed. Intents that it was split into are not.
    #[new(default)]
    #[setters(into = false)]
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub abandon_open: bool,
}

/// Abandons a Draft or Active intent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new, Setters)]
#[setters(prefix = "with_", into)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct CancelIntent {
    /// The intent.
    #[setters(skip)]
    pub intent: IntentId,
    /// Why.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}
