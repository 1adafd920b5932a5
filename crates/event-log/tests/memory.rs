//! The conformance suite over the in-memory store.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use annals_event_log::EventLog;
use annals_event_log::conformance::Harness;
use annals_event_log::memory::MemoryLog;
use uuid::Uuid;

/// Logs in memory by their ids, so that they can be opened again.
#[derive(Default)]
struct MemoryHarness {
    logs: Mutex<HashMap<Uuid, Arc<MemoryLog>>>,
}

impl MemoryHarness {
    fn keep(&self, log: MemoryLog) -> Arc<dyn EventLog> {
        let log = Arc::new(log);
        self.logs
            .lock()
            .unwrap()
            .insert(log.log_id(), Arc::clone(&log));
        log
    }
}

impl Harness for MemoryHarness {
    fn open(&self) -> Arc<dyn EventLog> {
        self.keep(MemoryLog::new(Uuid::new_v4()))
    }

    fn reopen(&self, log: Arc<dyn EventLog>) -> Arc<dyn EventLog> {
        let known = Arc::clone(&self.logs.lock().unwrap()[&log.log_id()]);
        self.keep(known.reopen())
    }
}

mod conformance {
    use super::MemoryHarness;

    annals_event_log::conformance_suite!(MemoryHarness::default());
}
