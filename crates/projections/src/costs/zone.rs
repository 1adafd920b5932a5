//! Days: which one a quarter of an hour is in, and when it begins.

use std::fmt;
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};

use annals_domain::Timestamp;
use chrono::{
    DateTime, Datelike as _, FixedOffset, Local, NaiveDate, NaiveDateTime, Offset as _, TimeZone,
    Timelike as _, Utc,
};

use super::cell::Quarter;

/// Whose days count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CostZone {
    /// Those of Coordinated Universal Time.
    #[default]
    Utc,
    /// Those of this machine's time zone: that of the variable `TZ`, or else the system's.
    Local,
    /// Those of a fixed offset.
    Fixed(FixedOffset),
    /// Those of a zone of the IANA database, such as `Europe/Berlin`, as this machine has it.
    Named(NamedZone),
}

/// A time zone of the IANA database.
#[derive(Debug, Clone, Copy)]
pub struct NamedZone(&'static jiff::tz::TimeZone);

impl PartialEq for NamedZone {
    fn eq(&self, other: &NamedZone) -> bool {
        self.0.iana_name() == other.0.iana_name()
    }
}

impl Eq for NamedZone {}

impl NamedZone {
    /// The zone with a name. Each is kept for as long as the program runs; their number is that of the database.
    fn get(name: &str) -> Option<NamedZone> {
        static KNOWN: Mutex<Vec<&'static jiff::tz::TimeZone>> = Mutex::new(Vec::new());
        let found = jiff::tz::TimeZone::get(name).ok()?;
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let same = known
            .iter()
            .find(|zone| zone.iana_name() == found.iana_name());
        if let Some(zone) = same {
            return Some(NamedZone(zone));
        }
        let zone: &'static jiff::tz::TimeZone = Box::leak(Box::new(found));
        known.push(zone);
        Some(NamedZone(zone))
    }

    fn offset(self, time: NaiveDateTime) -> Option<FixedOffset> {
        let time = jiff::Timestamp::from_second(time.and_utc().timestamp()).ok()?;
        FixedOffset::east_opt(self.0.to_offset(time).seconds())
    }

    fn time(self, local: NaiveDateTime) -> Option<Timestamp> {
        let (day, time) = (local.date(), local.time());
        let narrow = |number: u32| i8::try_from(number).ok();
        let local = jiff::civil::DateTime::new(
            i16::try_from(day.year()).ok()?,
            narrow(day.month())?,
            narrow(day.day())?,
            narrow(time.hour())?,
            narrow(time.minute())?,
            narrow(time.second())?,
            0,
        );
        let time = self.0.to_timestamp(local.ok()?).ok()?;
        Timestamp::in_range(DateTime::from_timestamp(time.as_second(), 0)?)
    }
}

/// A text that names no time zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected utc, local, an offset such as +02:00, or a name such as Europe/Berlin")]
pub struct InvalidZone;

impl CostZone {
    /// The day of a quarter of an hour, by its beginning.
    pub fn day(self, quarter: Quarter) -> NaiveDate {
        let begins = DateTime::from_timestamp(quarter.seconds(), 0);
        let begins = match begins {
            Some(begins) => begins.naive_utc(),
            // No event has such a time.
            None => NaiveDateTime::default(),
        };
        let offset = match self {
            CostZone::Utc => None,
            CostZone::Local if !is_in_tables(begins.date()) => None,
            CostZone::Local => Some(Local.offset_from_utc_datetime(&begins)),
            CostZone::Fixed(offset) => Some(offset),
            CostZone::Named(zone) => zone.offset(begins),
        };
        let there = offset.and_then(|offset| begins.checked_add_offset(offset));
        there.unwrap_or(begins).date()
    }

    /// The offset from UTC at a time.
    pub fn offset_at(self, time: Timestamp) -> FixedOffset {
        let utc = time.to_utc().naive_utc();
        let offset = match self {
            CostZone::Utc => None,
            CostZone::Local if !is_in_tables(utc.date()) => None,
            CostZone::Local => Some(Local.offset_from_utc_datetime(&utc)),
            CostZone::Fixed(offset) => Some(offset),
            CostZone::Named(zone) => zone.offset(utc),
        };
        offset.unwrap_or_else(|| Utc.fix())
    }

    /// A time to the second, with its offset unless that is zero.
    ///
    /// ```
    /// # use annals_projections::CostZone;
    /// # use annals_domain::Timestamp;
    /// assert_eq!(CostZone::Utc.time_text(Timestamp::EPOCH), "1970-01-01 00:00:00Z");
    /// let india: CostZone = "+05:30".parse().unwrap();
    /// assert_eq!(india.time_text(Timestamp::EPOCH), "1970-01-01 05:30:00 +05:30");
    /// ```
    pub fn time_text(self, time: Timestamp) -> String {
        let offset = self.offset_at(time);
        let format = match offset.local_minus_utc() {
            0 => "%Y-%m-%d %H:%M:%SZ",
            _ => "%Y-%m-%d %H:%M:%S %:z",
        };
        let time = time.to_utc().with_timezone(&offset);
        time.format(format).to_string()
    }

    /// When a day begins; none where the calendar ends.
    pub fn begins(self, day: NaiveDate) -> Option<Timestamp> {
        match self {
            CostZone::Utc => first_of(day, &Utc),
            CostZone::Local if !is_in_tables(day) => first_of(day, &Utc),
            CostZone::Local => first_of(day, &Local),
            CostZone::Fixed(offset) => first_of(day, &offset),
            CostZone::Named(zone) => zone.time(day.and_hms_opt(0, 0, 0)?),
        }
    }

    /// A time of a day as the clocks there show it. Where they are put forward, a time that they skip is the first one
    /// behind it; where they are put back, it is the first of the two. `None` where the calendar ends.
    pub fn time(self, local: NaiveDateTime) -> Option<Timestamp> {
        match self {
            CostZone::Utc => time_of(local, &Utc),
            CostZone::Local if !is_in_tables(local.date()) => time_of(local, &Utc),
            CostZone::Local => time_of(local, &Local),
            CostZone::Fixed(offset) => time_of(local, &offset),
            CostZone::Named(zone) => zone.time(local),
        }
    }

    /// The day that is now there.
    pub fn day_at(self, now: Timestamp) -> NaiveDate {
        self.day(Quarter::of(now))
    }
}

/// Whether the system's tables of time zones are asked about a day: for others they need not have an answer.
fn is_in_tables(day: NaiveDate) -> bool {
    (1..10_000).contains(&day.year())
}

/// The first moment of a day. Where the clocks are put forward at midnight, it is an hour or so later.
fn first_of<Z: TimeZone>(day: NaiveDate, zone: &Z) -> Option<Timestamp> {
    let quarters = (0..96).filter_map(|quarter| day.and_hms_opt(quarter / 4, quarter % 4 * 15, 0));
    let mut times = quarters.filter_map(|time| zone.from_local_datetime(&time).earliest());
    times.next().map(|time| time.with_timezone(&Utc).into())
}

/// The longest time that clocks are put forward by, in quarters of an hour.
const LONGEST_GAP: i64 = 4 * 24;

fn time_of<Z: TimeZone>(local: NaiveDateTime, zone: &Z) -> Option<Timestamp> {
    let later = |quarters| local.checked_add_signed(chrono::TimeDelta::minutes(15 * quarters));
    let times = (0..=LONGEST_GAP).filter_map(later);
    let time = times
        .filter_map(|time| zone.from_local_datetime(&time).earliest())
        .next()?;
    Timestamp::in_range(time.with_timezone(&Utc))
}

impl fmt::Display for CostZone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CostZone::Utc => f.write_str("UTC"),
            CostZone::Local => f.write_str("local"),
            CostZone::Fixed(offset) => write!(f, "{offset}"),
            CostZone::Named(zone) => f.write_str(zone.0.iana_name().unwrap_or_default()),
        }
    }
}

