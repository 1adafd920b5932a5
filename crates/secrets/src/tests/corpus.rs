//! How many secrets of every documented kind are found, each with random signs, in the surroundings
//! in which they come; and how many are found in ordinary files, where there are none.
//!
//! `ANNALS_SECRETS=400 ANNALS_ORDINARY=FOLDER` makes it the long one: `make secrets-corpus`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::super::Secrets;

/// Samples of each kind: `{an:36}` stands for 36 random letters and digits; what is between `<<`
/// and `>>` is the secret. No text here looks like a key.
pub(super) const SAMPLES: &str = include_str!("samples.txt");
/// Samples of each template in an ordinary test.
const USUAL: usize = 12;

/// Signs by the name of their alphabet.
fn alphabet(name: &str) -> &'static [u8] {
    match name {
        "an" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
        "hex" => b"0123456789abcdef",
        "up" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
        "up32" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
        "up16" | "HEX" => b"0123456789ABCDEF",
        "low" => b"abcdefghijklmnopqrstuvwxyz0123456789",
        "low32" => b"abcdefghijklmnopqrstuvwxyz234567",
        "dig" => b"0123456789",
        "b58" => b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
        "b64" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
        "url" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-",
        other => panic!("no alphabet {other:?}"),
    }
}

/// A sample and its secret, of a template.
pub(super) fn made(template: &str, random: &mut StdRng) -> (String, String) {
    let (mut text, mut rest) = (String::new(), template);
    while let Some((before, behind)) = rest.split_once('{') {
        let Some((field, after)) = behind.split_once('}') else {
            break;
        };
        text.push_str(before);
        match field.split_once(':') {
            Some((name, length))
                if length.bytes().all(|it| it.is_ascii_digit())
                    && name.bytes().all(|it| it.is_ascii_alphanumeric()) =>
            {
                let signs = alphabet(name);
                let first = text.len();
                for _ in 0..length.parse().unwrap() {
                    text.push(char::from(signs[random.random_range(0..signs.len())]));
                }
                // What is drawn has a letter and a digit, as nearly all have.
                if text.len() - first >= 8 && has_letters(name) {
                    let (a, b) = if matches!(name, "hex" | "low") {
                        ("a", "7")
                    } else {
                        ("A", "7")
                    };
                    text.replace_range(first..=first, a);
                    text.replace_range(first + 1..first + 2, b);
                    if matches!(name, "an" | "b64" | "url") {
                        text.replace_range(first + 2..first + 3, "z");
                    }
                }
            }
            _ => match field {
                "n" => text.push('\n'),
                "cred" => text.push_str(&credentials(random)),
                "pw" => text.push_str(&password(random)),
                "b64text" => text.push_str(&encoded(&password(random))),
                _ => {
                    // A brace of JSON, in which there may be fields.
                    text.push('{');
                    rest = behind;
                    continue;
                }
            },
        }
        rest = after;
    }
    text.push_str(rest);
    let (before, behind) = text.split_once("<<").unwrap();
    let (secret, behind) = behind.split_once(">>").unwrap();
    (format!("{before}{secret}{behind}"), secret.to_owned())
}

/// Whether what is drawn of an alphabet may have the letters and digits that nearly all have.
fn has_letters(alphabet: &str) -> bool {
    !matches!(alphabet, "dig" | "up32" | "low32" | "up16" | "HEX" | "b58")
}

/// Random signs of an alphabet.
fn drawn(name: &str, length: usize, random: &mut StdRng) -> String {
    let signs = alphabet(name);
    let sign = |_| char::from(signs[random.random_range(0..signs.len())]);
    (0..length).map(sign).collect()
}

/// A password of letters, digits and signs.
fn password(random: &mut StdRng) -> String {
    let sign = b"!#%^*?+~@"[random.random_range(0..9)];
    let (before, behind) = (drawn("an", 5, random), drawn("an", 6, random));
    format!(
        "{before}{}{}{behind}",
        char::from(sign),
        drawn("dig", 1, random)
    )
}

/// The base64 of a text.
pub(super) fn encoded(text: &str) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(text)
}

/// The base64 of a name and a password.
fn credentials(random: &mut StdRng) -> String {
    encoded(&format!("ada:{}", drawn("an", 12, random)))
}

/// A template without what keeps it from looking like a key: two of them are one that stays.
pub(super) fn plain(template: &str) -> String {
    let template = template.replace("~~~", "\0").replace("~~", "\0");
    template.replace('~', "").replace('\0', "~")
}

/// Where a sample is, and the whole text.
fn surroundings(sample: &str) -> Vec<(&'static str, String)> {
    let json = |text: &str| serde_json::to_string(text).unwrap();
    let object = format!(
        "{{\"type\":\"text\",\"text\":{}}}",
        json(&format!("see {sample} there"))
    );
    let within = format!("{{\"out\":{}}}", json(&object));
    let deeper = format!("[{}]", json(&within));
    let diff: Vec<String> = sample.lines().map(|line| format!("+{line}")).collect();
    let coloured = format!("\u{1b}[32m{sample}\u{1b}[0m");
    vec![
        ("alone", format!("{sample}\n")),
        ("text", format!("the value is {sample} as before\n")),
        ("log", format!("2026-01-02T03:04:05Z INFO used {sample}\n")),
        ("list", format!("- {sample}\n- other\n")),
        ("code", format!("let x = f({sample});\n")),
        ("markdown", format!("run `{sample}` once\n")),
        ("diff", format!("@@ -1 +1 @@\n-old\n{}\n", diff.join("\n"))),
        ("ansi", coloured),
        ("json", object),
        ("json in json", within),
        ("json in json in json", deeper),
    ]
}

