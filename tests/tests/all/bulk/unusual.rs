//! What is out of the ordinary: keys that come again, refusals, conflicts, a log that fails, futures that are dropped.

use annals::domain::ActorRef;
use annals::domain::alias::ReserveAlias;
use annals::domain::observation::{ObservationKind, RecordObservation};
use annals::domain::pipeline::SetMaxFrames;
use annals::domain::run::RecordToolInvocation;
use annals::domain::{FrameId, PipelineId};
use annals::event_log::{AppendError, EventLog};
use annals::{BulkError, ExecuteError, KnownKey, RedactRequest, Request, Target};
use annals_event_log::Classified;
use std::pin::pin;

use futures::FutureExt;
use futures::executor::block_on;
use uuid::Uuid;

use super::late::LateLog;
use super::{PIPELINE, batches, call, key, push, setting, unit};
use crate::support::request;

/// More than any test asks for an answer.
const NEVER: u64 = 1 << 40;

/// A log with the setting in it.
fn log(polls: u64) -> LateLog {
    let log = LateLog::new(polls);
    block_on(log.other().execute_batch(Some(key(0)), setting())).unwrap();
    log
}

fn frames(decided: &annals::Decided) -> Vec<FrameId> {
    let outcomes = decided.outcomes.iter();
    outcomes.filter_map(|outcome| outcome.frame_id).collect()
}

fn keys(numbers: impl IntoIterator<Item = u128>) -> Vec<Uuid> {
    numbers.into_iter().map(key).collect()
}

#[test]
fn batches_are_decided_before_those_before_them_are_acknowledged() {
    let log = log(NEVER);
    let mut bulk = log.annals.bulk();
    for n in 1..=100 {
        let decided = bulk.execute(Some(key(n)), unit(n)).now_or_never();
        let decided = decided.expect("it waits for nothing").unwrap();
        assert_eq!(frames(&decided), [FrameId(n as u64 - 1)]);
        assert!(decided.appended().is_none(), "it is not acknowledged");
    }
    assert!(
        bulk.flush().now_or_never().is_none(),
        "nor are they together"
    );
}

/// An observation about the object that a request makes.
fn observe(about: Request) -> Request {
    request(
        RecordObservation::new(ObservationKind::Epiphany, "seen")
            .with_about(about.command.asked_id().into_iter().collect::<Vec<_>>()),
    )
}

/// The answer of a future that is polled so often.
fn after_polls<T>(polls: usize, future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    (0..polls).find_map(|_| future.as_mut().now_or_never())
}

#[test]
fn only_so_many_batches_and_bytes_are_on_their_way() {
    for (bytes, most) in [(5, 256), (100_000, 21)] {
        let log = log(NEVER);
        let mut bulk = log.annals.bulk();
        let text = "x".repeat(bytes);
        let mut give =
            || after_polls(9, bulk.execute(None, vec![push(PIPELINE, &*text)])).is_some();
        let given = (0..1_000).take_while(|_| give()).count();
        assert_eq!(given, most, "of {bytes} bytes");
    }
}

#[test]
fn a_key_that_is_on_its_way_is_the_same_batch() {
    let log = log(20);
    let mut bulk = log.annals.bulk();
    assert_eq!(block_on(bulk.knows(key(1))).unwrap(), None);
    let first = block_on(bulk.execute(Some(key(1)), vec![call(1)])).unwrap();
    assert_eq!(
        block_on(bulk.knows(key(1))).unwrap(),
        Some(KnownKey::OnItsWay)
    );
    let again = block_on(bulk.execute(Some(key(1)), vec![call(1)])).unwrap();
    let outcome = again.appended().expect("it had to arrive for that");
    assert!(outcome.repeated);
    assert_eq!(first.appended().unwrap().position, outcome.position);
    let known = block_on(bulk.knows(key(1))).unwrap();
    let (first, last) = (outcome.position, outcome.position);
    assert_eq!(known, Some(KnownKey::InLog { first, last }));
    block_on(bulk.execute(Some(key(2)), vec![call(2)])).unwrap();
    let other = block_on(bulk.execute(Some(key(2)), vec![call(3)])).unwrap_err();
    assert!(
        matches!(other, BulkError::Batch(ExecuteError::KeyReused { key: used }) if used == key(2))
    );
    block_on(bulk.flush()).unwrap();
    assert_eq!(batches(log.log.as_ref()), keys([0, 1, 2]));
}

