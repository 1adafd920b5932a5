//! What is said on standard error.

use std::io::Write;

/// Says one line on standard error, in which what is hidden is shown as escapes. If that is
/// closed, it is not an error.
pub(crate) fn say(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{}", annals_terminal::line(text));
}

/// The same with JSON.
pub(crate) fn say_json(json: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{}", annals_terminal::json(json));
}
