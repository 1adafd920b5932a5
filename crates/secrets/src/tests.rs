//! Every format finds its samples and lets its look-alikes be; every secret is found
//! in every place.
//!
//! The samples are put together here: no text of this repository looks like a key.

#![allow(clippy::unwrap_used)]

mod corpus;
mod missed;
mod recall;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use serde_json::Value;

use super::*;

/// `length` characters of an alphabet, in an order that looks random.
fn made(alphabet: &str, length: usize) -> String {
    let letters: Vec<char> = alphabet.chars().collect();
    let at = |n: usize| letters[(n * n * 7 + n * 11 + 5) % letters.len()];
    (0..length).map(at).collect()
}

const ALNUM: &str = "aB3xQ9zR7tK1mW5vL8pC2nH4jF6gD0sYu";
const BASE64: &str = "aB3xQ9z+R7tK1mW5vL/8pC2nH4jF6gD0sYu";
const HEX: &str = "0123456789abcdef";
const UPPER: &str = "QWERTYUIOPASDFGHJKLZXCVBNM234567";
const DIGITS: &str = "3141592653";

fn alnum(length: usize) -> String {
    made(ALNUM, length)
}

fn pem(label: &str) -> String {
    let mark = |what: &str| format!("-----{what} {label}{}-----", ["PRIVATE", "KEY"].join(" "));
    let lines: Vec<String> = (0..3).map(|n| made(BASE64, 64 - n)).collect();
    let (begin, end) = (mark("BEGIN"), mark("END"));
    format!("{begin}\n{}\n{end}", lines.join("\n"))
}

