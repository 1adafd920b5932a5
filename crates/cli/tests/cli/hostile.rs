//! What strangers put into a repository, a folder or a file: nothing outside of it is read, written or
//! deleted, and nothing waits.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::{Place, human};

/// Every file of a folder and below, with what it has.
fn snapshot(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files.extend(snapshot(&path)),
            false => {
                files.insert(path.clone(), fs::read(&path).unwrap());
            }
        }
    }
    files
}

/// Runs a command that must come to an end.
fn ends(place: &Place, args: &[&str]) -> Output {
    let mut command = place.command(args);
    let spawned = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = spawned.spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(300);
    while child.try_wait().unwrap().is_none() {
        assert!(
            Instant::now() < deadline,
            "{args:?} does not come to an end"
        );
        std::thread::sleep(Duration::from_millis(10));
    }
    child.wait_with_output().unwrap()
}

fn refused(place: &Place, args: &[&str], says: &[&str]) {
    let ended = ends(place, args);
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert!(!ended.status.success(), "{args:?}: {said}");
    for says in says {
        assert!(said.contains(says), "{args:?}: {said}");
    }
}

/// A project with another project's folder next to it, which has all that a `.forge` folder has.
fn project() -> Place {
    let place = Place::with_log();
    for (part, file, text) in [
        (
            "intents",
            "theirs.yaml",
            "title: theirs\nstatus: pending\nbody: secret\n",
        ),
        ("intent-drafts", "theirs.md", "# theirs\n\nsecret\n"),
        ("tasks", "theirs.yaml", "tasks: []\n"),
        ("reviews", "theirs.yaml", "status: pass\n"),
    ] {
        let folder = place.path("elsewhere").join(part);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(file), text).unwrap();
    }
    fs::create_dir(place.path("project")).unwrap();
    place.accept(&[human("create_intent", json!({ "prompt": "ours" }))]);
    place
}

#[test]
fn a_folder_that_is_a_link_is_neither_read_nor_written_nor_emptied() {
    let every = [".forge", "intents", "intent-drafts", "tasks", "reviews"];
    for linked in every {
        let place = project();
        let forge = place.path("project/.forge");
        let elsewhere = place.path("elsewhere");
        match linked {
            ".forge" => symlink(&elsewhere, &forge).unwrap(),
            part => {
                fs::create_dir(&forge).unwrap();
                symlink(elsewhere.join(part), forge.join(part)).unwrap();
            }
        }
        let before = snapshot(&elsewhere);
        let position =
            |place: &Place| place.run(&["stats", "--json"]).ok().json()["position"].clone();
        let log = position(&place);
        for path in ["project", "project/.forge"] {
            for args in [vec!["import", "forge", path], vec!["export", "forge", path]] {
                let ended = ends(&place, &args);
                let said = [ended.stdout, ended.stderr].concat();
                let said = String::from_utf8_lossy(&said).into_owned();
                let is_concerned = linked != "intent-drafts" || args[0] == "import";
                assert!(
                    !is_concerned || said.contains("is a link"),
                    "{linked}, {args:?}: {said}"
                );
                assert!(!said.contains("theirs"), "{linked}, {args:?}: {said}");
            }
        }
        assert_eq!(snapshot(&elsewhere), before, "{linked}");
        assert_eq!(
            position(&place),
            log,
            "{linked}: nothing of it was recorded"
        );
        assert!(!place.run(&["log", "--json"]).ok().stdout.contains("secret"));
    }
}

#[test]
fn a_watched_folder_is_not_a_link() {
    for linked in [".forge", "intent-drafts"] {
        let place = project();
        let (forge, elsewhere) = (place.path("project/.forge"), place.path("elsewhere"));
        match linked {
            ".forge" => symlink(&elsewhere, &forge).unwrap(),
            part => {
                fs::create_dir(&forge).unwrap();
                symlink(elsewhere.join(part), forge.join(part)).unwrap();
            }
        }
        let before = snapshot(&elsewhere);
        refused(&place, &["watch", "forge", "project"], &["is a link"]);
        assert_eq!(snapshot(&elsewhere), before, "{linked}");
    }
}

fn pipe(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status();
    assert!(made.unwrap().success());
}

#[test]
fn nothing_waits_for_a_pipe() {
    let place = project();
    pipe(&place.path("pipe"));
    for args in [
        ["import", "claude", "pipe"].as_slice(),
        &["import", "contracts", "pipe"],
        &["import", "git-internal", "pipe"],
        &["import", "annals", "pipe"],
        &["secrets", "scan", "pipe"],
        &["checkpoint", "--out", "pipe"],
        &["checkpoint", "--key", "pipe"],
        &["verify", "--since", "pipe"],
    ] {
        refused(&place, args, &["pipe"]);
    }
    // Among recordings it is named.
    fs::create_dir(place.path("recordings")).unwrap();
    fs::write(place.path("recordings/one.jsonl"), "").unwrap();
    pipe(&place.path("recordings/two.jsonl"));
    let ended = ends(&place, &["import", "claude", "recordings"]);
    let said = String::from_utf8_lossy(&ended.stdout);
    let expected = "two.jsonl: it is neither a file nor a folder";
    assert!(
        !ended.status.success() && said.contains(expected),
        "{ended:?}"
    );
}

/// A recording that is a link would bring what it leads to into the log.
#[test]
fn a_recording_that_is_a_link_is_not_read() {
    let place = project();
    fs::create_dir_all(place.path("recordings/sub")).unwrap();
    fs::write(place.path("recordings/one.jsonl"), "").unwrap();
    fs::write(
        place.path("secret"),
        "{\"type\":\"summary\",\"summary\":\"secret\"}\n",
    )
    .unwrap();
    symlink(place.path("secret"), place.path("recordings/two.jsonl")).unwrap();
    symlink(place.path("elsewhere"), place.path("recordings/sub/folder")).unwrap();
    let said = ends(&place, &["import", "claude", "recordings", "--json"]);
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(said.contains("two.jsonl"), "it is named: {said}");
    assert!(!said.contains("secret"), "{said}");
}

/// The lock next to a checkpoint's file, and the file that is written first, lie where strangers can
/// put links.
#[test]
fn no_file_is_made_or_emptied_through_a_link() {
    let place = project();
    fs::write(place.path("victim"), "precious").unwrap();
    for target in ["victim", "new"] {
        let lock = place.path(".cp.lock");
        let _ = fs::remove_file(&lock);
        symlink(place.path(target), lock).unwrap();
        refused(&place, &["checkpoint", "--out", "cp"], &["is a link"]);
        assert!(!place.path("new").exists());
        assert_eq!(fs::read(place.path("victim")).unwrap(), b"precious");
    }
}
