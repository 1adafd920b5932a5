//! `annals log history`: what happened to an object, oldest first.

use std::collections::BTreeSet;

use annals::domain::{ActorRef, Timestamp};
use annals::projections::HistoryEntry;
use serde::Serialize;

use super::told;
use crate::cli::History;
use crate::clock::Days;
use crate::context::{Context, moment};
use crate::error::CliError;
use crate::output::{Column, Row, Rows, who};

/// One line of `--json`.
#[derive(Serialize)]
struct Line<'a> {
    position: u64,
    version: u64,
    event_type: &'a str,
    occurred_at: Timestamp,
    recorded_at: Timestamp,
    actor: &'a ActorRef,
    summary: &'a str,
    event: &'a serde_json::Value,
}

impl<'a> Line<'a> {
    fn of(entry: &'a HistoryEntry) -> Line<'a> {
        Line {
            position: entry.position.0,
            version: entry.version.0,
            event_type: entry.event_type,
            occurred_at: entry.occurred_at,
            recorded_at: entry.recorded_at,
            actor: &entry.actor,
            summary: &entry.summary,
            event: &entry.event,
        }
    }
}

pub(crate) async fn run(args: &History, context: &mut Context) -> Result<(), CliError> {
    let annals = context.reader_at(&args.floor).await?;
    let at = moment(&annals, args.moment.at.as_ref()).await?;
    let object = super::named::object(&annals, &args.id).await?;
    let mut pages = annals.history_pages(object.id, at).await?;
    let mut days = Days::default();
    let mut rows = Rows::new([
        Column::right("POSITION", 8),
        Column::left("WHEN", told::when_width(&context.output)),
        Column::left("WHO", 12).if_as_wide_as(70),
        Column::left("WHAT", 10),
    ]);
    let mut importers = BTreeSet::new();
    while let Some(page) = pages.next().await? {
        if context.output.is_json() {
            let mut lines = page.iter().map(Line::of);
            lines.try_for_each(|line| context.output.json(&line))?;
            continue;
        }
        let named = page.iter().filter_map(|entry| entry.actor.importer());
        importers.extend(named.map(str::to_owned));
        let is_verbose = context.is_verbose;
        let row = |entry: &HistoryEntry| {
            let moment = days.moment(entry.occurred_at);
            let position = entry.position.to_string();
            let cells = [
                position,
                moment.time,
                who(&entry.actor),
                entry.summary.clone(),
            ];
            told::row(cells, Some(entry), moment.day, is_verbose)
        };
        let page: Vec<Row<4>> = page.iter().map(row).collect();
        rows.print(&mut context.output, page)?;
    }
    for importer in importers {
        context.output.line(&format!("imported by {importer}"))?;
    }
    Ok(())
}
