//! Names: texts that a fold sees and that are content all the same.

use annals_domain::{
    ActorKind, AnyEvent, Emitted, Pieces, StreamRef, is_removed_name, removed_name, session,
};
use annals_event_log::Classified;
use annals_event_log::{Content, NewEvent, Record, limits};
use annals_wire::event_docs::words::vocabularies;
use annals_wire::{
    DecodeError, EncodeError, Encoded, StructureJson, decode, encode, encode_structure, names_of,
};
use proptest::prelude::*;
use serde_json::Value;
use uuid::Uuid;

use crate::arbitrary::any_event;
use crate::records::{counting, encoded, envelope, record, redacted, without_names};
use crate::support::to_hex;

fn emitted(event: AnyEvent) -> Emitted {
    let mut pieces = Pieces::new();
    pieces.text("a separate piece");
    Emitted {
        stream: StreamRef {
            kind: event.stream_kind(),
            id: Uuid::from_u128(1),
        },
        event,
        pieces,
    }
}

fn approved(actions: &[&str]) -> AnyEvent {
    let approved = session::Approved {
        request: None,
        actions: actions.iter().map(|action| (*action).to_owned()).collect(),
        reason: None,
    };
    AnyEvent::Session(approved.into())
}

fn stored(event: &AnyEvent) -> Record {
    let Encoded { event, blobs } = encoded(&emitted(event.clone()));
    record(event, blobs)
}

fn names(event: &AnyEvent) -> Vec<String> {
    let mut names = Vec::new();
    event
        .clone()
        .each_name(&mut |name| names.push(name.clone()));
    names
}

fn has(bytes: &[u8], text: &str) -> bool {
    let text = text.as_bytes();
    !text.is_empty() && bytes.windows(text.len()).any(|window| window == text)
}

