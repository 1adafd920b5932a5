//! Golden files: the bytes of every event type in every version of its shape.
//!
//! `<event type>.v<version>.hex` is the structure of the example, 32 bytes a
//! line; `.json` the same for people; `.shape` the types that its reader asks
//! for. A file that is committed is never edited: a new shape is a new version
//! with an upcaster. `words.txt` lists the numbers of all words, one a line;
//! lines are added, never changed.
//!
//! `UPDATE_GOLDENS=1 cargo test -p annals-wire` writes what is missing.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use annals_domain::{AnyEvent, Emitted, StreamKind};
use annals_wire::event_docs::words::vocabularies;
use annals_wire::sample::samples;
use annals_wire::{StructureJson, decode_structure, encode_structure};

use crate::shape::shape_of;
use crate::support::{from_hex, golden_folder, read, to_hex, updating, write};

const WORDS: &str = "words.txt";

fn examples() -> BTreeMap<&'static str, Emitted> {
    let mut by_type = BTreeMap::new();
    for sample in samples() {
        let event_type = sample.event.event_type();
        assert!(
            by_type.insert(event_type, sample).is_none(),
            "{event_type} has two examples"
        );
    }
    by_type
}

/// Compares a golden with what it should hold, and writes it if it is missing
/// and that was requested.
fn check(path: &Path, actual: &str) {
    let name = path.file_name().unwrap_or_default().display();
    if !path.exists() && updating() {
        write(path, actual);
    }
    assert!(
        path.exists(),
        "{name} is missing; UPDATE_GOLDENS=1 cargo test -p annals-wire writes it"
    );
    assert!(
        read(path) == actual,
        "{name} is committed and the shape has changed. Logs hold the old one for ever: \
         give the event a new version and an upcaster, and leave this file as it is. Now:\n{actual}"
    );
}

#[test]
fn every_event_type_has_the_bytes_of_its_golden() {
    let examples = examples();
    for (kind, event_type, version) in AnyEvent::types() {
        let example = examples
            .get(event_type)
            .unwrap_or_else(|| panic!("{event_type} has no example"));
        let bytes = encode_structure(&example.event).expect("it is encoded");
        let json =
            serde_json::to_string_pretty(&StructureJson(&example.event)).expect("it is JSON");
        let path = |suffix| golden_folder().join(format!("{event_type}.v{version}.{suffix}"));
        check(&path("hex"), &to_hex(&bytes));
        check(&path("json"), &(json + "\n"));
        check(&path("shape"), &shape_of(kind, event_type));
    }
}

#[test]
fn every_golden_decodes_and_the_current_one_as_its_example() {
    let examples = examples();
    for (kind, event_type, current) in AnyEvent::types() {
        for version in 1..=current {
            let path = golden_folder().join(format!("{event_type}.v{version}.hex"));
            if !path.exists() && updating() {
                continue;
            }
            let bytes = from_hex(&read(&path));
            let event = decode_structure(kind, event_type, version, &bytes)
                .unwrap_or_else(|error| panic!("{event_type}.v{version}: {error}"));
            if version == current {
                assert_eq!(event, examples[event_type].event);
                let json = read(&path.with_extension("json"));
                assert_eq!(from_json(kind, event_type, &json), event);
            }
        }
    }
}

fn from_json(kind: StreamKind, event_type: &str, json: &str) -> AnyEvent {
    let mut deserializer = serde_json::Deserializer::from_str(json);
    AnyEvent::deserialize_structure(kind, event_type, &mut deserializer)
        .expect("a known type")
        .unwrap_or_else(|error| panic!("{event_type}: {error}"))
}

#[test]
fn every_golden_belongs_to_an_event_type() {
    let mut expected = BTreeSet::from([WORDS.to_owned()]);
    for (_, event_type, current) in AnyEvent::types() {
        for version in 1..=current {
            for suffix in ["hex", "json", "shape"] {
                expected.insert(format!("{event_type}.v{version}.{suffix}"));
            }
        }
    }
    let folder = fs::read_dir(golden_folder()).expect("the folder of goldens");
    let found = folder.map(|entry| entry.expect("an entry").file_name().display().to_string());
    let strangers: Vec<String> = found.filter(|name| !expected.contains(name)).collect();
    assert!(
        strangers.is_empty(),
        "goldens of no event type: {strangers:?}"
    );
}

#[test]
fn every_example_is_full() {
    for example in samples() {
        let event_type = example.event.event_type();
        let json = serde_json::to_value(StructureJson(&example.event)).expect("it is JSON");
        let mut missing = Vec::new();
        find_gaps("", &json, &mut missing);
        assert!(missing.is_empty(), "{event_type} has gaps at {missing:?}");
    }
    let texts = samples()
        .iter()
        .flat_map(|s| s.pieces.list().to_vec())
        .collect::<Vec<_>>();
    let foreign = texts.iter().filter(|piece| !piece.bytes.is_ascii()).count();
    assert!(
        foreign * 4 > texts.len(),
        "only {foreign} of {} texts are not ASCII",
        texts.len()
    );
}

/// Where a value is null, or a list or text empty.
fn find_gaps(path: &str, value: &serde_json::Value, gaps: &mut Vec<String>) {
    match value {
        serde_json::Value::Null => gaps.push(path.to_owned()),
        serde_json::Value::String(text) if text.is_empty() => gaps.push(path.to_owned()),
        serde_json::Value::Array(items) if items.is_empty() => gaps.push(path.to_owned()),
        serde_json::Value::Array(items) => {
            for item in items {
                find_gaps(&format!("{path}[]"), item, gaps);
            }
        }
        serde_json::Value::Object(fields) => {
            for (name, field) in fields {
                find_gaps(&format!("{path}.{name}"), field, gaps);
            }
        }
        _ => {}
    }
}

#[test]
fn words_keep_their_numbers() {
    let path = golden_folder().join(WORDS);
    let mut committed = if path.exists() {
        read(&path)
    } else {
        String::new()
    };
    let current: Vec<String> = vocabularies()
        .iter()
        .flat_map(|v| {
            v.words
                .iter()
                .map(|it| format!("{} {} {}", v.name, it.number, it.word))
        })
        .collect();
    for line in committed.lines() {
        assert!(
            current.iter().any(|now| now == line),
            "{line:?} is committed and does not hold any more; stored events have that number"
        );
    }
    let missing: Vec<&String> = current
        .iter()
        .filter(|now| !committed.lines().any(|line| line == *now))
        .collect();
    if updating() && !missing.is_empty() {
        missing
            .iter()
            .for_each(|line| committed.extend([line.as_str(), "\n"]));
        write(&path, &committed);
        return;
    }
    assert!(
        missing.is_empty(),
        "{WORDS} lacks {missing:?}; UPDATE_GOLDENS=1 adds them"
    );
}
