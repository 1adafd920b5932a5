//! When an owner that stays writes its memory to tables: every process that opens the log beside it reads the owner's
//! write-ahead log into its own memory.

use std::sync::Arc;

use annals_store_rocks::RocksLog;

const MIB: u64 = 1024 * 1024;
/// Bytes that take some milliseconds to read: more are given up once no one adds to them fast.
const SHORT: u64 = 2 * MIB;
/// Bytes that are given up in any case.
const LONG: u64 = 24 * MIB;
/// More bytes than this between two looks are many: a bulk write makes better tables of more.
const FAST: u64 = MIB;

/// The write-ahead log as the owner found it when it looked last, about a second before.
#[derive(Debug, Default)]
pub(crate) struct WalAge {
    /// Its bytes.
    seen: u64,
    /// Bytes that were left by the last flush.
    left: Option<u64>,
    /// Whether a flush was begun by the last look.
    is_flushing: bool,
}

impl WalAge {
    /// Looks at the log's write-ahead log, and begins to write what it holds to tables if it is long.
    pub(crate) fn look(&mut self, log: &Arc<RocksLog>) {
        let Some(bytes) = log.wal_bytes() else {
            return;
        };
        if !self.is_due(bytes) {
            return;
        }
        let log = Arc::clone(log);
        // It may wait for a flush that is under way.
        tokio::task::spawn_blocking(move || {
            if let Err(error) = log.begin_flush() {
                tracing::warn!(%error, "the owner's memory was not written to tables");
            }
        });
    }

    fn is_due(&mut self, bytes: u64) -> bool {
        let grown = bytes.saturating_sub(self.seen);
        self.seen = bytes;
        if std::mem::take(&mut self.is_flushing) {
            // It is over, or goes on: what is left now is not to be flushed again and again.
            self.left = Some(bytes);
            return false;
        }
        self.left = self.left.map(|left| left.min(bytes));
        let more = bytes.saturating_sub(self.left.unwrap_or(0));
        let is_due = more >= LONG || (more >= SHORT && grown <= FAST);
        self.is_flushing = is_due;
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_log_is_given_up_when_it_grows_slowly_or_is_very_long() {
        let mut age = WalAge::default();
        assert!(!age.is_due(SHORT - 1), "it is short");
        assert!(age.is_due(SHORT), "it grew a little");
        assert!(!age.is_due(SHORT), "that is under way");
        assert!(!age.is_due(SHORT), "nothing came since");
        assert!(!age.is_due(2 * SHORT), "it grew fast");
        assert!(age.is_due(2 * SHORT), "what is new is long");
        assert!(!age.is_due(10), "that was the flush");
        for step in 1..=12 {
            let bytes = 10 + 2 * step * FAST - 1;
            assert!(!age.is_due(bytes), "{step}: it grows fast");
        }
        assert!(age.is_due(10 + LONG), "in any case");
    }

    #[test]
    fn what_a_bulk_write_leaves_is_given_up_when_it_is_over() {
        let mut age = WalAge::default();
        assert!(!age.is_due(20 * MIB), "it grew fast");
        assert!(age.is_due(20 * MIB));
    }
}
