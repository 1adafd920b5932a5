//! What is looked at once more in that which a pattern matches.

use std::sync::LazyLock;

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use memchr::memmem;
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
/// Of what is behind a prefix that says nothing.
const PREFIXED_BITS: f64 = 4.2;

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
    /// The same as bare, and it is not a name of a program either: what a sentence tells.
    Strong,
    /// The same, and no hexadecimal digits: it follows a label with nothing but a space between.
    Spoken,
    /// What is behind its prefixes looks drawn at random.
    Tail,
    /// The same for a prefix that says nothing: it is long, and in both cases.
    Prefixed,
    /// It is a UUID, or hexadecimal digits, or looks drawn at random.
    Vendor,
    /// Words in a row that are no sentence.
    Phrase,
}

impl Check {
    /// Whether a match is a secret; `behind` is the text that follows it.
    pub(super) fn accepts(self, secret: &[u8], behind: &[u8]) -> bool {
        let has = |is: fn(&u8) -> bool| secret.iter().any(is);
        if is_masked(secret) || is_published(secret) {
            return false;
        }
        match self {
            Check::Any => true,
            Check::Mixed => {
                has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic) && !is_constant(secret)
            }
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
                has_all
                    && bits(secret) >= RANDOM_BITS
                    && !is_words(secret)
                    && !is_example(&secret.to_ascii_lowercase())
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
            Check::Strong => is_strong(secret),
            Check::Spoken => {
                let has_cases = has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase);
                is_strong(secret) && (has_cases || has(|byte| b"!@#$%^&*?+~".contains(byte)))
            }
            Check::Tail => {
                let (before, text) = tail(secret, ANY_TAIL);
                // `prod-` and a digest of git is the tag of an image.
                let is_digest = before == Some(b'-') && DIGESTS.contains(&text.len());
                let is_digest = is_digest && text.iter().all(u8::is_ascii_hexdigit);
                is_drawn(text) && !is_digest
            }
            Check::Prefixed => is_prefixed(secret),
            Check::Vendor => is_vendors(secret),
            Check::Phrase => is_phrase(secret),
        }
    }
}

/// How keys begin that vendors publish, such as Stripe, Paystack and Clerk: pages show them.
const PUBLISHABLE: &[&[u8]] = &[b"pk_live_", b"pk_test_"];

/// Parts of keys that are published.
const PUBLISHED: &[&[u8]] = &[
    b"QWxhZGRpbjpvcGVu",
    b"wJalrXUtnFEMI",
    b"Eby8vdM02xNOcqFlqUwJ",
    b"C2y6yDjf5/R+ob0N8A7C",
];

/// The fewest bytes behind a prefix that says what it is, and of one that says nothing.
const ANY_TAIL: usize = 16;
const LONG_TAIL: usize = 31;
/// The most bytes of a part of a prefix.
const MOST_PREFIX: usize = 16;
/// The most bytes of a tail of small letters and digits.
const LONGEST_ONE_CASE: usize = 64;
/// Signs of a kind in a row, of which a mask is made.
const MASK: usize = 8;
/// The fewest bytes of a text in one case that may be drawn at random.
const ONE_CASE: usize = 16;
/// The most letters of a word for each of its vowels, and the fewest of the words of a name, in tenths.
const WORD_PER_VOWEL: usize = 5;
const WORD_TENTHS: usize = 34;
/// The lengths of the digests of git and of SHA-256 in hexadecimal digits.
const GIT_DIGEST: usize = 40;
const DIGESTS: [usize; 2] = [GIT_DIGEST, 64];
/// The fewest letters and digits in a row of a random text.
const ANY_RUN: usize = 12;
/// The fewest digits of a time in an id.
const TIME: usize = 10;

/// Whether it has a row of what stands for signs, as in `ghp_xxxxxxxxxxxx`.
fn is_masked(secret: &[u8]) -> bool {
    let is_mask = |row: &[u8]| {
        let first = row.first();
        matches!(first, Some(b'x' | b'X' | b'*')) && row.iter().all(|byte| Some(byte) == first)
    };
    secret.windows(MASK).any(is_mask)
}

/// Whether it is a key that everybody knows: of RFC 7617, of documents of AWS, of Azure's emulators, and of pages.
fn is_published(secret: &[u8]) -> bool {
    let has = |part: &&[u8]| secret.windows(part.len()).any(|it| it == *part);
    PUBLISHED.iter().any(has) || PUBLISHABLE.iter().any(|it| secret.starts_with(it))
}

/// Whether it may be the value of a secret where it could be a word of a sentence or a name of a program, too.
fn is_strong(secret: &[u8]) -> bool {
    let has = |is: fn(&u8) -> bool| secret.iter().any(is);
    let is_mixed = has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic);
    let is_sign = |byte: &u8| b"!@#$%^&*?+~=".contains(byte);
    let is_varied = has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase);
    let has_signs = secret.iter().any(is_sign) && (is_mixed || is_varied);
    let is_long = is_mixed && secret.len() >= ONE_CASE && is_scattered(secret);
    let is_cased = is_varied && secret.len() >= STRONG + 2 && changes(secret) >= 2;
    let is_short = is_mixed && changes(secret) >= 3;
    ((is_mixed && is_varied) || has_signs || is_long || is_short || is_cased)
        && !is_name(secret)
        && !is_code(secret)
        && !is_words(secret)
        && !is_constant(secret)
        && is_value(secret)
}

