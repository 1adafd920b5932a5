//! `annals budget`: budgets, their use, and how they are set.

use std::path::Path;

use annals::domain::Timestamp;
use annals::domain::settings::{Budget, BudgetPeriod, RemoveBudget, SetBudget};
use annals::projections::{CostZone, dollars_and_cents};
use annals::{Annals, Request};
use annals_live::ledger::{Ledger, LedgerDue, project_of};
use chrono::NaiveDate;
use serde_json::json;

use crate::cli::{self, BudgetAction};
use crate::commands::recording::enforces_budgets;
use crate::context::Context;
use crate::error::{CliError, ErrorClass};
use crate::output::{Column, Output, Rows};

/// Characters of a bar.
const BAR: u64 = 20;

pub(crate) async fn run(args: &cli::Budget, context: &mut Context) -> Result<(), CliError> {
    match &args.action {
        None => {
            let annals = context.reader_of_rows().await?;
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
            let actor = args.who.decider(&context.output)?;
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
            let annals = context.reader_of_rows().await?;
            let budgets = annals.inbox().settings().await?.budgets;
            annals.close().await;
            only_period(&budgets, project.as_deref())?
        }
    };
    let command = RemoveBudget::new(period).with_project(project);
    let actor = args.who.decider(&context.output)?;
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
            let is_known = !ledger.is_hidden(budget, today);
            let known = |micros: u64| is_known.then_some(micros);
            output.json(&json!({
                "name": budget.to_string(),
                "project": budget.project,
                "period": budget.period,
                "limit_micros": budget.limit_micros,
                "then": budget.then,
                "used_micros": known(used.micros),
                "unpriced_tokens": known(used.unpriced_tokens),
                "left_micros": known(budget.limit_micros.saturating_sub(used.micros)),
            }))
        });
    }
    if ledger.budgets.is_empty() {
        return output.line("No budgets. `annals budget set 20/day` sets one.");
    }
    let rows = ledger.budgets.iter().map(|it| row(it, ledger, today));
    let columns = [
        Column::left("BUDGET", 12),
        Column::right("USED", 8),
        Column::right("LEFT", 8),
        Column::left("THEN", 4),
        Column::left("", 1),
    ];
    Rows::new(columns).print(output, rows)?;
    match enforces_budgets() {
        true => Ok(()),
        false => output.line("not enforced: `annals record on --budgets`"),
    }
}

/// The rest of a budget, or the amount by which it is exceeded.
fn left(used: u64, limit: u64) -> String {
    match used.checked_sub(limit) {
        Some(over) if over > 0 => format!("over by {}", dollars_and_cents(over.into())),
        _ => dollars_and_cents(limit.saturating_sub(used).into()),
    }
}

/// The row of a budget.
fn row(budget: &Budget, ledger: &Ledger, today: NaiveDate) -> [String; 5] {
    let money = |micros: u64| dollars_and_cents(micros.into());
    let used = ledger.used(budget, today);
    let plus = if used.unpriced_tokens > 0 { "+" } else { "" };
    let [used, left, part] = match ledger.is_hidden(budget, today) {
        true => [
            "unknown".to_owned(),
            "unknown".to_owned(),
            "a project was removed".to_owned(),
        ],
        false => [
            format!("{}{plus}", money(used.micros)),
            left(used.micros, budget.limit_micros),
            format!(
                "{} {}",
                bar(used.micros, budget.limit_micros),
                percent(used.micros, budget.limit_micros)
            ),
        ],
    };
    let name = format!("${budget}");
    [name, used, left, budget.then.to_string(), part]
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
            number: 0,
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
