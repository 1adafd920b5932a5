//! The ports of the log, and everything that every store shares.
//!
//! A *log* is a dense sequence of immutable records. This crate says what a
//! record is, byte for byte ([`Record`]), what a [`Store`] must do
//! ([`EventLog`], [`Blobs`], [`ReadModels`]), and proves it: the
//! [`conformance`] suite runs over every store, beginning with the strictest
//! one, [`memory::MemoryLog`].
//!
//! ```
//! use annals_event_log::memory::MemoryLog;
//! use annals_event_log::{
//!     Actor, Append, BatchId, EventLog, Expectation, Expected, NewEvent, Position, Query, StreamName,
//! };
//! use uuid::Uuid;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # futures::executor::block_on(async {
//! let log = MemoryLog::new(Uuid::now_v7());
//! let stream = StreamName::new("account", "1")?;
//! let opened = NewEvent {
//!     stream: stream.clone(),
//!     id: Uuid::now_v7(),
//!     event_type: "account.opened".into(),
//!     schema_version: 1,
//!     occurred_at: chrono::Utc::now(),
//!     actor: Actor { kind: "human".into(), id: "ada".into(), display_name: None, auth_context: None },
//!     correlation: None,
//!     causation: None,
//!     structure: "{}".into(),
//!     content: Vec::new(),
//! };
//! let append = Append {
//!     batch: Uuid::now_v7(),
//!     request: "open account 1".into(),
//!     events: vec![opened],
//!     expectations: vec![Expectation { stream, expected: Expected::NoStream }],
//!     blobs: Vec::new(),
//! };
//! let appended = log.append(append.clone()).await?;
//! // The same batch again is not appended again, and gets the first answer.
//! assert_eq!(log.append(append).await?, appended.again());
//!
//! let page = log.read(Query::all(Position(1))).await?;
//! assert_eq!(page.records[0].event_type(), "account.opened");
//! # Ok(())
//! # })
//! # }
//! ```
//!
//! The crate knows nothing of what the events mean. Payloads are bytes here;
//! `annals-wire` gives them their shape and `annals-domain` their meaning.

mod append;
mod blob;
mod classified;
mod clock;
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
mod removals;
pub mod store_support;
mod sync;
pub mod tree;
mod watermark;

pub use append::{Append, Appended, BatchStatus, EncodedEvent, Prepared};
pub use blob::{Blob, Blobs};
pub use classified::{Classification, Classified, ErrorClass};
pub use clock::{check_clock, new_id, now};
pub use error::{AppendError, CommitError, ReadError};
pub use event::{Actor, Expectation, Expected, Link, NewEvent, limits};
pub use id_secret::IdSecret;
pub use ids::{
    BatchId, Digest, Epoch, EventId, InvalidDigest, InvalidStreamName, Position, StreamName,
    Version,
};
pub use log::{Direction, EventLog, Page, Query, Source, Stats, Store, StreamHead, record_at};
pub use piece::{BlobReference, Content, Salt};
pub use read_models::{ModelCheckpoint, ReadModels, Row, Rows, SUBSCRIPTIONS};
pub use record::{
    Altered, Header, MalformedRecord, PieceRef, Record, RecordDigests, encode_timestamp,
};
pub use redaction::{PiecesOf, RedactError, Redaction};
pub use removals::{NamedRemovals, UnnamedRemovals, removed_pieces};
pub use watermark::Watermark;
