//! Tests of the directory.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::sync::atomic::Ordering;

use annals_domain::pipeline::{Created, Event, MaxFramesSet};
use annals_domain::{AnyEvent, Emitted, Kind, Pieces, StreamKind, StreamRef};
use annals_event_log::{EventLog, Position, ReadModels};
use futures::executor::block_on;
use futures::future::join_all;
use uuid::Uuid;

use super::read_only::Watched;
use super::rows::{MODEL, Place};
use super::{CREATING, Directory, DirectoryError};
use crate::Fold;
use crate::fold::tests::sampled;
use crate::testing::{Story, id, stream};

/// One pipeline after the other, with these ids.
fn create(story: &mut Story, ids: impl IntoIterator<Item = u128>) {
    let emitted: Vec<Emitted> = ids
        .into_iter()
        .map(|number| Emitted {
            stream: pipeline(Uuid::from_u128(number)).1,
            event: AnyEvent::Pipeline(Event::from(Created { max_frames: 0 })),
            pieces: Pieces::new(),
        })
        .collect();
    for batch in emitted.chunks(5_000) {
        story.append_all(&batch.iter().collect::<Vec<_>>());
    }
}

fn pipeline(id: Uuid) -> Place {
    (
        Kind::ContextPipeline,
        StreamRef {
            kind: StreamKind::Pipeline,
            id,
        },
    )
}

fn find(directory: &Directory, log: &dyn EventLog, number: u128) -> Option<Place> {
    block_on(directory.find(log, Uuid::from_u128(number))).unwrap()
}

fn suffix(directory: &Directory, log: &dyn EventLog, digits: &str) -> Vec<u128> {
    let found = block_on(directory.by_suffix(log, digits, 10)).unwrap();
    found.into_iter().map(|(_, id)| id.as_u128()).collect()
}

#[test]
fn the_creating_events_are_the_ones_that_folds_begin_with() {
    let mut creating = 0;
    for sample in annals_wire::sample::samples() {
        let mut story = Story::new();
        story.append(&sample);
        let entry = story.entries().remove(0);
        let begins = entry.touches().into_iter().any(|(kind, id)| {
            let mut fold = Fold::new(kind, id);
            fold.apply(&entry);
            fold.peek().is_some()
        });
        let event_type = entry.event.event_type();
        assert_eq!(CREATING.contains(&event_type), begins, "{event_type}");
        creating += usize::from(begins);
    }
    assert_eq!(
        (creating, CREATING.len()),
        // Each may be created here or adopted.
        (2 * Kind::ALL.len(), 2 * Kind::ALL.len())
    );
}

#[test]
fn every_kind_is_found_in_the_overlay_and_in_the_rows() {
    for kind in Kind::ALL {
        let story = Story::of_samples(kind.stream_kind());
        let expected = Some((*kind, stream(kind.stream_kind(), id(1))));
        let directory = Directory::new();
        let object = sampled(*kind);
        let found = || block_on(directory.find(&story.log, object)).unwrap();
        assert_eq!(found(), None, "nothing is folded yet");
        let head = story.log.watermark();
        assert_eq!(block_on(directory.catch_up(&story.log)).unwrap(), head);
        assert_eq!(found(), expected, "{kind}, in the overlay");
        block_on(directory.flush(&story.log)).unwrap();
        assert_eq!(block_on(story.log.checkpoint(MODEL)).unwrap(), head);
        assert_eq!(found(), expected, "{kind}, in the rows");
        let other = Directory::new();
        assert_eq!(
            block_on(other.find(&story.log, object)).unwrap(),
            expected,
            "without folding"
        );
    }
}