/// Whether it is the name of a constant: capitals and digits, with underscores between words.
fn is_constant(secret: &[u8]) -> bool {
    let is_sign = |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_';
    let is_word = |part: &[u8]| {
        let is_vowel = |byte: &&u8| b"AEIOU".contains(byte);
        let vowels = part.iter().filter(is_vowel).count();
        part.len() >= 4
            && vowels * WORD_PER_VOWEL >= part.len()
            && !part.iter().any(u8::is_ascii_digit)
    };
    secret.contains(&b'_')
        && secret.iter().all(is_sign)
        && secret.split(|byte| *byte == b'_').any(is_word)
}

/// Whether it is a name of words that capitals, digits and signs are between: `Utf8Error`, `S3_bucket-2`. Of a random
/// text most of these parts are short, or have no vowel.
fn is_words(secret: &[u8]) -> bool {
    let mut parts: Vec<&[u8]> = Vec::new();
    for part in secret.split(|byte| !byte.is_ascii_alphabetic()) {
        let mut begun = 0;
        for at in 1..part.len() {
            let two = part.get(at - 1..=at);
            let begins =
                matches!(two, Some([a, b]) if a.is_ascii_lowercase() && b.is_ascii_uppercase());
            // `HTTPServer` is two words.
            let three = part.get(at - 1..=at + 1);
            let ends = matches!(three, Some([a, b, c])
                if a.is_ascii_uppercase() && b.is_ascii_uppercase() && c.is_ascii_lowercase());
            if begins || ends {
                parts.extend(part.get(begun..at));
                begun = at;
            }
        }
        parts.extend(part.get(begun..).filter(|part| !part.is_empty()));
    }
    let is_vowel = |byte: &&u8| b"aeiouyAEIOUY".contains(byte);
    let has_vowels =
        |part: &[u8]| part.iter().filter(is_vowel).count() * WORD_PER_VOWEL >= part.len();
    let words = parts
        .iter()
        .filter(|part| part.len() >= 3 && has_vowels(part));
    let words = words.count();
    let letters: usize = parts.iter().map(|part| part.len()).sum();
    words > 0 && parts.len() <= words * 2 && letters * 10 >= parts.len() * WORD_TENTHS
}

/// How often letters and digits, and small letters and capitals behind them, alternate.
fn changes(secret: &[u8]) -> usize {
    let is_change = |two: &[u8]| {
        matches!(two, [a, b] if a.is_ascii_digit() != b.is_ascii_digit()
            || (a.is_ascii_lowercase() && b.is_ascii_uppercase()))
    };
    secret.windows(2).filter(|two| is_change(two)).count()
}

/// Whether digits and capitals are all over it, as in a random text, and not in a few places, as in names.
fn is_scattered(secret: &[u8]) -> bool {
    changes(secret) * 5 >= secret.len()
}

/// What is behind the prefixes of a token, of this many bytes at least, and the sign before it.
fn tail(secret: &[u8], least: usize) -> (Option<u8>, &[u8]) {
    let (mut before, mut rest) = (None, secret);
    let is_sign = |byte: &u8| b"_-.:|+".contains(byte);
    while let Some(at) = rest.iter().position(is_sign) {
        let behind = rest.get(at + 1..).unwrap_or_default();
        if at > MOST_PREFIX || behind.len() < least {
            break;
        }
        before = rest.get(at).copied();
        rest = behind;
    }
    (before, rest)
}

/// Whether a text of letters and digits looks drawn at random, in whatever case.
fn is_drawn(text: &[u8]) -> bool {
    let has = |is: fn(&u8) -> bool| text.iter().any(is);
    let is_varied = has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase);
    let least = if is_varied { RANDOM_BITS } else { DRAWN_BITS };
    has(u8::is_ascii_digit)
        && has(u8::is_ascii_alphabetic)
        && bits(text) >= least
        && (is_varied || is_scattered(text))
        && !is_words(text)
        && !is_example(&text.to_ascii_lowercase())
}

