//! `annals budget`: budgets, their use, and how they are set.

use std::path::Path;

use annals::domain::settings::{Budget, BudgetPeriod, RemoveBudget, SetBudget};
use annals::domain::{ActorRef, Timestamp};
use annals::projections::{CostZone, amount_of_money};
use annals::{Annals, Request};
use annals_live::ledger::{Ledger, LedgerDue, project_of};
use serde_json::json;

use crate::cli::{self, BudgetAction, Who};
use crate::context::Context;
use crate::error::{CliError, ErrorClass};
use crate::output::{Column, Output, Rows};

/// Characters of a bar.
const BAR: u64 = 20;

/// Variables that agents set for the commands that they run, each with the agent.
const AGENTS: [(&str, &str); 5] = [
    ("CLAUDECODE", "claude-code"),
    ("CODEX_SANDBOX", "codex"),
    ("CODEX_THREAD_ID", "codex"),
    ("CURSOR_AGENT", "cursor"),
    ("GEMINI_CLI", "gemini-cli"),
];

pub(crate) async fn run(args: &cli::Budget, context: &mut Context) -> Result<(), CliError> {
    match &args.action {
        None => {
            let annals = context.reader()?;
            // Others may read the log without being allowed to write beside it.
            let ledger = match context.keep_ledger(&annals, LedgerDue::Now).await {
                Some(ledger) => ledger,
                None => Ledger::of(&annals, now()).await?,
            };
            show(&ledger, &mut context.output)
        }
        Some(BudgetAction::Set(args)) => {
            let project = args.project.as_deref().map(project).transpose()?;
            let command = SetBudget::new(args.limit.micros, args.limit.period)
                .with_project(project)
                .with_then(args.then);
            let actor = actor(&args.who, &context.output)?;
            change(Request::new(actor, command), context).await
        }
        Some(BudgetAction::Remove(args)) => remove(args, context).await,
    }
}

async fn remove(args: &cli::RemoveBudget, context: &mut Context) -> Result<(), CliError> {
    let project = args.project.as_deref().map(project).transpose()?;
    let period = match args.period {
        Some(period) => period,
        None => {
            let annals = context.reader()?;
            let budgets = annals.inbox().settings().await?.budgets;
            annals.close().await;
            only_period(&budgets, project.as_deref())?
        }
    };
    let command = RemoveBudget::new(period).with_project(project);
    let actor = actor(&args.who, &context.output)?;
    change(Request::new(actor, command), context).await
}

/// The period of a project's only budget.
fn only_period(budgets: &[Budget], project: Option<&str>) -> Result<BudgetPeriod, CliError> {
    let of_project = budgets.iter().filter(|it| it.project.as_deref() == project);
    let periods: Vec<BudgetPeriod> = of_project.map(|it| it.period).collect();
    let whose = project.unwrap_or("all projects");
    match periods.as_slice() {
        [only] => Ok(*only),
        [] => {
            let error = CliError::new(
                ErrorClass::NotFound,
                "not_found",
                format!("{whose}: no such budget"),
            );
            Err(error.hint("`annals budget` lists the budgets"))
        }
        _ => {
            let message = format!("{whose}: more than one budget");
            let error = CliError::new(ErrorClass::Usage, "usage", message);
            Err(error.hint("name the period: --period day, week or month"))
        }
    }
}

/// Executes a command on the budgets, and shows them.
async fn change(request: Request, context: &mut Context) -> Result<(), CliError> {
    let annals = context.writer()?;
    let changed = changed(&annals, request, context).await;
    annals.close().await;
    changed
}

async fn changed(annals: &Annals, request: Request, context: &mut Context) -> Result<(), CliError> {
    annals.execute(request).await?;
    let ledger = context.ledger_file()?;
    // Without it no gate would hold the budget.
    let ledger = Ledger::keep(annals, &ledger, LedgerDue::Now).await?;
    match ledger {
        Some(ledger) => show(&ledger, &mut context.output),
        None => Ok(()),
    }
}

/// The actor that was given, the agent that runs this program, or the person.
fn actor(who: &Who, output: &Output) -> Result<ActorRef, CliError> {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let agent = AGENTS.iter().find(|(variable, _)| is_set(variable));
    match (&who.actor, agent) {
        (None, Some((_, agent))) => Ok(ActorRef::agent(*agent)),
        _ => who.actor(output),
    }
}

