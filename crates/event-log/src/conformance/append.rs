//! Appends: whole or not at all, dense, in order.

use std::collections::HashMap;
use std::sync::Mutex;
use std::thread;

use bytes::Bytes;
use futures::executor::block_on;
use uuid::Uuid;

use super::Harness;
use super::support::{
    all, assert_dense, assert_unchanged, batch, batch_to, event, expecting, inline, must_append,
    name, whole,
};
use crate::Classified;
use crate::{
    Actor, Append, AppendError, Appended, BatchStatus, Blob, Content, Expected, NewEvent, Position,
    Record, Version,
};

/// Every field of an event comes back, and the store adds the right ones.
pub fn an_event_is_read_back_as_it_was_given(harness: &dyn Harness) {
    let log = harness.open();
    let blob = Blob::new(vec![3; 5_000]);
    let (digest, size) = (blob.digest(), 5_000);
    let given = NewEvent {
        event_type: "test.full".into(),
        schema_version: 65_535,
        actor: Actor {
            kind: "mcp_client".into(),
            id: "someone@example.org/é".into(),
            display_name: Some(0),
            auth_context: Some(3),
        },
        correlation: Some(Uuid::new_v4()),
        causation: Some(Uuid::new_v4()),
        structure: Bytes::from_static(b"\x00structure\xff"),
        content: vec![
            inline("Someone"),
            Content::Blob {
                salt: [1; 16],
                digest,
                size,
            },
            Content::Attachment {
                salt: [2; 16],
                digest,
                size,
            },
            inline(""),
        ],
        ..event("full-1")
    };
    let append = Append {
        blobs: vec![blob],
        ..batch(vec![given.clone()])
    };
    let id = append.batch;
    let appended = must_append(&*log, append);
    assert_eq!(appended, Appended::new(Position(1), Position(1)));
    let records = all(&*log);
    assert_eq!(records.len(), 1);
    let record = &records[0];
    assert_eq!(
        (record.position(), record.version()),
        (Position(1), Version(1))
    );
    assert_eq!(record.batch_id(), id);
    assert_eq!(given_back(record), given);
    assert_eq!(record.verify(), Ok(()));
    assert!(
        record.recorded_at() > record.occurred_at(),
        "the store's clock is right"
    );
}

fn given_back(record: &Record) -> NewEvent {
    NewEvent {
        stream: record.stream_name(),
        id: record.event_id(),
        event_type: record.event_type().to_owned().into(),
        schema_version: record.schema_version(),
        occurred_at: record.occurred_at(),
        actor: record.actor(),
        correlation: record.correlation(),
        causation: record.causation(),
        structure: record.structure(),
        content: record.content(),
    }
}

/// A batch's events get their places in the order given, several to one stream too.
pub fn events_of_one_batch_follow_each_other(harness: &dyn Harness) {
    let log = harness.open();
    must_append(&*log, batch_to("b-1", 2));
    let streams = ["a-1", "b-1", "a-1", "a-1", "b-1"];
    let events: Vec<NewEvent> = streams.iter().map(|stream| event(stream)).collect();
    let ids: Vec<Uuid> = events.iter().map(|event| event.id).collect();
    let appended = must_append(&*log, batch(events));
    assert_eq!(appended, Appended::new(Position(3), Position(7)));
    assert_eq!(log.watermark(), Position(7));
    let records = all(&*log);
    assert_dense(&records);
    let tail = &records[2..];
    assert_eq!(tail.iter().map(Record::event_id).collect::<Vec<_>>(), ids);
    assert_eq!(
        tail.iter().map(|r| r.version().0).collect::<Vec<_>>(),
        [1, 3, 2, 3, 4]
    );
    let times: Vec<_> = tail.iter().map(Record::recorded_at).collect();
    assert!(times.is_sorted(), "{times:?}");
}

/// Where one expectation fails, at any place, nothing of a batch is stored.
pub fn all_or_nothing_over_several_streams(harness: &dyn Harness) {
    let log = harness.open();
    must_append(&*log, batch_to("here-1", 3));
    let before = whole(&*log);
    let streams = ["new-1", "here-1", "new-2", "guard-1"];
    for wrong in streams {
        let mut append = batch(vec![event("new-1"), event("here-1"), event("new-2")]);
        append.blobs = vec![Blob::new("content of a refused append")];
        for stream in streams {
            let actual = if stream == "here-1" { 3 } else { 0 };
            let version = if stream == wrong { actual + 1 } else { actual };
            append = expecting(append, stream, Expected::Exactly(Version(version)));
        }
        let (id, request) = (append.batch, append.request.clone());
        match block_on(log.append(append)) {
            Err(AppendError::Conflict { stream, .. }) => assert_eq!(stream, name(wrong)),
            other => panic!("a conflict in {wrong} is expected, not {other:?}"),
        }
        assert_unchanged(&*log, &before, wrong);
        for stream in ["new-1", "new-2", "guard-1"] {
            assert_eq!(block_on(log.head(&name(stream))).unwrap(), Version::NONE);
        }
        assert_eq!(
            block_on(log.batch(id, &request)).unwrap(),
            BatchStatus::Unknown
        );
    }
}

