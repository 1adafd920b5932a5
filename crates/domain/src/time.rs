//! Points in time as events store them.

use std::fmt;

use chrono::{DateTime, Datelike, SecondsFormat, Utc};
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A point in time, UTC: seconds since 1970 and nanoseconds.
///
/// In binary formats it is an i64 and a u32; in text formats RFC 3339 with `Z`
/// and the fewest of 0, 3, 6 or 9 fraction digits that lose nothing.
///
/// ```
/// use annals_domain::Timestamp;
/// let time: Timestamp = serde_json::from_str(r#""2026-01-02T03:04:05.5+01:00""#)?;
/// assert_eq!(serde_json::to_string(&time)?, r#""2026-01-02T02:04:05.500Z""#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(DateTime<Utc>);

impl Timestamp {
    /// 1970-01-01T00:00:00Z.
    pub const EPOCH: Timestamp = Timestamp(DateTime::UNIX_EPOCH);

    /// A time that RFC 3339 can write, in the years 0 to 9999; nothing for another one. Where an offset is added, the
    /// last hours of the year 9999 are in no such year in UTC.
    ///
    /// ```
    /// use annals_domain::Timestamp;
    /// let time = chrono::DateTime::parse_from_rfc3339("9999-12-31T23:59:59-01:00")?;
    /// assert_eq!(Timestamp::in_range(time.to_utc()), None);
    /// # Ok::<(), chrono::ParseError>(())
    /// ```
    pub fn in_range(time: DateTime<Utc>) -> Option<Timestamp> {
        (0..=9999).contains(&time.year()).then_some(Timestamp(time))
    }

    /// The time as chrono has it.
    pub fn to_utc(self) -> DateTime<Utc> {
        self.0
    }
}

impl From<DateTime<Utc>> for Timestamp {
    fn from(time: DateTime<Utc>) -> Timestamp {
        Timestamp(time)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.to_rfc3339_opts(SecondsFormat::AutoSi, true))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.collect_str(self)
        } else {
            (self.0.timestamp(), self.0.timestamp_subsec_nanos()).serialize(serializer)
        }
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
        if deserializer.is_human_readable() {
            let text = String::deserialize(deserializer)?;
            let read = DateTime::parse_from_rfc3339(&text).map_err(|error| {
                D::Error::custom(format!("invalid RFC 3339 time {text:?}: {error}"))
            })?;
            let time = Timestamp::in_range(read.with_timezone(&Utc));
            return time.ok_or_else(|| {
                D::Error::custom(format!(
                    "invalid time {text:?}: in UTC it is not in the years 0 to 9999"
                ))
            });
        }
        let (seconds, nanos) = <(i64, u32)>::deserialize(deserializer)?;
        DateTime::from_timestamp(seconds, nanos)
            .map(Timestamp)
            .ok_or_else(|| D::Error::custom("a time is out of range"))
    }
}

impl JsonSchema for Timestamp {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Timestamp".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "format": "date-time" })
    }
}