/// The project that was named: a name as it is, a path as that of its repository.
fn project(named: &str) -> Result<String, CliError> {
    let is_path = named.contains(['/', '\\']) || matches!(named, "." | "..");
    if !is_path {
        return Ok(named.to_owned());
    }
    let path =
        std::path::absolute(named).map_err(|error| CliError::input(Path::new(named), error))?;
    Ok(project_of(&path))
}

fn now() -> Timestamp {
    Timestamp::from(annals::event_log::now())
}

fn show(ledger: &Ledger, output: &mut Output) -> Result<(), CliError> {
    let today = CostZone::Local.day_at(now());
    if output.is_json() {
        return ledger.budgets.iter().try_for_each(|budget| {
            let used = ledger.used(budget, today);
            output.json(&json!({
                "name": budget.to_string(),
                "project": budget.project,
                "period": budget.period,
                "limit_micros": budget.limit_micros,
                "then": budget.then,
                "used_micros": used.micros,
                "unpriced_tokens": used.unpriced_tokens,
                "left_micros": budget.limit_micros.saturating_sub(used.micros),
            }))
        });
    }
    if ledger.budgets.is_empty() {
        return output.line("No budgets. `annals budget set 20/day` sets one.");
    }
    let money = |micros: u64| amount_of_money(micros.into(), "USD");
    let rows = ledger.budgets.iter().map(|budget| {
        let used = ledger.used(budget, today);
        let plus = if used.unpriced_tokens > 0 { "+" } else { "" };
        [
            budget.to_string(),
            format!("{}{plus}", money(used.micros)),
            money(budget.limit_micros.saturating_sub(used.micros)),
            budget.then.to_string(),
            format!(
                "{} {}",
                bar(used.micros, budget.limit_micros),
                percent(used.micros, budget.limit_micros)
            ),
        ]
    });
    let columns = [
        Column::left("BUDGET", 12),
        Column::right("USED", 8),
        Column::right("LEFT", 8),
        Column::left("THEN", 4),
        Column::left("", 1),
    ];
    Rows::new(columns).print(output, rows)
}

/// The used part of a budget as a bar.
pub(super) fn bar(used: u64, limit: u64) -> String {
    bar_of(used, limit, BAR)
}

/// A bar of so many characters. What is used is drawn from its first part on, and as full only if all is used.
pub(super) fn bar_of(used: u64, limit: u64, width: u64) -> String {
    let full = match used {
        0 => 0,
        used if used >= limit => width,
        used => (u128::from(used) * u128::from(width) / u128::from(limit.max(1)))
            .try_into()
            .unwrap_or(width)
            .min(width.saturating_sub(1))
            .max(1),
    };
    let full = usize::try_from(full).unwrap_or_default();
    let rest = usize::try_from(width)
        .unwrap_or_default()
        .saturating_sub(full);
    format!("{}{}", "█".repeat(full), "░".repeat(rest))
}

/// The used part of a budget, rounded down: 100 % is used up.
pub(super) fn percent(used: u64, limit: u64) -> String {
    let percent = u128::from(used) * 100 / u128::from(limit.max(1));
    format!("{percent} %")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_full_if_all_is_used_and_not_before() {
        let shown = |used| bar_of(used, 1_000, 4);
        assert_eq!(shown(0), "░░░░");
        assert_eq!(shown(1), "█░░░");
        assert_eq!(shown(500), "██░░");
        assert_eq!(shown(999), "███░");
        assert_eq!(shown(1_000), "████");
        assert_eq!(shown(u64::MAX), "████");
        assert_eq!(percent(999, 1_000), "99 %");
        assert_eq!(percent(1_500, 1_000), "150 %");
    }

    #[test]
    fn a_budget_is_removed_by_its_only_period() {
        let budget = |project: Option<&str>, period| Budget {
            project: project.map(str::to_owned),
            period,
            limit_micros: 1,
            then: annals::domain::settings::OverBudget::Ask,
        };
        let all = [
            budget(None, BudgetPeriod::Day),
            budget(Some("shop"), BudgetPeriod::Week),
            budget(Some("shop"), BudgetPeriod::Day),
        ];
        assert_eq!(only_period(&all, None).ok(), Some(BudgetPeriod::Day));
        let error = only_period(&all, Some("shop")).map_err(|error| error.message());
        assert!(error.is_err_and(|message| message.contains("--period")));
        assert!(only_period(&all, Some("web")).is_err());
    }
}
