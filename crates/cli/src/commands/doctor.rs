//! `annals doctor`: what is wrong with a log, and what to do about it.

mod files;
mod histories;
mod opened;
mod spool;

use std::path::Path;

use annals::LogUrl;
use annals::store_rocks::{Options, PutBackReport, RocksLog, TruncateReport};
use annals::store_shared::check_owner;
use serde_json::{Value, json};

use crate::cli::Doctor;
use crate::context::Context;
use crate::error::{CliError, KeepingError};
use crate::output::{Output, Style};

/// What was looked at, and how it is.
struct Check {
    name: &'static str,
    state: State,
    what: String,
    /// What to do about it.
    remedy: Option<String>,
}

/// How something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Ok,
    /// Worth knowing, and no problem.
    Note,
    /// Something keeps the log from being used as it should be.
    Problem,
    /// Something stored is damaged or missing: a problem, too.
    Corrupt,
}

impl State {
    fn word(self) -> &'static str {
        match self {
            State::Ok => "ok",
            State::Note => "note",
            State::Problem | State::Corrupt => "problem",
        }
    }

    fn is_problem(self) -> bool {
        matches!(self, State::Problem | State::Corrupt)
    }
}

impl Check {
    fn new(name: &'static str, state: State, what: impl Into<String>) -> Check {
        Check {
            name,
            state,
            what: what.into(),
            remedy: None,
        }
    }

    fn remedy(self, remedy: impl Into<String>) -> Check {
        Check {
            remedy: Some(remedy.into()),
            ..self
        }
    }

    /// What an error is that a command ended with.
    fn of(name: &'static str, error: &CliError) -> Check {
        let state = match error.is_corrupt() {
            true => State::Corrupt,
            false => State::Problem,
        };
        Check::new(name, state, error.to_string())
    }
}

pub(crate) async fn run(args: &Doctor, context: &mut Context) -> Result<(), CliError> {
    let url = context.log.parse();
    let url: LogUrl = url.map_err(|error| CliError::open(&context.log, error))?;
    let path = match url {
        LogUrl::Rocks(path) => path,
        LogUrl::Postgres(_) => {
            let checks = opened::checks(context, false, false).await;
            return report(checks, context);
        }
        LogUrl::Memory => return Err(CliError::in_memory()),
    };
    context.own_files();
    if args.truncate_tail || args.put_back.is_some() {
        check_owner(&path)?;
    }
    if args.truncate_tail {
        let options = Options::default().with_named_removals(annals::named_removals);
        let truncated = RocksLog::truncate_tail(&path, &options);
        let report = truncated?;
        return truncated_tail(&report, &mut context.output);
    }
    if let Some(aside) = &args.put_back {
        let report = RocksLog::put_back(&path, aside);
        let report = report?;
        return put_back(&report, &path, &mut context.output);
    }
    let examined = RocksLog::examine(&path);
    let mut checks = files::checks(&path, &examined);
    if examined.identity.is_ok() {
        let is_damaged = checks.iter().any(|check| check.state == State::Corrupt);
        checks.extend(opened::checks(context, args.deep, is_damaged).await);
        checks.extend(spool::checks(&context.log, &path));
        checks.extend(spool::imports(context));
    }
    report(checks, context)
}

/// Prints what was found; an error, where something is wrong.
fn report(mut checks: Vec<Check>, context: &mut Context) -> Result<(), CliError> {
    checks.extend(histories::checks());
    print(&checks, &mut context.output)?;
    let problems = checks.iter().filter(|check| check.state.is_problem());
    match problems.count() as u64 {
        0 => Ok(()),
        problems => {
            context.output.flush()?;
            let corrupt = checks.iter().any(|check| check.state == State::Corrupt);
            let error = KeepingError::Unwell { problems, corrupt };
            Err(error.into())
        }
    }
}

fn print(checks: &[Check], output: &mut Output) -> Result<(), CliError> {
    if output.is_json() {
        let ok = !checks.iter().any(|check| check.state.is_problem());
        let checks: Vec<Value> = checks.iter().map(check_json).collect();
        return output.json(&json!({ "ok": ok, "checks": checks }));
    }
    for check in checks {
        let head = format!("{:<8} {:<11} ", check.state.word(), check.name);
        let head = match check.state {
            State::Problem | State::Corrupt => output.style(Style::Bold, &head),
            State::Ok | State::Note => output.style(Style::Dim, &head),
        };
        output.line(&format!("{head}{}", check.what))?;
        if let Some(remedy) = &check.remedy {
            output.line(&format!("{:21}-> {remedy}", ""))?;
        }
    }
    Ok(())
}

fn check_json(check: &Check) -> Value {
    json!({
        "check": check.name,
        "state": check.state.word(),
        "corrupt": check.state == State::Corrupt,
        "what": check.what,
        "remedy": check.remedy,
    })
}

fn truncated_tail(report: &TruncateReport, output: &mut Output) -> Result<(), CliError> {
    let TruncateReport {
        last,
        acknowledged,
        removed,
    } = report;
    if output.is_json() {
        return output.json(&json!({
            "position": last.0,
            "acknowledged": acknowledged.0,
            "removed": removed.is_some(),
            "damage": removed.as_ref().map(|removed| &removed.damage),
            "aside": removed.as_ref().map(|removed| &removed.aside),
        }));
    }
    let Some(removed) = removed else {
        return output.line(&format!(
            "nothing was removed: the log can be read to its end at position {last}"
        ));
    };
    output.line(&format!(
        "removed what could not be read behind position {last}; everything up to {acknowledged} was \
         acknowledged"
    ))?;
    output.line(&format!(
        "the log as it was is in {0}; `annals doctor --put-back {0}` puts it back",
        removed.aside.display()
    ))
}

fn put_back(report: &PutBackReport, path: &Path, output: &mut Output) -> Result<(), CliError> {
    if output.is_json() {
        return output.json(&json!({ "path": path, "replaced": report.replaced }));
    }
    output.line(&format!("put the log back to {}", path.display()))?;
    match &report.replaced {
        None => Ok(()),
        Some(replaced) => output.line(&format!(
            "what was in its place is in {}; keep it until `annals proof verify` calls the log sound and nothing is missed",
            replaced.display()
        )),
    }
}