/// What the ids of messages, calls and files begin with, which are no secrets, and digests.
const ID_BEGINS: &[&[u8]] = &[
    b"sha",
    b"md5",
    b"msg_",
    b"toolu_",
    b"srvtoolu_",
    b"req_",
    b"resp_",
    b"rs_",
    b"call_",
    b"fc_",
    b"run_",
    b"file-",
    b"file_",
    b"item_",
    b"chatcmpl-",
    b"cmpl-",
    b"gen-",
    b"evt_",
    b"event_",
    b"thread_",
    b"step_",
    b"asst_",
    b"batch_",
    b"session_",
    b"sess_",
    b"container_",
    b"nonce-",
    b"user_",
    b"org_",
    b"org-",
    b"proj_",
    b"pk_",
    b"pub_",
    b"public_",
    b"tool",
    b"ses_",
    b"prt_",
    b"rollout",
    b"conv",
    b"turn_",
    b"ctc_",
    b"cfc_",
    b"mcp",
    b"ci_",
    b"job",
    b"ft",
    b"modr-",
    b"img_",
    b"image",
    b"task_",
    b"node_",
    b"build_",
    b"dpl_",
    b"prj_",
    b"team_",
    b"usr_",
    b"acct_",
    b"inv_",
    b"sub_",
    b"cus_",
    b"commit",
    b"tree_",
    b"rev",
    b"hash",
    b"digest",
    b"chunk",
    b"cache",
    b"tmp_",
    b"temp_",
    b"test",
    b"data",
    b"snapshot",
    b"layer",
    b"trace",
    b"span",
    b"uuid",
    b"blob",
    b"object",
    b"page",
    b"etag",
    b"checksum",
    b"index",
    b"main",
    b"vendor",
    b"static",
    b"asset",
    b"font",
    b"css",
    b"js",
    b"app_",
    b"lib",
    b"core",
    b"crate",
    b"block",
    b"tx_",
    b"addr",
    b"account",
    b"key_id",
    b"fingerprint",
    b"agent",
    b"message",
    b"request",
    b"response",
    b"cell",
    b"id_",
    b"jr_",
    b"ig_",
    b"ws_",
    b"part_",
    b"rd_",
    b"vs_",
    b"cs_",
];

/// Whether it is a token of the form that most have: a short prefix and a long random text, which is neither an id nor a
/// digest.
fn is_prefixed(secret: &[u8]) -> bool {
    let (before, text) = tail(secret, LONG_TAIL);
    let has = |is: fn(&u8) -> bool| text.iter().any(is);
    let is_varied =
        has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase) && bits(text) >= PREFIXED_BITS;
    // Hexadecimal digits are ids more often.
    let is_plain = text.iter().all(u8::is_ascii_alphanumeric);
    let is_git = text.len() == GIT_DIGEST && text.iter().all(u8::is_ascii_hexdigit);
    let is_one_case = before == Some(b'_')
        && bits(text) >= RANDOM_BITS
        && text.len() <= LONGEST_ONE_CASE
        && is_plain
        && !is_git;
    let is_sign = |byte: &u8| !byte.is_ascii_alphanumeric();
    let longest = text.split(is_sign).map(<[u8]>::len).max();
    // An id of a call has the time, as in `read_file-1768010961326-7266fc4bc8133`.
    let is_time = |part: &[u8]| part.len() >= TIME && part.iter().all(u8::is_ascii_digit);
    before.is_some()
        && !secret.split(is_sign).any(is_time)
        && is_drawn(text)
        && is_scattered(text)
        && (is_varied || is_one_case)
        && longest.is_some_and(|longest| longest >= ANY_RUN)
        && !ID_BEGINS.iter().any(|it| secret.starts_with(it))
}

/// Whether it is a UUID, hexadecimal digits, or a random text.
fn is_vendors(secret: &[u8]) -> bool {
    let has = |is: fn(&u8) -> bool| secret.iter().any(is);
    let is_hexadecimal = secret
        .iter()
        .all(|byte| byte.is_ascii_hexdigit() || *byte == b'-');
    let is_mixed = has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic);
    let is_random = is_drawn(secret) && !is_name(secret);
    is_mixed && ((is_hexadecimal && bits(secret) >= GUESSED_BITS) || is_random) && !is_place(secret)
}

/// Words that sentences have, and phrases of wallets do not.
const SENTENCE: &[&[u8]] = &[
    b"the", b"and", b"for", b"with", b"from", b"are", b"was", b"has", b"not", b"which", b"its",
    b"but", b"have", b"been", b"phrase", b"words", b"when", b"your", b"must",
];

/// Whether words in a row are no sentence.
fn is_phrase(secret: &[u8]) -> bool {
    let words: Vec<&[u8]> = secret
        .split(|byte| *byte == b' ')
        .filter(|it| !it.is_empty())
        .collect();
    let first = words.first();
    !words.iter().any(|word| SENTENCE.contains(word))
        && words.iter().any(|word| Some(word) != first)
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
    b".p12", b".p8", b".bin", b".der", b".jks", b".pub", b".xml", b".csv", b".php", b".rb",
    b".conf",
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
    let has = |part: &&[u8]| memmem::find(&lower, part).is_some();
    // `$HOME/.ssh/id_rsa`
    let is_variable = matches!(lower.as_slice(), [b'$', a, ..] if a.is_ascii_alphabetic())
        && lower.contains(&b'/');
    // Escapes of a URL.
    let escapes = lower.iter().filter(|byte| **byte == b'%').count();
    is_variable
        || (escapes >= 2 && escapes * 6 > lower.len())
        || PLACE_BEGINS.iter().any(|it| lower.starts_with(it))
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
    if EXAMPLES
        .iter()
        .any(|word| memmem::find(lower, word.as_bytes()).is_some())
    {
        return true;
    }
    let mut rest = lower.to_vec();
    for word in PARTS {
        while let Some(at) = memmem::find(&rest, word.as_bytes()) {
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
