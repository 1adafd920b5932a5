//! A connection for a thread that waits for each answer. What drives it is on the same thread, so that nobody else
//! must be woken in between.

use annals_measure::store::StoreError;
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::types::ToSql;
use tokio_postgres::{NoTls, Statement};

/// An open connection.
pub struct Connection {
    client: tokio_postgres::Client,
    runtime: Runtime,
}

impl Connection {
    /// Opens one.
    pub fn open(url: &str) -> Result<Connection, StoreError> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(StoreError::failed)?;
        let connected = runtime.block_on(tokio_postgres::connect(url, NoTls));
        let (client, driver) = connected.map_err(failed)?;
        runtime.spawn(async move {
            // What ends it is the error of the client's next call, too.
            let _ = driver.await;
        });
        Ok(Connection { client, runtime })
    }

    /// Runs statements.
    pub fn run(&self, statements: &str) -> Result<(), StoreError> {
        let ran = self.runtime.block_on(self.client.batch_execute(statements));
        ran.map_err(failed)
    }

    /// Prepares a statement.
    pub fn prepare(&self, text: &str) -> Result<Statement, StoreError> {
        let prepared = self.runtime.block_on(self.client.prepare(text));
        prepared.map_err(failed)
    }

    /// Runs a prepared statement in a transaction of its own. What it answers is read, and dropped.
    pub fn execute(
        &self,
        statement: &Statement,
        parameters: &[&(dyn ToSql + Sync)],
    ) -> Result<(), StoreError> {
        let executed = self.client.execute(statement, parameters);
        self.runtime.block_on(executed).map(drop).map_err(failed)
    }

    /// The number that a statement answers.
    pub fn number(&self, text: &str) -> Result<u64, StoreError> {
        let row = self.runtime.block_on(self.client.query_one(text, &[]));
        let number: i64 = row.map_err(failed)?.try_get(0).map_err(failed)?;
        u64::try_from(number).map_err(StoreError::failed)
    }
}

/// The library's own words leave out what the server said.
fn failed(error: tokio_postgres::Error) -> StoreError {
    match error.as_db_error() {
        Some(said) => StoreError::failed(said.to_string()),
        None => StoreError::failed(error),
    }
}
