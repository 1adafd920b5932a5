//! Files that commands write: a pipe or a device is written to, a link stays, and nothing is put into a log.

use std::fs;
use std::os::unix::fs::{FileTypeExt as _, symlink};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::support::{Place, fingerprint, grown, human, uuid};

/// Content of the log, over 4 KiB.
fn with_content() -> (Place, String) {
    let (place, _) = grown();
    let text = "a long prompt ".repeat(1_000);
    place.run_with(&["submit", "-"], &text).ok();
    let intents = place.run(&["list", "intents", "--json"]).ok().lines();
    let id = intents[0]["id"].as_str().unwrap().to_owned();
    (place, id)
}

/// What each command is that writes to `file`.
fn commands<'a>(file: &'a str, id: &'a str) -> [Vec<&'a str>; 3] {
    [
        vec!["export", "annals", file],
        vec!["export", "html", id, "--out", file],
        vec!["checkpoint", "--out", file],
    ]
}

fn make_pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn a_pipe_is_written_to_and_stays() {
    let (place, id) = with_content();
    let pipe = place.path("pipe");
    make_pipe(&pipe);
    // A checkpoint is compared with the one that is there.
    for args in commands("pipe", &id).into_iter().take(2) {
        let to_read = pipe.clone();
        let reader = thread::spawn(move || fs::read(to_read).unwrap());
        let ran = place.run(&args);
        assert_eq!(ran.status, 0, "{args:?}: {ran:?}");
        assert!(fs::symlink_metadata(&pipe).unwrap().file_type().is_fifo());
        assert!(reader.join().unwrap().len() > 100, "{args:?}");
    }
}

#[test]
fn a_link_stays_and_so_does_what_it_leads_to() {
    let (place, id) = with_content();
    fs::write(place.path("precious"), "precious").unwrap();
    symlink("precious", place.path("link")).unwrap();
    for args in commands("link", &id) {
        let ran = place.run(&args);
        assert_ne!(ran.status, 0, "{args:?}: {ran:?}");
        let link = fs::symlink_metadata(place.path("link")).unwrap();
        assert!(link.file_type().is_symlink(), "{args:?}");
        assert_eq!(fs::read(place.path("precious")).unwrap(), b"precious");
    }
}

#[test]
fn nothing_is_written_into_a_log() {
    let (place, id) = with_content();
    let before = fingerprint(&place.log_dir());
    for name in ["log/CURRENT", "log/new"] {
        for args in commands(name, &id) {
            place.run(&args).fails(1, &["is inside the log"]);
        }
    }
    for args in [
        ["export", "raw", "log"],
        ["export", "raw", "log/new/folder"],
        ["export", "forge", "log"],
        ["export", "forge", "log/new"],
    ] {
        place.run(&args).fails(1, &["is inside the log"]);
    }
    assert_eq!(fingerprint(&place.log_dir()), before);
    place.run(&["verify"]).ok();
}

/// The hidden names in a place under which something is made.
fn unfinished(place: &Place) -> Vec<String> {
    let entries = fs::read_dir(place.path("")).unwrap().map(Result::unwrap);
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let is_hidden = |name: &String| name.starts_with(".annals-backup-") || name.ends_with(".part");
    names.filter(is_hidden).collect()
}

/// Signals that end a command remove what it was making, which has content of the log.
#[test]
fn what_is_terminated_leaves_no_part_of_its_output() {
    let place = Place::with_log();
    let create = |n| {
        human(
            "create_intent",
            json!({ "id": uuid(n), "prompt": "p".repeat(500) }),
        )
    };
    place.accept(&(1..=4_000).map(create).collect::<Vec<_>>());
    place.run(&["backup", "source"]).ok();
    let commands: [&[&str]; 3] = [
        &["backup", "made"],
        &["--log", "made", "restore", "--fast", "source"],
        &["export", "annals", "made"],
    ];
    for (args, signal) in commands
        .iter()
        .flat_map(|args| [(args, Signal::TERM), (args, Signal::INT)])
    {
        let made = place.path("made");
        let mut ended_by_signal = false;
        // The first ones may come too late, or before anything was begun.
        for _ in 0..50 {
            let mut child = place.command(args).spawn().unwrap();
            while unfinished(&place).is_empty() && child.try_wait().unwrap().is_none() {
                thread::sleep(Duration::from_micros(200));
            }
            let _ = kill_process(Pid::from_child(&child), signal);
            let status = child.wait().unwrap();
            assert_eq!(unfinished(&place), [""; 0], "{args:?} {signal:?}");
            ended_by_signal |= status.signal().is_some();
            if made.exists() {
                let _ = fs::remove_file(&made).or_else(|_| fs::remove_dir_all(&made));
            } else if status.signal().is_some() {
                break;
            }
        }
        assert!(ended_by_signal, "{args:?} {signal:?}: it was always faster");
    }
    place.run(&["verify"]).ok();
}
