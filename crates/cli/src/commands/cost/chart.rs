//! Costs by day as bars, one line a day, also for days on which nothing was used. By two axes, the parts of a bar are those of the
//! second one.

use std::collections::BTreeMap;

use annals::projections::{CostAxis, CostKey, CostReport, amount_of_money};
use chrono::NaiveDate;

use crate::error::CliError;
use crate::output::Output;

/// Days that are drawn, the newest.
const DAYS: i64 = 31;
/// The fewest and the most columns of the longest bar.
const NARROWEST: usize = 20;
const WIDEST: usize = 60;
/// Columns around a bar: the day, the amount and spaces.
const AROUND: usize = 28;
/// Characters of a name in the legend.
const NAME: usize = 30;
/// The characters of the parts, the part that cost most first, and that of all others.
const PARTS: [char; 5] = ['█', '▓', '▒', '░', '╱'];
const OTHERS: char = '·';

/// A day's cost, by the names of its parts.
type Parts = BTreeMap<String, u128>;

/// The chart of a report by day, or by day and one more axis.
pub(super) struct Chart {
    days: BTreeMap<NaiveDate, Parts>,
    /// The names of the parts that have a character of their own, those that cost most first.
    names: Vec<String>,
    /// Whether there are more parts.
    has_others: bool,
    currency: String,
}

impl Chart {
    /// `None` if there is nothing to draw: another axis, a single day, or no prices.
    pub(super) fn of(report: &CostReport, name: impl Fn(&CostKey) -> String) -> Option<Chart> {
        let is_by_day = report.by.first() == Some(&CostAxis::Day) && report.by.len() <= 2;
        if !is_by_day {
            return None;
        }
        let mut days: BTreeMap<NaiveDate, Parts> = BTreeMap::new();
        for row in &report.rows {
            let Some(day) = row.by.first().and_then(|key| key.value.as_deref()) else {
                continue;
            };
            let Ok(day) = day.parse::<NaiveDate>() else {
                continue;
            };
            let part = row.by.get(1).map(&name).unwrap_or_default();
            let sum = days.entry(day).or_default().entry(part).or_default();
            *sum = sum.saturating_add(row.sums.computed_micros);
        }
        // Days without a price are drawn between others only.
        days.retain(|_, parts| total(parts) > 0);
        let newest = days.keys().next_back().copied()?;
        days.retain(|day, _| (newest - *day).num_days() < DAYS);
        let most = days.values().map(total).max().unwrap_or(0);
        if days.len() < 2 || most == 0 {
            return None;
        }
        let mut sums: Parts = BTreeMap::new();
        for (name, micros) in days.values().flatten() {
            let sum = sums.entry(name.clone()).or_default();
            *sum = sum.saturating_add(*micros);
        }
        let mut names: Vec<(String, u128)> = sums.into_iter().filter(|(_, sum)| *sum > 0).collect();
        names.sort_by_key(|(_, sum)| std::cmp::Reverse(*sum));
        let has_others = names.len() > PARTS.len();
        let names = names.into_iter().take(PARTS.len());
        Some(Chart {
            days,
            names: names.map(|(name, _)| name).collect(),
            has_others,
            currency: report.currency.clone(),
        })
    }

    /// Prints the bars, and what their parts are.
    pub(super) fn print(&self, output: &mut Output) -> Result<(), CliError> {
        let columns = output.screen().unwrap_or(AROUND + WIDEST);
        let width = columns.saturating_sub(AROUND).clamp(NARROWEST, WIDEST);
        output.line("")?;
        for line in self.bars(width) {
            output.line(&line)?;
        }
        if let Some(legend) = self.legend() {
            output.line("")?;
            output.line(&legend)?;
        }
        Ok(())
    }

