//! Secrets, as far as the program has a part in them.

use serde_json::{Value, json};

use crate::support::Place;

/// A token of GitHub's form. No text here is one.
fn token() -> String {
    ["gh", "p_", &"Pl4nted7".repeat(5)].concat()
}

/// A report names no secret, also where it is in the name of a file or folder.
#[test]
fn a_report_names_files_without_their_secrets() {
    let place = Place::with_log();
    write(&place, &format!("Use {}", token()));
    let text = std::fs::read_to_string(place.path("s.jsonl")).unwrap();
    let folder = format!("recordings/{}", token());
    std::fs::create_dir_all(place.path(&folder)).unwrap();
    let file = format!("{folder}/{}.jsonl", token());
    std::fs::write(place.path(&file), format!("{text}not JSON\n")).unwrap();
    std::fs::write(place.path(&format!("{folder}/{}.txt", token())), "x").unwrap();
    for args in [
        &["import", "claude", "recordings", "--keep-raw"][..],
        &["import", "claude", &folder, "--json"],
        &["--verbose", "import", "recordings"],
    ] {
        let ran = place.run(args);
        assert!(ran.stdout.contains("[redacted:github-token]"), "{ran:?}");
        assert!(!ran.stdout.contains(&token()), "{ran:?}");
    }
}

/// A session of one prompt.
fn write(place: &Place, prompt: &str) {
    let line = json!({ "type": "user", "uuid": "u1", "sessionId": "s", "cwd": "/w",
        "timestamp": "2026-01-02T03:04:05Z", "message": { "role": "user", "content": prompt } });
    std::fs::write(place.path("s.jsonl"), format!("{line}\n")).unwrap();
}

#[test]
fn an_import_takes_secrets_out_and_says_where_they_were() {
    let place = Place::with_log();
    write(&place, &format!("Use {} and ACME-12345678", token()));
    let first = place
        .run(&[
            "import",
            "claude",
            "s.jsonl",
            "--redact",
            "acme=ACME-[0-9]{8}",
            "--report",
        ])
        .ok();
    let said = &first.stdout;
    assert!(
        said.contains("redacted       1 acme: s.jsonl:1 (message.content)\n"),
        "{said}"
    );
    assert!(
        said.contains("redacted       1 github-token: s.jsonl:1 (message.content)\n"),
        "{said}"
    );
    assert!(said.contains("--keep-secrets"), "{said}");
    let log = place.run(&["export", "annals"]).ok().stdout;
    assert!(
        log.contains("Use [redacted:github-token] and [redacted:acme]"),
        "{log}"
    );
    assert!(!log.contains(&token()) && !said.contains(&token()));

    let again = place.run(&[
        "import",
        "claude",
        "s.jsonl",
        "--redact",
        "acme=ACME-[0-9]{8}",
        "--json",
    ]);
    let report = again.ok().json();
    assert_eq!(report["events_made"], 0);
    assert_eq!(report["redacted"][1]["kind"], "github-token");
    assert_eq!(report["redacted"][1]["count"], 1);
    let expected = json!([{ "file": "s.jsonl", "line": 1, "field": "message.content" }]);
    assert_eq!(report["redacted"][1]["places"], expected);
}

#[test]
fn the_known_formats_can_be_kept_and_a_bad_pattern_is_refused() {
    let place = Place::with_log();
    write(&place, &format!("Use {} and ACME-12345678", token()));
    let bad = ["import", "claude", "s.jsonl", "--redact"];
    place
        .run(&[&bad[..], &["("]].concat())
        .fails(2, &["--redact", "regular expression"]);
    place
        .run(&[&bad[..], &["password=.*"]].concat())
        .fails(2, &["empty text"]);
    place
        .run(&[&bad[..], &["password=.+"]].concat())
        .fails(2, &["ordinary text", "(?:password=...)"]);
    let args = [
        "import",
        "claude",
        "s.jsonl",
        "--keep-secrets",
        "--redact",
        "ACME-[0-9]{8}",
    ];
    let said = place.run(&args).ok().stdout;
    assert!(
        said.contains("1 custom)") && !said.contains("github-token"),
        "{said}"
    );
    let log = place.run(&["export", "annals"]).ok().stdout;
    assert!(
        log.contains(&format!("Use {} and [redacted:custom]", token())),
        "{log}"
    );
}

#[test]
fn the_formats_are_listed_and_a_file_is_scanned() {
    let place = Place::empty();
    let listed = place.run(&["secrets"]).ok().stdout;
    assert!(
        listed.starts_with("KIND") && listed.contains("aws-access-key-id"),
        "{listed}"
    );
    let lines = place
        .run(&["secrets", "--json", "--redact", "acme=ACME-[0-9]{8}"])
        .ok()
        .lines();
    assert_eq!(lines.last().unwrap()["kind"], "acme");

    write(&place, &token());
    let scanned = place.run(&["secrets", "scan", "s.jsonl"]);
    assert_eq!(
        (scanned.status, scanned.stdout.as_str()),
        (0, "s.jsonl:1 (message.content): github-token\n")
    );
    assert!(
        scanned.stderr.contains("would take out 1 secret"),
        "{scanned:?}"
    );
    let piped = place.run_with(
        &["secrets", "scan", "-", "--json"],
        format!("[not JSON]\n{}\n", token()),
    );
    let hits: Vec<Value> = piped.ok().lines();
    assert_eq!(
        hits,
        [json!({ "kind": "github-token", "file": "-", "line": 2, "field": "" })]
    );
    place
        .run(&["secrets", "scan", "nothing"])
        .fails(1, &["cannot read nothing"]);
}
