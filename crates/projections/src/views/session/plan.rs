//! A session's plan, and which tasks its nodes became (docs/spec/contracts.md, Plans).

use std::collections::{BTreeMap, HashMap};

use annals_domain::session::{PlanNodeLinked, PlanUpdated, TaskNode, TaskPlan};
use annals_domain::{TaskId, is_removed_name};
use serde::Serialize;

use crate::{Entry, Removable};

/// The plan of a session as it was replaced last.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionPlanView {
    /// The plan; none if there never was one.
    content: Option<Removable<TaskPlan>>,
    /// The ids of its nodes, in its order. They are names: a redaction of the whole event
    /// removes them with the plan.
    nodes: Vec<String>,
    /// The task of every node that ever became one. A node of a later plan is
    /// the same node if it has the same id.
    tasks: BTreeMap<String, TaskId>,
}

/// A node of a plan, and the task that it became.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlanNodeView {
    /// The node's id.
    pub id: String,
    /// The task; none if it has become none yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
}

impl SessionPlanView {
    pub(super) fn replace(&mut self, event: &PlanUpdated, entry: &Entry) {
        self.content = Some(entry.shaped(event.plan));
        self.nodes.clone_from(&event.nodes);
    }

    pub(super) fn link(&mut self, event: &PlanNodeLinked) {
        self.tasks.insert(event.node.clone(), event.task);
    }

    /// The plan itself; none if there never was one.
    pub fn content(&self) -> Option<&Removable<TaskPlan>> {
        self.content.as_ref()
    }

    /// Its nodes with their tasks, in its order.
    pub fn nodes(&self) -> Vec<PlanNodeView> {
        let node = |id: &String| PlanNodeView {
            id: id.clone(),
            task: self.tasks.get(id).copied(),
        };
        self.nodes.iter().map(node).collect()
    }

    /// Nodes that can be begun, in the plan's order: they are not done, and all
    /// that they depend on is. A node is done if its task is, which the caller
    /// knows. Of a plan that was removed it is not known what depends on what. Where the name of
    /// a node was removed that became a task, it may have been any that has none: it is not known
    /// whether that is done.
    pub fn ready_nodes(&self, done: impl Fn(TaskId) -> bool) -> Vec<&TaskNode> {
        let plan = self.content.as_ref().and_then(Removable::present);
        let nodes = plan.map_or(&[][..], |plan| &plan.nodes);
        let is_lost = self.tasks.keys().any(|node| is_removed_name(node));
        let is_done = |node: &TaskNode| match self.tasks.get(&node.id) {
            Some(task) => Some(done(*task)),
            None => (!is_lost).then_some(false),
        };
        let by_id: HashMap<&str, Option<bool>> = nodes
            .iter()
            .map(|node| (node.id.as_str(), is_done(node)))
            .collect();
        // What is not a node of the plan is never done.
        let is = |id: &String| by_id.get(id.as_str()).copied().flatten();
        let ready = |node: &&TaskNode| {
            is(&node.id) == Some(false) && node.depends_on.iter().all(|id| is(id) == Some(true))
        };
        nodes.iter().filter(ready).collect()
    }
}
