//! What can be asked of a task.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::GoalType;
use crate::{ActorRef, IntentId, TaskId};

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
