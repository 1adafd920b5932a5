//! Every object comes back as it was; the reading of any text ends.

use annals_dialects::contracts::{
    CoreType, Correlation, EventBody, Object, Style, Texts, read, write,
};
use annals_domain::session::{
    Artifact, CommandKind, PolicyProfile, RateLimits, RepoRef, SessionConfig, TaskNode, TaskPlan,
    WorkItemDetails, WorkItemRef, WorkItemSummary, WorkspaceRef,
};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::any;
use crate::cases;

/// The strategy is useless if it leaves a kind out.
#[test]
fn any_object_is_of_any_kind() {
    let mut runner = TestRunner::new(cases(1));
    let mut kinds = std::collections::BTreeSet::new();
    for _ in 0..2_000 {
        let object = any::object().new_tree(&mut runner).unwrap().current();
        kinds.insert(object.kind().to_owned());
    }
    for kind in CommandKind::ALL {
        assert!(kinds.contains(kind.as_str()), "{kind}");
    }
    for kind in EventBody::KINDS {
        assert!(kinds.contains(*kind), "{kind}");
    }
}

/// Reads a text as everything that there is. What can be read is written as
/// something that is read as the same.
fn read_as_anything(text: &str) {
    fn stable<T: CoreType + PartialEq + std::fmt::Debug>(text: &str) {
        if let Ok(first) = read::<T>(text) {
            let written = write(&first.value, Style::Pretty).unwrap();
            assert_eq!(read::<T>(&written).unwrap().value, first.value);
        }
    }
    if let Ok(first) = Object::read(text) {
        let written = first.value.write(Style::Pretty).unwrap();
        assert_eq!(object(&written), first.value);
        let line = first.value.write(Style::Compact).unwrap();
        assert!(!line.contains(['\n', '\r']), "{line}");
    }
    stable::<Artifact>(text);
    stable::<Correlation>(text);
    stable::<PolicyProfile>(text);
    stable::<RateLimits>(text);
    stable::<RepoRef>(text);
    stable::<SessionConfig>(text);
    stable::<TaskNode>(text);
    stable::<TaskPlan>(text);
    stable::<WorkItemDetails>(text);
    stable::<WorkItemRef>(text);
    stable::<WorkItemSummary>(text);
    stable::<WorkspaceRef>(text);
}

fn object(text: &str) -> Object {
    Object::read(text).unwrap().value
}

/// A small change at some place.
#[derive(Debug, Clone)]
enum Change {
    Put(u8),
    Insert(u8),
    Remove(usize),
    Repeat(usize),
}

fn change() -> impl Strategy<Value = Change> {
    let byte = prop_oneof![
        prop::sample::select(b"{}[]\",:\\0-e.nultrf \n\xff\x80ud8".to_vec()),
        any::<u8>(),
    ];
    prop_oneof![
        byte.clone().prop_map(Change::Put),
        byte.prop_map(Change::Insert),
        (1..40_usize).prop_map(Change::Remove),
        (1..40_usize).prop_map(Change::Repeat),
    ]
}

fn changed(text: String, changes: &[(prop::sample::Index, Change)]) -> Vec<u8> {
    let mut bytes = text.into_bytes();
    for (place, change) in changes {
        if bytes.is_empty() {
            break;
        }
        let at = place.index(bytes.len());
        let end = |count: usize| (at + count).min(bytes.len());
        match change {
            Change::Put(byte) => bytes[at] = *byte,
            Change::Insert(byte) => bytes.insert(at, *byte),
            Change::Remove(count) => drop(bytes.drain(at..end(*count))),
            Change::Repeat(count) => {
                let again = bytes[at..end(*count)].to_vec();
                bytes.splice(at..at, again);
            }
        }
    }
    bytes
}

proptest! {
    #![proptest_config(cases(512))]

    #[test]
    fn an_object_written_and_read_again_is_the_same(object in any::object()) {
        for style in [Style::Compact, Style::Pretty] {
            let text = object.write(style).unwrap();
            let read = Object::read(&text).unwrap();
            prop_assert_eq!(&read.unknown, &[]);
            prop_assert_eq!(&read.value, &object);
            prop_assert_eq!(read.value.write(style).unwrap(), text);
        }
        prop_assert!(!object.write(Style::Compact).unwrap().contains('\n'));
    }

    #[test]
    fn a_changed_text_is_read_or_refused(
        object in any::object(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), change()), 1..6),
    ) {
        let bytes = changed(object.write(Style::Pretty).unwrap(), &changes);
        read_as_anything(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn any_text_is_read_or_refused(text in any::<String>()) {
        read_as_anything(&text);
        read_as_anything(&format!("{{\"kind\":{text}}}"));
    }

    /// However objects are laid out one after the other, each is found.
    #[test]
    fn a_file_is_cut_into_its_objects(
        objects in prop::collection::vec((any::object(), any::<bool>()), 0..5),
        in_array: bool,
        blanks in "[ \r\n\t]{0,3}",
    ) {
        let texts: Vec<String> = objects.iter().map(|(object, pretty)| {
            object.write(if *pretty { Style::Pretty } else { Style::Compact }).unwrap()
        }).collect();
        let file = if in_array {
            format!("{blanks}[{blanks}{}{blanks}]{blanks}", texts.join(&format!("{blanks},{blanks}")))
        } else {
            texts.join(&format!("{blanks}\n"))
        };
        let found: Vec<String> = Texts::new(file.as_bytes()).map(|text| text.text.unwrap()).collect();
        prop_assert_eq!(found, texts);
    }

    #[test]
    fn a_changed_file_is_read_to_its_end(
        objects in prop::collection::vec(any::object(), 1..4),
        changes in prop::collection::vec((any::<prop::sample::Index>(), change()), 1..6),
        in_array: bool,
    ) {
        let texts: Vec<String> = objects.iter().map(|o| o.write(Style::Pretty).unwrap()).collect();
        let file = if in_array { format!("[{}]", texts.join(",")) } else { texts.join("\n") };
        let bytes = changed(file, &changes);
        let mut all = Texts::new(&bytes[..]);
        let found = all.by_ref().count();
        prop_assert!(found <= bytes.len() + 1);
        prop_assert_eq!(all.bytes_read(), bytes.len() as u64);
    }
}