/// Where a kind does not occur, or cannot be recognized: documented in docs/secrets.md.
fn is_left_out(kind: &str, place: &str) -> bool {
    match kind {
        // A line of its own is what tells it; in code it is code.
        "password-assignment" | "environment-key" => matches!(place, "code"),
        // What follows is a part of it.
        "command-password" | "password-file" => matches!(place, "code"),
        // Its head and its rows have lines of their own.
        "table-password" => !matches!(place, "alone" | "diff"),
        _ => false,
    }
}

#[test]
fn secrets_of_every_kind_are_found_in_all_surroundings() {
    let count = std::env::var("ANNALS_SECRETS").ok();
    let count = count.and_then(|it| it.parse().ok()).unwrap_or(USUAL);
    let seed = std::env::var("ANNALS_SEED").ok();
    let seed = seed.and_then(|it| it.parse().ok()).unwrap_or(20_261_124);
    let mut random = StdRng::seed_from_u64(seed);
    let secrets = Secrets::standard();
    let mut found: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    let mut missed = Vec::new();
    for line in SAMPLES
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
    {
        let (kind, template) = line.split_once(' ').unwrap();
        let template = plain(template);
        for _ in 0..count {
            let (sample, secret) = made(template.trim(), &mut random);
            for (place, text) in surroundings(&sample) {
                if is_left_out(kind, place) {
                    continue;
                }
                let (tried, hit) = found.entry(kind).or_default();
                *tried += 1;
                let redacted = match place.starts_with("json") {
                    true => secrets.redact_json(&text),
                    false => secrets.redact(&text),
                };
                // The longest line of it: a key is shown as lines.
                let again = match place.starts_with("json") {
                    true => secrets.redact_json(&redacted.content).hits,
                    false => secrets.redact(&redacted.content).hits,
                };
                assert_eq!(again, vec![], "twice is once: {kind}, {place}: {text}");
                let core = secret.lines().max_by_key(|line| line.len()).unwrap();
                if redacted.content.contains(core) {
                    missed.push(format!("{kind}, {place}: {text}"));
                } else {
                    *hit += 1;
                }
                if place.starts_with("json") {
                    serde_json::from_str::<serde_json::Value>(&redacted.content).unwrap();
                }
                assert_eq!(
                    redacted.content.matches('\n').count(),
                    text.matches('\n').count()
                );
            }
        }
    }
    for kind in secrets.kinds() {
        assert!(
            found.contains_key(kind.kind.as_str()),
            "no sample of {}",
            kind.kind
        );
    }
    let (tried, hit) = found.values().fold((0, 0), |(a, b), (c, d)| (a + c, b + d));
    println!("{hit} of {tried} found, ANNALS_SEED={seed}");
    for (kind, (tried, hit)) in &found {
        let share = *hit as f64 / *tried as f64;
        if count > USUAL {
            println!("{kind:<28} {hit:>6} of {tried:>6}  {:.2} %", share * 100.0);
        }
        let of_kind: Vec<&String> = missed
            .iter()
            .filter(|it| it.starts_with(&format!("{kind},")))
            .collect();
        assert!(
            share >= 0.99,
            "{kind}: {hit} of {tried}; {:#?}",
            &of_kind[..of_kind.len().min(4)]
        );
    }
}

/// Files of a folder and below, as far as they are text.
fn files(folder: &Path, all: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => files(&entry.path(), all),
            Ok(kind) if kind.is_file() => all.push(entry.path()),
            _ => {}
        }
    }
}

/// Ordinary files have no secrets: what is found in them is a mistake, one in 1,000 files at most.
#[test]
fn ordinary_files_have_none() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("../domain/src");
    let folder = std::env::var_os("ANNALS_ORDINARY").map_or(here, PathBuf::from);
    let mut all = Vec::new();
    files(&folder, &mut all);
    all.sort();
    let secrets = Secrets::standard();
    let (mut looked_at, mut bytes, mut hits) = (0_u64, 0, Vec::new());
    let began = std::time::Instant::now();
    for path in &all {
        let Ok(text) = std::fs::read_to_string(path) else {
            continue;
        };
        looked_at += 1;
        bytes += text.len();
        for hit in secrets.redact(&text).hits {
            hits.push(format!("{}:{}: {}", path.display(), hit.line, hit.kind));
        }
    }
    let speed = bytes as f64 / 1e6 / began.elapsed().as_secs_f64();
    println!("{} hits in {looked_at} files, {speed:.0} MB/s", hits.len());
    // A private key of a test is one.
    hits.retain(|hit| !hit.ends_with(": private-key"));
    println!("{} of them without private keys: {hits:#?}", hits.len());
    assert!(hits.len() as u64 * 1_000 <= looked_at, "{hits:#?}");
}