/// Secrets by kind: what is before one, the secret, and what is behind it.
fn samples() -> Vec<(&'static str, String, String, &'static str)> {
    let bare = |kind, secret: String| (kind, String::new(), secret, "");
    let after = |kind, before: &str, secret| (kind, before.to_owned(), secret, "");
    let discord = "MTIzNDU2Nzg5MDEyMzQ1Njc4".to_owned();
    vec![
        bare("private-key", pem("RSA ")),
        bare("private-key", pem("")),
        bare("private-key", pem("OPENSSH ")),
        bare(
            "age-secret-key",
            ["AGE-SECRET", "-KEY-1", &made(UPPER, 58)].concat(),
        ),
        bare("aws-access-key-id", ["AK", "IA", &made(UPPER, 16)].concat()),
        bare("aws-access-key-id", ["AS", "IA", &made(UPPER, 16)].concat()),
        after(
            "aws-secret-access-key",
            "aws_secret_access_key = ",
            made(BASE64, 40),
        ),
        after(
            "aws-secret-access-key",
            "\"SecretAccessKey\": \"",
            made(BASE64, 40),
        ),
        after(
            "aws-secret-access-key",
            "<SecretAccessKey>",
            made(BASE64, 40),
        ),
        after("aws-session-token", "AWS_SESSION_TOKEN=", made(BASE64, 200)),
        bare("github-token", ["gh", "p_", &alnum(36)].concat()),
        bare("github-token", ["gh", "s_", &alnum(36)].concat()),
        bare(
            "github-token",
            ["github", "_pat_", &alnum(22), "_", &alnum(59)].concat(),
        ),
        bare("gitlab-token", ["gl", "pat-", &alnum(20)].concat()),
        bare(
            "slack-token",
            ["xo", "xb-", &made(DIGITS, 12), "-", &alnum(24)].concat(),
        ),
        after(
            "slack-webhook",
            "https://hooks.slack.com/services/",
            [
                "T0",
                &made(UPPER, 8),
                "/B0",
                &made(UPPER, 8),
                "/",
                &alnum(24),
            ]
            .concat(),
        ),
        bare("stripe-key", ["sk", "_live_", &alnum(24)].concat()),
        bare("anthropic-key", ["sk-", "ant-api03-", &alnum(90)].concat()),
        bare("openrouter-key", ["sk-", "or-v1-", &made(HEX, 64)].concat()),
        bare("openai-key", ["sk-", "proj-", &alnum(60)].concat()),
        bare("openai-key", ["s", "k-", &alnum(48)].concat()),
        bare("google-api-key", ["AI", "za", &alnum(34), "-"].concat()),
        bare("google-oauth-secret", ["GOC", "SPX-", &alnum(28)].concat()),
        bare("huggingface-token", ["h", "f_", &alnum(34)].concat()),
        bare("groq-key", ["gs", "k_", &alnum(52)].concat()),
        bare("xai-key", ["xa", "i-", &alnum(80)].concat()),
        bare("nvidia-key", ["nva", "pi-", &alnum(64)].concat()),
        bare("replicate-token", ["r", "8_", &alnum(37)].concat()),
        bare("npm-token", ["np", "m_", &alnum(36)].concat()),
        after(
            "npm-token",
            "//registry.npmjs.org/:_authToken=",
            format!("{}-1", made(HEX, 30)),
        ),
        bare("pypi-token", ["pyp", "i-AgE", &alnum(60)].concat()),
        bare("crates-io-token", ["ci", "o", &alnum(32)].concat()),
        bare("rubygems-token", ["ruby", "gems_", &made(HEX, 48)].concat()),
        bare("docker-token", ["dck", "r_pat_", &alnum(27)].concat()),
        bare(
            "digitalocean-token",
            ["do", "p_v1_", &made(HEX, 64)].concat(),
        ),
        after(
            "azure-key",
            "AccountName=a;AccountKey=",
            format!("{}==", made(BASE64, 86)),
        ),
        after(
            "azure-key",
            "https://a.blob/?sv=1&sig=",
            format!("{}%3D", alnum(43)),
        ),
        bare("databricks-token", ["da", "pi", &made(HEX, 32)].concat()),
        bare("vault-token", ["hv", "s.", &alnum(30)].concat()),
        bare("atlassian-token", ["ATA", "TT3", &alnum(120)].concat()),
        bare(
            "grafana-token",
            ["gl", "sa_", &alnum(32), "_", &made(HEX, 8)].concat(),
        ),
        bare("linear-key", ["lin", "_api_", &alnum(40)].concat()),
        bare("shopify-token", ["shp", "at_", &made(HEX, 32)].concat()),
        bare(
            "sendgrid-key",
            ["S", "G.", &alnum(22), ".", &alnum(43)].concat(),
        ),
        bare("twilio-key", ["S", "K", &made(HEX, 32)].concat()),
        after("twilio-key", "TWILIO_AUTH_TOKEN=", made(HEX, 32)),
        bare(
            "discord-token",
            [&discord, ".", &alnum(6), ".", &alnum(30)].concat(),
        ),
        after(
            "discord-webhook",
            "https://discord.com/api/webhooks/12345678901234567/",
            alnum(68),
        ),
        bare(
            "telegram-token",
            [&made(DIGITS, 10), ":A", "A", &alnum(33)].concat(),
        ),
        after(
            "telegram-token",
            "https://api.telegram.org/bot",
            [&made(DIGITS, 9), ":A", "A", &alnum(33)].concat(),
        ),
        bare(
            "json-web-token",
            [
                "ey",
                "J",
                &alnum(30),
                ".ey",
                "J",
                &alnum(30),
                ".",
                &alnum(43),
            ]
            .concat(),
        ),
        after("authorization-header", "Authorization: Bearer ", alnum(30)),
        after(
            "authorization-header",
            "-H 'authorization: token ",
            alnum(20),
        ),
        (
            "url-password",
            "https://user:".into(),
            "h4rd-t0.guess".into(),
            "@example.org/x",
        ),
        (
            "url-password",
            "postgres://user:".into(),
            "p@ss,word;".into(),
            "@db:5432/x",
        ),
    ]
}

