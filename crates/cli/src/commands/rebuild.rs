//! `annals log rebuild`: rebuilds the catalogue from the log, and the indexes of the log itself.

use annals::LogUrl;
use annals::event_log::Position;
use annals::projections::Rebuilt;
use annals::store_rocks::{Options, RebuildReport, RebuildStep, RocksLog};
use annals::store_shared::check_owner;
use serde_json::json;

use crate::cli::Rebuild;
use crate::context::Context;
use crate::error::CliError;
use crate::output::counted;
use crate::progress;

pub(crate) async fn run(context: &mut Context, rebuild: &Rebuild) -> Result<(), CliError> {
    let indexes = match rebuild.indexes {
        true => Some(indexes(context)?),
        false => None,
    };
    let annals = context.writer()?;
    let bar = progress::bar("rebuilding", Some(annals.position().0));
    let rebuilt = annals
        .index()
        .rebuild(&mut |position| bar.set_position(position.0))
        .await?;
    bar.finish_and_clear();
    annals.close().await;
    print(context, &rebuilt, indexes.as_ref())
}

/// Rebuilds the indexes: before anything else, since a log with damaged indexes may be refused.
fn indexes(context: &Context) -> Result<RebuildReport, CliError> {
    let url: LogUrl = context
        .log
        .parse()
        .map_err(|error| CliError::open(&context.log, error))?;
    let LogUrl::Rocks(path) = url else {
        return Err(CliError::in_memory());
    };
    // How long the log is only its records say.
    let checking = progress::bar("reading the records", None);
    let making = progress::bar("making the indexes", None);
    let mut show = |step, Position(position)| match step {
        RebuildStep::Checking => checking.set_position(position),
        RebuildStep::Making => making.set_position(position),
    };
    check_owner(&path)?;
    let report = RocksLog::rebuild_indexes(&path, &Options::default(), &mut show);
    checking.finish_and_clear();
    making.finish_and_clear();
    report.map_err(|error| CliError::rebuild(&context.log, error))
}

fn print(
    context: &mut Context,
    rebuilt: &Rebuilt,
    indexes: Option<&RebuildReport>,
) -> Result<(), CliError> {
    let output = &mut context.output;
    if output.is_json() {
        let indexes = indexes.map(|report| {
            json!({
                "records": report.records,
                "streams": report.streams,
                "batches": report.batches,
                "batches_without_request": report.batches_without_request,
                "batches_removed": report.batches_removed,
                "blobs": report.blobs,
            })
        });
        let mut answer = json!({ "events": rebuilt.events, "rows": rebuilt.rows });
        if let (Some(indexes), Some(answer)) = (indexes, answer.as_object_mut()) {
            answer.insert("indexes".to_owned(), indexes);
        }
        return output.json(&answer);
    }
    if let Some(report) = indexes {
        output.line(&format!(
            "rebuilt the indexes from {}: {}, {}",
            counted(report.records, "record", "records"),
            counted(report.streams, "stream", "streams"),
            counted(report.batches, "batch", "batches"),
        ))?;
        if report.batches_without_request > 0 {
            output.line(&format!(
                "the requests of {} are not stored any more: what comes again under such an id is \
                 refused, as it cannot be shown to be the same",
                counted(report.batches_without_request, "batch", "batches"),
            ))?;
        }
        if report.batches_removed > 0 {
            output.line(&format!(
                "removed {} of batches that have no records",
                counted(report.batches_removed, "row", "rows"),
            ))?;
        }
    }
    output.line(&format!(
        "rebuilt the catalogue from {}: {} written",
        counted(rebuilt.events, "event", "events"),
        counted(rebuilt.rows, "row", "rows")
    ))
}
