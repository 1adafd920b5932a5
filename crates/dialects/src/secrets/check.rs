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
/// Of a text in one case or of hexadecimal digits, and of a short password.
const DRAWN_BITS: f64 = 3.0;
const VALUE_BITS: f64 = 2.5;

/// The most digits behind a word.
const MOST_NUMBER: usize = 4;

/// What only examples have, in small letters.
const EXAMPLES: &[&str] = &[
    "change-me",
    "change_me",
    "changeit",
    "changeme",
    "dummy",
    "example",
    "fake",
    "foobar",
    "insert-",
    "insert_",
    "lorem",
    "not-a-",
    "notreal",
    "placeholder",
    "redacted",
    "replace",
    "sample",
    "xxxx",
    "....",
    "your-",
    "your_",
    "0123456789",
    "1234567890",
    "abcdefgh",
];

/// Words of examples, of which a password may have one with other letters.
const PARTS: &[&str] = &[
    "password", "passwd", "secret", "token", "test", "pass", "user", "admin", "default", "value",
    "string", "demo", "auth", "api", "key", "abc", "foo", "bar", "baz", "my", "dev", "none",
    "null", "true", "false",
];

/// The fewest letters beside such words of what is not an example.
const OTHERS: usize = 4;

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
    /// It has a letter and a digit, and looks drawn at random, in small letters, too.
    Drawn,
    /// It is base32 of small letters, as random bytes have it.
    Base32,
    /// A value in quotes behind a name of secrets: neither an example nor the name of something.
    Labelled,
    /// The same without quotes, where it could be code, too.
    Bare,
    /// It is the base64 of a text that is not an example.
    Encoded,
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
                has_all && bits(secret) >= RANDOM_BITS && !is_example(&secret.to_ascii_lowercase())
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
            Check::Drawn => {
                (has(u8::is_ascii_digit) || has(u8::is_ascii_uppercase))
                    && has(u8::is_ascii_alphabetic)
                    && bits(secret) >= DRAWN_BITS
                    && !is_name(secret)
                    && !is_example(&secret.to_ascii_lowercase())
            }
            Check::Base32 => {
                let digits = secret.iter().filter(|byte| byte.is_ascii_digit());
                digits.count() >= 4 && bits(secret) >= RANDOM_BITS
            }
            Check::Labelled => is_value(secret) && !is_name(secret),
            Check::Bare => is_value(secret) && !is_name(secret) && !is_code(secret),
            Check::Encoded => is_encoded(secret),
        }
    }
}

/// Whether it may be the value of a secret: varied, and neither an example nor a place where one is.
fn is_value(secret: &[u8]) -> bool {
    let has = |is: fn(&u8) -> bool| secret.iter().any(is);
    let signs = secret
        .iter()
        .filter(|byte| b"!@#$%^&*?+~".contains(byte))
        .count();
    let is_mixed = has(u8::is_ascii_alphabetic) && has(u8::is_ascii_digit);
    let is_signed = signs > 0 && has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase);
    let is_scrambled = secret.len() >= STRONG && has(u8::is_ascii_uppercase) && !is_name(secret);
    (is_mixed || is_signed || is_scrambled)
        && bits(secret) >= VALUE_BITS
        && is_password(secret)
        && !is_example(&secret.to_ascii_lowercase())
        && !is_place(secret)
}

/// Whether the value of a key is one word that may be a secret as a whole: no text, JSON or place where a secret is.
pub(super) fn is_word(value: &[u8]) -> bool {
    let is_json = value.starts_with(b"{") || value.starts_with(b"[");
    let is_field = value.contains(&b'{') && value.contains(&b'}');
    let is_text = value.iter().any(u8::is_ascii_whitespace);
    !is_json && !is_field && !is_text && is_password(value) && !is_elsewhere(value)
}

/// How paths, addresses and digests begin.
const PLACE_BEGINS: &[&[u8]] = &[
    b"/",
    b"./",
    b"../",
    b"~/",
    b"@",
    b"-",
    b"vault:",
    b"arn:",
    b"op:",
    b"env:",
    b"enc:",
    b"sha1",
    b"sha256",
    b"sha512",
    b"0x",
    b"\\",
    b"$ansible_vault",
];

/// How names of files and hosts end.
const PLACE_ENDS: &[&[u8]] = &[
    b".json", b".pem", b".key", b".txt", b".yml", b".yaml", b".crt", b".env", b".toml", b".html",
    b".rs", b".py", b".js", b".ts", b".go", b".md", b".com", b".org", b".io", b".net", b".sh",
    b".p12", b".jks", b".pub", b".xml", b".csv", b".php", b".rb", b".conf",
];

