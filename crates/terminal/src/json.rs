//! JSON that means the same and hides nothing: a character without a visible shape becomes an escape.
//!
//! Outside of its strings JSON is ASCII, so that any other character is in a string and may be
//! written as `\uXXXX`.

use std::borrow::Cow;

use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

use crate::{is_hidden, is_stray_selector, with_the_one_before};

/// Whether it is written as an escape. What is below U+0020 is one already inside of a
/// string, and white space elsewhere.
fn is_escaped((before, c): (Option<char>, char)) -> bool {
    let is_space = |c: char| c.general_category() == GeneralCategory::SpaceSeparator;
    c > '~' && (is_hidden(c) || is_space(c) || is_stray_selector(before, c))
}

/// A text of JSON with every hidden character in its strings as `\uXXXX`.
pub fn json(text: &str) -> Cow<'_, str> {
    json_after(text, None)
}

/// The same of a text that comes behind a character.
pub(crate) fn json_after(text: &str, before: Option<char>) -> Cow<'_, str> {
    let is_ascii = !text.bytes().any(|byte| byte > b'~');
    if is_ascii || !with_the_one_before(text, before).any(is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for (before, c) in with_the_one_before(text, before) {
        if is_escaped((before, c)) {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                escaped.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            escaped.push(c);
        }
    }
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn every_hidden_character_is_escaped_and_means_the_same() {
        for c in '\0'..=char::MAX {
            let text = format!("a{c}b");
            let plain = serde_json::to_string(&text).unwrap();
            let escaped = json(&plain);
            let back: String = serde_json::from_str(&escaped).unwrap();
            assert_eq!(back, text);
            assert!(!escaped.chars().any(is_hidden), "U+{:04X}", u32::from(c));
        }
    }
}
