//! Times for people.
//!
//! Times are those of the user's zone, or of the zone that a command's option names, with their offset. Off a terminal they
//! are whole, to the second. On a terminal near ones are relative:
//!
//! | A time that is | among objects | among events |
//! | --- | --- | --- |
//! | of the last minute | `12 s ago` | `12 s ago` |
//! | of the last hour | `3 min ago` | `3 min 12 s ago` |
//! | of the same day | `today 14:03:22 +01:00` | `14:03:22` below a line with the day |
//! | of another day, or to come | `2026-11-03 14:03:22 +01:00` | the same |

use std::sync::OnceLock;

use annals::domain::Timestamp;
use annals::projections::CostZone;
use chrono::{DateTime, FixedOffset, NaiveDate, TimeZone, Utc};

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;

/// When the command began, if it prints to a terminal.
static TERMINAL: OnceLock<DateTime<Utc>> = OnceLock::new();

/// The zone that was named by an option.
static ZONE: OnceLock<CostZone> = OnceLock::new();

/// From now on times are those of this zone.
pub(crate) fn in_zone(zone: CostZone) {
    let _ = ZONE.set(zone);
}

/// The offset from UTC at a time, in the zone of the user.
fn offset(time: Timestamp) -> FixedOffset {
    ZONE.get().unwrap_or(&CostZone::Local).offset_at(time)
}

/// From now on times are those for a terminal.
pub(crate) fn on_terminal() {
    let _ = TERMINAL.set(annals::event_log::now());
}

/// A time to the second, or how long ago it was.
pub(crate) fn when(time: Timestamp) -> String {
    match TERMINAL.get() {
        Some(now) => near(time, *now, false).unwrap_or_else(|| far(time, *now, &offset(time))),
        None => whole(time, offset(time)),
    }
}

/// A time of a list of sessions: to the minute, or how long ago it was.
pub(crate) fn when_brief(time: Timestamp) -> String {
    match TERMINAL.get() {
        Some(now) => brief(time, *now, &offset(time)),
        None => whole(time, offset(time)),
    }
}

/// How long ago a time of the last hour was, and the day of others.
fn brief<Z: TimeZone>(time: Timestamp, now: DateTime<Utc>, zone: &Z) -> String
where
    Z::Offset: std::fmt::Display,
{
    if let Some(near) = near(time, now, false) {
        return near;
    }
    let (time, now) = (time.to_utc().with_timezone(zone), now.with_timezone(zone));
    let days = (now.date_naive() - time.date_naive()).num_days();
    match days {
        0 if time <= now => format!("today {}", time.format("%H:%M")),
        1 => format!("yesterday {}", time.format("%H:%M")),
        _ => time.format("%Y-%m-%d %H:%M").to_string(),
    }
}

/// A whole time, to the second, with its offset.
fn whole(time: Timestamp, offset: FixedOffset) -> String {
    CostZone::Fixed(offset).time_text(time)
}

/// How long ago a time was, unless that is an hour or more, or it is to come.
fn near(time: Timestamp, now: DateTime<Utc>, with_seconds: bool) -> Option<String> {
    let ago = (now - time.to_utc()).num_seconds();
    match ago {
        0..MINUTE => Some(format!("{ago} s ago")),
        MINUTE..HOUR if with_seconds => {
            Some(format!("{} min {} s ago", ago / MINUTE, ago % MINUTE))
        }
        MINUTE..HOUR => Some(format!("{} min ago", ago / MINUTE)),
        _ => None,
    }
}

/// A time in a zone, with its day unless that is the same as now.
fn far<Z: TimeZone>(time: Timestamp, now: DateTime<Utc>, zone: &Z) -> String
where
    Z::Offset: std::fmt::Display,
{
    let (time, now) = (time.to_utc().with_timezone(zone), now.with_timezone(zone));
    let is_today = time.date_naive() == now.date_naive() && time <= now;
    let day = match is_today {
        true => "today".to_owned(),
        false => time.format("%Y-%m-%d").to_string(),
    };
    format!("{day} {}", time.format("%H:%M:%S %:z"))
}

/// The times of a table of events, one after the other.
#[derive(Debug, Default)]
pub(crate) struct Days {
    last: Option<NaiveDate>,
    /// Whether lines stay on the screen while time goes on.
    stays: bool,
}

/// The time of an event in a table.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    /// The line with its day, where that is another than that of the row before.
    pub(crate) day: Option<String>,
    pub(crate) time: String,
}

