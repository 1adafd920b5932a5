//! Folding by hand, and folding what is left when content is removed.

use std::collections::BTreeMap;

use annals::domain::{AnyState, StreamRef};
use annals::event_log::{Blob, Content, Record, Store};
use annals::projections::{Entry, Fold, ObjectView, origin_of};
use annals::wire;
use futures::executor::block_on;
use uuid::Uuid;

use super::history::read_all;

/// Every object after these entries. Each fold is given its whole stream, also
/// what comes before the object.
pub fn views<'a>(
    entries: impl IntoIterator<Item = &'a Entry> + Clone,
) -> BTreeMap<Uuid, ObjectView> {
    let mut folds: BTreeMap<Uuid, (StreamRef, Fold)> = BTreeMap::new();
    for entry in entries.clone() {
        for (kind, id) in entry.touches() {
            folds
                .entry(id)
                .or_insert_with(|| (entry.stream, Fold::new(kind, id)));
        }
    }
    for entry in entries {
        let in_stream = folds
            .values_mut()
            .filter(|(stream, _)| *stream == entry.stream);
        in_stream.for_each(|(_, fold)| fold.apply(entry));
    }
    let view = |(id, (_, fold)): (Uuid, (StreamRef, Fold))| Some((id, fold.view()?));
    folds.into_iter().filter_map(view).collect()
}

/// The decider's state of every aggregate, written out.
pub fn states(records: &[Record]) -> BTreeMap<StreamRef, String> {
    fold(records)
        .into_iter()
        .map(|(stream, state)| (stream, format!("{state:?}")))
        .collect()
}

/// The decider's state of every aggregate.
pub fn fold(records: &[Record]) -> BTreeMap<StreamRef, AnyState> {
    let mut states: BTreeMap<StreamRef, AnyState> = BTreeMap::new();
    for record in records {
        let decoded = wire::decode(record).expect("a record that can be decoded");
        let state = states
            .entry(decoded.stream)
            .or_insert_with_key(|s| AnyState::new(s.kind));
        state.evolve(&decoded.event, &origin_of(record));
    }
    states
}

/// Copies a log into a new one, with all content but names removed from the records that
/// `removed` is true for, over and over.
pub fn copy_without_content(log: &dyn Store, copy: &dyn Store, removed: &[bool]) {
    let records = read_all(log);
    let blobs = records
        .iter()
        .flat_map(Record::content)
        .filter_map(|piece| piece.blob())
        .map(|digest| {
            block_on(log.blob(digest))
                .expect("an open log")
                .expect("a blob")
        })
        .map(Blob::new)
        .collect();
    let removed = removed.iter().cycle();
    let copied: Vec<Record> = records
        .iter()
        .zip(removed)
        .map(|(record, removed)| {
            if *removed {
                emptied(record)
            } else {
                record.clone()
            }
        })
        .collect();
    if !copied.is_empty() {
        block_on(copy.append_records(copied, blobs)).expect("a log that takes the copy");
    }
}

/// A record whose content is removed, but for its names.
/// The header stays as it is, and still holds.
fn emptied(record: &Record) -> Record {
    let names = wire::names_of(record).expect("a record of ours");
    let pieces = (0_u16..).zip(record.content());
    let going = pieces.filter(|(number, piece)| {
        !names.contains(number) && !matches!(piece, Content::Removed { .. })
    });
    let going: Vec<u16> = going.map(|(number, _)| number).collect();
    let emptied = record.without(&going).expect("a record");
    assert_eq!(emptied.header_bytes(), record.header_bytes());
    assert_eq!(emptied.verify(), Ok(()));
    emptied
}

/// What a view shows in addition to its content: its fields, every text and every
/// other piece of content being a placeholder.
pub fn structure(view: &ObjectView) -> String {
    let mut rest = format!("{:?}", without_what_follows(view.clone()));
    let mut structure = String::new();
    while let Some((start, open)) = next_content(&rest) {
        structure.push_str(&rest[..start]);
        structure.push_str("Removed");
        rest = rest.split_off(start + open + closing(&rest[start + open..]));
    }
    without_seal(structure + &rest)
}

/// Size, hash and git blob of content that the log holds go with it.
fn without_what_follows(mut view: ObjectView) -> ObjectView {
    if let ObjectView::ToolInvocation(view) = &mut view {
        let files = view
            .life
            .decisions
            .iter_mut()
            .flat_map(|it| it.in_force.iter_mut().flatten());
        let kept = files.filter(|file| file.content.is_some());
        kept.for_each(|file| file.hash = None);
        // Calls are told apart by their content.
        view.life.judged = None;
    }
    let artifacts = match &mut view {
        ObjectView::PatchSet(view) => view.artifact.as_mut_slice(),
        ObjectView::Evidence(view) => view.report_artifacts.as_mut_slice(),
        ObjectView::ToolInvocation(view) => view.artifacts.as_mut_slice(),
        ObjectView::ContextSnapshot(view) => {
            let kept = view.items.iter_mut().filter(|item| item.content.is_some());
            kept.for_each(|item| item.blob = None);
            &mut []
        }
        _ => &mut [],
    };
    let kept = artifacts.iter_mut().filter(|it| it.content.is_some());
    kept.for_each(|it| (it.size_bytes, it.hash) = (None, None));
    view
}

/// The checksum of a seal goes with the content that it was made of.
fn without_seal(structure: String) -> String {
    let (begin, end) = ("checksum: Some(", "))");
    let structure = structure.replace("seal_removed: true", "seal_removed: false");
    let Some(start) = structure.find(begin) else {
        return structure;
    };
    let behind = &structure[start..];
    let length = behind.find(end).map_or(behind.len(), |at| at + end.len());
    format!("{}checksum: None{}", &structure[..start], &behind[length..])
}

/// How content is written out, up to a bracket. An actor's texts are content
/// too, and are shown as `[removed]` where they are gone.
const CONTENT: [&str; 7] = [
    "Present(",
    // Verdicts on commands, whose reasons and scopes are content.
    "Rejected {",
    "Throttled {",
    "Bytes(",
    "Attachment {",
    "display_name: Some(",
    "auth_context: Some(",
];

/// Where the next piece of content begins, and how far its bracket is.
fn next_content(text: &str) -> Option<(usize, usize)> {
    let found = |name: &str| text.find(name).map(|start| (start, name.len()));
    CONTENT.iter().filter_map(|name| found(name)).min()
}

/// The length of a text up to the bracket that closes one before it. Brackets
/// in quoted texts do not count.
fn closing(text: &str) -> usize {
    let (mut depth, mut quoted, mut escaped) = (1, false, false);
    for (at, letter) in text.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => quoted = !quoted,
            '(' | '{' | '[' if !quoted => depth += 1,
            ')' | '}' | ']' if !quoted => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + letter.len_utf8();
        }
    }
    panic!("no closing bracket in {text}");
}

#[test]
fn placeholders_stand_for_content_alone() {
    assert_eq!(
        closing(r#"Json("a)\")"), 1) b"#),
        r#"Json("a)\")"), 1)"#.len()
    );
    assert_eq!(next_content("a: Some(Present(\"b\"))"), Some((8, 8)));
    assert_eq!(next_content("Removed"), None);
}
