//! What is looked at once more in that which a pattern matches.

use std::sync::LazyLock;

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use regex::bytes::Regex;

use super::standard::PLACEHOLDER;

// A test rules out that this is none.
static PLACEHOLDERS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(&format!("^(?:{PLACEHOLDER})+$")).ok());

/// What a match must be to be a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Check {
    /// Anything.
    Any,
    /// It has a letter and a digit, as no word has.
    Mixed,
    /// It has capital and small letters and another sign, as no word and no hash has.
    Varied,
    /// It is the base64 of a name and a password with a colon between.
    Credentials,
    /// It is more than the name of a variable that has the secret.
    NoPlaceholder,
}

impl Check {
    /// Whether a match is a secret.
    pub(super) fn accepts(self, secret: &[u8]) -> bool {
        let has = |is: fn(&u8) -> bool| secret.iter().any(is);
        match self {
            Check::Any => true,
            Check::Mixed => has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic),
            Check::Varied => {
                has(u8::is_ascii_uppercase)
                    && has(u8::is_ascii_lowercase)
                    && has(|byte| !byte.is_ascii_alphabetic())
            }
            Check::Credentials => is_credentials(secret),
            Check::NoPlaceholder => {
                let pattern = PLACEHOLDERS.as_ref();
                !pattern.is_some_and(|pattern| pattern.is_match(secret))
            }
        }
    }
}

fn is_credentials(secret: &[u8]) -> bool {
    let digits = secret.split(|byte| *byte == b'=').next();
    let digits = digits.unwrap_or_default();
    // One that was cut off is looked at as far as it goes.
    let whole = digits.get(..digits.len() / 4 * 4).unwrap_or_default();
    let decoded = STANDARD_NO_PAD.decode(digits);
    let decoded = decoded.or_else(|_| STANDARD_NO_PAD.decode(whole));
    decoded.is_ok_and(|text| {
        let is_text = std::str::from_utf8(&text)
            .is_ok_and(|text| !text.trim_end().contains(char::is_control));
        is_text && text.contains(&b':')
    })
}

#[cfg(test)]
pub(super) fn is_searchable() -> bool {
    PLACEHOLDERS.is_some()
}