#[test]
fn objects_are_found_by_their_last_digits() {
    const FIRST: u128 = 0x0198_c0de_0000_7000_8000_0000_12ab_cdef;
    const SECOND: u128 = 0x0198_c0de_0000_7000_8000_0001_12ab_cdef;
    let mut story = Story::new();
    create(&mut story, [FIRST]);
    let directory = Directory::new();
    let log = &story.log;
    block_on(directory.catch_up(log)).unwrap();
    block_on(directory.flush(log)).unwrap();
    create(&mut story, [SECOND, 5]);
    let log = &story.log;
    block_on(directory.catch_up(log)).unwrap();
    // One is in the rows now, the others in the overlay; then all in the rows.
    for _ in 0..2 {
        assert_eq!(
            suffix(&directory, log, "12abcdef"),
            [FIRST, SECOND],
            "ambiguous"
        );
        assert_eq!(suffix(&directory, log, "12AB-CDEF"), [FIRST, SECOND]);
        assert_eq!(suffix(&directory, log, "112abcdef"), [SECOND]);
        assert_eq!(suffix(&directory, log, "8000-000012abcdef"), [FIRST]);
        assert_eq!(
            suffix(&directory, log, &Uuid::from_u128(SECOND).to_string()),
            [SECOND]
        );
        assert_eq!(suffix(&directory, log, "12abcdee"), [0_u128; 0]);
        let one = block_on(directory.by_suffix(log, "12abcdef", 1)).unwrap();
        assert_eq!(one, [(Kind::ContextPipeline, Uuid::from_u128(FIRST))]);
        block_on(directory.flush(log)).unwrap();
    }
}

#[test]
fn what_is_no_end_of_an_id_is_refused() {
    let story = Story::new();
    let directory = Directory::new();
    for bad in [
        "",
        "2abcdef",
        "12abcdeg",
        "12abcd é",
        "123-4567",
        &"0".repeat(33),
    ] {
        match block_on(directory.by_suffix(&story.log, bad, 10)) {
            Err(DirectoryError::InvalidSuffix { suffix }) => assert_eq!(suffix, bad),
            other => panic!("{bad}: {other:?}"),
        }
    }
}

#[test]
fn a_log_open_for_reading_is_answered_from_the_overlay() {
    let mut story = Story::new();
    create(&mut story, 1..=5_000);
    let log = Watched::new(&story.log);
    log.read_only.store(true, Ordering::Relaxed);
    let directory = Directory::new();
    block_on(directory.catch_up(&log)).unwrap();
    assert_eq!(log.commits.load(Ordering::Relaxed), 1, "it was tried once");
    block_on(directory.flush(&log)).unwrap();
    assert_eq!(
        block_on(story.log.checkpoint(MODEL)).unwrap(),
        Position::START
    );
    for number in [1, 4_097, 5_000] {
        assert_eq!(
            find(&directory, &log, number),
            Some(pipeline(Uuid::from_u128(number)))
        );
    }
    assert_eq!(suffix(&directory, &log, "00001388"), [5_000]);
}

#[test]
fn a_large_overlay_is_written_by_itself() {
    let mut story = Story::new();
    create(&mut story, 1..=4_000);
    let directory = Directory::new();
    block_on(directory.catch_up(&story.log)).unwrap();
    assert_eq!(
        block_on(story.log.checkpoint(MODEL)).unwrap(),
        Position::START
    );
    create(&mut story, 4_001..=4_200);
    block_on(directory.catch_up(&story.log)).unwrap();
    assert_eq!(
        block_on(story.log.checkpoint(MODEL)).unwrap(),
        Position(4_200)
    );
    assert!(directory.overlay().pending().is_none());
    assert!(find(&directory, &story.log, 1).is_some());
}

#[test]
fn what_is_folded_is_not_read_again() {
    let mut story = Story::new();
    create(&mut story, 1..=10);
    let log = Watched::new(&story.log);
    let directory = Directory::new();
    block_on(directory.catch_up(&log)).unwrap();
    let reads = log.reads.load(Ordering::Relaxed);
    block_on(directory.catch_up(&log)).unwrap();
    assert_eq!(log.reads.load(Ordering::Relaxed), reads);
    block_on(directory.flush(&log)).unwrap();
    block_on(directory.flush(&log)).unwrap();
    assert_eq!(
        log.commits.load(Ordering::Relaxed),
        1,
        "nothing new, nothing to write"
    );
    let next = Directory::new();
    block_on(next.catch_up(&log)).unwrap();
    assert_eq!(
        log.reads.load(Ordering::Relaxed),
        reads,
        "the rows have it all"
    );
}

#[test]
fn events_that_create_nothing_move_the_checkpoint_only() {
    let mut story = Story::new();
    create(&mut story, [7]);
    let directory = Directory::new();
    block_on(directory.catch_up(&story.log)).unwrap();
    block_on(directory.flush(&story.log)).unwrap();
    let place = pipeline(Uuid::from_u128(7)).1;
    story.push(place, |_| Event::from(MaxFramesSet { max_frames: 9 }));
    block_on(directory.catch_up(&story.log)).unwrap();
    let pending = directory.overlay().pending().unwrap();
    assert_eq!((pending.rows.len(), pending.checkpoint), (0, Position(2)));
}