/// Texts without any secret.
const INNOCENT: [&str; 48] = [
    "",
    "git@github.com:owner/repo.git",
    "https://example.org:8080/@scope/name@1.2.3",
    "https://user@example.org/path",
    "postgres://user:${PASSWORD}@host/db",
    "https://user:<password>@host, https://user:***@host, https://user:%s@host",
    "de305d54-75b4-431b-adb2-eb6b9e546014",
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
    "integrity sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==",
    "checksum = \"d0c5f6b2c0e2d1e7f5f2b4f1a3c9f6d8e7b5a4c3d2e1f0a9b8c7d6e5f4a3b2c1\"",
    "Authorization: Bearer <token>",
    "Authorization: Bearer $TOKEN",
    "Authorization: Bearer YOUR_ACCESS_TOKEN",
    "the disk-cache, a task-runner and risk-management-of-everything-that-can-go-wrong-in-a-project",
    "sk-something-that-is-a-css-class",
    "ghp_ is how tokens of GitHub begin",
    "AKIA is a prefix; AKIAs are not",
    "secret_access_key = os.environ[\"AWS_SECRET_ACCESS_KEY\"]",
    "aws_secret_access_key: ${{ secrets.AWS_SECRET_ACCESS_KEY }}",
    "//registry.npmjs.org/:_authToken=${NPM_TOKEN}",
    "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
    "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
    "it looks for \"-----BEGIN PRIVATE KEY-----\" and ends at \"-----END PRIVATE KEY-----\" (see RFC 7468)",
    "discord.gg/invite and MyVeryLongClassNameOfJava.create.anotherVeryLongNameOfAMethod",
    "add the secret key 9fceb02d0ae598e95dc970b74767f19372d61af8 and go on",
    "the secret key is in crates/dialects/src/secrets/standard.rs",
    "secret_key, access_key = load_the_keys_from(environment_of_the_process)",
    "SECRET_KEY: str = os.environ[\"SECRET_KEY\"]",
    "- name: AWS_SECRET_ACCESS_KEY\n  valueFrom:\n    secretKeyRef:\n      name: the-name-of-the-secret-of-this-cluster-1",
    "AWS Secret Access Key [None]: ",
    "session token data:image/png;base64 and nothing else",
    "Authorization: Basic authentication is not encrypted",
    "Authorization: Basic YOUR_CREDENTIALS",
    "{\"name\":\"Authorization\",\"value\":\"Bearer {{token}}\"}",
    "authorization, bearer and basic",
    "postgres://$USER:$PASSWORD@$HOST/db, postgres://{user}:{password}@{host}, x://<user>:<password>@<host>",
    "https://x:{{password}}@host, https://x:#{pw}@host, https://x:[password]@host, https://%s:%s@%s, https://x:%(pw)s@h, https://x:$(pw)@h",
    "sig=abcdef&design=1, big_sig=12",
    "xAKIAQWERTYUIOP234567, AKIAQWERTYUIOP2345678",
    "npm_lifecycle_script_of_a_package_that_is_here",
    "-----BEGIN PRIVATE KEY-----\n9fceb02d0ae598e95dc970b74767f19372d61af8 is a commit",
    "id,name\nde305d54-75b4-431b-adb2-eb6b9e546014,9fceb02d0ae598e95dc970b74767f19372d61af8",
    "npm_config_cache, npm_lifecycle_event and npm_package_version",
    "eyJhbGciOiJub25lIn0 is a header",
    "12:34:56, 1234567890:AA and ratio 1:2",
    "social, precious_cio and cioppino",
    "SG. is short for Singapore; SKU 12345",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
];

fn cases(count: u32) -> TestRunner {
    let asked = std::env::var("PROPTEST_CASES").ok();
    let config = Config {
        cases: asked.and_then(|cases| cases.parse().ok()).unwrap_or(count),
        failure_persistence: None,
        ..Config::default()
    };
    let rng_seed = match config.rng_seed {
        RngSeed::Random => RngSeed::Fixed(20_260_102),
        fixed @ RngSeed::Fixed(_) => fixed,
    };
    TestRunner::new(Config { rng_seed, ..config })
}

fn kinds(hits: &[Hit]) -> Vec<&str> {
    hits.iter().map(|hit| hit.kind.as_ref()).collect()
}

#[test]
fn every_rule_is_a_pattern() {
    for pattern in pattern::standard().unwrap() {
        assert!(pattern.is_searchable(), "{}", pattern.kind);
    }
    assert!(
        check::is_searchable()
            && key::is_searchable()
            && veiled::is_searchable()
            && table::is_searchable()
    );
    for pattern in pattern::standard().unwrap() {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        assert!(pattern.kind.bytes().all(plain), "{}", pattern.kind);
    }
}

#[test]
fn every_sample_is_found_and_nothing_around_it_goes() {
    for (kind, before, secret, behind) in samples() {
        let text = format!("see: {before}{secret}{behind} and so on\n");
        let redacted = Secrets::standard().redact(&text);
        assert_eq!(kinds(&redacted.hits), [kind], "{text}");
        let line_ends = "\n".repeat(secret.matches('\n').count());
        let expected = format!("see: {before}[redacted:{kind}]{line_ends}{behind} and so on\n");
        assert_eq!(redacted.content, expected);
        let again = Secrets::standard().redact(&expected);
        assert_eq!(
            (again.content.as_ref(), again.hits),
            (expected.as_str(), vec![])
        );
    }
}

