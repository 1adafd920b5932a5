//! Tests of the catalogue over small logs in memory.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod going;
mod removed;
mod rows;
mod sessions;
mod tool_calls;
mod work_items;

use std::sync::atomic::Ordering;

use annals_domain::pipeline::EvictionPolicy;
use annals_domain::pipeline::{Created, Event};
use annals_domain::{AnyEvent, Emitted, Kind, Pieces, StreamKind, StreamRef};
use annals_event_log::Classified;
use annals_event_log::memory::MemoryLog;
use annals_event_log::{
    Blob, Blobs, Content, EventLog, ModelCheckpoint, Position, Query, ReadModels, Record, Store,
};
use bytes::Bytes;
use futures::executor::block_on;
use futures::future::join_all;
use uuid::Uuid;

use super::watched::Watched;
use super::{
    Catalogue, CatalogueError, CatalogueRow, LinksQuery, ListQuery, Relation, Status, TreeQuery,
};
use crate::testing::{Story, examples, fold, id, redacted, stream};
use crate::{Entry, ObjectView, Text};

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

fn pipeline(id: Uuid) -> (Kind, StreamRef) {
    (
        Kind::ContextPipeline,
        StreamRef {
            kind: StreamKind::Pipeline,
            id,
        },
    )
}

fn find(catalogue: &Catalogue, log: &dyn Store, number: u128) -> Option<(Kind, StreamRef)> {
    block_on(catalogue.find(log, Uuid::from_u128(number))).unwrap()
}

fn suffix(catalogue: &Catalogue, log: &dyn Store, digits: &str) -> Vec<u128> {
    let found = block_on(catalogue.by_suffix(log, digits, 10)).unwrap();
    found.into_iter().map(|(_, id)| id.as_u128()).collect()
}

/// The model that holds the rows until they are rebuilt.
const MODEL: &str = "catalogue.13.1";

type Rows = Vec<(Bytes, Bytes)>;

/// Every row of a model.
fn dump(log: &dyn Store, model: &str) -> Rows {
    let mut rows: Rows = Vec::new();
    loop {
        let after = rows.last().map(|(key, _)| key.clone());
        let page = block_on(log.scan(model, b"", after.as_deref(), 1_000)).unwrap();
        if page.is_empty() {
            return rows;
        }
        rows.extend(page);
    }
}

/// A log of its own with the same records, and no rows.
fn copy(log: &MemoryLog) -> MemoryLog {
    let records = records(log);
    let content = records.iter().flat_map(Record::content);
    let blobs = content.filter_map(|piece| match piece {
        Content::Blob { digest, .. } | Content::Attachment { digest, .. } => {
            block_on(log.blob(digest)).unwrap().map(Blob::new)
        }
        Content::Inline { .. } | Content::Removed { .. } => None,
    });
    let blobs = blobs.collect();
    let copy = MemoryLog::new(log.log_id());
    if !records.is_empty() {
        block_on(copy.append_records(records, blobs)).unwrap();
    }
    copy
}

fn records(log: &MemoryLog) -> Vec<Record> {
    let (mut records, mut next) = (Vec::new(), Some(1));
    while let Some(from) = next {
        let page = block_on(log.read(Query::all(Position(from)))).unwrap();
        records.extend(page.records);
        next = page.next;
    }
    records
}

/// The rows as they are made at once from the whole log.
fn rebuilt_rows(log: &MemoryLog) -> Rows {
    let log = copy(log);
    let catalogue = Catalogue::new();
    let rebuilt = block_on(catalogue.rebuild(&log, &mut |_| {})).unwrap();
    assert_eq!(rebuilt.events, log.watermark().0);
    dump(&log, &block_on(catalogue.model(&log)).unwrap())
}

fn up_to_date(log: &dyn Store) -> Catalogue {
    let catalogue = Catalogue::new();
    block_on(catalogue.catch_up(log)).unwrap();
    catalogue
}

fn row(catalogue: &Catalogue, log: &dyn Store, id: Uuid) -> CatalogueRow {
    block_on(catalogue.row(log, id)).unwrap().unwrap()
}

/// The examples of one kind of streams: first what happens here, then
/// what is adopted over it.
fn samples(kind: StreamKind) -> Vec<Emitted> {
    let mut samples = examples(kind);
    samples.sort_by_key(|sample| sample.event.adoption().is_some());
    samples
}

