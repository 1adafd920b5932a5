//! The stores that tests of what every log does run over: one list, and logs of each of them.
//!
//! The conformance suite runs in the crate of each store, so that one can be tried alone.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, Weak};

use annals::store_postgres::{PostgresLog, Settings};
use annals_event_log::memory::MemoryLog;
use annals_event_log::{EventLog, Store};
use annals_store_rocks::{Options, RocksLog};
use annals_store_shared::SharedLog;
use annals_testkit::conformance::Harness;
use annals_testkit::postgres::{Server, Setup};
use futures::executor::block_on;
use tempfile::TempDir;
use uuid::Uuid;

/// Makes a test of each case over each store. A case is a function of [`Logs`].
macro_rules! over_each_store {
    (@tests $module:ident $kind:ident: $($case:ident,)+) => {
        mod $module {
            $(
                #[test]
                fn $case() {
                    if let Some(logs) = $crate::stores::Kind::$kind.logs() {
                        super::$case(logs.as_ref());
                    }
                }
            )+
        }
    };
    ($($case:ident,)+) => {
        $crate::stores::over_each_store! { @tests in_memory Memory: $($case,)+ }
        $crate::stores::over_each_store! { @tests on_rocksdb Rocks: $($case,)+ }
        $crate::stores::over_each_store! { @tests in_a_shared_folder Shared: $($case,)+ }
        $crate::stores::over_each_store! { @tests on_postgres Postgres: $($case,)+ }
    };
}
pub(crate) use over_each_store;

/// A kind of store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Memory,
    /// A folder that one process has for itself.
    Rocks,
    /// A folder that another process owns: what the test appends goes to that one.
    Shared,
    Postgres,
}

impl Kind {
    /// Logs of this kind; `None` where there can be none on this machine, which was said.
    pub fn logs(self) -> Option<Box<dyn Logs>> {
        let logs: Box<dyn Logs> = match self {
            Kind::Memory => Box::new(Memory::default()),
            Kind::Rocks | Kind::Shared => Box::new(Folders::new(self)),
            Kind::Postgres => Box::new(Databases::new(server()?)),
        };
        Some(logs)
    }

    /// Random cases are so much slower than in memory that only one of so many is tried.
    pub fn thinned(self) -> u32 {
        match self {
            Kind::Memory => 1,
            Kind::Rocks | Kind::Shared | Kind::Postgres => 64,
        }
    }
}

/// The logs of one test, in one kind of store.
pub trait Logs: Harness {
    fn kind(&self) -> Kind;

    /// Opens a log once more while it is open, as another process would to read it. In memory there is no other
    /// process, and it is the same handle.
    fn beside(&self, log: &Arc<dyn Store>) -> Arc<dyn Store>;
}

/// Logs in memory, for as long as somebody has them.
#[derive(Default)]
struct Memory(Mutex<HashMap<Uuid, Weak<MemoryLog>>>);

impl Memory {
    fn keep(&self, log: MemoryLog) -> Arc<dyn Store> {
        let log = Arc::new(log);
        let mut known = self.0.lock().unwrap();
        known.retain(|_, it| it.strong_count() > 0);
        known.insert(log.log_id(), Arc::downgrade(&log));
        log
    }
}

impl Harness for Memory {
    fn open(&self) -> Arc<dyn Store> {
        self.keep(MemoryLog::new(Uuid::new_v4()))
    }

    fn reopen(&self, log: Arc<dyn Store>) -> Arc<dyn Store> {
        let known = self.0.lock().unwrap().get(&log.log_id()).cloned();
        let known = known.and_then(|it| it.upgrade()).expect("one of ours");
        self.keep(known.reopen())
    }
}

impl Logs for Memory {
    fn kind(&self) -> Kind {
        Kind::Memory
    }

    fn beside(&self, log: &Arc<dyn Store>) -> Arc<dyn Store> {
        Arc::clone(log)
    }
}

/// What is synced is not what these tests are about.
fn options() -> Options {
    Options::default().with_sync(false)
}

/// A log in a folder.
struct Known {
    id: Uuid,
    path: PathBuf,
    /// What the test has.
    open: Weak<dyn Store>,
    /// Where it is shared, the test has a guest of this one.
    owner: Option<SharedLog>,
}

/// Logs in folders of a temporary one. Those that nobody has open any more are removed.
struct Folders {
    kind: Kind,
    known: Mutex<Vec<Known>>,
    home: TempDir,
}

