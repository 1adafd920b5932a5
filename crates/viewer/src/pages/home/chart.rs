//! Cost by day, stacked by project or model, as an SVG. Each bar leads to the sessions of its day.

use std::collections::BTreeMap;

use annals::OverviewCost;
use annals::projections::ProjectLabels;
use chrono::{Days, NaiveDate};
use maud::{Markup, html};

use crate::figures::{axis, colours, money, step};
use crate::foreign;
use crate::moment::Moment;
use crate::session_entry::model_name;

/// Days that are drawn.
const DAYS: u64 = 14;
/// Days that are drawn on a phone.
const PHONE_DAYS: u64 = 7;
/// Series with a colour of their own; the others are one.
const SERIES: usize = 4;
/// The plot, in the picture's units.
const LEFT: u64 = 48;
const WIDTH: u64 = 812;
const PHONE_WIDTH: u64 = 290;
const TOP: u64 = 18;
const HEIGHT: u64 = 116;
const BAR: u64 = 36;
/// The budget is a line within the plot if it is at most this many times the highest bar.
const BUDGET_TIMES: u128 = 4;

/// What the last days cost, by series.
#[derive(Debug)]
pub(super) struct StackedDays {
    /// The names of the series, the most expensive first; the last may be "others".
    series: Vec<String>,
    /// The colours of the series.
    colours: Vec<usize>,
    /// The days, oldest first, each with millionths of a USD by series.
    days: Vec<(NaiveDate, Vec<u128>)>,
    is_by_model: bool,
    /// The daily budget of all projects, in millionths of a USD.
    pub(super) limit: Option<u128>,
}

/// The first day that the chart draws.
pub(super) fn first_day(today: NaiveDate) -> NaiveDate {
    today.checked_sub_days(Days::new(DAYS - 1)).unwrap_or(today)
}

impl StackedDays {
    /// The last days up to today.
    pub(super) fn of(costs: &[OverviewCost], today: NaiveDate, is_by_model: bool) -> StackedDays {
        let labels = ProjectLabels::of(costs.iter().filter_map(|cost| cost.project.as_deref()));
        let row = |cost: &OverviewCost| {
            let name = match is_by_model {
                true => cost.model.clone(),
                false => cost
                    .project
                    .as_deref()
                    .map(|it| labels.label(it).to_owned()),
            };
            let name = name.filter(|name| !name.is_empty());
            let name = name.unwrap_or_else(|| "unknown".to_owned());
            (cost.day, name, cost.sums.computed_micros)
        };
        let rows: Vec<(NaiveDate, String, u128)> = costs.iter().map(row).collect();
        StackedDays::new(&rows, today, is_by_model)
    }

