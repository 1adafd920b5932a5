//! Times as people write them: one parser for every option and every page that takes a time.
//!
//! | Text | `begins` (for `--since`) | `ends` (for `--until`) | `moment` (for `--at`) |
//! | --- | --- | --- | --- |
//! | `2026-01-31T12:00:00Z` | that time | the same | the same |
//! | `2026-01-31T12:00`, `2026-01-31 12:00:30` | that time in the zone | the same | the same |
//! | `2026-01-31` | the beginning of that day | its end | its last instant |
//! | `today`, `yesterday` | the beginning of that day | its end | its last instant |
//! | `14:30`, `14:30:05` | that time today | the same | the same |
//! | `2d` | the last 2 days, today included | the same | 48 hours ago |
//! | `3h`, `90m` | so long ago | the same | the same |
//! | `now` | now | now | now |

use std::str::FromStr;

use annals_domain::Timestamp;
use chrono::{DateTime, Days, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta};

use crate::costs::{CostZone, Quarter};

/// The forms of a time of day.
const CLOCK: [&str; 2] = ["%H:%M", "%H:%M:%S"];

/// The forms of a local time with its day.
const LOCAL: [&str; 4] = [
    "%Y-%m-%dT%H:%M",
    "%Y-%m-%dT%H:%M:%S",
    "%Y-%m-%d %H:%M",
    "%Y-%m-%d %H:%M:%S",
];

/// Minutes of an hour.
const HOUR: u32 = 60;

/// A time as people write it. Its zone and the current time decide which one it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TimeName {
    /// The current time.
    Now,
    /// A day.
    Day(NaiveDate),
    /// A time.
    Time(Timestamp),
    /// A day and a time of day, in the zone.
    Local(NaiveDateTime),
    /// A time of the current day.
    Clock(NaiveTime),
    /// A number of days, today included.
    Days(u32),
    /// A number of minutes before the current time.
    Minutes(u32),
    /// The current day.
    Today,
    /// The day before.
    Yesterday,
}

/// A text in none of the forms of a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected a day such as 2026-01-31, an RFC 3339 time such as 2026-01-31T12:00:00Z, a time of today such as 14:30, today, yesterday, 2d or 3h"
)]
pub struct InvalidTimeName;

impl FromStr for TimeName {
    type Err = InvalidTimeName;

    fn from_str(text: &str) -> Result<TimeName, InvalidTimeName> {
        match text.to_ascii_lowercase().as_str() {
            "now" => return Ok(TimeName::Now),
            "today" => return Ok(TimeName::Today),
            "yesterday" => return Ok(TimeName::Yesterday),
            _ => {}
        }
        if let Some(ago) = ago(text)? {
            return Ok(ago);
        }
        if let Ok(day) = NaiveDate::parse_from_str(text, "%Y-%m-%d") {
            return Ok(TimeName::Day(day));
        }
        if let Ok(time) = DateTime::parse_from_rfc3339(text) {
            let time = Timestamp::in_range(time.to_utc());
            return time.map(TimeName::Time).ok_or(InvalidTimeName);
        }
        let clock = |form: &&str| NaiveTime::parse_from_str(text, form).ok();
        if let Some(time) = CLOCK.iter().find_map(clock) {
            return Ok(TimeName::Clock(time));
        }
        let local = |form: &&str| NaiveDateTime::parse_from_str(text, form).ok();
        let time = LOCAL.iter().find_map(local);
        time.map(TimeName::Local).ok_or(InvalidTimeName)
    }
}

/// A number with its unit: `2d`, `3h` or `90m`. `None` if the text has another form.
fn ago(text: &str) -> Result<Option<TimeName>, InvalidTimeName> {
    let Some(unit) = text.chars().last().filter(|unit| "dhm".contains(*unit)) else {
        return Ok(None);
    };
    let number = text.get(..text.len() - 1).unwrap_or_default();
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number {
        return Err(InvalidTimeName);
    }
    let number: u32 = number.parse().map_err(|_| InvalidTimeName)?;
    match (unit, number) {
        ('d', 0) => Err(InvalidTimeName),
        ('d', days) => Ok(Some(TimeName::Days(days))),
        ('h', hours) => {
            let minutes = hours.checked_mul(HOUR).ok_or(InvalidTimeName)?;
            Ok(Some(TimeName::Minutes(minutes)))
        }
        (_, minutes) => Ok(Some(TimeName::Minutes(minutes))),
    }
}

