//! What the cases are made of: events, appends, and the whole of a log.

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use chrono::{DateTime, Utc};
use futures::channel::oneshot;
use futures::executor::block_on;
use futures::future::{Either, select};
use uuid::Uuid;

use crate::{
    Actor, Append, Appended, BatchId, Content, Direction, Expectation, Expected, ModelCheckpoint,
    NewEvent, Position, Prepared, Query, Record, Stats, Store, StreamHead, StreamName, Version,
};

/// How long anything may take before it counts as hanging.
const PATIENCE: Duration = Duration::from_secs(60);

pub(super) fn name(stream: &str) -> StreamName {
    stream.parse().expect("the case uses an allowed name")
}

pub(super) fn occurred_at() -> DateTime<Utc> {
    DateTime::from_timestamp(1_700_000_000, 123_456_789).expect("a time in range")
}

/// A plain event for a stream.
pub(super) fn event(stream: &str) -> NewEvent {
    NewEvent {
        stream: name(stream),
        id: Uuid::new_v4(),
        event_type: "test.happened".into(),
        schema_version: 1,
        occurred_at: occurred_at(),
        actor: Actor {
            kind: "agent".into(),
            id: "tester".into(),
            display_name: None,
            auth_context: None,
        },
        correlation: None,
        causation: None,
        structure: Bytes::from_static(b"structure"),
        content: Vec::new(),
    }
}

/// An inline piece of content.
pub(super) fn inline(bytes: impl Into<Bytes>) -> Content {
    Content::Inline {
        salt: [7; 16],
        bytes: bytes.into(),
    }
}

/// A batch of events with a new id and no expectations.
pub(super) fn batch(events: Vec<NewEvent>) -> Append {
    let batch = Uuid::new_v4();
    let request = Bytes::copy_from_slice(format!("the request of {batch}").as_bytes());
    Append {
        batch,
        request,
        events,
        expectations: Vec::new(),
        blobs: Vec::new(),
    }
}

/// A batch of `count` plain events for one stream.
pub(super) fn batch_to(stream: &str, count: usize) -> Append {
    batch((0..count).map(|_| event(stream)).collect())
}

/// The same append with one more expectation.
pub(super) fn expecting(mut append: Append, stream: &str, expected: Expected) -> Append {
    append.expectations.push(Expectation {
        stream: name(stream),
        expected,
    });
    append
}

/// Appends what must be accepted.
pub(super) fn must_append(log: &dyn Store, append: Append) -> Appended {
    block_on(log.append(append)).expect("the append is accepted")
}

/// All pages of a query. Fails when one does not lead on to the next.
pub(super) fn pages(log: &dyn Store, query: Query) -> Vec<Vec<Record>> {
    let mut pages = Vec::new();
    let mut from = query.from;
    loop {
        let here = Query {
            from,
            ..query.clone()
        };
        let page = block_on(log.read(here)).expect("a page");
        let empty = page.records.is_empty();
        pages.push(page.records);
        let Some(next) = page.next else { return pages };
        let onward = match query.direction {
            Direction::Forward => next > from,
            Direction::Backward => next < from,
        };
        assert!(
            onward && !empty,
            "{query:?}: the page from {from} leads to {next}, empty: {empty}"
        );
        from = next;
    }
}

/// The whole log.
pub(super) fn all(log: &dyn Store) -> Vec<Record> {
    pages(log, Query::all(Position(1))).concat()
}

/// All that can be seen of a log but its read models, for comparison. The
/// bytes on disk are left out: a refused append may well be logged somewhere.
#[derive(Debug, PartialEq)]
pub(super) struct Whole {
    records: Vec<Bytes>,
    streams: Vec<StreamHead>,
    stats: Stats,
}

/// Takes down all that can be seen.
pub(super) fn whole(log: &dyn Store) -> Whole {
    let mut streams: Vec<StreamHead> = Vec::new();
    loop {
        let after = streams.last().map(|head| head.name.clone());
        let more = block_on(log.streams("", after.as_ref(), 1_000)).expect("the streams");
        let Some(first) = more.first() else { break };
        let onward = after.is_none_or(|after| first.name > after);
        assert!(onward, "{first:?} comes again");
        streams.extend(more);
    }
    let stats = block_on(log.stats()).expect("the stats");
    Whole {
        records: all(log)
            .iter()
            .map(|record| record.as_bytes().clone())
            .collect(),
        streams,
        stats: Stats { bytes: 0, ..stats },
    }
}

/// Fails unless a log is as it was.
pub(super) fn assert_unchanged(log: &dyn Store, before: &Whole, what: &str) {
    let after = whole(log);
    assert_eq!(after.stats, before.stats, "the counts after {what}");
    assert_eq!(after.streams, before.streams, "the streams after {what}");
    assert!(
        after.records == before.records,
        "the records changed after {what}"
    );
}

/// A model's checkpoint in a log that nothing was ever removed from.
pub(super) fn at(position: u64) -> ModelCheckpoint {
    ModelCheckpoint::default().at(Position(position))
}

/// Fails unless positions and versions count from 1 without a gap.
pub(super) fn assert_dense(records: &[Record]) {
    let mut heads: BTreeMap<&str, u64> = BTreeMap::new();
    for (index, record) in records.iter().enumerate() {
        assert_eq!(
            record.position(),
            Position(index as u64 + 1),
            "positions are dense"
        );
        let head = heads.entry(record.stream()).or_default();
        *head += 1;
        assert_eq!(
            record.version(),
            Version(*head),
            "the versions of {} are dense",
            record.stream()
        );
    }
}

/// The record that a store would make of an event, at a place of our choosing.
pub(super) fn record_at(
    event: NewEvent,
    batch: BatchId,
    (position, version): (u64, u64),
    recorded_at: DateTime<Utc>,
) -> Record {
    let append = Append {
        batch,
        request: Bytes::new(),
        events: vec![event],
        expectations: Vec::new(),
        blobs: Vec::new(),
    };
    let mut prepared = Prepared::new(append).expect("a well-formed event");
    let bytes = prepared.events[0].stamp(Position(position), Version(version), recorded_at);
    Record::decode(Bytes::copy_from_slice(bytes)).expect("a well-formed record")
}

/// Polls a future once; what it gave, if it was ready.
pub(super) fn poll_once<T>(future: impl Future<Output = T>) -> Option<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}

/// Waits for a future that another thread must complete; fails rather than
/// hang when it does not.
pub(super) fn patiently<T>(what: &str, future: impl Future<Output = T>) -> T {
    let (late, too_late) = oneshot::channel();
    let (_done, waiting) = mpsc::channel::<()>();
    thread::spawn(move || {
        // An error other than a timeout means that `_done` is gone: all is well.
        if waiting.recv_timeout(PATIENCE) == Err(mpsc::RecvTimeoutError::Timeout) {
            let _ = late.send(());
        }
    });
    match block_on(select(pin!(future), too_late)) {
        Either::Left((value, _)) => value,
        Either::Right(_) => panic!("{what} took longer than {PATIENCE:?}"),
    }
}

/// Tells readers that the writers are done when it goes, also by a panic: a
/// failed case must end.
pub(super) struct Done<'a>(pub(super) &'a AtomicBool);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}
