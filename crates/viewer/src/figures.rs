//! Times, durations, tokens and money as the session pages show them. Unknown is "unknown", never 0.

use annals::domain::Timestamp;
use chrono::{DateTime, Datelike, FixedOffset, Local, Offset, TimeDelta, TimeZone};
use maud::{Markup, html};

/// The reader's clock: this machine's time zone, and the time that counts as now.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    now: Timestamp,
}

impl Clock {
    pub(crate) fn new(now: Timestamp) -> Clock {
        Clock { now }
    }

    pub(crate) fn now(self) -> Timestamp {
        self.now
    }

    /// The time, relative up to a day; the full time is the tooltip.
    pub(crate) fn ago(self, at: Timestamp) -> Markup {
        element(at, &ago(local(self.now), local(at)))
    }

    /// The time of a turn: the clock on the same day as `near`, else also the day.
    pub(crate) fn clock(self, at: Timestamp) -> Markup {
        element(at, &local(at).format("%H:%M").to_string())
    }

    /// The day and the time to the second, such as "28 Nov, 14:02:31".
    pub(crate) fn exact(self, at: Timestamp) -> Markup {
        let (now, at_local) = (local(self.now), local(at));
        let day = match now.year() == at_local.year() {
            true => at_local.format("%-d %b, %H:%M:%S"),
            false => at_local.format("%-d %b %Y, %H:%M:%S"),
        };
        element(at, &day.to_string())
    }

    /// The day and the time, such as "28 Nov, 14:02".
    pub(crate) fn day_and_time(self, at: Timestamp) -> Markup {
        let (now, at_local) = (local(self.now), local(at));
        let day = match now.year() == at_local.year() {
            true => at_local.format("%-d %b, %H:%M"),
            false => at_local.format("%-d %b %Y, %H:%M"),
        };
        element(at, &day.to_string())
    }
}

/// The day with its year and the time to the second, such as "28 Nov 2026, 14:02:31".
pub(crate) fn exact(at: Timestamp) -> Markup {
    element(at, &local(at).format("%-d %b %Y, %H:%M:%S").to_string())
}

/// A time: the date and the second, in this machine's time zone. The epoch stands for a time that no recording has.
pub(crate) fn time(rfc3339: &str) -> Markup {
    match local_time(rfc3339) {
        Some(at) => exact(at),
        None => html! { span.dim { "time unknown" } },
    }
}

/// "time unknown", or a time.
pub(crate) fn or_unknown(at: Option<Timestamp>, draw: impl FnOnce(Timestamp) -> Markup) -> Markup {
    match at {
        Some(at) => draw(at),
        None => html! { span.dim { "time unknown" } },
    }
}

fn element(at: Timestamp, shown: &str) -> Markup {
    let full = local(at).format("%A %-d %B %Y, %H:%M:%S %:z").to_string();
    html! { time datetime=(at) title=(full) { (shown) } }
}

/// The time that an RFC 3339 text names. `None` for the epoch: the recording has no time.
pub(crate) fn local_time(rfc3339: &str) -> Option<Timestamp> {
    let at = DateTime::parse_from_rfc3339(rfc3339).ok()?;
    let at = Timestamp::from(at.to_utc());
    (at != Timestamp::EPOCH).then_some(at)
}

/// A time in this machine's time zone. For years that no table has, UTC.
pub(crate) fn local(at: Timestamp) -> DateTime<FixedOffset> {
    let utc = at.to_utc();
    let offset = match (1..10_000).contains(&utc.year()) {
        true => Local.offset_from_utc_datetime(&utc.naive_utc()).fix(),
        false => chrono::Utc.fix(),
    };
    utc.with_timezone(&offset)
}

