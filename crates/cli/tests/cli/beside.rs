//! Reading while another process writes, and readers that go away.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Stdio};

use serde_json::{Value, json};

use crate::support::{Place, Ran, human, uuid};

/// An `apply` that holds the log open for writing.
struct Writer {
    child: Child,
    stdin: Option<ChildStdin>,
    answers: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Writer {
    fn start(place: &Place) -> Writer {
        let mut child = place
            .command(&["apply"])
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap()).lines();
        Writer {
            stdin: child.stdin.take(),
            child,
            answers,
        }
    }

    fn apply(&mut self, command: &Value) -> Value {
        writeln!(self.stdin.as_mut().unwrap(), "{command}").unwrap();
        serde_json::from_str(&self.answers.next().unwrap().unwrap()).unwrap()
    }

    fn end(mut self) {
        drop(self.stdin.take());
        assert!(self.child.wait().unwrap().success());
    }
}

#[test]
fn reading_commands_work_while_another_process_writes() {
    let place = Place::with_log();
    let mut writer = Writer::start(&place);
    for n in 1..=3 {
        let create = human("create_intent", json!({ "id": uuid(n), "prompt": "p" }));
        assert_eq!(writer.apply(&create)["position"], n);
        // What was acknowledged is there at once.
        assert_eq!(place.run(&["stats", "--json"]).ok().json()["events"], n);
        assert_eq!(
            place.run(&["show", &uuid(n), "--json"]).ok().json()["object_id"],
            uuid(n)
        );
        assert_eq!(place.run(&["log", "--json"]).ok().lines().len() as u64, n);
        let listed = place.run(&["list", "intents", "--json"]).ok().lines();
        assert_eq!(
            (listed.len() as u64, &listed[0]["id"]),
            (n, &uuid(n).into())
        );
    }
    place.run(&["history", &uuid(2)]).ok();
    place.run(&["verify"]).ok();
    // Three records between the first line and the last.
    assert_eq!(place.run(&["export", "annals"]).ok().lines().len(), 5);
    assert_eq!(
        place.run(&["backup", "copy", "--json"]).ok().json()["position"],
        3
    );
    place.run(&["--log", "copy", "verify"]).ok();

    // Others write, too: the process that has the log does it for them.
    let create = human("create_intent", json!({ "prompt": "p" })).to_string();
    let beside = place.run_with(&["apply", "--json"], create.clone()).ok();
    assert_eq!(beside.json()["position"], 4);
    place.run_with(&["apply"], create.clone()).ok();
    assert_eq!(place.run(&["stats", "--json"]).ok().json()["events"], 5);
    // Not where one of the two has it for itself.
    let refused = place.run(&["apply", "--exclusive"]);
    refused.fails(1, &["locked", "open for writing elsewhere"]);
    let refused = place.run(&["gc", "--apply", "--json"]);
    assert_eq!(refused.fails(1, &[]).error_code(), "locked");
    writer.end();
    place.run_with(&["apply", "--exclusive"], create).ok();
}

fn holds(folder: &std::path::Path, secret: &[u8]) -> bool {
    std::fs::read_dir(folder).unwrap().any(|file| {
        // A socket cannot be read, and a file may go meanwhile.
        let bytes = std::fs::read(file.unwrap().path()).unwrap_or_default();
        bytes.windows(secret.len()).any(|part| part == secret)
    })
}

#[test]
fn what_is_redacted_beside_an_owner_goes_from_its_files() {
    const SECRET: &str = "correct-horse-battery";
    let place = Place::with_log();
    let mut writer = Writer::start(&place);
    let create = human("create_intent", json!({ "id": uuid(1), "prompt": SECRET }));
    writer.apply(&create);
    let reason = ["--reason", "it leaked", "--actor", "ada", "--json"];
    let redact = |more: &[&str]| place.run(&[more, &reason].concat()).ok().json();
    assert!(holds(&place.log_dir(), SECRET.as_bytes()));
    let fast = redact(&["redact", "1", "--fast"]);
    assert_eq!(fast["rewritten"], false);
    assert!(holds(&place.log_dir(), SECRET.as_bytes()));
    // The owner is still there, and does it.
    let finished = place.run(&["redact", "--finish", "--json"]).ok().json();
    assert_eq!(finished["rewritten"], true);
    assert!(!holds(&place.log_dir(), SECRET.as_bytes()));
    writer.apply(&human(
        "create_intent",
        json!({ "id": uuid(2), "prompt": SECRET }),
    ));
    let position = place.run(&["stats", "--json"]).ok().json()["events"].to_string();
    assert_eq!(redact(&["redact", &position])["rewritten"], true);
    assert!(!holds(&place.log_dir(), SECRET.as_bytes()));
    writer.end();
    place.run(&["verify"]).ok();
}

