//! The ports of the log, and everything that every store shares.
//!
//! A *log* is a dense sequence of immutable records. This crate says what a
//! record is, byte for byte ([`Record`]), what a [`Store`] must do
//! ([`EventLog`], [`Blobs`], [`ReadModels`]), and proves it: the
//! [`conformance`] suite runs over every store, beginning with the strictest
//! one, [`memory::MemoryLog`].
//!
//! The crate knows nothing of what the events mean. Payloads are bytes here;
//! `annals-wire` gives them their shape and `annals-domain` their meaning.

mod append;
mod blob;
mod classified;
pub mod conformance;
mod error;
mod event;
mod id_secret;
mod ids;
mod log;
pub mod memory;
mod piece;
mod read_models;
mod record;
mod redaction;
pub mod store_support;
mod sync;
pub mod tree;
mod watermark;

pub use append::{Append, Appended, BatchStatus, EncodedEvent, Prepared};
pub use blob::{Blob, Blobs};
pub use classified::{Classification, Classified, ErrorClass};
pub use error::{AppendError, CommitError, ReadError};
pub use event::{Actor, Expectation, Expected, Link, NewEvent, limits};
pub use id_secret::IdSecret;
pub use ids::{
    BatchId, Digest, Epoch, EventId, InvalidDigest, InvalidStreamName, Position, StreamName,
    Version,
};
pub use log::{Direction, EventLog, Page, Query, Source, Stats, Store, StreamHead, record_at};
pub use piece::{BlobReference, Content, Salt};
pub use read_models::{ModelCheckpoint, ReadModels, Row, Rows};
pub use record::{
    Altered, Header, MalformedRecord, PieceRef, Record, RecordDigests, encode_timestamp,
};
pub use redaction::{PiecesOf, RedactError, Redaction};
pub use watermark::Watermark;
