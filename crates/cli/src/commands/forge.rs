//! `annals export forge` and `annals service watch forge`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use annals::Annals;
use annals::domain::{IntentId, Kind};
use annals::event_log::Classified;
use annals_dialects::Progress;
use annals_dialects::forge::{
    self, DraftFile, DraftOptions, DraftWatch, Drafted, ForgeExportReport, ForgeFolderError,
    ForgeSelection, IntentBecame, IntentEntry, take_draft, take_intents,
};
use annals_dialects::secrets::Redactions;
use serde_json::{Value, json};

use super::named::of_kind;
use crate::cli::{ExportForge, WatchForge};
use crate::context::Context;
use crate::error::{CliError, ErrorClass};
use crate::output::{Output, counted};
use crate::progress;
use crate::signals::Signals;
use crate::whole_file::folder_outside;

/// After how long a log that another process writes to is tried again.
const TRY_AGAIN: Duration = Duration::from_millis(200);

/// Writes a folder.
pub(crate) async fn export(args: &ExportForge, context: &mut Context) -> Result<(), CliError> {
    folder_outside(&args.dir)?;
    let annals = context.reader()?;
    let mut selection = ForgeSelection {
        intents: Vec::new(),
        all: args.all,
    };
    for id in &args.ids {
        let object = annals.resolve(id).await?;
        let intent = of_kind(object, Kind::Intent).map(IntentId)?;
        if !selection.intents.contains(&intent) {
            selection.intents.push(intent);
        }
    }
    let bar = progress::bar("exporting", Some(annals.position().0));
    let mut shown = |progress: Progress| bar.set_position(progress.done);
    let exported = forge::export(&annals, &args.dir, &selection, &mut shown).await;
    bar.finish_and_clear();
    print(&exported?, &mut context.output)
}

fn print(report: &ForgeExportReport, output: &mut Output) -> Result<(), CliError> {
    if output.is_json() {
        output.json(report)?;
    } else {
        output.fields(&[
            ("folder", report.folder.clone()),
            ("intents", report.intents.to_string()),
            ("tasks", report.tasks.to_string()),
            ("reviews", report.reviews.to_string()),
            ("written", report.written.to_string()),
            ("unchanged", report.unchanged.to_string()),
            ("removed", report.removed_count.to_string()),
        ])?;
        for file in &report.removed {
            output.line(&format!("removed  {file}"))?;
        }
        for left in &report.left_alone {
            let line = format!("left alone  {}: {}", left.file, left.reason);
            output.line(&line)?;
        }
        let named = report.left_alone.len() as u64;
        if report.left_alone_count > named {
            let more = report.left_alone_count - named;
            output.line(&format!("left alone  and {more} more"))?;
        }
        for note in &report.notes {
            output.line(&format!("note  {note}"))?;
        }
    }
    match report.left_alone_count {
        0 => Ok(()),
        files => {
            let files = counted(files, "file was", "files were");
            let message = format!(
                "{files} left alone, since no export wrote them as they are now; move them away and export \
                 again, or keep them"
            );
            Err(CliError::new(
                ErrorClass::Refused,
                "files_left_alone",
                message,
            ))
        }
    }
}

