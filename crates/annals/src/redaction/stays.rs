//! What a pattern finds in the part of an event that no redaction removes: it is named, so that
//! it is not taken for gone.

use annals_event_log::{Position, Record};
use annals_wire::{StructureJson, names_of};
use chrono::DateTime;
use regex::bytes::Regex;
use serde_json::Value;
use uuid::Uuid;

use crate::LoadError;

/// Digits of a SHA-1 and of a SHA-256.
const DIGESTS: [usize; 2] = [40, 64];

/// A text with a pattern in it that stays: it is structure, which states are folded from and the
/// header's digest is over.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Stays {
    /// The event.
    pub position: Position,
    /// Where in it: `actor.kind`, `actor.id`, or the path of a field, such as `repo.path`.
    pub field: String,
}

/// Whether a pattern may look at the ends of a text: it must then be given each text alone.
pub(super) fn looks_at_ends(pattern: &Regex) -> bool {
    let signs = ["^", "$", r"\b", r"\B", r"\A", r"\z", r"\<", r"\>"];
    signs.iter().any(|sign| pattern.as_str().contains(sign))
}

/// The texts of a record outside of its content in which something is found.
pub(super) fn of(
    record: &Record,
    is_found: &dyn Fn(&[u8]) -> bool,
) -> Result<Vec<Stays>, LoadError> {
    let mut fields = Vec::new();
    for (field, text) in of_the_header(record) {
        if is_found(text.as_bytes()) {
            fields.push(field.to_owned());
        }
    }
    let mut decoded = annals_wire::decode(record).map_err(LoadError::from)?;
    if !names_of(record).map_err(LoadError::from)?.is_empty() {
        // They are content.
        decoded.event.each_name(&mut String::clear);
    }
    let structure = serde_json::to_value(StructureJson(&decoded.event));
    if let Ok(structure) = structure {
        texts(&structure, &mut String::new(), &mut |field, text| {
            // A kind that a user chose may look like an id.
            let is_chosen = field.ends_with("other");
            if is_found(text.as_bytes()) && (is_chosen || !is_number(text)) {
                fields.push(field.to_owned());
            }
        });
    }
    let position = record.position();
    let stays = fields.into_iter().map(|field| Stays { position, field });
    Ok(stays.collect())
}

/// The texts of a header that a user chose.
pub(super) fn of_the_header(record: &Record) -> [(&'static str, &str); 2] {
    [
        ("actor.kind", record.actor_kind()),
        ("actor.id", record.actor_id()),
    ]
}

/// Whether it is an id, a digest or a time: not a person's words.
fn is_number(text: &str) -> bool {
    let is_digest = DIGESTS.contains(&text.len()) && text.bytes().all(|it| it.is_ascii_hexdigit());
    is_digest || Uuid::try_parse(text).is_ok() || DateTime::parse_from_rfc3339(text).is_ok()
}

/// Every text in a value, and the path to it.
fn texts(value: &Value, path: &mut String, each: &mut dyn FnMut(&str, &str)) {
    let length = path.len();
    match value {
        Value::String(text) => each(path, text),
        Value::Array(items) => {
            for (number, item) in items.iter().enumerate() {
                path.push_str(&format!("[{number}]"));
                texts(item, path, each);
                path.truncate(length);
            }
        }
        Value::Object(fields) => {
            for (name, item) in fields {
                if length > 0 {
                    path.push('.');
                }
                path.push_str(name);
                texts(item, path, each);
                path.truncate(length);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
