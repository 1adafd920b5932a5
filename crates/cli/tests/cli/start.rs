//! `annals` and `annals start`: from recordings to a viewer with one command; and which log commands use.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use serde_json::{Value, json};

use crate::import_claude::{session, write};
use crate::support::{Place, Ran, Running, wait_for};

/// The program without a log that is named, in a folder below the place.
fn without_log(place: &Place, folder: &str, args: &[&str]) -> Command {
    let folder = place.path(folder);
    fs::create_dir_all(&folder).unwrap();
    let mut command = place.command(args);
    command
        .current_dir(folder)
        .env_remove("ANNALS_LOG")
        .env_remove("XDG_DATA_HOME")
        .env_remove("XDG_CONFIG_HOME")
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY");
    command
}

fn run(place: &Place, folder: &str, args: &[&str]) -> Ran {
    Ran::of(without_log(place, folder, args).output().unwrap())
}

/// The user's own log.
fn users_log(place: &Place) -> String {
    let log = place.path("home/.local/share/annals");
    log.display().to_string()
}

fn write_text(place: &Place, file: &str, text: &str) {
    let path = place.path(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Recordings of three agents in their own folders.
fn recordings(place: &Place) {
    let claude = "home/.claude/projects/-w";
    write(place, &format!("{claude}/one.jsonl"), &session("one"));
    write(place, &format!("{claude}/two.jsonl"), &session("two"));
    let codex = place.path("home/.codex/sessions/2026/01/02");
    fs::create_dir_all(&codex).unwrap();
    let line = |kind: &str, payload: Value| {
        format!(
            "{}\n",
            json!({ "timestamp": "2026-01-02T03:04:05Z", "type": kind, "payload": payload })
        )
    };
    let meta = json!({ "id": "0198c0de-0000-7000-8000-000000000001", "timestamp": "2026-01-02T03:04:05Z",
        "cwd": "/w", "originator": "codex_cli_rs", "cli_version": "0.50.0" });
    let prompt = json!({ "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "Fix it" }] });
    let text = line("session_meta", meta) + &line("response_item", prompt);
    fs::write(codex.join("rollout-2026-01-02T03-04-05-one.jsonl"), text).unwrap();
}

/// Events of the log that a command without `--log` uses.
fn events(place: &Place, folder: &str) -> u64 {
    let stats = run(place, folder, &["stats", "--json"]).ok().json();
    stats["events"].as_u64().unwrap()
}

#[test]
fn one_command_imports_the_recordings_of_all_agents() {
    let place = Place::empty();
    recordings(&place);
    let ran = run(&place, "work", &["start", "--once"]).ok();
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(lines.len(), 4, "{ran:?}");
    assert!(
        lines[0].contains("3 sessions") && !lines[0].contains("secret"),
        "{ran:?}"
    );
    assert!(lines[2].starts_with("recording  off"), "{ran:?}");
    assert!(lines[3].ends_with(&users_log(&place)), "{ran:?}");
    let before = events(&place, "work");
    assert!(before > 0);
    // What did not change is not read again, and nothing is recorded twice.
    let again = run(&place, "work", &["--once", "--json"]).ok().json();
    assert_eq!(
        (&again["state"], &again["sessions"]),
        (&json!("imported"), &json!(3))
    );
    assert_eq!(events(&place, "work"), before);
    let imported = place.path("home/.local/share/annals.imported");
    let mode = fs::metadata(imported).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

/// A recording is recognized by later lines, by the outline of a long one, and with halves of characters, as it is imported.
#[test]
fn recordings_with_long_lines_and_halves_of_characters_are_imported() {
    let place = Place::empty();
    let folder = "home/.claude/projects/-w";
    let line = |session: &str, text: &str| {
        format!(
            "{}\n",
            json!({ "type": "user", "uuid": format!("{session}-1"), "sessionId": session, "cwd": "/w",
                "timestamp": "2026-01-02T03:04:05Z", "isSidechain": false,
                "message": { "role": "user", "content": text } })
        )
    };
    let long = line("long", &"x".repeat(5_000_000));
    write_text(&place, &format!("{folder}/long.jsonl"), &long);
    let half = line("half", "a half HERE").replace("HERE", "\\ud800");
    write_text(&place, &format!("{folder}/half.jsonl"), &half);
    let broken = format!("{}\n{}", "x".repeat(5_000_000), line("later", "Fix it"));
    write_text(&place, &format!("{folder}/later.jsonl"), &broken);
    // The first line of the third one is not JSON. It is named once, and fails each start that reads its recording no more.
    let names = [
        "later.jsonl: 1 record could not be imported",
        "1 record could",
    ];
    run(&place, "work", &["start", "--once"]).fails(1, &names);
    let again = run(&place, "work", &["start", "--once"]).fails(1, &["1 record could"]);
    assert!(!again.stderr.contains("later.jsonl"), "{again:?}");
    let listed = run(&place, "work", &["ls", "--json"]).ok().lines();
    assert_eq!(listed.len(), 3, "{listed:?}");
}

#[test]
fn a_recording_that_cannot_be_read_is_named_and_fails_the_import() {
    let place = Place::empty();
    recordings(&place);
    write_text(&place, "home/.claude/projects/-w/bad.jsonl", "no JSON\n");
    let ran = run(&place, "work", &["start", "--once"]);
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(
        ran.stderr.contains("bad.jsonl") && ran.stderr.contains("1 recording"),
        "{ran:?}"
    );
    assert!(ran.stdout.contains("3 sessions"), "{ran:?}");
    // What nothing decompresses, and links to recordings elsewhere, are as bad.
    let projects = place.path("home/.claude/projects");
    fs::remove_file(projects.join("-w/bad.jsonl")).unwrap();
    fs::write(projects.join("-w/old.jsonl.gz"), "x").unwrap();
    write_text(&place, "archive/s.jsonl", "{}\n");
    std::os::unix::fs::symlink(place.path("archive"), projects.join("archive")).unwrap();
    let named = ["old.jsonl.gz", "archive was not imported", "2 recordings"];
    run(&place, "work", &["start", "--once"]).fails(1, &named);
    let followed = ["watch", "claude", "../home/.claude/projects", "--once"];
    run(&place, "work", &followed).fails(1, &["old.jsonl.gz", "archive", "could not be imported"]);
}

#[test]
fn a_redaction_takes_paths_out_of_the_list_of_imported_recordings() {
    let place = Place::empty();
    let recording = "home/.claude/projects/-ACME-1/one.jsonl";
    write(&place, recording, &session("one"));
    run(&place, "work", &["start", "--once"]).ok();
    let list = place.path("home/.local/share/annals.imported");
    assert!(fs::read_to_string(&list).unwrap().contains("ACME-1"));
    let redact = ["log", "redact", "--reason", "r"];
    let named = run(&place, "work", &[&redact[..], &["1"]].concat()).ok();
    assert!(named.stdout.contains("annals.imported"), "{named:?}");
    let cleaned = run(
        &place,
        "work",
        &[&redact[..], &["--pattern", "ACME-1"]].concat(),
    );
    assert!(cleaned.ok().stdout.contains("1 path of recordings"));
    assert!(!fs::read_to_string(&list).unwrap().contains("ACME-1"));
    fs::set_permissions(&list, fs::Permissions::from_mode(0o644)).unwrap();
    let doctor = run(&place, "work", &["doctor"]);
    assert!(doctor.stdout.contains("others can read it"), "{doctor:?}");
}

#[test]
fn without_recordings_the_folders_are_listed_that_were_searched() {
    let place = Place::empty();
    let ran = run(&place, "work", &["start", "--once"]).ok();
    for folder in [
        "~/.claude/projects",
        "~/.codex/sessions",
        "~/.gemini/tmp",
        "~/.local/share/opencode",
    ] {
        assert!(ran.stdout.contains(folder), "{ran:?}");
    }
    assert!(ran.stdout.contains("annals record on"), "{ran:?}");
    run(&place, "work", &["import"])
        .fails(1, &["no recordings were found in", "~/.claude/projects"]);
}

#[test]
fn without_a_terminal_and_a_command_there_is_help() {
    let place = Place::empty();
    let bare = run(&place, "work", &[]).fails(2, &["annals ls", "annals start"]);
    assert!(bare.stdout.contains("Usage: annals"), "{bare:?}");
    assert!(!place.path("home/.local/share/annals").exists());
}

/// The answer to a request.
fn got(address: &str) -> String {
    let host = address.trim_start_matches("http://").trim_end_matches('/');
    let mut stream = TcpStream::connect(host).unwrap();
    write!(
        stream,
        "GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn it_serves_follows_and_is_found_by_a_second_start() {
    let place = Place::empty();
    recordings(&place);
    let start = ["start", "--json", "--listen", "127.0.0.1:0"];
    let mut running = Running::of(without_log(&place, "work", &start));
    let serving = running.next();
    assert_eq!(serving["state"], "serving");
    let address = serving["address"].as_str().unwrap().to_owned();
    let imported = running.next();
    assert_eq!(
        (&imported["sessions"], &imported["address"]),
        (&json!(3), &json!(address))
    );
    assert_eq!(imported["following"], json!(["claude", "codex"]));
    assert!(got(&address).starts_with("HTTP/1.1 200"), "{address}");
    let note = place.path("home/.local/share/annals.viewer");
    let mode = fs::metadata(&note).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let second = run(&place, "work", &["start", "--json"]).ok().json();
    assert_eq!(
        (&second["state"], &second["address"]),
        (&json!("running"), &json!(address))
    );
    let before = events(&place, "work");
    write(
        &place,
        "home/.claude/projects/-w/three.jsonl",
        &session("three"),
    );
    wait_for(|| events(&place, "work") > before);
    running.end();
    assert!(!note.exists());
}

/// A document that its program writes anew, in a folder that was not there when the viewer was started.
#[test]
fn agents_that_write_their_recordings_anew_are_followed() {
    let place = Place::empty();
    recordings(&place);
    let start = ["start", "--json", "--listen", "127.0.0.1:0"];
    let mut running = Running::of(without_log(&place, "work", &start));
    assert_eq!(running.next()["state"], "serving");
    assert_eq!(running.next()["sessions"], 3);
    let prompts = || {
        let listed = run(&place, "work", &["ls", "--json", "--agent", "gemini"]).ok();
        let session = listed
            .stdout
            .lines()
            .next()
            .map(|line| serde_json::from_str(line).unwrap());
        session.map_or(0, |session: Value| session["prompts"].as_u64().unwrap())
    };
    let file = "home/.gemini/tmp/cafe/chats/session-2026-01-02T03-00-s.json";
    for count in 1..=2 {
        let prompt = |number: u64| {
            json!({ "id": format!("u{number}"), "timestamp": format!("2026-01-02T03:00:0{number}.000Z"),
                "type": "user", "content": format!("Fix {number}") })
        };
        let messages: Vec<Value> = (1..=count).map(prompt).collect();
        let document = json!({ "sessionId": "s", "projectHash": "cafe", "startTime": "2026-01-02T03:00:00.000Z",
            "lastUpdated": "2026-01-02T03:00:00.000Z", "messages": messages });
        write_text(&place, file, &document.to_string());
        // What is no recording is passed over.
        write_text(&place, "home/.gemini/tmp/cafe/logs.json", "[1]");
        wait_for(|| prompts() == count);
    }
    let ran = running.end();
    assert!(!ran.contains("logs.json"), "{ran}");
}

#[test]
fn options_of_start_are_refused_before_another_command() {
    let place = Place::empty();
    run(&place, "work", &["--once", "stats"]).fails(2, &["--once"]);
}

#[test]
fn a_log_is_found_in_the_folders_above() {
    let place = Place::empty();
    run(&place, "project", &["init"]).ok();
    let log = place.path("project/.annals");
    let ran = run(&place, "project/src/deep", &["stats"]);
    let note = format!("annals: using the log {}\n", log.display());
    assert_eq!(
        (ran.status, ran.stderr.as_str()),
        (0, note.as_str()),
        "{ran:?}"
    );
    // Programs and those who name the log know which one it is.
    run(&place, "project/src/deep", &["stats", "--json"]).ok();
    run(
        &place,
        "project/src/deep",
        &["--log", "../../.annals", "stats"],
    )
    .ok();
    let here = run(&place, "project", &["stats"]);
    assert_eq!(
        (here.status, here.stderr.as_str()),
        (0, note.as_str()),
        "{here:?}"
    );
    // A nearer one comes first.
    run(&place, "project/src", &["init"]).ok();
    let near = run(&place, "project/src/deep", &["stats"]);
    assert!(near.stderr.contains("project/src/.annals"), "{near:?}");
    assert!(!place.path("home/.local/share/annals").exists());
}

#[test]
fn a_log_of_another_user_is_refused() {
    let place = Place::empty();
    fs::create_dir_all(place.path("project/.annals")).unwrap();
    let chowned = std::os::unix::fs::chown(place.path("project/.annals"), Some(12_345), None);
    if chowned.is_err() {
        println!("NOT RUN: only root can give a folder to another user");
        return;
    }
    let says = ["belongs to the user with the id 12345", "--log"];
    run(&place, "project/src", &["stats"]).fails(1, &says);
    run(&place, "project", &["import", "nowhere"]).fails(1, &says);
    // An agent takes the end of its hook for an answer; and what needs no log works.
    let hook = run(&place, "project", &["hook", "claude", "{}"]);
    assert_eq!((hook.status, hook.stdout.as_str()), (0, ""), "{hook:?}");
    assert!(hook.stderr.contains("belongs to the user"), "{hook:?}");
    assert_eq!(
        fs::read_dir(place.path("project/.annals")).unwrap().count(),
        0
    );
    run(&place, "project", &["policies"]).ok();
    run(
        &place,
        "project",
        &["hook", "claude", "--gate", "x.cedar", "--fail-closed", "{}"],
    )
    .fails(2, &["belongs to the user"]);
}

#[test]
fn the_users_log_is_created_by_an_import_and_by_nothing_that_reads() {
    let place = Place::empty();
    write(&place, "work/s.jsonl", &session("s"));
    for reads in [&["list", "runs"][..], &["log"], &["stats"], &["cost"]] {
        run(&place, "work", reads).fails(1, &["there is no log yet", "annals import"]);
    }
    assert!(!place.path("home/.local").exists());
    let ran = run(&place, "work", &["import", "s.jsonl"]).ok();
    let names: Vec<&str> = ran
        .stdout
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert_eq!(
        names,
        ["sessions", "projects", "time", "cost", "secrets"],
        "{ran:?}"
    );
    assert!(ran.stdout.contains("1 new"), "{ran:?}");
    let again = run(&place, "work", &["import", "s.jsonl"]).ok();
    assert!(again.stdout.contains("none new"), "{again:?}");
    let log = place.path("home/.local/share/annals");
    assert_eq!(fs::metadata(&log).unwrap().permissions().mode() & 0o077, 0);
    // Another command of the same user reads it, from anywhere.
    assert!(events(&place, "elsewhere") > 0);
}

#[test]
fn the_variable_for_data_decides_where_the_users_log_is() {
    let place = Place::empty();
    write(&place, "work/s.jsonl", &session("s"));
    let data = place.path("data");
    let mut import = without_log(&place, "work", &["import", "s.jsonl"]);
    Ran::of(import.env("XDG_DATA_HOME", &data).output().unwrap()).ok();
    assert!(data.join("annals").is_dir());
}

#[test]
fn times_are_taken_in_the_forms_of_people() {
    let place = Place::empty();
    write(&place, "work/s.jsonl", &session("s"));
    run(&place, "work", &["import", "s.jsonl"]).ok();
    let logged = |args: &[&str]| {
        let mut command = without_log(&place, "work", &[&["log", "--json"], args].concat());
        let ran = Ran::of(command.env("TZ", "UTC").output().unwrap());
        ran.ok().lines().len()
    };
    let all = logged(&[]);
    assert!(all > 0);
    for since in ["yesterday", "2d", "24h", "2026-01-01"] {
        assert_eq!(logged(&["--since", since]), all, "{since}");
    }
    assert_eq!(logged(&["--since", "2126-01-01"]), 0);
    // It happened in January, and was recorded now.
    assert_eq!(logged(&["--since", "occurred:2026-01-03"]), 0);
    assert_eq!(logged(&["--since", "occurred:2026-01-02"]), all);
    let run_id = run(&place, "work", &["list", "runs", "--json"]).ok().json()["id"].clone();
    let run_id = run_id.as_str().unwrap();
    run(&place, "work", &["show", run_id, "--at", "today"]).ok();
    run(&place, "work", &["show", run_id, "--at", "yesterday"]).fails(1, &["did not exist"]);
    run(&place, "work", &["show", run_id, "--at", "tomorrow"]).fails(2, &["yesterday", "RFC 3339"]);
    run(&place, "work", &["cost", "--since", "3h"]).ok();
}