/// Takes drafts and intents as they come, until interrupted.
pub(crate) async fn watch(args: &WatchForge, context: &mut Context) -> Result<(), CliError> {
    // Better now than with the first draft.
    context.reader()?.close().await;
    let mut watch = DraftWatch::start(&args.dir)?;
    let importer = args.who.importer(&context.output)?;
    let options = DraftOptions::new(importer.clone())
        .with_keep(args.keep_drafts)
        .with_secrets(args.redaction.secrets()?);
    let mut signals = Signals::new()?;
    let (drafts, intents) = (watch.folder().drafts(), watch.folder().intents());
    let (drafts, intents) = (drafts.display(), intents.display());
    let note = format!("watching {drafts} and {intents}; Ctrl-C ends");
    context.output.note(&note);
    let mut waits = false;
    let mut failures = HashMap::new();
    loop {
        let ready = watch.ready(Instant::now())?;
        let mut again = ready.again;
        if !ready.drafts.is_empty() || !ready.intents.is_empty() {
            match context.writer() {
                Ok(annals) => {
                    waits = false;
                    let annals = annals.imported_by(&importer);
                    let output = &mut context.output;
                    let mut taking = Taking {
                        watch: &mut watch,
                        options: &options,
                        failures: &mut failures,
                    };
                    let taken = taking.all(&annals, &ready.drafts, output).await;
                    let taken = match taken {
                        Ok(()) => taking.intents(&annals, &ready.intents, output).await,
                        Err(error) => Err(error),
                    };
                    annals.close().await;
                    taken?;
                    context.output.flush()?;
                }
                Err(error) if error.code() == "locked" => {
                    if !std::mem::replace(&mut waits, true) {
                        let note = "another process writes to the log; what comes waits for it";
                        context.output.note(note);
                    }
                    ready.drafts.iter().for_each(|draft| watch.forget(draft));
                    let mut intents = ready.intents.iter();
                    intents.by_ref().for_each(|it| watch.forget_intent(it));
                    again = TRY_AGAIN;
                }
                Err(error) => return Err(error),
            }
        }
        tokio::select! {
            () = signals.next() => return Ok(()),
            () = watch.changed() => {}
            () = tokio::time::sleep(again) => {}
        }
    }
}

/// Takes drafts.
struct Taking<'a> {
    watch: &'a mut DraftWatch,
    options: &'a DraftOptions,
    /// What was said of drafts that could not be taken, by their paths.
    failures: &'a mut HashMap<PathBuf, String>,
}

