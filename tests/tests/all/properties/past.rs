//! What changed, and which event changed it, against a model that folds event by event and looks.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use annals::domain::{Kind, StreamRef};
use annals::event_log::Position;
use annals::projections::past::{Place, Step};
use annals::projections::{Entry, Fold, ObjectView};
use annals::{At, BisectOutcome, ObjectDiff, ObjectRef, PastError, TestAnswer, ViewError};
use futures::executor::block_on;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::Value;
use uuid::Uuid;

use super::history::History;
use super::{check, histories};
use crate::stores::{Logs, over_each_store};

over_each_store! {
    a_diff_applied_to_the_old_view_gives_the_new_one_and_names_the_events_that_made_it,
    the_events_that_made_a_field_what_it_is_are_those_that_changed_it,
    a_bisection_finds_what_a_scan_finds,
}

/// An object as JSON after each position from 0 on; null before it exists.
type Documents = Vec<Value>;

fn document(view: &ObjectView) -> Value {
    let mut document: Value = serde_json::from_str(&view.to_json().expect("a view")).expect("JSON");
    let mut add = |name: &str, value: Value| {
        let fields = document.as_object_mut().expect("an object");
        assert!(fields.insert(name.to_owned(), value).is_none());
    };
    if let Some(skew) = &view.header().skew {
        add("clock_skew", serde_json::to_value(skew).expect("JSON"));
    }
    if let ObjectView::ToolInvocation(call) = view
        && call.life.is_told()
    {
        add("life", serde_json::to_value(&call.life).expect("JSON"));
    }
    document
}

/// All objects, each after each position.
fn all_documents(entries: &[Entry]) -> BTreeMap<Uuid, (Kind, Documents)> {
    let mut streams: BTreeMap<Uuid, (Kind, StreamRef)> = BTreeMap::new();
    for entry in entries {
        for (kind, id) in entry.touches() {
            streams.entry(id).or_insert((kind, entry.stream));
        }
    }
    let documents = |(id, (kind, stream)): (Uuid, (Kind, StreamRef))| {
        let mut fold = Fold::new(kind, id);
        let mut documents = vec![Value::Null];
        for entry in entries {
            if entry.stream == stream {
                fold.apply(entry);
                documents.push(fold.peek().map_or(Value::Null, document));
            } else {
                documents.push(documents.last().cloned().expect("one"));
            }
        }
        (id, (kind, documents))
    };
    streams.into_iter().map(documents).collect()
}

fn is_text(value: &Value, text: &str) -> bool {
    let json = value.to_string();
    json == text
}

/// The value at a place, looked up by hand.
fn at<'a>(document: &'a Value, place: &Place) -> Option<&'a Value> {
    let mut value = document;
    for step in &place.0 {
        value = match step {
            Step::Field(name) => value.as_object()?.get(name)?,
            Step::Index(index) => value.as_array()?.get(*index)?,
            Step::Item { key, id } => value
                .as_array()?
                .iter()
                .find(|element| element.get(key).is_some_and(|it| is_text(it, id)))?,
            Step::Element(id) => value.as_array()?.iter().find(|it| is_text(it, id))?,
        };
    }
    // Of the whole document it counts whether it is there.
    match place.0.is_empty() {
        true => (!document.is_null()).then_some(&Value::Bool(true)),
        false => Some(value),
    }
}

/// The positions in a range after which the value at a place is another one than before.
fn changed_at(documents: &Documents, place: &Place, from: u64, to: u64) -> Vec<u64> {
    let value = |position: u64| at(&documents[position as usize], place);
    (from + 1..=to)
        .filter(|position| value(*position) != value(position - 1))
        .collect()
}

/// Two positions, the earlier one first.
fn two(indices: &[Index], end: u64) -> (u64, u64) {
    let position = |index: &Index| index.index(end as usize + 1) as u64;
    let (one, other) = (position(&indices[0]), position(&indices[1]));
    (one.min(other), one.max(other))
}

