//! Subscriptions, over the in-memory log: each record once, in order, none left out, and
//! at the close an end that says so.

use std::sync::Arc;

use annals_event_log::{
    Actor, Append, NewEvent, Position, ReadError, Record, Store, StreamName, Version,
};
use bytes::Bytes;
use chrono::DateTime;
use futures::{Stream, StreamExt, pin_mut};
use shuttle::future::block_on;
use uuid::Uuid;

use super::all;
use crate::follow;
use crate::memory::MemoryLog;

/// An append of some events to a stream, each of a type.
pub(crate) fn append(stream: &str, event_type: &'static str, events: usize) -> Append {
    let event = || NewEvent {
        stream: stream.parse().unwrap(),
        id: Uuid::new_v4(),
        event_type: event_type.into(),
        schema_version: 1,
        occurred_at: DateTime::UNIX_EPOCH,
        actor: Actor {
            kind: "agent".into(),
            id: "a".into(),
            display_name: None,
            auth_context: None,
        },
        correlation: None,
        causation: None,
        structure: Bytes::new(),
        content: Vec::new(),
    };
    Append {
        batch: Uuid::new_v4(),
        request: Bytes::new(),
        events: (0..events).map(|_| event()).collect(),
        expectations: Vec::new(),
        blobs: Vec::new(),
    }
}

/// What two who append add to each of their streams: batches of these sizes.
const BATCHES: [usize; 2] = [1, 2];
const EACH: u64 = 3;

/// Appends to its own stream; returns how many events were acknowledged.
fn appends(log: &dyn Store, stream: &str) -> u64 {
    let mut acknowledged = 0;
    for events in BATCHES {
        match block_on(log.append(append(stream, "test.happened", events))) {
            Ok(appended) => acknowledged += appended.last.0 - appended.first.0 + 1,
            Err(annals_event_log::AppendError::Closed) => break,
            Err(error) => panic!("{error}"),
        }
    }
    acknowledged
}

/// Takes so many, or all up to the end, which must be `Closed`.
async fn collect(
    records: impl Stream<Item = Result<Record, ReadError>>,
    count: u64,
    number: fn(&Record) -> u64,
) {
    pin_mut!(records);
    for expected in 1..=count {
        match records.next().await {
            Some(Ok(record)) => assert_eq!(number(&record), expected),
            Some(Err(ReadError::Closed)) => return,
            other => panic!("{other:?} where {expected} was expected"),
        }
    }
}

fn name() -> StreamName {
    "run-0".parse().unwrap()
}

/// Two who append and three who subscribe, each until it has all there will be.
pub fn a_subscriber_sees_each_record_once_and_in_order() {
    let log: Arc<dyn Store> = Arc::new(MemoryLog::new(Uuid::from_u128(1)));
    let mut threads: Vec<Box<dyn FnOnce() + Send>> = Vec::new();
    for stream in ["run-0", "run-1"] {
        let log = Arc::clone(&log);
        threads.push(Box::new(move || {
            assert_eq!(appends(&*log, stream), EACH);
        }));
    }
    let (all_of_it, later, of_stream) = (Arc::clone(&log), Arc::clone(&log), Arc::clone(&log));
    threads.push(Box::new(move || {
        let records = follow::log(all_of_it, Position::START);
        block_on(collect(records, 2 * EACH, |record| record.position().0));
    }));
    threads.push(Box::new(move || {
        let records = follow::log(later, Position(2));
        block_on(collect(records, 2 * EACH - 2, |record| {
            record.position().0 - 2
        }));
    }));
    threads.push(Box::new(move || {
        let records = follow::stream(of_stream, name(), Version::NONE);
        block_on(collect(records, EACH, |record| record.version().0));
    }));
    all(threads);
}

/// The same while the log is closed: what came before the end is in order and without a gap, and
/// no subscriber waits for more.
pub fn a_subscription_ends_when_the_log_is_closed() {
    let log: Arc<dyn Store> = Arc::new(MemoryLog::new(Uuid::from_u128(1)));
    let mut threads: Vec<Box<dyn FnOnce() + Send>> = Vec::new();
    let appended = Arc::clone(&log);
    threads.push(Box::new(move || {
        appends(&*appended, "run-0");
    }));
    let (all_of_it, of_stream, closed) = (Arc::clone(&log), Arc::clone(&log), log);
    threads.push(Box::new(move || {
        let records = follow::log(all_of_it, Position::START);
        block_on(collect(records, EACH + 1, |record| record.position().0));
    }));
    threads.push(Box::new(move || {
        let records = follow::stream(of_stream, name(), Version::NONE);
        block_on(collect(records, EACH + 1, |record| record.version().0));
    }));
    threads.push(Box::new(move || block_on(closed.close())));
    all(threads);
}
