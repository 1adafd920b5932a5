//! The bytes of what was removed, given up by the process that has the files.

use annals_event_log::Position;
use annals_store_rocks::{PurgeError, RocksLog};

/// Rewrites the files that may hold what was removed, and says whether there were any. With `put_off` those of the
/// redaction whose last event has that position are left. It blocks.
pub(crate) fn purge(log: &RocksLog, put_off: Option<Position>) -> Result<bool, PurgeError> {
    if !log.needs_purge()? {
        return Ok(false);
    }
    match put_off {
        None => log.purge().map(|()| true),
        Some(said) => log.put_off_purge(said).map(|()| false),
    }
}
