//! Texts as they are drawn.

use std::sync::OnceLock;

use annals::domain::Timestamp;
use annals::projections::CostZone;
use uuid::Uuid;

/// Characters of a line that are looked at; no terminal shows more.
const LONGEST: usize = 2_000;

/// A foreign text on one line, harmless and not too long.
pub(crate) fn safe(text: &str) -> String {
    let mut cut: String = text.chars().take(LONGEST).collect();
    if cut.len() < text.len() {
        cut.push('…');
    }
    annals_terminal::line(&cut.replace(['\n', '\t'], " ")).into_owned()
}

/// An id's last digits, which commands take for the id.
pub(crate) fn short(id: Uuid) -> String {
    let digits = id.simple().to_string();
    digits.get(24..).unwrap_or_default().to_owned()
}

/// The time zone that the user chose.
static ZONE: OnceLock<CostZone> = OnceLock::new();

/// Sets the time zone of all times.
pub(crate) fn in_zone(zone: CostZone) {
    let _ = ZONE.set(zone);
}

fn zone() -> CostZone {
    ZONE.get().copied().unwrap_or(CostZone::Local)
}

/// A time to the second with its offset, in the user's time zone.
pub(crate) fn when(time: Timestamp) -> String {
    zone().time_text(time)
}

/// A time to the minute, in the user's time zone.
pub(crate) fn brief(time: Timestamp) -> String {
    let time = time.to_utc().with_timezone(&zone().offset_at(time));
    time.format("%Y-%m-%d %H:%M").to_string()
}

/// How long after another time something was: `+1:02:03`.
pub(crate) fn since(start: Timestamp, time: Timestamp) -> String {
    let seconds = (time.to_utc() - start.to_utc()).num_seconds();
    let sign = if seconds < 0 { '-' } else { '+' };
    let seconds = seconds.unsigned_abs();
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match hours {
        0 => format!("{sign}{minutes}:{seconds:02}"),
        hours => format!("{sign}{hours}:{minutes:02}:{seconds:02}"),
    }
}

/// A number with its thousands apart.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Whether a text has the words that are searched, whatever their case.
pub(crate) fn has(text: &str, needle: &str) -> bool {
    text.to_lowercase().contains(&needle.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_thousands() {
        let shown = [0, 999, 1_000, 12_345, 1_234_567].map(grouped);
        assert_eq!(shown, ["0", "999", "1,000", "12,345", "1,234,567"]);
    }

    #[test]
    fn a_brief_time_has_no_seconds() {
        assert_eq!(brief(Timestamp::EPOCH).len(), 16);
    }

    #[test]
    fn foreign_text_cannot_drive_the_terminal() {
        assert_eq!(safe("a\u{1b}[2J\nb\u{202e}c"), "a\\u{1b}[2J b\\u{202e}c");
        assert!(safe(&"x".repeat(1_000_000)).chars().count() <= LONGEST + 1);
    }
}