#[test]
fn what_looks_alike_stays() {
    for text in INNOCENT {
        let redacted = Secrets::standard().redact(text);
        assert_eq!(
            (redacted.content, redacted.hits),
            (Cow::Borrowed(text), vec![])
        );
    }
}

/// What a terminal, JSON in JSON, a URL or a diff puts before a secret is not a part of
/// it.
#[test]
fn a_secret_is_found_after_any_text() {
    let secret = ["gh", "p_", &alnum(36)].concat();
    for before in [
        "\\n",
        "\\\\n",
        "\\u001b[31m",
        "\x1b[1;32m",
        "%3D",
        "token_",
        "\\u003d",
        "+",
        "é",
        "\"",
        "=",
    ] {
        let text = format!("x{before}{secret}\\n");
        let redacted = Secrets::standard().redact(&text);
        assert_eq!(
            redacted.content,
            format!("x{before}[redacted:github-token]\\n")
        );
    }
}

#[test]
fn a_private_key_is_found_in_every_form_that_shows_it() {
    let key = pem("EC ");
    let body = made(BASE64, 64);
    let shown = [
        key.clone(),
        key.replace('\n', "\r\n"),
        key.replace('\n', "\\n"),
        key.replace('\n', "\\\\n"),
        key.replace('\n', "\n+"),
        key.replace('\n', "\n-"),
        key.replace('\n', "\n    12→"),
        key.replace('\n', "\\n\" +\n  \""),
        key.replacen(
            '\n',
            "\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0A1B2C\n\n",
            1,
        ),
        // Cut off.
        key.rsplit_once('\n').unwrap().0.to_owned(),
        format!("# {}", key.replace('\n', "\n# ")),
        format!(" * {}", key.replace('\n', "\n * ")),
        key.replace('\n', "\n; "),
        key.replace('\n', "\x1b[m\n\x1b[32m+"),
        key.replace('\n', "\\n\\u001b[32m+"),
        format!("11 │ {}", key.replace('\n', "\n12 │ ")),
        key.replace('\n', "<br>"),
        key.replace('\n', "<br>\n"),
        key.replace('\n', "&#10;"),
        format!("key = \"{}", key.replace('\n', "\\n\";\nkey += \"")),
        key.replace('\n', " "),
        key.replace('/', "\\/"),
        // Cut off, in surroundings.
        format!(
            "# {}",
            key.rsplit_once('\n').unwrap().0.replace('\n', "\n# ")
        ),
        format!(
            "11 │ {}",
            key.rsplit_once('\n').unwrap().0.replace('\n', "\n12 │ ")
        ),
        key.get(..key.len() / 2).unwrap().to_owned(),
    ];
    for text in shown {
        let redacted = Secrets::standard().redact(&text);
        assert_eq!(kinds(&redacted.hits), ["private-key"], "{text}");
        assert!(!redacted.content.contains(&body), "{}", redacted.content);
        let lines = |text: &str| text.matches('\n').count();
        assert_eq!(lines(&redacted.content), lines(&text));
    }
}

#[test]
fn a_private_key_is_found_in_a_list_of_lines() {
    let lines: Vec<String> = pem("RSA ").lines().map(|line| format!("+{line}")).collect();
    let text = serde_json::json!({ "lines": lines, "type": "update", "next": ["abc"] }).to_string();
    let redacted = Secrets::standard().redact_json(&text);
    let read: Value = serde_json::from_str(&redacted.content).unwrap();
    for line in &lines[1..4] {
        assert!(
            !redacted.content.contains(line.trim_start_matches('+')),
            "{read}"
        );
    }
    assert_eq!(read["lines"].as_array().unwrap().len(), lines.len());
    assert_eq!(
        (&read["type"], &read["next"][0]),
        (&"update".into(), &"abc".into())
    );
}

#[test]
fn json_stays_json_and_places_are_paths() {
    let secret = ["gh", "p_", &alnum(36)].concat();
    let aws = made(BASE64, 40);
    let text = format!(
        "{{\"a\": [1, {{\"b \\\"c\\\"\": \"x\\n{secret}\\u0021\"}}],\n \"{secret}\": null,\n \"secretAccessKey\" : \"{}\"}}",
        aws.replace('/', "\\/")
    );
    let redacted = Secrets::standard().redact_json(&text);
    let expected = "{\"a\": [1, {\"b \\\"c\\\"\": \"x\\n[redacted:github-token]\\u0021\"}],\n \"[redacted:github-token]\": null,\n \"secretAccessKey\" : \"[redacted:aws-secret-access-key]\"}";
    assert_eq!(redacted.content, expected);
    let places: Vec<(u64, &str)> = redacted
        .hits
        .iter()
        .map(|hit| (hit.line, hit.field.as_str()))
        .collect();
    assert_eq!(
        places,
        [
            (1, "a[1].b \"c\""),
            (2, "[redacted:github-token]"),
            (3, "secretAccessKey"),
        ]
    );
}