/// Parts of addresses, variables and calls.
const PLACE_HAS: &[&[u8]] = &[
    b"://",
    b"${",
    b"{{",
    b"}}",
    b"$(",
    b"::",
    b"->",
    b"()",
    b"process.env",
    b"os.environ",
    b"getenv",
    b"secrets.",
    b"...",
    b"{}",
    b"{0",
    b"%s",
    b"%d",
];

/// Whether it is the place of a secret: a path, an address, or a variable.
fn is_place(secret: &[u8]) -> bool {
    // What a program puts a variable in.
    let is_field = |two: &[u8]| matches!(two, [b'{', a] if a.is_ascii_alphabetic() || *a == b'_');
    secret.windows(2).any(is_field) || is_elsewhere(secret)
}

/// The same without what may be code.
fn is_elsewhere(secret: &[u8]) -> bool {
    let lower = secret.to_ascii_lowercase();
    let has = |part: &&[u8]| lower.windows(part.len()).any(|it| it == *part);
    PLACE_BEGINS.iter().any(|it| lower.starts_with(it))
        || PLACE_ENDS.iter().any(|it| lower.ends_with(it))
        || PLACE_HAS.iter().any(has)
}

/// Whether it is put together of words, which may have a number behind: `session-token-2`, `utf8.decode`.
fn is_name(secret: &[u8]) -> bool {
    let parts = secret.split(|byte| b"_.:/-,;@*".contains(byte));
    let is_word = |part: &[u8]| {
        let letters = part.iter().take_while(|byte| byte.is_ascii_alphabetic());
        let letters = letters.count();
        let digits = part.len() - letters;
        let rest = part.get(letters..).unwrap_or_default();
        rest.iter().all(u8::is_ascii_digit)
            && digits <= MOST_NUMBER
            && (letters == 0 || is_pronounced(part.get(..letters).unwrap_or_default()))
    };
    parts.into_iter().all(is_word)
}

/// Whether letters may be a word or several: of a random text they change their case, or have no vowels.
fn is_pronounced(letters: &[u8]) -> bool {
    let is_vowel = |byte: &&u8| b"aeiouyAEIOUY".contains(byte);
    let vowels = letters.iter().filter(is_vowel).count();
    let capitals = letters.windows(2);
    let capitals = capitals
        .filter(|two| matches!(two, [a, b] if a.is_ascii_lowercase() && b.is_ascii_uppercase()));
    letters.len() <= 3 || (vowels * 6 >= letters.len() && capitals.count() * 4 <= letters.len())
}

/// Whether it is code, a number with a unit, a version or a time.
fn is_code(secret: &[u8]) -> bool {
    let is_sign = |byte: &u8| b"()[]{}<>\"'`,;=|".contains(byte);
    let is_number = |byte: &u8| byte.is_ascii_digit() || b".:-+TZv_%/".contains(byte);
    let is_call = |two: &[u8]| matches!(two, [a, b'.', b] if a.is_ascii_lowercase() && b.is_ascii_lowercase());
    // A code's last sign may be that of base64.
    let end = secret
        .iter()
        .rev()
        .take_while(|byte| **byte == b'=')
        .count();
    let body = secret.get(..secret.len() - end).unwrap_or_default();
    body.iter().any(is_sign)
        || secret.iter().all(is_number)
        || (secret.windows(3).any(is_call) && !secret.iter().any(u8::is_ascii_digit))
}

/// Whether a text in small letters has what only examples have, or hardly more than words of such.
fn is_example(lower: &[u8]) -> bool {
    let find = |text: &[u8], word: &str| {
        let mut places = text.windows(word.len());
        places.position(|part| part == word.as_bytes())
    };
    if EXAMPLES.iter().any(|word| find(lower, word).is_some()) {
        return true;
    }
    let mut rest = lower.to_vec();
    for word in PARTS {
        while let Some(at) = find(&rest, word) {
            rest.drain(at..at + word.len());
        }
    }
    let letters = rest.iter().filter(|byte| byte.is_ascii_alphabetic());
    rest.len() < lower.len() && letters.count() < OTHERS
}

/// Whether it is the base64 of a text that is not an example.
fn is_encoded(secret: &[u8]) -> bool {
    let digits = secret.split(|byte| *byte == b'=').next();
    let decoded = digits.and_then(|digits| STANDARD_NO_PAD.decode(digits).ok());
    decoded.is_some_and(|text| {
        let is_text = |byte: &u8| matches!(byte, b' '..=b'~' | b'\n' | b'\r' | b'\t');
        let is_example = is_example(&text.to_ascii_lowercase());
        secret.len().is_multiple_of(4)
            && text.len() >= 6
            && text.iter().all(is_text)
            && !is_example
            && is_password(&text)
    })
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
