//! What can be asked of a task.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Complexity, GoalType, ReviewVerdict};
use crate::{ActorRef, GitOid, IntentId, Json, PatchSetId, TaskId};

/// Defines a unit of work as a Draft task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateTask {
    /// The new task's id; left out, it gets one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<TaskId>,
    /// Short summary: not blank, under 100 characters.
    pub title: String,
    /// Extended context.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Work classification.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<GoalType>,
    /// Hard rules that the solution must satisfy.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub constraints: Vec<String>,
    /// Testable success conditions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub acceptance_criteria: Vec<String>,
    /// Who requested the work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requester: Option<ActorRef>,
    /// The task that this one is a part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<TaskId>,
    /// The intent that it comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intent: Option<IntentId>,
    /// Tasks that must be done first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dependencies: Vec<TaskId>,
    /// How it is to be done (docs/spec/forge.md, Task).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<TaskPlan>,
}

/// How a task is to be done: what Forge has of a task beyond git-internal.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskPlan {
    /// What the task is called within its intent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alias: Option<String>,
    /// How much work it is: low, med or high.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub complexity: Option<Complexity>,
    /// How it is to be done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<String>,
    /// The files that matter.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub relevant_files: Vec<String>,
    /// What is to be done, one after the other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub implementation_steps: Vec<String>,
    /// What else there is to know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// What else another system knows of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra: Option<Json>,
}

/// Records what a reviewer said of a task's work, and decides its run with it: a
/// rejected one is tried again, until the log's `review.max_retries` is used up
/// and the task fails; an approved one is committed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecordReview {
    /// The task, whose last run is Validating.
    pub task: TaskId,
    /// What it came to.
    pub verdict: ReviewVerdict,
    /// What is wrong.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub issues: Vec<String>,
    /// What could be better.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suggestions: Vec<String>,
    /// The patch set to commit; left out, the only one of the run that is
    /// proposed or applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chosen_patchset_id: Option<PatchSetId>,
    /// The git commit that an approved one led to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_commit_sha: Option<GitOid>,
}

impl CreateTask {
    /// A task with a title and nothing else.
    pub fn new(title: impl Into<String>) -> CreateTask {
        CreateTask {
            id: None,
            title: title.into(),
            description: None,
            goal: None,
            constraints: Vec::new(),
            acceptance_criteria: Vec::new(),
            requester: None,
            parent: None,
            intent: None,
            dependencies: Vec::new(),
            plan: None,
        }
    }
}

/// Adds a hard rule to a Draft or Running task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AddConstraint {
    /// The task.
    pub task: TaskId,
    /// The rule; not blank.
    pub constraint: String,
}

/// Adds a success condition to a Draft or Running task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AddAcceptanceCriterion {
    /// The task.
    pub task: TaskId,
    /// The condition; not blank.
    pub criterion: String,
}

/// Adds a task that must be done first. Adding it twice changes nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AddDependency {
    /// The task.
    pub task: TaskId,
    /// The task that must be done first.
    pub dependency: TaskId,
}

/// Gives a Draft or Running task up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FailTask {
    /// The task.
    pub task: TaskId,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl FailTask {
    /// Gives a task up without saying why.
    pub fn new(task: TaskId) -> FailTask {
        FailTask { task, reason: None }
    }
}

/// Calls a Draft or Running task off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CancelTask {
    /// The task.
    pub task: TaskId,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl CancelTask {
    /// Calls a task off without saying why.
    pub fn new(task: TaskId) -> CancelTask {
        CancelTask { task, reason: None }
    }
}
