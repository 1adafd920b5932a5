//! Opening, closing, opening again.

use std::thread;

use bytes::Bytes;
use futures::executor::block_on;
use uuid::Uuid;

use super::Harness;
use super::support::{
    all, assert_dense, assert_unchanged, at, batch, batch_to, event, expecting, inline,
    must_append, name, patiently, poll_once, whole,
};
use crate::{
    Append, AppendError, Blob, CommitError, Content, Digest, Expected, NewEvent, Position, Query,
    ReadError, Version,
};

/// Every byte, count, row and id is there again, more than once.
pub fn reopening_gives_the_same_log(harness: &dyn Harness) {
    let log = harness.reopen(harness.open());
    assert_eq!(
        log.watermark(),
        Position::START,
        "a log that was empty is empty"
    );
    let id = log.log_id();
    let blob = Blob::new(vec![8; 70_000]);
    let reference = Content::Blob {
        salt: [6; 16],
        digest: blob.digest(),
        size: 70_000,
    };
    let content = vec![inline("piece"), reference];
    for n in 0..20 {
        let mut events = vec![event(&format!("own-{n}")), event("shared-1")];
        events.push(NewEvent {
            content: content.clone(),
            ..event("shared-1")
        });
        must_append(
            &*log,
            Append {
                blobs: vec![blob.clone()],
                ..batch(events)
            },
        );
    }
    let row = (Bytes::from("key"), Some(Bytes::from("value")));
    block_on(log.commit("model", at(0), vec![row], Position(60))).unwrap();
    let before = whole(&*log);
    let mut log = log;
    for _ in 0..3 {
        log = harness.reopen(log);
        assert_eq!(log.log_id(), id);
        assert_eq!(log.watermark(), Position(60));
        assert_unchanged(&*log, &before, "reopening");
        assert_eq!(block_on(log.head(&name("shared-1"))).unwrap(), Version(40));
        let stored = block_on(log.blob(blob.digest())).unwrap();
        assert!(stored.as_ref() == Some(blob.bytes()));
        assert_eq!(block_on(log.checkpoint("model")).unwrap(), at(60));
        assert_eq!(
            block_on(log.get("model", b"key")).unwrap(),
            Some(Bytes::from("value"))
        );
    }
}

/// Positions, versions, times and expectations go on from what is there.
pub fn writing_goes_on_after_reopening(harness: &dyn Harness) {
    let mut log = harness.open();
    for round in 0..5_u64 {
        let append = batch(vec![event("a-1"), event("b-1"), event("a-1")]);
        let append = expecting(append, "a-1", Expected::Exactly(Version(2 * round)));
        let appended = must_append(&*log, append);
        assert_eq!(appended.first, Position(3 * round + 1));
        let stale = expecting(
            batch_to("a-1", 1),
            "a-1",
            Expected::Exactly(Version(2 * round)),
        );
        log = harness.reopen(log);
        let refused = block_on(log.append(stale));
        assert!(
            matches!(refused, Err(AppendError::Conflict { .. })),
            "{refused:?}"
        );
    }
    let records = all(&*log);
    assert_dense(&records);
    assert_eq!(records.len(), 15);
    assert!(
        records
            .iter()
            .map(|record| record.recorded_at())
            .is_sorted()
    );
}

/// A closed log refuses everything, and closing it again is harmless.
pub fn a_closed_log_does_nothing(harness: &dyn Harness) {
    let log = harness.open();
    must_append(&*log, batch_to("a-1", 2));
    let records = all(&*log);
    let before = whole(&*log);
    block_on(log.close());
    block_on(log.close());
    let refused = block_on(log.append(batch_to("a-1", 1)));
    assert!(
        matches!(refused, Err(AppendError::Closed)),
        "append: {refused:?}"
    );
    let refused = block_on(log.append_records(records, Vec::new()));
    assert!(
        matches!(refused, Err(AppendError::Closed)),
        "append_records: {refused:?}"
    );
    let stream = name("a-1");
    let rows = vec![(Bytes::from("key"), None)];
    let commits = [
        block_on(log.commit("model", at(0), rows, Position(1))),
        block_on(log.drop_model("model")),
    ];
    for refused in commits {
        assert!(
            matches!(refused, Err(CommitError::Closed)),
            "a read model: {refused:?}"
        );
    }
    let reads = [
        ("wait_above", block_on(log.wait_above(Position(2))).err()),
        ("batch", block_on(log.batch(Uuid::new_v4(), b"")).err()),
        ("head", block_on(log.head(&stream)).err()),
        ("read", block_on(log.read(Query::all(Position(1)))).err()),
        (
            "read a stream",
            block_on(log.read(Query::stream(stream, Version(1)))).err(),
        ),
        ("streams", block_on(log.streams("", None, 10)).err()),
        ("stats", block_on(log.stats()).err()),
        ("blob", block_on(log.blob(Digest::of(b""))).err()),
        ("checkpoint", block_on(log.checkpoint("model")).err()),
        ("get", block_on(log.get("model", b"key")).err()),
        ("scan", block_on(log.scan("model", b"", None, 10)).err()),
    ];
    for (what, error) in reads {
        assert!(
            matches!(error, Some(ReadError::Closed)),
            "{what}: {error:?}"
        );
    }
    let log = harness.reopen(log);
    assert_unchanged(&*log, &before, "everything that a closed log refused");
}

/// A reader that waits for more when the log is closed learns that none will come.
pub fn closing_ends_every_wait(harness: &dyn Harness) {
    let log = harness.open();
    must_append(&*log, batch_to("a-1", 1));
    let mut waits: Vec<_> = (0..4).map(|_| log.wait_above(Position(1))).collect();
    for wait in &mut waits {
        let early = poll_once(wait);
        assert!(early.is_none(), "nothing happened: {early:?}");
    }
    thread::scope(|scope| {
        for wait in waits {
            scope.spawn(move || {
                let answer = patiently("the close", wait);
                assert!(matches!(answer, Err(ReadError::Closed)), "{answer:?}");
            });
        }
        block_on(log.close());
    });
}

/// The id tells one log from another.
pub fn every_log_has_its_own_id(harness: &dyn Harness) {
    let (one, two) = (harness.open(), harness.open());
    assert_ne!(one.log_id(), two.log_id());
    assert!(!one.log_id().is_nil());
    must_append(&*one, batch_to("a-1", 1));
    assert_eq!(two.watermark(), Position::START, "two logs share nothing");
    let id = one.log_id();
    assert_eq!(harness.reopen(one).log_id(), id);
}