impl Days {
    /// For a table that goes on growing: nothing in it is relative.
    pub(crate) fn followed() -> Days {
        Days {
            last: None,
            stays: true,
        }
    }

    /// The next event's time.
    pub(crate) fn moment(&mut self, time: Timestamp) -> Moment {
        match TERMINAL.get() {
            Some(now) => self.shown(time, *now, &offset(time)),
            None => Moment {
                day: None,
                time: whole(time, offset(time)),
            },
        }
    }

    fn shown<Z: TimeZone>(&mut self, time: Timestamp, now: DateTime<Utc>, zone: &Z) -> Moment
    where
        Z::Offset: std::fmt::Display,
    {
        if let Some(time) = near(time, now, true).filter(|_| !self.stays) {
            return Moment { day: None, time };
        }
        let time = time.to_utc().with_timezone(zone);
        let day = Some(time.date_naive());
        let is_other = std::mem::replace(&mut self.last, day) != day;
        Moment {
            day: is_other.then(|| time.format("%Y-%m-%d, times in %:z").to_string()),
            time: time.format("%H:%M:%S").to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use chrono::Offset as _;

    use super::*;

    fn time(text: &str) -> Timestamp {
        Timestamp::from(text.parse::<DateTime<Utc>>().unwrap())
    }

    fn now() -> DateTime<Utc> {
        "2026-11-27T22:30:00Z".parse().unwrap()
    }

    fn zone() -> FixedOffset {
        FixedOffset::east_opt(3_600).unwrap()
    }

    #[test]
    fn times_of_sessions_are_short_and_say_their_day() {
        for (at, expected) in [
            ("2026-11-27T22:29:48Z", "12 s ago"),
            ("2026-11-27T21:00:00Z", "today 22:00"),
            ("2026-11-26T23:00:00Z", "today 00:00"),
            ("2026-11-26T22:59:59Z", "yesterday 23:59"),
            ("2026-11-25T22:59:59Z", "2026-11-25 23:59"),
            ("2026-11-27T22:30:01Z", "2026-11-27 23:30"),
        ] {
            assert_eq!(brief(time(at), now(), &zone()), expected, "{at}");
        }
    }

    #[test]
    fn near_times_are_relative_and_far_ones_whole() {
        for (at, among_objects, among_events) in [
            ("2026-11-27T22:30:00Z", "0 s ago", "0 s ago"),
            ("2026-11-27T22:29:48Z", "12 s ago", "12 s ago"),
            ("2026-11-27T22:26:48Z", "3 min ago", "3 min 12 s ago"),
            ("2026-11-27T21:30:01Z", "59 min ago", "59 min 59 s ago"),
            ("2026-11-27T21:30:00Z", "today 22:30:00 +01:00", "22:30:00"),
            ("2026-11-26T23:00:00Z", "today 00:00:00 +01:00", "00:00:00"),
            (
                "2026-11-26T22:59:59Z",
                "2026-11-26 23:59:59 +01:00",
                "23:59:59",
            ),
            (
                "2026-11-27T22:30:01Z",
                "2026-11-27 23:30:01 +01:00",
                "23:30:01",
            ),
        ] {
            let time = time(at);
            let object = near(time, now(), false).unwrap_or_else(|| far(time, now(), &zone()));
            assert_eq!(object, among_objects, "{at}");
            assert_eq!(
                Days::default().shown(time, now(), &zone()).time,
                among_events,
                "{at}"
            );
        }
        let late = time("2026-11-27T23:30:00.9Z");
        assert_eq!(whole(late, Utc.fix()), "2026-11-27 23:30:00Z");
        assert_eq!(whole(late, zone()), "2026-11-28 00:30:00 +01:00");
    }

    #[test]
    fn a_day_is_said_where_it_begins() {
        let mut days = Days::default();
        let mut day = |at| days.shown(time(at), now(), &zone()).day;
        let first = "2026-11-25, times in +01:00";
        assert_eq!(day("2026-11-25T12:00:00Z").as_deref(), Some(first));
        assert_eq!(day("2026-11-25T22:59:59Z"), None);
        let second = "2026-11-26, times in +01:00";
        assert_eq!(day("2026-11-25T23:00:00Z").as_deref(), Some(second));
        assert_eq!(day("2026-11-27T22:29:59Z"), None, "a near one");
        assert_eq!(day("2026-11-25T12:00:00Z").as_deref(), Some(first), "back");
        let mut followed = Days::followed();
        let near = followed.shown(time("2026-11-27T22:29:59Z"), now(), &zone());
        assert_eq!(near.time, "23:29:59");
    }
}
