//! The parts that the lines of several aggregates have.

use annals_domain::metadata::MetadataSet;
use annals_domain::redaction::Redacted;
use annals_domain::{FrameId, GitOid, Slot};
use uuid::Uuid;

use crate::{Entry, Text};

/// Events that are named one by one where content of many was removed.
const MOST_POSITIONS: usize = 5;

/// Characters of a text that a line shows.
const EXCERPT: usize = 60;

/// The last 8 digits of an id: the first ones are shared by all of a minute.
pub(crate) fn short(id: impl Into<Uuid>) -> String {
    let digits = id.into().simple().to_string();
    digits.chars().skip(24).collect()
}

pub(super) fn short_oid(oid: &GitOid) -> String {
    oid.to_string().chars().take(12).collect()
}

/// A text on one line, cut where it is long, in quotes unless it was removed.
pub(super) fn excerpt(text: &Text) -> String {
    match text {
        Text::Present(_) => format!("\"{}\"", plain(text)),
        Text::Removed => text.to_string(),
    }
}

/// The same without quotes.
pub(super) fn plain(text: &Text) -> String {
    let Some(text) = text.as_str() else {
        return text.to_string();
    };
    let words: Vec<&str> = text
        .split(|c: char| c.is_whitespace() || c.is_control())
        .collect();
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    let line = words.join(" ");
    let mut cut: String = line.chars().take(EXCERPT).collect();
    if cut.len() < line.len() {
        cut.push('…');
    }
    cut
}

/// `: "text"`, if there is one.
pub(super) fn because(entry: &Entry, slot: Option<Slot>) -> String {
    entry
        .optional_text(slot)
        .map_or(String::new(), |text| format!(": {}", excerpt(&text)))
}

pub(super) fn quoted(entry: &Entry, slot: Slot) -> String {
    excerpt(&entry.text(slot))
}

/// The mark of what was inferred.
pub(super) fn inferred(inferred: bool) -> &'static str {
    if inferred { " (inferred)" } else { "" }
}

pub(super) fn count(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

pub(super) fn frame_list(frames: &[FrameId]) -> String {
    let numbers: Vec<String> = frames.iter().map(FrameId::to_string).collect();
    format!("[{}]", numbers.join(", "))
}

/// What was removed, and why.
pub(super) fn redacted(event: &Redacted, entry: &Entry) -> String {
    let pieces: usize = event.removed.iter().map(|from| from.pieces.len()).sum();
    let events: Vec<String> = event
        .removed
        .iter()
        .take(MOST_POSITIONS)
        .map(|from| from.position.to_string())
        .collect();
    let more = event.removed.len().saturating_sub(events.len());
    let more = match more {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "{} removed from {} {}{more}: {}",
        count(pieces, "piece of content", "pieces of content"),
        match event.removed.len() {
            1 => "event",
            _ => "events",
        },
        events.join(", "),
        quoted(entry, event.reason)
    )
}

pub(super) fn metadata(event: &MetadataSet) -> String {
    let mut parts = Vec::new();
    parts.extend(
        event
            .visibility
            .map(|visibility| format!("visibility -> {visibility}")),
    );
    parts.extend(
        event
            .tags
            .as_ref()
            .map(|tags| count(tags.len(), "tag", "tags")),
    );
    let ids = event.external_ids.as_ref();
    parts.extend(ids.map(|ids| count(ids.len(), "external id", "external ids")));
    format!("set {}", parts.join(", "))
}