fn ago(now: DateTime<FixedOffset>, at: DateTime<FixedOffset>) -> String {
    let passed = now - at;
    let days = (now.date_naive() - at.date_naive()).num_days();
    let hours = passed.num_hours();
    match (passed.num_minutes(), days) {
        (..-1, _) => at.format("%-d %b %Y, %H:%M").to_string(),
        (..1, _) => "now".to_owned(),
        (minutes @ 1..60, _) => format!("{minutes} min ago"),
        (_, 0) => format!("{hours} h ago"),
        (_, 1) if passed < TimeDelta::hours(6) => format!("{hours} h ago"),
        (_, 1) => at.format("yesterday %H:%M").to_string(),
        (_, 2..7) => at.format("%a %H:%M").to_string(),
        _ if now.year() == at.year() => at.format("%-d %b").to_string(),
        _ => at.format("%-d %b %Y").to_string(),
    }
}

/// All digits, in groups of three.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A span of time up to now, such as "41 min".
pub(crate) fn since(now: Timestamp, at: Timestamp) -> String {
    let passed = (now.to_utc() - at.to_utc()).num_milliseconds();
    span(u64::try_from(passed).unwrap_or(0))
}

/// A span of time, rounded to minutes from one minute on.
pub(crate) fn span(ms: u64) -> String {
    match ms {
        0..=999 => "under 1 s".to_owned(),
        1_000..=59_499 => format!("{} s", (ms + 500) / 1_000),
        _ => {
            let minutes = ms.saturating_add(30_000) / 60_000;
            match minutes {
                0..=59 => format!("{minutes} min"),
                60..=2_879 => format!("{} h {:02} min", minutes / 60, minutes % 60),
                _ => format!("{} d {:02} h", minutes / 1_440, minutes % 1_440 / 60),
            }
        }
    }
}

/// The duration of a tool call.
pub(crate) fn took(ms: u64) -> String {
    match ms {
        0..=94 => format!("{ms} ms"),
        95..=9_949 => {
            let tenths = (ms + 50) / 100;
            match tenths % 10 {
                0 => format!("{} s", tenths / 10),
                rest => format!("{}.{rest} s", tenths / 10),
            }
        }
        _ => span(ms),
    }
}

