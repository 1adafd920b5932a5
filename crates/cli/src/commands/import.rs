//! `annals import`: reads foreign history into the log.

use annals::Annals;
use annals_dialects::claude::{self, ClaudeOptions};
use annals_dialects::forge::{self, ForgeOptions};
use annals_dialects::git::{self, GitOptions};
use annals_dialects::{ImportReport, Progress, contracts, git_internal};

use crate::cli::{ImportClaude, ImportContracts, ImportForge, ImportGit, ImportGitInternal};
use crate::context::Context;
use crate::error::CliError;
use crate::progress;

/// Imports a git repository.
pub(crate) async fn git(args: &ImportGit, context: &mut Context) -> Result<(), CliError> {
    let options = GitOptions {
        limit: args.limit,
        secrets: args.redaction.secrets()?,
    };
    let import = async |annals: &Annals, shown: &mut dyn FnMut(Progress)| {
        let imported = git::import(annals, &args.path, &options, shown).await;
        imported.map_err(CliError::from)
    };
    run(context, "importing commits", import).await
}

/// Imports recorded sessions of Claude Code.
pub(crate) async fn claude(args: &ImportClaude, context: &mut Context) -> Result<(), CliError> {
    let options = ClaudeOptions {
        ended: args.ended,
        secrets: args.redaction.secrets()?,
    };
    let import = async |annals: &Annals, shown: &mut dyn FnMut(Progress)| {
        let imported = claude::import(annals, &args.path, &options, shown).await;
        imported.map_err(CliError::from)
    };
    run(context, "importing bytes", import).await
}

/// Imports git-internal's objects.
pub(crate) async fn git_internal(
    args: &ImportGitInternal,
    context: &mut Context,
) -> Result<(), CliError> {
    let secrets = args.redaction.secrets()?;
    let import = async |annals: &Annals, shown: &mut dyn FnMut(Progress)| {
        let imported = git_internal::import(annals, &args.path, &secrets, shown).await;
        imported.map_err(CliError::from)
    };
    run(context, "importing bytes", import).await
}

/// Imports sessions of Contracts v1.1.
pub(crate) async fn contracts(
    args: &ImportContracts,
    context: &mut Context,
) -> Result<(), CliError> {
    let secrets = args.redaction.secrets()?;
    let import = async |annals: &Annals, shown: &mut dyn FnMut(Progress)| {
        let imported = contracts::import(annals, &args.file, &secrets, shown).await;
        imported.map_err(CliError::from)
    };
    run(context, "importing bytes", import).await
}

/// Imports a `.forge/` folder.
pub(crate) async fn forge(args: &ImportForge, context: &mut Context) -> Result<(), CliError> {
    let options = ForgeOptions {
        author: args.who.actor(&context.output),
        keep_drafts: args.keep_drafts,
        secrets: args.redaction.secrets()?,
    };
    let import = async |annals: &Annals, shown: &mut dyn FnMut(Progress)| {
        let imported = forge::import(annals, &args.dir, &options, shown).await;
        imported.map_err(|error| CliError::from(Box::new(error)))
    };
    run(context, "importing files", import).await
}

async fn run(
    context: &mut Context,
    what: &'static str,
    import: impl AsyncFnOnce(&Annals, &mut dyn FnMut(Progress)) -> Result<ImportReport, CliError>,
) -> Result<(), CliError> {
    let annals = context.writer()?;
    let bar = progress::bar(what, None);
    let mut shown = |progress: Progress| {
        bar.set_length(progress.total);
        bar.set_position(progress.done);
    };
    let imported = import(&annals, &mut shown).await;
    bar.finish_and_clear();
    // What was imported before a failure stays, and is not imported again.
    annals.close().await;
    print(context, &imported?)
}

/// Prints what an import did. What it could not read is no success.
fn print(context: &mut Context, report: &ImportReport) -> Result<(), CliError> {
    let output = &mut context.output;
    if output.is_json() {
        output.json(report)?;
    } else {
        output.lines(&report.to_string())?;
    }
    match report.broken_count {
        0 => Ok(()),
        broken => Err(CliError::PartlyImported { broken }),
    }
}