fn moments(from: u64, to: u64) -> (At, At) {
    (At::Position(Position(from)), At::Position(Position(to)))
}

fn a_diff_applied_to_the_old_view_gives_the_new_one_and_names_the_events_that_made_it(
    logs: &dyn Logs,
) {
    check(
        logs,
        (histories(), vec(any::<Index>(), 2)),
        |(commands, indices)| {
            let history = History::play(logs.open(), commands.take());
            let (from, to) = two(&indices, history.annals.position().0);
            let past = history.annals.past();
            let mut apart: BTreeMap<Uuid, ObjectDiff> = BTreeMap::new();
            for (id, (kind, documents)) in all_documents(&history.entries()) {
                let (old, new) = (&documents[from as usize], &documents[to as usize]);
                let object = ObjectRef { kind, id };
                let (start, end) = moments(from, to);
                let diff = match block_on(past.diff(object, start, end)) {
                    Ok(diff) => diff,
                    Err(PastError::View(ViewError::NotYet { .. })) if new.is_null() => continue,
                    Err(error) => panic!("{object}: {error}"),
                };
                assert_eq!((diff.object_id, diff.existed), (id, !old.is_null()));
                let patch = serde_json::to_value(&diff).expect("JSON")["patch"].clone();
                let patch: json_patch::Patch = serde_json::from_value(patch).expect("RFC 6902");
                let mut patched = old.clone();
                json_patch::patch(&mut patched, &patch).expect("a patch that applies");
                assert_eq!(&patched, new, "{object} from {from} to {to}: {patch}");
                assert_eq!(diff.changes.is_empty(), old == new);
                for it in &diff.changes {
                    let model = changed_at(&documents, &it.change.place, from, to);
                    let place = &it.change.place;
                    assert_eq!(Some(&it.cause.position.0), model.last(), "{object} {place}");
                    let entry = &history.entries()[it.cause.position.0 as usize - 1];
                    assert_eq!(it.cause.event_type, entry.event.event_type());
                    assert_eq!(it.cause.actor, entry.actor);
                    assert_eq!(it.cause.event_id, entry.event_id);
                }
                if !diff.changes.is_empty() {
                    apart.insert(id, diff);
                }
            }
            // All at once, each object once.
            let mut together: BTreeMap<Uuid, ObjectDiff> = BTreeMap::new();
            let (start, end) = moments(from, to);
            let all = past.diff_all(start, end, |diff| {
                assert!(together.insert(diff.object_id, diff).is_none());
                ControlFlow::Continue(())
            });
            block_on(all).expect("a log that can be read");
            assert_eq!(together, apart);
        },
    );
}

fn the_events_that_made_a_field_what_it_is_are_those_that_changed_it(logs: &dyn Logs) {
    check(
        logs,
        (histories(), vec(any::<Index>(), 2), vec(any::<Index>(), 6)),
        |(commands, indices, chosen)| {
            let history = History::play(logs.open(), commands.take());
            let (from, to) = two(&indices, history.annals.position().0);
            let past = history.annals.past();
            let all = all_documents(&history.entries());
            let all: Vec<(ObjectRef, &Documents)> = all
                .iter()
                .map(|(id, (kind, documents))| {
                    (
                        ObjectRef {
                            kind: *kind,
                            id: *id,
                        },
                        documents,
                    )
                })
                .filter(|(_, documents)| !documents[to as usize].is_null())
                .collect();
            for choice in chosen.iter().filter(|_| !all.is_empty()) {
                let (object, documents) = all[choice.index(all.len())];
                let (start, end) = moments(from, to);
                let diff = block_on(past.diff(object, start, end)).expect("a diff");
                for it in diff.changes.iter().filter(|it| !it.change.place.is_root()) {
                    let name = it.change.place.to_string();
                    let field = name.parse().expect("a place is a name");
                    let why = block_on(past.why(object, &field, end, usize::MAX)).expect(&name);
                    let positions: Vec<u64> = why
                        .changes
                        .iter()
                        .rev()
                        .map(|it| it.cause.position.0)
                        .collect();
                    let model = changed_at(documents, &why.field, 0, to);
                    assert_eq!(positions, model, "{object} {name}");
                    assert_eq!(why.value.as_ref(), at(&documents[to as usize], &why.field));
                    let newest = block_on(past.why(object, &field, end, 1)).expect(&name);
                    assert_eq!(newest.total, model.len() as u64);
                    assert_eq!(newest.changes.len(), 1);
                    assert_eq!(newest.changes[0], why.changes[0]);
                }
            }
        },
    );
}

