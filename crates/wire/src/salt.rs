//! Salts for pieces of content.

use annals_event_log::Salt;

/// 16 bytes from the thread's cryptographic generator, which the operating
/// system seeds. With a salt, guesses of a removed text can be tested, so
/// no two pieces share one and none can be predicted.
pub fn random_salt() -> Salt {
    rand::random()
}
