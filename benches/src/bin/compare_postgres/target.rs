//! What a store must be able to do to be measured, and the stores by their names.

use std::path::Path;

use annals_measure::program;
use annals_measure::store::StoreError;

use crate::logs::Logs;
use crate::marten::Marten;
use crate::message_db::MessageDb;

/// A client of one log, with a connection of its own where its store has connections.
pub trait Client: Send {
    /// Appends all payloads as one atomic batch to a stream. It is durable when this returns.
    fn append(&mut self, stream: usize, payloads: Vec<String>) -> Result<(), StoreError>;
}

/// An empty store with some logs.
pub trait Target {
    /// Another client of one of its logs.
    fn client(&self, log: usize) -> Result<Box<dyn Client>, StoreError>;

    /// How many events all logs have.
    fn events(&self) -> Result<u64, StoreError>;

    /// Closes it, as a program does that ends in order.
    fn close(self: Box<Self>) -> Result<(), StoreError>;
}

/// Where a store is made.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// An empty database.
    pub url: &'a str,
    /// An empty folder.
    pub folder: &'a Path,
    /// Logs that it is to have.
    pub logs: usize,
}

/// Makes a store.
pub fn make(store: &str, place: Place<'_>) -> Result<Box<dyn Target>, StoreError> {
    Ok(match store {
        "annals" => Box::new(Logs::on_postgres(place, false)?),
        "annals-notify" => Box::new(Logs::on_postgres(place, true)?),
        "annals-rocks" => Box::new(Logs::on_rocks(place)?),
        "message-db" => Box::new(MessageDb::make(place)?),
        "marten" => Box::new(Marten::make(place)?),
        _ => return program::unknown(store),
    })
}
