//! `annals share` looks for secrets a second time: in each text of the conversation, and on the page.

use std::collections::BTreeMap;
use std::fs;

use serde_json::{Value, json};

use crate::support::{Place, unbase64};

const ACCESS_KEY: &str = concat!("AKIA", "Q3EGRU7XWN2KZ5TB");
const GITHUB: &str = concat!("ghp_", "a8Xk2LmQ9vRt4WzY7bNc1DfGh5JpS3uEo6Vi");
const ANTHROPIC: &str = concat!(
    "sk-ant-",
    "api03-A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8S9t0U1v2W3x4Y5z6A7b8C9d0E1f2G3h4I5j6K7l8M9n0O1p2-AbCdEfAA"
);
const KEY_LINE: &str = "x9Zk3Lm7Qp2Rt8Vw4Yb6Nc1Df5Gh0JsEuOiAaBbCcDdEe05";
const JWT: &str = concat!(
    "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ",
    ".SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c"
);

/// The secrets of the recording.
const VALUES: [&str; 30] = [
    ACCESS_KEY,
    GITHUB,
    ANTHROPIC,
    KEY_LINE,
    "SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c",
    "kT4vQz8LmRp2WnXc7YbGd9HfJs3EuAo6Zi5Nq1Bx",
    "Corr3ctHorseBatt9",
    "Zx8Kq2Lm9Rt4Wv7Yb3Nc6Df1",
    "Qw7Er9Ty2UiZzz",
    "Sup3rS3cretPw99",
    "HunterTwo99xx",
    "Kj8Hg6Fd4Sa2Po0Iu9Yt7Re5",
    "J5onPassw0rd77",
    "Tr0ub4dorXq9Z",
    "Yam1Qs8vWt42",
    "TableP4ssw0rd8",
    "Old5ecretPwd31",
    "N3wSecretPwd64",
    "Ap1KeyVal9Zx8Cv7Bn6M",
    "Pr0mptPassw0rd55",
    "B0ldPassw0rd88",
    "C0dePassw0rd99",
    "T1ckPassw0rd66",
    "BearerZx8Kq2Lm9Rt4Wv7Yb3",
    "Ur1Passw0rd44",
    "EnvPassw0rd33",
    "S3cretKeyQuoted22xx",
    "ArgPassw0rd11",
    "NestedKey9Zx8Cv7Bn6M5L",
    "ResPassw0rd22",
];

fn key() -> String {
    let line = |number: u8| {
        format!(
            "{}{number:02}",
            KEY_LINE.get(..45).expect("a line of the key")
        )
    };
    let lines: Vec<String> = (0..12).map(line).collect();
    let (begin, end) = (
        "-----BEGIN RSA PRIVATE KEY-----",
        "-----END RSA PRIVATE KEY-----",
    );
    format!("{begin}\nMIIEpAIBAAKCAQEA{}\n{end}", lines.join("\n"))
}

fn answer() -> String {
    format!(
        "key: {ACCESS_KEY}\n{GITHUB}\n{ANTHROPIC}\n{}\n{JWT}\npostgres://admin:Tr0ub4dorXq9Z@db.example.com/prod\n\
         password: Yam1Qs8vWt42\n|user|password|\n|-|-|\n|bob|TableP4ssw0rd8|\n",
        key()
    )
}

fn code() -> String {
    format!(
        "```python\naws_secret_access_key = \"kT4vQz8LmRp2WnXc7YbGd9HfJs3EuAo6Zi5Nq1Bx\"\npassword = \"Corr3ctHorseBatt9\"\n\
         token = \"{GITHUB}\"\nheaders = {{\"Authorization\": \"Bearer Zx8Kq2Lm9Rt4Wv7Yb3Nc6Df1\"}}\n```\n```sh\n\
         export DB_PASSWORD=Qw7Er9Ty2UiZzz\ncurl -u admin:Sup3rS3cretPw99 https://x.example\nmysql -pHunterTwo99xx\n\
         curl -u admin:$HOME https://x.example\n```\n```json\n\
         {{\"client_secret\": \"Kj8Hg6Fd4Sa2Po0Iu9Yt7Re5\", \"password\": \"J5onPassw0rd77\"}}\n```\n"
    )
}