#[test]
fn a_key_that_the_log_knows_is_answered_from_there() {
    let log = log(20);
    let done = block_on(
        log.other()
            .execute_batch(Some(key(1)), vec![push(PIPELINE, "first")]),
    );
    let done = done.unwrap();
    let mut bulk = log.annals.bulk();
    block_on(bulk.execute(Some(key(2)), unit(2))).unwrap();
    let again = block_on(bulk.execute(Some(key(1)), vec![push(PIPELINE, "first")])).unwrap();
    let outcome = again.appended().expect("it is there");
    assert_eq!((outcome.position, outcome.repeated), (done.position, true));
    assert_eq!(frames(&again), [FrameId(0)]);
}

/// Another caller gives the same batch while it is on its way.
#[test]
fn a_key_that_another_caller_uses_meanwhile_is_a_repeat_and_those_behind_it_are_decided_again() {
    let log = log(50);
    let other = log.other();
    log.meet(key(2), move || {
        block_on(other.execute_batch(Some(key(2)), unit(2))).unwrap();
        Ok(())
    });
    let mut bulk = log.annals.bulk();
    let given: Vec<_> = (1..=20)
        .map(|n| block_on(bulk.execute(Some(key(n)), unit(n))).unwrap())
        .collect();
    block_on(bulk.flush()).unwrap();
    assert_eq!(batches(log.log.as_ref()), keys(0..=20));
    for (n, decided) in (0..).zip(&given) {
        assert_eq!(frames(decided), [FrameId(n)]);
        let appended = decided.appended().unwrap();
        assert_eq!(appended.repeated, n == 1);
    }
}

#[test]
fn after_a_conflict_all_that_rests_on_it_is_decided_again_in_order() {
    let log = log(50);
    let other = log.other();
    log.meet(key(5), move || {
        // The limit is of the same stream, and changes no frame's number.
        let set = SetMaxFrames::new(PIPELINE, 9);
        block_on(other.execute_batch(Some(key(99)), vec![request(set)])).unwrap();
        Ok(())
    });
    let mut bulk = log.annals.bulk();
    for n in 1..=20 {
        block_on(bulk.execute(Some(key(n)), unit(n))).unwrap();
    }
    block_on(bulk.flush()).unwrap();
    let expected = (0..=4).chain([99]).chain(5..=20);
    assert_eq!(batches(log.log.as_ref()), keys(expected));
}

/// Another caller's event takes the place of one that did not arrive, so that the version is what the batch behind it
/// expects: it was decided on the event that is not there.
#[test]
fn nothing_is_decided_on_an_event_whose_place_another_one_took() {
    let log = log(50);
    let other = log.other();
    log.meet(key(2), move || {
        block_on(other.execute_batch(Some(key(99)), vec![call(99)])).unwrap();
        Ok(())
    });
    let mut bulk = log.annals.bulk();
    // The second makes an object that the third is about.
    for (n, requests) in [
        vec![call(1)],
        vec![call(2)],
        vec![observe(call(2)), call(3)],
    ]
    .into_iter()
    .enumerate()
    {
        block_on(bulk.execute(Some(key(n as u128 + 1)), requests)).unwrap();
    }
    block_on(bulk.flush()).unwrap();
    assert_eq!(batches(log.log.as_ref()), keys([0, 1, 99, 2, 3]));
}

/// Another caller takes the number that a caller got for its frame.
#[test]
fn a_batch_that_would_not_be_as_it_was_said_is_not_appended() {
    let log = log(20);
    let other = log.other();
    log.meet(key(3), move || {
        block_on(other.execute_batch(Some(key(99)), vec![push(PIPELINE, "other")])).unwrap();
        Ok(())
    });
    let mut bulk = log.annals.bulk();
    for n in 1..=5 {
        block_on(bulk.execute(Some(key(n)), unit(n))).unwrap();
    }
    let error = block_on(bulk.flush()).unwrap_err();
    assert!(error.is_retryable(), "{error}");
    let BulkError::NotAcknowledged { keys: lost, source } = error else {
        panic!("{error}");
    };
    assert_eq!(lost, [3, 4, 5].map(|n| Some(key(n))));
    assert!(
        matches!(*source, ExecuteError::Contended { .. }),
        "{source}"
    );
    assert_eq!(batches(log.log.as_ref()), keys([0, 1, 2, 99]));
    // Given again, they have other numbers.
    for n in 3..=5 {
        let decided = block_on(bulk.execute(Some(key(n)), unit(n))).unwrap();
        assert_eq!(frames(&decided), [FrameId(n as u64)]);
    }
    block_on(bulk.flush()).unwrap();
    assert_eq!(batches(log.log.as_ref()), keys([0, 1, 2, 99, 3, 4, 5]));
}

