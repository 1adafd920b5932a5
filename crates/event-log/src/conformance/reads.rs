//! Reads: pages in both directions, their bounds, streams and counts.

use futures::executor::block_on;

use super::Harness;
use super::support::{all, assert_dense, batch, batch_to, event, must_append, name, pages};
use crate::store_support::{PAGE_BYTES, PAGE_LIMIT};
use crate::{
    Append, Blob, Content, Direction, NewEvent, Position, Query, Record, Source, Stats, Store,
    StreamHead, Version, limits,
};

/// Streams and types of which one's name begins with another's.
const STREAMS: [&str; 4] = ["a-1", "a-10", "a-1 ", "b-1"];
const TYPES: [&str; 3] = ["made", "made.twice", "mad"];
const COUNT: usize = 23;

fn filled(harness: &dyn Harness) -> std::sync::Arc<dyn Store> {
    let log = harness.open();
    let mut n = 0;
    // Batches of different sizes, so that pages end inside and between them.
    for size in [1, 4, 1, 7, 2, 8] {
        let next = |_| {
            n += 1;
            // Neither pattern divides the other, and both leave gaps.
            let (stream, event_type) = (STREAMS[n * n % 7 % 4], TYPES[n % 5 % 3]);
            NewEvent {
                event_type: event_type.into(),
                ..event(stream)
            }
        };
        must_append(&*log, batch((0..size).map(next).collect()));
    }
    log
}

/// What a query must give: filtered, ordered and keyed by the plainest means.
fn expected(records: &[Record], query: &Query) -> Vec<Record> {
    let key = |record: &Record| match &query.source {
        Source::Stream(_) => record.version().0,
        _ => record.position().0,
    };
    let matches = |record: &&Record| match &query.source {
        Source::All => true,
        Source::Stream(stream) => record.stream() == stream.as_str(),
        Source::EventType(event_type) => record.event_type() == event_type,
    };
    let matching = records.iter().filter(matches).cloned();
    match query.direction {
        Direction::Forward => matching.filter(|r| key(r) >= query.from).collect(),
        Direction::Backward => {
            let mut found: Vec<Record> = matching.filter(|r| key(r) <= query.from).collect();
            found.reverse();
            found
        }
    }
}

fn sources() -> Vec<Source> {
    let mut sources = vec![
        Source::All,
        Source::Stream(name("no-such")),
        Source::Stream(name("a-0")),
    ];
    sources.extend(STREAMS.iter().map(|stream| Source::Stream(name(stream))));
    sources.extend(TYPES.iter().map(|name| Source::EventType((*name).into())));
    sources.extend(["", "ma", "made.", "none"].map(|name| Source::EventType(name.into())));
    sources
}

/// Every source, direction, beginning and limit, from before the first record
/// to beyond the last one.
pub fn every_page_of_every_source(harness: &dyn Harness) {
    let log = filled(harness);
    let records = all(&*log);
    assert_eq!(records.len(), COUNT);
    assert_dense(&records);
    for source in sources() {
        for direction in [Direction::Forward, Direction::Backward] {
            for from in [0, 1, 2, 5, 11, 22, 23, 24, 1_000, u64::MAX] {
                for limit in [1, 3, COUNT, 1_000] {
                    let query = Query {
                        source: source.clone(),
                        from,
                        direction,
                        limit,
                    };
                    check_query(&*log, &records, &query);
                }
            }
        }
    }
}

fn check_query(log: &dyn Store, records: &[Record], query: &Query) {
    let wanted = expected(records, query);
    let pages = pages(log, query.clone());
    for page in &pages {
        assert!(
            page.len() <= query.limit,
            "{query:?}: {} records",
            page.len()
        );
    }
    // These records are small: only the limit ends a page, and only a page
    // with something after it has a next one.
    let needed = wanted.len().div_ceil(query.limit).max(1);
    assert_eq!(pages.len(), needed, "{query:?}: the number of pages");
    assert!(
        pages.concat() == wanted,
        "{query:?}: {pages:?}, not {wanted:?}"
    );
}

/// Where nothing is, a page is empty and has no next one.
pub fn an_empty_log_has_no_pages(harness: &dyn Harness) {
    let log = harness.open();
    assert_eq!(log.watermark(), Position::START);
    for source in sources() {
        for direction in [Direction::Forward, Direction::Backward] {
            for from in [0, 1, 7, u64::MAX] {
                let query = Query {
                    source: source.clone(),
                    from,
                    direction,
                    limit: 10,
                };
                let page = block_on(log.read(query.clone())).unwrap();
                assert!(
                    page.records.is_empty() && page.next.is_none(),
                    "{query:?}: {page:?}"
                );
            }
        }
    }
}

