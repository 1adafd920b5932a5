//! What is kept is for its owner alone, regardless of the user's mask.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use crate::support::{Place, agent, grown};
use serde_json::json;

/// The bits of a mode by which others than the owner may do something.
fn others(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o077
}

/// Demands that neither a folder nor anything in it is for others.
#[track_caller]
fn is_private(folder: &Path) {
    assert_eq!(others(folder), 0, "{}", folder.display());
    let mut files = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(others(&path), 0, "{}", path.display());
        files += 1;
    }
    assert!(files > 3, "{}: {files} files", folder.display());
}

/// Runs the program under the most generous mask.
fn generous(place: &Place, args: &[&str]) {
    let program = place.command(args);
    let mut shell = Command::new("sh");
    shell
        .args(["-c", "umask 0; exec \"$@\"", "sh"])
        .arg(program.get_program())
        .args(program.get_args())
        .current_dir(program.get_current_dir().unwrap())
        .env("ANNALS_LOG", "log")
        .stdin(std::process::Stdio::null());
    let ran = shell.output().unwrap();
    assert!(ran.status.success(), "{args:?}: {ran:?}");
}

#[test]
fn a_log_and_its_copies_are_for_their_owner_alone() {
    let place = Place::empty();
    generous(&place, &["init"]);
    generous(&place, &["submit", "Add a cache"]);
    is_private(&place.log_dir());
    generous(&place, &["backup", "copies/one"]);
    is_private(&place.path("copies/one"));
    generous(&place, &["--log", "again", "restore", "copies/one"]);
    is_private(&place.path("again"));
}

/// The files below a folder.
fn files(folder: &Path, found: &mut Vec<std::path::PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => {
                assert_eq!(others(&path), 0, "{}", path.display());
                files(&path, found);
            }
            false => found.push(path),
        }
    }
}

#[test]
fn what_commands_write_is_for_its_owner_alone() {
    let (place, story) = grown();
    let session = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/session.jsonl");
    place.run(&["import", "claude", session, "--keep-raw"]).ok();
    place.run(&["submit", "Add a cache"]).ok();
    // What is replaced was open to all.
    fs::write(place.path("run.html"), "").unwrap();
    place.run(&["checkpoint", "--out", "cp"]).ok();
    for name in ["run.html", "cp"] {
        fs::set_permissions(place.path(name), fs::Permissions::from_mode(0o666)).unwrap();
    }
    for args in [
        &["export", "html", &story.run, "--out", "run.html"][..],
        &["export", "annals", "whole.jsonl"],
        &["export", "raw", "out/raw"],
        &["export", "forge", "out/forge"],
        &["checkpoint", "--out", "cp"],
        &["prove", "3", "--out", "proof"],
        &["cat", &story.pipeline, "--out", "content"],
        &["key", "generate", "key"],
        &["checkpoint", "--key", "key", "--out", "signed"],
    ] {
        generous(&place, args);
    }
    let names = [
        "run.html",
        "whole.jsonl",
        "cp",
        "proof",
        "content",
        "key",
        "signed",
    ];
    let mut written: Vec<_> = names.iter().map(|name| place.path(name)).collect();
    files(&place.path("out"), &mut written);
    assert!(written.len() > names.len() + 1, "{written:?}");
    for path in written {
        let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{}", path.display());
    }
    // A public key is for others to read, and for nobody else to replace.
    assert_eq!(others(&place.path("key.pub")), 0o044);
}

/// The owner lets a group read: what is added stays readable for it, and the doctor says so.
#[test]
fn a_log_that_its_owner_opened_to_others_stays_open() {
    let (place, story) = grown();
    let log = place.log_dir();
    let mode = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    mode(&log, 0o750);
    for entry in fs::read_dir(&log).unwrap() {
        mode(&entry.unwrap().path(), 0o640);
    }
    let push = json!({ "pipeline": story.pipeline, "kind": "checkpoint", "summary": "more" });
    fs::write(place.path("push"), agent("push_frame", push).to_string()).unwrap();
    generous(&place, &["apply", "push"]);
    for entry in fs::read_dir(&log).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(others(&path), 0o040, "{}", path.display());
    }
    let said = place.run(&["doctor"]).ok().stdout;
    assert!(said.contains("its group can look into"), "{said}");
    assert!(said.contains("chmod -R go= "), "{said}");
    mode(&log, 0o700);
    let said = place.run(&["doctor"]).ok().stdout;
    assert!(!said.contains("can look into"), "{said}");
}

#[test]
fn a_private_key_that_others_can_read_is_named_before_it_is_used() {
    let (place, _) = grown();
    place.run(&["key", "generate", "log.key"]).ok();
    let signing = ["checkpoint", "--key", "log.key"];
    place.run(&signing).ok();
    let mode = fs::Permissions::from_mode(0o644);
    fs::set_permissions(place.path("log.key"), mode).unwrap();
    let says = ["log.key", "0644", "chmod 600"];
    place.run(&signing).fails(0, &says);
    place.run(&["key", "show", "log.key"]).fails(0, &says);
    let json = place.run(&["checkpoint", "--key", "log.key", "--json"]);
    let warned: serde_json::Value = serde_json::from_str(&json.stderr).unwrap();
    assert!(warned["warning"].as_str().unwrap().contains("0644"));
    json.json();
}
