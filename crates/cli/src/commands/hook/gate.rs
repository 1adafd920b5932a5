//! The options `--gate` and `--budgets` of `annals hook`: the verdict on the call that an event asks for.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use annals::domain::Timestamp;
use annals_dialects::secrets::Secrets;
use annals_live::hook::{Asked, HookAgent, Surroundings, UnreadableHook};
use annals_live::ledger::{self, BudgetVerdict, LedgerFile, Spending};
use annals_live::{PolicyFile, Ruling};
use annals_tool_policy::Call;

use crate::cli::{Gate, RunHook};
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

/// The verdict of the policy and of the budgets on the call that an event asks for; nothing, where it asks for none, or the agent's own
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
    let has_policy = !args.gate.gate.is_empty();
    if !has_policy && !args.gate.budgets {
        return Ok(None);
    }
    let is_closed = args.gate.fail_closed;
    let around = Surroundings::of(agent);
    let asked = match left_out {
        0 => Asked::read(agent, bytes, &around),
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
    let spending = Spending::read(agent, bytes, &around);
    let log = context.log.clone();
    let until = Instant::now().checked_add(within);
    let budget = Judging::start("annals-budget", move || over_budget(&log, &spending));
    let policy = has_policy.then(|| {
        let (paths, secrets) = (args.gate.gate.clone(), secrets.clone());
        Judging::start("annals-gate", move || judge(&paths, &call, &secrets))
    });
    let mut unjudged = None;
    let policy = match policy.map(|judging| judging.wait(until).and_then(|judged| judged)) {
        Some(Ok(ruling)) => Some(ruling),
        Some(Err(reason)) if is_closed => Some(Ruling::failure(&reason.to_string(), secrets)),
        Some(Err(reason)) => {
            unjudged = Some(reason);
            None
        }
        None => None,
    };
    let policy = policy.map(|ruling| match is_closed {
        true => ruling.closed_for(agent),
        false => ruling,
    });
    // A budget that cannot be looked at is asked about.
    let budget = budget.wait(until);
    let budget = budget.unwrap_or_else(|reason| Some(BudgetVerdict::unknown(&reason.to_string())));
    if let Some(reason) = unjudged {
        let what = match budget {
            Some(_) => "the call is judged by budgets, and by no policy",
            None => "the call is not judged, and the agent's own settings decide",
        };
        context.output.warn(&format!("{what}: {reason}"));
    }
    Ok(match budget {
        Some(budget) => Some(Ruling::with_budget(policy, budget, agent, secrets)),
        None => policy,
    })
}

/// The verdict of the log's budgets, by the small files with the log.
fn over_budget(log: &str, spending: &Spending) -> Option<BudgetVerdict> {
    let now = Timestamp::from(annals::event_log::now());
    // A log without a place has no budgets.
    let file = LedgerFile::of(log).ok()?;
    ledger::over_budget(&file.read(), spending, now)
}

/// Work on a thread of its own, which is left alone when it takes too long.
struct Judging<T>(Result<Receiver<T>, std::io::Error>);

impl<T: Send + 'static> Judging<T> {
    fn start(name: &str, work: impl FnOnce() -> T + Send + 'static) -> Judging<T> {
        let (tell, told) = channel();
        let thread = std::thread::Builder::new().name(name.to_owned());
        let started = thread.spawn(move || {
            let _ = tell.send(work());
        });
        Judging(started.map(|_| told))
    }

    fn wait(self, until: Option<Instant>) -> Result<T, Unjudged> {
        let told = self.0.map_err(Unjudged::NoThread)?;
        let left = until.map_or(Duration::MAX, |until| {
            until.saturating_duration_since(Instant::now())
        });
        match told.recv_timeout(left) {
            Ok(done) => Ok(done),
            Err(RecvTimeoutError::Timeout) => Err(Unjudged::TooLong),
            Err(RecvTimeoutError::Disconnected) => Err(Unjudged::Failed),
        }
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
pub(in crate::commands) fn refused(reason: &str) -> CliError {
    CliError::new(ErrorClass::Usage, "gate", Ruling::cannot(reason))
}

/// The options of a gate, for the command in an agent's configuration: its files are valid, and are named wherever the
/// agent runs.
pub(super) fn options(gate: &Gate) -> Result<Vec<String>, CliError> {
    let mut options = Vec::new();
    if gate.budgets {
        options.push("--budgets".to_owned());
    }
    let (gate, is_closed) = (&gate.gate, gate.fail_closed);
    if gate.is_empty() {
        return Ok(options);
    }
    tool_policy_file::read(gate)?;
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
