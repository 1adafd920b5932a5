//! Costs by day as bars beside each other, a bar a day, with the days on which nothing was used.

use std::collections::BTreeMap;

use annals::projections::{CostAxis, CostReport, ProjectLabels};
use chrono::{Datelike as _, Months, NaiveDate, TimeDelta};
use maud::{Markup, html};
use schemars::JsonSchema;
use serde::Serialize;

use super::model::amount;
use crate::answer::escaped;
use crate::figures::{axis, colours, grouped, step};
use crate::foreign;
use crate::session_entry::model_name;

/// Bars that are drawn at most, the newest. A longer time has a bar a week, or a month.
const BARS: i64 = 92;
/// Characters of the name of a part.
const NAME: usize = 40;
/// Days that are drawn at least.
const FEWEST: i64 = 14;
/// Parts of a bar with a colour of their own; all others have one together.
const PARTS: usize = 4;
/// The height of the highest bar.
const HEIGHT: f64 = 96.0;

/// What the newest days cost, those left out on which nothing was used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct DayCosts {
    /// The currency of what was computed.
    currency: String,
    /// The days of the report's time zone, the oldest first.
    days: Vec<Day>,
    /// What each of the days is, of a long time.
    #[serde(skip)]
    unit: Unit,
    /// The names of the parts, those that cost most first.
    #[serde(skip)]
    parts: Vec<String>,
    /// Their colours.
    #[serde(skip)]
    colours: Vec<usize>,
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
    pub(crate) fn of(report: &CostReport, labels: &ProjectLabels) -> DayCosts {
        let is_by_day = report.by.first() == Some(&CostAxis::Day) && report.by.len() <= 2;
        let parts = match report.by.len() {
            2 if is_by_day => largest(report, labels),
            _ => Vec::new(),
        };
        let (unit, days) = match is_by_day {
            true => days(report, &parts),
            false => Default::default(),
        };
        let parts: Vec<String> = parts.into_iter().map(|(_, name)| name).collect();
        DayCosts {
            currency: report.currency.clone(),
            days,
            unit,
            colours: colours(&parts, PARTS),
            parts,
        }
    }

    /// The number of the colour of a part.
    fn colour(&self, part: usize) -> usize {
        self.colours.get(part).copied().unwrap_or(PARTS + 1)
    }

    /// What a bar is of, in a word.
    pub(crate) fn unit(&self) -> &'static str {
        match self.unit {
            Unit::Day => "day",
            Unit::Week => "week",
            Unit::Month => "month",
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
    fn add(&mut self, other: &Day) {
        self.computed_micros = self.computed_micros.saturating_add(other.computed_micros);
        self.total_tokens = self.total_tokens.saturating_add(other.total_tokens);
        for (sum, more) in self.parts.iter_mut().zip(&other.parts) {
            *sum = sum.saturating_add(*more);
        }
    }

    fn part(&self, part: usize) -> u64 {
        self.parts.get(part).copied().unwrap_or_default()
    }
}

/// The values of the second axis that cost most, each with its name.
fn largest(report: &CostReport, labels: &ProjectLabels) -> Vec<(Option<String>, String)> {
    let mut sums: BTreeMap<(Option<String>, String), u128> = BTreeMap::new();
    for row in &report.rows {
        let Some(key) = row.by.get(1) else {
            continue;
        };
        let name = match (key.axis, key.value.as_deref()) {
            (CostAxis::Project, Some(path)) => labels.label(path),
            (CostAxis::Model, Some(model)) => model_name(model),
            (_, value) => key.title.as_deref().or(value).unwrap_or("(unknown)"),
        };
        let name = foreign::cut(name, NAME);
        let sum = sums.entry((key.value.clone(), name)).or_default();
        *sum = sum.saturating_add(row.sums.computed_micros);
    }
    let mut sums: Vec<_> = sums.into_iter().filter(|(_, sum)| *sum > 0).collect();
    sums.sort_by_key(|(_, sum)| std::cmp::Reverse(*sum));
    sums.truncate(PARTS);
    sums.into_iter().map(|(key, _)| key).collect()
}

