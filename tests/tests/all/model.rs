//! The store on RocksDB against the reference model, with reopening as one of the steps.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use annals_event_log::Store;
use annals_store_rocks::{Options, RocksLog};
use annals_testkit::conformance::Harness;
use annals_testkit::model::check_random;
use futures::executor::block_on;
use tempfile::TempDir;

/// Logs in one temporary folder. One at a time is open, and the folder of the one
/// before is removed.
struct Rocks {
    home: TempDir,
    options: Options,
    made: Mutex<u64>,
}

impl Rocks {
    fn path(&self, number: u64) -> PathBuf {
        self.home.path().join(number.to_string())
    }
}

impl Harness for Rocks {
    fn open(&self) -> Arc<dyn Store> {
        let mut made = self.made.lock().expect("no test panicked with it");
        let _ = std::fs::remove_dir_all(self.path(*made));
        *made += 1;
        Arc::new(RocksLog::create(&self.path(*made), &self.options).expect("a new log"))
    }

    fn reopen(&self, log: Arc<dyn Store>) -> Arc<dyn Store> {
        block_on(log.close());
        let made = self.made.lock().expect("no test panicked with it");
        Arc::new(RocksLog::open(&self.path(*made), &self.options).expect("it opens again"))
    }
}

#[test]
fn the_store_on_rocksdb_is_what_the_model_says() {
    let store = Rocks {
        home: tempfile::tempdir().expect("a temporary folder"),
        options: Options::default()
            // What the model has nothing to say of.
            .with_sync(false),
        made: Mutex::new(0),
    };
    check_random(&store, 24, 60);
}
