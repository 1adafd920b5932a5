//! SQLite: a table of events and a unique index of stream and version, in WAL mode with
//! `synchronous=FULL`.

use std::path::Path;
use std::sync::Mutex;

use annals_measure::store::{EVENT_TYPE, Event, Store, StoreError, Token, stream_name};
use rusqlite::{Connection, TransactionBehavior, params};

use super::locked;

const SCHEMA: &str = "CREATE TABLE IF NOT EXISTS events (
    position INTEGER PRIMARY KEY,
    stream TEXT NOT NULL,
    version INTEGER NOT NULL,
    type TEXT NOT NULL,
    payload BLOB NOT NULL,
    UNIQUE (stream, version))";

/// Behind the last event of the stream.
const APPEND: &str = "INSERT INTO events (stream, version, type, payload)
    VALUES (?1, 1 + (SELECT COALESCE(MAX(version), 0) FROM events WHERE stream = ?1), ?2, ?3)";

/// Behind version `?4`, or nowhere.
const APPEND_IF: &str = "INSERT INTO events (stream, version, type, payload)
    SELECT ?1, ?4 + 1, ?2, ?3
    WHERE (SELECT COALESCE(MAX(version), 0) FROM events WHERE stream = ?1) = ?4";

pub struct Sqlite {
    writer: Mutex<Connection>,
    reader: Mutex<Connection>,
}

pub fn open(folder: &Path) -> Result<Sqlite, StoreError> {
    let path = folder.join("events.db");
    let writer = connect(&path).map_err(StoreError::failed)?;
    writer.execute_batch(SCHEMA).map_err(StoreError::failed)?;
    let reader = connect(&path).map_err(StoreError::failed)?;
    Ok(Sqlite {
        writer: Mutex::new(writer),
        reader: Mutex::new(reader),
    })
}

/// With the settings that the page names; a connection that did not take them is an error.
fn connect(path: &Path) -> Result<Connection, Box<dyn std::error::Error + Send + Sync>> {
    let connection = Connection::open(path)?;
    let mode: String = connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
    connection.execute_batch("PRAGMA synchronous = FULL")?;
    let level: i64 = connection.query_row("PRAGMA synchronous", [], |row| row.get(0))?;
    if mode != "wal" || level != 2 {
        return Err(format!("expected WAL and FULL, found {mode} and {level}").into());
    }
    Ok(connection)
}

fn insert(connection: &Connection, events: &[Event]) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(APPEND)?;
    for event in events {
        statement.execute(params![
            stream_name(event.stream),
            EVENT_TYPE,
            event.payload
        ])?;
    }
    Ok(())
}

impl Sqlite {
    fn read(
        &self,
        query: &str,
        parameters: impl rusqlite::Params,
        each: &mut dyn FnMut(&[u8]),
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        let connection = locked(&self.reader);
        let mut statement = connection.prepare_cached(query)?;
        let mut rows = statement.query(parameters)?;
        while let Some(row) = rows.next()? {
            // As much as the other stores hand over.
            let _position: i64 = row.get(0)?;
            let _stream = row.get_ref(1)?.as_str()?;
            let _type = row.get_ref(2)?.as_str()?;
            each(row.get_ref(3)?.as_blob()?);
        }
        Ok(())
    }
}

impl Store for Sqlite {
    fn append(&self, events: Vec<Event>) -> Result<(), StoreError> {
        let mut connection = locked(&self.writer);
        if let [_] = events.as_slice() {
            return insert(&connection, &events).map_err(StoreError::failed);
        }
        let behavior = TransactionBehavior::Immediate;
        let transaction = connection.transaction_with_behavior(behavior);
        let transaction = transaction.map_err(StoreError::failed)?;
        insert(&transaction, &events).map_err(StoreError::failed)?;
        transaction.commit().map_err(StoreError::failed)
    }

    fn append_if(&self, event: Event, last: Token) -> Result<Token, StoreError> {
        let connection = locked(&self.writer);
        let mut statement = connection
            .prepare_cached(APPEND_IF)
            .map_err(StoreError::failed)?;
        let version = i64::try_from(last).map_err(StoreError::failed)?;
        let name = stream_name(event.stream);
        let rows = statement.execute(params![name, EVENT_TYPE, event.payload, version]);
        match rows.map_err(StoreError::failed)? {
            1 => Ok(last + 1),
            _ => Err(StoreError::Conflict),
        }
    }

    fn tokens(&self, streams: usize) -> Result<Vec<Token>, StoreError> {
        let query = "SELECT COALESCE(MAX(version), 0) FROM events WHERE stream = ?1";
        let connection = locked(&self.reader);
        let mut statement = connection
            .prepare_cached(query)
            .map_err(StoreError::failed)?;
        let mut token = |stream| {
            let version = statement.query_row([stream_name(stream)], |row| row.get::<_, i64>(0));
            let version = version.map_err(StoreError::failed)?;
            Token::try_from(version).map_err(StoreError::failed)
        };
        (0..streams).map(&mut token).collect()
    }

    fn scan(&self, each: &mut dyn FnMut(&[u8])) -> Result<(), StoreError> {
        let query = "SELECT position, stream, type, payload FROM events ORDER BY position";
        self.read(query, [], each).map_err(StoreError::Failed)
    }

    fn read_stream(&self, stream: usize, each: &mut dyn FnMut(&[u8])) -> Result<(), StoreError> {
        let query = "SELECT position, stream, type, payload FROM events
            WHERE stream = ?1 ORDER BY version";
        self.read(query, [stream_name(stream)], each)
            .map_err(StoreError::Failed)
    }

    fn events(&self) -> Result<u64, StoreError> {
        let query = "SELECT COALESCE(MAX(position), 0) FROM events";
        let connection = locked(&self.reader);
        let last = connection.query_row(query, [], |row| row.get::<_, i64>(0));
        u64::try_from(last.map_err(StoreError::failed)?).map_err(StoreError::failed)
    }

    fn close(self: Box<Self>) -> Result<(), StoreError> {
        for connection in [self.reader, self.writer] {
            let connection = connection.into_inner().map_err(|_| StoreError::Conflict)?;
            connection
                .close()
                .map_err(|(_, error)| StoreError::failed(error))?;
        }
        Ok(())
    }
}
