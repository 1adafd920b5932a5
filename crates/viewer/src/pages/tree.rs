//! An object with everything that belongs to it.

use annals::projections::TreeQuery;
use axum::extract::Path;
use axum::response::Response;
use maud::{Markup, html};
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::{Asked, Live, Page};
use crate::figures::grouped;
use crate::html::{place, status_or_none, tokens};
use crate::model::Row;
use crate::moment::Moment;
use crate::pages::list::plain;
use crate::pages::object;
use crate::problem::Problem;
use crate::reading::{Found, Reading};

/// Objects of a tree.
const OBJECTS: usize = 500;
/// Children of one sort of each.
const BREADTH: usize = 40;

/// A tree, its objects one behind the other: each is before what belongs to it.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Tree {
    /// The objects.
    nodes: Vec<Node>,
    /// Whether something was left out because it is too deep, or too much.
    more: bool,
}

/// An object of a tree.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Node {
    /// How many levels it is below the first one.
    depth: usize,
    /// The field by which it belongs to the object above it.
    relation: Option<&'static str>,
    /// The object.
    row: Row,
    /// Whether it is one of those above it: a circle, which ends here.
    is_circle: bool,
    /// Whether some of what belongs to it was left out.
    more: bool,
}

pub(crate) async fn tree(mut asked: Asked, Path(name): Path<String>) -> Result<Response, Problem> {
    let (found, slider) = asked.find(&name).await?;
    let mut reading = asked.reading();
    let tree = read(&mut reading, &found).await?;
    let first = tree.nodes.first().map(|node| node.row.clone());
    let first = first.unwrap_or_else(|| Row::of(&found.row));
    let page = Page {
        title: format!("Tree of {}", first.name()),
        section: object::section(found.kind),
        // Anything may be added below it.
        live: Live::Log,
        slider,
        subject: Some(found.id.to_string()),
        markdown: markdown(&tree),
        command: format!("annals log tree {}", found.id),
        data: tree,
    };
    let session = object::session_of(&asked, &found).await?;
    let moment = asked.moment;
    let whole = |tree: &Tree| {
        html! {
            (object::head(&first, found.kind, session.as_ref(), moment))
            (object::tabs(found.kind, found.id, "Tree", moment))
            (draw(tree, moment))
        }
    };
    asked.answer(page, whole).await
}

/// Reads what belongs to an object at a moment.
pub(crate) async fn read(reading: &mut Reading<'_>, found: &Found) -> Result<Tree, Problem> {
    let query = TreeQuery::new(found.id)
        .with_breadth(BREADTH)
        .with_objects(OBJECTS);
    let whole = reading.annals.index().tree(&query).await?;
    let mut nodes: Vec<Node> = Vec::with_capacity(whole.nodes.len());
    for node in &whole.nodes {
        // What was not there yet, and with it what belongs to it.
        if let Some(row) = reading.row(&node.row).await? {
            nodes.push(Node {
                depth: node.depth,
                relation: node.relation.map(|relation| relation.name()),
                row,
                is_circle: node.is_circle,
                more: node.more,
            });
        }
    }
    Ok(Tree {
        nodes,
        more: whole.more,
    })
}

/// A tree as a list.
pub(crate) fn draw(tree: &Tree, moment: Moment) -> Markup {
    html! {
        section {
            div.panel { ul.tree { @for node in &tree.nodes { (line(node, moment)) } } }
            @if tree.more { p.nothing { "Something was left out where it says so; the pages of those objects have it." } }
        }
    }
}

fn line(node: &Node, moment: Moment) -> Markup {
    let row = &node.row;
    let indent = match node.depth {
        0 => String::new(),
        depth => format!("{}└ ", "  ".repeat(depth - 1)),
    };
    html! {
        li data-position=(row.last_position) {
            span.indent aria-hidden="true" { (indent) }
            span.kind { (row.kind.replace('_', " ")) }
            (status_or_none(row.status))
            a.what href=(moment.link(&place(row.id))) { (row.name()) }
            @if node.is_circle { span.second { "a circle: it is above, too" } }
            @if node.more { span.second { "and more" } }
            span.counts {
                @for (name, count) in &row.counts { span.count { (grouped(*count)) " " (name.replace('_', " ")) } }
                @if let Some(used) = &row.tokens { span.count { (tokens(used)) } }
            }
        }
    }
}

fn markdown(tree: &Tree) -> String {
    let line = |node: &Node| {
        let row = &node.row;
        let indent = "  ".repeat(node.depth);
        let status = row.status.unwrap_or("-");
        format!(
            "{indent}- {} {status} {} (`{}`)\n",
            row.kind,
            plain(&row.name()),
            row.id
        )
    };
    tree.nodes.iter().map(line).collect()
}
