//! Tests for services on Annals.
//!
//! For three kinds of users: services that embed Annals and decide with its objects
//! ([`mod@given`] begins there), services that write [projections](#a-projection-of-your-own)
//! of their own on its log, and [stores](#a-store-of-your-own) behind its ports. What it
//! offers works with any [`Store`](annals_event_log::Store); it has no RocksDB in it,
//! so it compiles quickly.
//!
//! ```toml
//! [dev-dependencies]
//! annals-testkit = { path = "annals/crates/testkit" }
//! futures = "0.3"  # for `block_on`; any other executor will do
//! proptest = "1"   # for random histories
//! ```
//!
//! | Module | What it is for |
//! | --- | --- |
//! | [`mod@given`] | given events, when a command, then events: deciders, Annals' and your own |
//! | [`generators`] | random histories, valid and invalid: of Annals' objects, and of bytes |
//! | [`projections`] | a projection that is killed, or loses content, at each call and must come to the right rows |
//! | [`invariants`] | what holds of every log: run it after anything that may have harmed one |
//! | [`conformance`] | the suite that every store must pass, one `#[test]` a case |
//! | [`model`] | a reference model of a log, and a store held against it by random steps |
//! | [`linearizability`] | whether answers to many threads are explained by one order of events |
//! | [`fault_fs`] | a file system that loses what was not synced, tears writes and fails (Linux with FUSE) |
//! | [`postgres`] | PostgreSQL servers of one's own, alone or as a cluster, gone with the tests' process |
//! | [`process`] | the memory of a process that a test starts, and bounds on time that a busy machine does not break |
//! | [`through`] | a log whose answers are changed on their way, to try what notices |
//!
//! All of it blocks the calling thread and is bound to no async runtime; inside of one,
//! call it from a blocking task. What is random says its seed. `PROPTEST_CASES` and
//! `PROPTEST_RNG_SEED` make runs longer, or repeat one.
//!
//! # A projection of your own
//!
//! A projection folds the log's events into rows, its *read model*, and keeps them current.
//! The *checkpoint* says up to which event they are. This one counts how often each kind of
//! thing happened. It reads on from its checkpoint, a page at a time, and commits rows and
//! checkpoint together.
//!
//! [`check_resumable`](projections::check_resumable) takes the name of the read model, a
//! history, and the function that catches up: from the checkpoint to the end of the log, as
//! a process does that has just started. It kills the function at every call, runs it again,
//! and demands the counts that it comes to undisturbed:
//!
//! ```
//! use std::collections::BTreeMap;
//!
//! use annals_event_log::{CommitError, Query, Store};
//! use annals_testkit::generators::objects;
//! use annals_testkit::projections::check_resumable;
//! use futures::executor::block_on;
//! use proptest::test_runner::{Config, TestRunner};
//!
//! const MODEL: &str = "event_counts";
//!
//! /// The projection under test: one row a type of event, a page at a time.
//! fn catch_up(log: &dyn Store) -> Result<(), CommitError> {
//!     block_on(async {
//!         loop {
//!             // Before the events, and only once: see "Content that is removed".
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
//!             match log.commit(MODEL, checkpoint, rows, last.position()).await {
//!                 // Content was removed meanwhile: begin again, with nothing of this.
//!                 Err(CommitError::Epoch { .. }) => continue,
//!                 committed => committed?,
//!             }
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
//! The history here is one of Annals' own objects. It may be any list of
//! [`Append`](annals_event_log::Append)s that an empty log takes, in their order: for events
//! of your own, make them as your service does.
//!
//! A projection that commits its rows first and its checkpoint afterwards, or counts in
//! a variable that a new process does not have, fails here, and the call at which it was
//! killed is named. What the function must do itself is said in [`projections`]: above all,
//! return where the log says that it is closed.
//!
//! ## Content that is removed
//!
//! Content can be removed from a log for good
//! ([`EventLog::redact`](annals_event_log::EventLog::redact)). In the same write the log
//! drops every read model and moves its [`Epoch`](annals_event_log::Epoch), which each
//! checkpoint carries. The rest is the projection's duty. It reads the checkpoint *before*
//! the events and hands it to `commit` as it got it. Where the commit is refused with
//! [`CommitError::Epoch`](annals_event_log::CommitError::Epoch), it throws away all that it
//! has read and folded, reads the checkpoint, which is at the start now, and rebuilds from
//! it. One that asks for the checkpoint again right before it commits, or folds pages that
//! it has kept, writes what was removed into its rows again, where no redaction looks for
//! it. `check_resumable` finds both: before each call it removes the content that was read,
//! and demands the rows of the log as it is then. `redactions` of its answer says how often
//! there was some; where it is 0, the history has no content and this was not tried.
//!
//! # A store of your own
//!
//! A store implements the three traits of [`Store`](annals_event_log::Store), whose
//! documentation is the contract. Its tests implement
//! [`Harness`](conformance::Harness), which opens a new log and opens a log again; the rest
//! is here. Begin with the conformance suite, whose cases each show one rule, and go on when
//! it passes:
//!
//! ```
//! use std::sync::Arc;
//!
//! use annals_event_log::Store;
//! use annals_testkit::conformance::{Harness, MemoryHarness};
//! use annals_testkit::linearizability::{Recorder, check, exercise};
//! use annals_testkit::{invariants, model};
//!
//! /// How tests open the store; the one in memory stands for yours here.
//! #[derive(Default)]
//! struct MyStore(MemoryHarness);
//!
//! impl Harness for MyStore {
//!     fn open(&self) -> Arc<dyn Store> {
//!         self.0.open()
//!     }
//!
//!     fn reopen(&self, log: Arc<dyn Store>) -> Arc<dyn Store> {
//!         self.0.reopen(log)
//!     }
//! }
//!
//! // 1. The cases that were written by hand, one `#[test]` each.
//! mod conformance {
//!     annals_testkit::conformance_suite!(super::MyStore::default());
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // 2. Random steps, 5 times up to 30 of them, each compared with the reference model.
//! model::check_random(&MyStore::default(), 5, 30);
//!
//! // 3. Four threads at once: is there one order that explains all answers?
//! let log = MyStore::default().open();
//! let recorder = Recorder::new();
//! let handles = (0..4).map(|_| recorder.handle(Arc::clone(&log)));
//! exercise(handles.collect(), 7, 50);
//! check(&recorder.finish(&*log)?)?;
//!
//! // 4. After that, and after each fault, kill, restart and restore: is the log whole?
//! invariants::check_all(&*log)?;
//! # Ok(())
//! # }
//! ```
//!
//! A store on disk has one more to pass: [`fault_fs`] cuts the power at each operation,
//! fails writes and syncs, and fills the disk. The front page of that module has a test to
//! begin with. After each cut, `check_all` says whether the log is whole, and
//! [`acknowledged`](invariants::acknowledged) whether what was answered is in it.
//!
//! # What it does not show
//!
//! Nothing in one process sees what a power cut does: pages that were not synced stay
//! in the operating system's memory when a process is killed. [`fault_fs`] drops them.
//!
//! A store is trusted to complete its calls: one that does not hangs its test. One whose
//! pages or lists have no end is named by [`invariants`], [`model`] and [`linearizability`].

pub mod conformance;
mod diff;
pub mod fault_fs;
pub mod generators;
pub mod given;
pub mod invariants;
pub mod linearizability;
pub mod model;
pub mod postgres;
pub mod process;
pub mod projections;
mod rfc6962;
pub mod through;

#[doc(no_inline)]
pub use annals_event_log::conformance_suite;