fn a_bisection_finds_what_a_scan_finds(logs: &dyn Logs) {
    let seen = std::cell::Cell::new([0_u32; 3]);
    check(
        logs,
        (histories(), vec(any::<Index>(), 2), vec(any::<Index>(), 6)),
        |(commands, indices, chosen)| {
            let history = History::play(logs.open(), commands.take());
            let (from, to) = two(&indices, history.annals.position().0);
            let past = history.annals.past();
            let all = all_documents(&history.entries());
            let all: Vec<(ObjectRef, &Documents)> = all
                .iter()
                .map(|(id, (kind, documents))| {
                    (
                        ObjectRef {
                            kind: *kind,
                            id: *id,
                        },
                        documents,
                    )
                })
                .filter(|(_, documents)| documents[from as usize] != documents[to as usize])
                .collect();
            for choice in chosen.iter().filter(|_| !all.is_empty()) {
                let (object, documents) = all[choice.index(all.len())];
                let (start, end) = moments(from, to);
                let diff = block_on(past.diff(object, start, end)).expect("a diff");
                // What was there somewhere in between: it may come and go again.
                let middle = from as usize + choice.index((to - from) as usize + 1);
                for it in &diff.changes {
                    let wanted = at(&documents[middle], &it.change.place);
                    let is_it = |document: &Value| at(document, &it.change.place) == wanted;
                    let mut asked = 0_u64;
                    let found = block_on(past.bisect(object, Some(start), end, |probe| {
                        asked += 1;
                        let json: Value = serde_json::from_str(probe.json).expect("JSON");
                        assert_eq!(json, documents[probe.position.0 as usize]);
                        match is_it(&json) {
                            true => TestAnswer::Holds,
                            false => TestAnswer::Fails,
                        }
                    }));
                    let found = found.expect("an answer");
                    assert!(
                        asked <= 3 + u64::from(found.events.ilog2()),
                        "{asked} of {}",
                        found.events
                    );
                    let held = |position: u64| is_it(&documents[position as usize]);
                    let flips: Vec<u64> = (from + 1..=to)
                        .filter(|position| held(*position) != held(position - 1))
                        .collect();
                    assert_eq!(found.held, held(from));
                    let mut count = seen.get();
                    match &found.outcome {
                        BisectOutcome::Changed { before, candidates } => {
                            let [candidate] = candidates.as_slice() else {
                                panic!("nothing was skipped: {candidates:?}");
                            };
                            let position = candidate.position.0;
                            // Where it changes once, it is that; otherwise it is one of them.
                            assert!(
                                flips.contains(&position),
                                "{object}: {position} of {flips:?}"
                            );
                            assert!(before.0 < position);
                            assert_eq!(flips.len() % 2, 1);
                            count[usize::from(flips.len() > 1)] += 1;
                        }
                        BisectOutcome::Same => {
                            assert_eq!(flips.len() % 2, 0);
                            count[2] += 1;
                        }
                        BisectOutcome::Unknown { .. } => panic!("every view has an answer"),
                    }
                    seen.set(count);
                }
            }
        },
    );
    println!(
        "changed once, more often, not between the ends: {:?}",
        seen.get()
    );
    let [once, _, not_between] = seen.get();
    let fewer = logs.kind().thinned();
    assert!(
        once > 100 / fewer && not_between >= 10 / fewer,
        "hardly anything was searched"
    );
}