    fn new(rows: &[(NaiveDate, String, u128)], today: NaiveDate, is_by_model: bool) -> StackedDays {
        let first = first_day(today);
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
            colours: colours(&series, SERIES),
            series,
            is_by_model,
            limit: None,
        }
    }

    /// The daily budget, if it is far above the bars.
    fn limit_above(&self) -> Option<u128> {
        let most = self.most();
        self.limit
            .filter(|limit| most > 0 && !is_within(*limit, most))
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

/// Draws the chart, or that no cost is recorded. `stack` has the addresses of the page stacked by project and by model.
pub(super) fn draw(days: &StackedDays, moment: Moment, stack: &[String; 2]) -> Markup {
    let [by_project, by_model] = stack;
    html! {
        div.box.chart {
            header {
                h2 { "Cost by day" }
                ul.legend { @for (name, colour) in days.series.iter().zip(&days.colours) { li { i class={ "s" (colour) } {} (foreign::text(&foreign::cut(label(name, days.is_by_model), 30))) } }
                    @if let Some(limit) = days.limit_above() { li.limit-text { "daily budget " (axis(limit)) } } }
                span.spacer {}
                span.seg.desk role="group" aria-label="Stack by" {
                    a.button.small href=(by_project) aria-current=[(!days.is_by_model).then_some("true")] { "Project" }
                    a.button.small href=(by_model) aria-current=[days.is_by_model.then_some("true")] { "Model" }
                }
            }
            @if days.most() == 0 { p.dim { "No cost recorded in the last " (DAYS) " days" } }
            @else {
                div.desk { (picture(days, moment, DAYS, WIDTH)) }
                div.phone { (picture(days, moment, PHONE_DAYS, PHONE_WIDTH)) }
            }
        }
    }
}

fn label(name: &str, is_by_model: bool) -> &str {
    if is_by_model { model_name(name) } else { name }
}

/// Returns `true` if a budget is a line within the plot.
fn is_within(limit: u128, most: u128) -> bool {
    limit <= most.max(1).saturating_mul(BUDGET_TIMES)
}

/// Heights of amounts in the plot.
struct Plot {
    step: u128,
    top: u128,
    /// The budget, if it is within the plot.
    limit: Option<u128>,
}

impl Plot {
    fn new(most: u128, limit: Option<u128>) -> Plot {
        let most = most.max(1);
        let limit = limit.filter(|limit| is_within(*limit, most));
        let highest = limit.map_or(most, |limit| limit.max(most));
        let step = step(highest);
        Plot {
            step,
            top: highest.div_ceil(step).saturating_mul(step),
            limit,
        }
    }

    fn height(&self, micros: u128) -> u64 {
        let height = micros.saturating_mul(HEIGHT.into()) / self.top.max(1);
        u64::try_from(height).unwrap_or(HEIGHT).min(HEIGHT)
    }

    /// The amounts with a line. The budget's own line takes the place of one beside it.
    fn lines(&self) -> Vec<u128> {
        let lines = (0..=4).map(|index| self.step.saturating_mul(index));
        let lines = lines.take_while(|micros| *micros <= self.top);
        let is_free = |micros: &u128| match self.limit {
            Some(limit) => self.height(limit).abs_diff(self.height(*micros)) >= 12,
            None => true,
        };
        lines.filter(is_free).collect()
    }
}

/// The bars of the last days.
fn picture(days: &StackedDays, moment: Moment, shown: u64, width: u64) -> Markup {
    let shown_days = usize::try_from(shown).unwrap_or(0);
    let skipped = days.days.len().saturating_sub(shown_days);
    let drawn = days.days.get(skipped..).unwrap_or_default();
    let most = drawn.iter().map(|(_, stack)| sum(stack)).max().unwrap_or(0);
    let plot = Plot::new(most, days.limit);
    let bottom = TOP + HEIGHT;
    let slot = width / shown;
    let bar = BAR.min(slot.saturating_sub(8));
    let id = format!("cost-{shown}");
    html! {
        svg viewBox={ "0 0 " (LEFT + width) " " (bottom + 22) } role="group" aria-labelledby=(id) {
            title id=(id) {
                "Cost of the last " (shown) " days, at most " (money(most)) " a day"
                @if let Some(limit) = days.limit { " of a daily budget of " (money(limit)) }
                ". The costs page has the numbers."
            }
            @for micros in plot.lines() {
                @let y = bottom - plot.height(micros);
                line.grid x1=(LEFT - 8) x2=(LEFT + width) y1=(y) y2=(y) {}
                text x=(LEFT - 14) y=(y + 4) text-anchor="end" { (axis(micros)) }
            }
            @for (index, (day, stack)) in drawn.iter().enumerate() {
                @let middle = LEFT + slot * index as u64 + slot / 2;
                @let is_last = index + 1 == drawn.len();
                @let total = sum(stack);
                a href=(moment.link(&format!("/?date={day}"))) {
                    title { (day.format("%a %-d %b")) ": " (money(total)) }
                    rect.hit x=(middle - slot / 2) y=(TOP) width=(slot) height=(HEIGHT) {}
                    (bars((stack, &days.colours), middle - bar / 2, bar, bottom, &|micros| plot.height(micros)))
                    @if total > 0 && (is_last || total == most) { text.strong x=(middle) y=((bottom - plot.height(total)).saturating_sub(5)) text-anchor="middle" { (money(total)) } }
                }
                text.strong[is_last] x=(middle) y=(bottom + 17) text-anchor="middle" {
                    @if is_last { "today" } @else if shown == DAYS { (day.format("%a %-d")) } @else { (day.format("%a")) }
                }
            }
            (budget(&plot, width))
        }
    }
}

/// The line of the daily budget.
fn budget(plot: &Plot, width: u64) -> Markup {
    let Some(limit) = plot.limit else {
        return html! {};
    };
    let y = TOP + HEIGHT - plot.height(limit);
    html! {
        line.limit x1=(LEFT - 8) x2=(LEFT + width) y1=(y) y2=(y) {}
        text.limit-text x=(LEFT - 14) y=(y + 4) text-anchor="end" { (axis(limit)) }
        text.limit-text x=(LEFT - 4) y=(y + 13) { "daily budget" }
    }
}

/// The parts of one bar, from below.
fn bars(
    (stack, colours): (&[u128], &[usize]),
    x: u64,
    width: u64,
    bottom: u64,
    height: &impl Fn(u128) -> u64,
) -> Markup {
    let mut below: u128 = 0;
    let mut parts = Vec::new();
    for (colour, micros) in colours.iter().zip(stack) {
        let from = height(below);
        below = below.saturating_add(*micros);
        let to = height(below);
        if *micros > 0 {
            let tall = (to - from).max(1);
            parts.push((colour, (bottom - from).saturating_sub(tall), tall));
        }
    }
    html! { @for (colour, y, tall) in &parts { rect class={ "s" (colour) } x=(x) y=(y) width=(width) height=(tall) {} } }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

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

    #[test]
    fn the_budget_is_within_the_plot_unless_it_is_far_above_the_bars() {
        let near = Plot::new(16_340_000, Some(20_000_000));
        assert_eq!((near.step, near.top), (5_000_000, 20_000_000));
        assert_eq!(near.height(20_000_000), HEIGHT);
        assert_eq!(near.lines(), [0, 5_000_000, 10_000_000, 15_000_000]);
        let far = Plot::new(100_000, Some(20_000_000));
        assert_eq!(far.limit, None);
        assert_eq!(far.top, 100_000);
        let exceeded = Plot::new(30_000_000, Some(20_000_000));
        assert_eq!(exceeded.top, 30_000_000);
        assert_eq!(Plot::new(0, None).lines(), [0, 10_000]);
    }
}
