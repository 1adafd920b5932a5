//! Expectations and guards against every state of a stream.

use futures::executor::block_on;

use super::Harness;
use super::support::{
    assert_unchanged, batch, batch_to, event, expecting, must_append, name, whole,
};
use crate::{AppendError, Expected, Position, Store, Version};

/// The versions that the streams of these cases are at.
const STATES: [u64; 3] = [0, 1, 3];

/// What is expected, and the states in which it holds, spelt out.
fn table() -> Vec<(Expected, &'static [u64])> {
    vec![
        (Expected::Any, &[0, 1, 3]),
        (Expected::NoStream, &[0]),
        (Expected::Exists, &[1, 3]),
        (Expected::Exactly(Version(0)), &[0]),
        (Expected::Exactly(Version(1)), &[1]),
        (Expected::Exactly(Version(2)), &[]),
        (Expected::Exactly(Version(3)), &[3]),
        (Expected::Exactly(Version(4)), &[]),
        (Expected::Exactly(Version(u64::MAX)), &[]),
    ]
}

/// Each expectation on a stream that the append writes to.
pub fn every_expectation_against_every_state(harness: &dyn Harness) {
    check_table(&*harness.open(), true);
}

/// Each expectation on a stream that the append only read.
pub fn every_guard_against_every_state(harness: &dyn Harness) {
    check_table(&*harness.open(), false);
}

fn check_table(log: &dyn Store, writes: bool) {
    let mut id = 0;
    for (expected, holds_at) in table() {
        for state in STATES {
            id += 1;
            let (stream, other) = (format!("subject-{id}"), format!("other-{id}"));
            if state > 0 {
                must_append(log, batch_to(&stream, usize::try_from(state).unwrap()));
            }
            let written = if writes { &stream } else { &other };
            let append = expecting(batch_to(written, 1), &stream, expected);
            check_one(
                log,
                append,
                &stream,
                expected,
                state,
                holds_at.contains(&state),
            );
            let grown = u64::from(writes && holds_at.contains(&state));
            let head = block_on(log.head(&name(&stream))).unwrap();
            assert_eq!(head, Version(state + grown), "{expected} at {state}");
        }
    }
}

fn check_one(
    log: &dyn Store,
    append: crate::Append,
    subject: &str,
    wanted: Expected,
    state: u64,
    holds: bool,
) {
    let before = log.watermark();
    match block_on(log.append(append)) {
        Ok(appended) => {
            assert!(holds, "{wanted} must not hold at {state}");
            assert_eq!(appended.first, before.next());
        }
        Err(AppendError::Conflict {
            stream,
            expected,
            actual,
        }) => {
            assert!(!holds, "{wanted} must hold at {state}");
            let reported = (stream, expected, actual);
            assert_eq!(reported, (name(subject), wanted, Version(state)));
            assert_eq!(log.watermark(), before, "nothing was stored");
        }
        Err(other) => panic!("a conflict is expected, not {other:?}"),
    }
}

/// A batch's own events do not count for its expectations.
pub fn the_state_before_the_batch_counts(harness: &dyn Harness) {
    let log = harness.open();
    let append = expecting(
        batch(vec![event("a-1"), event("a-1"), event("b-1")]),
        "a-1",
        Expected::NoStream,
    );
    let append = expecting(append, "b-1", Expected::Exactly(Version::NONE));
    must_append(&*log, append);
    let append = expecting(batch_to("a-1", 2), "a-1", Expected::Exactly(Version(2)));
    must_append(&*log, append);
    let before = whole(&*log);
    let append = expecting(batch_to("a-1", 2), "a-1", Expected::Exactly(Version(6)));
    assert!(matches!(
        block_on(log.append(append)),
        Err(AppendError::Conflict { .. })
    ));
    let append = expecting(batch_to("c-1", 1), "c-1", Expected::Exists);
    assert!(matches!(
        block_on(log.append(append)),
        Err(AppendError::Conflict { .. })
    ));
    assert_unchanged(&*log, &before, "two conflicts");
}

/// Several expectations on one stream are a conjunction.
pub fn all_expectations_on_one_stream_must_hold(harness: &dyn Harness) {
    let log = harness.open();
    must_append(&*log, batch_to("a-1", 2));
    let two = Expected::Exactly(Version(2));
    for pair in [[two, Expected::NoStream], [Expected::NoStream, two]] {
        let append = expecting(batch_to("a-1", 1), "a-1", pair[0]);
        let append = expecting(append, "a-1", pair[1]);
        match block_on(log.append(append)) {
            Err(AppendError::Conflict { expected, .. }) => assert_eq!(expected, Expected::NoStream),
            other => panic!("a conflict is expected, not {other:?}"),
        }
    }
    let append = expecting(batch_to("a-1", 1), "a-1", two);
    must_append(&*log, expecting(append, "a-1", Expected::Exists));
    assert_eq!(log.watermark(), Position(3));
}