fn told(kind: StreamKind) -> Story {
    let mut story = Story::new();
    for sample in &samples(kind) {
        story.append(sample);
    }
    story
}

#[test]
fn written_event_by_event_or_made_anew_the_rows_are_the_same() {
    for (kind, every) in StreamKind::ALL
        .iter()
        .flat_map(|kind| [1, 2, 3, 7].map(|n| (*kind, n)))
    {
        let mut story = Story::new();
        let mut catalogue = Catalogue::new();
        for (number, sample) in samples(kind).iter().enumerate() {
            story.append(sample);
            let log = &story.log;
            block_on(catalogue.catch_up(log)).unwrap();
            if number % every == every - 1 {
                block_on(catalogue.flush(log)).unwrap();
                assert_eq!(
                    dump(log, MODEL),
                    rebuilt_rows(log),
                    "{kind} {number}, every {every}"
                );
            }
            if number % 5 == 4 {
                catalogue = Catalogue::new();
            }
        }
    }
}

#[test]
fn rows_say_what_views_say() {
    let mut kinds = std::collections::BTreeSet::new();
    for stream in StreamKind::ALL {
        let samples = samples(*stream);
        let mut story = Story::new();
        for sample in &samples {
            story.append(sample);
            let catalogue = up_to_date(&story.log);
            let entries = story.entries();
            for (kind, id) in entries.iter().flat_map(|entry| entry.touches()) {
                let view = fold(kind, id, &entries);
                let row = block_on(catalogue.row(&story.log, id)).unwrap();
                assert_eq!(row.is_some(), view.is_some(), "{kind} {id}");
                if let (Some(row), Some(view)) = (row, view) {
                    compare(&row, &view, dropped_by_number(&entries));
                    kinds.insert(kind);
                }
            }
        }
    }
    assert_eq!(kinds.len(), Kind::ALL.len());
}

/// Tokens are used before and after a provenance is recorded or adopted, in
/// every order of four events.
#[test]
fn tokens_of_a_provenance_are_those_of_its_view() {
    let samples = samples(StreamKind::Run);
    let of = |event_type: &str| {
        let found = samples
            .iter()
            .find(|it| it.event.event_type() == event_type);
        found.expect("a sample")
    };
    let used = of("run.usage_recorded");
    let others = [
        used,
        of("run.provenance_adopted"),
        of("run.provenance_recorded"),
    ];
    for order in 0..81_usize {
        let mut story = Story::new();
        for place in [1, 3, 9, 27] {
            story.append(others[order / place % 3]);
        }
        let entries = story.entries();
        let catalogue = up_to_date(&story.log);
        for (_, id) in entries.iter().flat_map(|entry| entry.touches()) {
            let view = fold(Kind::Provenance, id, &entries);
            let row = block_on(catalogue.row(&story.log, id)).unwrap();
            if let (Some(row), Some(view)) = (row, view) {
                compare_tokens(&row, &view, &format!("order {order}"));
            }
        }
    }
}

/// Whether counting cannot know how many frames are left; what is taken over begins again.
fn dropped_by_number(entries: &[Entry]) -> bool {
    let says = |entry: &Entry| match &entry.event {
        AnyEvent::Pipeline(Event::FramesDropped(dropped)) => Some(!dropped.all),
        AnyEvent::Pipeline(Event::Adopted(adopted)) if adopted.object.is_some() => Some(false),
        _ => None,
    };
    entries.iter().filter_map(says).next_back().unwrap_or(false)
}

