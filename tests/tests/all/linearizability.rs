//! What a store answers to threads of one process, and to readers of other processes beside
//! them, is explained by one order of events.

use std::sync::Arc;

use annals_testkit::linearizability::{Recorder, check, exercise};
use futures::executor::block_on;

use crate::stores::{Kind, Logs, over_each_store};

over_each_store! {
    threads_of_one_process_see_one_log,
    readers_beside_the_writer_see_states_of_the_log_in_their_order,
}

/// So many threads through the writer's handle, and so many readers with a handle each.
/// How many of their calls were conflicts.
fn record(logs: &dyn Logs, writers: u64, readers: u64, seed: u64) -> usize {
    let calls = match logs.kind() {
        Kind::Postgres => 60,
        _ => 120,
    };
    let recorder = Recorder::new();
    let opened = recorder.now();
    let log = logs.open();
    let writer = |log| match logs.kind() {
        // Where the server commits, another process may know of it before the one that wrote has its answer.
        Kind::Postgres => recorder.of_process(opened, 0, log),
        _ => recorder.handle(log),
    };
    let mut handles: Vec<_> = (0..writers).map(|_| writer(Arc::clone(&log))).collect();
    for _ in 0..readers {
        let opened = recorder.now();
        handles.push(recorder.lagging(opened, logs.beside(&log)));
    }
    exercise(handles, seed, calls);
    let history = recorder.finish(&*log).expect("the log can be read");
    block_on(log.close());
    match check(&history) {
        Ok(checked) => checked.conflicts,
        Err(why) => panic!("seed {seed}, {writers} writers, {readers} readers: {why}"),
    }
}

fn threads_of_one_process_see_one_log(logs: &dyn Logs) {
    let seed = 1_912;
    println!("seed {seed}");
    let conflicts: usize = [1, 2, 4, 8, 16]
        .map(|threads| record(logs, threads, 0, seed))
        .iter()
        .sum();
    assert!(
        conflicts > 10,
        "only {conflicts} conflicts: too little happened at once"
    );
}

/// A reader may lag. It shows states that the log had, one not before the other, and
/// what was acknowledged before it was opened.
fn readers_beside_the_writer_see_states_of_the_log_in_their_order(logs: &dyn Logs) {
    let seed = 1_913;
    println!("seed {seed}");
    for (writers, readers) in [(1, 1), (4, 2), (8, 3)] {
        record(logs, writers, readers, seed);
    }
}
