//! Events to bytes and back: bincode, schema versions and upcasters.
//!
//! The domain's events are plain structs and the log's records are bytes. This
//! crate is the only one that knows how the two belong together:
//!
//! - [`encode`] makes a [`annals_event_log::NewEvent`] of what a decider
//!   emitted, [`decode`] reads a [`annals_event_log::Record`] back.
//! - [`encode_structure`] and [`decode_structure`] do the same for the
//!   structure alone. It is bincode behind a format byte; one module knows it.
//! - [`encode_row`] and [`decode_row`] do it for the rows of read models, in
//!   the same format.
//! - [`upcast`] turns the shapes of older versions into today's.
//! - [`sample`] has one full example of every event, [`event_docs`] reads from the events'
//!   schemas what every field means, and [`events_markdown`] writes `docs/events.md` from both.
//!
//! Of the content a fold sees the names alone, texts that rules compare: [`decode`] puts them
//! into the event, and a stand-in where they were removed. All else decodes the same whether the
//! pieces next to the structure are there or removed.

mod bincode_format;
mod envelope;
mod error;
pub mod event_docs;
mod names;
mod record;
mod row;
mod salt;
pub mod sample;
mod sorted;
mod structure;
pub mod upcast;
mod value;

pub use bincode_format::FormatError;
pub use envelope::{Encoded, Envelope, encode};
pub use error::{DecodeError, EncodeError};
pub use event_docs::markdown::events_markdown;
pub use record::{Decoded, decode, decode_event_of, names_of, stream_name};
pub use row::{decode_row, encode_row, encode_row_into};
pub use salt::random_salt;
pub use sorted::sorted;
pub use structure::{
    StructureJson, decode_event, decode_structure, encode_event, encode_structure,
};