fn compare(row: &CatalogueRow, view: &ObjectView, dropped_by_number: bool) {
    let header = view.header();
    let object = format!("{} {}", row.kind, row.id);
    assert_eq!(row.kind, view.kind(), "{object}");
    assert_eq!(row.created_at, header.created_at, "{object}");
    assert_eq!(row.updated_at, header.updated_at, "{object}");
    assert_eq!(row.visibility, header.visibility, "{object}");
    let by = &header.created_by;
    let named = (row.created_by.kind.as_str(), &row.created_by.id);
    assert_eq!(named, (by.kind.as_str(), &by.id), "{object}");
    let tags = serde_json::to_value(&header.tags).unwrap();
    assert_eq!(serde_json::to_value(row).unwrap()["tags"], tags, "{object}");
    let external = serde_json::to_value(&header.external_ids).unwrap();
    let of_row = serde_json::to_value(row).unwrap();
    assert_eq!(of_row["external_ids"], external, "{object}");
    assert_eq!(row.status.map(Status::word), status(view), "{object}");
    match view {
        ObjectView::ContextPipeline(view) => {
            let of = |name| row.counts.iter().find(|(count, _)| *count == name);
            let held = view.frames().len() as u64;
            // Under a policy that does more than count it is left out.
            let counted = *view.policy() == EvictionPolicy::default() && !dropped_by_number;
            assert_eq!(of("frames_in_window").is_some(), counted, "{object}");
            assert!(
                of("frames_in_window").is_none_or(|(_, count)| *count == held),
                "{object}"
            );
            let limit = of("max_frames").map(|(_, count)| *count);
            let in_force = counted.then_some(u64::from(view.max_frames()));
            assert_eq!(limit, in_force, "{object}");
        }
        ObjectView::Provenance(_) => compare_tokens(row, view, &object),
        _ => {}
    }
}

fn compare_tokens(row: &CatalogueRow, view: &ObjectView, what: &str) {
    let ObjectView::Provenance(view) = view else {
        return;
    };
    let known = |(tokens, cost): (u64, Option<f64>)| (tokens, cost.map(|usd| usd.to_bits()));
    let used = view.token_usage.map(|used| {
        let tokens = used.input_tokens.saturating_add(used.output_tokens);
        known((tokens, used.cost_usd))
    });
    let row = row
        .tokens
        .map(|used| known((used.total_tokens, used.cost_usd)));
    assert_eq!(row, used, "{what}");
}

fn status(view: &ObjectView) -> Option<&str> {
    match view {
        ObjectView::Intent(view) => Some(view.status().as_str()),
        ObjectView::Task(view) => Some(view.status().name()),
        ObjectView::Run(view) => Some(view.status().name()),
        ObjectView::PatchSet(view) => Some(view.status().as_str()),
        ObjectView::ToolInvocation(view) => Some(view.status().as_str()),
        ObjectView::ContextSnapshot(view) if view.finalized => Some("finalized"),
        ObjectView::ContextSnapshot(_) => Some("open"),
        ObjectView::Session(view) => Some(Status::from(view.status()).word()),
        ObjectView::Observation(view) if view.processed.is_some() => Some("processed"),
        ObjectView::Observation(_) => Some("open"),
        _ => None,
    }
}

#[test]
fn every_kind_is_found_in_the_overlay_and_in_the_rows() {
    for kind in Kind::ALL {
        let mut stories = vec![Story::of_samples(kind.stream_kind())];
        // No other system has observations.
        if *kind != Kind::Observation {
            stories.push(Story::of_adopted(kind.stream_kind()));
        }
        for story in stories {
            let entries = story.entries();
            let touched = entries.iter().flat_map(|entry| entry.touches());
            let object = touched.into_iter().find(|(touched, _)| touched == kind);
            let object = object.unwrap().1;
            let expected = Some((*kind, entries[0].stream));
            let catalogue = Catalogue::new();
            let found = || block_on(catalogue.find(&story.log, object)).unwrap();
            assert_eq!(found(), None, "nothing is folded yet");
            let head = story.log.watermark();
            assert_eq!(block_on(catalogue.catch_up(&story.log)).unwrap(), head);
            assert_eq!(found(), expected, "{kind}, in the overlay");
            block_on(catalogue.flush(&story.log)).unwrap();
            assert_eq!(
                block_on(story.log.checkpoint(MODEL)).unwrap().position,
                head
            );
            assert_eq!(found(), expected, "{kind}, in the rows");
            let other = Catalogue::new();
            let found = block_on(other.find(&story.log, object)).unwrap();
            assert_eq!(found, expected, "without folding");
        }
    }
}

#[test]
fn content_that_was_removed_shows_as_removed_and_large_content_is_cut() {
    let mut story = Story::new();
    let intent = stream(StreamKind::Intent, id(1));
    story.push(intent, |pieces| {
        let prompt = pieces.text(format!("first line\n{}", "x".repeat(10_000)));
        annals_domain::intent::Event::from(annals_domain::intent::Submitted {
            refines: None,
            prompt,
        })
    });
    let title = |log: &dyn Store| row(&up_to_date(log), log, id(1)).title;
    assert_eq!(title(&story.log), Some(Text::from("first line")));
    let emptied = MemoryLog::new(id(0));
    let records = story
        .records()
        .iter()
        .map(|r| redacted(r, |_| true))
        .collect();
    block_on(emptied.append_records(records, Vec::new())).unwrap();
    assert_eq!(title(&emptied), Some(Text::Removed));
}

