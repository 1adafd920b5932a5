//! The parts of other crates that threads share, tested under schedules that a
//! scheduler chooses.
//!
//! Nothing is copied: the modules below are the files of the other crates, compiled
//! a second time. They take what threads share (locks, atomics, threads, bells) from
//! their crate's `sync` module, which names the standard library's there and
//! [shuttle](https://docs.rs/shuttle)'s here. So their own crates need no feature,
//! pay nothing, and RocksDB is not linked. What else the writer's file uses of its
//! crate is in `stand_ins.rs`.
//!
//! A *model* is a function that starts some threads and says what must hold. It is run
//! under many schedules by [`schedules::explore`]; `tests/all.rs` has a test for each.
//!
//! What this does not show: shuttle treats each atomic operation as sequentially
//! consistent, so an ordering that is too weak is not found; the futures' channels and
//! mutexes and event-listener's bell are taken as correct, each of their operations as
//! one step; RocksDB, the readers' thread pool and the follower of another process's log
//! are not part of it.
// `cargo test NAME` builds a library for its unit tests even where it says `test = false`:
// then this crate is empty.
#![cfg(not(test))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout
)]

// `use rocksdb::WriteBatch` in the writer's file finds the stand-in.
extern crate self as rocksdb;

mod bulk;
pub mod models;
pub mod schedules;
mod stand_ins;
mod sync;

#[path = "../../annals/src/follow.rs"]
mod follow;
#[allow(dead_code, reason = "the models need less of it than its crate")]
#[path = "../../annals/src/keyed_locks.rs"]
mod keyed_locks;
#[path = "../../store-rocks/src/latch.rs"]
mod latch;
#[allow(dead_code, reason = "the models need less of it than its crate")]
#[path = "../../event-log/src/memory/mod.rs"]
mod memory;
#[path = "../../store-shared/src/owner_search.rs"]
mod owner_search;
#[path = "../../store-rocks/src/queue.rs"]
mod queue;
#[path = "../../store-rocks/src/slot.rs"]
mod slot;
#[path = "../../event-log/src/watermark.rs"]
mod watermark;
#[allow(dead_code, reason = "the models need less of it than its crate")]
#[path = "../../store-rocks/src/writer.rs"]
mod writer;

// What the files of annals-event-log find in their own crate.
#[allow(unused_imports)]
pub(crate) use annals_event_log::*;
pub(crate) use stand_ins::{WriteBatch, db, error, mutants, staging, tree, watermark_file};
pub(crate) use watermark::Watermark;
