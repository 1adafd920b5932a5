//! What once came through, each line as an attacker found it.

use serde_json::json;

use super::super::Secrets;
use super::{BASE64, HEX, alnum, made};

fn github() -> String {
    ["gh", "p_", &alnum(36)].concat()
}

fn aws() -> String {
    made(BASE64, 40)
}

#[track_caller]
fn is_gone(secret: &str, text: &str) {
    let content = Secrets::standard().redact(text).content.into_owned();
    assert!(!content.contains(secret), "{content}");
    assert!(content.contains("[redacted:"), "{content}");
}

#[track_caller]
fn is_gone_of_json(secret: &str, text: &str) {
    let content = Secrets::standard().redact_json(text).content.into_owned();
    assert!(!content.contains(secret), "{content}");
    assert!(content.contains("[redacted:"), "{content}");
    serde_json::from_str::<serde_json::Value>(&content).unwrap();
    let again = Secrets::standard()
        .redact_json(&content)
        .content
        .into_owned();
    assert_eq!(again, content, "twice is once");
}

#[test]
fn a_private_key_of_which_only_the_end_is_there() {
    let lines = [made(BASE64, 64), made(BASE64, 64), made(BASE64, 40)];
    let end = format!("-----END RSA {}-----", ["PRIVATE", "KEY"].join(" "));
    let text = format!(
        "some words before\n{}\n{end}\nand behind\n",
        lines.join("\n")
    );
    is_gone(&lines[0], &text);
    is_gone(&lines[2], &text);
    let content = Secrets::standard().redact(&text).content.into_owned();
    assert!(
        content.starts_with("some words before\n[redacted:private-key]\n"),
        "{content}"
    );
    assert!(content.ends_with("and behind\n"), "{content}");
}

#[test]
fn escapes_of_html_between_its_letters() {
    let token = github();
    let secret = ["aB3xQ9zRk7", "Lm2Wp5"].concat();
    for (secret, text) in [
        (
            &token[4..],
            format!("<input value=\"{}\">", token.replace('_', "&#95;")),
        ),
        (
            &token[4..],
            format!("<input value=\"{}\">", token.replace('_', "&#x5f;")),
        ),
        (
            &token[4..],
            format!("<input value=\"{}\">", token.replace('_', "&lowbar;")),
        ),
        (
            &secret[..],
            format!("<div data-props=\"{{&quot;client_secret&quot;:&quot;{secret}&quot;}}\">"),
        ),
        (
            &secret[..],
            format!(
                "<a title='{{&amp;quot;client_secret&amp;quot;:&amp;quot;{secret}&amp;quot;}}'>"
            ),
        ),
        (
            &secret[..],
            format!("postgres:&#x2F;&#x2F;u:{secret}@db.prod.io&#x2F;x"),
        ),
        (
            &secret[..],
            format!("{{\\u0026quot;client_secret\\u0026quot;:\\u0026quot;{secret}\\u0026quot;}}"),
        ),
    ] {
        is_gone(secret, &text);
        is_gone_of_json(secret, &json!({ "content": text }).to_string());
    }
}

#[test]
fn a_label_over_an_object_or_a_list() {
    let secret = aws();
    for json in [
        json!({ "aws_secret_access_key": { "value": secret } }),
        json!({ "aws_secret_access_key": [secret] }),
        json!({ "aws_secret_access_key": [{ "value": secret }] }),
        json!({ "env": { "AWS_SECRET_ACCESS_KEY": ["a", secret] } }),
    ] {
        is_gone_of_json(&secret, &json.to_string());
    }
    let token = alnum(40);
    is_gone_of_json(
        &token,
        &json!({ "Authorization": ["Bearer", token] }).to_string(),
    );
}

