//! `annals import`: reads foreign history into the log.

use std::path::Path;

use annals::Annals;
use annals_dialects::forge::{self, ForgeOptions};
use annals_dialects::git::{self, GitOptions};
use annals_dialects::import::{self, ImportOptions};
use annals_dialects::{ImportReport, Progress, contracts, git_internal};
use annals_live::ledger::LedgerDue;

use super::verbatim;
use indicatif::ProgressBar;

use crate::cli::{
    HowToImport, Import, ImportAnything, ImportContracts, ImportForge, ImportGit,
    ImportGitInternal, ImportRecordings, Who,
};
use crate::context::Context;
use crate::error::{CliError, ErrorClass};
use crate::output::counted;
use crate::progress;

/// Imports what was named.
pub(crate) async fn run(args: ImportAnything, context: &mut Context) -> Result<(), CliError> {
    match (args.what, args.path) {
        (Some(Import::Git(args)), _) => git(&args, context).await,
        (Some(Import::Agent(args)), _) => {
            let ImportRecordings { path, how } = &args.recordings;
            recordings(Some(args.agent), path, how, context).await
        }
        (Some(Import::GitInternal(args)), _) => git_internal(&args, context).await,
        (Some(Import::Contracts(args)), _) => contracts(&args, context).await,
        (Some(Import::Forge(args)), _) => forge(&args, context).await,
        (Some(Import::Annals(args)), _) => verbatim::import(&args, context).await,
        (None, Some(path)) => recordings(None, &path, &args.how, context).await,
        // The arguments demand one of the two.
        (None, None) => Ok(()),
    }
}

/// Imports a git repository.
async fn git(args: &ImportGit, context: &mut Context) -> Result<(), CliError> {
    let options = GitOptions::default()
        .with_limit(args.limit)
        .with_secrets(args.redaction.secrets()?);
    let import = async |annals: &Annals, shown: &mut dyn FnMut(Progress)| {
        let imported = git::import(annals, &args.path, &options, shown).await;
        imported.map_err(CliError::from)
    };
    imported(context, &args.who, "importing commits", import).await
}

/// Imports recordings: of this agent, or of those whose they are.
async fn recordings(
    agent: Option<&'static str>,
    path: &Path,
    how: &HowToImport,
    context: &mut Context,
) -> Result<(), CliError> {
    let options = ImportOptions::default()
        .with_ended(how.ended)
        .with_secrets(how.redaction.secrets()?)
        .with_keep_raw(how.keep_raw);
    let importer = how.who.importer(&context.output)?;
    let annals = context.writer()?.imported_by(&importer);
    let bar = progress::bar("importing bytes", None);
    let imported = import::recordings(&annals, path, agent, &options, &mut shown(&bar)).await;
    bar.finish_and_clear();
    let ended = end(context, &annals).await;
    let reports = imported?;
    ended?;
    for report in &reports {
        print(context, report)?;
    }
    all_read(&reports)
}

/// Imports git-internal's objects.
async fn git_internal(args: &ImportGitInternal, context: &mut Context) -> Result<(), CliError> {
    let secrets = args.redaction.secrets()?;
    let import = async |annals: &Annals, shown: &mut dyn FnMut(Progress)| {
        let imported = git_internal::import(annals, &args.path, &secrets, shown).await;
        imported.map_err(CliError::from)
    };
    imported(context, &args.who, "importing bytes", import).await
}

/// Imports sessions of Contracts v1.1.
async fn contracts(args: &ImportContracts, context: &mut Context) -> Result<(), CliError> {
    let secrets = args.redaction.secrets()?;
    let import = async |annals: &Annals, shown: &mut dyn FnMut(Progress)| {
        let imported = contracts::import(annals, &args.file, &secrets, shown).await;
        imported.map_err(CliError::from)
    };
    imported(context, &args.who, "importing bytes", import).await
}

/// Imports a `.forge/` folder.
async fn forge(args: &ImportForge, context: &mut Context) -> Result<(), CliError> {
    let options = ForgeOptions::new(args.who.importer(&context.output)?)
        .with_keep_drafts(args.keep_drafts)
        .with_secrets(args.redaction.secrets()?);
    let import = async |annals: &Annals, shown: &mut dyn FnMut(Progress)| {
        let imported = forge::import(annals, &args.dir, &options, shown).await;
        imported.map_err(CliError::from)
    };
    imported(context, &args.who, "importing files", import).await
}

/// Ends an import, also one that failed: what was imported before stays, and is not imported again.
async fn end(context: &mut Context, annals: &Annals) -> Result<(), CliError> {
    super::search::keep_up(context, annals).await;
    context.keep_ledger(annals, LedgerDue::Now).await;
    // What was there already may be of an import that was not told whether it survives.
    let confirmed = annals.log().confirm().await;
    annals.close().await;
    Ok(confirmed?)
}

async fn imported(
    context: &mut Context,
    who: &Who,
    what: &'static str,
    import: impl AsyncFnOnce(&Annals, &mut dyn FnMut(Progress)) -> Result<ImportReport, CliError>,
) -> Result<(), CliError> {
    let importer = who.importer(&context.output)?;
    let annals = context.writer()?.imported_by(&importer);
    let bar = progress::bar(what, None);
    let imported = import(&annals, &mut shown(&bar)).await;
    bar.finish_and_clear();
    let ended = end(context, &annals).await;
    let report = imported?;
    ended?;
    print(context, &report)?;
    all_read(&[report])
}

fn shown(bar: &ProgressBar) -> impl FnMut(Progress) + '_ {
    |progress| {
        bar.set_length(progress.total);
        bar.set_position(progress.done);
    }
}

/// Prints what an import did.
fn print(context: &mut Context, report: &ImportReport) -> Result<(), CliError> {
    let names_all = context.is_verbose;
    let output = &mut context.output;
    match output.is_json() {
        true => output.json(report),
        false if names_all => output.lines(&report.with_all_fields().to_string()),
        false => output.lines(&report.to_string()),
    }
}

/// An import that could not read everything fails.
fn all_read(reports: &[ImportReport]) -> Result<(), CliError> {
    match reports.iter().map(|report| report.broken_count).sum() {
        0 => Ok(()),
        broken => {
            let broken = counted(broken, "record", "records");
            let message =
                format!("{broken} could not be imported; the report names them. All others were");
            Err(CliError::new(
                ErrorClass::Failed,
                "partly_imported",
                message,
            ))
        }
    }
}
