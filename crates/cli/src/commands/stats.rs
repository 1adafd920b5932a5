//! `annals stats`: counts and sizes.

use std::collections::BTreeMap;

use annals::Annals;
use annals::event_log::{Position, Query};
use serde::Serialize;
use uuid::Uuid;

use crate::cli::Stats;
use crate::context::Context;
use crate::error::CliError;
use crate::output::{Column, Output, Rows, bytes};
use crate::progress;

/// The object that `--json` prints.
#[derive(Serialize)]
struct Report {
    log_id: Uuid,
    position: u64,
    streams: u64,
    events: u64,
    batches: u64,
    blobs: u64,
    blob_bytes: u64,
    bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    types: Option<BTreeMap<String, u64>>,
}

pub(crate) async fn run(args: &Stats, context: &mut Context) -> Result<(), CliError> {
    let annals = context.reader()?;
    let stats = annals.stats().await?;
    let types = if args.types {
        Some(count_types(&annals, stats.position).await?)
    } else {
        None
    };
    let report = Report {
        log_id: annals.log().log_id(),
        position: stats.position.0,
        streams: stats.streams,
        // Positions are dense from 1: the last one is the number of events.
        events: stats.position.0,
        batches: stats.batches,
        blobs: stats.blobs,
        blob_bytes: stats.blob_bytes,
        bytes: stats.bytes,
        types,
    };
    if context.output.is_json() {
        return context.output.json(&report);
    }
    let log = context.log.clone();
    print(&mut context.output, log, report)
}

fn print(output: &mut Output, log: String, report: Report) -> Result<(), CliError> {
    output.fields(&[
        ("log", log),
        ("id", report.log_id.to_string()),
        ("events", report.events.to_string()),
        ("streams", report.streams.to_string()),
        ("batches", report.batches.to_string()),
        (
            "blobs",
            format!("{}, {}", report.blobs, bytes(report.blob_bytes)),
        ),
        ("on disk", bytes(report.bytes)),
    ])?;
    let Some(types) = report.types else {
        return Ok(());
    };
    output.line("")?;
    let mut rows = Rows::new([Column::left("EVENT TYPE", 24), Column::right("EVENTS", 8)]);
    rows.print(
        output,
        types
            .into_iter()
            .map(|(name, count)| [name, count.to_string()]),
    )
}

/// How many events there are of each type, up to `end`.
async fn count_types(annals: &Annals, end: Position) -> Result<BTreeMap<String, u64>, CliError> {
    let bar = progress::bar("counting", Some(end.0));
    let mut types = BTreeMap::new();
    let mut next = Some(1);
    while let Some(from) = next {
        let page = annals.log().read(Query::all(Position(from))).await?;
        for record in page
            .records
            .iter()
            .take_while(|record| record.position() <= end)
        {
            *types.entry(record.event_type().to_owned()).or_insert(0) += 1;
        }
        next = page.next.filter(|next| *next <= end.0);
        bar.set_position(from);
    }
    bar.finish_and_clear();
    Ok(types)
}