fn days(report: &CostReport, parts: &[(Option<String>, String)]) -> (Unit, Vec<Day>) {
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
            parts: vec![0; PARTS + 1],
        });
        let micros = u64::try_from(row.sums.computed_micros).unwrap_or(u64::MAX);
        let tokens = u64::try_from(row.sums.used.tokens.total()).unwrap_or(u64::MAX);
        day.computed_micros = day.computed_micros.saturating_add(micros);
        day.total_tokens = day.total_tokens.saturating_add(tokens);
        let value = row.by.get(1).map(|key| &key.value);
        let part = parts.iter().position(|(part, _)| Some(part) == value);
        let part = part.unwrap_or(PARTS);
        if let Some(sum) = day.parts.get_mut(part) {
            *sum = sum.saturating_add(micros);
        }
    }
    let ends = [days.keys().next(), days.keys().next_back()].map(Option::<&_>::copied);
    let [Some(first), Some(last)] = ends else {
        return Default::default();
    };
    let unit = Unit::of(first, last);
    let mut bars: Vec<Day> = Vec::new();
    for day in days.into_values() {
        let begins = unit.begin(day.date);
        match bars.last_mut().filter(|bar| bar.date == begins) {
            Some(bar) => bar.add(&day),
            None => bars.push(Day {
                date: begins,
                day: begins.to_string(),
                ..day
            }),
        }
    }
    let most = unit.index(last);
    bars.retain(|bar| most - unit.index(bar.date) < BARS);
    (unit, bars)
}

/// What a bar is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Unit {
    #[default]
    Day,
    Week,
    Month,
}

impl Unit {
    fn of(first: NaiveDate, last: NaiveDate) -> Unit {
        match (last - first).num_days() {
            days if days < BARS => Unit::Day,
            days if days / 7 < BARS - 1 => Unit::Week,
            _ => Unit::Month,
        }
    }

    /// The first day of the one that a day is in.
    fn begin(self, day: NaiveDate) -> NaiveDate {
        match self {
            Unit::Day => day,
            Unit::Week => day - TimeDelta::days(day.weekday().num_days_from_monday().into()),
            Unit::Month => day.with_day(1).unwrap_or(day),
        }
    }

    /// The last day of the one that begins with a day.
    fn end(self, begins: NaiveDate) -> NaiveDate {
        match self {
            Unit::Day => begins,
            Unit::Week => begins + TimeDelta::days(6),
            Unit::Month => {
                let next = begins.checked_add_months(Months::new(1));
                next.and_then(|next| next.pred_opt()).unwrap_or(begins)
            }
        }
    }

    fn name(self, begins: NaiveDate) -> String {
        match self {
            Unit::Day => begins.format("%-d %b %Y").to_string(),
            Unit::Week => format!("week of {}", begins.format("%-d %b %Y")),
            Unit::Month => begins.format("%b %Y").to_string(),
        }
    }

    /// The word before the name.
    fn preposition(self) -> &'static str {
        match self {
            Unit::Day => " on ",
            Unit::Week | Unit::Month => " in ",
        }
    }

    /// A number that is one more for the next one.
    fn index(self, day: NaiveDate) -> i64 {
        match self {
            Unit::Day => day.num_days_from_ce().into(),
            // The first day of the year 1 was a Monday.
            Unit::Week => i64::from(day.num_days_from_ce() - 1) / 7,
            Unit::Month => i64::from(day.year()) * 12 + i64::from(day.month0()),
        }
    }
}

