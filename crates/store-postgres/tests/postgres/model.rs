//! The store against the reference model, and the answers to several processes against one order of events.

use std::sync::Arc;

use annals_event_log::Store;
use annals_store_postgres::PostgresLog;
use annals_testkit::linearizability::{Recorder, check, exercise};
use annals_testkit::{invariants, model};

use crate::support::{DATABASE, Postgres, server, settings};

#[test]
fn the_store_on_postgres_is_what_the_model_says() {
    model::check_random(&Postgres::new(""), 12, 60);
}

/// Threads with one handle, and handles of their own that read beside them as other processes would.
#[test]
fn threads_and_readers_see_one_log() {
    let Some(server) = server() else { return };
    let seed = 2_026;
    println!("seed {seed}");
    for (writers, readers) in [(1, 1), (4, 2), (8, 2)] {
        let settings = settings(server, DATABASE, "&connections=2");
        let log: Arc<dyn Store> = Arc::new(PostgresLog::create(&settings).unwrap());
        let recorder = Recorder::new();
        let mut handles: Vec<_> = (0..writers)
            .map(|_| recorder.handle(Arc::clone(&log)))
            .collect();
        for _ in 0..readers {
            let opened = recorder.now();
            let reader = PostgresLog::open(&settings).unwrap();
            handles.push(recorder.lagging(opened, Arc::new(reader)));
        }
        exercise(handles, seed, 60);
        let history = recorder.finish(&*log).unwrap();
        check(&history).unwrap_or_else(|why| panic!("{writers} writers, {readers} readers: {why}"));
        invariants::check_all(&*log).unwrap();
    }
}
