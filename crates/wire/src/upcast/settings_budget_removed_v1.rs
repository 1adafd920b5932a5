//! `settings.budget_removed`, version 1 to 2: budgets had no numbers.

use annals_domain::settings::{BudgetPeriod, BudgetRemoved};
use serde::Deserialize;

use super::Step;

/// The shape of version 1.
#[derive(Deserialize)]
pub(super) struct BudgetRemovedV1 {
    project: Option<String>,
    period: BudgetPeriod,
}

pub(super) const STEP: Step<BudgetRemovedV1, BudgetRemoved> =
    Step::new("settings.budget_removed", 1, |old| BudgetRemoved {
        project: old.project,
        period: old.period,
        number: 0,
    });
