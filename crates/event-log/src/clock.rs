//! Bounds on what a clock may tell, and ids that need none.
//!
//! The time at which a record was made never decreases in a log. One record that was made while the clock was far
//! ahead would date all later ones, so that an append is refused where the clock cannot be right.

use std::time::SystemTime;

use chrono::{DateTime, Days, Utc};
use uuid::{NoContext, Timestamp, Uuid};

use crate::AppendError;

/// No clock is right that tells 2200-01-01 or later: seconds since 1970.
const TOO_LATE: i64 = 7_258_118_400;
/// No log was made before 2020-01-01: seconds since 1970. A record with an earlier time is a test's or was made up.
const FIRST_LOGS: i64 = 1_577_836_800;
/// Days that a log may rest, or a clock jump: ten years.
const REST: Days = Days::new(3_653);

/// Refuses an append at a time that cannot be right: before 1970, from 2200 on, or more than ten years after the last
/// record, which was made at `last`.
///
/// # Errors
/// [`AppendError::Clock`].
pub fn check_clock(now: DateTime<Utc>, last: DateTime<Utc>) -> Result<(), AppendError> {
    let (seconds, tells) = (now.timestamp(), || now.format("%Y-%m-%dT%H:%M:%SZ"));
    if !(0..TOO_LATE).contains(&seconds) {
        let reason = format!(
            "it tells {}, and no log is written before 1970 or after 2199",
            tells()
        );
        return Err(AppendError::Clock { reason });
    }
    let latest = last.checked_add_days(REST);
    if last.timestamp() >= FIRST_LOGS && latest.is_some_and(|latest| now > latest) {
        let last = last.format("%Y-%m-%dT%H:%M:%SZ");
        let reason = format!(
            "it tells {}, more than ten years after the log's last event ({last}), and all later events would get \
             that time",
            tells()
        );
        return Err(AppendError::Clock { reason });
    }
    Ok(())
}

/// The time that the machine's clock tells, also where that is before 1970, when chrono's own function ends the process.
pub fn now() -> DateTime<Utc> {
    SystemTime::now().into()
}

/// A new id (version 7), ordered by time. Where the clock tells a time before 1970 it is ordered before all others.
pub fn new_id() -> Uuid {
    // The uuid crate's own function ends the process then.
    match SystemTime::now().duration_since(SystemTime::UNIX_EPOCH) {
        Ok(_) => Uuid::now_v7(),
        Err(_) => Uuid::new_v7(Timestamp::from_unix(NoContext, 0, 0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> DateTime<Utc> {
        text.parse().unwrap_or_default()
    }

    #[test]
    fn a_clock_that_cannot_be_right_is_refused() {
        let (none, last) = (DateTime::<Utc>::MIN_UTC, at("2026-11-28T12:00:00Z"));
        for (now, last, is_right) in [
            ("2026-11-28T12:00:01Z", last, true),
            ("2026-11-28T11:00:00Z", last, true),
            ("2036-11-01T00:00:00Z", last, true),
            ("2037-01-01T00:00:00Z", last, false),
            ("2300-01-01T00:00:00Z", last, false),
            ("2300-01-01T00:00:00Z", none, false),
            ("2037-01-01T00:00:00Z", none, true),
            ("2037-01-01T00:00:00Z", at("2037-01-02T00:00:00Z"), true),
            ("2026-11-28T12:00:00Z", at("1970-01-01T00:00:00Z"), true),
            ("1969-12-31T23:59:59Z", last, false),
            ("1969-12-31T23:59:59Z", none, false),
            ("1970-01-01T00:00:00Z", last, true),
        ] {
            assert_eq!(check_clock(at(now), last).is_ok(), is_right, "{now} {last}");
        }
    }

    #[test]
    fn an_id_needs_no_clock() {
        assert_eq!(new_id().get_version_num(), 7);
    }
}