#[test]
fn another_generation_takes_the_place_of_the_rows() {
    let mut story = told(StreamKind::Run);
    let log = Watched::new(&story.log);
    let catalogue = up_to_date(&log);
    block_on(catalogue.flush(&log)).unwrap();
    let before = dump(&log, MODEL);
    // What an interrupted attempt left is not in the way.
    let left = vec![(Bytes::from("left"), Some(Bytes::from("over")))];
    block_on(log.commit(
        "catalogue.13.2",
        ModelCheckpoint::default(),
        left,
        Position(3),
    ))
    .unwrap();
    for older in [
        "directory.1",
        "catalogue.1.1",
        "catalogue.2.1",
        "catalogue.3.1",
        "catalogue.5.1",
        "catalogue.10.1",
    ] {
        block_on(log.commit(older, ModelCheckpoint::default(), Vec::new(), Position(3))).unwrap();
    }
    let reader = up_to_date(&log);
    let mut told = Vec::new();
    let mut tell = |position| told.push(position);
    let rebuilt = block_on(catalogue.rebuild(&log, &mut tell)).unwrap();
    assert_eq!(told.last(), Some(&log.watermark()));
    assert!(rebuilt.rows >= before.len() as u64);
    assert_eq!(block_on(catalogue.model(&log)).unwrap(), "catalogue.13.2");
    assert_eq!(dump(&log, "catalogue.13.2"), before);
    for dropped in [
        MODEL,
        "directory.1",
        "catalogue.1.1",
        "catalogue.2.1",
        "catalogue.3.1",
        "catalogue.5.1",
        "catalogue.10.1",
    ] {
        assert_eq!(dump(&log, dropped), [], "{dropped}");
        assert_eq!(
            block_on(log.checkpoint(dropped)).unwrap().position,
            Position::START
        );
    }
    // A reader of the rows that were dropped finds the new ones.
    assert!(block_on(reader.find(&log, id(1))).unwrap().is_some());
    assert!(
        block_on(reader.row(&log, Uuid::from_u128(99)))
            .unwrap()
            .is_none()
    );
    // And they go on from there.
    create(&mut story, [77]);
    let log = &story.log;
    for catalogue in [&catalogue, &reader] {
        block_on(catalogue.catch_up(log)).unwrap();
        block_on(catalogue.flush(log)).unwrap();
        assert_eq!(dump(log, "catalogue.13.2"), rebuilt_rows(log));
    }
}

#[test]
fn an_interrupted_change_of_generation_leaves_the_current_rows() {
    let story = told(StreamKind::Run);
    let log = Watched::new(&story.log);
    let catalogue = up_to_date(&log);
    block_on(catalogue.flush(&log)).unwrap();
    log.read_only.store(true, Ordering::Relaxed);
    let failed = block_on(catalogue.rebuild(&log, &mut |_| {}));
    assert!(
        matches!(failed, Err(CatalogueError::Commit(_))),
        "{failed:?}"
    );
    assert_eq!(block_on(catalogue.model(&log)).unwrap(), MODEL);
    assert_eq!(dump(&log, MODEL), rebuilt_rows(&story.log));
}

#[test]
fn a_reader_follows_rows_that_another_process_writes() {
    let mut story = Story::new();
    create(&mut story, 1..=30);
    let (reader, writer) = (Catalogue::new(), Catalogue::new());
    let list = |log: &dyn Store| {
        let query = ListQuery {
            limit: 100,
            ..ListQuery::new(Kind::ContextPipeline)
        };
        block_on(reader.list(log, &query)).unwrap().rows.len()
    };
    for (from, to, writes) in [
        (31, 40, false),
        (41, 50, true),
        (51, 60, false),
        (61, 70, true),
    ] {
        {
            let log = Watched::new(&story.log);
            log.read_only.store(true, Ordering::Relaxed);
            block_on(reader.catch_up(&log)).unwrap();
        }
        create(&mut story, from..=to);
        if writes {
            block_on(writer.catch_up(&story.log)).unwrap();
            block_on(writer.flush(&story.log)).unwrap();
        }
        let log = Watched::new(&story.log);
        log.read_only.store(true, Ordering::Relaxed);
        // Without folding, where the rows went on: they have more by now.
        let expected = if writes { to } else { from - 1 };
        assert_eq!(list(&log) as u128, expected, "{from} to {to}");
        block_on(reader.catch_up(&log)).unwrap();
        assert_eq!(list(&log) as u128, to);
    }
}

