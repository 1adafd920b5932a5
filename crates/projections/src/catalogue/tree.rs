//! An object with what belongs to it, and what belongs to that.
//!
//! An object is shown once, where it is met first. What other systems recorded
//! may go in circles, and what belongs to a run may be a hundred thousand
//! things: circles are cut where they close, and depth and breadth are bounded.
//! The tree says where.

use std::collections::HashSet;

use annals_domain::Kind;
use derive_new::new;
use derive_setters::Setters;
use serde::{Serialize, Serializer};
use uuid::Uuid;

use super::CatalogueError;
use super::links;
use super::overlay_view::OverlayView;
use super::relation::Relation;
use super::view::{CatalogueRow, whole};

/// Which tree to show, and how much of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, new, Setters)]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct TreeQuery {
    /// The object that it begins with.
    #[setters(skip)]
    pub id: Uuid,
    /// How many levels below it to show; 16 unless it is said.
    #[new(value = "16")]
    pub depth: usize,
    /// How many children of one sort to show of each object; 20 unless it is said.
    #[new(value = "20")]
    pub breadth: usize,
    /// How many objects to show in all; 1,000 unless it is said.
    #[new(value = "1_000")]
    pub objects: usize,
}

/// A tree, its objects one behind the other: each is before what belongs
/// to it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Tree {
    /// The objects.
    pub nodes: Vec<TreeNode>,
    /// Whether something was left out because it is too deep, or too much.
    pub more: bool,
}

/// One object of a tree.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TreeNode {
    /// How many levels it is below the first object.
    pub depth: usize,
    /// The field by which it belongs to the object above it.
    #[serde(serialize_with = "relation_name")]
    pub relation: Option<Relation>,
    /// The object.
    #[serde(flatten)]
    pub row: CatalogueRow,
    /// Whether it is one of those above it: a circle, which ends here.
    pub is_circle: bool,
    /// Whether some of what belongs to it was left out.
    pub more: bool,
}

fn relation_name<S: Serializer>(relation: &Option<Relation>, s: S) -> Result<S::Ok, S::Error> {
    relation.map(Relation::name).serialize(s)
}

/// The fields by which objects hang below one of a kind. Of the fields that
/// make an object belong to another one these are the ones that say where it
/// is at home.
fn branches(kind: Kind) -> &'static [Relation] {
    match kind {
        Kind::Intent => &[
            Relation::PlanIntent,
            Relation::TaskIntent,
            Relation::TaskPartOf,
            Relation::IntentChildOf,
            Relation::IntentParent,
        ],
        Kind::Plan => &[Relation::PlanPrevious],
        Kind::Task => &[Relation::TaskParent, Relation::RunTask],
        Kind::Run => &[
            Relation::PatchSetRun,
            Relation::EvidenceRun,
            Relation::DecisionRun,
            Relation::ProvenanceRun,
            Relation::ToolInvocationRun,
        ],
        Kind::ContextPipeline => &[Relation::PlanPipeline],
        Kind::ContextSnapshot => &[Relation::RunSnapshot],
        Kind::PatchSet => &[Relation::EvidencePatchSet],
        Kind::Observation => &[Relation::IntentObservation],
        Kind::Session => &[
            Relation::SessionRuns,
            Relation::SessionTasks,
            Relation::SessionParent,
        ],
        Kind::Evidence | Kind::Decision | Kind::Provenance | Kind::ToolInvocation => &[],
    }
}

/// A task is at home below its intent or parent, and a run below its task; below
/// a plan they are shown where the plan is the requested object.
const ROOT_PLAN: &[Relation] = &[Relation::StepTask, Relation::RunPlan];

/// An object that is still to be shown.
struct Waiting {
    depth: usize,
    relation: Option<Relation>,
    id: Uuid,
    /// The place of the object above it among the nodes.
    above: usize,
}

/// The tree below an object; `None` if there is no such object.
pub(super) async fn tree(
    view: &OverlayView<'_>,
    query: &TreeQuery,
) -> Result<Option<Tree>, CatalogueError> {
    let mut growing = Growing {
        view,
        query,
        tree: Tree {
            nodes: Vec::new(),
            more: false,
        },
        shown: HashSet::new(),
        path: Vec::new(),
    };
    let mut waiting = vec![Waiting {
        depth: 0,
        relation: None,
        id: query.id,
        above: 0,
    }];
    while let Some(next) = waiting.pop() {
        if growing.tree.nodes.len() >= query.objects {
            growing.tree.more = true;
            for left in waiting.iter().chain([&next]) {
                if let Some(above) = growing.tree.nodes.get_mut(left.above) {
                    above.more = true;
                }
            }
            break;
        }
        let children = growing.show(&next).await?;
        waiting.extend(children.into_iter().rev());
    }
    let tree = growing.tree;
    Ok((!tree.nodes.is_empty()).then_some(tree))
}

struct Growing<'a> {
    view: &'a OverlayView<'a>,
    query: &'a TreeQuery,
    tree: Tree,
    shown: HashSet<Uuid>,
    /// The objects above the one that is shown now, the first one first.
    path: Vec<Uuid>,
}

impl Growing<'_> {
    /// Shows an object, and says what belongs to it.
    async fn show(&mut self, next: &Waiting) -> Result<Vec<Waiting>, CatalogueError> {
        self.path.truncate(next.depth);
        let is_circle = self.path.contains(&next.id);
        // It was shown in another place, where it is at home as well.
        if !is_circle && !self.shown.insert(next.id) {
            return Ok(Vec::new());
        }
        let Some(row) = self.view.object(next.id).await? else {
            return Ok(Vec::new());
        };
        let kind = row.kind;
        let mut node = TreeNode {
            depth: next.depth,
            relation: next.relation,
            row: whole(self.view, row).await?,
            is_circle,
            more: false,
        };
        let mut children = Vec::new();
        if !is_circle {
            self.path.push(next.id);
            let below = next.depth.saturating_add(1);
            let more = if kind == Kind::Plan && next.depth == 0 {
                ROOT_PLAN
            } else {
                &[]
            };
            for relation in branches(kind).iter().chain(more) {
                let breadth = self.breadth(below);
                let (ids, more) = self.children(next.id, *relation, breadth).await?;
                node.more |= more;
                children.extend(ids.into_iter().map(|id| Waiting {
                    depth: below,
                    relation: Some(*relation),
                    id,
                    above: self.tree.nodes.len(),
                }));
            }
        }
        self.tree.more |= node.more;
        self.tree.nodes.push(node);
        Ok(children)
    }

    /// How many children to show on a level: none below the last one.
    fn breadth(&self, depth: usize) -> usize {
        if depth > self.query.depth {
            0
        } else {
            self.query.breadth
        }
    }

    /// The oldest children by one field, and whether there are more.
    async fn children(
        &self,
        id: Uuid,
        relation: Relation,
        breadth: usize,
    ) -> Result<(Vec<Uuid>, bool), CatalogueError> {
        let limit = breadth.saturating_add(1);
        let mut ids = match relation {
            // It is the plan that names the task, and the session its runs.
            Relation::StepTask | Relation::SessionRuns | Relation::SessionTasks => {
                links::named(self.view, id, relation, limit).await?
            }
            _ => links::naming(self.view, id, relation, limit).await?,
        };
        let more = ids.len() > breadth;
        ids.truncate(breadth);
        Ok((ids, more))
    }
}
