//! The use of budgets, as `annals budget` counts it.

use annals::OverviewCost;
use annals::domain::settings::{Budget, BudgetPeriod};
use annals::projections::{REMOVED_PROJECT, project_label};
use chrono::NaiveDate;
use maud::{Markup, html};

use crate::figures::{counted, money};
use crate::foreign;

/// Budgets that are named below the most used one.
const NAMED: usize = 2;

/// A budget with the part of it that is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BudgetUse {
    /// The project, by its path or its name; `None` for all projects.
    project: Option<String>,
    period: BudgetPeriod,
    limit_micros: u128,
    used_micros: u128,
    /// Tokens without a price, whose cost is not known.
    unpriced_tokens: u128,
    /// The use is not known: the name of a project was removed.
    is_hidden: bool,
}

impl BudgetUse {
    /// The budgets with their use up to today, the most used one first.
    pub(super) fn all(
        budgets: &[Budget],
        costs: &[OverviewCost],
        today: NaiveDate,
    ) -> Vec<BudgetUse> {
        let of = |budget: &Budget| {
            let first = budget.period.first_day(today);
            let counts = |cost: &&OverviewCost| {
                (first..=today).contains(&cost.day)
                    && match &cost.project {
                        Some(project) => budget.has(project),
                        None => budget.project.is_none(),
                    }
            };
            let is_hidden = |cost: &OverviewCost| {
                (first..=today).contains(&cost.day)
                    && cost.project.as_deref() == Some(REMOVED_PROJECT)
            };
            let is_hidden = budget.is_of_removed_project()
                || budget.project.is_some() && costs.iter().any(is_hidden);
            let sums = || costs.iter().filter(counts).map(|cost| &cost.sums);
            BudgetUse {
                project: budget.project.clone(),
                period: budget.period,
                limit_micros: budget.limit_micros.into(),
                used_micros: sums().fold(0, |sum, it| sum.saturating_add(it.computed_micros)),
                is_hidden,
                unpriced_tokens: sums().fold(0, |sum, it| sum.saturating_add(it.unpriced_tokens)),
            }
        };
        let mut all: Vec<BudgetUse> = budgets.iter().map(of).collect();
        all.sort_by_key(|budget| std::cmp::Reverse(budget.share()));
        all
    }

    /// The first day of all periods that a day is in.
    pub(super) fn first_day(today: NaiveDate) -> NaiveDate {
        let firsts = BudgetPeriod::ALL.iter().map(|it| it.first_day(today));
        firsts.min().unwrap_or(today)
    }

    /// The used part in millionths.
    fn share(&self) -> u128 {
        self.used_micros.saturating_mul(1_000_000) / self.limit_micros.max(1)
    }

    /// The used part in percent, rounded down: 100 is used up.
    fn percent(&self) -> u128 {
        self.share() / 10_000
    }

    fn is_over(&self) -> bool {
        self.used_micros >= self.limit_micros
    }

    /// The amount of a daily budget of all projects.
    pub(super) fn daily(all: &[BudgetUse]) -> Option<u128> {
        let is_it = |it: &&BudgetUse| it.project.is_none() && it.period == BudgetPeriod::Day;
        all.iter().find(is_it).map(|it| it.limit_micros)
    }

    /// The project's label, or "all projects".
    fn whose(&self) -> String {
        let project = self.project.as_deref();
        project.map_or_else(
            || "all projects".to_owned(),
            |path| foreign::one_line(project_label(path), 40),
        )
    }

    fn period_in_words(&self) -> &'static str {
        match self.period {
            BudgetPeriod::Day => "today",
            BudgetPeriod::Week => "this week",
            BudgetPeriod::Month => "this month",
        }
    }
}

/// Draws the card: the most used budget, and the names of others; the command that sets one if there is none.
pub(super) fn draw(budgets: &[BudgetUse]) -> Markup {
    let Some(budget) = budgets.first() else {
        return html! {
            div.box.card.wide { h2 { "Budget" } p { "No budget" } p { code { "annals budget set 20/day" } } }
        };
    };
    let others = budgets.len().saturating_sub(1 + NAMED);
    html! {
        div.box.card.wide.over[budget.is_over()] {
            h2 title=[budget.project.as_deref()] { "Budget, " (foreign::text(&budget.whose())) (over(budget)) }
            @if !budget.is_hidden { (meter(budget)) }
            p { (used(budget)) }
            @for other in budgets.iter().skip(1).take(NAMED) {
                p { (used(other)) ", " (foreign::text(&other.whose())) (over(other)) }
            }
            @if others > 0 { p { "And " (counted(others as u64, "budget", "budgets")) ": " code { "annals budget" } } }
        }
    }
}

/// A badge, if the amount is used up.
fn over(budget: &BudgetUse) -> Markup {
    html! { @if budget.is_over() { " " span.badge.bad { "over budget" } } }
}

/// The used part as a bar.
fn meter(budget: &BudgetUse) -> Markup {
    let tenths = (budget.share() / 1_000).min(1_000);
    let width = format!("{}.{}", tenths / 10, tenths % 10);
    html! {
        svg.meter viewBox="0 0 100 6" preserveAspectRatio="none" role="img" aria-label={ (budget.percent()) " percent used" } {
            rect.track width="100" height="6" {}
            rect.fill width=(width) height="6" {}
        }
    }
}

/// The used part in words.
fn used(budget: &BudgetUse) -> Markup {
    if budget.is_hidden {
        return html! { "Use of " (money(budget.limit_micros)) " not known: the name of a project was removed" };
    }
    html! {
        strong.num { (budget.percent()) " %" } " of " (money(budget.limit_micros)) " used " (budget.period_in_words())
        @if budget.unpriced_tokens > 0 { ", without tokens that have no price" }
    }
}
