//! `annals resume`: a command for a shell, from what a recording names.

use std::fs;

use serde_json::{Value, json};

use crate::support::Place;

/// Imports a session of Claude Code with an id, in a directory, on a branch, and returns its id in the log.
fn import(place: &Place, session: &str, directory: &str, branch: &str) -> String {
    let known = ids(place);
    let line = |n: u8, role: &str, content: Value| {
        json!({ "type": role, "uuid": format!("{session}-{n}"), "sessionId": session, "cwd": directory,
            "gitBranch": branch, "timestamp": format!("2026-11-20T10:00:0{n}Z"), "isSidechain": false,
            "message": { "role": role, "id": format!("m{n}"), "model": "m".repeat(branch.len()), "content": content } })
    };
    let text = json!([{ "type": "text", "text": "Done." }]);
    let lines = [line(1, "user", json!("Fix it")), line(2, "assistant", text)];
    let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
    fs::write(place.path("recording.jsonl"), lines).unwrap();
    place
        .run(&["import", "claude", "recording.jsonl", "--ended"])
        .ok();
    let new = ids(place).into_iter().find(|id| !known.contains(id));
    new.expect("a new session")
}

fn ids(place: &Place) -> Vec<String> {
    let listed = place.run(&["ls", "--json"]).ok().lines();
    let ids = listed.iter().filter_map(|line| line["id"].as_str());
    ids.map(str::to_owned).collect()
}

#[test]
fn a_directory_is_quoted_and_no_option() {
    let place = Place::with_log();
    let session = import(&place, "s1", "/tmp/it's here; touch x", "main");
    let ran = place.run(&["resume", &session]).ok();
    let expected = r"cd -- '/tmp/it'\''s here; touch x' && claude --resume s1";
    assert_eq!(ran.stdout.trim_end(), expected);
}

#[test]
fn what_is_no_path_or_cannot_be_printed_is_refused() {
    let place = Place::with_log();
    for (number, directory) in ["relative/dir", "-P", "~root", "--help"].iter().enumerate() {
        let session = import(&place, &format!("r{number}"), directory, "main");
        place.run(&["resume", &session]).fails(1, &["is relative"]);
    }
    for (number, directory) in ["/tmp/a\nb", "/tmp/\u{1b}]0;t\u{7}", "/tmp/\u{202e}gpj"]
        .iter()
        .enumerate()
    {
        let session = import(&place, &format!("p{number}"), directory, "main");
        let ran = place.run(&["resume", &session]);
        ran.fails(1, &["cannot be printed"]);
    }
    for id in ["..", "a..b"] {
        let session = import(&place, id, "/tmp", "main");
        place.run(&["resume", &session]).fails(1, &["a plain word"]);
    }
}

#[test]
fn a_directory_that_was_removed_or_is_too_long_is_not_known() {
    let place = Place::with_log();
    let long = format!("/tmp/{}", "d".repeat(200_000));
    let branch = "b".repeat(1_000_000);
    let session = import(&place, "s1", &long, &branch);
    let listed = place.run(&["ls", "--json"]).ok().lines();
    for field in ["branch", "project"] {
        let text = listed[0][field].as_str().unwrap();
        assert!(text.len() < 1_000 && text.ends_with('…'), "{field}: {text}");
    }
    let other = import(&place, "s2", "/tmp/secret-customer", "main");
    let redact = [
        "log",
        "redact",
        "--reason",
        "r",
        "--pattern",
        "secret-customer",
    ];
    place.run(&redact).ok();
    for session in [session, other] {
        let ran = place.run(&["resume", &session]);
        assert_eq!(ran.status, 0, "{ran:?}");
        assert!(ran.stdout.starts_with("claude --resume s"), "{ran:?}");
        assert!(ran.stderr.contains("directory is not known"), "{ran:?}");
        let run = place.run(&["resume", &session, "--run"]);
        run.fails(1, &["directory is not known"]);
    }
}
