//! `settings.budget_set`, version 1 to 2: budgets had no numbers.

use annals_domain::settings::{BudgetPeriod, BudgetSet, OverBudget};
use serde::Deserialize;

use super::Step;

/// The shape of version 1.
#[derive(Deserialize)]
pub(super) struct BudgetSetV1 {
    project: Option<String>,
    period: BudgetPeriod,
    limit_micros: u64,
    then: OverBudget,
}

pub(super) const STEP: Step<BudgetSetV1, BudgetSet> =
    Step::new("settings.budget_set", 1, |old| BudgetSet {
        project: old.project,
        period: old.period,
        limit_micros: old.limit_micros,
        then: old.then,
        number: 0,
    });
