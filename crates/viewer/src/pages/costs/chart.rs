//! Costs by day as bars beside each other, a bar a day, with the days on which nothing was used.

use annals::projections::{CostAxis, CostReport, amount_of_money};
use chrono::{NaiveDate, TimeDelta};
use maud::{Markup, html};
use schemars::JsonSchema;
use serde::Serialize;

use crate::html::grouped;

/// Days that are drawn, the newest.
const DAYS: i64 = 92;
/// Days that are drawn at least.
const FEWEST: i64 = 14;
/// The height of the highest bar.
const HEIGHT: f64 = 96.0;

/// What the newest days cost, those left out on which nothing was used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct DayCosts {
    /// The currency of what was computed.
    currency: String,
    /// The days, the oldest first, in UTC.
    days: Vec<Day>,
}

/// What one day cost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
struct Day {
    /// The day.
    day: String,
    /// What its tokens cost by the table of prices, in millionths of its currency.
    computed_micros: u64,
    /// How many tokens were used.
    total_tokens: u64,
    #[serde(skip)]
    date: NaiveDate,
}

impl DayCosts {
    /// The days of a report; none of one that is not by day alone.
    pub(crate) fn of(report: &CostReport) -> DayCosts {
        let is_by_day = report.by == [CostAxis::Day];
        DayCosts {
            currency: report.currency.clone(),
            days: if is_by_day { days(report) } else { Vec::new() },
        }
    }

    /// Whether a picture says more than the numbers.
    pub(crate) fn is_worth_drawing(&self) -> bool {
        self.days.len() > 1
    }
}

fn days(report: &CostReport) -> Vec<Day> {
    let day = |row: &annals::projections::CostRow| {
        let day = row.by.first()?.value.clone()?;
        Some(Day {
            date: day.parse().ok()?,
            day,
            computed_micros: u64::try_from(row.sums.computed_micros).unwrap_or(u64::MAX),
            total_tokens: u64::try_from(row.sums.used.tokens.total()).unwrap_or(u64::MAX),
        })
    };
    let days: Vec<Day> = report.rows.iter().filter_map(day).collect();
    let Some(last) = days.last().map(|day| day.date) else {
        return days;
    };
    let is_near = |day: &Day| (last - day.date).num_days() < DAYS;
    days.into_iter().filter(is_near).collect()
}

/// The bars, which lead to what the day was spent on.
pub(crate) fn chart(costs: &DayCosts) -> Markup {
    let (days, currency) = (&costs.days, &costs.currency);
    let (Some(first), Some(last)) = (days.first(), days.last()) else {
        return html! {};
    };
    // A few days are not drawn as wide as many: days before them are drawn, too.
    let all = (last.date - first.date).num_days().max(FEWEST - 1) + 1;
    let begins = last.date - TimeDelta::days(all - 1);
    let has_prices = days.iter().any(|day| day.computed_micros > 0);
    let amount = |day: &Day| match has_prices {
        true => day.computed_micros,
        false => day.total_tokens,
    };
    let most = days.iter().map(amount).max().unwrap_or(1).max(1);
    let words = |day: &Day| match has_prices {
        true => amount_of_money(day.computed_micros.into(), currency),
        false => format!("{} tokens", grouped(day.total_tokens)),
    };
    let bar = |day: &Day| {
        let at = (day.date - begins).num_days();
        let height = share(amount(day), most) * HEIGHT;
        let height = if amount(day) > 0 {
            height.max(2.0)
        } else {
            0.0
        };
        let said = format!("{}: {}", day.day, words(day));
        html! {
            a href=(format!("/costs?by=model&since={0}&until={0}", day.day)) aria-label=(said) {
                rect.bar.shown x=(percent(at, all)) width=(width(all)) y=(format!("{:.1}", HEIGHT - height))
                    height=(format!("{height:.1}")) rx="2" { title { (said) } }
            }
        }
    };
    let highest = days.iter().max_by_key(|day| amount(day));
    html! {
        figure.chart {
            svg.days width="100%" height=(HEIGHT) role="group" aria-label="Costs by day" {
                line.tick x1="0" x2="100%" y1=(HEIGHT) y2=(HEIGHT) {}
                @for day in days { (bar(day)) }
            }
            figcaption { span { (begins) } @if let Some(highest) = highest { span { "most: " (words(highest)) " on " (highest.day) } }
                span { (last.day) } }
        }
    }
}

#[allow(clippy::cast_precision_loss, reason = "places on a screen")]
fn share(part: u64, whole: u64) -> f64 {
    part as f64 / whole as f64
}

#[allow(clippy::cast_precision_loss, reason = "places on a screen")]
fn percent(at: i64, all: i64) -> String {
    format!("{:.3}%", at as f64 / all as f64 * 100.0)
}

#[allow(clippy::cast_precision_loss, reason = "places on a screen")]
fn width(all: i64) -> String {
    format!("{:.3}%", 78.0 / all as f64)
}
