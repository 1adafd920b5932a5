//! `annals import`: reads foreign history into the log.

use annals_dialects::git::{self, GitOptions, Progress};

use crate::cli::ImportGit;
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
    let report = imported?;
    if context.output.is_json() {
        return context.output.json(&report);
    }
    context
        .output
        .line(crate::output::visible(&report.to_string()).trim_end())
}
