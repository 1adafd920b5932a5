//! Processes that stay beside agents: `annals record` and `annals service watch` hear of each hook, and a transcript that grows
//! is not read again.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Place, Running, wait_for};

const SESSION: &str = "5e0c1a52-6c3e-4b53-9f0b-1c1f0a6b7d10";

fn prompt(n: usize) -> String {
    json!({
        "session_id": SESSION, "cwd": "/shop", "hook_event_name": "UserPromptSubmit",
        "prompt_id": format!("p{n}"), "prompt": "Fix it",
    })
    .to_string()
}

fn spooled(place: &Place) -> Value {
    place.run(&["hook", "status", "--json"]).ok().json()["spool"]["state"]["waiting"].clone()
}

fn count(place: &Place, kind: &str) -> usize {
    let log = place.run(&["log", "--json", "-n", "1000"]).ok().lines();
    log.iter()
        .filter(|event| event["event_type"] == kind)
        .count()
}

/// Hooks beside a process that stays: it has heard of what waited, hears of each one, and of none when it has ended.
fn hears_of_hooks(place: &Place, staying: Running) {
    wait_for(|| spooled(place) == 0);
    assert_eq!(count(place, "intent.submitted"), 1);
    let bell = place.path("log.spool/bell");
    wait_for(|| bell.exists());
    for n in 1..10 {
        let run = place.run_with(&["hook", "claude", "-v", "--deadline", "60000"], prompt(n));
        assert_eq!((run.status, run.stdout.as_str()), (0, ""));
        assert!(run.stderr.contains("takes it in at once"), "{run:?}");
    }
    wait_for(|| spooled(place) == 0);
    assert_eq!(count(place, "intent.submitted"), 10);
    staying.end();
    assert!(!bell.exists());
    let run = place.run_with(&["hook", "claude", "-v", "--deadline", "60000"], prompt(10));
    assert!(run.stderr.contains("annals: recorded"), "{run:?}");
}

/// A place where an event waits.
fn waiting() -> Place {
    let place = Place::empty();
    place
        .run_with(&["hook", "claude", "--deadline", "60000"], prompt(0))
        .ok();
    assert_eq!(spooled_without_log(&place), 1);
    place.run(&["init"]).ok();
    place
}

fn spooled_without_log(place: &Place) -> Value {
    place.run(&["hook", "status", "--json"]).json()["spool"]["state"]["waiting"].clone()
}

#[test]
fn who_records_telemetry_hears_of_hooks() {
    let place = waiting();
    let args = ["record", "--otlp", "127.0.0.1:0", "--json"];
    let mut staying = Running::of(place.command(&args));
    assert!(staying.next()["listening"].is_string());
    hears_of_hooks(&place, staying);
}

#[test]
fn who_watches_transcripts_hears_of_hooks() {
    let place = waiting();
    fs::create_dir(place.path("transcripts")).unwrap();
    let staying = Running::of(place.command(&["watch", "claude", "transcripts", "--json"]));
    hears_of_hooks(&place, staying);
}

/// A line of a transcript: a prompt, or an answer of so many bytes.
fn line(n: usize, bytes: usize) -> String {
    let second = format!(
        "2026-11-26T{:02}:{:02}:{:02}Z",
        n / 3600,
        n / 60 % 60,
        n % 60
    );
    let line = match n % 10 {
        0 => json!({
            "type": "user", "uuid": format!("l{n}"), "sessionId": SESSION, "timestamp": second, "cwd": "/shop",
            "message": { "role": "user", "content": format!("Step {n}") },
        }),
        _ => json!({
            "type": "assistant", "uuid": format!("l{n}"), "sessionId": SESSION, "timestamp": second, "cwd": "/shop",
            "message": { "id": format!("m{n}"), "model": "claude-sonnet-4-6", "role": "assistant",
                "usage": { "input_tokens": 3, "output_tokens": n },
                "content": [{ "type": "text", "text": format!("Done {n} {}", "so ".repeat(bytes / 3)) }] },
        }),
    };
    format!("{line}\n")
}

fn append(path: &Path, text: &str) {
    let file = OpenOptions::new().append(true).create(true).open(path);
    file.unwrap().write_all(text.as_bytes()).unwrap();
}

/// The bytes that a process has read so far.
#[cfg(target_os = "linux")]
fn read_by(process: u32) -> u64 {
    let io = fs::read_to_string(format!("/proc/{process}/io")).unwrap();
    let read = io.lines().find_map(|line| line.strip_prefix("rchar: "));
    read.unwrap().trim().parse().unwrap()
}

/// What a growth costs follows from what was added, and what is in the log is what an import of the whole makes.
#[test]
#[cfg(target_os = "linux")]
fn a_transcript_that_grows_is_not_read_again() {
    const LINES: usize = 2_000;
    let place = Place::with_log();
    fs::create_dir(place.path("transcripts")).unwrap();
    let path = place.path("transcripts/s.jsonl");
    let begun: String = (0..LINES).map(|n| line(n, 2_000)).collect();
    append(&path, &begun);
    let mut watching = Running::of(place.command(&["watch", "claude", "transcripts", "--json"]));
    let first = watching.next();
    assert_eq!(
        (&first["broken"], &first["waiting"]),
        (&json!(0), &json!(0))
    );
    for n in LINES..LINES + 5 {
        let before = read_by(watching.child.id());
        // A part of a line comes first, and waits.
        let line = line(n, 100);
        let (part, rest) = line.split_at(line.len() / 2);
        append(&path, part);
        std::thread::sleep(std::time::Duration::from_millis(500));
        append(&path, rest);
        let report = watching.next();
        assert_eq!(report["broken"], 0, "{report}");
        let read = read_by(watching.child.id()) - before;
        assert!(read < 1_000_000, "{read} bytes are read for a line");
    }
    watching.end();
    let again = place.run(&["import", "claude", "transcripts", "--json"]);
    let again = again.ok().json();
    assert_eq!(
        (&again["events_made"], &again["broken_count"]),
        (&json!(0), &json!(0)),
        "{again}"
    );
    let lines = again["already_there"].as_u64().unwrap() as usize;
    assert_eq!(lines, LINES + 5);
    place.run(&["verify"]).ok();
}
