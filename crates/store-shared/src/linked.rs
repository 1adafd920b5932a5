//! Appends to the log that this process owns, for itself and for guests.

use annals_event_log::{Append, AppendError, Appended, EventLog, Link};
use annals_store_rocks::RocksLog;

/// Appends to the log itself, as a link of a chain if it is one.
pub(crate) async fn append(
    log: &RocksLog,
    append: Append,
    link: Option<Link>,
) -> Result<Appended, AppendError> {
    match link {
        None => log.append(append).await,
        Some(link) => log.append_linked(append, link).await,
    }
}
