//! Budgets: how much agents' work may cost in a day, a week or a month.

use std::fmt;

use chrono::{Datelike as _, Days, NaiveDate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::codes::coded_enum;
use crate::is_removed_name;

coded_enum! {
    /// The period of a budget, by the days of the time zone of the person who looks at it.
    pub enum BudgetPeriod called "period" {
        /// A day, from midnight on.
        Day = 1 => "day",
        /// A week, from Monday on.
        Week = 2 => "week",
        /// A month, from its first day on.
        Month = 3 => "month",
    }
}

coded_enum! {
    /// The verdict of a gate on a tool call once a budget is used up.
    pub enum OverBudget called "verdict" {
        /// A person decides on each call.
        Ask = 1 => "ask",
        /// Each call is denied.
        Deny = 2 => "deny",
    }
}

impl BudgetPeriod {
    /// Returns the first day of the period that a day is in.
    ///
    /// ```
    /// use annals_domain::settings::BudgetPeriod;
    /// let sunday = chrono::NaiveDate::from_ymd_opt(2026, 11, 29).unwrap();
    /// assert_eq!(BudgetPeriod::Day.first_day(sunday).to_string(), "2026-11-29");
    /// assert_eq!(BudgetPeriod::Week.first_day(sunday).to_string(), "2026-11-23");
    /// assert_eq!(BudgetPeriod::Month.first_day(sunday).to_string(), "2026-11-01");
    /// ```
    pub fn first_day(self, day: NaiveDate) -> NaiveDate {
        let before = match self {
            BudgetPeriod::Day => 0,
            BudgetPeriod::Week => u64::from(day.weekday().num_days_from_monday()),
            BudgetPeriod::Month => u64::from(day.day0()),
        };
        day.checked_sub_days(Days::new(before)).unwrap_or(day)
    }
}

/// A budget that holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Budget {
    /// The project, by its path or by the last part of that; `None` for all projects together.
    pub project: Option<String>,
    /// The period.
    pub period: BudgetPeriod,
    /// The amount in millionths of a USD.
    pub limit_micros: u64,
    /// The verdict on a tool call once the amount is used.
    pub then: OverBudget,
    /// The number by which events name it, from 1; 0 for one that has none. It identifies a budget whose project was removed.
    #[serde(default)]
    pub number: u32,
}

impl Budget {
    /// Returns `true` if the name of the project was removed from the log. Such a budget may be that of any project.
    pub fn is_of_removed_project(&self) -> bool {
        self.project.as_deref().is_some_and(is_removed_name)
    }

    /// Returns `true` if this is the budget of a project, or of all, in such a period: a log has one of each.
    pub fn is_of(&self, project: Option<&str>, period: BudgetPeriod) -> bool {
        self.period == period && self.project.as_deref() == project
    }

    /// Returns `true` if the budget counts what a project cost. A path has all projects within it, a name those whose path ends
    /// with it.
    ///
    /// ```
    /// use annals_domain::settings::{Budget, BudgetPeriod, OverBudget};
    /// let budget = |project: &str| Budget {
    ///     project: Some(project.to_owned()),
    ///     period: BudgetPeriod::Day,
    ///     limit_micros: 20_000_000,
    ///     then: OverBudget::Ask,
    ///     number: 1,
    /// };
    /// assert!(budget("shop").has("/home/ann/shop"));
    /// assert!(!budget("shop").has("/home/ann/shop/web"));
    /// assert!(budget("/home/ann/shop").has("/home/ann/shop/web"));
    /// assert!(!budget("/home/ann/shop").has("/home/ann/shop2"));
    /// ```
    pub fn has(&self, project: &str) -> bool {
        let Some(own) = &self.project else {
            return true;
        };
        let project = project.trim_end_matches(['/', '\\']);
        if !own.contains(['/', '\\']) {
            return project.rsplit(['/', '\\']).next() == Some(own.as_str());
        }
        let own = own.trim_end_matches(['/', '\\']);
        let rest = project.strip_prefix(own);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '\\']))
    }
}

/// The name of a budget, in the form in which it is set: `20/day for shop`.
impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, part) = (self.limit_micros / 1_000_000, self.limit_micros % 1_000_000);
        write!(f, "{whole}")?;
        if part > 0 {
            // Cents have two digits.
            let part = format!("{part:06}");
            let (cents, rest) = part.split_at(2);
            write!(f, ".{cents}{}", rest.trim_end_matches('0'))?;
        }
        write!(f, "/{}", self.period)?;
        match &self.project {
            Some(project) => write!(f, " for {project}"),
            None => Ok(()),
        }
    }
}
