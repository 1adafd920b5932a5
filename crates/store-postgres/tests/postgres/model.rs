//! The store against the reference model, and the answers to several processes against one order of events.

use std::sync::Arc;

use annals_event_log::{Position, Record, Store};
use annals_store_postgres::PostgresLog;
use annals_testkit::linearizability::{Recorder, check, exercise};
use annals_testkit::{invariants, model};
use futures::executor::block_on;

use crate::support::{DATABASE, Postgres, all, server, settings};

#[test]
fn the_store_on_postgres_is_what_the_model_says() {
    model::check_random(&Postgres::new(""), 12, 60);
}

/// Threads of two processes that write, and of others that only read.
#[test]
fn threads_of_several_processes_see_one_log() {
    let Some(server) = server() else { return };
    let seed = 2_026;
    println!("seed {seed}");
    for (writers, readers) in [(1, 1), (4, 2), (8, 2)] {
        let settings = settings(server, DATABASE, "&connections=2");
        let log: Arc<dyn Store> = Arc::new(PostgresLog::create(&settings).unwrap());
        let recorder = Recorder::new();
        let opened = recorder.now();
        let another: Arc<dyn Store> = Arc::new(PostgresLog::open(&settings).unwrap());
        let mut handles: Vec<_> = [&log, &another]
            .into_iter()
            .enumerate()
            .flat_map(|process| (0..writers).map(move |_| process))
            .map(|(process, log)| recorder.of_process(opened, process, Arc::clone(log)))
            .collect();
        for _ in 0..readers {
            let opened = recorder.now();
            let reader = PostgresLog::open(&settings).unwrap();
            handles.push(recorder.lagging(opened, Arc::new(reader)));
        }
        exercise(handles, seed, 60);
        // Another process may have taken the last one.
        let last = all(&*log).last().map_or(Position::START, Record::position);
        block_on(log.wait_above(Position(last.0.saturating_sub(1)))).unwrap();
        let history = recorder.finish(&*log).unwrap();
        check(&history).unwrap_or_else(|why| panic!("{writers} writers, {readers} readers: {why}"));
        invariants::check_all(&*log).unwrap();
    }
}
