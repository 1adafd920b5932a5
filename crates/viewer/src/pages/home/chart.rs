//! Cost by day, stacked by project or model, as an SVG. Each bar leads to the sessions of its day.

use std::collections::BTreeMap;

use annals::projections::{CostAxis, CostReport};
use chrono::{Days, NaiveDate};
use maud::{Markup, html};

use crate::answer::Asked;
use crate::figures::money;
use crate::foreign;
use crate::session_entry::model_name;

/// Days that are drawn.
const DAYS: u64 = 14;
/// Series with a colour of their own; the others are one.
const SERIES: usize = 4;
/// The plot, in the picture's units.
const LEFT: u64 = 60;
const WIDTH: u64 = 1_160;
const TOP: u64 = 16;
const HEIGHT: u64 = 116;
const BAR: u64 = 44;

/// What the last days cost, by series.
#[derive(Debug)]
pub(super) struct StackedDays {
    /// The names of the series, the most expensive first; the last may be "others".
    series: Vec<String>,
    /// The days, oldest first, each with millionths of a USD by series.
    days: Vec<(NaiveDate, Vec<u128>)>,
    is_by_model: bool,
}

impl StackedDays {
    /// The last days up to today, of a report by day and another axis.
    pub(super) fn of(report: &CostReport, today: NaiveDate) -> StackedDays {
        let row = |row: &annals::projections::CostRow| {
            let (day, other) = (row.by.first()?, row.by.get(1)?);
            let day: NaiveDate = day.value.as_deref()?.parse().ok()?;
            let name = other.title.clone().or_else(|| other.value.clone());
            let name = name
                .filter(|name| !name.is_empty())
                .unwrap_or_else(|| "unknown".to_owned());
            Some((day, name, row.sums.computed_micros))
        };
        let rows: Vec<(NaiveDate, String, u128)> = report.rows.iter().filter_map(row).collect();
        let is_by_model = report.by.get(1) == Some(&CostAxis::Model);
        StackedDays::new(&rows, today, is_by_model)
    }

    fn new(rows: &[(NaiveDate, String, u128)], today: NaiveDate, is_by_model: bool) -> StackedDays {
        let first = today.checked_sub_days(Days::new(DAYS - 1)).unwrap_or(today);
        let shown: Vec<_> = rows
            .iter()
            .filter(|(day, ..)| (first..=today).contains(day))
            .collect();
        let mut sums: BTreeMap<&str, u128> = BTreeMap::new();
        for (_, name, micros) in &shown {
            let sum = sums.entry(name).or_default();
            *sum = sum.saturating_add(*micros);
        }
        let mut names: Vec<(&str, u128)> =
            sums.into_iter().filter(|(_, micros)| *micros > 0).collect();
        names.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        let has_others = names.len() > SERIES;
        let mut series: Vec<String> = names
            .iter()
            .take(SERIES)
            .map(|(name, _)| (*name).to_owned())
            .collect();
        if has_others {
            series.push("others".to_owned());
        }
        let days = (0..DAYS).filter_map(|index| first.checked_add_days(Days::new(index)));
        let days = days.map(|day| {
            let mut stack = vec![0_u128; series.len()];
            for (_, name, micros) in shown.iter().filter(|(of, ..)| *of == day) {
                let index = series
                    .iter()
                    .take(SERIES)
                    .position(|known| known == name)
                    .unwrap_or(SERIES);
                if let Some(sum) = stack.get_mut(index) {
                    *sum = sum.saturating_add(*micros);
                }
            }
            (day, stack)
        });
        StackedDays {
            days: days.collect(),
            series,
            is_by_model,
        }
    }

    fn most(&self) -> u128 {
        self.days
            .iter()
            .map(|(_, stack)| sum(stack))
            .max()
            .unwrap_or(0)
    }
}

fn sum(stack: &[u128]) -> u128 {
    stack
        .iter()
        .fold(0, |sum, micros| sum.saturating_add(*micros))
}

/// The distance of the lines: 1, 2 or 5 times a power of ten, at most four of them.
fn step(most: u128) -> u128 {
    let mut unit: u128 = 10_000;
    loop {
        for times in [1, 2, 5] {
            let step = unit.saturating_mul(times);
            if step.saturating_mul(4) >= most {
                return step;
            }
        }
        unit = unit.saturating_mul(10);
    }
}

/// Draws the chart, or that no cost is recorded.
pub(super) fn draw(days: &StackedDays, asked: &Asked) -> Markup {
    let at = match asked.moment.is_chosen {
        true => asked.moment.position.to_string(),
        false => String::new(),
    };
    let stack = |by: &str| asked.with(&[("stack", by), ("at", &at)]);
    html! {
        div.box.chart {
            header {
                h2 { "Cost by day" }
                ul.legend { @for (index, name) in days.series.iter().enumerate() { li { i class={ "s" (index + 1) } {} (foreign::text(&foreign::cut(label(name, days.is_by_model), 30))) } } }
                span.spacer {}
                span.seg.desk role="group" aria-label="Stack by" {
                    a.button.small href=(stack("")) aria-current=[(!days.is_by_model).then_some("true")] { "Project" }
                    a.button.small href=(stack("model")) aria-current=[days.is_by_model.then_some("true")] { "Model" }
                }
            }
            @if days.most() == 0 { p.dim { "No cost recorded in the last " (DAYS) " days" } }
            @else {
                div.desk { (picture(days, asked, DAYS)) }
                div.phone { (picture(days, asked, 7)) }
            }
        }
    }
}