#[test]
fn names_are_in_the_content_and_words_in_the_structure() {
    let event = approved(&["Deploy", "Push", "für \"Zoë\"", "Deploy"]);
    let record = stored(&event);
    // Format 2; piece 1, one of them; no request; four actions; no reason.
    let structure = [
        "02 01 01 00 04",
        "04 23302e30",
        "04 50757368",
        "04 23302e31",
        "04 23302e30",
        "00",
    ];
    let expected: String = structure.concat().split_whitespace().collect();
    assert_eq!(to_hex(&record.structure()).trim(), expected);
    assert_eq!(names_of(&record).expect("they are named"), 1..2);
    let Some(Content::Inline { bytes, .. }) = record.content().get(1).cloned() else {
        panic!("the names are in the record");
    };
    assert_eq!(bytes, r#"["Deploy","für \"Zoë\""]"#);
    assert_eq!(decode(&record).expect("it is decoded").event, event);
}

#[test]
fn names_that_older_versions_wrote_into_the_structure_are_read() {
    let event = approved(&["#0.0", "Deploy"]);
    let Encoded { event: new, blobs } = encoded(&emitted(approved(&["Push"])));
    let structure = encode_structure(&event).expect("it is encoded");
    let record = record(NewEvent { structure, ..new }, blobs);
    assert_eq!(decode(&record).expect("it is decoded").event, event);
    assert!(names_of(&record).expect("they are named").is_empty());
}

#[test]
fn what_is_left_of_a_removed_name_equals_nothing_else() {
    let event = approved(&["Deploy", "Push", "Release"]);
    let record = stored(&event);
    let left = record.without(&[1]).expect("a record");
    let Some(Content::Removed { salted }) = left.content().get(1).cloned() else {
        panic!("the names are removed");
    };
    let expected = [
        removed_name(&salted.0, 0),
        "Push".to_owned(),
        removed_name(&salted.0, 1),
    ];
    let decoded = decode(&left).expect("it is decoded").event;
    assert_eq!(decoded, approved(&expected.each_ref().map(String::as_str)));
    // Another event with the same names has others in their place.
    let mut salts = counting();
    let mut later = || {
        salts();
        salts()
    };
    let other = encode(&emitted(event), &envelope(), &mut later).expect("it is encoded");
    let other = crate::records::record(other.event, other.blobs);
    let other = decode(&other.without(&[1]).expect("a record"));
    assert_ne!(other.expect("it is decoded").event, decoded);
}

#[test]
fn names_of_any_length_and_number_are_in_the_record() {
    let long = "ä\"\u{1}".repeat(9_000);
    let many: Vec<String> = (0..3_000)
        .map(|number| format!("action {number}"))
        .collect();
    let mut all: Vec<&str> = many.iter().map(String::as_str).collect();
    all.insert(7, &long);
    all.push("last");
    let event = approved(&all);
    let record = stored(&event);
    assert_eq!(decode(&record).expect("it is decoded").event, event);
    let pieces = names_of(&record).expect("they are named");
    assert!(pieces.len() > 3, "{pieces:?}");
    for piece in record.content() {
        let Content::Inline { bytes, .. } = piece else {
            panic!("a name that is not in the record");
        };
        assert!(bytes.len() <= limits::INLINE);
    }
    // One list after the other: what is in another one is still there.
    for number in pieces.clone() {
        let left = record.without(&[number]).expect("a record");
        let left = names(&decode(&left).expect("it is decoded").event);
        assert_eq!(left.len(), all.len());
        let removed = left.iter().filter(|name| is_removed_name(name)).count();
        assert!((1..all.len()).contains(&removed), "{number}: {removed}");
        let stays = left
            .iter()
            .zip(&all)
            .all(|(left, name)| left == name || is_removed_name(left));
        assert!(stays, "{number}");
    }
    let many: Vec<&str> = std::iter::repeat_n("Push", 20_000).collect();
    let error = encode(&emitted(approved(&many)), &envelope(), &mut counting());
    assert!(matches!(error, Err(EncodeError::TooLarge { .. })));
}

#[test]
fn names_that_are_not_there_are_an_error() {
    let Encoded { event, blobs } = encoded(&emitted(approved(&["Deploy"])));
    let refused = |structure: &[u8]| {
        let structure = structure.to_vec().into();
        let event = NewEvent {
            structure,
            ..event.clone()
        };
        let error = decode(&record(event, blobs.clone())).expect_err("it is damaged");
        assert!(!error.is_retryable());
        error
    };
    let with = |pieces: [u8; 2], name: &str| {
        let mut bytes = vec![2, pieces[0], pieces[1], 0, 1, name.len() as u8];
        bytes.extend_from_slice(name.as_bytes());
        bytes.push(0);
        bytes
    };
    assert_eq!(
        refused(&with([1, 1], "#0.1")).to_string(),
        "the names of session.approved are not among its content"
    );
    let of_names = |error| matches!(error, DecodeError::Names { .. });
    for (pieces, name) in [
        ([1, 1], "Deploy"),
        ([1, 1], "#1.0"),
        ([1, 1], "#0"),
        ([1, 1], "#0.0+1"),
        ([1, 1], "#0.0+18446744073709551615"),
        ([1, 1], "#0.0+99999999999999999999"),
        ([1, 1], "#0.-1"),
        ([0, 1], "#0.0"),
        ([1, 9], "#0.0"),
        ([9, 1], "#0.0"),
        ([250, 250], "#0.0"),
    ] {
        assert!(of_names(refused(&with(pieces, name))), "{pieces:?} {name}");
    }
    assert!(matches!(refused(&[2]), DecodeError::Malformed { .. }));
    assert!(matches!(refused(&[2, 1]), DecodeError::Malformed { .. }));
    assert!(matches!(
        refused(&[3, 1]),
        DecodeError::UnknownFormat { found: 3, .. }
    ));
}

/// Texts in a structure that a person can have chosen, and that stay: who did it, and the kinds
/// of frames, by which they are evicted.
fn stays(event_type: &str, path: &str) -> bool {
    let actor = path.ends_with("created_by.id")
        || path.ends_with("created_by.kind")
        || path.ends_with("requester.id")
        || path.ends_with("requester.kind");
    let frames = event_type.starts_with("pipeline.")
        && ["kind", "protected", "other"]
            .iter()
            .any(|it| path.ends_with(it));
    actor || frames
}

fn texts(path: &str, value: &Value, each: &mut dyn FnMut(&str, &str)) {
    match value {
        Value::String(text) => each(path, text),
        Value::Array(items) => items.iter().for_each(|item| texts(path, item, each)),
        Value::Object(fields) => {
            for (name, item) in fields {
                texts(&format!("{path}.{name}"), item, each);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Whether it is a time, of any year.
fn is_time(text: &str) -> bool {
    let is_of_one = |it: u8| it.is_ascii_digit() || b"+-:.TZ".contains(&it);
    text.ends_with('Z') && text.contains('T') && text.bytes().all(is_of_one)
}

/// Whether no person chose it: an id, a digest, a time, or one of the program's own words.
fn is_made_by_program(text: &str) -> bool {
    let is_hex = text.len() >= 32 && text.bytes().all(|it| it.is_ascii_hexdigit());
    let is_word = || {
        let mut words = vocabularies().iter().flat_map(|found| &found.words);
        words.any(|it| it.word == text) || ActorKind::LISTED.iter().any(|it| it.as_str() == text)
    };
    text.is_empty() || is_hex || Uuid::try_parse(text).is_ok() || is_time(text) || is_word()
}

#[test]
fn the_names_of_an_event_have_a_bound() {
    let long = "a".repeat(1 << 19);
    let event = approved(&[&long, &long]);
    assert_eq!(decode(&stored(&event)).expect("it is decoded").event, event);
    let error = encode(
        &emitted(approved(&[&long, &long, "b"])),
        &envelope(),
        &mut counting(),
    )
    .expect_err("it is too large");
    let EncodeError::NamesTooLarge { actual, limit, .. } = error else {
        panic!("{error}");
    };
    assert_eq!((actual, limit), ((1 << 20) + 1, 1 << 20));
    // The same text named again and again, as no encoder writes it.
    let Encoded { event: new, blobs } = encoded(&emitted(approved(&[&long, "b"])));
    let references: Vec<String> = vec!["#0.0+1023".to_owned(); 3];
    let fields: Vec<&str> = references.iter().map(String::as_str).collect();
    let plain = encode_structure(&approved(&fields)).expect("it is encoded");
    let count = u8::try_from(
        names_of(&record(new.clone(), blobs.clone()))
            .expect("named")
            .len(),
    );
    let head = [2, 1, count.expect("few")];
    let structure = [&head[..], &plain[1..]].concat().into();
    let error = decode(&record(NewEvent { structure, ..new }, blobs)).expect_err("too much");
    assert!(matches!(error, DecodeError::Names { .. }), "{error}");
}

/// What a plan and a backlog may have by their checks fits with its references to names.
#[test]
fn short_names_have_room_for_their_references() {
    let node = |number: usize| session::TaskNode::new(format!("{number:x}"), "t");
    let mut plan = session::TaskPlan::default();
    while plan.check_room().is_ok() {
        let next = plan.nodes.len();
        plan.nodes.extend((next..next + 100).map(node));
    }
    plan.nodes.truncate(plan.nodes.len() - 100);
    assert!(plan.nodes.len() > 4_000);
    let mut pieces = Pieces::new();
    let event = session::PlanUpdated::store(&plan, session::Correlation::default(), &mut pieces);
    stored(&AnyEvent::Session(event.expect("it is JSON").into()));
    let items: Vec<session::WorkItemSummary> = (0..7_000)
        .map(|number| session::WorkItemSummary::new(format!("{number:x}"), "t", String::new()))
        .collect();
    let parts = session::BacklogQueried::store(&items, &session::Correlation::default());
    for (event, _) in parts.expect("it is JSON") {
        stored(&AnyEvent::Session(event.into()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    /// No text that a person chose is in a structure: this test fails when a field with one is added.
    #[test]
    fn every_text_of_a_structure_is_a_name(event in any_event()) {
        let event_type = event.event_type();
        let json = serde_json::to_value(StructureJson(&without_names(event)));
        let mut found = Vec::new();
        texts("", &json.expect("it is JSON"), &mut |path, text| {
            if !is_made_by_program(text) && !stays(event_type, path) {
                found.push(format!("{event_type}{path}: {text:?}"));
            }
        });
        prop_assert!(found.is_empty(), "{found:?}");
    }

    /// Any event comes back from its record, and with all content removed it is the same except for
    /// its names, of which nothing is left.
    #[test]
    fn any_event_with_names_comes_back_from_its_record(event in any_event()) {
        let record = stored(&event);
        prop_assert_eq!(&decode(&record).expect("it is decoded").event, &event);
        let left = redacted(&record);
        prop_assert_eq!(left.verify(), Ok(()));
        // The same text may be in a field that stays, such as an actor's kind.
        let stays = encode_structure(&without_names(event.clone())).expect("it is encoded");
        let all = names(&event);
        for name in all.iter().filter(|name| name.len() > 3 && !has(&stays, name)) {
            prop_assert!(!has(&left.structure(), name), "{name:?}");
        }
        let left = decode(&left).expect("it is decoded").event;
        prop_assert!(names(&left).iter().all(|name| is_removed_name(name)));
        prop_assert_eq!(without_names(left), without_names(event));
    }
}
