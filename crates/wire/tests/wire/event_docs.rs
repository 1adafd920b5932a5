//! The documentation of the events says what the events are.

use std::collections::BTreeSet;

use annals_domain::{AnyEvent, Json, NewPiece, StreamKind};
use annals_wire::event_docs::words::vocabularies;
use annals_wire::event_docs::{EventDoc, FieldDoc, Part, all_schemas, events, schema_of};
use annals_wire::sample::samples;
use annals_wire::{StructureJson, events_markdown};
use serde_json::Value;

use crate::shape::shape_of;
use crate::support::{read, updating, workspace_file, write};

/// Gives each field of an event, those of groups included, with its path.
fn each_field<'d>(prefix: &str, docs: &'d [FieldDoc], each: &mut dyn FnMut(&str, &'d FieldDoc)) {
    for doc in docs {
        let path = format!("{prefix}.{}", doc.name);
        each(&path, doc);
        if let Part::Group(fields) | Part::Groups(fields) = &doc.part {
            each_field(&path, fields, each);
        }
    }
}

fn all_events() -> impl Iterator<Item = &'static EventDoc> {
    StreamKind::ALL.iter().flat_map(|kind| events(*kind))
}

/// The page shows doc comments to people who have no source: each is there, in sentences, and names
/// no item of Rust.
#[test]
fn every_event_field_and_word_has_a_meaning_for_people() {
    let check = |what: &str, meaning: &str| {
        let first = meaning.chars().next();
        assert!(
            first.is_some_and(char::is_uppercase) && meaning.ends_with(['.', ')']),
            "{what} is not described in sentences: {meaning:?}"
        );
        for foreign in ["[`", "`None`", "`Some", "::", "|"] {
            assert!(!meaning.contains(foreign), "{what}: {meaning:?}");
        }
    };
    for doc in all_events() {
        check(doc.event_type, &doc.meaning);
        each_field(doc.event_type, &doc.fields, &mut |path, field| {
            check(path, &field.meaning);
            assert!(!field.kind.contains("unknown"), "{path} has no type");
        });
    }
    for vocabulary in vocabularies() {
        check(&vocabulary.name, &vocabulary.meaning);
        for word in &vocabulary.words {
            check(&word.word, &word.meaning);
        }
    }
}

/// The order of the fields is that of their bytes.
#[test]
fn fields_are_listed_in_the_order_in_which_they_are_stored() {
    for (kind, event_type, _) in AnyEvent::types() {
        let docs = events(kind).iter().find(|doc| doc.event_type == event_type);
        let mut listed = Vec::new();
        each_field("", &docs.expect(event_type).fields, &mut |_, field| {
            listed.push(field.name.as_str());
        });
        let shape = shape_of(kind, event_type);
        let stored: Vec<&str> = shape
            .lines()
            .filter_map(|line| Some(line.trim_start().split_once(':')?.0))
            .collect();
        assert_eq!(listed, stored, "{event_type}");
    }
}

/// Which texts of a structure are names, the domain's `each_name` says.
#[test]
fn names_are_those_that_the_event_gives() {
    for sample in samples() {
        let doc = doc_of(&sample.event);
        let json = |event: &AnyEvent| serde_json::to_value(StructureJson(event)).expect("JSON");
        let mut renamed = sample.event.clone();
        renamed.each_name(&mut |name| name.push_str(" renamed"));
        compare_names(
            doc.event_type,
            &doc.fields,
            &json(&sample.event),
            &json(&renamed),
        );
    }
}

fn compare_names(path: &str, docs: &[FieldDoc], before: &Value, after: &Value) {
    if let (Value::Array(before), Value::Array(after)) = (before, after) {
        let both = before.iter().zip(after);
        return both.for_each(|(before, after)| compare_names(path, docs, before, after));
    }
    for doc in docs {
        let path = format!("{path}.{}", doc.name);
        let (before, after) = (&before[&doc.name], &after[&doc.name]);
        match &doc.part {
            Part::Group(fields) | Part::Groups(fields) => {
                compare_names(&path, fields, before, after);
            }
            Part::Name => {
                assert!(
                    before != after || is_of_words(before),
                    "{path} is not a name"
                );
            }
            // A word that no list has is a name.
            Part::Structure if doc.words.is_some() => {}
            Part::Structure | Part::Content => assert_eq!(before, after, "{path} is a name"),
        }
    }
}

/// Whether all texts in a value are the program's own words, which are not names.
fn is_of_words(value: &Value) -> bool {
    match value {
        Value::String(text) => is_word(text),
        Value::Array(items) => items.iter().all(is_of_words),
        other => other.is_number(),
    }
}

fn doc_of(event: &AnyEvent) -> &'static EventDoc {
    let docs = events(event.stream_kind()).iter();
    let mut found = docs.filter(|doc| doc.event_type == event.event_type());
    found.next().expect("it is listed")
}