fn line(session: &str, n: usize, fields: &Value) -> Value {
    let mut line = json!({
        "uuid": format!("{session}-{n}"), "sessionId": session, "cwd": "/work/shop", "isSidechain": false,
        "timestamp": format!("2026-11-20T10:00:{n:02}Z"),
    });
    let fields = fields.as_object().expect("fields").clone();
    line.as_object_mut().expect("a line").extend(fields);
    line
}

fn said(session: &str, n: usize, block: &Value) -> Value {
    let message = json!({ "id": format!("{session}-m{n}"), "role": "assistant", "model": "claude-opus-4-5",
        "content": [block], "usage": { "input_tokens": 1, "output_tokens": 1 } });
    line(
        session,
        n,
        &json!({ "type": "assistant", "message": message }),
    )
}

fn result(session: &str, n: usize, id: &str, text: &str, detail: Value) -> Value {
    let content = json!([{ "type": "tool_result", "tool_use_id": id, "content": text }]);
    let message = json!({ "role": "user", "content": content });
    line(
        session,
        n,
        &json!({ "type": "user", "message": message, "toolUseResult": detail }),
    )
}

fn prompt(session: &str, text: &str) -> Value {
    let message = json!({ "role": "user", "content": text });
    line(session, 0, &json!({ "type": "user", "message": message }))
}

fn with_secrets() -> Vec<Value> {
    let session = "secrets";
    let text = |n, text: String| said(session, n, &json!({ "type": "text", "text": text }));
    let call = |n, id: &str, name: &str, input: Value| {
        said(
            session,
            n,
            &json!({ "type": "tool_use", "id": id, "name": name, "input": input }),
        )
    };
    let old = "const password = \"Old5ecretPwd31\";\napi_key: \"x\"\n";
    let new = "const password = \"N3wSecretPwd64\";\nconst apiKey = \"Ap1KeyVal9Zx8Cv7Bn6M\";\n";
    let lines = |sign: char, text: &str| -> Vec<String> {
        text.lines().map(|line| format!("{sign}{line}")).collect()
    };
    let patch = [lines('-', old), lines('+', new)].concat();
    let edited = json!({ "filePath": "/work/shop/a.js", "oldString": old, "newString": new, "structuredPatch":
        [{ "oldStart": 1, "oldLines": 2, "newStart": 1, "newLines": 2, "lines": patch }] });
    let command = format!(
        "export TOKEN={GITHUB} && curl -H \"Authorization: Bearer BearerZx8Kq2Lm9Rt4Wv7Yb3\" https://u:Ur1Passw0rd44@h.example"
    );
    let env = "DB_PASSWORD=EnvPassw0rd33\nSECRET_KEY=\"S3cretKeyQuoted22xx\"\n";
    let args =
        json!({ "password": "ArgPassw0rd11", "nested": { "api_key": "NestedKey9Zx8Cv7Bn6M5L" } });
    let first = format!("here is my key {ACCESS_KEY} and password: Pr0mptPassw0rd55");
    let bold =
        "**password**: B0ldPassw0rd88 and `password=C0dePassw0rd99`\npassword=`T1ckPassw0rd66`\n";
    vec![
        prompt(session, &first),
        text(1, answer()),
        text(2, code()),
        text(3, bold.to_owned()),
        call(4, "b1", "Bash", json!({ "command": command })),
        result(
            session,
            5,
            "b1",
            &format!("{}\npassword=ResPassw0rd22\n", key()),
            json!({}),
        ),
        call(
            6,
            "b2",
            "Edit",
            json!({ "file_path": "/work/shop/a.js", "old_string": old, "new_string": new }),
        ),
        result(session, 7, "b2", "ok", edited),
        call(
            8,
            "b3",
            "Write",
            json!({ "file_path": "/work/shop/.env", "content": env }),
        ),
        call(9, "b4", "Login", args),
    ]
}

fn import(place: &Place, name: &str, lines: &[Value]) {
    let text: Vec<String> = lines.iter().map(|line| format!("{line}\n")).collect();
    fs::write(place.path(name), text.concat()).unwrap();
    let args = ["import", "claude", name, "--ended", "--keep-secrets"];
    place.run(&args).ok();
}

fn share(place: &Place, session: &str, out: &str) -> (Value, String) {
    let shared = place.run(&["share", session, "--out", out, "--json"]);
    let shared = shared.ok().json();
    (shared, fs::read_to_string(place.path(out)).unwrap())
}

