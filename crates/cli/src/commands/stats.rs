//! `annals log stats`: counts and sizes.

use std::collections::BTreeMap;

use annals::Annals;
use annals::event_log::{Content, Position, Query, Record};
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
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<Referred>,
}

/// The content over 4 KiB that records refer to, counted as often as they do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
struct Referred {
    pieces: u64,
    bytes: u64,
}

/// What reading the whole log adds up.
#[derive(Default)]
struct Counted {
    types: BTreeMap<String, u64>,
    content: Referred,
}

pub(crate) async fn run(args: &Stats, context: &mut Context) -> Result<(), CliError> {
    let annals = context.reader()?;
    let stats = annals.stats().await?;
    let counted = match args.types || args.content {
        true => count(&annals, stats.position).await?,
        false => Counted::default(),
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
        types: args.types.then_some(counted.types),
        content: args.content.then_some(counted.content),
    };
    if context.output.is_json() {
        return context.output.json(&report);
    }
    let log = context.shown_log();
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
            blobs(report.blobs, report.blob_bytes, report.content),
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

/// How much content there is and, where that was counted, how much is saved because it is
/// stored once.
fn blobs(blobs: u64, stored: u64, referred: Option<Referred>) -> String {
    let Some(Referred { pieces, bytes: all }) = referred else {
        return format!("{blobs}, {}", bytes(stored));
    };
    let referred = format!("referred to {pieces} times, {} in all", bytes(all));
    let saved = all.saturating_sub(stored).saturating_mul(100);
    let saved = saved.checked_div(all).unwrap_or_default();
    format!(
        "{blobs}, stored once {}, {referred}: {saved} % saved",
        bytes(stored)
    )
}

/// Reads all records up to `end`.
async fn count(annals: &Annals, end: Position) -> Result<Counted, CliError> {
    let bar = progress::bar("counting", Some(end.0));
    let mut counted = Counted::default();
    let mut next = Some(1);
    while let Some(from) = next {
        let page = annals.log().read(Query::all(Position(from))).await?;
        let records = page.records.iter();
        for record in records.take_while(|record| record.position() <= end) {
            counted.add(record);
        }
        next = page.next.filter(|next| *next <= end.0);
        bar.set_position(from);
    }
    bar.finish_and_clear();
    Ok(counted)
}

impl Counted {
    fn add(&mut self, record: &Record) {
        match self.types.get_mut(record.event_type()) {
            Some(count) => *count += 1,
            None => {
                self.types.insert(record.event_type().to_owned(), 1);
            }
        }
        for piece in record.content() {
            if let Content::Blob { size, .. } | Content::Attachment { size, .. } = piece {
                self.content.pieces += 1;
                self.content.bytes = self.content.bytes.saturating_add(size);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_saved_is_a_share_of_what_is_referred_to() {
        let said = |stored, pieces, bytes| blobs(1, stored, Some(Referred { pieces, bytes }));
        assert!(
            said(3, 4, 12).ends_with("referred to 4 times, 12 B (12 bytes) in all: 75 % saved")
        );
        // Where content was removed, or nothing refers to it any more.
        assert!(said(3, 0, 0).ends_with(": 0 % saved"));
        assert!(said(30, 1, 12).ends_with(": 0 % saved"));
    }
}
