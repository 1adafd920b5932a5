//! What a log answers that is closed.

use annals_event_log::ReadError;

/// Calls to a closed log after which a projection is said not to return.
const CLOSED_CALLS: u64 = 10_000;

/// The answer to a call, the nth one since the log was closed.
///
/// Not `Unavailable`, which a projection may try again, for ever.
pub(super) fn closed(nth: u64) -> ReadError {
    if nth > CLOSED_CALLS {
        panic!(
            "the projection has called the log {CLOSED_CALLS} times since it was closed: expected that \
             it returns on `Closed`, which no retry helps"
        );
    }
    ReadError::Closed
}
