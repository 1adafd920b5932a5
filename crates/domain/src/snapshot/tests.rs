//! Given, when, then for context snapshots.

use super::*;
use crate::testing::{Given, events, stream, texts};
use crate::{AnyEvent, GitOid, Kind, Payload, Refusal, SnapshotId, StreamKind, StreamRef};

const ID: SnapshotId = SnapshotId(uuid::Uuid::from_u128(1));
const BLOB: GitOid = GitOid::Sha1([7; 20]);

fn snapshot() -> StreamRef {
    stream(StreamKind::Snapshot, 1)
}

fn open(items: Vec<NewItem>) -> OpenSnapshot {
    let selection_strategy = SelectionStrategy::Explicit;
    OpenSnapshot {
        id: Some(ID),
        selection_strategy,
        items,
        summary: Some("all".into()),
    }
}

fn item(path: &str, blob: Option<GitOid>) -> NewItem {
    NewItem {
        kind: ContextItemKind::File,
        path: path.into(),
        preview: None,
        blob,
        content: None,
    }
}

fn added(index: u32, blob: Option<GitOid>) -> AnyEvent {
    let kind = ContextItemKind::File;
    let event = ItemAdded {
        index,
        kind,
        path: crate::Slot(0),
        preview: None,
        blob,
        content: None,
        content_blob: None,
    };
    AnyEvent::Snapshot(event.into())
}

fn finalize(summary: Option<&str>) -> FinalizeSnapshot {
    FinalizeSnapshot {
        snapshot: ID,
        summary: summary.map(str::to_owned),
    }
}

fn attach(item: u32) -> AttachBlob {
    AttachBlob {
        snapshot: ID,
        item,
        blob: BLOB,
    }
}

fn invalid(refusal: Refusal) -> (&'static str, String) {
    match refusal {
        Refusal::Invalid { field, reason } => (field, reason),
        other => panic!("expected an invalid field, found {other}"),
    }
}

#[test]
fn opening_emits_the_items_with_their_content_apart() {
    let with_preview = NewItem {
        preview: Some("fn main".into()),
        ..item("src/main.rs", None)
    };
    let emitted = Given::new()
        .decide(open(vec![with_preview, item("b", Some(BLOB))]))
        .expect("accepted");
    let first = ItemAdded {
        index: 0,
        kind: ContextItemKind::File,
        path: crate::Slot(0),
        preview: Some(crate::Slot(1)),
        blob: None,
        content: None,
        content_blob: None,
    };
    let opened = Opened {
        strategy: SelectionStrategy::Explicit,
        summary: Some(crate::Slot(0)),
    };
    assert_eq!(
        events(&emitted),
        [
            AnyEvent::Snapshot(opened.into()),
            AnyEvent::Snapshot(first.into()),
            added(1, Some(BLOB)),
        ]
    );
    assert_eq!(
        texts(&emitted),
        [vec!["all"], vec!["src/main.rs", "fn main"], vec!["b"]]
    );
    assert!(emitted.iter().all(|one| one.stream == snapshot()));
}

#[test]
fn a_snapshot_is_opened_once() {
    let given = Given::new().command(open(Vec::new()));
    let refusal = given.decide(open(Vec::new())).expect_err("it exists");
    assert_eq!(
        refusal,
        Refusal::Exists {
            kind: Kind::ContextSnapshot,
            id: ID.0
        }
    );
}

#[test]
fn items_are_numbered_on() {
    let given = Given::new().command(open(vec![item("a", None)]));
    let add = AddItem {
        snapshot: ID,
        item: item("b", Some(BLOB)),
    };
    let emitted = given.decide(add).expect("accepted");
    assert_eq!(events(&emitted), [added(1, Some(BLOB))]);
}

#[test]
fn a_path_and_a_kind_are_not_blank() {
    let refusal = Given::new()
        .decide(open(vec![item(" \n", None)]))
        .expect_err("blank path");
    assert_eq!(invalid(refusal).0, "path");
    let nameless = NewItem {
        kind: ContextItemKind::Other(" ".into()),
        ..item("a", None)
    };
    let refusal = Given::new()
        .decide(open(vec![nameless]))
        .expect_err("blank kind");
    assert_eq!(invalid(refusal).0, "kind");
}

fn with_content(blob: Option<GitOid>) -> NewItem {
    NewItem {
        content: Some(Payload(b"hi\n".to_vec())),
        ..item("a", blob)
    }
}

#[test]
fn an_items_content_is_an_attachment_and_gives_the_item_its_blob() {
    let sha1 = GitOid::sha1_of_blob(b"hi\n").expect("no attack");
    let sha256 = GitOid::sha256_of_blob(b"hi\n");
    for (given, stored) in [(None, sha1), (Some(sha1), sha1), (Some(sha256), sha256)] {
        let emitted = Given::new().decide(open(vec![with_content(given)]));
        let emitted = emitted.expect("accepted");
        let AnyEvent::Snapshot(Event::ItemAdded(added)) = &emitted[1].event else {
            panic!("{emitted:?}");
        };
        // The id of the blob goes with the content, which it follows from.
        assert_eq!(added.blob, None);
        let piece = |slot: crate::Slot| &emitted[1].pieces.list()[usize::from(slot.0)];
        let blob = piece(added.content_blob.expect("its blob"));
        assert_eq!(blob.bytes, stored.to_string().as_bytes());
        let piece = piece(added.content.expect("content"));
        assert!(piece.attachment);
        assert_eq!(piece.bytes, b"hi\n");
    }
}

