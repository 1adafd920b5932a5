//! Callers with a runtime of their own.

use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use annals_event_log::{EventLog, Position, ReadModels};
use annals_store_postgres::PostgresLog;
use futures::executor::block_on;
use tokio::runtime::Builder;

use crate::support::{DATABASE, batch, server, settings};

/// tokio has a task pause after 128 steps, and wakes it when its runtime goes on, which does not while it is blocked.
#[test]
fn a_caller_that_blocks_a_thread_of_a_runtime_waits_no_longer_than_others() {
    let Some(server) = server() else { return };
    let log = PostgresLog::create(&settings(server, DATABASE, "")).unwrap();
    let (done, waiting) = channel();
    thread::spawn(move || {
        let runtime = Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            for _ in 0..200 {
                block_on(log.append(batch("a-1", 1))).unwrap();
            }
            // Here it has no steps left, and what follows takes some.
            for _ in 0..200 {
                block_on(log.checkpoint("m")).unwrap();
            }
            block_on(log.close());
        });
        done.send(log.watermark()).unwrap();
    });
    let seen = waiting.recv_timeout(Duration::from_secs(120));
    assert_eq!(seen, Ok(Position(200)), "it waits for ever");
}
