//! Times between which costs are asked for, as people write them.

use std::str::FromStr;

use annals_domain::Timestamp;
use chrono::{DateTime, Days, NaiveDate};

use super::zone::CostZone;

/// From when on costs are asked for, or until when, as people write it: `2026-01-31`, `7d`, or an RFC 3339 time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CostTime {
    /// A day.
    Day(NaiveDate),
    /// A time.
    Time(Timestamp),
    /// So many days, today included.
    Days(u32),
}

/// A text that is none of those.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected a day such as 2026-01-31, a number of days such as 7d, or an RFC 3339 time such as 2026-01-31T12:00:00Z"
)]
pub struct InvalidCostTime;

impl FromStr for CostTime {
    type Err = InvalidCostTime;

    fn from_str(text: &str) -> Result<CostTime, InvalidCostTime> {
        if let Some(days) = text.strip_suffix('d') {
            let days = days.parse().map_err(|_| InvalidCostTime)?;
            return match days {
                0 => Err(InvalidCostTime),
                days => Ok(CostTime::Days(days)),
            };
        }
        if let Ok(day) = text.parse() {
            return Ok(CostTime::Day(day));
        }
        match DateTime::parse_from_rfc3339(text) {
            Ok(time) => Ok(CostTime::Time(time.to_utc().into())),
            Err(_) => Err(InvalidCostTime),
        }
    }
}

impl CostTime {
    /// From when on that is; none where no calendar has that day.
    pub fn begins(self, zone: CostZone, now: Timestamp) -> Option<Timestamp> {
        match self {
            CostTime::Time(time) => Some(time),
            CostTime::Day(day) => zone.begins(day),
            CostTime::Days(days) => {
                let before = Days::new(u64::from(days) - 1);
                zone.begins(zone.day_at(now).checked_sub_days(before)?)
            }
        }
    }

    /// Until when that is: the end of a day, and the beginning of a number of days.
    pub fn ends(self, zone: CostZone, now: Timestamp) -> Option<Timestamp> {
        match self {
            CostTime::Day(day) => zone.begins(day.succ_opt()?),
            CostTime::Time(_) | CostTime::Days(_) => self.begins(zone, now),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn days_times_and_numbers_of_days_are_told_apart() {
        let now = DateTime::parse_from_rfc3339("2026-03-01T00:10:00Z").unwrap();
        let now = Timestamp::from(now.to_utc());
        let zone = CostZone::Utc;
        let begins = |text: &str| {
            let when: CostTime = text.parse().unwrap();
            when.begins(zone, now).unwrap().to_string()
        };
        assert_eq!(begins("2026-01-31"), "2026-01-31T00:00:00Z");
        assert_eq!(begins("1d"), "2026-03-01T00:00:00Z");
        assert_eq!(begins("2d"), "2026-02-28T00:00:00Z");
        assert_eq!(begins("2026-01-31T12:15:00+01:00"), "2026-01-31T11:15:00Z");
        let ends = |text: &str| {
            let when: CostTime = text.parse().unwrap();
            when.ends(zone, now).unwrap().to_string()
        };
        assert_eq!(ends("2026-01-31"), "2026-02-01T00:00:00Z");
        assert_eq!(ends("2026-01-31T11:15:00Z"), "2026-01-31T11:15:00Z");
        for text in [
            "",
            "0d",
            "-1d",
            "d",
            "yesterday",
            "2026-13-01",
            "99999999999d",
        ] {
            assert!(text.parse::<CostTime>().is_err(), "{text}");
        }
        let far = CostTime::Days(u32::MAX);
        assert!(far.begins(zone, now).is_none());
    }
}
