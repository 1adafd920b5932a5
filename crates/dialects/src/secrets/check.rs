//! What is looked at once more in that which a pattern matches.

use std::sync::LazyLock;

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use regex::bytes::Regex;
use serde::Deserialize;

use super::standard::PLACEHOLDER;

// A test makes sure that this is not `None`.
static PLACEHOLDERS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(&format!("^(?:{PLACEHOLDER})+$")).ok());

/// Bits that a sign of a random text has at least, and of what may be a word.
const RANDOM_BITS: f64 = 3.5;
const GUESSED_BITS: f64 = 2.8;

/// The fewest bytes of a password that is not an example.
const STRONG: usize = 8;

/// Passwords that are not secret: of examples, and of tests that anyone can read.
const WORDS: &[&str] = &[
    "abc",
    "bar",
    "baz",
    "changeme",
    "credentials",
    "dummy",
    "example",
    "fake",
    "foo",
    "guest",
    "hello",
    "key",
    "mypass",
    "mypassword",
    "none",
    "null",
    "pass",
    "passwd",
    "password",
    "passwort",
    "postgres",
    "pw",
    "pwd",
    "qux",
    "redacted",
    "root",
    "secret",
    "test",
    "token",
    "undefined",
    "user",
    "username",
    "value",
    "world",
    "your-password",
    "your_password",
    "yourpassword",
];

/// What a match must be to be a secret.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Check {
    /// Anything.
    #[default]
    Any,
    /// It has a letter and a digit, as no word has.
    Mixed,
    /// It has capital and small letters and another sign, as no word and no hash has.
    Varied,
    /// It is the base64 of a name and a password with a colon between.
    Credentials,
    /// It has capital and small letters and digits, and looks drawn at random.
    Random,
    /// It is neither a placeholder nor a word of examples.
    Password,
    /// The same, and it looks neither like a word nor like code.
    Guessed,
}

impl Check {
    /// Whether a match is a secret; `behind` is the text that follows it.
    pub(super) fn accepts(self, secret: &[u8], behind: &[u8]) -> bool {
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
            Check::Random => {
                let has_all = has(u8::is_ascii_uppercase)
                    && has(u8::is_ascii_lowercase)
                    && has(u8::is_ascii_digit);
                has_all && bits(secret) >= RANDOM_BITS
            }
            Check::Password => {
                let is_strong = secret.len() >= STRONG
                    && has(u8::is_ascii_digit)
                    && has(u8::is_ascii_alphabetic)
                    && !secret.contains(&b'%');
                is_password(secret) && (is_strong || !is_example_host(behind))
            }
            Check::Guessed => {
                let is_code = |byte: &u8| b"[]".contains(byte);
                let is_mixed = has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic);
                is_password(secret)
                    && is_mixed
                    && !secret.iter().any(is_code)
                    && !secret.windows(2).any(|two| two == b"::")
                    && bits(secret) >= GUESSED_BITS
            }
        }
    }
}

/// Whether it may be a password: no placeholder, no word of examples, not one sign again and again.
fn is_password(secret: &[u8]) -> bool {
    // A sentence goes on behind it.
    let ends = secret.iter().rev().take_while(|byte| b",.;".contains(byte));
    let length = secret.len() - ends.count();
    let secret = secret.get(..length).unwrap_or_default();
    let placeholder = PLACEHOLDERS.as_ref();
    if placeholder.is_some_and(|pattern| pattern.is_match(secret)) {
        return false;
    }
    let first = secret.first();
    let lower = secret.to_ascii_lowercase();
    let word = without_digits(&lower);
    let is_word = WORDS.iter().any(|it| it.as_bytes() == word);
    let is_example = [&b"example"[..], b"your-", b"your_", b"xxxx"];
    let is_example = is_example
        .iter()
        .any(|it| lower.windows(it.len()).any(|part| part == *it));
    !is_word && !is_example && secret.iter().any(|byte| Some(byte) != first)
}

/// Whether the text behind a password is a host of examples.
fn is_example_host(behind: &[u8]) -> bool {
    let hosts = [&b"@example."[..], b"@foo", b"@host", b"@test."];
    hosts.iter().any(|host| behind.starts_with(host))
}

/// A text without the digits at its end.
fn without_digits(text: &[u8]) -> &[u8] {
    let digits = text.iter().rev().take_while(|byte| byte.is_ascii_digit());
    let length = text.len() - digits.count();
    text.get(..length).unwrap_or_default()
}

/// Bits of entropy that a sign of it has, by how often each is in it.
fn bits(secret: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in secret {
        if let Some(count) = counts.get_mut(usize::from(*byte)) {
            *count += 1;
        }
    }
    let all = secret.len() as f64;
    let of = |count: &u32| {
        let share = f64::from(*count) / all;
        -share * share.log2()
    };
    counts.iter().filter(|count| **count > 0).map(of).sum()
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
