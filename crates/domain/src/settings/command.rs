//! What can be asked of the settings.

use derive_new::new;
use derive_setters::Setters;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BudgetPeriod, OverBudget, Setting};

/// Sets a setting of the log. It holds for decisions from now on: what was
/// decided before stays. A value that checks less than the one before it is a person's to set.
/// All but `review.max_retries` say how approvals are given, and are otherwise a person's to set, or
/// the infrastructure's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct SetSetting {
    /// Which one.
    pub setting: Setting,
    /// Its value: of `autonomy.threshold` none, low, med or high; of
    /// `autonomy.trust_classifier` and `approval.own_requests` true or false; of `review.max_retries`
    /// 0 to 100; of `gate.clock_skew` 0 to 86400 seconds; of `classification.unknown_type` feature, refactor, fix, test or audit.
    #[new(into)]
    pub value: String,
}

/// Sets the budget of a project, or of all projects together, for each day, week or month. It takes the place of the one before it.
/// Only a person sets a budget. With a gate installed, a tool call over it is denied, or a person is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new, Setters)]
#[setters(prefix = "with_", into)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct SetBudget {
    /// The amount in millionths of a USD, from 1 to 1,000,000,000,000,000.
    #[setters(skip)]
    pub limit_micros: u64,
    /// The period.
    #[setters(skip)]
    pub period: BudgetPeriod,
    /// The project, by its absolute path or by the last part of that; left out, all projects together.
    #[new(default)]
    #[serde(default)]
    pub project: Option<String>,
    /// The verdict on a tool call once the amount is used; left out, a person is asked.
    #[new(default)]
    #[serde(default)]
    pub then: Option<OverBudget>,
}

/// Removes the budget of a project, or of all projects together. Only a person removes one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new, Setters)]
#[setters(prefix = "with_", into)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct RemoveBudget {
    /// The period.
    #[setters(skip)]
    pub period: BudgetPeriod,
    /// The project, as it was given when the budget was set; left out, the budget of all projects.
    #[new(default)]
    #[serde(default)]
    pub project: Option<String>,
}