impl FromStr for CostZone {
    type Err = InvalidZone;

    fn from_str(text: &str) -> Result<CostZone, InvalidZone> {
        match text.to_ascii_lowercase().as_str() {
            "utc" | "z" => Ok(CostZone::Utc),
            "local" => Ok(CostZone::Local),
            _ => match text.parse() {
                Ok(offset) => Ok(CostZone::Fixed(offset)),
                Err(_) => NamedZone::get(text).map(CostZone::Named).ok_or(InvalidZone),
            },
        }
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn days_are_those_of_the_zone() {
        let quarter = Quarter(4 * 23); // 1970-01-01T23:00Z
        let day = |text: &str| {
            text.parse::<CostZone>()
                .map(|zone| zone.day(quarter).to_string())
        };
        assert_eq!(day("utc").as_deref(), Ok("1970-01-01"));
        assert_eq!(day("+01:00").as_deref(), Ok("1970-01-02"));
        assert_eq!(day("-08:00").as_deref(), Ok("1970-01-01"));
        assert_eq!(day("Europe/Berlin").as_deref(), Ok("1970-01-02"));
        for text in ["Europe/Nowhere", "../../etc/passwd", "", "berlin time"] {
            assert_eq!(day(text), Err(InvalidZone), "{text}");
        }
        // Times that no calendar has are in its first and its last day.
        CostZone::Utc.day(Quarter(i64::MIN));
        CostZone::Utc.day(Quarter(i64::MAX));
        CostZone::Local.day(Quarter(i64::MAX));
    }

    #[test]
    fn clocks_that_are_put_forward_skip_an_hour() {
        let zone: CostZone = "Europe/Berlin".parse().unwrap_or_default();
        assert_eq!(zone.to_string(), "Europe/Berlin");
        let time = |hour| {
            let day = NaiveDate::from_ymd_opt(2026, 3, 29)?;
            zone.time(day.and_hms_opt(hour, 30, 0)?)
                .map(|time| time.to_string())
        };
        assert_eq!(time(1).as_deref(), Some("2026-03-29T00:30:00Z"));
        assert_eq!(time(2), time(3));
        assert_eq!(time(3).as_deref(), Some("2026-03-29T01:30:00Z"));
    }

    #[test]
    fn a_day_begins_where_it_is() {
        for text in [
            "utc",
            "+05:45",
            "-03:30",
            "local",
            "Europe/Berlin",
            "America/New_York",
        ] {
            let zone: CostZone = text.parse().unwrap_or_default();
            let day = NaiveDate::from_ymd_opt(2026, 3, 29).unwrap_or_default();
            let begins = zone.begins(day).map(Quarter::of);
            let (first, before) = (begins, begins.map(|quarter| Quarter(quarter.0 - 1)));
            assert_eq!(first.map(|quarter| zone.day(quarter)), Some(day), "{text}");
            assert_eq!(
                before.map(|quarter| zone.day(quarter)),
                day.pred_opt(),
                "{text}"
            );
        }
    }
}
