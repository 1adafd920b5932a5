//! `annals log backup`: a copy of the log that is an independent log.

use annals::store_rocks::OpenError as Rocks;
use annals::{Annals, OpenError, OpenOptions};
use serde_json::json;

use crate::cli::Backup;
use crate::context::Context;
use crate::error::CliError;
use crate::output::bytes;
use crate::signals;

pub(crate) async fn run(args: &Backup, context: &mut Context) -> Result<(), CliError> {
    context.own_files();
    signals::remove_unfinished()?;
    let annals = open(context)?;
    let Some(rocks) = annals.rocks() else {
        return Err(CliError::in_memory());
    };
    let report = rocks.backup(&args.dest)?;
    let has_removed = rocks.needs_purge()?;
    annals.close().await;
    let root = report.root.map(|root| root.to_string());
    if context.output.is_json() {
        return context.output.json(&json!({
            "path": report.path,
            "position": report.position.0,
            "root": root,
            "bytes": report.bytes,
            "has_removed_bytes": has_removed,
        }));
    }
    context.output.line(&format!(
        "copied everything up to position {} to {}: {}",
        report.position,
        report.path.display(),
        bytes(report.bytes)
    ))?;
    if let Some(root) = root {
        context.output.line(&format!("root {root}"))?;
    }
    match has_removed {
        true => context.output.line(
            "its files may have bytes of removed content, as the log's have: `annals log redact --finish` on each \
             removes them",
        ),
        false => Ok(()),
    }
}

/// Opens for writing where that is possible: a writer's copy shares the files
/// that never change. While another process writes, a reader copies them.
fn open(context: &Context) -> Result<Annals, CliError> {
    match OpenOptions::new().exclusive(true).open(&context.log) {
        Err(OpenError::Rocks(Rocks::Locked { .. } | Rocks::NoPermission { .. })) => {
            context.reader()
        }
        opened => opened.map_err(|error| CliError::open(&context.log, error)),
    }
}
