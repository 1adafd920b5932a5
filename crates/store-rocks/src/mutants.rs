//! Seeded bugs that the tests must find: what a harness is worth is what it catches.
//!
//! They exist only with the feature `mutants`, and then one at a time, by name, in the
//! environment variable `ANNALS_MUTANT`. Without the feature every question is answered with a
//! constant, and nothing of them is in the program.

#[cfg(feature = "mutants")]
use std::sync::OnceLock;

/// A seeded bug.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(not(feature = "mutants"), allow(dead_code))]
pub struct Mutant {
    /// Its name, for `ANNALS_MUTANT`.
    pub name: &'static str,
    /// What it breaks.
    pub what: &'static str,
    /// In how many cycles of faults it must be caught.
    pub cycles: u32,
}

macro_rules! mutants {
    ($($constant:ident = $name:literal, $cycles:literal, $what:literal;)*) => {
        $(
            #[cfg_attr(not(feature = "mutants"), allow(dead_code))]
            pub(crate) const $constant: &str = $name;
        )*

        /// All seeded bugs.
        #[cfg(feature = "mutants")]
        pub fn mutants() -> &'static [Mutant] {
            &[$(Mutant { name: $name, what: $what, cycles: $cycles }),*]
        }
    };
}

mutants! {
    ACK_BEFORE_SYNC = "ack-before-sync", 100, "appends are acknowledged before their sync";
    DEFAULT_NO_SYNC = "default-no-sync", 100, "the default options do not sync";
    OPEN_NO_SYNC = "open-no-sync", 100, "opening an existing log passes on that it is not synced";
    WATERMARK_BEFORE_WRITE = "watermark-before-write", 300, "WATERMARK is published before the write";
    WAL_NOT_SETTLED = "wal-not-settled", 300, "write-ahead logs are not made durable at opening";
    SETTLED_BY_SYNC = "settled-by-sync", 500, "they are synced and not written again, which after a failed sync does nothing";
    ROWS_UNSYNCED = "rows-unsynced", 300, "rows of read models are not synced at close";
    MARK_AFTER_FAILURE = "mark-after-failure", 500, "the closing mark is written though a sync has failed";
    WATERMARK_UNSYNCED = "watermark-unsynced", 300, "WATERMARK is never synced";
    CREATION_UNSYNCED = "creation-unsynced", 300, "the name of a new log's file ANNALS is not synced";
    BACKUP_UNSYNCED = "backup-unsynced", 300, "nothing of a backup is synced";
    INDEX_LEFT_OUT = "index-left-out", 100, "the index of event types is not written";
    BATCH_ROW_LEFT_OUT = "batch-row-left-out", 100, "the row of a batch is not written, so a repeat lands twice";
    PURGE_SKIPS = "purge-skips", 500, "the records' tables are not rewritten by a purge";
    HEAD_FORGOTTEN = "head-forgotten", 300, "a refused batch makes the writer forget the heads that are staged";
    HEAD_AGED = "head-aged", 300, "heads are forgotten within a group";
    SYNC_ERROR_IGNORED = "sync-error-ignored", 300, "the error of a write or sync is ignored";
    POSITION_REUSED = "position-reused", 500, "after a failed write the writer goes on at the same position (RocksDB itself would not go on, so that now and then a write is said to have failed that has not)";
    REDACT_BESIDE_COMMIT = "redact-beside-commit", 1000, "rows are committed during a redaction, regardless of the epoch that they were folded under";
    CHECKPOINT_EARLY = "checkpoint-early", 500, "the watermark moves, and checkpoints are signed, before the tree is durable";
    REDACTION_FORGOTTEN = "redaction-forgotten", 500, "what is left to do of a redaction is not stored";
    TRUNCATES_ANYTHING = "truncates-anything", 500, "doctor removes what it cannot show to be unacknowledged";
}

/// Whether this bug is on.
#[cfg(feature = "mutants")]
pub(crate) fn is(name: &str) -> bool {
    static ON: OnceLock<Option<String>> = OnceLock::new();
    ON.get_or_init(|| std::env::var("ANNALS_MUTANT").ok())
        .as_deref()
        == Some(name)
}

/// Whether this bug is on: never, in a program that has none.
#[cfg(not(feature = "mutants"))]
pub(crate) const fn is(_name: &str) -> bool {
    false
}