impl TimeName {
    /// Returns `true` if it names one whole day.
    pub fn is_day(self) -> bool {
        matches!(
            self,
            TimeName::Day(_) | TimeName::Today | TimeName::Yesterday
        )
    }

    /// The first instant that it names, for the beginning of a range. `None` if no calendar has it.
    pub fn begins(self, zone: CostZone, now: Timestamp) -> Option<Timestamp> {
        let today = || zone.day_at(now);
        match self {
            TimeName::Now => Some(now),
            TimeName::Time(time) => Some(time),
            TimeName::Day(day) => zone.begins(day),
            TimeName::Local(time) => zone.time(time),
            TimeName::Clock(time) => zone.time(today().and_time(time)),
            TimeName::Days(days) => {
                let before = Days::new(u64::from(days.checked_sub(1)?));
                zone.begins(today().checked_sub_days(before)?)
            }
            TimeName::Minutes(minutes) => before(now, TimeDelta::minutes(i64::from(minutes))),
            TimeName::Today => zone.begins(today()),
            TimeName::Yesterday => zone.begins(today().pred_opt()?),
        }
    }

    /// The instant behind the last one that it names, for the end of a range: the end of a day, and the beginning of a
    /// number of days. `None` if no calendar has it.
    pub fn ends(self, zone: CostZone, now: Timestamp) -> Option<Timestamp> {
        let day = match self {
            TimeName::Day(day) => day,
            TimeName::Today => zone.day_at(now),
            TimeName::Yesterday => zone.day_at(now).pred_opt()?,
            other => return other.begins(zone, now),
        };
        zone.begins(day.succ_opt()?)
    }

    /// The beginning of the quarter of an hour that holds `time`, if the name counts from the current time; `time` itself
    /// otherwise. Costs are kept by quarters of an hour.
    pub fn in_quarters(self, time: Timestamp) -> Timestamp {
        if !matches!(self, TimeName::Minutes(_) | TimeName::Now) {
            return time;
        }
        let begins = DateTime::from_timestamp(Quarter::of(time).seconds(), 0);
        begins.map_or(time, Timestamp::from)
    }

    /// The instant at which past state is read: the last one of a day, and that of a number of days ago. `None` if no
    /// calendar has it.
    pub fn moment(self, zone: CostZone, now: Timestamp) -> Option<Timestamp> {
        match self {
            TimeName::Day(_) | TimeName::Today | TimeName::Yesterday => {
                before(self.ends(zone, now)?, TimeDelta::nanoseconds(1))
            }
            TimeName::Days(days) => before(now, TimeDelta::days(i64::from(days))),
            other => other.begins(zone, now),
        }
    }
}