#[test]
fn every_reference_of_a_schema_is_defined() {
    let types = AnyEvent::types().into_iter();
    let each = types.map(|(_, event_type, _)| schema_of(event_type).expect(event_type));
    for document in each.chain([all_schemas()]) {
        let mut found = BTreeSet::new();
        references(&document, &mut found);
        for target in &found {
            let pointer = target.trim_start_matches('#');
            let title = &document["title"];
            assert!(document.pointer(pointer).is_some(), "{target} in {title}");
        }
        let defined = document["$defs"]
            .as_object()
            .map_or(0, serde_json::Map::len);
        assert_eq!(defined, found.len(), "definitions of {}", document["title"]);
    }
    assert_eq!(schema_of("task.no_such"), None);
}

fn references(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Value::String(target) if name == "$ref" => {
                        found.insert(target.clone());
                    }
                    value => references(value, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        _ => {}
    }
}

#[test]
fn fields_types_and_parts_are_those_of_the_examples() {
    for sample in samples() {
        let event_type = sample.event.event_type();
        let doc = doc_of(&sample.event);
        let json = serde_json::to_value(StructureJson(&sample.event)).expect("it is JSON");
        let mut found = Vec::new();
        check_fields(event_type, &doc.fields, &json, &mut found);
        // Every piece is named by exactly one field of content.
        found.sort_unstable();
        let numbers: Vec<u64> = found.iter().map(|(number, _)| *number).collect();
        let pieces = sample.pieces.list();
        let expected: Vec<u64> = (0..pieces.len() as u64).collect();
        assert_eq!(numbers, expected, "{event_type}: pieces of content fields");
        for (piece, (_, kind)) in pieces.iter().zip(found) {
            check_piece(event_type, kind, piece);
        }
    }
}

fn check_fields<'d>(
    path: &str,
    docs: &'d [FieldDoc],
    value: &Value,
    pieces: &mut Vec<(u64, &'d str)>,
) {
    let object = value
        .as_object()
        .unwrap_or_else(|| panic!("{path} is not an object: {value}"));
    let listed: BTreeSet<&str> = docs.iter().map(|doc| doc.name.as_str()).collect();
    let found: BTreeSet<&str> = object.keys().map(String::as_str).collect();
    assert_eq!(listed, found, "the fields of {path}");
    for doc in docs {
        let path = format!("{path}.{}", doc.name);
        let value = &object[&doc.name];
        match &doc.part {
            Part::Structure | Part::Name => {
                assert!(
                    fits(&doc.kind, value),
                    "{path} is not a valid {}: {value}",
                    doc.kind
                )
            }
            Part::Content => collect_pieces(&doc.kind, value, pieces),
            Part::Group(fields) => check_fields(&path, fields, value, pieces),
            Part::Groups(fields) => {
                for item in value
                    .as_array()
                    .unwrap_or_else(|| panic!("{path} is not a list"))
                {
                    check_fields(&path, fields, item, pieces);
                }
            }
        }
    }
}

/// Whether a JSON value can be of the type that the documentation names.
fn fits(kind: &str, value: &Value) -> bool {
    let kind = kind.trim_end_matches('?');
    if let Some(of) = kind.strip_prefix("list of ") {
        return value
            .as_array()
            .is_some_and(|items| items.iter().all(|item| fits(of, item)));
    }
    if let Some((first, second)) = pair(kind) {
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

/// The two types of a pair.
fn pair(kind: &str) -> Option<(&str, &str)> {
    kind.strip_prefix('(')?.strip_suffix(')')?.split_once(", ")
}

/// Whether some enum has this word.
fn is_word(text: &str) -> bool {
    let mut words = vocabularies().iter().flat_map(|found| &found.words);
    words.any(|it| it.word == text)
}

/// The numbers of pieces in a content field, each with its type: one, a list, or a list of pairs.
fn collect_pieces<'d>(kind: &'d str, value: &Value, found: &mut Vec<(u64, &'d str)>) {
    let kind = kind.trim_end_matches('?');
    let items = value.as_array().into_iter().flatten();
    if let Some(of) = kind.strip_prefix("list of ") {
        items.for_each(|item| collect_pieces(of, item, found));
    } else if let Some((first, second)) = pair(kind) {
        let kinds = [first, second];
        items
            .zip(kinds)
            .for_each(|(item, kind)| collect_pieces(kind, item, found));
    } else {
        found.extend(value.as_u64().map(|number| (number, kind)));
    }
}

/// Whether a piece can be of the type that the documentation names.
fn check_piece(event_type: &str, kind: &str, piece: &NewPiece) {
    let text = String::from_utf8_lossy(&piece.bytes);
    assert_eq!(kind == "bytes", piece.attachment, "{event_type}: {text}");
    match kind {
        "bytes" => {}
        // A JsonPiece is missing where a text is an object or a list.
        "text" => assert!(!text.starts_with(['{', '[']), "{event_type}: {text}"),
        "JSON" => assert!(Json::parse(&text).is_ok(), "{event_type}: {text}"),
        _ => panic!("{event_type}: content of the type {kind}"),
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
