//! Times among the fields of an object's JSON, for people.

use annals_domain::Timestamp;
use chrono::{DateTime, Utc};

/// Fields with recorded content, which is shown as it is.
const CONTENT: [&str; 6] = ["args", "content", "data", "input", "output", "parameters"];

/// Returns the time of a field: one that is named `at` or `..._at`, with a time in UTC.
///
/// ```
/// use annals_projections::time_of_field;
/// assert!(time_of_field("created_at", "2026-11-30T12:00:00Z").is_some());
/// assert!(time_of_field("summary", "2026-11-30T12:00:00Z").is_none());
/// assert!(time_of_field("created_at", "2026-11-30").is_none());
/// ```
pub fn time_of_field(name: &str, text: &str) -> Option<Timestamp> {
    let is_time = name == "at" || name.ends_with("_at");
    let is_utc = is_time && text.ends_with('Z');
    let time = is_utc.then(|| DateTime::parse_from_rfc3339(text).ok())??;
    Timestamp::in_range(time.with_timezone(&Utc))
}

/// Returns `true` if the value of a field is recorded content, in which no field is known.
pub fn is_content_field(name: &str) -> bool {
    CONTENT.contains(&name)
}
