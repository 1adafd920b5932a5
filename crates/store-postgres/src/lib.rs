//! The store on PostgreSQL: the same log for services on many machines.
//!
//! A [`PostgresLog`] is a name in a database. Any number of processes append to it and read it at the same time,
//! and PostgreSQL's own replication and fail-over are those of the log.
//!
//! ```text
//! append ─▶ prepare ─▶ queue ─▶ one transaction: lock the head, check, insert, move the head, commit ─▶ answer
//!           (caller)            (one under way in each process)
//! read ◀── a page and the head, in one round trip
//! wait ◀── polling of the head with back-off, woken by a notification where there are some
//! ```
//!
//! Positions are given while the log's head row is locked, so that their order is that of the commits: a
//! reader that has seen a position has seen all before it. `docs/postgres.md` says what to set up and to
//! watch, and ADR 36 why it is so.

mod back_off;
mod batches;
mod blobs;
mod check;
mod commit_loop;
mod connect;
mod dial;
mod durability;
mod error;
mod failure;
mod grants;
mod group;
mod head;
mod known;
mod leading;
mod lease;
mod log;
mod lookup;
mod metrics;
mod migrate;
mod models;
mod objects;
mod opening;
mod outcome;
mod pages;
mod ports;
mod queue;
mod redaction;
mod rows;
#[cfg(feature = "s3")]
mod s3;
mod sessions;
mod settings;
mod shared;
mod signals;
mod sqlstate;
mod staging;
mod statements;
mod switchboard;
mod tail;
mod tls;
mod uploads;
mod url;

pub use durability::Durability;
pub use error::OpenError;
pub use failure::Failure;
pub use lease::Lease;
pub use log::PostgresLog;
pub use outcome::AppendFailure;
pub use settings::{Access, Settings, Tls};