/// The bars, which lead to the sessions of the day, limited by `others`: names and values of parameters.
pub(crate) fn chart(costs: &DayCosts, others: &[(&str, &str)]) -> Markup {
    let (days, currency) = (&costs.days, &costs.currency);
    let (Some(first), Some(last)) = (days.first(), days.last()) else {
        return html! {};
    };
    let unit = costs.unit;
    // A few bars are not drawn as wide as many: the time before them is drawn, too.
    let all = (unit.index(last.date) - unit.index(first.date)).max(FEWEST - 1) + 1;
    let begins = match unit {
        Unit::Day => unit.name(last.date - TimeDelta::days(all - 1)),
        _ => unit.name(first.date),
    };
    let begin = unit.index(last.date) - (all - 1);
    let has_prices = days.iter().any(|day| day.computed_micros > 0);
    let used = |day: &Day| match has_prices {
        true => day.computed_micros,
        false => day.total_tokens,
    };
    let most = days.iter().map(used).max().unwrap_or(1).max(1);
    let words = |day: &Day| match has_prices {
        true => amount(day.computed_micros, currency),
        false => format!("{} tokens", grouped(day.total_tokens)),
    };
    let link = |day: &Day| {
        let (since, until) = (day.date.to_string(), unit.end(day.date).to_string());
        let own = [("by", "session"), ("since", &since), ("until", &until)];
        let all = own.into_iter().chain(others.iter().copied());
        let all: Vec<String> = all
            .map(|(name, value)| format!("{name}={}", escaped(value)))
            .collect();
        format!("/costs?{}", all.join("&"))
    };
    let bar = |day: &Day| {
        let at = unit.index(day.date) - begin;
        let height = share(used(day), most) * HEIGHT;
        let height = if used(day) > 0 { height.max(2.0) } else { 0.0 };
        let said = format!("{}: {}", unit.name(day.date), words(day));
        html! {
            a href=(link(day)) aria-label=(said) {
                @if costs.parts.is_empty() || !has_prices {
                    rect.bar.shown x=(percent(at, all)) width=(width(all)) y=(format!("{:.1}", HEIGHT - height))
                        height=(format!("{height:.1}")) rx="2" { title { (said) } }
                } @else {
                    @for (part, from, height) in stacked(day, height) {
                        rect class={ "s" (costs.colour(part)) } x=(percent(at, all)) width=(width(all)) y=(format!("{from:.1}"))
                            height=(format!("{height:.1}")) {
                            title { (said) ", " (foreign::attribute(costs.part(part))) ": " (amount(day.part(part), currency)) }
                        }
                    }
                }
            }
        }
    };
    let highest = days.iter().max_by_key(|day| used(day));
    let lines = match has_prices && currency == "USD" {
        true => lines(most),
        false => Vec::new(),
    };
    html! {
        figure.chart {
            svg.days width="100%" height=(HEIGHT) role="group" aria-label="Costs by day" {
                @for (y, words) in &lines { line.grid x1="0" x2="100%" y1=(y) y2=(y) {} text.axis x="0" y=(format!("{:.1}", y - 4.0)) { (words) } }
                line.tick x1="0" x2="100%" y1=(HEIGHT) y2=(HEIGHT) {}
                @for day in days { (bar(day)) }
            }
            figcaption { span { (begins) } @if let Some(highest) = highest { span { "most: " (words(highest)) (unit.preposition()) (unit.name(highest.date)) } }
                span { (unit.name(last.date)) } }
            @if has_prices { (legend(costs)) }
        }
    }
}

/// The amounts with a line, as far as they are below the highest bar: how far each is from the top, and the amount.
fn lines(most: u64) -> Vec<(f64, String)> {
    let step = step(most.into());
    let amounts = (1..=4).map(|times| step.saturating_mul(times));
    let below = amounts.filter_map(|micros| u64::try_from(micros).ok().filter(|it| *it <= most));
    let line = |micros: u64| (HEIGHT - share(micros, most) * HEIGHT, axis(micros.into()));
    below.map(line).collect()
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

/// The names of the parts, each with its colour.
fn legend(costs: &DayCosts) -> Markup {
    let has_others = costs.days.iter().any(|day| day.part(PARTS) > 0);
    let others = has_others.then_some(PARTS);
    html! {
        @if !costs.parts.is_empty() { ul.legend { @for part in (0..costs.parts.len()).chain(others) {
            li { i class={ "s" (costs.colour(part)) } {} (foreign::text(costs.part(part))) }
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_long_time_has_a_bar_a_week_or_a_month() {
        let day = |text: &str| text.parse::<NaiveDate>().unwrap();
        let of = |first: &str, last: &str| Unit::of(day(first), day(last));
        assert_eq!(of("2026-01-01", "2026-03-31"), Unit::Day);
        assert_eq!(of("2026-01-01", "2026-06-30"), Unit::Week);
        assert_eq!(of("2024-01-01", "2026-06-30"), Unit::Month);
        for (unit, begins, ends) in [
            (Unit::Day, "2026-11-28", "2026-11-28"),
            (Unit::Week, "2026-11-23", "2026-11-29"),
            (Unit::Month, "2026-11-01", "2026-11-30"),
        ] {
            let begin = unit.begin(day("2026-11-28"));
            assert_eq!((begin, unit.end(begin)), (day(begins), day(ends)));
            // Each day of it has the same number, and the next one the next.
            let number = unit.index(begin);
            assert_eq!(unit.index(unit.end(begin)), number);
            assert_eq!(unit.index(unit.end(begin).succ_opt().unwrap()), number + 1);
        }
    }
}
