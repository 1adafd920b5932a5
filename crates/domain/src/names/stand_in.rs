//! The stand-in of a name that was removed.

use std::fmt::Write;

const BEFORE: &str = "[removed ";

/// Hex digits of a stand-in, of the digest of the piece that was removed.
const DIGITS: usize = 16;

/// What replaces a name that was removed, by the digest that is left of its piece
/// and its place in that.
///
/// ```
/// use annals_domain::{is_removed_name, removed_name};
/// let stand_in = removed_name(&[0xa7; 32], 2);
/// assert_eq!(stand_in, "[removed a7a7a7a7a7a7a7a7.2]");
/// assert!(is_removed_name(&stand_in));
/// assert!(!is_removed_name("main"));
/// ```
pub fn removed_name(digest: &[u8], place: usize) -> String {
    let mut name = BEFORE.to_owned();
    for byte in digest.iter().take(DIGITS / 2) {
        // Writing to a String cannot fail.
        let _ = write!(name, "{byte:02x}");
    }
    let _ = write!(name, ".{place}]");
    name
}

/// Whether a name is the stand-in of one that was removed. Who chooses such a name gets nothing
/// by it: what cannot be compared is not allowed.
pub fn is_removed_name(name: &str) -> bool {
    let inner = name
        .strip_prefix(BEFORE)
        .and_then(|rest| rest.strip_suffix(']'));
    inner
        .and_then(|inner| inner.split_once('.'))
        .is_some_and(|(digits, place)| {
            digits.len() == DIGITS
                && digits.bytes().all(|it| it.is_ascii_hexdigit())
                && place.parse::<usize>().is_ok()
        })
}