/// No limit at all counts as one, and the largest page is bounded all the same.
pub fn a_page_is_bounded_in_records(harness: &dyn Harness) {
    let log = harness.open();
    must_append(&*log, batch_to("many-1", limits::BATCH_EVENTS));
    must_append(&*log, batch_to("many-1", 5));
    let total = limits::BATCH_EVENTS + 5;
    for source in [
        Source::All,
        Source::Stream(name("many-1")),
        Source::EventType("test.happened".into()),
    ] {
        let query = Query {
            source,
            ..Query::all(Position(1))
        };
        let one = block_on(log.read(query.clone().limit(0))).unwrap();
        assert_eq!((one.records.len(), one.next), (1, Some(2)), "{query:?}");
        for query in [
            query.clone(),
            Query {
                from: u64::MAX,
                ..query.clone().backward()
            },
        ] {
            let pages = pages(&*log, query.clone().limit(usize::MAX));
            assert!(
                pages.iter().all(|page| page.len() <= PAGE_LIMIT),
                "{query:?}"
            );
            let mut records = pages.concat();
            if query.direction == Direction::Backward {
                records.reverse();
            }
            assert_eq!(records.len(), total, "{query:?}");
            assert_dense(&records);
        }
    }
}

/// Large records make short pages, and a page has at least one.
pub fn a_page_is_bounded_in_bytes(harness: &dyn Harness) {
    let log = harness.open();
    let large = NewEvent {
        structure: vec![5; limits::STRUCTURE].into(),
        ..event("large-1")
    };
    for _ in 0..2 {
        must_append(&*log, batch(vec![large.clone(); 100]));
    }
    for source in [
        Source::All,
        Source::Stream(name("large-1")),
        Source::EventType(large.event_type.into()),
    ] {
        let forward = Query {
            source,
            ..Query::all(Position(1))
        };
        for query in [
            forward.clone(),
            Query {
                from: u64::MAX,
                ..forward.backward()
            },
        ] {
            let pages = pages(&*log, query.clone());
            assert!(pages.len() > 1, "13 MB in one page: {query:?}");
            for page in &pages {
                let bytes: usize = page.iter().map(|record| record.as_bytes().len()).sum();
                let last = page.last().map_or(0, |record| record.as_bytes().len());
                assert!(
                    bytes - last <= PAGE_BYTES,
                    "{query:?}: a page of {bytes} bytes"
                );
            }
            let mut records = pages.concat();
            if query.direction == Direction::Backward {
                records.reverse();
            }
            assert_eq!(records.len(), 200, "{query:?}");
            assert_dense(&records);
        }
    }
}

/// Streams come in the order of their names, page by page.
pub fn streams_are_listed_by_prefix(harness: &dyn Harness) {
    let log = harness.open();
    let names = [
        "b-1", "a-1", "a-10", "a-2", "a-é", "ab-1", "a_b-1", "a-1 1", "a-~",
    ];
    for (index, stream) in names.iter().enumerate() {
        must_append(&*log, batch_to(stream, index + 1));
    }
    let mut heads: Vec<StreamHead> = names
        .iter()
        .enumerate()
        .map(|(index, stream)| StreamHead {
            name: name(stream),
            version: Version(index as u64 + 1),
        })
        .collect();
    heads.sort_by(|a, b| a.name.as_str().as_bytes().cmp(b.name.as_str().as_bytes()));
    for prefix in [
        "", "a", "a-", "a-1", "a-1 ", "a-10", "b-1", "b-10", "c", "zz", "é",
    ] {
        let matching: Vec<StreamHead> = heads
            .iter()
            .filter(|h| h.name.as_str().starts_with(prefix))
            .cloned()
            .collect();
        for after in [
            None,
            Some("a-0"),
            Some("a-1"),
            Some("a-1 1"),
            Some("a-5"),
            Some("b-1"),
            Some("z-1"),
        ] {
            for limit in [0, 1, 3, 100] {
                let after = after.map(name);
                let found = block_on(log.streams(prefix, after.as_ref(), limit)).unwrap();
                let wanted: Vec<StreamHead> = matching
                    .iter()
                    .filter(|head| after.as_ref().is_none_or(|after| head.name > *after))
                    .take(limit.max(1))
                    .cloned()
                    .collect();
                assert_eq!(
                    found, wanted,
                    "prefix {prefix:?}, after {after:?}, limit {limit}"
                );
            }
        }
    }
}

/// Heads and counts are those of what was appended.
pub fn heads_and_counts(harness: &dyn Harness) {
    let log = harness.open();
    let nothing = Stats {
        bytes: 0,
        ..block_on(log.stats()).unwrap()
    };
    assert_eq!(nothing, Stats::default());
    let blob = Blob::new(vec![1; 6_000]);
    let content = vec![Content::Blob {
        salt: [0; 16],
        digest: blob.digest(),
        size: 6_000,
    }];
    let with_blob = NewEvent {
        content,
        ..event("a-1")
    };
    must_append(&*log, batch_to("a-1", 2));
    must_append(
        &*log,
        Append {
            blobs: vec![blob],
            ..batch(vec![with_blob, event("b-1")])
        },
    );
    for (stream, version) in [("a-1", 3), ("b-1", 1), ("a-10", 0), ("a-0", 0)] {
        let head = block_on(log.head(&name(stream))).unwrap();
        assert_eq!(head, Version(version), "the head of {stream}");
    }
    let stats = Stats {
        bytes: 0,
        ..block_on(log.stats()).unwrap()
    };
    let position = Position(4);
    let wanted = Stats {
        position,
        streams: 2,
        batches: 2,
        blobs: 1,
        blob_bytes: 6_000,
        bytes: 0,
    };
    assert_eq!(stats, wanted);
}