/// How often the elements of a page that have an end begin and end.
fn tags(page: &str) -> BTreeMap<&str, [usize; 2]> {
    let mut tags: BTreeMap<&str, [usize; 2]> = BTreeMap::new();
    for tag in page.split('<').skip(1) {
        let name = tag.trim_start_matches('/').split([' ', '>']).next();
        let counts = tags.entry(name.unwrap_or_default()).or_default();
        counts[usize::from(tag.starts_with('/'))] += 1;
    }
    tags.retain(|name, counts| {
        *name != "!DOCTYPE" && *name != "meta" && *name != "br" && counts[1] > 0
    });
    assert!(tags.len() > 10, "{tags:?}");
    tags
}

#[test]
fn no_secret_that_was_kept_is_shared() {
    let place = Place::with_log();
    import(&place, "secrets.jsonl", &with_secrets());
    let session = place.run(&["ls", "--json"]).ok().lines()[0]["id"].clone();
    let session = session.as_str().unwrap();
    let all = place.run(&["export", "markdown", session]).ok().stdout;
    let shown = VALUES.iter().filter(|value| all.contains(**value)).count();
    assert!(shown >= 20, "the session shows {shown} of them");
    let (report, page) = share(&place, session, "shared.html");
    let left: Vec<&&str> = VALUES.iter().filter(|it| page.contains(**it)).collect();
    assert!(left.is_empty(), "{left:?}");
    assert!(page.contains("$HOME"), "a variable is no secret");
    for (name, [begun, ended]) in tags(&page) {
        assert_eq!(begun, ended, "{name}: the markup is whole");
    }
    let counts = report["secrets_removed"].as_object().unwrap();
    let count: u64 = counts.values().filter_map(Value::as_u64).sum();
    assert!((28..=34).contains(&count), "{counts:?}");
}

#[test]
fn a_page_without_secrets_is_shared_as_it_is() {
    let place = Place::with_log();
    let text = "Use `curl -u admin:$HOME` & <b>tokens</b>: 1 < 2\n\n| a | password |\n|-|-|\n| b | none |\n";
    let lines = [
        prompt("plain", "Show the password field of the form"),
        said("plain", 1, &json!({ "type": "text", "text": text })),
    ];
    import(&place, "plain.jsonl", &lines);
    let session = place.run(&["ls", "--json"]).ok().lines()[0]["id"].clone();
    let session = session.as_str().unwrap();
    let args = [
        "export",
        "html",
        session,
        "--headers-only",
        "--out",
        "all.html",
    ];
    place.run(&args).ok();
    let (report, page) = share(&place, session, "shared.html");
    assert_eq!(report["secrets_removed"], json!({}));
    assert_eq!(page, fs::read_to_string(place.path("all.html")).unwrap());
}

#[test]
fn no_secret_is_in_an_exported_page_or_its_proof() {
    let place = Place::with_log();
    import(&place, "secrets.jsonl", &with_secrets());
    let session = place.run(&["ls", "--json"]).ok().lines()[0]["id"].clone();
    let session = session.as_str().unwrap();
    let (report, page) = share(&place, session, "shared.html");
    let exported = place.run(&["export", "html", session, "--out", "all.html"]);
    let exported = exported.fails(0, &["secrets were removed", "headers"]);
    assert!(exported.stdout.contains("all.html"), "{exported:?}");
    // The proof is the same, too: the records of the session have secrets.
    assert_eq!(fs::read_to_string(place.path("all.html")).unwrap(), page);
    let exported = place
        .run(&["export", "html", session, "--json"])
        .ok()
        .json();
    assert_eq!(exported["secrets_removed"], report["secrets_removed"]);
    assert_eq!(exported["html"], page);
    let run = place
        .run(&["object", "list", "runs", "--json"])
        .ok()
        .lines()[0]["id"]
        .clone();
    let run = place.run(&["export", "html", run.as_str().unwrap()]);
    let run = run.fails(0, &["secrets were removed"]).stdout;
    let texts = texts(&run);
    let left: Vec<&&str> = VALUES.iter().filter(|it| texts.contains(**it)).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// A page, and the proof that is in it.
fn texts(page: &str) -> String {
    let begin = "data:application/json;base64,";
    let proof = page.split(begin).nth(1).and_then(|it| it.split('"').next());
    let proof = String::from_utf8(unbase64(proof.expect("a proof"))).unwrap();
    let records = proof
        .split('"')
        .map(|it| String::from_utf8_lossy(&unbase64(it)).into_owned());
    std::iter::once(page.to_owned()).chain(records).collect()
}
