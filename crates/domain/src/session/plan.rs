//! Task plans: what is to be done, and in which order (docs/spec/contracts.md, Plans).

use std::collections::HashMap;

use derive_new::new;
use derive_setters::Setters;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::WorkItemRef;
use crate::folding::is_blank;

/// One task of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new, Setters)]
#[setters(prefix = "with_", into)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct TaskNode {
    /// Its id within the plan.
    #[new(into)]
    #[setters(skip)]
    pub id: String,
    /// What is to be done.
    #[new(into)]
    #[setters(skip)]
    pub title: String,
    /// The nodes that must be done before.
    #[new(default)]
    #[serde(default)]
    pub depends_on: Vec<String>,
    /// The ticket that it is about.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work_item: Option<WorkItemRef>,
    /// Which agent should do it.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_hint: Option<String>,
    /// On which branch.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suggested_branch: Option<String>,
    /// Its tags.
    #[new(default)]
    #[serde(default)]
    pub tags: Vec<String>,
}

/// A plan: a graph of tasks without cycles.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema, new)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct TaskPlan {
    /// Its tasks.
    pub nodes: Vec<TaskNode>,
}

/// Bytes of a plan's ids, each with its length, or what is stored instead of it: its event keeps
/// them all, and an event's structure has room for 64 KiB.
const MAX_ID_BYTES: usize = 60_000;
/// Bytes that the length of a text takes in an event's structure, as long as the
/// structure has room for the text.
pub(super) const LENGTH: usize = 3;
/// Bytes that are stored instead of a name in an event's structure, at most: its piece and place.
pub(super) const STAND: usize = 10;

/// Why a plan is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidPlan {
    /// A node without an id.
    #[error("node {index} (from 0) has a blank id")]
    BlankId {
        /// Its place.
        index: usize,
    },
    /// Two nodes have one id.
    #[error("two nodes have the id {id:?}")]
    Duplicate {
        /// The id.
        id: String,
    },
    /// A node depends on one that is not there.
    #[error("node {id:?} depends on {dependency:?}, which is not a node of the plan")]
    Unknown {
        /// The node.
        id: String,
        /// What is not there.
        dependency: String,
    },
    /// More than an event holds.
    #[error(
        "the ids of its {nodes} nodes have {bytes} bytes, each counted as at least {} and {} more, \
         and may have {}; shorten them, or plan in parts",
        STAND,
        LENGTH,
        MAX_ID_BYTES
    )]
    TooLarge {
        /// How many nodes there are.
        nodes: usize,
        /// How many bytes.
        bytes: usize,
    },
    /// Nodes wait for each other.
    #[error("nodes wait for each other: {}", path.join(" -> "))]
    Cycle {
        /// The cycle, from a node back to itself.
        path: Vec<String>,
    },
}

impl TaskPlan {
    /// Checks that the nodes have ids of their own, depend on nodes that are
    /// there, and do not wait for each other.
    ///
    /// # Errors
    /// [`InvalidPlan`], naming the nodes.
    pub fn check(&self) -> Result<(), InvalidPlan> {
        let mut places = HashMap::new();
        for (index, node) in self.nodes.iter().enumerate() {
            if is_blank(&node.id) {
                return Err(InvalidPlan::BlankId { index });
            }
            if places.insert(node.id.as_str(), index).is_some() {
                return Err(InvalidPlan::Duplicate {
                    id: node.id.clone(),
                });
            }
        }
        let mut edges = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let mut to = Vec::with_capacity(node.depends_on.len());
            for dependency in &node.depends_on {
                let place = places.get(dependency.as_str());
                to.push(*place.ok_or_else(|| InvalidPlan::Unknown {
                    id: node.id.clone(),
                    dependency: dependency.clone(),
                })?);
            }
            edges.push(to);
        }
        match cycle(&edges) {
            None => Ok(()),
            Some(path) => Err(InvalidPlan::Cycle {
                path: path
                    .into_iter()
                    .map(|place| self.nodes[place].id.clone())
                    .collect(),
            }),
        }
    }

    /// Checks that its event has room for the ids of its nodes.
    ///
    /// # Errors
    /// [`InvalidPlan::TooLarge`].
    pub fn check_room(&self) -> Result<(), InvalidPlan> {
        let ids = self.nodes.iter().map(|node| node.id.len().max(STAND));
        let bytes = ids.map(|bytes| bytes + LENGTH).sum();
        if bytes > MAX_ID_BYTES {
            let nodes = self.nodes.len();
            return Err(InvalidPlan::TooLarge { nodes, bytes });
        }
        Ok(())
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Mark {
    New,
    OnPath,
    Done,
}

/// A cycle in a graph, from a node back to itself, if there is one. Walks with a
/// stack of its own: a plan may be a chain of any length.
fn cycle(edges: &[Vec<usize>]) -> Option<Vec<usize>> {
    let mut marks = vec![Mark::New; edges.len()];
    for start in 0..edges.len() {
        if marks[start] != Mark::New {
            continue;
        }
        marks[start] = Mark::OnPath;
        let mut path = vec![(start, 0)];
        while let Some((node, next)) = path.last_mut() {
            let node = *node;
            let Some(to) = edges[node].get(*next).copied() else {
                marks[node] = Mark::Done;
                path.pop();
                continue;
            };
            *next += 1;
            match marks[to] {
                Mark::Done => {}
                Mark::New => {
                    marks[to] = Mark::OnPath;
                    path.push((to, 0));
                }
                Mark::OnPath => {
                    let nodes = path.iter().map(|(node, _)| *node);
                    let around = nodes.skip_while(|node| *node != to);
                    return Some(around.chain([to]).collect());
                }
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(id: &str, depends_on: &[&str]) -> TaskNode {
        TaskNode {
            id: id.into(),
            title: String::new(),
            depends_on: depends_on.iter().map(|id| (*id).to_owned()).collect(),
            work_item: None,
            agent_hint: None,
            suggested_branch: None,
            tags: Vec::new(),
        }
    }

    fn check(nodes: Vec<TaskNode>) -> String {
        match (TaskPlan { nodes }).check() {
            Ok(()) => "fine".into(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_plan_is_a_graph_without_cycles() {
        assert_eq!(check(vec![]), "fine");
        assert_eq!(
            check(vec![
                node("c", &["a", "b"]),
                node("b", &["a"]),
                node("a", &[])
            ]),
            "fine"
        );
        assert_eq!(
            check(vec![
                node("x", &["a"]),
                node("a", &["b"]),
                node("b", &["c"]),
                node("c", &["a"])
            ]),
            "nodes wait for each other: a -> b -> c -> a"
        );
        assert_eq!(
            check(vec![node("a", &["a"])]),
            "nodes wait for each other: a -> a"
        );
        assert_eq!(
            check(vec![node("a", &[]), node("a", &[])]),
            "two nodes have the id \"a\""
        );
        assert_eq!(
            check(vec![node("a", &["z"])]),
            "node \"a\" depends on \"z\", which is not a node of the plan"
        );
        assert_eq!(
            check(vec![node(" ", &[])]),
            "node 0 (from 0) has a blank id"
        );
    }

    #[test]
    fn a_long_chain_is_walked() {
        let ids: Vec<String> = (0..100_000).map(|n| n.to_string()).collect();
        let mut nodes: Vec<TaskNode> = ids
            .windows(2)
            .map(|two| node(&two[0], &[&two[1]]))
            .collect();
        nodes.push(node(&ids[99_999], &[]));
        assert_eq!(check(nodes), "fine");
    }
}
