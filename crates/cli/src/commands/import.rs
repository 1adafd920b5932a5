//! `annals import`: reads foreign history into the log.

use annals_dialects::git::{self, GitOptions};
use annals_dialects::{ImportReport, Progress, git_internal};

use crate::cli::{ImportGit, ImportGitInternal};
use crate::context::Context;
use crate::error::CliError;
use crate::progress;

/// Imports a git repository.
pub(crate) async fn git(args: &ImportGit, context: &mut Context) -> Result<(), CliError> {
    let annals = context.writer()?;
    let options = GitOptions { limit: args.limit };
    let bar = progress::bar("importing commits", None);
    let mut shown = |progress: Progress| {
        bar.set_length(progress.total);
        bar.set_position(progress.done);
    };
    let imported = git::import(&annals, &args.path, &options, &mut shown).await;
    bar.finish_and_clear();
    // What was imported before a failure stays, and is not imported again.
    annals.close().await;
    print(context, &imported?)
}

/// Imports git-internal's objects.
pub(crate) async fn git_internal(
    args: &ImportGitInternal,
    context: &mut Context,
) -> Result<(), CliError> {
    let annals = context.writer()?;
    let bar = progress::bar("importing bytes", None);
    let mut shown = |progress: Progress| {
        bar.set_length(progress.total);
        bar.set_position(progress.done);
    };
    let imported = git_internal::import(&annals, &args.path, &mut shown).await;
    bar.finish_and_clear();
    annals.close().await;
    print(context, &imported?)
}

/// Prints what an import did. What it could not read is no success.
fn print(context: &mut Context, report: &ImportReport) -> Result<(), CliError> {
    let output = &mut context.output;
    if output.is_json() {
        output.json(report)?;
    } else {
        output.line(crate::output::visible(&report.to_string()).trim_end())?;
    }
    match report.broken_count {
        0 => Ok(()),
        broken => Err(CliError::PartlyImported { broken }),
    }
}