#[test]
fn escapes_of_json_within_json() {
    let secret = github();
    let escaped: String = secret
        .chars()
        .map(|c| format!("\\u{:04x}", c as u32))
        .collect();
    let inner = format!("{{\"token\":\"{escaped}\"}}");
    for text in [
        inner.clone(),
        json!({ "out": inner }).to_string(),
        json!([json!({ "out": inner }).to_string()]).to_string(),
    ] {
        let content = Secrets::standard().redact_json(&text).content.into_owned();
        assert!(content.contains("[redacted:github-token]"), "{content}");
        assert!(!content.contains("u0067"), "{content}");
        serde_json::from_str::<serde_json::Value>(&content).unwrap();
    }
}

#[test]
fn a_value_on_the_next_line_of_a_diff() {
    let secret = aws();
    is_gone(&secret, &format!("+AWS_SECRET_ACCESS_KEY=\n+{secret}\n"));
    is_gone_of_json(
        &secret,
        &json!({ "diff": format!("+AWS_SECRET_ACCESS_KEY=\n+{secret}\n") }).to_string(),
    );
}

#[test]
fn tokens_of_the_metadata_service_and_of_signed_urls() {
    let token = ["IQoJ", "b3JpZ2lu", &made(BASE64, 300)].concat();
    let answer = json!({ "AccessKeyId": "x", "SecretAccessKey": aws(), "Token": token, "Expiration": "2026" });
    is_gone_of_json(&token, &answer.to_string());
    let token = alnum(200);
    is_gone(
        &token,
        &format!("https://b.s3.amazonaws.com/k?X-Amz-Security-Token={token}&X-Amz-Date=2026"),
    );
}

#[test]
fn a_token_that_something_is_glued_to_or_contains() {
    let token = github();
    for text in [
        format!("x{token}"),
        format!("token{token}"),
        format!("TOKEN9{token}"),
    ] {
        is_gone(&token, &text);
    }
    let (head, tail) = token.split_at(12);
    for between in [
        "\u{1b}[31m",
        "\u{200b}",
        "\u{feff}",
        "\u{2060}",
        "\u{ad}",
        "\0",
        "\u{1}",
        "\u{8}",
        "\u{b}",
        "\u{c}",
        "\r",
        "\r\u{8}",
        "\u{1f}",
        "\u{7f}",
        "\u{85}",
        "\u{34f}",
        "\u{115f}",
        "\u{180e}",
        "\u{2028}",
        "\u{202e}",
        "\u{2064}",
        "\u{fe0f}",
        "\u{e0001}",
        "\u{e01ef}",
    ] {
        for text in [
            format!("see {head}{between}{tail} there"),
            format!("{between}{head}{between}{tail}{between}"),
        ] {
            is_gone(tail, &text);
            is_gone_of_json(tail, &json!({ "text": text }).to_string());
        }
    }
    is_gone(tail, &format!("?t={}", token.replace('_', "%5F")));
    is_gone(
        tail,
        &format!(
            "?t={}",
            head.bytes()
                .map(|byte| format!("%{byte:02X}"))
                .collect::<String>()
                + tail
        ),
    );
}

#[test]
fn carriage_returns_are_stepped_over_and_line_ends_are_not() {
    let token = github();
    let (head, tail) = token.split_at(12);
    let text = format!("1 %\r{head}\r{tail}\r\n2 %\r\n");
    let redacted = Secrets::standard().redact(&text);
    assert_eq!(redacted.content, "1 %\r[redacted:github-token]\r\n2 %\r\n");
    let inner = json!({ "out": format!("{head}\r{tail}\r\n") }).to_string();
    is_gone_of_json(tail, &json!({ "text": inner }).to_string());
    is_gone_of_json(tail, &format!("{{\"a\": \"{head}\\u000d{tail}\"}}"));
    for text in [
        format!("{head}\r\n{tail}\r\n"),
        "Receiving objects:  50% (1/2)\rReceiving objects: 100% (2/2), done.\r\n".to_owned(),
        "the secret\ris=\rA1b2\r\nthe token\r\n: main\r".to_owned(),
    ] {
        assert_eq!(Secrets::standard().redact(&text).hits, vec![], "{text}");
        let text = json!({ "text": text }).to_string();
        assert_eq!(
            Secrets::standard().redact_json(&text).hits,
            vec![],
            "{text}"
        );
    }
}

