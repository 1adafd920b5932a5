//! Several who write to the same objects: all of them get on, on any executor.

use std::collections::BTreeSet;
use std::thread;

use annals::{Annals, BulkError, BulkWriter, ExecuteError};
use annals_event_log::Classified;
use futures::executor::{LocalPool, block_on};
use futures::task::LocalSpawnExt;

use super::{PIPELINE, batches, call, key, push, setting, unit};

const BATCHES: u128 = 150;

fn annals(home: &tempfile::TempDir) -> Annals {
    let url = home.path().join("log").display().to_string();
    let annals = block_on(Annals::open(&url)).expect("a new log");
    block_on(annals.execute_batch(Some(key(0)), setting())).expect("the setting");
    annals
}

/// What a writer gives: calls of the same run, and a frame of the same pipeline now and then.
fn given(writer: u128) -> Vec<u128> {
    (1..=BATCHES).map(|n| writer * 10_000 + n).collect()
}

/// Gives all of it; what is not acknowledged because of the others, again.
async fn give_all(bulk: &mut BulkWriter<'_>, mut numbers: Vec<u128>) {
    while !numbers.is_empty() {
        let mut lost: BTreeSet<u128> = BTreeSet::new();
        let mut note = |error: BulkError, this: Option<u128>| match error {
            BulkError::NotAcknowledged { keys, source } => {
                assert!(
                    matches!(*source, ExecuteError::Contended { .. }),
                    "{source}"
                );
                let number = |key: uuid::Uuid| key.as_u128() - (1 << 100);
                lost.extend(keys.into_iter().flatten().map(number));
                lost.extend(this);
            }
            error => panic!("{error}"),
        };
        for n in &numbers {
            let requests = match n % 10 {
                0 => unit(*n),
                _ => vec![call(*n)],
            };
            if let Err(error) = bulk.execute(Some(key(*n)), requests).await {
                note(error, Some(*n));
            }
        }
        if let Err(error) = bulk.flush().await {
            note(error, None);
        }
        numbers = lost.into_iter().collect();
    }
}

fn check(annals: &Annals, writers: u128) {
    let found: BTreeSet<_> = batches(annals.log().as_ref()).into_iter().collect();
    for n in (1..=writers).flat_map(given) {
        assert!(found.contains(&key(n)), "batch {n} is lost");
    }
}

#[test]
fn two_writers_in_one_task_take_turns() {
    let home = tempfile::tempdir().unwrap();
    let annals = annals(&home);
    let (mut one, mut two) = (annals.bulk(), annals.bulk());
    for (a, b) in given(1).into_iter().zip(given(2)) {
        block_on(one.execute(Some(key(a)), vec![call(a)])).unwrap();
        block_on(two.execute(Some(key(b)), vec![call(b)])).unwrap();
    }
    // The second waits first, though the first has batches on their way.
    block_on(two.flush()).unwrap();
    block_on(one.flush()).unwrap();
    check(&annals, 2);
}

#[test]
fn writers_on_threads_of_their_own_share_objects() {
    let home = tempfile::tempdir().unwrap();
    let annals = annals(&home);
    thread::scope(|scope| {
        for writer in 1..=3 {
            let annals = &annals;
            scope.spawn(move || block_on(give_all(&mut annals.bulk(), given(writer))));
        }
    });
    check(&annals, 3);
}

#[test]
fn writers_on_one_thread_share_objects() {
    let home = tempfile::tempdir().unwrap();
    let annals = annals(&home);
    let mut pool = LocalPool::new();
    for writer in 1..=3 {
        let annals = annals.clone();
        let give = async move { give_all(&mut annals.bulk(), given(writer)).await };
        pool.spawner().spawn_local(give).unwrap();
    }
    pool.run();
    check(&annals, 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writers_in_a_runtime_share_objects() {
    let home = tempfile::tempdir().unwrap();
    let annals = tokio::task::block_in_place(|| annals(&home));
    let writers = (1..=3).map(|writer| {
        let annals = annals.clone();
        tokio::spawn(async move { give_all(&mut annals.bulk(), given(writer)).await })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    check(&annals, 3);
}

/// A writer that never pauses, and a caller who waits for each answer.
#[test]
fn others_come_to_their_turn_next_to_a_writer() {
    let home = tempfile::tempdir().unwrap();
    let annals = annals(&home);
    let done = std::sync::atomic::AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut bulk = annals.bulk();
            let mut n = 0;
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                n += 1;
                match block_on(bulk.execute(Some(key(n)), vec![call(n)])) {
                    Ok(_) => {}
                    Err(error) => assert!(error.is_retryable(), "{error}"),
                }
            }
            block_on(bulk.flush()).expect("the rest");
        });
        for n in 1..=50_u128 {
            let both = vec![call(1_000_000 + n), push(PIPELINE, "beside")];
            let outcome = block_on(annals.execute_batch(None, both));
            outcome.expect("its turn");
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}
