//! `annals log refs`: what an object names, and what names it.

use annals::projections::{LinkRow, Status};

use crate::cli::Refs;
use crate::context::Context;
use crate::error::CliError;
use crate::output::{Column, Rows, short};

pub(crate) async fn run(args: &Refs, context: &mut Context) -> Result<(), CliError> {
    let annals = context.reader_at(&args.floor).await?;
    let object = super::named::object(&annals, &args.id).await?;
    let links = annals.index().refs(object.id, args.limit).await?;
    if context.output.is_json() {
        return context.output.json(&links);
    }
    let mut rows = Rows::new([
        Column::left("", 2),
        Column::left("FIELD", 24),
        Column::left("ID", 8),
        Column::left("KIND", 16),
        Column::left("STATUS", 10),
        Column::left("WHAT", 10),
    ]);
    let forward = links.forward.iter().map(|link| cells("->", link));
    let backward = links.backward.iter().map(|link| cells("<-", link));
    rows.print(&mut context.output, forward.chain(backward))?;
    if links.more {
        let limit = args.limit;
        context.output.note(&format!(
            "there are more than {limit} in one direction; --limit shows more"
        ));
    }
    Ok(())
}

fn cells(direction: &str, link: &LinkRow) -> [String; 6] {
    let what = match &link.title {
        _ if !link.exists => "(not in this log)".to_owned(),
        Some(title) => title.to_string(),
        None => String::new(),
    };
    [
        direction.to_owned(),
        link.relation.name().to_owned(),
        short(link.id),
        link.kind.to_string(),
        link.status.map_or("-", Status::word).to_owned(),
        what,
    ]
}
