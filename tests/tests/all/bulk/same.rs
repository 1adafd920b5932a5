//! What the bulk writer stores of a list of batches is what one batch after the other stores.

use std::sync::Arc;

use annals::domain::{ActorRef, Command, Timestamp};
use annals::event_log::memory::MemoryLog;
use annals::event_log::{IdSecret, Store};
use annals::store_rocks::{Options, RocksLog};
use annals::{Annals, BatchOutcome, BulkError, ExecuteError, KnownKey, Request};
use annals_event_log::Classified;
use annals_testkit::generators::objects;
use chrono::DateTime;
use futures::executor::block_on;
use proptest::collection::vec;
use proptest::prelude::*;
use uuid::Uuid;

use super::late::LateLog;
use super::{Names, key, records, told};

/// A batch that is given.
#[derive(Debug, Clone)]
struct Given {
    key: Option<Uuid>,
    requests: Vec<Request>,
    /// Whether it is asked first if the key is known.
    asks: bool,
    /// Whether all must be on disk after it.
    flushes: bool,
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from(DateTime::from_timestamp(1_700_000_000 + seconds, 0).unwrap())
}

/// Batches of one to three commands, now and then again, with a key that another one has, or without a key.
fn given(commands: Vec<Command>, cuts: &[(u8, u8)]) -> Vec<Given> {
    let mut commands = commands.into_iter().enumerate().peekable();
    let mut all: Vec<Given> = Vec::new();
    for (n, (cut, odd)) in (0..).zip(cuts.iter().cycle()) {
        if commands.peek().is_none() {
            break;
        }
        let requests = commands.by_ref().take(usize::from(cut % 3) + 1);
        let request = |(n, command): (usize, Command)| {
            let actor: ActorRef = objects::actor(n as u64, &command);
            Request::new(actor, command).at(at(n as i64))
        };
        let earlier = all.get(usize::from(*cut) % all.len().max(1)).cloned();
        let requests: Vec<Request> = requests.map(request).collect();
        // The id of a command that is given is made from the key.
        let is_given = |it: &Request| matches!(it.command, Command::SubmitCommand(_));
        let mut next = Given {
            key: (odd % 8 != 1 || requests.iter().any(is_given)).then_some(key(n)),
            requests,
            asks: odd % 3 == 0,
            flushes: odd % 16 == 5,
        };
        match (odd % 12, earlier) {
            // The same once more.
            (2, Some(earlier)) => {
                all.push(next);
                next = earlier;
            }
            // Another request with the same key.
            (3, Some(earlier)) => next.key = earlier.key.or(next.key),
            _ => {}
        }
        all.push(next);
    }
    all
}

/// What a caller got as an answer, and what the log has.
#[derive(Debug, PartialEq, Default)]
struct Stored {
    answers: Vec<String>,
    records: Vec<String>,
}

fn answer(done: &Result<BatchOutcome, ExecuteError>, names: &mut Names) -> String {
    match done {
        Ok(outcome) => names.within(&format!("{outcome:?}")),
        Err(error) => format!("{} {}", error.code(), names.within(&error.to_string())),
    }
}

fn stored(log: &dyn Store, done: &[Result<BatchOutcome, ExecuteError>]) -> Stored {
    let mut names = Names::default();
    let records = told(&records(log), &mut names);
    let answers = done.iter().map(|done| answer(done, &mut names));
    Stored {
        answers: answers.collect(),
        records,
    }
}

/// A log whose clock stands among the times of the commands.
fn clocked(log: &Arc<dyn Store>) -> Annals {
    Annals::over(Arc::clone(log)).with_clock(|| at(150))
}

/// One batch after the other.
fn in_turn(log: Arc<dyn Store>, given: &[Given]) -> Stored {
    let annals = clocked(&log);
    let execute = |it: &Given| block_on(annals.execute_batch(it.key, it.requests.clone()));
    let done: Vec<_> = given.iter().map(execute).collect();
    stored(log.as_ref(), &done)
}

/// By a bulk writer.
fn in_bulk(annals: &Annals, log: &dyn Store, given: &[Given]) -> Stored {
    let mut bulk = annals.bulk();
    let mut decided = Vec::new();
    for it in given {
        if it.asks
            && let Some(key) = it.key
        {
            let knows = block_on(bulk.knows(key)).expect("an answer");
            if let Some(KnownKey::InLog { first, last }) = knows {
                assert!(first <= last && last <= annals.position());
            }
        }
        match block_on(bulk.execute(it.key, it.requests.clone())) {
            Ok(batch) => decided.push(Ok(batch)),
            Err(BulkError::Batch(error)) => decided.push(Err(error)),
            Err(error) => panic!("there is no other writer: {error}"),
        }
        if it.flushes {
            block_on(bulk.flush()).expect("all is there");
        }
    }
    block_on(bulk.flush()).expect("all is there");
    let done: Vec<_> = decided
        .into_iter()
        .map(|batch| {
            let batch = batch?;
            let appended = batch.appended().expect("it is there").clone();
            assert_eq!(batch.outcomes.len(), appended.outcomes.len());
            for (told, done) in batch.outcomes.iter().zip(&appended.outcomes) {
                assert_eq!((told.id, told.frame_id), (done.id, done.frame_id));
                assert_eq!(told.events, done.events);
            }
            Ok(appended)
        })
        .collect();
    stored(log, &done)
}

fn check(given: &[Given], polls: u64) {
    let secret = IdSecret::random();
    let log = || MemoryLog::with_id_secret(Uuid::from_u128(1), secret.clone());
    let expected = in_turn(Arc::new(log()), given);
    let late = LateLog::over(log(), polls);
    let annals = late.annals.clone().with_clock(|| at(150));
    let found = in_bulk(&annals, late.log.as_ref(), given);
    similar(&expected, &found);
}

fn similar(expected: &Stored, found: &Stored) {
    for (expected, found) in expected.records.iter().zip(&found.records) {
        assert_eq!(expected, found, "a record");
    }
    assert_eq!(expected.records.len(), found.records.len());
    for (n, (expected, found)) in expected.answers.iter().zip(&found.answers).enumerate() {
        assert_eq!(expected, found, "the answer to batch {n}");
    }
}

proptest! {
    #[test]
    fn a_log_in_memory_has_the_same(
        commands in objects::commands(1..120),
        cuts in vec(any::<(u8, u8)>(), 1..40),
        polls in 0..60_u64,
    ) {
        check(&given(commands, &cuts), polls);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn a_log_on_disk_has_the_same(
        commands in objects::commands(100..300),
        cuts in vec(any::<(u8, u8)>(), 1..40),
    ) {
        let given = given(commands, &cuts);
        let expected = in_turn(Arc::new(MemoryLog::new(Uuid::from_u128(1))), &given);
        let home = tempfile::tempdir().unwrap();
        let log = RocksLog::create(&home.path().join("log"), &Options::default()).unwrap();
        let log: Arc<dyn Store> = Arc::new(log);
        let annals = clocked(&log);
        let found = in_bulk(&annals, log.as_ref(), &given);
        similar(&expected, &found);
        block_on(annals.close());
    }
}
