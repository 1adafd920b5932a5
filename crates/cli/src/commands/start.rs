//! `annals` and `annals start`: imports the recordings of all agents, newest first, serves the viewer meanwhile, and then
//! follows the agents that are at work.

mod follow;
mod import;
mod state;

use std::io::IsTerminal as _;
use std::process::{Command, Stdio};

use annals::{Annals, LogUrl};
use annals_dialects::import::ImportOptions;
use annals_live::ledger::LedgerDue;
use annals_viewer::ViewerOptions;
use serde_json::json;

use self::follow::FollowedFolders;
use self::import::{Outcome, Recordings};
pub(super) use self::state::{ForgottenImports, check_imports, forget_imports, imports_beside};
use self::state::{ImportedRecordings, RunningViewer, ViewerNote};
use super::overview::Overview;
use super::recording;
use super::serve::Viewing;
use crate::agents::{AgentFolder, agent_folders, short_path};
use crate::cli::StartOptions;
use crate::context::Context;
use crate::error::{CliError, ErrorClass};
use crate::output::counted;
use crate::signals::Signals;
use crate::user::user;

pub(super) async fn run(args: &StartOptions, context: &mut Context) -> Result<(), CliError> {
    if !args.once
        && let Some(running) = RunningViewer::find(context)
    {
        return open_running(&running, args, context);
    }
    let all = agent_folders();
    // Before the recordings are listed: what comes to them behind that is followed.
    let mut followed = FollowedFolders::watch(&all, context);
    let there: Vec<AgentFolder> = all.iter().filter(|it| it.path.is_dir()).cloned().collect();
    let recordings = Recordings::find(&there, context);
    let annals = context.importer()?;
    if recordings.is_empty() && annals.position().0 == 0 {
        annals.close().await;
        return nothing_found(&all, context);
    }
    let annals = annals.imported_by(&user(&context.output));
    let started = started(args, recordings, &annals, &mut followed, context).await;
    annals.close().await;
    started
}

/// Imports, serves and follows with a log that is open.
async fn started(
    args: &StartOptions,
    recordings: Recordings,
    annals: &Annals,
    followed: &mut FollowedFolders,
    context: &mut Context,
) -> Result<(), CliError> {
    let mut signals = Signals::new()?;
    let options = ImportOptions::default();
    let mut imported = ImportedRecordings::of(context, annals);
    let viewing = match args.once {
        true => None,
        false => Some(viewing(args, annals, context).await?),
    };
    let note = viewing
        .as_ref()
        .map(|it| ViewerNote::write(context, it.socket()));
    let address = viewing.as_ref().map(|it| it.address().to_owned());
    if let (Some(address), true) = (&address, context.output.is_json()) {
        context
            .output
            .json(&json!({ "state": "serving", "log": context.log, "address": address }))?;
        context.output.flush()?;
    }
    if let (Some(address), true) = (&address, std::io::stderr().is_terminal()) {
        context.output.note(&format!(
            "viewer at {address}; sessions appear as they are imported"
        ));
    }
    let show = || {
        if let Some(address) = &address {
            open_browser(address, args);
        }
    };
    let unread = recordings.unread();
    let import = recordings.import(annals, &options, &mut imported, show, &context.output);
    let outcome = tokio::select! {
        outcome = import => outcome,
        () = signals.next() => Ok(Outcome::Interrupted),
    };
    imported.reached(annals.position().0);
    imported.write();
    let mut broken = 0;
    let worked = match outcome {
        Ok(Outcome::Interrupted) => {
            context
                .output
                .note("interrupted: the next start continues the import");
            Err(CliError::interrupted())
        }
        Ok(Outcome::Done { broken: records }) => {
            broken = records;
            finished(annals, &imported, address.as_deref(), followed, context).await
        }
        Err(error) => Err(error),
    };
    let ended = match worked {
        Ok(()) if args.once => none_unread(unread, broken),
        Ok(()) => {
            followed
                .follow(annals, &options, &mut signals, context)
                .await
        }
        ended => ended,
    };
    drop(note);
    if let Some(viewing) = viewing {
        viewing.end().await;
    }
    ended
}

/// Fails if recordings could not be read, or records of them.
fn none_unread(files: u64, records: u64) -> Result<(), CliError> {
    let unread = match (files, records) {
        (0, 0) => return Ok(()),
        (0, records) => counted(records, "record", "records"),
        (files, 0) => counted(files, "recording", "recordings"),
        (files, records) => {
            let files = counted(files, "recording", "recordings");
            format!("{files} and {}", counted(records, "record", "records"))
        }
    };
    let message = format!(
        "{unread} could not be imported; the warnings name them, and `annals import --report` names them again"
    );
    Err(CliError::new(
        ErrorClass::Failed,
        "partly_imported",
        message,
    ))
}