/// A number of tokens, such as "1.9 M" or "640 k".
pub(crate) fn tokens(count: u128) -> String {
    const UNITS: [(u128, &str); 3] = [(1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k")];
    let fits = |(unit, _): &&(u128, &str)| count >= *unit - *unit / 200;
    let Some((unit, name)) = UNITS.iter().find(fits) else {
        return count.to_string();
    };
    let tenths = (count.saturating_mul(10).saturating_add(unit / 2)) / unit;
    match tenths {
        0..=99 if *unit > 1_000 => format!("{}.{} {name}", tenths / 10, tenths % 10),
        _ => format!(
            "{} {name}",
            grouped(u64::try_from((tenths + 5) / 10).unwrap_or(u64::MAX))
        ),
    }
}

/// An amount in USD, such as "$4.18".
pub(crate) fn money(micros: u128) -> String {
    match micros {
        0 => "$0.00".to_owned(),
        1..=4_999 => "<$0.01".to_owned(),
        _ => {
            let cents = micros.saturating_add(5_000) / 10_000;
            let whole = u64::try_from(cents / 100).unwrap_or(u64::MAX);
            format!("${}.{:02}", grouped(whole), cents % 100)
        }
    }
}

/// A count with its noun.
pub(crate) fn counted(count: u64, one: &str, several: &str) -> String {
    format!(
        "{} {}",
        grouped(count),
        if count == 1 { one } else { several }
    )
}

/// Lines added and deleted.
pub(crate) fn lines(added: u64, deleted: u64) -> Markup {
    html! { span.num { span.add { "+" (grouped(added)) } " " span.rem { "−" (grouped(deleted)) } } }
}

/// The distance of the lines: 1, 2 or 5 times a power of ten, at most four of them.
pub(crate) fn step(most: u128) -> u128 {
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

/// An amount at the axis: without cents if it has none.
pub(crate) fn axis(micros: u128) -> String {
    let text = money(micros);
    text.strip_suffix(".00").map_or(text.clone(), str::to_owned)
}

/// Returns the number of the colour of each name, from 1: by the order of the first `most` names, so that pages which show
/// the same names give each the same colour. All others have the next one.
pub(crate) fn colours(names: &[String], most: usize) -> Vec<usize> {
    let mut sorted: Vec<&String> = names.iter().take(most).collect();
    sorted.sort();
    let colour = |(index, name): (usize, &String)| match index < most {
        true => sorted.iter().position(|it| *it == name).unwrap_or(index) + 1,
        false => most + 1,
    };
    names.iter().enumerate().map(colour).collect()
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
    fn a_name_has_one_colour_wherever_the_same_names_are_shown() {
        let of = |names: &[&str], most| {
            let names: Vec<String> = names.iter().map(|it| (*it).to_owned()).collect();
            colours(&names, most)
        };
        assert_eq!(of(&["shop", "infra", "docs"], 4), [3, 2, 1]);
        assert_eq!(of(&["infra", "docs", "shop"], 4), [2, 1, 3]);
        assert_eq!(of(&["b", "a", "others"], 2), [2, 1, 3]);
    }

    fn at(text: &str) -> DateTime<FixedOffset> {
        DateTime::parse_from_rfc3339(text).unwrap()
    }

    #[test]
    fn times_are_relative_up_to_a_day() {
        let now = at("2026-11-28T14:54:00+01:00");
        for (then, shown) in [
            ("2026-11-28T14:53:40+01:00", "now"),
            ("2026-11-28T14:52:00+01:00", "2 min ago"),
            ("2026-11-28T13:50:00+01:00", "1 h ago"),
            ("2026-11-28T00:10:00+01:00", "14 h ago"),
            ("2026-11-27T18:22:00+01:00", "yesterday 18:22"),
            ("2026-11-26T17:48:00+01:00", "Thu 17:48"),
            ("2026-11-22T00:00:00+01:00", "Sun 00:00"),
            ("2026-11-21T23:59:00+01:00", "21 Nov"),
            ("2025-11-09T12:00:00+01:00", "9 Nov 2025"),
            ("2026-12-01T12:00:00+01:00", "1 Dec 2026, 12:00"),
        ] {
            assert_eq!(ago(now, at(then)), shown, "{then}");
        }
        let midnight = at("2026-11-28T01:00:00+01:00");
        assert_eq!(ago(midnight, at("2026-11-27T23:00:00+01:00")), "2 h ago");
    }

    #[test]
    fn spans_are_rounded() {
        for (ms, shown) in [
            (0, "under 1 s"),
            (1_400, "1 s"),
            (59_499, "59 s"),
            (59_500, "1 min"),
            (2_580_000, "43 min"),
            (3_840_000, "1 h 04 min"),
            (200_000_000, "2 d 07 h"),
        ] {
            assert_eq!(span(ms), shown, "{ms}");
        }
        for (ms, shown) in [
            (40, "40 ms"),
            (340, "0.3 s"),
            (1_000, "1 s"),
            (7_240, "7.2 s"),
            (9_960, "10 s"),
            (61_000, "1 min"),
        ] {
            assert_eq!(took(ms), shown, "{ms}");
        }
        span(u64::MAX);
        took(u64::MAX);
    }

    #[test]
    fn tokens_and_money_are_short() {
        for (count, shown) in [
            (0, "0"),
            (994, "994"),
            (996, "1 k"),
            (640_400, "640 k"),
            (999_600, "1.0 M"),
            (1_900_000, "1.9 M"),
            (12_340_000, "12 M"),
            (2_500_000_000, "2.5 G"),
        ] {
            assert_eq!(tokens(count), shown, "{count}");
        }
        tokens(u128::MAX);
        for (micros, shown) in [
            (0, "$0.00"),
            (4_000, "<$0.01"),
            (5_000, "$0.01"),
            (4_184_999, "$4.18"),
            (1_234_567_890_000, "$1,234,567.89"),
        ] {
            assert_eq!(money(micros), shown, "{micros}");
        }
        money(u128::MAX);
    }

    #[test]
    fn years_without_a_table_are_utc() {
        let time = chrono::Utc.timestamp_opt(-62_135_596_801, 0).unwrap();
        assert_eq!(local(time.into()).offset().local_minus_utc(), 0);
    }
}