#[test]
fn two_directories_on_one_log_agree() {
    let mut story = Story::new();
    create(&mut story, 1..=10);
    let (one, two) = (Directory::new(), Directory::new());
    block_on(two.catch_up(&story.log)).unwrap();
    create(&mut story, 11..=20);
    block_on(one.catch_up(&story.log)).unwrap();
    block_on(one.flush(&story.log)).unwrap();
    // The other one's rows were faster, and are further than it is.
    block_on(two.flush(&story.log)).unwrap();
    assert_eq!(
        find(&two, &story.log, 20),
        Some(pipeline(Uuid::from_u128(20)))
    );
    // Now they are behind it.
    create(&mut story, 21..=22);
    block_on(two.catch_up(&story.log)).unwrap();
    block_on(two.flush(&story.log)).unwrap();
    create(&mut story, 23..=24);
    block_on(one.catch_up(&story.log)).unwrap();
    block_on(one.flush(&story.log)).unwrap();
    assert_eq!(block_on(story.log.checkpoint(MODEL)).unwrap(), Position(24));
    for number in 1..=24 {
        assert!(
            find(&Directory::new(), &story.log, number).is_some(),
            "{number} is in the rows"
        );
    }
}

#[test]
fn dropped_rows_are_folded_again() {
    let mut story = Story::new();
    create(&mut story, 1..=10);
    let directory = Directory::new();
    block_on(directory.catch_up(&story.log)).unwrap();
    block_on(directory.flush(&story.log)).unwrap();
    block_on(story.log.drop_model(MODEL)).unwrap();
    create(&mut story, [11]);
    block_on(directory.catch_up(&story.log)).unwrap();
    block_on(directory.flush(&story.log)).unwrap();
    for number in 1..=11 {
        assert!(
            find(&Directory::new(), &story.log, number).is_some(),
            "{number} is in the rows"
        );
    }
}

#[test]
fn an_id_that_is_used_twice_stays_with_its_first_object() {
    let mut story = Story::new();
    create(&mut story, [7]);
    let directory = Directory::new();
    block_on(directory.catch_up(&story.log)).unwrap();
    block_on(directory.flush(&story.log)).unwrap();
    story.push(stream(StreamKind::Task, Uuid::from_u128(7)), |pieces| {
        annals_domain::task::Event::from(annals_domain::task::Created {
            title: pieces.text("t"),
            description: None,
            goal: None,
            constraints: Vec::new(),
            acceptance_criteria: Vec::new(),
            requester: None,
            parent: None,
            intent: None,
            dependencies: Vec::new(),
        })
    });
    block_on(directory.catch_up(&story.log)).unwrap();
    block_on(directory.flush(&story.log)).unwrap();
    assert_eq!(
        find(&directory, &story.log, 7),
        Some(pipeline(Uuid::from_u128(7)))
    );
}

#[test]
fn concurrent_calls_are_safe() {
    let mut story = Story::new();
    create(&mut story, 1..=3_000);
    let directory = Directory::new();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (directory, log) = (&directory, &story.log);
            scope.spawn(move || {
                let calls = (0..8).map(|call| async move {
                    directory.catch_up(log).await.unwrap();
                    if call % 4 == thread {
                        directory.flush(log).await.unwrap();
                    }
                    let id = Uuid::from_u128(2_999);
                    assert_eq!(directory.find(log, id).await.unwrap(), Some(pipeline(id)));
                });
                block_on(join_all(calls));
            });
        }
    });
    assert_eq!(
        block_on(story.log.checkpoint(MODEL)).unwrap(),
        Position(3_000)
    );
}

#[test]
fn a_closed_log_is_an_error() {
    let mut story = Story::new();
    create(&mut story, [1]);
    let directory = Directory::new();
    block_on(story.log.close());
    match block_on(directory.catch_up(&story.log)) {
        Err(error @ DirectoryError::Read(_)) => assert!(!error.is_retryable()),
        other => panic!("{other:?}"),
    }
}
