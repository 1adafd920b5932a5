//! An event of a conversation, of either version, and the items of its entry.

use annals_domain::Timestamp;
use annals_event_log::IdSecret;
use serde_json::value::RawValue;

use super::tools::ids;
use crate::import::fields::Table;
use crate::import::format::time;
use crate::import::members::Members;
use crate::transcript::item::{Entry, Item, Said, Source, Speaker, What};

/// An event, of either version.
pub(super) struct Event<'a> {
    pub(super) text: &'a str,
    pub(super) members: Members<'a>,
    pub(super) session: &'a str,
    pub(super) names: Option<&'a IdSecret>,
}

impl<'a> Event<'a> {
    /// A name that only the session tells from those of others.
    pub(super) fn own(&self, name: &str) -> String {
        format!("{}/{name}", self.session)
    }

    /// The name of an event that has none.
    pub(super) fn anonymous(&self) -> String {
        let said = format!("{}\u{1f}{}", self.session, self.text);
        ids().anonymous(said.as_bytes(), self.names)
    }

    /// When it was written. A time without a zone is UTC.
    pub(super) fn at(&self) -> Option<Timestamp> {
        let text = self.members.text("timestamp")?;
        time(&text).or_else(|| time(&format!("{}Z", text.replacen(' ', "T", 1))))
    }

    /// Its entry, without tokens.
    pub(super) fn entry(
        &self,
        name: String,
        speaker: Speaker,
        table: Table,
        items: Vec<Item>,
    ) -> Entry {
        Entry {
            session: Some(self.session.to_owned()),
            at: self.at(),
            items: numbered(items),
            ..Entry::new(self.text.to_owned(), table, name, speaker, self.said())
        }
    }

    /// All that it says but its name and its time.
    pub(super) fn said(&self) -> Said {
        let mut parts = Vec::new();
        for (name, raw) in self.members.iter() {
            if !["id", "timestamp"].contains(&name) {
                parts.extend([Some(name), Some(raw.get())]);
            }
        }
        Said::of(&parts, None)
    }
}

/// The frames of an entry are numbered in its items' order.
fn numbered(mut items: Vec<Item>) -> Vec<Item> {
    for (frame, item) in items.iter_mut().enumerate() {
        item.frame = frame;
    }
    items
}

/// An item whose fields the entry's table counts.
pub(super) fn item(path: &'static str, what: What) -> Item {
    Item::new(0, path, Vec::new(), what)
}

/// An item with a value that counts by itself: it is lost where it is too long.
pub(super) fn item_of(table: Table, raw: Option<&RawValue>, what: What) -> Item {
    let path = table.first().map_or("", |(path, _)| *path);
    let source = |raw: &RawValue| Source::of(path, raw, table);
    Item {
        sources: raw.map(source).into_iter().collect(),
        ..item(path, what)
    }
}

/// A text of some of a message's parts; none where it would be blank.
pub(super) fn joined(texts: Vec<String>) -> Option<String> {
    let text = texts.join("\n");
    (!text.trim().is_empty()).then_some(text)
}
