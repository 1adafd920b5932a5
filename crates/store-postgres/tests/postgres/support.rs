//! The server of these tests, logs on it, and what is appended to them.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};

use annals_event_log::conformance::{Harness, MemoryHarness};
use annals_event_log::{
    Actor, Append, Blob, Content, EventLog, NewEvent, PiecesOf, Position, Query, Record, Redaction,
    Store, StreamName,
};
use annals_store_postgres::{PostgresLog, Settings};
use annals_testkit::postgres::{Server, Setup};
use futures::executor::block_on;
use uuid::Uuid;

/// The database of the tests that need none of their own.
pub(crate) const DATABASE: &str = "tests";

/// One server for all tests; `None` where none can be started.
pub(crate) fn server() -> Option<&'static Server> {
    static SERVER: OnceLock<Option<Server>> = OnceLock::new();
    let start = || {
        let server = Server::or_say_not_run(&Setup::default())?;
        server.sql("postgres", "CREATE DATABASE tests").unwrap();
        Some(server)
    };
    SERVER.get_or_init(start).as_ref()
}

/// A database of its own on the server of all tests.
pub(crate) fn database(server: &Server) -> String {
    let name = format!("db_{}", Uuid::new_v4().simple());
    server
        .sql("postgres", &format!("CREATE DATABASE {name}"))
        .unwrap();
    name
}

/// The URL of a new log in a database, with more parameters.
pub(crate) fn url(server: &Server, database: &str, more: &str) -> String {
    let log = Uuid::new_v4().simple();
    format!("{}?log={log}{more}", server.url(database))
}

/// The settings for a new log in a database, with more parameters of the URL.
pub(crate) fn settings(server: &Server, database: &str, more: &str) -> Settings {
    Settings::from_url(&url(server, database, more)).unwrap()
}

/// Logs on the server, found again by their ids; in memory where there is no server, which was said.
pub(crate) struct Postgres {
    more: String,
    logs: Mutex<HashMap<Uuid, Settings>>,
    without: MemoryHarness,
}

impl Postgres {
    /// Logs whose URL has these parameters, too.
    pub(crate) fn new(more: &str) -> Postgres {
        Postgres {
            more: more.to_owned(),
            logs: Mutex::default(),
            without: MemoryHarness::default(),
        }
    }
}

impl Postgres {
    /// Logs whose content is in a folder.
    pub(crate) fn with_blobs_in(folder: &Path) -> Postgres {
        Postgres::new(&format!("&blobs={}", folder.display()))
    }
}

impl Harness for Postgres {
    fn open(&self) -> Arc<dyn Store> {
        let Some(server) = server() else {
            return self.without.open();
        };
        let settings = settings(server, DATABASE, &self.more);
        let log = PostgresLog::create(&settings).unwrap();
        self.logs.lock().unwrap().insert(log.log_id(), settings);
        Arc::new(log)
    }

    fn reopen(&self, log: Arc<dyn Store>) -> Arc<dyn Store> {
        if server().is_none() {
            return self.without.reopen(log);
        }
        block_on(log.close());
        let logs = self.logs.lock().unwrap();
        Arc::new(PostgresLog::open(&logs[&log.log_id()]).unwrap())
    }
}

/// A plain event.
pub(crate) fn event(stream: &str) -> NewEvent {
    NewEvent {
        stream: stream.parse::<StreamName>().unwrap(),
        id: Uuid::new_v4(),
        event_type: "test.happened".into(),
        schema_version: 1,
        occurred_at: chrono::Utc::now(),
        actor: Actor {
            kind: "agent".into(),
            id: "tester".into(),
            display_name: None,
            auth_context: None,
        },
        correlation: None,
        causation: None,
        structure: "{}".into(),
        content: Vec::new(),
    }
}

/// A batch of so many events for a stream.
pub(crate) fn batch(stream: &str, count: usize) -> Append {
    let batch = Uuid::new_v4();
    Append {
        batch,
        request: batch.to_string().into(),
        events: (0..count).map(|_| event(stream)).collect(),
        expectations: Vec::new(),
        blobs: Vec::new(),
    }
}

/// A batch with one event that refers to content.
pub(crate) fn bringing(blob: &Blob) -> Append {
    let mut append = batch("a-1", 1);
    let (digest, size) = (blob.digest(), blob.bytes().len() as u64);
    append.events[0].content = vec![Content::Blob {
        salt: [3; 16],
        digest,
        size,
    }];
    append.blobs = vec![blob.clone()];
    append
}

/// What removes content, and the piece of one event that refers to it.
pub(crate) fn removing(log: &dyn EventLog, position: Position, blob: &Blob) -> Redaction {
    Redaction {
        append: batch("a-1", 1),
        removed: vec![PiecesOf {
            position,
            pieces: vec![0],
        }],
        blobs: vec![blob.digest()],
        seen: log.watermark(),
    }
}

/// All records of a log.
pub(crate) fn all(log: &dyn Store) -> Vec<Record> {
    let mut records: Vec<Record> = Vec::new();
    loop {
        let last = records.last().map_or(Position::START, Record::position);
        let page = block_on(log.read(Query::all(last.next()).limit(10_000))).unwrap();
        if page.records.is_empty() {
            return records;
        }
        records.extend(page.records);
    }
}

/// The batches of a log, each with the positions of its records.
pub(crate) fn batches(log: &dyn Store) -> HashMap<Uuid, Vec<u64>> {
    let mut batches: HashMap<Uuid, Vec<u64>> = HashMap::new();
    for record in all(log) {
        let positions = batches.entry(record.batch_id()).or_default();
        positions.push(record.position().0);
    }
    batches
}
