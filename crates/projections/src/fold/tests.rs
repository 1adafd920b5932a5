//! Tests of folds: prefixes, strange orders, removed content, the header.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use annals_domain::metadata::{MetadataSet, Sealed};
use annals_domain::{IntegrityHash, Kind, StreamKind, Visibility, intent, is_removed_name};
use proptest::prelude::*;
use proptest::sample::subsequence;
use proptest::test_runner::RngSeed;
use serde_json::Value;
use uuid::Uuid;

use crate::testing::{Story, examples, fold, id, redacted, stream, time};
use crate::{Entry, Fold, ObjectView};

/// The objects of the wire's examples, by kind. The runs of them tell of all
/// that a run's stream may hold.
pub(crate) fn sampled(kind: Kind) -> Uuid {
    match kind {
        Kind::ToolInvocation => id(9),
        Kind::PatchSet => id(10),
        Kind::Evidence => id(12),
        Kind::Provenance => id(13),
        Kind::Decision => id(14),
        Kind::ContextSnapshot
        | Kind::Plan
        | Kind::Run
        | Kind::Task
        | Kind::Intent
        | Kind::ContextPipeline
        | Kind::Session
        | Kind::Observation => id(1),
    }
}

fn json(view: Option<&ObjectView>) -> Value {
    view.map_or(Value::Null, |view| serde_json::to_value(view).unwrap())
}

/// Where content was removed there was any content; all else is the same.
fn assert_same_structure(whole: &Value, redacted: &Value) {
    if *redacted == serde_json::json!({ "removed": true }) || *redacted == "[removed]" {
        assert!(!whole.is_null());
        return;
    }
    let is_removed = |value: &Value| value.as_str().is_some_and(is_removed_name);
    match (whole, redacted) {
        (Value::String(_), redacted) if is_removed(redacted) => {}
        (Value::Object(whole), Value::Object(redacted)) => {
            // Several members may be one piece, of which nothing is left to count; what a name
            // is looked up by is not found under another one.
            // A node of a plan is found by its name, and so is the task that it became.
            let is_node = whole.contains_key("id") && whole.contains_key("task");
            let lost_its_task = is_node && !redacted.contains_key("task");
            if !redacted.contains_key("[removed]")
                && !redacted.values().any(is_removed)
                && !lost_its_task
            {
                assert_eq!(whole.len(), redacted.len(), "{whole:?} and {redacted:?}");
            }
            for (key, value) in redacted {
                // The checksum of a seal is content, and goes without a mark.
                let is_checksum = key == "checksum" && value.is_null();
                if !key.starts_with("[removed") && !is_checksum {
                    assert_same_structure(&whole[key], value);
                }
            }
        }
        // Tickets are distinguished by their names.
        (Value::Array(_), Value::Array(redacted))
            if redacted.iter().any(|it| is_removed(&it["id"])) => {}
        (Value::Array(whole), Value::Array(redacted)) => {
            assert_eq!(whole.len(), redacted.len(), "{whole:?} and {redacted:?}");
            whole
                .iter()
                .zip(redacted)
                .for_each(|(a, b)| assert_same_structure(a, b));
        }
        _ => assert_eq!(whole, redacted),
    }
}

#[test]
fn every_kind_folds_from_the_examples() {
    for kind in Kind::ALL {
        let view = Story::of_samples(kind.stream_kind()).view(*kind, sampled(*kind));
        let view = view.unwrap_or_else(|| panic!("there is a {kind}"));
        assert_eq!((view.kind(), view.id()), (*kind, sampled(*kind)));
    }
}

#[test]
fn without_its_content_every_kind_has_the_same_structure() {
    for kind in Kind::ALL {
        let story = Story::of_samples(kind.stream_kind());
        let bare: Vec<Entry> = story
            .records()
            .iter()
            .map(|record| story.entry(&redacted(record, |_| true)))
            .collect();
        let (whole, bare) = (
            story.view(*kind, sampled(*kind)),
            fold(*kind, sampled(*kind), &bare),
        );
        assert_same_structure(&json(whole.as_ref()), &json(bare.as_ref()));
        assert_ne!(whole, bare, "there was content to remove from the {kind}");
    }
}

