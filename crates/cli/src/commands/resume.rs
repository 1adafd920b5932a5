//! `annals resume`: the command by which the agent itself continues a session.

use std::path::Path;
use std::process::Command;

use annals::projections::SessionSummary;
use serde_json::json;

use super::hook::installing::quoted;
use super::sessions;
use crate::cli::Resume;
use crate::context::Context;
use crate::error::{CliError, ErrorClass};

/// The agents that can continue a session, and the arguments before its id.
const AGENTS: [(&str, &str, &[&str]); 6] = [
    ("claude", "claude", &["--resume"]),
    ("codex", "codex", &["resume"]),
    ("copilot", "copilot", &["--resume"]),
    ("cursor", "cursor-agent", &["--resume"]),
    ("gemini", "gemini", &["--resume"]),
    ("opencode", "opencode", &["--session"]),
];

pub(super) async fn run(args: &Resume, context: &mut Context) -> Result<(), CliError> {
    let annals = context.reader()?;
    let found = sessions::find(&annals, &args.session).await;
    // The agent's own program may write to the log by its hooks.
    annals.close().await;
    let session = found?;
    let command = command(&session)?;
    if args.run {
        context.output.flush()?;
        return start(&command, session.directory.as_deref());
    }
    if context.output.is_json() {
        return context.output.json(&json!({
            "id": session.id,
            "agent": session.agent,
            "agent_session": session.agent_session,
            "directory": session.directory,
            "command": command,
        }));
    }
    let words: Vec<String> = command.iter().map(|word| quoted(word)).collect();
    let line = match &session.directory {
        Some(directory) => format!("cd {} && {}", quoted(directory), words.join(" ")),
        None => words.join(" "),
    };
    context.output.line(&line)
}

/// The program with its arguments.
fn command(session: &SessionSummary) -> Result<Vec<String>, CliError> {
    let agent = session.agent.as_deref().unwrap_or("an unknown agent");
    let refused = |message: String| CliError::new(ErrorClass::Refused, "not_resumable", message);
    let known = AGENTS.iter().find(|(key, ..)| *key == agent);
    let Some((_, program, arguments)) = known else {
        let known: Vec<&str> = AGENTS.iter().map(|(key, ..)| *key).collect();
        let message = format!("no command is known by which {agent} continues a session");
        return Err(refused(message).hint(format!("sessions of {} have one", known.join(", "))));
    };
    if session.parent.is_some() {
        let message = format!(
            "session {} is a sub-agent's, which no agent continues",
            session.id
        );
        return Err(refused(message).hint(format!("resume {}, which started it", session.root)));
    }
    // A recording is foreign: its id must be no option of the agent.
    let id = session.agent_session.as_deref().filter(|id| is_plain(id));
    let Some(id) = id else {
        let message = format!(
            "session {} has no id of its agent's that is a plain word",
            session.id
        );
        return Err(refused(message));
    };
    let words = std::iter::once(*program).chain(arguments.iter().copied());
    Ok(words.chain([id]).map(str::to_owned).collect())
}

fn is_plain(id: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    !id.is_empty() && !id.starts_with('-') && id.bytes().all(is_plain)
}

/// Runs the command in the session's directory, and ends as it does.
fn start(command: &[String], directory: Option<&str>) -> Result<(), CliError> {
    let Some((program, arguments)) = command.split_first() else {
        return Ok(());
    };
    let mut started = Command::new(program);
    started.args(arguments);
    if let Some(directory) = directory {
        if !Path::new(directory).is_dir() {
            let message = format!("the session's directory {directory} is not there");
            let error = CliError::new(ErrorClass::NotFound, "no_directory", message);
            return Err(error.hint("leave --run out, and run the command elsewhere"));
        }
        started.current_dir(directory);
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_that_would_be_an_option_is_not_plain() {
        assert!(is_plain("0198c0de-0000-7000-8000-000000000001") && is_plain("ses_4f.x"));
        for id in [
            "",
            "-c",
            "--dangerously-skip-permissions",
            "a b",
            "a;b",
            "$(a)",
            "\u{202e}a",
        ] {
            assert!(!is_plain(id), "{id:?}");
        }
    }
}