/// Makes the import durable, and prints the summary.
async fn finished(
    annals: &Annals,
    imported: &ImportedRecordings,
    address: Option<&str>,
    followed: &FollowedFolders,
    context: &mut Context,
) -> Result<(), CliError> {
    super::search::keep_up(context, annals).await;
    annals.log().confirm().await?;
    context.keep_ledger(annals, LedgerDue::Now).await;
    let overview = Overview::of(annals, None).await?;
    let recorded = recording::recorded_agents();
    // An import beside the viewer of another process.
    let running = match address {
        None => RunningViewer::find(context),
        Some(_) => None,
    };
    let running = running.map(|it| it.url());
    let output = &mut context.output;
    if output.is_json() {
        output.json(&json!({
            "state": "imported",
            "sessions": overview.sessions,
            "projects": overview.projects.len(),
            "cost": overview.cost_json(),
            "secrets_removed": imported.secrets(),
            "address": address.or(running.as_deref()),
            "recording": recorded,
            "following": address.map(|_| followed.agents()),
            "log": context.log,
        }))?;
        return output.flush();
    }
    let secrets = match imported.secrets() {
        0 => String::new(),
        secrets => format!(
            ", {}",
            counted(secrets, "secret removed", "secrets removed")
        ),
    };
    let follows = match followed.agents().as_slice() {
        [] => String::new(),
        _ if address.is_none() => String::new(),
        agents => format!("; following the recordings of {}", listed(agents)),
    };
    let recording = match recorded.as_slice() {
        [] => format!("off: `annals record on` starts it{follows}"),
        agents => format!("on for {}{follows}", agents.join(", ")),
    };
    let viewer = match address {
        Some(address) => format!("{address}  (Ctrl-C ends)"),
        None => match &running {
            Some(address) => format!("{address}  (runs already)"),
            None => "not running: `annals start` starts it".to_owned(),
        },
    };
    output.line(&format!(
        "{}, {}, {}{secrets}",
        counted(overview.sessions, "session", "sessions"),
        counted(overview.projects.len() as u64, "project", "projects"),
        overview.cost(),
    ))?;
    output.fields(&[
        ("viewer", viewer),
        ("recording", recording),
        ("log", context.log.clone()),
    ])?;
    output.flush()
}

/// Names for people: `a, b and c`.
fn listed(names: &[&str]) -> String {
    match names {
        [first @ .., before, last] => {
            let first: String = first.iter().map(|name| format!("{name}, ")).collect();
            format!("{first}{before} and {last}")
        }
        names => names.concat(),
    }
}

/// The viewer at the usual address, or at a free port where that is taken.
async fn viewing(
    args: &StartOptions,
    annals: &Annals,
    context: &Context,
) -> Result<Viewing, CliError> {
    let mut options = args
        .listen
        .map_or_else(ViewerOptions::default, ViewerOptions::new);
    if let Ok(LogUrl::Rocks(folder)) = context.log.parse() {
        options.folder = Some(folder);
    }
    match Viewing::start(annals.clone(), options.clone()).await {
        Err(error) if args.listen.is_none() && error.code() == "listen" => {
            options.address.set_port(0);
            Viewing::start(annals.clone(), options).await
        }
        started => started,
    }
}

/// Opens the viewer that runs already.
fn open_running(
    running: &RunningViewer,
    args: &StartOptions,
    context: &mut Context,
) -> Result<(), CliError> {
    let address = running.url();
    open_browser(&address, args);
    let output = &mut context.output;
    match output.is_json() {
        true => output.json(&json!({ "state": "running", "log": context.log, "address": address })),
        false => output.line(&format!("the viewer of {} runs at {address}", context.log)),
    }
}

/// Lists the folders in which no recording was found.
fn nothing_found(all: &[AgentFolder], context: &mut Context) -> Result<(), CliError> {
    let output = &mut context.output;
    if output.is_json() {
        let searched: Vec<String> = all.iter().map(|it| it.path.display().to_string()).collect();
        return output.json(&json!({ "state": "no_recordings", "searched": searched }));
    }
    output.line("no recordings were found in these folders:")?;
    for folder in all {
        output.line(&format!(
            "  {:<13} {}",
            folder.agent.unwrap_or_default(),
            short_path(&folder.path)
        ))?;
    }
    output.line("`annals record on` records agents from now on; `annals import PATH` imports another folder")
}

/// Opens the browser, where a person works at a screen. The viewer is there without it, too.
fn open_browser(address: &str, args: &StartOptions) {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let has_display = cfg!(target_os = "macos") || set("DISPLAY") || set("WAYLAND_DISPLAY");
    if args.no_browser || !has_display || !std::io::stdout().is_terminal() {
        return;
    }
    let program = match cfg!(target_os = "macos") {
        true => "open",
        false => "xdg-open",
    };
    let mut command = Command::new(program);
    command
        .arg(address)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let _ = command.spawn();
}
