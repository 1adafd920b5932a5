//! `annals resume`: the command by which the agent itself continues a session.

use std::path::Path;
use std::process::Command;

use annals::projections::{REMOVED_PROJECT, ResumeCommand, SessionSummary};
use serde_json::json;

use super::hook::installing::quoted;
use crate::cli::Resume;
use crate::context::Context;
use crate::error::{CliError, ErrorClass};

/// Bytes of a path from which on no system opens it.
const LONGEST: usize = 4_096;

pub(super) async fn run(args: &Resume, context: &mut Context) -> Result<(), CliError> {
    let annals = context.reader_of_rows().await?;
    let found = annals.conversations().find(&args.session).await;
    // The agent's own program may write to the log by its hooks.
    annals.close().await;
    let session = found?;
    let command = command(&session)?;
    let directory = directory(session.directory.as_deref())?;
    if args.run {
        context.output.flush()?;
        return start(command.words(), directory.map(Path::new));
    }
    if context.output.is_json() {
        return context.output.json(&json!({
            "id": session.id,
            "agent": session.agent,
            "agent_session": session.agent_session,
            "directory": directory,
            "command": command.words(),
        }));
    }
    let Some(directory) = directory else {
        let unknown = "the session's directory is not known: run the command in it";
        context.output.note(unknown);
        return context.output.line(&command.to_string());
    };
    if annals_terminal::line(directory) != directory {
        let message = "the session's directory has characters that cannot be printed in a command";
        let error = CliError::new(ErrorClass::Refused, "not_printable", message);
        return Err(error.hint("give --run, or --json to see the characters as escapes"));
    }
    let line = format!("cd -- {} && {command}", quoted(directory));
    context.output.line(&line)
}

/// The directory that a session was recorded in, if it is known: it may have been removed, or too long to be recorded.
fn directory(recorded: Option<&str>) -> Result<Option<&str>, CliError> {
    let is_known = |it: &&str| *it != REMOVED_PROJECT && !it.ends_with('…') && it.len() < LONGEST;
    match recorded.filter(is_known) {
        Some(directory) if !Path::new(directory).is_absolute() => {
            let message = format!("the session's directory is relative: {directory}");
            let error = CliError::new(ErrorClass::Refused, "relative_directory", message);
            Err(error.hint("change to it, and run the agent's own command"))
        }
        known => Ok(known),
    }
}

/// The agent's command.
fn command(session: &SessionSummary) -> Result<ResumeCommand, CliError> {
    let agent = session.agent.as_deref().unwrap_or("an unknown agent");
    let refused = |message: String| CliError::new(ErrorClass::Refused, "not_resumable", message);
    if !ResumeCommand::agents().any(|known| known == agent) {
        let known: Vec<&str> = ResumeCommand::agents().collect();
        let message = format!("no command is known by which {agent} continues a session");
        return Err(refused(message).hint(format!("sessions of {} have one", known.join(", "))));
    }
    if session.parent.is_some() {
        let message = format!(
            "session {} is a sub-agent's, which no agent continues",
            session.id
        );
        return Err(refused(message).hint(format!("resume {}, which started it", session.root)));
    }
    let id = session.agent_session.as_deref().unwrap_or_default();
    ResumeCommand::of(agent, id).ok_or_else(|| {
        let message = format!(
            "session {} has no id of its agent's that is a plain word",
            session.id
        );
        refused(message)
    })
}

/// Runs the command in the session's directory, and ends as it does.
fn start(command: &[String], directory: Option<&Path>) -> Result<(), CliError> {
    let Some((program, arguments)) = command.split_first() else {
        return Ok(());
    };
    let mut started = Command::new(program);
    started.args(arguments);
    let Some(directory) = directory else {
        let message = "the session's directory is not known";
        let error = CliError::new(ErrorClass::NotFound, "no_directory", message);
        return Err(error.hint("run the command in that directory, without --run"));
    };
    if !directory.is_dir() {
        let message = format!(
            "the session's directory {} does not exist",
            directory.display()
        );
        let error = CliError::new(ErrorClass::NotFound, "no_directory", message);
        return Err(error.hint("run the command in another directory, without --run"));
    }
    started.current_dir(directory);
    let status = started.status().map_err(|error| {
        let message = format!("cannot run {program}: {error}");
        CliError::new(ErrorClass::Failed, "agent_not_started", message)
    })?;
    match status.success() {
        true => Ok(()),
        false => {
            let message = format!("{program} ended with {status}");
            Err(CliError::new(ErrorClass::Failed, "agent_failed", message))
        }
    }
}