#[test]
fn objects_are_found_by_their_last_digits() {
    const FIRST: u128 = 0x0198_c0de_0000_7000_8000_0000_12ab_cdef;
    const SECOND: u128 = 0x0198_c0de_0000_7000_8000_0001_12ab_cdef;
    let mut story = Story::new();
    create(&mut story, [FIRST]);
    let catalogue = Catalogue::new();
    let log = &story.log;
    block_on(catalogue.catch_up(log)).unwrap();
    block_on(catalogue.flush(log)).unwrap();
    create(&mut story, [SECOND, 5]);
    let log = &story.log;
    block_on(catalogue.catch_up(log)).unwrap();
    // One is in the rows now, the others in the overlay; then all in the rows.
    for _ in 0..2 {
        assert_eq!(
            suffix(&catalogue, log, "12abcdef"),
            [FIRST, SECOND],
            "ambiguous"
        );
        assert_eq!(suffix(&catalogue, log, "12AB-CDEF"), [FIRST, SECOND]);
        assert_eq!(suffix(&catalogue, log, "112abcdef"), [SECOND]);
        assert_eq!(suffix(&catalogue, log, "8000-000012abcdef"), [FIRST]);
        assert_eq!(
            suffix(&catalogue, log, &Uuid::from_u128(SECOND).to_string()),
            [SECOND]
        );
        assert_eq!(suffix(&catalogue, log, "12abcdee"), [0_u128; 0]);
        let one = block_on(catalogue.by_suffix(log, "12abcdef", 1)).unwrap();
        assert_eq!(one, [(Kind::ContextPipeline, Uuid::from_u128(FIRST))]);
        block_on(catalogue.flush(log)).unwrap();
    }
}

