//! The conformance suite: what every store must do, as tests for a store of your own.
//!
//! A store implements the ports of [`annals_event_log`]. Its tests implement
//! [`Harness`], the factory that opens a new log and opens a log again, and call
//! [`conformance_suite!`](crate::conformance_suite) in a module of their own. The
//! macro makes one `#[test]` of each case:
//!
//! ```
//! use std::sync::Arc;
//!
//! use annals_event_log::Store;
//! use annals_testkit::conformance::{self, Harness, MemoryHarness};
//!
//! /// A store of one's own; here it borrows the one in memory.
//! #[derive(Default)]
//! struct MyStore(MemoryHarness);
//!
//! impl Harness for MyStore {
//!     // A new, empty log with every call.
//!     fn open(&self) -> Arc<dyn Store> {
//!         self.0.open()
//!     }
//!
//!     // The same log, as another process would find it: close it, open it again.
//!     fn reopen(&self, log: Arc<dyn Store>) -> Arc<dyn Store> {
//!         self.0.reopen(log)
//!     }
//! }
//!
//! // In an integration test, such as tests/conformance.rs:
//! mod my_store {
//!     use super::MyStore;
//!
//!     annals_testkit::conformance_suite!(MyStore::default());
//! }
//! # fn main() {
//!
//! // A case is a function, and can be called by itself:
//! conformance::append::dense_under_16_writers(&MyStore::default());
//! # }
//! ```
//!
//! | Cases | What they show |
//! | --- | --- |
//! | [`append`] | events are read back as given; a batch is all or nothing over several streams, dense under 16 writers; nothing malformed is taken; times never decrease |
//! | [`expectations`] | every expectation and every guard against every state; the state before the batch counts |
//! | [`idempotency`] | a repeat gets the first answer, another request is refused, also after reopening and from 16 threads at once |
//! | [`reads`] | every page of every source, both ways, bounded in records and bytes; streams by prefix; heads and counts |
//! | [`tail`] | nothing above the watermark, nothing partial, each record once in a live tail; waiting ends |
//! | [`cancellation`] | futures that are never polled, or dropped midway, harm nothing |
//! | [`content`] | every size is read back, every limit can be reached, nothing beyond it is stored |
//! | [`names`] | every allowed character; names that resemble each other stay apart |
//! | [`blobs`] | stored once, of any size, never without what refers to them, never missing |
//! | [`read_models`] | rows and checkpoint move together; the faster writer wins; scans in order |
//! | [`copy`] | a copied log is identical to the byte; what does not fit is refused |
//! | [`tree`] | the Merkle tree is that of the headers, also after reopening and copying |
//! | [`redaction`] | content goes for good, with what was derived from it; headers and proofs stay |
//! | [`lifecycle`] | reopening gives the same log; a closed one does nothing, and waiting on it ends |
//!
//! What it does not show: that anything survives a power cut, which no test inside one
//! process can, and that the answers to many threads fit together, which
//! [`crate::linearizability`] checks. [`crate::model`] drives a store with random steps
//! beyond these cases.

pub use annals_event_log::conformance::{
    Harness, MemoryHarness, append, blobs, cancellation, content, copy, expectations, idempotency,
    lifecycle, names, read_models, reads, redaction, tail, tree,
};