fn label(name: &str, is_by_model: bool) -> &str {
    if is_by_model { model_name(name) } else { name }
}

/// The bars of the last days.
fn picture(days: &StackedDays, asked: &Asked, shown: u64) -> Markup {
    let width = match shown {
        DAYS => WIDTH,
        _ => 290,
    };
    let skipped = days
        .days
        .len()
        .saturating_sub(usize::try_from(shown).unwrap_or(0));
    let drawn = days.days.get(skipped..).unwrap_or_default();
    let most = drawn
        .iter()
        .map(|(_, stack)| sum(stack))
        .max()
        .unwrap_or(0)
        .max(1);
    let step = step(most);
    let top = most.div_ceil(step).saturating_mul(step);
    let height =
        |micros: u128| u64::try_from(micros.saturating_mul(HEIGHT.into()) / top).unwrap_or(0);
    let bottom = TOP + HEIGHT;
    let slot = width / shown;
    let bar = BAR.min(slot.saturating_sub(8));
    let id = format!("cost-{shown}");
    let lines: Vec<u128> = (0..=4)
        .map(|index| step.saturating_mul(index))
        .take_while(|micros| *micros <= top)
        .collect();
    html! {
        svg viewBox={ "0 0 " (LEFT + width) " " (bottom + 22) } role="group" aria-labelledby=(id) {
            title id=(id) { "Cost of the last " (shown) " days, at most " (money(most)) " a day. The costs page has the numbers." }
            @for micros in &lines {
                @let y = bottom - height(*micros);
                line.grid x1=(LEFT - 8) x2=(LEFT + width) y1=(y) y2=(y) {}
                text x=(LEFT - 14) y=(y + 4) text-anchor="end" { (axis(*micros)) }
            }
            @for (index, (day, stack)) in drawn.iter().enumerate() {
                @let middle = LEFT + slot * index as u64 + slot / 2;
                @let is_last = index + 1 == drawn.len();
                @let total = sum(stack);
                a href=(asked.moment.link(&format!("/?since={day}&until={day}"))) {
                    title { (day.format("%a %-d %b")) ": " (money(total)) }
                    rect.hit x=(middle - slot / 2) y=(TOP) width=(slot) height=(HEIGHT) {}
                    (bars(stack, middle - bar / 2, bar, bottom, &height))
                    @if total > 0 && (is_last || total == most) { text.strong x=(middle) y=((bottom - height(total)).saturating_sub(5)) text-anchor="middle" { (money(total)) } }
                }
                text.strong[is_last] x=(middle) y=(bottom + 17) text-anchor="middle" {
                    @if is_last { "today" } @else if shown == DAYS { (day.format("%a %-d")) } @else { (day.format("%a")) }
                }
            }
        }
    }
}

/// The parts of one bar, from below.
fn bars(stack: &[u128], x: u64, width: u64, bottom: u64, height: &impl Fn(u128) -> u64) -> Markup {
    let mut below: u128 = 0;
    let mut parts = Vec::new();
    for (index, micros) in stack.iter().enumerate() {
        let from = height(below);
        below = below.saturating_add(*micros);
        let to = height(below);
        if *micros > 0 {
            let tall = (to - from).max(1);
            parts.push((index, (bottom - from).saturating_sub(tall), tall));
        }
    }
    html! { @for (index, y, tall) in &parts { rect class={ "s" (index + 1) } x=(x) y=(y) width=(width) height=(tall) {} } }
}

/// An amount at the axis: without cents if it has none.
fn axis(micros: u128) -> String {
    let text = money(micros);
    text.strip_suffix(".00").map_or(text.clone(), str::to_owned)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn lines_have_round_distances() {
        for (most, distance) in [
            (1, 10_000),
            (40_000, 10_000),
            (40_001, 20_000),
            (16_340_000, 5_000_000),
            (u128::MAX / 8, step(u128::MAX / 8)),
        ] {
            assert_eq!(step(most), distance, "{most}");
        }
    }

    #[test]
    fn days_are_stacked_by_the_largest_series() {
        let today: NaiveDate = "2026-11-28".parse().unwrap();
        let row =
            |day: &str, name: &str, micros: u128| (day.parse().unwrap(), name.to_owned(), micros);
        let rows = [
            row("2026-11-28", "a", 5),
            row("2026-11-28", "b", 50),
            row("2026-11-15", "c", 4),
            row("2026-11-14", "too old", 1_000),
            row("2026-11-27", "d", 3),
            row("2026-11-27", "e", 2),
            row("2026-11-27", "f", 1),
            row("2026-11-27", "none", 0),
        ];
        let days = StackedDays::new(&rows, today, false);
        assert_eq!(days.series, ["b", "a", "c", "d", "others"]);
        assert_eq!(days.days.len(), 14);
        assert_eq!(days.days[13].1, [50, 5, 0, 0, 0]);
        assert_eq!(days.days[12].1, [0, 0, 0, 3, 3]);
        assert_eq!(days.days[0].1, [0, 0, 4, 0, 0]);
        assert_eq!(days.most(), 55);
    }
}
