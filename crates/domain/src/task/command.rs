//! What can be asked of a task.

use derive_new::new;
use derive_setters::Setters;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Complexity, GoalType, ReviewVerdict};
use crate::{ActorRef, GitOid, IntentId, Json, PatchSetId, TaskId};

/// Defines a unit of work as a Draft task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new, Setters)]
#[setters(prefix = "with_", into)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct CreateTask {
    /// The new task's id; left out, it gets one.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<TaskId>,
    /// Short summary: not blank, under 100 characters.
    #[new(into)]
    #[setters(skip)]
    pub title: String,
    /// Extended context.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Work classification.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<GoalType>,
    /// Hard rules that the solution must satisfy.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub constraints: Vec<String>,
    /// Testable success conditions.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub acceptance_criteria: Vec<String>,
    /// Who requested the work.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requester: Option<ActorRef>,
    /// The task that this one is a part of.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<TaskId>,
    /// The intent that it comes from.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intent: Option<IntentId>,
    /// Tasks that must be done first.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dependencies: Vec<TaskId>,
    /// How it is to be done (docs/spec/forge.md, Task).
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<TaskPlan>,
}

/// How a task is to be done: what Forge has of a task beyond git-internal.
#[derive(
    Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new, Setters,
)]
#[setters(prefix = "with_", into)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct TaskPlan {
    /// What the task is called within its intent.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alias: Option<String>,
    /// How much work it is: low, med or high.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub complexity: Option<Complexity>,
    /// How it is to be done.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<String>,
    /// The files that matter.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub relevant_files: Vec<String>,
    /// What is to be done, one after the other.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub implementation_steps: Vec<String>,
    /// What else there is to know.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// What else another system knows of it.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra: Option<Json>,
}

/// Records what a reviewer said of a task's work, and decides its run with it: a
/// rejected one is tried again, until the log's `review.max_retries` is used up
/// and the task fails; an approved one is committed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new, Setters)]
#[setters(prefix = "with_", into)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct RecordReview {
    /// The task, whose last run is Validating.
    #[setters(skip)]
    pub task: TaskId,
    /// What it came to.
    #[setters(skip)]
    pub verdict: ReviewVerdict,
    /// What is wrong.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub issues: Vec<String>,
    /// What could be better.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suggestions: Vec<String>,
    /// The patch set to commit; left out, the only one of the run that is
    /// proposed or applied.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chosen_patchset_id: Option<PatchSetId>,
    /// The git commit that an approved one led to.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_commit_sha: Option<GitOid>,
}

/// Adds a hard rule to a Draft or Running task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct AddConstraint {
    /// The task.
    pub task: TaskId,
    /// The rule; not blank.
    #[new(into)]
    pub constraint: String,
}

/// Adds a success condition to a Draft or Running task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct AddAcceptanceCriterion {
    /// The task.
    pub task: TaskId,
    /// The condition; not blank.
    #[new(into)]
    pub criterion: String,
}

/// Adds a task that must be done first. Adding it twice changes nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct AddDependency {
    /// The task.
    pub task: TaskId,
    /// The task that must be done first.
    pub dependency: TaskId,
}

/// Gives a Draft or Running task up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new, Setters)]
#[setters(prefix = "with_", into)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct FailTask {
    /// The task.
    #[setters(skip)]
    pub task: TaskId,
    /// Why.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Calls a Draft or Running task off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new, Setters)]
#[setters(prefix = "with_", into)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct CancelTask {
    /// The task.
    #[setters(skip)]
    pub task: TaskId,
    /// Why.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}
