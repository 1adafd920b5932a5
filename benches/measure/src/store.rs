//! What a store must be able to do to be measured.

use std::error::Error;

/// An event before it is appended.
#[derive(Debug, Clone)]
pub struct Event {
    /// The number of its stream; [`stream_name`] is what stores are given.
    pub stream: usize,
    /// Bytes that do not compress.
    pub payload: Vec<u8>,
}

/// The type of every event.
pub const EVENT_TYPE: &str = "order.placed";

/// The name of a stream.
pub fn stream_name(stream: usize) -> String {
    format!("stream-{stream:04}")
}

/// The state of a stream, in the store's own terms: its version, or the position of its last
/// event.
pub type Token = u64;

/// Why a store did not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// It has no such call; `stores.rs` should not ask for it.
    #[error("the store cannot {0}")]
    Cannot(&'static str),
    /// The stream is not where the caller said that it is.
    #[error("conflict: the stream is not where it was expected to be")]
    Conflict,
    /// Its own error.
    #[error(transparent)]
    Failed(Box<dyn Error + Send + Sync>),
}

impl StoreError {
    /// A store's own error.
    pub fn failed(error: impl Into<Box<dyn Error + Send + Sync>>) -> StoreError {
        StoreError::Failed(error.into())
    }
}

/// An open store.
///
/// Every append is durable when it returns: what it wrote was synced to the disk. What a store
/// cannot do, it leaves out, and [`crate::stores`] says so.
pub trait Store: Send + Sync {
    /// Appends all events as one atomic batch.
    ///
    /// # Errors
    /// The store's.
    fn append(&self, events: Vec<Event>) -> Result<(), StoreError>;

    /// Appends one event if its stream is at `last`, and answers where the stream is then.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] if it is elsewhere; the store's.
    fn append_if(&self, _event: Event, _last: Token) -> Result<Token, StoreError> {
        Err(StoreError::Cannot("append on a condition"))
    }

    /// The states of the first `streams` streams.
    ///
    /// # Errors
    /// The store's.
    fn tokens(&self, _streams: usize) -> Result<Vec<Token>, StoreError> {
        Err(StoreError::Cannot("return the state of a stream"))
    }

    /// Hands over the payload of every event, in the store's order.
    ///
    /// # Errors
    /// The store's.
    fn scan(&self, _each: &mut dyn FnMut(&[u8])) -> Result<(), StoreError> {
        Err(StoreError::Cannot("read everything"))
    }

    /// Hands over the payload of every event of one stream, in order.
    ///
    /// # Errors
    /// The store's.
    fn read_stream(&self, _stream: usize, _each: &mut dyn FnMut(&[u8])) -> Result<(), StoreError> {
        Err(StoreError::Cannot("read a stream"))
    }

    /// How many events it has.
    ///
    /// # Errors
    /// The store's.
    fn events(&self) -> Result<u64, StoreError>;

    /// Closes it, as a program does that ends in order.
    ///
    /// # Errors
    /// The store's.
    fn close(self: Box<Self>) -> Result<(), StoreError>;
}