    fn bars(&self, width: usize) -> Vec<String> {
        let (Some(first), Some(last)) = (self.days.keys().next(), self.days.keys().next_back())
        else {
            return Vec::new();
        };
        let most = self.days.values().map(total).max().unwrap_or(1).max(1);
        let all = first.iter_days().take_while(|day| day <= last);
        let none = Parts::new();
        all.map(|day| {
            let parts = self.days.get(&day).unwrap_or(&none);
            let bar = self.bar(parts, most, width);
            let amount = match total(parts) {
                0 => String::new(),
                micros => amount_of_money(micros, &self.currency),
            };
            let weekday = day.format("%a");
            format!("{day} {weekday}  {bar:width$}  {amount}")
                .trim_end()
                .to_owned()
        })
        .collect()
    }

    /// The bar of a day. Each part ends where the sum of those up to it ends, so that the length of a bar follows from its total alone.
    fn bar(&self, parts: &Parts, most: u128, width: usize) -> String {
        let named = self
            .names
            .iter()
            .map(|name| parts.get(name).copied().unwrap_or(0));
        let named: Vec<u128> = named.collect();
        let others =
            total(parts).saturating_sub(named.iter().copied().fold(0, u128::saturating_add));
        let marks = PARTS.into_iter().zip(named).chain([(OTHERS, others)]);
        let (mut bar, mut sum, mut drawn) = (String::new(), 0_u128, 0_usize);
        for (mark, micros) in marks {
            sum = sum.saturating_add(micros);
            let end = columns(sum, most, width);
            bar.extend(std::iter::repeat_n(mark, end.saturating_sub(drawn)));
            drawn = drawn.max(end);
        }
        bar
    }

    fn legend(&self) -> Option<String> {
        if self.names.iter().all(String::is_empty) {
            return None;
        }
        let named = PARTS.into_iter().zip(&self.names);
        let mut all: Vec<String> = named
            .map(|(mark, name)| format!("{mark} {}", cut(name)))
            .collect();
        if self.has_others {
            all.push(format!("{OTHERS} others"));
        }
        Some(all.join("   "))
    }
}

fn total(parts: &Parts) -> u128 {
    parts.values().copied().fold(0, u128::saturating_add)
}

/// How long a bar is, rounded up: what is less than a column is drawn still.
fn columns(part: u128, most: u128, width: usize) -> usize {
    let width = width as u128;
    let length = match part.checked_mul(width) {
        Some(product) => product.div_ceil(most.max(1)),
        None => part / (most / width.max(1)).max(1),
    };
    usize::try_from(length.min(width)).unwrap_or_default()
}

fn cut(name: &str) -> String {
    match name.char_indices().nth(NAME) {
        Some((end, _)) => format!("{}…", name.get(..end).unwrap_or_default()),
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(days: &[(&str, &[(&str, u128)])]) -> Chart {
        let mut chart = Chart {
            days: BTreeMap::new(),
            names: vec!["shop".to_owned(), "web".to_owned()],
            has_others: true,
            currency: "USD".to_owned(),
        };
        for (day, parts) in days {
            let parts = parts
                .iter()
                .map(|(name, micros)| ((*name).to_owned(), *micros));
            let day = day.parse().unwrap_or_default();
            chart.days.insert(day, parts.collect());
        }
        chart
    }

    #[test]
    fn each_day_has_a_bar_with_its_parts_and_days_without_use_a_line() {
        let chart = chart(&[
            (
                "2026-11-26",
                &[("shop", 6_000_000), ("web", 3_000_000), ("x", 1_000_000)],
            ),
            ("2026-11-28", &[("web", 5_000_000)]),
        ]);
        let expected = [
            "2026-11-26 Thu  ██████▓▓▓·  $10.0000",
            "2026-11-27 Fri",
            "2026-11-28 Sat  ▓▓▓▓▓       $5.0000",
        ];
        assert_eq!(chart.bars(10), expected);
        let legend = chart.legend();
        assert_eq!(legend.as_deref(), Some("█ shop   ▓ web   · others"));
    }

    #[test]
    fn a_bar_is_never_longer_than_its_columns_and_little_is_not_nothing() {
        assert_eq!(columns(1, 1_000_000, 10), 1);
        assert_eq!(columns(0, 1_000_000, 10), 0);
        assert_eq!(columns(u128::MAX, 1, 10), 10);
        assert_eq!(columns(u128::MAX / 2, u128::MAX, 10), 5);
    }
}
