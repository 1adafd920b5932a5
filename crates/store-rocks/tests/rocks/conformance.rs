//! The ports' conformance suite over the store on disk.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use annals_event_log::conformance::Harness;
use annals_event_log::{EventLog, Store};
use annals_store_rocks::RocksLog;
use futures::executor::block_on;
use tempfile::TempDir;
use uuid::Uuid;

use crate::support::options;

/// Logs in directories of one temporary directory, found again by their ids.
struct RocksHarness {
    home: TempDir,
    paths: Mutex<Vec<(Uuid, PathBuf)>>,
}

impl RocksHarness {
    fn new() -> RocksHarness {
        let home = tempfile::tempdir().expect("a temporary directory");
        RocksHarness {
            home,
            paths: Mutex::default(),
        }
    }
}

impl Harness for RocksHarness {
    fn open(&self) -> Arc<dyn Store> {
        let mut paths = self.paths.lock().expect("no case panicked with it");
        let path = self.home.path().join(paths.len().to_string());
        let log = RocksLog::create(&path, &options()).expect("a new log");
        paths.push((log.log_id(), path));
        Arc::new(log)
    }

    fn reopen(&self, log: Arc<dyn Store>) -> Arc<dyn Store> {
        block_on(log.close());
        let paths = self.paths.lock().expect("no case panicked with it");
        let (_, path) = paths
            .iter()
            .find(|(id, _)| *id == log.log_id())
            .expect("one of ours");
        Arc::new(RocksLog::open(path, &options()).expect("it opens again"))
    }
}

annals_event_log::conformance_suite!(RocksHarness::new());