/// All content is in tables, as in a log that has grown, and what is redacted is the last of 4 KiB and more.
#[test]
fn a_redaction_beside_an_owner_leaves_the_other_content_to_readers() {
    const PATCH: &str = "177582e3a15d6cb67340a6cf847c75b0d4a6c9e0f2aa28584b0cea89b70271e4";
    let place = Place::with_log();
    let session = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/session.jsonl");
    assert_eq!(place.run(&["import", session, "--actor", "ada"]).status, 0);
    let large = format!("secret {}", "abcdefgh".repeat(1_000));
    let submit = ["submit", "-", "--actor", "ada"];
    assert_eq!(place.run_with(&submit, large).status, 0);
    assert_eq!(place.run(&["rebuild", "--indexes"]).status, 0);
    let writer = Writer::start(&place);
    let redact = |pattern: &str| {
        let reason = ["--reason", "x", "--actor", "ada"];
        let ran = place.run(&[&["redact", "--pattern", pattern], &reason[..]].concat());
        assert_eq!(ran.status, 0, "{ran:?}");
    };
    redact("secret");
    assert!(
        place
            .run(&["cat", PATCH])
            .ok()
            .stdout
            .contains("login.test")
    );
    place.run(&["verify"]).ok();
    assert_eq!(place.run(&["backup", "copy"]).status, 0);
    place.run(&["--log", "copy", "verify"]).ok();
    // A second one removes what it is to remove.
    redact("test\\.skip");
    writer.end();
    place.run(&["verify"]).ok();
    let left = place.run(&["cat", PATCH]);
    assert!(!left.stdout.contains("test.skip"), "{left:?}");
}

#[test]
fn following_another_process_shows_what_it_writes() {
    let place = Place::with_log();
    let mut writer = Writer::start(&place);
    writer.apply(&human("create_intent", json!({ "prompt": "p" })));
    let mut follower = place
        .command(&["log", "--follow", "--json", "--limit", "4"])
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(follower.stdout.take().unwrap()).lines();
    let mut next = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    assert_eq!(next()["position"], 1);
    for position in 2..=4 {
        writer.apply(&human("create_task", json!({ "title": "t" })));
        assert_eq!(next()["position"], position);
    }
    assert!(follower.wait().unwrap().success());
    writer.end();
}

/// Runs the program with a standard output that was closed by its reader.
fn run_unread(place: &Place, args: &[&str], input: &str) -> Ran {
    let (reader, unread) = std::io::pipe().unwrap();
    drop(reader);
    let mut child = place
        .command(args)
        .stdin(Stdio::piped())
        .stdout(unread)
        .spawn()
        .unwrap();
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    Ran {
        status: output.status.code().unwrap(),
        stdout: String::new(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn a_closed_standard_output_is_not_an_error_of_commands_that_only_read() {
    let place = Place::with_log();
    place.accept(&[human(
        "create_intent",
        json!({ "id": uuid(1), "prompt": "p" }),
    )]);
    let id = uuid(1);
    let commands: [&[&str]; 14] = [
        &["log"],
        &["log", "--json"],
        &["log", "--follow"],
        &["show", &id],
        &["history", &id],
        &["stats"],
        &["list", "intents"],
        &["refs", &id],
        &["tree", &id],
        &["verify"],
        &["export", "annals"],
        &["commands"],
        &["completions", "bash"],
        &["man"],
    ];
    for args in commands {
        run_unread(&place, args, "").ok();
    }
}

#[test]
fn commands_are_not_executed_once_standard_output_is_closed() {
    let place = Place::with_log();
    let line = human("create_intent", json!({ "prompt": "p" }));
    let ran = run_unread(&place, &["apply"], &format!("{line}\n{line}\n{line}\n"));
    ran.fails(
        1,
        &[
            "standard output was closed",
            "line 1 was executed",
            "go on from line 2",
        ],
    );
    assert_eq!(place.run(&["stats", "--json"]).ok().json()["events"], 1);
}

/// The temporary folders of readers.
fn scratches(tmp: &std::path::Path) -> Vec<std::ffi::OsString> {
    let entries = std::fs::read_dir(tmp).unwrap();
    entries.map(|entry| entry.unwrap().file_name()).collect()
}

#[test]
fn what_a_killed_reader_left_goes_with_the_next_one() {
    let place = Place::with_log();
    let tmp = place.path("tmp");
    std::fs::create_dir(&tmp).unwrap();
    let within = |args: &[&str]| {
        let mut command = place.command(args);
        command.env("TMPDIR", &tmp);
        command
    };
    let follow = || {
        let before = scratches(&tmp);
        let child = within(&["log", "--follow"]).spawn().unwrap();
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(120);
        while scratches(&tmp).iter().all(|it| before.contains(it)) {
            assert!(std::time::Instant::now() < deadline, "it does not read");
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
        child
    };
    let mut killed = follow();
    killed.kill().unwrap();
    killed.wait().unwrap();
    let left = scratches(&tmp);
    assert_eq!(left.len(), 1, "{left:?}");
    // One that goes on keeps its own.
    let mut follower = follow();
    let used = scratches(&tmp);
    assert!(used.len() == 1 && used != left, "{used:?}");
    let listed = within(&["list", "intents"]).output().unwrap();
    assert!(listed.status.success(), "{listed:?}");
    assert_eq!(scratches(&tmp), used);
    follower.kill().unwrap();
    follower.wait().unwrap();
}