impl Folders {
    fn new(kind: Kind) -> Folders {
        Folders {
            kind,
            known: Mutex::default(),
            home: tempfile::tempdir().expect("a temporary folder"),
        }
    }

    /// Opens a folder, or makes the log in it.
    fn start(&self, path: &Path) -> (Arc<dyn Store>, Option<SharedLog>) {
        if self.kind == Kind::Rocks {
            let log = RocksLog::open_or_create(path, &options()).expect("a log");
            return (Arc::new(log), None);
        }
        let owner = SharedLog::open_or_create(path, &options()).expect("an owner");
        let guest = SharedLog::open(path, &options()).expect("a guest");
        assert!(owner.is_owner() && !guest.is_owner());
        (Arc::new(guest), Some(owner))
    }
}

/// Whether the test still has a log; else it is closed and its folder removed.
fn is_open(known: &mut Known) -> bool {
    if known.open.strong_count() > 0 {
        return true;
    }
    if let Some(owner) = known.owner.take() {
        block_on(owner.close());
    }
    let _ = std::fs::remove_dir_all(&known.path);
    false
}

impl Harness for Folders {
    fn open(&self) -> Arc<dyn Store> {
        let mut known = self.known.lock().unwrap();
        known.retain_mut(is_open);
        let path = self.home.path().join(Uuid::new_v4().simple().to_string());
        let (log, owner) = self.start(&path);
        known.push(Known {
            id: log.log_id(),
            path,
            open: Arc::downgrade(&log),
            owner,
        });
        log
    }

    fn reopen(&self, log: Arc<dyn Store>) -> Arc<dyn Store> {
        block_on(log.close());
        let mut known = self.known.lock().unwrap();
        let known = known.iter_mut().find(|it| it.id == log.log_id());
        let known = known.expect("one of ours");
        if let Some(owner) = known.owner.take() {
            block_on(owner.close());
        }
        let (again, owner) = self.start(&known.path);
        known.open = Arc::downgrade(&again);
        known.owner = owner;
        assert_eq!(again.log_id(), log.log_id());
        again
    }
}

impl Logs for Folders {
    fn kind(&self) -> Kind {
        self.kind
    }

    fn beside(&self, log: &Arc<dyn Store>) -> Arc<dyn Store> {
        let known = self.known.lock().unwrap();
        let known = known.iter().find(|it| it.id == log.log_id());
        let path = &known.expect("one of ours").path;
        match self.kind {
            Kind::Rocks => Arc::new(RocksLog::open_reader(path, &options()).expect("a reader")),
            _ => Arc::new(SharedLog::open(path, &options()).expect("a guest")),
        }
    }
}

/// The database of all tests.
const DATABASE: &str = "tests";

/// One server for all tests; `None` where none can be started, which was said.
pub fn server() -> Option<&'static Server> {
    static SERVER: OnceLock<Option<Server>> = OnceLock::new();
    let start = || {
        let server = Server::or_say_not_run(&Setup::default())?;
        let create = format!("CREATE DATABASE {DATABASE}");
        server.sql("postgres", &create).expect("a database");
        Some(server)
    };
    SERVER.get_or_init(start).as_ref()
}

/// The URL of a log that is not made yet.
pub fn url(server: &Server) -> String {
    let log = Uuid::new_v4().simple();
    format!("{}?log={log}&connections=2", server.url(DATABASE))
}

/// Logs on the server, found again by their ids.
struct Databases {
    server: &'static Server,
    known: Mutex<HashMap<Uuid, Settings>>,
}

impl Databases {
    fn new(server: &'static Server) -> Databases {
        Databases {
            server,
            known: Mutex::default(),
        }
    }

    fn again(&self, id: Uuid) -> Arc<dyn Store> {
        let known = self.known.lock().unwrap();
        Arc::new(PostgresLog::open(&known[&id]).expect("it opens again"))
    }
}

impl Harness for Databases {
    fn open(&self) -> Arc<dyn Store> {
        let settings = Settings::from_url(&url(self.server)).expect("a URL");
        let log = PostgresLog::create(&settings).expect("a new log");
        self.known.lock().unwrap().insert(log.log_id(), settings);
        Arc::new(log)
    }

    fn reopen(&self, log: Arc<dyn Store>) -> Arc<dyn Store> {
        block_on(log.close());
        self.again(log.log_id())
    }
}

impl Logs for Databases {
    fn kind(&self) -> Kind {
        Kind::Postgres
    }

    fn beside(&self, log: &Arc<dyn Store>) -> Arc<dyn Store> {
        self.again(log.log_id())
    }
}
