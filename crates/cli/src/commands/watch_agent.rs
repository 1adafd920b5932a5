//! `annals watch claude` and `codex`: transcripts are imported as they grow.

use std::path::{Path, PathBuf};
use std::time::Instant;

use annals::Classified;
use annals_dialects::import::{self, ImportOptions};
use annals_dialects::watch::RecordingWatch;
use annals_live::hook::HookAgent;
use annals_live::install::{self, Scope};
use serde_json::json;

use crate::cli::WatchAgent;
use crate::context::Context;
use crate::error::CliError;
use crate::output::counted;
use crate::signals::Signals;

/// Follows the transcripts of an agent until interrupted.
pub(crate) async fn run(
    agent: HookAgent,
    args: &WatchAgent,
    context: &mut Context,
) -> Result<(), CliError> {
    let options = ImportOptions::default().with_secrets(args.redaction.secrets()?);
    // Better now than with the first transcript.
    context.reader()?.close().await;
    let folder = match &args.dir {
        Some(folder) => folder.clone(),
        None => own_folder(agent)?,
    };
    let watch = RecordingWatch::start(&folder, "jsonl");
    let mut watch = watch.map_err(|error| CliError::input(&folder, error))?;
    let mut signals = Signals::new()?;
    let how = match watch.is_told() {
        true => "",
        false => ", every 5 seconds: the system does not say what changes there",
    };
    context
        .output
        .note(&format!("watching {}{how}; Ctrl-C ends", folder.display()));
    loop {
        let ready = watch.ready(Instant::now());
        let ready = ready.map_err(|error| CliError::input(&folder, error))?;
        for path in &ready.paths {
            if !take(agent, path, &options, context).await? {
                watch.forget(path);
            }
        }
        context.output.flush()?;
        if args.once && ready.paths.is_empty() && ready.again >= ONCE_MORE {
            return Ok(());
        }
        tokio::select! {
            () = tokio::time::sleep(ready.again) => {}
            () = watch.changed() => {}
            () = signals.next() => return Ok(()),
        }
    }
}

/// Nothing is about to be ready where the next look is so far away.
const ONCE_MORE: std::time::Duration = std::time::Duration::from_secs(1);

/// Imports a transcript; whether that was done.
async fn take(
    agent: HookAgent,
    path: &Path,
    options: &ImportOptions,
    context: &mut Context,
) -> Result<bool, CliError> {
    let annals = match context.writer() {
        Ok(annals) => annals,
        // Another process has the log for itself: later.
        Err(error) if error.is_retryable() => {
            context.output.warn(&error.to_string());
            return Ok(false);
        }
        Err(error) => return Err(error),
    };
    let key = Some(agent.key());
    let imported = import::recordings(&annals, path, key, options, &mut |_| {}).await;
    annals.close().await;
    let reports = match imported {
        Ok(reports) => reports,
        Err(error) => {
            context.output.warn(&format!("{}: {error}", path.display()));
            // What may go by itself is tried again; what is wrong with the file, when it grows.
            return Ok(!error.is_retryable());
        }
    };
    for report in reports
        .iter()
        .filter(|it| it.events_made > 0 || it.broken_count > 0)
    {
        let output = &mut context.output;
        if output.is_json() {
            output.json(&json!({
                "file": path,
                "events": report.events_made,
                "broken": report.broken_count,
                "waiting": report.waiting,
            }))?;
            continue;
        }
        let events = counted(report.events_made, "event", "events");
        let broken = match report.broken_count {
            0 => String::new(),
            broken => format!(
                ", {} could not be read",
                counted(broken, "record", "records")
            ),
        };
        output.line(&format!("{}: {events}{broken}", path.display()))?;
    }
    Ok(true)
}

/// Where an agent keeps its transcripts.
fn own_folder(agent: HookAgent) -> Result<PathBuf, CliError> {
    let settings = install::place(agent, Scope::User)?;
    let own = settings.parent().unwrap_or(Path::new("."));
    Ok(own.join(match agent {
        HookAgent::Codex => "sessions",
        _ => "projects",
    }))
}
