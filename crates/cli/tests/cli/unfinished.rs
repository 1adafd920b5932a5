//! `annals proof verify` while a redaction is carried out, and after one was killed between its steps.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use annals::domain::task::CreateTask;
use annals::domain::{ActorRef, TaskId};
use annals::store_rocks::Options;
use annals::{Annals, OpenOptions, RedactRequest, Request, Target};
use futures::executor::block_on;
use regex::bytes::Regex;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::{Place, Ran};

const CHILD: &str = "ANNALS_CLI_UNFINISHED_CHILD";
const SECRET: &str = "hunter2";
/// Of 60 KB each, and each a step.
const TASKS: usize = 300;

/// A log of tasks that have the secret in their titles, and all rows.
fn fill(path: &Path) -> Annals {
    let store = Options::default().with_redaction_step_bytes(1);
    let options = OpenOptions::new().create(true).store(store);
    let annals = options.open(path.to_str().unwrap()).unwrap();
    let kept: Vec<String> = (0..15).map(|_| "x".repeat(4_000)).collect();
    for number in 0..TASKS {
        let created = CreateTask::new(format!("{SECRET} {number}"))
            .with_id(TaskId(Uuid::now_v7()))
            .with_constraints(kept.clone());
        block_on(annals.execute(Request::new(ActorRef::human("ada"), created))).unwrap();
    }
    block_on(annals.index().rebuild(&mut |_| {})).unwrap();
    annals
}

fn redact(annals: &Annals) {
    let request = RedactRequest::new(
        vec![Target::Pattern(Regex::new(SECRET).unwrap())],
        ActorRef::human("ada"),
        "it leaked",
    );
    block_on(annals.contents().redact(&request, &mut |_| {})).unwrap();
}

/// Carries a redaction out on a thread of its own, and waits until the log says so.
fn begin(annals: &Annals) -> std::thread::JoinHandle<()> {
    let next = annals.position().next();
    let redacting = annals.clone();
    let redacting = std::thread::spawn(move || redact(&redacting));
    block_on(annals.wait_for(next)).unwrap();
    redacting
}

/// Not a test by itself: the process that dies in a redaction.
#[test]
fn child_dies_in_a_redaction() {
    let Some(directory) = std::env::var_os(CHILD) else {
        return;
    };
    let annals = fill(Path::new(&directory));
    begin(&annals);
    std::thread::sleep(Duration::from_millis(20));
    std::process::abort();
}

fn say_unfinished(ran: &Ran, next: &str) {
    for says in [
        "UNFINISHED: ",
        "is unfinished: ",
        "still have what is being removed",
        next,
    ] {
        assert!(ran.stdout.contains(says), "{says:?} is not in {ran:?}");
    }
    for says in ["DAMAGED", "is not what the events give"] {
        assert!(!ran.stdout.contains(says), "{ran:?}");
    }
    assert!(ran.stderr.contains(next), "{ran:?}");
}

#[test]
fn verify_says_that_a_killed_redaction_is_unfinished_until_the_log_is_opened_for_writing() {
    let place = Place::empty();
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["unfinished::child_dies_in_a_redaction", "--exact"])
        .env(CHILD, place.log_dir())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert_eq!(status.code(), None, "it was killed");
    let next = "it is completed when the log is next opened for writing";
    let ran = place.run(&["verify"]).fails(1, &[next]);
    say_unfinished(&ran, next);
    let ran = place.run(&["verify", "--json"]);
    assert_eq!(ran.status, 1);
    let report: Value = serde_json::from_str(ran.stdout.lines().next().unwrap()).unwrap();
    assert_eq!(report["ok"], false);
    assert_eq!(report["total_findings"], 0);
    assert_eq!(report["catalogue"]["total_findings"], 0);
    assert_eq!(report["unfinished_redaction"]["is_going_on"], false);
    assert!(report["catalogue"]["rows_with_removed_content"].as_u64() > Some(0));
    assert_eq!(ran.error_code(), "redaction_unfinished");
    // As it says.
    place.run(&["redact", "--finish"]).ok();
    let report = place.run(&["verify", "--json"]).ok().json();
    assert_eq!(
        (&report["ok"], &report["unfinished_redaction"]),
        (&json!(true), &Value::Null)
    );
}

#[test]
fn verify_during_a_redaction_says_that_it_is_being_carried_out() {
    let next =
        "it is being carried out by the process that writes: run `annals proof verify` again";
    // A redaction may be over before the other process has begun.
    for _ in 0..5 {
        let place = Place::empty();
        let annals = fill(&place.log_dir());
        let redacting = begin(&annals);
        let ran = place.run(&["verify"]);
        redacting.join().unwrap();
        if ran.status != 0 {
            assert_eq!(ran.status, 1, "{ran:?}");
            say_unfinished(&ran, next);
            place.run(&["verify"]).ok();
            block_on(annals.close());
            return;
        }
        block_on(annals.close());
    }
    panic!("it was always over before");
}
