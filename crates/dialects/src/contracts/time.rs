//! Points in time as the contracts write them: `2025-11-26T12:00:00+00:00`.

use annals_domain::{Timestamp, cut};
use chrono::{DateTime, Datelike, Timelike, Utc};
use serde::Serializer;

/// The first second that .NET's times have: 0001-01-01T00:00:00Z.
const FIRST: i64 = -62_135_596_800;
/// The last second that they have: 9999-12-31T23:59:59Z.
const LAST: i64 = 253_402_300_799;
/// Nanoseconds of a tick, the smallest step that they have.
const TICK: u32 = 100;
/// The ticks of a second, less one.
const LAST_TICK: u32 = 9_999_999;

/// A text that is not a time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "invalid time {text:?}: expected a date, T, a time of day and an offset, such as \
     \"2025-11-26T12:00:00+00:00\""
)]
pub struct InvalidTime {
    /// The text, cut to its first 80 bytes.
    pub text: String,
}

fn parse(text: &str) -> Option<Timestamp> {
    // RFC 3339 and .NET differ in small things: letters in lower case, a space
    // in place of the T, and leap seconds are not .NET's.
    let plain = text.is_ascii() && text.as_bytes().get(10) == Some(&b'T') && !text.ends_with('z');
    if !plain {
        return None;
    }
    let time = DateTime::parse_from_rfc3339(text).ok()?;
    let time = time.with_timezone(&Utc);
    let whole = time.nanosecond() / TICK * TICK;
    if whole / TICK > LAST_TICK || !(1..=9999).contains(&time.year()) {
        return None;
    }
    Some(time.with_nanosecond(whole)?.into())
}

/// Reads a time. What is finer than a tick of 100 ns is cut off, as .NET does.
pub(super) fn read(text: &str) -> Result<Timestamp, InvalidTime> {
    parse(text).ok_or_else(|| InvalidTime {
        text: cut(text, 80).to_owned(),
    })
}

/// A time as text, in UTC, with as many of seven fraction digits as it needs. One
/// that .NET does not have is written as its first or last one.
pub(super) fn to_text(time: Timestamp) -> String {
    let time = time.to_utc();
    let (seconds, ticks) = match time.timestamp() {
        seconds if seconds < FIRST => (FIRST, 0),
        seconds if seconds > LAST => (LAST, LAST_TICK),
        seconds => (
            seconds,
            (time.timestamp_subsec_nanos() / TICK).min(LAST_TICK),
        ),
    };
    let time = DateTime::<Utc>::from_timestamp(seconds, 0).unwrap_or_default();
    let head = time.format("%Y-%m-%dT%H:%M:%S");
    let fraction = format!(".{ticks:07}");
    let fraction = match ticks {
        0 => "",
        _ => fraction.trim_end_matches('0'),
    };
    format!("{head}{fraction}+00:00")
}

/// For serde's `serialize_with`.
pub(super) fn serialize<S: Serializer>(time: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&to_text(*time))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn again(text: &str) -> String {
        read(text).map_or_else(|_| "refused".to_owned(), to_text)
    }

    #[test]
    fn times_are_written_in_utc_with_the_digits_that_they_need() {
        for (read, written) in [
            ("2025-11-26T12:00:00+00:00", "2025-11-26T12:00:00+00:00"),
            ("2025-11-26T12:00:00Z", "2025-11-26T12:00:00+00:00"),
            ("2025-11-26T12:00:00-00:00", "2025-11-26T12:00:00+00:00"),
            ("2025-11-26T12:00:00.500Z", "2025-11-26T12:00:00.5+00:00"),
            ("2025-11-26T12:00:00.0000000Z", "2025-11-26T12:00:00+00:00"),
            (
                "2025-11-26T12:00:00.1234567Z",
                "2025-11-26T12:00:00.1234567+00:00",
            ),
            (
                "2025-11-26T12:00:00.123456789Z",
                "2025-11-26T12:00:00.1234567+00:00",
            ),
            ("2025-11-26T12:00:00+05:30", "2025-11-26T06:30:00+00:00"),
            ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00+00:00"),
            (
                "9999-12-31T23:59:59.9999999Z",
                "9999-12-31T23:59:59.9999999+00:00",
            ),
        ] {
            assert_eq!(again(read), written, "{read}");
        }
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in [
            "",
            "2025-11-26",
            "2025-11-26T12:00:00",
            "2025-11-26 12:00:00Z",
            "2025-11-26t12:00:00Z",
            "2025-11-26T12:00:00z",
            "2025-11-26T23:59:60Z",
            "2025-13-26T12:00:00Z",
            "2025-11-26T12:00:00\u{2212}01:00",
            "0000-12-31T00:00:00Z",
            "0001-01-01T00:00:00+01:00",
            "9999-12-31T23:59:59-01:00",
            "+10000-01-01T00:00:00Z",
            "1764158400",
        ] {
            assert_eq!(again(text), "refused", "{text}");
        }
    }

    #[test]
    fn times_beyond_the_last_one_are_written_as_that() {
        let latest: Timestamp = DateTime::<Utc>::MAX_UTC.into();
        assert_eq!(to_text(latest), "9999-12-31T23:59:59.9999999+00:00");
        let earliest: Timestamp = DateTime::<Utc>::MIN_UTC.into();
        assert_eq!(to_text(earliest), "0001-01-01T00:00:00+00:00");
    }
}