#[test]
fn what_is_not_the_end_of_an_id_is_refused() {
    let story = Story::new();
    let catalogue = Catalogue::new();
    for bad in [
        "",
        "2abcdef",
        "12abcdeg",
        "12abcd é",
        "123-4567",
        &"0".repeat(33),
    ] {
        match block_on(catalogue.by_suffix(&story.log, bad, 10)) {
            Err(CatalogueError::InvalidSuffix { suffix }) => assert_eq!(suffix, bad),
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
    let catalogue = Catalogue::new();
    block_on(catalogue.catch_up(&log)).unwrap();
    block_on(catalogue.catch_up(&log)).unwrap();
    assert_eq!(log.commits.load(Ordering::Relaxed), 1, "it was tried once");
    block_on(catalogue.flush(&log)).unwrap();
    assert_eq!(
        block_on(story.log.checkpoint(MODEL)).unwrap().position,
        Position::START
    );
    for number in [1, 4_097, 5_000] {
        assert_eq!(
            find(&catalogue, &log, number),
            Some(pipeline(Uuid::from_u128(number)))
        );
    }
    assert_eq!(suffix(&catalogue, &log, "00001388"), [5_000]);
}

#[test]
fn a_large_overlay_is_written_by_itself() {
    let mut story = Story::new();
    create(&mut story, 1..=2_000);
    let catalogue = up_to_date(&story.log);
    let checkpoint = |log: &MemoryLog| block_on(log.checkpoint(MODEL)).unwrap().position.0;
    assert_eq!(checkpoint(&story.log), 0);
    create(&mut story, 2_001..=6_000);
    block_on(catalogue.catch_up(&story.log)).unwrap();
    let written = checkpoint(&story.log);
    assert!((3_000..=6_000).contains(&written), "{written}");
    // A writer need not ask: it keeps up in steps, and the rows follow.
    create(&mut story, 6_001..=16_000);
    for _ in 0..10 {
        block_on(catalogue.keep_up(&story.log)).unwrap();
    }
    let kept = checkpoint(&story.log);
    assert!(kept > 10_000, "{kept}");
    assert!(find(&catalogue, &story.log, 1).is_some());
    assert_eq!(dump(&story.log, MODEL).len() as u64, {
        let blocks = kept / 256 + 1;
        2 * kept + blocks
    });
}

/// Where another process keeps the rows current, this one folds for its own answers alone.
#[test]
fn who_does_not_lead_writes_nothing_unasked() {
    let mut story = Story::new();
    create(&mut story, 1..=5_000);
    let log = Watched::new(&story.log);
    let catalogue = Catalogue::new();
    log.follows.store(true, Ordering::Relaxed);
    for _ in 0..10 {
        block_on(catalogue.keep_up(&log)).unwrap();
    }
    assert_eq!(log.reads.load(Ordering::Relaxed), 0);
    // The one that leads writes rows, and this one begins where they end.
    let leading = Catalogue::new();
    for _ in 0..10 {
        block_on(leading.keep_up(&story.log)).unwrap();
    }
    block_on(leading.flush(&story.log)).unwrap();
    block_on(catalogue.catch_up(&log)).unwrap();
    assert_eq!(log.commits.load(Ordering::Relaxed), 0);
    let found = block_on(catalogue.find(&log, Uuid::from_u128(5_000))).unwrap();
    assert!(found.is_some());
    // It takes over.
    drop(leading);
    create(&mut story, 5_001..=25_000);
    let log = Watched::new(&story.log);
    for _ in 0..20 {
        block_on(catalogue.keep_up(&log)).unwrap();
    }
    assert!(log.commits.load(Ordering::Relaxed) > 0);
}

/// A process that is about to end does not take the lead of rows that are current.
#[test]
fn the_lead_of_current_rows_is_not_asked_for() {
    let mut story = Story::new();
    create(&mut story, 1..=10_000);
    let leading = Catalogue::new();
    for _ in 0..10 {
        block_on(leading.keep_up(&story.log)).unwrap();
    }
    let log = Watched::new(&story.log);
    let catalogue = Catalogue::new();
    block_on(catalogue.keep_up(&log)).unwrap();
    assert_eq!(log.asked.load(Ordering::Relaxed), 0);
    create(&mut story, 10_001..=20_000);
    let log = Watched::new(&story.log);
    log.follows.store(true, Ordering::Relaxed);
    for _ in 0..10 {
        block_on(catalogue.keep_up(&log)).unwrap();
    }
    assert_eq!(log.asked.load(Ordering::Relaxed), 10);
    // Who follows asks the log for nothing else.
    assert_eq!(log.calls.load(Ordering::Relaxed), 0);
}

#[test]
fn what_is_folded_is_not_read_again() {
    let mut story = Story::new();
    create(&mut story, 1..=10);
    let log = Watched::new(&story.log);
    let catalogue = Catalogue::new();
    block_on(catalogue.catch_up(&log)).unwrap();
    let reads = log.reads.load(Ordering::Relaxed);
    block_on(catalogue.catch_up(&log)).unwrap();
    assert_eq!(log.reads.load(Ordering::Relaxed), reads);
    block_on(catalogue.flush(&log)).unwrap();
    block_on(catalogue.flush(&log)).unwrap();
    assert_eq!(
        log.commits.load(Ordering::Relaxed),
        1,
        "nothing new, nothing to write"
    );
    let next = Catalogue::new();
    block_on(next.catch_up(&log)).unwrap();
    assert_eq!(
        log.reads.load(Ordering::Relaxed),
        reads,
        "the rows have it all"
    );
}

#[test]
fn two_catalogues_on_one_log_agree() {
    let mut story = Story::new();
    create(&mut story, 1..=10);
    let (one, two) = (Catalogue::new(), Catalogue::new());
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
    assert_eq!(
        block_on(story.log.checkpoint(MODEL)).unwrap().position,
        Position(24)
    );
    for number in 1..=24 {
        assert!(
            find(&Catalogue::new(), &story.log, number).is_some(),
            "{number} is in the rows"
        );
    }
}

#[test]
fn dropped_rows_are_folded_again() {
    let mut story = Story::new();
    create(&mut story, 1..=10);
    let catalogue = Catalogue::new();
    block_on(catalogue.catch_up(&story.log)).unwrap();
    block_on(catalogue.flush(&story.log)).unwrap();
    block_on(story.log.drop_model(MODEL)).unwrap();
    create(&mut story, [11]);
    block_on(catalogue.catch_up(&story.log)).unwrap();
    block_on(catalogue.flush(&story.log)).unwrap();
    for number in 1..=11 {
        assert!(
            find(&Catalogue::new(), &story.log, number).is_some(),
            "{number} is in the rows"
        );
    }
}

#[test]
fn an_id_that_is_used_twice_stays_with_its_first_object() {
    let mut story = Story::new();
    create(&mut story, [7]);
    let catalogue = Catalogue::new();
    block_on(catalogue.catch_up(&story.log)).unwrap();
    block_on(catalogue.flush(&story.log)).unwrap();
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
    block_on(catalogue.catch_up(&story.log)).unwrap();
    block_on(catalogue.flush(&story.log)).unwrap();
    assert_eq!(
        find(&catalogue, &story.log, 7),
        Some(pipeline(Uuid::from_u128(7)))
    );
}

#[test]
fn concurrent_calls_are_safe() {
    let mut story = Story::new();
    create(&mut story, 1..=3_000);
    let catalogue = Catalogue::new();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (catalogue, log) = (&catalogue, &story.log);
            scope.spawn(move || {
                let calls = (0..8).map(|call| async move {
                    catalogue.catch_up(log).await.unwrap();
                    if call % 4 == thread {
                        catalogue.flush(log).await.unwrap();
                    }
                    let id = Uuid::from_u128(2_999);
                    assert_eq!(catalogue.find(log, id).await.unwrap(), Some(pipeline(id)));
                });
                block_on(join_all(calls));
            });
        }
    });
    assert_eq!(
        block_on(story.log.checkpoint(MODEL)).unwrap().position,
        Position(3_000)
    );
}

