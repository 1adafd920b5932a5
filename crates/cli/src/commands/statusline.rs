//! `annals statusline`: one line for the status line of Claude Code. It opens no log, and never fails: an agent shows its output
//! again and again.

use std::path::PathBuf;
use std::time::Duration;

use annals::domain::Timestamp;
use annals::projections::{CostZone, dollars_and_cents};
use annals_live::Input;
use annals_live::hook::HookAgent;
use annals_live::ledger::{
    Ledger, LedgerFile, LedgerState, Spending, SpendingSession, age_in_words,
};
use chrono::TimeDelta;
use serde::Deserialize;

use super::budget::{bar_of, percent};
use crate::context::Context;
use crate::error::CliError;

/// How long standard input is waited for.
const WAIT: Duration = Duration::from_millis(500);
/// Characters of the budget's bar.
const BAR: u64 = 8;
/// The age of the ledger from which on the line states it.
const OLD: TimeDelta = TimeDelta::minutes(10);
/// Bytes at the end of the transcript that are read: time is short.
const TRANSCRIPT: u64 = 256 * 1024;

/// The highest cost of a session that is shown as the agent's program reports it, in USD.
const MOST_USD: f64 = 1e9;

/// The fields that are used of Claude Code's JSON.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Status {
    session_id: Option<String>,
    transcript_path: Option<PathBuf>,
    cwd: Option<String>,
    workspace: Option<Workspace>,
    model: Option<Model>,
    cost: Option<Cost>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Workspace {
    current_dir: Option<String>,
    project_dir: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Model {
    id: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Cost {
    total_cost_usd: Option<f64>,
}

pub(crate) fn run(context: &mut Context) -> Result<(), CliError> {
    let input = Input::read(std::io::stdin(), WAIT);
    let line = match serde_json::from_slice::<Status>(&input.bytes) {
        Ok(status) => line(&status, &context.log),
        Err(_) => "annals: no status on standard input".to_owned(),
    };
    // A status line that is not shown is no error of the agent's.
    let _ = context.output.line(&line);
    let _ = context.output.flush();
    Ok(())
}

fn line(status: &Status, log: &str) -> String {
    let now = Timestamp::from(annals::event_log::now());
    let state = match LedgerFile::of(log) {
        Ok(file) => file.read(),
        Err(error) => return short(status, &error.to_string()),
    };
    match state {
        LedgerState::Known(ledger) => of_ledger(status, &ledger, now),
        LedgerState::Absent => short(status, "today unknown: run `annals cost`"),
        LedgerState::Unknown { reason, .. } => short(status, &format!("budgets unknown: {reason}")),
    }
}

/// The line where no ledger is known.
fn short(status: &Status, why: &str) -> String {
    let mut parts: Vec<String> = said(status)
        .map(|cost| format!("session {cost}"))
        .into_iter()
        .collect();
    parts.push(why.to_owned());
    parts.join(" · ")
}

/// The session's cost by the agent's own program.
fn said(status: &Status) -> Option<String> {
    let usd = status.cost.as_ref()?.total_cost_usd?;
    (0.0..=MOST_USD)
        .contains(&usd)
        .then(|| format!("${usd:.2}"))
}

fn of_ledger(status: &Status, ledger: &Ledger, now: Timestamp) -> String {
    let today = CostZone::Local.day_at(now);
    let spending = spending(status);
    let call = SpendingSession::of(Some(ledger), &spending, today, TRANSCRIPT);
    let mut parts = Vec::new();
    let is_of_session = status.session_id.is_some() || status.transcript_path.is_some();
    let counted = || is_of_session.then(|| dollars_and_cents(call.today().micros.into()));
    let session = said(status).or_else(counted);
    parts.extend(session.map(|cost| format!("session {cost}")));
    let mut all = ledger.of_day(today);
    all.add(call.more());
    let plus = if all.unpriced_tokens > 0 { "+" } else { "" };
    parts.push(format!(
        "today {}{plus}",
        dollars_and_cents(all.micros.into())
    ));
    let budgets = ledger.budgets.iter().filter(|it| call.is_of_budget(it));
    let (hidden, budgets): (Vec<_>, Vec<_>) =
        budgets.partition(|budget| ledger.is_hidden(budget, today));
    if !hidden.is_empty() {
        parts.push("budgets unknown: a project was removed".to_owned());
    }
    let budgets = budgets.into_iter();
    let used = budgets.map(|budget| (budget, call.used(budget, ledger).micros));
    // The budget of which the greatest part is used.
    let most = used.max_by_key(|(budget, used)| {
        u128::from(*used) * 1_000_000 / u128::from(budget.limit_micros.max(1))
    });
    if let Some((budget, used)) = most {
        let bar = bar_of(used, budget.limit_micros, BAR);
        let percent = percent(used, budget.limit_micros);
        parts.push(format!("${budget} {bar} {percent}"));
    }
    match ledger.age(now) {
        Some(age) if age < OLD => {}
        Some(age) => parts.push(format!("counted {} ago", age_in_words(age))),
        None => parts.push("counted in the future".to_owned()),
    }
    parts.join(" · ")
}

fn spending(status: &Status) -> Spending {
    let workspace = status.workspace.as_ref();
    let folders = [
        workspace
            .and_then(|it| it.current_dir.clone())
            .or_else(|| status.cwd.clone()),
        workspace.and_then(|it| it.project_dir.clone()),
    ];
    Spending::new(HookAgent::Claude)
        .with_session(status.session_id.clone())
        .with_folders(folders.into_iter().flatten().collect())
        .with_model(status.model.as_ref().and_then(|model| model.id.clone()))
        .with_transcript(status.transcript_path.clone())
}
