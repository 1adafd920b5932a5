//! Durations as the contracts write them: `00:05:00`.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Ticks of 100 ns in a second.
const SECOND: i128 = 10_000_000;

/// A duration in ticks of 100 ns, written `[-][d.]hh:mm:ss[.fffffff]`.
///
/// ```
/// use annals_domain::session::TimeSpan;
/// let five_minutes: TimeSpan = "00:05:00".parse()?;
/// assert_eq!(five_minutes.ticks(), 3_000_000_000);
/// assert_eq!(TimeSpan::from_ticks(-864_000_000_001).to_string(), "-1.00:00:00.0000001");
/// # Ok::<(), annals_domain::session::InvalidTimeSpan>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct TimeSpan(i64);

/// A text that is not a [`TimeSpan`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid duration {text:?}: expected [-][d.]hh:mm:ss[.fffffff], such as \"00:05:00\"")]
pub struct InvalidTimeSpan {
    /// The text, cut to its first 80 characters.
    pub text: String,
}

impl TimeSpan {
    /// A duration of so many ticks of 100 ns.
    pub fn from_ticks(ticks: i64) -> TimeSpan {
        TimeSpan(ticks)
    }

    /// How many ticks of 100 ns it has.
    pub fn ticks(self) -> i64 {
        self.0
    }
}

/// A number of one to `most` digits below a limit.
fn number(text: &str, most: usize, below: i128) -> Option<i128> {
    let digits = !text.is_empty() && text.len() <= most && text.bytes().all(|b| b.is_ascii_digit());
    let number: i128 = digits.then(|| text.parse().ok())??;
    (number < below).then_some(number)
}

fn parse(text: &str) -> Option<i64> {
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (head, rest) = text.split_once(':')?;
    let (minutes, seconds) = rest.split_once(':')?;
    let (days, hours) = head.split_once('.').unwrap_or(("0", head));
    let (seconds, fraction) = match seconds.split_once('.') {
        Some((_, "")) => return None,
        Some(split) => split,
        None => (seconds, "0"),
    };
    let whole = number(days, 8, 100_000_000)? * 86_400
        + number(hours, 2, 24)? * 3_600
        + number(minutes, 2, 60)? * 60
        + number(seconds, 2, 60)?;
    let padded = format!("{fraction:0<7}");
    let ticks = whole * SECOND + number(&padded, 7, SECOND)?;
    i64::try_from(if negative { -ticks } else { ticks }).ok()
}

impl FromStr for TimeSpan {
    type Err = InvalidTimeSpan;

    fn from_str(text: &str) -> Result<TimeSpan, InvalidTimeSpan> {
        parse(text).map(TimeSpan).ok_or_else(|| InvalidTimeSpan {
            text: text.chars().take(80).collect(),
        })
    }
}

impl fmt::Display for TimeSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ticks = i128::from(self.0).abs();
        let (seconds, fraction) = (ticks / SECOND, ticks % SECOND);
        if self.0 < 0 {
            f.write_str("-")?;
        }
        if seconds >= 86_400 {
            write!(f, "{}.", seconds / 86_400)?;
        }
        let (hours, minutes) = (seconds / 3_600 % 24, seconds / 60 % 60);
        write!(f, "{hours:02}:{minutes:02}:{:02}", seconds % 60)?;
        match fraction {
            0 => Ok(()),
            fraction => write!(f, ".{fraction:07}"),
        }
    }
}

impl Serialize for TimeSpan {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for TimeSpan {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<TimeSpan, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(D::Error::custom)
    }
}

impl JsonSchema for TimeSpan {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "TimeSpan".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "pattern": r"^-?(\d{1,8}\.)?([01]?\d|2[0-3]):[0-5]?\d:[0-5]?\d(\.\d{1,7})?$",
            "examples": ["00:05:00"],
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn durations_come_back_as_they_were_written() {
        for text in [
            "00:05:00",
            "00:00:00",
            "-00:00:00.0000001",
            "1.00:00:00",
            "10675199.02:48:05.4775807",
            "-10675199.02:48:05.4775808",
            "23:59:59.5000000",
        ] {
            assert_eq!(text.parse::<TimeSpan>().unwrap().to_string(), text);
        }
        assert_eq!(
            "1.2:3:4.5".parse::<TimeSpan>().unwrap().to_string(),
            "1.02:03:04.5000000"
        );
    }

    #[test]
    fn what_is_not_a_duration_is_refused() {
        for text in [
            "",
            "5",
            "00:05",
            "24:00:00",
            "00:60:00",
            "00:00:60",
            "00:00:00.12345678",
            "+00:00:01",
            "00:00:00.",
            " 00:00:01",
            "10675199.02:48:05.4775808",
            "00:00:00:00",
            "٠٠:00:00",
        ] {
            assert!(text.parse::<TimeSpan>().is_err(), "{text}");
        }
    }
}