#[test]
fn a_closed_log_is_an_error() {
    let mut story = Story::new();
    create(&mut story, [1]);
    let catalogue = Catalogue::new();
    block_on(story.log.close());
    match block_on(catalogue.catch_up(&story.log)) {
        Err(error @ CatalogueError::Read(_)) => assert!(!error.is_retryable()),
        other => panic!("{other:?}"),
    }
}

fn task(parent: Option<Uuid>, intent: Option<Uuid>) -> annals_domain::task::Adopted {
    let samples = annals_wire::sample::samples();
    let adopted = samples.into_iter().find_map(|sample| match sample.event {
        AnyEvent::Task(annals_domain::task::Event::Adopted(event)) if event.object.is_some() => {
            Some(event)
        }
        _ => None,
    });
    let mut adopted = adopted.unwrap();
    if let Some(object) = &mut adopted.object {
        object.parent = parent.map(Into::into);
        object.intent = intent.map(Into::into);
        object.header.tags = Vec::new();
    }
    adopted.runs = Vec::new();
    adopted.dependencies = Vec::new();
    adopted
}

#[test]
fn a_circle_is_cut_where_it_closes() {
    let mut story = Story::new();
    for (own, parent) in [(1, 2), (2, 3), (3, 1)] {
        let adopted = task(Some(id(parent)), None);
        story.push(stream(StreamKind::Task, id(own)), |pieces| {
            (0..20).for_each(|_| {
                pieces.text("t");
            });
            annals_domain::task::Event::from(adopted)
        });
    }
    let catalogue = up_to_date(&story.log);
    let tree = block_on(catalogue.tree(&story.log, &TreeQuery::new(id(1))));
    let tree = tree.unwrap().unwrap();
    let shown: Vec<_> = tree
        .nodes
        .iter()
        .map(|node| (node.depth, node.row.id, node.is_circle))
        .collect();
    let expected = [
        (0, id(1), false),
        (1, id(3), false),
        (2, id(2), false),
        (3, id(1), true),
    ];
    assert_eq!(shown, expected);
    assert!(!tree.more);
    let shallow = TreeQuery {
        depth: 1,
        ..TreeQuery::new(id(1))
    };
    let tree = block_on(catalogue.tree(&story.log, &shallow))
        .unwrap()
        .unwrap();
    assert_eq!((tree.nodes.len(), tree.more), (2, true));
    let small = TreeQuery {
        objects: 2,
        ..TreeQuery::new(id(1))
    };
    let tree = block_on(catalogue.tree(&story.log, &small))
        .unwrap()
        .unwrap();
    assert_eq!((tree.nodes.len(), tree.more), (2, true));
    let unknown = block_on(catalogue.tree(&story.log, &TreeQuery::new(id(9))));
    assert_eq!(unknown.unwrap(), None);
}