impl Taking<'_> {
    async fn all(
        &mut self,
        annals: &Annals,
        drafts: &[DraftFile],
        output: &mut Output,
    ) -> Result<(), CliError> {
        for draft in drafts {
            let mut redacted = Redactions::default();
            match take_draft(annals, draft, self.options, &mut redacted).await {
                Ok(drafted @ Drafted::Stays { .. }) => {
                    self.watch.forget(draft);
                    if self.is_new(draft.path(), drafted.to_string()) {
                        say(annals, draft, &drafted, &redacted, output).await?;
                    }
                }
                Ok(drafted) => {
                    self.failures.remove(draft.path());
                    say(annals, draft, &drafted, &redacted, output).await?;
                }
                Err(error) if error.is_of_file() || error.is_retryable() => {
                    // It may be taken later.
                    self.failed(draft, &error, output)?;
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Takes intents, all that are ready together: some may be parts of others.
    async fn intents(
        &mut self,
        annals: &Annals,
        intents: &[IntentEntry],
        output: &mut Output,
    ) -> Result<(), CliError> {
        if intents.is_empty() {
            return Ok(());
        }
        let folder = self.watch.folder().clone();
        let secrets = &self.options.secrets;
        match take_intents(annals, &folder, intents, secrets).await {
            Ok(taken) => {
                for (path, became) in &taken.files {
                    self.failures.remove(path);
                    say_intent(annals, path, became, output).await?;
                }
                let mut kinds = taken.redacted.kinds().iter();
                if !output.is_json() {
                    kinds.try_for_each(|kind| output.line(&format!("redacted {kind}")))?;
                }
                Ok(())
            }
            Err(error) if error.is_of_file() || error.is_retryable() => {
                // They may be taken later.
                for one in intents {
                    self.watch.forget_intent(one);
                }
                match intents.first() {
                    Some(first) => self.said(first.path(), "file", &error, output),
                    None => Ok(()),
                }
            }
            Err(error) => Err(error.into()),
        }
    }

    /// It is tried again, and the reason said once.
    fn failed(
        &mut self,
        draft: &DraftFile,
        error: &ForgeFolderError,
        output: &mut Output,
    ) -> Result<(), CliError> {
        self.watch.forget(draft);
        self.said(draft.path(), "draft", error, output)
    }

    fn said(
        &mut self,
        path: &Path,
        what: &str,
        error: &ForgeFolderError,
        output: &mut Output,
    ) -> Result<(), CliError> {
        let said = error.to_string();
        if !self.is_new(path, said.clone()) {
            return Ok(());
        }
        if output.is_json() {
            let file = path.display().to_string();
            return output.json(&json!({ what: file, "outcome": "failed", "message": said }));
        }
        output.note(&format!("{said}; it is tried again"));
        Ok(())
    }

    /// Whether this was not said of a file before.
    fn is_new(&mut self, path: &Path, said: String) -> bool {
        let before = self.failures.insert(path.to_owned(), said.clone());
        before.as_ref() != Some(&said)
    }
}

/// Says what became of an intent's file, unless nothing did.
async fn say_intent(
    annals: &Annals,
    path: &Path,
    became: &IntentBecame,
    output: &mut Output,
) -> Result<(), CliError> {
    let (word, intent) = match became {
        IntentBecame::Recorded { intent, .. } => ("recorded", Some(*intent)),
        IntentBecame::BroughtOn { intent, .. } => ("brought_on", Some(*intent)),
        IntentBecame::Left { .. } => ("left", None),
        IntentBecame::Broken { .. } => ("broken", None),
        _ => return Ok(()),
    };
    let line = match became {
        IntentBecame::Broken { line, .. } => Some(*line),
        _ => None,
    };
    let status = match intent {
        Some(intent) => annals.index().row(intent).await?.approval,
        None => None,
    };
    let file = path.display().to_string();
    if output.is_json() {
        return output.json(
            &json!({ "file": file, "outcome": word, "message": became.to_string(),
            "id": intent, "status": status.map(|status| status.as_str()), "line": line }),
        );
    }
    let place = line.map_or_else(|| file.clone(), |line| format!("{file}:{line}"));
    let status = status.map_or_else(String::new, |status| format!(", {status}"));
    output.line(&format!("{place}: {became}{status}"))
}

/// Says what became of a draft.
async fn say(
    annals: &Annals,
    draft: &DraftFile,
    drafted: &Drafted,
    redacted: &Redactions,
    output: &mut Output,
) -> Result<(), CliError> {
    let file = draft.path().display().to_string();
    let (word, object) = match drafted {
        Drafted::Proposed { intent, .. } => ("proposed", Some(intent.0)),
        Drafted::Known { intent } => ("known", Some(intent.0)),
        Drafted::Changed { intent } => ("changed", Some(intent.0)),
        Drafted::Stays { intent, .. } => ("stays", Some(intent.0)),
        Drafted::Redacted { intent, .. } => ("redacted", Some(intent.0)),
        Drafted::Exists { object } => ("exists", Some(*object)),
        Drafted::Gone => return Ok(()),
        _ => ("broken", None),
    };
    let status = match drafted {
        Drafted::Proposed { intent, .. } | Drafted::Redacted { intent, .. } => {
            annals.index().row(*intent).await?.approval
        }
        _ => None,
    };
    let line = match drafted {
        Drafted::Broken { line, .. } => Some(*line),
        _ => None,
    };
    if output.is_json() {
        let mut said = json!({ "draft": file, "outcome": word, "message": drafted.to_string() });
        let more = [
            ("id", object.map(|id| json!(id))),
            ("status", status.map(|status| json!(status.as_str()))),
            ("line", line.map(|line| json!(line))),
            ("redacted", (!redacted.is_empty()).then(|| json!(redacted))),
        ];
        if let Value::Object(said) = &mut said {
            let there = more.into_iter();
            said.extend(there.filter_map(|(key, value)| Some((key.to_owned(), value?))));
        }
        return output.json(&said);
    }
    let place = line.map_or_else(|| file.clone(), |line| format!("{file}:{line}"));
    let status = status.map_or_else(String::new, |status| format!(", {status}"));
    output.line(&format!("{place}: {drafted}{status}"))?;
    let mut kinds = redacted.kinds().iter();
    kinds.try_for_each(|kind| output.line(&format!("redacted {kind}")))
}
