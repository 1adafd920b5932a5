//! The ports' conformance suite, over a guest and over an owner.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use annals_event_log::conformance::Harness;
use annals_event_log::{EventLog, Store};
use annals_store_rocks::Options;
use annals_store_shared::SharedLog;
use futures::executor::block_on;
use tempfile::TempDir;
use uuid::Uuid;

pub(crate) fn options() -> Options {
    // What is synced is not what these tests are about.
    Options::default().with_sync(false)
}

pub(crate) struct Shared {
    home: TempDir,
    /// Whether the suite has guests; then the owners are here.
    guests: bool,
    logs: Mutex<Vec<Known>>,
}

struct Known {
    id: Uuid,
    path: PathBuf,
    owner: Option<SharedLog>,
}

impl Shared {
    pub(crate) fn new(guests: bool) -> Shared {
        Shared {
            home: tempfile::tempdir().unwrap(),
            guests,
            logs: Mutex::default(),
        }
    }
}

impl Harness for Shared {
    fn open(&self) -> Arc<dyn Store> {
        let mut logs = self.logs.lock().unwrap();
        let path = self.home.path().join(logs.len().to_string());
        let log = SharedLog::create(&path, &options()).unwrap();
        let id = log.log_id();
        let (log, owner) = match self.guests {
            false => (log, None),
            true => (SharedLog::open(&path, &options()).unwrap(), Some(log)),
        };
        assert_eq!(log.is_owner(), !self.guests);
        logs.push(Known { id, path, owner });
        Arc::new(log)
    }

    fn reopen(&self, log: Arc<dyn Store>) -> Arc<dyn Store> {
        block_on(log.close());
        let mut logs = self.logs.lock().unwrap();
        let known = logs.iter_mut().find(|it| it.id == log.log_id()).unwrap();
        if let Some(owner) = known.owner.take() {
            block_on(owner.close());
            known.owner = Some(SharedLog::open(&known.path, &options()).unwrap());
        }
        let log = SharedLog::open(&known.path, &options()).unwrap();
        assert_eq!(log.is_owner(), !self.guests);
        Arc::new(log)
    }
}

mod of_a_guest {
    annals_event_log::conformance_suite!(crate::conformance::Shared::new(true));
}

mod of_an_owner {
    annals_event_log::conformance_suite!(crate::conformance::Shared::new(false));
}