#[test]
fn entries_about_other_objects_are_skipped() {
    let mut story = Story::new();
    let submit = |prompt: &'static str| {
        move |pieces: &mut annals_domain::Pieces| {
            let prompt = pieces.text(prompt);
            intent::Event::from(intent::Submitted {
                refines: None,
                prompt,
            })
        }
    };
    story.push(stream(StreamKind::Intent, id(1)), submit("one"));
    story.push(stream(StreamKind::Intent, id(2)), submit("two"));
    let Some(ObjectView::Intent(view)) = story.view(Kind::Intent, id(1)) else {
        panic!("intent 1 is there");
    };
    assert_eq!(view.prompt.as_str(), Some("one"));
    assert_eq!(view.header.updated_at, time(1));
    assert_eq!(story.view(Kind::Intent, id(3)), None);
    assert_eq!(story.view(Kind::Task, id(1)), None);
}

#[test]
fn the_header_follows_the_events_of_its_object() {
    let mut story = Story::new();
    let own = stream(StreamKind::Intent, id(1));
    story.push(own, |pieces| {
        intent::Event::from(intent::Submitted {
            refines: None,
            prompt: pieces.text("p"),
        })
    });
    story.actor = annals_domain::ActorRef::human("alice");
    let set = MetadataSet {
        kind: Kind::Intent.number(),
        object: id(1),
        visibility: Some(Visibility::Public),
        tags: None,
        external_ids: None,
    };
    story.push(own, |pieces| {
        let tags = vec![
            (pieces.text("z"), pieces.text("1")),
            (pieces.text("a"), pieces.text("2")),
        ];
        intent::Event::from(MetadataSet {
            tags: Some(tags),
            ..set.clone()
        })
    });
    let checksum = IntegrityHash::of(b"x");
    story.push(own, |pieces| {
        intent::Event::from(Sealed {
            kind: Kind::Intent.number(),
            object: id(1),
            checksum: Some(pieces.text(checksum.to_string())),
            old_checksum: None,
        })
    });
    let view = story.view(Kind::Intent, id(1)).unwrap();
    let header = view.header();
    assert_eq!((header.created_at, header.updated_at), (time(1), time(3)));
    assert_eq!(
        header.created_by.id, "coder",
        "who acts later did not create it"
    );
    assert_eq!(
        (header.visibility, header.checksum),
        (Visibility::Public, Some(checksum))
    );
    let tags = serde_json::to_string(&header.tags).unwrap();
    assert_eq!(tags, r#"{"z":"1","a":"2"}"#, "in the order given");
    assert_eq!(
        header.tags.get("a").map(ToString::to_string).as_deref(),
        Some("2")
    );

    // What is not given stays, and any event breaks the seal.
    story.push(own, |_| {
        let external_ids = Some(Vec::new());
        intent::Event::from(MetadataSet {
            visibility: None,
            external_ids,
            ..set
        })
    });
    let view = story.view(Kind::Intent, id(1)).unwrap();
    assert_eq!(view.header().checksum, None);
    assert_eq!(view.header().visibility, Visibility::Public);
    assert_eq!(view.header().tags.0.len(), 2);
}

/// More examples than any stream has.
const MOST: usize = 64;

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, rng_seed: RngSeed::Fixed(20_260_102), ..ProptestConfig::default() })]

    /// The examples in any order and number, some without their content: that
    /// is more than any decider allows, and every fold takes it.
    #[test]
    fn any_prefix_of_any_history_folds_twice_to_the_same(
        place in 0..Kind::ALL.len(),
        order in Just((0_usize..MOST).collect::<Vec<_>>()).prop_shuffle(),
        chosen in subsequence((0_usize..MOST).collect::<Vec<_>>(), 0..18),
        removed in any::<u64>(),
    ) {
        let kind = Kind::ALL[place];
        let samples = examples(kind.stream_kind());
        let mut story = Story::new();
        // Mostly the object is there from the beginning.
        let first = usize::from(removed % 4 != 0);
        let picked = order.iter().filter(|number| chosen.contains(number));
        let numbers = [0].iter().take(first).chain(picked);
        for number in numbers.filter(|number| **number < samples.len()) {
            story.append(&samples[*number]);
        }
        let whole = story.entries();
        let bare: Vec<Entry> = story
            .records()
            .iter()
            .map(|record| {
                let mask = removed.rotate_left(u32::try_from(record.position().0 % 64).unwrap());
                story.entry(&redacted(record, |piece| mask >> (piece % 64) & 1 == 1))
            })
            .collect();
        let object = sampled(kind);
        let (mut once, mut without) = (Fold::new(kind, object), Fold::new(kind, object));
        for end in 0..whole.len() {
            once.apply(&whole[end]);
            without.apply(&bare[end]);
            let again = fold(kind, object, &whole[..=end]);
            prop_assert_eq!(once.peek(), again.as_ref());
            assert_same_structure(&json(once.peek()), &json(without.peek()));
        }
    }
}
