//! Sessions by day, 26 weeks, as an SVG: a column for each week, a cell for each day, which leads to the day's sessions.

use annals::OverviewDay;
use chrono::{Datelike as _, NaiveDate};
use maud::{Markup, html};

use crate::figures::{counted, grouped};
use crate::moment::Moment;

/// Weeks that are drawn; the last one has the current day.
const WEEKS: u32 = 26;
/// Steps of colour for days with sessions.
const STEPS: u64 = 4;
/// The picture's units: where cells begin, their distance, and their size.
const LEFT: u64 = 28;
const TOP: u64 = 18;
const STEP: u64 = 14;
const CELL: u64 = 11;

/// Days from the first day of the strip to a day, both included. Weeks begin on Sunday.
pub(super) fn days(today: NaiveDate) -> u32 {
    (WEEKS - 1) * 7 + today.weekday().num_days_from_sunday() + 1
}

/// Draws the strip, or that no session is recorded. `chosen` is the day that the list is filtered by.
pub(super) fn draw(days: &[OverviewDay], chosen: Option<NaiveDate>, moment: Moment) -> Markup {
    // Of several such days the last one.
    let most = days.iter().max_by_key(|day| day.sessions);
    html! {
        div.box.chart {
            header { h2 { "Activity" } span.dim { "sessions a day, " (WEEKS) " weeks" } }
            @match most.filter(|most| most.sessions > 0) {
                None => { p.dim { "No session in the last " (WEEKS) " weeks" } }
                Some(most) => {
                    a.skip href="#filters" { "Skip the days" }
                    div.heatbox { (picture(days, most, chosen, moment)) }
                    ul.legend.heat {
                        li aria-hidden="true" { "Less" }
                        li aria-hidden="true" { @for step in 0..=STEPS { i class={ "h" (step) } {} } }
                        li aria-hidden="true" { "More" }
                        li.end { "Most: " (grouped(most.sessions)) " on " (most.day.format("%-d %b")) }
                    }
                }
            }
        }
    }
}

/// The step of a day's colour. A log with few sessions a day has light colours.
fn step(sessions: u64, most: u64) -> u64 {
    let scaled = u128::from(sessions) * u128::from(STEPS);
    let step = scaled.div_ceil(u128::from(most.max(STEPS)));
    u64::try_from(step).unwrap_or(STEPS).min(STEPS)
}

fn picture(
    days: &[OverviewDay],
    most: &OverviewDay,
    chosen: Option<NaiveDate>,
    moment: Moment,
) -> Markup {
    let (width, height) = (LEFT + u64::from(WEEKS) * STEP, TOP + 7 * STEP + 2);
    // The first day that is drawn is a Sunday.
    let place = |index: usize| {
        let (week, day) = (index as u64 / 7, index as u64 % 7);
        (LEFT + week * STEP, TOP + day * STEP)
    };
    html! {
        svg viewBox={ "0 0 " (width) " " (height) } role="group" aria-labelledby="heat" {
            title #heat { "Sessions by day, " (WEEKS) " weeks, at most " (grouped(most.sessions)) " on " (most.day.format("%-d %B")) }
            @for (index, name) in months(days) { text x=(place(index).0) y="11" aria-hidden="true" { (name) } }
            @for (day, name) in [(1, "Mon"), (3, "Wed"), (5, "Fri")] { text x="0" y=(place(day).1 + 10) aria-hidden="true" { (name) } }
            @for (index, day) in days.iter().enumerate() {
                @let (x, y) = place(index);
                @let class = format!("h{}", step(day.sessions, most.sessions));
                @if day.sessions == 0 { rect.(class) x=(x) y=(y) width=(CELL) height=(CELL) rx="2" {} }
                @else {
                    a href=(moment.link(&format!("/?date={}", day.day))) aria-current=[(chosen == Some(day.day)).then_some("date")] {
                        title { (day.day.format("%a %-d %b")) ": " (counted(day.sessions, "session", "sessions")) }
                        rect.(class) x=(x) y=(y) width=(CELL) height=(CELL) rx="2" {}
                    }
                }
            }
        }
    }
}

/// Weeks that the name of a month takes.
const NAME: u64 = 2;

/// The names of months, each with the index of its first day. A name has room if the next one is three weeks away, and the
/// end of the strip two.
fn months(days: &[OverviewDay]) -> Vec<(usize, String)> {
    let first = days
        .iter()
        .enumerate()
        .filter(|(index, day)| day.day.day() == 1 && *index as u64 / 7 + NAME <= WEEKS.into());
    let mut names: Vec<(usize, String)> = first
        .map(|(index, day)| (index, day.day.format("%b").to_string()))
        .collect();
    let next = names.first().map_or(days.len(), |(index, _)| *index);
    if let Some(day) = days.first().filter(|_| next / 7 >= 3) {
        names.insert(0, (0, day.day.format("%b").to_string()));
    }
    names
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]

    use super::*;

    #[test]
    fn the_last_week_has_the_current_day_and_weeks_begin_on_sunday() {
        for (today, all) in [
            ("2026-11-28", 26 * 7),
            ("2026-11-29", 25 * 7 + 1),
            ("2026-12-01", 25 * 7 + 3),
        ] {
            let today: NaiveDate = today.parse().unwrap();
            assert_eq!(days(today), all);
            let first = today - chrono::Days::new(u64::from(days(today)) - 1);
            assert_eq!(first.weekday(), chrono::Weekday::Sun, "{today}");
        }
    }

    #[test]
    fn a_month_that_begins_in_the_last_week_has_no_name() {
        let of = |today: &str| {
            let today: NaiveDate = today.parse().unwrap();
            let all = u64::from(days(today));
            let day = |before: u64| OverviewDay::new(today - chrono::Days::new(before), 0, 0);
            let days: Vec<OverviewDay> = (0..all).rev().map(day).collect();
            let names = months(&days).into_iter().map(|(_, name)| name);
            names.collect::<Vec<_>>()
        };
        let to_november = ["Jun", "Jul", "Aug", "Sep", "Oct", "Nov"];
        assert_eq!(of("2026-12-01"), to_november);
        // A week later June is too short, and December has room.
        let to_december = ["Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
        assert_eq!(of("2026-12-08"), to_december);
    }

    #[test]
    fn colours_have_five_steps() {
        for (sessions, most, expected) in [
            (0, 6, 0),
            (1, 6, 1),
            (2, 6, 2),
            (3, 6, 2),
            (4, 6, 3),
            (5, 6, 4),
            (6, 6, 4),
            (1, 1, 1),
            (3, 3, 3),
            (1, 1_000, 1),
            (u64::MAX, u64::MAX, 4),
        ] {
            assert_eq!(step(sessions, most), expected, "{sessions} of {most}");
        }
    }
}
