//! `annals history`: what happened to an object, oldest first.

use annals::domain::{ActorRef, Timestamp};
use annals::projections::HistoryEntry;
use serde::Serialize;

use crate::cli::History;
use crate::context::{Context, reached};
use crate::error::CliError;
use crate::output::{Column, Rows, when, who};

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
    let at = args.moment.at();
    reached(&annals, at)?;
    let object = annals.resolve(&args.id).await?;
    let history = annals.history_at(object.id, at).await?;
    if context.output.is_json() {
        return history
            .iter()
            .try_for_each(|entry| context.output.json(&Line::of(entry)));
    }
    let mut rows = Rows::new([
        Column::right("POSITION", 8),
        Column::left("WHEN", 20),
        Column::left("WHO", 12),
        Column::left("WHAT", 10),
    ]);
    let row = |entry: &HistoryEntry| {
        let position = entry.position.to_string();
        [
            position,
            when(entry.occurred_at),
            who(&entry.actor),
            entry.summary.clone(),
        ]
    };
    rows.print(&mut context.output, history.iter().map(row))
}
