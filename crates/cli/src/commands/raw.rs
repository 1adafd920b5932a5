//! `annals export raw`.

use std::io;
use std::path::Path;

use annals::Annals;
use annals_dialects::Progress;
use annals_dialects::raw::{self, KeptRecording, RawExportReport};

use crate::cli::ExportRaw;
use crate::context::Context;
use crate::error::{CliError, ErrorClass};
use crate::output::{Column, Output, Rows, bytes, counted};
use crate::progress;
use crate::whole_file::folder_outside;

/// Digits of a text's SHA-256 in a table, which name it in commands.
const SHORT: u16 = 12;

/// Writes the text of recordings, or says which there are.
pub(crate) async fn export(args: &ExportRaw, context: &mut Context) -> Result<(), CliError> {
    let annals = context.reader()?;
    let agent = args.agent.as_deref();
    match (&args.dir, &args.print) {
        (Some(dir), _) => {
            folder_outside(dir)?;
            folder(&annals, dir, agent, &mut context.output).await
        }
        (None, Some(sha256)) => one(&annals, sha256, agent, &mut context.output).await,
        (None, None) => {
            let kept = raw::kept(&annals, agent).await?;
            list(&kept.recordings, &mut context.output)?;
            for left in &kept.unreadable {
                let said = format!("{} does not name a recording: {}", left.file, left.reason);
                context.output.warn(&said);
            }
            Ok(())
        }
    }
}

async fn folder(
    annals: &Annals,
    dir: &Path,
    agent: Option<&str>,
    output: &mut Output,
) -> Result<(), CliError> {
    let bar = progress::bar("exporting bytes", None);
    let mut shown = |progress: Progress| {
        bar.set_length(progress.total);
        bar.set_position(progress.done);
    };
    let exported = raw::export(annals, dir, agent, &mut shown).await;
    bar.finish_and_clear();
    print(&exported?, output)
}

fn print(report: &RawExportReport, output: &mut Output) -> Result<(), CliError> {
    if output.is_json() {
        output.json(report)?;
    } else {
        output.fields(&[
            ("folder", report.folder.clone()),
            ("written", report.written.to_string()),
            ("unchanged", report.unchanged.to_string()),
            ("outgrown", report.outgrown.to_string()),
            ("bytes", bytes(report.bytes)),
        ])?;
        for left in &report.not_written {
            let line = format!("not written  {}: {}", left.file, left.reason);
            output.line(&line)?;
        }
    }
    match report.not_written.len() as u64 {
        0 => Ok(()),
        recordings => {
            let recordings = counted(recordings, "recording was", "recordings were");
            let message = format!("{recordings} not written; the report says why");
            Err(CliError::new(
                ErrorClass::Failed,
                "partly_exported",
                message,
            ))
        }
    }
}

/// The text of the one recording whose SHA-256 begins so.
async fn one(
    annals: &Annals,
    sha256: &str,
    agent: Option<&str>,
    output: &mut Output,
) -> Result<(), CliError> {
    let mut kept = raw::kept(annals, agent).await?.recordings;
    kept.retain(|recording| recording.sha256.starts_with(sha256));
    kept.dedup_by(|a, b| a.sha256 == b.sha256);
    let [recording] = kept.as_slice() else {
        let message = format!(
            "{} recordings are kept whose SHA-256 begins with \"{sha256}\"",
            kept.len()
        );
        return Err(CliError::new(ErrorClass::NotFound, "not_found", message)
            .hint("`annals export raw` lists all"));
    };
    raw::write(annals, recording, &mut Content(output)).await?;
    output.flush()
}

/// Standard output for recorded content: as it is, but on a terminal harmless.
struct Content<'a>(&'a mut Output);

impl io::Write for Content<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.0.content(bytes);
        written.map_err(|error| io::Error::other(error.to_string()))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn list(kept: &[KeptRecording], output: &mut Output) -> Result<(), CliError> {
    if output.is_json() {
        return kept.iter().try_for_each(|recording| output.json(recording));
    }
    let mut rows = Rows::new([
        Column::left("SHA-256", SHORT),
        Column::left("AGENT", 8),
        Column::left("BYTES", 8),
        Column::left("FILE", 20),
    ]);
    let cells = |recording: &KeptRecording| {
        [
            recording.sha256.chars().take(SHORT.into()).collect(),
            recording.agent.clone(),
            bytes(recording.bytes),
            recording.file.clone(),
        ]
    };
    rows.print(output, kept.iter().map(cells))
}
