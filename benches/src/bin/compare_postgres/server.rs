//! The server that everything is measured on, and a new database for each measurement.

use std::cell::Cell;
use std::path::Path;

use annals_measure::postgres::results::ServerSetting;
use annals_testkit::postgres::{Server, ServerError, Setup};

/// What it runs with. The rest is PostgreSQL's own choice; the number of connections is not, as 32 logs and 64
/// clients have more than the usual 100.
const SETTINGS: [(&str, &str); 5] = [
    ("fsync", "on"),
    ("full_page_writes", "on"),
    ("synchronous_commit", "on"),
    ("shared_buffers", "128MB"),
    ("max_connections", "300"),
];

/// What is asked of it for the page.
const SHOWN: &str = "SELECT name, current_setting(name) FROM pg_settings WHERE name IN ('server_version', 'fsync', \
    'full_page_writes', 'synchronous_commit', 'wal_sync_method', 'shared_buffers', 'max_connections', 'max_wal_size') \
    ORDER BY name <> 'server_version', name";

/// The database that is always there.
const FIRST: &str = "postgres";

/// A running server.
pub struct MeasuredServer {
    server: Server,
    databases: Cell<u32>,
}

impl MeasuredServer {
    /// Starts it with its data in a folder.
    pub fn start(folder: &Path) -> Result<MeasuredServer, ServerError> {
        let own = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        let setup = Setup {
            settings: SETTINGS.map(own).to_vec(),
            folder: Some(folder.to_path_buf()),
            ..Setup::default()
        };
        Ok(MeasuredServer {
            server: Server::start(&setup)?,
            databases: Cell::new(0),
        })
    }

    /// What it runs with, as it says it itself.
    pub fn settings(&self) -> Result<Vec<ServerSetting>, ServerError> {
        let rows = self.server.sql(FIRST, SHOWN)?;
        let setting = |row: &str| {
            let (name, value) = row.split_once('|')?;
            Some(ServerSetting {
                name: name.to_owned(),
                value: value.to_owned(),
            })
        };
        Ok(rows.lines().filter_map(setting).collect())
    }

    /// Makes a database, which is gone when it is dropped.
    pub fn database(&self) -> Result<Database<'_>, ServerError> {
        let number = self.databases.get() + 1;
        self.databases.set(number);
        let name = format!("measured_{number}");
        self.server.sql(FIRST, &format!("CREATE DATABASE {name}"))?;
        Ok(Database {
            server: &self.server,
            name,
        })
    }

    /// Writes out what earlier measurements have left to be written.
    pub fn checkpoint(&self) -> Result<(), ServerError> {
        self.server.sql(FIRST, "CHECKPOINT").map(drop)
    }
}

/// A database.
pub struct Database<'a> {
    server: &'a Server,
    name: String,
}

impl Database<'_> {
    /// Its URL, with the password.
    pub fn url(&self) -> String {
        self.server.url(&self.name)
    }
}

impl Drop for Database<'_> {
    fn drop(&mut self) {
        let remove = format!("DROP DATABASE {} WITH (FORCE)", self.name);
        // At the latest it goes with the server.
        let _ = self.server.sql(FIRST, &remove);
    }
}
