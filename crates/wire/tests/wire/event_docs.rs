//! The documentation of the events says what the events are.

use std::collections::BTreeSet;

use annals_domain::{AnyEvent, StreamKind};
use annals_wire::event_docs::words::vocabularies;
use annals_wire::event_docs::{FieldDoc, Part, events};
use annals_wire::sample::samples;
use annals_wire::{StructureJson, events_markdown};
use serde_json::Value;

use crate::support::{read, updating, workspace_file, write};

#[test]
fn every_event_type_is_listed_in_order() {
    for kind in StreamKind::ALL {
        let listed: Vec<&str> = events(*kind).iter().map(|doc| doc.event_type).collect();
        let types: Vec<&str> = AnyEvent::types()
            .into_iter()
            .filter(|(of, _, _)| of == kind)
            .map(|(_, name, _)| name)
            .collect();
        assert_eq!(listed, types);
        assert!(events(*kind).iter().all(|doc| doc.meaning.ends_with('.')));
    }
}

#[test]
fn fields_types_and_parts_are_those_of_the_examples() {
    for sample in samples() {
        let event_type = sample.event.event_type();
        let docs = events(sample.event.stream_kind());
        let doc = docs
            .iter()
            .find(|doc| doc.event_type == event_type)
            .expect("it is listed");
        let json = serde_json::to_value(StructureJson(&sample.event)).expect("it is JSON");
        let mut slots = Vec::new();
        check_fields(event_type, doc.fields, &json, &mut slots);
        // Every piece is named by exactly one field that the table calls
        // content, so the table cannot take one part for the other.
        slots.sort_unstable();
        let expected: Vec<u64> = (0..sample.pieces.list().len() as u64).collect();
        assert_eq!(
            slots, expected,
            "{event_type}: pieces that the content fields name"
        );
    }
}

fn check_fields(path: &str, docs: &[FieldDoc], value: &Value, slots: &mut Vec<u64>) {
    let object = value
        .as_object()
        .unwrap_or_else(|| panic!("{path} is not an object: {value}"));
    let listed: BTreeSet<&str> = docs.iter().map(|doc| doc.name).collect();
    let found: BTreeSet<&str> = object.keys().map(String::as_str).collect();
    assert_eq!(listed, found, "the fields of {path}");
    for doc in docs {
        let path = format!("{path}.{}", doc.name);
        let value = &object[doc.name];
        match doc.part {
            Part::Structure | Part::Name => {
                assert!(
                    fits(doc.kind, value),
                    "{path} is not a valid {}: {value}",
                    doc.kind
                )
            }
            Part::Content => collect_numbers(&path, value, slots),
            Part::Group(fields) => check_fields(&path, fields, value, slots),
            Part::Groups(fields) => {
                for item in value
                    .as_array()
                    .unwrap_or_else(|| panic!("{path} is not a list"))
                {
                    check_fields(&path, fields, item, slots);
                }
            }
        }
    }
}

/// Whether a JSON value can be of the type that the table names.
fn fits(kind: &str, value: &Value) -> bool {
    let kind = kind.trim_end_matches('?');
    if let Some(of) = kind
        .strip_prefix("list of ")
        .or_else(|| kind.strip_prefix("range of "))
    {
        return value
            .as_array()
            .is_some_and(|items| items.iter().all(|item| fits(of, item)));
    }
    if let Some((first, second)) = kind
        .strip_prefix('(')
        .and_then(|pair| pair.strip_suffix(')')?.split_once(", "))
    {
        let pair = value.as_array().filter(|pair| pair.len() == 2);
        return pair.is_some_and(|pair| fits(first, &pair[0]) && fits(second, &pair[1]));
    }
    let hex = |text: &str, len| text.len() == len && text.chars().all(|c| c.is_ascii_hexdigit());
    match (kind, value) {
        ("u8" | "u16" | "u32" | "u64", Value::Number(number)) => number.is_u64(),
        ("i32", Value::Number(number)) => number.is_i64(),
        ("f64", Value::Number(number)) => number.is_f64(),
        ("bool", Value::Bool(_)) => true,
        ("uuid", Value::String(text)) => uuid::Uuid::parse_str(text).is_ok(),
        ("git id", Value::String(text)) => hex(text, 40) || hex(text, 64),
        ("SHA-256", Value::String(text)) => hex(text, 64),
        ("time", Value::String(text)) => text.ends_with('Z'),
        ("word", Value::String(text)) => is_word(text),
        ("text", Value::String(_)) => true,
        _ => false,
    }
}

/// Whether some enum has this word.
fn is_word(text: &str) -> bool {
    let mut words = vocabularies().into_iter().flat_map(|found| found.words);
    words.any(|(_, word)| word == text)
}

/// The numbers of pieces in a content field: one, a list, or a list of pairs.
fn collect_numbers(path: &str, value: &Value, slots: &mut Vec<u64>) {
    match value {
        Value::Number(number) => slots.extend(number.as_u64()),
        Value::Array(items) => items
            .iter()
            .for_each(|item| collect_numbers(path, item, slots)),
        other => panic!("{path} is content and no number of a piece: {other}"),
    }
}

#[test]
fn the_page_is_the_one_in_docs() {
    let path = workspace_file("docs/events.md");
    let page = events_markdown();
    if updating() {
        write(&path, &page);
    }
    assert!(
        path.exists() && read(&path) == page,
        "docs/events.md is not what the documentation in the code says; \
         UPDATE_GOLDENS=1 cargo test -p annals-wire writes it"
    );
}
