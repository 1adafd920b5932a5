//! `annals log restore`: a log of a backup.

use std::path::Path;
use std::time::Duration;

use annals::store_rocks::{BackupError, BackupReport, OpenError as Rocks, RocksLog};
use annals::{LogUrl, OpenError};
use serde_json::json;

use crate::cli::Restore;
use crate::context::Context;
use crate::error::{CliError, KeepingError};
use crate::output::bytes;
use crate::progress;
use crate::signals;

/// How often a bar moves while nothing is counted.
const TICK: Duration = Duration::from_millis(100);

pub(crate) async fn run(args: &Restore, context: &mut Context) -> Result<(), CliError> {
    let url = context.log.parse();
    let url: LogUrl = url.map_err(|error| CliError::open(&context.log, error))?;
    let LogUrl::Rocks(place) = url else {
        return Err(CliError::in_memory());
    };
    context.own_files();
    signals::remove_unfinished()?;
    // Before the backup is read, which takes its time.
    check_place(&place, context)?;
    let backup = open(&args.backup)?;
    if !args.fast {
        verify(&backup, &args.backup)?;
    }
    let bar = progress::bar("copying", None);
    bar.enable_steady_tick(TICK);
    let restored = backup.backup(&place);
    bar.finish_and_clear();
    let report = restored.map_err(|error| match error {
        BackupError::NotEmpty { path } => CliError::from(KeepingError::PlaceTaken { path }),
        error => CliError::from(KeepingError::Restore(error)),
    })?;
    print(&report, !args.fast, context)
}

fn check_place(place: &Path, context: &Context) -> Result<(), CliError> {
    if place.join("ANNALS").exists() {
        return Err(CliError::log_exists(&context.log));
    }
    let taken = match std::fs::read_dir(place) {
        Ok(mut entries) => entries.next().is_some(),
        Err(error) => error.kind() != std::io::ErrorKind::NotFound,
    };
    if taken {
        let path = place.to_owned();
        return Err(CliError::from(KeepingError::PlaceTaken { path }));
    }
    Ok(())
}

/// Opens the backup as a reader does: nothing in it is altered, so it may lie on a
/// medium that cannot be written to.
fn open(backup: &Path) -> Result<RocksLog, CliError> {
    let options = crate::context::reader_options();
    RocksLog::open_reader(backup, &options).map_err(|error| match error {
        Rocks::NotFound { path } => CliError::from(KeepingError::NoBackup { path }),
        error => CliError::from(KeepingError::OpenBackup(OpenError::Rocks(error))),
    })
}

fn verify(backup: &RocksLog, path: &Path) -> Result<(), CliError> {
    use annals::event_log::EventLog;
    let bar = progress::bar("verifying", Some(backup.watermark().0));
    let verified = backup.verify(&mut |position| bar.set_position(position.0));
    bar.finish_and_clear();
    let report = verified.map_err(|error| CliError::from(KeepingError::ReadBackup(error)))?;
    match report.findings.first() {
        None => Ok(()),
        Some(first) => Err(CliError::from(KeepingError::DamagedBackup {
            path: path.to_owned(),
            findings: report.total_findings,
            first: first.to_string(),
        })),
    }
}

fn print(report: &BackupReport, verified: bool, context: &mut Context) -> Result<(), CliError> {
    let output = &mut context.output;
    let root = report.root.map(|root| root.to_string());
    if output.is_json() {
        return output.json(&json!({
            "path": report.path,
            "position": report.position.0,
            "root": root,
            "bytes": report.bytes,
            "verified": verified,
        }));
    }
    output.line(&format!(
        "restored everything up to position {} to {}: {}",
        report.position,
        report.path.display(),
        bytes(report.bytes)
    ))?;
    match root {
        Some(root) => output.line(&format!("root {root}")),
        None => Ok(()),
    }
}
