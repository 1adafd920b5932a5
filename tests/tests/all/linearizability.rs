//! What the store on RocksDB answers to threads of its own process, and to readers
//! next to the writer, is explained by one order of events.

use std::sync::Arc;

use annals_event_log::Store;
use annals_store_rocks::{Options, RocksLog};
use annals_testkit::linearizability::{Recorder, check, exercise};
use futures::executor::block_on;

/// So many threads through the writer's handle, and so many readers with a handle each.
/// How many of their calls were conflicts.
fn record(writers: u64, readers: u64, seed: u64) -> usize {
    let home = tempfile::tempdir().expect("a temporary folder");
    let path = home.path().join("log");
    let options = Options::default()
        // Nothing here depends on it, and the calls of the threads come closer.
        .with_sync(false);
    let log: Arc<dyn Store> = Arc::new(RocksLog::create(&path, &options).expect("a new log"));
    let recorder = Recorder::new();
    let mut handles: Vec<_> = (0..writers)
        .map(|_| recorder.handle(Arc::clone(&log)))
        .collect();
    for _ in 0..readers {
        let opened = recorder.now();
        let reader = RocksLog::open_reader(&path, &options).expect("a reader");
        handles.push(recorder.lagging(opened, Arc::new(reader)));
    }
    exercise(handles, seed, 120);
    let history = recorder.finish(&*log).expect("the log can be read");
    block_on(log.close());
    match check(&history) {
        Ok(checked) => checked.conflicts,
        Err(why) => panic!("seed {seed}, {writers} writers, {readers} readers: {why}"),
    }
}

#[test]
fn threads_of_one_process_see_one_log() {
    let seed = 1_912;
    println!("seed {seed}");
    let conflicts: usize = [1, 2, 4, 8, 16]
        .map(|threads| record(threads, 0, seed))
        .iter()
        .sum();
    assert!(
        conflicts > 10,
        "only {conflicts} conflicts: too little happened at once"
    );
}

/// A reader may lag. It shows states that the log had, one not before the other, and
/// what was acknowledged before it was opened.
#[test]
fn readers_beside_the_writer_see_states_of_the_log_in_their_order() {
    let seed = 1_913;
    println!("seed {seed}");
    for (writers, readers) in [(1, 1), (4, 2), (8, 3)] {
        record(writers, readers, seed);
    }
}