fn before(time: Timestamp, by: TimeDelta) -> Option<Timestamp> {
    Timestamp::in_range(time.to_utc().checked_sub_signed(by)?)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    fn timestamp(text: &str) -> Timestamp {
        let time = DateTime::parse_from_rfc3339(text).unwrap();
        Timestamp::from(time.to_utc())
    }

    /// Each text with its `begins`, `ends` and `moment`, at 2026-03-01T00:10:00Z.
    #[test]
    fn each_form_has_its_beginning_its_end_and_its_moment() {
        let now = timestamp("2026-03-01T00:10:00Z");
        let midnight = "2026-03-01T00:00:00Z";
        for (text, zone, begins, ends, moment) in [
            (
                "now",
                "utc",
                "2026-03-01T00:10:00Z",
                "2026-03-01T00:10:00Z",
                "2026-03-01T00:10:00Z",
            ),
            (
                "2026-01-31",
                "utc",
                "2026-01-31T00:00:00Z",
                "2026-02-01T00:00:00Z",
                "2026-01-31T23:59:59.999999999Z",
            ),
            (
                "2026-01-31",
                "+01:00",
                "2026-01-30T23:00:00Z",
                "2026-01-31T23:00:00Z",
                "2026-01-31T22:59:59.999999999Z",
            ),
            (
                "today",
                "utc",
                midnight,
                "2026-03-02T00:00:00Z",
                "2026-03-01T23:59:59.999999999Z",
            ),
            (
                "today",
                "-08:00",
                "2026-02-28T08:00:00Z",
                "2026-03-01T08:00:00Z",
                "2026-03-01T07:59:59.999999999Z",
            ),
            (
                "Yesterday",
                "utc",
                "2026-02-28T00:00:00Z",
                midnight,
                "2026-02-28T23:59:59.999999999Z",
            ),
            ("1d", "utc", midnight, midnight, "2026-02-28T00:10:00Z"),
            (
                "2d",
                "utc",
                "2026-02-28T00:00:00Z",
                "2026-02-28T00:00:00Z",
                "2026-02-27T00:10:00Z",
            ),
            (
                "3h",
                "utc",
                "2026-02-28T21:10:00Z",
                "2026-02-28T21:10:00Z",
                "2026-02-28T21:10:00Z",
            ),
            (
                "90m",
                "utc",
                "2026-02-28T22:40:00Z",
                "2026-02-28T22:40:00Z",
                "2026-02-28T22:40:00Z",
            ),
            (
                "14:30",
                "utc",
                "2026-03-01T14:30:00Z",
                "2026-03-01T14:30:00Z",
                "2026-03-01T14:30:00Z",
            ),
            (
                "14:30:05",
                "+05:30",
                "2026-03-01T09:00:05Z",
                "2026-03-01T09:00:05Z",
                "2026-03-01T09:00:05Z",
            ),
            (
                "2026-01-31T12:15:00+01:00",
                "utc",
                "2026-01-31T11:15:00Z",
                "2026-01-31T11:15:00Z",
                "2026-01-31T11:15:00Z",
            ),
            (
                "2026-01-31 12:15",
                "+01:00",
                "2026-01-31T11:15:00Z",
                "2026-01-31T11:15:00Z",
                "2026-01-31T11:15:00Z",
            ),
            (
                "2026-01-31T12:15:30",
                "utc",
                "2026-01-31T12:15:30Z",
                "2026-01-31T12:15:30Z",
                "2026-01-31T12:15:30Z",
            ),
        ] {
            let zone: CostZone = zone.parse().unwrap();
            let name: TimeName = text.parse().unwrap();
            let found = [
                name.begins(zone, now),
                name.ends(zone, now),
                name.moment(zone, now),
            ];
            let expected = [begins, ends, moment].map(|time| Some(timestamp(time)));
            assert_eq!(found, expected, "{text} in {zone}");
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            "",
            "0d",
            "-1d",
            "+1d",
            "d",
            "h",
            "tomorrow",
            "2026-13-01",
            "2026-1",
            "99999999999d",
            "25:00",
            "14:60",
            "4294967295h",
            "1.5h",
            "12",
            "é",
            "2026-01-31T",
            "9999-12-31T23:59:59-01:00",
        ] {
            assert_eq!(text.parse::<TimeName>(), Err(InvalidTimeName), "{text}");
        }
    }

    #[test]
    fn times_that_count_from_now_are_those_of_their_quarter() {
        let time = timestamp("2026-03-01T00:10:00Z");
        let midnight = timestamp("2026-03-01T00:00:00Z");
        for (text, expected) in [
            ("now", midnight),
            ("3h", midnight),
            ("90m", midnight),
            ("today", time),
            ("2d", time),
            ("14:30", time),
            ("2026-03-01T00:10:00Z", time),
        ] {
            let name: TimeName = text.parse().unwrap();
            assert_eq!(name.in_quarters(time), expected, "{text}");
        }
    }

    #[test]
    fn times_that_no_calendar_has_are_none() {
        let now = timestamp("2026-03-01T00:10:00Z");
        for far in [
            TimeName::Days(u32::MAX),
            TimeName::Days(0),
            TimeName::Minutes(u32::MAX),
            TimeName::Day(NaiveDate::MAX),
        ] {
            assert_eq!(
                far.begins(CostZone::Utc, now)
                    .and(far.ends(CostZone::Utc, now)),
                None,
                "{far:?}"
            );
        }
    }
}
