//! On a disk: many batches share a sync, and come into the log in the order in which they were given.

use std::sync::Arc;

use annals::domain::PipelineId;
use annals::event_log::Store;
use annals::store_rocks::{Options, RocksLog};
use annals::{Annals, Request};
use futures::executor::block_on;
use uuid::Uuid;

use super::{batches, create_pipeline, key, push, unit};

pub fn log() -> (tempfile::TempDir, Arc<RocksLog>, Annals) {
    let home = tempfile::tempdir().expect("a directory");
    let options = Options::default().with_statistics(true);
    let log = RocksLog::create(&home.path().join("log"), &options).expect("a log");
    let log = Arc::new(log);
    let annals = Annals::over(Arc::clone(&log) as Arc<dyn Store>);
    (home, log, annals)
}

#[test]
fn many_batches_share_a_sync() {
    let (_home, log, annals) = log();
    block_on(annals.execute_batch(Some(key(0)), super::setting())).unwrap();
    let (before, setting) = (log.wal_syncs(), annals.position().0);
    let mut bulk = annals.bulk();
    for n in 1..=1_000 {
        block_on(bulk.execute(Some(key(n)), unit(n))).unwrap();
    }
    let end = block_on(bulk.flush()).unwrap();
    let syncs = log.wal_syncs() - before;
    assert_eq!(end.0, setting + 2_000);
    assert!((1..500).contains(&syncs), "{syncs} syncs for 1,000 batches");
    assert_eq!(
        batches(log.as_ref()),
        (0..=1_000).map(key).collect::<Vec<_>>()
    );
}

/// A large append is encoded on another thread before it gets in line.
#[test]
fn large_and_small_batches_keep_their_order() {
    let (_home, log, annals) = log();
    let pipelines: Vec<PipelineId> = (0..40)
        .map(|n| PipelineId(Uuid::from_u128(200 + n)))
        .collect();
    let create = pipelines.iter().map(|id| create_pipeline(*id)).collect();
    block_on(annals.execute_batch(Some(key(0)), create)).unwrap();
    // Inline, a blob, many inline, many events.
    let requests = |n: usize, pipeline: PipelineId| -> Vec<Request> {
        match n % 7 {
            1 => vec![push(pipeline, "x".repeat(3_900)); 3],
            2 => vec![push(pipeline, "x".repeat(100_000))],
            4 => vec![push(pipeline, "x"); 17],
            5 => vec![push(pipeline, "x".repeat(3_900)); 12],
            _ => vec![push(pipeline, "x")],
        }
    };
    for round in 0..10 {
        let mut bulk = annals.bulk();
        for (n, pipeline) in pipelines.iter().enumerate() {
            let number = 1 + round * 40 + n as u128;
            block_on(bulk.execute(Some(key(number)), requests(n, *pipeline))).unwrap();
        }
        block_on(bulk.flush()).unwrap();
    }
    assert_eq!(
        batches(log.as_ref()),
        (0..=400).map(key).collect::<Vec<_>>()
    );
}
