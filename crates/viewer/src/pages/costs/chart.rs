//! Costs by day as bars beside each other, a bar a day, with the days on which nothing was used.

use std::collections::BTreeMap;

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
/// The shades of the parts of a bar, and of all others.
const SHADES: [&str; 6] = ["1", "0.7", "0.48", "0.32", "0.2", "0.1"];
/// The height of the highest bar.
const HEIGHT: f64 = 96.0;

/// What the newest days cost, those left out on which nothing was used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct DayCosts {
    /// The currency of what was computed.
    currency: String,
    /// The days, the oldest first, in UTC.
    days: Vec<Day>,
    /// The names of the parts, those that cost most first.
    #[serde(skip)]
    parts: Vec<String>,
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
    /// Of a report by one more axis, what each part cost, in the order of [`DayCosts::parts`], and all others last.
    #[serde(skip)]
    parts: Vec<u64>,
}

impl DayCosts {
    /// The days of a report by day, or by day and one more axis, of which the days consist then; none of another report.
    pub(crate) fn of(report: &CostReport) -> DayCosts {
        let is_by_day = report.by.first() == Some(&CostAxis::Day) && report.by.len() <= 2;
        let parts = match report.by.len() {
            2 if is_by_day => largest(report),
            _ => Vec::new(),
        };
        DayCosts {
            currency: report.currency.clone(),
            days: if is_by_day {
                days(report, &parts)
            } else {
                Vec::new()
            },
            parts: parts.into_iter().map(|(_, name)| name).collect(),
        }
    }

    /// The name of a part.
    fn part(&self, part: usize) -> &str {
        self.parts.get(part).map_or("others", String::as_str)
    }

    /// Whether a picture says more than the numbers.
    pub(crate) fn is_worth_drawing(&self) -> bool {
        self.days.len() > 1
    }
}

impl Day {
    fn part(&self, part: usize) -> u64 {
        self.parts.get(part).copied().unwrap_or_default()
    }
}

/// The values of the second axis that cost most, each with its name.
fn largest(report: &CostReport) -> Vec<(Option<String>, String)> {
    let mut sums: BTreeMap<(Option<String>, String), u128> = BTreeMap::new();
    for row in &report.rows {
        let Some(key) = row.by.get(1) else {
            continue;
        };
        let name = key.title.as_ref().or(key.value.as_ref());
        let name = name.cloned().unwrap_or_else(|| "(unknown)".to_owned());
        let sum = sums.entry((key.value.clone(), name)).or_default();
        *sum = sum.saturating_add(row.sums.computed_micros);
    }
    let mut sums: Vec<_> = sums.into_iter().filter(|(_, sum)| *sum > 0).collect();
    sums.sort_by_key(|(_, sum)| std::cmp::Reverse(*sum));
    sums.truncate(SHADES.len() - 1);
    sums.into_iter().map(|(key, _)| key).collect()
}

fn days(report: &CostReport, parts: &[(Option<String>, String)]) -> Vec<Day> {
    let mut days: BTreeMap<NaiveDate, Day> = BTreeMap::new();
    for row in &report.rows {
        let Some(text) = row.by.first().and_then(|key| key.value.clone()) else {
            continue;
        };
        let Ok(date) = text.parse() else {
            continue;
        };
        let day = days.entry(date).or_insert_with(|| Day {
            date,
            day: text,
            computed_micros: 0,
            total_tokens: 0,
            parts: vec![0; SHADES.len()],
        });
        let micros = u64::try_from(row.sums.computed_micros).unwrap_or(u64::MAX);
        let tokens = u64::try_from(row.sums.used.tokens.total()).unwrap_or(u64::MAX);
        day.computed_micros = day.computed_micros.saturating_add(micros);
        day.total_tokens = day.total_tokens.saturating_add(tokens);
        let value = row.by.get(1).map(|key| &key.value);
        let part = parts.iter().position(|(part, _)| Some(part) == value);
        let part = part.unwrap_or(SHADES.len() - 1);
        if let Some(sum) = day.parts.get_mut(part) {
            *sum = sum.saturating_add(micros);
        }
    }
    let Some(last) = days.keys().next_back().copied() else {
        return Vec::new();
    };
    let is_near = |day: &Day| (last - day.date).num_days() < DAYS;
    days.into_values().filter(is_near).collect()
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
                @if costs.parts.is_empty() || !has_prices {
                    rect.bar.shown x=(percent(at, all)) width=(width(all)) y=(format!("{:.1}", HEIGHT - height))
                        height=(format!("{height:.1}")) rx="2" { title { (said) } }
                } @else {
                    @for (part, from, height) in stacked(day, height) {
                        rect.bar.shown x=(percent(at, all)) width=(width(all)) y=(format!("{from:.1}"))
                            height=(format!("{height:.1}")) fill-opacity=(shade(part)) {
                            title { (said) ", " (costs.part(part)) ": " (amount_of_money(day.part(part).into(), currency)) }
                        }
                    }
                }
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
            @if has_prices { (legend(costs)) }
        }
    }
}

/// The parts of a day's bar, from the bottom up: the number of each, where it begins from above, and its height.
fn stacked(day: &Day, height: f64) -> Vec<(usize, f64, f64)> {
    let whole = day.computed_micros.max(1);
    let mut top = HEIGHT;
    let parts = day
        .parts
        .iter()
        .enumerate()
        .filter(|(_, micros)| **micros > 0);
    let parts = parts.map(|(part, micros)| {
        let height = share(*micros, whole) * height;
        top -= height;
        (part, top, height)
    });
    parts.collect()
}

fn shade(part: usize) -> &'static str {
    SHADES.get(part).copied().unwrap_or("0.1")
}

/// The names of the parts, each with its shade.
fn legend(costs: &DayCosts) -> Markup {
    let has_others = costs.days.iter().any(|day| day.part(SHADES.len() - 1) > 0);
    let others = has_others.then_some(SHADES.len() - 1);
    html! {
        @if !costs.parts.is_empty() { figcaption { @for part in (0..costs.parts.len()).chain(others) {
            span { svg.spark width="10" height="10" aria-hidden="true" {
                rect.bar.shown width="10" height="10" rx="2" fill-opacity=(shade(part)) {} } " " (costs.part(part)) }
        } } }
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
