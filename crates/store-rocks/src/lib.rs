//! The embedded store: the three ports on one RocksDB.
//!
//! A [`RocksLog`] is a directory. One process writes to it and any number read
//! at the same time. An append is answered once it is on the disk; all appends that
//! wait at the same time are synced together, so the cost of a sync is shared
//! by those callers.
//!
//! ```text
//! append ─▶ prepare ─▶ queue ─▶ writer: stage ─▶ one synced write ─▶ publish ─▶ answer
//!           (caller)            (one thread)                         │
//! read ◀── pool of readers ◀── chunks, indexes ◀─────────── watermark┘
//! ```
//!
//! What a writer's memory has (the newest records, that a batch or a stream is new) is answered where it is asked.
//!
//! `docs/storage-format.md` describes the files, byte for byte.

mod aside;
mod backup;
mod blob_files;
mod blobs;
mod checks;
mod chunk;
mod collect;
mod columns;
mod continuity;
mod creation;
mod db;
mod derived;
mod directories;
mod durability;
mod endless;
mod error;
mod examine;
#[cfg(test)]
mod fail_stop_tests;
#[cfg(test)]
mod fixtures;
mod folder;
#[doc(hidden)]
pub mod fuzzing;
mod heads;
mod identity;
mod index;
mod ingest;
mod keys;
mod latch;
mod log;
mod lookup;
mod models;
mod mutants;
mod open;
mod open_chunk;
mod open_files;
mod open_reader;
mod open_secondary;
mod open_still;
mod options;
mod pace;
mod page;
mod purge;
mod queue;
mod read;
mod rebuild;
mod redaction;
mod rows;
mod scan;
mod secondary;
mod secret;
mod settle;
mod slot;
mod small_tables;
mod staging;
#[cfg(test)]
mod steps_tests;
mod streams;
mod sync;
mod tree;
mod truncate;
mod verify;
mod wal;
mod watermark_file;
mod writer;

pub use aside::{PutBackError, PutBackReport};
pub use backup::{BackupReport, WORK as BACKUP_WORK};
pub use blobs::StoredBlob;
pub use collect::{CollectError, Orphans};
pub use error::{BackupError, OpenError, RebuildError, StoreFailure};
pub use examine::{Examined, Leftover, Tail};
pub use identity::{Written, log_id};
pub use log::RocksLog;
#[cfg(feature = "mutants")]
pub use mutants::{Mutant, mutants};
pub use open_files::raise_open_files;
pub use options::Options;
pub use purge::PurgeError;
pub use rebuild::{RebuildReport, RebuildStep};
pub use redaction::Unfinished;
pub use truncate::{Behind, RemovedTail, TruncateError, TruncateReport};
pub use verify::{Fault, Finding, VerifyReport};