#[test]
fn a_refusal_is_final_only_when_all_that_is_on_its_way_is_there() {
    let log = log(30);
    let mut bulk = log.annals.bulk();
    let given: Vec<_> = (1..=10)
        .map(|n| block_on(bulk.execute(Some(key(n)), unit(n))).unwrap())
        .collect();
    let nothing = PipelineId(Uuid::from_u128(77));
    let requests = vec![call(11), push(nothing, "lost")];
    let refused = block_on(bulk.execute(Some(key(11)), requests)).unwrap_err();
    assert!(
        matches!(
            refused,
            BulkError::Batch(ExecuteError::Refused { index: 1, .. })
        ),
        "{refused}"
    );
    assert!(given.iter().all(|decided| decided.appended().is_some()));
    block_on(bulk.execute(Some(key(12)), unit(12))).unwrap();
    block_on(bulk.flush()).unwrap();
    assert_eq!(batches(log.log.as_ref()), keys((0..=10).chain([12])));
}

/// What is refused by what is on its way may be allowed by what the log has.
#[test]
fn what_only_a_batch_forbids_that_did_not_arrive_is_executed() {
    let log = log(30);
    log.meet(key(1), || {
        Err(AppendError::Conflict {
            stream: "task-00000000-0000-0000-0000-000000000001".parse().unwrap(),
            expected: annals::event_log::Expected::Any,
            actual: annals::event_log::Version(1),
        })
    });
    let mut bulk = log.annals.bulk();
    // It is in doubt once, and arrives when it is decided again.
    block_on(bulk.execute(Some(key(1)), vec![call(1)])).unwrap();
    let twice = block_on(bulk.execute(Some(key(2)), vec![call(1)])).unwrap_err();
    assert!(
        matches!(twice, BulkError::Batch(ExecuteError::Refused { .. })),
        "{twice}"
    );
    assert_eq!(batches(log.log.as_ref()), keys([0, 1]));
}

#[test]
fn what_is_too_large_is_said_at_once_and_leaves_nothing() {
    let (_home, log, annals) = super::sync::log();
    block_on(annals.execute_batch(Some(key(0)), setting())).unwrap();
    let mut bulk = annals.bulk();
    block_on(bulk.execute(Some(key(1)), unit(1))).unwrap();
    let many = vec![push(PIPELINE, "x"); 10_001];
    let large = block_on(bulk.execute(Some(key(2)), many)).unwrap_err();
    let too_large = |error: &BulkError| {
        matches!(
            error,
            BulkError::Batch(ExecuteError::Append(AppendError::TooLarge { .. }))
        )
    };
    assert!(too_large(&large), "{large}");
    block_on(bulk.execute(Some(key(3)), unit(3))).unwrap();
    block_on(bulk.flush()).unwrap();
    assert_eq!(batches(log.as_ref()), keys([0, 1, 3]));
}

#[test]
fn a_batch_that_a_failed_log_does_not_take_is_not_there() {
    let log = log(30);
    let mut bulk = log.annals.bulk();
    for n in 1..=3 {
        block_on(bulk.execute(Some(key(n)), unit(n))).unwrap();
    }
    log.fail();
    let error = block_on(bulk.execute(Some(key(4)), unit(4))).unwrap_err();
    let BulkError::Batch(ExecuteError::Append(source)) = &error else {
        panic!("{error}");
    };
    assert!(matches!(source, AppendError::Unavailable { .. }), "{error}");
    assert_eq!(batches(log.log.as_ref()), keys(0..=3));
    block_on(bulk.flush()).unwrap();
}

