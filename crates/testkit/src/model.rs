//! A reference model of a log, and a driver that holds a store against it.
//!
//! [`ModelLog`] is a list and a few maps. It was written from the documentation of
//! the ports ([`EventLog`](annals_event_log::EventLog),
//! [`Blobs`](annals_event_log::Blobs), [`ReadModels`](annals_event_log::ReadModels))
//! and of the record's bytes, not from the code of a store, and it shares no code
//! with one but the hash function: it has an encoder and a Merkle tree of its own.
//! Where the documentation leaves open which of several reasons a refusal names, its
//! [`Verdict`] allows each of them.
//!
//! [`check_against_model`] takes [`Step`]s with a store and with the model and names
//! the first [`Difference`]. [`check_random`] makes the steps, says the seed, and
//! shrinks what fails to the few steps that matter:
//!
//! ```
//! use annals_testkit::conformance::MemoryHarness;
//! use annals_testkit::model;
//!
//! // A harness opens a new, empty log, and opens a log again.
//! model::check_random(&MemoryHarness::default(), 5, 30);
//! ```
//!
//! The conformance suite ([`crate::conformance`]) has the cases that were written by
//! hand; run both over a store of your own. Neither says anything about power cuts.
//!
//! After each step the model is asked what is right to answer, and the watermark and
//! the counts are compared; after the last one everything else: the bytes of every
//! record, all pages in both directions, streams, batches, blobs, the tree and its
//! root, rows and checkpoints, and the [`invariants`](crate::invariants).

mod compare;
mod concrete;
mod drive;
mod form;
mod log;
mod record;
mod rows;
mod verdict;

pub use drive::{Difference, check_against_model, check_random};
pub use log::ModelLog;
pub use record::ModelRecord;
pub use verdict::{Reason, Verdict};

pub use crate::generators::steps::Step;