#[test]
fn keys_that_vendors_publish_are_not_secrets() {
    let random = [
        alnum(24),
        alnum(30),
        alnum(36),
        alnum(97),
        made(HEX, 35),
        made(HEX, 40),
    ];
    for (mode, random) in random
        .iter()
        .flat_map(|random| ["live", "test"].map(|mode| (mode, random)))
    {
        let key = format!("pk_{mode}_{random}");
        for text in [
            key.clone(),
            format!("const stripe = Stripe(\"{key}\");"),
            format!("STRIPE_PUBLISHABLE_KEY={key}"),
            format!("STRIPE_KEY={key}"),
            format!("VITE_API_TOKEN={key}"),
            format!("stripe_key: {key}"),
            format!("<script data-key='{key}'></script>"),
            format!("https://a.example/pay?key={key}"),
        ] {
            assert_eq!(Secrets::standard().redact(&text).hits, vec![], "{text}");
            let text = json!({ "api_key": key, "text": text }).to_string();
            assert_eq!(
                Secrets::standard().redact_json(&text).hits,
                vec![],
                "{text}"
            );
        }
        is_gone(random, &format!("sk_{mode}_{random}"));
    }
    for mode in ["live", "test"] {
        for before in ["", "curl -u ", "api_key: "] {
            let key = format!("{mode}_{}", alnum(36));
            let redacted = Secrets::standard()
                .redact(&format!("{before}{key}\n"))
                .content
                .into_owned();
            assert_eq!(redacted, format!("{before}[redacted:chargebee-key]\n"));
        }
    }
}

#[test]
fn the_value_of_a_line_of_the_environment_goes_as_a_whole() {
    for name in [
        "DB_PASSWORD",
        "MYSQL_PWD",
        "SMTP_PASS",
        "JWT_SECRET",
        "API_TOKEN",
    ] {
        for secret in [
            "Kq7&Zt2;Lm9|Xw4,Rb8",
            "Kq7Zt2Lm9&Xw4",
            "&Kq7Zt2Lm9",
            "Kq7Zt2Lm9;;Xw4Rb8|Vn3",
        ] {
            for (before, behind) in [
                ("", ""),
                ("A=1\n", "\nB=2\n"),
                ("A=1\r\n", "\r\nB=2\r\n"),
                ("+", "\n"),
                ("     3\t", "\n"),
                (".env:3:", "\n"),
                ("A=1\0", "\0B=2\0"),
                ("  - ", " # of the database\n"),
                ("", "; ls\n"),
                ("", " | tee x\n"),
            ] {
                let text = format!("{before}{name}={secret}{behind}");
                let redacted = Secrets::standard().redact(&text).content.into_owned();
                let rest = redacted.split_once("]").map(|(_, rest)| rest);
                assert_eq!(rest, Some(behind), "{redacted}");
                assert!(
                    redacted.starts_with(&format!("{before}{name}=[redacted:")),
                    "{redacted}"
                );
                let json = json!({ "content": text }).to_string();
                let redacted = Secrets::standard().redact_json(&json).content.into_owned();
                let read: serde_json::Value = serde_json::from_str(&redacted).unwrap();
                let content = read["content"].as_str().unwrap();
                assert!(content.ends_with(&format!("]{behind}")), "{content}");
            }
        }
    }
    let redacted = |text: &str| Secrets::standard().redact(text).content.into_owned();
    assert_eq!(
        redacted("DB_PASSWORD=Kq7Zt2Lm9Xw4; ls && cat b1\n"),
        "DB_PASSWORD=[redacted:password-assignment]; ls && cat b1\n"
    );
    for text in [
        "PASSWORD=x;ls",
        "DB_PASSWORD=${DB_PASSWORD};ls-1",
        "TOKEN=$(cat a1);export TOKEN",
        "SECRET=changeme;ls",
        "PASSWORD=;make -j4;make install1",
    ] {
        assert_eq!(redacted(text), text);
    }
}

