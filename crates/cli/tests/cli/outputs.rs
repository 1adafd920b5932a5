//! Files that commands write: a pipe or a device is written to, a link stays, and nothing is put into a log.

use std::fs;
use std::os::unix::fs::{FileTypeExt as _, symlink};
use std::path::Path;
use std::process::Command;
use std::thread;

use crate::support::{Place, fingerprint, grown};

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
