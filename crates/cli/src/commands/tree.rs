//! `annals log tree`: an object with everything that belongs to it.

use annals::projections::{TreeNode, TreeQuery};

use super::list::{status_words, what};
use crate::cli::Tree;
use crate::context::Context;
use crate::error::CliError;
use crate::output::{Style, short};

pub(crate) async fn run(args: &Tree, context: &mut Context) -> Result<(), CliError> {
    let annals = context.reader_at(&args.floor).await?;
    let object = super::named::object(&annals, &args.id).await?;
    let query = TreeQuery::new(object.id)
        .with_depth(args.depth)
        .with_breadth(args.limit)
        .with_objects(args.objects);
    let tree = annals.index().tree(&query).await?;
    let output = &mut context.output;
    if output.is_json() {
        return output.json(&tree);
    }
    for node in &tree.nodes {
        let id = output.style(Style::Dim, &short(node.row.id));
        let kind = output.style(Style::Bold, node.row.kind.object_type());
        output.line(&line(node, &kind, &id))?;
    }
    if tree.more {
        output.note(
            "something was left out, where it says so; --limit, --depth and --objects show more",
        );
    }
    Ok(())
}

fn line(node: &TreeNode, kind: &str, id: &str) -> String {
    let indent = "  ".repeat(node.depth);
    let status = match node.row.status {
        Some(_) => format!(" {}", status_words(&node.row)),
        None => String::new(),
    };
    let what = what(&node.row).replace(['\n', '\t'], " ");
    let circle = if node.is_circle {
        " (a circle: it is above, too)"
    } else {
        ""
    };
    let more = if node.more { " (and more)" } else { "" };
    format!("{indent}{kind} {id}{status} {what}{circle}{more}")
}