#[test]
fn a_secret_is_found_behind_every_escape() {
    let secret = ["gh", "p_", &alnum(36)].concat();
    let escaped: String = secret
        .chars()
        .map(|c| format!("\\u{:04X}", c as u32))
        .collect();
    for string in [
        escaped,
        format!("\\ud83d{secret}"),
        format!("\\ud83d\\ude00{secret}\\\\"),
    ] {
        let text = format!("[\"{string}\"]");
        let redacted = Secrets::standard().redact_json(&text);
        assert_eq!(kinds(&redacted.hits), ["github-token"], "{text}");
        assert!(redacted.content.contains("[redacted:github-token]"));
    }
    let header = format!(
        r#"{{"headers": {{"Authorization": "Bearer {}"}}}}"#,
        alnum(30)
    );
    let redacted = Secrets::standard().redact_json(&header);
    assert_eq!(
        redacted.content,
        r#"{"headers": {"Authorization": "Bearer [redacted:authorization-header]"}}"#
    );
}

#[test]
fn text_that_is_not_json_is_accepted() {
    let secret = ["gh", "p_", &alnum(36)].concat();
    for text in [
        "{\"a",
        "\"\\",
        "\"\\u12",
        "]]]}}",
        "\"\\é\"",
        "{\"a\":\"\\ud8",
        ",,,\"",
        "\"\\u00e9\\",
    ] {
        let text = format!("{text}{secret}");
        // Only that it ends, and that nothing is lost.
        let redacted = Secrets::standard().redact_json(&text);
        assert!(redacted.content.len() + secret.len() >= text.len());
    }
    let deep = format!("{}\"{secret}\"{}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(Secrets::standard().redact_json(&deep).hits.len(), 1);
}

#[test]
fn bytes_need_not_be_text() {
    let secret = ["gh", "p_", &alnum(36)].concat();
    let bytes = [b"caf\xe9\n".as_slice(), secret.as_bytes(), b"\xff"].concat();
    let redacted = Secrets::standard().redact_bytes(&bytes);
    assert_eq!(
        redacted.content.as_ref(),
        b"caf\xe9\n[redacted:github-token]\xff"
    );
    assert_eq!(redacted.hits[0].line, 2);
}

#[test]
fn patterns_of_ones_own_are_taken_or_refused_with_a_reason() {
    let none = Secrets::none();
    assert_eq!(none.redact("ACME-12345678").hits, []);
    let acme = none
        .with("ACME-[0-9]{8}")
        .unwrap()
        .with("vendor=V(?<secret>[0-9]{4})")
        .unwrap();
    assert_eq!(
        acme.redact("ACME-12345678 V1234").content,
        "[redacted:custom] V[redacted:vendor]"
    );
    let standard = Secrets::standard().with("ACME-[0-9]{8}").unwrap();
    assert_eq!(
        standard.redact_json("[\"ACME-12345678\"]").content,
        "[\"[redacted:custom]\"]"
    );
    let refused = |pattern: &str| none.with(pattern).unwrap_err().to_string();
    assert!(refused("(").contains("invalid regular expression"));
    assert!(refused("a*").contains("the empty text"));
    assert!(refused(r"\w+").contains("ordinary text"));
    let named = refused(r"password=\S+");
    assert!(named.contains("(?:password=...)"), "{named}");
    assert!(none.with(r"(?:password=)\S+").is_ok());
}

#[test]
fn overlapping_secrets_go_as_one() {
    let token = ["gh", "p_", &alnum(36)].concat();
    let redacted = Secrets::standard()
        .redact(&format!("https://user:{token}@host/"))
        .content
        .into_owned();
    assert_eq!(redacted, "https://user:[redacted:github-token]@host/");
}

#[test]
fn what_follows_a_key_that_was_cut_off_stays() {
    let key = pem("RSA ");
    let cut = key.rsplit_once('\n').unwrap().0;
    let hash = "9fceb02d0ae598e95dc970b74767f19372d61af8";
    let integrity = format!("\"integrity\": \"sha512-{}==\"", made(BASE64, 86));
    for before in ["", "# ", "12 │ "] {
        for behind in [
            "That was the key, and this is a sentence.".to_owned(),
            format!("commit {hash}"),
            format!("checksum = \"{hash}\""),
            "in crates/dialects/src/secrets/standard.rs it is found".to_owned(),
            integrity.clone(),
            "-----BEGIN CERTIFICATE-----".to_owned(),
        ] {
            let text = format!("{cut}\n{behind}").replace('\n', &format!("\n{before}"));
            let redacted = Secrets::standard().redact(&text);
            assert_eq!(kinds(&redacted.hits), ["private-key"], "{text}");
            assert!(redacted.content.ends_with(&behind), "{}", redacted.content);
        }
    }
    let marks = format!("{}\nno key follows {hash}", key.lines().next().unwrap());
    assert_eq!(Secrets::standard().redact(&marks).hits, []);
}

/// Texts of labels, with what stands for the secret, that is found behind them.
fn labelled() -> Vec<(&'static str, String, &'static [&'static str])> {
    let aws = "aws-secret-access-key";
    let header = "authorization-header";
    vec![
        (
            aws,
            made(BASE64, 40),
            &[
                "secret_key                  = \"{}\"",
                "secretAccessKey:     {}",
                "aws configure set aws_secret_access_key {}",
                "aws configure set aws_secret_access_key {} --profile p",
                "AWS Secret Access Key [None]: {}",
                "AWS Secret Access Key [****************4XYZ]: {}",
                "Access key ID,Secret access key\nAK{}IAQWERTYUIOP234567,{}",
                "ENV AWS_SECRET_ACCESS_KEY {}",
                "aws-vault add --secret-access-key {}",
                "SECRET_KEY: str = \"{}\"",
                "const SECRET_KEY: &'static str = \"{}\";",
                "- name: AWS_SECRET_ACCESS_KEY\n  value: {}",
                "- name: AWS_SECRET_ACCESS_KEY\\n  value: \\\"{}\\\"",
                "{\"name\": \"AWS_SECRET_ACCESS_KEY\", \"value\": \"{}\"}",
                "os.environ.get(\"AWS_SECRET_ACCESS_KEY\", \"{}\")",
            ],
        ),
        (
            "aws-session-token",
            made(BASE64, 200),
            &[
                "aws configure set aws_session_token {}",
                "AWS Session Token [None]: {}",
                "ENV AWS_SESSION_TOKEN {}",
                "--session-token {}",
                "aws_session_token           = {}",
            ],
        ),
        (
            header,
            alnum(30),
            &[
                "{\"name\":\"Authorization\",\"value\":\"Bearer {}\"}",
                "{\\\"name\\\":\\\"Authorization\\\",\\\"value\\\":\\\"Bearer {}\\\"}",
                "Authorization = f'Bearer {}'",
                "headers[\"Authorization\"] = f\"Bearer {}\"",
                ".header(\"Authorization\", format!(\"Bearer {}\"))",
            ],
        ),
        (
            header,
            ["dXNlcj", "pwYXNz"].concat(),
            &[
                "Authorization: Basic {}",
                "-H 'authorization: basic {}'",
                "{\"key\":\"Authorization\",\"value\":\"Basic {}\"}",
            ],
        ),
    ]
}

#[test]
fn a_secret_is_found_behind_its_label_however_that_is_written() {
    for (kind, secret, texts) in labelled() {
        for text in texts {
            // The id of AWS's CSV is put together here, as every sample.
            let text = text.replacen("AK{}IA", "AK\0IA", 1).replace("{}", &secret);
            let text = text.replace('\0', "");
            let redacted = Secrets::standard().redact(&text);
            assert!(kinds(&redacted.hits).contains(&kind), "{text}");
            assert!(!redacted.content.contains(&secret), "{text}");
        }
    }
}

#[test]
fn a_name_is_the_label_of_the_value_next_to_it() {
    for (_, secret, _) in labelled()
        .into_iter()
        .filter(|(kind, ..)| kind.starts_with("aws-secret"))
    {
        for name in ["name", "key"] {
            let text = format!(
                "[{{\"{name}\" : \"AWS_SECRET_ACCESS_KEY\",\n\"type\": 1, \"value\": \"{secret}\"}}, {{\"value\": \"{secret}\"}}]"
            );
            let redacted = Secrets::standard().redact_json(&text);
            let read: Value = serde_json::from_str(&redacted.content).unwrap();
            assert_eq!(read[0]["value"], "[redacted:aws-secret-access-key]");
            assert_eq!(read[1]["value"], secret);
        }
    }
    let har = format!(
        r#"{{"name":"Authorization","value":"Bearer {}"}}"#,
        alnum(30)
    );
    let redacted = Secrets::standard().redact_json(&har);
    assert_eq!(
        redacted.content,
        r#"{"name":"Authorization","value":"Bearer [redacted:authorization-header]"}"#
    );
}

#[test]
fn a_secret_within_something_is_found_behind_every_escape() {
    let google = ["AI", "za", &alnum(35)].concat();
    for before in [
        "\\n",
        "key%3D",
        "\x1b[31m",
        "\\u001b[0m",
        "_",
        "x_",
        "\\u0026key=",
        "\x1b[K",
    ] {
        for behind in ["", "_old", "\\n", "&x=1", "\x1b[m"] {
            let text = format!("{before}{google}{behind}");
            let redacted = Secrets::standard().redact(&text);
            assert_eq!(
                redacted.content,
                format!("{before}[redacted:google-api-key]{behind}")
            );
        }
    }
    let (sig, account) = (alnum(43), made(BASE64, 86));
    let hook = alnum(68);
    for (text, secret) in [
        (format!("?sv=1\\u0026sig={sig}%3D"), &sig),
        (format!("sv%3D1%26sig%3D{sig}%253D"), &sig),
        (format!("AccountKey={account}\\u003d\\u003d"), &account),
        (format!("AccountKey%3D{account}%3D%3D;"), &account),
        (
            format!("https://discord.com/api/v10/webhooks/12345678901234567/{hook}"),
            &hook,
        ),
    ] {
        let redacted = Secrets::standard().redact(&text);
        assert_eq!(redacted.hits.len(), 1, "{text}");
        assert!(!redacted.content.contains(secret.as_str()), "{text}");
    }
}

#[test]
fn a_word_of_a_certain_length_may_have_a_suffix() {
    let certain = [
        "aws-access-key-id",
        "huggingface-token",
        "groq-key",
        "replicate-token",
        "npm-token",
        "crates-io-token",
        "databricks-token",
        "twilio-key",
        "openai-key",
        "google-api-key",
    ];
    let samples = samples()
        .into_iter()
        .filter(|(kind, before, ..)| certain.contains(kind) && before.is_empty());
    for (kind, _, secret, _) in samples.filter(|(_, _, secret, _)| !secret.contains("proj-")) {
        for suffix in ["_1", "_accessKeys.csv", ".bak", "\u{e9}", "\\n", ""] {
            let text = format!("{secret}{suffix}");
            let redacted = Secrets::standard().redact(&text);
            assert_eq!(redacted.content, format!("[redacted:{kind}]{suffix}"));
        }
        // One sign between two of them is enough.
        let two = format!("{secret}_{secret}");
        assert_eq!(Secrets::standard().redact(&two).hits.len(), 2, "{two}");
    }
    let bytes = [samples_of("aws-access-key-id").as_bytes(), b"\xff"].concat();
    assert_eq!(Secrets::standard().redact_bytes(&bytes).hits.len(), 1);
}

fn samples_of(kind: &str) -> String {
    let mut samples = samples().into_iter();
    samples.find(|(of, ..)| *of == kind).unwrap().2
}

#[test]
fn the_password_of_a_url_is_found_with_any_host_and_user() {
    let password = "S3cretPw";
    for url in [
        "postgres://u:{}@${DB_HOST}:5432/x",
        "postgres://u:{}@$HOST/x",
        "postgres://u:{}@{host}/x",
        "postgres://u:{}@%2Fvar%2Frun/x",
        "postgres://u:{}@%s:5432",
        "postgres://$USER:{}@host/x",
        "postgres://${USER}:{}@host/x",
        "postgres://{user}:{}@host/x",
        "postgres://<user>:{}@host/x",
        "postgres://u:$!{}@host/x",
        "postgres://u:${A}{}@host/x",
        "postgres://u:*{}@host/x",
        "postgres://u:[{}@host/x",
        "redis://:{}@host",
    ] {
        let text = url.replacen("{}", password, 1);
        let redacted = Secrets::standard().redact(&text);
        assert_eq!(kinds(&redacted.hits), ["url-password"], "{text}");
        assert!(!redacted.content.contains(password), "{}", redacted.content);
    }
}

#[test]
fn a_private_key_is_found_in_a_list_of_objects_and_an_answer_to_one_stays() {
    let key = pem("RSA ");
    let lines: Vec<Value> = key
        .lines()
        .enumerate()
        .map(|(n, text)| serde_json::json!({ "line": n, "kind": "code", "text": text }))
        .collect();
    let text = serde_json::json!({ "lines": lines, "next": "abc" }).to_string();
    let redacted = Secrets::standard().redact_json(&text);
    for line in key.lines().skip(1).take(3) {
        assert!(!redacted.content.contains(line), "{}", redacted.content);
    }
    let read: Value = serde_json::from_str(&redacted.content).unwrap();
    assert_eq!(
        (&read["lines"][1]["kind"], &read["next"]),
        (&"code".into(), &"abc".into())
    );
    let begin = key.lines().next().unwrap();
    let asked = serde_json::json!([{ "text": begin }, { "text": "ok" }, { "text": "Yes" }]);
    assert_eq!(Secrets::standard().redact_json(&asked.to_string()).hits, []);
    let bare = serde_json::json!([begin, "abc", "d"]).to_string();
    assert_eq!(Secrets::standard().redact_json(&bare).hits, []);
}

#[test]
fn a_text_that_begins_many_keys_takes_no_longer_than_its_length() {
    let begin = pem("").lines().next().unwrap().to_owned();
    let run = made(HEX, 60);
    let text = format!("{begin} {run} {run}\n").repeat(5_000);
    assert_eq!(Secrets::standard().redact(&text).hits, []);
    let long = format!("{begin}\n{}", made(BASE64, 64).repeat(20_000));
    assert_eq!(Secrets::standard().redact(&long).hits.len(), 1);
}

/// A value of JSON with texts everywhere.
fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<i64>().prop_map(Value::from),
        ".{0,20}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(".{0,8}", inner, 0..4)
                .prop_map(|map| map.into_iter().collect()),
        ]
    })
}

