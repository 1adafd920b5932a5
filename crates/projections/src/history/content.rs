//! An event as JSON, with its content in place of the pieces' numbers.
//!
//! Which fields are content, `annals_wire::event_docs` says.

use annals_domain::Slot;
use annals_wire::StructureJson;
use annals_wire::event_docs::{self, FieldDoc, Part};
use serde_json::{Map, Value, json};

use crate::{Entry, PieceValue, Text};

/// The event of an entry.
pub(super) fn event(entry: &Entry) -> Value {
    // A structure is a struct of plain values, which JSON can always hold.
    let event = serde_json::to_value(StructureJson(&entry.event)).unwrap_or_default();
    let mut event = annals_wire::sorted(event);
    let event_type = entry.event.event_type();
    let documented = event_docs::events(entry.stream.kind).iter();
    if let Some(doc) = documented
        .into_iter()
        .find(|doc| doc.event_type == event_type)
    {
        fill(&mut event, &doc.fields, entry);
    }
    event
}

/// Puts the content into the fields of a group, or of each group of a list.
fn fill(value: &mut Value, fields: &[FieldDoc], entry: &Entry) {
    match value {
        Value::Object(group) => fill_group(group, fields, entry),
        Value::Array(groups) => groups
            .iter_mut()
            .for_each(|group| fill(group, fields, entry)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn fill_group(group: &mut Map<String, Value>, fields: &[FieldDoc], entry: &Entry) {
    for field in fields {
        let Some(value) = group.get_mut(&field.name) else {
            continue;
        };
        match &field.part {
            Part::Structure | Part::Name => {}
            Part::Content => resolve(value, field.kind.contains("JSON"), entry),
            Part::Group(fields) | Part::Groups(fields) => fill(value, fields, entry),
        }
    }
}

/// Replaces the numbers of pieces. Names and their JSON are shown as pairs.
fn resolve(value: &mut Value, is_json: bool, entry: &Entry) {
    match value {
        Value::Number(number) => {
            let slot = number
                .as_u64()
                .and_then(|number| u16::try_from(number).ok());
            *value = slot.map_or(Value::Null, |slot| content(Slot(slot), is_json, entry));
        }
        Value::Array(items) => {
            for item in items {
                match item.as_array_mut().map(Vec::as_mut_slice) {
                    Some([name, of_name]) => {
                        resolve(name, false, entry);
                        resolve(of_name, is_json, entry);
                    }
                    Some(_) | None => resolve(item, is_json, entry),
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::String(_) | Value::Object(_) => {}
    }
}

fn content(slot: Slot, is_json: bool, entry: &Entry) -> Value {
    if let PieceValue::Attachment { digest, size } = entry.piece(slot) {
        return json!({ "digest": digest.to_string(), "size": size });
    }
    match entry.text(slot) {
        Text::Removed => json!({ "removed": true }),
        Text::Present(text) if is_json => {
            serde_json::from_str(&text).unwrap_or(Value::String(text))
        }
        Text::Present(text) => Value::String(text),
    }
}
