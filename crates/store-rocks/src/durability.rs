//! What a writer's database knows of its own durability, and how it is closed.
//!
//! Groups are synced when they are written. Rows of read models are not: they are in the
//! write-ahead log behind the records that they were folded from, and a later sync takes them
//! along. What is left of them when the log is closed is synced then, so that no write-ahead
//! log that a later process goes on from ends in bytes that a power cut takes away.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use annals_event_log::Position;
use rocksdb::DB;

use crate::mutants;
use crate::settle;
use crate::watermark_file::WatermarkFile;

/// The state of a writer's database.
#[derive(Debug)]
pub(crate) struct Durability {
    file: Arc<WatermarkFile>,
    /// Whether the log was opened to its end: only then closing it says anything.
    opened: AtomicBool,
    /// Whether something may be in a write-ahead log that no sync has covered.
    unsynced: AtomicBool,
    /// Whether a write or a sync has failed, after which the disk's content is unknown.
    failed: AtomicBool,
}

impl Durability {
    pub(crate) fn new(file: WatermarkFile) -> Durability {
        Durability {
            file: Arc::new(file),
            opened: AtomicBool::new(false),
            unsynced: AtomicBool::new(false),
            failed: AtomicBool::new(false),
        }
    }

    /// The file WATERMARK.
    pub(crate) fn file(&self) -> &Arc<WatermarkFile> {
        &self.file
    }

    /// The log is open, and everything that was recovered is durable.
    pub(crate) fn opened(&self) {
        self.opened.store(true, Ordering::Release);
    }

    /// Something was written without a sync. To be called behind the write: a sync
    /// between the write and this call has covered it, and one more does no harm.
    pub(crate) fn unsynced(&self) {
        self.unsynced.store(true, Ordering::Release);
    }

    /// A write or a sync has failed.
    pub(crate) fn failed(&self) {
        self.failed.store(true, Ordering::Release);
    }

    /// Makes everything durable and says so in WATERMARK, unless something failed. Where
    /// this does not come to its end, the next opening makes the rest durable.
    pub(crate) fn close(&self, rocks: &DB, path: &Path) {
        let failed =
            self.failed.load(Ordering::Acquire) && !mutants::is(mutants::MARK_AFTER_FAILURE);
        if !self.opened.load(Ordering::Acquire) {
            return;
        }
        if failed || !self.flushed(rocks) {
            // No mark; but what it says was durable before.
            if let Err(error) = self.file.sync() {
                tracing::warn!(%error, "WATERMARK was not synced at close");
            }
            return;
        }
        if let Err(error) = self.mark(path) {
            tracing::warn!(%error, "WATERMARK was not synced at close");
        }
    }

    /// Whether what no sync has covered is on the disk now.
    fn flushed(&self, rocks: &DB) -> bool {
        let is_synced = !self.unsynced.load(Ordering::Acquire)
            || mutants::is(mutants::ROWS_UNSYNCED)
            || mutants::is(mutants::MARK_AFTER_FAILURE);
        if is_synced {
            return true;
        }
        if let Err(error) = rocks.flush_wal(true) {
            tracing::warn!(%error, "the write-ahead log was not synced at close");
            return false;
        }
        true
    }

    fn mark(&self, path: &Path) -> std::io::Result<()> {
        let position = self.file.read()?;
        if let Some(closed) = settle::newest_log(path)? {
            self.file
                .close(position.unwrap_or(Position::START), closed)?;
        }
        self.file.sync()
    }
}