#[test]
fn a_secret_anywhere_in_a_text_is_found_and_without_it_nothing_is() {
    let sample = prop::sample::select(samples());
    let text = ("(?s)[^:=@]{0,40}", sample, "(?s)[^:=@]{0,40}");
    cases(512)
        .run(&text, |(before, (kind, label, secret, behind), after)| {
            let secrets = Secrets::standard();
            let around = format!("{before} {after}");
            let redacted = secrets.redact(&around);
            prop_assert!(matches!(redacted.content, Cow::Borrowed(_)));
            let text = format!("{before} {label}{secret}{behind} {after}");
            let redacted = secrets.redact(&text);
            prop_assert!(kinds(&redacted.hits).contains(&kind), "{}", text);
            prop_assert!(!redacted.content.contains(&secret), "{}", text);
            Ok(())
        })
        .unwrap();
}

#[test]
fn a_secret_anywhere_in_json_is_found_and_the_rest_stays() {
    let sample = prop::sample::select(samples());
    let parts = (
        json(),
        ".{0,10}",
        sample,
        ".{0,10}",
        any::<bool>(),
        any::<bool>(),
    );
    cases(256)
        .run(
            &parts,
            |(value, before, (kind, label, secret, behind), after, as_key, nested)| {
                let secrets = Secrets::standard();
                let plain = value.to_string();
                let untouched = secrets.redact_json(&plain);
                prop_assert!(matches!(untouched.content, Cow::Borrowed(_)), "{}", plain);
                let mut text = format!("{before} {label}{secret}{behind} {after}");
                if nested {
                    text = serde_json::json!({ "output": text }).to_string();
                }
                let whole = match as_key {
                    true => serde_json::json!([value, { text: 1 }]),
                    false => serde_json::json!({ "v": value, "text": [text] }),
                };
                let whole = whole.to_string();
                let redacted = secrets.redact_json(&whole);
                prop_assert!(kinds(&redacted.hits).contains(&kind), "{}", whole);
                let read: Value = serde_json::from_str(&redacted.content).unwrap();
                let place = if as_key { &read[0] } else { &read["v"] };
                prop_assert_eq!(place, &value);
                let first = secret.lines().nth(1).unwrap_or(&secret);
                prop_assert!(!redacted.content.contains(first), "{}", redacted.content);
                Ok(())
            },
        )
        .unwrap();
}