#[test]
fn placeholders_and_examples_are_not_secrets() {
    for text in [
        "https://user:pass@example.com/",
        "postgres://postgres:postgres@localhost/db",
        "https://user:password@host",
        "https://$USER:$PASSWORD@host",
        "https://<user>:<password>@host",
        "PASSWORD=changeme123",
        "API_KEY=your-api-key-1234",
        "TOKEN=os.environ[\"TOKEN_1\"]",
        "const TOKEN: Token = Token::A1;",
        "SECRET=${SECRET_1}",
        "git@github.com:a/b.git and ssh://git@host/x",
        "curl -u user:password https://x",
        "password=foo host=bar",
    ] {
        let hits = Secrets::standard().redact(text).hits;
        assert_eq!(hits, vec![], "{text}");
    }
}

#[test]
fn the_environment_of_a_process_ends_its_lines_with_nul() {
    for name in ["DB_PASSWORD", "API_TOKEN"] {
        let secret = "Kq7Zt2Lm9Xw4Rb8Vn3";
        let text = format!("A=1\0{name}={secret}\0B=2\0");
        is_gone(secret, &text);
        is_gone_of_json(secret, &json!({ "content": text }).to_string());
    }
}

#[test]
fn a_password_with_signs_goes_as_a_whole_where_it_is_the_value_of_a_key() {
    for sign in [
        '(', ')', '<', '>', '[', ']', '{', '}', '&', ';', '|', ',', '\'', '"', '`', '\\',
    ] {
        let (head, tail) = ("Kq7Zt2Lm9", "Xw4Rb8Vn3");
        let secret = format!("{head}{sign}{tail}");
        for key in ["password", "db_password", "client_secret"] {
            let text = json!({ key: secret }).to_string();
            is_gone_of_json(head, &text);
            is_gone_of_json(tail, &text);
        }
    }
    for value in [
        "${DB_PASSWORD}",
        "{{ vault.db }}",
        "$(pass db)",
        "<your-password>",
    ] {
        let text = json!({ "password": value }).to_string();
        let content = Secrets::standard().redact_json(&text).content.into_owned();
        assert_eq!(content, text);
    }
}

/// Ids of calls, messages and files, and names of programs, are what events are joined by.
#[test]
fn ids_and_names_are_not_secrets() {
    let (random, hex) = (alnum(40), made("0f3a9c7b1e5d8264", 48));
    let mut texts: Vec<String> = [
        "read_file-1768010961326-7266fc4bc8133",
        "write_file-1768010964047-e2271ae09efa58",
        "toolu_01A09q90qw90lq917835lq9",
        "call_abcDEF0123ghiJKL4567mnoP",
        "crash_ca24c2f5b1341124fcd324cbaafcaa9a1f6d034c_does_not_panic",
        "ring_core_0_17_14__ChaCha20_ctr32_avx2",
        "write_buffer_with_f64_and_u8_slice_and_u32_and_u32",
        "efac3c0a_0de55551_fee0bfe4_67fa017a_1a898fa1_6ca57cb1",
        "the token is Utf8Error and the secret is S3BucketName",
        "Token: D3DKMT_PRESENTHISTORYTOKEN_0,",
        "pub fn with_credentials(this: &XmlHttpRequest) -> bool;",
        "app:prod-ca24c2f5b1341124fcd324cbaafcaa9a1f6d034c",
        "badge.svg?token=3KA3R2D9fV)",
    ]
    .map(str::to_owned)
    .to_vec();
    texts.extend(
        ["msg_", "toolu_", "call_", "req_", "file-", "chatcmpl-"].map(|id| format!("{id}{random}")),
    );
    texts.extend(["resp_", "rs_", "fc_", "msg_"].map(|id| format!("{id}{hex}")));
    for text in texts {
        let hits = Secrets::standard()
            .redact(&format!("see {text} there\n"))
            .hits;
        assert_eq!(hits, vec![], "{text}");
        let hits = Secrets::standard()
            .redact_json(&json!({ "id": text }).to_string())
            .hits;
        assert_eq!(hits, vec![], "{text}");
    }
}
