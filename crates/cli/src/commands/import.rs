//! `annals import`: reads foreign history into the log.

mod short_report;

use std::path::Path;

use annals::Annals;
use annals_dialects::forge::{self, ForgeOptions};
use annals_dialects::git::{self, GitOptions};
use annals_dialects::import::{self, ImportOptions};
use annals_dialects::{ImportReport, Progress, contracts, git_internal};
use annals_live::ledger::LedgerDue;

use indicatif::ProgressBar;

use super::overview::Overview;
use super::verbatim;
use crate::agents::{AgentFolder, agent_folders, short_path};
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
        (None, None) => all_recordings(&args.how, context).await,
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
    let source = AgentFolder::given(agent, path);
    recorded(&[source], how, context).await
}

/// Imports the recordings in the folders of all agents.
async fn all_recordings(how: &HowToImport, context: &mut Context) -> Result<(), CliError> {
    let mut folders = Vec::new();
    for folder in agent_folders().into_iter().filter(|it| it.path.is_dir()) {
        // Where an agent only has other files, nothing is imported.
        let found = import::recordings_in(&folder.path, folder.agent.unwrap_or_default())?;
        if !found.groups.is_empty() || !found.unread.is_empty() {
            folders.push(folder);
        }
    }
    if folders.is_empty() {
        let searched: Vec<String> = agent_folders()
            .iter()
            .map(|it| short_path(&it.path))
            .collect();
        let message = format!("no recordings were found in {}", searched.join(", "));
        return Err(
            CliError::new(ErrorClass::NotFound, "no_recordings", message)
                .hint("name a recording, or a folder of them, as in `annals import PATH`"),
        );
    }
    recorded(&folders, how, context).await
}

/// Imports the recordings of some folders, one folder after the other, and reports them together.
async fn recorded(
    folders: &[AgentFolder],
    how: &HowToImport,
    context: &mut Context,
) -> Result<(), CliError> {
    let options = ImportOptions::default()
        .with_ended(how.ended)
        .with_secrets(how.redaction.secrets()?)
        .with_keep_raw(how.keep_raw);
    let importer = how.who.importer(&context.output)?;
    let annals = context.importer()?.imported_by(&importer);
    let before = annals.position();
    let bar = progress::bar("importing bytes", None);
    let mut reports = Vec::new();
    let mut imported = Ok(());
    for AgentFolder { agent, path, .. } in folders {
        let mut shown = shown(&bar);
        match import::recordings(&annals, path, *agent, &options, &mut shown).await {
            Ok(more) => reports.extend(more),
            Err(error) => {
                imported = Err(error);
                break;
            }
        }
    }
    bar.finish_and_clear();
    let is_short = !how.report && !context.is_verbose && !context.output.is_json();
    let overview = match (&imported, is_short) {
        (Ok(()), true) => Some(Overview::of(&annals, Some(before)).await?),
        _ => None,
    };
    let ended = end(context, &annals).await;
    imported?;
    ended?;
    match overview {
        Some(overview) => short_report::print(&overview, &reports, &mut context.output)?,
        None => reports
            .iter()
            .try_for_each(|report| print(context, report))?,
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
    let annals = context.importer()?.imported_by(&importer);
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
    none_broken(reports.iter().map(|report| report.broken_count).sum())
}

/// Fails if records could not be imported.
pub(in crate::commands) fn none_broken(broken: u64) -> Result<(), CliError> {
    match broken {
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
