//! Texts within a limit of bytes.

/// The longest beginning of a text that has at most `limit` bytes and ends
/// between two characters.
///
/// ```
/// use annals_domain::cut;
/// assert_eq!(cut("aé", 2), "a");
/// assert_eq!(cut("aé", 3), "aé");
/// ```
pub fn cut(text: &str, limit: usize) -> &str {
    let mut end = limit.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}
