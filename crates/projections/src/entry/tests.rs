//! Tests of entries.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::HashMap;

use annals_domain::intent::{Analyzed, Event as IntentEvent, Submitted};
use annals_domain::run::{DiffFormat, Event as RunEvent, PatchSetProposed};
use annals_domain::{Kind, PatchSetId, Slot, StoredArtifact, StreamKind};
use annals_event_log::{Digest, Position};

use super::{Entry, EntryError, PieceValue};
use crate::testing::{Story, id, redacted, stream};
use crate::{JsonText, Text};

fn long_prompt() -> String {
    "Ergänze einen Schalter. ".repeat(400)
}

fn story() -> Story {
    let mut story = Story::new();
    let intent = stream(StreamKind::Intent, id(1));
    story.push(intent, |pieces| {
        IntentEvent::from(Submitted {
            refines: None,
            prompt: pieces.text(long_prompt()),
        })
    });
    story
}

#[test]
fn large_content_is_wanted_and_found() {
    let story = story();
    let record = story.records().remove(0);
    let digest = Digest::of(long_prompt().as_bytes());
    assert_eq!(Entry::wanted(&record), [digest]);
    assert_eq!(
        story.entry(&record).text(Slot(0)),
        Text::Present(long_prompt())
    );
    match Entry::new(&record, &HashMap::new()) {
        Err(EntryError::MissingBlob {
            position,
            digest: missing,
        }) => {
            assert_eq!((position, missing), (Position(1), digest));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_attachment_is_named_but_not_wanted() {
    let mut story = Story::new();
    story.push(stream(StreamKind::Run, id(2)), |pieces| {
        RunEvent::from(PatchSetProposed {
            patch_set: PatchSetId(id(3)),
            commit: None,
            format: DiffFormat::GitDiff,
            artifact: Some(StoredArtifact::store_content(
                b"diff".to_vec(),
                "text/x-diff",
                pieces,
            )),
            touched: Vec::new(),
            rationale: None,
        })
    });
    let record = story.records().remove(0);
    assert!(Entry::wanted(&record).is_empty());
    let entry = story.entry(&record);
    let (digest, size) = (Digest::of(b"diff"), 4);
    assert!(
        entry
            .pieces
            .contains(&PieceValue::Attachment { digest, size })
    );
    assert_eq!(
        entry.touches()[..],
        [(Kind::PatchSet, id(3)), (Kind::Run, id(2))]
    );
}

#[test]
fn the_envelope_is_all_there() {
    let story = story();
    let record = story.records().remove(0);
    let entry = story.entry(&record);
    assert_eq!(
        (entry.position, entry.version),
        (record.position(), record.version())
    );
    assert_eq!(
        (entry.event_id, entry.batch_id),
        (record.event_id(), record.batch_id())
    );
    assert_eq!((entry.correlation, entry.causation), (Some(id(200)), None));
    assert_eq!(entry.actor, story.actor);
    assert_eq!(entry.stream, stream(StreamKind::Intent, id(1)));
    assert_eq!(entry.recorded_at.to_utc(), record.recorded_at());
}

#[test]
fn removed_content_is_shown_as_removed() {
    let story = story();
    let entry = story.entry(&redacted(&story.records()[0], |_| true));
    assert_eq!(entry.text(Slot(0)), Text::Removed);
    assert_eq!(entry.json(Slot(0)), JsonText::Removed);
    assert_eq!(entry.actor.display_name.as_deref(), Some("[removed]"));
    assert_eq!(entry.actor.auth_context, None, "there never was one");
}

#[test]
fn pieces_that_are_not_what_they_should_be_are_shown_all_the_same() {
    let mut story = Story::new();
    story.push(stream(StreamKind::Intent, id(1)), |pieces| {
        IntentEvent::from(Analyzed {
            content: pieces.text("{not json"),
        })
    });
    let mut entry = story.entries().remove(0);
    assert_eq!(entry.json(Slot(0)).to_string(), r#""{not json""#);
    assert_eq!(entry.text(Slot(99)), Text::Removed);
    entry.pieces[0] = PieceValue::Bytes(vec![b'a', 0xff].into());
    assert_eq!(entry.text(Slot(0)), Text::from("a\u{fffd}"));
}