#[test]
fn a_blob_that_is_not_the_contents_is_refused() {
    let wrong = [BLOB, GitOid::Sha256([7; 32])];
    for given in wrong {
        let refused = Given::new().decide(open(vec![with_content(Some(given))]));
        let (field, reason) = invalid(refused.expect_err("they differ"));
        assert_eq!(field, "blob");
        let computed = given.same_hash_of_blob(b"hi\n").expect("no attack");
        assert!(reason.contains(&given.to_string()), "{reason}");
        assert!(reason.contains(&computed.to_string()), "{reason}");
    }
    let given = Given::new().command(open(vec![with_content(None), item("b", None)]));
    let (field, reason) = invalid(given.decide(attach(0)).expect_err("it has its own"));
    assert_eq!(field, "item");
    assert!(
        reason.contains("the log has the content of item 0"),
        "{reason}"
    );
    assert!(given.decide(attach(1)).is_ok());
}

#[test]
fn a_blob_goes_to_an_item_that_is_there() {
    let given = Given::new().command(open(vec![item("a", None)]));
    let emitted = given.decide(attach(0)).expect("accepted");
    let expected = BlobAttached {
        index: 0,
        blob: BLOB,
    };
    assert_eq!(events(&emitted), [AnyEvent::Snapshot(expected.into())]);
    let (field, reason) = invalid(given.decide(attach(1)).expect_err("no such item"));
    assert_eq!(field, "item");
    assert!(
        reason.contains("the snapshot has 1 items, numbered from 0"),
        "{reason}"
    );
}

#[test]
fn finalizing_waits_for_every_blob() {
    let mut given = Given::new().command(open(vec![
        item("a", None),
        item("b", Some(BLOB)),
        item("c", None),
    ]));
    let (field, reason) = invalid(given.decide(finalize(None)).expect_err("two lack theirs"));
    assert_eq!(field, "items");
    assert!(
        reason.starts_with("2 of 3 items have no blob yet: 0, 2;"),
        "{reason}"
    );
    given.execute(attach(2));
    let (_, reason) = invalid(given.decide(finalize(None)).expect_err("one lacks its own"));
    assert!(
        reason.starts_with("1 of 3 items have no blob yet: 0;"),
        "{reason}"
    );
    given.execute(attach(0));
    let emitted = given
        .decide(finalize(Some("three files")))
        .expect("accepted");
    let expected = Finalized {
        summary: Some(crate::Slot(0)),
    };
    assert_eq!(events(&emitted), [AnyEvent::Snapshot(expected.into())]);
    assert_eq!(texts(&emitted), [vec!["three files"]]);
}

#[test]
fn a_refusal_names_twenty_items_at_most() {
    let items = (0..25).map(|n| item(&n.to_string(), None)).collect();
    let given = Given::new().command(open(items));
    let (_, reason) = invalid(given.decide(finalize(None)).expect_err("all lack theirs"));
    assert!(reason.contains(" 19, and 5 more; "), "{reason}");
}

#[test]
fn a_finalized_snapshot_never_changes() {
    let opened = Opened {
        strategy: SelectionStrategy::Heuristic,
        summary: None,
    };
    let given = Given::new()
        .event(snapshot(), AnyEvent::Snapshot(opened.into()))
        .event(snapshot(), added(0, Some(BLOB)))
        .event(
            snapshot(),
            AnyEvent::Snapshot(Finalized { summary: None }.into()),
        );
    let add = AddItem {
        snapshot: ID,
        item: item("b", Some(BLOB)),
    };
    let refused = [
        given.decide(add).expect_err("add_item"),
        given.decide(attach(0)).expect_err("attach_blob"),
        given.decide(finalize(None)).expect_err("finalize_snapshot"),
    ];
    let asked = ["add_item", "attach_blob", "finalize_snapshot"];
    for (refusal, asked) in refused.into_iter().zip(asked) {
        let (kind, state) = (Kind::ContextSnapshot, "finalized".to_owned());
        let expected = Refusal::Transition {
            kind,
            id: ID.0,
            state,
            asked,
            allowed: "open",
        };
        assert_eq!(refusal, expected);
    }
}

#[test]
fn nothing_is_done_to_a_snapshot_that_is_not_there() {
    let missing = Refusal::NotFound {
        kind: Kind::ContextSnapshot,
        id: ID.0,
    };
    let given = Given::new();
    assert_eq!(given.decide(attach(0)), Err(missing.clone()));
    assert_eq!(given.decide(finalize(None)), Err(missing.clone()));
    let add = AddItem {
        snapshot: ID,
        item: item("b", None),
    };
    assert_eq!(given.decide(add), Err(missing));
}
