//! Arguments of `budget` and `statusline`.

use annals::domain::settings::{BudgetPeriod, OverBudget};
use annals::projections::parse_amount;
use clap::{Args, Subcommand};

use super::Who;

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
A budget is an amount in USD for each local day, week or month, of one project or of all together. Costs are list prices, \
as in `annals cost`. Gates enforce budgets: with `annals record on --budgets`, a tool call over budget is denied, or a \
person is asked. So is a call whose cost or budget use is not known. docs/costs.md has the limits.

Examples:
  annals budget                              budgets and their use
  annals budget set 20/day --project shop
  annals budget set 300/month --then deny    all projects together
  annals budget remove --project shop"
)]
pub(crate) struct Budget {
    #[command(subcommand)]
    pub(crate) action: Option<BudgetAction>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum BudgetAction {
    /// Set a budget
    Set(SetBudget),
    /// Remove a budget
    Remove(RemoveBudget),
}

#[derive(Debug, Args)]
#[command(after_help = "\
A path stands for all projects below it, a name for all projects whose path ends with it. Only a person sets a budget; an \
agent is refused.

Examples:
  annals budget set 20/day --project shop
  annals budget set 20/day --project .       the repository of this folder
  annals budget set 2.50/day --project /work/shop --then deny")]
pub(crate) struct SetBudget {
    /// The amount in USD and the period: day, week or month
    #[arg(value_name = "AMOUNT/PERIOD", value_parser = limit)]
    pub(crate) limit: BudgetLimit,
    /// The project's name or path [default: all projects together]
    #[arg(long, value_name = "NAME|PATH")]
    pub(crate) project: Option<String>,
    /// The verdict on a tool call over budget: ask or deny
    #[arg(long, value_name = "VERDICT", default_value = "ask")]
    pub(crate) then: OverBudget,
    #[command(flatten)]
    pub(crate) who: Who,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  annals budget remove --project shop
  annals budget remove --period week")]
pub(crate) struct RemoveBudget {
    /// The project's name or path, as `annals budget` lists it [default: the budget of all projects]
    #[arg(long, value_name = "NAME|PATH")]
    pub(crate) project: Option<String>,
    /// The period, if the project has several budgets
    #[arg(long, value_name = "PERIOD")]
    pub(crate) period: Option<BudgetPeriod>,
    #[command(flatten)]
    pub(crate) who: Who,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Reads the JSON that Claude Code writes to the command of its status line, and prints one line: the session's cost, today's \
cost, and the budget with the highest use. It opens no log, and its exit status is always 0.

In ~/.claude/settings.json:
  {\"statusLine\": {\"type\": \"command\", \"command\": \"annals statusline\"}}

Examples:
  annals statusline < status.json")]
pub(crate) struct Statusline {}

/// An amount for each period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BudgetLimit {
    pub(crate) micros: u64,
    pub(crate) period: BudgetPeriod,
}

/// Reads `20/day`, `2.50/week` or `$300/month`.
fn limit(text: &str) -> Result<BudgetLimit, String> {
    let expected = "expected an amount in USD and a period, such as 20/day, 2.50/week or 300/month";
    let (amount, period) = text.split_once('/').ok_or(expected)?;
    let amount = amount.trim().trim_start_matches('$');
    let micros = parse_amount(amount).ok_or(expected)?;
    if micros == 0 {
        return Err("expected an amount of more than 0".to_owned());
    }
    let period: Option<BudgetPeriod> = period.trim().parse().ok();
    let period = period.ok_or("expected the period day, week or month")?;
    Ok(BudgetLimit { micros, period })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_an_amount_and_a_period() {
        let read = |text: &str| limit(text).map(|it| (it.micros, it.period)).ok();
        assert_eq!(read("20/day"), Some((20_000_000, BudgetPeriod::Day)));
        assert_eq!(read("$2.5/week"), Some((2_500_000, BudgetPeriod::Week)));
        assert_eq!(read("0.000001/month"), Some((1, BudgetPeriod::Month)));
        for text in [
            "",
            "20",
            "/day",
            "20/",
            "20/year",
            "0/day",
            "-1/day",
            "1e3/day",
            "1.0000001/day",
            ".5/day",
            "1./day",
            "99999999999999999999/day",
            "20 EUR/day",
            "NaN/day",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
