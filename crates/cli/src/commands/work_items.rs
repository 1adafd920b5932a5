//! `annals object list work-items`: tickets as sessions read them last.

use annals::projections::{WorkItemView, WorkItemsQuery};

use crate::cli::List;
use crate::context::Context;
use crate::error::{CliError, ErrorClass};
use crate::output::{Column, Rows, short, when};

pub(crate) async fn run(args: &List, context: &mut Context) -> Result<(), CliError> {
    refuse_filters(args)?;
    let annals = context.reader_at(&args.floor).await?;
    let query = WorkItemsQuery::default()
        .with_after(args.after.clone())
        .with_limit(args.limit);
    let listed = annals.index().work_items(&query).await?;
    if context.output.is_json() {
        return listed
            .rows
            .iter()
            .try_for_each(|row| context.output.json(row));
    }
    let mut rows = Rows::new([
        Column::left("TICKET", 10),
        Column::left("STATUS", 10),
        Column::left("ASSIGNEE", 10),
        Column::left("AS OF", 20),
        Column::left("SESSION", 8),
        Column::left("TITLE", 10),
    ]);
    rows.print(&mut context.output, listed.rows.iter().map(cells))?;
    if let Some(next) = listed.next {
        context
            .output
            .note(&format!("there are more; they begin with --after {next:?}"));
    }
    Ok(())
}

/// Tickets belong to other systems: the log does not have of them what it has of objects.
fn refuse_filters(args: &List) -> Result<(), CliError> {
    let given = [
        ("--status", args.status.is_some()),
        ("--actor", args.actor.is_some()),
        ("--parent", args.parent.is_some()),
        ("--tag", args.tag.is_some()),
        ("--approval", args.approval.is_some()),
        ("--type", args.work_type.is_some()),
        ("--risk", args.risk.is_some()),
        ("--source", args.source.is_some()),
        ("--label", !args.labels.is_empty()),
        ("--external-id", args.external_id.is_some()),
        ("--since", args.since.is_some()),
        ("--until", args.until.is_some()),
        ("--oldest", args.oldest),
    ];
    match given.into_iter().find(|(_, given)| *given) {
        Some((option, _)) => {
            let message =
                format!("work-items are not listed by {option}; --limit and --after go with them");
            Err(CliError::new(ErrorClass::Usage, "usage", message))
        }
        None => Ok(()),
    }
}

fn cells(row: &WorkItemView) -> [String; 6] {
    let assignee = match row.assignee.present() {
        Some(Some(assignee)) => assignee.clone(),
        Some(None) => "-".to_owned(),
        None => "[removed]".to_owned(),
    };
    [
        row.id.clone(),
        row.status.clone(),
        assignee,
        when(row.as_of),
        short(row.session.0),
        row.title.to_string(),
    ]
}