#[test]
fn all_that_are_on_their_way_when_the_log_fails_are_named() {
    let log = log(30);
    let mut bulk = log.annals.bulk();
    let mut give = |n| block_on(bulk.execute(Some(key(n)), unit(n))).unwrap();
    let given: Vec<_> = (1..=4).map(&mut give).collect();
    let before = given.iter().filter(|it| it.appended().is_some()).count();
    log.lose_answers();
    let error = block_on(bulk.flush()).unwrap_err();
    assert!(error.is_retryable(), "{error}");
    let BulkError::NotAcknowledged { keys: lost, source } = error else {
        panic!("{error}");
    };
    let rest = (1..=4).skip(before).map(|n| Some(key(n)));
    assert_eq!(lost, rest.collect::<Vec<_>>());
    assert!(source.to_string().contains("disk is full"), "{source}");
    assert!(given.iter().skip(before).all(|it| it.appended().is_none()));
}

#[test]
fn names_that_are_removed_meanwhile_are_in_nothing_that_is_decided_after_it() {
    let log = log(40);
    let annals = log.annals.clone();
    let alias = |alias: &str| request(ReserveAlias::new(PIPELINE.0, alias));
    let mut bulk = annals.bulk();
    block_on(bulk.execute(Some(key(1)), vec![alias("secret")])).unwrap();
    let at = annals.position();
    for n in 2..=6 {
        block_on(bulk.execute(Some(key(n)), unit(n))).unwrap();
    }
    let redact = RedactRequest::new(
        vec![Target::Event(at)],
        ActorRef::human("ada"),
        "it was secret",
    );
    block_on(annals.contents().redact(&redact, &mut |_| ())).unwrap();
    for n in 7..=9 {
        block_on(bulk.execute(Some(key(n)), unit(n))).unwrap();
    }
    // The alias is another one now: it has another stream.
    block_on(bulk.execute(Some(key(10)), vec![alias("secret")])).unwrap();
    block_on(bulk.flush()).unwrap();
    let found = batches(log.log.as_ref());
    for n in 1..=10 {
        assert!(found.contains(&key(n)), "{n}");
    }
    let at = block_on(annals.resolve("secret")).unwrap();
    assert_eq!(at.id, PIPELINE.0);
}

#[test]
fn the_catalogue_has_all_of_it_after_a_flush() {
    let log = log(10);
    let mut bulk = log.annals.bulk();
    for n in 1..=600 {
        block_on(bulk.execute(Some(key(n)), unit(n))).unwrap();
    }
    block_on(bulk.flush()).unwrap();
    let named = |n| {
        RecordToolInvocation::clone(match &call(n).command {
            annals::domain::Command::RecordToolInvocation(call) => call,
            _ => unreachable!(),
        })
    };
    for n in [1, 599, 600] {
        let id = named(n).id.unwrap();
        assert_eq!(block_on(log.annals.index().row(id)).unwrap().id, id.0);
    }
}

/// A future is dropped at any of its polls: each batch is whole or not there, and the writer goes on.
#[test]
fn a_dropped_future_leaves_whole_batches_and_a_writer_that_goes_on() {
    for polls in 0..12 {
        let log = log(6);
        let setting = log.log.watermark().0;
        let other = log.other();
        log.meet(key(3), move || {
            let set = SetMaxFrames::new(PIPELINE, 9);
            block_on(other.execute_batch(Some(key(99)), vec![request(set)])).unwrap();
            Ok(())
        });
        let mut bulk = log.annals.bulk();
        for n in 1..=8 {
            block_on(bulk.execute(Some(key(n)), unit(n))).unwrap();
        }
        {
            let mut flush = Box::pin(bulk.flush());
            for _ in 0..polls {
                if flush.as_mut().now_or_never().is_some() {
                    break;
                }
            }
        }
        {
            let mut execute = Box::pin(bulk.execute(Some(key(9)), unit(9)));
            for _ in 0..polls {
                if execute.as_mut().now_or_never().is_some() {
                    break;
                }
            }
        }
        // It may have been executed.
        block_on(bulk.execute(Some(key(9)), unit(9))).unwrap();
        block_on(bulk.flush()).unwrap();
        let expected = (0..=2).chain([99]).chain(3..=9);
        assert_eq!(
            batches(log.log.as_ref()),
            keys(expected),
            "after {polls} polls"
        );
        assert_eq!(log.log.watermark().0, setting + 1 + 18);
    }
}

#[test]
fn an_empty_batch_is_refused_as_ever() {
    let log = log(5);
    let mut bulk = log.annals.bulk();
    let empty: Vec<Request> = Vec::new();
    let error = block_on(bulk.execute(None, empty)).unwrap_err();
    assert!(matches!(error, BulkError::Batch(ExecuteError::Empty)));
}