#[test]
fn below_a_plan_are_the_tasks_that_its_steps_became() {
    let mut story = Story::new();
    let (own, spawned) = (stream(StreamKind::Plan, id(1)), id(2));
    story.push(stream(StreamKind::Task, spawned), |pieces| {
        (0..20).for_each(|_| {
            pieces.text("t");
        });
        annals_domain::task::Event::from(task(None, None))
    });
    story.push(own, |pieces| {
        let step = annals_domain::plan::StoredStep {
            description: pieces.text("parse"),
            inputs: None,
            outputs: None,
            checks: None,
            iframes: Vec::new(),
            oframes: Vec::new(),
            task: None,
        };
        annals_domain::plan::Event::from(annals_domain::plan::Drafted {
            previous: None,
            intent: None,
            pipeline: None,
            fwindow: None,
            steps: vec![step],
        })
    });
    story.push(own, |_| {
        let (index, task) = (0, spawned.into());
        annals_domain::plan::Event::from(annals_domain::plan::StepTaskSpawned { index, task })
    });
    let catalogue = up_to_date(&story.log);
    let tree = block_on(catalogue.tree(&story.log, &TreeQuery::new(id(1))));
    let shown: Vec<_> = tree
        .unwrap()
        .unwrap()
        .nodes
        .iter()
        .map(|node| (node.depth, node.row.id, node.relation))
        .collect();
    let expected = [(0, id(1), None), (1, spawned, Some(Relation::StepTask))];
    assert_eq!(shown, expected);
}

#[test]
fn what_is_adopted_again_leaves_nothing_of_what_it_was() {
    let mut story = Story::new();
    let own = stream(StreamKind::Task, id(1));
    let mut first = task(Some(id(2)), Some(id(3)));
    first.dependencies = vec![id(4).into(), id(5).into()];
    let mut other = Story::new();
    let dependencies = annals_domain::task::Event::from(first.clone());
    other.push(own, |pieces| {
        (0..20).for_each(|_| {
            pieces.text("t");
        });
        dependencies
    });
    let catalogue = up_to_date(&other.log);
    let named = catalogue.named(&other.log, id(1), Relation::TaskDependencies, 9);
    assert_eq!(block_on(named).unwrap(), [id(4), id(5)]);
    for adopted in [first, task(None, Some(id(6)))] {
        story.push(own, |pieces| {
            (0..20).for_each(|_| {
                pieces.text("t");
            });
            annals_domain::task::Event::from(adopted)
        });
    }
    let log = &story.log;
    let links = |catalogue: &Catalogue, of| {
        let query = LinksQuery { id: of, limit: 100 };
        block_on(catalogue.links(log, &query)).unwrap()
    };
    let catalogue = up_to_date(log);
    let named = |relation| block_on(catalogue.named(log, id(1), relation, 9)).unwrap();
    let naming = |of, relation| block_on(catalogue.naming(log, of, relation, 9)).unwrap();
    // As it is laid over the rows, and as it is in them.
    for _ in 0..2 {
        assert_eq!(named(Relation::TaskIntent), [id(6)]);
        assert!(named(Relation::TaskDependencies).is_empty());
        assert_eq!(naming(id(6), Relation::TaskIntent), [id(1)]);
        assert!(naming(id(4), Relation::TaskDependencies).is_empty());
        block_on(catalogue.flush(log)).unwrap();
    }
    let found = links(&catalogue, id(1)).unwrap();
    let forward: Vec<_> = found
        .forward
        .iter()
        .map(|l| (l.relation, l.id, l.exists))
        .collect();
    assert_eq!(forward, [(Relation::TaskIntent, id(6), false)]);
    assert_eq!(
        links(&catalogue, id(6)),
        None,
        "it is named, but is not there"
    );
    let row = row(&catalogue, log, id(1));
    assert_eq!(
        (row.events, row.first_position, row.last_position),
        (2, Position(1), Position(2))
    );
    // The object, its list, its actor's block, what it names, its external id and the two lists of that.
    assert_eq!(dump(log, MODEL).len(), 7);
}