/// What makes no sense is refused as malformed, whole.
pub fn nothing_malformed_is_taken(harness: &dyn Harness) {
    let log = harness.open();
    must_append(&*log, batch_to("here-1", 1));
    let before = whole(&*log);
    let check = |what: &str, change: &dyn Fn(&mut NewEvent)| {
        let mut bad = event("a-1");
        change(&mut bad);
        let refused = block_on(log.append(batch(vec![event("a-1"), bad])));
        let malformed = matches!(refused, Err(AppendError::Invalid { .. }));
        assert!(malformed, "{what}: {refused:?}");
        assert_unchanged(&*log, &before, what);
    };
    check("an empty type", &|bad| bad.event_type = "".into());
    check("a control character", &|bad| bad.event_type = "a\0b".into());
    check("schema version 0", &|bad| bad.schema_version = 0);
    check("an empty actor kind", &|bad| bad.actor.kind = String::new());
    check("a blank actor kind", &|bad| bad.actor.kind = " ".into());
    check("an empty actor id", &|bad| bad.actor.id = String::new());
    check("a blank actor id", &|bad| bad.actor.id = "\t ".into());
    check("an actor's piece that is not there", &|bad| {
        bad.content = vec![inline("the only piece")];
        bad.actor.auth_context = Some(1);
    });
    check("a removed piece", &|bad| {
        let salted = inline("gone").salted_digest();
        bad.content = vec![Content::Removed { salted }];
    });
    let empty = block_on(log.append(batch(Vec::new())));
    let malformed = matches!(empty, Err(AppendError::Invalid { .. }));
    assert!(malformed, "no events: {empty:?}");
    assert_unchanged(&*log, &before, "no events");
}

/// Sixteen writers leave no gap, and no batch inside another.
pub fn dense_under_16_writers(harness: &dyn Harness) {
    const WRITERS: usize = 16;
    const BATCHES: usize = 25;
    let log = harness.open();
    let answers: Mutex<HashMap<Uuid, (Appended, usize)>> = Mutex::default();
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (log, answers) = (&log, &answers);
            scope.spawn(move || {
                for n in 0..BATCHES {
                    let mut events = vec![event("shared-1"); 1 + (writer + n) % 3];
                    events.push(event(&format!("own-{writer}")));
                    let append = batch(events);
                    let (id, count) = (append.batch, append.events.len());
                    let appended = must_append(&**log, append);
                    assert!(
                        log.watermark() >= appended.last,
                        "what is acknowledged can be read"
                    );
                    answers.lock().unwrap().insert(id, (appended, count));
                }
            });
        }
    });
    let records = all(&*log);
    assert_dense(&records);
    let answers = answers.into_inner().unwrap();
    assert_eq!(answers.len(), WRITERS * BATCHES);
    assert_eq!(
        records.len(),
        answers.values().map(|(_, count)| count).sum::<usize>()
    );
    for (id, (appended, count)) in answers {
        let own: Vec<u64> = records
            .iter()
            .filter(|r| r.batch_id() == id)
            .map(|r| r.position().0)
            .collect();
        let expected: Vec<u64> = (appended.first.0..=appended.last.0).collect();
        assert_eq!(own, expected, "the batch lies where its answer says");
        assert_eq!(own.len(), count, "the batch is whole");
    }
}

/// Of many that expect the same version, one wins, and the others learn why not.
pub fn one_racer_wins(harness: &dyn Harness) {
    const ROUNDS: u64 = 10;
    let log = harness.open();
    for version in 0..ROUNDS {
        let answers: Vec<Result<Appended, AppendError>> = thread::scope(|scope| {
            let race = || {
                let expected = Expected::Exactly(Version(version));
                block_on(log.append(expecting(batch_to("race-1", 1), "race-1", expected)))
            };
            let racers: Vec<_> = (0..16).map(|_| scope.spawn(race)).collect();
            racers
                .into_iter()
                .map(|racer| racer.join().unwrap())
                .collect()
        });
        let (won, lost): (Vec<_>, Vec<_>) = answers.into_iter().partition(Result::is_ok);
        assert_eq!((won.len(), lost.len()), (1, 15), "round {version}");
        for answer in lost {
            match answer {
                Err(error @ AppendError::Conflict { actual, .. }) => {
                    assert_eq!(actual, Version(version + 1));
                    assert!(error.is_retryable());
                }
                other => panic!("a conflict is expected, not {other:?}"),
            }
        }
    }
    assert_eq!(log.watermark(), Position(ROUNDS));
}

/// The store's own times follow the order of positions.
pub fn recorded_at_never_decreases(harness: &dyn Harness) {
    let log = harness.open();
    thread::scope(|scope| {
        for writer in 0..8 {
            let log = &log;
            scope.spawn(move || {
                for _ in 0..25 {
                    must_append(&**log, batch_to(&format!("time-{writer}"), 2));
                }
            });
        }
    });
    let records = all(&*log);
    assert_eq!(records.len(), 8 * 25 * 2);
    for pair in records.windows(2) {
        let (earlier, later) = (pair[0].recorded_at(), pair[1].recorded_at());
        assert!(
            earlier <= later,
            "{:?} at {earlier}, {:?} at {later}",
            pair[0],
            pair[1]
        );
    }
}
