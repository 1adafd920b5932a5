//! Salts for pieces of content.

use annals_event_log::Salt;

/// 16 bytes from the thread's cryptographic generator, which the operating
/// system seeds. Whoever knows a salt can test guesses of a removed text, so
/// no two pieces share one and none can be foretold.
pub fn random_salt() -> Salt {
    rand::random()
}
