//! Tests for services on Annals.
//!
//! For three kinds of users: services that embed Annals and decide with its objects,
//! services that write projections of their own on its log, and stores behind its
//! ports. Add it under `[dev-dependencies]`. It has no RocksDB in it, so it compiles
//! quickly; what it offers works with any [`EventLog`](annals_event_log::EventLog).
//!
//! | Module | What it is for |
//! | --- | --- |
//! | [`mod@given`] | given events, when a command, then events: deciders, Annals' and your own |
//! | [`generators`] | random histories, valid and invalid: of Annals' objects, and of bytes |
//! | [`projections`] | a projection that is killed at each call and must come to the same rows |
//! | [`invariants`] | what holds of every log: run it after anything that may have harmed one |
//! | [`conformance`] | the suite that every store must pass, one `#[test]` a case |
//! | [`model`] | a reference model of a log, and a store held against it by random steps |
//! | [`linearizability`] | whether answers to many threads are explained by one order of events |
//! | [`fault_fs`] | a file system that loses what was not synced, tears writes and fails |
//! | [`through`] | a log whose answers are changed on their way, to try what notices |
//!
//! All of it blocks the calling thread and is bound to no async runtime; inside of one,
//! call it from a blocking task. What is random says its seed. `PROPTEST_CASES` and
//! `PROPTEST_RNG_SEED` make runs longer, or repeat one.
//!
//! # A projection of one's own
//!
//! A service counts how often each kind of thing happened. Its projection reads on from
//! its checkpoint and commits rows and checkpoint together. Over generated histories,
//! killed at every call and resumed, it must come to the same counts:
//!
//! ```
//! use std::collections::BTreeMap;
//!
//! use annals_event_log::{CommitError, EventLog, Query};
//! use annals_testkit::generators::objects;
//! use annals_testkit::projections::check_resumable;
//! use futures::executor::block_on;
//! use proptest::test_runner::{Config, TestRunner};
//!
//! const MODEL: &str = "event_counts";
//!
//! /// The projection under test: one row a type of event, a page at a time.
//! fn catch_up(log: &dyn EventLog) -> Result<(), CommitError> {
//!     block_on(async {
//!         loop {
//!             let checkpoint = log.checkpoint(MODEL).await?;
//!             let page = log.read(Query::all(checkpoint.position.next()).limit(10)).await?;
//!             let Some(last) = page.records.last() else {
//!                 return Ok(());
//!             };
//!             let mut counts: BTreeMap<String, u64> = BTreeMap::new();
//!             for record in &page.records {
//!                 *counts.entry(record.event_type().to_owned()).or_default() += 1;
//!             }
//!             let mut rows = Vec::new();
//!             for (event_type, count) in counts {
//!                 let before = log.get(MODEL, event_type.as_bytes()).await?;
//!                 let before = before.map_or(0, |row| String::from_utf8_lossy(&row).parse().unwrap_or(0));
//!                 let now: u64 = before + count;
//!                 rows.push((event_type.into(), Some(now.to_string().into())));
//!             }
//!             // Rows and checkpoint in one write: each event counts exactly once.
//!             log.commit(MODEL, checkpoint, rows, last.position()).await?;
//!         }
//!     })
//! }
//!
//! let mut runner = TestRunner::new(Config { cases: 3, failure_persistence: None, ..Config::default() });
//! runner.run(&objects::history(20..40), |history| {
//!     let resumed = check_resumable(MODEL, &history.appends(), catch_up);
//!     assert!(resumed.is_ok(), "{resumed:?}");
//!     Ok(())
//! })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A projection that commits its rows first and its checkpoint afterwards, or counts in
//! a variable that a new process does not have, fails here, and the call at which it was
//! killed is named.
//!
//! # What it does not show
//!
//! Nothing in one process sees what a power cut does: pages that were not synced stay
//! in the operating system's memory when a process is killed. [`fault_fs`] drops them.

pub mod conformance;
mod diff;
pub mod fault_fs;
pub mod generators;
pub mod given;
pub mod invariants;
pub mod linearizability;
pub mod model;
pub mod projections;
mod rfc6962;
pub mod through;

#[doc(no_inline)]
pub use annals_event_log::conformance_suite;
