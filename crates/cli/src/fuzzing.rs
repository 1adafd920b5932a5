//! The program's parsers of foreign bytes, for the fuzzers in `crates/fuzzing`.

use crate::commands::apply;
use crate::policy_file;

/// Reads a line of `apply`.
pub fn apply_line(line: &[u8]) {
    let _ = apply::is_command(line);
}

/// Reads a policy file.
pub fn policy(text: &[u8]) {
    if let Ok(text) = std::str::from_utf8(text) {
        policy_file::parse_any(text);
    }
}
