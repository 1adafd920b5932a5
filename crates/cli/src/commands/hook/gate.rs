//! The option `--gate` of `annals hook`: what a policy says of the call that an event asks for.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use annals_dialects::secrets::Secrets;
use annals_live::hook::{Asked, HookAgent, Surroundings, UnreadableHook};
use annals_live::{PolicyFile, Ruling};
use annals_tool_policy::Call;

use crate::cli::RunHook;
use crate::context::Context;
use crate::error::{CliError, ErrorClass};
use crate::tool_policy_file;

/// Why a call was not judged.
#[derive(Debug, thiserror::Error)]
enum Unjudged {
    /// A policy cannot be read, or is not valid.
    #[error("{}", .0.message())]
    Policy(CliError),
    #[error("no thread could be started: {0}")]
    NoThread(#[source] std::io::Error),
    #[error("judging it took too long")]
    TooLong,
    /// The thread ended without a verdict.
    #[error("judging it failed")]
    Failed,
}

/// What the policy says of the call that an event asks for; nothing, where it asks for none, or the agent's own
/// settings are to decide.
///
/// # Errors
/// The event cannot be read, and nothing may be let through for that.
pub(super) fn ruling(
    agent: HookAgent,
    args: &RunHook,
    (bytes, left_out): (&[u8], u64),
    (secrets, within): (&Secrets, Duration),
    context: &Context,
) -> Result<Option<Ruling>, CliError> {
    if args.gate.gate.is_empty() {
        return Ok(None);
    }
    let is_closed = args.gate.fail_closed;
    let asked = match left_out {
        0 => Asked::read(agent, bytes, &Surroundings::of(agent)),
        left_out => Asked::Unreadable(UnreadableHook::TooLarge { left_out }),
    };
    let call = match asked {
        Asked::Call(call) => call,
        Asked::Unreadable(reason) if is_closed => {
            return Err(refused(&format!("the event cannot be read: {reason}")));
        }
        // It is recorded as what it is.
        _ => return Ok(None),
    };
    let ruling = match judged(&args.gate.gate, *call, secrets, within) {
        Ok(ruling) => ruling,
        Err(reason) if is_closed => Ruling::failure(&reason.to_string(), secrets),
        Err(reason) => {
            context.output.warn(&format!(
                "the call is not judged, and the agent's own settings decide: {reason}"
            ));
            return Ok(None);
        }
    };
    Ok(Some(match is_closed {
        true => ruling.closed_for(agent),
        false => ruling,
    }))
}

/// Judges a call on a thread of its own, which is left alone when it takes too long.
fn judged(
    paths: &[PathBuf],
    call: Call,
    secrets: &Secrets,
    within: Duration,
) -> Result<Ruling, Unjudged> {
    let (tell, told) = channel();
    let (paths, secrets) = (paths.to_vec(), secrets.clone());
    let thread = std::thread::Builder::new().name("annals-gate".to_owned());
    let started = thread.spawn(move || {
        let _ = tell.send(judge(&paths, &call, &secrets));
    });
    started.map_err(Unjudged::NoThread)?;
    match told.recv_timeout(within) {
        Ok(judged) => judged,
        Err(RecvTimeoutError::Timeout) => Err(Unjudged::TooLong),
        Err(RecvTimeoutError::Disconnected) => Err(Unjudged::Failed),
    }
}

fn judge(paths: &[PathBuf], call: &Call, secrets: &Secrets) -> Result<Ruling, Unjudged> {
    let read = tool_policy_file::read_with_texts(paths);
    let (policies, texts) = read.map_err(Unjudged::Policy)?;
    let files = texts
        .iter()
        .map(|(path, text)| PolicyFile::new(path.as_str(), text, secrets));
    Ok(Ruling::judge(&policies, files.collect(), call, secrets))
}

/// What an agent takes for a refusal where nothing can be answered: status 2, and the reason on standard error.
pub(super) fn refused(reason: &str) -> CliError {
    CliError::new(ErrorClass::Usage, "gate", Ruling::cannot(reason))
}

/// The options of a gate, for the command in an agent's configuration: its files are valid, and are named wherever the
/// agent runs.
pub(super) fn options(gate: &[PathBuf], is_closed: bool) -> Result<Vec<String>, CliError> {
    if gate.is_empty() {
        return Ok(Vec::new());
    }
    tool_policy_file::read(gate)?;
    let mut options = Vec::new();
    for path in gate {
        let path = std::path::absolute(path).map_err(|error| CliError::input(path, error))?;
        options.extend(["--gate".to_owned(), utf8(&path)?]);
    }
    if is_closed {
        options.push("--fail-closed".to_owned());
    }
    Ok(options)
}

fn utf8(path: &Path) -> Result<String, CliError> {
    path.to_str().map(str::to_owned).ok_or_else(|| {
        let message = "the path of a policy is not UTF-8, and no configuration can name it";
        CliError::new(ErrorClass::Invalid, "path_not_utf8", message)
    })
}
